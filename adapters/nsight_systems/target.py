"""Facts beside the events: version, processes, threads, ranks, GPUs. Environment, command line and output are not touched."""

from __future__ import annotations

import re

import numpy as np

from chathpc.adapters.nsight_systems import strings
from chathpc.adapters.nsight_systems.columns import Int64Array
from chathpc.adapters.nsight_systems.sources import PROCESS_BITS
from chathpc.adapters.sqlite import Database
from chathpc.profile.remark import Device
from chathpc.profile.text import clean

#: Tables of facts have a row for each process of the node at most; of more the rest is not read.
MOST_ROWS = 100_000
#: Ranks beyond are damage: no machine has as many cores.
MOST_RANKS = 1 << 24
_VERSION = re.compile(r"\d{1,4}(\.\d{1,6}){0,4}")


def version(database: Database) -> str:
    """Version of Nsight Systems that exported, `2024.5.1.113`; empty if the export does not tell."""
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
        if database.has(table, "name", "value"):
            found = database.rows(f"SELECT value FROM {table} WHERE name = 'EXPORT_PRODUCT_VERSION' LIMIT 1")  # noqa: S608
            for (value,) in found:
                if isinstance(value, str) and (match := _VERSION.match(value)):
                    return match[0]
    return ""


def process_names(database: Database) -> dict[int, str]:
    """Names of programs, without their folders, by global process id."""
    if not database.has("PROCESSES", "globalPid", "name"):
        return {}
    found = {}
    for pid, name in database.rows("SELECT globalPid, name FROM PROCESSES LIMIT ?", (MOST_ROWS,)):
        if isinstance(pid, int) and isinstance(name, str):
            found[pid] = clean(name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1])[:100]
    return found


def thread_names(database: Database, tids: Int64Array) -> dict[int, str]:
    """Names of the threads with the given ids."""
    if not database.has("ThreadNames", "globalTid", "nameId"):
        return {}
    wanted = set(tids.tolist())
    pairs = [
        (tid, name)
        for tid, name in database.rows("SELECT globalTid, nameId FROM ThreadNames LIMIT ?", (MOST_ROWS,))
        if isinstance(tid, int) and isinstance(name, int) and tid in wanted and name >= 0
    ]
    texts = strings.texts(database, np.array([name for _, name in pairs], dtype=np.int64))
    return {tid: clean(texts[name])[:60] for tid, name in pairs if name in texts}


def mpi_ranks(database: Database) -> dict[int, int]:
    """Rank by global process id."""
    if not database.has("MPI_RANKS", "globalTid", "rank"):
        return {}
    rows = database.rows("SELECT globalTid, rank FROM MPI_RANKS LIMIT ?", (MOST_ROWS,))
    return {
        tid & PROCESS_BITS: rank
        for tid, rank in rows
        if isinstance(tid, int) and isinstance(rank, int) and 0 <= rank < MOST_RANKS
    }


def session_start(database: Database) -> int | None:
    """Nanoseconds since the epoch at which the session's clock was zero; None if the export does not tell."""
    if not database.has("TARGET_INFO_SESSION_START_TIME", "utcEpochNs"):
        return None
    for (value,) in database.rows("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1"):
        if isinstance(value, int) and 0 < value < 2**62:
            return value
    return None


