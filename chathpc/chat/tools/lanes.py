"""What was busy when: the lanes of a recorded timeline."""

from __future__ import annotations

from collections import Counter

import numpy as np

from chathpc.chat.session import Session
from chathpc.chat.tools.record import MOST_ROWS, SHARE, Column, FactList, NoArguments, Result
from chathpc.diagnosis.fact import Form, Kind, Part, Quantity
from chathpc.errors import UsageError
from chathpc.profile import intervals, numbers
from chathpc.profile.timeline import DEVICE_LANES, LaneKind, Timeline
from chathpc.prompts.untrusted import quote


def timeline(session: Session, asked: NoArguments) -> Result:
    """How long devices and kinds of calls were busy during the recording, and how long each GPU was idle."""
    recorded = session.measured.timeline
    if recorded is None or recorded.end <= recorded.begin or not (recorded.intervals or recorded.lanes):
        raise UsageError("No timeline was recorded.", hint="Record a trace: nsys profile, or hpcrun -t.")
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
    return Result(
        f"The recording is {whole} long{with_gpus}.",
        columns,
        tuple(rows[:MOST_ROWS]),
        facts.all(),
        omitted=max(0, len(rows) - MOST_ROWS),
    )


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
