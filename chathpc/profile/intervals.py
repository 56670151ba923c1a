"""Arithmetic on sets of time intervals: unions, so that what overlaps is counted once.

A set of intervals is a pair of arrays `start`, `end` (integers, nanoseconds; half open). What comes out is sorted and
disjoint. Everything is O(n log n) numpy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
Intervals = tuple[Times, Times]

NO_INTERVALS: Intervals = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def union(start: Times, end: Times) -> Intervals:
    """The intervals joined where they overlap or touch; empty and reversed ones are dropped."""
    real = end > start
    start, end = start[real], end[real]
    if not len(start):
        return NO_INTERVALS
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
    if not sets:
        return NO_INTERVALS
    return union(np.concatenate([start for start, _ in sets]), np.concatenate([end for _, end in sets]))


def length(intervals: Intervals) -> int:
    """Nanoseconds that a set of disjoint intervals covers."""
    return int(intervals[1].sum() - intervals[0].sum())


def clip(intervals: Intervals, begin: int, end: int) -> Intervals:
    """The part of the disjoint `intervals` inside [begin, end)."""
    start, stop = np.maximum(intervals[0], begin), np.minimum(intervals[1], end)
    inside = stop > start
    return start[inside], stop[inside]


def gaps(intervals: Intervals, begin: int, end: int) -> Intervals:
    """What the disjoint, sorted `intervals` leave free of [begin, end)."""
    start, stop = clip(intervals, begin, end)
    free_start = np.concatenate([np.array([begin], dtype=np.int64), stop])
    free_stop = np.concatenate([start, np.array([end], dtype=np.int64)])
    free = free_stop > free_start
    return free_start[free], free_stop[free]


def subtract(intervals: Intervals, other: Intervals) -> Intervals:
    """The part of `intervals` that `other` does not cover; both disjoint and sorted."""
    if not len(intervals[0]):
        return NO_INTERVALS
    begin, end = int(intervals[0][0]), int(intervals[1][-1])
    return intersect(intervals, gaps(other, begin, end))


def intersect(one: Intervals, other: Intervals) -> Intervals:
    """What both cover; both disjoint and sorted."""
    if not len(one[0]) or not len(other[0]):
        return NO_INTERVALS
    first = np.searchsorted(other[1], one[0], side="right")
    last = np.searchsorted(other[0], one[1], side="left")
    count = np.maximum(last - first, 0)
    mine = np.repeat(np.arange(len(one[0])), count)
    offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    theirs = first[mine] + offset
    start = np.maximum(one[0][mine], other[0][theirs])
    stop = np.minimum(one[1][mine], other[1][theirs])
    real = stop > start
    return start[real], stop[real]


def covered(intervals: Intervals, times: Times) -> NDArray[np.bool_]:
    """True for each of `times` that lies in one of the disjoint, sorted `intervals`."""
    at = np.searchsorted(intervals[0], times, side="right") - 1
    return (
        np.asarray((at >= 0) & (times < intervals[1][np.maximum(at, 0)]))
        if len(intervals[0])
        else np.zeros(len(times), dtype=bool)
    )
