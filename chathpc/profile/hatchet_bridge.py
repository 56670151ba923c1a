"""From a Profile to a hatchet GraphFrame and back, so that every hatchet user can read what we read, and the reverse.

hatchet is the exchange object, never the hot path. Trees of any depth pass through in both directions; hatchet's own
methods recurse along the tree and raise RecursionError on trees deeper than Python's recursion limit (about 1,000
levels).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chathpc.profile.hatchet_graph import call_tree, locations_of, preorder, rows_to_nodes
from chathpc.profile.hatchet_metrics import (
    METADATA,
    added,
    complete,
    known_metrics,
    metric_columns,
    metric_named,
    spread,
)
from chathpc.profile.metric import Aggregation, Column, Metric
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FloatArray, NodeKind, Relation
from chathpc.profile.values import MemoryValues

if TYPE_CHECKING:
    import hatchet

INCLUSIVE = " (inc)"  # hatchet's own suffix


def to_graphframe(profile: Profile) -> hatchet.GraphFrame:
    """The profile as a hatchet GraphFrame with one row per node, added up over all locations.

    Columns: name, type (the text of the NodeKind), file, line, module, relation, offset where the profile has it, and
    for every metric with values `<id>` (exclusive) and `<id> (inc)`. Values are in the metric's unit, NaN where a node
    was not measured. Units and names of the metrics are in `metadata["chathpc"]`. hatchet numbers nodes in the order of
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
    nodes, parent, shared = preorder(frame.graph)
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
        if shared and pair.exclusive is None:
            caveats.append(f"{name} is excluded: inclusive values of a call graph cannot be attributed to paths.")
            continue
        metric = known.get(name) or metric_named(name, taken=metrics)
        own, below = (
            None
            if column is None
            else spread(table[column].to_numpy(dtype=np.float64), row_location, row_node, len(where), tree)
            for column in (pair.exclusive, pair.inclusive)
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
    facts = frame.metadata.get(METADATA) if isinstance(frame.metadata, Mapping) else None
    return Profile(
        format="hatchet",
        title=title or (str(facts.get("title", "")) if isinstance(facts, Mapping) else "") or "GraphFrame",
        tree=tree,
        metrics=metrics,
        values=MemoryValues(tree, exclusives, inclusives, len(where), matrices),
        where=where,
        caveats=tuple(caveats),
    )
