"""Values by function, by kind of work, by kernel, and of everything else that both sides measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.comparison.matching import Joint, inclusive
from chathpc.comparison.run import Run
from chathpc.profile.activity import ACTIVITY_WORDS, Activity
from chathpc.profile.merge import kernels
from chathpc.profile.metric import Aggregation
from chathpc.profile.tree import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Values of m rows in all runs: `own` and `within` (runs × m; the latter with all that is called, recursion counted once)."""

    names: list[str]
    own: FloatArray
    within: FloatArray


def by_function(joint: Joint) -> Table:
    """One row per name in the joint tree: functions, and calls of libraries by kind. The column `own` adds up to the totals."""
    tree = joint.tree
    count = len(tree.names)
    own = np.stack([np.bincount(tree.name, weights=row, minlength=count) for row in joint.own]).astype(np.float64)
    outer = tree.outermost(np.arange(len(tree), dtype=np.int32), tree.name)
    below = inclusive(joint)[:, outer]
    sums = [np.bincount(tree.name[outer], weights=row, minlength=count) for row in below]
    return Table(list(tree.names), own, np.stack(sums).astype(np.float64))


def by_activity(runs: Sequence[Run]) -> Table:
    """One row per kind of work of the host."""
    own = np.stack(
        [np.bincount(run.facts.activities.kind, weights=run.values, minlength=len(Activity)) for run in runs]
    ).astype(np.float64)
    return Table([ACTIVITY_WORDS[activity] for activity in Activity], own, own)


def by_kernel(runs: Sequence[Run]) -> Table:
    """One row per GPU kernel that has a time (`gpu.kernel.time`, seconds)."""
    found = [kernels(run.profile) for run in runs]
    names = list(dict.fromkeys(key for each in found for key in each))
    own = np.array([[each[key][1] if key in each else 0.0 for key in names] for each in found])
    own = own.reshape(len(runs), len(names))
    return Table(names, own, own)


def other_totals(runs: Sequence[Run]) -> dict[str, FloatArray]:
    """Metric → total of each run, for what all runs measured beside the compared metric and can be added up."""
    shared = [
        name
        for name in runs[0].profile.metrics
        if name != runs[0].metric.id and all(_adds_up(run, name) for run in runs)
    ]
    return {name: np.array([run.profile.total(name) for run in runs]) for name in shared}


def _adds_up(run: Run, name: str) -> bool:
    metric = run.profile.metrics.get(name)
    return metric is not None and metric.has_values and not metric.hidden and metric.aggregation == Aggregation.SUM
