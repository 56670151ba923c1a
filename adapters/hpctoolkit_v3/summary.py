"""The values in experiment.xml: each node's own part of every metric, over all locations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit_v3.experiment import Experiment
from chathpc.adapters.hpctoolkit_v3.metrics import Series
from chathpc.profile.metric import Column
from chathpc.profile.tree import CallTree

#: A difference of numbers with six significant digits is rounding below this part of the larger one: half a unit of the
#: sixth digit at the node, and as much again at its children.
ROUNDING = 1e-5


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
    slack = ROUNDING * np.abs(value)
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
