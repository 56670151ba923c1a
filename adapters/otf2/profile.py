"""An OTF2 trace as a Profile: regions nested by their enter and leave events, and what happened when."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chathpc.adapters import native
from chathpc.adapters.content import DAMAGED
from chathpc.adapters.cube import FLUSHED, FOR_FUNCTIONS, FOR_WAITING
from chathpc.adapters.otf2 import ANCHOR, needs
from chathpc.adapters.otf2.child import COLUMNS
from chathpc.errors import AdapterError
from chathpc.profile import numbers
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
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
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import RANKS, Profile, Source, no_timeline
from chathpc.profile.text import clean
from chathpc.profile.timeline import Lane, Timeline
from chathpc.profile.tree import IntArray, NodeKind

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


#: What the child handed over, by name; see `COLUMNS` there.
Columns = Mapping[str, Indices]


def columns_of(answers: Iterable[Mapping[str, Any]]) -> Columns:
    """The columns in the lines that follow the sums; ones without values are empty."""
    parts = {name: [np.zeros(0, dtype=kind)] for name, kind in COLUMNS.items()}
    for answer in answers:
        name = answer["column"]
        parts[name].append(np.frombuffer(base64.b64decode(answer["data"]), dtype=COLUMNS[name]))
    return {name: np.concatenate(values) for name, values in parts.items()}


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


def gaps_of(timeline: Timeline | None) -> Iterator[str]:
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


#: Processor seconds that a trace may take to read: a constant, and some for each megabyte of events (three million a minute).
_SECONDS, _SECONDS_PER_MEGABYTE = 60, 10
#: Bytes of address space (the reader keeps the definitions and one buffer for each location), and of the answer.
_MEMORY, _ANSWER = 8 << 30, 1 << 30

_TIME = Metric("cpu.time", Unit.SECONDS, "time of threads in regions", "Enter/Leave", "ticks", clock=Clock.WALL)
_DEVICE = Metric(
    "gpu.time", Unit.SECONDS, "time of regions on accelerator streams", "Enter/Leave (accelerator)", "ticks"
)
_CALLS = Metric("calls.count", Unit.COUNT, "visits of regions", "Enter")
_SENT = Metric("mpi.sent.bytes", Unit.BYTES, "bytes sent in messages and collectives", "bytes sent")
_RECEIVED = Metric("mpi.received.bytes", Unit.BYTES, "bytes received in messages and collectives", "bytes received")
_MESSAGES = Metric(
    "mpi.message.count", Unit.COUNT, "messages sent and collectives", "MpiSend, MpiIsend, MpiCollectiveEnd"
)


def read(path: Path) -> Profile:
    """Read the trace whose anchor file is `path`, or lies in folder `path`.

    AdapterError for damage and where the package otf2 is absent.
    """
    anchor = path / ANCHOR if path.is_dir() else path
    if needs():
        raise AdapterError("needs the package otf2", path=path, hint=f"{needs()}, and read it again.")
    answer, columns = _answer(anchor)
    where, device = _locations(answer["locations"])
    builder = TreeBuilder()
    nodes: list[int] = []
    for parent, name, file, line, paradigm in answer["nodes"]:
        nodes.append(_node(builder, nodes[parent] if parent >= 0 else -1, clean(name), clean(file), line, paradigm))
    ticks = 1.0 / max(int(answer["resolution"]), 1)
    used: set[str] = set()
    for node, location, duration, visits in answer["cells"]:
        metric = _DEVICE if device[location] else _TIME
        used |= {metric.id, _CALLS.id}
        builder.add(metric.id, nodes[node], duration * ticks, location)
        builder.add(_CALLS.id, nodes[node], visits, location)
    for node, location, sent, received, count in answer["messages"]:
        for metric, value in ((_SENT, sent), (_RECEIVED, received), (_MESSAGES, count)):
            used.add(metric.id)
            builder.add(metric.id, nodes[node], value, location)
    metrics = {m.id: m for m in (_TIME, _DEVICE, _CALLS, _SENT, _RECEIVED, _MESSAGES) if m.id in used}
    tree, values, new = builder.finish(metrics.values(), len(where))
    places = np.append(new[np.array(nodes, dtype=np.int64)], np.int32(-1)) if nodes else np.array([-1], dtype=np.int32)
    timeline = traced(answer, columns, places, device)
    ranks = len({rank for rank in where.rank.tolist() if rank >= 0})
    return Profile(
        format="OTF2",
        title=(anchor.parent if anchor.name == ANCHOR else anchor).resolve().name,
        tree=tree,
        metrics=metrics,
        values=values,
        where=where,
        sources=(Source(path, "OTF2"),),
        caveats=(*_caveats(answer), *gaps_of(timeline)),
        not_collected=_not_collected(
            answer, ranks, has_partners=timeline is not None and timeline.communication is not None
        ),
        run={RANKS: str(ranks)} if ranks > 1 else {},
        timed=True,
        read_timeline=no_timeline if timeline is None else lambda: timeline,
        insufficient="" if metrics else "The trace has no events of regions, so what costs time is unknown.",
    )


def _answer(anchor: Path) -> tuple[Mapping[str, Any], Columns]:
    """What the child process says about the trace: its sums, and the columns of its timeline."""
    try:
        beside = sum(one.stat().st_size for one in anchor.parent.rglob("*.evt"))
    except OSError as error:
        raise AdapterError(error.strerror or "cannot be read", path=anchor, hint="Check its permissions.") from None
    limits = native.Limits(_MEMORY, _ANSWER, _SECONDS + _SECONDS_PER_MEGABYTE * (beside >> 20))
    request = {"path": str(anchor.resolve())}
    with native.run(Path(__file__).with_name("child.py"), request, limits, anchor) as child:
        answers = child.answers()
        answer = next(answers, None)
        ended = child.ended
        columns = columns_of(answers)
    if answer is None:
        raise AdapterError(f"the OTF2 library {ended} on the trace: it is damaged", path=anchor, hint=DAMAGED)
    if "error" in answer:
        raise AdapterError(
            f"the OTF2 library cannot read the trace: {clean(answer['error'])}", path=anchor, hint=DAMAGED
        )
    return answer, columns


def _locations(given: Sequence[Sequence[Any]]) -> tuple[Locations, list[bool]]:
    """Ranks by their group; threads numbered within it."""
    groups: dict[Any, int] = {}
    ranks, threads, device = [], [], []
    for rank, group, kind in given:
        threads.append(groups.get(group, 0))
        groups[group] = threads[-1] + 1
        ranks.append(rank if rank >= 0 or len({g for _, g, _ in given}) == 1 else len(groups) - 1)
        device.append("ACCELERATOR" in kind or "GPU" in kind)
    count = len(given)
    gpu = np.array(device, dtype=bool)
    thread = np.array(threads, dtype=np.int64)
    if not thread[~gpu].any():
        thread = np.where(gpu, thread, -1)
    where = Locations.of(
        max(count, 1),
        **{
            name: column if count else np.array([-1], dtype=np.int64)
            for name, column in (
                ("rank", np.array(ranks, dtype=np.int64)),
                ("thread", np.where(gpu, -1, thread)),
                ("stream", np.where(gpu, thread, -1)),
            )
        },
    )
    return where, device


def _node(builder: TreeBuilder, parent: int, name: str, file: str, line: int, paradigm: str) -> int:
    own = paradigm.upper() in ("USER", "COMPILER", "UNKNOWN", "SAMPLING", "OPENMP", "OPENACC", "")
    source = file if own and re.search(r"[./]", file) else None
    kind = NodeKind.REGION if paradigm.upper() in ("USER", "OPENMP", "OPENACC") else NodeKind.FUNCTION
    return builder.node(parent, kind, name or "[unnamed]", file=source, line=line if source and 0 < line < 2**31 else 0)


def _caveats(answer: Mapping[str, Any]) -> list[str]:
    caveats = []
    if answer["open"]:
        caveats.append(f"{answer['open']} regions do not end in the trace; their time after its last event is unknown.")
    if answer["lost"]:
        caveats.append(f"{answer['lost']} regions end in the trace without a beginning.")
    if any(name == "TRACE BUFFER FLUSH" for _, name, *_ in answer["nodes"]):
        caveats.append(FLUSHED)
    return caveats


def _not_collected(answer: Mapping[str, Any], ranks: int, *, has_partners: bool) -> dict[str, str]:
    missing = {}
    if ranks > 1 and not has_partners:
        missing["waiting times and their causes"] = FOR_WAITING
    if not [name for _, name, _, _, paradigm in answer["nodes"] if paradigm.upper() in ("USER", "COMPILER")]:
        missing["functions of the program"] = FOR_FUNCTIONS
    return missing
