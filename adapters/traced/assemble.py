"""A recording as the parts of a Profile: tree, metrics, values, locations, timeline, and what the trace cannot tell."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.traced.nesting import DEEPEST, Nodes, nest
from chathpc.adapters.traced.operations import is_synchronisation
from chathpc.adapters.traced.recording import LANES, Frame, Recording, Role
from chathpc.profile import numbers
from chathpc.profile.build import tree_of_columns
from chathpc.profile.gpu_counters import counter
from chathpc.profile.intervals import Times
from chathpc.profile.location import Locations
from chathpc.profile.metric import Aggregation, Clock, Metric, Unit, slug
from chathpc.profile.remark import Device
from chathpc.profile.sparse import SparseValues
from chathpc.profile.timeline import COPY_LANES, IntervalLane, LaneKind, Timeline
from chathpc.profile.tree import CallTree, FloatArray, IntArray, NodeKind, Relation

Int64 = NDArray[np.int64]

_SECONDS = {
    "host.time": "wall time of host threads in recorded ranges and calls",
    "gpu.time": "time of all GPU operations: kernels, copies, memsets, graphs",
    "gpu.kernel.time": "time of GPU kernels",
    "gpu.collective.time": "time of kernels that communicate (NCCL, RCCL, NVSHMEM); a part of gpu.kernel.time",
    "gpu.graph.time": "time of CUDA graphs that were traced as a whole",
    "gpu.copy.time": "time of GPU copies",
    "gpu.copy.h2d.time": "time of copies from host to device",
    "gpu.copy.d2h.time": "time of copies from device to host",
    "gpu.copy.d2d.time": "time of copies within a device",
    "gpu.copy.p2p.time": "time of copies between devices",
    "gpu.copy.unified.time": "time of migrations of unified memory",
    "gpu.memset.time": "time of GPU memory sets",
    "gpu.sync.time": "time that the host waits for the GPU in synchronising calls",
}
_COUNTS = {
    "calls.count": "recorded calls and ranges of the host",
    "gpu.kernel.count": "kernel launches",
    "gpu.graph.count": "launches of CUDA graphs that were traced as a whole",
    "gpu.copy.count": "GPU copies",
    "gpu.memset.count": "GPU memory sets",
}
_BYTES = {
    "gpu.copy.h2d.bytes": "bytes copied from host to device",
    "gpu.copy.d2h.bytes": "bytes copied from device to host",
    "gpu.copy.d2d.bytes": "bytes copied within a device",
    "gpu.copy.p2p.bytes": "bytes copied between devices",
    "gpu.copy.unified.bytes": "bytes of unified memory that migrated",
    "gpu.copy.pageable.bytes": "bytes copied from or to host memory that was not pinned",
    "memory.allocated.bytes": "bytes of memory that were allocated",
    "mpi.message.bytes": "bytes in point-to-point messages of MPI",
}
#: All ids that traces give.
IDENTIFIERS = (*_SECONDS, *_COUNTS, *_BYTES)
_FACTS = (
    "gpu.kernel.blocks", "gpu.kernel.threads-per-block", "gpu.kernel.registers", "gpu.kernel.shared-memory-per-block",
)  # fmt: skip
UNATTRIBUTED = "[unattributed]"

#: Counters whose values over several launches are averaged, not added: ratios, percentages, rates.
_MEAN = re.compile(
    r"pct|percent|ratio|util|hit|rate|per_|_per|avg|mean|\.max|\.min|busy$|stalled|occupancy|throughput|intensity", re.I
)
#: Counters of one trace that are taken in, and characters of a counter's name that its metric's id keeps.
MOST_COUNTERS, LONGEST_SLUG = 5_000, 120
#: Below this part of the host's time the device's window is worth a word.
_SHORT = 0.5
#: Slices that reach beyond their parent by rounding are common; more than this part of all is no rounding.
_CROSSING = 0.05


def metric_of(identifier: str, source_name: str) -> Metric:
    """The metric of one of the ids that traces give."""
    if identifier in _SECONDS:
        clock = Clock.WALL if identifier in ("host.time", "gpu.sync.time") else None
        return Metric(identifier, Unit.SECONDS, _SECONDS[identifier], source_name, "ns", 1e-9, clock=clock)
    if identifier in _COUNTS:
        return Metric(identifier, Unit.COUNT, _COUNTS[identifier], source_name)
    return Metric(identifier, Unit.BYTES, _BYTES[identifier], source_name)


class Assembled:
    """The slices of a recording nested, its operations below the calls that launched them, and everything added up.

    Times begin at 0 with the first event. The recording of the timeline reaches from the first to the last operation of
    a device, or without any from the first to the last slice: what the host did before the device's first work and
    after its last is not counted as idleness of the device. `ranks` gives the rank of a process, where it is known.
    `op_node` is the node of each operation and `duration` its length in nanoseconds.
    """

    def __init__(self, recording: Recording, ranks: Mapping[int, int] | None = None) -> None:
        self.recording = recording
        columns = [np.array(times) for times in (recording.start, recording.end, recording.op_start, recording.op_end)]
        origin = min((int(start.min()) for start in columns[::2] if len(start)), default=0)
        self._start, self._end, self._op_start, self._op_end = (times - origin for times in columns)
        self.duration: Times = self._op_end - self._op_start
        self._thread: IntArray = np.array(recording.thread)
        self._stream: IntArray = np.array(recording.op_stream)
        self._lane, self._bytes = np.array(recording.op_lane), np.array(recording.op_bytes)
        self._nodes = nest(self._thread, self._start, self._end, np.array(recording.frame), *_tops(recording))
        op_node = self._place_operations()
        samples = np.array(list(recording.samples), dtype=np.int64).reshape(-1, 2)
        sampled = _below(self._nodes, op_node[samples[:, 0]], samples[:, 1])
        self.tree, place = _tree(recording, self._nodes)
        self._node, self.op_node = place[self._nodes.node], place[op_node]
        self.where = _locations(recording, ranks or {})
        self._op_where: IntArray = self._stream + np.int32(len(recording.threads))
        self.values = SparseValues(self.tree, max(len(self.where), 1))
        self.metrics: dict[str, Metric] = {}
        self._put_host()
        self._put_device()
        if len(samples):
            counts = np.array(list(recording.samples.values()), dtype=np.float64)
            metric = Metric("gpu.instructions", Unit.SAMPLES, "samples of instructions of kernels", "PC samples")
            self.metrics[metric.id] = metric
            self.values.put(metric, place[sampled], counts, self._op_where[samples[:, 0]])
        self.timeline = self._timeline()

    @property
    def has_device(self) -> bool:
        """True if something ran on a device."""
        return len(self.op_node) > 0

    def used(self, devices: Mapping[int, Device]) -> dict[int, Device]:
        """Those of the `devices` of a machine that did something; the only one whatever its number (ROCm's agents begin with the CPUs)."""
        if len(devices) == 1 == len(self.timeline.devices):
            return dict(zip(self.timeline.devices, devices.values(), strict=True))
        return {ordinal: device for ordinal, device in devices.items() if ordinal in self.timeline.devices}

    def put_mean(self, metric: Metric, node: IntArray, amounts: FloatArray, weight: Times | None = None) -> None:
        """Set a derived metric of kernels: the mean over launches with their time as weight (equal weights where all are 0)."""
        distinct, group = np.unique(node, return_inverse=True)
        heavy = np.zeros(len(node)) if weight is None else weight.astype(np.float64)
        heavy = np.where(np.bincount(group, weights=heavy)[group] > 0, heavy, 1.0)
        mean = np.bincount(group, weights=amounts * heavy) / np.bincount(group, weights=heavy)
        self.metrics[metric.id] = metric
        self.values.put(metric, distinct, mean)

    def put_counters(self) -> None:
        """Add the counters of the recording to the metrics as `other.…`: sums over the launches of a kernel, or means of ratios."""
        for name, (operations, amounts) in sorted(self.recording.counters.items())[:MOST_COUNTERS]:
            identifier = f"other.{slug(name, longest=LONGEST_SLUG)}"
            if identifier in self.metrics:
                continue
            rows, values = np.array(operations), np.array(amounts)
            if _MEAN.search(name):
                metric = Metric(identifier, Unit.COUNT, f"counter {name}", name, aggregation=Aggregation.DERIVED)
                self.put_mean(metric, self.op_node[rows], values, self.duration[rows])
            else:
                self.metrics[identifier] = Metric(identifier, Unit.COUNT, f"counter {name}", name)
                self.values.put(self.metrics[identifier], self.op_node[rows], values)

    def caveats(self) -> list[str]:
        """What the trace cannot tell, in sentences that follow from how it was put together."""
        recording, found = self.recording, []
        span = self.timeline.end - self.timeline.begin
        host = int(self._end.max() - self._start.min()) if len(self._start) else 0
        if self.has_device and host and span < _SHORT * host:
            found.append(
                f"The device's first and last operation lie {numbers.seconds(span * 1e-9)} apart, the host was recorded for "
                f"{numbers.seconds(host * 1e-9)}: shares of the timeline refer to the former."
            )
        unattributed = recording.launch.count(-1) if len(self._node) else 0
        if unattributed:
            found.append(
                f"{unattributed:,} of {len(self.op_node):,} operations of the device cannot be joined to the call that "
                "launched them: it was not recorded."
            )
        if recording.undirected:
            found.append(
                f"{recording.undirected:,} copies have no recorded direction; they count as copies within the device."
            )
        if self._nodes.cut:
            found.append(
                f"{self._nodes.cut:,} events are nested in more than {DEEPEST} others; they count as part of these."
            )
        if self._nodes.crossing > _CROSSING * len(recording.start):
            found.append(
                f"{self._nodes.crossing:,} events overlap others of their thread without nesting: such time belongs to the "
                "event that began last."
            )
        return found

    def _place_operations(self) -> Int64:
        """The node of each operation below the call that launched it; those without one hang below the device's own root."""
        recording, nodes = self.recording, self._nodes
        launch = np.array(recording.launch)
        above = np.append(nodes.node, -1)[launch]  # −1 is the last
        lost = np.flatnonzero(launch < 0)
        if len(lost):
            if len(nodes.node):
                roots = [recording.frame_of(NodeKind.PLACEHOLDER, UNATTRIBUTED)] * len(recording.streams)
            else:
                roots = [recording.frame_of(NodeKind.ENTRY, f"GPU {one.device}") for one in recording.streams]
            above[lost] = _below(nodes, np.full(len(lost), -1), np.array(roots)[self._stream[lost]])
        return _below(nodes, above, np.array(recording.op_frame))

    def _put(self, identifier: str, source: str, node: IntArray, amounts: FloatArray, where: IntArray) -> None:
        self.metrics[identifier] = metric_of(identifier, source)
        self.values.put(self.metrics[identifier], node, amounts, where)

    def _put_host(self) -> None:
        """Own time and number of the slices."""
        recording, node, where = self.recording, self._node, self._thread
        if not len(node):
            return
        own = self._nodes.own.astype(np.float64) * 1e-9
        self._put("host.time", "duration of host events", node, own, where)
        self._put("calls.count", "number of host events", node, np.ones(len(node)), where)
        if recording.allocated:
            taken = np.array(list(recording.allocated))
            size = np.array(list(recording.allocated.values()), dtype=np.float64)
            self._put("memory.allocated.bytes", "bytes of allocations", node[taken], size, where[taken])
        waits = [frame.kind == NodeKind.FUNCTION and is_synchronisation(frame.name) for frame in recording.frames]
        waiting = np.array(waits, dtype=bool)[np.array(recording.frame)] & (np.array(recording.role) == Role.API)
        if waiting.any():
            self._put("gpu.sync.time", "duration of synchronising calls", node[waiting], own[waiting], where[waiting])

    def _put_device(self) -> None:
        """Times, counts and bytes of the operations by kind, and how kernels were launched: means weighted with their time."""
        if not self.has_device:
            return
        seconds, ones = self.duration.astype(np.float64) * 1e-9, np.ones(len(self.duration))

        def put(identifier: str, source: str, which: NDArray[np.bool_], amounts: FloatArray) -> None:
            if which.any():
                self._put(identifier, source, self.op_node[which], amounts[which], self._op_where[which])

        def of(*lanes: LaneKind) -> NDArray[np.bool_]:
            return np.isin(self._lane, [LANES.index(lane) for lane in lanes])

        kernels, copies, timed = of(LaneKind.COMPUTE, LaneKind.COLLECTIVE), of(*COPY_LANES), self._lane >= 0
        put("gpu.time", "duration of device events", timed, seconds)
        put("gpu.kernel.time", "duration of kernels", kernels, seconds)
        put("gpu.kernel.count", "number of kernels", kernels | ~timed, ones)
        put("gpu.collective.time", "duration of communicating kernels", of(LaneKind.COLLECTIVE), seconds)
        put("gpu.copy.time", "duration of copies", copies, seconds)
        put("gpu.copy.count", "number of copies", copies, ones)
        put("gpu.memset.time", "duration of memory sets", of(LaneKind.MEMSET), seconds)
        size, sized = self._bytes.astype(np.float64), self._bytes >= 0
        for lane in COPY_LANES:
            identifier = lane.value.replace("gpu-copy-", "gpu.copy.")
            put(f"{identifier}.time", f"duration of copies {lane.name}", of(lane), seconds)
            put(f"{identifier}.bytes", f"bytes of copies {lane.name}", of(lane) & sized, size)
        pageable = copies & sized & (np.array(self.recording.op_pageable) == 1)
        put("gpu.copy.pageable.bytes", "bytes of copies with pageable memory", pageable, size)
        launched = np.array(list(self.recording.facts))
        facts = np.array(list(self.recording.facts.values()), dtype=np.float64).reshape(-1, len(_FACTS))
        for identifier, column in zip(_FACTS, facts.T, strict=True):
            known = np.isfinite(column) & (column >= 0)
            if known.any():
                rows = launched[known]
                self.put_mean(counter(identifier, identifier), self.op_node[rows], column[known], self.duration[rows])

    def _timeline(self) -> Timeline:
        """The lanes: one for each stream and kind of operation, each thread and kind of call."""
        recording, lanes = self.recording, []
        timed = np.flatnonzero(self._lane >= 0)
        keys = self._stream[timed].astype(np.int64) * len(LANES) + self._lane[timed]
        for key, chosen in _groups(keys, self._op_start[timed]):
            rows = timed[chosen]
            stream, lane = divmod(key, len(LANES))
            copies = LANES[lane] in COPY_LANES
            size, pageable = self._bytes[rows], np.array(recording.op_pageable)[rows]
            lanes.append(
                IntervalLane(
                    LANES[lane], recording.streams[stream].device, len(recording.threads) + stream,
                    self._op_start[rows], self._op_end[rows], self.op_node[rows],
                    np.maximum(size, 0) if copies and bool((size >= 0).any()) else None,
                    pageable == 1 if copies and bool((pageable >= 0).all()) else None,
                )
            )  # fmt: skip
        for role, kind in ((Role.API, LaneKind.API), (Role.RANGE, LaneKind.RANGE)):
            mine = np.flatnonzero(np.array(recording.role) == role)
            for thread, rows in _groups(self._thread[mine], self._start[mine]):
                chosen = mine[rows]
                lanes.append(IntervalLane(kind, -1, thread, self._start[chosen], self._end[chosen], self._node[chosen]))
        first, last = (self._op_start[timed], self._op_end[timed]) if len(timed) else (self._start, self._end)
        begin, end = (int(first.min()), int(last.max())) if len(first) else (0, 0)
        return Timeline(begin, end, intervals=tuple(lanes))


def _tops(recording: Recording) -> tuple[list[int], list[int], list[int]]:
    """Nodes of processes and threads: the node of each thread, and frames and parents of all."""
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
    return tops, frames, parents


def _below(nodes: Nodes, above: Int64, frame: NDArray[np.signedinteger]) -> Int64:
    """The nodes of frames below others (−1: roots): equal ones share one; new ones are numbered in the order in which they come."""
    key = above * (int(frame.max(initial=0)) + 1) + frame
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order)) + len(nodes.parent)
    nodes.parent.extend(above[first[order]].tolist())
    nodes.frame.extend(frame[first[order]].tolist())
    return number[group]


