"""Exports of Nsight Systems of any age, written row by row: `Export(age)` collects events, `write` makes the SQLite file.

The layout follows the format: which tables and columns an export of an age has, what it calls things, which rows it doubles.
Times are nanoseconds. Methods return what other rows refer to (correlation ids, ids of stacks).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

AGES = (2021, 2022, 2024, 2026)
_VERSIONS = {2022: "2022.2.1.31", 2024: "2024.5.1.113", 2026: "2026.2.1.210"}
_SCHEMAS = {2022: "2.9.1", 2024: "3.13.2", 2026: "3.25.0"}

H2D, D2H, D2D, PEER, UNIFIED_H2D, UNIFIED_D2H = 1, 2, 8, 10, 11, 12
PAGEABLE, PINNED, ON_DEVICE = 0, 1, 2
PUSH_POP, START_END, MARK, THREAD_NAME, DOMAIN = 59, 60, 34, 39, 75
EVENT_SYNC, STREAM_WAIT, STREAM_SYNC, CONTEXT_SYNC = 1, 2, 3, 4

_OPERATION = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
_STACK = ("id", "symbol", "module", "unresolved", "originalIP", "stackDepth")
_TABLES: dict[str, tuple[str, ...]] = {
    "StringIds": ("id", "value"),
    "PROCESSES": ("globalPid", "pid", "name"),
    "ThreadNames": ("nameId", "priority", "globalTid"),
    "TARGET_INFO_SESSION_START_TIME": ("utcEpochNs", "utcTime", "localTime"),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        "start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue", "callchainId",
    ),
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        *_OPERATION, "demangledName", "shortName", "mangledName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX",
        "blockY", "blockZ", "staticSharedMemory", "dynamicSharedMemory", "graphNodeId",
    ),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        *_OPERATION, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId",
    ),
    "CUPTI_ACTIVITY_KIND_MEMSET": (*_OPERATION, "value", "bytes"),
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (*_OPERATION, "syncType", "eventId"),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": (*_OPERATION, "graphId", "graphExecId"),
    "CUDA_CALLCHAINS": _STACK,
    "OSRT_API": ("start", "end", "eventClass", "globalTid", "nameId", "returnValue", "nestingLevel", "callchainId"),
    "OSRT_CALLCHAINS": _STACK,
    "COMPOSITE_EVENTS": ("id", "start", "cpu", "threadState", "globalTid", "cpuCycles"),
    "SAMPLING_CALLCHAINS": _STACK,
    "NVTX_EVENTS": (
        "start", "end", "eventType", "rangeId", "category", "color", "text", "globalTid", "endGlobalTid", "textId", "domainId",
    ),
    "TARGET_INFO_GPU": (
        "vmId", "id", "name", "totalMemory", "memoryBandwidth", "clockRate", "smCount", "uuid", "cuDevice", "computeMajor",
        "computeMinor",
    ),
    "TARGET_INFO_CUDA_DEVICE": ("gpuId", "cudaId", "pid"),
    "MPI_RANKS": ("globalTid", "rank"),
    "MPI_P2P_EVENTS": (
        "start", "end", "globalTid", "textId", "commHandle", "tag", "remoteRank", "size", "requestHandle",
    ),
    "MPI_COLLECTIVES_EVENTS": ("start", "end", "globalTid", "textId", "commHandle", "rootRank", "size", "recvSize"),
    "MPI_START_WAIT_EVENTS": ("start", "end", "globalTid", "textId", "requestHandle"),
    "MPI_OTHER_EVENTS": ("start", "end", "globalTid", "textId"),
    "DIAGNOSTIC_EVENT": ("timestamp", "timestampType", "source", "severity", "text", "globalPid"),
    "TARGET_INFO_SYSTEM_ENV": ("globalVid", "devStateName", "name", "nameEnum", "value"),
    "ProcessStreams": ("globalPid", "filenameId", "contentId"),
    "ANALYSIS_FILE": ("id", "filename", "content", "globalPid"),
    "META_DATA_CAPTURE": ("name", "value"),
    "META_DATA_EXPORT": ("name", "value"),
    "EXPORT_META_DATA": ("name", "value"),
    "TARGET_INFO_CUDA_GPU": (
        "vmId", "name", "globalMemoryBandwidth", "globalMemorySize", "coreClockRate", "numMultiprocessors",
        "computeCapabilityMajor", "computeCapabilityMinor", "deviceId", "pid",
    ),
}  # fmt: skip
_TEXT = {"value", "name", "text", "utcTime", "localTime", "uuid", "devStateName", "filename", "content"}
#: Columns that only some ages have.
_SINCE = {"greenContextId": 2024, "mangledName": 2022}
#: What exports without --lazy hold although it is empty.
_ALWAYS = ("CUPTI_ACTIVITY_KIND_MEMSET", "MPI_RANKS", "OSRT_API", "CUDA_CALLCHAINS", "CUPTI_ACTIVITY_KIND_MEMCPY")


def tid(pid: int, thread: int | None = None) -> int:
    """Global id of a thread (without `thread`: of the main thread)."""
    return (1 << 48) | (pid << 24) | (pid if thread is None else thread)


def gpid(pid: int) -> int:
    """Global id of a process."""
    return (1 << 48) | (pid << 24)


@cache
def _columns(table: str, age: int) -> tuple[str, ...]:
    columns = [name for name in _TABLES[table] if _SINCE.get(name, 0) <= age]
    if age >= 2024 and "streamId" in columns:
        columns.insert(columns.index("contextId") + 1, "greenContextId")
    return tuple(columns)


@dataclass
class Export:
    """The events of one capture."""

    age: int = 2026
    lazy: bool = True
    rows: dict[str, list[tuple[object, ...]]] = field(default_factory=dict)
    _strings: dict[str, int] = field(default_factory=dict)
    _correlation: int = 100
    _stacks: dict[str, int] = field(default_factory=dict)

    def add(self, table: str, **values: object) -> None:
        """A row; columns that are not named are NULL."""
        known = self.columns(table)
        strange = set(values) - set(known)
        if strange:
            raise ValueError(f"{table} has no {strange}")
        self.rows.setdefault(table, []).append(tuple(values.get(name) for name in known))

    def columns(self, table: str) -> tuple[str, ...]:
        """The columns of a table in an export of this age."""
        return _columns(table, self.age)

    def string(self, text: str) -> int:
        """The id of a text in StringIds."""
        return self._strings.setdefault(text, len(self._strings) + 1)

    # -- host ----------------------------------------------------------------------------------------------

    def process(self, pid: int, name: str) -> None:
        """A process."""
        self.add("PROCESSES", globalPid=gpid(pid), pid=pid, name=name)

    def thread(self, pid: int, thread: int, name: str) -> None:
        """The name of a thread."""
        self.add("ThreadNames", nameId=self.string(name), priority=20, globalTid=tid(pid, thread))

    def call(
        self,
        start: int,
        end: int,
        name: str,
        *,
        pid: int = 7,
        thread: int | None = None,
        correlation: int | None = None,
        stack: Sequence[tuple[str, str]] = (),
    ) -> int:
        """A call of the CUDA runtime, `stack` from the inner end; its correlation id. Exports up to 2022 have two rows for it."""
        if correlation is None:
            self._correlation += 1
            correlation = self._correlation
        chain: int | None = None
        if stack:
            chain = self.stack("CUDA_CALLCHAINS", stack)
        common = {"globalTid": tid(pid, thread), "correlationId": correlation, "returnValue": 0}
        table = "CUPTI_ACTIVITY_KIND_RUNTIME"
        if self.age <= 2022:
            # The second row counts its stacks from 0.
            second = None if chain is None else chain - 1
            self.add(
                table,
                start=start - 1,
                end=end + 1,
                eventClass=67,
                nameId=self.string(name),
                callchainId=second,
                **common,
            )
            chain = None
        version = "_v7000" if "Launch" in name else "_v3020"
        self.add(
            table, start=start, end=end, eventClass=0, nameId=self.string(name + version), callchainId=chain, **common
        )
        return correlation

    def stack(self, table: str, frames: Sequence[tuple[str, str]], number: int | None = None) -> int:
        """A stack of (symbol, module), from the inner end on; its id."""
        if number is None:
            number = self._stacks[table] = self._stacks.get(table, 0) + 1
        for depth, (symbol, module) in enumerate(frames):
            self.add(
                table, id=number, symbol=self.string(symbol), module=self.string(module), stackDepth=depth,
                unresolved=int(symbol.startswith("0x")), originalIP=4096 + depth,
            )  # fmt: skip
        return number

    def os_call(
        self,
        start: int,
        end: int,
        name: str,
        *,
        pid: int = 7,
        thread: int | None = None,
        stack: Sequence[tuple[str, str]] = (),
    ) -> None:
        """A call of the operating system."""
        self.add(
            "OSRT_API", start=start, end=end, eventClass=27, globalTid=tid(pid, thread), nameId=self.string(name),
            returnValue=0, nestingLevel=0, callchainId=self.stack("OSRT_CALLCHAINS", stack) if stack else 0,
        )  # fmt: skip

    def sample(self, start: int, frames: Sequence[tuple[str, str]], *, pid: int = 7, thread: int | None = None) -> None:
        """A sample of a running thread."""
        number = self._stacks["COMPOSITE_EVENTS"] = self._stacks.get("COMPOSITE_EVENTS", 0) + 1
        self.add(
            "COMPOSITE_EVENTS", id=number, start=start, cpu=0, threadState=1, globalTid=tid(pid, thread), cpuCycles=1
        )
        if frames:
            self.stack("SAMPLING_CALLCHAINS", frames, number)

    def range(
        self,
        start: int,
        end: int | None,
        text: str,
        *,
        pid: int = 7,
        thread: int | None = None,
        kind: int = PUSH_POP,
        domain: int = 0,
        registered: bool = False,
    ) -> None:
        """A named range, its text in the row or registered."""
        self.add(
            "NVTX_EVENTS", start=start, end=end, eventType=kind, globalTid=tid(pid, thread), domainId=domain,
            text=None if registered else text, textId=self.string(text) if registered else None,
        )  # fmt: skip

    def domain(self, number: int, name: str, *, pid: int = 7) -> None:
        """The name of a domain of ranges."""
        self.range(0, None, name, pid=pid, kind=DOMAIN, domain=number)

    def mpi(self, table: str, start: int, end: int, name: str, *, pid: int = 7, **more: object) -> None:
        """A call of MPI."""
        self.add(table, start=start, end=end, globalTid=tid(pid), textId=self.string(name), **more)

    # -- device --------------------------------------------------------------------------------------------

    def _operation(
        self, start: int, end: int, correlation: int | None, pid: int, device: int, stream: int
    ) -> dict[str, object]:
        return {
            "start": start, "end": end, "deviceId": device, "contextId": 1 + device, "streamId": stream,
            "correlationId": correlation, "globalPid": gpid(pid),
        }  # fmt: skip

    def kernel(
        self,
        start: int,
        end: int,
        name: str,
        correlation: int | None = None,
        *,
        pid: int = 7,
        device: int = 0,
        stream: int = 7,
        grid: tuple[int, int, int] = (4, 1, 1),
        block: tuple[int, int, int] = (32, 1, 1),
        registers: int = 16,
        shared: tuple[int, int] = (0, 0),
        node: int | None = None,
    ) -> None:
        """A kernel."""
        more: dict[str, object] = {} if self.age < 2022 else {"mangledName": self.string("_Z" + name)}
        self.add(
            "CUPTI_ACTIVITY_KIND_KERNEL", **self._operation(start, end, correlation, pid, device, stream),
            demangledName=self.string(name), shortName=self.string(name.split("(")[0]), registersPerThread=registers,
            gridX=grid[0], gridY=grid[1], gridZ=grid[2], blockX=block[0], blockY=block[1], blockZ=block[2],
            staticSharedMemory=shared[0], dynamicSharedMemory=shared[1], graphNodeId=node, **more,
        )  # fmt: skip

    def copy(
        self,
        start: int,
        end: int,
        kind: int,
        size: int,
        correlation: int | None = None,
        *,
        pid: int = 7,
        device: int = 0,
        stream: int = 7,
        memory: tuple[int | None, int | None] = (PINNED, ON_DEVICE),
        devices: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """A copy of `size` bytes between memories of two kinds."""
        self.add(
            "CUPTI_ACTIVITY_KIND_MEMCPY", **self._operation(start, end, correlation, pid, device, stream), bytes=size,
            copyKind=kind, srcKind=memory[0], dstKind=memory[1], srcDeviceId=devices[0], dstDeviceId=devices[1],
        )  # fmt: skip

    def memset(self, start: int, end: int, correlation: int | None = None, *, pid: int = 7, device: int = 0) -> None:
        """A memory set."""
        operation = self._operation(start, end, correlation, pid, device, 7)
        self.add("CUPTI_ACTIVITY_KIND_MEMSET", **operation, value=0, bytes=64)

    def sync(
        self, start: int, end: int, correlation: int | None = None, *, kind: int = STREAM_SYNC, pid: int = 7
    ) -> None:
        """A wait."""
        operation = self._operation(start, end, correlation, pid, 0, 4294967295)
        self.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", **operation, syncType=kind, eventId=0)

    def graph(self, start: int, end: int, correlation: int | None = None, *, pid: int = 7) -> None:
        """A CUDA graph that was traced as a whole."""
        operation = self._operation(start, end, correlation, pid, 0, 7)
        self.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", **operation, graphId=1, graphExecId=2)

    def gpu(self, number: int, name: str, *, ordinal: int | None = None, uuid: str = "") -> None:
        """A GPU of the node: its number for Nsight Systems, and for CUDA."""
        ordinal = number if ordinal is None else ordinal
        if self.age <= 2021:
            self.add(
                "TARGET_INFO_CUDA_GPU", vmId=1, name=name, globalMemoryBandwidth=1_555_200_000, globalMemorySize=40 << 30,
                coreClockRate=1_410_000, numMultiprocessors=108, computeCapabilityMajor=8, computeCapabilityMinor=0,
                deviceId=ordinal, pid=7,
            )  # fmt: skip
            return
        self.add(
            "TARGET_INFO_GPU", vmId=1, id=number, name=name, totalMemory=40 << 30, memoryBandwidth=1_555_200_000_000,
            clockRate=1_410_000_000, smCount=108, uuid=uuid, cuDevice=ordinal, computeMajor=8, computeMinor=0,
        )  # fmt: skip

    # -- the file ------------------------------------------------------------------------------------------

    def plant(self, secret: str) -> None:
        """Put a secret wherever reports keep environments, command lines and captured output."""
        self.add("TARGET_INFO_SYSTEM_ENV", globalVid=1, devStateName="x", name="Hostname", nameEnum=1, value=secret)
        self.add("META_DATA_CAPTURE", name="ENVIRONMENT", value=f"TOKEN={secret}")
        self.add("META_DATA_CAPTURE", name="COMMAND_LINE", value=f"./a.out --password {secret}")
        self.add(
            "ProcessStreams",
            globalPid=gpid(7),
            filenameId=self.string("stdout"),
            contentId=self.string(f"out {secret}"),
        )
        self.add("ANALYSIS_FILE", id=1, filename=f"/home/{secret}/x", content=secret, globalPid=gpid(7))
        self.add(
            "DIAGNOSTIC_EVENT", timestamp=0, timestampType=1, source=1, severity=3, text=f"see {secret}", globalPid=None
        )
        self.string(f"PATH=/x\nAPI_KEY={secret}")
        table = "EXPORT_META_DATA" if self.age <= 2022 else "META_DATA_EXPORT"
        self.add(table, name="EXPORT_COMMAND_LINE", value=f"nsys export /home/{secret}/r.nsys-rep")

    def write(self, path: Path) -> Path:
        """Write the export to `path`."""
        tables = dict(self.rows)
        tables["StringIds"] = [(number, text) for text, number in self._strings.items()]
        if self.age in _VERSIONS:
            meta = "EXPORT_META_DATA" if self.age <= 2022 else "META_DATA_EXPORT"
            tables[meta] = [
                ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"), ("EXPORT_PRODUCT_VERSION", _VERSIONS[self.age]),
                ("EXPORT_SCHEMA_VERSION", _SCHEMAS[self.age]), *tables.get(meta, []),
            ]  # fmt: skip
        if not self.lazy:
            tables = {**{name: [] for name in _ALWAYS}, **tables}
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("BEGIN")
            for table, rows in tables.items():
                columns = self.columns(table)
                key = " PRIMARY KEY" if table == "StringIds" else ""
                declared = ", ".join(
                    f"{name} {'TEXT' if name in _TEXT else 'INTEGER'}{key if name == 'id' else ''}" for name in columns
                )
                database.execute(f"CREATE TABLE {table} ({declared})")
                database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
            database.execute("COMMIT")
        return path


def all_features(age: int = 2026, *, lazy: bool = True) -> Export:
    """A small export with everything in it: two processes on two GPUs, ranges, stacks, samples, MPI, graphs, copies of all kinds."""
    export = Export(age, lazy)
    for rank, pid in enumerate((7, 8)):
        export.process(pid, "/opt/app/solver")
        export.gpu(rank, "Synthetic GPU", ordinal=rank, uuid=f"uuid-{rank}")
        main = [("main", "/opt/app/solver"), ("_start", "/opt/app/solver")]
        inside = [
            ("0x7f00", "/opt/nsight-systems/2024.1/target-linux-x64/libcupti.so"),
            ("0x7f10", "/usr/lib/libcuda.so.1"),
        ]
        base = 1_000_000 * rank
        export.range(base, base + 5_000_000, "step", pid=pid, registered=rank == 1)
        export.range(base + 100_000, base + 2_000_000, f"aten::mul, op_id = {17 + rank}", pid=pid)
        first = export.call(
            base + 200_000, base + 210_000, "cudaMemcpyAsync", pid=pid, stack=[*inside, ("cudaMemcpyAsync", "a"), *main]
        )
        export.copy(base + 220_000, base + 420_000, H2D, 1 << 20, first, pid=pid, device=rank, memory=(rank, ON_DEVICE))
        launch = export.call(
            base + 430_000,
            base + 440_000,
            "cudaLaunchKernel",
            pid=pid,
            stack=[*inside, ("cudaLaunchKernel", "a"), ("solve", "/opt/app/solver"), *main],
        )
        export.kernel(
            base + 450_000,
            base + 900_000,
            "void solve<double>(double*)",
            launch,
            pid=pid,
            device=rank,
            grid=(8, 2, 1),
            shared=(16, 32),
        )
        export.kernel(
            base + 900_000,
            base + 950_000,
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)",
            None,
            pid=pid,
            device=rank,
            stream=9,
        )
        wait = export.call(base + 500_000, base + 960_000, "cudaStreamSynchronize", pid=pid)
        export.sync(base + 510_000, base + 950_000, wait, pid=pid)
        export.os_call(base + 520_000, base + 940_000, "poll", pid=pid, stack=[("poll", "/lib64/libc-2.31.so"), *main])
        back = export.call(base + 1_000_000, base + 1_200_000, "cudaMemcpy", pid=pid)
        export.copy(
            base + 1_010_000, base + 1_190_000, D2H, 1 << 19, back, pid=pid, device=rank, memory=(ON_DEVICE, PAGEABLE)
        )
        clear = export.call(base + 1_300_000, base + 1_301_000, "cudaMemsetAsync", pid=pid)
        export.memset(base + 1_302_000, base + 1_303_000, clear, pid=pid, device=rank)
        export.copy(
            base + 1_400_000, base + 1_450_000, D2D, 4096, clear, pid=pid, device=rank, memory=(ON_DEVICE, ON_DEVICE)
        )
        export.copy(
            base + 1_500_000,
            base + 1_550_000,
            PEER,
            4096,
            clear,
            pid=pid,
            device=rank,
            devices=(rank, 1 - rank),
            memory=(ON_DEVICE, ON_DEVICE),
        )
        export.copy(base + 1_600_000, base + 1_650_000, UNIFIED_H2D, 65536, None, pid=pid, device=rank, memory=(4, 4))
        replay = export.call(base + 2_100_000, base + 2_110_000, "cudaGraphLaunch", pid=pid)
        export.graph(base + 2_120_000, base + 2_220_000, replay, pid=pid)
        for step in range(3):
            at = base + 2_300_000 + step * 10_000
            export.kernel(at, at + 9_000, "graph_kernel(int)", replay, pid=pid, device=rank, node=step + 1)
        export.range(base + 4_900_000, None, "never closed", pid=pid)
        export.range(base + 300_000, base + 3_000_000, "overlapping", pid=pid, kind=START_END)
        export.thread(pid, 99, "worker")
        export.os_call(base + 3_000_000, base + 3_400_000, "pthread_cond_wait", pid=pid, thread=99)
        export.sample(base + 2_500_000, [("assemble", "/opt/app/solver"), *main], pid=pid)
        export.sample(base + 2_600_000, [*inside, ("cudaLaunchKernel", "a"), *main], pid=pid)
        export.sample(base + 2_700_000, [], pid=pid, thread=99)
        if age >= 2024:
            export.add("MPI_RANKS", globalTid=tid(pid), rank=rank)
            export.mpi(
                "MPI_P2P_EVENTS",
                base + 3_100_000,
                base + 3_200_000,
                "MPI_Send",
                pid=pid,
                size=800,
                remoteRank=1 - rank,
                tag=1,
            )
            export.mpi("MPI_COLLECTIVES_EVENTS", base + 3_300_000, base + 3_500_000, "MPI_Allreduce", pid=pid, size=8)
            export.mpi("MPI_START_WAIT_EVENTS", base + 3_600_000, base + 3_700_000, "MPI_Wait", pid=pid)
            export.mpi("MPI_OTHER_EVENTS", base + 3_800_000, base + 3_810_000, "MPI_Comm_rank", pid=pid)
        else:
            export.domain(1, "MPI", pid=pid)
            export.range(base + 3_100_000, base + 3_200_000, "MPI_Send", pid=pid, domain=1, registered=True)
            export.range(base, None, f"MPI Rank {rank}", pid=pid, kind=THREAD_NAME)
    return export
