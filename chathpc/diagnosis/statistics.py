"""Statistics of shares and of locations: what is a finding and what is chance, which rank or thread stands out and how far.

Everything here is arithmetic on numbers and arrays, without a profile.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, sqrt

import numpy as np

from chathpc.profile.tree import FloatArray, IntArray

#: MAD × this estimates the standard deviation of normally distributed values: 1 / Φ⁻¹(3/4).
MAD_TO_SIGMA = 1.4826
#: The same for the mean absolute deviation from the median: sqrt(π / 2).
MEAN_TO_SIGMA = 1.2533


def largest_first(names: Iterable[str], values: Iterable[float]) -> list[tuple[str, float]]:
    """The values added up by name, the largest sum first."""
    sums: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0.0) + value
    return sorted(sums.items(), key=lambda item: -item[1])


def standard_error(share: float, samples: float) -> float:
    """Standard error of a share (0..1) of `samples` samples: sqrt(p(1−p)/n); 0 for infinitely many (times that were
    measured, not sampled), 1 for none.
    """
    if samples <= 0:
        return 1.0
    return sqrt(max(share * (1 - share), 0.0) / samples) if isfinite(samples) else 0.0


def interval(share: float, samples: float, z: float) -> tuple[float, float]:
    """Wilson's score interval of a share (0..1) of `samples` samples, `z` standard errors to either side.

    It stays inside 0..1 and is right for small shares, where sqrt(p(1−p)/n) is not (E. B. Wilson, J. Am. Stat. Assoc.
    22:209, 1927; Brown, Cai, DasGupta, Stat. Sci. 16:101, 2001). (share, share) for infinitely many samples, (0, 1) for none.
    """
    share = min(max(share, 0.0), 1.0)
    if samples <= 0:
        return 0.0, 1.0
    if not isfinite(samples):
        return share, share
    weight = z * z / samples
    middle = share + weight / 2
    half = z * sqrt(share * (1 - share) / samples + weight / (4 * samples))
    return max(0.0, (middle - half) / (1 + weight)), min(1.0, (middle + half) / (1 + weight))


def is_above(share: float, threshold: float, samples: float, z: float) -> bool:
    """True if a share is so far above `threshold` that chance does not explain it: Wilson's interval lies above it."""
    if share < threshold:
        return False
    return threshold <= 0 or interval(share, samples, z)[0] >= threshold


def spread_error(count: int, groups: int = 1) -> float:
    """Standard error of the logarithm of a standard deviation that `count` values show, and so of any cost in proportion to it:
    1 / sqrt(2 (count − groups)), where the values are compared within `groups`; it does not depend on the deviation (M. S.
    Bartlett, D. G. Kendall, J. Royal Stat. Soc. Suppl. 8:128, 1946; normal distribution). Two values tell a spread to a factor
    of 2.0, sixteen to 1.2.
    """
    return 1 / sqrt(2 * max(count - groups, 1))


def robust_scores(values: FloatArray) -> FloatArray:
    """How many standard deviations each value is from the median, the deviation estimated by the MAD.

    Where more than half of the values are equal the MAD is 0, and the mean absolute deviation takes its place (Iglewicz and
    Hoaglin, How to Detect and Handle Outliers, ASQC 1993, chapter 3). All 0 for equal values.
    """
    if not len(values):
        return np.zeros(0)
    deviation = values - np.median(values)
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(deviation)))
    if sigma <= 0:
        sigma = MEAN_TO_SIGMA * float(np.abs(deviation).mean())
    if sigma <= 0:
        return np.zeros(len(values))
    with np.errstate(over="ignore"):  # against a deviation that is next to nothing anything is infinitely far
        return np.asarray(deviation / sigma)


def outliers(values: FloatArray, *, z: float, min_ratio: float, samples_each: float = float("inf")) -> IntArray:
    """Indices of values above all others' level, the largest first: `z` robust deviations and `min_ratio` × the median or
    more, and by more than the error of counting (`samples_each` is the number of samples behind the median; a count n has
    the standard error sqrt(n)). None if fewer than four values: the MAD of three says nothing.
    """
    if len(values) < FEWEST:
        return np.zeros(0, dtype=np.int32)
    median = float(np.median(values))
    if median <= 0:
        return np.zeros(0, dtype=np.int32)
    far = (robust_scores(values) >= z) & (values >= min_ratio * median)
    if isfinite(samples_each):
        counted = values / median * samples_each
        far &= counted - samples_each >= z * np.sqrt(np.maximum(counted + samples_each, 1.0))
    found = np.flatnonzero(far)
    return np.asarray(found[np.argsort(-values[found], kind="stable")], dtype=np.int32)


def far(distances: FloatArray, *, times: float, least: float) -> IntArray:
    """Indices of the distances (0 or more) from a common middle that are above `times` the median distance, and above `least`."""
    if not len(distances):
        return np.zeros(0, dtype=np.int32)
    return np.flatnonzero(distances > max(times * float(np.median(distances)), least)).astype(np.int32)


#: Fewer values than this have no level from which one of them could stand out.
FEWEST = 4
