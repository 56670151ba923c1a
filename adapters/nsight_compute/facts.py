"""What NVIDIA's metrics mean in chathpc's vocabulary of kernel counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from chathpc.adapters.nsight_compute.launch import Launch
from chathpc.adapters.nsight_compute.roofline import (
    CLOCK,
    arithmetic_intensity,
    dram_rate,
    flops,
    peak_dram_rate,
    peak_flops,
    peak_tensor_flops,
    product,
    ratio,
    tensor_flops,
)
from chathpc.profile.stalls import STALLS

ELAPSED, ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"


def _pipe(*names: str) -> tuple[str, ...]:
    """The names under which the use of a pipe is found: cycles in use before instructions issued, active before elapsed."""
    return tuple(
        pattern + part for part in (ACTIVE, ELAPSED) for name in names
        for pattern in (f"sm__pipe_{name}_cycles_active", f"sm__inst_executed_pipe_{name}")
    )  # fmt: skip


#: fact → names that hold it, the first that is there counts.
NAMES: dict[str, tuple[str, ...]] = {
    "gpu.kernel.sm-throughput": ("sm__throughput" + ELAPSED,),
    "gpu.kernel.memory-throughput": ("gpu__compute_memory_throughput" + ELAPSED,),
    "gpu.kernel.dram-throughput": ("gpu__dram_throughput" + ELAPSED, "dram__throughput" + ELAPSED),
    "gpu.kernel.l2-throughput": ("lts__throughput" + ELAPSED,),
    "gpu.kernel.l1-throughput": ("l1tex__throughput" + ACTIVE, "l1tex__throughput" + ELAPSED),
    "gpu.kernel.l1-data-pipe": (
        "l1tex__data_pipe_lsu_wavefronts" + ELAPSED,
        "l1tex__data_pipe_lsu_wavefronts.sum.pct_of_peak_sustained_elapsed",
    ),
    "gpu.kernel.l1-data-pipe-shared": (
        "l1tex__data_pipe_lsu_wavefronts_mem_shared" + ELAPSED,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed",
    ),
    "gpu.kernel.l1-hit-rate": ("l1tex__t_sector_hit_rate.pct",),
    "gpu.kernel.l2-hit-rate": ("lts__t_sector_hit_rate.pct",),
    "gpu.kernel.atomic-slice": ("lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",),
    "gpu.kernel.occupancy": ("sm__maximum_warps_per_active_cycle_pct",),
    "gpu.kernel.achieved-occupancy": ("sm__warps_active" + ACTIVE,),
    "gpu.kernel.issue-active": ("smsp__issue_active" + ACTIVE, "sm__inst_issued" + ACTIVE),
    "gpu.kernel.pipe.fma": _pipe("fma", "fmaheavy"),
    "gpu.kernel.pipe.alu": _pipe("alu", "aluheavy"),
    "gpu.kernel.pipe.fp64": (*_pipe("fp64"), *_pipe("fp64_op_fp64")),
    "gpu.kernel.pipe.fp16": _pipe("fp16", "fma_type_fp16"),
    "gpu.kernel.pipe.xu": _pipe("xu"),
    "gpu.kernel.pipe.lsu": _pipe("lsu"),
    "gpu.kernel.pipe.tensor": _pipe("tensor"),
    "gpu.kernel.branch-uniformity": ("smsp__sass_average_branch_targets_threads_uniform.pct",),
    "gpu.kernel.blocks": ("launch__grid_size",),
    "gpu.kernel.threads-per-block": ("launch__block_size",),
    "gpu.kernel.registers": ("launch__registers_per_thread",),
    "gpu.kernel.waves": ("launch__waves_per_multiprocessor",),
    "gpu.kernel.multiprocessors": ("launch__sm_count", "device__attribute_multiprocessor_count"),
    "gpu.kernel.limit.registers": ("launch__occupancy_limit_registers",),
    "gpu.kernel.limit.shared-memory": ("launch__occupancy_limit_shared_mem",),
    "gpu.kernel.limit.warps": ("launch__occupancy_limit_warps",),
    "gpu.kernel.limit.blocks": ("launch__occupancy_limit_blocks",),
    "gpu.kernel.limit.barriers": ("launch__occupancy_limit_barriers",),
    "gpu.kernel.ipc": ("sm__inst_executed.avg.per_cycle_active",),
    "gpu.kernel.eligible-warps": ("smsp__warps_eligible.avg.per_cycle_active",),
    "gpu.kernel.threads-per-instruction": (
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        "smsp__thread_inst_executed_per_inst_executed.pct",
    ),
    "gpu.kernel.bank-conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",),
    "gpu.kernel.shared-wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",),
    "gpu.kernel.local-loads": (
        "sass__inst_executed_local_loads",
        "smsp__sass_inst_executed_op_local_ld.sum",
        "smsp__inst_executed_op_local_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    ),
    "gpu.kernel.local-stores": (
        "sass__inst_executed_local_stores",
        "smsp__sass_inst_executed_op_local_st.sum",
        "smsp__inst_executed_op_local_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    ),
    "gpu.kernel.instructions": ("smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed"),
    "gpu.kernel.clock": (
        "sm__cycles_elapsed.avg.per_second",
        "smsp__cycles_elapsed.avg.per_second",
        "gpc__cycles_elapsed.avg.per_second",
    ),
    "gpu.kernel.latency-per-issue": ("smsp__average_warp_latency_per_inst_issued.ratio",),
    "gpu.kernel.host-fill-throughput": ("lts__d_sectors_fill_sysmem" + ELAPSED,),
}  # fmt: skip

#: stall reason → as it stands in NVIDIA's names where that differs.
_REASONS = {"sleep": "sleeping"}


def reason_in_names(reason: str) -> str:
    """A stall reason as NVIDIA's names have it: `long-scoreboard` → `long_scoreboard`."""
    return _REASONS.get(reason, reason.replace("-", "_"))


