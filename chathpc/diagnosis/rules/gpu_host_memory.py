"""Kernels whose data lies in host memory, pinned or managed: each miss of the L2 cache crosses PCIe or NVLink."""

from __future__ import annotations

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.kernel_counters import Counted
from chathpc.diagnosis.rules.gpu_memory import levels, waits_for_data
from chathpc.diagnosis.rules.gpu_speed import low, ran, speed_of_light, write
from chathpc.profile import numbers

_TITLE = "Kernel works on host memory"
_ADVICE = (
    "Copy once with cudaMemcpyAsync to memory of cudaMalloc what kernels read more than once.",
    "Move managed memory ahead with cudaMemPrefetchAsync, and keep it there with cudaMemAdvise (SetPreferredLocation).",
    "Leave in pinned host memory (zero copy) only what is touched once, by consecutive threads at consecutive addresses.",
)
_ONCE = "Data that is touched once crosses the link in any case: a copy only pays off if other work hides it."


def host_memory(facts: Facts, kernel: Counted) -> Draft | None:
    """Misses of the L2 cache that host memory serves, in a kernel that waits for memory, or uses nothing well."""
    entry = cause("gpu-memory-latency")
    part = kernel.get("host-misses")
    if part is None or part < entry.threshold("min_host_misses") or not _matters(kernel):
        return None
    waits = waits_for_data(kernel)
    held_up = kernel.stalls_reach(waits, entry.threshold("min_stall_share"))
    idle = kernel.busiest is not None and kernel.busiest < low()
    if kernel.at_least("dram-throughput", low()) or not (held_up if kernel.stalls else idle):
        return None
    evidence = [ran(facts, kernel), *_fetched(facts, kernel, part)]
    if held_up:
        evidence.append(
            kernel.fact(
                facts, Kind.SHARE, "stall.long-scoreboard", waits, subject="waiting for data from memory", unit="ratio",
                whole=Quantity(of="the time between two instructions of a warp"),
                how="long scoreboard + LG throttle + texture throttle / cycles between two instructions of a warp",
            )
        )  # fmt: skip
    evidence += [*speed_of_light(facts, kernel), *levels(facts, kernel)]
    return write(
        facts, kernel, entry.id,
        f"{kernel.short} works on host memory: {numbers.percent(part)} of its misses in the L2 cache cross PCIe or NVLink.", evidence,
        headroom=_part_of_waiting(part) * min(waits if held_up else 1.0, kernel.idle), signs=1 + held_up + idle, against=(_ONCE,), waiting="memory",
        advice=_ADVICE, own_advice=True,
        next_measurement=kernel.measure("the traffic with host memory, by unit", "MemoryWorkloadAnalysis_Chart", "MemoryWorkloadAnalysis_Tables"),
        title=_TITLE,
    )  # fmt: skip


def _part_of_waiting(part: float) -> float:
    """What host memory has at least of the time of all misses, if it serves `part` of them."""
    slower = part * cause("gpu-memory-latency").threshold("host_latency")
    return slower / (slower + 1 - part)


def _matters(kernel: Counted) -> bool:
    """True if enough of the accesses come to host memory; where these were not counted, if the L2 cache is filled from it at some rate."""
    entry = cause("gpu-memory-latency")
    sectors = kernel.get("host-sectors")
    if sectors is not None:
        return sectors >= entry.threshold("min_host_sectors")
    return kernel.at_least("host-fill-throughput", entry.threshold("min_host_fills"))


def _fetched(facts: Facts, kernel: Counted, part: float) -> list[Fact]:
    """How much comes from host memory, as a part and in bytes, and how fast."""
    found = [
        kernel.fact(
            facts, Kind.VALUE, "host-misses", part, subject="what host memory serves", unit="ratio",
            whole=Quantity(of="its misses in the L2 cache"), how="sectors from system memory / all sectors that miss",
        )
    ]  # fmt: skip
    if kernel.get("host-sectors") is not None:
        found.append(
            kernel.fact(
                facts, Kind.VALUE, "host-sectors", subject="what it has to fetch from host memory", unit="ratio",
                whole=Quantity(of="the sectors that it asks the L2 cache for"), how="sectors from system memory / all sectors",
            )
        )  # fmt: skip
    moved = kernel.get("host-bytes")
    if moved and kernel.seconds and kernel.launches:
        each = kernel.seconds / kernel.launches
        found.append(
            kernel.fact(
                facts, Kind.RATE, "host-bytes", moved / each, subject="the rate at which a launch fetches from host memory", unit="bytes/s",
                parts=(Part("", moved, "bytes"), Part("", each, "s")), how="sectors of 32 bytes from system memory / time",
            )
        )  # fmt: skip
    elif moved:
        found.append(
            kernel.fact(facts, Kind.AMOUNT, "host-bytes", subject="what a launch fetches from host memory", how="sectors of 32 bytes from system memory")
        )  # fmt: skip
    if kernel.get("pcie-rate") is not None:
        found.append(
            kernel.fact(
                facts, Kind.RATE, "pcie-rate", subject="the traffic over PCIe meanwhile, the profiler's own included,", unit="bytes/s",
                how="bytes read and written over PCIe / time",
            )
        )  # fmt: skip
    return found
