"""Writers of what AMD's profilers write, from the layouts of the formats: one program in all of them.

`PROGRAM` runs two steps on one GPU: a copy to the device, a kernel, a reduction between devices, a wait, and at the end a copy
back. Times are in nanoseconds. `SUMS` holds what the readers must find, added up from the numbers below.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PID, TID = 5100, 5100
START = 1_000_000_000_000
AGENT = 4
RUN = "_0a1b2c3d_0000_1111_2222_333344445555"


@dataclass(frozen=True)
class Call:
    """A call of the runtime, or a range if `marker`."""

    name: str
    start: int
    end: int
    correlation: int
    marker: bool = False


@dataclass(frozen=True)
class Work:
    """A kernel, or a copy if `direction` is given."""

    name: str
    start: int
    end: int
    correlation: int
    stream: int = 1
    direction: str = ""
    size: int = 0
    blocks: int = 40


#: The calls and the work of a program.
Ran = tuple[list[Call], list[Work]]


def program() -> Ran:
    """Calls and the work that they launch."""
    calls: list[Call] = []
    works: list[Work] = []
    for step in range(2):
        t, c = START + step * 100_000, step * 10
        calls += [
            Call(f"step {step}", t, t + 95_000, c + 1, marker=True),
            Call("hipMemcpyAsync", t + 1_000, t + 3_000, c + 2),
            Call("hipLaunchKernel", t + 4_000, t + 6_000, c + 3),
            Call("ncclAllReduce", t + 7_000, t + 12_000, c + 4),
            Call("hipLaunchKernel", t + 8_000, t + 10_000, c + 5),
            Call("hipStreamSynchronize", t + 13_000, t + 80_000, c + 6),
        ]
        works += [
            Work("MEMORY_COPY_HOST_TO_DEVICE", t + 5_000, t + 15_000, c + 2, 2, "h2d", 4096),
            Work("saxpy(float*, float const*, float, int)", t + 16_000, t + 46_000, c + 3),
            Work("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", t + 50_000, t + 70_000, c + 5),
        ]
    end = START + 200_000
    calls.append(Call("hipMemcpy", end, end + 9_000, 31))
    works.append(Work("MEMORY_COPY_DEVICE_TO_HOST", end + 1_000, end + 5_000, 31, 2, "d2h", 512))
    return calls, works


PROGRAM = program()
SUMS: dict[str, float] = {
    "gpu.kernel.time": 2 * (30_000 + 20_000) * 1e-9,
    "gpu.kernel.count": 4,
    "gpu.collective.time": 2 * 20_000 * 1e-9,
    "gpu.copy.time": (2 * 10_000 + 4_000) * 1e-9,
    "gpu.copy.h2d.time": 2 * 10_000 * 1e-9,
    "gpu.copy.d2h.time": 4_000 * 1e-9,
    "gpu.time": (2 * 50_000 + 24_000) * 1e-9,
    "host.time": (2 * 95_000 + 9_000) * 1e-9,
    "gpu.sync.time": 2 * 67_000 * 1e-9,
    "calls.count": 13,
}
BYTES: dict[str, float] = {"gpu.copy.h2d.bytes": 2 * 4096, "gpu.copy.d2h.bytes": 512}
#: From the first copy to the end of the last one.
WINDOW = 200_000 + 5_000 - 5_000
BUSY = 2 * (10_000 + 30_000 + 20_000) + 4_000
#: The launch of each kernel: 40 groups of 256 work items.
GRID, GROUP, VECTOR, MATRIX, LOCAL = 40 * 256, 256, 24, 8, 2048
SECRETS = ("node17.secret.example", "alice-secret", "/home/alice-secret/app --token=sk-secret", "SECRET_ENV=hunter2")


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """A CSV file as rocprofv3 writes it: texts and names of columns in quotes."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


# -- rocprofv3 CSV -------------------------------------------------------------------------------------------

_API = ("Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp")
_KERNEL = (
    "Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
    "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count",
    "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z",
)  # fmt: skip
_COPY = (
    "Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp",
    "End_Timestamp",
)  # fmt: skip
_COUNTER = (
    "Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size", "Kernel_Id",
    "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count",
    "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp",
)  # fmt: skip
_AGENTS = (
    "Node_Id", "Logical_Node_Id", "Agent_Type", "Cu_Count", "Max_Engine_Clk_Fcompute", "Name", "Product_Name", "Model_Name",
)  # fmt: skip


