"""Kernels that use neither arithmetic nor memory well: what their warps wait for."""

from __future__ import annotations

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Kind, Quantity
from chathpc.diagnosis.kernel_counters import Counted
from chathpc.diagnosis.rules.gpu_memory import FULL_QUEUE, QUEUES, excess_sectors, fills_queues, levels, may_hold_up
from chathpc.diagnosis.rules.gpu_speed import BETWEEN, low, near, speed_of_light, write
from chathpc.profile import numbers
from chathpc.profile.stalls import STALLS, WAITING

#: Reasons that are no waiting: the warp issues, or could.
_NO_WAIT = ("selected", "not-selected")
#: Kind of waiting → cause, and what the warps wait for in words.
_CAUSES = {
    "memory": ("gpu-memory-latency", "data from memory"),
    "barrier": ("gpu-barrier-stall", "other warps at a barrier"),
    "dependency": ("gpu-dependency-stall", "the result of an earlier instruction"),
    "fetch": ("gpu-instruction-fetch", "their next instruction"),
}
#: So many stall reasons are worth naming beside the first.
_NAMED = 2


def kind_of_waiting(kernel: Counted) -> str:
    """What warps wait for most, a key of WAITING, in a kernel that uses no unit well; empty if nothing stands out enough to be a finding."""
    busiest = kernel.busiest
    if not kernel.stalls or (busiest is not None and busiest >= near()):
        return ""
    parts = _parts(kernel)
    pipe = cause("gpu-compute-bound").threshold("min_stall_share")
    if max(parts, key=lambda each: parts[each]) == "pipe" and kernel.stalls_reach(parts["pipe"], pipe):
        return ""
    kind = max(_CAUSES, key=lambda each: parts[each])
    if (
        busiest is not None
        and busiest >= low()
        and (kind == "memory" or parts[kind] < common()["dominant_stall"].value)
    ):
        return ""
    stands_out = _stands_out(kernel, kind, parts[kind]) or parts[kind] >= common()["least_stall"].value
    return kind if stands_out else ""


def _parts(kernel: Counted) -> dict[str, float]:
    return {kind: kernel.stalled(*reasons) for kind, reasons in WAITING.items()}


def _stands_out(kernel: Counted, kind: str, part: float) -> bool:
    return kernel.stalls_reach(part, cause(_CAUSES[kind][0]).threshold("min_stall_share"))


def waiting(kernel: Counted) -> Draft | None:
    """What warps wait for most, by the stall reasons, in a kernel that uses no unit well."""
    kind = kind_of_waiting(kernel)
    if not kind:
        return None
    (identifier, words), part, busiest = _CAUSES[kind], _parts(kernel)[kind], kernel.busiest
    busy, is_most = busiest is not None and busiest >= low(), part >= common()["dominant_stall"].value
    against = []
    if not _stands_out(kernel, kind, part):
        against.append("No reason for waiting stands out.")
    if busy:
        against.append(f"A unit is used for {numbers.percent((busiest or 0) / 100)} of its peak.")
    evidence = [*_reasons(kernel, kind, part, words), *speed_of_light(kernel)]
    if kind == "memory":
        evidence += levels(kernel)
        evidence += excess_sectors(kernel)
    evidence += kernel.percent("achieved-occupancy", "the achieved occupancy")
    evidence += kernel.collected(
        Kind.MEAN, "eligible-warps", "a scheduler", "warps that could issue", "eligible warps per active cycle"
    )
    return write(
        kernel, identifier, f"Warps of {kernel.short} wait for {words} in {numbers.percent(part)} of the time, and no unit is well utilised."
        if not busy else f"Warps of {kernel.short} wait for {words} in {numbers.percent(part)} of the time.", evidence,
        headroom=min(part, kernel.idle), signs=1 + (busiest is not None and not busy) + is_most, against=tuple(against),
        waiting=kind, advice=FULL_QUEUE if kind == "memory" and fills_queues(kernel.stalled(*QUEUES), part) else (),
    )  # fmt: skip


def _reasons(kernel: Counted, kind: str, part: float, words: str) -> list[Fact]:
    reason = max(WAITING[kind], key=lambda each: kernel.stalls.get(each, 0.0))
    longest = kernel.stalls.get(reason, 0.0)
    total = kernel.get("latency-per-issue")
    whole = Quantity(total, "cycles", "a warp between two instructions") if total else Quantity(of=BETWEEN)
    evidence = [
        kernel.fact(
            Kind.SHARE, f"stall.{reason}", part, subject=f"waiting for {words}", whole=whole, unit="ratio",
            how=f"stall reasons {', '.join(WAITING[kind])} / cycles between two instructions of a warp",
        ),
    ]  # fmt: skip
    ranked = sorted(kernel.stalls.items(), key=lambda item: (-item[1], item[0]))
    named = [(name, value) for name, value in ranked if name not in _NO_WAIT][: _NAMED + 1]
    if (reason, longest) not in named:
        named = [(reason, longest), *named]
    for name, value in named:
        evidence.append(
            kernel.fact(
                Kind.VALUE, f"stall.{name}", value, subject=f"the stall reason {name}, for {STALLS[name].words},", unit="ratio",
                how="cycles of the stall reason / cycles between two instructions of a warp",
            )
        )  # fmt: skip
    return evidence


def leans_on_memory(kernel: Counted) -> bool:
    """True if the memory system is clearly the busier side of a kernel that uses neither well."""
    memory, compute = kernel.memory, kernel.compute
    least = cause("gpu-memory-latency").threshold("leaning_ratio")
    return memory is not None and memory >= may_hold_up() and (compute is None or memory >= least * compute)


def is_clear(kernel: Counted) -> bool:
    """True if the memory system is so much busier than compute that the kernel works for it."""
    return (kernel.memory or 0) >= cause("gpu-memory-latency").threshold("clear_ratio") * (kernel.compute or 0)


def probably_memory(kernel: Counted) -> Draft | None:
    """A kernel below 60 % everywhere, memory the busier side, of which nobody asked what its warps wait for."""
    busiest = kernel.busiest
    if kernel.stalls or busiest is None or busiest >= low() or kernel.compute is None or not leans_on_memory(kernel):
        return None
    evidence = [*speed_of_light(kernel), *levels(kernel)]
    evidence += kernel.percent("occupancy", "the theoretical occupancy")
    evidence += kernel.percent("achieved-occupancy", "the achieved occupancy")
    evidence += kernel.percent("issue-active", "the part of the cycles in which schedulers issue an instruction")
    return write(
        kernel, "gpu-memory-latency",
        f"{kernel.short} is limited by latencies, probably of memory: no unit is used for {low():.0f} % of its peak.", evidence,
        headroom=min(kernel.idle, cause("gpu-memory-latency").headroom), signs=2 if is_clear(kernel) else 1, waiting="memory",
        against=("What the warps wait for was not collected: it may be barriers or earlier results.",),
        next_measurement=kernel.measure("what the warps wait for, by line", "WarpStateStats", "SchedulerStats", "SourceCounters"),
    )  # fmt: skip
