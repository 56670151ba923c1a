"""The metrics of an Nsight Systems export, in chathpc's words."""

from __future__ import annotations

from chathpc.profile.gpu_counters import counter
from chathpc.profile.metric import Clock, Metric, Unit

_SECONDS = {
    "gpu.time": "time of all GPU operations: kernels, copies, memsets, graphs",
    "gpu.kernel.time": "time of GPU kernels",
    "gpu.collective.time": "time of kernels that communicate (NCCL, NVSHMEM); a part of gpu.kernel.time",
    "gpu.graph.time": "time of CUDA graphs that were traced as a whole",
    "gpu.copy.time": "time of GPU copies",
    "gpu.copy.h2d.time": "time of copies from host to device",
    "gpu.copy.d2h.time": "time of copies from device to host",
    "gpu.copy.d2d.time": "time of copies within a device",
    "gpu.copy.p2p.time": "time of copies between devices",
    "gpu.copy.unified.time": "time of migrations of unified memory",
    "gpu.memset.time": "time of GPU memory sets",
    "gpu.sync.time": "time that the host waits for the GPU in synchronising calls",
}  # fmt: skip
_COUNT = {
    "calls.count": "recorded calls of the host: GPU runtime, MPI, operating system",
    "gpu.kernel.count": "kernel launches",
    "gpu.graph.count": "launches of CUDA graphs that were traced as a whole",
    "gpu.copy.count": "GPU copies",
    "gpu.memset.count": "GPU memory sets",
}  # fmt: skip
_BYTES = {
    "gpu.copy.h2d.bytes": "bytes copied from host to device",
    "gpu.copy.d2h.bytes": "bytes copied from device to host",
    "gpu.copy.d2d.bytes": "bytes copied within a device",
    "gpu.copy.p2p.bytes": "bytes copied between devices",
    "gpu.copy.unified.bytes": "bytes of unified memory that migrated",
    "gpu.copy.pageable.bytes": "bytes copied from or to host memory that was not pinned",
    "mpi.message.bytes": "bytes in point-to-point messages of MPI",
}  # fmt: skip

#: Launch facts of kernels (means over the launches), and the columns that they come from.
LAUNCH_FACTS = {
    "gpu.kernel.blocks": "gridX × gridY × gridZ",
    "gpu.kernel.threads-per-block": "blockX × blockY × blockZ",
    "gpu.kernel.registers": "registersPerThread",
    "gpu.kernel.shared-memory-per-block": "staticSharedMemory + dynamicSharedMemory",
}

#: Tables of the export, by the second word of the metrics that are made of them.
_TABLES = {
    "kernel": "CUPTI_ACTIVITY_KIND_KERNEL", "collective": "CUPTI_ACTIVITY_KIND_KERNEL, communication",
    "graph": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "copy": "CUPTI_ACTIVITY_KIND_MEMCPY", "memset": "CUPTI_ACTIVITY_KIND_MEMSET",
    "sync": "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "time": "GPU operations", "count": "API calls", "message": "MPI_P2P_EVENTS",
}  # fmt: skip


def _source(identifier: str) -> str:
    """What a user of the tool finds the numbers under: the table, and what of it."""
    words = identifier.split(".")
    return f"{_TABLES[words[1]]} ({' '.join(words[2:]) or words[-1]})"


METRICS: tuple[Metric, ...] = (
    Metric("host.time", Unit.SECONDS, "wall time of host threads in recorded ranges and calls", "host events (time)", "ns", 1e-9, clock=Clock.WALL),
    Metric("cpu.samples", Unit.SAMPLES, "samples of running host threads", "CPU IP samples", "samples"),
    *(Metric(identifier, Unit.SECONDS, words, _source(identifier), "ns", 1e-9) for identifier, words in _SECONDS.items()),
    *(Metric(identifier, Unit.COUNT, words, _source(identifier), "count") for identifier, words in _COUNT.items()),
    *(Metric(identifier, Unit.BYTES, words, _source(identifier), "B") for identifier, words in _BYTES.items()),
    *(counter(identifier, column) for identifier, column in LAUNCH_FACTS.items()),
)  # fmt: skip