for _stall in STALLS:
    NAMES[f"gpu.kernel.stall.{_stall}"] = (
        f"smsp__average_warps_issue_stalled_{reason_in_names(_stall)}_per_issue_active.ratio",
        f"smsp__average_warp_latency_issue_stalled_{reason_in_names(_stall)}.ratio",
    )

#: Sectors of global and wavefronts of shared accesses that the code's addresses ask for: new names and old ones.
SECTORS = ("memory_l2_theoretical_sectors_global", "memory_l2_sectors_global")
WAVEFRONTS = ("memory_l1_wavefronts_shared", "memory_l1_sectors_shared")

#: L2 sectors of the multiprocessors' accesses that missed: those that host memory holds ("sysmem"), and all.
HOST_MISSES = "lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum"
MISSES = "lts__t_sectors_srcunit_tex_lookup_miss.sum"
#: L2 sectors that were filled from host memory and from the device's own; in percent both are of the same peak.
FILLS = ("lts__d_sectors_fill_sysmem", "lts__d_sectors_fill_device")

#: Floating point instructions in names: f, d and h for the precision.
OPERATIONS = tuple(letter + kind for letter in "fdh" for kind in ("add", "mul", "fma"))

#: What describes the device.
DEVICE: frozenset[str] = frozenset(
    f"device__attribute_{name}"
    for name in (
        "display_name", "multiprocessor_count", "total_memory", "compute_capability_major", "compute_capability_minor",
        "clock_rate", "memory_clock_rate", "max_mem_frequency_khz", "global_memory_bus_width", "fb_bus_width",
    )
)  # fmt: skip


Computed = Callable[[Launch], float | None]


def _sum(launch: Launch, *names: str) -> float | None:
    """Sum of those of `names` that have a value; None if none has."""
    found = [value for name in names if (value := launch.value(name)) is not None]
    return sum(found) if found else None


def _part(excess: tuple[str, ...], all_of: tuple[str, ...], ideal: tuple[str, ...]) -> Computed:
    def compute(launch: Launch) -> float | None:
        total = launch.value(*all_of)
        more = launch.value(*excess)
        if more is None:
            needed = launch.value(*ideal)
            more = total - needed if total is not None and needed is not None else None
        part = ratio(more, total)
        return None if part is None else min(max(part, 0.0), 1.0)

    return compute


