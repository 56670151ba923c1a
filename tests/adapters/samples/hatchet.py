"""Small hatchet files with every feature that the adapter knows between them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LITERAL: list[dict[str, Any]] = [
    {
        "frame": {"name": "main", "type": "function"},
        "metrics": {"time": 1.0, "time (inc)": 7.0, "hits": 3},
        "children": [
            {"frame": {"name": "solve", "type": "function"}, "metrics": {"time": 2.0, "time (inc)": 6.0, "hits": 1}, "children": [
                {"frame": {"name": "loop", "type": "loop", "line": 7, "file": "a.c"}, "metrics": {"time": 4.0, "time (inc)": 4.0, "hits": None}},
            ]},
        ],
    }
]  # fmt: skip
GRAPH: dict[str, Any] = {
    "graph": [
        {
            "0": {"data": {"name": "main", "type": "function"}, "children": [1, 2]},
            "1": {"data": {"name": "a", "type": "function"}, "children": []},
            "2": {"data": {"name": "b", "type": "function"}, "children": []},
        },
        {"3": {"data": {"name": "other", "type": "function"}, "children": []}},
    ],
    "dataframe_indices": ["node", "rank"],
    "dataframe": [
        {"node": node, "rank": rank, "name": name, "time": 1.0 + node, "time (inc)": None}
        for node, name in enumerate(("main", "a", "b", "other"))
        for rank in (0, 1)
    ],
    "exclusive_metrics": ["time"],
    "inclusive_metrics": [],
}


def write_samples(folder: Path) -> list[Path]:
    """A literal list, a graph with ranks."""
    found = []
    for name, given in (("literal.json", LITERAL), ("graph.json", GRAPH)):
        (folder / name).write_text(json.dumps(given))
        found.append(folder / name)
    return found
