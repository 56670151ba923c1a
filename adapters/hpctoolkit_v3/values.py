"""Values of a database with experiment.xml: sums over all locations, values of threads when asked for.

hpcprof writes inclusive and exclusive values, where "exclusive" of a function is that of its whole text. The value of
a node itself is its inclusive value without those of its children.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit_v3.metrics import Ratio
from chathpc.adapters.hpctoolkit_v3.threads import MetricFiles
from chathpc.profile.metric import EMPTY_COLUMN, Column, column_of
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
                size = len(self.tree)
                own = self.exclusive(metric)
                # Above a measured node all have a value, and nothing else: running totals leave crumbs elsewhere.
                above = self.tree.inclusive(own.mask(size).astype(np.float64)) > 0.5
                column = column_of(self.tree.inclusive(own.dense(size)), above)
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