def _accesses(name: str, way: str) -> dict[str, tuple[Computed, str]]:
    """Facts about global loads or stores (`way` in NVIDIA's names): the sectors of one, and what it uses of their bytes."""
    sectors, requests, ready, used = (stem.format(way) for stem in _OF_ACCESSES)

    def per_request(launch: Launch) -> float | None:
        counted = ratio(launch.value(sectors), launch.value(requests))
        return launch.value(ready) if counted is None else counted

    def use(launch: Launch) -> float | None:
        return product(launch.value(used) or None, 1 / _SECTOR)  # 0 where no access is one of these (cp.async)

    return {
        f"gpu.kernel.sectors-per-request.global-{name}": (per_request, f"{sectors} / {requests}"),
        f"gpu.kernel.sector-use.global-{name}": (use, f"{used} / {_SECTOR:.0f}"),
    }


def _shared_memory(launch: Launch) -> float | None:
    own = _sum(launch, "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
    return launch.value("launch__shared_mem_per_block") if own is None else own


def _issue_active(launch: Launch) -> float | None:
    per_cycle = launch.value("smsp__issue_active.avg.per_cycle_active")
    if per_cycle is not None:
        return 100.0 * per_cycle
    idle = launch.value("smsp__issue_inst0" + ACTIVE)
    return None if idle is None else 100.0 - idle


def _shared(stem: str) -> Computed:
    return lambda launch: _sum(launch, *(f"{stem}_op_{op}.sum" for op in ("ld", "st", "atom")))


def _blocks(launch: Launch) -> float | None:
    return None if launch.grid is None else float(launch.grid[0] * launch.grid[1] * launch.grid[2])


def _threads(launch: Launch) -> float | None:
    return None if launch.block is None else float(launch.block[0] * launch.block[1] * launch.block[2])


def _stall_share(reason: str) -> Computed:
    """From the part of the warps' active time: of the cycles between two issues of a warp it takes the same part."""

    def compute(launch: Launch) -> float | None:
        part = launch.value(f"smsp__warp_issue_stalled_{reason_in_names(reason)}_per_warp_active.pct")
        cycles = launch.value("smsp__average_warp_latency_per_inst_issued.ratio")
        return product(part, cycles, 0.01)

    return compute


def _active(launch: Launch) -> float | None:
    part = ratio(launch.value("sm__cycles_active.avg"), launch.value(*_ELAPSED))
    return None if part is None else 100 * min(part, 1.0)


def _host_misses(launch: Launch) -> float | None:
    """Part of the L2 misses that host memory serves: of the multiprocessors' own, as in NVIDIA's rule MemoryApertureUsage, else of
    all fills; None on a device without memory of its own, which is all host memory.
    """
    if _is_integrated(launch):
        return None
    if launch.value(HOST_MISSES) is not None:
        part = ratio(launch.value(HOST_MISSES), launch.value(MISSES))
    else:
        counted = [[launch.value(name + ending) for name in FILLS] for ending in (".sum", ELAPSED)]
        part = next((ratio(host, host + own) for host, own in counted if host is not None and own is not None), None)
    return None if part is None else min(part, 1.0)


def _host_sectors(launch: Launch) -> float | None:
    """Part of the L2 sectors of the multiprocessors' accesses that miss and that host memory serves."""
    every = launch.value(_SECTORS)
    if every is None and (hits := launch.value(_HITS)) is not None and (misses := launch.value(MISSES)) is not None:
        every = hits + misses
    part = ratio(launch.value(HOST_MISSES), every)
    return None if part is None or _is_integrated(launch) else min(part, 1.0)


def _host_bytes(launch: Launch) -> float | None:
    sectors = launch.value(HOST_MISSES, FILLS[0] + ".sum")
    return None if _is_integrated(launch) else product(sectors, _SECTOR)


def _is_integrated(launch: Launch) -> bool:
    return bool(launch.value(_INTEGRATED))


_SECTORS, _HITS = "lts__t_sectors_srcunit_tex.sum", "lts__t_sectors_srcunit_tex_lookup_hit.sum"
_PCIE = ("pcie__read_bytes.sum.per_second", "pcie__write_bytes.sum.per_second")
_INTEGRATED = "device__attribute_integrated"
#: Names about global accesses of one direction: sectors, requests, their ratio where it is ready, bytes that they use of a sector.
_OF_ACCESSES = (
    "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{}.ratio",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_{}.ratio",
)  # fmt: skip
#: Bytes of a sector of the caches.
_SECTOR = 32.0
#: Cycles of a kernel from its beginning to its end, of whatever unit.
_ELAPSED = ("sm__cycles_elapsed.max", "gpc__cycles_elapsed.max")
#: fact → how it is computed where no name of NAMES holds it, and what is given as its source.
COMPUTED: dict[str, tuple[Computed, str]] = {
    "gpu.kernel.issue-active": (_issue_active, "smsp__issue_active.avg.per_cycle_active"),
    "gpu.kernel.active": (_active, "sm__cycles_active.avg / gpc__cycles_elapsed.max"),
    "gpu.kernel.blocks": (_blocks, "grid"),
    "gpu.kernel.threads-per-block": (_threads, "block"),
    **_accesses("load", "ld"),
    **_accesses("store", "st"),
    "gpu.kernel.excessive-sectors": (
        _part(tuple(f"derived__{name}_excessive" for name in SECTORS), SECTORS, tuple(f"{n}_ideal" for n in SECTORS)),
        "derived__memory_l2_theoretical_sectors_global_excessive / memory_l2_theoretical_sectors_global",
    ),
    "gpu.kernel.excessive-wavefronts": (
        _part(
            tuple(f"derived__{name}_excessive" for name in WAVEFRONTS),
            WAVEFRONTS,
            tuple(f"{n}_ideal" for n in WAVEFRONTS),
        ),
        "derived__memory_l1_wavefronts_shared_excessive / memory_l1_wavefronts_shared",
    ),
    "gpu.kernel.bank-conflicts": (
        _shared("l1tex__data_bank_conflicts_pipe_lsu_mem_shared"),
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    ),
    "gpu.kernel.shared-wavefronts": (
        _shared("l1tex__data_pipe_lsu_wavefronts_mem_shared"),
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    ),
    "gpu.kernel.atomics": (
        lambda launch: _sum(
            launch, *(f"l1tex__t_requests_pipe_lsu_mem_global_op_{way}.sum" for way in ("atom", "red"))
        ),
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum + l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    ),
    "gpu.kernel.flops.fp32": (lambda launch: flops(launch, "fp32"), "fadd + fmul + 2 ffma"),
    "gpu.kernel.flops.fp64": (lambda launch: flops(launch, "fp64"), "dadd + dmul + 2 dfma"),
    "gpu.kernel.flops.fp16": (lambda launch: flops(launch, "fp16"), "2 (hadd + hmul + 2 hfma)"),
    "gpu.kernel.flops.tensor": (tensor_flops, "sm__ops_path_tensor_src_*"),
    "gpu.kernel.peak-flops.fp32": (lambda launch: peak_flops(launch, "fp32"), "2 ffma peak_sustained"),
    "gpu.kernel.peak-flops.fp64": (lambda launch: peak_flops(launch, "fp64"), "2 dfma peak_sustained"),
    "gpu.kernel.peak-flops.fp16": (lambda launch: peak_flops(launch, "fp16"), "4 hfma peak_sustained"),
    "gpu.kernel.peak-flops.tensor": (peak_tensor_flops, "sm__ops_path_tensor_src_* peak_sustained"),
    "gpu.kernel.arithmetic-intensity": (arithmetic_intensity, "operations / dram__bytes.sum"),
    "gpu.kernel.shared-memory-per-block": (
        _shared_memory,
        "launch__shared_mem_per_block_static + launch__shared_mem_per_block_dynamic",
    ),
    "gpu.kernel.host-misses": (_host_misses, f"{HOST_MISSES} / {MISSES}"),
    "gpu.kernel.host-sectors": (_host_sectors, f"{HOST_MISSES} / {_SECTORS}"),
    "gpu.kernel.host-bytes": (_host_bytes, f"{_SECTOR:.0f} x {HOST_MISSES}"),
    "gpu.kernel.pcie-rate": (lambda launch: _sum(launch, *_PCIE), " + ".join(_PCIE)),
    "gpu.kernel.dram-rate": (dram_rate, "dram__bytes.sum.per_second"),
    "gpu.kernel.peak-dram-rate": (
        peak_dram_rate,
        "dram__bytes.sum.peak_sustained x dram__cycles_elapsed.avg.per_second",
    ),
}
for _stall in STALLS:
    _id = f"gpu.kernel.stall.{_stall}"
    COMPUTED[_id] = (_stall_share(_stall), NAMES[_id][0])


def facts(launch: Launch) -> Iterator[tuple[str, float]]:
    """Every fact of the vocabulary that the launch's metrics hold: (id, value)."""
    for identifier, source in SOURCES.items():
        value = launch.value(*NAMES.get(identifier, ()))
        if value is None and identifier in COMPUTED:
            value = COMPUTED[identifier][0](launch)
        if value is not None and source:
            yield identifier, value


#: fact → what is given as its source.
SOURCES: Mapping[str, str] = {
    identifier: COMPUTED[identifier][1] if identifier in COMPUTED else NAMES[identifier][0]
    for identifier in (*NAMES, *(one for one in COMPUTED if one not in NAMES))
}

#: Names that are read from a report; those that match PATTERN too.
WANTED: frozenset[str] = frozenset(
    [
        *(name for names in NAMES.values() for name in names),
        *(f"launch__{what}_dim_{axis}" for what in ("grid", "block") for axis in "xyz"),
        "launch__grid_size", "launch__block_size", "launch__device_id", "launch__context_id", "launch__stream_id",
        "launch__shared_mem_per_block", "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic",
        "gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max",
        "smsp__issue_active.avg.per_cycle_active", "smsp__issue_inst0" + ACTIVE,
        *(f"{unit}__sass_thread_inst_executed_op_{op}_pred_on{suffix}" for unit in ("smsp", "sm") for op in OPERATIONS
          for suffix in (".sum", ".sum.per_cycle_elapsed", ".sum.peak_sustained")),
        *(f"derived__{unit}__sass_thread_inst_executed_op_{op}_pred_on_{weight}" for unit in ("smsp", "sm")
          for op in OPERATIONS for weight in ("x2", "x4")),
        *CLOCK, "sm__cycles_active.avg", *_ELAPSED,
        "dram__bytes.sum", "dram__bytes.sum.per_second", "dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second",
        *(f"dram__bytes_{way}.sum{suffix}" for way in ("read", "write") for suffix in ("", ".per_second")),
        *(name.format(way) for name in _OF_ACCESSES for way in ("ld", "st")),
        *(f"l1tex__t_requests_pipe_lsu_mem_global_op_{way}.sum" for way in ("atom", "red")),
        *(f"l1tex__data_{what}_mem_shared_op_{way}.sum" for way in ("ld", "st", "atom")
          for what in ("bank_conflicts_pipe_lsu", "pipe_lsu_wavefronts")),
        *(name + ending for name in (*SECTORS, *WAVEFRONTS) for ending in ("", "_ideal")),
        *(f"derived__{name}_excessive" for name in (*SECTORS, *WAVEFRONTS)),
        HOST_MISSES, MISSES, _SECTORS, _HITS, *_PCIE, _INTEGRATED, *(name + ending for name in FILLS for ending in (".sum", ELAPSED)),
        *(f"smsp__warp_issue_stalled_{reason_in_names(reason)}_per_warp_active.pct" for reason in STALLS),
    ]
)  # fmt: skip
