"""Who holds up whom on a timeline of devices: launches before operations, operations before calls that wait for them.

Which call launched which operation is told by the tree: an operation stands below its call. Where a call in the tree was made
as often as there are operations below it, the first belongs to the first and so on. Calls that wait for the device end when
the last operation before their end does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.critical_path import Dependencies, Work
from chathpc.diagnosis.timeline_facts import TimelineFacts
from chathpc.profile import intervals
from chathpc.profile.intervals import Intervals, Times
from chathpc.profile.timeline import DEVICE_LANES, IntervalLane, LaneKind
from chathpc.profile.tree import IntArray

#: Labels of what the host does: its own code between calls, and calls of the device's runtime. Others are numbers of names.
OWN_CODE, CALLS = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Lanes of a timeline of devices with what they wait for; `launched` and `awaited` count the dependencies of each
    kind, `operations` what the devices did.
    """

    lanes: tuple[Work, ...]
    needs: Dependencies
    launched: int
    awaited: int
    operations: int


def ordered(timeline: TimelineFacts) -> Ordered:
    """The streams of the devices and the threads that drive them."""
    streams: dict[tuple[int, int], list[IntervalLane]] = {}
    for lane in timeline.timeline.of(*DEVICE_LANES):
        if lane.device >= 0 and len(lane):
            streams.setdefault((lane.device, lane.location), []).append(lane)
    threads: dict[int, list[IntervalLane]] = {}
    for lane in timeline.timeline.of(LaneKind.API):
        if len(lane):
            threads.setdefault(lane.location, []).append(lane)
    names = timeline.name_of_node
    lanes = [_stream(group, names) for group in streams.values()]
    device_lane = np.repeat(np.arange(len(lanes)), [len(one.start) for one in lanes])
    operations = (np.concatenate([one.start for one in lanes]), np.concatenate([one.end for one in lanes]))
    nodes = np.concatenate([_in_order(group)[2] for group in streams.values()])
    calls, waits = [], []
    for group in threads.values():
        start, end, node = _in_order(group)
        blocking = timeline.waits_for_device(node)
        number = len(lanes)
        lanes.append(_thread((start, end), blocking, timeline.begin, timeline.end))
        calls.append((np.full(len(start), number), start, end, node))
        waits.append((np.full(int(blocking.sum()), number), start[blocking], end[blocking]))
    launched = _launches(timeline, calls, device_lane, operations, nodes)
    awaited = _awaited(waits, device_lane, operations, timeline)
    both = (launched, awaited)
    needs = Dependencies(
        *(np.concatenate([getattr(each, name) for each in both]) for name in ("source", "done", "into", "at"))
    )
    return Ordered(tuple(lanes), needs, len(launched), len(awaited), len(nodes))


def _in_order(group: list[IntervalLane]) -> tuple[Times, Times, IntArray]:
    start, end, node = (np.concatenate([getattr(lane, name) for lane in group]) for name in ("start", "end", "node"))
    order = np.argsort(start, kind="stable")
    return start[order], end[order], node[order]


def _stream(group: list[IntervalLane], names: IntArray) -> Work:
    """Operations of a stream one after the other; where they overlap, the later one counts from the end of the earlier."""
    start, end, node = _in_order(group)
    reach = np.concatenate([start[:1], np.maximum.accumulate(end)[:-1]])
    start = np.maximum(start, reach)
    return Work(start, np.maximum(end, start), names[node])


def _thread(calls: Intervals, blocking: np.ndarray, begin: int, end: int) -> Work:
    """A thread of the host inside the window: in calls, in its own code, or (no work) waiting for the device."""
    waiting = intervals.union(calls[0][blocking], calls[1][blocking])
    inside = intervals.clip(intervals.union(calls[0][~blocking], calls[1][~blocking]), begin, end)
    in_calls = intervals.subtract(inside, waiting)
    own = intervals.gaps(intervals.union_of(waiting, inside), begin, end)
    start, stop = np.concatenate([in_calls[0], own[0]]), np.concatenate([in_calls[1], own[1]])
    label = np.repeat(np.array([CALLS, OWN_CODE], dtype=np.int32), [len(in_calls[0]), len(own[0])])
    order = np.argsort(start, kind="stable")
    return Work(start[order], stop[order], label[order])


def _launches(
    timeline: TimelineFacts, calls: list[tuple[np.ndarray, Times, Times, IntArray]], lane: np.ndarray, operations: Intervals,
    nodes: IntArray,
) -> Dependencies:  # fmt: skip
    """From each launching call to its operation, where the tree tells which is whose."""
    if not calls or not len(nodes):
        return _none()
    parent = timeline.profile.tree.parent
    above = np.where(nodes >= 0, parent[np.maximum(nodes, 0)], -1)
    number, start, end, node = (np.concatenate([each[i] for each in calls]) for i in range(4))
    made = np.bincount(node[node >= 0], minlength=len(parent))
    below = np.bincount(above[above >= 0], minlength=len(parent))
    certain = (made == below) & (made > 0)
    mine, theirs = np.flatnonzero((node >= 0) & certain[node]), np.flatnonzero((above >= 0) & certain[above])
    # Both in the order of node, then time: the k-th call stands where the k-th operation does.
    mine = mine[np.lexsort((start[mine], node[mine]))]
    theirs = theirs[np.lexsort((operations[0][theirs], above[theirs]))]
    real = start[mine] <= operations[0][theirs]
    mine, theirs = mine[real], theirs[real]
    at = operations[0][theirs]
    return Dependencies(number[mine].astype(np.int32), np.minimum(end[mine], at), lane[theirs].astype(np.int32), at)


def _awaited(
    waits: list[tuple[np.ndarray, Times, Times]], lane: np.ndarray, operations: Intervals, timeline: TimelineFacts
) -> Dependencies:
    """From the last operation that ends in a waiting call to the end of that call."""
    if not waits or not len(operations[1]):
        return _none()
    number, start, end = (np.concatenate([each[i] for each in waits]) for i in range(3))
    order = np.argsort(operations[1], kind="stable")
    ends = operations[1][order]
    at = np.searchsorted(ends, end, side="right") - 1
    done = np.where(at >= 0, ends[np.maximum(at, 0)], -1)
    real = (done > start) & (end <= timeline.end)
    at, number, end, done = at[real], number[real], end[real], done[real]
    return Dependencies(lane[order[at]].astype(np.int32), done, number.astype(np.int32), end)


def _none() -> Dependencies:
    empty = np.zeros(0, dtype=np.int64)
    return Dependencies(empty.astype(np.int32), empty, empty.astype(np.int32), empty)
