"""The calling context tree of a profile as the rows of a table, without what is too small or too deep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.errors import UsageError
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.profile import Profile
from chathpc.profile.tree import (
    FUNCTION_KINDS,
    BoolArray,
    CallTree,
    FloatArray,
    IntArray,
    NodeKind,
    Relation,
    is_one_of,
    outermost_spans,
)
from chathpc.report import TreeRecord, TreeRow

#: What `tree_record` can show, coarse to fine.
LEVELS = ("function", "loop", "line")
#: Calls of a function inside itself that are shown one by one.
_NESTED = 4


def tree_record(
    profile: Profile,
    *,
    metric: str | None = None,
    by: str = "function",
    min_share: float = 0.01,
    depth: int | None = None,
    rest: bool = False,
) -> TreeRecord:
    """The tree by one metric: nodes of level `by` with at least `min_share` (0..1) of the total, down to `depth` levels.

    Siblings stand largest first, with `rest` those that are too small together in a last row, `… 12 more`, where that is large enough, and
    recursions only some levels deep.
    The values of nodes that `by` leaves out belong to the node around them. UsageError if there is no such metric, or if its
    values do not add up.
    """
    chosen = _additive(profile, metric)
    coarse = level(profile.tree, by)
    own, inclusive = coarse.values(profile, chosen)
    total = profile.total(chosen.id)
    shown = (inclusive >= min_share * total) & (inclusive > 0)
    if depth is not None:
        shown &= coarse.tree.depth < depth
    if not rest:
        rows = coarse.rows(profile.tree, own, inclusive, shown, total)
        return TreeRecord(metric=chosen.id, unit=chosen.unit.value, total=total, rows=rows)
    deep = _deep_recursion(coarse.tree) & shown
    small = (inclusive > 0) & (inclusive < min_share * total)
    shown &= ~coarse.tree.inside(np.flatnonzero(deep).astype(np.int32))
    rows = coarse.rows(profile.tree, own, inclusive, shown, total)
    order = _preorder(coarse.tree, inclusive, shown)
    left_out = _left_out(coarse.tree, order, small, deep, inclusive, min_share * total)
    return TreeRecord(metric=chosen.id, unit=chosen.unit.value, total=total, rows=_with_rest(rows, left_out, total))


def _deep_recursion(tree: CallTree) -> BoolArray:
    """True for the calls with which a recursion goes deeper than a reader wants to see: those of a function that has so many around it."""
    labels, found = tree.function_labels[0], np.zeros(len(tree), dtype=np.bool_)
    left = np.flatnonzero((tree.function == np.arange(len(tree))) & (tree.name >= 0)).astype(np.int32)
    for _ in range(_NESTED):
        left = left[~outermost_spans(left, tree.end[left], labels[left])]
    found[left[outermost_spans(left, tree.end[left], labels[left])]] = True
    return found


def _left_out(
    tree: CallTree, order: Sequence[int], small: BoolArray, deep: BoolArray, values: FloatArray, least: float
) -> list[tuple[str, float]]:
    """For each node of `order` what is left out right below it, in words, and what it has: a deep recursion, or nodes that are too small
    one by one; no words where that is too small, too.
    """
    above = tree.parent[small & (tree.parent >= 0)]
    count = np.bincount(above, minlength=len(tree))
    sums = np.bincount(above, weights=values[small & (tree.parent >= 0)], minlength=len(tree))
    found = {node: (f"… {count[node]:,} more", float(sums[node])) for node in np.flatnonzero(count).tolist()}
    for node in np.flatnonzero(deep).tolist():
        levels = int(tree.depth[node : tree.end[node]].max()) - int(tree.depth[node]) + 1
        found[int(tree.parent[node])] = (f"… recursion, {levels:,} levels deeper", float(values[node]))
    return [each if (each := found.get(node, ("", 0.0)))[1] >= least else ("", 0.0) for node in order]


def _with_rest(rows: Sequence[TreeRow], left_out: Sequence[tuple[str, float]], total: float) -> list[TreeRow]:
    """The rows with one for what is left out below each, behind all that is shown there."""
    told: list[TreeRow] = []
    waiting: list[TreeRow] = []
    for row, (label, value) in zip(rows, left_out, strict=True):
        while waiting and waiting[-1].depth > row.depth:
            told.append(waiting.pop())
        told.append(row)
        if label:
            waiting.append(
                TreeRow(depth=row.depth + 1, label=label, place="", inclusive=value, exclusive=0.0, share=value / total)
            )
    return [*told, *reversed(waiting)]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A tree of functions, of functions and loops, or of lines too; independent of any metric.

    `original[i]` is the node of the whole tree that node i is; `home[j]` the node here that the own value of node j of the whole
    tree belongs to, −1 if none.
    """

    tree: CallTree
    original: IntArray
    home: IntArray

    def values(self, profile: Profile, metric: Metric) -> tuple[FloatArray, FloatArray]:
        """Exclusive and inclusive values of the nodes of this tree."""
        size = len(self.home)
        own = _moved(profile.exclusive(metric.id).dense(size), self.home, len(self.tree))
        return own, profile.inclusive(metric.id).dense(size)[self.original]

    def rows(
        self,
        whole: CallTree,
        own: FloatArray,
        inclusive: FloatArray,
        shown: BoolArray,
        total: float,
        *,
        top: int | None = None,
    ) -> list[TreeRow]:
        """The nodes marked in `shown`, parents first, siblings by falling value; with `top` only it and what is below it."""
        above = 0 if top is None else int(self.tree.depth[top])
        return [
            TreeRow(
                depth=int(self.tree.depth[node]) - above,
                label=whole.label(int(self.original[node])),
                place=whole.place(int(self.original[node])),
                inclusive=float(inclusive[node]),
                exclusive=float(own[node]),
                share=float(inclusive[node] / total),
            )
            for node in _preorder(self.tree, inclusive, shown, None if top is None else [top])
        ]


def level(tree: CallTree, by: str) -> Level:
    """The tree of one of LEVELS; whatever was called is in every level, with or without a symbol."""
    kept = _kept(tree, by)
    coarse, home = tree.select(kept)
    return Level(coarse, np.flatnonzero(kept).astype(np.int32), home)


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


def _kept(tree: CallTree, by: str) -> BoolArray:
    """True for the nodes of a level."""
    kinds = list(FUNCTION_KINDS)
    if by in ("loop", "line"):
        kinds.append(NodeKind.LOOP)
    if by == "line":
        kinds.append(NodeKind.LINE)
    wanted: BoolArray = is_one_of(tree.kind, kinds) | (tree.relation != Relation.LEXICAL) | (tree.parent < 0)
    return wanted


def _moved(values: FloatArray, home: IntArray, size: int) -> FloatArray:
    inside = home >= 0
    return np.bincount(home[inside], weights=values[inside], minlength=size).astype(np.float64)


def _preorder(tree: CallTree, values: FloatArray, shown: BoolArray, tops: list[int] | None = None) -> list[int]:
    """Nodes that are shown, parents first, siblings by falling value, from `tops` (or the roots) on; a node below a hidden one
    is hidden with it.
    """
    children: dict[int, list[int]] = {}
    for node in np.flatnonzero(shown).tolist():
        children.setdefault(int(tree.parent[node]), []).append(node)
    order: list[int] = []
    open_nodes = sorted(children.get(-1, ()) if tops is None else tops, key=lambda node: float(values[node]))
    while open_nodes:
        node = open_nodes.pop()
        order.append(node)
        open_nodes += sorted(children.get(node, ()), key=lambda child: float(values[child]))
    return order
