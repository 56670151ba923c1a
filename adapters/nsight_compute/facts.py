"""What NVIDIA's metrics mean in chathpc's vocabulary of kernel counters, for every generation of GPUs and of the tool.

A fact is the first of several names that the launch has, or is computed from names that it has; nothing is assumed where a name
is absent. Formulas of the roofline: as in the section files of Nsight Compute (SpeedOfLight_RooflineChart); they give the
percentages that its rule SOLFPRoofline states.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from chathpc.adapters.nsight_compute.launch import Launch
from chathpc.profile.gpu_counters import STALLS

_ELAPSED, _ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"


def _pipe(*names: str) -> tuple[str, ...]:
    """The names under which the use of a pipe is found: cycles in use before instructions issued, active before elapsed."""
    return tuple(
        pattern + part for part in (_ACTIVE, _ELAPSED) for name in names
        for pattern in (f"sm__pipe_{name}_cycles_active", f"sm__inst_executed_pipe_{name}")
    )  # fmt: skip


#: fact → names that hold it, the first that is there counts.
NAMES: dict[str, tuple[str, ...]] = {
    "gpu.kernel.sm-throughput": ("sm__throughput" + _ELAPSED,),
    "gpu.kernel.memory-throughput": ("gpu__compute_memory_throughput" + _ELAPSED,),
    "gpu.kernel.dram-throughput": ("gpu__dram_throughput" + _ELAPSED, "dram__throughput" + _ELAPSED),
    "gpu.kernel.l2-throughput": ("lts__throughput" + _ELAPSED,),
    "gpu.kernel.l1-throughput": ("l1tex__throughput" + _ACTIVE, "l1tex__throughput" + _ELAPSED),
    "gpu.kernel.l1-data-pipe": (
        "l1tex__data_pipe_lsu_wavefronts" + _ELAPSED,
        "l1tex__data_pipe_lsu_wavefronts.sum.pct_of_peak_sustained_elapsed",
    ),
    "gpu.kernel.l1-hit-rate": ("l1tex__t_sector_hit_rate.pct",),
    "gpu.kernel.l2-hit-rate": ("lts__t_sector_hit_rate.pct",),
    "gpu.kernel.occupancy": ("sm__maximum_warps_per_active_cycle_pct",),
    "gpu.kernel.achieved-occupancy": ("sm__warps_active" + _ACTIVE,),
    "gpu.kernel.issue-active": ("smsp__issue_active" + _ACTIVE, "sm__inst_issued" + _ACTIVE),
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
}  # fmt: skip

#: stall reason → as it stands in NVIDIA's names where that differs.
_REASONS = {"sleep": "sleeping"}


def _reason(reason: str) -> str:
    return _REASONS.get(reason, reason.replace("-", "_"))


for _stall in STALLS:
    NAMES[f"gpu.kernel.stall.{_stall}"] = (
        f"smsp__average_warps_issue_stalled_{_reason(_stall)}_per_issue_active.ratio",
        f"smsp__average_warp_latency_issue_stalled_{_reason(_stall)}.ratio",
    )

# -- what is computed ----------------------------------------------------------------------------------------------------

Computed = Callable[[Launch], float | None]


def _sum(launch: Launch, *names: str) -> float | None:
    """Sum of those of `names` that have a value; None if none has."""
    found = [value for name in names if (value := launch.value(name)) is not None]
    return sum(found) if found else None


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below is not None and below > 0 else None


def _product(*factors: float | None) -> float | None:
    result = 1.0
    for one in factors:
        if one is None:
            return None
        result *= one
    return result


_SM_CLOCK = ("smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second")
_LETTERS = {"fp32": "f", "fp64": "d", "fp16": "h"}


def _per_cycle(launch: Launch, operation: str, weight: float, derived: str) -> float | None:
    """Operations per cycle of one kind of instruction, each counted `weight` times; `derived` holds them already weighted."""
    stem = f"smsp__sass_thread_inst_executed_op_{operation}_pred_on"
    for unit in ("smsp", "sm"):
        counted = launch.value(f"{unit}__sass_thread_inst_executed_op_{operation}_pred_on.sum.per_cycle_elapsed")
        if counted is not None:
            return weight * counted
    return launch.value(f"derived__{stem}_{derived}")


def _total(launch: Launch, operation: str, weight: float) -> float | None:
    """Operations of one kind of instruction over the whole launch."""
    counted = launch.value(
        *(f"{unit}__sass_thread_inst_executed_op_{operation}_pred_on.sum" for unit in ("smsp", "sm"))
    )
    return None if counted is None else weight * counted


def flops(launch: Launch, precision: str) -> float | None:
    """Operations per second of `precision` (fp16, fp32, fp64), without tensor instructions; None if one kind is not measured."""
    letter, wide = _LETTERS[precision], 2.0 if precision == "fp16" else 1.0
    kinds = (("add", wide, "x2"), ("mul", wide, "x2"), ("fma", 2 * wide, "x4" if wide == 2 else "x2"))
    per_cycle = [_per_cycle(launch, letter + kind, weight, derived) for kind, weight, derived in kinds]
    if all(one is not None for one in per_cycle):
        return _product(sum(one for one in per_cycle if one is not None), launch.value(*_SM_CLOCK))
    totals = [_total(launch, letter + kind, weight) for kind, weight, _ in kinds]
    if all(one is not None for one in totals):
        return _ratio(sum(one for one in totals if one is not None), launch.seconds)
    return None


def peak_flops(launch: Launch, precision: str) -> float | None:
    """Peak of `flops`: every multiprocessor starts fused multiply-adds in every cycle."""
    letter, weight, derived = (
        _LETTERS[precision],
        4.0 if precision == "fp16" else 2.0,
        "x4" if precision == "fp16" else "x2",
    )
    stem = f"sm__sass_thread_inst_executed_op_{letter}fma_pred_on"
    counted = launch.value(f"{stem}.sum.peak_sustained")
    operations = launch.value(f"derived__{stem}_{derived}") if counted is None else weight * counted
    return _product(operations, launch.value("sm__cycles_elapsed.avg.per_second", *_SM_CLOCK))


#: Operations of the tensor cores: by the type of their inputs, and (Hopper) also by instruction. Each counts all of them.
_TENSOR = re.compile(
    r"(sm__ops_path_tensor_(?:src|op_[a-z]+_src)_\w+)\.sum(\.per_cycle_elapsed|\.per_second|\.peak_sustained|)"
)
PATTERN = _TENSOR.pattern.replace("(sm__", "(?:sm__", 1)


def _tensor_stems(launch: Launch) -> list[str]:
    """The families of tensor operations that do not count the same operations twice."""
    stems = {
        match[1] for name in launch.metrics if (match := _TENSOR.fullmatch(name)) and match[2] != ".peak_sustained"
    }
    by_type = {stem for stem in stems if stem.startswith("sm__ops_path_tensor_src_")}
    chosen = sorted(by_type or stems)
    return [stem for stem in chosen if not any(stem.startswith(other + "_") for other in chosen)]


def tensor_flops(launch: Launch) -> float | None:
    """Operations of tensor instructions per second; None if they are not measured."""
    clock = launch.value("sm__cycles_elapsed.avg.per_second", *_SM_CLOCK)
    rates = []
    for stem in _tensor_stems(launch):
        rate = launch.value(f"{stem}.sum.per_second")
        rate = _product(launch.value(f"{stem}.sum.per_cycle_elapsed"), clock) if rate is None else rate
        rate = _ratio(launch.value(f"{stem}.sum"), launch.seconds) if rate is None else rate
        if rate is not None:
            rates.append(rate)
    return sum(rates) if rates else None


def peak_tensor_flops(launch: Launch) -> float | None:
    """Peak of the kind of tensor operation of which the kernel executes most; None if it executes none."""
    clock = launch.value("sm__cycles_elapsed.avg.per_second", *_SM_CLOCK)
    used = [
        (launch.value(f"{stem}.sum.per_cycle_elapsed", f"{stem}.sum") or 0.0, stem) for stem in _tensor_stems(launch)
    ]
    most, stem = max(used, default=(0.0, ""))
    return _product(launch.value(f"{stem}.sum.peak_sustained"), clock) if most > 0 else None


def dram_rate(launch: Launch) -> float | None:
    """Bytes per second from and to device memory."""
    rate = launch.value("dram__bytes.sum.per_second")
    if rate is not None:
        return rate
    for suffix, base in ((".sum.per_second", None), (".sum", launch.seconds)):
        read, written = launch.value("dram__bytes_read" + suffix), launch.value("dram__bytes_write" + suffix)
        if read is not None and written is not None:
            return read + written if suffix.endswith("second") else _ratio(read + written, base)
    return None


def peak_dram_rate(launch: Launch) -> float | None:
    """Peak of `dram_rate` at the memory's clock during the kernel."""
    return _product(launch.value("dram__bytes.sum.peak_sustained"), launch.value("dram__cycles_elapsed.avg.per_second"))


