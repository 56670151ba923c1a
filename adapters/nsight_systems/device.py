"""The GPU's part of the tree: kernels, copies, memsets, graphs and waits below the calls that launched them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.nsight_systems import strings
from chathpc.adapters.nsight_systems.assembly import LAUNCH_FACTS, Assembly, RawLane
from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, Rows, distinct, encode, rows, usable
from chathpc.adapters.nsight_systems.host import groups
from chathpc.adapters.nsight_systems.sources import DAMAGED_TIMES
from chathpc.adapters.sqlite import Database
from chathpc.profile.timeline import COPY_LANES, LaneKind
from chathpc.profile.tree import FloatArray, NodeKind

#: With more processes than this their tables are not kept apart.
FEW_PROCESSES = 64
#: A table by correlation id may have as many entries for each call.
SPARSE = 8


class Launches:
    """Finds the node of a launching call by process and correlation id: the id alone is unique in one process only."""

    def __init__(self, process: Int32Array, correlation: Int64Array, node: Int32Array) -> None:
        if len(correlation) and int(correlation.min()) < 0:
            known = correlation >= 0
            process, correlation, node = process[known], correlation[known], node[known]
        self._tables = _tables(process, correlation, node)
        if self._tables is None:
            self._ids = np.unique(correlation)
            key = process.astype(np.int64) * len(self._ids) + np.searchsorted(self._ids, correlation)
            order = np.argsort(key, kind="stable")
            self._keys, self._nodes = key[order], node[order]

    def find(self, process: Int32Array, correlation: Int64Array) -> Int32Array:
        """The node of the launching call of each operation, −1 if that call was not recorded."""
        result = np.full(len(process), -1, dtype=np.int32)
        if self._tables is None:
            at = np.minimum(np.searchsorted(self._ids, correlation), len(self._ids) - 1)
            key = process.astype(np.int64) * len(self._ids) + at
            place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            found = (self._keys[place] == key) & (self._ids[at] == correlation)
            result[found] = self._nodes[place[found]]
            return result
        for number, (low, table) in self._tables.items():
            mine = process == number
            wanted = correlation.astype(np.int64) - low  # which may have 32 bits, and low more
            mine &= (wanted >= 0) & (wanted < len(table))
            if mine.all():
                return table[wanted]
            result[mine] = table[wanted[mine]]
        return result


def _tables(process: Int32Array, correlation: Int64Array, node: Int32Array) -> dict[int, tuple[int, Int32Array]] | None:
    """By process the lowest correlation id and the nodes of all from it on; None if the ids are too far apart for that."""
    tables: dict[int, tuple[int, Int32Array]] = {}
    if not len(process):
        return tables
    low, high = int(process.min()), int(process.max())
    numbers = [low] if low == high else np.unique(process).tolist()
    if len(numbers) > FEW_PROCESSES:
        return None
    for number in numbers:
        ids, nodes = correlation, node
        if len(numbers) > 1:
            mine = process == number
            ids, nodes = correlation[mine], node[mine]
        low, high = int(ids.min()), int(ids.max())
        if high - low >= max(SPARSE * len(ids), 1 << 16):
            return None
        table = np.full(high - low + 1, -1, dtype=np.int32)
        table[ids - low] = nodes
        tables[number] = low, table
    return tables


UNATTRIBUTED = "[unattributed]"
LOST = "The launching call of {} GPU operations was not recorded (the capture began later, or it left no record); they are below [unattributed]."

#: Kernels that move data between devices: NVIDIA's and AMD's collective libraries, NVSHMEM.
_COLLECTIVE = re.compile(r"(^|[^a-zA-Z0-9])(nccl|rccl|nvshmem)|^(nccl|rccl|nvshmem)", re.IGNORECASE)

#: copyKind (CUPTI's CUpti_ActivityMemcpyKind): what moves to where.
_KINDS = {
    1: LaneKind.H2D, 3: LaneKind.H2D, 2: LaneKind.D2H, 4: LaneKind.D2H, 5: LaneKind.D2D, 6: LaneKind.D2D, 7: LaneKind.D2D,
    8: LaneKind.D2D, 10: LaneKind.P2P, 11: LaneKind.UNIFIED, 12: LaneKind.UNIFIED, 13: LaneKind.UNIFIED,
}  # fmt: skip
_COPY_NAMES = {LaneKind.H2D: "<gpu copyin>", LaneKind.D2H: "<gpu copyout>"}
_COMBINE = {"×": np.multiply, "+": np.add}
#: srcKind, dstKind of host memory that is not pinned (ENUM_CUDA_MEM_KIND).
PAGEABLE = 0
#: syncType of a wait of a stream for an event: the host does not wait.
STREAM_WAIT = 2
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
#: Columns that may hold the name of a kernel, the best first.
_KERNEL_NAMES = ("demangledName", "shortName", "mangledName")
#: Columns of a GPU operation.
_OPERATION = ("deviceId", "contextId", "streamId", "correlationId", "globalPid")


@dataclass(slots=True)
class Operations:
    """Rows of one table of GPU operations with their process, parent node, location and device."""

    table: Rows
    process: Int32Array
    above: Int32Array
    place: Int32Array
    device: Int64Array
    lost: int


def kernel_rows(database: Database) -> Rows | None:
    """The table of kernels; None without one."""
    name = next((column for column in _KERNEL_NAMES if database.has(KERNELS, column)), None)
    if name is None:
        return None
    launch = (column for columns, _ in LAUNCH_FACTS.values() for column in columns)
    return rows(database, KERNELS, ("start", "end", name), (*_OPERATION, *launch))


class DeviceReader:
    """Reads the tables of GPU operations of one export into the assembly.

    `process` gives the number of a global process id; `ordinal` (global process id, deviceId) to the GPU's ordinal,
    `kernels` gives the rows of `kernel_rows`.
    """

    def __init__(
        self,
        database: Database,
        assembly: Assembly,
        process: Callable[[int], int],
        launches: Launches,
        ordinal: Callable[[int, int], int],
        kernels: Callable[[], Rows | None],
    ) -> None:
        self.database, self.assembly = database, assembly
        self.process, self.launches, self.ordinal, self._kernels = process, launches, ordinal, kernels
        self._places: dict[tuple[int, int, int, int], int] = {}
        self._lost_nodes: dict[int, int] = {}

    def read(self) -> None:
        """All tables of GPU operations."""
        self.kernels()
        self.copies()
        self.whole("CUPTI_ACTIVITY_KIND_MEMSET", "memsets", LaneKind.MEMSET, "<gpu memset>", "gpu.memset")
        self.whole("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graphs", LaneKind.GRAPH, "<gpu graph>", "gpu.graph")
        self.waits()

    # -- rows ----------------------------------------------------------------------------------------------

    def _operations(self, table: str, needed: tuple[str, ...] = (), wanted: tuple[str, ...] = ()) -> Operations | None:
        return self._attached(rows(self.database, table, ("start", "end", *needed), (*_OPERATION, *wanted)))

    def _attached(self, found: Rows | None) -> Operations | None:
        """The usable rows with what launched them, and where they ran."""
        if found is None:
            return None
        found, bad = usable(found)
        self.assembly.note(DAMAGED_TIMES, bad)
        if found.count == 0:
            return None
        pids, pid = encode(found.take("globalPid"))
        owners = np.array([self.process(pid) for pid in pids.tolist()], dtype=np.int32)
        process = owners[pid]
        device, context, stream = (found.take(name, 0) for name in ("deviceId", "contextId", "streamId"))
        place, ordinal = self._placed(pids, owners, pid, device, context, stream)
        correlation = found.take("correlationId")
        above = self.launches.find(process, correlation)
        lost = np.flatnonzero(above < 0)
        if len(lost):
            above[lost] = self._lost(process[lost])
        return Operations(found, process, above, place, ordinal, len(lost))

    def _placed(
        self,
        pids: Int64Array,
        owners: Int32Array,
        pid: Int32Array,
        device: Int64Array,
        context: Int64Array,
        stream: Int64Array,
    ) -> tuple[Int32Array, Int64Array]:
        """Location and ordinal of the device of every row; `owners` are the processes of `pids`."""
        parts = [encode(column) for column in (device, context, stream)]
        key = pid.astype(np.int64)
        for known, index in parts:
            if len(known) > 1:
                key *= len(known)
                key += index
        keys, number = encode(key)
        place, ordinal = [], []
        for rest in keys.tolist():
            decoded = []
            for known, _ in reversed(parts):
                rest, at = divmod(rest, len(known))
                decoded.append(int(known[at]))
            stream_id, context_id, device_id = decoded
            owner, gpu = int(owners[rest]), self.ordinal(int(pids[rest]), device_id)
            where = (owner, gpu, context_id, stream_id)
            if where not in self._places:
                self._places[where] = self.assembly.place(owner, context=max(context_id, -1), stream=max(stream_id, -1))
            place.append(self._places[where])
            ordinal.append(gpu)
        return np.array(place, dtype=np.int32)[number], np.array(ordinal, dtype=np.int64)[number]

    def _lost(self, process: Int32Array) -> Int32Array:
        """The nodes that stand for launching calls that were not recorded."""
        numbers, index = encode(process.astype(np.int64))
        table = []
        for number in numbers.tolist():
            if number not in self._lost_nodes:
                owner = self.assembly.processes[number].node
                self._lost_nodes[number] = self.assembly.paths.node(owner, NodeKind.PLACEHOLDER, UNATTRIBUTED)
            table.append(self._lost_nodes[number])
        return np.array(table, dtype=np.int32)[index]

    # -- values --------------------------------------------------------------------------------------------

    def _add(self, node: Int32Array, place: Int32Array, amounts: dict[str, FloatArray | None]) -> None:
        """Add up amounts (None: the number of rows) by node and location."""
        if not len(node):
            return
        low, width = int(node.min()), len(self.assembly.places)
        keys, index = distinct((node.astype(np.int64) - low) * width + place, (int(node.max()) - low + 1) * width)
        index = index.astype(np.intp)  # once for all sums
        nodes, places = (keys // width + low).astype(np.int32), (keys % width).astype(np.int32)
        for metric, amount in amounts.items():
            sums = np.bincount(index, weights=amount, minlength=len(keys)).astype(np.float64)
            self.assembly.add(metric, nodes, places, sums)

    def _lane(
        self,
        kind: LaneKind,
        operations: Operations,
        node: Int32Array,
        chosen: NDArray[np.bool_] | None = None,
        *,
        size: Int64Array | None = None,
        pageable: NDArray[np.bool_] | None = None,
    ) -> None:
        """Lanes of the chosen rows, one for each location."""
        at = None if chosen is None or chosen.all() else np.flatnonzero(chosen)
        start = operations.table["start"]
        place = operations.place
        parts = (place, start) if at is None else (place[at], start[at])
        for mine in groups(parts[0], len(self.assembly.places), parts[1]):
            row = mine if at is None else at[mine]
            self.assembly.lanes.append(RawLane(
                kind, int(operations.device[row][0]), int(place[row][0]), start[row], operations.table["end"][row],
                node[row], None if size is None else size[row], None if pageable is None else pageable[row],
            ))  # fmt: skip

    def _duration(self, operations: Operations) -> FloatArray:
        return np.asarray((operations.table["end"] - operations.table["start"]) * 1e-9, dtype=np.float64)

    # -- tables --------------------------------------------------------------------------------------------

    def kernels(self) -> None:
        """Kernels, with their launch configurations."""
        operations = self._attached(self._kernels())
        if operations is None:
            return
        name = next(column for column in _KERNEL_NAMES if column in operations.table)
        self.assembly.seen.add("kernels")
        self.assembly.note(LOST, operations.lost)
        names = strings.numbered(
            self.database, operations.table.take(name), self.assembly.paths.names, missing="<unnamed kernel>"
        )
        node = self.assembly.paths.add(operations.above, NodeKind.GPU_KERNEL, names)
        time = self._duration(operations)
        self._add(node, operations.place, {"gpu.kernel.time": time, "gpu.kernel.count": None, "gpu.time": time})
        used = np.flatnonzero(np.bincount(names))
        talk = [number for number in used.tolist() if _COLLECTIVE.search(self.assembly.paths.names.texts[number])]
        if talk:
            collective = np.isin(names, np.array(talk, dtype=np.int32))
            self._add(node[collective], operations.place[collective], {"gpu.collective.time": time[collective]})
            self._lane(LaneKind.COLLECTIVE, operations, node, collective)
            self._lane(LaneKind.COMPUTE, operations, node, ~collective)
        else:
            self._lane(LaneKind.COMPUTE, operations, node)
        del time, names
        self._launch_facts(node, operations)

    def _launch_facts(self, node: Int32Array, operations: Operations) -> None:
        """Means of the launch configuration over the launches of each node."""
        low = int(node.min())
        index = (node - low).astype(np.intp)
        count = np.bincount(index)
        used = np.flatnonzero(count)
        place = np.zeros(len(count), dtype=np.int32)
        place[index] = operations.place
        for metric, (names, combine) in LAUNCH_FACTS.items():
            if not all(name in operations.table for name in names):
                continue
            amount = operations.table.take(names[0]).astype(np.float64)
            for other in names[1:]:
                _COMBINE[combine](amount, operations.table.take(other), out=amount)
            means = np.bincount(index, weights=amount, minlength=len(count))[used] / count[used]
            self.assembly.add(metric, (used + low).astype(np.int32), place[used], means)

    def copies(self) -> None:
        """Copies by direction, with bytes."""
        wanted = ("bytes", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId")
        operations = self._operations("CUPTI_ACTIVITY_KIND_MEMCPY", ("copyKind",), wanted)
        if operations is None:
            return
        self.assembly.seen.add("copies")
        table = operations.table
        kind = table["copyKind"].copy()
        other = (kind == 8) & (table.get("srcDeviceId") >= 0) & (table.get("dstDeviceId") >= 0)
        kind[other & (table.get("srcDeviceId") != table.get("dstDeviceId"))] = 10
        migrated = np.isin(kind, (11, 12, 13))
        self.assembly.note(LOST, operations.lost - int((migrated & self._is_lost(operations)).sum()))
        kinds, index = encode(kind)
        labels = [_COPY_NAMES.get(_KINDS.get(value, LaneKind.D2D), "<gpu copy>") for value in kinds.tolist()]
        names = np.array([self.assembly.paths.names.number(label) for label in labels], dtype=np.int32)[index]
        node = self.assembly.paths.add(operations.above, NodeKind.GPU_OP, names)
        time = self._duration(operations)
        size = np.maximum(table["bytes"], 0) if "bytes" in table else None
        pageable = self._pageable(table, kind)
        self._add(node, operations.place, {"gpu.copy.time": time, "gpu.copy.count": None, "gpu.time": time})
        known = np.array([COPY_LANES.index(_KINDS[value]) if value in _KINDS else -1 for value in kinds.tolist()])[
            index
        ]
        for number, lane in enumerate(COPY_LANES):
            mine = known == number
            if not mine.any():
                continue
            metric = lane.value.replace("gpu-copy-", "gpu.copy.")
            amounts: dict[str, FloatArray | None] = {f"{metric}.time": time[mine]}
            if size is not None:
                amounts[f"{metric}.bytes"] = size[mine].astype(np.float64)
            self._add(node[mine], operations.place[mine], amounts)
            told = None if lane not in (LaneKind.H2D, LaneKind.D2H) else pageable
            self._lane(lane, operations, node, mine, size=size, pageable=told)
        self._lane(LaneKind.D2D, operations, node, known < 0, size=size)
        if pageable is not None and size is not None:
            host = np.isin(known, (COPY_LANES.index(LaneKind.H2D), COPY_LANES.index(LaneKind.D2H)))
            self.assembly.seen.add("memory kinds")
            amount = np.where(pageable, size, 0)[host].astype(np.float64)
            self._add(node[host], operations.place[host], {"gpu.copy.pageable.bytes": amount})

    def _is_lost(self, operations: Operations) -> NDArray[np.bool_]:
        return np.isin(operations.above, list(self._lost_nodes.values()))

    @staticmethod
    def _pageable(table: Rows, kind: Int64Array) -> NDArray[np.bool_] | None:
        """Whether the host's memory of each copy is pageable; None if it was not recorded."""
        if "srcKind" not in table or "dstKind" not in table:
            return None
        to_host = np.isin(kind, (2, 4))
        side = np.where(to_host, table["dstKind"], table["srcKind"])
        return np.asarray((side == PAGEABLE) & np.isin(kind, (1, 2, 3, 4)))

    def whole(self, table: str, seen: str, lane: LaneKind, label: str, metric: str) -> None:
        """Operations of one table that all have one name."""
        operations = self._operations(table)
        if operations is None:
            return
        self.assembly.seen.add(seen)
        self.assembly.note(LOST, operations.lost)
        names = np.full(operations.table.count, self.assembly.paths.names.number(label), dtype=np.int32)
        node = self.assembly.paths.add(operations.above, NodeKind.GPU_OP, names)
        time = self._duration(operations)
        self._add(node, operations.place, {f"{metric}.time": time, f"{metric}.count": None, "gpu.time": time})
        self._lane(lane, operations, node)

    def waits(self) -> None:
        """What the host waits for the GPU: all synchronisations but those of streams among themselves."""
        table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
        operations = self._operations(table, ("syncType",))
        if operations is None:
            return
        host = operations.table["syncType"] != STREAM_WAIT
        if not host.any():
            return
        self.assembly.seen.add("waits")
        names = np.full(int(host.sum()), self.assembly.paths.names.number("<gpu sync>"), dtype=np.int32)
        node = self.assembly.paths.add(operations.above[host], NodeKind.GPU_OP, names)
        self._add(node, operations.place[host], {"gpu.sync.time": self._duration(operations)[host]})
