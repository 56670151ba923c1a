"""OTF2 traces of Score-P and other tools: traces.otf2 and the files beside it, through the package otf2."""

from __future__ import annotations

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

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


ADAPTER = Adapter(
    name="otf2",
    reads="OTF2 traces (traces.otf2 and its folder), with messages and collectives",
    recognises=recognises,
    read=reader("chathpc.adapters.otf2.profile"),
    order=35,
    needs=needs,
)
