"""Kernels whose limit is the memory system: its rate, what makes it move or split more than it must, and data in host memory."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.kernel_counters import Counted
from chathpc.diagnosis.rules.gpu_speed import BETWEEN, low, near, speed_of_light, write
from chathpc.profile import numbers

#: Level of the memory system → its name in sentences.
_LEVELS = {"dram": "device memory", "l2": "the L2 cache", "l1": "the L1 cache"}
#: Stall reasons of waiting for room in a queue of memory instructions.
QUEUES = ("lg-throttle", "tex-throttle")


def waits_for_memory(kernel: Counted) -> bool:
    """True if memory is what a kernel is limited by or waits for, as far as its counters tell."""
    memory, compute = kernel.memory, kernel.compute
    if memory is not None and memory >= low():
        return True
    if kernel.stalls:
        return kernel.stalls_reach(waits_for_data(kernel), cause("gpu-memory-latency").threshold("min_stall_share"))
    return memory is not None and memory >= may_hold_up() and (compute is None or memory >= compute)


def waits_for_data(kernel: Counted) -> float:
    """Part (0..1) of the time between two instructions that a warp waits for data from memory or for room in its queues; 0 if not known."""
    return kernel.stalled("long-scoreboard", *QUEUES)


def may_hold_up() -> float:
    """Throughput of memory, percent of peak, from which on it may be what holds a kernel up."""
    return low() * cause("gpu-memory-latency").threshold("leaning_part")


def levels(kernel: Counted) -> list[Fact]:
    """Throughput of each level of the memory system, and hit rates of the caches, as far as they are known."""
    return [
        *kernel.percent("dram-throughput", "the throughput of device memory", "its peak"),
        *kernel.percent("l2-throughput", "the throughput of the L2 cache", "its peak"),
        *kernel.percent("l1-throughput", "the throughput of the L1 cache", "its peak"),
        *kernel.percent("l1-hit-rate", "the hit rate of the L1 cache"),
        *kernel.percent("l2-hit-rate", "the hit rate of the L2 cache"),
    ]


def weight(kernel: Counted) -> float:
    """Part (0..1) of the kernel's time that memory decides: its throughput where it is the limit, else the waiting for it."""
    memory = kernel.memory or 0.0
    return max(memory / 100 if memory >= low() or not kernel.stalls else 0.0, waits_for_data(kernel))


@dataclass(frozen=True, slots=True)
class _Accesses:
    """Global loads or stores of a kernel: 32-byte sectors of one, and the part (0..1) of their bytes that is used, None if that was not counted."""

    name: str
    sectors: float
    use: float | None

    @property
    def waste(self) -> float:
        """Part (0..1) of the sectors that coalesced accesses would not need; of elements of 4 bytes where the use is not known."""
        return 1 - (
            cause("gpu-uncoalesced-access").threshold("ideal_sectors") / self.sectors if self.use is None else self.use
        )

    def told(self, kernel: Counted) -> Fact:
        """What was counted, as a fact."""
        if self.use is not None:
            return kernel.part(
                f"sector-use.global-{self.name}", self.use, f"what its global {self.name}s use", "the bytes of their sectors",
                "bytes / (32 x sectors in the L1 cache)", kind=Kind.VALUE,
            )  # fmt: skip
        ideal = cause("gpu-uncoalesced-access").threshold("ideal_sectors")
        return kernel.fact(
            Kind.COMPARISON, f"sectors-per-request.global-{self.name}", subject=f"a global {self.name} of a warp",
            unit="sectors of 32 bytes", whole=Quantity(ideal, "sectors", "a coalesced one of floats"), how="sectors / requests in the L1 cache",
        )  # fmt: skip


def excess_sectors(kernel: Counted) -> list[Fact]:
    """How much of the sectors of accesses is more than their size needs, where it was collected."""
    excess = kernel.get("excessive-sectors")
    if excess is None:
        return []
    how = "excess sectors / sectors of global accesses in the L2 cache"
    what, of = "what coalesced accesses would not need", "the sectors of its global accesses"
    return [kernel.part("excessive-sectors", excess, what, of, how, kind=Kind.VALUE)]


