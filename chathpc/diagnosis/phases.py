"""Phases of a run: what it does at its start and end and never again, and what it repeats in between.

A steady state is told by what is done in it: the time is cut into equal bins, each with the shares of the functions (or
kernels) in it, and bins at either end that have little in common with the bins in the middle are start-up and end. Iterations
are told by the order of operations: the smallest period after which nearly every operation is the same as before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.critical_path import Work
from chathpc.profile.intervals import Times
from chathpc.profile.tree import IntArray

#: Bins of the time: a start-up of a twentieth of the run is seen.
BINS = 40
#: Operations whose order is looked at, in the middle of the run: comparing all shifts of them takes some ten milliseconds.
_LOOKED_AT = 4096


@dataclass(frozen=True, slots=True)
class Phases:
    """The steady state [begin, end) in nanoseconds of a run [first, last); `different` is the label that start-up spends most
    time on, −1 without a start-up.
    """

    first: int
    begin: int
    end: int
    last: int
    different: int

    @property
    def start_up(self) -> float:
        """Part of the run before its steady state, 0..1."""
        return (self.begin - self.first) / (self.last - self.first)


def steady_state(work: Work, *, distance: float) -> Phases | None:
    """The phases of what a lane does; None where it does too little to tell, or has no steady state.

    Two bins differ by the total variation distance of what is done in them (half the sum of the differences of shares, 0 for
    the same mix, 1 for nothing in common). Bins at the ends that are `distance` or further from the median mix of the middle
    half are none of the steady state, which must be most of the run.
    """
    if len(work.start) < BINS:
        return None
    first, last = int(work.start[0]), int(work.end[-1])
    # Whole numbers: nanoseconds since the epoch are too large for the digits of a float.
    edges = first + (last - first) * np.arange(BINS + 1, dtype=np.int64) // BINS
    labels, number = np.unique(work.label, return_inverse=True)
    spent = np.stack([np.diff(_of_label(work, number == index).before(edges)) for index in range(len(labels))], axis=1)
    total = spent.sum(axis=1, keepdims=True)
    mix = np.divide(spent, total, out=np.zeros(spent.shape), where=total > 0)
    usual = np.median(mix[BINS // 4 : 3 * BINS // 4], axis=0)
    if usual.sum() <= 0:
        return None
    usual = usual / usual.sum()
    like = np.abs(mix - usual).sum(axis=1) / 2 < distance
    if int(like.sum()) <= BINS // 2:
        return None
    begin, end = int(np.argmax(like)), BINS - int(np.argmax(like[::-1]))
    different = int(labels[np.argmax(spent[:begin].sum(axis=0))]) if begin else -1
    return Phases(first, int(edges[begin]), int(edges[end]), last, different)


def _of_label(work: Work, chosen: np.ndarray) -> Work:
    return Work(work.start[chosen], work.end[chosen], work.label[chosen])


@dataclass(frozen=True, slots=True)
class Iterations:
    """What repeats: `period` operations each, `count` times; lengths of an iteration in nanoseconds."""

    period: int
    count: int
    median: float
    longest: float


def iterations(label: IntArray, start: Times, *, match: float, fewest: int) -> Iterations | None:
    """The iterations of a sequence of operations with their start times (ascending), of more than 4,096 those in the middle.

    The period is the smallest shift by which at least `match` of the operations are the same as before. None without any, for
    fewer than `fewest` iterations, and where all operations are the same (then an iteration has no beginning).
    """
    surplus = max(len(label) - _LOOKED_AT, 0) // 2
    label, start = label[surplus : surplus + _LOOKED_AT], start[surplus : surplus + _LOOKED_AT]
    if len(np.unique(label)) < 2:
        return None
    for period in range(2, len(label) // fewest + 1):
        if float(np.mean(label[period:] == label[:-period])) >= match:
            length = np.diff(start[::period]).astype(np.float64)
            return Iterations(period, len(label) // period, float(np.median(length)), float(length.max()))
    return None
