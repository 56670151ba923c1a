"""The critical path of a profile with a trace, as evidence: which function or kernel is how much of it.

On a timeline of devices, which call launched which operation is told by the tree: an operation stands below its call. Where a call in the
tree was made as often as there are operations below it, the first belongs to the first and so on. Calls that wait for the device end when
the last operation before their end does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.critical_path import (
    NO_DEPENDENCIES,
    CriticalPath,
    Dependencies,
    Presence,
    Work,
    critical_path,
    described,
    releases,
)
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Bound, Fact, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.message_facts import MessageFacts
from chathpc.diagnosis.rules.mpi import synchronises_all
from chathpc.diagnosis.sampled_lanes import MOST_RECORDED, spans, traced_lanes, work_of
from chathpc.diagnosis.timeline_facts import TimelineFacts
from chathpc.diagnosis.wait_states import path
from chathpc.profile import intervals, numbers
from chathpc.profile.activity import Activity
from chathpc.profile.intervals import Intervals, Times
from chathpc.profile.metric import NO_CORE
from chathpc.profile.timeline import DEVICE_LANES, IntervalLane, Lane, LaneKind
from chathpc.profile.tree import BoolArray, IntArray, is_one_of

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
    return Ordered(tuple(lanes), Dependencies.joined((launched, awaited)), len(launched), len(awaited), len(nodes))


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
        return NO_DEPENDENCIES
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
        return NO_DEPENDENCIES
    number, start, end = (np.concatenate([each[i] for each in waits]) for i in range(3))
    order = np.argsort(operations[1], kind="stable")
    ends = operations[1][order]
    at = np.searchsorted(ends, end, side="right") - 1
    done = np.where(at >= 0, ends[np.maximum(at, 0)], -1)
    real = (done > start) & (end <= timeline.end)
    at, number, end, done = at[real], number[real], end[real], done[real]
    return Dependencies(lane[order[at]].astype(np.int32), done, number.astype(np.int32), end)


#: Of more lanes those are looked at that wait least and most: who holds the others up is among the first.
_MOST_LANES = 32
_TRACE = "the trace"
#: Parts of the path that are named, and the smallest that is.
_NAMED, _LEAST = 3, 0.02
_NANO = 1e-9
#: What threads do that is neither work nor waiting for each other.
_IDLE = (Activity.SLEEP, Activity.BLOCKED, Activity.JOIN, Activity.HELPER)
#: Labels of time that is no function's work.
_OTHER, _MESSAGES, _LOCKS = -1, -2, -3
_OTHERS = {_OTHER: "other code", _MESSAGES: "messages and other calls of MPI", _LOCKS: "locks"}
_OF_HOST = {OWN_CODE: "the host's own code", CALLS: "calls of the device's runtime"}
_OWN_WORDS = frozenset({*_OTHERS.values(), *_OF_HOST.values()})
_NO_MEETING = "The trace shows neither who ends the waits in barriers and collectives nor which message a rank waits for, so its critical path is not known."
_NOT_TOGETHER = (
    "Messages and collectives of the trace wait for each other in a way that is impossible in a real run, so neither its critical path nor its time on "
    "an ideal network is known."
)
_IN_MESSAGES = "messages and collectives on their way"
_NO_ORDER = "Most operations cannot be paired one by one with the calls that launched them, so the timeline's critical path is not known."


@dataclass(frozen=True, slots=True)
class PathFacts:
    """What the critical path consists of, or `note`: why it is not known although there is a trace, as a sentence."""

    evidence: tuple[Fact, ...] = ()
    note: str = ""


def path_facts(facts: Facts) -> PathFacts:
    """The critical path where a trace tells what waits for what; empty without a trace, and for one that is too large."""
    if facts.timeline is not None:
        return _of_devices(facts, facts.timeline) if facts.timeline.lack is None else PathFacts()
    return _of_threads(facts)


# -- devices ---------------------------------------------------------------------------------------------------


def _of_devices(facts: Facts, timeline: TimelineFacts) -> PathFacts:
    if sum(map(len, timeline.timeline.intervals)) > MOST_RECORDED:
        return PathFacts()
    order = ordered(timeline)
    if order.launched < common()["known_launches"].value * order.operations:
        return PathFacts(note=_NO_ORDER)
    path = critical_path(order.lanes, order.needs)
    beside = _beside_devices(order.lanes, path)
    # Without a single wait for the device in the trace, nothing but code beside an idle device is sure to be the host's own work.
    if beside >= common()["beside_device" if order.awaited else "worth_a_line"].value:
        return PathFacts(
            note=f"What the host does between its calls was not recorded, and the device works for {numbers.percent(beside)} of that "
            "time, so the critical path is not known."
        )
    words = {label: _OF_HOST.get(label) or timeline.short_name(label) for label in path.by_label}
    how = f"longest chain over {order.launched:,} launches and {order.awaited:,} waits for the device"
    return _told(facts, path, words, timeline.window, "the timeline", how)


def _beside_devices(lanes: Sequence[Work], path: CriticalPath) -> float:
    """Of the host's own code on the path the part (0..1) beside which a device works; 0 where that code is less than half of
    the path.

    Such code may as well be waiting by means that were not recorded: then device and host are two chains of about one length.
    """
    if path.by_label.get(OWN_CODE, 0) < common()["beside_device"].value * path.length:
        return 0.0
    own, busy = [], []
    for number, work in enumerate(lanes):
        is_own = work.label == OWN_CODE
        if is_own.any():
            steps = np.array([(step.begin, step.end) for step in path.steps if step.lane == number], dtype=np.int64)
            spans = steps.reshape(-1, 2)
            own.append(intervals.intersect((work.start[is_own], work.end[is_own]), (spans[:, 0], spans[:, 1])))
        elif not (work.label == CALLS).any():
            busy.append(intervals.union(work.start, work.end))
    code = intervals.union_of(*own)
    return intervals.length(intervals.intersect(code, intervals.union_of(*busy))) / max(intervals.length(code), 1)


# -- threads and ranks -----------------------------------------------------------------------------------------


def _of_threads(facts: Facts) -> PathFacts:
    if not facts.has_host_time:
        return PathFacts()
    if facts.messages is not None:
        return _of_messages(facts, facts.messages)
    in_openmp, in_mpi = facts.spent(Activity.OMP_WAIT), facts.spent(Activity.MPI)
    lanes = traced_lanes(facts) if in_openmp + in_mpi else []
    if len(lanes) < 2:
        return PathFacts()
    kind = facts.activities.kind
    barriers, collectives = kind == Activity.OMP_WAIT, synchronises_all(facts)
    is_complete = len(lanes) <= _MOST_LANES
    if not is_complete:
        lanes = _extremes(lanes, barriers | collectives)
    idle = is_one_of(kind, _IDLE) | barriers | collectives
    # Who a message or a lock was waited for is not known: such time is named as what it is and never taken for a function's work.
    label = np.where(kind == Activity.MPI, _MESSAGES, np.where(kind == Activity.OMP_LOCK, _LOCKS, facts.caller_label))
    work = [work_of(lane, label, ~idle) for lane in lanes]
    process = facts.profile.where.rank[[lane.location for lane in lanes]]
    needs = [
        releases([_presence(index, lanes[index], barriers) for index in np.flatnonzero(process == number).tolist()])
        for number in np.unique(process).tolist()
    ]
    if collectives.any():
        present = [_presence(index, lane, collectives) for index, lane in enumerate(lanes)]
        needs.append(releases([each for each in present if len(each.waits[0])], together=True))
    joined = Dependencies.joined(needs)
    if not len(joined):
        return PathFacts(note=_NO_MEETING)
    path = critical_path(work, joined)
    begin, end = min(int(lane.start[0]) for lane in lanes), max(int(lane.start[-1]) for lane in lanes)
    names = {each: _OTHERS.get(each) or facts.readable(facts.label_names[each]) for each in path.by_label}
    sampled = "" if facts.profile.timed else "; from samples"
    how = f"longest chain over {len(joined):,} waits in barriers and collectives, each ended by the thread that came last{sampled}"
    return _told(facts, path, names, (end - begin) * _NANO, _TRACE, how, is_complete=is_complete)


# -- ranks with messages -----------------------------------------------------------------------------------------


def _of_messages(facts: Facts, messages: MessageFacts) -> PathFacts:
    """The longest chain of work through messages and collectives: that which the replay on an ideal network ends with."""
    if messages.played is None:
        return PathFacts(note=messages.doubt or _NOT_TOGETHER)
    told, played = messages.communication, messages.played
    steps = path(told, played)
    found = described(messages.work, told.member, steps)
    names = [*map(facts.readable, facts.label_names), _OTHERS[_OTHER]]
    how = (
        f"longest chain over {len(told.messages):,} messages and {len(told.collectives):,} collectives, if none took any time; "
        "backwards from the rank that ends last to what it waited for"
    )
    if not found.by_lane:
        return PathFacts()
    row, spent = max(found.by_lane.items(), key=lambda item: item[1])
    who = (Part(f"of which on rank {int(facts.profile.where.rank[row])}", spent / max(found.length, 1), "ratio"),)
    where = _TRACE if messages.is_whole else "the trace's beginning"
    labels = {label: names[label] for label in found.by_label}
    return replace(
        _told(facts, found, labels, messages.elapsed, where, how, also=who, rest=_IN_MESSAGES), note=messages.doubt
    )


def _extremes(lanes: list[Lane], waiting: BoolArray) -> list[Lane]:
    """The lanes that wait least and those that wait most, half of each."""
    waited = [intervals.length(intervals.union(*spans(lane, waiting)[0])) for lane in lanes]
    order = np.argsort(waited, kind="stable").tolist()
    kept = {*order[: _MOST_LANES // 2], *order[-(_MOST_LANES // 2) :]}
    return [lane for index, lane in enumerate(lanes) if index in kept]


def _presence(index: int, lane: Lane, waiting: BoolArray) -> Presence:
    return Presence(index, int(lane.start[0]), int(lane.start[-1]), intervals.union(*spans(lane, waiting)[0]))


# -- words -----------------------------------------------------------------------------------------------------


def _told(
    facts: Facts,
    path: CriticalPath,
    words: dict[int, str],
    window: float,
    where: str,
    how: str,
    *,
    is_complete: bool = True,
    also: tuple[Part, ...] = (),
    rest: str = "waits, barriers and collectives beside it",
) -> PathFacts:
    length = path.length * _NANO
    if length <= 0:
        return PathFacts()
    by_word: Counter[str] = Counter()
    for label, spent in path.by_label.items():
        by_word[words[label]] += spent
    longest = sorted(by_word.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
    span = window if path.stretch is None else (path.stretch[1] - path.stretch[0]) * _NANO
    place = where if path.stretch is None else f"the middle of {where}"
    left = window - length
    is_whole = path.stretch is None and is_complete and where == _TRACE
    if is_whole and left > common()["worth_a_line"].value * window:
        if NO_CORE in facts.profile.metrics:
            rest = rest.replace(" and collectives", ", collectives and time without a core")
        also = (*also, Part(rest, left, "s"))
    told = (
        fact(
            facts,
            Kind.PATH,
            length,
            subject="the critical path",
            unit="s",
            bound=Bound.NONE if is_complete else Bound.AT_LEAST,
            whole=Quantity(span, "s", place),
            parts=(
                *(
                    Part(word, spent / path.length, "ratio", word not in _OWN_WORDS)
                    for word, spent in longest
                    if spent >= _LEAST * path.length
                ),
                *also,
            ),
            how=how,
        ),
    )
    return PathFacts(told)
