"""What happened when in an OTF2 trace: the region that each thread is in, its calls of MPI, messages and collectives."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chathpc.adapters.otf2.child import COLUMNS
from chathpc.profile import numbers
from chathpc.profile.messages import (
    Calls,
    Collectives,
    Communication,
    Indices,
    Meeting,
    Messages,
    match,
    ordered,
)
from chathpc.profile.timeline import Lane, Timeline
from chathpc.profile.tree import IntArray

#: Largest time in nanoseconds; what is larger is damage.
_LONGEST = 2.0**62
_ALL = (
    "BARRIER", "ALLGATHER", "ALLGATHERV", "ALLTOALL", "ALLTOALLV", "ALLTOALLW", "ALLREDUCE", "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK", "CREATE_HANDLE", "CREATE_HANDLE_AND_ALLOCATE",
)  # fmt: skip
_MEETING = {
    **dict.fromkeys(_ALL, Meeting.ALL),
    **dict.fromkeys(("BCAST", "SCATTER", "SCATTERV"), Meeting.FROM_ROOT),
    **dict.fromkeys(("REDUCE", "GATHER", "GATHERV"), Meeting.TO_ROOT),
}


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that the child handed over, by name; see `COLUMNS` there."""

    by_name: Mapping[str, Indices]

    @classmethod
    def of(cls, answers: Iterable[Mapping[str, Any]]) -> Columns:
        """The columns in the lines that follow the sums; ones without values are empty."""
        parts: dict[str, list[Indices]] = {name: [] for name in COLUMNS}
        for answer in answers:
            name = answer["column"]
            parts[name].append(np.frombuffer(base64.b64decode(answer["data"]), dtype=COLUMNS[name]))
        return cls({
            name: np.concatenate(values) if values else np.zeros(0, dtype=COLUMNS[name])
            for name, values in parts.items()
        })  # fmt: skip

    def __getitem__(self, name: str) -> Indices:
        return self.by_name[name]


def traced(answer: Mapping[str, Any], columns: Columns, node: IntArray, device: Sequence[bool]) -> Timeline | None:
    """The timeline of the locations that are no device's; None without any event. `node` are the tree's nodes by the child's
    number, −1 for its last entry.
    """
    to_nanoseconds = 1e9 / max(int(answer["resolution"]), 1)

    def times(name: str) -> Indices:
        return np.asarray(np.minimum(np.rint(columns[name] * to_nanoseconds), _LONGEST).astype(np.int64))

    at, start = columns["entry.location"], times("entry.time")
    lanes = tuple(_lanes(at, start, node[columns["entry.node"]], device))
    if not lanes:
        return None
    end = max(int(lane.start[-1]) for lane in lanes)
    calls = Calls(
        columns["call.location"].astype(np.int32),
        times("call.start"),
        times("call.end"),
        node[columns["call.node"]].astype(np.int32),
    )
    return Timeline(
        min(int(lane.start[0]) for lane in lanes),
        end,
        lanes,
        communication=_communication(answer, columns, calls, lanes),
        is_whole=bool(answer["is_whole"]),
    )


def _lanes(at: Indices, start: Indices, node: IntArray, device: Sequence[bool]) -> Iterator[Lane]:
    order = np.argsort(at, kind="stable")
    edges = np.searchsorted(at[order], np.arange(len(device) + 1))
    for location in range(len(device)):
        mine = order[edges[location] : edges[location + 1]]
        if len(mine) and not device[location]:
            yield Lane(location, np.maximum.accumulate(start[mine]).astype(np.uint64), node[mine].astype(np.int32))


def _communication(
    answer: Mapping[str, Any], columns: Columns, calls: Calls, lanes: Sequence[Lane]
) -> Communication | None:
    if not len(calls):
        return None
    spans = {lane.location: (int(lane.start[0]), int(lane.start[-1])) for lane in lanes}
    member = np.unique(calls.location).astype(np.int32)
    if not set(member.tolist()) <= set(spans):
        return None  # streams of devices do not call MPI
    begin, end = (np.array([spans[row][side] for row in member.tolist()], dtype=np.int64) for side in (0, 1))
    last = np.zeros(int(calls.location.max()) + 1, dtype=np.int64)
    last[member] = end
    stop = np.where(columns["call.end"] < 0, last[calls.location], calls.end)
    calls = Calls(calls.location, calls.start, np.maximum(stop, calls.start), calls.node)
    messages, unmatched = _messages(columns)
    skipped = int(answer["skipped"]) if answer["is_whole"] else 0
    return ordered(
        (member, begin, end),
        calls,
        messages,
        _collectives(answer, columns),
        (unmatched if answer["is_whole"] else 0) + skipped,
    )


def _messages(columns: Columns) -> tuple[Messages, int]:
    keys = ("from", "to", "comm", "tag")
    ours, theirs = match(
        [columns[f"send.{key}"] for key in keys],
        columns["send.order"],
        [columns[f"receive.{key}"] for key in keys],
        columns["receive.order"],
    )
    sent, done = columns["send.call"][ours], columns["send.done"][ours]
    found = Messages(
        sent,
        done,
        columns["receive.call"][theirs],
        columns["receive.done"][theirs],
        columns["receive.bytes"][theirs],
        columns["receive.tag"][theirs],
    )
    return found, len(columns["send.call"]) + len(columns["receive.call"]) - 2 * len(found)


def _collectives(answer: Mapping[str, Any], columns: Columns) -> Collectives:
    """Parts of one communicator belong together by their number in order, which is the same for all its members."""
    comm, location, order = (columns[f"part.{name}"] for name in ("comm", "location", "order"))
    rows = np.lexsort((order, location, comm))
    key = comm[rows] * (int(location.max(initial=0)) + 1) + location[rows]
    nth = np.empty(len(rows), dtype=np.int64)
    nth[rows] = np.arange(len(rows)) - np.searchsorted(key, key)
    instance = np.unique(comm * (len(rows) + 1) + nth, return_inverse=True)[1].astype(np.int64)
    kinds = np.array(
        [_MEETING.get(name, Meeting.NONE) for name in answer["operations"]] or [Meeting.NONE], dtype=np.uint8
    )
    meeting = np.full(int(instance.max(initial=-1)) + 1, Meeting.NONE, dtype=np.uint8)
    operation = columns["part.operation"]
    meeting[instance] = kinds[operation]
    # Members that disagree on what a collective does are none of one: the trace is damaged, or communicators share a number.
    first = np.full(len(meeting), -1, dtype=np.int64)
    first[instance] = operation
    meeting[instance[operation != first[instance]]] = Meeting.NONE
    process = np.array([*answer["processes"], -1], dtype=np.int64)
    is_root = (columns["part.root"] >= 0) & (process[location] == columns["part.root"])
    return Collectives(instance, columns["part.call"], columns["part.done"], is_root, meeting)


def gaps_of(answer: Mapping[str, Any], timeline: Timeline | None) -> Iterator[str]:
    """What the timeline lacks, as sentences."""
    if timeline is None:
        return
    if not timeline.is_whole:
        yield (
            f"The trace is large: only the first {numbers.seconds(timeline.seconds)} of its timeline are analysed; sums of times "
            "are for the whole run."
        )
    told = timeline.communication
    if told is not None and told.unmatched:
        yield (
            f"{numbers.count(told.unmatched)} sends and receives of the trace have no partner in it (one-sided, between groups of "
            "ranks, or lost), so who waits for whom is unknown there."
        )
