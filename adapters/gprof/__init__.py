"""gprof: its text (flat profile, call graph or both), and the graphs that gprof2dot draws of any profile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

_TEXT = (
    re.compile(r"^Flat profile:\s*$", re.MULTILINE),
    re.compile(r"^index % time    self  children    called     name", re.MULTILINE),
    re.compile(r"^granularity: each sample hit covers ", re.MULTILINE),
)
_DOT = re.compile(r'label="[^"]{0,2000}?\d\.\d\d%')


def _is_dot(glance: Glance) -> bool:
    text = glance.text
    return text.lstrip()[:8].lower().startswith("digraph") and _DOT.search(text) is not None


def recognises(glance: Glance) -> bool:
    """True for the headings of gprof, and for a graph whose nodes have percentages in their labels."""
    return any(pattern.search(glance.text) for pattern in _TEXT) or _is_dot(glance)


def read(path: Path) -> Profile:
    """Read text of gprof or a graph of gprof2dot; see `listing.read` and `dot.read`."""
    if _is_dot(Glance(path)):
        from chathpc.adapters.gprof.dot import read as read_dot

        return read_dot(path)
    from chathpc.adapters.gprof.listing import read as read_text

    return read_text(path)


ADAPTER = Adapter(
    name="gprof",
    reads="text of gprof (flat profile and call graph), graphs of gprof2dot (.dot)",
    recognises=recognises,
    read=read,
    order=45,
)
