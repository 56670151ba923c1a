"""Reports of `nsys stats` as a Profile: sums, or a timeline where there is a trace of the GPU."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from chathpc.adapters.content import read_text
from chathpc.adapters.glance import Glance
from chathpc.adapters.nsys_stats.reports import Report, Table, holds_report, tables_of
from chathpc.adapters.traced.aggregates import Row, What, profile_of
from chathpc.adapters.traced.assemble import Assembled
from chathpc.adapters.traced.operations import copy_lane, kernel_lane
from chathpc.adapters.traced.recording import Facts, Recording, Role, amount, integer, nanoseconds
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile, Source
from chathpc.profile.remark import Device
from chathpc.profile.text import clean
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import NodeKind

_DEVICE = re.compile(r"(.*)\((\d{1,6})\)\s*")
_MEMORY = re.compile(r"\[CUDA (?:Unified Memory )?mem(?:cpy|set)", re.I)


def read_traces(path: Path, tables: Iterable[Table]) -> Profile:
    """A profile of the operations of the GPU, joined to calls by correlation where both were traced."""
    recording = Recording(path)
    devices: dict[int, Device] = {}
    calls: list[tuple[object, int]] = []
    operations: list[tuple[object, int]] = []
    dropped = 0
    for table in tables:
        for cells in table.cells():
            if table.report is Report.GPU_TRACE:
                dropped += not _operation(table, cells, recording, devices, operations)
            elif table.report is Report.CALL_TRACE:
                dropped += not _call(table, cells, recording, calls)
    recording.join(calls, operations)
    parts = Assembled(recording)
    words = parts.caveats()
    if dropped:
        words.append(f"{dropped:,} rows are damaged and were skipped.")
    missing = {} if calls else {"calls of the host": "nsys stats --report cuda_api_trace --format csv report.nsys-rep"}
    return Profile(
        format="nsys stats CSV",
        title="CUDA program",
        tree=parts.tree,
        metrics=parts.metrics,
        values=parts.values,
        where=parts.where,
        sources=(Source(path, "nsys stats"),),
        caveats=tuple(words),
        not_collected=missing,
        timed=True,
        insufficient="" if parts.metrics else "The reports contain no row with a time.",
        devices=devices,
        read_timeline=lambda: parts.timeline,
    )


def _operation(
    table: Table, cells: dict[str, str], recording: Recording, devices: dict[int, Device],
    operations: list[tuple[object, int]],
) -> bool:  # fmt: skip
    times, name = _times(table, cells), cells.get("name", "")
    if times is None or not name:
        return False
    described = _DEVICE.fullmatch(cells.get("device", ""))
    device = int(described[2]) if described else 0
    if described:
        devices.setdefault(device, Device(clean(described[1].strip()[:200])))
    stream = recording.stream_of(device, integer(cells.get("strm")))
    if _MEMORY.match(name):
        told = amount(cells.get("bytes"))
        size = None if told is None else round(told * table.scale("bytes"))
        source, target = cells.get("srcmemkd", "").strip().lower(), cells.get("dstmemkd", "").strip().lower()
        host = {source, target} & {"pageable", "pinned"}
        pageable = int("pageable" in host) if host or (source and target) else -1
        lane = LaneKind.MEMSET if "memset" in name.lower() else copy_lane(name)
        found = recording.transfer(stream, *times, name, lane, size, pageable)
    else:
        facts = Facts(
            _product(cells, "grdx", "grdy", "grdz"), _product(cells, "blkx", "blky", "blkz"),
            _registers(cells), _shared(table, cells),
        )  # fmt: skip
        found = recording.kernel(stream, *times, name, kernel_lane(name), facts)
    if (key := integer(cells.get("corrid"))) is not None:
        operations.append((key, found))
    return True


def _call(table: Table, cells: dict[str, str], recording: Recording, calls: list[tuple[object, int]]) -> bool:
    times, name = _times(table, cells), cells.get("name", "")
    if times is None or not name:
        return False
    pid, tid = cells.get("pid", "")[:20], cells.get("tid", "")[:20]
    row = recording.thread_of(tid, recording.process_of(pid, f"process {pid}"), f"thread {tid}")
    found = recording.slice(row, *times, recording.frame_of(NodeKind.FUNCTION, name), Role.API)
    if (key := integer(cells.get("corrid"))) is not None:
        calls.append((key, found))
    return True


def _times(table: Table, cells: dict[str, str]) -> tuple[int, int] | None:
    start, length = _nanoseconds(table, cells, "start"), _nanoseconds(table, cells, "duration")
    if start is None or length is None or not nanoseconds(start, start + length):
        return None
    return start, start + length


def _nanoseconds(table: Table, cells: dict[str, str], column: str) -> int | None:
    text, scale = cells.get(column, "").replace(",", "").strip(), table.scale(column)
    if scale == 1e-9 and 0 < len(text) < 20 and text.isascii() and text.isdigit():
        return int(text)
    value = amount(text)
    return None if value is None or not 0 <= value * scale < 1e9 else round(value * scale * 1e9)


def _registers(cells: dict[str, str]) -> float:
    found = integer(cells.get("reg/trd"))
    return -1.0 if found is None else float(found)


def _product(cells: dict[str, str], *columns: str) -> float:
    result = 1.0
    for column in columns:
        part = integer(cells.get(column))
        if not part:
            return -1.0
        result *= part
    return result


def _shared(table: Table, cells: dict[str, str]) -> float:
    parts = [(amount(cells.get(column)), table.scale(column)) for column in ("stcsmem", "dymsmem")]
    known = [value * scale for value, scale in parts if value is not None]
    return float(round(sum(known))) if known else -1.0


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
    profile = profile_of(
        _rows(tables), path, format="nsys stats CSV", title="CUDA program", tool="nsys stats", what="reports",
        timeline=TRACE,
    )  # fmt: skip
    if "gpu.kernel.time" in profile.metrics:
        return profile
    kernels = "nsys stats --report cuda_gpu_kern_sum --format csv report.nsys-rep"
    return replace(
        profile,
        caveats=(*profile.caveats, "The reports do not cover kernels."),
        not_collected={**profile.not_collected, "kernels": kernels},
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
