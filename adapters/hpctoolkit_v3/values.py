"""Values of a database with experiment.xml: sums over all locations, values of threads when asked for.

hpcprof writes inclusive and exclusive values, where "exclusive" of a function is that of its whole text. The value of
a node itself is its inclusive value without those of its children.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit.vocabulary import metrics_for
from chathpc.adapters.hpctoolkit_v3.experiment import Experiment, MetricRow
from chathpc.adapters.hpctoolkit_v3.threads import MetricFiles
from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Column, Metric, column_of
from chathpc.profile.sparse import rolled_up
from chathpc.profile.tree import CallTree, FloatArray, IntArray
from chathpc.profile.values import group_sums

#: A difference of sums of doubles is rounding below this part of the larger one.
ROUNDING = 1e-9


@dataclass(slots=True, eq=False)
class ExperimentValues:
    """Implements chathpc.profile.values.Values.

    `summary` has the nodes' own values over all locations, in the metric's unit. `files`, where there are some, have
    those of each location (the first `len(files.files)` rows) for the metrics in `stored`, in `record` of each node.
    Without files all belongs to location `home`, or to no known one (None).
    """

    tree: CallTree
    summary: Mapping[str, Column]
    ratios: Mapping[str, Ratio]
    scales: Mapping[str, float]
    stored: Mapping[str, int]
    files: MetricFiles | None
    record: NDArray[np.int64]
    location_count: int
    home: int | None
    _exclusive: dict[str, Column] = field(default_factory=dict)
    _inclusive: dict[str, Column] = field(default_factory=dict)

    # -- over all locations --------------------------------------------------------------------------------

    def exclusive(self, metric: str) -> Column:
        if metric not in self._exclusive:
            self._exclusive[metric] = self._sum(metric)
        return self._exclusive[metric]

    def inclusive(self, metric: str) -> Column:
        if metric not in self._inclusive:
            if metric in self.ratios:
                ratio = self.ratios[metric]
                column = self._quotient(ratio, self.inclusive(ratio.over), self.inclusive(ratio.under))
            else:
                column = rolled_up(self.tree, self.exclusive(metric), Aggregation.SUM)
            self._inclusive[metric] = column
        return self._inclusive[metric]

    def _sum(self, metric: str) -> Column:
        if metric in self.ratios:
            ratio = self.ratios[metric]
            return self._quotient(ratio, self.exclusive(ratio.over), self.exclusive(ratio.under))
        if self.files is None or metric not in self.stored:
            return self.summary.get(metric, EMPTY_COLUMN)
        total = np.zeros(len(self.tree))
        for location in range(len(self.files.files)):
            total += self._own(metric, location)
        return column_of(total)

    def _quotient(self, ratio: Ratio, over: Column, under: Column) -> Column:
        size = len(self.tree)
        return column_of(_divide(ratio.factor, over.dense(size), under.dense(size)), under.dense(size) != 0)

    def derived_total(self, metric: str) -> float:
        ratio = self.ratios.get(metric)
        if ratio is None:
            return float("nan")
        roots, size = self.tree.roots, len(self.tree)
        over, under = (self.inclusive(part).dense(size)[roots].sum() for part in (ratio.over, ratio.under))
        return float(ratio.factor * over / under) if under else float("nan")

    # -- per location --------------------------------------------------------------------------------------

    def _own(self, metric: str, location: int) -> FloatArray:
        """Own values of all nodes at one location."""
        if self.files is not None and metric in self.stored:
            if location >= len(self.files.files):
                return np.zeros(len(self.tree))
            inclusive = self.files.read(location, self.record, self.stored[metric]) * self.scales[metric]
            own = self.tree.exclusive(inclusive)
            inner = self.tree.end > np.arange(1, len(self.tree) + 1)
            own[inner & (own <= ROUNDING * np.abs(inclusive))] = 0.0
            return own
        if location == self.home:
            return self.exclusive(metric).dense(len(self.tree))
        return np.zeros(len(self.tree))

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        if metric in self.ratios:
            ratio = self.ratios[metric]
            over = self.per_location(ratio.over, nodes, inclusive=inclusive)
            return _divide(ratio.factor, over, self.per_location(ratio.under, nodes, inclusive=inclusive))
        rows = np.zeros((self.location_count, len(nodes)))
        if inclusive and self.files is not None and metric in self.stored:
            for location in range(len(self.files.files)):
                rows[location] = self.files.read(location, self.record[nodes], self.stored[metric])
            return rows * self.scales[metric]
        for location in range(self.location_count):
            own = self._own(metric, location)
            rows[location] = (self.tree.inclusive(own) if inclusive else own)[nodes]
        return rows

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        if metric in self.ratios:
            ratio = self.ratios[metric]
            over, under = (self.grouped(part, group, groups) for part in (ratio.over, ratio.under))
            return _divide(ratio.factor, over, under)
        rows = np.zeros((self.location_count, groups))
        for location in range(self.location_count):
            rows[location] = group_sums(self._own(metric, location)[None, :], group, groups)
        return rows

    def location_totals(self, metric: str) -> FloatArray:
        totals = self.per_location(metric, self.tree.roots)
        totals = totals.max(axis=1, initial=0.0) if metric in self.ratios else totals.sum(axis=1)
        return np.where(totals != 0, totals, np.nan)


def _divide(factor: float, over: FloatArray, under: FloatArray) -> FloatArray:
    """Quotients times `factor`; 0 where there is nothing to divide by."""
    quotient: FloatArray = np.divide(over, under, out=np.zeros_like(over), where=under != 0)
    return factor * quotient


# -- which columns of the MetricTable belong together, and what they measure --------------------------------------
#
# hpcprof writes every metric twice, inclusive and exclusive: `CPUTIME (usec):Sum (I)`, `CPUTIME (usec):Sum (E)`. With
# `-M stats` there are `:Mean`, … beside `:Sum`; with `-M thread` a pair for each thread: `CPUTIME (usec).[3,0] (I)`.

_NAME = re.compile(
    r"(?P<stem>.*?)(?P<thread>\.\[\d+,\d+\])?"
    r"(?::(?P<statistic>Sum|Mean|StdDev|CfVar|Min|Max))?(?: \((?P<scope>[IE])\))?",
    re.DOTALL,
)
#: A metric that the viewer computes, from the inclusive metrics with these order numbers: `#44/#62`, `100*(#47/#48)`.
_VIEW = re.compile(r"(?:(?P<factor>\d{1,9}(?:\.\d{1,9})?)\*)?\(?#(?P<over>\d{1,9})/#(?P<under>\d{1,9})\)?")


@dataclass(frozen=True, slots=True)
class Ratio:
    """A derived metric: `factor` × metric `over` / metric `under`, both canonical ids."""

    over: str
    under: str
    factor: float


@dataclass(slots=True)
class Series:
    """The columns of one metric, as ids in the MetricTable: one each, or one for each thread."""

    name: str
    inclusive: list[int] = field(default_factory=list)
    exclusive: list[int] = field(default_factory=list)
    summed: bool = False
    hidden: bool = False
    view: str = ""


@dataclass(frozen=True, slots=True)
class MetricTable:
    """The metrics of a database by canonical id: what they are, their columns or their formula, and the stored column.

    `stored` maps a metric to the number of its inclusive value in the records of the per-thread files.
    """

    metrics: dict[str, Metric]
    series: dict[str, Series]
    ratios: dict[str, Ratio]
    stored: dict[str, int]


def metric_table(rows: Sequence[MetricRow], stored: Iterable[tuple[str, int]]) -> MetricTable:
    """Pair up the columns and name the metrics in the common vocabulary."""
    series = _series(rows)
    metrics = dict(zip(series, metrics_for(series), strict=True))
    stems = {row.order: _split(row.name)[0] for row in rows if row.order >= 0}
    by_order = {order: metrics[stem].id for order, stem in stems.items() if stem in metrics}
    table = MetricTable({}, {}, {}, {})
    for name, one in series.items():
        metric = replace(metrics[name], hidden=metrics[name].hidden or one.hidden)
        if one.view:
            ratio = _ratio(one.view, by_order)
            if ratio is None:
                continue  # a formula of another shape; the metrics that it is made of are there
            table.ratios[metric.id] = ratio
            metric = replace(metric, aggregation=Aggregation.DERIVED)
        else:
            table.series[metric.id] = one
        table.metrics[metric.id] = metric
    # A ratio may only rest on measured metrics.
    measured = table.series.keys()
    for identifier in [key for key, ratio in table.ratios.items() if not {ratio.over, ratio.under} <= measured]:
        del table.ratios[identifier], table.metrics[identifier]
    for name, column in stored:
        stem, _, _, scope = _split(name)
        if scope != "E" and stem in metrics and metrics[stem].id in table.series:
            table.stored.setdefault(metrics[stem].id, column)
    return table


def _ratio(formula: str, by_order: Mapping[int, str]) -> Ratio | None:
    match = _VIEW.fullmatch(formula)
    over, under = (by_order.get(int(match[part])) for part in ("over", "under")) if match else (None, None)
    if match is None or over is None or under is None:
        return None
    return Ratio(over, under, float(match["factor"] or 1))


def _split(name: str) -> tuple[str, bool, str, str]:
    """Stem, whether the column is of one thread, statistic and scope of a column's name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return name, False, "", ""
    return match["stem"], match["thread"] is not None, match["statistic"] or "", match["scope"] or ""


