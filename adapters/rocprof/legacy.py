"""results.db of rocprof before version 3: kernels in KERN or OPS, calls in HIP and HSA, copies in COPY, ranges in rocTX."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chathpc.adapters.rocprof.intake import Intake, facts_of
from chathpc.adapters.sqlite import Database, open_database
from chathpc.adapters.traced.recording import integer
from chathpc.profile.profile import Profile


def read(path: Path) -> Profile:
    """Read the database at `path`."""
    intake = Intake(path)
    with open_database(path) as database:
        for table, domain in (("HIP", "API"), ("HSA", "API"), ("rocTX", "MARKER")):
            for name, start, end, pid, tid, index in _rows(database, table, "Name", ("pid", "tid", "Index")):
                if name is None:
                    intake.dropped += 1
                else:
                    intake.call(pid or 0, tid or 0, name, start, end, index, domain)
        wanted = ("gpu-id", "queue-id", "pid", "grd", "wgr", "lds", "arch_vgpr", "accum_vgpr", "Index")
        for name, start, end, gpu, queue, pid, grid, group, shared, vector, matrix, index in _rows(
            database, "KERN", "KernelName", wanted
        ):
            facts = facts_of([grid], [group], [vector, matrix], shared)
            intake.kernel(pid or 0, gpu, queue, str(name), start, end, dispatch=index, facts=facts)
        # Where there is a table of kernels as well it has those of OPS already.
        for table in ("COPY",) if database.has("KERN") else ("OPS", "COPY"):
            add = intake.copy if table == "COPY" else intake.kernel
            for name, start, end, device, queue, pid, index in _rows(
                database, table, "Name", ("dev-id", "queue-id", "pid", "Index")
            ):
                add(pid or 0, device, queue, str(name), start, end, correlation=index)
    return intake.profile(format="rocprof results.db", tool="rocprof")


def _rows(database: Database, table: str, name: str, wanted: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Rows of a table: the name, then begin, end and the `wanted` columns as whole numbers; None for what is none."""
    for called, *others in database.select(table, (name, "BeginNs", "EndNs"), wanted):
        yield called if isinstance(called, str) else None, *map(integer, others)
