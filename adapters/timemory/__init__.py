"""timemory's JSON output: trees (wall.tree.json) and flat lists (wall.json) of one or several components."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile


def recognises(glance: Glance) -> bool:
    """True for a JSON object whose first key is "timemory", and a folder with such trees."""
    if glance.is_folder:
        trees = [name for name in glance.names if name.endswith(".tree.json")]
        return bool(trees) and _is_timemory(glance.inside(trees[0]))
    return _is_timemory(glance)


def _is_timemory(glance: Glance) -> bool:
    text = glance.text.lstrip()
    return text.startswith("{") and text[1:].lstrip().startswith('"timemory"') and '"metadata"' not in text[:200]


def read(path: Path) -> Profile:
    """Read one JSON file, or all trees of a folder as one profile; see `profile.read`."""
    from chathpc.adapters.timemory.profile import read as read_profile

    return read_profile(path)


ADAPTER = Adapter(
    name="timemory",
    reads="timemory output (wall.tree.json, wall.json, folders of *.tree.json)",
    recognises=recognises,
    read=read,
    order=30,
)
