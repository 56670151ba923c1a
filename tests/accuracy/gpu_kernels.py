"""Generated reports of Nsight Compute on kernels with a known limit, as CSV exports (details and raw pages).

Counters of a kernel hang together: a scheduler holds `warps` of its sixteen, issues in a part of the cycles, and so the cycles
between two instructions of a warp are warps / issued; stall reasons divide them. Which counters show which limit is taken from
NVIDIA's Kernel Profiling Guide (metrics, warp stall reasons, speed of light) and the CUDA Best Practices Guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.accuracy.draw import Draw
from tests.accuracy.recipes import Truth, place, recipe, truth
from tests.synthetic.nsight_compute import Run, details_page, raw_page

KERNEL = "gpu-kernel"
FORM = "Nsight Compute"
SMS, WARPS, SCHEDULER = (
    108,
    64,
    16,
)  #: multiprocessors, warps a multiprocessor holds, and a scheduler (compute capability 8.0)
REASONS = (
    "long_scoreboard", "short_scoreboard", "lg_throttle", "mio_throttle", "math_pipe_throttle", "barrier", "wait",
    "no_instruction", "not_selected", "branch_resolving", "dispatch_stall", "drain", "membar", "imc_miss", "tex_throttle",
)  # fmt: skip
ELAPSED, ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"
PIPES = ("fma", "alu", "fp64", "xu", "lsu", "tensor")


def launched(
    draw: Draw,
    name: str,
    seconds: float,
    *,
    sm: float,
    dram: float,
    l2: float | None = None,
    l1: float | None = None,
    issued: float,
    stalls: Mapping[str, float],
    achieved: float | None = None,
    threads: int = 256,
    waves: float | None = None,
    blocks: int | None = None,
    registers: int = 32,
    shared: int = 0,
    pipes: Mapping[str, float] | None = None,
    active_threads: float = 31.5,
    uniform: float = 99.0,
    sectors: float = 4.0,
    conflicts: float = 0.0,
    local: float = 0.0,
    atomics: float = 0.0,
    hits: tuple[float, float] = (40.0, 50.0),
    capability: str = "8.0",
) -> Run:
    """A launch. Throughputs and `issued` in percent; `stalls` are parts of the time between two instructions, the rest is spread
    over all other reasons; `conflicts` are additional wavefronts per request of shared memory; `local` and `atomics` parts of
    all instructions.
    """
    held = {
        "registers": 65536 // (registers * threads),
        "shared_mem": 32,
        "warps": WARPS // (threads // 32),
        "blocks": 32,
    }
    if shared:
        held["shared_mem"] = 164_000 // (shared + 1024)
    resident = min(held.values())  # blocks of a multiprocessor
    occupancy = 100 * resident * threads / 32 / WARPS
    achieved = occupancy * draw.real(0.85, 0.95) if achieved is None else achieved
    if blocks is None:
        blocks = round((waves if waves is not None else draw.real(9, 40)) * SMS * resident)
    l2 = dram * draw.real(0.5, 0.9) if l2 is None else l2
    l1 = sm * draw.real(0.3, 0.6) if l1 is None else l1
    latency = achieved / 100 * SCHEDULER / (issued / 100)
    selected = 1.0
    rest = max(latency - selected - latency * sum(stalls.values()), 0.0)
    others = [reason for reason in REASONS if reason not in stalls]
    weights = [draw.real(0.2, 1.0) for _ in others]
    cycles = {reason: latency * part for reason, part in stalls.items()}
    cycles |= {reason: rest * w / sum(weights) for reason, w in zip(others, weights, strict=True)}
    instructions = seconds * 1.41e9 * SMS * 4 * issued / 100
    use = {pipe: draw.real(0.5, 8.0) for pipe in PIPES} | {"tensor": 0.0, "fp64": 0.0} | dict(pipes or {})
    requests = round(instructions * draw.real(0.03, 0.08))
    wavefronts = round(instructions * (0.1 if shared or conflicts else 0.0))
    metrics: dict[str, tuple[float | str | None, str]] = {
        "gpu__time_duration.sum": (seconds * 1e9, "ns"),
        "sm__throughput" + ELAPSED: (sm, "%"),
        "gpu__compute_memory_throughput" + ELAPSED: (max(dram, l2, l1), "%"),
        "gpu__dram_throughput" + ELAPSED: (dram, "%"),
        "lts__throughput" + ELAPSED: (l2, "%"),
        "l1tex__throughput" + ACTIVE: (l1, "%"),
        "l1tex__t_sector_hit_rate.pct": (draw.near(hits[0]), "%"),
        "lts__t_sector_hit_rate.pct": (draw.near(hits[1]), "%"),
        "sm__maximum_warps_per_active_cycle_pct": (occupancy, "%"),
        "sm__warps_active" + ACTIVE: (achieved, "%"),
        "smsp__issue_active.avg.per_cycle_active": (issued / 100, ""),
        "smsp__average_warp_latency_per_inst_issued.ratio": (latency, ""),
        "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": (selected, ""),
        "smsp__inst_executed.sum": (float(round(instructions)), "inst"),
        "smsp__thread_inst_executed_per_inst_executed.ratio": (active_threads, ""),
        "smsp__sass_average_branch_targets_threads_uniform.pct": (uniform, "%"),
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": (float(requests), ""),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": (float(round(requests * sectors)), "sector"),
        "memory_l2_theoretical_sectors_global": (float(round(requests * sectors)), "sector"),
        "memory_l2_theoretical_sectors_global_ideal": (float(round(requests * min(sectors, 4.0))), "sector"),
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": (float(round(wavefronts * conflicts)), ""),
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": (float(round(wavefronts * (1 + conflicts))), ""),
        "memory_l1_wavefronts_shared": (float(round(wavefronts * (1 + conflicts))), ""),
        "memory_l1_wavefronts_shared_ideal": (float(wavefronts), ""),
        "smsp__inst_executed_op_local_ld.sum": (float(round(instructions * local * 0.6)), "inst"),
        "smsp__inst_executed_op_local_st.sum": (float(round(instructions * local * 0.4)), "inst"),
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": (float(round(instructions * atomics)), ""),
        "launch__registers_per_thread": (float(registers), "register/thread"),
        "launch__waves_per_multiprocessor": (blocks / (SMS * resident), ""),
        "launch__sm_count": (float(SMS), ""),
        "launch__shared_mem_per_block_dynamic": (float(shared), "byte/block"),
        **{f"launch__occupancy_limit_{what}": (float(count), "block") for what, count in held.items()},
        **{f"sm__inst_executed_pipe_{pipe}" + ACTIVE: (value, "%") for pipe, value in use.items()},
        **{
            f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio": (value, "inst")
            for reason, value in cycles.items()
        },
    }
    return Run(name, metrics, grid=(blocks, 1, 1), block=(threads, 1, 1), capability=capability)


def innocent(draw: Draw, seconds: float) -> Run:
    """A kernel that uses arithmetic and memory well and has nothing that stands out."""
    return launched(
        draw, draw.names.kernel(), seconds, sm=draw.real(70, 78), dram=draw.real(60, 74), issued=draw.real(66, 74),
        stalls={"not_selected": 0.2, "long_scoreboard": 0.2}, pipes={"fma": draw.real(55, 65)},
    )  # fmt: skip


def written(draw: Draw, folder: Path, *kernels: Run) -> list[str]:
    """The report: each kernel some times, beside a short innocent one."""
    total = sum(float(run.metrics["gpu__time_duration.sum"][0] or 0) for run in kernels)  # type: ignore[arg-type]
    runs = [*kernels, innocent(draw, total * 1e-9 * draw.real(0.04, 0.2))] * draw.steps(1, 3)
    page = details_page if draw.chance(0.5) else raw_page
    ready = [replace(run, metrics=dict(run.metrics)) for run in runs]
    (folder / "report.csv").write_text(page(ready))
    return ["report.csv"]


def share_of(kernel: Run, folder: Path) -> float:
    """The part of the report's time that is the kernel's, from the export's own durations."""
    import csv

    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    rows = list(csv.reader((folder / "report.csv").open()))
    head = rows[0]
    whole = own = 0.0
    name = head.index("Kernel Name")
    if "Metric Name" in head:
        at, unit, value = (head.index(f"Metric {what}") for what in ("Name", "Unit", "Value"))
        found = [
            (row[name], float(row[value].replace(",", "")) * scale[row[unit]])
            for row in rows[1:]
            if row[at] == "Duration"
        ]
    else:
        column = head.index("gpu__time_duration.sum")
        found = [(row[name], float(row[column].replace(",", "")) * scale[rows[1][column]]) for row in rows[2:]]
    for who, seconds in found:
        whole += seconds
        own += seconds * (who == kernel.kernel)
    return own / whole


