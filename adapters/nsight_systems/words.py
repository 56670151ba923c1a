"""What an export cannot tell, and the command that would collect it."""

from __future__ import annotations

from collections.abc import Mapping

from chathpc.adapters.nsight_systems.assembly import Assembly
from chathpc.profile.timeline import LaneKind

#: Shorter than this, what the GPUs did is a handful of launches, each of which takes some microseconds.
SHORTEST_NS = 1_000_000
NOTHING_RAN = "Nothing ran on the GPU in this capture: no kernel, copy, memset or graph was recorded."


def caveats(assembly: Assembly) -> tuple[str, ...]:
    """What a reader must know about the numbers, as sentences."""
    return tuple(sentence.replace("{}", f"{count:,}") for sentence, count in assembly.caveats.items())


def insufficient(assembly: Assembly) -> str:
    """Why nothing can be concluded; empty otherwise."""
    if not any(lane.device >= 0 and len(lane.start) for lane in assembly.lanes):
        return NOTHING_RAN
    begin, end = assembly.window()
    if end - begin < SHORTEST_NS:
        return (
            f"The GPU's operations span {(end - begin) * 1e-6:.3f} ms: too short for a conclusion about the program. "
            "Record a longer part of the run."
        )
    return ""


def not_collected(assembly: Assembly, version: str) -> Mapping[str, str]:
    """What is missing → the command that would collect it."""
    profile = "nsys profile"
    missing: dict[str, str] = {}
    seen = assembly.seen
    if not {"kernels", "copies", "memsets", "graphs"} & seen:
        missing["GPU kernels and copies"] = f"{profile} --trace=cuda,nvtx,osrt ./app"
    if LaneKind.RANGE not in seen:
        missing["named ranges of the program (NVTX)"] = (
            f"{profile} --trace=cuda,nvtx ./app (with NVTX ranges in the program; Python: torch.autograd.profiler.emit_nvtx())"
        )
    if LaneKind.OS not in seen:
        missing["calls of the operating system that may block"] = f"{profile} --trace=cuda,nvtx,osrt ./app"
    if "samples" not in seen:
        missing["where host threads compute (samples of their stacks)"] = (
            f"{profile} --sample={_sampling(version)} ./app"
        )
    if "CUDA_CALLCHAINS" not in seen:
        missing["which code calls the CUDA runtime (stacks)"] = f"{profile} --cudabacktrace=all ./app"
    if LaneKind.MPI not in seen and len(assembly.processes) > 1:
        missing["calls of MPI"] = f"{profile} --trace=cuda,nvtx,osrt,mpi ./app"
    if "copies" in seen and "memory kinds" not in seen:
        missing["whether host memory of copies is pinned"] = (
            f"{profile} --trace=cuda ./app (Nsight Systems 2022 or newer)"
        )
    missing["why kernels take their time (counters)"] = "ncu --set full -o report ./app"
    return missing


def _sampling(version: str) -> str:
    """The option's value: up to 2022.1 there was `cpu` only."""
    return "cpu" if version.startswith(("2018.", "2019.", "2020.", "2021.", "2022.1")) else "process-tree"