def write_csv(folder: Path, *, host: str = SECRETS[0], of: Ran | None = None) -> Path:
    """An output folder: files of one process below a folder with the name of the host."""
    inner = folder / host
    inner.mkdir(parents=True)
    calls, works = of or PROGRAM
    domain = {False: "HIP_RUNTIME_API_EXT", True: "MARKER_CORE_RANGE_API"}

    def api(chosen: Iterable[Call]) -> list[tuple[object, ...]]:
        return [(domain[c.marker], c.name, PID, TID, c.correlation, c.start, c.end) for c in chosen]

    write_rows(inner / f"{PID}_hip_api_trace.csv", _API, api(c for c in calls if not c.marker))
    write_rows(inner / f"{PID}_marker_api_trace.csv", _API, api(c for c in calls if c.marker))
    kernels = [work for work in works if not work.direction]
    write_rows(
        inner / f"{PID}_kernel_trace.csv", _KERNEL,
        [
            ("KERNEL_DISPATCH", f"Agent {AGENT}", 1, k.stream, TID, number, 7, k.name, k.correlation, k.start, k.end,
             LOCAL, 0, VECTOR, MATRIX, 16, GROUP, 1, 1, k.blocks * GROUP, 1, 1)
            for number, k in enumerate(kernels, 1)
        ],
    )  # fmt: skip
    names = {"h2d": ("Agent 0", f"Agent {AGENT}"), "d2h": (f"Agent {AGENT}", "Agent 0")}
    write_rows(
        inner / f"{PID}_memory_copy_trace.csv", _COPY,
        [
            ("MEMORY_COPY", c.name, c.stream, *names[c.direction], c.correlation, c.start, c.end)
            for c in works if c.direction
        ],
    )  # fmt: skip
    write_rows(
        inner / f"{PID}_agent_info.csv", _AGENTS,
        [
            (0, 0, "CPU", 64, 0, "Example CPU", "Example CPU", ""),
            (AGENT, AGENT, "GPU", 104, 1700, "gfx90a", "Example Accelerator", ""),
        ],
    )  # fmt: skip
    return folder


def write_counters(folder: Path, counters: dict[str, Sequence[float]], *, run: int = 1) -> Path:
    """A counter collection with one dispatch for each value, each 10 µs long, in a folder of a pass."""
    inner = folder / f"pmc_{run}"
    inner.mkdir(parents=True)
    rows = [
        (number, number, f"Agent {AGENT}", 1, PID + run, TID, GRID, 7, "saxpy(float*) [clone .kd]", GROUP, LOCAL, 0,
         VECTOR, MATRIX, 16, name, float(value), START + number * 20_000, START + number * 20_000 + 10_000)
        for name, values in counters.items()
        for number, value in enumerate(values, 1)
    ]  # fmt: skip
    write_rows(inner / f"{PID + run}_counter_collection.csv", _COUNTER, rows)
    return folder


def write_more(folder: Path) -> Path:
    """Samples of instructions, allocations, scratch memory and statistics."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(
        folder / "pc_sampling_host_trap.csv",
        ("Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id"),
        [
            (START, 65535, 1, "s_waitcnt vmcnt(0)", "saxpy.hip:12", 1),
            (START + 1, 65535, 1, "s_waitcnt vmcnt(0)", "saxpy.hip:12", 1),
            (START + 2, 65535, 1, "v_fma_f32 v0, v1, v2, v3", "", 1),
        ],
    )
    write_rows(
        folder / "memory_allocation_trace.csv",
        (
            "Kind",
            "Operation",
            "Agent_Id",
            "Allocation_Size",
            "Address",
            "Correlation_Id",
            "Start_Timestamp",
            "End_Timestamp",
        ),
        [
            ("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE", "Agent 0", 1024, "0x7f00", 1, START, START + 500),
            ("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_FREE", "", 0, "0x7f00", 2, START + 600, START + 700),
        ],
    )
    write_rows(
        folder / "scratch_memory_trace.csv",
        ("Kind", "Operation", "Agent_Id", "Queue_Id", "Thread_Id", "Alloc_flags", "Start_Timestamp", "End_Timestamp"),
        [("SCRATCH_MEMORY", "SCRATCH_MEMORY_ALLOC", "Agent 4", 1, TID, 0, START, START + 10)],
    )
    return folder


def write_statistics(folder: Path) -> Path:
    """Sums by name."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = ("Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage", "MinNs", "MaxNs", "StdDev")
    write_rows(folder / "1_hip_api_stats.csv", columns, [("hipLaunchKernel", 4, 8000, 2000.0, 50.0, 1, 1, 0.0)])
    write_rows(folder / "1_kernel_stats.csv", columns, [("saxpy(float*)", 4, 60000, 15000.0, 100.0, 1, 1, 0.0)])
    write_rows(
        folder / "1_memory_copy_stats.csv", columns, [("MEMORY_COPY_HOST_TO_DEVICE", 2, 20000, 1.0, 1.0, 1, 1, 0.0)]
    )
    write_rows(folder / "1_marker_api_stats.csv", columns, [("step", 2, 190000, 1.0, 1.0, 1, 1, 0.0)])
    write_rows(folder / "1_domain_stats.csv", columns, [("HIP_RUNTIME_API", 4, 8000, 1.0, 1.0, 1, 1, 0.0)])
    return folder


