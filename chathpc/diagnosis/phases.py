"""Phases of a run with a trace, as evidence: what it does at its start and end and never again, and what it repeats in between.

A steady state is told by what is done in it: the time is cut into equal bins, each with the shares of the functions (or
kernels) in it, and bins at either end that have little in common with the bins in the middle are start-up and end. Iterations
are told by the order of operations: the smallest period after which nearly every operation is the same as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.critical_path import Work
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Fact, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.sampled_lanes import MOST_RECORDED, spans, traced_lanes, work_of
from chathpc.diagnosis.timeline_facts import COMPUTING, TimelineFacts
from chathpc.profile import intervals
from chathpc.profile.activity import Activity
from chathpc.profile.intervals import Times
from chathpc.profile.timeline import Lane
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


_NANO = 1e-9


def phase_facts(facts: Facts) -> tuple[Fact, ...]:
    """Start-up and end of the run where they differ from the rest, and what repeats, as far as a trace shows it."""
    if facts.timeline is not None:
        return tuple(_of_kernels(facts, facts.timeline)) if facts.timeline.lack is None else ()
    return tuple(_of_thread(facts)) if facts.has_host_time else ()


def _of_thread(facts: Facts) -> Iterator[Fact]:
    """The start-up of the thread that was recorded most often."""
    found = thread_phases(facts)
    if found is not None and found[1].start_up >= common()["min_start_up"].value:
        lane, phases = found
        different = facts.readable(facts.label_names[phases.different]) if phases.different >= 0 else "other code"
        if _starts_mpi(facts, lane, phases):
            different = f"starting MPI in {different}"
        yield _start_up(facts, phases, f"{facts.profile.where.label(lane.location)} is", different)


def _starts_mpi(facts: Facts, lane: Lane, phases: Phases) -> bool:
    """True if most of the start-up is MPI's own, which says more than who calls for it."""
    starting, _ = spans(lane, facts.activities.of(Activity.MPI_SETUP))
    spent = intervals.length(intervals.clip(starting, phases.first, phases.begin))
    return spent >= common()["most"].value * (phases.begin - phases.first)


def thread_phases(facts: Facts) -> tuple[Lane, Phases] | None:
    """The thread that was recorded most often and its phases, by the function that is in force; None without a steady state."""
    lanes = traced_lanes(facts)
    if not lanes:
        return None
    everything = np.ones(len(facts.profile.tree), dtype=bool)
    lane = max(lanes, key=lambda each: (len(each.start), -each.location))
    if len(lane.start) < common()["min_samples"].value:
        return None
    found = steady_state(work_of(lane, facts.caller_label, everything), distance=common()["phase_distance"].value)
    return None if found is None else (lane, found)


def _start_up(facts: Facts, found: Phases, who: str, different: str) -> Fact:
    length = (found.begin - found.first) * _NANO
    return fact(
        facts,
        Kind.AMOUNT,
        length,
        subject="start-up",
        unit="s",
        whole=Quantity(length / found.start_up, "s", "the trace"),
        parts=(Part(different),),
        error=length / found.start_up / BINS,  # it ends somewhere in its last bin
        how=f"{who}: time until the mix of functions is that of the middle of the run, in fortieths of the trace",
    )


def _of_kernels(facts: Facts, timeline: TimelineFacts) -> Iterator[Fact]:
    """Iterations of the kernels of the first device."""
    lanes = [lane for lane in timeline.timeline.of(*COMPUTING, device=timeline.devices[0].ordinal) if len(lane)]
    if not lanes or sum(map(len, lanes)) > MOST_RECORDED:
        return
    start, node = np.concatenate([lane.start for lane in lanes]), np.concatenate([lane.node for lane in lanes])
    order = np.argsort(start, kind="stable")
    limit = common()
    found = iterations(
        timeline.name_of_node[node[order]],
        start[order],
        match=limit["repeat_match"].value,
        fewest=int(limit["min_iterations"].value),
    )
    if found is None:
        return
    median, longest = found.median * _NANO, found.longest * _NANO
    yield fact(
        facts,
        Kind.SPREAD,
        median,
        subject="an iteration of the kernels",
        unit="s",
        whole=Quantity(found.count, "iterations"),
        parts=(Part("median", median, "s"), Part("most", longest, "s"), Part("", found.period, "launches each")),
        how="smallest period of the order of kernels; time from the start of one iteration to that of the next",
    )
