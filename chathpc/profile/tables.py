"""A profile by function, line, loop, load module or GPU kernel; by location; and what is known of each kernel.

The sums are numpy all the way (`group_nodes`, `rows_of`, `function_table`), so that a diagnosis needs no pandas; only
`table`, `location_table` and `kernel_table` make DataFrames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import UsageError
from chathpc.profile.classification import classify
from chathpc.profile.location import LEVELS
from chathpc.profile.metric import Aggregation, Column, Metric
from chathpc.profile.profile import Profile
from chathpc.profile.sparse import combined
from chathpc.profile.tree import CallTree, FloatArray, IntArray, NodeKind, is_one_of, outermost_spans

if TYPE_CHECKING:
    import networkx
    import pandas as pd

#: What a table may be made by.
GROUPINGS = ("function", "line", "loop", "module", "kernel")
COLUMNS = ("name", "file", "line", "module", "exclusive", "inclusive")

UNKNOWN_MODULE = "<unknown module>"


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """How the nodes of a tree fall into the rows of a table; independent of any metric.

    `head[i]` is the node (function, line, loop, …) that node i's own value is counted at, −1 if none; `row[i]` the row
    of that node, −1 if none. `outer` are the heads whose inclusive values a row adds up: no one lies below another of
    its row, so recursion is counted once. `bare` are heads that add only the value counted at themselves (the header
    line of a function). `labels` are the rows' names, None where the name of the owning function is taken.
    """

    rows: int
    head: IntArray
    row: IntArray
    outer: IntArray
    bare: IntArray
    labels: list[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """Rows of a table in columns, largest exclusive value first, then largest inclusive value; only rows with a value.

    `node` is the head that contributes most to the row: its file, line and module are the row's. Values are in the
    metric's unit. `row_of[i]` is the row that tree node i's own value is in, −1 if none.
    """

    name: list[str]
    node: IntArray
    exclusive: FloatArray
    inclusive: FloatArray
    row_of: IntArray

    def __len__(self) -> int:
        return len(self.name)


def group_nodes(tree: CallTree, by: str) -> Grouping:
    """Sort the nodes of `tree` into rows by function name, source line, loop, load module or GPU kernel.

    - `function`: by the name of the owning function, whatever file or module it is in.
    - `line`: by file and line of lines and instructions; a value that sits on a loop or function directly is in the
      row of its header line. Code without source lines is in one row per function name.
    - `loop`: by file and line; nested loops and called or inlined functions are no part of a loop's exclusive value.
    - `module`: by load module, that of the nearest node above where a node has none.
    - `kernel`: by name of the GPU kernel.

    UsageError for anything else.
    """
    n = len(tree)
    index = np.arange(n, dtype=np.int32)
    label, texts = tree.function_labels
    owner = tree.function
    labels: list[str] | None = None
    spans = np.ones(n, dtype=bool)  # heads whose row takes all that is below them
    key: NDArray[np.int64]
    if by == "function":
        head, key, labels = owner, label.astype(np.int64), texts
    elif by == "line":
        placed = (tree.file >= 0) & (tree.line > 0)
        head = tree.nearest(placed | (owner == index))
        key = np.where(placed, len(texts) + _place_key(tree), label)
        spans = is_one_of(tree.kind, (NodeKind.LINE, NodeKind.INSTRUCTION))
    elif by == "loop":
        is_loop = tree.kind == NodeKind.LOOP
        head = tree.nearest(is_loop | (owner == index))
        head = np.where(is_loop[head], head, np.int32(-1))
        key = np.where((tree.file >= 0) & (tree.line > 0), len(texts) + _place_key(tree), label)
    elif by == "module":
        module = _same_text(tree.modules)[tree.module[tree.nearest(tree.module >= 0)]] if tree.modules else tree.module
        key = np.where(tree.nearest(tree.module >= 0) >= 0, module, len(tree.modules)).astype(np.int64)
        head = tree.nearest((tree.parent < 0) | (key != key[tree.parent]))
        labels = [text.rsplit("/", 1)[-1] for text in tree.modules] + [UNKNOWN_MODULE]
    elif by == "kernel":
        head = np.where(tree.kind[owner] == NodeKind.GPU_KERNEL, owner, np.int32(-1))
        key, labels = label.astype(np.int64), texts
    else:
        raise UsageError(f"There is no table by '{by}'.", hint=f"Choose one of: {', '.join(GROUPINGS)}.")
    heads = np.flatnonzero(head == index).astype(np.int32)
    keys, head_row = np.unique(key[heads], return_inverse=True)
    row_of_node = np.full(n + 1, -1, dtype=np.int32)  # the last entry stands for "no head"
    row_of_node[heads] = head_row
    stop = np.where(spans[heads], tree.end[heads], heads + 1)
    outer = outermost_spans(heads, stop, row_of_node[heads])
    return Grouping(
        rows=len(keys),
        head=head,
        row=row_of_node[head],
        outer=heads[outer & spans[heads]],
        bare=heads[outer & ~spans[heads]],
        labels=None if labels is None else [labels[number] for number in keys.tolist()],
    )


def rows_of(profile: Profile, metric: Metric, grouping: Grouping) -> TableRows:
    """Values of `metric` in the rows of `grouping`; UsageError for a derived metric, whose values do not add up."""
    if metric.aggregation == Aggregation.DERIVED:
        raise UsageError(
            f"'{metric.id}' is computed from other metrics and does not add up over functions or lines.",
            hint="Make the tables of the metrics that it is computed from.",
        )
    tree = profile.tree
    n = len(tree)
    row, head = grouping.row, grouping.head
    own, below = profile.exclusive(metric.id), profile.inclusive(metric.id)
    counted = row[own.nodes] >= 0
    own = Column(own.nodes[counted], own.values[counted])
    at_head = _combine(metric, head[own.nodes], own.values, n)
    inclusive_at = below.dense(n)
    exclusive = _combine(metric, row[own.nodes], own.values, grouping.rows)
    counting = np.concatenate([grouping.outer, grouping.bare])
    amounts = np.concatenate([inclusive_at[grouping.outer], at_head[grouping.bare]])
    inclusive = _combine(metric, row[counting], amounts, grouping.rows)

    # The head that stands for a row: that with the largest own value; where none has one, with the largest inclusive
    # value.
    node = np.full(grouping.rows, -1, dtype=np.int32)
    for heads, weights in ((counting, inclusive_at[counting]), (head[own.nodes], at_head[head[own.nodes]])):
        best = np.full(grouping.rows, -np.inf)
        np.maximum.at(best, row[heads], weights)
        winners = heads[(weights == best[row[heads]]) & (weights != 0)][::-1]
        node[row[winners]] = winners  # reversed: of equals the first in the tree is written last

    present = np.zeros(grouping.rows, dtype=bool)
    present[row[own.nodes]] = True
    seen = below.mask(n)
    present[row[grouping.outer[seen[grouping.outer]]]] = True
    lacking = np.flatnonzero(present & (node < 0))
    if len(lacking):  # measured, and zero
        first = np.full(grouping.rows, n, dtype=np.int32)
        np.minimum.at(first, row[counting], counting)
        node[lacking] = first[lacking]
    order = np.lexsort((-inclusive, -exclusive))
    order = order[present[order]]
    position = np.full(grouping.rows + 1, -1, dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    node = node[order]
    if grouping.labels is None:
        label, texts = tree.function_labels
        names = [texts[number] for number in label[node].tolist()]
    else:
        names = [grouping.labels[number] for number in order.tolist()]
    return TableRows(names, node, exclusive[order], inclusive[order], position[row])


def function_table(profile: Profile, metric: Metric) -> TableRows:
    """One row per function name: exclusive values (they sum to the total) and inclusive ones, recursion counted once."""
    return rows_of(profile, metric, group_nodes(profile.tree, "function"))


def table(profile: Profile, by: str, metric: Metric) -> pd.DataFrame:
    """One row per function, line, loop, module or kernel (see `group_nodes`), largest exclusive value first.

    Columns: name, file (None if unknown), line (0 if unknown), module (None if unknown), exclusive, inclusive (unit of
    the metric). In tables by line and loop, `name` is the function that the largest part of the value belongs to.
    """
    import pandas as pd

    tree = profile.tree
    rows = rows_of(profile, metric, group_nodes(tree, by))
    by_module = by == "module"
    return pd.DataFrame(
        {
            "name": pd.Series(rows.name, dtype=object),
            "file": pd.Series(
                [None if by_module else tree.file_name(node) for node in rows.node.tolist()], dtype=object
            ),
            "line": np.zeros(len(rows), dtype=np.int64) if by_module else tree.line[rows.node].astype(np.int64),
            "module": pd.Series([_module_of(tree, node) for node in rows.node.tolist()], dtype=object),
            "exclusive": rows.exclusive,
            "inclusive": rows.inclusive,
        },
        columns=list(COLUMNS),
    )


def location_table(profile: Profile) -> pd.DataFrame:
    """One row per location: its label, its kind (thread, helper thread, GPU), its parts (−1 where one does not apply), and its totals.

    The totals of the metrics that add up and have values are in columns named by metric id; NaN where a location has none.
    """
    import pandas as pd

    where = profile.where
    columns: dict[str, object] = {"label": pd.Series([where.label(i) for i in range(len(where))], dtype=object)}
    helper = profile.helpers.locations
    kinds = np.where(where.is_gpu, "GPU", np.where(helper, "helper thread", "thread"))
    columns["kind"] = pd.Series(kinds.tolist(), dtype=object)
    columns |= {part: getattr(where, part) for part in (*LEVELS, "core")}
    for metric in profile.metrics.values():
        if metric.aggregation == Aggregation.SUM and metric.has_values and not metric.hidden:
            columns[metric.id] = profile.location_totals(metric.id)
    return pd.DataFrame(columns)


def kernel_table(profile: Profile) -> pd.DataFrame:
    """One row per GPU kernel name, longest time first; empty without GPU data.

    Columns: name, module, launches (`gpu.kernel.count`), time (`gpu.kernel.time`, seconds); then, by metric id, the
    launch facts (`gpu.kernel.*`: registers, blocks, …) as means over the launches, and the PC samples and stalls
    (`gpu.stall.*`, `gpu.samples*`) as sums. NaN is not measured.
    """
    import pandas as pd

    tree = profile.tree
    grouping = group_nodes(tree, "kernel")
    kernels = grouping.outer
    row, count = grouping.row[kernels], grouping.rows

    def at_kernels(metric: str) -> FloatArray:
        inclusive = profile.inclusive(metric).dense(len(tree), missing=np.nan)[kernels]
        own = profile.exclusive(metric).dense(len(tree), missing=np.nan)[kernels]
        return np.where(np.isnan(inclusive), own, inclusive)  # what is computed from other metrics is at its node only

    def added(values: FloatArray) -> FloatArray:
        measured = ~np.isnan(values)
        sums = np.bincount(row[measured], weights=values[measured], minlength=count)
        return np.where(np.bincount(row[measured], minlength=count) > 0, sums, np.nan)

    nothing = np.full(len(kernels), np.nan)
    ids = [metric.id for metric in profile.metrics.values() if metric.has_values]
    launches = at_kernels("gpu.kernel.count") if "gpu.kernel.count" in ids else nothing
    time = at_kernels("gpu.kernel.time") if "gpu.kernel.time" in ids else nothing
    first = kernels[np.unique(row, return_index=True)[1]]
    columns: dict[str, object] = {
        "name": pd.Series(grouping.labels, dtype=object),
        "module": pd.Series([_module_of(tree, node) for node in first.tolist()], dtype=object),
        "launches": added(launches),
        "time": added(time),
    }
    for identifier in ids:
        summed = profile.metrics[identifier].aggregation == Aggregation.SUM
        if identifier.startswith(("gpu.stall.", "gpu.samples")) and summed:
            columns[identifier] = added(at_kernels(identifier))
        elif identifier.startswith("gpu.kernel.") and identifier not in ("gpu.kernel.count", "gpu.kernel.time"):
            values = at_kernels(identifier)
            weight = np.where(np.isnan(launches), 1.0, launches)
            # A summed fact holds the sum over the launches already, any other one the fact of a launch.
            total = values if summed else values * weight
            with np.errstate(invalid="ignore", divide="ignore"):
                columns[identifier] = added(total) / added(np.where(np.isnan(values), np.nan, weight))
    return pd.DataFrame(columns).sort_values("time", ascending=False, kind="stable", ignore_index=True)


def _combine(metric: Metric, group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """`values` added up (or their maximum, if the metric is one) by `group`; 0 for groups without a value."""
    found = combined(metric.aggregation, group, values, groups)
    return np.where(np.isneginf(found), 0.0, found)


def _same_text(texts: Sequence[str]) -> IntArray:
    """For each entry of a table the first entry with the same text."""
    first: dict[str, int] = {}
    return np.array([first.setdefault(text, number) for number, text in enumerate(texts)], dtype=np.int32)


def _place_key(tree: CallTree) -> NDArray[np.int64]:
    """One number per file and line, the same for the same text; meaningless for nodes without a file."""
    if not tree.files:
        return np.zeros(len(tree), dtype=np.int64)
    file = _same_text(tree.files)[tree.file].astype(np.int64)
    return file * (int(tree.line.max(initial=0)) + 1) + tree.line


def _module_of(tree: CallTree, node: int) -> str | None:
    """Path of the load module of `node`, or of the nearest node above that has one."""
    while node >= 0 and int(tree.module[node]) < 0:
        node = int(tree.parent[node])
    return tree.module_name(node) if node >= 0 else None


# -- the call graph: one node per function name, whatever the calling context -------------------------------------


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


# -- values of places with what libraries do for them told as the program's calls ---------------------------------


@lru_cache(maxsize=2)
def call_of(tree: CallTree) -> IntArray:
    """The call of a library that each node is part of, −1 in the program's code."""
    return classify(tree).call


def call_values(profile: Profile, metric: str, nodes: IntArray) -> FloatArray:
    """Values by location of nodes themselves; a call of a library has those of all that the library does for it, which have none: the many
    ways through a library to one call of the system tell a reader nothing.
    """
    call = call_of(profile.tree)
    standing = np.where(call >= 0, call, np.arange(len(call), dtype=np.int32))
    column = np.full(len(standing), -1, dtype=np.int32)
    column[nodes] = np.arange(len(nodes), dtype=np.int32)
    members = np.flatnonzero(column[standing] >= 0).astype(np.int32)
    found = np.zeros((len(nodes), len(profile.where)))
    # Calls may have many more nodes below them than were asked for: at once no more are read than that.
    for part in np.array_split(members, -(-len(members) // len(nodes))) if len(members) else ():
        values = profile.values.per_location(metric, part, inclusive=False)
        for at, own in zip(column[standing[part]].tolist(), values.T, strict=True):
            found[at] += own
    return found.T
