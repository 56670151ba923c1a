"""Times on an H100 predicted from those on an RTX 3080, beside what was measured there.

python -m tests.bench.on_h100 LABELS COUNTS

LABELS is the table of launches on an RTX 3080 (roofline_singles_518.csv of gpuFLOPBench), COUNTS what labelled_kernels.py made of them.
tests/data/gpu/h100_launches.csv holds the same launches as Nsight Compute 2025.3 saw them on an H100 80GB HBM3: each alone, caches emptied, clocks as
they were (1.98 GHz), programs compiled for sm_90 by clang 19 with CUDA 12.6 and the flags of the labels. No constant was fitted to them.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chathpc.bench.predict.counted import read_counts
from chathpc.bench.predict.labels import Label, read_labels
from chathpc.predict import kernel_time
from chathpc.predict.across import Measured, across
from chathpc.predict.counts import Launch, Range
from chathpc.predict.devices import device
from tests.bench.opencl import figures

MEASURED = Path(__file__).parents[1] / "data/gpu/h100_launches.csv"
FROM, TO = device("rtx3080"), device("h100")
#: The labels' clock, and registers of a thread where no counts tell them.
CLOCK, REGISTERS = 1.44e9, 32
#: Shorter launches are mostly their beginning and end (seconds on the RTX 3080).
BRIEF = 1e-5


@dataclass(frozen=True, slots=True)
class Pair:
    """A launch on both: seconds there, and as predicted from time and counters, from time and source, and from source alone."""

    label: Label
    there: float
    counters: Range
    source: Range | None
    alone: float | None


def pairs(labels: Path, counts: Path) -> Iterator[Pair]:
    """The launches that were measured on both."""
    with MEASURED.open() as file:
        there = {
            (row["targetName"], row["kernelName"], row["Kernel Name"]): float(row["seconds"])
            for row in csv.DictReader(file)
        }
    read = read_counts(counts)
    for label in read_labels(labels):
        if label.key not in there:
            continue
        peaks = {"memory": label.bytes / FROM.bandwidth}
        peaks |= {kind: getattr(label, kind) / FROM.rate(kind) for kind in ("fp32", "fp64", "integer")}
        busy = {name: min(part / label.seconds, 1.0) for name, part in peaks.items() if part > 0}
        launch = Launch(label.kernel, label.grid, label.block, 0, REGISTERS)
        found = read.get(label)
        if (
            found is None
            or found.launch is None
            or (found.launch.grid, found.launch.block) != (label.grid, label.block)
        ):
            found = None
        else:
            launch = found.launch
        known = Measured(label.seconds, 1, launch, busy=busy, clock=CLOCK)
        source, alone = None, None
        if found is not None:
            source = across(replace(known, counts=found.counts), FROM, TO).seconds
            if not any("too long to be followed" in said for said in found.counts.assumptions):
                limits = kernel_time.limits(found.counts, launch, TO, found.chain)
                alone = kernel_time.combined(limits, kernel_time.constants())
        yield Pair(label, there[label.key], across(known, FROM, TO).seconds, source, alone)


def show(title: str, predicted: Sequence[float], there: Sequence[float], bounds: Sequence[Range] = ()) -> None:
    """Print the errors of a way, and how often the bounds hold."""
    held = [each.low <= value <= each.high for each, value in zip(bounds, there, strict=False)]
    print(
        f"{title:30}{figures(np.array(predicted), np.array(there))}" + (f"  held {np.mean(held):.1%}" if held else "")
    )


def main(labels: Path, counts: Path) -> None:
    """Print a table for all, and for those that are not brief."""
    every = list(pairs(labels, counts))
    for name, chosen in (("all", every), ("not brief", [each for each in every if each.label.seconds >= BRIEF])):
        print(f"-- {name}")
        there = [each.there for each in chosen]
        ratio = float(np.median([each.there / each.label.seconds for each in chosen]))
        show(f"time x {ratio:.3f} (their median)", [each.label.seconds * ratio for each in chosen], there)
        bounds = [each.counters for each in chosen]
        show("time and counters", [each.value for each in bounds], there, bounds)
        with_source = [(each.there, each.source) for each in chosen if each.source is not None]
        bounds = [each for _, each in with_source]
        show("time and source", [each.value for each in bounds], [value for value, _ in with_source], bounds)
        followed = [(each.there, each.alone) for each in chosen if each.alone is not None]
        show("source alone", [value for _, value in followed], [value for value, _ in followed])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
