"""HPCToolkit databases from before release 2022.10: experiment.xml (format 2.x) and files for each thread."""

from __future__ import annotations

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import HEAD, Glance


def recognises(glance: Glance) -> bool:
    """True for a folder with an experiment.xml of HPCToolkit (and no meta.db), or for that file itself."""
    document = glance.inside("experiment.xml") if glance.is_folder else glance
    if Glance(document.path.parent / "meta.db").is_file:
        return False
    return b"<HPCToolkitExperiment" in document.head[:HEAD]


read = reader("chathpc.adapters.hpctoolkit_v3.database")
ADAPTER = Adapter(
    name="hpctoolkit-v3",
    reads="older HPCToolkit database folders (experiment.xml)",
    recognises=recognises,
    read=read,
    order=1,
)
