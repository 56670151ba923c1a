"""Files of hatchet: GraphFrame.to_json, and literal lists as GraphFrame.from_literal takes them.

    {"graph": [{"0": {"data": {"name": "main"}, "children": [1]}, …}], "dataframe": [{"node": 0, "time": 1.0}, …],
     "dataframe_indices": ["node"], "exclusive_metrics": ["time"], "inclusive_metrics": ["time (inc)"]}

    [{"frame": {"name": "main", "type": "function"}, "metrics": {"time": 1.0, "time (inc)": 3.0}, "children": […]}]

Nodes and rows are checked here and become a GraphFrame, which goes the way of any GraphFrame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.content import DAMAGED, read_json
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: Metrics, or other columns, of a table.
MOST_COLUMNS = 1_000
#: Callers of all nodes together, for each node; a call graph has a few.
_EDGES = 64
_LARGEST = 1e100
_INCLUSIVE = " (inc)"


def recognises(glance: Glance) -> bool:
    """True for JSON that begins as one of the two kinds does."""
    text = glance.text.lstrip()
    if text.startswith("{"):
        inside = text[1:].lstrip()
        return inside.startswith('"graph"') and '"data"' in text[:4096] and '"children"' in text
    if text.startswith("["):
        inside = text[1:].lstrip()
        return (
            inside.startswith("{")
            and inside[1:].lstrip().startswith(('"frame"', '"metrics"', '"children"'))
            and '"frame"' in text
        )
    return False


def read(path: Path) -> Profile:
    """Read one file; AdapterError for damage and for graphs that have a circle."""
    from chathpc.profile.profile import Source

    document = read_json(path)
    nodes, rows, kind = _literal(document, path) if isinstance(document, list) else _graph(document, path)
    if not nodes:
        raise AdapterError("has no nodes", path=path, hint=DAMAGED)
    profile = _profile(nodes, rows, document if isinstance(document, Mapping) else {}, path)
    return replace(profile, format=f"hatchet ({kind})", title=path.name, sources=(Source(path, "hatchet"),))


#: A node: its frame, and the numbers of its children.
_Node = tuple[Mapping[str, Any], list[int]]


def _literal(document: Sequence[Any], path: Path) -> tuple[list[_Node], list[dict[str, Any]], str]:
    nodes: list[_Node] = []
    rows: list[dict[str, Any]] = []
    stack: list[tuple[Any, int]] = [(one, -1) for one in reversed(document)]
    while stack:
        given, parent = stack.pop()
        frame = given.get("frame") if isinstance(given, Mapping) else None
        metrics = given.get("metrics", {}) if isinstance(given, Mapping) else None
        children = given.get("children", []) if isinstance(given, Mapping) else None
        if not isinstance(frame, Mapping) or not isinstance(metrics, Mapping) or not isinstance(children, list):
            raise AdapterError("an entry lacks frame, metrics or children", path=path, hint=DAMAGED)
        number = len(nodes)
        nodes.append((frame, []))
        if parent >= 0:
            nodes[parent][1].append(number)
        rows.append({"node": number, **metrics})
        stack += [(child, number) for child in reversed(children)]
    return nodes, rows, "literal"


def _graph(document: Any, path: Path) -> tuple[list[_Node], list[dict[str, Any]], str]:
    graphs = document.get("graph") if isinstance(document, Mapping) else None
    table = document.get("dataframe") if isinstance(document, Mapping) else None
    if not isinstance(graphs, list) or not isinstance(table, list):
        raise AdapterError("has no graph and dataframe", path=path, hint=DAMAGED)
    nodes: list[_Node] = []
    number: dict[str, int] = {}
    for graph in graphs:
        if not isinstance(graph, Mapping):
            raise AdapterError("has a graph that is not an object", path=path, hint=DAMAGED)
        for key, value in graph.items():
            frame = value.get("data") if isinstance(value, Mapping) else None
            if not isinstance(frame, Mapping) or not isinstance(value.get("children", []), list):
                raise AdapterError(f"node {clean(key)[:20]} lacks data or children", path=path, hint=DAMAGED)
            number.setdefault(key, len(nodes))
            nodes.append((frame, []))
    edges = 0
    for graph in graphs:
        for key, value in graph.items():
            for child in value.get("children", []):
                if str(child) not in number:
                    raise AdapterError(f"node {clean(str(child))[:20]} does not exist", path=path, hint=DAMAGED)
                edges += 1
                nodes[number[key]][1].append(number[str(child)])
    if edges > _EDGES * len(nodes):
        raise AdapterError("has more callers than a call graph can have", path=path, hint=DAMAGED)
    rows = []
    for row in table:
        if not isinstance(row, Mapping) or str(row.get("node")) not in number:
            raise AdapterError("a row of the table belongs to no node", path=path, hint=DAMAGED)
        rows.append({**row, "node": number[str(row["node"])]})
    return nodes, rows, "JSON"


def _profile(
    nodes: Sequence[_Node], rows: Sequence[dict[str, Any]], document: Mapping[str, Any], path: Path
) -> Profile:
    """The profile of the GraphFrame that these nodes and rows make."""
    import numpy as np
    import pandas as pd
    from hatchet import GraphFrame
    from hatchet.frame import Frame
    from hatchet.graph import Graph
    from hatchet.node import Node

    from chathpc.profile.profile import Profile

    made = [Node(Frame(_frame(frame)), hnid=number) for number, (frame, _) in enumerate(nodes)]
    for node, (_, children) in zip(made, nodes, strict=True):
        for child in dict.fromkeys(children):
            node.add_child(made[child])
            made[child].add_parent(node)
    roots = [node for node in made if not node.parents]
    try:
        TopologicalSorter({number: children for number, (_, children) in enumerate(nodes)}).prepare()
    except CycleError:
        raise AdapterError("has functions below themselves", path=path, hint=DAMAGED) from None
    levels = ["node", *(level for level in ("rank", "thread") if any(level in row for row in rows))]
    names = list(dict.fromkeys(str(name) for row in rows for name in row if name not in levels))
    if len(names) > MOST_COLUMNS:
        raise AdapterError(f"has more than {MOST_COLUMNS:,} columns", path=path, hint=DAMAGED)
    columns: dict[str, Any] = {name: _column([row.get(name) for row in rows]) for name in names}
    numeric = [name for name, column in columns.items() if column.dtype != object]
    keys = [pd.Index(np.array([*(made[row["node"]] for row in rows), None], dtype=object)[:-1], name="node")]
    keys += [pd.Index([_whole(row.get(level)) for row in rows], name=level) for level in levels[1:]]
    columns.setdefault("name", np.array([str(made[row["node"]].frame.attrs["name"]) for row in rows], dtype=object))
    table = pd.DataFrame(columns)
    table.index = keys[0] if len(keys) == 1 else pd.MultiIndex.from_arrays(keys)
    inclusive = [name for name in _names(document, "inclusive_metrics") if name in numeric]
    exclusive = [name for name in _names(document, "exclusive_metrics") if name in numeric]
    if not inclusive and not exclusive:
        inclusive = [name for name in numeric if name.endswith(_INCLUSIVE)]
        exclusive = [
            name for name in numeric if name not in inclusive and name not in ("nid", "line", "rank", "thread")
        ]
    frame = GraphFrame(Graph(roots), table, exclusive, inclusive)
    profile = Profile.from_graphframe(frame)
    if not any(metric.has_values for metric in profile.metrics.values()):
        raise AdapterError("has no numbers", path=path, hint=DAMAGED)
    return profile


def _frame(given: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of a frame: texts and numbers, with a name and a type."""
    frame = {
        str(key): clean(value) if isinstance(value, str) else value
        for key, value in given.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }
    frame["name"] = str(frame.get("name", frame.get("function", "[unnamed]")))
    frame["type"] = str(frame.get("type", "function"))
    return frame


def _column(values: Sequence[Any]) -> Any:
    """A column of numbers where all that is there are numbers (None: not measured), else of texts."""
    import numpy as np

    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values):
        return np.array(
            [value if value is not None and -_LARGEST < value < _LARGEST else np.nan for value in values], dtype=float
        )
    texts = [clean(value) if isinstance(value, str) else None for value in values]
    return np.array([*texts, None], dtype=object)[:-1]


def _names(document: Mapping[str, Any], key: str) -> list[str]:
    given = document.get(key)
    return [name for name in given if isinstance(name, str)] if isinstance(given, list) else []


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**31 else -1


ADAPTER = Adapter(
    name="hatchet",
    reads="hatchet GraphFrames as JSON (GraphFrame.to_json, literal lists)",
    recognises=recognises,
    read=read,
    order=40,
)