def judged(draw: Draw, folder: Path, kernel: Run, cause: str, why: str, *also: str) -> Truth:
    profiles = written(draw, folder, kernel)
    return truth(
        cause, FORM, profiles, share_of(kernel, folder), why, where=place(kernel=kernel.kernel), acceptable=also
    )


def seconds_of(draw: Draw) -> float:
    return draw.real(200e-6, 8e-3)


def bandwidth(draw: Draw) -> Run:
    return launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(12, 35), dram=draw.real(86, 95), issued=draw.real(10, 25),
        stalls={"long_scoreboard": draw.real(0.6, 0.8)}, hits=(10, 25),
    )  # fmt: skip


@recipe("gpu-memory-bandwidth", KERNEL)
def k_bandwidth(draw: Draw, folder: Path) -> Truth:
    # Streams reach nine tenths (91.2, 89.2, 87.1 % on an H100: tests/data/gpu/planted), so that nothing is left to win.
    why = "device memory is busy at nine tenths of its peak, which is what streams reach, and accesses are coalesced"
    return judged(draw, folder, bandwidth(draw), "healthy", why, "gpu-memory-bandwidth")


@recipe("gpu-memory-latency", KERNEL)
def k_latency(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(8, 20), dram=draw.real(18, 38), l2=draw.real(15, 35),
        l1=draw.real(10, 30), issued=draw.real(6, 16), stalls={"long_scoreboard": draw.real(0.65, 0.85)},
        registers=draw.random.choice((32, 40, 48)), hits=(20, 40),
    )  # fmt: skip
    why = "warps wait for data from memory most of the time although no part of the memory system is near its peak"
    return judged(draw, folder, kernel, "gpu-memory-latency", why)


