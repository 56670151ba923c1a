"""A writer of reports as `nsys stats --format csv` writes them, from the columns of the reports."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

_TIMES = ("Time (%)", "Total Time (ns)")
_SPREAD = ("Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)")
COLUMNS: dict[str, tuple[str, ...]] = {
    "cuda_gpu_kern_sum": (*_TIMES, "Instances", *_SPREAD, "Name"),
    "cuda_gpu_kern_gb_sum": (*_TIMES, "Instances", *_SPREAD, "GridXYZ", "BlockXYZ", "Name"),
    "cuda_gpu_sum": (*_TIMES, "Instances", *_SPREAD, "Category", "Operation"),
    "cuda_gpu_mem_time_sum": (*_TIMES, "Count", *_SPREAD, "Operation"),
    "cuda_gpu_mem_size_sum": ("Total (MB)", "Count", "Avg (MB)", "Med (MB)", "Min (MB)", "Max (MB)", "StdDev (MB)", "Operation"),
    "cuda_api_sum": (*_TIMES, "Num Calls", *_SPREAD, "Name"),
    "nvtx_sum": (*_TIMES, "Instances", *_SPREAD, "Style", "Range"),
    "cuda_gpu_trace": (
        "Start (ns)", "Duration (ns)", "CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd", "StcSMem (MB)",
        "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)", "SrcMemKd", "DstMemKd", "Device", "Ctx", "GreenCtx", "Strm", "Name",
    ),
    "cuda_api_trace": ("Start (ns)", "Duration (ns)", "Name", "Result", "CorrID", "Pid", "Tid", "T-Pri", "Thread Name"),
}  # fmt: skip


def report(name: str, rows: Sequence[Sequence[object]]) -> str:
    """A report with these rows; what a row lacks is added as zeros before its last columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS[name])
    writer.writerows(rows)
    return text.getvalue()


def summed(name: str, rows: Sequence[tuple[float, float, tuple[str, ...]]]) -> str:
    """A report of sums from (nanoseconds, number, last columns)."""
    whole = sum(row[0] for row in rows) or 1.0
    return report(name, [(round(100 * t / whole, 1), int(t), n, *([0.0] * 5), *last) for t, n, last in rows])


KERNELS = summed(
    "cuda_gpu_kern_sum",
    [
        (600_000, 200, ("gemv(float*)",)),
        (300_000, 10, ("gemm(float*)",)),
        (100_000, 5, ("ncclDevKernel_AllReduce(x)",)),
    ],
)
SHAPES = summed(
    "cuda_gpu_kern_gb_sum",
    [(600_000, 200, ("  64    2    1", " 128    1    1", "gemv(float*)")), (300_000, 10, ("?", "?", "gemm(float*)"))],
)
COPIES = summed(
    "cuda_gpu_mem_time_sum",
    [
        (50_000, 4, ("[CUDA memcpy Host-to-Device]",)), (30_000, 2, ("[CUDA memcpy Device-to-Host]",)),
        (5_000, 3, ("[CUDA memset]",)),
    ],
)  # fmt: skip
SIZES = report(
    "cuda_gpu_mem_size_sum",
    [
        (1.5, 4, 0, 0, 0, 0, 0, "[CUDA memcpy Host-to-Device]"),
        ("1,000.25", 2, 0, 0, 0, 0, 0, "[CUDA memcpy Device-to-Host]"),
    ],
)
CALLS = summed(
    "cuda_api_sum", [(900_000, 215, ("cudaLaunchKernel",)), (400_000, 9, ("cudaDeviceSynchronize",))]
)  # fmt: skip
SYSTEM_CALLS = summed("cuda_api_sum", [(700_000, 12, ("poll",))])
RANGES = summed("nvtx_sum", [(2_000_000, 2, ("PushPop", ":step")), (1_500_000, 2, ("PushPop", ":forward"))])
OPERATIONS = summed(
    "cuda_gpu_sum",
    [
        (600_000, 200, ("CUDA_KERNEL", "gemv(float*)")), (50_000, 4, ("MEMORY_OPER", "[CUDA memcpy Host-to-Device]")),
        (10_000, 9, ("CUDA_API", "cudaLaunchKernel")),
    ],
)  # fmt: skip
GPU_TRACE = report(
    "cuda_gpu_trace",
    [
        (1000, 500, 11, "", "", "", "", "", "", "", "", "", 0.004096, 8192, "Pageable", "Device", "Example GPU (0)", 1, "", 13,
         "[CUDA memcpy Host-to-Device]"),
        (2000, 3000, 12, 64, 2, 1, 128, 1, 1, 40, 0.001, 0.002, "", "", "", "", "Example GPU (0)", 1, "", 7, "gemm(float*)"),
        (6000, 1000, 13, 1, 1, 1, 32, 1, 1, "", "", "", "", "", "", "", "Example GPU (0)", 1, "", 7, "ncclKernel_AllReduce(x)"),
        (8000, 100, 14, "", "", "", "", "", "", "", "", "", 0.0005, "", "Device", "", "Example GPU (0)", 1, "", 7, "[CUDA memset]"),
        ("x", 100, 14, "", "", "", "", "", "", "", "", "", "", "", "", "", "", 1, "", 7, "damaged"),
    ],
)  # fmt: skip
CALL_TRACE = report(
    "cuda_api_trace",
    [
        (900, 50, "cudaMemcpyAsync", 0, 11, 4, 4, 20, "main"), (1500, 50, "cudaLaunchKernel", 0, 12, 4, 4, 20, "main"),
        (1600, 50, "cudaLaunchKernel", 0, 13, 4, 5, 20, "other"), ("", 50, "damaged", 0, 13, 4, 5, 20, "other"),
    ],
)  # fmt: skip
