"""A recording as the parts of a Profile: tree, metrics, values, locations, timeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.traced.nesting import Nodes, nest
from chathpc.adapters.traced.operations import is_synchronisation
from chathpc.adapters.traced.recording import LANES, Facts, Frame, Recording, Role
from chathpc.profile.build import tree_of_columns
from chathpc.profile.gpu_counters import counter
from chathpc.profile.intervals import Times
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.remark import Device
from chathpc.profile.sparse import SparseValues
from chathpc.profile.timeline import COPY_LANES, IntervalLane, LaneKind, Timeline
from chathpc.profile.tree import CallTree, FloatArray, IntArray, NodeKind, Relation

Int64 = NDArray[np.int64]

_SECONDS = {
    "host.time": "wall time of host threads in the calls and ranges that were traced",
    "gpu.sync.time": "host time in calls that wait for the device, a part of host.time",
    "gpu.time": "time of all operations of the device",
    "gpu.kernel.time": "time of kernels",
    "gpu.collective.time": "time of kernels that communicate, a part of gpu.kernel.time",
    "gpu.copy.time": "time of copies",
    "gpu.copy.h2d.time": "time of copies from host to device",
    "gpu.copy.d2h.time": "time of copies from device to host",
    "gpu.copy.d2d.time": "time of copies within a device",
    "gpu.copy.p2p.time": "time of copies between devices",
    "gpu.copy.unified.time": "time in which pages of unified memory migrate",
    "gpu.memset.time": "time of memory sets",
}  # fmt: skip
_COUNTS = {
    "calls.count": "calls and ranges of host threads",
    "gpu.kernel.count": "launches of kernels",
    "gpu.copy.count": "copies",
}  # fmt: skip
_BYTES = {
    "gpu.copy.h2d.bytes": "bytes copied from host to device",
    "gpu.copy.d2h.bytes": "bytes copied from device to host",
    "gpu.copy.d2d.bytes": "bytes copied within a device",
    "gpu.copy.p2p.bytes": "bytes copied between devices",
    "gpu.copy.unified.bytes": "bytes of unified memory that migrated",
    "memory.allocated.bytes": "bytes of memory that were allocated",
    "gpu.copy.pageable.bytes": "bytes copied from or to host memory that was not pinned",
}  # fmt: skip
_FACTS = (
    "gpu.kernel.blocks", "gpu.kernel.threads-per-block", "gpu.kernel.registers", "gpu.kernel.shared-memory-per-block",
)  # fmt: skip
UNATTRIBUTED = "[unattributed]"


@dataclass(frozen=True, slots=True, eq=False)
class Assembled:
    """What a Profile is made of, and for each operation its node; `unattributed` counts those without a launch."""

    tree: CallTree
    metrics: dict[str, Metric]
    values: SparseValues
    where: Locations
    timeline: Timeline
    op_node: Int64
    unattributed: int
    cut: int
    crossing: int
    host_nanoseconds: int

    @property
    def has_device(self) -> bool:
        """True if something ran on a device."""
        return len(self.op_node) > 0

    def used(self, devices: Mapping[int, Device]) -> dict[int, Device]:
        """Those of the `devices` of a machine that did something."""
        return {ordinal: device for ordinal, device in devices.items() if ordinal in self.timeline.devices}


def metric_of(identifier: str, source_name: str) -> Metric:
    """The metric of one of the ids that traces give."""
    if identifier in _SECONDS:
        clock = Clock.WALL if identifier in ("host.time", "gpu.sync.time") else None
        return Metric(identifier, Unit.SECONDS, _SECONDS[identifier], source_name, "ns", 1e-9, clock=clock)
    if identifier in _COUNTS:
        return Metric(identifier, Unit.COUNT, _COUNTS[identifier], source_name)
    return Metric(identifier, Unit.BYTES, _BYTES[identifier], source_name)


def assemble(recording: Recording, ranks: Mapping[int, int] | None = None) -> Assembled:
    """Nest the slices, join operations to the calls that launched them and add everything up.

    Times begin at 0 with the first event. The recording of the timeline reaches from the first to the last operation of
    a device, or without any from the first to the last slice: what the host did before the device's first work and
    after its last is not counted as idleness of the device. `ranks` gives the rank of a process, where it is known.
    """
    columns = _Columns(recording)
    parents, frames, tops = _tops(recording)
    nodes = nest(columns.thread, columns.start, columns.end, columns.frame, tops, frames, parents)
    op_node, unattributed = _place_operations(recording, columns, nodes)
    sampled = _place_samples(recording, nodes, op_node)
    tree, place = _tree(recording, nodes)
    where = _locations(recording, ranks or {})
    values = SparseValues(tree, max(len(where), 1))
    metrics: dict[str, Metric] = {}
    slice_node, moved_op = place[nodes.node].astype(np.int64), place[op_node].astype(np.int64)
    _host_values(recording, columns, nodes, slice_node, values, metrics)
    _device_values(recording, columns, moved_op, values, metrics)
    if recording.samples:
        counts = np.array(list(recording.samples.values()), dtype=np.float64)
        where_sampled = columns.op_stream[np.array([op for op, _ in recording.samples])] + len(recording.threads)
        metric = Metric("gpu.instructions", Unit.SAMPLES, "samples of instructions of kernels", "PC samples")
        metrics[metric.id] = metric
        values.put(metric, place[sampled].astype(np.int32), counts, where_sampled.astype(np.int32))
    host_span = int(columns.end.max() - columns.start.min()) if len(columns.start) else 0
    timeline = _timeline(recording, columns, slice_node, moved_op)
    return Assembled(
        tree, metrics, values, where, timeline, moved_op, unattributed, nodes.cut, nodes.crossing, host_span
    )


class _Columns:
    """The recording as numpy columns, times from the first event on."""

    def __init__(self, recording: Recording) -> None:
        self.thread: IntArray = np.array(recording.thread, dtype=np.int32)
        self.frame: IntArray = np.array(recording.frame, dtype=np.int32)
        self.role = np.array(recording.role, dtype=np.int8)
        start, end = np.array(recording.start, dtype=np.int64), np.array(recording.end, dtype=np.int64)
        op_start, op_end = np.array(recording.op_start, dtype=np.int64), np.array(recording.op_end, dtype=np.int64)
        origin = min(int(times.min()) for times in (start, op_start) if len(times)) if len(start) + len(op_start) else 0
        self.start: Times = start - origin
        self.end: Times = end - origin
        self.op_start: Times = op_start - origin
        self.op_end: Times = op_end - origin
        self.op_lane = np.array(recording.op_lane, dtype=np.int8)
        self.op_stream: IntArray = np.array(recording.op_stream, dtype=np.int32)
        self.op_bytes: Times = np.array(recording.op_bytes, dtype=np.int64)
        self.op_pageable = np.array(recording.op_pageable, dtype=np.int8)


def _tops(recording: Recording) -> tuple[list[int], list[int], list[int]]:
    """Nodes of processes and threads: their parents and frames, and the node of each thread."""
    parents: list[int] = []
    frames: list[int] = []
    of_process: dict[int, int] = {}
    tops: list[int] = []
    for thread in recording.threads:
        if thread.process not in of_process:
            of_process[thread.process] = len(parents)
            parents.append(-1)
            frames.append(recording.frame_of(NodeKind.ENTRY, recording.processes[thread.process]))
        tops.append(len(parents))
        parents.append(of_process[thread.process])
        frames.append(recording.frame_of(NodeKind.ENTRY, thread.label))
    return parents, frames, tops


def _place_operations(recording: Recording, columns: _Columns, nodes: Nodes) -> tuple[Int64, int]:
    """The node of each operation below the call that launched it; those without one hang below the device's own root."""
    index: dict[tuple[int, int], int] = {}
    placed = np.zeros(len(columns.op_start), dtype=np.int64)
    names = recording.op_frame.tolist()
    launches = np.array(recording.launch, dtype=np.int64)
    known = (launches >= 0) & (launches < len(nodes.node))
    above = np.full(len(launches), -1, dtype=np.int64)
    above[known] = nodes.node[launches[known]]
    orphanage: dict[int, int] = {}
    has_host = len(nodes.node) > 0
    streams = recording.op_stream.tolist()
    for number, parent in enumerate(above.tolist()):
        if parent < 0:
            device = -1 if has_host else recording.streams[streams[number]].device
            parent = orphanage.get(device, -1)
            if parent < 0:
                parent = orphanage[device] = len(nodes.parent)
                name, kind = (UNATTRIBUTED, NodeKind.PLACEHOLDER) if has_host else (f"GPU {device}", NodeKind.ENTRY)
                nodes.parent.append(-1)
                nodes.frame.append(recording.frame_of(kind, name))
        key = (parent, names[number])
        found = index.get(key)
        if found is None:
            found = index[key] = len(nodes.parent)
            nodes.parent.append(parent)
            nodes.frame.append(names[number])
        placed[number] = found
    return placed, int(np.count_nonzero(~known)) if has_host else 0


