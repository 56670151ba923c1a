"""Whether one program is faster than another: pairs of runs, an interval of their ratio, and a verdict.

Runs are taken in pairs, one of each side, in random order within the pair: what else happens on the machine hits both. The ratio is
estimated by the median of all means of two pairs' logarithms (J. L. Hodges, E. L. Lehmann, Ann. Math. Statist. 34 (1963) 598), which
outliers hardly move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Literal

import numpy as np

from chathpc.fix.thresholds import threshold
from chathpc.profile.tree import FloatArray

Outcome = Literal["faster", "slower", "inconclusive", "invalid"]
#: The signed-rank test of fewer pairs has no interval of 95 %.
_FEWEST_FOR_INTERVAL = 6
#: Resamples of the bootstrap; the ends of an interval of 95 % rest on 50 each.
RESAMPLES = 2000
#: A median absolute deviation of a normal distribution, times this, is its standard deviation.
_MAD = 1.4826


@dataclass(frozen=True, slots=True)
class Timing:
    """What pairs of runs say: seconds of both sides, the ratio original / changed with its 95 % interval, the verdict and why."""

    outcome: Outcome
    statement: str
    original: tuple[float, ...]
    changed: tuple[float, ...]
    ratio: float
    low: float
    high: float
    outliers: int = 0
    drift: float = 1.0

    @property
    def pairs(self) -> int:
        """How many runs of each side."""
        return len(self.original)


def _logs(original: Sequence[float], changed: Sequence[float]) -> FloatArray:
    """Logarithms of the ratios of pairs."""
    return np.asarray(np.log(np.asarray(original, dtype=np.float64)) - np.log(np.asarray(changed, dtype=np.float64)))


def walsh(logs: FloatArray) -> FloatArray:
    """Means of all pairs of values, each with itself too, sorted (Walsh averages)."""
    at, to = np.triu_indices(len(logs))
    return np.asarray(np.sort((logs[at] + logs[to]) / 2))


def ratio(original: Sequence[float], changed: Sequence[float]) -> tuple[float, float, float]:
    """Estimate and interval (of `confidence`) of original / changed from pairs; (nan, nan, nan) of nothing.

    The interval is the wider one, at each end, of the bootstrap over pairs (percentiles) and of the one that belongs to Wilcoxon's
    signed-rank test, which holds for every symmetric noise: with ten pairs the bootstrap alone is too narrow (tests/fix/test_speed.py
    measures both). Of fewer pairs than have an interval (6 at 95 %) it is the smallest and the largest ratio.
    """
    if not original:
        return math.nan, math.nan, math.nan
    level = threshold("confidence")
    logs = _logs(original, changed)
    means = walsh(logs)
    middle = float(np.median(means))
    low, high = signed_rank_interval(means, len(logs), level)
    if not math.isfinite(low):
        return math.exp(middle), math.exp(float(logs.min())), math.exp(float(logs.max()))
    first, last = bootstrap_interval(logs, level)
    return math.exp(middle), math.exp(min(low, first)), math.exp(max(high, last))


def bootstrap_interval(logs: FloatArray, level: float) -> tuple[float, float]:
    """Percentile interval of the median over resamples of the pairs; the same values give the same interval."""
    random = np.random.default_rng(len(logs))
    drawn = logs[random.integers(len(logs), size=(RESAMPLES, len(logs)))]
    rest = (1 - level) / 2
    low, high = np.quantile(np.median(drawn, axis=1), (rest, 1 - rest))
    return float(low), float(high)


def signed_rank_interval(means: FloatArray, count: int, level: float) -> tuple[float, float]:
    """The interval of the shift that belongs to the signed-rank test, from the sorted Walsh averages of `count` values."""
    inside = _critical(count, round(1 - level, 6))
    return (float(means[inside]), float(means[-1 - inside])) if inside >= 0 else (-math.inf, math.inf)


@cache
def _critical(count: int, alpha: float) -> int:
    """Largest k with P(W ≤ k − 1) ≤ alpha / 2 under the null, less one; −1 if even the widest interval does not reach the level."""
    sums = np.zeros(count * (count + 1) // 2 + 1)
    sums[0] = 1.0
    for rank in range(1, count + 1):
        sums[rank:] = (sums[rank:] + np.concatenate((sums[:-rank],))) / 2
        sums[:rank] /= 2
    below = np.cumsum(sums)
    return int(np.searchsorted(below, alpha / 2, side="right")) - 1


def apart(original: Sequence[float], changed: Sequence[float]) -> bool:
    """Whether every run of the changed program is clearly faster than every one of the original, and there are enough for that to be no
    chance: of n pairs that differ by nothing, one in (2n)! / n!² has it so (the exact test of Mann and Whitney, Ann. Math. Statist. 18
    (1947) 50).
    """
    return len(original) >= threshold("apart_pairs") and max(changed) * threshold("clear") < min(original)


def enough(original: Sequence[float], changed: Sequence[float], fewest: float) -> bool:
    """Whether more pairs would tell nothing new: if all runs are apart; after the least number, if the interval is tight, if one at a
    stricter level is wholly on one side, or if there is at most a small gain, which is not worth the time; where fewer pairs than
    decide are asked for, if they are alike.

    Looking again and again finds a difference by chance sooner or later; what ends the pairs early must therefore be much less
    likely by chance than what is told in the end.
    """
    if apart(original, changed):
        return True
    if len(original) < fewest:
        return False
    logs = _logs(original, changed)
    if fewest < threshold("min_pairs") and float(np.ptp(logs)) <= math.log(threshold("alike")):
        return True
    means = walsh(logs)
    low, high = signed_rank_interval(means, len(logs), 1 - threshold("early_alpha"))
    if low > math.log(threshold("clear")) or high < 0:
        return True
    low, high = signed_rank_interval(means, len(logs), threshold("confidence"))
    if high < math.log(threshold("clear")):
        return True
    if high - low > math.log1p(threshold("tight")):
        return False
    _, low, high = ratio(original, changed)
    return high / low - 1 <= threshold("tight")


def judge(original: Sequence[float], changed: Sequence[float], fewest: float | None = None) -> Timing:
    """The verdict over pairs of runs in seconds.

    faster: the whole interval is above the least speed-up that counts. slower: all of it is below 1. invalid: too few or too short
    runs, or a machine that changed while they ran. inconclusive: everything else. `fewest` pairs are needed (default: min_pairs).
    """
    count = len(original)
    estimate, low, high = ratio(original, changed)
    ratios = [mine / theirs for mine, theirs in zip(original, changed, strict=True)]
    drifted = drift(original)
    shifted = drift(ratios)

    def told(outcome: Outcome, statement: str) -> Timing:
        return Timing(
            outcome, statement, tuple(original), tuple(changed), estimate, low, high, outliers(ratios), drifted
        )

    fewest = threshold("min_pairs") if fewest is None else fewest
    if count < fewest and not apart(original, changed):
        return told("invalid", f"only {count} pairs of runs were possible, {fewest:g} are needed")
    if median(original) < threshold("min_seconds"):
        return told(
            "invalid",
            f"a run takes {median(original) * 1e3:.1f} ms; below {threshold('min_seconds') * 1e3:g} ms startup dominates",
        )
    said = span(estimate, low, high, count)
    faster, slower = low > threshold("min_speedup"), high < 1.0
    # Pairs cancel what happens to both; a ratio that changes on the way does not mean anything.
    if shifted > threshold("drift") and not (faster and low > shifted):
        return told("invalid", f"the ratio drifted by {shifted:.2f}x during the measurement; the machine is not quiet")
    if drifted > threshold("baseline_drift"):
        return told("invalid", f"the original itself changed by {drifted:.2f}x while it was measured")
    if faster:
        return told("faster", f"faster: {said}")
    if slower:
        return told("slower", f"slower: {said}")
    return told("inconclusive", f"not faster beyond noise by at least {threshold('min_speedup') - 1:.0%}: {said}")


def span(estimate: float, low: float, high: float, count: int, pairs: str = "pairs") -> str:
    """`3.10x (95 % interval 2.90 to 3.31, 10 pairs)`, or `1.02x (1.00 to 1.05 in 3 pairs)`, which are the smallest and the largest ratio."""
    if count < _FEWEST_FOR_INTERVAL:
        return f"{estimate:.2f}x ({low:.2f} to {high:.2f} in {count} {pairs})"
    return f"{estimate:.2f}x (95 % interval {low:.2f} to {high:.2f}, {count} {pairs})"


def drift(values: Sequence[float]) -> float:
    """Ratio (≥ 1) of the medians of the last and the first third of `values`; 1 where their spread hides it or they are few.

    The spread is that of the values around the median of their own third.
    """
    third = len(values) // 3
    if third < threshold("drift_values"):
        return 1.0
    logs = np.log(np.asarray(values, dtype=np.float64))
    parts = (logs[:third], logs[third:-third], logs[-third:])
    middles = [float(np.median(part)) for part in parts]
    spread = float(np.median(np.abs(np.concatenate([part - mid for part, mid in zip(parts, middles, strict=True)]))))
    away = abs(middles[2] - middles[0])
    # Standard error of the difference of two medians of normal values: 1.25 σ √(2/n).
    error = 1.2533 * _MAD * spread * math.sqrt(2 / third)
    return math.exp(away) if away > threshold("drift_errors") * error else 1.0


def outliers(values: Sequence[float]) -> int:
    """Values further from the median than is usual (in standard deviations, by the median absolute deviation of logarithms)."""
    logs = np.log(np.asarray(values, dtype=np.float64))
    away = np.abs(logs - np.median(logs))
    return int(np.count_nonzero(away > threshold("outlier") * _MAD * max(float(np.median(away)), 1e-4)))


def measure_pairs(
    run: Callable[[str], float | None],
    *,
    seconds: float,
    random: np.random.Generator,
    clock: Callable[[], float],
    fewest: float | None = None,
) -> tuple[list[float], list[float]]:
    """Run pairs until `enough`, the most pairs, or `seconds` are over; `run` of "original" or "changed" returns seconds, None to stop."""
    original: list[float] = []
    changed: list[float] = []
    begin = clock()
    fewest = threshold("min_pairs") if fewest is None else fewest
    while len(original) < threshold("max_pairs"):
        order = ("original", "changed") if random.random() < 0.5 else ("changed", "original")
        taken: dict[str, float] = {}
        for side in order:
            value = run(side)
            if value is None:
                return original, changed
            taken[side] = value
        original.append(taken["original"])
        changed.append(taken["changed"])
        taken_so_far = clock() - begin
        if enough(original, changed, fewest) or (taken_so_far > seconds and len(original) >= fewest):
            break
        if taken_so_far > seconds * threshold("overrun"):
            break
    return original, changed
