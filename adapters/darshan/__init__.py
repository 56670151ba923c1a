"""Darshan logs: what a program's ranks read and wrote, file by file, through the package `darshan`."""

from __future__ import annotations

from chathpc.adapters import native
from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

#: Magic number behind the version at the beginning of a log (darshan-log-format.h), in both byte orders.
_MAGIC = (6567223).to_bytes(8, "little"), (6567223).to_bytes(8, "big")


def recognises(glance: Glance) -> bool:
    """True for a file with a version and the magic number of Darshan 3."""
    return glance.head[8:16] in _MAGIC and glance.head[:1].isdigit()


def needs() -> str:
    """The package, where it is missing."""
    return "" if native.installed("darshan") else "the package darshan is missing: pip install 'chathpc[darshan]'"


read = reader("chathpc.adapters.darshan.profile")
ADAPTER = Adapter(
    name="darshan", reads="Darshan logs of input and output (.darshan)", recognises=recognises, read=read, order=20, needs=needs,
)  # fmt: skip
