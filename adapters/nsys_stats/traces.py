"""The reports cuda_gpu_trace and cuda_api_trace: operations and calls one by one, so there is a timeline."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from chathpc.adapters.nsys_stats.reports import Report, Table
from chathpc.adapters.traced.assemble import Assembled
from chathpc.adapters.traced.operations import copy_lane, kernel_lane
from chathpc.adapters.traced.recording import Facts, Recording, Role, amount, integer, nanoseconds
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
