"""From a Profile to a hatchet GraphFrame and back, so that every hatchet user can read what we read, and the reverse.

hatchet is the exchange object, never the hot path. Trees of any depth pass through in both directions; hatchet's own
methods recurse along the tree and raise RecursionError on trees deeper than Python's recursion limit (about 1,000
levels).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chathpc.errors import AdapterError
from chathpc.profile.build import ends
from chathpc.profile.location import Locations
from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Clock, Column, Metric, Unit, column_of, slug, unused
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FUNCTION_KINDS, BoolArray, CallTree, FloatArray, IntArray, NodeKind, Relation
from chathpc.profile.values import MemoryValues

if TYPE_CHECKING:
    import hatchet
    import pandas as pd

INCLUSIVE = " (inc)"  # hatchet's own suffix


def to_graphframe(profile: Profile) -> hatchet.GraphFrame:
    """The profile as a hatchet GraphFrame with one row per node, added up over all locations.

    Columns: name, type (the text of the NodeKind), file, line, module, relation, offset where the profile has it, and
    for every metric with values `<id>` (exclusive) and `<id> (inc)`. Values are in the metric's unit, NaN where a node
    was not measured or is left out (helper threads). Units and names of the metrics are in `metadata["chathpc"]`. hatchet numbers nodes in the order of
    a traversal that sorts siblings by frame, and so does this.
    """
    import pandas as pd
    from hatchet import GraphFrame
    from hatchet.frame import Frame
    from hatchet.graph import Graph
    from hatchet.node import Node, traversal_order

    tree = profile.tree
    nodes: list[Node] = []
    for index, (parent, kind) in enumerate(zip(tree.parent.tolist(), tree.kind.tolist(), strict=True)):
        attributes: dict[str, str | int] = {"name": tree.label(index), "type": NodeKind(kind).text}
        if kind in (NodeKind.LOOP, NodeKind.LINE):
            attributes |= {"file": tree.file_name(index) or "", "line": int(tree.line[index])}
        above = nodes[parent] if parent >= 0 else None
        node = Node(Frame(attributes), above, hnid=index)
        if above is not None:
            above.add_child(node)
        nodes.append(node)
    roots = [nodes[root] for root in tree.roots.tolist()]

    order = np.empty(len(tree), dtype=np.int64)
    pending = sorted(roots, key=traversal_order, reverse=True)
    for number in range(len(tree)):
        node = pending.pop()
        pending += sorted(node.children, key=traversal_order, reverse=True)
        order[number] = node._hatchet_nid
        node._hatchet_nid = number
    for node, depth in zip(nodes, tree.depth.tolist(), strict=True):
        node._depth = depth

    columns: dict[str, Any] = {
        "name": pd.Series([node.frame["name"] for node in nodes], dtype=object),
        "type": pd.Series([node.frame["type"] for node in nodes], dtype=object),
        "file": pd.Series([tree.file_name(index) for index in range(len(tree))], dtype=object),
        "line": tree.line.astype(np.int64),
        "module": pd.Series([tree.module_name(index) for index in range(len(tree))], dtype=object),
        "relation": pd.Series([Relation(value).name.lower() for value in tree.relation.tolist()], dtype=object),
    }
    if tree.offset is not None:
        columns["offset"] = tree.offset
    metrics = [metric for metric in profile.metrics.values() if metric.has_values]
    for metric in metrics:
        columns[metric.id] = profile.exclusive(metric.id).dense(len(tree), missing=np.nan)
        columns[metric.id + INCLUSIVE] = profile.inclusive(metric.id).dense(len(tree), missing=np.nan)
    frame = pd.DataFrame(columns)
    frame.index = pd.Index(np.array([*nodes, None], dtype=object)[:-1], name="node")
    ids = [metric.id for metric in metrics]
    default = profile.time.id if profile.time is not None else next(iter(ids), "time")
    return GraphFrame(
        Graph(roots),
        frame.iloc[order],
        ids,
        [identifier + INCLUSIVE for identifier in ids],
        default_metric=default,
        metadata={METADATA: {"title": profile.title, "metrics": {metric.id: metric for metric in metrics}}},
    )


def from_graphframe(frame: hatchet.GraphFrame, *, title: str = "") -> Profile:
    """A profile of any GraphFrame: literal, from one of hatchet's readers, or from `to_graphframe`.

    - Index levels `rank` and `thread` become locations; values are added up over any other level.
    - Metrics get canonical ids by a small vocabulary (`time` → `cpu.time`), else `other.<name>`. A metric with only
      one of its columns gets the other one from the tree. NaN is not measured.
    - A node with several parents, as in the graphs of gprof and cProfile, has no calling context of its own: it
      becomes a root (once, with all its values), inclusive values are computed anew so that they add up, and a caveat
      says so.

    AdapterError if a row belongs to no node of the graph.
    """
    table = frame.dataframe
    nodes, parent, shared = nodes_in_preorder(frame.graph)
    tree = call_tree(nodes, parent, table)
    caveats = []
    if shared:
        caveats.append(
            f"Functions with several callers ({shared}) stand beside these, not below: the call graph does not tell "
            "their time by caller. Inclusive values leave them out."
        )
    row_node = rows_to_nodes(nodes, table)
    where, row_location, other_levels = locations_of(table)
    if other_levels:
        caveats.append(f"Values were added up over {', '.join(other_levels)}.")
    known = known_metrics(frame)
    metrics: dict[str, Metric] = {}
    exclusives: dict[str, Column] = {}
    inclusives: dict[str, Column] = {}
    matrices: dict[str, FloatArray] = {}
    for name, pair in metric_columns(frame).items():
        if shared and pair[0] is None:
            caveats.append(f"{name} is excluded: inclusive values of a call graph cannot be attributed to paths.")
            continue
        metric = known.get(name) or metric_named(name, taken=metrics)
        own, below = (
            None
            if column is None
            else spread(table[column].to_numpy(dtype=np.float64), row_location, row_node, len(where), tree)
            for column in pair
        )
        own, below = complete(own, below, tree, metric, anew=shared > 0)
        if own is None and below is None and name not in known:
            metric = replace(metric, has_values=False)
        # What we wrote ourselves is in our units already.
        scale = 1.0 if name in known else metric.scale
        metrics[metric.id] = metric
        exclusives[metric.id] = added(own, scale, metric)
        inclusives[metric.id] = added(below, scale, metric)
        if len(where) > 1 and own is not None:
            matrices[metric.id] = np.nan_to_num(own) * scale
        total = exclusives[metric.id].sum()
        at_roots = float(inclusives[metric.id].dense(len(tree))[tree.roots].sum())
        if metric.aggregation == Aggregation.SUM and abs(total - at_roots) > 1e-6 * max(abs(total), abs(at_roots)):
            caveats.append(
                f"{name}: exclusive values sum to {total:g}, but the inclusive values of the roots to {at_roots:g}."
            )
    return Profile(
        format="hatchet",
        title=title or str(told(frame, "title") or "") or "GraphFrame",
        tree=tree,
        metrics=metrics,
        values=MemoryValues(tree, exclusives, inclusives, len(where), matrices),
        where=where,
        caveats=tuple(caveats),
    )


# -- the graph and the rows of a GraphFrame as a call tree and locations ------------------------------------------

#: What hatchet's readers write in the column `type`, where it is not our own word.
_KINDS = {kind.text: kind for kind in NodeKind} | {
    "statement": NodeKind.LINE,
    "procedure": NodeKind.FUNCTION,
    "kernel": NodeKind.GPU_KERNEL,
    "memcpy": NodeKind.GPU_OP,
}
#: Names of columns in the order of preference.
_NAME = ("name", "function", "path")
_FILE = ("file", "filename", "source.file", "source_file")
_LINE = ("line", "source.line", "lineno")
_MODULE = ("module", "load_module")
#: How hatchet's readers put the place of a line or loop into its name.
_LINE_NAME = re.compile(r"(?:Loop@|loop at )?(?P<file>.+):(?P<line>\d+)")


def nodes_in_preorder(graph: Any) -> tuple[list[Any], list[int], int]:
    """Nodes of a hatchet graph in nodes_in_preorder, their parents, and how many had several; these, and what has no root, become roots."""
    callers: dict[int, int] = {}
    everything: dict[int, Any] = {}
    pending = list(graph.roots)
    while pending:
        node = pending.pop()
        if id(node) in everything:
            continue
        everything[id(node)] = node
        for child in {id(child): child for child in node.children}.values():
            callers[id(child)] = callers.get(id(child), 0) + 1
            pending.append(child)
    roots = {id(root) for root in graph.roots}
    shared = [node for key, node in everything.items() if callers.get(key, 0) + (key in roots) > 1]
    cut = {id(node) for node in shared} | roots
    starts = [*graph.roots, *(node for node in shared if id(node) not in roots)]
    nodes: list[Any] = []
    parents: list[int] = []
    stack = [(node, -1) for node in reversed(list({id(node): node for node in starts}.values()))]
    while stack:
        node, above = stack.pop()
        own_children = [child for child in {id(c): c for c in node.children}.values() if id(child) not in cut]
        stack += [(child, len(nodes)) for child in reversed(own_children)]
        nodes.append(node)
        parents.append(above)
    return nodes, parents, len(shared)


def _text(value: object) -> str | None:
    """`value` if it says something; readers fill gaps with None, NaN, "None" and the empty string."""
    return value if isinstance(value, str) and value not in ("", "None", "nan") else None


def _first(row: Mapping[str, object], names: tuple[str, ...], attributes: Mapping[str, object]) -> object:
    for source in (row, attributes):
        for name in names:
            value = source.get(name)
            if _text(value) is not None or (isinstance(value, int | float) and value == value):
                return value
    return None


def _line_number(value: object) -> int:
    """A line that a source file may have; 0 for everything else."""
    return int(value) if isinstance(value, int | float | np.integer) and 0 < value < 1 << 31 else 0


def call_tree(nodes: list[Any], parent: list[int], table: pd.DataFrame) -> CallTree:
    """The call tree of hatchet nodes in nodes_in_preorder; facts come from the table, where it has none from the node's frame."""
    facts = [c for c in table.columns if c in {*_NAME, *_FILE, *_LINE, *_MODULE, "type", "relation", "offset"}]
    records: dict[int, Mapping[str, object]] = {}
    levels = table.index.get_level_values("node")
    for node, values in zip(levels, zip(*(table[c] for c in facts), strict=True) if facts else (), strict=False):
        records.setdefault(id(node), dict(zip(facts, values, strict=True)))
    tables: dict[str, dict[str, int]] = {"name": {}, "file": {}, "module": {}}

    def number(what: str, text: str | None) -> int:
        return -1 if text is None else tables[what].setdefault(text, len(tables[what]))

    count = len(nodes)
    columns = {what: np.full(count, -1, dtype=np.int32) for what in tables}
    line = np.zeros(count, dtype=np.int32)
    kinds = np.zeros(count, dtype=np.uint8)
    relation = np.zeros(count, dtype=np.uint8)
    offset = np.zeros(count, dtype=np.uint64)
    names: list[str | None] = []
    for index, node in enumerate(nodes):
        row, attributes = records.get(id(node), {}), node.frame.attrs
        name = _text(_first(row, _NAME, attributes))
        kind = _KINDS.get(str(_first(row, ("type",), attributes)).lower(), NodeKind.FUNCTION)
        file, at = _text(_first(row, _FILE, attributes)), _first(row, _LINE, attributes)
        number_of_line = _line_number(at)
        if kind in (NodeKind.LINE, NodeKind.LOOP) and file is None and name not in (None, "unknown line", "loop"):
            found = _LINE_NAME.fullmatch(str(name))
            file, number_of_line = (found["file"], _line_number(float(found["line"]))) if found else (name, 0)
        called = Relation.INLINED_CALL if kind == NodeKind.INLINED else Relation.CALL
        default = called if kind in FUNCTION_KINDS and parent[index] >= 0 else Relation.LEXICAL
        relation[index] = Relation.__members__.get(str(row.get("relation")).upper(), default)
        kinds[index], line[index] = kind, number_of_line
        columns["file"][index] = number("file", file)
        columns["module"][index] = number("module", _text(_first(row, _MODULE, attributes)))
        address = row.get("offset")
        if isinstance(address, int | np.integer) and 0 < address < 1 << 64:
            offset[index] = address
        names.append(name)
    parents = np.array(parent, dtype=np.int32)
    tree = CallTree(
        parent=parents,
        end=ends(parents),
        kind=kinds,
        relation=relation,
        name=columns["name"],
        file=columns["file"],
        line=line,
        module=columns["module"],
        names=[],
        files=list(tables["file"]),
        modules=list(tables["module"]),
        offset=offset if "offset" in facts else None,
    )
    # A name that the node would be given anyway is no name of its own.
    for index, name in enumerate(names):
        if int(kinds[index]) not in (NodeKind.LINE, NodeKind.LOOP) and name != tree.label(index):
            columns["name"][index] = number("name", name)
    tree = replace(tree, name=columns["name"], names=list(tables["name"]))
    tree.check()
    return tree


