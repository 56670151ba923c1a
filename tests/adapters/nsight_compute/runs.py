"""Launches with round numbers, so that what must come out can be worked out by hand."""

from __future__ import annotations

from tests.synthetic.nsight_compute import Rule, Run

SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
DURATION = "gpu__time_duration.sum"
OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"
DYNAMIC = "launch__shared_mem_per_block_dynamic"
NAN = float("nan")

BASE = 0x7F0000001000
SAMPLES = "smsp__pcsamp_sample_count"
STALLED = "smsp__pcsamp_warps_issue_stalled_"

DEVICE: dict[str, tuple[float | str | None, str]] = {
    "device__attribute_display_name": ("Test GPU", ""),
    "device__attribute_multiprocessor_count": (108.0, ""),
    "device__attribute_total_memory": (40e9, ""),
    "device__attribute_compute_capability_major": (8.0, ""),
    "device__attribute_compute_capability_minor": (0.0, ""),
    "device__attribute_clock_rate": (1_410_000.0, ""),
    "device__attribute_memory_clock_rate": (1_215_000.0, ""),
    "device__attribute_global_memory_bus_width": (5120.0, ""),
}  # fmt: skip


def basic(seconds: float, sm: float, memory: float = 40.0) -> dict[str, tuple[float | str | None, str]]:
    """Metrics of a small set."""
    return {
        DURATION: (seconds * 1e9, "ns"),
        SM: (sm, "%"),
        MEMORY: (memory, "%"),
        OCCUPANCY: (75.0, "%"),
        "launch__registers_per_thread": (64.0, "register/thread"),
        DYNAMIC: (2048.0, "byte/block"),
    }


AXPY, DOT = "void axpy<double>(int, double, const double *, double *)", "dot(const float *, float *)"

THREE = (
    Run(AXPY, basic(0.003, 10.0)),
    Run(AXPY, basic(0.001, 50.0)),
    Run(DOT, basic(0.006, 80.0, 90.0), grid=(4, 2, 1), block=(32, 8, 1), device=1, stream=13),
)  # fmt: skip

#: Roofline: 2·100 + 20 + 80 operations of fp32 per cycle at 1 GHz, 150 GB/s of 600 GB/s.
ROOFLINE: dict[str, tuple[float | str | None, str]] = {
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed": (20.0, "inst/cycle"),
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed": (80.0, "inst/cycle"),
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed": (100.0, "inst/cycle"),
    "smsp__cycles_elapsed.avg.per_second": (1e9, "hz"),
    "sm__cycles_elapsed.avg.per_second": (1e9, "hz"),
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": (1000.0, "inst/cycle"),
    "dram__bytes.sum.per_second": (150e9, "byte/s"),
    "dram__bytes.sum.peak_sustained": (600.0, "byte/cycle"),
    "dram__cycles_elapsed.avg.per_second": (1e9, "hz"),
    DRAM: (25.0, "%"),
}  # fmt: skip

LINES = {
    BASE: ("MOV R1, c[0x0][0x28]", "/src/app/kernel.cu", 10),
    BASE + 16: ("LDG.E R2, [R2.64]", "/src/app/kernel.cu", 12),
    BASE + 32: ("FFMA R3, R2, R2, R3", "/src/app/kernel.cu", 12),
    BASE + 48: ("EXIT", "", 0),
}  # fmt: skip
LOCATED = {
    SAMPLES: {BASE: 10.0, BASE + 16: 60.0, BASE + 32: 25.0, BASE + 48: 5.0},
    STALLED + "long_scoreboard": {BASE: 0.0, BASE + 16: 50.0, BASE + 32: 10.0, BASE + 48: 0.0},
    STALLED + "long_scoreboard_not_issued": {BASE + 16: 49.0},
    STALLED + "selected": {BASE: 4.0, BASE + 16: 5.0, BASE + 32: 5.0, BASE + 48: 1.0},
    STALLED + "wait": {BASE: 6.0, BASE + 16: 5.0, BASE + 32: 10.0, BASE + 48: 4.0},
    "inst_executed": {BASE: 100.0, BASE + 16: 100.0, BASE + 32: 100.0, BASE + 48: 100.0},
    "memory_l2_theoretical_sectors_global": {BASE + 16: 3200.0},
    "memory_l2_theoretical_sectors_global_ideal": {BASE + 16: 400.0},
}  # fmt: skip
RULES = (
    Rule("SOLBottleneck", "Low use. Look at @section:SchedulerStats:Scheduler Statistics@ for more.", 3, "Latency Issue"),
    Rule("UncoalescedGlobalAccess", f"Uncoalesced, expected 400 sectors, got 3200 at PC @source:{BASE + 16:x}:{BASE + 16:#x}@", 3),
    Rule("Occupancy", "See the @url:CUDA Guide:https://example.org/guide/index.html#occ@.", 2, "", 25.0, "local"),
    Rule("TheoreticalOccupancy", "Limited by @source:/home/planted-user/app/kernel.cu:12:this line@.", 2, "", 50.0, "global"),
    Rule("Launch", "Rule failed: not found\n/home/planted-user/Sections/Launch.py:45", 4),
)  # fmt: skip
FULL = Run(
    AXPY, {**basic(0.004, 30.0), **ROOFLINE, **DEVICE}, ranges=("solver", "aten::add, seq = 17, op_id = 99"), rules=RULES,
    code=LINES, located=LOCATED, base=BASE, sources={"/src/app/kernel.cu": "\n".join(f"\tline {n}" for n in range(1, 21))},
)  # fmt: skip
FAILED = Run(
    "flash(int)", {DURATION: (NAN, "ns"), SM: (None, "%"), MEMORY: (NAN, "%"), "sm__x_y.sum": (0.0, "")}, grid=(0, 0, 0)
)
