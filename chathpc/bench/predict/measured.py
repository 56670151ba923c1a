"""What chathpc computes of launches against what was measured of them: counts, and time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan
from statistics import correlation, mean, median

from chathpc.bench.figures import Figure, Figures, Unit
from chathpc.bench.predict.counted import Counted
from chathpc.bench.predict.labels import Label
from chathpc.bench.statistics import bootstrap, wilson
from chathpc.predict.counts import Range
from chathpc.predict.devices import Device
from chathpc.predict.kernel_time import predict_time

#: Counters are off by less than this many operations or bytes in launches that do none.
_NOTHING = 0.5
#: From here on a tolerance is a factor.
_FACTOR = 1.5


@dataclass(frozen=True, slots=True)
class Timed:
    """A launch whose time was measured and predicted, in seconds."""

    program: str
    kernel: str
    seconds: float
    predicted: Range

    @property
    def error(self) -> float:
        """Relative error of the prediction, at least 0."""
        return abs(self.predicted.value / self.seconds - 1)

    @property
    def within(self) -> bool:
        """Whether the bounds hold the measured time."""
        return self.predicted.low <= self.seconds <= self.predicted.high


def timed(labels: Sequence[Label], counted: Counted, device: Device) -> tuple[Timed, ...]:
    """The launches that were followed in the shape that was measured, with their times on `device`."""
    found = []
    for label in labels:
        one = counted.get(label)
        if one is None or one.launch is None or (one.launch.grid, one.launch.block) != (label.grid, label.block):
            continue
        seconds = predict_time(one.counts, one.launch, device, one.chain).seconds
        found.append(Timed(label.program, label.kernel, label.seconds, seconds))
    return tuple(found)


def time_figures(rows: Sequence[Timed]) -> Figures:
    """Errors of predicted times, how they rank launches, and how often the bounds hold."""
    ratios = [each.predicted.value / each.seconds for each in rows]
    return Figures(
        "time",
        (
            _measure("mape", "Mean error of the time", rows, lambda of: mean([each.error for each in of]), asked=0.35),
            _measure("median", "Median error", rows, lambda of: median(each.error for each in of)),
            _near("twofold", "Within a factor of 2", ratios, 2.0),
            _measure("spearman", "Rank correlation (Spearman)", rows, _correlation, unit="score", asked=0.93),
            _held("held", "Times within the bounds (meant: 80 %)", [each.within for each in rows]),
        ),
        (),
    )


def count_figures(labels: Sequence[Label], counted: Counted) -> Figures:
    """How many launches have the measured number of operations and bytes."""
    pairs = [(label, one.counts) for label in labels if (one := counted.get(label)) is not None]
    flops = [_ratio(counts.total("fp32") + counts.total("fp64"), label.flops) for label, counts in pairs]
    integer = [_ratio(counts.total("integer"), label.integer) for label, counts in pairs]
    moved = [_ratio(counts.dram_bytes, label.bytes) for label, counts in pairs]
    return Figures(
        "counts",
        (
            _near("flops-tenth", "Floating-point operations within 10 %", flops, 1.1, 0.8),
            _near("integer-tenth", "Integer instructions within 10 %", integer, 1.1, 0.8),
            _near("bytes-twofold", "Bytes of device memory within a factor of 2", moved, 2.0, 0.8),
        ),
        (),
    )


def _correlation(rows: Sequence[Timed]) -> float:
    """Correlation of the ranks (C. Spearman, 1904), equal ones with their mean rank; nan where all are equal."""
    ranks = [_ranks([each.seconds for each in rows]), _ranks([each.predicted.value for each in rows])]
    return correlation(*ranks) if all(len(set(each)) > 1 for each in ranks) else nan


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [(bisect_left(ordered, each) + bisect_right(ordered, each)) / 2 for each in values]


def _ratio(found: float, measured: float) -> float:
    """What was found over what was measured; 1 where both are nothing."""
    if measured < _NOTHING:
        return 1.0 if found < _NOTHING else inf
    return found / measured


def _near(key: str, title: str, ratios: Sequence[float], most: float, asked: float | None = None) -> Figure:
    """Share of ratios within 10 % (`most` 1.1: 0.9 to 1.1), or a factor."""
    least = 2 - most if most < _FACTOR else 1 / most
    return _held(key, title, [least <= each <= most for each in ratios], asked)


def _held(key: str, title: str, flags: Sequence[bool], asked: float | None = None) -> Figure:
    low, high = wilson(sum(flags), len(flags))
    return Figure(key, title, "share", sum(flags) / len(flags) if flags else nan, low, high, len(flags), True, asked)


def _measure(
    key: str, title: str, rows: Sequence[Timed], of: Callable[[Sequence[Timed]], float], *,
    unit: Unit = "share", asked: float | None = None,
) -> Figure:  # fmt: skip
    """A measure of all launches, with its interval by resampling; of errors (shares) less is better."""
    low, high = bootstrap(rows, of)
    return Figure(key, title, unit, of(rows) if rows else nan, low, high, len(rows), unit != "share", asked)
