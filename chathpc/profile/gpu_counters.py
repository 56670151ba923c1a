"""The vocabulary of what counters say of a GPU kernel: id → unit and meaning. Readers fill it, rules read it.

All are facts of one kernel node (`Aggregation.DERIVED`): several launches of one kernel and launch configuration are
averaged with their time as weight. "of peak" is percent of what the unit can sustain. A fact that was not collected has no
value.
"""

from __future__ import annotations

from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.stalls import STALLS

_PERCENT = {
    "gpu.kernel.sm-throughput": "throughput of the multiprocessors, of peak",
    "gpu.kernel.memory-throughput": "throughput of the memory system's busiest part, of peak",
    "gpu.kernel.dram-throughput": "throughput of device memory, of peak",
    "gpu.kernel.l2-throughput": "throughput of the L2 cache, of peak",
    "gpu.kernel.l1-throughput": "throughput of the L1 cache, of peak while active",
    "gpu.kernel.l1-data-pipe": "busy part of the L1 cache's data pipe",
    "gpu.kernel.l1-data-pipe-shared": "part of the time in which the L1 cache's data pipe serves shared memory",
    "gpu.kernel.l1-hit-rate": "hit rate of the L1 cache",
    "gpu.kernel.l2-hit-rate": "hit rate of the L2 cache",
    "gpu.kernel.atomic-slice": "busy part of the atomic unit in the busiest slice of the L2 cache",
    "gpu.kernel.host-fill-throughput": "rate at which the L2 cache is filled from host memory, of peak",
    "gpu.kernel.occupancy": "theoretical occupancy: warps that fit, of the warps that a multiprocessor can hold",
    "gpu.kernel.achieved-occupancy": "achieved occupancy: active warps, of the warps that a multiprocessor can hold",
    "gpu.kernel.issue-active": "cycles in which a scheduler issued an instruction",
    "gpu.kernel.pipe.fma": "busy part of the FMA pipe",
    "gpu.kernel.pipe.alu": "busy part of the ALU pipe",
    "gpu.kernel.pipe.fp64": "busy part of the FP64 pipe",
    "gpu.kernel.pipe.fp16": "busy part of the FP16 pipe",
    "gpu.kernel.pipe.xu": "busy part of the pipe for transcendental functions",
    "gpu.kernel.pipe.lsu": "busy part of the load and store pipe",
    "gpu.kernel.pipe.tensor": "busy part of the tensor pipe",
    "gpu.kernel.active": "cycles in which a multiprocessor had a warp, mean over all of them",
    "gpu.kernel.branch-uniformity": "branches in which all threads of a warp go the same way",
}  # fmt: skip
_COUNT = {
    "gpu.kernel.blocks": "blocks per launch (grid size)",
    "gpu.kernel.threads-per-block": "threads per block",
    "gpu.kernel.registers": "registers per thread",
    "gpu.kernel.waves": "full waves of blocks over all multiprocessors",
    "gpu.kernel.multiprocessors": "multiprocessors of the device that ran it",
    "gpu.kernel.limit.registers": "blocks on a multiprocessor that registers allow",
    "gpu.kernel.limit.shared-memory": "blocks on a multiprocessor that shared memory allows",
    "gpu.kernel.limit.warps": "blocks on a multiprocessor that its warps allow",
    "gpu.kernel.limit.blocks": "blocks that a multiprocessor can hold at most",
    "gpu.kernel.limit.barriers": "blocks on a multiprocessor that barriers allow",
    "gpu.kernel.ipc": "instructions per active cycle of a multiprocessor (IPC)",
    "gpu.kernel.eligible-warps": "warps of a scheduler that could issue, mean per active cycle",
    "gpu.kernel.threads-per-instruction": "threads of a warp that execute an instruction, mean (of 32)",
    "gpu.kernel.sectors-per-request.global-load": "32-byte sectors of a global load of a warp (4: coalesced 4-byte words)",
    "gpu.kernel.sectors-per-request.global-store": "32-byte sectors of a global store of a warp (4: coalesced 4-byte words)",
    "gpu.kernel.sector-use.global-load": "bytes of their sectors that global loads use, as a part (0..1)",
    "gpu.kernel.sector-use.global-store": "bytes of their sectors that global stores use, as a part (0..1)",
    "gpu.kernel.excessive-sectors": "L2 sectors of global accesses beyond what coalesced ones would need, as a part (0..1)",
    "gpu.kernel.host-misses": "misses in the L2 cache that host memory serves, over PCIe or NVLink, as a part (0..1)",
    "gpu.kernel.host-sectors": "sectors of accesses in the L2 cache that miss and that host memory serves, as a part (0..1)",
    "gpu.kernel.excessive-wavefronts": "wavefronts of shared memory accesses beyond what conflict-free ones would need, as a part (0..1)",
    "gpu.kernel.bank-conflicts": "additional wavefronts of shared memory accesses through bank conflicts",
    "gpu.kernel.shared-wavefronts": "wavefronts of shared memory accesses",
    "gpu.kernel.local-loads": "loads from local memory (spilled registers and local arrays), instructions",
    "gpu.kernel.local-stores": "stores to local memory (spilled registers and local arrays), instructions",
    "gpu.kernel.atomics": "atomic operations and reductions of warps on global memory",
    "gpu.kernel.instructions": "instructions executed by warps",
    "gpu.kernel.flops.fp32": "single precision operations per second (an FMA counts as 2)",
    "gpu.kernel.flops.fp64": "double precision operations per second (an FMA counts as 2)",
    "gpu.kernel.flops.fp16": "half precision operations per second (an FMA counts as 2)",
    "gpu.kernel.flops.tensor": "operations of tensor instructions per second, in all precisions (a multiply-add counts as 2)",
    "gpu.kernel.peak-flops.fp32": "peak of single precision operations per second at the kernel's clock",
    "gpu.kernel.peak-flops.fp64": "peak of double precision operations per second at the kernel's clock",
    "gpu.kernel.peak-flops.fp16": "peak of half precision operations per second at the kernel's clock",
    "gpu.kernel.peak-flops.tensor": "peak of the tensor instructions that it used per second at the kernel's clock",
    "gpu.kernel.clock": "cycles of a multiprocessor per second while the kernel ran",
    "gpu.kernel.arithmetic-intensity": "operations per byte of device memory traffic, in the precision with most operations",
    "gpu.kernel.latency-per-issue": "cycles between two instructions of a warp",
    "gpu.kernel.unique-pages": "distinct pages of 4 KiB that the kernel touches",
    "gpu.kernel.accesses-per-page": "accesses of threads to a page, mean over the pages that are touched",
    "gpu.kernel.multiprocessors-used": "multiprocessors that ran at least one block",
    "gpu.kernel.multiprocessor-imbalance": "busy time of the busiest multiprocessor over the mean of those used",
}  # fmt: skip
_BYTES = {
    "gpu.kernel.shared-memory-per-block": "shared memory per block",
    "gpu.kernel.footprint": "memory that the kernel touches, in whole pages of 4 KiB",
    "gpu.kernel.host-bytes": "bytes of host memory behind misses in the L2 cache",
    "gpu.kernel.pcie-rate": "bytes per second over PCIe while the kernel ran, whoever moves them",
    "gpu.kernel.dram-rate": "bytes per second from and to device memory",
    "gpu.kernel.peak-dram-rate": "peak of bytes per second from and to device memory",
}


def counter(identifier: str, source_name: str) -> Metric:
    """The metric of one id of this vocabulary; KeyError for any other."""
    if identifier.startswith("gpu.kernel.stall."):
        reason = identifier.removeprefix("gpu.kernel.stall.")
        unit, words = Unit.CYCLES, f"cycles per issue that a warp waits for {STALLS[reason].words}"
    elif identifier in _PERCENT:
        unit, words = Unit.PERCENT, _PERCENT[identifier]
    elif identifier in _BYTES:
        unit, words = Unit.BYTES, _BYTES[identifier]
    else:
        unit, words = Unit.COUNT, _COUNT[identifier]
    return Metric(identifier, unit, words, source_name, aggregation=Aggregation.DERIVED)


#: All ids of the vocabulary.
COUNTERS = (*_PERCENT, *_COUNT, *_BYTES, *(f"gpu.kernel.stall.{reason}" for reason in STALLS))
