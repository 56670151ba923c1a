"""Which differences are more than noise: intervals from repetitions, or from the number of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import NormalDist

import numpy as np

from chathpc.comparison.thresholds import threshold
from chathpc.profile.tree import FloatArray

#: Differences smaller than this part of the values are rounding.
_ROUNDING = 1e-9
#: With more degrees of freedom Student's t is the normal distribution to three digits.
_NORMAL_FROM = 1000
_NORMAL = NormalDist()
#: Halvings of an interval in which a root is looked for: as many as doubles have digits, and fewer where three digits do.
_HALVINGS, _COARSE = 60, 40
#: No quantile that is asked for lies beyond: that of one degree of freedom at 95 % is 12.7.
_FURTHEST = 1000.0
#: Exponent beyond which a ratio is not told from any other.
_WIDEST = 50.0


class NoiseKind(StrEnum):
    """Where the size of the noise comes from."""

    REPETITIONS = "repetitions"  #: several runs of a side differ so much
    SAMPLING = "sampling"  #: one run a side; the error of counting samples (Poisson)
    EXACT = "exact"  #: one run a side, and events that were counted
    ASSUMED = (
        "assumed"  #: one run a side, and times from beginning to end: the usual difference between runs is assumed
    )


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Differences of m quantities: means of the two sides, after − before, half of the 95 % interval, and the
    probability of so large a difference by chance.
    """

    before: FloatArray
    after: FloatArray
    change: FloatArray
    error: FloatArray
    p: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """How much the values of runs vary by themselves.

    The first `count` of the runs are those before, the others those after. `period[k]` is what one sample of run k stands
    for, in the unit of the values; 0 where nothing was sampled. `total[k]` is the total of run k. `variation` is the relative
    variance between runs that functions have in common beyond that of dealing out samples, and `prior` how many degrees of
    freedom that is worth (see `learned`).
    """

    kind: NoiseKind
    count: int
    period: FloatArray
    total: FloatArray
    variation: float = 0.0
    prior: float = 0.0

    def learned(self, values: FloatArray) -> Noise:
        """The same with what `values` (runs × functions) have in common: how much they vary from run to run.

        A variance from three runs is hardly known. Where functions vary alike, that of one is better told together with all
        others' (Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004) 3): as a mean of both, weighted with degrees of freedom. How alike
        they are is told by how much the ratios of own and common variance spread (moments of the F distribution); where they spread
        too much nothing is borrowed. What all functions of a run have in common (a slow node) is no part of it.
        """
        if self.kind != NoiseKind.REPETITIONS:
            return self
        drawn = self._drawn(values)
        sides = [part for part in (slice(self.count), slice(self.count, None)) if len(values[part]) > 1]
        own = np.concatenate([_alone(values[part], self.total[part]) for part in sides])
        floor = np.concatenate([drawn[part].mean(axis=0) for part in sides])
        square = np.concatenate([values[part].mean(axis=0) ** 2 for part in sides])
        degrees = min(len(values[part]) - 1 for part in sides)
        if not float(square.sum()):
            return self
        variation = max(0.0, float((own - floor).sum() / square.sum()))
        common = floor + variation * square
        ratios = own[common > 0] / common[common > 0]
        if len(ratios) < threshold("min_functions"):
            return self
        return replace(self, variation=variation, prior=_prior(float(ratios.var(ddof=1)), degrees))

    def judge(self, values: FloatArray) -> Judged:
        """Compare the sides by `values` (runs × quantities)."""
        before, after = values[: self.count].mean(axis=0), values[self.count :].mean(axis=0)
        change = after - before
        change[np.abs(change) <= _ROUNDING * np.maximum(np.abs(before), np.abs(after))] = 0.0
        *sides, degrees = self._variances(values)
        scale = np.sqrt(sides[0] + sides[1])
        return Judged(before, after, change, _quantiles(degrees) * scale, _probability(change, scale, degrees))

    def ratio(self, values: FloatArray) -> tuple[float, float, float] | None:
        """After / before of one quantity (one value a run), and the ends of its 95 % interval; None unless both are positive.

        The interval is that of the logarithm, whose variance is the sum of the squared relative errors of the sides.
        """
        before, after = float(values[: self.count].mean()), float(values[self.count :].mean())
        if before <= 0 or after <= 0:
            return None
        mine, theirs, degrees = self._variances(values[:, None])
        if self.kind == NoiseKind.ASSUMED:
            # Relative already, and of sides far apart the larger says nothing of the smaller.
            relative = threshold("assumed_difference") / _quantile(math.inf)
        else:
            relative = math.sqrt(float(mine[0]) / before**2 + float(theirs[0]) / after**2)
        reach = math.exp(min(float(_quantiles(degrees)[0]) * relative, _WIDEST))
        return after / before, after / before / reach, after / before * reach

    def _variances(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Variance of the mean of either side, and the degrees of freedom of their sum.

        One run a side: a sum of c samples of period p has the variance c p² (Poisson); one sample is added for what was not
        seen. Several: Welch's t-test, in which the variance of a side is at least that of dealing its samples out to its parts;
        a side of a single run takes the relative variance of the other.
        """
        unlimited = np.full(values.shape[1], math.inf)
        if self.kind == NoiseKind.REPETITIONS:
            drawn = self._drawn(values)
            sides = (slice(self.count), slice(self.count, None))
            mine, theirs = (self._of_mean(values, drawn, *pair) for pair in (sides, sides[::-1]))
            limit = len(values) - 2 + self.prior
            return mine[0], theirs[0], np.minimum(_welch(*mine, *theirs), max(np.floor(limit), 1.0))
        if self.kind == NoiseKind.SAMPLING:
            unseen = np.where((values != 0).any(axis=0), self.period.max() ** 2 / 2, 0.0)
            counted = np.maximum(values, 0.0) * self.period[:, None]
            return counted[0] + unseen, counted[1] + unseen, unlimited
        width = threshold("assumed_difference") / _quantile(math.inf) if self.kind == NoiseKind.ASSUMED else 0.0
        each = (width * np.abs(values).max(axis=0)) ** 2 / 2
        return each, each, unlimited

    def _drawn(self, values: FloatArray) -> FloatArray:
        """The least variance of values: that of a part of the run's samples (binomial), and that of one sample.

        How many samples a run has in all is no matter of chance: a clock draws them.
        """
        period, total = self.period[:, None], np.maximum(self.total[:, None], np.finfo(np.float64).tiny)
        value = np.clip(values, 0.0, total)
        return np.asarray(value * period * (1 - value / total) + np.where(value > 0, period**2, 0.0))

    def _of_mean(
        self, values: FloatArray, drawn: FloatArray, mine: slice, other: slice
    ) -> tuple[FloatArray, FloatArray]:
        """Variance of the mean of a side's runs, and its degrees of freedom."""
        count = len(values[mine])
        if count > 1:
            variance, degrees = self._between(values[mine], drawn[mine], self.total[mine])
            return variance / count, degrees
        variance, degrees = self._between(values[other], drawn[other], self.total[other])
        mean = values[other].mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(mean != 0, variance / mean**2, 0.0)
        return np.maximum(relative * values[mine][0] ** 2, drawn[mine][0]), degrees

    def _between(self, values: FloatArray, drawn: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Variance between the runs of a side, and its degrees of freedom.

        Where something was learned it is the sum of two: that of the part of the run, known from all functions, and that of the
        run as a whole, known from this side's runs alone.
        """
        degrees, floor = len(values) - 1, drawn.mean(axis=0)
        if not self.prior:
            return np.maximum(values.var(axis=0, ddof=1), floor), np.full(values.shape[1], float(degrees))
        known = self.prior + degrees
        common = floor + self.variation * values.mean(axis=0) ** 2
        part = np.maximum((self.prior * common + degrees * _alone(values, total)) / known, floor)
        whole = (values.mean(axis=0) / max(float(total.mean()), np.finfo(np.float64).tiny)) ** 2 * total.var(ddof=1)
        both = part + whole
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = np.where(both > 0, both**2 / (part**2 / known + whole**2 / degrees), degrees)
        return both, freedom


def _alone(values: FloatArray, total: FloatArray) -> FloatArray:
    """Variance between runs of the parts that `values` (runs × functions) are of the totals, at the mean of these."""
    parts = values / np.maximum(total[:, None], np.finfo(np.float64).tiny)
    return np.asarray(parts.var(axis=0, ddof=1) * total.mean() ** 2)


def _prior(spread: float, degrees: int) -> float:
    """Degrees of freedom of the common variance, from the variance of the ratios of own (`degrees`) and common ones.

    That of F with d and k degrees is 2 k² (d + k − 2) / (d (k − 2)² (k − 4)); it falls with k to 2 / d.
    """

    def expected(k: float) -> float:
        return 2 * k**2 * (degrees + k - 2) / (degrees * (k - 2) ** 2 * (k - 4))

    low, high = threshold("min_prior"), threshold("max_prior")
    if spread >= expected(low):
        return 0.0
    for _ in range(_COARSE):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) > spread else (low, middle)
    return low


def _welch(mine: FloatArray, my_degrees: FloatArray, theirs: FloatArray, their_degrees: FloatArray) -> FloatArray:
    """Degrees of freedom of the difference (Welch and Satterthwaite); whole numbers from below, so that intervals are
    rather too wide.
    """
    parts = mine**2 / my_degrees + theirs**2 / their_degrees
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(parts > 0, (mine + theirs) ** 2 / parts, 1.0)
    return np.asarray(np.maximum(np.floor(found + _ROUNDING), 1.0))


def critical(p: FloatArray) -> float:
    """The largest p-value that counts as a discovery when many quantities are compared at once.

    Benjamini and Hochberg, J. R. Stat. Soc. B 57 (1995): at most what `confidence` leaves of what is called changed is so by chance. Where
    nothing is, the level of a single comparison among so many (Bonferroni).
    """
    rate = 1 - threshold("confidence")
    if not len(p):
        return rate
    ordered = np.sort(p)
    limits = rate * np.arange(1, len(p) + 1) / len(p)
    passed = np.flatnonzero(ordered <= limits)
    return float(limits[passed[-1]]) if len(passed) else rate / len(p)


def _quantiles(degrees: FloatArray) -> FloatArray:
    table = {each: _quantile(each) for each in np.unique(degrees).tolist()}
    return np.array([table[each] for each in degrees.tolist()])


def _quantile(degrees: float) -> float:
    """The t for which `confidence` of Student's distribution lies between −t and t."""
    confidence = threshold("confidence")
    if degrees >= _NORMAL_FROM:
        return _NORMAL.inv_cdf((1 + confidence) / 2)
    low, high = 0.0, _FURTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _outside(middle, int(degrees)) > 1 - confidence else (low, middle)
    return high


def _probability(change: FloatArray, scale: FloatArray, degrees: FloatArray) -> FloatArray:
    """Probability of a difference as large as `change` by chance (two-sided)."""
    found = np.ones(len(change))
    for at in np.flatnonzero(change).tolist():
        if scale[at] == 0:
            found[at] = 0.0
            continue
        t = abs(float(change[at] / scale[at]))
        found[at] = math.erfc(t / math.sqrt(2)) if degrees[at] >= _NORMAL_FROM else _outside(t, int(degrees[at]))
    return found


def _outside(t: float, degrees: int) -> float:
    """Probability that Student's t with whole `degrees` of freedom is beyond ±`t`.

    The finite series for whole numbers of degrees: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for step in range(degrees // 2):
        total += term
        k = 2 * step + 1
        term *= cosine * cosine * ((k + 1) / (k + 2) if odd else k / (k + 1))
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return min(max(1 - inside, 0.0), 1.0)
