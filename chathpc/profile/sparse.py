"""Values by node and location as they come from a trace: triples, added up when they are put in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Column, Metric
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray


class SparseValues:
    """Exclusive values as (node, location, value), one triple for each pair that was measured; memory grows with these.

    Satisfies the `Values` protocol. A summed metric's inclusive values are sums over subtrees, those of a maximum are
    maxima; a derived metric's values stand at their own nodes only.
    """

    def __init__(self, tree: CallTree, locations: int = 1) -> None:
        self.tree = tree
        self.locations = locations
        self._triples: dict[str, tuple[NDArray[np.int64], IntArray, FloatArray]] = {}
        self._rule: dict[str, Aggregation] = {}
        self._totals: dict[str, float] = {}
        self._inclusive: dict[str, Column] = {}

    def put(
        self,
        metric: Metric,
        nodes: IntArray,
        values: FloatArray,
        locations: IntArray | None = None,
        *,
        total: float = float("nan"),
    ) -> None:
        """Set the values of `metric` (in its unit): what is given for one node and location is combined by its rule.

        `total` is a derived metric's value for the whole run.
        """
        if len(nodes) and (int(nodes.min()) < 0 or int(nodes.max()) >= len(self.tree)):
            raise ValueError("a value belongs to no node")
        where = np.zeros(len(nodes), dtype=np.int64) if locations is None else locations.astype(np.int64)
        if len(where) and (int(where.min()) < 0 or int(where.max()) >= self.locations):
            raise ValueError("a value belongs to no location")
        key, inverse = np.unique(where * len(self.tree) + nodes, return_inverse=True)
        amounts = combined(metric.aggregation, inverse, values, len(key))
        self._triples[metric.id] = (
            key % max(len(self.tree), 1),
            (key // max(len(self.tree), 1)).astype(np.int32),
            amounts,
        )
        self._rule[metric.id] = metric.aggregation
        self._totals[metric.id] = total
        self._inclusive.pop(metric.id, None)

    def exclusive(self, metric: str) -> Column:
        """What each node itself has, over all locations."""
        if metric not in self._triples:
            return EMPTY_COLUMN
        nodes, _, values = self._triples[metric]
        if self.locations == 1:
            return Column(nodes.astype(np.int32), values)
        distinct, inverse = np.unique(nodes, return_inverse=True)
        return Column(distinct.astype(np.int32), combined(self._rule[metric], inverse, values, len(distinct)))

    def inclusive(self, metric: str) -> Column:
        """What each node and all below it have, over all locations."""
        if metric not in self._inclusive:
            rule = self._rule.get(metric, Aggregation.SUM)
            self._inclusive[metric] = rolled_up(self.tree, self.exclusive(metric), rule)
        return self._inclusive[metric]

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        """Array (locations × len(nodes)) of the values at chosen nodes; 0 where a location has none."""
        result = np.zeros((self.locations, len(nodes)))
        if metric not in self._triples:
            return result
        at, where, values = self._triples[metric]
        if not inclusive:
            column = np.full(len(self.tree), -1)
            column[nodes] = np.arange(len(nodes))
            chosen = column[at] >= 0
            result[where[chosen], column[at[chosen]]] = values[chosen]
            return result[:, column[nodes]]
        for location in np.unique(where).tolist():
            mine = where == location
            dense = np.bincount(at[mine], weights=values[mine], minlength=len(self.tree)).astype(np.float64)
            result[location] = self.tree.inclusive(dense)[nodes]
        return result

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        """Array (locations × groups): exclusive values added up by `group` (one number per node, −1 for none)."""
        if metric not in self._triples or not groups:
            return np.zeros((self.locations, groups))
        at, where, values = self._triples[metric]
        member = group[at] >= 0
        key = where[member].astype(np.int64) * groups + group[at[member]]
        sums = np.bincount(key, weights=values[member], minlength=self.locations * groups)
        return sums.astype(np.float64).reshape(self.locations, groups)

    def location_totals(self, metric: str) -> FloatArray:
        """Total of each location; NaN where a location has no value of this metric."""
        totals = np.full(self.locations, np.nan)
        if metric in self._triples:
            _, where, values = self._triples[metric]
            measured = np.unique(where)
            totals[measured] = np.bincount(where, weights=values, minlength=self.locations)[measured]
        return totals

    def derived_total(self, metric: str) -> float:
        """A derived metric of the whole run; NaN where it was not given."""
        return self._totals.get(metric, float("nan"))


def combined(rule: Aggregation, group: NDArray[np.integer[Any]], values: FloatArray, groups: int) -> FloatArray:
    """`values` by `group`: sums, maxima, or means for derived metrics."""
    if rule == Aggregation.SUM:
        return np.bincount(group, weights=values, minlength=groups).astype(np.float64)
    if rule == Aggregation.MAX:
        largest = np.full(groups, -np.inf)
        np.maximum.at(largest, group, values)
        return largest
    count = np.bincount(group, minlength=groups)
    return np.bincount(group, weights=values, minlength=groups) / np.maximum(count, 1)


def rolled_up(tree: CallTree, own: Column, rule: Aggregation) -> Column:
    """Inclusive values of `own`, by the metric's rule; a derived metric's values stand at their own nodes only."""
    if rule == Aggregation.DERIVED or not len(own):
        return own
    n = len(tree)
    measured = np.flatnonzero(tree.inclusive(own.mask(n).astype(np.float64)) > 0).astype(np.int32)
    if rule == Aggregation.SUM:
        return Column(measured, tree.inclusive(own.dense(n))[measured])
    # Maxima rise from the last node to the first: a child stands behind its parent. One pass, however deep the tree.
    largest = own.dense(n, missing=-np.inf).tolist()
    parents = tree.parent.tolist()
    for node in range(n - 1, 0, -1):
        above = parents[node]
        if above >= 0 and largest[node] > largest[above]:
            largest[above] = largest[node]
    return Column(measured, np.array(largest)[measured])


# -- own values from inclusive ones, for tools that store what a node has together with all below it --------------

#: A negative difference below this part of the node's value comes from rounded numbers: tools print six digits.
ROUNDING = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """Exclusive values of nodes, and how far the inclusive ones contradict each other.

    Shapes: `values` as what was given, NaN where not measured. `excess` is what nodes lack to the sum of what stands
    next below them (children measured on other clocks, or damaged numbers), beyond rounding; those nodes have 0.
    """

    values: FloatArray
    excess: float


def own_values(tree: CallTree, inclusive: FloatArray) -> Own:
    """Exclusive values of `inclusive`: shape (nodes,) or (nodes, locations), NaN where not measured.

    What the measured nodes next below have is taken from their nearest measured ancestor. No value is negative: where
    the nodes below have more, the node itself has nothing, and its inclusive value is theirs.
    """
    wide = inclusive.reshape(len(tree), -1)
    there: BoolArray = ~np.isnan(wide)
    somewhere: BoolArray = np.asarray(there.any(axis=1))
    nearest = tree.nearest(somewhere)
    inner = np.flatnonzero(somewhere & (tree.parent >= 0))
    above = nearest[tree.parent[inner]]
    inner, above = inner[above >= 0], above[above >= 0]
    amounts = np.where(there, wide, 0.0)
    own = amounts.copy()
    for location in range(wide.shape[1]):
        own[:, location] -= np.bincount(above, weights=amounts[inner, location], minlength=len(tree))
    lacking = np.where(own < -ROUNDING * np.maximum(np.abs(amounts), amounts - own), -own, 0.0)
    own = np.where(there, np.maximum(own, 0.0), np.nan)
    lacking = np.where(there, lacking, 0.0)
    return Own(own.reshape(inclusive.shape), float(lacking.sum()))
