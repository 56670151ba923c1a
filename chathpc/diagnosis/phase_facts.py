"""The phases of a profile with a trace, as evidence: start-up apart from the steady state, and iterations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Fact, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.phases import Phases, iterations, steady_state
from chathpc.diagnosis.sampled_lanes import MOST_RECORDED, traced_lanes, work_of
from chathpc.diagnosis.timeline_facts import COMPUTING, TimelineFacts
from chathpc.profile.timeline import Lane

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
        different = readable_function(facts.label_names[phases.different]) if phases.different >= 0 else "other code"
        yield _start_up(facts, phases, f"{facts.profile.where.label(lane.location)} is", different)


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
