"""Facts beside the events: version, processes, threads, ranks, GPUs. Environment, command line and output are not touched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

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
    found = {}
    for pid, name in _rows(database, "PROCESSES", ("globalPid", "name"), MOST_ROWS):
        if isinstance(pid, int) and isinstance(name, str):
            found[pid] = clean(name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1])[:100]
    return found


def thread_names(database: Database, tids: Int64Array) -> dict[int, str]:
    """Names of the threads with the given ids."""
    wanted = set(tids.tolist())
    pairs = [
        (tid, name)
        for tid, name in _rows(database, "ThreadNames", ("globalTid", "nameId"), MOST_ROWS)
        if isinstance(tid, int) and isinstance(name, int) and tid in wanted and name >= 0
    ]
    texts = strings.texts(database, np.array([name for _, name in pairs], dtype=np.int64))
    return {tid: clean(texts[name])[:60] for tid, name in pairs if name in texts}


def mpi_ranks(database: Database) -> dict[int, int]:
    """Rank by global process id."""
    return {
        tid & PROCESS_BITS: rank
        for tid, rank in _rows(database, "MPI_RANKS", ("globalTid", "rank"), MOST_ROWS)
        if isinstance(tid, int) and isinstance(rank, int) and 0 <= rank < MOST_RANKS
    }


def session_start(database: Database) -> int | None:
    """Nanoseconds since the epoch at which the session's clock was zero; None if the export does not tell."""
    for (value,) in _rows(database, "TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",), 1):
        if isinstance(value, int) and 0 < value < 2**62:
            return value
    return None


#: Tables of GPUs, of 2021 and of later exports: columns of the ordinal (the first that has one), name, multiprocessors, bytes of memory,
#: bandwidth, clock, both parts of the capability; and the factor to bytes and cycles per second.
_GPUS = (
    ("TARGET_INFO_CUDA_GPU", ("deviceId",), ("name", "numMultiprocessors", "globalMemorySize", "globalMemoryBandwidth", "coreClockRate",
     "computeCapabilityMajor", "computeCapabilityMinor"), 1e3),
    ("TARGET_INFO_GPU", ("cuDevice", "id", "deviceId"), ("name", "smCount", "totalMemory", "memoryBandwidth", "clockRate",
     "computeMajor", "computeMinor"), 1.0),
)  # fmt: skip


def gpus(database: Database) -> tuple[dict[int, Device], dict[int, str]]:
    """The GPUs by their CUDA ordinal, and what tells one GPU from another on any node (never shown)."""
    found: dict[int, Device] = {}
    identity: dict[int, str] = {}
    for table, ordinals, columns, factor in _GPUS:
        for uuid, name, *row in _rows(database, table, ("uuid", *columns, *ordinals)) if not found else ():
            units, memory, bandwidth, clock, major, minor, *numbers = map(_natural, row)
            at = next((number for number in numbers if number is not None), None)
            if at is None or not isinstance(name, str) or at in found:
                continue
            found[at] = Device(
                clean(name)[:100], units, memory, None if bandwidth is None else bandwidth * factor,
                None if clock is None else clock * factor, f"{major}.{minor}" if major and minor is not None else "",
            )  # fmt: skip
            if isinstance(uuid, str) and uuid:
                identity[at] = uuid
    return found, identity


def visible_devices(database: Database) -> dict[tuple[int, int], int]:
    """Ordinal in TARGET_INFO_GPU by (process id, CUDA ordinal in that process), where the export tells it."""
    ordinal = {
        gpu: gpu if cuda is None else cuda
        for gpu, cuda in (map(_natural, row) for row in _rows(database, "TARGET_INFO_GPU", ("id", "cuDevice")))
        if gpu is not None
    }
    found = {}
    for row in _rows(database, "TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")):
        gpu, cuda, pid = map(_natural, row)
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


def _rows(database: Database, table: str, columns: Sequence[str], most: int = 10_000) -> Iterator[tuple[object, ...]]:
    """Rows of a table of facts, None for columns that it lacks; beyond `most` they are not read."""
    return islice(database.select(table, (), columns), most)


def _natural(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
