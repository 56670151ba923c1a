"""Traces of the program's threads, sampled or of events: which there are, and when each was where."""

from __future__ import annotations

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.critical_path import Work
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.timeline_facts import is_traced, seconds
from chathpc.profile import intervals
from chathpc.profile.intervals import Intervals
from chathpc.profile.profile import Profile, no_timeline
from chathpc.profile.timeline import WITHOUT_CORE, Lane
from chathpc.profile.tree import BoolArray, FloatArray, IntArray

#: Samples or intervals of a trace from which on it is not looked at: reading and sorting them takes half a second.
MOST_RECORDED = 500_000


def traced_lanes(facts: Facts) -> list[Lane]:
    """The lanes of the program's own threads in a trace; none without one, and for one that is too large."""
    return _lanes(facts.profile, facts.locations)


def unseen(facts: Facts) -> list[tuple[int, float, float]]:
    """Threads that a wall clock sampled for much less time than passed in their trace: location, seconds seen and seconds passed."""
    profile, found = facts.profile, []
    if profile.timed or not profile.sees_waiting or not (facts.has_host_time and facts.in_seconds):
        return []
    seen = dict(zip(facts.locations.tolist(), facts.matrix.sum(axis=1).tolist(), strict=True))
    for lane in traced_lanes(facts):
        there = np.flatnonzero(lane.node[:-1] != -1)
        if not len(there):
            continue
        alive = slice(there[0], there[-1] + 1)
        start, ran = lane.start.astype(np.int64), lane.node[alive] != WITHOUT_CORE
        passed = seconds((start[:-1][alive][ran], start[1:][alive][ran]))
        if seen[lane.location] < common()["seen_part"].value * passed:
            found.append((lane.location, seen[lane.location], passed))
    return found


def device_work(profile: Profile) -> Intervals | None:
    """When any device worked, by its lanes in a sampled trace, where its operations are exact; None without such lanes."""
    found = _lanes(profile, np.flatnonzero(profile.where.is_gpu).astype(np.int32))
    everywhere = np.ones(len(profile.tree), dtype=bool)
    work = intervals.union_of(*(spans(lane, everywhere)[0] for lane in found))
    return work if len(work[0]) else None


def _lanes(profile: Profile, locations: IntArray) -> list[Lane]:
    if profile.read_timeline is no_timeline or not len(locations):
        return []
    if not is_traced(profile) and (profile.sample_count is None or profile.sample_count > MOST_RECORDED):
        return []
    timeline, rows = profile.timeline, set(locations.tolist())
    if timeline is None or sum(len(each.start) for each in timeline.lanes) > MOST_RECORDED:
        return []
    return [each for each in timeline.lanes if each.location in rows and len(each.start) > 1]


def spans(lane: Lane, chosen: BoolArray) -> tuple[Intervals, IntArray]:
    """When a lane was at one of the chosen nodes (−1, idle, is none), and at which; the last sample has no length."""
    start = lane.start.astype(np.int64)
    node = lane.node[:-1]
    at = np.flatnonzero((node >= 0) & np.append(chosen, False)[node])
    return (start[:-1][at], start[1:][at]), node[at]


def work_of(lane: Lane, label: IntArray, chosen: BoolArray) -> Work:
    """What a lane did at the chosen nodes, by a label for each node."""
    (start, end), node = spans(lane, chosen)
    real = end > start
    return Work(start[real], end[real], label[node[real]])


def over_time(facts: Facts, member: IntArray, chosen: BoolArray, parts: int) -> FloatArray | None:
    """Nanoseconds at the chosen nodes by member (`member[row]` of a location, −1 for none) and equal part of the trace, members × parts; None without
    a trace of each member.
    """
    lanes = [lane for lane in traced_lanes(facts) if member[lane.location] >= 0]
    if not lanes or len({int(member[lane.location]) for lane in lanes}) < member.max() + 1:
        return None
    ends = np.linspace(min(int(lane.start[0]) for lane in lanes), max(int(lane.start[-1]) for lane in lanes), parts + 1)
    spent = np.zeros((int(member.max()) + 1, parts))
    for lane in lanes:
        done = work_of(lane, np.zeros(len(chosen), dtype=np.int32), chosen).before(ends.astype(np.int64))
        spent[member[lane.location]] += np.diff(done)
    return spent
