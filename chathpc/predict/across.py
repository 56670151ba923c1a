"""A kernel's time on a device that one does not have, from its time on one where it was measured; devices ranked for a program.

What limits explain of the measured time moves with the limits of the other device, the rest with what waiting depends on: clock, and how
often the grid fills the device. Both together are a weighted geometric mean. Limits are the use of the device's parts that counters told,
else those of counts (kernel_time.limits).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, exp, prod

from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import Device
from chathpc.predict.kernel_time import KEPT, combined, constants, limits, occupancy
from chathpc.profile import numbers

__all__ = ["Measured", "Moved", "Ranked", "across", "lacking", "ranked"]

#: Weight of the limits is the explained share of the time to this power. One constant for all devices; docs/predict.md says what it rests on.
_TRUST = 0.5
#: Standard deviation of the logarithm of the error where the limits explain everything, and what is added where they explain nothing:
#: of 300 variants of a convolution between A100, A6000 and A4000 (public tuning results), as docs/predict.md tells.
_SPREAD, _UNEXPLAINED = 0.3, 0.2
#: What is added for launches of less than so many seconds, whose times are mostly the driver's and the device's to begin and end; and the
#: same beyond the extremes where nothing is known. Of 60 launches between a TITAN V and an RTX 4070, as docs/predict.md tells.
_BRIEF, _BRIEF_SPREAD, _BLIND = 1e-5, 0.3, 0.1
_EIGHTY = 1.2816
#: Limits of the whole device; all others are of each multiprocessor, the fullest of which a launch waits for.
_WHOLE = frozenset({"memory", "l2"})
#: Use of the tensor cores from which a kernel is said to need them.
_USED = 0.01
#: Part of the time that a limit takes where it is one: below it Nsight Compute's rules speak of latency ("SOLBottleneck").
_BUSY = 0.6
#: What names of kernels say of the numbers that their tensor instructions take, and the first compute capability that takes them
#: (CUDA programming guide, "Element Types and Matrix Sizes" of wmma; Hopper and Blackwell whitepapers).
_NUMBERS = (
    (re.compile(r"(?i)(?<![a-z])(bf16|tf32|bfloat16)"), "bf16 or tf32", 80),
    (re.compile(r"(?i)(?<![a-z])(fp8|f8|e4m3|e5m2)"), "fp8", 89),
    (re.compile(r"(?i)(?<![a-z])(fp4|nvfp4|mxf4|e2m1)"), "fp4", 100),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One kernel of a profile at one launch shape: seconds of all its launches together, how many they were, and of one of them its shape and
    what it does: `counts`, predicted from source, or `busy`, the use (0..1) of limits while it ran, as counters tell it.

    `operations` by class and `bytes` of device memory are what counters counted; `clock` is the multiprocessors' in Hz, 0 if not told.
    """

    seconds: float
    launches: float
    launch: Launch
    counts: Counts | None = None
    busy: Mapping[str, float] = field(default_factory=dict)
    operations: Mapping[str, float] = field(default_factory=dict)
    bytes: float | None = None
    clock: float = 0.0


@dataclass(frozen=True, slots=True)
class Moved:
    """`seconds` on the other device, of all launches; `limiter` there; `explained`: share of the measured time that limits explain, None
    if nothing is known of them.
    """

    kernel: str
    seconds: Range
    limiter: str
    explained: float | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A device for a program: seconds of the whole there, how many times faster than where it was measured, what takes the kernels' time,
    by limiter, the kernels in their order, and what would not carry over.
    """

    device: Device
    seconds: Range
    speedup: Range
    limiters: Mapping[str, float]
    kernels: tuple[Moved, ...]
    lacking: tuple[str, ...]

    @property
    def limiter(self) -> str:
        """What takes most of the kernels' time."""
        return max(self.limiters, key=lambda name: self.limiters[name])


def across(measured: Measured, source: Device, target: Device) -> Moved:
    """The time of a kernel on `target`, given that on `source`."""
    own = source.key == target.key
    source = source.at(measured.clock) if measured.clock else source
    launches = max(measured.launches, 1)
    each = measured.seconds / launches
    # Profilers tell kernels without what the driver takes to launch them: the shortest are shorter than that.
    fixed = min(constants()["launch"], each / 1.05)
    here, there = (_limits(measured, each, source, device) for device in (source, target))
    waiting = _waiting(measured.launch, target) / _waiting(measured.launch, source)

    def moved(ratio: float) -> float:
        return ((each - fixed) * ratio + fixed * (target.launch / source.launch)) * launches

    if not here and not own:
        # Nothing is known of what limits it: any of these, alike.
        ratios = [waiting, *(_rate(name, source) / _rate(name, target) for name in ("memory", "l2", "issue", "fp32"))]
        middle = moved(prod(ratios) ** (1 / len(ratios)))
        factor = exp(_EIGHTY * (_BRIEF_SPREAD if each < _BRIEF else _BLIND))
        found = Range(middle, moved(min(ratios)) / factor, moved(max(ratios)) * factor)
        return Moved(measured.launch.kernel, found, "", None)
    before = combined(here, constants()) - constants()["launch"] if here else 0.0
    explained = min(before / (each - fixed), 1.0)
    weight = explained**_TRUST
    after = combined(there, constants()) - constants()["launch"] if before > 0 else 1.0
    value = moved((after / (before or 1.0)) ** weight * waiting ** (1 - weight))
    longest = max(there, key=lambda name: there[name], default="latency")
    limiter = longest if there and there[longest] * launches >= _BUSY * value else "latency"
    if own:
        # Another clock of the same device: between what does not feel it and what follows it.
        bounds = sorted((moved(1.0), moved(source.clock / target.clock)))
        return Moved(
            measured.launch.kernel, Range(value, *bounds), limiter if here else "", explained if here else None
        )
    factor = exp(_EIGHTY * (_SPREAD + _UNEXPLAINED * (1 - explained) + (_BRIEF_SPREAD if each < _BRIEF else 0.0)))
    ways = [value, *(moved(ratio) for ratio in _warm(measured, here, there, source, target))]
    return Moved(measured.launch.kernel, Range(value, min(ways) / factor, max(ways) * factor), limiter, explained)


