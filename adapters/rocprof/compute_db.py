"""Databases of rocprof-compute: kernels, dispatches, and the metrics that the tool computed from its counters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from chathpc.adapters.content import object_in
from chathpc.adapters.rocprof.intake import COUNTERS, SERIALISED, Intake, kernel_name
from chathpc.adapters.rocprof.system import System, system_of
from chathpc.adapters.sqlite import Database, open_database
from chathpc.adapters.traced.assemble import LONGEST_SLUG, MOST_COUNTERS, Assembled
from chathpc.adapters.traced.recording import integer
from chathpc.profile.gpu_counters import counter
from chathpc.profile.metric import Aggregation, Metric, Unit, slug
from chathpc.profile.profile import Profile, Source
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: (name, which of its values) → id; the tool's gigabytes and gigaflops per second become bytes and operations.
_DIRECT = {
    ("vL1D Cache Hit Rate", "Avg"): "l1-hit-rate",
    ("L2 Cache Hit Rate", "Avg"): "l2-hit-rate",
    ("Wavefront Occupancy", "Pct of Peak"): "achieved-occupancy",
    ("VALU Utilization", "Avg"): "pipe.alu",
    ("MFMA Utilization", "Avg"): "pipe.tensor",
}  # fmt: skip
_RATES = {
    ("HBM Bandwidth", "Value"): "dram-rate",
    ("HBM Bandwidth", "Peak (Empirical)"): "peak-dram-rate",
    ("VALU FLOPs (F32)", "Peak (Empirical)"): "peak-flops.fp32",
    ("VALU FLOPs (F64)", "Peak (Empirical)"): "peak-flops.fp64",
}  # fmt: skip
_LEVELS = {
    "HBM Bandwidth": "dram-throughput",
    "L2 Cache Bandwidth": "l2-throughput",
    "L1 Cache Bandwidth": "l1-throughput",
}
_FLOPS = {"F16": "fp16", "BF16": "fp16", "F32": "fp32", "F64": "fp64"}
_LAUNCH = {"VGPRs": "registers", "LDS Allocation": "shared-memory-per-block", "Workgroup Size": "threads-per-block"}
_SUMMARY = "System Speed-of-Light"
#: Which value of a metric stands for it.
_STANDS = ("Avg", "Value")

Table = Mapping[tuple[str, str], float]


def read(path: Path) -> Profile:
    """Read the database at `path`; of what it says about the machine only what concerns the GPU."""
    intake = Intake(path)
    with open_database(path) as database:
        system = _system(database)
        kernels = _kernels(database, intake)
        values = _values(database)
        version = next((one for (one,) in database.select("compute_metadata", ("compute_version",))), "")
        _samples(database, intake, kernels)
    parts = Assembled(intake.recording)
    _put(parts, {kernel: int(parts.op_node[operation]) for kernel, operation in kernels.items()}, values, system)
    device = system.device()
    gpus = sorted({stream.device for stream in intake.recording.streams})
    words = [SERIALISED]
    if intake.dropped:
        words.append(f"{intake.dropped:,} dispatches with impossible times are excluded.")
    return Profile(
        format="rocprof-compute database",
        title="HIP program",
        tree=parts.tree,
        metrics=parts.metrics,
        values=parts.values,
        where=parts.where,
        sources=(Source(path, "rocprof-compute", clean(version[:20]) if isinstance(version, str) else ""),),
        caveats=tuple(words),
        not_collected={} if values else {"counters of kernels": COUNTERS},
        hardware={"GPU": system.model} if system.model else {},
        timed=True,
        insufficient="" if parts.metrics else "The database contains no dispatch.",
        devices={} if device is None else dict.fromkeys(gpus, device),
    )


def _system(database: Database) -> System:
    for info, roofline in database.select("compute_workload", ("sys_info_extdata", "roofline_bench_extdata")):
        return system_of(object_in(info), object_in(roofline))
    return System()


def _kernels(database: Database, intake: Intake) -> dict[int, int]:
    """Kernels by number: one operation that stands for each."""
    names = {
        key: name if isinstance(name, str) and name else f"kernel {key}"
        for number, name in database.select("compute_kernel", ("kernel_uuid", "kernel_name"))
        if (key := integer(number)) is not None
    }
    stands: dict[int, int] = {}
    columns = ("kernel_uuid", "gpu_id", "start_timestamp", "end_timestamp")
    for row in database.select("compute_dispatch", columns):
        kernel, gpu, start, end = map(integer, row)
        if kernel is None or kernel not in names:
            intake.dropped += 1
        elif (found := intake.kernel("", gpu, None, names[kernel], start, end)) is not None:
            stands.setdefault(kernel, found)
    if not stands:  # no dispatch was written down: what has values ran at least once
        for kernel, name in names.items():
            stream = intake.recording.stream_of(None, None)
            stands[kernel] = intake.recording.kernel(stream, 0, 0, kernel_name(name), None)
    return stands


def _values(database: Database) -> dict[int, dict[tuple[str, str, str], float]]:
    """For each kernel its values by table, name and kind of value."""
    found: dict[int, dict[tuple[str, str, str], float]] = defaultdict(dict)
    definitions = {
        integer(number): (table if isinstance(table, str) else "", name)
        for number, name, table in database.select("compute_metric_definition", ("metric_uuid", "name", "table_name"))
        if isinstance(name, str)
    }
    columns = ("metric_uuid", "kernel_uuid", "value_name", "value")
    for number, kernel, which, value in database.select("compute_kernel_metric_value", columns):
        key, owner = integer(number), integer(kernel)
        if key is None or key not in definitions or owner is None or not isinstance(which, str):
            continue
        if isinstance(value, (int, float)) and -1e300 < value < 1e300:
            found[owner][(*definitions[key], which)] = float(value)
    return found


def _samples(database: Database, intake: Intake, kernels: Mapping[int, int]) -> None:
    """Samples of instructions, where the tool took some."""
    for number, instruction, count in database.select("compute_pcsampling", ("kernel_uuid", "instruction", "count")):
        kernel, times = kernels.get(integer(number) or 0), integer(count)
        if kernel is not None and times is not None and times > 0 and isinstance(instruction, str):
            frame = intake.recording.frame_of(NodeKind.INSTRUCTION, instruction)
            intake.recording.sample(kernel, frame, float(times))


def _put(
    parts: Assembled,
    node_of: Mapping[int, int],
    values: Mapping[int, Mapping[tuple[str, str, str], float]],
    system: System,
) -> None:
    """Set the metrics: those of the vocabulary, and all others under the tool's own names."""
    columns: dict[str, dict[int, float]] = defaultdict(dict)
    others: dict[str, tuple[str, dict[int, float]]] = {}
    for kernel, table in values.items():
        node = node_of.get(kernel)
        if node is None:
            continue
        by_name = {(name, which): value for (_, name, which), value in table.items()}
        # Some names stand in several tables; the summary's value is the one that is meant.
        by_name |= {(name, which): value for (chapter, name, which), value in table.items() if chapter == _SUMMARY}
        for identifier, value in _facts(by_name, system).items():
            columns[f"gpu.kernel.{identifier}"][node] = value
        for (chapter, name, which), value in table.items():
            if which in _STANDS:
                identifier = f"other.{slug(f'{chapter} {name}', longest=LONGEST_SLUG)}"
                others.setdefault(identifier, (name, {}))[1][node] = value
    for identifier, column in sorted(columns.items()):
        _column(parts, counter(identifier, "rocprof-compute"), column)
    for identifier, (name, column) in sorted(others.items())[:MOST_COUNTERS]:
        words = clean(name[:200])
        _column(parts, Metric(identifier, Unit.COUNT, words, words, aggregation=Aggregation.DERIVED), column)


