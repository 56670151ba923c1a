"""OTF2 traces of Score-P and other tools: traces.otf2 and the files beside it, through the package otf2."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

ANCHOR = "traces.otf2"
#: How an anchor file begins: a mark of the byte order, then "OTF2".
_MAGIC = b"OTF2"


def recognises(glance: Glance) -> bool:
    """True for an anchor file by its content, and a folder with one."""
    if glance.is_folder:
        return ANCHOR in glance.names and recognises(glance.inside(ANCHOR))
    return _MAGIC in glance.head[:16] and glance.path.suffix == ".otf2"


def needs() -> str:
    """The package that reads OTF2, where it is absent."""
    from chathpc.adapters import native

    return "" if native.installed("otf2") else "pip install 'chathpc[otf2]'"


def read(path: Path) -> Profile:
    """Read the trace of anchor file `path`, or of the folder that holds it; see `profile.read`."""
    from chathpc.adapters.otf2.profile import read as read_profile

    return read_profile(path)


ADAPTER = Adapter(
    name="otf2",
    reads="OTF2 traces (traces.otf2 and its folder), with messages and collectives",
    recognises=recognises,
    read=read,
    order=35,
    needs=needs,
)
