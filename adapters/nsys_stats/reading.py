"""Reports of `nsys stats` as a Profile: sums, or a timeline where there is a trace of the GPU."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from chathpc.adapters.content import read_text
from chathpc.adapters.glance import Glance
from chathpc.adapters.nsys_stats.reports import Report, Table, holds_report, tables_of
from chathpc.adapters.nsys_stats.traces import read_traces
from chathpc.adapters.traced.aggregates import Row, What, build
from chathpc.adapters.traced.recording import amount
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.profile import Profile, Source

_FILES = 1_000
_MEMSET = re.compile(r"memset", re.I)
_SHAPE = re.compile(r"\s*(\d{1,10})\s+(\d{1,10})\s+(\d{1,10})\s*")
TRACE = "nsys export --type sqlite report.nsys-rep"


def read(path: Path) -> Profile:
    """Read one report, several in one file, or those of a folder. AdapterError if there is none."""
    tables = [table for file in _files(path) for table in tables_of(read_text(file), file)]
    if not tables:
        raise AdapterError(
            "contains no report of nsys stats", path=path, hint="Write it with: nsys stats --format csv."
        )
    reports = {table.report for table in tables}
    if Report.GPU_TRACE in reports or reports == {Report.CALL_TRACE}:
        return read_traces(path, tables)
    rows = list(_rows(tables))
    tree, metrics, values = build(rows)
    has_kernels = "gpu.kernel.time" in metrics
    return Profile(
        format="nsys stats CSV",
        title="CUDA program",
        tree=tree,
        metrics=metrics,
        values=values,
        where=Locations.single(),
        sources=(Source(path, "nsys stats"),),
        caveats=(
            "These are sums over the whole run: when each operation ran, what overlapped and who called it is unknown.",
            *(() if has_kernels else ("The reports do not cover kernels.",)),
        ),
        not_collected={
            "timeline": TRACE,
            **(
                {} if has_kernels else {"kernels": "nsys stats --report cuda_gpu_kern_sum --format csv report.nsys-rep"}
            ),
        },
        timed=True,
        insufficient="" if metrics else "The reports contain no row with a time.",
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(islice(path.glob("*.csv"), _FILES))
    return [file for file in files if holds_report(Glance(file).text)]


def _rows(tables: list[Table]) -> Iterable[Row]:
    """Rows of all reports; of several reports on one thing only the most detailed."""
    present = {table.report for table in tables}
    by_shape, apart = Report.KERNELS_BY_SHAPE in present, bool(present & {Report.KERNELS, Report.KERNELS_BY_SHAPE})
    seen: set[Report] = set()
    for table in tables:
        report = table.report
        several = report in seen and report is not Report.CALLS  # calls of CUDA and of the system have the same columns
        seen.add(report)
        if several or (report is Report.KERNELS and by_shape):
            continue
        for cells in table.cells():
            row = _row(table, cells)
            if row is None or (report is Report.OPERATIONS and _told_elsewhere(row, present, apart=apart)):
                continue
            yield row


def _told_elsewhere(row: Row, present: set[Report], *, apart: bool) -> bool:
    if row.what is What.CALL:
        return Report.CALLS in present
    return apart if row.what is What.KERNEL else Report.COPY_TIMES in present


def _row(table: Table, cells: dict[str, str]) -> Row | None:
    time = amount(cells.get("total time"))
    nanoseconds = None if time is None else time * table.scale("total time") * 1e9
    count = amount(cells.get("instances") or cells.get("num calls") or cells.get("calls") or cells.get("count"))
    name = cells.get("name") or cells.get("operation") or cells.get("range") or ""
    if not name:
        return None
    if table.report is Report.COPY_SIZES:
        size = amount(cells.get("total"))
        what = What.MEMSET if _MEMSET.search(name) else What.COPY
        return None if size is None else Row(what, name, None, None, size * table.scale("total"))
    if nanoseconds is None:
        return None
    if table.report in (Report.KERNELS, Report.KERNELS_BY_SHAPE):
        grid, block = _shape(cells.get("gridxyz")), _shape(cells.get("blockxyz"))
        return Row(What.KERNEL, name, nanoseconds, count, None, grid, block)
    if table.report is Report.CALLS:
        return Row(What.CALL, name, nanoseconds, count)
    if table.report is Report.RANGES:
        return Row(What.RANGE, name, nanoseconds, count)
    category = cells.get("category", "").upper()
    if "API" in category:
        return Row(What.CALL, name, nanoseconds, count)
    if table.report is Report.OPERATIONS and "KERNEL" in category:
        return Row(What.KERNEL, name, nanoseconds, count)
    return Row(What.MEMSET if _MEMSET.search(name) else What.COPY, name, nanoseconds, count)


def _shape(text: str | None) -> float | None:
    found = _SHAPE.fullmatch(text or "")
    return None if found is None else float(int(found[1]) * int(found[2]) * int(found[3]))
