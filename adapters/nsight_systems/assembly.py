"""What the exports of one job have in common: nodes, places, values, lanes; and the profile that is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array
from chathpc.adapters.nsight_systems.paths import Paths
from chathpc.adapters.traced.assemble import IDENTIFIERS, metric_of
from chathpc.profile.gpu_counters import counter
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.remark import Device
from chathpc.profile.sparse import SparseValues
from chathpc.profile.timeline import IntervalLane, LaneKind, Timeline
from chathpc.profile.tree import CallTree, FloatArray, NodeKind

#: Launch facts of kernels (means over the launches), the columns that they come from, and how.
LAUNCH_FACTS = {
    "gpu.kernel.blocks": (("gridX", "gridY", "gridZ"), "×"),
    "gpu.kernel.threads-per-block": (("blockX", "blockY", "blockZ"), "×"),
    "gpu.kernel.registers": (("registersPerThread",), "×"),
    "gpu.kernel.shared-memory-per-block": (("staticSharedMemory", "dynamicSharedMemory"), "+"),
}

#: Tables of the export, by the second word of the metrics that are made of them.
_TABLES = {
    "kernel": "CUPTI_ACTIVITY_KIND_KERNEL", "collective": "CUPTI_ACTIVITY_KIND_KERNEL, communication",
    "graph": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "copy": "CUPTI_ACTIVITY_KIND_MEMCPY", "memset": "CUPTI_ACTIVITY_KIND_MEMSET",
    "sync": "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "time": "GPU operations", "count": "API calls", "message": "MPI_P2P_EVENTS", "allocated": "",
}  # fmt: skip


def _source(identifier: str) -> str:
    """What a user of the tool finds the numbers under: the table, and what of it."""
    words = identifier.split(".")
    if words[0] == "host":
        return "host events (time)"
    return f"{_TABLES[words[1]]} ({' '.join(words[2:]) or words[-1]})"


_HOST, *_DEVICE = (metric_of(identifier, _source(identifier)) for identifier in IDENTIFIERS)
METRICS: tuple[Metric, ...] = (
    _HOST,
    Metric("cpu.samples", Unit.SAMPLES, "samples of running host threads", "CPU IP samples", "samples"),
    *_DEVICE,
    *(counter(identifier, f" {sign} ".join(columns)) for identifier, (columns, sign) in LAUNCH_FACTS.items()),
)


@dataclass(slots=True)
class Process:
    """A process that did something: its node, its name, its MPI rank (−1: unknown), its threads and their nodes."""

    node: int
    name: str
    rank: int = -1
    threads: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class RawLane:
    """An IntervalLane whose nodes still have their provisional numbers."""

    kind: LaneKind
    device: int
    location: int
    start: Int64Array
    end: Int64Array
    node: Int32Array
    bytes: Int64Array | None = None
    pageable: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None


@dataclass(slots=True)
class Assembly:
    """Grows with each export that is read into it."""

    paths: Paths = field(default_factory=Paths)
    processes: list[Process] = field(default_factory=list)
    places: list[tuple[int, int, int, int]] = field(default_factory=list)  #: process, thread, GPU context, stream
    lanes: list[RawLane] = field(default_factory=list)
    devices: dict[int, Device] = field(default_factory=dict)
    gpus: dict[str, int] = field(default_factory=dict)  #: ordinals in the job by what tells GPUs apart
    caveats: dict[str, int] = field(default_factory=dict)  #: sentence with {} for a number → the number
    seen: set[str] = field(default_factory=set)  #: kinds of data that were recorded: ranges, samples, mpi, …
    _values: dict[str, list[tuple[Int32Array, Int32Array, FloatArray]]] = field(default_factory=dict)

    # -- places --------------------------------------------------------------------------------------------

    def process(self, name: str) -> int:
        """The number of a new process."""
        node = self.paths.node(-1, NodeKind.ENTRY, f"process {len(self.processes)}")
        self.processes.append(Process(node, name))
        return len(self.processes) - 1

    def place(self, process: int, *, thread: int = -1, context: int = -1, stream: int = -1) -> int:
        """The row of a new location."""
        self.places.append((process, thread, context, stream))
        return len(self.places) - 1

    def gpu(self, ordinal: int, identity: str | None, device: Device | None, *, shared: bool) -> int:
        """The ordinal of a GPU in the job; in one of several exports the same ordinal may be another GPU, by `identity`."""
        if shared:
            key = identity or f"export {len(self.gpus)}"
            if key in self.gpus:
                return self.gpus[key]
            taken = set(self.gpus.values())
            while ordinal in taken:
                ordinal += 1
            self.gpus[key] = ordinal
        if device is not None:
            self.devices.setdefault(ordinal, device)
        return ordinal

    def note(self, sentence: str, count: int = 1) -> None:
        """Add a caveat; `{}` in it stands for the sum of all counts."""
        if count:
            self.caveats[sentence] = self.caveats.get(sentence, 0) + count

    # -- values --------------------------------------------------------------------------------------------

    def add(self, metric: str, nodes: Int32Array, places: Int32Array, values: FloatArray) -> None:
        """Values by provisional node and place, to be combined by the metric's rule."""
        if len(nodes):
            self._values.setdefault(metric, []).append((nodes, places, values))

    # -- the whole -----------------------------------------------------------------------------------------

    def finish(self) -> tuple[CallTree, Int32Array, SparseValues, dict[str, Metric]]:
        """The tree, the final number of each provisional node, the values and their metrics."""
        self._name_processes()
        tree, final = self.paths.finish()
        values = SparseValues(tree, max(len(self.places), 1))
        metrics: dict[str, Metric] = {}
        for metric in METRICS:
            pieces = self._values.pop(metric.id, [])
            if not pieces:
                continue
            nodes, places, amounts = (np.concatenate([piece[part] for piece in pieces]) for part in range(3))
            values.put(metric, final[nodes], amounts, places.astype(np.int32))
            metrics[metric.id] = metric
        return tree, final, values, metrics

    def _name_processes(self) -> None:
        """Say the rank where it is known; without MPI, and with several processes, count them."""
        ranked = any(process.rank >= 0 for process in self.processes)
        for number, process in enumerate(self.processes):
            if not ranked and len(self.processes) > 1:
                process.rank = number
            what = f"rank {process.rank}" if ranked and process.rank >= 0 else f"process {number}"
            if not ranked and len(self.processes) == 1:
                what = "process"
            self.paths.names.rename(f"process {number}", f"{what} ({process.name})" if process.name else what)

    def where(self) -> Locations:
        """The locations in columns."""
        if not self.places:
            return Locations.single()
        process, thread, context, stream = np.array(self.places, dtype=np.int64).T
        ranks = np.array([process.rank for process in self.processes] or [-1], dtype=np.int64)
        return Locations.of(
            len(self.places), rank=np.where(process >= 0, ranks[process], -1), thread=thread, gpu_context=context,
            stream=stream,
        )  # fmt: skip

    def window(self) -> tuple[int, int]:
        """Begin and end of the session: from the first to the last operation of any GPU.

        What the program does before its first and after its last operation on a GPU (starting, reading input) is no idle
        time of the GPU that more overlap could fill, and the length of a capture is the user's choice. Without any
        operation on a GPU it is all that was recorded.
        """
        return _ends([lane for lane in self.lanes if lane.device >= 0 and len(lane.start)]) or self.recorded()

    def recorded(self) -> tuple[int, int]:
        """Begin and end of all that was recorded."""
        return _ends([lane for lane in self.lanes if len(lane.start)]) or (0, 0)

    def timeline(self, final: Int32Array) -> Callable[[], Timeline | None]:
        """What reads the timeline."""
        lanes = tuple(self.lanes)
        begin, end = self.window()

        def read() -> Timeline | None:
            if not lanes:
                return None
            return Timeline(begin, end, intervals=tuple(
                IntervalLane(lane.kind, lane.device, lane.location, lane.start, lane.end, final[lane.node], lane.bytes, lane.pageable)
                for lane in lanes
            ))  # fmt: skip

        return read


def _ends(lanes: Sequence[RawLane]) -> tuple[int, int] | None:
    """When the first of some lanes begins and the last one ends; None without any."""
    return (min(int(one.start[0]) for one in lanes), max(int(one.end.max()) for one in lanes)) if lanes else None