def rows_to_nodes(nodes: list[Any], table: pd.DataFrame) -> IntArray:
    """For each row of the table the tree node that it belongs to."""
    by_identity = {id(node): index for index, node in enumerate(nodes)}
    by_number = {node._hatchet_nid: index for index, node in enumerate(nodes) if node._hatchet_nid >= 0}
    found = []
    for node in table.index.get_level_values("node"):
        index = by_identity.get(id(node), by_number.get(node._hatchet_nid))
        if index is None:
            raise AdapterError(
                f"the GraphFrame has a row for {node}, which is not in its graph.",
                hint="Call squash() after filter(..., squash=False), or copy the graph together with its table.",
            )
        found.append(index)
    return np.array(found, dtype=np.int32)


def locations_of(table: pd.DataFrame) -> tuple[Locations, IntArray, list[str]]:
    """The locations, that of each row, and the names of the index levels that are no part of a location."""
    import pandas as pd

    parts = [level for level in ("rank", "thread") if level in table.index.names]
    others = [str(level) for level in table.index.names if level not in ("node", *parts)]
    if not parts or len(table) == 0:
        return Locations.single(), np.zeros(len(table), dtype=np.int32), others
    # timemory's reader writes "1,2" for two threads whose values are added up: they have no number of their own.
    levels = (pd.Series(table.index.get_level_values(part)) for part in parts)
    keys = np.stack([pd.to_numeric(level, errors="coerce").to_numpy(float) for level in levels])
    keys = np.where(np.isnan(keys), -1, keys).astype(np.int64)
    places, row_location = np.unique(keys, axis=1, return_inverse=True)
    where = Locations.of(places.shape[1], **dict(zip(parts, places, strict=True)))
    return where, row_location.reshape(-1).astype(np.int32), others


