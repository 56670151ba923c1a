"""Intervals that lie in one another: which is the innermost, and which reach into a stretch of time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.profile.intervals import Intervals, Times
from chathpc.profile.timeline import IntervalLane, LaneKind
from chathpc.profile.tree import IntArray

#: Intervals of ranges looked at one by one to find the innermost.
_MOST_RANGES = 200_000


def longest(spans: Intervals, most: int = 100_000) -> Intervals:
    """The `most` longest of some disjoint intervals, in their order; all of them if they are no more."""
    if len(spans[0]) <= most:
        return spans
    chosen = np.sort(np.argpartition(spans[0] - spans[1], most)[:most])
    return spans[0][chosen], spans[1][chosen]


def inside(lane: IntervalLane, stretch: Intervals, name: IntArray) -> Iterable[tuple[int, Times, Times, int]]:
    """Intervals of a lane that reach into the stretch, by number of their name: starts, ends, a node."""
    if not len(lane) or not len(stretch[0]):
        return
    first = np.searchsorted(stretch[1], lane.start, side="right")
    touching = first < len(stretch[0])
    touching &= stretch[0][np.minimum(first, len(stretch[0]) - 1)] < lane.end
    at = np.flatnonzero(touching)
    if not len(at):
        return
    start, end, node, label = lane.start[at], lane.end[at], lane.node[at], name[at]
    if lane.kind == LaneKind.RANGE:
        if len(at) > _MOST_RANGES:
            longest = np.sort(np.argsort(start - end, kind="stable")[:_MOST_RANGES])
            start, end, node, label = start[longest], end[longest], node[longest], label[longest]
        start, end, which = innermost(start, end)
        node, label = node[which], label[which]
    for index in np.flatnonzero(np.bincount(label)).tolist():
        mine = label == index
        length = end[mine] - start[mine]
        yield index, start[mine], end[mine], int(node[mine][int(np.argmax(length))])


def innermost(start: Times, end: Times) -> tuple[Times, Times, IntArray]:
    """The time in which each interval is the innermost of those that are open: starts, ends, index of the interval.

    Intervals ascend by start; of those open at one time, the one that began last is the innermost, of those that began
    together the shortest.
    """
    order = np.arange(len(start), dtype=np.int32)
    if bool((start[1:] == start[:-1]).any()):
        order = np.lexsort((-end, start)).astype(np.int32)
        start, end = start[order], end[order]
    starts: list[int] = []
    ends: list[int] = []
    owners: list[int] = []
    open_: list[tuple[int, int]] = []  # (end, index), outermost first

    def emit(until: int, since: int) -> int:
        """Close what ends before `until`, writing down whose time passes; the new "since"."""
        while open_:
            stop, owner = open_[-1]
            if stop <= since:
                open_.pop()
                continue
            reach = min(stop, until)
            if reach > since:
                starts.append(since)
                ends.append(reach)
                owners.append(owner)
                since = reach
            if stop <= until:
                open_.pop()
            else:
                break
        return until

    since = int(start[0]) if len(start) else 0
    for index, (begin, stop) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        since = emit(begin, since)
        open_.append((stop, index))
    emit(max(end.tolist(), default=0), since)
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64), order[np.array(owners, dtype=np.int32)]
