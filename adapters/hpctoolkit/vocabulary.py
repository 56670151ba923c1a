"""What HPCToolkit's metric names mean, in both naming generations.

A name is a stem with a unit in parentheses: `GKER (sec)` (2022–2024) and `GKER (s)` (2025) are one metric. GPU
instruction metrics were called `GINST…` first, then `GINS…`; stalls moved from `GINS:STL_GMEM` to `GCYCLES:STL:GMEM`.
Source of the names: hpcrun's metric registration and the manual's list of GPU metrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from chathpc.profile.metric import Aggregation, Clock, Metric, Unit, slug, unused

#: A unit as tools write it, in lower case → unit, factor to that unit
UNITS: dict[str, tuple[Unit, float]] = {
    "sec": (Unit.SECONDS, 1.0), "s": (Unit.SECONDS, 1.0), "msec": (Unit.SECONDS, 1e-3), "ms": (Unit.SECONDS, 1e-3),
    "usec": (Unit.SECONDS, 1e-6), "us": (Unit.SECONDS, 1e-6), "nsec": (Unit.SECONDS, 1e-9), "ns": (Unit.SECONDS, 1e-9),
    "b": (Unit.BYTES, 1.0), "bytes": (Unit.BYTES, 1.0), "kb": (Unit.BYTES, 1e3), "mb": (Unit.BYTES, 1e6),
    "gb": (Unit.BYTES, 1e9), "kib": (Unit.BYTES, 2.0**10), "mib": (Unit.BYTES, 2.0**20), "gib": (Unit.BYTES, 2.0**30),
    "cyc": (Unit.CYCLES, 1.0), "%": (Unit.PERCENT, 1.0),
}  # fmt: skip

#: stem → (canonical id, unit where the name has none, what it counts)
_HOST: dict[str, tuple[str, Unit, str]] = {
    "CPUTIME": ("cpu.time", Unit.SECONDS, "CPU time of the threads (sampled)"),
    "REALTIME": ("cpu.time", Unit.SECONDS, "wall-clock time of the threads (sampled)"),
    "WALLCLOCK": ("cpu.time", Unit.SECONDS, "wall-clock time of the threads (sampled)"),
    "cpu-clock": ("cpu.time", Unit.SECONDS, "CPU time of the threads (Linux perf, sampled)"),
    "task-clock": ("cpu.time", Unit.SECONDS, "CPU time of the threads (Linux perf task clock, sampled)"),
    "cycles": ("cpu.cycles", Unit.CYCLES, "CPU cycles (sampled)"),
    "cpu-cycles": ("cpu.cycles", Unit.CYCLES, "CPU cycles (sampled)"),
    "PAPI_TOT_CYC": ("cpu.cycles", Unit.CYCLES, "CPU cycles (sampled)"),
    "instructions": ("cpu.instructions", Unit.COUNT, "instructions (sampled)"),
    "PAPI_TOT_INS": ("cpu.instructions", Unit.COUNT, "instructions (sampled)"),
    "page-faults": ("cpu.page-faults", Unit.COUNT, "page faults (sampled)"),
    "minor-faults": ("cpu.page-faults.minor", Unit.COUNT, "minor page faults (sampled)"),
    "major-faults": ("cpu.page-faults.major", Unit.COUNT, "major page faults (sampled)"),
    "context-switches": ("cpu.context-switches", Unit.COUNT, "context switches (sampled)"),
    "cpu-migrations": ("cpu.migrations", Unit.COUNT, "migrations to another core (sampled)"),
    "cache-misses": ("cpu.cache.misses", Unit.COUNT, "last-level cache misses (sampled)"),
    "cache-references": ("cpu.cache.references", Unit.COUNT, "last-level cache references (sampled)"),
    "branch-misses": ("cpu.branch.misses", Unit.COUNT, "mispredicted branches (sampled)"),
    "branches": ("cpu.branches", Unit.COUNT, "branches (sampled)"),
    "Bytes Allocated": ("memory.allocated.bytes", Unit.BYTES, "heap memory allocated"),
    "Bytes Freed": ("memory.freed.bytes", Unit.BYTES, "heap memory freed"),
    "Bytes Leaked": ("memory.leaked.bytes", Unit.BYTES, "heap memory allocated and not freed"),
    "IO Bytes Read": ("io.read.bytes", Unit.BYTES, "bytes read by read calls"),
    "IO Bytes Written": ("io.write.bytes", Unit.BYTES, "bytes written by write calls"),
}

_GPU: dict[str, tuple[str, Unit, str]] = {
    "GPUOP": ("gpu.time", Unit.SECONDS, "time of all GPU operations"),
    "GKER": ("gpu.kernel.time", Unit.SECONDS, "time of GPU kernels"),
    "GMEM": ("gpu.alloc.time", Unit.SECONDS, "time of GPU memory allocation and release"),
    "GMSET": ("gpu.memset.time", Unit.SECONDS, "time of GPU memory sets"),
    "GXCOPY": ("gpu.copy.time", Unit.SECONDS, "time of explicit GPU copies"),
    "GICOPY": ("gpu.implicit-copy.time", Unit.SECONDS, "time of implicit (unified memory) copies"),
    "GSYNC": ("gpu.sync.time", Unit.SECONDS, "time of GPU synchronisation"),
    "GSCR": ("gpu.scratch.time", Unit.SECONDS, "time of GPU scratch memory management"),
    "GKER:COUNT": ("gpu.kernel.count", Unit.COUNT, "kernel launches"),
    "GXCOPY:COUNT": ("gpu.copy.count", Unit.COUNT, "explicit copies"),
    "GSYNC:COUNT": ("gpu.sync.count", Unit.COUNT, "synchronisations"),
    "GMEM:COUNT": ("gpu.alloc.count", Unit.COUNT, "GPU memory allocations and releases"),
    "GMSET:COUNT": ("gpu.memset.count", Unit.COUNT, "GPU memory sets"),
    "GICOPY:COUNT": ("gpu.implicit-copy.count", Unit.COUNT, "implicit copies"),
    "GKER:OCC_THR": ("gpu.kernel.occupancy", Unit.PERCENT, "theoretical occupancy of the kernel's launches"),
    "GKER:THR_REG": ("gpu.kernel.registers", Unit.COUNT, "registers per thread"),
    "GKER:VREG": ("gpu.kernel.registers", Unit.COUNT, "vector registers per thread"),
    "GKER:SREG": ("gpu.kernel.scalar-registers", Unit.COUNT, "scalar registers per thread"),
    "GKER:BLK_THR": ("gpu.kernel.threads-per-block", Unit.COUNT, "threads per block"),
    "GKER:BLKS": ("gpu.kernel.blocks", Unit.COUNT, "blocks per launch"),
    "GKER:BLKS_AVG": ("gpu.kernel.blocks", Unit.COUNT, "blocks per launch"),
    "GKER:BLK_SM": ("gpu.kernel.shared-memory-per-block", Unit.BYTES, "shared memory per block"),
    "GKER:STMEM": ("gpu.kernel.static-memory", Unit.BYTES, "static shared memory"),
    "GKER:DYMEM": ("gpu.kernel.dynamic-memory", Unit.BYTES, "dynamic shared memory"),
    "GKER:LMEM": ("gpu.kernel.local-memory", Unit.BYTES, "local memory"),
    "GKER:FGP_ACT": ("gpu.kernel.active-warps", Unit.COUNT, "fine-grain parallelism, actual"),
    "GKER:FGP_MAX": ("gpu.kernel.max-warps", Unit.COUNT, "fine-grain parallelism, maximum"),
    "GKER:WARP_ACT": ("gpu.kernel.active-warps", Unit.COUNT, "active warps"),
    "GKER:WARP_AVL": ("gpu.kernel.max-warps", Unit.COUNT, "warps that fit"),
    "GINS": ("gpu.instructions", Unit.COUNT, "GPU instructions (samples × period, or exact counts)"),
    "GCYCLES": ("gpu.cycles", Unit.CYCLES, "cycles of GPU wavefronts (samples × period)"),
    "GCYCLES:ISU": ("gpu.cycles.issued", Unit.CYCLES, "cycles in which an instruction was issued"),
    "GSAMP:DRP": ("gpu.samples.dropped", Unit.SAMPLES, "dropped PC samples"),
    "GSAMP:EXP": ("gpu.samples.expected", Unit.SAMPLES, "expected PC samples"),
    "GSAMP:TOT": ("gpu.samples.measured", Unit.SAMPLES, "measured PC samples"),
    "GSAMP:PER": ("gpu.samples.period", Unit.CYCLES, "period of PC sampling; set, not summed"),
    "GSAMP:UTIL": ("gpu.utilisation", Unit.PERCENT, "GPU utilisation, from PC samples"),
    "GCYCLES:TIMESTAMP": ("gpu.cycles.timestamp", Unit.CYCLES, "a time stamp; set, not summed"),
    "CPU_IDLE": ("cpu.idle.time", Unit.SECONDS, "time in which the CPU waits for the GPU"),
    "GPU_IDLE_CAUSE": ("gpu.idle-cause.time", Unit.SECONDS, "CPU time blamed for an idle GPU"),
    "CPU_IDLE_CAUSE": ("cpu.idle-cause.time", Unit.SECONDS, "GPU time blamed for an idle CPU"),
}

#: stall reason as HPCToolkit abbreviates it → (last part of the id, what the warp waits for)
_STALLS: dict[str, tuple[str, str]] = {
    "ANY": ("any", "stalled for any reason"),
    "NONE": ("none", "not stalled"),
    "IFET": ("instruction-fetch", "waiting for the next instruction"),
    "IDEP": ("dependency", "waiting for the result of an earlier instruction"),
    "GMEM": ("memory", "waiting for global memory"),
    "MEM": ("any-memory", "waiting for memory"),
    "TMEM": ("texture", "texture queue full"),
    "SYNC": ("barrier", "waiting for a barrier or memory ordering"),
    "CMEM": ("constant", "waiting for constant memory"),
    "PIPE": ("pipe-busy", "execution unit busy"),
    "MTHR": ("memory-throttle", "memory request queue full"),
    "NSEL": ("not-selected", "ready but not selected"),
    "OTHR": ("other", "other"),
    "SLP": ("sleep", "sleeping"),
    "HID": ("hidden", "stalled while another warp issued"),
    "INV": ("invalid", "no valid reason"),
}

#: families of per-kind byte counts: stem → (id prefix, words)
_BYTES_BY_KIND: dict[str, tuple[str, str]] = {
    "GXCOPY": ("gpu.copy", "explicitly copied"),
    "GICOPY": ("gpu.implicit-copy", "implicitly copied"),
    "GMEM": ("gpu.alloc", "of GPU memory allocated or released"),
    "GMSET": ("gpu.memset", "set"),
    "GGMEM": ("gpu.global-memory", "global memory traffic"),
    "GLMEM": ("gpu.local-memory", "local memory traffic"),
    "GXFER": ("gpu.link", "link traffic"),
    "GPAGE": ("gpu.page", "page migration"),
}

_WALL = frozenset({"REALTIME", "WALLCLOCK"})
_CPU = frozenset({"CPUTIME", "cpu-clock", "task-clock"})
#: Among several host times in one database the first keeps the id cpu.time.
_TIME_ORDER = ("CPUTIME", "cpu-clock", "task-clock", "WALLCLOCK", "REALTIME")
#: Values that are set, not counted.
_NEVER_ADDED = frozenset({"GSAMP:PER", "GCYCLES:TIMESTAMP"})

_NAME = re.compile(
    r"^(?P<stem>.*?)(?:\s*\((?P<unit>[^()]*)\))?(?::(?:Sum|Mean|Min|Max|StdDev|CfVar))?(?:\s*\([IE]\))?$", re.DOTALL
)


def split_name(source_name: str) -> tuple[str, str]:
    """`GKER (sec)` → (`GKER`, `sec`); event prefixes (`perf::`) and sampling suffixes (`@f200`) are not part of the
    stem.
    """
    match = _NAME.match(source_name)
    stem, unit = (match["stem"], match["unit"] or "") if match else (source_name, "")
    stem = stem.strip().removeprefix("perf::").split("@", 1)[0]
    if stem.startswith("GINST"):
        stem = "GINS" + stem[len("GINST") :]
    return stem, unit.strip()


def metric_for(source_name: str) -> Metric:
    """The metric that HPCToolkit calls `source_name`; unknown names become `other.<slug>` with the unit of their
    suffix.
    """
    stem, suffix = split_name(source_name)
    unit, scale = UNITS.get(suffix.lower(), (Unit.COUNT, 1.0))
    named = _HOST.get(stem) or _GPU.get(stem)
    if named is not None:
        identifier, default_unit, description = named
        if suffix.lower() not in UNITS:
            unit = default_unit
        if source_name.startswith("perf::") and stem in _CPU:
            scale = 1e-9  # the kernel counts these clocks in nanoseconds
    elif (stall := re.fullmatch(r"(?:GINS:STL_|GCYCLES:STL:)(\w+)", stem)) and stall[1] in _STALLS:
        part, words = _STALLS[stall[1]]
        identifier, description = f"gpu.stall.{part}", f"GPU stalls: {words}"
        unit = Unit.CYCLES
    elif stem == "GCYCLES:STL":
        identifier, description, unit = "gpu.stall.any", "GPU stalls: any reason", Unit.CYCLES
    elif (kind := re.fullmatch(r"(\w+):(\w+)", stem)) and kind[1] in _BYTES_BY_KIND:
        prefix, words = _BYTES_BY_KIND[kind[1]]
        measure = "bytes" if unit == Unit.BYTES else "transactions" if suffix in ("T", "L2T") else "events"
        identifier, description = f"{prefix}.{slug(kind[2])}.{measure}", f"{measure} {words}: {kind[2]}"
    else:
        family = "gpu" if re.match(r"G[A-Z]+:|EU_", stem) else "papi" if stem.startswith("PAPI_") else "other"
        identifier, description = f"{family}.{slug(stem)}", stem
    clock = Clock.WALL if stem in _WALL else Clock.CPU if stem in _CPU else None
    hidden = stem.endswith("_ACUMU") or stem in _NEVER_ADDED or bool(re.match(r"GSAMP:|GINS:BLK_|GCYCLES:W", stem))
    return Metric(
        id=identifier,
        unit=unit,
        description=description,
        source_name=source_name,
        source_unit=suffix or ("ns" if scale == 1e-9 else ""),
        scale=scale,
        aggregation=Aggregation.MAX if stem in _NEVER_ADDED else Aggregation.SUM,
        clock=clock,
        hidden=hidden,
    )


def metrics_for(source_names: Iterable[str]) -> list[Metric]:
    """One metric per name, in order, with ids made unique.

    Where a database has both a CPU clock and a wall clock, the wall clock gets the id `cpu.time.wall`; other
    collisions get the slug of their own name appended.
    """
    metrics = [metric_for(name) for name in source_names]
    order = {stem: rank for rank, stem in enumerate(_TIME_ORDER)}
    ranked = sorted(range(len(metrics)), key=lambda i: order.get(split_name(metrics[i].source_name)[0], -1))
    taken: set[str] = set()
    for index in ranked:
        metric = metrics[index]
        identifier = metric.id
        if identifier in taken and metric.clock == Clock.WALL:
            identifier = "cpu.time.wall"
        if identifier in taken:
            identifier = f"{identifier}.{slug(split_name(metric.source_name)[0])}"
        identifier = unused(identifier, taken)
        taken.add(identifier)
        metrics[index] = replace(metric, id=identifier)
    return metrics
