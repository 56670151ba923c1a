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
    alone: Range | None


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
                alone = kernel_time.predict_time(found.counts, launch, TO, found.chain).seconds
        yield Pair(label, there[label.key], across(known, FROM, TO).seconds, source, alone)


def show(title: str, predicted: Sequence[Range], there: Sequence[float]) -> None:
    """Print the errors of a way, and how often its bounds hold."""
    held = np.mean([each.low <= value <= each.high for each, value in zip(predicted, there, strict=True)])
    print(f"{title:30}{figures(np.array([each.value for each in predicted]), np.array(there))}  held {held:.1%}")


def main(labels: Path, counts: Path) -> None:
    """Print a table for all, and for those that are not brief."""
    every = list(pairs(labels, counts))
    for name, chosen in (("all", every), ("not brief", [each for each in every if each.label.seconds >= BRIEF])):
        print(f"-- {name}")
        there = [each.there for each in chosen]
        ratio = float(np.median([each.there / each.label.seconds for each in chosen]))
        scaled = figures(np.array([each.label.seconds * ratio for each in chosen]), np.array(there))
        print(f"{f'time x {ratio:.3f} (their median)':30}{scaled}")
        show("time and counters", [each.counters for each in chosen], there)
        with_source = [(each.source, each.there) for each in chosen if each.source is not None]
        show("time and source", *zip(*with_source, strict=True))
        alone = [(each.alone, each.there) for each in chosen if each.alone is not None]
        show("source alone", *zip(*alone, strict=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