def scattered(draw: Draw) -> Run:
    return launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(8, 20), dram=draw.real(30, 55), l2=draw.real(50, 75),
        l1=draw.real(60, 78), issued=draw.real(5, 14), sectors=draw.real(16, 32),
        stalls={"long_scoreboard": draw.real(0.4, 0.55), "lg_throttle": draw.real(0.2, 0.3)}, hits=(30, 60),
    )  # fmt: skip


@recipe("gpu-uncoalesced-access", KERNEL)
def k_uncoalesced(draw: Draw, folder: Path) -> Truth:
    why = "a load of a warp touches 16 to 32 sectors where four would do; most of what the caches move is not used"
    return judged(draw, folder, scattered(draw), "gpu-uncoalesced-access", why, "gpu-memory-latency")


@recipe("gpu-shared-bank-conflicts", KERNEL)
def k_conflicts(draw: Draw, folder: Path) -> Truth:
    busy = draw.real(82, 94)
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(20, 40), dram=draw.real(5, 18), l1=busy,
        issued=draw.real(10, 25), shared=draw.whole(8, 24) * 1024, conflicts=draw.real(6, 31),
        stalls={"mio_throttle": draw.real(0.3, 0.45), "short_scoreboard": draw.real(0.25, 0.35)},
    )  # fmt: skip
    data_pipe = {"l1tex__data_pipe_lsu_wavefronts" + ELAPSED: (busy, "%")}
    kernel = replace(kernel, metrics={**kernel.metrics, **data_pipe})
    why = "an access to shared memory takes 7 to 32 wavefronts instead of one, and the pipe to it is full"
    return judged(draw, folder, kernel, "gpu-shared-bank-conflicts", why)


@recipe("gpu-low-occupancy", KERNEL)
def k_occupancy(draw: Draw, folder: Path) -> Truth:
    threads = draw.random.choice((64, 128))
    shared = draw.whole(60, 80) * 1024
    held = 164_000 // (shared + 1024)
    occupancy = 100.0 * held * threads / 32 / WARPS
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(12, 28), dram=draw.real(12, 30), l1=draw.real(10, 25),
        issued=draw.real(12, 22), threads=threads, shared=shared, registers=40,
        stalls={"long_scoreboard": 0.35, "wait": 0.2, "short_scoreboard": 0.15},
    )  # fmt: skip
    why = f"shared memory of {shared // 1024} KiB a block leaves room for {occupancy:.1f} % of the warps, too few to hide anything"
    return judged(draw, folder, kernel, "gpu-low-occupancy", why, "gpu-memory-latency")


