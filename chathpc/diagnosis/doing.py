"""What the host does while devices are idle, told from what was traced, or else from its samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.draft import share_fact
from chathpc.diagnosis.fact import Fact, Form, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gaps import Stretch
from chathpc.diagnosis.host_calls import is_waiting
from chathpc.diagnosis.nested import longest
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.timeline_facts import HostPart, seconds
from chathpc.diagnosis.timeline_words import lasting, site
from chathpc.profile import intervals, numbers
from chathpc.profile.timeline import LaneKind

#: Kinds of calls and ranges that are looked at, those with most time; of these what is worth a line is told.
_LOOKED_AT = 50
_HOST_LANES = (LaneKind.API, LaneKind.MPI, LaneKind.RANGE)


@dataclass(frozen=True, slots=True)
class Doing:
    """What the host does while devices are idle: place and name of the longest part, the evidence, and the doubts."""

    where: Place
    name: str | None
    evidence: Fact | None
    against: tuple[str, ...]
    waiting: bool = False  #: the host waits for the device although nothing runs there
    idle: bool = False  #: the host does nothing itself, but waits for something else than the device


def parts_in(stretches: Sequence[Stretch], *kinds: LaneKind) -> list[HostPart]:
    """What the host did in some stretches, what is worth naming; each process is asked for the gaps of its own devices."""
    whole, least = _length(stretches), common()["worth_a_line"].value
    found: dict[tuple[str, LaneKind], HostPart] = {}
    for timeline, spans in stretches:
        for part in timeline.host_in(spans, *(kinds or _HOST_LANES), most=_LOOKED_AT):
            key = part.name, part.kind
            known = found.get(key)
            if known is not None:
                most = max(known, part, key=lambda each: each.seconds)
                part = replace(most, seconds=known.seconds + part.seconds, calls=known.calls + part.calls)
            found[key] = part
    named = (part for part in found.values() if part.kind != LaneKind.OS or not is_waiting(part.name))
    chosen = [part for part in named if whole and part.seconds >= least * whole]
    return sorted(chosen, key=lambda part: (-part.seconds, part.name))


def _length(stretches: Sequence[Stretch]) -> float:
    return sum(seconds(spans) for _, spans in stretches)


def _waits_in(stretches: Sequence[Stretch]) -> HostPart | None:
    """The call of the operating system in which the threads that drive devices wait for most of the time."""
    whole = _length(stretches)
    found: dict[str, HostPart] = {}
    for timeline, spans in stretches:
        mine = [lane for lane in timeline.timeline.of(LaneKind.OS) if lane.location in timeline.driving]
        own = replace(timeline, timeline=replace(timeline.timeline, intervals=tuple(mine)))
        for part in own.host_in(spans, LaneKind.OS, most=_LOOKED_AT):
            known = found.get(part.name)
            found[part.name] = part if known is None else replace(known, seconds=known.seconds + part.seconds)
    most = max(found.values(), key=lambda part: part.seconds, default=None)
    return most if most is not None and most.seconds >= common()["most"].value * whole else None


def _further(parts: list[HostPart], whole: float) -> list[HostPart]:
    """What else fills a part of the gaps that is worth naming: calls beside a call, ranges beside a range, as calls lie in ranges."""
    alike = [part for part in parts[1:] if (part.kind == LaneKind.RANGE) == (parts[0].kind == LaneKind.RANGE)]
    return [part for part in alike[:2] if part.seconds >= common()["worth_a_line"].value * whole]


def doing_in(facts: Facts, stretches: Sequence[Stretch]) -> Doing:
    """What the host did while devices were idle: calls and ranges, else calls of the operating system, else its samples."""
    gaps, every = "these gaps", stretches
    stretches = [(timeline, longest(spans)) for timeline, spans in every]
    number = sum(len(spans[0]) for _, spans in stretches)
    if number < sum(len(spans[0]) for _, spans in every):
        gaps = f"the {numbers.count(number)} longest of these gaps"
    whole, timeline = _length(stretches), facts.traced
    parts = parts_in(stretches) or parts_in(stretches, LaneKind.OS)
    if not parts:
        waits = _waits_in(stretches)
        if waits is None:
            return _sampled(facts)
        parts = [waits]
    # A call that fills most of the gaps says more than the range around it.
    half = common()["most"].value
    calls = [part for part in parts if part.kind != LaneKind.RANGE and part.seconds >= half * whole]
    parts = calls[:1] + [part for part in parts if part not in calls[:1]]
    first = parts[0]
    where = site(timeline, first.node)
    evidence = lasting(
        timeline,
        first.seconds,
        first.short,
        "union of the innermost ranges and calls inside the gaps, by name",
        "host.time",
        of=Quantity(whole, "s", gaps),
        form=Form.NAME,
        parts=tuple(Part(f"besides {part.short}", part.seconds, "s") for part in _further(parts, whole)),
        where=where,
    )
    waited = sum(seconds(intervals.intersect(side.waiting, spans)) for side, spans in stretches)
    against: tuple[str, ...] = ()
    if waited >= half * whole:
        against = (
            f"In {numbers.percent(min(waited / whole, 1.0))} of the gaps the host waits for the device although nothing runs there: "
            "operations may be missing from the trace.",
        )
    itself = first.kind == LaneKind.OS and is_waiting(first.name)
    return Doing(where, first.short, evidence, against, waiting=bool(against) and not itself, idle=itself)


def _sampled(facts: Facts) -> Doing:
    """Where the samples of the host are, which tell what it does but not when."""
    untraced = "What the host does meanwhile was not traced."
    hot = facts.hot_place(facts.time) if facts.has_host_time else None
    if hot is None:
        return Doing(Place(), None, None, (untraced,))
    name = str(hot.place.function)
    part = hot.weight / facts.total
    evidence = share_fact(
        facts,
        part,
        name,
        f"{facts.whole} of the host, over the whole recording",
        "time in and called by the function",
        where=hot.place,
        form=Form.NAME,
    )
    return Doing(
        hot.place, name, evidence, ("Samples show what the host does, but not whether it does so in the gaps.",)
    )
