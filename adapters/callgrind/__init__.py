"""Callgrind (and cachegrind, and what else writes the format, such as Xdebug): costs by function and line, calls with costs.

Layout: the manual of Valgrind, "Callgrind Format Specification". Names are written once and then called by number, lines may
be relative to the one before; `calls=` is followed by a line with the cost of these calls, all below the callee included.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile


def recognises(glance: Glance) -> bool:
    """True for text that says so in its first line, or that names events and then functions as the format does."""
    text = glance.text
    if text.startswith("# callgrind format"):
        return True
    rows = [row.strip() for row in text[: 32 << 10].split("\n")]
    events = next((at for at, row in enumerate(rows) if row.startswith("events:")), None)
    return events is not None and any(row.startswith("fn=") for row in rows[events:])


def read(path: Path) -> Profile:
    """The profile in the file; see `costs.read`."""
    from chathpc.adapters.callgrind.costs import read as read_costs

    return read_costs(path)


ADAPTER = Adapter(
    name="callgrind",
    reads="callgrind.out, cachegrind.out and other files of that format",
    recognises=recognises,
    read=read,
    order=45,
)
