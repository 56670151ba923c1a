"""Intervals that lie in one another: which is the innermost, and which reach into a stretch of time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.profile.intervals import Intervals, Times, numbers
from chathpc.profile.timeline import IntervalLane, LaneKind
from chathpc.profile.tree import IntArray

#: Intervals of ranges looked at one by one to find the innermost.
_MOST_RANGES = 200_000
#: Parts of a stretch are looked up among intervals if there are as many of these for each, else the other way round.
_FEW = 20


def longest(spans: Intervals, most: int = 100_000) -> Intervals:
    """The `most` longest of some disjoint intervals, in their order; all of them if they are no more."""
    if len(spans[0]) <= most:
        return spans
    chosen = np.sort(np.argpartition(spans[0] - spans[1], most)[:most])
    return spans[0][chosen], spans[1][chosen]


def inside(lane: IntervalLane, stretch: Intervals, name_of_node: IntArray) -> Iterable[tuple[int, Times, Times, int]]:
    """Intervals of a lane that reach into the stretch, by number of their name: starts, ends, a node.

    `name_of_node` numbers the names of the nodes, and at its end that of "no node".
    """
    if not len(lane) or not len(stretch[0]):
        return
    at = _touching(lane.start, lane.end, stretch)
    if not len(at):
        return
    start, end, node = lane.start.take(at), lane.end.take(at), lane.node.take(at)
    label = name_of_node.take(node)
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


def _touching(start: Times, end: Times, stretch: Intervals) -> Times:
    """Which of some intervals, ascending by start, reach into the stretch."""
    at = None
    if len(stretch[0]) * _FEW <= len(start):
        # What begins before a part of the stretch ends, from the first on that reaches it.
        reach = end if bool((end[1:] >= end[:-1]).all()) else np.maximum.accumulate(end)
        low = np.searchsorted(reach, stretch[0], side="right")
        high = np.searchsorted(start, stretch[1], side="left")
        chosen = numbers(low, high)
        if len(chosen) * 2 <= len(start):
            at = chosen
            start, end = start.take(at), end.take(at)
    first = np.searchsorted(stretch[1], start, side="right")
    touching = first < len(stretch[0])
    touching &= stretch[0].take(first, mode="clip") < end
    found = np.flatnonzero(touching)
    return found if at is None else at.take(found)


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
