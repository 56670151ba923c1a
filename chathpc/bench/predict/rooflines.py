"""Machines with one roofline, drawn at random for questions that need no source.

Bandwidths, peaks and intensities are drawn as in G. Bolet et al., Can Large Language Models Predict Parallel Code Performance?, AI4Sys at
HPDC 2025 (arXiv 2505.03988): from the slowest to the fastest GPU of a list of that time.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

#: GB/s and GFLOP/s between which machines are drawn, and how far intensities keep from the balance point, as shares of it.
BANDWIDTHS = (50.0, 893.8)
PEAKS = (2535.8, 7068.9)
BELOW, ABOVE = 0.95, (1.05, 10.0)
#: Programs reach at most this share of what the roofline allows them.
_REACHED = 0.95


@dataclass(frozen=True, slots=True)
class Point:
    """A program on a machine with one roofline: GB/s, GFLOP/s, operations a byte and GFLOP/s reached, all of two decimals."""

    bandwidth: float
    peak: float
    intensity: float
    reached: float

    @property
    def balance(self) -> float:
        """Operations a byte where both limits meet."""
        return self.peak / self.bandwidth

    @property
    def compute_bound(self) -> bool:
        """On which side of the balance point the program lies."""
        return self.intensity > self.balance


@dataclass(frozen=True, slots=True)
class Trial:
    """A question about `asked`, after the answered `examples`, as many of each class."""

    number: int
    examples: tuple[Point, ...]
    asked: Point


def trials(rooflines: int = 40, examples: tuple[int, ...] = (2, 4, 8), seed: int = 0) -> tuple[Trial, ...]:
    """For each of `rooflines` machines and each number of examples two questions, one of each class.

    Examples are of machines of their own. The same seed gives the same trials.
    """
    source = random.Random(seed)  # noqa: S311 - a sample, no secret
    found: list[Trial] = []
    for number in range(rooflines):
        bandwidth, peak = _machine(source)
        asked = [_point(bandwidth, peak, bound, source) for bound in (False, True)]
        for count in examples:
            shown = tuple(_point(*_machine(source), bool(index % 2), source) for index in range(count))
            found += [Trial(number, shown, point) for point in asked]
    return tuple(found)


def _machine(source: random.Random) -> tuple[float, float]:
    return round(source.uniform(*BANDWIDTHS), 2), round(source.uniform(*PEAKS), 2)


def _point(bandwidth: float, peak: float, compute_bound: bool, source: random.Random) -> Point:
    balance = peak / bandwidth
    if compute_bound:
        intensity, most = source.uniform(ABOVE[0] * balance, ABOVE[1] * balance), peak
    else:
        intensity = source.uniform(0.0, BELOW * balance)
        most = intensity * bandwidth
    return Point(bandwidth, peak, round(intensity, 2), round(source.uniform(0.0, _REACHED * most), 2))
