"""Python's cProfile and profile: .pstats files, read without Python's marshal module, which trusts its input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

_FLAG = 0x80


def recognises(glance: Glance) -> bool:
    """True for a marshalled dictionary whose first key is a tuple of three."""
    head = glance.head
    if len(head) < 8 or head[0] & ~_FLAG != ord("{"):
        return False
    kind = head[1] & ~_FLAG
    return (kind == ord(")") and head[2] == 3) or (kind == ord("(") and head[2:6] == b"\x03\0\0\0")


def read(path: Path) -> Profile:
    """The profile of a .pstats file; see `stats.read`."""
    from chathpc.adapters.cprofile.stats import read as read_stats

    return read_stats(path)


ADAPTER = Adapter(
    name="cprofile",
    reads="statistics of Python's cProfile (.pstats, .prof)",
    recognises=recognises,
    read=read,
    order=30,
)
