"""Kernels whose limit is arithmetic: a pipe at its peak, and what makes it do more than it must."""

from __future__ import annotations

import re
from math import ceil

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Kind, Quantity
from chathpc.diagnosis.kernel_counters import Counted
from chathpc.diagnosis.rules.gpu_speed import BETWEEN, low, near, speed_of_light, write
from chathpc.profile import numbers

#: Stall reasons of warps that wait for an arithmetic pipe.
_QUEUES = ("math-pipe-throttle", "gmma")
_PRODUCT = re.compile(r"gemm|matmul|mat_?mul|matrix_?mul|\bmm\b|conv[123]d|(?<![a-z])conv(?![a-z]{2})", re.IGNORECASE)
#: Pipe → what it does, in words.
_PIPES = {
    "fma": "FMA (single precision)", "alu": "ALU (integers, logic)", "fp64": "FP64 (double precision)", "fp16": "FP16 (half precision)",
    "xu": "XU (transcendental functions)", "tensor": "tensor",
}  # fmt: skip


def is_busy(kernel: Counted) -> bool:
    """True if arithmetic or the issue of instructions, not memory, is what keeps a kernel busy.

    At 80 % of the peak it is; between 60 and 80 % if a pipe, its queue or the schedulers are busy as well, or nothing else is
    known; below if warps wait for a busy pipe more than for anything else.
    """
    compute, memory, pipe = kernel.compute, kernel.memory, kernel.pipe
    if memory is not None and memory >= low() and (compute is None or memory >= compute):
        return False
    waits = kernel.stalled(*_QUEUES)
    others = (value for reason, value in kernel.stalls.items() if reason not in (*_QUEUES, "selected", "not-selected"))
    least = cause("gpu-compute-bound").threshold("min_stall_share")
    if waits >= max(others, default=0.0) and kernel.stalls_reach(waits, least):
        return True
    busy = (pipe is not None and pipe[1] >= low()) or kernel.at_least("issue-active", low())
    if compute is None or compute < low():
        return compute is None and busy
    return compute >= near() or busy or (pipe is None and not kernel.stalls)


def pipes(kernel: Counted) -> list[Fact]:
    """How busy the pipes and schedulers are, as far as it is known."""
    evidence = [*speed_of_light(kernel)]
    if kernel.pipe is not None:
        name = kernel.pipe[0]
        evidence += kernel.percent(
            f"pipe.{name}", f"the busy time of the busiest pipe, {_PIPES.get(name, name)},", "its cycles"
        )
    evidence += kernel.percent("issue-active", "the part of the cycles in which schedulers issue an instruction")
    waits = kernel.stalled(*_QUEUES)
    if waits:
        how = "math pipe throttle / cycles per instruction"
        evidence.append(kernel.part("stall.math-pipe-throttle", waits, "waiting for a busy pipe", BETWEEN, how))
    return evidence


def lanes(kernel: Counted) -> float | None:
    """Part (0..1) of a warp's threads that take part in an instruction, of those that the block's size gives it.

    None where it was not collected, or for warps of more threads than NVIDIA's.
    """
    active, threads = kernel.get("threads-per-instruction"), kernel.get("threads-per-block")
    warp = common()["warp_threads"].value
    if active is None or active > warp:
        return None
    given = threads / ceil(threads / warp) if threads else warp
    return min(active / given, 1.0)


def divergence(kernel: Counted) -> Draft | None:
    """Few threads of a warp take part in an instruction, in a kernel that memory does not limit."""
    entry = cause("gpu-divergence")
    part = lanes(kernel)
    memory, warp = kernel.memory, common()["warp_threads"].value
    if part is None or part * warp > entry.threshold("max_threads") or (memory is not None and memory >= low()):
        return None
    used = [kernel.compute, kernel.get("issue-active"), kernel.pipe[1] if kernel.pipe is not None else None]
    if any(value is not None for value in used) and not any(value is not None and value >= low() for value in used):
        return None  # lanes that are masked out cost nothing where the pipes have room
    active = kernel.values["threads-per-instruction"]
    evidence = [
        kernel.fact(
            Kind.MEAN, "threads-per-instruction", subject="an instruction", unit=f"active threads of a warp's {warp:.0f}",
            how="threads that execute / instructions of warps",
        ),
        *kernel.percent("branch-uniformity", "the part of the branches at which all threads of a warp go the same way"),
        *pipes(kernel),
    ]  # fmt: skip
    waits = kernel.stalled("long-scoreboard", "lg-throttle")
    against: tuple[str, ...] = ()
    if kernel.stalls_reach(waits, cause("gpu-memory-latency").threshold("min_stall_share")):
        against = ("Warps spend much of their time waiting for memory, which masked threads do not cause.",)
    uniform = kernel.get("branch-uniformity")
    mixed = uniform is not None and 0 < uniform < entry.threshold("max_uniformity")
    return write(
        kernel, entry.id, f"Threads of a warp of {kernel.short} diverge: {numbers.number(active)} of {warp:.0f} are active per instruction.",
        evidence, headroom=(1 - part) * (1 - waits), signs=1 + mixed + is_busy(kernel), against=against,
        waiting="pipe", next_measurement=kernel.measure("divergent branches by source line", "SourceCounters", "WarpStateStats"),
    )  # fmt: skip


def _is_plain_product(kernel: Counted) -> bool:
    """True for a matrix product, by its name, that leaves the tensor pipe idle."""
    tensor = kernel.get("pipe.tensor")
    idle = tensor is not None and tensor < cause("gpu-tensor-cores-unused").threshold("max_tensor")
    return idle and not kernel.get("flops.tensor") and _PRODUCT.search(kernel.name) is not None