# -- the columns of a GraphFrame as metrics with exclusive and inclusive values -----------------------------------

#: Key of `GraphFrame.metadata` under which we leave what a table cannot hold.
METADATA = "chathpc"

#: Columns that hold numbers and are no metrics.
_NO_METRIC = frozenset(
    {
        "nid",
        "_hatchet_nid",
        "rank",
        "thread",
        "depth",
        "offset",
        "end_line",
        "node order",
        "line",
        "source.line",
        "lineno",
    }
)
#: Stem of a metric's name in lower case → id, unit, clock.
_VOCABULARY: dict[str, tuple[str, Unit, Clock | None]] = {
    "time": ("cpu.time", Unit.SECONDS, None),
    "cputime": ("cpu.time", Unit.SECONDS, Clock.CPU),
    "cpu time": ("cpu.time", Unit.SECONDS, Clock.CPU),
    "realtime": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "wallclock": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "wall time": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "time.duration": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "time (gpu)": ("gpu.time", Unit.SECONDS, None),
    "cycles": ("cpu.cycles", Unit.CYCLES, None),
    "papi_tot_cyc": ("cpu.cycles", Unit.CYCLES, None),
    "instructions": ("cpu.instructions", Unit.COUNT, None),
    "papi_tot_ins": ("cpu.instructions", Unit.COUNT, None),
    "page-faults": ("cpu.page-faults", Unit.COUNT, None),
    "io bytes read": ("io.read.bytes", Unit.BYTES, None),
    "io bytes written": ("io.write.bytes", Unit.BYTES, None),
}
_SCALES = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "ns": 1e-9, "nsec": 1e-9}
_CANONICAL = re.compile(r"(cpu|gpu|io|memory|papi|other)(\.[a-z0-9-]+)+")
_NOT_ADDED = re.compile(r"\b(avg|mean|min|max|minimum|maximum|variance|stddev|ratio|percent)\b|%|/", re.IGNORECASE)


