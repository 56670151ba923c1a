"""The pruned tree as rows for a reader or a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chathpc.profile.names import shorten
from chathpc.profile.tree import NodeKind
from chathpc.pruners.pruned import PrunedTree


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A node of a pruned tree: values in the metric's unit, `share` is inclusive / total (0..1).

    `place` is `heat.c:12`, empty where the label says it already; `origin` the node of the original tree, −1 for
    synthetic ones.
    """

    depth: int
    label: str
    place: str
    inclusive: float
    exclusive: float
    share: float
    origin: int


#: Characters of a label in an outline: parameters and template arguments of C++ would use up the budget of a prompt.
LONGEST_LABEL = 60


def outline(pruned: PrunedTree, metric: str) -> list[OutlineRow]:
    """Rows in preorder, siblings by inclusive value of `metric` with the largest first, synthetic ones last."""
    tree = pruned.tree
    exclusive, inclusive = pruned.exclusive[metric], pruned.inclusive(metric)
    total = pruned.totals[metric]
    children: dict[int, list[int]] = {}
    # Ascending by what a stack gives out last: synthetic, then small, then late.
    order = np.lexsort((-np.arange(len(tree)), inclusive, ~pruned.synthetic))
    for node in order.tolist():
        children.setdefault(int(tree.parent[node]), []).append(node)
    rows = []
    pending = [(node, 0) for node in children.get(-1, [])]
    while pending:
        node, depth = pending.pop()
        pending += [(child, depth + 1) for child in children.get(node, [])]
        says_place = tree.kind[node] in (NodeKind.LOOP, NodeKind.LINE)
        rows.append(
            OutlineRow(
                depth=depth,
                label=pruned.label(node),
                place="" if says_place else tree.place(node),
                inclusive=float(inclusive[node]),
                exclusive=float(exclusive[node]),
                share=float(inclusive[node]) / total if total > 0 else 0.0,
                origin=int(pruned.origin[node]),
            )
        )
    return rows


def render_outline(pruned: PrunedTree, metric: str) -> str:
    """The outline as indented text, one line a row: share of the total, own share where it has one, label and place."""
    total = pruned.totals[metric]
    lines = []
    for row in outline(pruned, metric):
        own = f" (self {row.exclusive / total:.1%})" if total > 0 and row.exclusive / total >= 0.0005 else ""
        place = f" {row.place}" if row.place else ""
        label = shorten(row.label, LONGEST_LABEL)
        lines.append(f"{'  ' * row.depth}{row.share:.1%}{own} {label}{place}")
    return "\n".join(lines)
