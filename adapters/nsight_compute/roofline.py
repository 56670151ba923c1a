"""Coordinates of a kernel in the roofline: operations and bytes per second, and the peaks of both.

Formulas as in the section files of Nsight Compute (SpeedOfLight_RooflineChart); they give the percentages that its rule
SOLFPRoofline states.
"""

from __future__ import annotations

import re

from chathpc.adapters.nsight_compute.launch import Launch

#: The clock of the multiprocessors, as their parts see it and as a whole.
CLOCK = ("smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second")


def ratio(above: float | None, below: float | None) -> float | None:
    """`above` / `below`; None if one is not measured, or `below` is not positive."""
    return above / below if above is not None and below is not None and below > 0 else None


def product(*factors: float | None) -> float | None:
    """The product of all `factors`; None if one is not measured."""
    result = 1.0
    for one in factors:
        if one is None:
            return None
        result *= one
    return result


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
        return product(sum(one for one in per_cycle if one is not None), launch.value(*CLOCK))
    totals = [_total(launch, letter + kind, weight) for kind, weight, _ in kinds]
    if all(one is not None for one in totals):
        return ratio(sum(one for one in totals if one is not None), launch.seconds)
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
    return product(operations, launch.value("sm__cycles_elapsed.avg.per_second", *CLOCK))


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
    clock = launch.value("sm__cycles_elapsed.avg.per_second", *CLOCK)
    rates = []
    for stem in _tensor_stems(launch):
        rate = launch.value(f"{stem}.sum.per_second")
        rate = product(launch.value(f"{stem}.sum.per_cycle_elapsed"), clock) if rate is None else rate
        rate = ratio(launch.value(f"{stem}.sum"), launch.seconds) if rate is None else rate
        if rate is not None:
            rates.append(rate)
    return sum(rates) if rates else None


def peak_tensor_flops(launch: Launch) -> float | None:
    """Peak of the kind of tensor operation of which the kernel executes most; None if it executes none."""
    clock = launch.value("sm__cycles_elapsed.avg.per_second", *CLOCK)
    used = [
        (launch.value(f"{stem}.sum.per_cycle_elapsed", f"{stem}.sum") or 0.0, stem) for stem in _tensor_stems(launch)
    ]
    most, stem = max(used, default=(0.0, ""))
    return product(launch.value(f"{stem}.sum.peak_sustained"), clock) if most > 0 else None


def dram_rate(launch: Launch) -> float | None:
    """Bytes per second from and to device memory."""
    rate = launch.value("dram__bytes.sum.per_second")
    if rate is not None:
        return rate
    read, written = (launch.value(f"dram__bytes_{way}.sum.per_second") for way in ("read", "write"))
    if read is not None and written is not None:
        return read + written
    read, written = (launch.value(f"dram__bytes_{way}.sum") for way in ("read", "write"))
    total = read + written if read is not None and written is not None else launch.value("dram__bytes.sum")
    return ratio(total, launch.seconds)


def peak_dram_rate(launch: Launch) -> float | None:
    """Peak of `dram_rate` at the memory's clock during the kernel."""
    return product(launch.value("dram__bytes.sum.peak_sustained"), launch.value("dram__cycles_elapsed.avg.per_second"))


def arithmetic_intensity(launch: Launch) -> float | None:
    """Operations per byte of device memory traffic, in the precision with most of them."""
    rates = [rate for precision in _LETTERS if (rate := flops(launch, precision)) is not None]
    tensor = tensor_flops(launch)
    most = max([*rates, *([tensor] if tensor is not None else [])], default=None)
    return ratio(most, dram_rate(launch))
