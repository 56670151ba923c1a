"""Measures of how good ranked answers and stated probabilities are, and how uncertain the measures are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeVar

import numpy as np

from chathpc.diagnosis.statistics import interval

#: Two-sided quantile of the normal distribution for intervals of 95 %.
Z95 = 1.959963984540054
#: Resamples of a bootstrap interval; the ends of an interval of 95 % then rest on 50 resamples each.
RESAMPLES = 2000
#: Bins of equal width over 0..1, as in M. P. Naeini et al., Obtaining Well Calibrated Probabilities Using Bayesian Binning,
#: AAAI 2015.
BINS = 10

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Stated:
    """A probability that was stated (0..1), and whether what it was stated of is true."""

    probability: float
    true: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """A row of a reliability table: of `count` statements between `low` and `high`, stated on average and true."""

    low: float
    high: float
    count: int
    stated: float
    true: float


def wilson(count: int, of: int) -> tuple[float, float]:
    """Interval (0..1) of a share `count` / `of`; (0, 1) of nothing.

    Wilson's, as the diagnosis has it for shares of samples.
    """
    if not 0 <= count <= of:
        raise ValueError(f"{count} of {of} is no share")
    low, high = interval(count / of if of else 0.0, of, Z95)
    # The ends are exact for none and for all; rounding must not move them.
    return 0.0 if count == 0 else low, 1.0 if count == of else high


def bootstrap(items: Sequence[Item], measure: Callable[[Sequence[Item]], float]) -> tuple[float, float]:
    """Interval of 95 % of `measure` over `items` by resampling them (percentile method; B. Efron, R. Tibshirani 1993).

    The same items in the same order give the same interval. (nan, nan) for no items; resamples for which the measure is not
    defined (not finite) are left out.
    """
    if not items:
        return float("nan"), float("nan")
    random = np.random.default_rng(0)
    drawn = random.integers(len(items), size=(RESAMPLES, len(items)))
    values = [measure([items[index] for index in row]) for row in drawn.tolist()]
    defined = [value for value in values if isfinite(value)]
    if not defined:
        return float("nan"), float("nan")
    low, high = np.quantile(defined, (0.025, 0.975))
    return float(low), float(high)


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean; nan of nothing."""
    return float(sum(values) / len(values)) if values else float("nan")


def reciprocal_rank(ranks: Sequence[int | None]) -> float:
    """Mean of 1 / rank (first is 1), 0 for what was not found (E. M. Voorhees, TREC-8, 1999); nan of nothing."""
    return mean([0.0 if rank is None else 1.0 / rank for rank in ranks])


def brier(stated: Sequence[Stated]) -> float:
    """Mean of (probability − truth)², 0 best, 0.25 for always saying one half (G. W. Brier, 1950); nan of nothing."""
    return mean([(each.probability - each.true) ** 2 for each in stated])


def reliability(stated: Sequence[Stated]) -> tuple[Bin, ...]:
    """The bins of equal width that hold statements, from low to high; a bin holds its lower end, the last also its upper."""
    members: dict[int, list[Stated]] = {}
    for each in stated:
        members.setdefault(min(int(each.probability * BINS), BINS - 1), []).append(each)
    return tuple(
        Bin(
            low=index / BINS,
            high=(index + 1) / BINS,
            count=len(found),
            stated=mean([each.probability for each in found]),
            true=mean([float(each.true) for each in found]),
        )
        for index, found in sorted(members.items())
    )


def calibration_error(stated: Sequence[Stated]) -> float:
    """Expected calibration error: over the bins, the mean of |stated − true|, each weighted by its part of the statements;
    nan of nothing.

    With few statements it is biased upwards: chance alone keeps what is true in a bin from being what was stated.
    """
    if not stated:
        return float("nan")
    rows = reliability(stated)
    return sum(row.count * abs(row.stated - row.true) for row in rows) / len(stated)
