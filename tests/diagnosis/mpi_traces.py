"""Profiles with a trace of MPI, built from events in the plainest way: the same events that tests.synthetic.otf2 writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.messages import Calls, Collectives, Communication, Meeting, Messages, ordered
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.timeline import Lane, Timeline
from chathpc.profile.tree import NodeKind

Events = Mapping[int, Sequence[tuple[int, str, Any]]]
#: Nanoseconds of a tick.
TICK = 1000
_MEETING = {
    "ALLREDUCE": Meeting.ALL, "BARRIER": Meeting.ALL, "ALLTOALL": Meeting.ALL, "BCAST": Meeting.FROM_ROOT,
    "SCATTER": Meeting.FROM_ROOT, "REDUCE": Meeting.TO_ROOT, "GATHER": Meeting.TO_ROOT,
}  # fmt: skip


def profile_of(events: Events, *, is_whole: bool = True) -> Profile:
    """The profile of ranks 0, 1, 2, … with these events."""
    builder = TreeBuilder()
    nodes: dict[tuple[int, str], int] = {}
    metric = Metric("cpu.time", Unit.SECONDS, "time", "time", clock=Clock.WALL)
    lanes: list[tuple[int, list[int], list[int]]] = []
    calls: list[tuple[int, int, int, int]] = []
    sends: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
    posts: dict[tuple[int, int], list[list[int]]] = defaultdict(list)
    collectives: list[tuple[int, int, bool, str]] = []
    for rank, own in events.items():
        stack: list[int] = []
        names: list[str] = []
        lane: tuple[list[int], list[int]] = ([], [])
        requests: dict[int, list[int]] = {}
        last, seen = 0, 0
        for at, what, given in own:
            if what in ("enter", "leave"):
                if stack:
                    builder.add("cpu.time", stack[-1], (at - last) * TICK * 1e-9, rank)
                last = at
                if what == "enter":
                    key = stack[-1] if stack else -1, given
                    if key not in nodes:
                        file = None if given.startswith("MPI_") else "src/heat.c"
                        nodes[key] = builder.node(key[0], NodeKind.FUNCTION, given, file=file, line=7 if file else 0)
                    stack.append(nodes[key])
                    names.append(given)
                    if given.startswith("MPI_"):
                        calls.append((rank, at * TICK, -1, nodes[key]))
                else:
                    stack.pop()
                    if names.pop().startswith("MPI_"):
                        calls[-1] = (*calls[-1][:2], at * TICK, calls[-1][3])
                lane[0].append(at * TICK)
                lane[1].append(stack[-1] if stack else -1)
                continue
            here = len(calls) - 1
            if what in ("send", "isend"):
                entry = [here, here if what == "send" else -1, given[1]]
                sends[rank, given[0]].append(entry)
                if what == "isend":
                    requests[given[3]] = entry
            elif what == "isent":
                requests.pop(given)[1] = here
            elif what == "posted":
                requests[given] = [here, -1]
            elif what == "irecv":
                entry = requests.pop(given[3])
                entry[1] = here
                posts[given[0], rank].append(entry)
            elif what == "recv":
                posts[given[0], rank].append([here, here])
            else:
                collectives.append((here, seen, given[1] == rank, given[0]))
                seen += 1
        lanes.append((rank, *lane))
    where = Locations.of(len(events), rank=np.array(list(events), dtype=np.int64))
    tree, values, place = builder.finish([metric], len(events))
    told = _communication(lanes, calls, sends, posts, collectives, place)
    timeline = Timeline(
        min(starts[0] for _, starts, _ in lanes),
        max(starts[-1] for _, starts, _ in lanes),
        tuple(
            Lane(rank, np.array(starts, dtype=np.uint64), np.append(place, np.int32(-1))[np.array(at)])
            for rank, starts, at in lanes
        ),
        communication=told,
        is_whole=is_whole,
    )
    return Profile(
        format="OTF2", title="run", tree=tree, metrics={"cpu.time": metric}, values=values, where=where,
        sources=(Source(Path("run"), "OTF2"),), timed=True, read_timeline=lambda: timeline,
    )  # fmt: skip


def _communication(
    lanes: Sequence[tuple[int, list[int], list[int]]],
    calls: Sequence[tuple[int, int, int, int]],
    sends: Mapping[tuple[int, int], Sequence[Sequence[int]]],
    posts: Mapping[tuple[int, int], Sequence[Sequence[int]]],
    parts: Sequence[tuple[int, int, bool, str]],
    place: Any,
) -> Communication:
    table = np.array(calls, dtype=np.int64).reshape(-1, 4)
    pairs = [
        (*send[:2], *post, send[2])
        for way, sent in sends.items()
        for send, post in zip(sent, sorted(posts[way]), strict=True)
    ]
    message = np.array(pairs, dtype=np.int64).reshape(-1, 5).T
    count = max((part[1] for part in parts), default=-1) + 1
    meeting = np.zeros(count, dtype=np.uint8)
    for _, number, _, name in parts:
        meeting[number] = _MEETING[name]
    used = sorted({row for row, *_ in calls})
    spans = {row: (starts[0], starts[-1]) for row, starts, _ in lanes}
    call = np.array([part[0] for part in parts], dtype=np.int64)
    return ordered(
        (
            np.array(used, dtype=np.int32),
            np.array([spans[row][0] for row in used], dtype=np.int64),
            np.array([spans[row][1] for row in used], dtype=np.int64),
        ),
        Calls(table[:, 0].astype(np.int32), table[:, 1], table[:, 2], np.asarray(place[table[:, 3]], dtype=np.int32)),
        Messages(*message[:4], message[4], np.zeros(len(pairs), dtype=np.int64)),
        Collectives(
            np.array([part[1] for part in parts], dtype=np.int64),
            call,
            call,
            np.array([part[2] for part in parts], dtype=bool),
            meeting,
        ),
    )


def communication_of(events: Events) -> Communication:
    """Only who sent what to whom."""
    timeline = profile_of(events).timeline
    assert timeline is not None
    assert timeline.communication is not None
    return timeline.communication