def _place_samples(recording: Recording, nodes: Nodes, op_node: Int64) -> Int64:
    """The nodes of sampled instructions, below their kernels."""
    index: dict[tuple[int, int], int] = {}
    placed = []
    for operation, frame in recording.samples:
        key = (int(op_node[operation]), frame)
        found = index.get(key)
        if found is None:
            found = index[key] = len(nodes.parent)
            nodes.parent.append(key[0])
            nodes.frame.append(frame)
        placed.append(found)
    return np.array(placed, dtype=np.int64)


def _tree(recording: Recording, nodes: Nodes) -> tuple[CallTree, IntArray]:
    """The call tree of the nodes, and the index of each in it."""
    if not nodes.parent:
        nodes.parent.append(-1)
        nodes.frame.append(recording.frame_of(NodeKind.ENTRY, "[empty trace]"))
    names: dict[str, int] = {}
    files: dict[str, int] = {}
    rows = np.array([_row(frame, names, files) for frame in recording.frames], dtype=np.int64).reshape(-1, 4)
    of = rows[np.array(nodes.frame, dtype=np.int64)]
    parent = np.array(nodes.parent, dtype=np.int32)
    return tree_of_columns(
        parent,
        kind=of[:, 0].astype(np.uint8),
        relation=np.where((parent < 0) | (of[:, 0] == NodeKind.INSTRUCTION), Relation.LEXICAL, Relation.CALL).astype(
            np.uint8
        ),
        name=of[:, 1].astype(np.int32),
        file=of[:, 2].astype(np.int32),
        line=of[:, 3].astype(np.int32),
        module=np.full(len(parent), -1, dtype=np.int32),
        names=list(names),
        files=list(files),
        modules=[],
    )