def _column(parts: Assembled, metric: Metric, column: Mapping[int, float]) -> None:
    nodes, amounts = np.array(list(column), dtype=np.int32), np.array(list(column.values()), dtype=np.float64)
    parts.put_mean(metric, nodes, amounts)


def _facts(table: Table, system: System) -> dict[str, float]:
    """Facts of the vocabulary, without "gpu.kernel.", from the tool's metrics of one kernel."""
    found = {identifier: table[key] for key, identifier in _DIRECT.items() if key in table}
    found |= {identifier: table[key] * 1e9 for key, identifier in _RATES.items() if key in table}
    units = [found[name] for name in ("pipe.alu", "pipe.tensor") if name in found]
    if units:
        found["sm-throughput"] = max(units)
    for name, identifier in _LEVELS.items():
        value, peak = table.get((name, "Value")), table.get((name, "Peak (Empirical)"))
        if value is not None and peak:
            found[identifier] = 100 * value / peak
    levels = [found[name] for name in _LEVELS.values() if name in found]
    if levels:
        found["memory-throughput"] = max(levels)
    for ending, precision in _FLOPS.items():
        for unit in ("VALU", "MFMA"):
            rate = table.get((f"{unit} FLOPs ({ending})", "Value"))
            if rate is not None:
                found[f"flops.{precision}"] = found.get(f"flops.{precision}", 0.0) + rate * 1e9
    flops = [value for name, value in found.items() if name.startswith("flops.")]
    if flops and found.get("dram-rate"):
        found["arithmetic-intensity"] = max(flops) / found["dram-rate"]
    for name, identifier in _LAUNCH.items():
        value = table.get((name, "Avg"))
        if value is not None:
            found[identifier] = value
    grid, group = table.get(("Grid Size", "Avg")), table.get(("Workgroup Size", "Avg"))
    if grid is not None and group:
        found["blocks"] = grid / group
    if system.compute_units is not None:
        found["multiprocessors"] = system.compute_units
    return found