def metric_columns(frame: Any) -> dict[str, tuple[str | None, str | None]]:
    """Name of each metric → its exclusive and inclusive column: of those that the GraphFrame names, or if it names none of all that hold
    numbers.
    """
    table = frame.dataframe
    exclusive = [c for c in frame.exc_metrics if c in table.columns]
    inclusive = [c for c in frame.inc_metrics if c in table.columns]
    if not exclusive and not inclusive:
        numbers = [str(c) for c in table.columns if c not in _NO_METRIC and table[c].dtype.kind in "fiu"]
        inclusive = [c for c in numbers if _stem(c) != c]
        exclusive = [c for c in numbers if _stem(c) == c]
    own = {_stem(c): c for c in exclusive if c not in _NO_METRIC and table[c].dtype.kind in "fiu"}
    below = {_stem(c): c for c in inclusive if c not in _NO_METRIC and table[c].dtype.kind in "fiu"}
    return {stem: (own.get(stem), below.get(stem)) for stem in {**own, **below}}


def _stem(column: str) -> str:
    """The name of a metric without what says that the column is inclusive or exclusive."""
    return re.sub(r"\s*\((inc|I|E)\)$|^inclusive#|(?<=#)inclusive#", "", column)


def told(frame: Any, what: str) -> Any:
    """What `to_graphframe` left in the metadata under a key; None without it."""
    facts = frame.metadata.get(METADATA) if isinstance(frame.metadata, Mapping) else None
    return facts.get(what) if isinstance(facts, Mapping) else None