def _row(frame: Frame, names: dict[str, int], files: dict[str, int]) -> tuple[int, int, int, int]:
    file = files.setdefault(frame.file, len(files)) if frame.file else -1
    return int(frame.kind), names.setdefault(frame.name, len(names)), file, frame.line


def _locations(recording: Recording, ranks: Mapping[int, int]) -> Locations:
    """Host threads, then streams of devices; processes are told apart by rank where there are several."""
    several = len({thread.process for thread in recording.threads}) > 1
    host, device = recording.threads, recording.streams
    count = len(host) + len(device)
    absent = [-1] * len(host)
    of_stream = [stream.process for stream in device]

    def column(values: list[int]) -> Int64:
        return np.array(values, dtype=np.int64)

    def rank(process: int) -> int:
        return ranks.get(process, process if several else -1)

    if not count:
        return Locations.single()
    return Locations.of(
        count,
        rank=column([rank(thread.process) for thread in host] + [rank(p) if p >= 0 else -1 for p in of_stream]),
        thread=column([thread.number for thread in host] + [-1] * len(device)),
        gpu_context=column(absent + [stream.device for stream in device]),
        stream=column(absent + [stream.number for stream in device]),
    )


def _host_values(
    recording: Recording, columns: _Columns, nodes: Nodes, node: Int64, values: SparseValues, metrics: dict[str, Metric]
) -> None:
    """Own time and number of the slices."""
    if not len(node):
        return
    at, where = node.astype(np.int32), columns.thread
    _put(values, metrics, "host.time", "duration of host events", at, nodes.own.astype(np.float64) * 1e-9, where)
    _put(values, metrics, "calls.count", "number of host events", at, np.ones(len(at)), where)
    if recording.allocated:
        taken = np.array(list(recording.allocated), dtype=np.int64)
        size = np.array(list(recording.allocated.values()), dtype=np.float64)
        _put(values, metrics, "memory.allocated.bytes", "bytes of allocations", at[taken], size, where[taken])
    waits = [frame.kind == NodeKind.FUNCTION and is_synchronisation(frame.name) for frame in recording.frames]
    waiting = np.array(waits, dtype=bool)[columns.frame] & (columns.role == Role.API)
    if waiting.any():
        own = nodes.own[waiting].astype(np.float64) * 1e-9
        _put(values, metrics, "gpu.sync.time", "duration of synchronising calls", at[waiting], own, where[waiting])


