"""Exports of Nsight Systems and Nsight Compute for the tutorials: generated from a few rates of a GPU, not measured.

    python make_exports.py [FOLDER]        writes the four files below into FOLDER (default: exports)

- steps.sqlite: a time loop that copies the same coefficients to the device, from pageable memory, before each of its kernels;
  steps-fixed.sqlite: the same loop, the coefficients copied once, from pinned memory.
- transpose.csv: a transposition whose warps write a column, one sector of 32 bytes for each 4 bytes;
  transpose-fixed.csv: the same through a tile of shared memory.

The layouts are those of `nsys export --type sqlite` and `ncu --page raw --csv`, with the tables and columns that these programs
need. Times follow from bytes and the rates below, which are those of an ordinary data centre GPU.
"""

from __future__ import annotations

import csv
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

NANO = 1_000_000_000
#: Bytes a second: device memory at its peak, copies from pageable and from pinned memory.
DEVICE_RATE, PAGEABLE_RATE, PINNED_RATE = 1_555e9, 4.0e9, 24.0e9
MULTIPROCESSORS = 108

# -- Nsight Systems ------------------------------------------------------------------------------------------------

STEPS, CELLS = 100, 16_777_216
#: A kernel makes 50 sweeps: each reads field and coefficients and writes the field, floats, at four fifths of the peak.
SWEEPS = 50
KERNEL_TIME = round(SWEEPS * 3 * 4 * CELLS / (0.8 * DEVICE_RATE) * NANO)
#: Time of a call that launches a kernel, and from a call to the beginning of what it launches.
LAUNCH_TIME, DELAY = 4_000, 2_000
PROCESS = 4242
GLOBAL_PROCESS, GLOBAL_THREAD = (1 << 48) | (PROCESS << 24), (1 << 48) | (PROCESS << 24) | PROCESS
PAGEABLE, PINNED, DEVICE = 0, 1, 2

_OPERATION = "start, end, deviceId, contextId, greenContextId, streamId, correlationId, globalPid"
TABLES = {
    "StringIds": "id, value",
    "PROCESSES": "globalPid, pid, name",
    "META_DATA_EXPORT": "name, value",
    "TARGET_INFO_GPU": "vmId, id, name, totalMemory, memoryBandwidth, clockRate, smCount, uuid, cuDevice, computeMajor, computeMinor",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{_OPERATION}, bytes, copyKind, srcKind, dstKind",
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{_OPERATION}, demangledName, shortName, mangledName, registersPerThread, gridX, gridY, gridZ, "
    "blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory",
}  # fmt: skip


@dataclass
class Timeline:
    """Calls of a host thread and what they put on one stream; the host's clock and the device's, in nanoseconds."""

    host: int = 0
    device: int = 0
    rows: dict[str, list[tuple[object, ...]]] = field(default_factory=lambda: {name: [] for name in TABLES})
    strings: dict[str, int] = field(default_factory=dict)
    calls: int = 0

    def string(self, text: str) -> int:
        """The number of a text."""
        return self.strings.setdefault(text, len(self.strings) + 1)

    def call(self, name: str, end: int) -> int:
        """A call from now to `end`; the number that its operation has, too."""
        self.calls += 1
        row = (self.host, end, 0, GLOBAL_THREAD, self.calls, self.string(name), 0, None)
        self.rows["CUPTI_ACTIVITY_KIND_RUNTIME"].append(row)
        self.host = end
        return self.calls

    def _begin(self) -> int:
        return max(self.host + DELAY, self.device)

    def copy(self, size: int, rate: float, memory: int) -> None:
        """A copy to the device that the host waits for."""
        begin = self._begin()
        self.device = begin + round(size / rate * NANO)
        number = self.call("cudaMemcpy_v3020", self.device + DELAY)
        row = (begin, self.device, 0, 1, None, 7, number, GLOBAL_PROCESS, size, 1, memory, DEVICE)
        self.rows["CUPTI_ACTIVITY_KIND_MEMCPY"].append(row)

    def kernel(self, name: str, time: int) -> None:
        """A kernel, with a thread for each cell."""
        begin = self._begin()
        self.device = begin + time
        number = self.call("cudaLaunchKernel_v7000", self.host + LAUNCH_TIME)
        short = name.partition("(")[0]
        texts = (self.string(name), self.string(short), self.string("_Z" + short))
        row = (
            begin,
            self.device,
            0,
            1,
            None,
            7,
            number,
            GLOBAL_PROCESS,
            *texts,
            32,
            CELLS // 256,
            1,
            1,
            256,
            1,
            1,
            0,
            0,
        )
        self.rows["CUPTI_ACTIVITY_KIND_KERNEL"].append(row)

    def wait(self) -> None:
        """The host waits for the device."""
        self.call("cudaDeviceSynchronize_v3020", max(self.host, self.device) + DELAY)

    def write(self, path: Path) -> None:
        """Write the export."""
        self.rows["PROCESSES"] = [(GLOBAL_PROCESS, PROCESS, "/opt/steps/steps")]
        self.rows["META_DATA_EXPORT"] = [
            ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"), ("EXPORT_PRODUCT_VERSION", "2026.2.1.210"), ("EXPORT_SCHEMA_VERSION", "3.25.0"),
        ]  # fmt: skip
        self.rows["TARGET_INFO_GPU"] = [
            (1, 0, "Example GPU", 40 << 30, round(DEVICE_RATE), 1_410_000_000, MULTIPROCESSORS, "", 0, 8, 0)
        ]
        self.rows["StringIds"] = [(number, text) for text, number in self.strings.items()]
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as database:
            for table, columns in TABLES.items():
                names = columns.split(", ")
                database.execute(f"CREATE TABLE {table} ({columns})")
                database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", self.rows[table])
            database.commit()


