"""The calling context tree of a profile as the rows of a table, without what is too small or too deep."""

from __future__ import annotations

import numpy as np

from chathpc.errors import UsageError
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FUNCTION_KINDS, BoolArray, CallTree, FloatArray, NodeKind, Relation
from chathpc.report import TreeRecord, TreeRow

#: What `tree_record` can show, coarse to fine.
LEVELS = ("function", "loop", "line")


def tree_record(
    profile: Profile,
    *,
    metric: str | None = None,
    by: str = "function",
    min_share: float = 0.01,
    depth: int | None = None,
) -> TreeRecord:
    """The tree by one metric: nodes of level `by` with at least `min_share` (0..1) of the total, down to `depth` levels.

    Siblings stand largest first. The values of nodes that `by` leaves out belong to the node around them. UsageError if
    there is no such metric, or if its values do not add up.
    """
    chosen = _additive(profile, metric)
    tree = profile.tree
    kept = _level(tree, by)
    coarse, home = tree.select(kept)
    own = _moved(profile.exclusive(chosen.id).dense(len(tree)), home, len(coarse))
    inclusive = profile.inclusive(chosen.id).dense(len(tree))[kept]
    total = profile.total(chosen.id)
    shown = (inclusive >= min_share * total) & (inclusive > 0)
    if depth is not None:
        shown &= coarse.depth < depth
    original = np.flatnonzero(kept)
    rows = [
        TreeRow(
            depth=int(coarse.depth[node]),
            label=tree.label(int(original[node])),
            place=tree.place(int(original[node])),
            inclusive=float(inclusive[node]),
            exclusive=float(own[node]),
            share=float(inclusive[node] / total),
        )
        for node in _preorder(coarse, inclusive, shown)
    ]
    return TreeRecord(metric=chosen.id, unit=chosen.unit.value, total=total, rows=rows)


def _additive(profile: Profile, name: str | None) -> Metric:
    """The metric to show: `name`, else the time of the host."""
    metrics = ", ".join(key for key, metric in profile.metrics.items() if metric.aggregation == Aggregation.SUM)
    hint = f"These do: {metrics}." if metrics else ""
    chosen = profile.time if name is None else profile.metric(name)
    if chosen is None:
        raise UsageError(
            "This profile has no time metric.", hint=f"Name one with --metric: {metrics}." if metrics else ""
        )
    if chosen.aggregation != Aggregation.SUM:
        raise UsageError(f"The values of '{chosen.id}' do not add up over a tree.", hint=hint)
    return chosen


def _level(tree: CallTree, by: str) -> BoolArray:
    """True for the nodes of a level; whatever was called is in every level, with or without a symbol."""
    kinds = list(FUNCTION_KINDS)
    if by in ("loop", "line"):
        kinds.append(NodeKind.LOOP)
    if by == "line":
        kinds.append(NodeKind.LINE)
    wanted: BoolArray = np.isin(tree.kind, kinds) | (tree.relation != Relation.LEXICAL) | (tree.parent < 0)
    return wanted


def _moved(values: FloatArray, home: np.ndarray[tuple[int], np.dtype[np.int32]], size: int) -> FloatArray:
    inside = home >= 0
    return np.bincount(home[inside], weights=values[inside], minlength=size).astype(np.float64)


def _preorder(tree: CallTree, values: FloatArray, shown: BoolArray) -> list[int]:
    """Nodes that are shown, parents first, siblings by falling value; a node below a hidden one is hidden with it."""
    children: dict[int, list[int]] = {}
    for node in np.flatnonzero(shown).tolist():
        children.setdefault(int(tree.parent[node]), []).append(node)
    order: list[int] = []
    open_nodes = sorted(children.get(-1, ()), key=lambda node: float(values[node]))
    while open_nodes:
        node = open_nodes.pop()
        order.append(node)
        open_nodes += sorted(children.get(node, ()), key=lambda child: float(values[child]))
    return order
