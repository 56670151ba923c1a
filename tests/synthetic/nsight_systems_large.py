"""Large exports of Nsight Systems: one process that launches kernel after kernel on four streams, written inside SQLite.

`write_large(path, kernels)` gives two API rows a kernel, a copy every hundredth kernel and a range every thousandth; 5 million
kernels make about 1 GB in 40 seconds. `write_kernels_only` leaves out everything on the host. All numbers follow from the row's number, so
that totals can be computed by hand: `KERNEL_PERIOD` from launch to launch, durations from `kernel_nanoseconds`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

#: Nanoseconds from one launch to the next, from a launch to the start of its kernel, and that a call takes.
KERNEL_PERIOD, LATENCY, CALL = 20_000, 8_000, 3_000
#: Launches between two copies, and in one range.
COPY_EVERY, RANGE_OF = 100, 1_000
GLOBAL_TID = (1 << 48) + (4_321 << 24) + 4_321
GLOBAL_PID = GLOBAL_TID & ~0xFFFFFF
KERNELS = ("advance_particles", "gather_fields", "scatter_charge", "solve_poisson")
STRINGS = ("[Unknown]", "step", "cudaLaunchKernel_v7000", "cudaEventRecord_v3020", "cudaMemcpyAsync_v3020", *KERNELS)
FIRST_KERNEL_NAME = len(STRINGS) - len(KERNELS)

#: Columns of 2025: those of a kernel that hold a number here, and those that are there and empty.
KERNEL_COLUMNS = {
    "start": f"i * {KERNEL_PERIOD} + {LATENCY}",
    "end": f"i * {KERNEL_PERIOD} + {LATENCY} + 6000 + i * 7919 % 8 * 1000 + i * 104729 % 997",
    "deviceId": "0",
    "contextId": "1",
    "greenContextId": "NULL",
    "streamId": "7 + i % 4",
    "correlationId": "2 * i + 1",
    "globalPid": str(GLOBAL_PID),
    "demangledName": f"{FIRST_KERNEL_NAME} + i % {len(KERNELS)}",
    "shortName": f"{FIRST_KERNEL_NAME} + i % {len(KERNELS)}",
    "mangledName": f"{FIRST_KERNEL_NAME} + i % {len(KERNELS)}",
    "launchType": "1",
    "cacheConfig": "0",
    "registersPerThread": "32 + i % 3 * 16",
    "gridX": "100 + i % 300",
    "gridY": "1 + i % 2",
    "gridZ": "1",
    "blockX": "256",
    "blockY": "1",
    "blockZ": "1",
    "staticSharedMemory": "0",
    "dynamicSharedMemory": "i % 2 * 4096",
    "localMemoryPerThread": "0",
    "localMemoryTotal": "155713536",
    "gridId": "i + 1",
    "sharedMemoryExecuted": "32768",
    **dict.fromkeys(("graphNodeId", "sharedMemoryLimitConfig", "qmdBulkReleaseDone", "qmdPreexitDone"), "NULL"),
    **dict.fromkeys(("qmdLastCtaDone", "graphId"), "NULL"),
    **dict.fromkeys(("clusterX", "clusterY", "clusterZ", "clusterSchedulingPolicy"), "0"),
    **dict.fromkeys(("maxPotentialClusterSize", "maxActiveClusters"), "0"),
}
#: Row i is the launch of kernel i / 2 if i is even; else it records an event or, now and then, copies.
RUNTIME_COLUMNS = {
    "start": f"i / 2 * {KERNEL_PERIOD} + i % 2 * {2 * CALL}",
    "end": f"i / 2 * {KERNEL_PERIOD} + i % 2 * {2 * CALL} + {CALL} + i * 7919 % 700",
    "eventClass": "0",
    "globalTid": str(GLOBAL_TID),
    "correlationId": "i + 1",
    "nameId": f"CASE WHEN i % 2 = 0 THEN 2 WHEN i / 2 % {COPY_EVERY} = 0 THEN 4 ELSE 3 END",
    "returnValue": "0",
    "callchainId": "NULL",
}
COPY_COLUMNS = {
    "start": f"i * {COPY_EVERY} * {KERNEL_PERIOD} + {LATENCY}",
    "end": f"i * {COPY_EVERY} * {KERNEL_PERIOD} + {LATENCY} + 15000",
    "deviceId": "0",
    "contextId": "1",
    "greenContextId": "NULL",
    "streamId": "13",
    "correlationId": f"2 * {COPY_EVERY} * i + 2",
    "globalPid": str(GLOBAL_PID),
    "bytes": "262144",
    "copyKind": "1 + i % 2",
    "deprecatedSrcId": "NULL",
    "srcKind": "1 + i % 2",
    "dstKind": "2 - i % 2",
    **dict.fromkeys(("srcDeviceId", "srcContextId", "dstDeviceId", "dstContextId", "migrationCause"), "NULL"),
    **dict.fromkeys(("graphNodeId", "virtualAddress"), "NULL"),
    "copyCount": "1",
}
RANGE_COLUMNS = {
    "start": f"i * {RANGE_OF * KERNEL_PERIOD}",
    "end": f"(i + 1) * {RANGE_OF * KERNEL_PERIOD} - 1",
    "eventType": "59",
    **dict.fromkeys(("rangeId", "category", "color"), "NULL"),
    "text": "NULL",
    "globalTid": str(GLOBAL_TID),
    "endGlobalTid": "NULL",
    "textId": "1",
    "domainId": "0",
}
#: Tables of which every column is given here.
SMALL_TABLES: dict[str, tuple[str, list[tuple[object, ...]]]] = {
    "META_DATA_EXPORT": (
        "name TEXT NOT NULL, value TEXT",
        [
            ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
            ("EXPORT_PRODUCT_VERSION", "2025.5.1.121"),
            ("EXPORT_SCHEMA_VERSION", "3.22.1"),
        ],
    ),
    "PROCESSES": ("globalPid INTEGER, pid INTEGER, name TEXT", [(GLOBAL_PID, 4_321, "particles")]),
    "TARGET_INFO_GPU": (
        "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER, memoryBandwidth INTEGER, "
        "clockRate INTEGER, smCount INTEGER, chipName TEXT, cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER",
        [(1 << 48, 0, "Synthetic GPU", 80 << 30, 3_000_000_000_000, 1_800_000_000, 132, "SYN100", 0, 9, 0)],
    ),
}


def kernel_nanoseconds(row: int) -> int:
    """How long the kernel of that row runs."""
    return 6_000 + row * 7_919 % 8 * 1_000 + row * 104_729 % 997


def write_large(path: Path, kernels: int) -> Path:
    """An export with `kernels` kernels, two API calls for each, copies and ranges."""
    with closing(_new(path)) as database:
        _small(database, kernels)
        _fill(database, "CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME_COLUMNS, 2 * kernels)
        _fill(database, "CUPTI_ACTIVITY_KIND_MEMCPY", COPY_COLUMNS, -(-kernels // COPY_EVERY))
        _fill(database, "CUPTI_ACTIVITY_KIND_KERNEL", KERNEL_COLUMNS, kernels)
        _fill(database, "NVTX_EVENTS", RANGE_COLUMNS, -(-kernels // RANGE_OF))
    return path


def write_kernels_only(path: Path, kernels: int) -> Path:
    """An export that holds nothing but kernels, about 100 bytes each."""
    with closing(_new(path)) as database:
        _small(database, kernels)
        _fill(database, "CUPTI_ACTIVITY_KIND_KERNEL", KERNEL_COLUMNS, kernels)
    return path


def _new(path: Path) -> sqlite3.Connection:
    """An empty database that is not written twice for safety's sake."""
    database = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -65536"):
        database.execute(f"PRAGMA {setting}")
    return database


def _small(database: sqlite3.Connection, kernels: int) -> None:
    """The tables that do not grow, and how long the session was."""
    end = kernels * KERNEL_PERIOD + 100_000
    tables = SMALL_TABLES | {
        "StringIds": ("id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL", list(enumerate(STRINGS))),
        "ANALYSIS_DETAILS": (
            "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL",
            [(1 << 48, end, 0, end)],
        ),
    }
    for name, (columns, rows) in tables.items():
        database.execute(f"CREATE TABLE {name} ({columns})")
        database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _fill(database: sqlite3.Connection, table: str, columns: dict[str, str], rows: int) -> None:
    """A table of `rows` rows of which number i holds what the terms of `columns` say."""
    database.execute(f"CREATE TABLE {table} ({', '.join(f'{name} INTEGER' for name in columns)})")
    database.execute("BEGIN")
    database.execute(
        f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {rows}) "
        f"INSERT INTO {table} SELECT {', '.join(columns.values())} FROM n WHERE {rows} > 0"
    )
    database.execute("COMMIT")