def _device_values(
    recording: Recording, columns: _Columns, node: Int64, values: SparseValues, metrics: dict[str, Metric]
) -> None:
    """Times, counts and bytes of the operations by kind, and how kernels were launched."""
    if not len(node):
        return
    at, where = node.astype(np.int32), columns.op_stream + np.int32(len(recording.threads))
    seconds = (columns.op_end - columns.op_start).astype(np.float64) * 1e-9
    ones = np.ones(len(at))

    def put(identifier: str, source: str, which: NDArray[np.bool_], amounts: FloatArray) -> None:
        if which.any():
            _put(values, metrics, identifier, source, at[which], amounts[which], where[which])

    def of(*lanes: LaneKind) -> NDArray[np.bool_]:
        return np.isin(columns.op_lane, [LANES.index(lane) for lane in lanes])

    kernels, copies = of(LaneKind.COMPUTE, LaneKind.COLLECTIVE), of(*COPY_LANES)
    timed = columns.op_lane >= 0
    put("gpu.time", "duration of device events", timed, seconds)
    put("gpu.kernel.time", "duration of kernels", kernels, seconds)
    put("gpu.kernel.count", "number of kernels", kernels | ~timed, ones)
    put("gpu.collective.time", "duration of communicating kernels", of(LaneKind.COLLECTIVE), seconds)
    put("gpu.copy.time", "duration of copies", copies, seconds)
    put("gpu.copy.count", "number of copies", copies, ones)
    put("gpu.memset.time", "duration of memory sets", of(LaneKind.MEMSET), seconds)
    size = columns.op_bytes.astype(np.float64)
    for lane in COPY_LANES:
        identifier = lane.value.replace("gpu-copy-", "gpu.copy.")
        put(f"{identifier}.time", f"duration of copies {lane.name}", of(lane), seconds)
        put(f"{identifier}.bytes", f"bytes of copies {lane.name}", of(lane) & (columns.op_bytes >= 0), size)
    pageable = copies & (columns.op_pageable == 1) & (columns.op_bytes >= 0)
    put("gpu.copy.pageable.bytes", "bytes of copies with pageable memory", pageable, size)
    _put_facts(recording.facts, node, columns.op_end - columns.op_start, where, values, metrics)


