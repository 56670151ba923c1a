"""What AMD's profilers write: rocprofv3 (CSV, JSON, rocpd databases), rpd, rocprof of before, rocprofiler-compute."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance
from chathpc.errors import AdapterError

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile


class Kind(StrEnum):
    """The forms, by the modules here that read them."""

    TRACES = "csv_traces"
    SDK_JSON = "sdk_json"
    ROCPD = "rocpd"
    RPD = "rpd"
    LEGACY = "legacy"
    COMPUTE = "compute"
    COMPUTE_DB = "compute_db"


class Table(StrEnum):
    """What a CSV file of rocprofv3 holds, told by the names of its columns."""

    KERNELS = "kernel_trace"
    COUNTERS = "counter_collection"
    CALLS = "api_trace"
    COPIES = "memory_copy_trace"
    ALLOCATIONS = "memory_allocation_trace"
    SCRATCH = "scratch_memory_trace"
    SAMPLES = "pc_sampling"
    STATISTICS = "stats"
    AGENTS = "agent_info"


#: Columns that tell a table, all in lower case; the first row that fits decides.
_COLUMNS: tuple[tuple[Table, frozenset[str]], ...] = (
    (Table.SAMPLES, frozenset({"sample_timestamp", "instruction", "dispatch_id"})),
    (Table.COUNTERS, frozenset({"agent_id", "kernel_name", "counter_name", "counter_value"})),
    (Table.KERNELS, frozenset({"kernel_name", "start_timestamp", "end_timestamp", "correlation_id"})),
    (Table.KERNELS, frozenset({"kernelname", "beginns", "endns"})),
    (Table.CALLS, frozenset({"domain", "function", "start_timestamp", "end_timestamp"})),
    (Table.COPIES, frozenset({"direction", "start_timestamp", "end_timestamp"})),
    (Table.ALLOCATIONS, frozenset({"operation", "allocation_size", "start_timestamp"})),
    (Table.SCRATCH, frozenset({"operation", "alloc_flags", "start_timestamp"})),
    (Table.STATISTICS, frozenset({"name", "calls", "totaldurationns"})),
    (Table.AGENTS, frozenset({"node_id", "logical_node_id", "agent_type"})),
)
#: Files of a workload of rocprof-compute: one row for each dispatch with all counters, or one for each counter.
WORKLOAD = re.compile(r"pmc_perf(?:_\d+)?\.csv(?:\.gz)?")
_PERF = frozenset({"dispatch_id", "kernel_name", "gpu_id", "start_timestamp", "end_timestamp"})
#: Names and folders in one folder that are looked into.
_LOOKED, _FOLDERS = 64, 16


def columns_of(text: str) -> tuple[str, ...]:
    """Names of the columns of a CSV file in lower case; empty if the first line is no such line."""
    line = text.lstrip("\ufeff").split("\n", 1)[0]
    if "," not in line or len(line) > 1 << 20:
        return ()
    try:
        return tuple(name.strip().lower() for name in next(csv.reader([line.rstrip("\r")])))
    except (csv.Error, StopIteration):
        return ()


def rows_of(path: Path, *, lower: bool = True) -> Iterator[dict[str, str]]:
    """Rows of a CSV file by the names of its columns, in lower case unless `lower` is False; short rows lack what they lack."""
    from chathpc.adapters.content import DAMAGED, read_text

    rows = csv.reader(io.StringIO(read_text(path), newline=""))
    try:
        columns = [name.strip().lstrip("\ufeff") for name in next(rows, [])]
        if lower:
            columns = [name.lower() for name in columns]
        for row in rows:
            if row:
                yield dict(zip(columns, row, strict=False))
    except csv.Error as error:
        raise AdapterError(f"damaged CSV in line {rows.line_num}: {error}", path=path, hint=DAMAGED) from None


def table_of(columns: tuple[str, ...]) -> Table | None:
    """The table with these columns; None if it is none of rocprofv3."""
    found = set(columns)
    return next((table for table, needed in _COLUMNS if needed <= found), None)


def read(path: Path) -> Profile:
    """Read what is at `path`; AdapterError for what is damaged or of none of the forms."""
    kind = kind_of(Glance(path))
    if kind is None:
        raise AdapterError(
            "it contains nothing that AMD's profilers write",
            path=path,
            hint="Give the output folder of rocprofv3, one of its files, or a workload of rocprof-compute.",
        )
    return reader(f"chathpc.adapters.rocprof.{kind}")(path)


def recognises(glance: Glance) -> bool:
    """True for one of the files that AMD's profilers write, and for a folder that holds some."""
    return kind_of(glance) is not None


def kind_of(glance: Glance) -> Kind | None:
    """The form of a path; None if it is none of these."""
    if glance.is_folder:
        return _of_folder(glance)
    if not glance.is_file:
        return None
    if glance.tables:
        return _of_tables(glance.tables)
    text = glance.text
    if text.lstrip("\ufeff \t\r\n")[:1] == "{":
        return Kind.SDK_JSON if '"rocprofiler-sdk-tool"' in text[:4096] else None
    columns = columns_of(text)
    if set(columns) >= _PERF and table_of(columns) is not Table.KERNELS:
        return Kind.COMPUTE
    return Kind.TRACES if table_of(columns) is not None else None


def _of_tables(tables: frozenset[str]) -> Kind | None:
    if {"rocpd_api", "rocpd_op"} <= tables:
        return Kind.RPD
    if any(name.startswith(("rocpd_kernel_dispatch", "rocpd_region", "rocpd_info_")) for name in tables):
        return Kind.ROCPD
    if {"compute_workload", "compute_kernel"} <= tables:
        return Kind.COMPUTE_DB
    return Kind.LEGACY if "KERN" in tables or ("OPS" in tables and tables & {"HIP", "HSA", "COPY"}) else None


def _of_folder(glance: Glance, depth: int = 2) -> Kind | None:
    """A workload, or a folder with CSV files of rocprofv3 in it or up to two folders below (by host, by pass)."""
    if any(WORKLOAD.fullmatch(name) for name in glance.names):
        return Kind.COMPUTE
    for name in islice((name for name in glance.names if name.endswith(".csv")), _LOOKED):
        if table_of(columns_of(glance.inside(name).text)) is not None:
            return Kind.TRACES
    if depth:
        for name in islice((name for name in glance.names if name.count(".") < 8), _FOLDERS):
            inner = glance.inside(name)
            if inner.is_folder and not inner.path.is_symlink() and (found := _of_folder(inner, depth - 1)) is not None:
                return found if found is not Kind.COMPUTE or depth == 2 else None
    return None


ADAPTER = Adapter(
    name="rocprof",
    reads="rocprofv3 CSV, JSON and rocpd databases, .rpd, rocprof results.db, rocprof-compute workloads (AMD)",
    recognises=recognises,
    read=read,
    order=45,
)
