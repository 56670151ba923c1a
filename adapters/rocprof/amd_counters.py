"""What AMD's hardware counters say of a kernel in the vocabulary of chathpc.profile.gpu_counters.

The formulas are those of the manual of ROCm Compute Profiler (Performance model: shader engine, vector L1 cache, L2 cache, roofline);
a wavefront is 64 work items, a request of the L2 cache 128 bytes, one of the L1 cache 64 bytes, an operation of the matrix unit counts 512.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from chathpc.adapters.rocprof.system import System
from chathpc.adapters.traced.assemble import Assembled
from chathpc.adapters.traced.recording import Recording
from chathpc.profile.gpu_counters import counter
from chathpc.profile.tree import FloatArray

_WAVE, _MATRIX = 64.0, 512.0
_L2_LINE, _L1_LINE = 128.0, 64.0
#: How a precision is called in the names of counters: of the vector units, of the matrix units.
_PRECISIONS = {"fp16": ("F16", ("F16", "BF16")), "fp32": ("F32", ("F32",)), "fp64": ("F64", ("F64",))}
SOURCE = "AMD hardware counters"


class _Counters:
    """The counters of all operations as columns; NaN where one was not collected."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.size = len(recording.op_start)
        self.nothing: FloatArray = np.full(self.size, np.nan)

    def __call__(self, *names: str) -> FloatArray:
        """The first of some names that was collected, summed over repeated records of one operation."""
        for name in names:
            found = self._recording.counters.get(name)
            if found is not None:
                operations = np.array(found[0], dtype=np.int64)
                values = np.bincount(operations, weights=np.array(found[1]), minlength=self.size).astype(np.float64)
                values[np.bincount(operations, minlength=self.size) == 0] = np.nan
                return values
        return self.nothing

    def sum_of(self, *names: str) -> FloatArray:
        """The sum of counters; NaN where one of them is missing."""
        total = self(names[0])
        for name in names[1:]:
            total = total + self(name)
        return total


def put_facts(parts: Assembled, system: System) -> None:
    """Add to the metrics of `parts` what the counters of their recording say."""
    c = _Counters(parts.recording)
    seconds = np.where(parts.duration > 0, parts.duration * 1e-9, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _operations(c, seconds) | _memory(c, seconds, system) | _units(c, system)
        found["gpu.kernel.arithmetic-intensity"] = _intensity(found)
    for identifier, said in (
        ("gpu.kernel.peak-flops.fp32", system.fp32_peak),
        ("gpu.kernel.peak-flops.fp64", system.fp64_peak),
        ("gpu.kernel.multiprocessors", system.compute_units),
    ):
        if said is not None:
            found[identifier] = np.full(c.size, said)
    # NaN where what a fact is computed from was not collected.
    for identifier, values in sorted(found.items()):
        known = np.flatnonzero(np.isfinite(values))
        if len(known):
            metric = counter(identifier, SOURCE)
            parts.put_mean(metric, parts.op_node[known], values[known], parts.duration[known])


def _operations(c: _Counters, seconds: FloatArray) -> dict[str, FloatArray]:
    """Floating point operations per second by precision, and instructions."""
    found = {"gpu.kernel.instructions": c("SQ_INSTS")}
    for precision, (end, of_matrix) in _PRECISIONS.items():
        prefix = "SQ_INSTS_VALU_"
        once = c.sum_of(f"{prefix}ADD_{end}", f"{prefix}MUL_{end}", f"{prefix}TRANS_{end}")
        vector = _WAVE * (once + 2 * c(f"{prefix}FMA_{end}"))
        matrix = _MATRIX * np.nansum([c(f"{prefix}MFMA_MOPS_{kind}") for kind in of_matrix], axis=0)
        found[f"gpu.kernel.flops.{precision}"] = (vector + matrix) / seconds
    return found


def _memory(c: _Counters, seconds: FloatArray, system: System) -> dict[str, FloatArray]:
    """Traffic of device memory and of the caches, and their hit rates."""
    reads, narrow = c("TCC_EA0_RDREQ_sum", "TCC_EA_RDREQ_sum"), c("TCC_EA0_RDREQ_32B_sum", "TCC_EA_RDREQ_32B_sum")
    wide = np.nan_to_num(c("TCC_BUBBLE_sum", "TCC_EA0_RDREQ_128B_sum"))
    writes, whole = c("TCC_EA0_WRREQ_sum", "TCC_EA_WRREQ_sum"), c("TCC_EA0_WRREQ_64B_sum", "TCC_EA_WRREQ_64B_sum")
    read = 128 * wide + 64 * (reads - wide - narrow) + 32 * narrow
    rate = (read + 64 * whole + 32 * (writes - whole)) / seconds
    hits, misses = c("TCC_HIT_sum"), c("TCC_MISS_sum")
    accesses = c("TCP_TOTAL_CACHE_ACCESSES_sum")
    missed = c.sum_of(
        "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum", "TCP_TCC_ATOMIC_WITH_RET_REQ_sum",
        "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum",
    )  # fmt: skip
    found = {
        "gpu.kernel.dram-rate": rate,
        "gpu.kernel.l2-hit-rate": 100 * hits / (hits + misses),
        "gpu.kernel.l1-hit-rate": np.maximum(100 - 100 * missed / accesses, 0),
    }
    levels = []
    for identifier, amount, peak in (
        ("gpu.kernel.dram-throughput", rate, system.memory_peak),
        ("gpu.kernel.l2-throughput", _L2_LINE * c("TCC_REQ_sum") / seconds, system.l2_peak),
        ("gpu.kernel.l1-throughput", _L1_LINE * accesses / seconds, system.l1_peak),
    ):
        if peak is not None:
            found[identifier] = 100 * amount / peak
            levels.append(found[identifier])
    if system.memory_peak is not None:
        found["gpu.kernel.peak-dram-rate"] = np.where(np.isfinite(rate), system.memory_peak, np.nan)
    if levels:
        found["gpu.kernel.memory-throughput"] = np.fmax.reduce(levels)
    return found


def _units(c: _Counters, system: System) -> dict[str, FloatArray]:
    """How busy the vector and the matrix units are, and how many waves there are."""
    if system.compute_units is None:
        return {}
    cycles = c("GRBM_GUI_ACTIVE") / system.dies
    vector = 100 * c("SQ_ACTIVE_INST_VALU") / (cycles * system.compute_units)
    matrix = 100 * c("SQ_VALU_MFMA_BUSY_CYCLES") / (cycles * system.compute_units * 4)
    found = {
        "gpu.kernel.pipe.alu": vector,
        "gpu.kernel.pipe.tensor": matrix,
        "gpu.kernel.sm-throughput": np.fmax(vector, matrix),
    }
    if system.waves_per_unit is not None:
        resident = c("SQ_LEVEL_WAVES_ACCUM")
        resident = np.where(np.isfinite(resident), resident, 4 * c("SQ_WAVE_CYCLES"))
        slots = system.waves_per_unit * system.compute_units
        found["gpu.kernel.achieved-occupancy"] = np.minimum(100 * resident / (cycles * slots), 100)
    return found


def _intensity(found: Mapping[str, FloatArray]) -> FloatArray:
    """Operations per byte of device memory, in the precision with most of them; 0 for a kernel that only moves data."""
    most = np.fmax.reduce([found[f"gpu.kernel.flops.{precision}"] for precision in _PRECISIONS])
    moved = found["gpu.kernel.dram-rate"]
    return np.where(moved > 0, most / moved, np.nan)