def _put_facts(
    facts: Mapping[int, Facts],
    node: Int64,
    duration: Times,
    where: IntArray,
    values: SparseValues,
    metrics: dict[str, Metric],
) -> None:
    """Launch facts as means over the launches of a node, with their time as weight."""
    numbers = np.array(list(facts), dtype=np.int64)
    table = np.array(list(facts.values()), dtype=np.float64).reshape(-1, 4)
    for column, identifier in enumerate(_FACTS):
        known = np.isfinite(table[:, column]) & (table[:, column] >= 0)
        if known.any():
            ops = numbers[known]
            put_mean(values, metrics, counter(identifier, identifier), node[ops], table[known, column], duration[ops])


def put_mean(
    values: SparseValues, metrics: dict[str, Metric], metric: Metric, node: Int64, amounts: FloatArray, weight: Times
) -> None:
    """Set a derived metric of kernels: the mean over launches with their time as weight (equal weights where all are 0)."""
    distinct, group = np.unique(node, return_inverse=True)
    heavy = weight.astype(np.float64)
    weights = np.bincount(group, weights=heavy)
    heavy = np.where(weights[group] > 0, heavy, 1.0)
    mean = np.bincount(group, weights=amounts * heavy) / np.bincount(group, weights=heavy)
    metrics[metric.id] = metric
    values.put(metric, distinct.astype(np.int32), mean)


def _put(
    values: SparseValues, metrics: dict[str, Metric], identifier: str, source: str, node: IntArray,
    amounts: FloatArray, where: IntArray,
) -> None:  # fmt: skip
    metrics[identifier] = metric_of(identifier, source)
    values.put(metrics[identifier], node, amounts, where)


def _timeline(recording: Recording, columns: _Columns, slice_node: Int64, op_node: Int64) -> Timeline:
    """The lanes: one for each stream and kind of operation, each thread and kind of call."""
    lanes: list[IntervalLane] = []
    timed = np.flatnonzero(columns.op_lane >= 0)
    keys = columns.op_stream[timed].astype(np.int64) * len(LANES) + columns.op_lane[timed]
    for key, chosen in _groups(keys, columns.op_start[timed]):
        rows = timed[chosen]
        stream, lane = divmod(key, len(LANES))
        copies = LANES[lane] in COPY_LANES
        size, pageable = columns.op_bytes[rows], columns.op_pageable[rows]
        lanes.append(
            IntervalLane(
                LANES[lane], recording.streams[stream].device, len(recording.threads) + stream,
                columns.op_start[rows], columns.op_end[rows], op_node[rows].astype(np.int32),
                np.maximum(size, 0) if copies and bool((size >= 0).any()) else None,
                pageable == 1 if copies and bool((pageable >= 0).all()) else None,
            )
        )  # fmt: skip
    for role, kind in ((Role.API, LaneKind.API), (Role.RANGE, LaneKind.RANGE)):
        mine = np.flatnonzero(columns.role == role)
        for thread, rows in _groups(columns.thread[mine].astype(np.int64), columns.start[mine]):
            chosen = mine[rows]
            node = slice_node[chosen].astype(np.int32)
            lanes.append(IntervalLane(kind, -1, thread, columns.start[chosen], columns.end[chosen], node))
    first, last = (columns.op_start[timed], columns.op_end[timed]) if len(timed) else (columns.start, columns.end)
    begin, end = (int(first.min()), int(last.max())) if len(first) else (0, 0)
    return Timeline(begin, end, intervals=tuple(lanes))


def _groups(key: Int64, start: Times) -> list[tuple[int, Int64]]:
    """Rows of equal key, ascending by start, for each key."""
    order = np.lexsort((start, key)).astype(np.int64)
    distinct, first = np.unique(key[order], return_index=True)
    return (
        [(int(one), rows) for one, rows in zip(distinct, np.split(order, first[1:]), strict=True)] if len(key) else []
    )
