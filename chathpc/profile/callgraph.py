"""The call graph: one node per function name, whatever the calling context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chathpc.profile.metric import Metric
from chathpc.profile.tables import function_table
from chathpc.profile.tree import outermost_spans

if TYPE_CHECKING:
    import networkx

    from chathpc.profile.profile import Profile


def callgraph(profile: Profile, metric: Metric) -> networkx.DiGraph:
    """Fold the contexts of `profile` into a graph of functions, with the values of `metric` in its unit.

    Nodes are function names with the attributes exclusive, inclusive (recursion counted once), file, line, module.
    An edge caller → callee has `time`, the inclusive value of the callee where that caller called it (below a recursive
    call once), and `calls`, the number of contexts in which it did. Functions and calls without a value of the metric
    are left out.
    """
    import networkx

    tree = profile.tree
    graph = networkx.DiGraph(metric=metric.id, unit=str(metric.unit))
    rows = function_table(profile, metric)
    for name, node, exclusive, inclusive in zip(
        rows.name, rows.node.tolist(), rows.exclusive.tolist(), rows.inclusive.tolist(), strict=True
    ):
        graph.add_node(
            name,
            exclusive=exclusive,
            inclusive=inclusive,
            file=tree.file_name(node),
            line=int(tree.line[node]),
            module=tree.module_name(node),
        )
    value = profile.inclusive(metric.id)
    is_call = (tree.function == np.arange(len(tree))) & (tree.parent >= 0) & value.mask(len(tree))
    callee = np.flatnonzero(is_call).astype(np.int32)
    row_from = rows.row_of[tree.function[tree.parent[callee]]].astype(np.int64)
    row_to = rows.row_of[callee]
    known = (row_from >= 0) & (row_to >= 0)
    callee = callee[known]
    edges, edge = np.unique(row_from[known] * len(rows) + row_to[known], return_inverse=True)
    edge = edge.astype(np.int32)
    outer = outermost_spans(callee, tree.end[callee], edge)
    time = np.bincount(edge[outer], weights=value.dense(len(tree))[callee[outer]], minlength=len(edges))
    calls = np.bincount(edge, minlength=len(edges))
    for key, seconds, contexts in zip(edges.tolist(), time.tolist(), calls.tolist(), strict=True):
        caller, called = divmod(key, len(rows))
        graph.add_edge(rows.name[caller], rows.name[called], time=seconds, calls=contexts)
    return graph
