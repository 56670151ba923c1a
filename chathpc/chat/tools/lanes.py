"""What was busy when: the lanes of a recorded timeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from chathpc.chat.index import short_name
from chathpc.chat.session import Session
from chathpc.chat.tools.record import MOST_ROWS, SHARE, Arguments, Column, FactList, Result, facts_of_trace
from chathpc.diagnosis import gpu_tools
from chathpc.diagnosis.command import filled
from chathpc.diagnosis.fact import Form, Kind, Part, Quantity
from chathpc.diagnosis.timeline_words import counted
from chathpc.errors import UsageError
from chathpc.profile import intervals, numbers
from chathpc.profile.timeline import COPY_LANES, DEVICE_LANES, LaneKind, Timeline
from chathpc.prompts.untrusted import quote

#: GPUs that are told of in sentences; the table has all.
_DEVICES = 4
#: Units of times in a recording, in nanoseconds: the smallest of which there are fewer than are written in full.
_CLOCKS, _EXACT = ((1e3, "µs"), (1e6, "ms"), (1e9, "s")), 1e6

#: What can hide behind what: its name, its lanes, and the other's.
_PAIRS = (
    ("copies", COPY_LANES, (LaneKind.COMPUTE, LaneKind.COLLECTIVE), "kernels"),
    ("communication", (LaneKind.COLLECTIVE,), (LaneKind.COMPUTE,), "computing kernels"),
)

#: A lane, its time, that as a part of the recording, and how many events.
_Row = tuple[str, float, float, int]


class TimelineArguments(Arguments):
    """What of the recording."""

    about: SkipJsonSchema[Literal["all", "use", "overlap"]] = Field(
        default="all", description="use: how long GPUs are busy and idle; overlap: of copies and kernels."
    )


def timeline(session: Session, asked: TimelineArguments) -> Result:
    """How long devices and kinds of calls were busy during the recording, and how long each GPU was idle."""
    recorded = session.measured.timeline
    if recorded is None or recorded.end <= recorded.begin or not (recorded.intervals or recorded.lanes):
        profile = session.measured
        how = gpu_tools.timeline(profile) if gpu_tools.vendor_of(profile) else "hpcrun -e REALTIME -t ./app"
        raise UsageError("No timeline was recorded.", hint=f"Record a trace: {filled(profile, how)}")
    facts = facts_of_trace(recorded)
    facts.value("the length of the recording", recorded.seconds, form=Form.ONE)
    rows: list[_Row] = []
    use: dict[int, str] = {}
    for device in recorded.devices:
        busy = intervals.length(recorded.busy(*DEVICE_LANES, device=device)) * 1e-9
        parts = []
        for what, value in (("busy", busy), ("idle", recorded.seconds - busy)):
            share = value / recorded.seconds
            facts.amount(f"{what} time of GPU {device}", value, form=Form.ONE)
            rows.append((f"GPU {device} {what}", value, share, 0))
            parts.append(f"{what} for {numbers.seconds(value)} ({numbers.percent(share)})")
        use[device] = f"GPU {device} is {' and '.join(parts)}."
    lanes = {(lane.kind, lane.device) for lane in recorded.intervals}
    for kind, device in sorted(lanes, key=lambda lane: (lane[1], lane[0].value)):
        rows.append(_lane(recorded, kind, device, facts))
    rows += _sampled(session, recorded, facts)
    columns = (Column("lane"), Column("time", "s"), Column("share", SHARE), Column("events", "count"))
    gpus = len(recorded.devices)
    with_gpus = f", with {counted(gpus, 'GPU')}" if gpus else ""
    text = [f"The recording is {numbers.seconds(recorded.seconds)} long{with_gpus}."]
    for device in recorded.devices[:_DEVICES]:
        text += [use[device]] if asked.about == "use" else []
        text += _longest_idle(session, recorded, device, facts) if asked.about != "overlap" else []
        text += _overlap(recorded, device, facts) if asked.about != "use" else []
    text += ["It has neither copies nor communication."] if asked.about == "overlap" and len(text) == 1 and gpus else []
    return Result(
        " ".join(text),
        columns,
        tuple(rows[:MOST_ROWS]),
        facts.all(),
        omitted=max(0, len(rows) - MOST_ROWS),
    )


def _longest_idle(session: Session, recorded: Timeline, device: int, facts: FactList) -> Iterator[str]:
    """When a GPU did nothing for longest, between which operations, and what the host did meanwhile."""
    start, end = recorded.idle(device)
    if not len(start):
        return
    at = int((end - start).argmax())
    stretch = (start[at : at + 1], end[at : at + 1])
    length = int(end[at] - start[at]) * 1e-9
    facts.value(f"the longest idle time of GPU {device}", length, form=Form.ONE)
    size, unit = next((each for each in _CLOCKS if end[at] - recorded.begin < _EXACT * each[0]), _CLOCKS[-1])
    since, until = (round(int(time - recorded.begin) / size) for time in (start[at], end[at]))
    for what, value in (("begin", since), ("end", until)):
        facts.value(f"the {what} of the longest idle time of GPU {device}", value, unit, form=Form.ONE)
    tree, lanes = session.measured.tree, recorded.of(*DEVICE_LANES, device=device)
    ended = [node for lane in lanes for node in lane.node[lane.end == start[at]].tolist()]
    begun = [node for lane in lanes for node in lane.node[lane.start == end[at]].tolist()]
    where = [f"after {quote(short_name(tree.label(node)))}" for node in ended[:1]]
    where += [f"before {quote(short_name(tree.label(node)))}" for node in begun[:1]]
    place = f", {' and '.join(where)}" if where else ""
    when = f"from {numbers.count(since)} {unit} to {numbers.count(until)} {unit} of the recording"
    yield f"GPU {device} is idle longest for {numbers.seconds(length)}, {when}{place}."
    timeline = session.facts.timeline
    host = [] if timeline is None else timeline.host_in(stretch, most=1)
    for part in host:
        facts.value(f"{part.short} in the longest idle time of GPU {device}", part.seconds)
        yield f"The host spends {numbers.seconds(part.seconds)} of that in {quote(part.short)}."


def _overlap(recorded: Timeline, device: int, facts: FactList) -> Iterator[str]:
    """How much of the time of copies kernels run beside, and of that of communication kernels that compute."""
    for name, of, others, beside in _PAIRS:
        mine, theirs = (recorded.busy(*kinds, device=device) for kinds in (of, others))
        spent, both = (intervals.length(each) * 1e-9 for each in (mine, intervals.intersect(mine, theirs)))
        if spent <= 0:
            continue
        one = f"{name} of GPU {device}"
        whole = Quantity(spent, "s", f"the time of {one}")
        facts.add(Kind.AMOUNT, f"{one} beside {beside}", both, "s", form=Form.MANY, whole=whole)
        of_which = one if len(recorded.devices) > 1 else name
        yield f"Of the {numbers.seconds(spent)} of {of_which} {beside} run beside {numbers.seconds(both)} ({numbers.percent(both / spent)})."
        yield f"Exposed are {numbers.seconds(spent - both)}."


def _lane(recorded: Timeline, kind: LaneKind, device: int, facts: FactList) -> _Row:
    busy = intervals.length(recorded.busy(kind, device=device)) * 1e-9
    events = sum(map(len, recorded.of(kind, device=device)))
    name = f"{kind.value}, GPU {device}" if device >= 0 else kind.value
    facts.amount(name, busy, parts=(Part("", events, "events"),))
    return name, busy, busy / recorded.seconds, events


def _sampled(session: Session, recorded: Timeline, facts: FactList) -> list[_Row]:
    """Lanes of a sampled trace: how long each location was in some context and not idle."""
    rows = []
    for lane in recorded.lanes[:MOST_ROWS]:
        start = lane.start.astype(np.int64)
        span = np.diff(np.append(start, recorded.end))
        busy = float(span[lane.node >= 0].clip(min=0).sum()) * 1e-9
        name = session.measured.where.label(lane.location)
        facts.amount(f"active time of {name}", busy, form=Form.ONE)
        rows.append((name, busy, busy / recorded.seconds, int((lane.node >= 0).sum())))
    return rows
