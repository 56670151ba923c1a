"""Times on one GPU predicted from those on another and from the source, beside what was measured there.

python -m tests.bench.other_device FOLDER

FOLDER is gpu-perf of github.com/Debdeep23/test1 (state f808e85): 60 launches of 16 kernels, timed on a TITAN V and an RTX 4070, each the mean of 50
or 100 launches one after another. It takes about five minutes.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from chathpc.predict.across import Measured, across
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import Device, device
from chathpc.predict.prediction import predict
from chathpc.predict.program import Asked, Program
from chathpc.sandbox import choose

Row = Mapping[str, str]
GB, MIB = 1e9, 2.0**20
TITAN_V = replace(
    device("v100"), key="titanv", name="NVIDIA TITAN V", clock=1.455 * GB, bandwidth=652.8 * GB, memory=12 * 2.0**30, l2=4.5 * MIB, l2_rate=1536.0
)  # fmt: skip
RTX_4070 = replace(
    device("rtx4080"), key="rtx4070", name="NVIDIA GeForce RTX 4070", units=46, clock=2.475 * GB, bandwidth=504.2 * GB, memory=12 * 2.0**30,
    l2=36 * MIB, l2_rate=1536.0,
)  # fmt: skip
#: Launches whose times are mostly those of beginning and ending, and data that the smaller L2 cache does not keep and the larger one does.
BRIEF, KEPT = 1e-5, 0.8


def rows(folder: Path, name: str) -> list[Row]:
    """Launches in the order of the file, by kernel and shape."""
    with (folder / "data" / f"runs_{name}_final.csv").open() as file:
        return sorted(csv.DictReader(file), key=lambda row: [row[each] for each in ("kernel", "N", "rows", "block")])


def followed(folder: Path, row: Row) -> tuple[Launch, Counts]:
    """The launch of a row and its counts."""
    sizes = {
        "--N": row["N"],
        **dict.fromkeys(("--rows", "--matN", "--H"), row["rows"]),
        **dict.fromkeys(("--cols", "--W"), row["cols"]),
    }
    words = [word for name, size in sizes.items() if size != "0" for word in (name, size)]
    words += [
        "--kernel",
        row["kernel"],
        "--warmup",
        "0",
        "--reps",
        "1",
        "--block",
        row["block"],
        "--iters",
        row["iters"],
    ]
    with tempfile.TemporaryDirectory() as work:
        program = Program((folder.resolve() / "runner" / "main.cu",), (), {})
        (found, *_) = predict(
            program, Asked(arguments=tuple(words), seconds=2.0), device=TITAN_V, work=Path(work), sandbox=choose(allow_none=False)
        )  # fmt: skip
    return found.launch, found.counts


def line(name: str, found: list[tuple[Range, float]]) -> str:
    """Errors of predictions beside the truth."""
    ratio = np.array([each.value / truth for each, truth in found])
    held = np.mean([each.low <= truth <= each.high for each, truth in found])
    twice = np.mean(np.abs(np.log(ratio)) < np.log(2))
    error = np.abs(ratio - 1)
    return f"{name:34} n {len(found):2}  MAPE {error.mean():4.0%}  median {np.median(error):4.0%}  within 2x {twice:4.0%}  held {held:4.0%}"


def main(folder: Path) -> None:
    """Follow every launch, and print the errors by way and kind of launch."""
    first, second = (rows(folder, name) for name in ("titanv", "4070"))
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda row: followed(folder, row), first))
    table: dict[str, list[tuple[Range, float]]] = {}
    for left, right, (launch, work) in zip(first, second, counts, strict=True):
        times = [float(row["mean_ms"]) / 1e3 for row in (left, right)]
        touched = work.footprint_read + work.footprint_written
        kind = (
            "kept by one cache"
            if KEPT * TITAN_V.l2 < touched < RTX_4070.l2
            else "brief"
            if min(times) < BRIEF
            else "others"
        )
        ways: tuple[tuple[str, Device, Device, list[float]], ...] = (
            ("V to 4070", TITAN_V, RTX_4070, times),
            ("4070 to V", RTX_4070, TITAN_V, times[::-1]),
        )
        for way, source, target, (known, truth) in ways:
            repeats = int(left["reps"])
            for basis, measured in (
                ("source", Measured(known * repeats, repeats, launch, work)),
                ("nothing", Measured(known * repeats, repeats, launch)),
            ):
                found = across(measured, source, target).seconds
                table.setdefault(f"{way}, {basis}, {kind}", []).append((found, truth * repeats))
            for basis, ratio in (
                ("bandwidth alone", source.bandwidth / target.bandwidth),
                ("FP32 alone", source.peak("fp32") / target.peak("fp32")),
            ):
                table.setdefault(f"{way}, {basis}, {kind}", []).append((Range(*[known * ratio] * 3), truth))
    for name in sorted(table):
        print(line(name, table[name]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
