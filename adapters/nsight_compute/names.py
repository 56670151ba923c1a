"""The names under which Nsight Compute has the facts of the vocabulary, for every generation of GPUs and of the tool."""

from __future__ import annotations

from chathpc.profile.gpu_counters import STALLS

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

#: The clock of the multiprocessors, as their parts see it and as a whole.
CLOCK = ("smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second")

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
