"""Workloads of rocprof-compute: pmc_perf.csv with a row for each dispatch, or for each of its counters; sysinfo.csv, roofline.csv."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from chathpc.adapters.rocprof import WORKLOAD, rows_of
from chathpc.adapters.rocprof.csv_traces import number
from chathpc.adapters.rocprof.intake import Intake, facts_of
from chathpc.adapters.rocprof.system import System, system_of
from chathpc.adapters.traced.recording import integer
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile

#: Columns of pmc_perf.csv that are no counters.
_NO_COUNTERS = re.compile(
    r"(?:dispatch_id|kernel_name|kernel_id|gpu_id|node|queue[-_]id|queue-index|pid|tid|process_id|thread_id|grid_size|workgroup_size"
    r"|lds_per_workgroup|scratch_per_workitem|arch_vgpr|accum_vgpr|sgpr|start_timestamp|end_timestamp|dispatchns"
    r"|completens|correlation_id|xcc_index|wave_size(?:_\d+)?|obj(?:_\d+)?|sig(?:_\d+)?|counter_name|counter_value)",
    re.I,
)
#: Bytes of sysinfo.csv and roofline.csv at most: each has a few rows.
_SMALL = 1 << 20
#: One channel of a counter: `TCC_HIT[3]`.
_CHANNEL = re.compile(r"(.+)\[\d+\]")


def read(path: Path) -> Profile:
    """Read a folder of one workload, or pmc_perf.csv alone. Memory: the text of the table and 16 bytes for each counter."""
    folder = path if path.is_dir() else path.parent
    tables = _tables(path)
    if not tables:
        raise AdapterError(
            "does not contain pmc_perf.csv", path=path, hint="Give the folder that holds pmc_perf.csv and sysinfo.csv."
        )
    intake = Intake(path)
    damaged = sum(_take(table, intake) for table in tables)
    gpus = sorted({stream.device for stream in intake.recording.streams})
    system = System()
    if (
        folder == path or WORKLOAD.fullmatch(path.name) is not None
    ):  # else what stands beside a table does not belong to it
        roofline = _row(folder / "roofline.csv", ("device", str(gpus[0] if gpus else 0)))
        system = system_of(_row(folder / "sysinfo.csv"), roofline)
    device = system.device()
    devices = {} if device is None else dict.fromkeys(gpus, device)
    caveats = [f"{damaged:,} rows are damaged and were skipped."] if damaged else []
    if system.memory_peak is None:
        caveats.append(
            "The peak memory bandwidth of the device is unknown: there is no roofline.csv, and sysinfo.csv does not have it."
        )
    return intake.profile(
        format="rocprof-compute workload", tool="rocprof-compute", devices=devices, caveats=caveats, system=system
    )


def _tables(path: Path) -> list[Path]:
    """pmc_perf.csv of a folder, compressed or not; the file itself if it is one."""
    if path.is_file():
        return [path]
    names = sorted(entry.name for entry in islice(path.iterdir(), 10_000) if WORKLOAD.fullmatch(entry.name))
    first = [name for name in names if name.startswith("pmc_perf.csv")]
    return [path / name for name in (first[:1] or names) if (path / name).is_file()]


def _row(path: Path, wanted: tuple[str, str] | None = None) -> dict[str, object]:
    """The first row of a small table, or the one whose column has the wanted value, by names of columns as they stand there; empty
    where it is missing or damaged.
    """
    if not path.is_file() or path.stat().st_size > _SMALL:
        return {}
    try:
        rows: list[dict[str, str]] = list(islice(rows_of(path, lower=False), 256))
    except AdapterError:
        return {}
    chosen = [row for row in rows if wanted is not None and row.get(wanted[0]) == wanted[1]] or rows
    return dict(chosen[0]) if chosen else {}


def _take(table: Path, intake: Intake) -> int:
    """Put the dispatches of a table into the intake; the number of damaged rows."""
    damaged = 0
    for row in rows_of(table, lower=False):
        columns = {name.lower(): value for name, value in row.items() if _NO_COUNTERS.fullmatch(name)}
        dispatch, name = integer(columns.get("dispatch_id")), columns.get("kernel_name", "")
        if dispatch is None or not name:
            damaged += 1
            continue
        process = columns.get("process_id") or columns.get("pid") or ""
        known = intake.dispatches.get((process, dispatch))
        if known is None:
            known = _dispatch(columns, process, dispatch, name, intake)
        for counter, value in _counters(row, columns):
            intake.recording.counter(counter[:200], known, value)
    return damaged


def _dispatch(columns: dict[str, str], process: str, dispatch: int, name: str, intake: Intake) -> int:
    device = integer(columns.get("gpu_id"))
    facts = facts_of(
        [integer(columns.get("grid_size"))], [integer(columns.get("workgroup_size"))],
        [integer(columns.get("arch_vgpr")), integer(columns.get("accum_vgpr"))],
        integer(columns.get("lds_per_workgroup")),
    )  # fmt: skip
    start, end = integer(columns.get("start_timestamp")), integer(columns.get("end_timestamp"))
    if start is not None and end is not None:
        found = intake.kernel(process, device, None, name, start, end, dispatch=dispatch, facts=facts)
        if found is not None:
            return found
    return intake.counted(process, device, name, dispatch, facts)


def _counters(row: dict[str, str], columns: dict[str, str]) -> Iterator[tuple[str, float]]:
    """Counters of a row. Channels are added up where their sum is not there itself."""
    if "counter_name" in columns:
        value = number(columns.get("counter_value"))
        if value is not None and _CHANNEL.fullmatch(columns["counter_name"]) is None:
            yield columns["counter_name"], value
        return
    for name, text in row.items():
        if _NO_COUNTERS.fullmatch(name):
            continue
        channel = _CHANNEL.fullmatch(name)
        if channel is not None:
            if f"{channel[1]}_sum" in row:
                continue
            name = f"{channel[1]}_sum"
        value = number(text)
        if value is not None:
            yield name, value
