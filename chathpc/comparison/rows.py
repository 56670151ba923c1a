"""The tables of a comparison as records, the largest change first."""

from __future__ import annotations

import numpy as np

from chathpc.comparison import tables, words
from chathpc.comparison.function_names import function_key
from chathpc.comparison.noise import Judged, Noise, NoiseKind, critical
from chathpc.comparison.record import ChangeRecord, FunctionRecord, MeasurementRecord, RowRecord
from chathpc.comparison.sides import Sides, change_record, figures
from chathpc.comparison.thresholds import threshold
from chathpc.profile.tree import BoolArray, NodeKind

#: At most this many rows of a table are told.
MOST = 100


def function_rows(
    sides: Sides, functions: tables.Table, judged: Judged, changed: BoolArray
) -> tuple[list[FunctionRecord], ChangeRecord]:
    """Functions by themselves, and the sum of those without a row; `judged` and `changed` are of their own values."""
    within = sides.noise.judge(functions.within)
    order = _worth(judged, threshold("min_told") * max(sides.total.before, sides.total.after))
    rows = [
        FunctionRecord(
            **figures(judged, at),
            beyond_noise=bool(changed[at]),
            name=function_key(functions.names[at]) or words.THE_RUN,
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
    return _rows(tables.by_activity(sides.runs), sides.noise, least)


def kernel_rows(sides: Sides) -> list[RowRecord]:
    """GPU kernels by their time, which is measured and not sampled; none where that is what is compared anyway."""
    if sides.metric.id == "gpu.kernel.time" or not all(
        run.profile.tree.has(NodeKind.GPU_KERNEL) and "gpu.kernel.time" in run.profile.metrics for run in sides.runs
    ):
        return []
    table = tables.by_kernel(sides.runs)
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
        for name, values in tables.other_totals(sides.runs).items()
        if np.isfinite(values).all()
    ]


def _rows(table: tables.Table, noise: Noise, least: float) -> list[RowRecord]:
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