def uncoalesced(kernel: Counted) -> Draft | None:
    """Accesses of a warp that need more sectors than their bytes fill, in a kernel that memory limits or holds up.

    Excess sectors (of each instruction's own access size) tell it surely, and so does what accesses use of their sectors. Sectors
    for each request do so above 16 only: from 4 to 16 wide elements may need them.
    """
    entry = cause("gpu-uncoalesced-access")
    if not waits_for_memory(kernel):
        return None
    excess = kernel.get("excessive-sectors")
    accesses = [
        _Accesses(name, sectors, kernel.get(f"sector-use.global-{name}"))
        for name in ("load", "store")
        if (sectors := kernel.get(f"sectors-per-request.global-{name}")) is not None
    ]
    most = max(accesses, key=lambda each: each.sectors, default=None)
    widest, against = entry.threshold("widest_sectors"), []
    wide = most is not None and most.sectors > widest
    if excess is not None:
        waste, sure = excess, True
        summary = f"The accesses of {kernel.short} are spread over too many sectors: {numbers.percent(waste)} of them are avoidable."
    elif most is not None and most.sectors > entry.threshold("min_sectors_per_request"):
        waste, sure = most.waste, most.use is not None
        summary = f"The {most.name}s of {kernel.short} are scattered: {numbers.number(most.sectors)} sectors for each request of a warp."
    else:
        return None
    if sure and waste < entry.threshold("min_excess"):
        return None
    if not sure and not wide:
        waste *= entry.threshold("doubtful_part")
        against.append(
            f"Elements of 8 or 16 bytes need 8 or {widest:.0f} sectors, coalesced as well; their size is not in the report."
        )
    if kernel.at_least("l1-hit-rate", entry.threshold("max_hits")):
        against.append("Most accesses hit in the L1 cache, so that the rest of a sector may be used soon after.")
    evidence = [*excess_sectors(kernel), *(each.told(kernel) for each in accesses)]
    evidence += [*speed_of_light(kernel), *levels(kernel)]
    return write(
        kernel, entry.id, summary, evidence, headroom=waste * weight(kernel), signs=1 + (excess is not None) + wide,
        against=tuple(against), waiting="spread",
        next_measurement=kernel.measure("excess sectors by source line", "SourceCounters", "MemoryWorkloadAnalysis_Tables"),
    )  # fmt: skip


def split_accesses(kernel: Counted) -> Draft | None:
    """The L1 cache's data pipe is full although few instructions reach it, and the memory tables that tell why are missing.

    Each access is then split into many wavefronts: it is uncoalesced, or conflicts in the banks of shared memory.
    """
    entry = cause("gpu-uncoalesced-access")
    level, compute = kernel.level, kernel.compute
    pipe = kernel.get("l1-data-pipe")
    if level is None or level[0] != "l1" or level[1] < near() or compute is None or compute >= low():
        return None
    if pipe is not None and pipe < entry.threshold("min_pipe_part") * level[1]:
        return None
    known = kernel.get("excessive-sectors") is not None or any("sectors-per-request" in name for name in kernel.values)
    if known and kernel.get("bank-conflicts") is not None:
        return None
    evidence = kernel.percent("l1-data-pipe", "the busy time of the data pipe of the L1 cache")
    evidence += [*speed_of_light(kernel), *levels(kernel)]
    shared = kernel.get("shared-memory-per-block")
    against, signs = [], 2
    if shared == 0:
        evidence.append(
            kernel.fact(
                Kind.AMOUNT, "shared-memory-per-block", subject="its shared memory, where bank conflicts could be,", unit="bytes", how="launch"
            )
        )  # fmt: skip
        signs += 1
    else:
        against.append(
            "Bank conflicts of shared memory look the same without the memory tables, which the report does not have."
        )
    return write(
        kernel, entry.id,
        f"The L1 cache is the limit of {kernel.short}, {numbers.percent((pipe or level[1]) / 100)} busy with few instructions: "
        + ("its accesses are uncoalesced." if shared == 0 else "uncoalesced accesses or bank conflicts; memory tables would show which."),
        evidence, headroom=entry.headroom, signs=signs, against=tuple(against), waiting="spread",
        title="" if shared == 0 else "Uncoalesced accesses or bank conflicts",
        next_measurement=kernel.measure(
            "sectors per request, by line" if shared == 0 else "sectors per request and bank conflicts, by line: which of the two it is",
            "MemoryWorkloadAnalysis_Tables", "SourceCounters",
        ),
    )  # fmt: skip