def _tree(recording: Recording, nodes: Nodes) -> tuple[CallTree, IntArray]:
    """The call tree of the nodes, and the index of each in it."""
    if not nodes.parent:
        nodes.parent.append(-1)
        nodes.frame.append(recording.frame_of(NodeKind.ENTRY, "[empty trace]"))
    names: dict[str, int] = {}
    files: dict[str, int] = {}

    def row(frame: Frame) -> tuple[int, int, int, int]:
        file = files.setdefault(frame.file, len(files)) if frame.file else -1
        return int(frame.kind), names.setdefault(frame.name, len(names)), file, frame.line

    rows = np.array([row(frame) for frame in recording.frames], dtype=np.int32)
    kind, name, file, line = rows[nodes.frame].T
    parent = np.array(nodes.parent, dtype=np.int32)
    inner = (parent < 0) | (kind == NodeKind.INSTRUCTION)
    return tree_of_columns(
        parent,
        kind=kind.astype(np.uint8),
        relation=np.where(inner, Relation.LEXICAL, Relation.CALL).astype(np.uint8),
        name=name,
        file=file,
        line=line,
        module=np.full(len(parent), -1, dtype=np.int32),
        names=list(names),
        files=list(files),
        modules=[],
    )


def _locations(recording: Recording, ranks: Mapping[int, int]) -> Locations:
    """Host threads, then streams of devices; processes are told apart by rank where there are several."""
    several = len({thread.process for thread in recording.threads}) > 1
    host, device = recording.threads, recording.streams
    if not host and not device:
        return Locations.single()

    def column(of_threads: list[int], of_streams: list[int]) -> Int64:
        return np.array((of_threads or [-1] * len(host)) + (of_streams or [-1] * len(device)), dtype=np.int64)

    return Locations.of(
        len(host) + len(device),
        rank=column([ranks.get(one.process, one.process if several else -1) for one in host], []),
        thread=column([one.number for one in host], []),
        gpu_context=column([], [one.device for one in device]),
        stream=column([], [one.number for one in device]),
    )


def _groups(key: NDArray[np.signedinteger], start: Times) -> list[tuple[int, Int64]]:
    """Rows of equal key, ascending by start, for each key."""
    if not len(key):
        return []
    order = np.lexsort((start, key)).astype(np.int64)
    distinct, first = np.unique(key[order], return_index=True)
    return [(int(one), rows) for one, rows in zip(distinct, np.split(order, first[1:]), strict=True)]
