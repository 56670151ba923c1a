"""Values by function, by kind of work, by kernel, and of everything else that both sides measured; and as records, the largest change first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.comparison import words
from chathpc.comparison.function_names import function_key
from chathpc.comparison.matching import Joint, inclusive
from chathpc.comparison.noise import Judged, Noise, NoiseKind, critical
from chathpc.comparison.record import ChangeRecord, FunctionRecord, MeasurementRecord, RowRecord
from chathpc.comparison.run import Run
from chathpc.comparison.sides import Sides, change_record, figures
from chathpc.comparison.thresholds import threshold
from chathpc.profile.activity import ACTIVITY_WORDS, Activity
from chathpc.profile.merge import kernels
from chathpc.profile.metric import Aggregation
from chathpc.profile.names import in_words
from chathpc.profile.tree import BoolArray, FloatArray, NodeKind


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


#: At most this many rows of a table are told.
MOST = 100


def function_rows(
    sides: Sides, functions: Table, judged: Judged, changed: BoolArray
) -> tuple[list[FunctionRecord], ChangeRecord]:
    """Functions by themselves, and the sum of those without a row; `judged` and `changed` are of their own values."""
    within = sides.noise.judge(functions.within)
    order = _worth(judged, threshold("min_told") * max(sides.total.before, sides.total.after))
    rows = [
        FunctionRecord(
            **figures(judged, at),
            beyond_noise=bool(changed[at]),
            name=in_words(function_key(functions.names[at])) or words.THE_RUN,
            inclusive_before=float(within.before[at]),
            inclusive_after=float(within.after[at]),
        )
        for at in order
    ]
    others = np.ones(len(functions.names), dtype=bool)
    others[order] = False
    rest = sides.noise.judge(functions.own[:, others].sum(axis=1)[:, None])
    return rows, change_record(rest, 1 - threshold("confidence"))


def activity_rows(sides: Sides) -> list[RowRecord]:
    """Kinds of work; none unless the host's time is compared."""
    if not sides.is_host_time:
        return []
    least = threshold("min_told") * max(sides.total.before, sides.total.after)
    return _rows(by_activity(sides.runs), sides.noise, least)


def kernel_rows(sides: Sides) -> list[RowRecord]:
    """GPU kernels by their time, which is measured and not sampled; none where that is what is compared anyway."""
    if (
        sides.metric.id == "gpu.kernel.time"
        or sides.runs[0].per_launch
        or not all(
            run.profile.tree.has(NodeKind.GPU_KERNEL) and "gpu.kernel.time" in run.profile.metrics for run in sides.runs
        )
    ):
        return []
    table = by_kernel(sides.runs)
    kind = NoiseKind.REPETITIONS if len(sides.runs) > 2 else NoiseKind.ASSUMED
    noise = Noise(kind, sides.count, np.zeros(len(sides.runs)), table.own.sum(axis=1))
    return _rows(table, noise, threshold("min_told") * float(table.own.sum(axis=1).max(initial=0.0)))


def measurements(sides: Sides) -> list[MeasurementRecord]:
    """Totals of everything else that both sides measured."""
    return [
        MeasurementRecord(
            id=name,
            unit=sides.runs[0].profile.metrics[name].unit.value,
            before=float(values[: sides.count].mean()),
            after=float(values[sides.count :].mean()),
        )
        for name, values in other_totals(sides.runs).items()
        if np.isfinite(values).all()
    ]


def _rows(table: Table, noise: Noise, least: float) -> list[RowRecord]:
    judged = noise.judge(table.own)
    order = _worth(judged, least)
    level = critical(judged.p[order])
    return [
        RowRecord(
            **figures(judged, at),
            beyond_noise=bool(judged.p[at] <= level and judged.change[at] != 0),
            name=table.names[at],
        )
        for at in order
    ]


def _worth(judged: Judged, least: float) -> list[int]:
    """Rows of at least `least` on one side, the largest change first."""
    size = np.maximum(judged.before, judged.after)
    order = np.argsort(-np.abs(judged.change), kind="stable")
    worth = (size >= least) & (size > 0)
    return [int(at) for at in order[worth[order]][:MOST]]