def bandwidth(kernel: Counted) -> Draft | None:
    """A level of the memory system is the kernel's busiest unit, at or on the way to its limit."""
    entry = cause("gpu-memory-bandwidth")
    memory, level = kernel.memory, kernel.level
    if memory is None or memory < low():
        return None
    name, reached = level if level is not None and level[1] >= low() else ("", memory)
    words = _LEVELS.get(name, "the memory system")
    evidence = [*levels(kernel), *speed_of_light(kernel)]
    rate, peak = kernel.get("dram-rate"), kernel.get("peak-dram-rate")
    if rate is not None and name == "dram":
        evidence.append(
            kernel.fact(
                Kind.COMPARISON if peak else Kind.RATE, "dram-rate", subject="its rate of device memory", unit="bytes/s",
                whole=Quantity(peak, "bytes/s", "the peak") if peak else None, how="bytes of device memory / time",
            )
        )  # fmt: skip
    against = []
    if reached < near():
        against.append(
            f"{numbers.percent(reached / 100)} of the peak is below the {near():.0f} % from which a unit counts as at its limit."
        )
    barrier = cause("gpu-barrier-stall").threshold("min_stall_share")
    if kernel.stalls and kernel.stalls_reach(kernel.stalled("barrier"), barrier):
        against.append("Part of the waiting is for barriers.")
    shared, pipe = kernel.get("l1-data-pipe-shared"), kernel.get("l1-data-pipe")
    by_shared = (
        name == "l1" and shared is not None and pipe is not None and shared >= entry.threshold("min_shared_part") * pipe
    )
    if by_shared:
        evidence += kernel.percent(
            "l1-data-pipe-shared", "the time in which the L1 cache's data pipe serves shared memory"
        )
    # Inside the chip fewer accesses are possible (tiles, registers); to device memory the bytes have to go.
    spare = 1 - reached / entry.threshold("attainable") if name == "dram" else max(1 - reached / 100, entry.headroom)
    at = "at" if reached >= near() else "near"
    tail = ": only moving fewer bytes makes it faster." if name == "dram" and reached >= near() else "."
    if by_shared:
        tail = ", and shared memory is what fills it."
    inside = name in ("l1", "l2")
    return write(
        kernel, entry.id, f"{kernel.short} is {at} the limit of {words}, {numbers.percent(reached / 100)} of the peak{tail}", evidence,
        headroom=spare, signs=2 if reached >= near() else 1,
        against=tuple(against), waiting="dependency" if by_shared else "memory",
        advice=_SHARED if by_shared else _INSIDE if inside else (), own_advice=inside,
        title="Limited by the bandwidth of shared memory" if by_shared else f"Limited by {words}" if inside else "",
    )  # fmt: skip


_SHARED = (
    "Let fewer values pass through shared memory: exchange them within a warp by __shfl_down_sync, let each thread combine several elements "
    "in registers first, and read shared memory by float2 or float4.",
)
_INSIDE = (
    "Reuse each loaded value more often: give a thread a tile of results (4 × 4) that it holds in registers, and read operands as float4.",
    "Let neighbouring threads read neighbouring addresses, so that a warp's access is few requests, and exchange values within a warp by __shfl_sync.",
)

#: What to do where warps wait for room in the queue of memory instructions, not for data: it is full of too many accesses.
FULL_QUEUE = (
    "Issue fewer and wider accesses: float4 or double2 for neighbouring elements, shared memory or registers for values that are read "
    "again, and consecutive addresses in consecutive threads, so that an access is not split.",
)


def fills_queues(waiting: float, of: float) -> bool:
    """True if of the waiting for memory so much is for room in a queue that this is what has to be relieved."""
    return waiting >= cause("gpu-memory-latency").threshold("full_queue_part") * of


def bank_conflicts(kernel: Counted) -> Draft | None:
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
        kernel.part(
            "bank-conflicts" if conflicts is not None else "excessive-wavefronts", part, "bank conflicts",
            "the wavefronts of its shared memory accesses", "conflicts / wavefronts of shared memory accesses", form=Form.MANY,
        ),
        *kernel.percent("l1-data-pipe", "the busy time of the data pipe of the L1 cache, which serves shared memory,"),
    ]  # fmt: skip
    if waits:
        how = "short scoreboard + MIO throttle / cycles per instruction"
        evidence.append(
            kernel.part("stall.mio-throttle", waits, "waiting for shared memory or its queue", BETWEEN, how)
        )
    evidence += speed_of_light(kernel)
    return write(
        kernel, entry.id,
        f"Bank conflicts split the shared memory accesses of {kernel.short}: {numbers.percent(part)} of the wavefronts are due to conflicts.",
        evidence, headroom=part * max(waits, filled / 100), signs=1 + held_up + (filled >= low()),
        waiting="conflicts", next_measurement=kernel.measure("conflicts by source line", "SourceCounters", "MemoryWorkloadAnalysis_Tables"),
    )  # fmt: skip