# -- rocprofv3 JSON ------------------------------------------------------------------------------------------


def sdk_json(*, names_last: bool = False, of: Ran | None = None) -> dict[str, Any]:
    """The object that rocprofv3 writes as JSON; `names_last` puts what names the records behind them."""
    calls, works = of or PROGRAM
    functions = sorted({call.name for call in calls if not call.marker})
    kernels = sorted({work.name for work in works if not work.direction})
    copies = [
        "MEMORY_COPY_NONE",
        "MEMORY_COPY_HOST_TO_HOST",
        "MEMORY_COPY_HOST_TO_DEVICE",
        "MEMORY_COPY_DEVICE_TO_HOST",
    ]
    kinds = [
        {"kind": "NONE", "operations": []}, {"kind": "HIP_RUNTIME_API", "operations": functions},
        {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxMarkA", "roctxThreadRangeA"]},
        {"kind": "KERNEL_DISPATCH", "operations": []}, {"kind": "MEMORY_COPY", "operations": copies},
    ]  # fmt: skip

    def record(kind: int, operation: int, item: Call | Work, **more: Any) -> dict[str, Any]:
        return {
            "size": 48, "kind": kind, "operation": operation, "thread_id": TID,
            "correlation_id": {"internal": item.correlation, "external": 0}, "start_timestamp": item.start,
            "end_timestamp": item.end, **more,
        }  # fmt: skip

    device, host = {"handle": 900}, {"handle": 800}
    dispatches = [
        record(
            3, 2, work, stream_id={"handle": work.stream},
            dispatch_info={
                "agent_id": device, "queue_id": {"handle": 5}, "kernel_id": kernels.index(work.name) + 1, "dispatch_id": number,
                "group_segment_size": LOCAL, "workgroup_size": {"x": GROUP, "y": 1, "z": 1},
                "grid_size": {"x": work.blocks * GROUP, "y": 1, "z": 1},
            },
        )
        for number, work in enumerate((work for work in works if not work.direction), 1)
    ]  # fmt: skip
    moves = [
        record(
            4, copies.index(work.name), work, bytes=work.size, stream_id={"handle": work.stream},
            src_agent_id=host if work.direction == "h2d" else device, dst_agent_id=device if work.direction == "h2d" else host,
        )
        for work in works if work.direction
    ]  # fmt: skip
    names = {
        "metadata": {
            "node": {"hostname": SECRETS[0]}, "pid": PID, "command": [SECRETS[2]], "environment": [SECRETS[3]],
            "config": {"output_path": SECRETS[2]},
        },
        "agents": [
            {"id": host, "type": 1, "name": "Example CPU"},
            {"id": device, "type": 2, "logical_node_type_id": 0, "cu_count": 104, "name": "gfx90a",
             "product_name": "Example Accelerator", "max_engine_clk_fcompute": 1700},
        ],
        "counters": [{"id": {"handle": 77}, "name": "SQ_INSTS"}],
        "strings": {
            "buffer_records": kinds, "callback_records": kinds,
            "marker_api": [{"key": call.correlation, "value": call.name} for call in calls if call.marker],
            "pc_sample_instructions": ["s_endpgm"],
        },
        "kernel_symbols": [
            {"kernel_id": number, "formatted_kernel_name": name, "arch_vgpr_count": VECTOR, "accum_vgpr_count": MATRIX}
            for number, name in enumerate(kernels, 1)
        ],
    }  # fmt: skip
    records = {
        "callback_records": {"counter_collection": []},
        "buffer_records": {
            "hip_api": [record(1, functions.index(call.name), call) for call in calls if not call.marker],
            "marker_api": [record(2, 1, call) for call in calls if call.marker],
            "kernel_dispatch": dispatches,
            "memory_copy": moves,
        },
    }
    return {"rocprofiler-sdk-tool": [records | names if names_last else names | records]}


def write_json(path: Path, *, names_last: bool = False, of: Ran | None = None) -> Path:
    """The JSON file."""
    path.write_text(json.dumps(sdk_json(names_last=names_last, of=of)))
    return path


# -- databases -----------------------------------------------------------------------------------------------


def database(path: Path, tables: dict[str, tuple[str, Iterable[Sequence[object]]]], views: Iterable[str] = ()) -> Path:
    """An SQLite database: for each table the names of its columns and its rows."""
    with sqlite3.connect(path) as connection:
        for name, (columns, rows) in tables.items():
            fields = [f'"{column}"' for column in columns.split()]
            keyed = [f"{field} INTEGER PRIMARY KEY" if field == '"id"' else field for field in fields]
            connection.execute(f'CREATE TABLE "{name}" ({", ".join(keyed)})')
            marks = ", ".join("?" * len(fields))
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
        for view in views:
            connection.execute(view)
    connection.close()
    return path


class Strings:
    """Texts and their numbers."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The number of a text."""
        return self.numbers.setdefault(text, len(self.numbers) + 1)

    @property
    def rows(self) -> list[tuple[int, str]]:
        """Rows of a table of texts."""
        return [(number, text) for text, number in self.numbers.items()]


def rocpd_tables(
    run: str = RUN, *, shift: int = 0, pid: int = PID, node: int = 1, of: Ran | None = None
) -> dict[str, tuple[str, list[Any]]]:
    """Tables of a rocpd database of schema 3; with counters and an allocation."""
    calls, works = of or PROGRAM
    text = Strings()
    events: list[tuple[object, ...]] = []

    def event(category: str, item: Call | Work) -> int:
        events.append((len(events) + 1, text(category), item.correlation, 0, 0))
        return len(events)

    regions = []
    for number, call in enumerate(calls, 1):
        category = "MARKER_CORE_RANGE_API" if call.marker else "HIP_RUNTIME_API_EXT"
        name = text("roctxThreadRangeA" if call.marker else call.name)
        extra = json.dumps({"message": call.name}) if call.marker else "{}"
        regions.append((number, 1, 1, 1, call.start + shift, call.end + shift, name, event(category, call), extra))
    kernels = sorted({work.name for work in works if not work.direction})
    dispatches, copies = [], []
    for number, work in enumerate(works, 1):
        if work.direction:
            agents = (2, 1) if work.direction == "h2d" else (1, 2)
            mark = event("MEMORY_COPY", work)
            copies.append(
                (
                    number,
                    1,
                    1,
                    1,
                    work.start + shift,
                    work.end + shift,
                    text(work.name),
                    *agents,
                    work.size,
                    work.stream,
                    mark,
                )
            )
        else:
            kernel = kernels.index(work.name) + 1
            mark = event("KERNEL_DISPATCH", work)
            dispatches.append(
                (number, 1, 1, 1, 2, kernel, number, 1, work.stream, work.start + shift, work.end + shift, LOCAL, GROUP, 1, 1, work.blocks * GROUP, 1, 1, mark)
            )  # fmt: skip
    counted = [(number, row[-1], 1, 100.0 * number) for number, row in enumerate(dispatches, 1)]
    allocation = event("MEMORY_ALLOCATION", calls[1])
    named = {
        "rocpd_metadata": ("id tag value", [(1, "schema_version", "3.0.1"), (2, "uuid", run)]),
        "rocpd_info_node": ("id hash machine_id system_name hostname", [(1, 1, SECRETS[0], "Linux", SECRETS[0])]),
        "rocpd_info_process": ("id nid pid command environment", [(1, node, pid, SECRETS[2], SECRETS[3])]),
        "rocpd_info_thread": ("id nid pid tid name", [(1, 1, 1, TID, SECRETS[1])]),
        "rocpd_info_agent": (
            "id nid pid type type_index name product_name",
            [(1, 1, 1, "CPU", 0, "Example CPU", "Example CPU"), (2, 1, 1, "GPU", 0, "gfx90a", "Example Accelerator")],
        ),
        "rocpd_info_kernel_symbol": (
            "id nid pid kernel_name display_name arch_vgpr_count accum_vgpr_count",
            [(number, 1, 1, f"{name}.kd", name, VECTOR, MATRIX) for number, name in enumerate(kernels, 1)],
        ),
        "rocpd_info_pmc": ("id name symbol", [(1, "SQ_INSTS", "SQ_INSTS")]),
        "rocpd_region": ("id nid pid tid start end name_id event_id extdata", regions),
        "rocpd_kernel_dispatch": (
            "id nid pid tid agent_id kernel_id dispatch_id queue_id stream_id start end group_segment_size workgroup_size_x "
            "workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z event_id",
            dispatches,
        ),
        "rocpd_memory_copy": ("id nid pid tid start end name_id dst_agent_id src_agent_id size stream_id event_id", copies),
        "rocpd_memory_allocate": ("id nid pid tid type size event_id", [(1, 1, 1, 1, "ALLOC", 4096, allocation)]),
        "rocpd_pmc_event": ("id event_id pmc_id value", counted),
        "rocpd_event": ("id category_id stack_id parent_stack_id correlation_id", events),
        "rocpd_string": ("id string", text.rows),
    }  # fmt: skip
    return {name + run: table for name, table in named.items()}


def write_rocpd(path: Path, *, counters: bool = False, runs: Sequence[str] = (RUN,), of: Ran | None = None) -> Path:
    """A rocpd database with views without the identifier, as the tool makes them."""
    tables: dict[str, tuple[str, list[Any]]] = {}
    for number, run in enumerate(runs):
        tables |= rocpd_tables(run, pid=PID + number, node=1 + number, of=of)
    if not counters:
        tables = {name: table for name, table in tables.items() if not name.startswith("rocpd_pmc_event")}
    views = [
        f'CREATE VIEW "{name.removesuffix(runs[0])}" AS SELECT * FROM "{name}"'
        for name in tables
        if name.endswith(runs[0])
    ]
    return database(path, tables, views)


def write_rpd(path: Path) -> Path:
    """A database of rpd, schema 2."""
    calls, works = PROGRAM
    text = Strings()
    text("")
    number_of = {call.correlation: number for number, call in enumerate(calls, 1)}
    kinds = {"h2d": "CopyHostToDevice", "d2h": "CopyDeviceToHost", "": "KernelExecution"}
    apis = [
        (number, PID, TID, call.start, call.end, text("UserMarker" if call.marker else call.name), text(call.name if call.marker else ""))
        for number, call in enumerate(calls, 1)
    ]  # fmt: skip
    ops = [
        (number, 0, work.stream, work.start, work.end, text("" if work.direction else work.name), text(kinds[work.direction]))
        for number, work in enumerate(works, 1)
    ]  # fmt: skip
    barrier = (len(works) + 1, 0, 1, START, START + 900_000, text(""), text("Barrier"))
    tables: dict[str, tuple[str, list[Any]]] = {
        "rocpd_metadata": ("id tag value", [(1, "schema_version", "2")]),
        "rocpd_api": ("id pid tid start end apiName_id args_id", apis),
        "rocpd_op": ("id gpuId queueId start end description_id opType_id", [*ops, barrier]),
        "rocpd_api_ops": (
            "id api_id op_id", [(n, number_of[work.correlation], n) for n, work in enumerate(works, 1)],
        ),
        "rocpd_copyapi": (
            "api_ptr_id size kind", [(number_of[work.correlation], work.size, 1) for work in works if work.direction],
        ),
        "rocpd_kernelapi": (
            "api_ptr_id gridX gridY gridZ workgroupX workgroupY workgroupZ groupSegmentSize",
            [(number_of[work.correlation], GRID // GROUP, 1, 1, GROUP, 1, 1, LOCAL) for work in works if not work.direction],
        ),
        "rocpd_string": ("id string", text.rows),
    }  # fmt: skip
    return database(path, tables)


def write_legacy(path: Path, *, trace: bool = False) -> Path:
    """results.db of rocprof: a table of kernels, or the tables of a trace."""
    calls, works = PROGRAM
    kernels = [work for work in works if not work.direction]
    if not trace:
        rows = [
            (
                number,
                f'"{work.name} [clone .kd]"',
                8,
                0,
                PID,
                TID,
                GRID,
                GROUP,
                LOCAL,
                VECTOR,
                MATRIX,
                work.start,
                work.end,
            )
            for number, work in enumerate(kernels)
        ]
        columns = "Index KernelName gpu-id queue-id pid tid grd wgr lds arch_vgpr accum_vgpr BeginNs EndNs"
        return database(path, {"KERN": (columns, rows)})
    return database(
        path,
        {
            "HIP": (
                "BeginNs EndNs pid tid Name args Index",
                [(c.start, c.end, PID, TID, c.name, SECRETS[2], c.correlation) for c in calls if not c.marker],
            ),
            "rocTX": ("BeginNs EndNs pid tid Name Index", [(c.start, c.end, PID, TID, c.name, 0) for c in calls if c.marker]),
            "OPS": (
                "BeginNs EndNs dev-id queue-id Name pid tid Index",
                [(k.start, k.end, 0, k.stream, k.name, PID, TID, k.correlation) for k in kernels],
            ),
            "COPY": (
                "BeginNs EndNs dev-id queue-id Name pid tid Index",
                [
                    (w.start, w.end, 0, w.stream, {"h2d": "CopyHostToDevice", "d2h": "CopyDeviceToHost"}[w.direction], PID, TID, w.correlation)
                    for w in works if w.direction
                ],
            ),
        },
    )  # fmt: skip


# -- rocprof-compute -----------------------------------------------------------------------------------------

#: A copy of 64 MiB in 100 µs on 100 compute units with a peak of 1,600 GB/s: counters of one launch.
COPY_COUNTERS: dict[str, float] = {
    "GRBM_GUI_ACTIVE": 150_000, "SQ_INSTS": 1_000_000, "SQ_WAVE_CYCLES": 60_000_000, "SQ_ACTIVE_INST_VALU": 750_000,
    "SQ_VALU_MFMA_BUSY_CYCLES": 0,
    "TCC_EA_RDREQ_sum": 1 << 20, "TCC_EA_RDREQ_32B_sum": 1 << 10, "TCC_EA_WRREQ_sum": 1 << 19,
    "TCC_EA_WRREQ_64B_sum": 1 << 18, "TCC_HIT_sum": 300, "TCC_MISS_sum": 700, "TCC_REQ_sum": 1 << 20,
    "TCP_TOTAL_CACHE_ACCESSES_sum": 1 << 22, "TCP_TCC_READ_REQ_sum": 1 << 20, "TCP_TCC_WRITE_REQ_sum": 1 << 20,
    "TCP_TCC_ATOMIC_WITH_RET_REQ_sum": 0, "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum": 0,
    **{
        f"SQ_INSTS_VALU_{what}_{kind}": 0.0
        for what in ("ADD", "MUL", "TRANS", "FMA")
        for kind in ("F16", "F32", "F64")
    },
    **{f"SQ_INSTS_VALU_MFMA_MOPS_{kind}": 0.0 for kind in ("F16", "BF16", "F32", "F64")},
}  # fmt: skip
_SYSTEM = {
    "workload_name": SECRETS[1], "command": SECRETS[2], "hostname": SECRETS[0], "gpu_model": "MI210", "gpu_arch": "gfx90a",
    "cu_per_gpu": "100", "max_waves_per_cu": "32", "max_sclk": "1700", "num_xcd": "1", "hbm_bw": "1638.4",
}  # fmt: skip
_ROOFLINE = {"device": "2", "HBMBw": "1200", "L2Bw": "5000", "L1Bw": "9000", "FP32Flops": "20000", "FP64Flops": "19000"}


def write_workload(folder: Path, *, long: bool = False, bare: bool = False, launches: int = 2, **more: float) -> Path:
    """A folder of rocprof-compute: one row for each launch, or `long` for each counter; `bare` leaves out the machine."""
    folder.mkdir(parents=True, exist_ok=True)
    counters = COPY_COUNTERS | more
    place = {
        "GPU_ID": 2,
        "Grid_Size": 4096 * GROUP,
        "Workgroup_Size": GROUP,
        "LDS_Per_Workgroup": LOCAL,
        "Arch_VGPR": VECTOR,
        "Accum_VGPR": MATRIX,
    }
    rows: list[dict[str, object]] = []
    for number in range(launches):
        start = START + number * 500_000
        times = {"Start_Timestamp": start, "End_Timestamp": start + 100_000}
        base = {"Dispatch_ID": number, "Kernel_Name": "copy(double*, double*)", **place, **times}
        if long:
            rows += [base | {"Counter_Name": name, "Counter_Value": value} for name, value in counters.items()]
            rows.append(base | {"Counter_Name": "TCC_HIT[0]", "Counter_Value": 3})
        else:
            rows.append(
                base
                | counters
                | {"TCC_HIT[0]": 100, "TCC_HIT[1]": 200, "TCC_EA_X[0]": 5, "TCC_EA_X[1]": 6, "obj_1": "0x7f"}
            )
    write_rows(folder / "pmc_perf.csv", list(rows[0]), [list(row.values()) for row in rows])
    if not bare:
        write_rows(folder / "sysinfo.csv", list(_SYSTEM), [list(_SYSTEM.values())])
        other = _ROOFLINE | {"device": "0", "HBMBw": "1"}
        write_rows(folder / "roofline.csv", list(_ROOFLINE), [list(other.values()), list(_ROOFLINE.values())])
    return folder


def write_compute_db(path: Path) -> Path:
    """A database of rocprof-compute: two kernels, one of them without a dispatch."""
    metrics = [
        ("VALU Utilization", "System Speed-of-Light", {"Avg": 12.5}), ("MFMA Utilization", "System Speed-of-Light", {"Avg": 40.0}),
        ("L2 Cache Hit Rate", "System Speed-of-Light", {"Avg": 55.0}), ("L2 Cache Hit Rate", "L2 Cache", {"Avg": 54.0}),
        ("vL1D Cache Hit Rate", "System Speed-of-Light", {"Avg": 66.0}),
        ("Wavefront Occupancy", "System Speed-of-Light", {"Avg": 800.0, "Pct of Peak": 25.0}),
        ("HBM Bandwidth", "Roofline", {"Value": 800.0, "Peak (Empirical)": 1600.0}),
        ("L2 Cache Bandwidth", "Roofline", {"Value": 500.0, "Peak (Empirical)": 5000.0}),
        ("L1 Cache Bandwidth", "Roofline", {"Value": 900.0, "Peak (Empirical)": 9000.0}),
        ("VALU FLOPs (F32)", "Roofline", {"Value": 100.0, "Peak (Empirical)": 20000.0}),
        ("MFMA FLOPs (F32)", "Roofline", {"Value": 300.0}), ("VALU FLOPs (F64)", "Roofline", {"Value": 0.0}),
        ("Grid Size", "Wavefront", {"Avg": float(GRID)}), ("Workgroup Size", "Wavefront", {"Avg": float(GROUP)}),
        ("VGPRs", "Wavefront", {"Avg": float(VECTOR)}), ("LDS Allocation", "Wavefront", {"Avg": float(LOCAL)}),
        ("Strange One", "Else", {"Min": 1.0, "Avg": 2.0}),
    ]  # fmt: skip
    values = [
        (0, number, 1, which, value)
        for number, (_, _, given) in enumerate(metrics, 1)
        for which, value in given.items()
    ]
    return database(
        path,
        {
            "compute_metadata": ("id compute_version", [(1, "3.5.0")]),
            "compute_workload": (
                "workload_id name sys_info_extdata roofline_bench_extdata",
                [(1, SECRETS[1], json.dumps(_SYSTEM), json.dumps({"HBMBw": 1600}))],
            ),
            "compute_kernel": ("kernel_uuid workload_id kernel_name", [(1, 1, "gemm(float*)"), (2, 1, "never(int)")]),
            "compute_dispatch": (
                "dispatch_uuid kernel_uuid dispatch_id gpu_id start_timestamp end_timestamp",
                [(1, 1, 0, 3, START, START + 4_000), (2, 1, 1, 3, START + 9_000, START + 11_000), (3, 99, 1, 3, 1, 2)],
            ),
            "compute_metric_definition": (
                "metric_uuid workload_id name table_name", [(n, 1, m[0], m[1]) for n, m in enumerate(metrics, 1)],
            ),
            "compute_kernel_metric_value": ("value_uuid metric_uuid kernel_uuid value_name value", values),
            "compute_pcsampling": ("kernel_uuid instruction count", [(1, "v_mfma", 70), (1, "s_nop", 30), (5, "x", 1)]),
        },
    )  # fmt: skip