def _warm(
    measured: Measured, here: Mapping[str, float], there: Mapping[str, float], source: Device, target: Device
) -> Iterator[float]:
    """By what a time may move as well if the larger L2 cache of the two, and not the other, keeps what a launch reads for the next one."""
    counts, (small, large) = measured.counts, sorted((source.l2, target.l2))
    if (
        counts is None
        or measured.launches <= 1
        or not small * KEPT < counts.footprint_read + counts.footprint_written < large
    ):
        return
    parts = [dict(here), dict(there)]
    parts[target.l2 > source.l2]["memory"] = 0.0
    before, after = (combined(each, constants()) - constants()["launch"] for each in parts)
    if before > 0:
        yield after / before


def ranked(
    kernels: Sequence[Measured], source: Device, targets: Iterable[Device], other: float = 0.0
) -> tuple[Ranked, ...]:
    """Devices by the time that a program's kernels take there, fastest first; `source` is compared with at its clock in the catalogue.
    `other`: seconds of the program that stay as they are.
    """
    now = sum(across(each, source, source).seconds.value for each in kernels) + other
    found = []
    for target in targets:
        moved = tuple(across(each, source, target) for each in kernels)
        limiters: dict[str, float] = {}
        for each in moved:
            limiters[each.limiter] = limiters.get(each.limiter, 0.0) + each.seconds.value
        # Errors of one device's kernels go together.
        seconds = Range.total((*(each.seconds for each in moved), Range(other, other, other)))
        lost = () if target.key == source.key else tuple(lacking(kernels, source, target))
        speedup = Range(now / seconds.value, now / seconds.high, now / seconds.low)
        found.append(Ranked(target, seconds, speedup, limiters, moved, lost))
    return tuple(sorted(found, key=lambda each: each.seconds.value))


def lacking(kernels: Sequence[Measured], source: Device, target: Device) -> Iterator[str]:
    """What kernels need and `target` has not, in sentences without a point: tensor cores, numbers that these take, shared memory, memory."""
    tensor = [each for each in kernels if each.busy.get("tensor", 0.0) >= _USED or each.operations.get("tensor")]
    if target.vendor and source.vendor and target.vendor != source.vendor:
        yield "programs for it are written or translated anew: a rough guess"
    if not target.peak("tensor") and tensor:
        yield f"no tensor cores, which {_share(tensor, kernels)} on: taken to compute on its other units"
    capability = re.fullmatch(r"sm_(\d+)", target.architecture)
    for pattern, numbers_, least in _NUMBERS if capability and target.peak("tensor") else ():
        wanting = [each for each in kernels if pattern.search(each.launch.kernel)]
        if wanting and capability and int(capability[1]) < least:
            yield f"tensor cores that do not take {numbers_}, which {_share(wanting, kernels)} with by their names"
    large = [each for each in kernels if each.launch.shared > target.shared_block > 0]
    if large:
        most = max(each.launch.shared for each in large)
        yield f"at most {numbers.size(target.shared_block)} of shared memory for a block, where {_share(large, kernels)} with up to {numbers.size(most)}"
    touched = max((each.counts.footprint_read for each in kernels if each.counts), default=0.0)
    if touched > target.memory > 0:
        yield f"{numbers.size(target.memory)} of memory, of which one launch reads {numbers.size(touched)}"


def _share(some: Sequence[Measured], kernels: Sequence[Measured]) -> str:
    part = sum(each.seconds for each in some) / (sum(each.seconds for each in kernels) or 1.0)
    return f"kernels of {numbers.percent(part)} of the time work"


def _limits(measured: Measured, each: float, source: Device, on: Device) -> Mapping[str, float]:
    """Seconds of the limits on a device, without waiting; none if nothing is known of them."""
    if measured.counts is not None:
        return limits(_traffic(measured.counts, source, on), measured.launch, on)
    return {
        name: share * each * _rate(name, source) / _rate(name, on) * (1.0 if name in _WHOLE else _uneven(measured.launch, on))
        for name, share in measured.busy.items()
        if share > 0
    }  # fmt: skip


def _rate(name: str, device: Device) -> float:
    """What a limit is in relation to other devices; tensor work goes to other units where there are no tensor cores."""
    if name == "memory":
        return device.bandwidth
    per_cycle = {
        "l2": device.l2_rate,
        "l1": float(device.units),
        "issue": float(device.schedulers * device.units),
    }
    if name in per_cycle:
        return per_cycle[name] * device.clock
    return device.rate(name) or max(device.rate("fp16"), device.rate("fp32"))


def _uneven(launch: Launch, device: Device) -> float:
    """Blocks of the fullest multiprocessor, by those of the average one."""
    return device.units * ceil(launch.blocks / device.units) / launch.blocks if launch.blocks else 1.0


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