def _series(rows: Sequence[MetricRow]) -> dict[str, Series]:
    """Columns by stem. Sums are preferred to columns of threads; other statistics can be computed and are left out."""
    found: dict[str, Series] = {}
    for row in rows:
        stem, of_thread, statistic, scope = _split(row.name)
        if statistic not in ("", "Sum"):
            continue
        one = found.setdefault(stem, Series(stem, hidden=row.hidden))
        if of_thread and one.summed:
            continue
        if not of_thread and not one.summed:
            one.inclusive.clear()
            one.exclusive.clear()
            one.summed = True
        (one.inclusive if scope == "I" else one.exclusive).append(row.id)
        one.view = one.view or row.view
    return found


# -- the values in experiment.xml: each node's own part of every metric, over all locations -----------------------

#: A difference of numbers with six significant digits is rounding below this part of the larger one: half a unit of the
#: sixth digit at the node, and as much again at its children.
SIX_DIGITS = 1e-5


def own_columns(experiment: Experiment, series: Mapping[str, Series], tree: CallTree) -> tuple[dict[str, Column], int]:
    """Own values by metric, in the source's unit, and how many values are smaller than what stands below them.

    Only statements have samples of their own: a difference within rounding at an inner node is none. If a metric has no
    inclusive values, the exclusive ones of leaves are taken: "exclusive" of a function is that of its whole text.
    All metrics are done at once, in the order of (metric, node): the cost is that of the values there are.
    """
    size = len(tree)
    position, node, value = _entries(experiment, series)
    key, inverse = np.unique(position * size + node, return_inverse=True)
    value = np.bincount(inverse, weights=value, minlength=len(key)).astype(np.float64, copy=False)
    position, node = np.divmod(key, size)
    parent = tree.parent[node].astype(np.int64)

    child = np.flatnonzero(parent >= 0)
    wanted = position[child] * size + parent[child]
    at = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    found = key[at] == wanted
    below = np.bincount(at[found], weights=value[child[found]], minlength=len(key))

    inclusive = np.array([bool(one.inclusive) for one in series.values()], dtype=bool)[position]
    leaf = tree.end[node] == node + 1
    own = np.where(inclusive, value - below, np.where(leaf, value, 0.0))
    slack = SIX_DIGITS * np.abs(value)
    contradictions = int(np.count_nonzero(inclusive & ~leaf & (own < -slack)))
    contradictions += int(np.count_nonzero(inclusive[child] & ~found))
    own[~leaf & (own <= slack)] = 0.0

    kept = own != 0
    bounds = np.searchsorted(position[kept], np.arange(len(series) + 1))
    nodes, values = node[kept].astype(np.int32), own[kept]
    columns = {}
    for number, identifier in enumerate(series):
        begin, end = bounds[number], bounds[number + 1]
        if end > begin:
            columns[identifier] = Column(nodes[begin:end], values[begin:end])
    return columns, contradictions


def _entries(
    experiment: Experiment, series: Mapping[str, Series]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Position in `series`, node and value of each value that belongs to one of them."""
    numbers = {
        column: number for number, one in enumerate(series.values()) for column in one.inclusive or one.exclusive
    }
    known = np.array(sorted(numbers), dtype=np.int64)
    if len(known) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    at = np.minimum(np.searchsorted(known, experiment.value_metric), len(known) - 1)
    member = known[at] == experiment.value_metric
    position = np.array([numbers[column] for column in known.tolist()], dtype=np.int64)[at[member]]
    return position, experiment.value_node[member].astype(np.int64), experiment.value[member]