def known_metrics(frame: Any) -> dict[str, Metric]:
    """The metrics that `to_graphframe` left in the metadata."""
    metrics = told(frame, "metrics")
    given = metrics.items() if isinstance(metrics, Mapping) else ()
    return {name: metric for name, metric in given if isinstance(metric, Metric) and metric.id == name}


def metric_named(name: str, *, taken: Mapping[str, Metric]) -> Metric:
    """The metric that a column's name stands for, with an id that is not `taken`."""
    stem, scale = re.sub(r":Sum$|^(sum#)+", "", name), 1.0
    suffix = re.fullmatch(r"(?P<stem>.*?)\s*\((?P<unit>\w+)\)", stem)
    in_seconds = suffix is not None and suffix["unit"].lower() in _SCALES
    if suffix is not None and in_seconds:
        stem, scale = suffix["stem"], _SCALES[suffix["unit"].lower()]
    added = not _NOT_ADDED.search(stem)
    unit, clock = Unit.SECONDS if in_seconds else Unit.COUNT, None
    if _CANONICAL.fullmatch(stem):
        identifier = stem
        if re.search(r"(^|\.)time(\.|$)", stem):
            unit = Unit.SECONDS
        elif stem.endswith(".bytes"):
            unit = Unit.BYTES
    elif added and stem.lower() in _VOCABULARY:
        identifier, unit, clock = _VOCABULARY[stem.lower()]
    else:
        identifier = "other." + slug(stem)
    aggregation = Aggregation.SUM if added else Aggregation.DERIVED
    return Metric(
        unused(identifier, taken), unit, name, name, suffix["unit"] if suffix else "", scale, aggregation, clock
    )


def spread(values: FloatArray, location: IntArray, node: IntArray, locations: int, tree: CallTree) -> FloatArray:
    """Values of the table's rows as an array (locations × nodes), NaN where there is none; rows of the same place are added."""
    there = ~np.isnan(values)
    cell = location[there].astype(np.int64) * len(tree) + node[there]
    sums = np.bincount(cell, weights=values[there], minlength=locations * len(tree))
    present = np.bincount(cell, minlength=locations * len(tree)) > 0
    return np.where(present, sums, np.nan).reshape(locations, len(tree))


def complete(
    own: FloatArray | None, below: FloatArray | None, tree: CallTree, metric: Metric, *, anew: bool
) -> tuple[FloatArray | None, FloatArray | None]:
    """Compute the one of exclusive and inclusive values that is lacking; both are arrays (locations × nodes), None without any."""
    if own is not None and np.isnan(own).all():
        own = None
    if below is not None and np.isnan(below).all():
        below = None
    if metric.aggregation != Aggregation.SUM:
        return own, below
    if own is None and below is not None:
        own = np.array([_without_children(row, tree) for row in below])
    if own is not None and (below is None or anew):
        below = np.array([_with_children(row, tree) for row in own])
    return own, below


def _with_children(own: FloatArray, tree: CallTree) -> FloatArray:
    """Inclusive values, NaN where nothing below was measured."""
    present = ~np.isnan(own)
    return np.where(tree.inclusive(present.astype(np.float64)) > 0, tree.inclusive(np.nan_to_num(own)), np.nan)


def _without_children(below: FloatArray, tree: CallTree) -> FloatArray:
    """Exclusive values: what the measured nodes next below have is taken from their nearest measured ancestor."""
    present: BoolArray = ~np.isnan(below)
    nearest = tree.nearest(present)
    inner = np.flatnonzero(present & (tree.parent >= 0))
    above = nearest[tree.parent[inner]]
    inner, above = inner[above >= 0], above[above >= 0]
    taken = np.bincount(above, weights=below[inner], minlength=len(tree))
    return below - taken


def added(matrix: FloatArray | None, scale: float, metric: Metric) -> Column:
    """The column over all locations; of a metric that does not add up, the mean over the locations that have a value."""
    if matrix is None:
        return EMPTY_COLUMN
    present = ~np.isnan(matrix)
    total = np.nansum(matrix, axis=0) * scale
    if metric.aggregation != Aggregation.SUM:
        total = total / np.maximum(present.sum(axis=0), 1)
    return column_of(total, np.asarray(present.any(axis=0)))
