"""What the host does while devices are idle, told from what was traced, or else from its samples."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.host_calls import is_waiting
from chathpc.diagnosis.nested import longest
from chathpc.diagnosis.records import Evidence, Place
from chathpc.diagnosis.timeline_facts import HostPart, TimelineFacts, seconds
from chathpc.diagnosis.timeline_words import item, site
from chathpc.profile import intervals, numbers
from chathpc.profile.intervals import Intervals
from chathpc.profile.timeline import LaneKind

#: More than this part of something is most of it.
MOST = 0.5
#: What the host does in the gaps is named from this part of them on.
NAMED = 0.1
_HOST_LANES = (LaneKind.API, LaneKind.MPI, LaneKind.RANGE)


@dataclass(frozen=True, slots=True)
class Doing:
    """What the host does while devices are idle: place and name of the longest part, the evidence, and the doubts."""

    where: Place
    name: str | None
    evidence: Evidence | None
    against: tuple[str, ...]


def parts_in(timeline: TimelineFacts, spans: Intervals, *kinds: LaneKind) -> list[HostPart]:
    """What the host did in a stretch, what is worth naming."""
    whole = seconds(spans)
    parts = timeline.host_in(spans, *(kinds or _HOST_LANES), most=50)
    named = (part for part in parts if part.kind != LaneKind.OS or not is_waiting(part.name))
    return [part for part in named if whole and part.seconds >= NAMED * whole]


def _in_words(parts: list[HostPart], whole: float) -> str:
    """`in nvrtc 352 ms (88.6 %), in cudaMalloc 20 ms (5 %)`."""
    return ", ".join(
        f"in {part.short} {numbers.seconds(part.seconds)} ({numbers.percent(min(part.seconds / whole, 1.0))})"
        for part in parts[:3]
    )


def doing_in(facts: Facts, timeline: TimelineFacts, spans: Intervals) -> Doing:
    """What the host did while devices were idle: calls and ranges, else calls of the operating system, else its samples."""
    gaps, spans = "these gaps", longest(every := spans)
    if len(spans[0]) < len(every[0]):
        gaps = f"the {numbers.count(len(spans[0]))} longest of these gaps"
    whole = seconds(spans)
    parts = parts_in(timeline, spans) or parts_in(timeline, spans, LaneKind.OS)
    if not parts:
        return _sampled(facts)
    # A call that fills most of the gaps says more than the range around it.
    calls = [part for part in parts if part.kind != LaneKind.RANGE and part.seconds >= MOST * whole]
    parts = calls[:1] + [part for part in parts if part not in calls[:1]]
    first = parts[0]
    where = site(timeline, first.node)
    evidence = item(
        timeline,
        f"In {gaps}, {numbers.seconds(whole)}, the host is {_in_words(parts, whole)}.",
        first.seconds,
        metric="host.time",
        subject=first.short,
        how="union of the innermost ranges and calls inside the gaps, by name",
        where=where,
    )
    waited = seconds(intervals.intersect(timeline.waiting, spans))
    against: tuple[str, ...] = ()
    if waited >= MOST * whole:
        against = (
            f"In {numbers.percent(min(waited / whole, 1.0))} of the gaps the host waits for the device although nothing runs there: "
            "operations may be missing in the trace.",
        )
    return Doing(where, first.short, evidence, against)


def _sampled(facts: Facts) -> Doing:
    """Where the samples of the host are, which tell what it does but not when."""
    untraced = "What the host does meanwhile was not traced."
    hot = facts.hot_place(facts.time) if facts.has_host_time else None
    if hot is None:
        return Doing(Place(), None, None, (untraced,))
    name = str(hot.place.function)
    part = hot.weight / facts.total
    evidence = fact(
        facts,
        f"{name} has {numbers.percent(part)} of {facts.whole} of the host, over the whole recording.",
        part,
        unit="ratio",
        subject=name,
        how="time in and called by the function",
        where=hot.place,
    )
    return Doing(hot.place, name, evidence, ("Samples tell what the host does, but not that it does so in the gaps.",))