def gpus(database: Database) -> tuple[dict[int, Device], dict[int, str]]:
    """The GPUs by their CUDA ordinal, and what tells one GPU from another on any node (never shown)."""
    found: dict[int, Device] = {}
    identity: dict[int, str] = {}
    for row in _rows(database, "TARGET_INFO_CUDA_GPU"):
        at = _int(row, "deviceId")
        name = row.get("name")
        if at is None or not isinstance(name, str) or at in found:
            continue
        bandwidth, clock = _int(row, "globalMemoryBandwidth"), _int(row, "coreClockRate")
        found[at] = Device(
            clean(name)[:100], _int(row, "numMultiprocessors"), _int(row, "globalMemorySize"),
            None if bandwidth is None else bandwidth * 1e3, None if clock is None else clock * 1e3,
            _capability(row, "computeCapabilityMajor", "computeCapabilityMinor"),
        )  # fmt: skip
    if found:
        return found, identity
    for row in _rows(database, "TARGET_INFO_GPU"):
        ordinal = _int(row, "cuDevice", zero=True)
        at = ordinal if ordinal is not None else _int(row, "id", zero=True)
        at = at if at is not None else _int(row, "deviceId", zero=True)
        name = row.get("name")
        if at is None or not isinstance(name, str) or at in found:
            continue
        bandwidth, clock = _int(row, "memoryBandwidth"), _int(row, "clockRate")
        found[at] = Device(
            clean(name)[:100], _int(row, "smCount"), _int(row, "totalMemory"),
            None if bandwidth is None else float(bandwidth), None if clock is None else float(clock),
            _capability(row, "computeMajor", "computeMinor"),
        )  # fmt: skip
        if isinstance(row.get("uuid"), str) and row["uuid"]:
            identity[at] = str(row["uuid"])
    return found, identity


def visible_devices(database: Database) -> dict[tuple[int, int], int]:
    """Ordinal in TARGET_INFO_GPU by (process id, CUDA ordinal in that process), where the export tells it."""
    if not database.has("TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId", "pid"):
        return {}
    ordinal = {}
    for row in _rows(database, "TARGET_INFO_GPU"):
        gpu, cuda = _int(row, "id", zero=True), _int(row, "cuDevice", zero=True)
        if gpu is not None:
            ordinal[gpu] = gpu if cuda is None else cuda
    found = {}
    for row in _rows(database, "TARGET_INFO_CUDA_DEVICE"):
        gpu, cuda, pid = (_int(row, name, zero=True) for name in ("gpuId", "cudaId", "pid"))
        if gpu is not None and cuda is not None and pid is not None:
            found[pid, cuda] = ordinal.get(gpu, gpu)
    return found


def errors(database: Database) -> int:
    """How many errors the profiler itself reported during the capture."""
    if not database.has("DIAGNOSTIC_EVENT", "severity"):
        return 0
    ((count,),) = database.rows("SELECT count(*) FROM DIAGNOSTIC_EVENT WHERE severity >= 3")
    return count if isinstance(count, int) else 0


def lost_events(database: Database) -> bool:
    """True if the profiler says that events are missing."""
    if not database.has("DIAGNOSTIC_EVENT", "text"):
        return False
    pattern = "text LIKE 'Not all %events might have been collected%' OR text LIKE '%dropped%'"
    return bool(database.rows(f"SELECT 1 FROM DIAGNOSTIC_EVENT WHERE {pattern} LIMIT 1"))  # noqa: S608


_COLUMNS = {
    "TARGET_INFO_CUDA_GPU": (
        "deviceId", "name", "globalMemoryBandwidth", "globalMemorySize", "coreClockRate", "numMultiprocessors",
        "computeCapabilityMajor", "computeCapabilityMinor",
    ),
    "TARGET_INFO_GPU": (
        "id", "deviceId", "cuDevice", "name", "memoryBandwidth", "totalMemory", "clockRate", "smCount", "computeMajor",
        "computeMinor", "uuid",
    ),
    "TARGET_INFO_CUDA_DEVICE": ("gpuId", "cudaId", "pid"),
}  # fmt: skip


def _rows(database: Database, table: str) -> list[dict[str, object]]:
    if table not in database.tables:
        return []
    names = [name for name in _COLUMNS[table] if name in database.columns(table)]
    if not names:
        return []
    return [
        dict(zip(names, row, strict=True))
        for row in database.rows(f"SELECT {', '.join(names)} FROM {table} LIMIT 10000")  # noqa: S608
    ]


def _int(row: dict[str, object], name: str, *, zero: bool = True) -> int | None:
    value = row.get(name)
    return value if isinstance(value, int) and (value > 0 or (zero and value == 0)) else None


def _capability(row: dict[str, object], major: str, minor: str) -> str:
    high, low = _int(row, major), _int(row, minor)
    return "" if high is None or low is None or high == 0 else f"{high}.{low}"
