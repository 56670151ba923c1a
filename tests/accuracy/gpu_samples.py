"""Generated databases of HPCToolkit with instruction samples of GPU kernels: which stall reasons a known limit causes, and at
which line (hpcrun -e gpu=nvidia,pc; reasons as in HPCToolkit's manual and CUPTI's PC sampling).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.accuracy.draw import Draw
from tests.accuracy.recipes import Truth, place, recipe, truth
from tests.synthetic.hpctoolkit_v4 import Context, Database, Location, Metric, entry, function, line, point, write

KERNEL, FORM = "gpu-kernel", "HPCToolkit"
STALLS = ("IFET", "IDEP", "GMEM", "SYNC", "CMEM", "PIPE", "MTHR", "NSEL", "OTHR")
TIMES = ("REALTIME (sec)", "GPUOP (sec)", "GKER (sec)", "GXCOPY (sec)", "GKER:COUNT", "GINS", "GINS:STL_ANY")


def sampled(draw: Draw, folder: Path, top: str, part: float, *, stalled: float) -> tuple[str, str, int]:
    """A program with one long kernel and a short one; `part` of the stalled samples of the long one have the reason `top`, and
    most of these are at one line. Kernel, its file, and that line.
    """
    kernel, file = draw.names.kernel(), draw.names.file(".cu")
    seconds, samples, hot = draw.steps(3, 12) * 0.5, 40_000 * draw.repeat, draw.whole(4, 9)
    shares: dict[int, float] = {number: draw.real(0.3, 1.0) for number in range(12)}
    total = sum(shares.values())
    rows: dict[int, dict[str, float]] = {number: {"GINS": round(samples * w / total)} for number, w in shares.items()}
    stalls = {number: row["GINS"] * stalled for number, row in rows.items()}
    others = [reason for reason in STALLS if reason != top]
    weights = {reason: draw.real(0.3, 1.0) for reason in others}
    whole = sum(stalls.values())
    for number, row in rows.items():
        own = stalls[number] * (1 - part)
        row |= {f"GINS:STL_{reason}": own * weights[reason] / sum(weights.values()) for reason in others}
        row[f"GINS:STL_{top}"] = whole * part * (0.7 if number == hot else 0.3 / 11)
        row["GINS:STL_ANY"] = sum(value for name, value in row.items() if "STL_" in name)
        row["GINS"] = max(row["GINS"], row["GINS:STL_ANY"] * 1.02)
    body = [line(file, 20 + number, _point(number, row)) for number, row in rows.items()]
    long = _kernel(kernel, file, body, seconds, 400.0 * draw.repeat)
    short_rows = {"GINS": samples * 0.05, "GINS:STL_ANY": samples * 0.02, "GINS:STL_NSEL": samples * 0.02}
    short_file = draw.names.file(".cu")
    short = _kernel(
        draw.names.kernel(), short_file, [line(short_file, 8, _point(40, short_rows))], seconds * 0.06, 100.0
    )
    host = draw.names.file(".cpp")
    copy = function(
        "<gpu copy>", module=None, samples={"GXCOPY (sec)": {0: seconds * 0.02}, "GPUOP (sec)": {0: seconds * 0.02}}
    )
    calls = [
        line(host, 30 + number, function("cudaLaunchKernel [libcudart.so.12]", function("<gpu kernel>", one, module=None),
                                         module="/usr/local/cuda/lib64/libcudart.so.12"))
        for number, one in enumerate((long, short))
    ]  # fmt: skip
    calls.append(
        line(host, 36, function("cudaMemcpy [libcudart.so.12]", copy, module="/usr/local/cuda/lib64/libcudart.so.12"))
    )
    names = [*TIMES, *(f"GINS:STL_{reason}" for reason in STALLS)]
    database = Database(
        [entry(function("main", *calls, file=host, line=20))],
        [Location(thread=0, rank=0), Location(thread=None, rank=0, gpu_context=1, gpu_stream=7)],
        [Metric(name) for name in names], title="app",
    )  # fmt: skip
    write(folder / "database", database)
    return kernel, file, 20 + hot


def _point(number: int, values: Mapping[str, float]) -> Context:
    return point(
        0x100 + 16 * number, {name: {1: value} for name, value in values.items() if value}, module="app.gpubin"
    )


def _kernel(name: str, file: str, body: list[Context], seconds: float, count: float) -> Context:
    values = {"GKER (sec)": {1: seconds}, "GPUOP (sec)": {1: seconds}, "GKER:COUNT": {1: count}}
    return function(name, *body, file=file, line=12, module="app.gpubin", samples=values)


def told(draw: Draw, folder: Path, cause: str, reason: str, part: float, why: str, *also: str) -> Truth:
    kernel, file, number = sampled(draw, folder, reason, part, stalled=draw.real(0.6, 0.9))
    return truth(cause, FORM, ["database"], part, why, acceptable=also,
                 where=place(file=file, lines=(number, number), kernel=kernel))  # fmt: skip


@recipe("gpu-memory-latency", KERNEL, 2)
def s_memory(draw: Draw, folder: Path) -> Truth:
    why = "most stalled samples wait for global memory, at the line that uses what was loaded"
    return told(draw, folder, "gpu-memory-latency", "GMEM", draw.real(0.6, 0.85), why,
                "gpu-uncoalesced-access", "gpu-memory-bandwidth")  # fmt: skip


@recipe("gpu-barrier-stall", KERNEL, 2)
def s_barrier(draw: Draw, folder: Path) -> Truth:
    why = "most stalled samples wait at a barrier of the block"
    return told(draw, folder, "gpu-barrier-stall", "SYNC", draw.real(0.55, 0.8), why)


@recipe("gpu-dependency-stall", KERNEL, 2)
def s_dependency(draw: Draw, folder: Path) -> Truth:
    why = "most stalled samples wait for the result of the instruction before"
    return told(draw, folder, "gpu-dependency-stall", "IDEP", draw.real(0.55, 0.8), why)


@recipe("gpu-instruction-fetch", KERNEL, 2)
def s_fetch(draw: Draw, folder: Path) -> Truth:
    why = "most stalled samples wait for their next instruction"
    return told(draw, folder, "gpu-instruction-fetch", "IFET", draw.real(0.5, 0.75), why)