def register_spill(kernel: Counted) -> Draft | None:
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
        kernel.part(
            "local-loads", part, "loads from and stores to local memory", "its instructions", "(local loads + local stores) / instructions",
            form=Form.MANY,
        ),
    ]  # fmt: skip
    registers = kernel.get("registers")
    evidence += kernel.collected(Kind.COUNT, "registers", "it", "registers per thread")
    evidence += [*speed_of_light(kernel), *levels(kernel)]
    against = []
    if not waits_for_memory(kernel):
        against.append("The kernel neither waits for memory nor saturates it.")
    if registers is not None and registers < entry.threshold("few_registers"):
        against.append("It uses few registers: local arrays with computed indices lie in local memory, too.")
    return write(
        kernel, entry.id, f"{kernel.short} keeps values in local memory: {numbers.percent(part)} of its instructions move them.",
        evidence, headroom=max(part, entry.headroom * weight(kernel) if waits_for_memory(kernel) else 0.0),
        signs=1 + waits_for_memory(kernel), against=tuple(against), waiting="memory",
    )  # fmt: skip


def atomics(kernel: Counted) -> Draft | None:
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
        kernel.part(
            "atomics", part, "atomic updates of global memory", "its instructions", "requests of atomic operations and reductions / instructions",
            form=Form.MANY,
        ),
        *kernel.percent("atomic-slice", "the busy time of the atomic unit of the busiest slice of the L2 cache"),
        *speed_of_light(kernel), *levels(kernel),
    ]  # fmt: skip
    return write(
        kernel, entry.id,
        f"Atomic updates of {kernel.short} contend for a few addresses: one slice of the L2 cache does them for {numbers.percent(busy / 100)} of the time."
        if queued else
        f"Atomic updates slow {kernel.short} down: {numbers.percent(part)} of its instructions.",
        evidence, headroom=weight(kernel) * entry.headroom, signs=1 + (dram is not None) + queued, waiting="memory",
        against=() if queued else ("Counters do not show how many threads update one address.",),
    )  # fmt: skip


_TITLE = "Kernel works on host memory"
_ADVICE = (
    "Copy once with cudaMemcpyAsync to memory of cudaMalloc what kernels read more than once.",
    "Move managed memory ahead with cudaMemPrefetchAsync, and keep it there with cudaMemAdvise (SetPreferredLocation).",
    "Leave in pinned host memory (zero copy) only what is touched once, by consecutive threads at consecutive addresses.",
)
_ONCE = "Data that is touched once crosses the link in any case: a copy only pays off if other work hides it."


def host_memory(kernel: Counted) -> Draft | None:
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
    evidence = [*_fetched(kernel, part)]
    if held_up:
        how = "long scoreboard + LG throttle + texture throttle / cycles between two instructions of a warp"
        evidence.append(kernel.part("stall.long-scoreboard", waits, "waiting for data from memory", BETWEEN, how))
    evidence += [*speed_of_light(kernel), *levels(kernel)]
    return write(
        kernel, entry.id,
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


def _fetched(kernel: Counted, part: float) -> list[Fact]:
    """How much comes from host memory, as a part and in bytes, and how fast."""
    found = [
        kernel.part(
            "host-misses", part, "what host memory serves", "its misses in the L2 cache", "sectors from system memory / all sectors that miss",
            kind=Kind.VALUE,
        )
    ]  # fmt: skip
    sectors = kernel.get("host-sectors")
    if sectors is not None:
        of, how = "the sectors that it asks the L2 cache for", "sectors from system memory / all sectors"
        found.append(
            kernel.part("host-sectors", sectors, "what it has to fetch from host memory", of, how, kind=Kind.VALUE)
        )
    moved = kernel.get("host-bytes")
    if moved and kernel.seconds and kernel.launches:
        each = kernel.seconds / kernel.launches
        found.append(
            kernel.fact(
                Kind.RATE, "host-bytes", moved / each, subject="the rate at which a launch fetches from host memory", unit="bytes/s",
                parts=(Part("", moved, "bytes"), Part("", each, "s")), how="sectors of 32 bytes from system memory / time",
            )
        )  # fmt: skip
    elif moved:
        found.append(
            kernel.fact(Kind.AMOUNT, "host-bytes", subject="what a launch fetches from host memory", how="sectors of 32 bytes from system memory")
        )  # fmt: skip
    subject, how = (
        "the traffic over PCIe meanwhile, the profiler's own included,",
        "bytes read and written over PCIe / time",
    )
    return [*found, *kernel.collected(Kind.RATE, "pcie-rate", subject, "bytes/s", how)]
