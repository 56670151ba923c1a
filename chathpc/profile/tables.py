"""A profile by function, line, loop, load module or GPU kernel; by location; and what is known of each kernel.

The sums are numpy all the way (`function_table`, `grouped_table`), so that a diagnosis needs no pandas; only `table`,
`location_table` and `kernel_table` make DataFrames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chathpc.errors import UsageError
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind, outermost_spans

if TYPE_CHECKING:
    import pandas as pd

    from chathpc.profile.profile import Profile

COLUMNS = ("name", "file", "line", "module", "exclusive", "inclusive")


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """How the nodes of a tree fall into the rows of a table.

    `row[i]` is the row that node i's own value belongs to, −1 for none. `heads` are the nodes (ascending) whose inclusive
    values a row adds up, `head_row` their rows; heads before `direct` of the same row enclose whole subtrees, while a head
    for which `alone` holds stands for its own value only (the header line of a function). `labels` names rows, None where
    the owning function does.
    """

    rows: int
    row: IntArray
    heads: IntArray
    head_row: IntArray
    alone: BoolArray
    labels: list[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """Rows of a table in columns of equal length, largest exclusive value first, then largest inclusive value.

    `node` is the tree node that contributes most to the row (its place and module are the row's); values are in the
    metric's unit, NaN where the row has none. `row_of[i]` is the row that node i's own value is in, −1 for none.
    """

    name: list[str]
    node: IntArray
    exclusive: FloatArray
    inclusive: FloatArray
    row_of: IntArray

    def __len__(self) -> int:
        return len(self.name)
