"""The call tree of a report that has nothing more to draw: its rows as a tree."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.report import TreeRecord, TreeRow
from chathpc.view.records import DrawnMetric, DrawnTree, View
from chathpc.view.tables import GROUPS, OTHER, Tables

#: A node for what is below a place and has no row, by its label; and a share of the total that is none, but an error of rounding.
_REST = "… others\0"
_NOTHING = 1e-6


def view_of_rows(record: TreeRecord, before: TreeRecord | None = None) -> View:
    """The rows of `record`, with those of `before` on the same paths where there is one."""
    tables = Tables()
    sides = (before, record) if before is not None else (record,)
    nodes: dict[tuple[str, ...], list[float]] = {}
    for side, one in enumerate(sides):
        rest: dict[tuple[str, ...], float] = {(): one.total}
        for path, row in _paths(one.rows):
            nodes.setdefault(path, [0.0] * len(sides))[side] += max(0.0, row.exclusive)
            rest[path] = rest.get(path, 0.0) + row.inclusive - row.exclusive
            rest[path[:-1]] -= row.inclusive
        # What has no row of its own is a part of the run as well.
        for path, value in rest.items():
            if value > _NOTHING * one.total:
                nodes.setdefault((*path, _REST), [0.0] * len(sides))[side] += value
    # Preorder: a path stands behind that of its parent, and before those of later siblings.
    order: dict[tuple[str, ...], int] = {}
    below: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for path in nodes:
        below.setdefault(path[:-1], []).append(path)
    pending = list(reversed(below.get((), [])))
    while pending:
        path = pending.pop()
        order[path] = len(order)
        pending += reversed(below.get(path, []))
    values = [[nodes[path][side] for path in order] for side in range(len(sides))]
    tree = DrawnTree(
        parent=[order.get(path[:-1], -1) for path in order],
        name=[tables.names.add(path[-1].rpartition("\0")[0]) for path in order],
        file=[-1] * len(order),
        line=[0] * len(order),
        group=[GROUPS.index("own") if not path[-1].startswith("…") else OTHER for path in order],
        values={record.metric: values[-1]},
        before={record.metric: values[0]} if before is not None else {},
        contexts=len(order),
    )
    metric = DrawnMetric(id=record.metric, title=record.metric, unit=record.unit, total=record.total)
    return View(
        metrics=[metric],
        names=tables.names.texts,
        files=[],
        modules=[],
        groups=list(GROUPS),
        tree=tree if order else None,
    )


def _paths(rows: Sequence[TreeRow]) -> list[tuple[tuple[str, ...], TreeRow]]:
    """Each row with the labels from its root down to it; rows of one label below one parent are one."""
    path: list[str] = []
    found = []
    for row in rows:
        del path[row.depth :]
        path.append(f"{row.label}\0{row.place}")
        found.append((tuple(path), row))
    return found