@recipe("gpu-register-spill", KERNEL)
def k_spill(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(15, 30), dram=draw.real(25, 45), l2=draw.real(30, 50),
        l1=draw.real(40, 65), issued=draw.real(10, 20), threads=128, registers=255, local=draw.real(0.18, 0.35),
        stalls={"long_scoreboard": draw.real(0.4, 0.5), "lg_throttle": draw.real(0.15, 0.25)},
    )  # fmt: skip
    why = "threads use all 255 registers; a fifth to a third of the instructions load or store what did not fit"
    return judged(draw, folder, kernel, "gpu-register-spill", why, "gpu-low-occupancy", "gpu-memory-latency")


@recipe("gpu-divergence", KERNEL)
def k_divergence(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(50, 72), dram=draw.real(5, 20), issued=draw.real(48, 68),
        active_threads=draw.real(4, 13), uniform=draw.real(50, 75), pipes={"alu": draw.real(40, 60)},
        stalls={"not_selected": 0.15, "branch_resolving": draw.real(0.1, 0.2), "wait": 0.2},
    )  # fmt: skip
    why = "a warp executes its instructions for 4 to 13 of its 32 threads, the others wait for their branch"
    return judged(draw, folder, kernel, "gpu-divergence", why)


@recipe("gpu-atomics-contention", KERNEL)
def k_atomics(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(3, 12), dram=draw.real(2, 10), l2=draw.real(15, 45),
        l1=draw.real(10, 30), issued=draw.real(2, 8), atomics=draw.real(0.15, 0.35), hits=(5, 99),
        stalls={"lg_throttle": draw.real(0.4, 0.6), "long_scoreboard": draw.real(0.15, 0.25)},
    )  # fmt: skip
    why = "every fourth instruction is an atomic update of the few words that all threads share; they are done one after the other"
    return judged(draw, folder, kernel, "gpu-atomics-contention", why, "gpu-memory-latency")


@recipe("gpu-barrier-stall", KERNEL)
def k_barrier(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(20, 42), dram=draw.real(8, 25), issued=draw.real(18, 36),
        threads=draw.random.choice((512, 1024)), shared=16 * 1024, stalls={"barrier": draw.real(0.45, 0.65)},
    )  # fmt: skip
    why = "warps of large blocks wait for each other at barriers about half of the time"
    return judged(draw, folder, kernel, "gpu-barrier-stall", why)


@recipe("gpu-dependency-stall", KERNEL)
def k_dependency(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(35, 45), dram=draw.real(3, 12), issued=draw.real(35, 45),
        registers=168, threads=128, stalls={"wait": draw.real(0.5, 0.65)}, pipes={"fma": draw.real(25, 40)},
    )  # fmt: skip
    # A fixed latency is four to six cycles: it can be half of the time only where a scheduler has few warps.
    why = (
        "each instruction needs the result of the one before; a scheduler has three warps and waits for a fixed latency"
    )
    return judged(draw, folder, kernel, "gpu-dependency-stall", why, "gpu-low-occupancy")


@recipe("gpu-compute-bound", KERNEL)
def k_compute(draw: Draw, folder: Path) -> Truth:
    busy = draw.real(86, 95)
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=busy, dram=draw.real(4, 20), issued=draw.real(80, 92),
        stalls={"not_selected": draw.real(0.3, 0.45), "math_pipe_throttle": draw.real(0.15, 0.25)}, pipes={"fma": busy},
    )  # fmt: skip
    why = "the pipe for single precision is busy nine tenths of the time, memory is not"
    return judged(draw, folder, kernel, "gpu-compute-bound", why, "healthy")


@recipe("gpu-small-grid", KERNEL)
def k_small(draw: Draw, folder: Path) -> Truth:
    blocks = draw.whole(2, 36)
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(1.5, 3) * blocks / 10, dram=draw.real(1, 5),
        issued=draw.real(20, 35), blocks=blocks, achieved=12.0, stalls={"long_scoreboard": 0.3, "wait": 0.25},
    )  # fmt: skip
    why = f"{blocks} blocks for {SMS} multiprocessors: most of the device has nothing to do"
    return judged(draw, folder, kernel, "gpu-small-grid", why, "gpu-low-occupancy")


