"""timemory's JSON output: trees (wall.tree.json) and flat lists (wall.json) of one or several components."""

from __future__ import annotations

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance


def recognises(glance: Glance) -> bool:
    """True for a JSON object whose first key is "timemory", and a folder with such trees."""
    if glance.is_folder:
        trees = [name for name in glance.names if name.endswith(".tree.json")]
        return bool(trees) and _is_timemory(glance.inside(trees[0]))
    return _is_timemory(glance)


def _is_timemory(glance: Glance) -> bool:
    text = glance.text.lstrip()
    return text.startswith("{") and text[1:].lstrip().startswith('"timemory"') and '"metadata"' not in text[:200]


ADAPTER = Adapter(
    name="timemory",
    reads="timemory output (wall.tree.json, wall.json, folders of *.tree.json)",
    recognises=recognises,
    read=reader("chathpc.adapters.timemory.profile"),
    order=30,
)