def steps(*, once: bool) -> Timeline:
    """The time loop, the coefficients copied once before it or in each step."""
    timeline = Timeline()
    timeline.copy(4 * CELLS, PINNED_RATE if once else PAGEABLE_RATE, PINNED if once else PAGEABLE)  # the field
    if once:
        timeline.copy(4 * CELLS, PINNED_RATE, PINNED)
    for _ in range(STEPS):
        if not once:
            timeline.copy(4 * CELLS, PAGEABLE_RATE, PAGEABLE)
        timeline.kernel("sweeps(float*, float const*, int)", KERNEL_TIME)
    timeline.wait()
    return timeline


# -- Nsight Compute ------------------------------------------------------------------------------------------------

SIDE, LAUNCHES, BLOCK = 8192, 10, 256
#: Requests of warps, for loads and as many for stores: 32 floats each.
REQUESTS = SIDE * SIDE // 32
REASONS = (
    "long_scoreboard",
    "lg_throttle",
    "short_scoreboard",
    "barrier",
    "wait",
    "not_selected",
    "math_pipe_throttle",
)
ELAPSED, ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"
Metrics = Mapping[str, tuple[str, float]]


def transpose(*, tiled: bool) -> Metrics:
    """Metric → (unit, value) of a launch. Of 32 neighbouring floats 4 sectors are read; written are 4 or, in a column, 32."""
    dram, l2, l1, sm = (82.0, 61.0, 44.0, 31.0) if tiled else (24.0, 88.0, 52.0, 6.0)
    seconds = 2 * 4 * SIDE * SIDE / (dram / 100 * DEVICE_RATE)
    stored = 4 if tiled else 32
    stalls = (14.0, 1.0, 2.0, 3.0, 2.0, 0.6, 0.2) if tiled else (31.0, 52.0, 0.2, 0.0, 2.0, 0.1, 0.1)
    issued = 0.42 if tiled else 0.08
    latency = 1.0 + sum(stalls)
    return {
        "gpu__time_duration.sum": ("ns", seconds * NANO),
        "sm__throughput" + ELAPSED: ("%", sm),
        "gpu__compute_memory_throughput" + ELAPSED: ("%", max(dram, l2, l1)),
        "gpu__dram_throughput" + ELAPSED: ("%", dram),
        "lts__throughput" + ELAPSED: ("%", l2),
        "l1tex__throughput" + ACTIVE: ("%", l1),
        "l1tex__t_sector_hit_rate.pct": ("%", 0.0),
        "lts__t_sector_hit_rate.pct": ("%", 50.0 if tiled else 75.0),
        "sm__maximum_warps_per_active_cycle_pct": ("%", 100.0),
        "sm__warps_active" + ACTIVE: ("%", 91.0),
        "smsp__issue_active.avg.per_cycle_active": ("", issued),
        "smsp__average_warp_latency_per_inst_issued.ratio": ("", latency),
        "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": ("inst", 1.0),
        "smsp__thread_inst_executed_per_inst_executed.ratio": ("", 32.0),
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": ("", REQUESTS),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("sector", 4 * REQUESTS),
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": ("", REQUESTS),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("sector", stored * REQUESTS),
        "memory_l2_theoretical_sectors_global": ("sector", (4 + stored) * REQUESTS),
        "memory_l2_theoretical_sectors_global_ideal": ("sector", 8 * REQUESTS),
        "launch__registers_per_thread": ("register/thread", 24),
        "launch__waves_per_multiprocessor": ("", SIDE * SIDE / BLOCK / (MULTIPROCESSORS * 8)),
        "launch__sm_count": ("", MULTIPROCESSORS),
        **{
            f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio": ("inst", cycles)
            for reason, cycles in zip(REASONS, stalls, strict=True)
        },
    }


def write_raw_page(path: Path, metrics: Metrics) -> None:
    """The raw page: names, units, a row for each launch; launches differ by up to 2 % in time."""
    who = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]  # fmt: skip
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        rows.writerow([*who, *metrics])
        rows.writerow([*("" for _ in who), *(unit for unit, _ in metrics.values())])
        for number in range(LAUNCHES):
            values = [value for _, value in metrics.values()]
            values[0] *= 1 + 0.02 * (number * 7 % LAUNCHES) / LAUNCHES
            sizes = (f"({BLOCK}, 1, 1)", f"({SIDE * SIDE // BLOCK}, 1, 1)", 0, "8.0")
            shown = [f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}" for value in values]
            rows.writerow([number, PROCESS, "transpose", "node", "transpose(float*, float const*, int)", 1, 7, *sizes, *shown])  # fmt: skip


def main(folder: Path) -> None:
    """Write the four exports."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, mended in (("steps", False), ("steps-fixed", True)):
        steps(once=mended).write(folder / f"{name}.sqlite")
    for name, mended in (("transpose", False), ("transpose-fixed", True)):
        write_raw_page(folder / f"{name}.csv", transpose(tiled=mended))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "exports"))
