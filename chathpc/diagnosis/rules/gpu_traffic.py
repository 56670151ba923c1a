"""Kernels that make more traffic than their work needs: bank conflicts, spilled registers, contended atomic updates."""

from __future__ import annotations

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Form, Kind, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.kernel_counters import Counted
from chathpc.diagnosis.rules.gpu_memory import levels, waits_for_memory, weight
from chathpc.diagnosis.rules.gpu_speed import low, ran, speed_of_light, write
from chathpc.profile import numbers


def bank_conflicts(facts: Facts, kernel: Counted) -> Draft | None:
    """Shared memory accesses that are split by bank conflicts, in a kernel that waits for shared memory or fills its pipe."""
    entry = cause("gpu-shared-bank-conflicts")
    conflicts, wavefronts = kernel.get("bank-conflicts"), kernel.get("shared-wavefronts")
    part = (
        min(conflicts / wavefronts, 1.0) if conflicts is not None and wavefronts else kernel.get("excessive-wavefronts")
    )
    if part is None or part < entry.threshold("min_conflicts"):
        return None
    waits = kernel.stalled("short-scoreboard", "mio-throttle")
    pipe = kernel.get("l1-data-pipe")
    filled = (kernel.get("l1-throughput") or 0.0) if pipe is None else pipe
    held_up = kernel.stalls_reach(waits, entry.threshold("min_stall_share"))
    if not held_up and filled < low():
        return None
    evidence = [
        ran(facts, kernel),
        kernel.fact(
            facts, Kind.SHARE, "bank-conflicts" if conflicts is not None else "excessive-wavefronts", part, subject="bank conflicts", form=Form.MANY,
            whole=Quantity(of="the wavefronts of its shared memory accesses"), unit="ratio", how="conflicts / wavefronts of shared memory accesses",
        ),
        *kernel.percent(facts, "l1-data-pipe", "the busy time of the data pipe of the L1 cache, which serves shared memory,"),
    ]  # fmt: skip
    if waits:
        evidence.append(
            kernel.fact(
                facts, Kind.SHARE, "stall.mio-throttle", waits, subject="waiting for shared memory or its queue",
                whole=Quantity(of="the time between two instructions of a warp"), unit="ratio",
                how="short scoreboard + MIO throttle / cycles per instruction",
            )
        )  # fmt: skip
    evidence += speed_of_light(facts, kernel)
    return write(
        facts, kernel, entry.id,
        f"Bank conflicts split the shared memory accesses of {kernel.short}: {numbers.percent(part)} of the wavefronts are due to conflicts.",
        evidence, headroom=part * max(waits, filled / 100), signs=1 + held_up + (filled >= low()),
        waiting="conflicts", next_measurement=kernel.measure("conflicts by source line", "SourceCounters", "MemoryWorkloadAnalysis_Tables"),
    )  # fmt: skip


def register_spill(facts: Facts, kernel: Counted) -> Draft | None:
    """Much traffic with local memory, where spilled registers and local arrays lie."""
    entry = cause("gpu-register-spill")
    moved = [value for name in ("local-loads", "local-stores") if (value := kernel.get(name)) is not None]
    instructions = kernel.get("instructions")
    if not moved or not instructions:
        return None
    part = min(sum(moved) / instructions, 1.0)
    if part < entry.threshold("min_instruction_share"):
        return None
    evidence = [
        ran(facts, kernel),
        kernel.fact(
            facts, Kind.SHARE, "local-loads", part, subject="loads from and stores to local memory", form=Form.MANY, unit="ratio",
            whole=Quantity(of="its instructions"), how="(local loads + local stores) / instructions",
        ),
    ]  # fmt: skip
    registers = kernel.get("registers")
    if registers is not None:
        evidence.append(
            kernel.fact(
                facts, Kind.COUNT, "registers", subject="it", unit="registers per thread", how="launch configuration"
            )
        )
    evidence += [*speed_of_light(facts, kernel), *levels(facts, kernel)]
    against = []
    if not waits_for_memory(kernel):
        against.append("The kernel neither waits for memory nor saturates it.")
    if registers is not None and registers < entry.threshold("few_registers"):
        against.append("It uses few registers: local arrays with computed indices lie in local memory, too.")
    return write(
        facts, kernel, entry.id, f"{kernel.short} keeps values in local memory: {numbers.percent(part)} of its instructions move them.",
        evidence, headroom=max(part, entry.headroom * weight(kernel) if waits_for_memory(kernel) else 0.0),
        signs=1 + waits_for_memory(kernel), against=tuple(against), waiting="memory",
    )  # fmt: skip


def atomics(facts: Facts, kernel: Counted) -> Draft | None:
    """Many atomic updates of global memory, or few addresses that get them, in a kernel that waits for memory although device memory is not busy.

    Each address belongs to one slice of the L2 cache, whose unit does its updates one after the other: a slice that is busy with them
    while the cache as a whole is not tells that few addresses get most.
    """
    entry = cause("gpu-atomics-contention")
    updates, instructions = kernel.get("atomics"), kernel.get("instructions")
    dram = kernel.get("dram-throughput")
    if not updates or not instructions or not waits_for_memory(kernel) or (dram is not None and dram >= low()):
        return None
    part = min(updates / instructions, 1.0)
    busy, cache = kernel.get("atomic-slice") or 0.0, kernel.get("l2-throughput") or 0.0
    queued = busy >= max(entry.threshold("min_slice"), entry.threshold("slice_ratio") * cache)
    if part < entry.threshold("min_instruction_share") and not queued:
        return None
    evidence = [
        ran(facts, kernel),
        kernel.fact(
            facts, Kind.SHARE, "atomics", part, subject="atomic updates of global memory", form=Form.MANY, unit="ratio",
            whole=Quantity(of="its instructions"), how="requests of atomic operations and reductions / instructions",
        ),
        *kernel.percent(facts, "atomic-slice", "the busy time of the atomic unit of the busiest slice of the L2 cache"),
        *speed_of_light(facts, kernel), *levels(facts, kernel),
    ]  # fmt: skip
    return write(
        facts, kernel, entry.id,
        f"Atomic updates of {kernel.short} contend for a few addresses: one slice of the L2 cache does them for {numbers.percent(busy / 100)} of the time."
        if queued else
        f"Atomic updates slow {kernel.short} down: {numbers.percent(part)} of its instructions.",
        evidence, headroom=weight(kernel) * entry.headroom, signs=1 + (dram is not None) + queued, waiting="memory",
        against=() if queued else ("Counters do not show how many threads update one address.",),
    )  # fmt: skip
