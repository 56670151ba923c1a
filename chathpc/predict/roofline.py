"""Class of a kernel by the roofline model, with the probability that it is right.

The rule is that of Bolet et al. (arXiv 2505.03988): a kernel is bandwidth-bound if its operations per byte of device memory lie below
the balance point of every class of operations, else compute-bound. Peaks take every operation for half a fused multiply-add, integers too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import erf, exp, inf, log, pi, sqrt
from typing import Literal

from chathpc.predict.counts import Counts, Range
from chathpc.predict.devices import Device

__all__ = ["LABELLED", "Roof", "Roofline", "change", "classify"]

#: Classes that the public labels look at.
LABELLED = ("fp32", "fp64", "integer")
_CLASSES = (*LABELLED, "fp16", "tensor")
_WORDS = {
    "fp32": "single-precision", "fp64": "double-precision", "integer": "integer", "fp16": "half-precision", "tensor": "tensor",
}  # fmt: skip
#: A Range holds four of five cases: so many standard deviations lie on each side of a normal distribution's middle.
_EIGHTY = 1.2816
#: Error that exact counts keep (standard deviation of the logarithm): of operations because compilers differ, of bytes because caches
#: do. Of development kernels with every block followed, see docs/predict.md.
_LEAST_OPERATIONS, _LEAST_BYTES = 0.1, 0.3
#: Factor by which counts may be off that nothing bounds above, where a probability needs one.
_OPEN = 60.0
#: Smallest traffic that is taken: one sector.
_LEAST_TRAFFIC = 32.0
#: Factors beyond this one nobody changes.
_FAR = 100.0


@dataclass(frozen=True, slots=True)
class Roof:
    """One class of operations against the memory. `intensity` and `balance`: operations per byte; `ratio`: the first by the second, at
    least 1 where computing takes longer; `seconds`: at the class's peak.
    """

    kind: str
    operations: Range
    intensity: float
    balance: float
    seconds: float

    @property
    def ratio(self) -> float:
        """Intensity by balance point."""
        return self.intensity / self.balance if self.balance else (inf if self.intensity else 0.0)


@dataclass(frozen=True, slots=True)
class Roofline:
    """The class `bound` and the `probability` that it is right; `limiter`: "memory" or the class of operations that is farthest above its
    balance point. `roofs`: by ratio, greatest first.
    """

    bound: Literal["bandwidth", "compute"]
    probability: float
    limiter: str
    traffic: Range
    roofs: tuple[Roof, ...]

    @property
    def margin(self) -> float:
        """By what factor the deciding intensity is away from its balance point, at least 1."""
        ratio = self.roofs[0].ratio if self.roofs else 0.0
        return max(ratio, 1 / ratio if ratio else inf)


def classify(counts: Counts, device: Device, kinds: Collection[str] = _CLASSES) -> Roofline:
    """The class of a launch on a device, by the classes of operations `kinds` (LABELLED: as the public labels)."""
    moved = Range.total((counts.dram_read, counts.dram_written))
    traffic = Range(*(max(each, _LEAST_TRAFFIC) for each in (moved.value, moved.low, moved.high)))
    roofs = []
    for kind in kinds:
        found = counts.operations.get(kind)
        if found is None or found.high <= 0 or not device.peak(kind):
            continue
        intensity = found.value / traffic.value
        roofs.append(Roof(kind, found, intensity, device.balance(kind), found.value / device.peak(kind)))
    roofs.sort(key=lambda roof: -roof.ratio)
    below = _probability_below(roofs, traffic)
    first = roofs[0] if roofs else None
    bandwidth = first is None or first.ratio < 1
    return Roofline(
        bound="bandwidth" if bandwidth else "compute",
        probability=below if bandwidth else 1 - below,
        limiter="memory" if first is None or bandwidth else first.kind,
        traffic=traffic,
        roofs=tuple(roofs),
    )


def change(found: Roofline) -> str:
    """What would change the class; empty where it has no arithmetic that counts, and where nothing near would."""
    if not found.roofs:
        return ""
    first = found.roofs[0]
    if found.bound == "compute" and found.traffic.value <= _LEAST_TRAFFIC:
        return "It would be bandwidth-bound with more data than the caches hold: nothing comes from memory."
    if found.margin > _FAR:
        return ""
    if found.bound == "bandwidth":
        return f"It would be compute-bound with {_number(found.margin)}x fewer bytes, or {_number(found.margin)}x more {_WORDS[first.kind]} operations."
    above = [roof for roof in found.roofs if roof.ratio >= 1]
    each = " and ".join(f"{_number(roof.ratio)}x fewer {_WORDS[roof.kind]} operations" for roof in above)
    return f"It would be bandwidth-bound with {each}, or {_number(first.ratio)}x more bytes."


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _spread(found: Range, least: float) -> tuple[float, float]:
    """Middle and standard deviation of the logarithm."""
    if found.value <= 0:
        # Only an upper bound is known: the middle is put at a quarter of it, which makes the bound the ninetieth percentile.
        return log(found.high / 4), log(4) / _EIGHTY
    low, high = min(found.low, found.value), min(max(found.high, found.value), found.value * _OPEN)
    up = log(high / found.value)
    down = log(found.value / low) if low > 0 else max(up, log(4))
    return log(found.value), sqrt(((up + down) / 2 / _EIGHTY) ** 2 + least**2)


def _probability_below(roofs: Collection[Roof], traffic: Range) -> float:
    """Probability that all ratios are below 1: errors of operations are independent, that of the bytes is shared by all, and so is
    integrated over (trapezoidal rule over five standard deviations on each side).
    """
    bytes_middle, bytes_spread = _spread(traffic, _LEAST_BYTES)
    spreads = [(*_spread(roof.operations, _LEAST_OPERATIONS), log(roof.balance)) for roof in roofs if roof.balance]
    steps, width = 200, 10.0 / 200
    total = 0.0
    for step in range(steps + 1):
        z = -5 + step * width
        chance = exp(-z * z / 2) / sqrt(2 * pi) * width
        for middle, spread, balance in spreads:
            away = (balance + bytes_middle + z * bytes_spread - middle) / spread
            chance *= 0.5 * (1 + erf(away / sqrt(2)))
        total += chance
    return min(max(total, 0.0), 1.0)
