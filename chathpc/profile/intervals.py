"""Arithmetic on sets of time intervals: unions, so that what overlaps is counted once.

A set of intervals is a pair of arrays `start`, `end` (integers, nanoseconds; half open). What comes out is sorted and
disjoint, and may be the arrays that went in: they are not to be changed. Everything is O(n log n) numpy, and linear where
nothing has to be sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
Intervals = tuple[Times, Times]

NO_INTERVALS: Intervals = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

#: Few intervals are looked up among others if these are so many times as many.
_FEW = 8


def union(start: Times, end: Times) -> Intervals:
    """The intervals joined where they overlap or touch; empty and reversed ones are dropped."""
    real = end > start
    if not real.all():
        start, end = start[real], end[real]
    if not len(start):
        return NO_INTERVALS
    if bool((start[1:] > end[:-1]).all()):
        return start, end  # calls of a thread and kernels of a stream mostly are sorted and apart
    if np.any(start[1:] < start[:-1]):
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    first = np.ones(len(start), dtype=bool)
    first[1:] = start[1:] > reach[:-1]
    begins = np.flatnonzero(first)
    return start[begins], reach[np.append(begins[1:] - 1, len(start) - 1)]


def union_of(*sets: Intervals) -> Intervals:
    """The union of several sets."""
    sets = tuple(each for each in sets if len(each[0]))
    if len(sets) < 2:
        return union(*sets[0]) if sets else NO_INTERVALS
    return union(np.concatenate([start for start, _ in sets]), np.concatenate([end for _, end in sets]))


def length(intervals: Intervals) -> int:
    """Nanoseconds that a set of disjoint intervals covers."""
    return int(intervals[1].sum() - intervals[0].sum())


def clip(intervals: Intervals, begin: int, end: int) -> Intervals:
    """The part of the disjoint `intervals` inside [begin, end)."""
    start, stop = intervals
    if not len(start) or (int(start.min()) >= begin and int(stop.max()) <= end and bool((stop > start).all())):
        return intervals
    start, stop = np.maximum(start, begin), np.minimum(stop, end)
    inside = stop > start
    return start[inside], stop[inside]


def gaps(intervals: Intervals, begin: int, end: int) -> Intervals:
    """What the disjoint, sorted `intervals` leave free of [begin, end)."""
    start, stop = clip(intervals, begin, end)
    free_start, free_stop = np.empty(len(start) + 1, dtype=np.int64), np.empty(len(start) + 1, dtype=np.int64)
    free_start[0], free_start[1:] = begin, stop
    free_stop[-1], free_stop[:-1] = end, start
    free = free_stop > free_start
    return (free_start, free_stop) if free.all() else (free_start[free], free_stop[free])


def subtract(intervals: Intervals, other: Intervals) -> Intervals:
    """The part of `intervals` that `other` does not cover; both disjoint and sorted."""
    if not len(intervals[0]):
        return NO_INTERVALS
    if len(intervals[0]) * _FEW <= len(other[0]):
        low = np.searchsorted(other[1], intervals[0], side="right")
        at = numbers(low, np.searchsorted(other[0], intervals[1], side="left"))
        other = other[0].take(at), other[1].take(at)
    begin, end = int(intervals[0][0]), int(intervals[1][-1])
    return intersect(intervals, gaps(other, begin, end))


def intersect(one: Intervals, other: Intervals) -> Intervals:
    """What both cover; both disjoint and sorted."""
    if not len(one[0]) or not len(other[0]):
        return NO_INTERVALS
    if len(one[0]) > len(other[0]):
        one, other = other, one  # the few are looked up among the many
    first = np.searchsorted(other[1], one[0], side="right")
    count = np.searchsorted(other[0], one[1], side="left")
    count -= first
    np.maximum(count, 0, out=count)
    if int(count.max()) <= 1:
        mine = np.flatnonzero(count)
        theirs = first.take(mine)
    else:
        mine = np.repeat(np.arange(len(one[0])), count)
        theirs = np.arange(len(mine))
        theirs += np.repeat(first - (np.cumsum(count) - count), count)
    start = np.maximum(one[0].take(mine), other[0].take(theirs))
    stop = np.minimum(one[1].take(mine), other[1].take(theirs))
    real = stop > start
    return (start, stop) if real.all() else (start[real], stop[real])


def numbers(low: Times, high: Times) -> Times:
    """All whole numbers in the intervals [low, high), each once, ascending; both ascend."""
    low, high = union(low, high)
    count = high - low
    found = np.arange(int(count.sum()))
    found += np.repeat(low - (np.cumsum(count) - count), count)
    return found


def covered(intervals: Intervals, times: Times) -> NDArray[np.bool_]:
    """True for each of `times` that lies in one of the disjoint, sorted `intervals`."""
    if not len(intervals[0]):
        return np.zeros(len(times), dtype=bool)
    at = np.searchsorted(intervals[0], times, side="right") - 1
    return np.asarray((at >= 0) & (times < intervals[1][np.maximum(at, 0)]))


def overlap(intervals: Intervals, others: Intervals) -> Times:
    """Of each interval the length that `others` cover, those that overlap each other each on its own."""
    if not len(others[0]) or not len(intervals[0]):
        return np.zeros(len(intervals[0]), dtype=np.int64)
    base = int(others[0].min())  # sums of times since the epoch would be too large
    begun, ended = np.sort(others[0]) - base, np.sort(np.maximum(others[1], others[0])) - base

    def before(times: Times) -> Times:
        parts = []
        for edges in (begun, ended):
            count = np.searchsorted(edges, times, side="left")
            parts.append(count * times - np.concatenate([[0], np.cumsum(edges)])[count])
        return np.asarray(parts[0] - parts[1])

    return np.asarray(before(intervals[1] - base) - before(intervals[0] - base))
