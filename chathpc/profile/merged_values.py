"""Values of several views of one run, each still where its own reader keeps it, seen on the merged tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Column
from chathpc.profile.sparse import combined, rolled_up
from chathpc.profile.tree import CallTree, FloatArray, IntArray
from chathpc.profile.values import Values


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One profile's values and where they belong: `node[i]` and `location[j]` in the merged profile for its own i and j."""

    values: Values
    node: IntArray
    location: IntArray
    #: Nodes of the merged tree that share the facts of node i: (i, merged node), for kernels that stand at several places.
    copies: tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True)
class Owner:
    """The view that measured a metric, and its id there."""

    view: int
    metric: str


class MergedValues:
    """The `Values` of a merged profile. Inclusive values are those of the merged tree."""

    def __init__(
        self,
        tree: CallTree,
        locations: int,
        views: Sequence[View],
        owners: Mapping[str, Sequence[Owner]],
        rules: Mapping[str, Aggregation],
    ) -> None:
        self.tree = tree
        self.locations = locations
        self.views = views
        self.owners = owners
        self.rules = rules
        self._exclusive: dict[str, Column] = {}
        self._inclusive: dict[str, Column] = {}

    def exclusive(self, metric: str) -> Column:
        """What each node itself has, over all locations; these values sum to the total."""
        if metric not in self._exclusive:
            self._exclusive[metric] = self._joined(metric)
        return self._exclusive[metric]

    def _joined(self, metric: str) -> Column:
        nodes: list[IntArray] = []
        values: list[FloatArray] = []
        rule = self.rules.get(metric, Aggregation.SUM)
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            column = view.values.exclusive(owner.metric)
            kept = view.node[column.nodes] >= 0
            nodes.append(view.node[column.nodes[kept]])
            values.append(column.values[kept])
            if rule == Aggregation.DERIVED and len(view.copies[0]):
                position = np.searchsorted(column.nodes, view.copies[0])
                position = np.minimum(position, max(len(column.nodes) - 1, 0))
                known = column.nodes[position] == view.copies[0] if len(column.nodes) else np.zeros(len(position), bool)
                nodes.append(view.copies[1][known])
                values.append(column.values[position[known]] if len(column.nodes) else np.empty(0))
        if not nodes:
            return EMPTY_COLUMN
        every, amounts = np.concatenate(nodes), np.concatenate(values)
        distinct, group = np.unique(every, return_inverse=True)
        return Column(distinct.astype(np.int32), combined(rule, group, amounts, len(distinct)))

    def inclusive(self, metric: str) -> Column:
        """What each node and all below it have, over all locations."""
        if metric not in self._inclusive:
            own = self.exclusive(metric)
            rule = self.rules.get(metric, Aggregation.SUM)
            self._inclusive[metric] = rolled_up(self.tree, own, rule)
        return self._inclusive[metric]

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        """Array (locations × len(nodes)) of the values at chosen nodes; 0 where a location has none."""
        result = np.zeros((self.locations, len(nodes)))
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            used = np.flatnonzero(view.node >= 0).astype(np.int32)
            if not inclusive:  # only what lands on the chosen nodes
                used = used[np.isin(view.node[used], nodes)]
            own = view.values.per_location(owner.metric, used, inclusive=False)
            for row, location in enumerate(view.location.tolist()):
                dense = np.bincount(view.node[used], weights=own[row], minlength=len(self.tree)).astype(np.float64)
                result[location] += (self.tree.inclusive(dense) if inclusive else dense)[nodes]
        return result

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        """Array (locations × groups): exclusive values added up by `group` (one number per node, −1 for none)."""
        result = np.zeros((self.locations, groups))
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            mapped = np.where(view.node >= 0, group[np.maximum(view.node, 0)], -1).astype(np.int32)
            np.add.at(result, view.location, view.values.grouped(owner.metric, mapped, groups))
        return result

    def location_totals(self, metric: str) -> FloatArray:
        """Total of each location; NaN where a location has no value of this metric."""
        result = np.full(self.locations, np.nan)
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            totals = view.values.location_totals(owner.metric)
            for row, location in enumerate(view.location.tolist()):
                if not np.isnan(totals[row]):
                    result[location] = totals[row] + (0.0 if np.isnan(result[location]) else result[location])
        return result

    def derived_total(self, metric: str) -> float:
        """A derived metric of the whole run, where one view alone has it; else NaN."""
        owners = self.owners.get(metric, ())
        if len(owners) != 1:
            return float("nan")
        return self.views[owners[0].view].values.derived_total(owners[0].metric)
