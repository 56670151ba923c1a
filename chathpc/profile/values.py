"""Where the numbers of a profile are: a Protocol for adapters, and the plain one that keeps everything in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.metric import EMPTY_COLUMN, Column
from chathpc.profile.tree import CallTree, FloatArray, IntArray


class Values(Protocol):
    """Values of a profile's metrics, in each metric's unit. An adapter may read them when they are asked for."""

    def exclusive(self, metric: str) -> Column:
        """What each node itself has, over all locations; these values sum to the total."""

    def inclusive(self, metric: str) -> Column:
        """What each node and all below it have, over all locations."""

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        """Array (locations × len(nodes)) of the values at chosen nodes; 0 where a location has none."""

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        """Array (locations × groups): exclusive values added up by `group` (one number per node, −1 for none)."""

    def location_totals(self, metric: str) -> FloatArray:
        """Total of each location; NaN where a location has no value of this metric."""

    def derived_total(self, metric: str) -> float:
        """A derived metric of the whole run; NaN where it cannot be computed."""


@dataclass(slots=True, eq=False)
class MemoryValues:
    """Values that are in memory already: for small formats, for GraphFrames, and for tests.

    `exclusives` and `inclusives` map metric ids to columns over all locations. `locations[metric]` is an array
    (locations × nodes) of exclusive values, where the source had them.
    """

    tree: CallTree
    exclusives: Mapping[str, Column]
    inclusives: Mapping[str, Column]
    location_count: int = 1
    locations: Mapping[str, FloatArray] = field(default_factory=dict)

    def exclusive(self, metric: str) -> Column:
        return self.exclusives.get(metric, EMPTY_COLUMN)

    def inclusive(self, metric: str) -> Column:
        return self.inclusives.get(metric, EMPTY_COLUMN)

    def _matrix(self, metric: str) -> FloatArray:
        """Exclusive values, locations × nodes; all on the one location if the source does not tell locations apart."""
        if metric in self.locations:
            return self.locations[metric]
        matrix = np.zeros((self.location_count, len(self.tree)))
        if self.location_count == 1:
            matrix[0] = self.exclusive(metric).dense(len(self.tree))
        return matrix

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        matrix = self._matrix(metric)
        if not inclusive:
            return matrix[:, nodes]
        return np.stack([self.tree.inclusive(row)[nodes] for row in matrix]) if len(matrix) else matrix[:, nodes]

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        return group_sums(self._matrix(metric), group, groups)

    def location_totals(self, metric: str) -> FloatArray:
        totals = self._matrix(metric).sum(axis=1)
        return np.where(totals != 0, totals, np.nan)

    def derived_total(self, metric: str) -> float:
        roots = [value for root in self.tree.roots if (value := self.inclusive(metric).at(int(root))) is not None]
        return max(roots, default=float("nan"))


def group_sums(matrix: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Add up the columns of `matrix` (locations × nodes) by `group`; array (locations × groups)."""
    member = group >= 0
    chosen: NDArray[np.int32] = group[member]
    rows = [np.bincount(chosen, weights=row[member], minlength=groups) for row in matrix]
    return np.array(rows, dtype=np.float64).reshape(len(rows), groups)
