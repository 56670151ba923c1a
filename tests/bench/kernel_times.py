"""The constants of predicted times: fitted to labelled launches, and judged on programs that the fit has not seen.

python -m tests.bench.kernel_times LABELS COUNTS [fit]

LABELS is the table of measured launches, COUNTS what labelled_kernels.py made of them. Launches whose counts are right take part in fits; all
that were followed are judged, in five folds of programs, and so are bounds: those of kernel_time.yaml, and those that the errors of the other
folds give. With `fit` the constants and the factors of the bounds for kernel_time.yaml are printed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.bench.predict.counted import Launched, read_counts
from chathpc.bench.predict.labels import Label, read_labels
from chathpc.predict import kernel_time
from chathpc.predict.counts import Launch
from chathpc.predict.devices import device
from tests.bench.opencl import figures, least_squares

#: Of the logarithm of a time: what a fit takes for usual, beyond which a launch weighs less; and how far a constant goes from where it was.
RESIDUAL, PRIOR = 0.15, 0.5
FOLDS = 5
#: Bounds hold four of five cases, as two quantiles of the errors of a group; of fewer launches than this they tell nothing, and stay as they are.
OUTER, FEWEST = (0.1, 0.9), 10
#: Counts and bytes of launches in a fit are right within these factors; and instructions that nobody counted, by which short ones may differ.
RIGHT, RIGHT_BYTES, SLACK = 1.6, 2.0, 1e3
RTX = device("rtx3080")


@dataclass(frozen=True, slots=True)
class Sample:
    """A labelled launch that was followed."""

    label: Label
    found: Launched
    launch: Launch

    @property
    def right(self) -> bool:
        """Whether its counts are those of the counters."""
        label, counts = self.label, self.found.counts

        def near(one: float, other: float) -> bool:
            slack = SLACK + label.integer / SLACK
            return abs(log((one + slack) / (other + slack))) < log(RIGHT)

        kinds = (("integer", label.integer), ("fp32", label.fp32), ("fp64", label.fp64))
        moved = abs(log((counts.dram_bytes + 1e4) / (label.bytes + 1e4))) < log(RIGHT_BYTES)
        return moved and all(near(counts.total(kind), measured) for kind, measured in kinds)

    def seconds(self, constants: Mapping[str, float]) -> float:
        """Its predicted time."""
        parts = kernel_time.limits(self.found.counts, self.launch, RTX, self.found.chain, constants)
        return kernel_time.combined(parts, constants)

    @property
    def group(self) -> str:
        """Whose errors are alike."""
        parts = kernel_time.limits(self.found.counts, self.launch, RTX, self.found.chain)
        limiter = max(parts, key=lambda name: parts[name])
        return kernel_time.error_group(parts[limiter], limiter, self.found.counts)


def samples(labels: Path, counts: Path) -> list[Sample]:
    """The launches that were followed in the shape that was measured."""
    found = []
    read = read_counts(counts)
    for label in read_labels(labels):
        one = read.get(label)
        if (
            one is not None
            and one.launch is not None
            and (one.launch.grid, one.launch.block) == (label.grid, label.block)
        ):
            found.append(Sample(label, one, one.launch))
    return found


def fit(known: Sequence[Sample]) -> dict[str, float]:
    """Constants by which the logarithms of times fit best (pseudo-Huber loss), held near those of now."""
    now = kernel_time.constants()
    names = list(now)
    start = np.log([now[name] for name in names])
    truth = np.log([each.label.seconds for each in known])

    def residuals(p: NDArray[np.float64]) -> NDArray[np.float64]:
        constants = dict(zip(names, np.exp(p).tolist(), strict=True))
        off = (np.log([each.seconds(constants) for each in known]) - truth) / RESIDUAL
        return np.concatenate([np.sign(off) * np.sqrt(2 * (np.sqrt(1 + off * off) - 1)), (p - start) / PRIOR])

    return dict(zip(names, np.exp(least_squares(residuals, start)).tolist(), strict=True))


def folds(every: Sequence[Sample]) -> list[int]:
    """The fold of each launch; a program's versions for CUDA and OpenMP are one."""
    programs = sorted({_program(each) for each in every})
    order = np.random.default_rng(1).permutation(len(programs))
    fold = {programs[at]: number % FOLDS for number, at in enumerate(order.tolist())}
    return [fold[_program(each)] for each in every]


def unseen(every: Sequence[Sample], fold: Sequence[int]) -> NDArray[np.float64]:
    """The time of each launch by constants of a fit to other programs."""
    found = np.zeros(len(every))
    for number in range(FOLDS):
        constants = fit([each for each, own in zip(every, fold, strict=True) if own != number and each.right])
        for at, each in enumerate(every):
            if fold[at] == number:
                found[at] = each.seconds(constants)
    return found


def bounds(errors: Iterable[tuple[str, float]]) -> dict[str, tuple[float, float]]:
    """The factors of each group, from groups and measured times by predicted ones; those of few launches as they are."""
    found = dict(kernel_time.intervals())
    by_group: dict[str, list[float]] = defaultdict(list)
    for group, ratio in errors:
        by_group[group].append(ratio)
    for group, values in by_group.items():
        if len(values) >= FEWEST:
            # So that one more launch lies within in four of five cases: positions k/(n + 1) (Weibull; Hyndman and Fan, type 6).
            low, high = np.quantile(values, OUTER, method="weibull")
            found[group] = (float(low), float(high))
    return found


def _program(one: Sample) -> str:
    return one.label.program.rpartition("-")[0]


def main(labels: Path, counts: Path, print_fit: bool) -> None:
    """Print the errors, and the constants and bounds if they are asked for."""
    every = samples(labels, counts)
    truth = np.array([each.label.seconds for each in every])
    shipped = np.array([each.seconds(kernel_time.constants()) for each in every])
    fold = folds(every)
    apart = unseen(every, fold)
    groups = [each.group for each in every]
    kinds = {
        "all": np.ones(len(every), bool),
        "followed to some end": np.array([group != "cut" for group in groups]),
        "counts right": np.array([each.right for each in every]),
    }
    for name, which in kinds.items():
        print(f"{name:24} shipped constants    {figures(shipped[which], truth[which])}")
        print(f"{name:24} programs left out    {figures(apart[which], truth[which])}")
    errors = list(zip(groups, (truth / apart).tolist(), strict=True))
    of_others = [
        bounds(error for error, own in zip(errors, fold, strict=True) if own != number) for number in range(FOLDS)
    ]
    for name, by_fold in (("shipped bounds", [kernel_time.intervals()] * FOLDS), ("bounds of the others", of_others)):
        within = [by_fold[own][group] for own, group in zip(fold, groups, strict=True)]
        held = np.mean([low <= ratio <= high for (low, high), (_, ratio) in zip(within, errors, strict=True)])
        print(f"{name} hold {held:.1%} of the times of programs left out")
    if print_fit:
        print(
            "\n".join(f"  {name}: {value:.3g}" for name, value in fit([each for each in every if each.right]).items())
        )
        print(
            "\n".join(
                f"  {name}: [{low:.2f}, {high:.2f}]  # of {groups.count(name)}"
                for name, (low, high) in bounds(errors).items()
            )
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "fit" in sys.argv[3:])
