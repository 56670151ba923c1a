"""How the details page calls metrics: words for people, the same ones for different metrics in different sections."""

from __future__ import annotations

_PCT_ELAPSED, _PCT_ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"

#: label → metric. Labels changed over the years: `SOL SM`, `SM [%]` and `Compute (SM) Throughput` are one metric.
_LABELS = {
    "Duration": "gpu__time_duration.sum",
    "Compute (SM) Throughput": "sm__throughput" + _PCT_ELAPSED,
    "SM [%]": "sm__throughput" + _PCT_ELAPSED,
    "Compute (SM) [%]": "sm__throughput" + _PCT_ELAPSED,
    "SOL SM": "sm__throughput" + _PCT_ELAPSED,
    "Memory [%]": "gpu__compute_memory_throughput" + _PCT_ELAPSED,
    "SOL Memory": "gpu__compute_memory_throughput" + _PCT_ELAPSED,
    "DRAM Throughput": "gpu__dram_throughput" + _PCT_ELAPSED,
    "SOL DRAM": "gpu__dram_throughput" + _PCT_ELAPSED,
    "SOL FB": "gpu__dram_throughput" + _PCT_ELAPSED,
    "L1/TEX Cache Throughput": "l1tex__throughput" + _PCT_ACTIVE,
    "SOL L1/TEX Cache": "l1tex__throughput" + _PCT_ACTIVE,
    "SOL TEX": "l1tex__throughput" + _PCT_ACTIVE,
    "L2 Cache Throughput": "lts__throughput" + _PCT_ELAPSED,
    "SOL L2 Cache": "lts__throughput" + _PCT_ELAPSED,
    "SOL L2": "lts__throughput" + _PCT_ELAPSED,
    "SM Frequency": "sm__cycles_elapsed.avg.per_second",
    "SM Active Cycles": "sm__cycles_active.avg",
    "Elapsed Cycles": "gpc__cycles_elapsed.max",
    "Memory Frequency": "dram__cycles_elapsed.avg.per_second",
    "DRAM Frequency": "dram__cycles_elapsed.avg.per_second",
    "L1/TEX Hit Rate": "l1tex__t_sector_hit_rate.pct",
    "L2 Hit Rate": "lts__t_sector_hit_rate.pct",
    "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "Achieved Occupancy": "sm__warps_active" + _PCT_ACTIVE,
    "Block Limit Registers": "launch__occupancy_limit_registers",
    "Block Limit Shared Mem": "launch__occupancy_limit_shared_mem",
    "Block Limit Warps": "launch__occupancy_limit_warps",
    "Block Limit SM": "launch__occupancy_limit_blocks",
    "Block Limit Barriers": "launch__occupancy_limit_barriers",
    "Registers Per Thread": "launch__registers_per_thread",
    "Waves Per SM": "launch__waves_per_multiprocessor",
    "# SMs": "launch__sm_count",
    "Grid Size": "launch__grid_size",
    "Block Size": "launch__block_size",
    "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
    "One or More Eligible": "smsp__issue_active" + _PCT_ACTIVE,
    "No Eligible": "smsp__issue_inst0" + _PCT_ACTIVE,
    "Issued Warp Per Scheduler": "smsp__issue_active.avg.per_cycle_active",
    "Eligible Warps Per Scheduler": "smsp__warps_eligible.avg.per_cycle_active",
    "Warp Cycles Per Issued Instruction": "smsp__average_warp_latency_per_inst_issued.ratio",
    "Avg. Active Threads Per Warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "Executed Instructions": "smsp__inst_executed.sum",
    "Branch Efficiency": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "Selected": "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
    # Pipes, in the long form of the page (--print-details all)
    "ALU": "sm__inst_executed_pipe_alu" + _PCT_ACTIVE,
    "FMA": "sm__inst_executed_pipe_fma" + _PCT_ACTIVE,
    "FP16": "sm__inst_executed_pipe_fp16" + _PCT_ACTIVE,
    "FP64": "sm__inst_executed_pipe_fp64" + _PCT_ACTIVE,
    "LSU": "sm__inst_executed_pipe_lsu" + _PCT_ACTIVE,
    "XU": "sm__inst_executed_pipe_xu" + _PCT_ACTIVE,
    "Tensor (All)": "sm__pipe_tensor_cycles_active" + _PCT_ACTIVE,
    "Local Memory Loads": "sass__inst_executed_local_loads",
    "Local Memory Stores": "sass__inst_executed_local_stores",
}  # fmt: skip
_THROUGHPUT = "Memory Throughput"
_STALL = "Stall "


def metric_named(label: str, unit: str) -> str | None:
    """The metric behind a label of the details page; None for labels that nothing is known of, and for metric names.

    `Memory Throughput` is a percentage of the peak in the section Speed Of Light, and bytes per second in Memory Workload
    Analysis.
    """
    if label == _THROUGHPUT:
        if unit.strip() == "%":
            return "gpu__compute_memory_throughput" + _PCT_ELAPSED
        return "dram__bytes.sum.per_second" if "byte" in unit else None
    if label.startswith(_STALL):
        reason = label.removeprefix(_STALL).lower().replace(" ", "_")
        return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
    return _LABELS.get(label)
