"""A kernel's time on a device that one does not have, from its time and counters on one that was measured; GPUs ranked for a program.

What the limits (kernel_time.limits) explain of the measured time moves with the limits of the other device, the rest with what waiting
depends on: clock, and how often the grid fills the device. Both together are a weighted geometric mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import Device
from chathpc.predict.kernel_time import combined, constants, limits, occupancy

__all__ = ["Measured", "Moved", "Ranked", "across", "from_counters", "ranked"]

#: Weight of the limits is the explained share of the time to this power. One constant for all devices; docs/predict.md says what it rests on.
_TRUST = 0.5
#: Standard deviation of the logarithm of the error where the limits explain everything, and what is added where they explain nothing:
#: of 300 variants of a convolution between A100, A6000 and A4000 (public tuning results), as docs/predict.md tells.
_SPREAD, _UNEXPLAINED = 0.3, 0.2
_EIGHTY = 1.2816


@dataclass(frozen=True, slots=True)
class Measured:
    """One kernel of a profile: seconds of all its launches together, how many they were, and launch and counts of one of them."""

    seconds: float
    launches: int
    launch: Launch
    counts: Counts


@dataclass(frozen=True, slots=True)
class Moved:
    """`seconds` on the other device, of all launches; `limiter` there; `explained`: share of the measured time that limits explain."""

    kernel: str
    seconds: Range
    limiter: str
    explained: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A device for a program: seconds of all its kernels there, how many times faster than now, and what takes that time, by limiter."""

    device: Device
    seconds: Range
    speedup: Range
    limiters: Mapping[str, float]


def from_counters(
    kernel: str, seconds: float, grid: tuple[int, int, int], block: tuple[int, int, int], operations: Mapping[str, float],
    dram: float, *, launches: int = 1, registers: int = 0, shared: int = 0, sectors: float = 0.0,
) -> Measured:  # fmt: skip
    """A kernel as profilers tell it: operations of threads by class (a fused multiply-add is two), `dram` bytes and L1's `sectors` of one
    launch. Instructions are taken to be half fused where they can be.
    """
    launch = Launch(kernel, grid, block, shared, registers)
    exact = {kind: Range(value, value, value) for kind, value in operations.items()}
    fused = {
        kind: value / (1.5 if kind in {"fp32", "fp64", "fp16"} else 1.0) / 32 for kind, value in operations.items()
    }
    touched = {"global load": sectors} if sectors else {}
    counts = Counts(
        operations=exact, issued=fused, requests={}, requested={}, sectors=touched, footprint_read=0.0, footprint_written=0.0,
        dram_read=Range(dram, dram, dram), dram_written=Range(0.0, 0.0, 0.0), longest=0.0, emulated=0.0, warps=launch.threads / 32,
    )  # fmt: skip
    return Measured(seconds, launches, launch, counts)


def across(measured: Measured, source: Device, target: Device) -> Moved:
    """The time of a kernel on `target`, given that on `source`."""
    fixed = constants()["launch"]
    each = max(measured.seconds / max(measured.launches, 1), fixed * 1.05)
    here = limits(measured.counts, measured.launch, source)
    there = limits(_traffic(measured.counts, source, target), measured.launch, target)
    bounds = [{name: value for name, value in parts.items() if name != "latency"} for parts in (here, there)]
    before, after = (combined(parts, constants()) - fixed for parts in bounds)
    explained = min(before / (each - fixed), 1.0) if before > 0 else 0.0
    weight = explained**_TRUST
    waiting = _waiting(measured.launch, target) / _waiting(measured.launch, source)
    ratio = (after / before) ** weight * waiting ** (1 - weight) if before > 0 else waiting
    one = (each - fixed) * ratio + fixed * (target.launch / source.launch)
    spread = 0.0 if source == target else _SPREAD + _UNEXPLAINED * (1 - explained)
    value = one * max(measured.launches, 1)
    factor = exp(_EIGHTY * spread)
    limiter = max(bounds[1], key=lambda name: bounds[1][name]) if weight > 0.5 else "latency"
    return Moved(measured.launch.kernel, Range(value, value / factor, value * factor), limiter, explained)


def ranked(
    kernels: Sequence[Measured], source: Device, targets: Iterable[Device], other: float = 0.0
) -> tuple[Ranked, ...]:
    """Devices by the time that a program's kernels take there, fastest first. `other`: seconds of the program that stay as they are."""
    now = sum(each.seconds for each in kernels) + other
    found = []
    for target in targets:
        moved = [across(each, source, target) for each in kernels]
        limiters: dict[str, float] = {}
        for each in moved:
            limiters[each.limiter] = limiters.get(each.limiter, 0.0) + each.seconds.value
        # Errors of one device's kernels go together: bounds are added.
        value, low, high = (
            sum(getattr(each.seconds, name) for each in moved) + other for name in ("value", "low", "high")
        )
        found.append(Ranked(target, Range(value, low, high), Range(now / value, now / high, now / low), limiters))
    return tuple(sorted(found, key=lambda each: each.seconds.value))


def _waiting(launch: Launch, device: Device) -> float:
    """What waiting takes on a device, in relation to others: each fill of the device once, in cycles of its clock."""
    return max(occupancy(launch, device).waves, 1.0) / device.clock


def _traffic(counts: Counts, source: Device, target: Device) -> Counts:
    """What a larger L2 cache keeps does not go to memory again: bytes beyond the distinct ones fall with what does not fit."""
    distinct = counts.footprint_read + counts.footprint_written
    again = counts.dram_bytes - distinct
    if not distinct or again <= 0 or target.l2 <= source.l2:
        return counts
    left = max(distinct - target.l2, 0.0) / max(distinct - source.l2, 1.0) if distinct > source.l2 else 1.0
    share = (distinct + again * min(left, 1.0)) / counts.dram_bytes
    read, written = (
        Range(part.value * share, part.low * share, part.high) for part in (counts.dram_read, counts.dram_written)
    )
    return replace(counts, dram_read=read, dram_written=written)
