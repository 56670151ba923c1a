"""Hostile and damaged exports: each is read with what is good in it or refused in words, soon and in little memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chathpc.adapters.nsight_systems.report import read
from chathpc.errors import AdapterError
from tests.synthetic.nsight_systems import H2D, Export, all_features, tid

SECONDS = 8.0

Change = Callable[[sqlite3.Connection], object]


def changed(folder: Path, change: Change) -> Path:
    path = all_features().write(folder / "bomb.sqlite")
    with closing(sqlite3.connect(path)) as database:
        change(database)
        database.commit()
    return path


def text_in(column: str, table: str = "CUPTI_ACTIVITY_KIND_KERNEL", value: object = "many") -> Change:
    return lambda database: database.execute(f"UPDATE {table} SET {column} = ?", (value,))


def as_view(table: str) -> Change:
    """A view that never ends in the place of a table."""

    def change(database: sqlite3.Connection) -> None:
        database.execute(f"DROP TABLE {table}")
        database.execute(
            f"CREATE VIEW {table} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS start, "
            "i AS end, i AS value, i AS globalTid, i AS nameId, i AS demangledName FROM n"
        )

    return change


BOMBS: dict[str, Change] = {
    "text for a time": text_in("start"),
    "a fraction for a time": text_in("start", value=1.5),
    "a blob for a time": text_in("end", value=b"\xff" * 9),
    "text for a name's number": text_in("demangledName"),
    "text for a fact of the launch": text_in("registersPerThread"),
    "text for a correlation id": text_in("correlationId", "CUPTI_ACTIVITY_KIND_RUNTIME"),
    "a huge blob for a text": lambda d: d.execute("UPDATE StringIds SET value = zeroblob(30000000) WHERE id = 2"),
    "a huge text": lambda d: d.execute("UPDATE StringIds SET value = hex(zeroblob(5000000)) WHERE id < 5"),
    "texts that are numbers": lambda d: d.execute("UPDATE PROCESSES SET name = 5"),
    "no texts": lambda d: d.execute("DROP TABLE StringIds"),
    "texts that are a view": as_view("StringIds"),
    "kernels that are a view": as_view("CUPTI_ACTIVITY_KIND_KERNEL"),
    "calls that are a view": as_view("CUPTI_ACTIVITY_KIND_RUNTIME"),
    "processes that are a view": as_view("PROCESSES"),
    "a trigger": lambda d: d.execute(
        "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN INSERT INTO StringIds VALUES (new.id + 1, 'x'); END"
    ),
    "kernels that end before they begin": lambda d: d.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 5"),
    "calls that end before they begin": lambda d: d.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = -end"),
    "ranges that end before they begin": lambda d: d.execute("UPDATE NVTX_EVENTS SET end = start - 1"),
    "times at the end of all numbers": lambda d: d.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = {2**63 - 1}"),
    "times at both ends of all numbers": lambda d: d.execute(
        f"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = {-(2**63)}, end = {2**63 - 1}"
    ),
    "times that are centuries apart": lambda d: d.execute(f"UPDATE OSRT_API SET end = {2**61 - 1}, start = {-(2**61) + 1}"),
    "bytes below zero": lambda d: d.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = -1000"),
    "unknown kinds of copies": lambda d: d.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 77"),
    "numbers of devices below zero": lambda d: d.execute(
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = -5, contextId = -1, streamId = -9"
    ),
    "huge numbers of devices": lambda d: d.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = {2**62}, streamId = {2**62}"),
    "grids of all numbers": lambda d: d.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = {2**62}, gridY = {2**62}"),
    "one stack of all frames": lambda d: d.execute("UPDATE SAMPLING_CALLCHAINS SET id = 1, stackDepth = 0"),
    "depths of stacks below zero": lambda d: d.execute("UPDATE CUDA_CALLCHAINS SET stackDepth = -stackDepth"),
    "stacks without names": lambda d: d.execute("UPDATE SAMPLING_CALLCHAINS SET symbol = -7, module = NULL"),
    "stacks that name themselves": lambda d: d.execute("UPDATE SAMPLING_CALLCHAINS SET symbol = id, module = id"),
    "samples of one id": lambda d: d.execute("UPDATE COMPOSITE_EVENTS SET id = 1"),
    "threads without ids": lambda d: d.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = NULL"),
    "ranges without threads": lambda d: d.execute("UPDATE NVTX_EVENTS SET globalTid = NULL, domainId = NULL, text = NULL"),
    "correlation ids far apart": lambda d: d.execute(
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = correlationId * 4611686018427387"
    ),
    "one correlation id": lambda d: d.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 1"),
    "ranks without end": lambda d: d.execute(f"UPDATE MPI_RANKS SET rank = {2**62}"),
    "names that act on a terminal": lambda d: d.execute("UPDATE StringIds SET value = '\x1b[31m' || value || char(0x202e, 10, 0)"),
    "invalid texts": lambda d: d.execute("UPDATE StringIds SET value = CAST(x'fffe41' AS TEXT)"),
    "all tables empty": lambda d: [d.execute(f"DELETE FROM {name}") for (name,) in d.execute("SELECT name FROM sqlite_master").fetchall()],
    "a table of one column": lambda d: d.executescript(
        "DROP TABLE NVTX_EVENTS; CREATE TABLE NVTX_EVENTS (start INTEGER); INSERT INTO NVTX_EVENTS VALUES (1);"
    ),
    "columns that are computed": lambda d: d.executescript(
        "DROP TABLE OSRT_API; CREATE TABLE OSRT_API (start INTEGER, end INTEGER AS (start + 1), globalTid INTEGER AS (1), "
        "nameId INTEGER AS (start)); INSERT INTO OSRT_API (start) VALUES (1), (2);"
    ),
    "tables without row numbers": lambda d: d.executescript(
        "DROP TABLE OSRT_API; CREATE TABLE OSRT_API (start INTEGER PRIMARY KEY, end INTEGER, globalTid INTEGER, nameId INTEGER) "
        "WITHOUT ROWID; INSERT INTO OSRT_API VALUES (1, 9, 1, 1);"
    ),
    "a version that is none": lambda d: d.execute("UPDATE META_DATA_EXPORT SET value = 'rm -rf /'"),
    "a clock that is none": lambda d: d.executescript(
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs TEXT); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ('soon');"
    ),
    "GPUs that are none": lambda d: d.execute("UPDATE TARGET_INFO_GPU SET cuDevice = 'x', id = NULL, name = 7, smCount = -1"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_export_gives_a_profile_or_a_refusal(tmp_path: Path, name: str) -> None:
    path = changed(tmp_path, BOMBS[name])
    began = time.process_time()
    profile, refused = None, None
    try:
        profile = read(path)
    except AdapterError as error:
        refused = error
    if refused is not None:
        assert str(path) in refused.message
        assert refused.hint
    if profile is not None:
        profile.tree.check()
        assert all("\x1b" not in text and "\n" not in text for text in profile.tree.names)
        if profile.timeline is not None:
            assert profile.timeline.end >= profile.timeline.begin
    assert time.process_time() - began < SECONDS


def test_what_is_damaged_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    path = changed(
        tmp_path, lambda d: d.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 5 WHERE streamId = 9")
    )
    profile = read(path)
    assert profile.total("gpu.kernel.count") == 8
    assert any(sentence.startswith("2 events end before they begin") for sentence in profile.caveats)


@pytest.mark.parametrize("shape", ["one in the other", "overlapping"])
def test_a_hundred_thousand_ranges_in_one_another_are_cut(tmp_path: Path, shape: str) -> None:
    export = Export()
    n = 100_000
    for level in range(n):
        end = 3 * n - level if shape == "one in the other" else n + level
        export.range(level, end, f"level {level % 7}", registered=True)
    export.call(n - 1, n, "cudaLaunchKernel", correlation=1)
    export.kernel(n, 2_000_000, "solve(int)", 1)
    began = time.process_time()
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert time.process_time() - began < SECONDS
    profile.tree.check()
    assert int(profile.tree.depth.max()) < 140
    assert any("levels deep" in sentence for sentence in profile.caveats)
    assert profile.total("gpu.kernel.count") == 1


def test_as_many_threads_processes_and_streams_as_rows_take_linear_time(tmp_path: Path) -> None:
    export = Export()
    n = 20_000
    for number in range(n):
        export.add(
            "CUPTI_ACTIVITY_KIND_RUNTIME", start=number, end=number + 1, eventClass=0, globalTid=tid(number, number),
            correlationId=number, nameId=export.string(f"call{number}"),
        )  # fmt: skip
        export.kernel(number, number + 1, f"kernel{number}", number, pid=number, stream=number, device=number)
    began = time.process_time()
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert time.process_time() - began < 2 * SECONDS
    assert profile.total("gpu.kernel.count") == n
    assert not profile.caveats
    assert max(profile.devices, default=0) < 5_000


def test_equal_rows_do_not_confuse_the_reader(tmp_path: Path) -> None:
    export = Export()
    for _ in range(100):
        export.call(0, 10, "cudaMemcpy", correlation=5)
        export.copy(20, 30, H2D, 8, 5)
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert profile.total("gpu.copy.count") == 100
    assert profile.total("gpu.copy.h2d.bytes") == 800
