"""What was busy when: the lanes of a recorded timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from chathpc.chat.index import short_name
from chathpc.chat.session import Session
from chathpc.chat.tools.record import MOST_ROWS, SHARE, Column, FactList, NoArguments, Result
from chathpc.diagnosis import gpu_tools
from chathpc.diagnosis.command import filled
from chathpc.diagnosis.fact import Form, Kind, Part, Quantity
from chathpc.errors import UsageError
from chathpc.profile import intervals, numbers
from chathpc.profile.timeline import COPY_LANES, DEVICE_LANES, LaneKind, Timeline
from chathpc.prompts.untrusted import quote

#: GPUs that are told of in sentences; the table has all.
_DEVICES = 4
#: Units of times in a recording, in nanoseconds: the smallest of which there are fewer than are written in full.
_CLOCKS, _EXACT = ((1e3, "µs"), (1e6, "ms"), (1e9, "s")), 1e6


def timeline(session: Session, asked: NoArguments) -> Result:
    """How long devices and kinds of calls were busy during the recording, and how long each GPU was idle."""
    recorded = session.measured.timeline
    if recorded is None or recorded.end <= recorded.begin or not (recorded.intervals or recorded.lanes):
        profile = session.measured
        how = gpu_tools.timeline(profile) if gpu_tools.vendor_of(profile) else "hpcrun -e REALTIME -t ./app"
        raise UsageError("No timeline was recorded.", hint=f"Record a trace: {filled(profile, how)}")
    facts = FactList(quote("trace: union of intervals, so that what overlaps is counted once"))
    whole = numbers.seconds(recorded.seconds)
    facts.add(Kind.VALUE, "the length of the recording", recorded.seconds, "s", form=Form.ONE)
    recording = Quantity(recorded.seconds, "s", "the recording")
    rows: list[tuple[str, float, float, int]] = []
    for device in recorded.devices:
        busy = intervals.length(recorded.busy(*DEVICE_LANES, device=device)) * 1e-9
        for what, value in (("busy", busy), ("idle", recorded.seconds - busy)):
            share = value / recorded.seconds
            facts.add(Kind.AMOUNT, f"{what} time of GPU {device}", value, "s", form=Form.ONE, whole=recording)
            rows.append((f"GPU {device} {what}", value, share, 0))
    counts = Counter((lane.kind, lane.device) for lane in recorded.intervals for _ in range(1))
    for kind, device in sorted(counts, key=lambda key: (key[1], key[0].value)):
        rows.append(_lane(recorded, kind, device, facts))
    rows += _sampled(session, recorded, facts)
    columns = (Column("lane"), Column("time", "s"), Column("share", SHARE), Column("events", "count"))
    gpus = len(recorded.devices)
    with_gpus = f", with {gpus} GPU{'s' if gpus != 1 else ''}" if gpus else ""
    text = [f"The recording is {whole} long{with_gpus}."]
    for device in recorded.devices[:_DEVICES]:
        text += [*_longest_idle(session, recorded, device, facts), *_overlap(recorded, device, facts)]
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
    facts.add(Kind.VALUE, f"the longest idle time of GPU {device}", length, "s", form=Form.ONE)
    size, unit = next((each for each in _CLOCKS if end[at] - recorded.begin < _EXACT * each[0]), _CLOCKS[-1])
    since, until = (round(int(time - recorded.begin) / size) for time in (start[at], end[at]))
    for what, value in (("begin", since), ("end", until)):
        facts.add(Kind.VALUE, f"the {what} of the longest idle time of GPU {device}", value, unit, form=Form.ONE)
    tree, lanes = session.measured.tree, recorded.of(*DEVICE_LANES, device=device)
    before = [
        (int(lane.end[one]), int(lane.node[one])) for lane in lanes for one in np.flatnonzero(lane.end == start[at])[:1]
    ]
    after = [
        (int(lane.start[one]), int(lane.node[one]))
        for lane in lanes
        for one in np.flatnonzero(lane.start == end[at])[:1]
    ]
    where = [f"after {quote(short_name(tree.label(node)))}" for _, node in before[:1]]
    where += [f"before {quote(short_name(tree.label(node)))}" for _, node in after[:1]]
    place = f", {' and '.join(where)}" if where else ""
    when = f"from {numbers.count(since)} {unit} to {numbers.count(until)} {unit} of the recording"
    yield f"GPU {device} is idle longest for {numbers.seconds(length)}, {when}{place}."
    timeline = session.facts.timeline
    host = [] if timeline is None else timeline.host_in(stretch, most=1)
    for part in host:
        facts.add(Kind.VALUE, f"{part.short} in the longest idle time of GPU {device}", part.seconds, "s")
        yield f"The host spends {numbers.seconds(part.seconds)} of that in {quote(part.short)}."


def _overlap(recorded: Timeline, device: int, facts: FactList) -> Iterator[str]:
    """How much of the time of copies kernels run beside."""
    copies, kernels = (
        recorded.busy(*kinds, device=device) for kinds in (COPY_LANES, (LaneKind.COMPUTE, LaneKind.COLLECTIVE))
    )
    spent, beside = (intervals.length(each) * 1e-9 for each in (copies, intervals.intersect(copies, kernels)))
    if spent <= 0:
        return
    whole = Quantity(spent, "s", f"the time of copies of GPU {device}")
    facts.add(Kind.AMOUNT, f"copies of GPU {device} beside kernels", beside, "s", form=Form.MANY, whole=whole)
    yield f"Of the {numbers.seconds(spent)} of copies kernels run beside {numbers.seconds(beside)} ({numbers.percent(beside / spent)})."


def _lane(recorded: Timeline, kind: LaneKind, device: int, facts: FactList) -> tuple[str, float, float, int]:
    lanes = [lane for lane in recorded.of(kind) if lane.device == device]
    busy = intervals.length(recorded.joined(lanes)) * 1e-9
    events = sum(map(len, lanes))
    name = f"{kind.value}, GPU {device}" if device >= 0 else kind.value
    share = busy / recorded.seconds
    whole = Quantity(recorded.seconds, "s", "the recording")
    facts.add(Kind.AMOUNT, name, busy, "s", whole=whole, parts=(Part("", events, "events"),))
    return name, busy, share, events


def _sampled(session: Session, recorded: Timeline, facts: FactList) -> list[tuple[str, float, float, int]]:
    """Lanes of a sampled trace: how long each location was in some context and not idle."""
    rows = []
    for lane in recorded.lanes[:MOST_ROWS]:
        start = lane.start.astype(np.int64)
        span = np.diff(np.append(start, recorded.end))
        busy = float(span[lane.node >= 0].clip(min=0).sum()) * 1e-9
        name = session.measured.where.label(lane.location)
        share = busy / recorded.seconds
        whole = Quantity(recorded.seconds, "s", "the recording")
        facts.add(Kind.AMOUNT, f"active time of {name}", busy, "s", form=Form.ONE, whole=whole)
        rows.append((name, busy, share, len(start)))
    return rows
