"""What a report does not hold, by what its launches really have, and the option of ncu that would collect it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

#: What is missing → (one of these ids is enough to have it, options of ncu that collect it).
_PARTS: dict[str, tuple[tuple[str, ...], str]] = {
    "kernel times": (("gpu.kernel.time",), "--section SpeedOfLight"),
    "speed of light": (("gpu.kernel.sm-throughput", "gpu.kernel.memory-throughput"), "--section SpeedOfLight"),
    "launch configuration": (("gpu.kernel.blocks",), "--section LaunchStats"),
    "occupancy": (("gpu.kernel.occupancy", "gpu.kernel.achieved-occupancy"), "--section Occupancy"),
    "stall reasons": (("gpu.kernel.stall.long-scoreboard", "gpu.kernel.stall.wait"), "--section WarpStateStats"),
    "scheduler statistics": (("gpu.kernel.eligible-warps", "gpu.kernel.issue-active"), "--section SchedulerStats"),
    "cache hit rates": (("gpu.kernel.l1-hit-rate", "gpu.kernel.l2-hit-rate"), "--section MemoryWorkloadAnalysis"),
    "memory tables (sectors per request, bank conflicts)": (
        ("gpu.kernel.sectors-per-request.global-load", "gpu.kernel.sectors-per-request.global-store", "gpu.kernel.shared-wavefronts"),
        "--section MemoryWorkloadAnalysis_Tables",
    ),
    "use of the pipes": (
        tuple(f"gpu.kernel.pipe.{pipe}" for pipe in ("fma", "alu", "lsu", "xu", "fp64", "tensor")),
        "--section ComputeWorkloadAnalysis",
    ),
    "bytes of device memory": (("gpu.kernel.dram-rate",), "--section MemoryWorkloadAnalysis"),
    "floating point operations (roofline)": (
        ("gpu.kernel.flops.fp32", "gpu.kernel.flops.fp64"),
        "--section SpeedOfLight_RooflineChart",
    ),
    "instruction counts": (("gpu.kernel.instructions",), "--section InstructionStats"),
    "samples per source line": (("gpu.instructions",), "--section SourceCounters --import-source yes"),
}  # fmt: skip
_LINES = "source lines"
#: What is missing → what collects it besides an option.
_COMMAND = "ncu {} -o report ./app"


def not_collected(measured: Collection[str], *, lines: bool, exported: bool) -> Mapping[str, str]:
    """What is missing → the command that collects it. `measured` are the ids that have a value; `lines`: source lines are known.

    An export to CSV has no values per line whatever was collected.
    """
    found = {}
    for what, (ids, options) in _PARTS.items():
        if not any(one in measured for one in ids):
            found[what] = _COMMAND.format(options)
    if "gpu.instructions" in measured and not lines:
        found[_LINES] = (
            f"{_COMMAND.format('--section SourceCounters --import-source yes')} (of a program compiled with nvcc -lineinfo)"
        )
    if exported and "samples per source line" in found:
        found["samples per source line"] += " (and give the .ncu-rep file: exports to CSV have none)"
    return found