@recipe("gpu-tail-effect", KERNEL)
def k_tail(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(40, 55), dram=draw.real(25, 45), issued=draw.real(38, 50),
        waves=1 + draw.real(0.04, 0.2), stalls={"long_scoreboard": 0.25, "wait": 0.2, "not_selected": 0.12},
        pipes={"fma": draw.real(35, 45)},
    )  # fmt: skip
    why = "the grid is one full wave of blocks and a little of a second, during which most multiprocessors are idle"
    return judged(draw, folder, kernel, "gpu-tail-effect", why)


@recipe("gpu-tensor-cores-unused", KERNEL)
def k_tensor(draw: Draw, folder: Path) -> Truth:
    busy = draw.real(82, 93)
    kernel = launched(
        draw, f"ampere_sgemm_{draw.choice('128x64', '64x64', '128x128')}_{draw.choice('nn', 'nt', 'tn')}", seconds_of(draw),
        sm=busy, dram=draw.real(8, 30), issued=draw.real(75, 88), registers=122, threads=128,
        stalls={"not_selected": 0.2, "math_pipe_throttle": 0.2}, pipes={"fma": busy, "tensor": 0.0}, shared=17 * 1024,
    )  # fmt: skip
    why = "a product of matrices in single precision on the FMA pipe of a device whose tensor cores are idle"
    return judged(draw, folder, kernel, "gpu-tensor-cores-unused", why, "gpu-compute-bound")


@recipe("gpu-instruction-fetch", KERNEL)
def k_fetch(draw: Draw, folder: Path) -> Truth:
    kernel = launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=draw.real(20, 40), dram=draw.real(4, 15), issued=draw.real(18, 36),
        stalls={"no_instruction": draw.real(0.42, 0.6)}, registers=64,
    )  # fmt: skip
    why = "warps wait for their next instruction about half of the time: the code is larger than the instruction caches"
    return judged(draw, folder, kernel, "gpu-instruction-fetch", why)


def double(draw: Draw) -> Run:
    busy = draw.real(86, 97)
    return launched(
        draw, draw.names.kernel(), seconds_of(draw), sm=busy, dram=draw.real(3, 15), issued=draw.real(8, 20), capability="8.6",
        stalls={"math_pipe_throttle": draw.real(0.5, 0.7)}, pipes={"fp64": busy, "fma": 3.0},
    )  # fmt: skip


@recipe("gpu-fp64-bound", KERNEL)
def k_double(draw: Draw, folder: Path) -> Truth:
    why = "the pipe for double precision is busy nine tenths of the time on a device that has few of its units"
    return judged(draw, folder, double(draw), "gpu-fp64-bound", why, "gpu-compute-bound")


# -- nothing wrong, and two faults -------------------------------------------------------------------------------


@recipe("healthy", KERNEL)
def k_healthy(draw: Draw, folder: Path) -> Truth:
    kernel = innocent(draw, seconds_of(draw))
    why = "arithmetic and memory are both used at two thirds or more of their peak, no stall reason stands out"
    return judged(draw, folder, kernel, "healthy", why, "gpu-compute-bound", "gpu-memory-bandwidth", "gpu-kernel-bound")


def both(draw: Draw, folder: Path, first: tuple[str, Run], other: tuple[str, Run], why: str, *also: str) -> Truth:
    time = "gpu__time_duration.sum"
    seconds = seconds_of(draw) * 1e9
    runs = [
        replace(run, metrics={**run.metrics, time: (seconds * part, "ns")})
        for (_, run), part in ((first, 1.0), (other, draw.real(0.5, 0.75)))
    ]
    profiles = written(draw, folder, *runs)
    one, two = (share_of(run, folder) for run in runs)
    return truth(first[0], FORM, profiles, one, why, where=place(kernel=runs[0].kernel), acceptable=also,
                 second=(other[0], two, place(kernel=runs[1].kernel)))  # fmt: skip


@recipe("two-faults", KERNEL)
def k_scattered_and_double(draw: Draw, folder: Path) -> Truth:
    why = "one kernel's loads are scattered, the other's double precision pipe is full"
    return both(draw, folder, ("gpu-uncoalesced-access", scattered(draw)), ("gpu-fp64-bound", double(draw)), why,
                "gpu-memory-latency")  # fmt: skip