def arithmetic_intensity(launch: Launch) -> float | None:
    """Operations per byte of device memory traffic, in the precision with most of them."""
    rates = [rate for precision in _LETTERS if (rate := flops(launch, precision)) is not None]
    tensor = tensor_flops(launch)
    most = max([*rates, *([tensor] if tensor is not None else [])], default=None)
    return _ratio(most, dram_rate(launch))


def _part(excess: tuple[str, ...], all_of: tuple[str, ...], ideal: tuple[str, ...]) -> Computed:
    def compute(launch: Launch) -> float | None:
        total = launch.value(*all_of)
        more = launch.value(*excess)
        if more is None:
            needed = launch.value(*ideal)
            more = total - needed if total is not None and needed is not None else None
        part = _ratio(more, total)
        return None if part is None else min(max(part, 0.0), 1.0)

    return compute


def _per_request(direction: str) -> Computed:
    stem = "l1tex__t_{}_pipe_lsu_mem_global_op_" + direction + ".sum"
    ready = f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{direction}.ratio"

    def compute(launch: Launch) -> float | None:
        counted = _ratio(launch.value(stem.format("sectors")), launch.value(stem.format("requests")))
        return launch.value(ready) if counted is None else counted

    return compute


def _shared_memory(launch: Launch) -> float | None:
    own = _sum(launch, "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
    return launch.value("launch__shared_mem_per_block") if own is None else own


def _issue_active(launch: Launch) -> float | None:
    per_cycle = launch.value("smsp__issue_active.avg.per_cycle_active")
    if per_cycle is not None:
        return 100.0 * per_cycle
    idle = launch.value("smsp__issue_inst0" + _ACTIVE)
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
        part = launch.value(f"smsp__warp_issue_stalled_{_reason(reason)}_per_warp_active.pct")
        cycles = launch.value("smsp__average_warp_latency_per_inst_issued.ratio")
        return _product(part, cycles, 0.01)

    return compute


_SECTORS = ("memory_l2_theoretical_sectors_global", "memory_l2_sectors_global")
_WAVEFRONTS = ("memory_l1_wavefronts_shared", "memory_l1_sectors_shared")

#: fact → how it is computed where no name of NAMES holds it, and what is given as its source.
COMPUTED: dict[str, tuple[Computed, str]] = {
    "gpu.kernel.issue-active": (_issue_active, "smsp__issue_active.avg.per_cycle_active"),
    "gpu.kernel.blocks": (_blocks, "grid"),
    "gpu.kernel.threads-per-block": (_threads, "block"),
    "gpu.kernel.sectors-per-request.global-load": (
        _per_request("ld"),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum / l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    ),
    "gpu.kernel.sectors-per-request.global-store": (
        _per_request("st"),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum / l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    ),
    "gpu.kernel.excessive-sectors": (
        _part(
            tuple(f"derived__{name}_excessive" for name in _SECTORS), _SECTORS, tuple(f"{n}_ideal" for n in _SECTORS)
        ),
        "derived__memory_l2_theoretical_sectors_global_excessive / memory_l2_theoretical_sectors_global",
    ),
    "gpu.kernel.excessive-wavefronts": (
        _part(
            tuple(f"derived__{name}_excessive" for name in _WAVEFRONTS),
            _WAVEFRONTS,
            tuple(f"{n}_ideal" for n in _WAVEFRONTS),
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

_OPERATIONS = tuple(letter + kind for letter in "fdh" for kind in ("add", "mul", "fma"))

#: Names that are read from a report; those that match PATTERN too.
WANTED: frozenset[str] = frozenset(
    [
        *(name for names in NAMES.values() for name in names),
        *(f"launch__{what}_dim_{axis}" for what in ("grid", "block") for axis in "xyz"),
        "launch__grid_size", "launch__block_size", "launch__device_id", "launch__context_id", "launch__stream_id",
        "launch__shared_mem_per_block", "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic",
        "gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max",
        "smsp__issue_active.avg.per_cycle_active", "smsp__issue_inst0" + _ACTIVE,
        *(f"{unit}__sass_thread_inst_executed_op_{op}_pred_on{suffix}" for unit in ("smsp", "sm") for op in _OPERATIONS
          for suffix in (".sum", ".sum.per_cycle_elapsed", ".sum.peak_sustained")),
        *(f"derived__{unit}__sass_thread_inst_executed_op_{op}_pred_on_{weight}" for unit in ("smsp", "sm")
          for op in _OPERATIONS for weight in ("x2", "x4")),
        *_SM_CLOCK,
        "dram__bytes.sum.per_second", "dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second",
        *(f"dram__bytes_{way}.sum{suffix}" for way in ("read", "write") for suffix in ("", ".per_second")),
        *(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{way}.sum" for what in ("sectors", "requests") for way in ("ld", "st")),
        *(f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{way}.ratio" for way in ("ld", "st")),
        *(f"l1tex__data_{what}_pipe_lsu_{of}mem_shared_op_{way}.sum" for what, of in (("bank_conflicts", ""),)
          for way in ("ld", "st", "atom")),
        *(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{way}.sum" for way in ("ld", "st", "atom")),
        *(name + ending for name in (*_SECTORS, *_WAVEFRONTS) for ending in ("", "_ideal")),
        *(f"derived__{name}_excessive" for name in (*_SECTORS, *_WAVEFRONTS)),
        *(f"smsp__warp_issue_stalled_{_reason(reason)}_per_warp_active.pct" for reason in STALLS),
    ]
)  # fmt: skip

#: What describes the device.
DEVICE: frozenset[str] = frozenset(
    f"device__attribute_{name}"
    for name in (
        "display_name", "multiprocessor_count", "total_memory", "compute_capability_major", "compute_capability_minor",
        "clock_rate", "memory_clock_rate", "max_mem_frequency_khz", "global_memory_bus_width", "fb_bus_width",
    )
)  # fmt: skip
