"""The functions and lines with most of any metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from chathpc.diagnosis.facts import Facts
from chathpc.profile.metric import Metric
from chathpc.profile.profile import Profile
from chathpc.profile.tables import TableRows, group_nodes, rows_of
from chathpc.view.records import DrawnRows
from chathpc.view.tables import GROUP_NUMBERS, Tables, rounded

#: Rows of a table in a page: by own value, and by that with all that is below.
MOST_OWN, MOST_BELOW = 250, 100


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows of all metrics by what they are of: name, file, line."""

    tables: dict[str, TableRows]
    keys: list[tuple[str, str | None, int]]
    node: list[int]
    exclusive: dict[str, list[float]] = field(default_factory=dict)
    inclusive: dict[str, list[float]] = field(default_factory=dict)
    left_out: int = 0


def listed(profile: Profile, by: str, metrics: Sequence[Metric]) -> Listed:
    """The rows of `profile` by function or line that have most of any of `metrics`, the first of these first."""
    grouping = group_nodes(profile.tree, by)
    tables = {metric.id: rows_of(profile, metric, grouping) for metric in metrics}
    # A row of the grouping has a number of its own in each metric's table, where it stands by its value.
    numbers: dict[int, int] = {}
    places: dict[str, dict[int, int]] = {}
    rows = 0
    for table in tables.values():
        first = np.full(len(table), -1, dtype=np.int64)
        known = (table.row_of >= 0) & (grouping.row >= 0)
        first[table.row_of[known]] = grouping.row[known]
        chosen = np.unique(
            np.concatenate([np.arange(min(MOST_OWN, len(table))), np.argsort(-table.inclusive)[:MOST_BELOW]])
        )
        for position in chosen.tolist():
            numbers.setdefault(int(first[position]), int(table.node[position]))
        rows = max(rows, len(table))
    for metric, table in tables.items():
        known = (table.row_of >= 0) & (grouping.row >= 0)
        of_row = np.full(grouping.rows + 1, -1, dtype=np.int64)
        of_row[grouping.row[known]] = table.row_of[known]
        places[metric] = {row: int(of_row[row]) for row in numbers if of_row[row] >= 0}
    tree = profile.tree
    label, texts = tree.function_labels
    found = Listed(
        tables=tables,
        keys=[(texts[int(label[node])], tree.file_name(node), int(tree.line[node])) for node in numbers.values()],
        node=list(numbers.values()),
        left_out=max(0, rows - len(numbers)),
    )
    for metric, table in tables.items():
        position = np.array([places[metric].get(row, -1) for row in numbers], dtype=np.int64)
        for columns, values in ((found.exclusive, table.exclusive), (found.inclusive, table.inclusive)):
            columns[metric] = rounded(np.where(position >= 0, np.append(values, 0.0)[position], 0.0))
    return found


def rows_drawn(profile: Profile, facts: Facts, found: Listed, tables: Tables) -> DrawnRows:
    """The rows as part of a view."""
    tree = profile.tree
    nodes = np.array(found.node, dtype=np.int64)
    return DrawnRows(
        name=[tables.names.add(name) for name, _, _ in found.keys],
        file=[tables.files.add(file) for _, file, _ in found.keys],
        line=[line for _, _, line in found.keys],
        module=[tables.modules.add(tree.module_name(node)) for node in found.node],
        group=GROUP_NUMBERS[facts.activities.kind[nodes]].tolist() if len(nodes) else [],
        exclusive=found.exclusive,
        inclusive=found.inclusive,
        left_out=found.left_out,
    )
