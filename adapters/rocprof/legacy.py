"""results.db of rocprof before version 3: kernels in KERN or OPS, calls in HIP and HSA, copies in COPY, ranges in rocTX."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from chathpc.adapters.rocprof.intake import Intake, facts_of, integer
from chathpc.adapters.rocprof.outcome import profile_of
from chathpc.adapters.sqlite import Database, open_database, quoted
from chathpc.profile.profile import Profile


def read(path: Path) -> Profile:
    """Read the database at `path`."""
    intake = Intake(path)
    with open_database(path) as database:
        for table in ("HIP", "HSA"):
            for begin, end, name, pid, tid, index in _rows(
                database, table, ("BeginNs", "EndNs", "Name"), ("pid", "tid", "Index")
            ):
                _call(intake, pid, tid, name, begin, end, index, "API")
        for begin, end, name, pid, tid, index in _rows(
            database, "rocTX", ("BeginNs", "EndNs", "Name"), ("pid", "tid", "Index")
        ):
            _call(intake, pid, tid, name, begin, end, index, "MARKER")
        _kernels(database, intake)
        _operations(database, intake)
    return profile_of(path, intake, format="rocprof results.db", tool="rocprof")


def _rows(
    database: Database, table: str, needed: tuple[str, ...], wanted: tuple[str, ...]
) -> Iterator[tuple[object, ...]]:
    """Rows of a table: `needed` columns, then `wanted` ones, None where there are none; nothing without the needed ones."""
    if not database.has(table, *needed):
        return
    present = set(database.columns(table))
    columns = [quoted(name) for name in needed] + [quoted(name) if name in present else "NULL" for name in wanted]
    yield from database.each(f"SELECT {', '.join(columns)} FROM {quoted(table)}")  # noqa: S608  quoted


def _call(
    intake: Intake, pid: object, tid: object, name: object, begin: object, end: object, index: object, domain: str
) -> None:
    start, stop = integer(begin), integer(end)
    if start is None or stop is None or not isinstance(name, str):
        intake.dropped += 1
        return
    intake.call(integer(pid) or 0, integer(tid) or 0, name, start, stop, integer(index), domain)


def _kernels(database: Database, intake: Intake) -> None:
    wanted = ("gpu-id", "queue-id", "pid", "grd", "wgr", "lds", "arch_vgpr", "accum_vgpr", "Index")
    for row in _rows(database, "KERN", ("KernelName", "BeginNs", "EndNs"), wanted):
        start, end = integer(row[1]), integer(row[2])
        if start is None or end is None:
            intake.dropped += 1
            continue
        gpu, queue, pid, grid, group, shared, vector, matrix, index = (integer(value) for value in row[3:])
        intake.kernel(
            pid or 0, gpu or 0, -1 if queue is None else queue, str(row[0]), start, end, dispatch=index,
            facts=facts_of([grid], [group], [vector, matrix], shared),
        )  # fmt: skip


def _operations(database: Database, intake: Intake) -> None:
    """Kernels and copies of a trace; where there is a table of kernels as well it has them already."""
    wanted = ("dev-id", "queue-id", "pid", "Index")
    if not database.has("KERN"):
        for begin, end, name, *rest in _rows(database, "OPS", ("BeginNs", "EndNs", "Name"), wanted):
            start, stop = integer(begin), integer(end)
            device, queue, pid, index = (integer(value) for value in rest)
            if start is None or stop is None:
                intake.dropped += 1
                continue
            lane = -1 if queue is None else queue
            intake.kernel(pid or 0, device or 0, lane, str(name), start, stop, correlation=index)
    for begin, end, name, *rest in _rows(database, "COPY", ("BeginNs", "EndNs", "Name"), wanted):
        start, stop = integer(begin), integer(end)
        device, queue, pid, index = (integer(value) for value in rest)
        if start is None or stop is None:
            intake.dropped += 1
            continue
        lane = -1 if queue is None else queue
        intake.copy(pid or 0, device or 0, lane, str(name), start, stop, correlation=index)