def _tensor_pipe(kernel: Counted) -> list[Fact]:
    return kernel.percent("pipe.tensor", "the busy time of the tensor pipe", "its cycles")


def tensor_unused(kernel: Counted) -> Draft | None:
    """A matrix product in half precision that keeps ordinary arithmetic busy while the tensor pipe is idle.

    In single precision that is no fault: tensor cores would round the operands. There it is advice beside the limit of the pipe.
    """
    entry = cause("gpu-tensor-cores-unused")
    half = kernel.get("flops.fp16") or 0.0
    ordinary = max(kernel.get("pipe.fma") or 0.0, kernel.get("pipe.fp16") or 0.0)
    if (
        half <= (kernel.get("flops.fp32") or 0.0)
        or ordinary < low()
        or not is_busy(kernel)
        or not _is_plain_product(kernel)
    ):
        return None
    evidence = [
        *_tensor_pipe(kernel), *pipes(kernel),
        kernel.fact(
            Kind.RATE, "flops.fp16", subject="its rate outside of the tensor pipe", unit="half precision operations a second",
            how="operations of ordinary instructions / time",
        ),
    ]  # fmt: skip
    return write(
        kernel, entry.id, f"{kernel.short} looks like a matrix product but does not use the tensor cores.", evidence,
        headroom=entry.headroom, signs=2,
    )  # fmt: skip


def double_precision(kernel: Counted) -> Draft | None:
    """The FP64 pipe is the busiest and near its limit, or the kernel reaches most of the double precision peak."""
    entry = cause("gpu-fp64-bound")
    used, flops, peak = kernel.get("pipe.fp64"), kernel.get("flops.fp64"), kernel.get("peak-flops.fp64")
    reached = flops / peak * 100 if flops is not None and peak else None
    busiest = kernel.pipe is not None and kernel.pipe[0] == "fp64"
    limit = entry.threshold("min_throughput")
    if not ((used is not None and busiest and used >= limit) or (reached is not None and reached >= limit)):
        return None
    evidence = [*kernel.percent("pipe.fp64", "the busy time of the FP64 pipe", "its cycles")]
    if reached is not None:
        evidence.append(
            kernel.fact(
                Kind.VALUE, "flops.fp64", min(reached, 100), subject="its rate of double precision", whole=Quantity(of="the peak"),
                unit="percent", how="double precision operations per second / peak at the kernel's clock",
            )
        )  # fmt: skip
    single = kernel.get("peak-flops.fp32")
    against = []
    if single and peak:
        ratio = single / peak
        evidence.append(
            kernel.fact(
                Kind.COMPARISON, "peak-flops.fp32", ratio, subject="the peak of single precision", unit="times",
                whole=Quantity(of="that of double precision on this device"), how="peak of single / peak of double precision",
            )
        )  # fmt: skip
        if ratio <= entry.threshold("full_rate"):
            against.append("The device has full-rate units for double precision.")
    evidence += pipes(kernel)
    slow = bool(single and peak and single > entry.threshold("full_rate") * peak)
    return write(
        kernel, entry.id, f"{kernel.short} is limited by double-precision throughput.", evidence, headroom=entry.headroom,
        signs=1 + (reached is not None and reached >= limit) + slow, against=tuple(against), waiting="pipe",
    )  # fmt: skip


def compute_bound(kernel: Counted) -> Draft | None:
    """Arithmetic or the issue of instructions is the kernel's busiest unit, at or on the way to its limit."""
    entry = cause("gpu-compute-bound")
    if not is_busy(kernel):
        return None
    compute = kernel.compute
    reached = max(compute or 0.0, kernel.pipe[1] if kernel.pipe is not None else 0.0)
    evidence = [*pipes(kernel)]
    evidence += kernel.percent("achieved-occupancy", "the achieved occupancy")
    product = _is_plain_product(kernel)
    if product:
        evidence += _tensor_pipe(kernel)
    against, busy = [], kernel.pipe is not None and kernel.pipe[1] >= low()
    if reached < near():
        against.append(
            f"{numbers.percent(reached / 100)} of the peak is below the {near():.0f} % from which a unit counts as at its limit."
        )
    if kernel.pipe is not None and not busy and not kernel.at_least("issue-active", low()):
        against.append(f"No pipe is busy for {low():.0f} % of its cycles.")
    at = "at" if reached >= near() else "near"
    unit = (
        f"its {_PIPES.get(kernel.pipe[0], kernel.pipe[0])} pipe" if kernel.pipe is not None and busy else "arithmetic"
    )
    waits = kernel.stalled(*_QUEUES)
    integers = busy and kernel.pipe is not None and kernel.pipe[0] == "alu"
    return write(
        kernel, entry.id, f"{kernel.short} is {at} the limit of {unit}: {numbers.percent(reached / 100)} of the peak.", evidence,
        headroom=1 - reached / 100, signs=1 + busy + (waits >= entry.threshold("min_queue_share")), against=tuple(against), waiting="pipe",
        advice=_INTEGERS if integers else _TF32 if product else (), own_advice=integers, next_measurement=None if kernel.pipe is not None else kernel.measure(
            "which pipe is the limit", "ComputeWorkloadAnalysis", "InstructionStats"
        ),
    )  # fmt: skip


#: Neither matrix units nor fast functions of floating-point numbers help here.
_INTEGERS = (
    "Save integer instructions in the hot lines: index with 32 instead of 64 bits, divide by powers of two or by constants, and compute what the "
    "iterations of a loop share once before it.",
)
_TF32 = (
    "Where 10 bits of mantissa suffice, let tensor cores multiply: TF32 by cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), "
    "torch.set_float32_matmul_precision('high'), or half precision.",
)
