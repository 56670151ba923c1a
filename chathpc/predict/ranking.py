"""Devices ranked for the kernels of a profile: the answer as a record with a stable form, the schema chathpc-devices/1
(docs/devices-schema.json).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from chathpc.errors import UsageError
from chathpc.predict.across import Measured, Ranked, ranked
from chathpc.predict.counts import Range
from chathpc.predict.devices import CLASSES, Device, device, devices
from chathpc.predict.prediction import Prediction
from chathpc.predict.profiled import unlike, untimed
from chathpc.predict.record import DeviceRecord, RangeRecord
from chathpc.profile import numbers
from chathpc.profile.kernel_names import base_key, kernel_title
from chathpc.profile.profile import Profile
from chathpc.profile.run import wall_seconds
from chathpc.report import Record

#: A prediction is of the launch that was measured if it has as many threads, within this part.
_ALIKE = 0.1
#: Clocks that differ by less are the same.
_SAME_CLOCK = 0.02
Basis = Literal["counters", "source", "nothing"]


class OnRecord(Record):
    """A kernel on a device: seconds of all its launches, and what limits it there ("": not known)."""

    seconds: RangeRecord
    limiter: str


class MovedKernelRecord(Record):
    """A kernel of the profile, all its launches together; `blocks` and `threads` of a block are those of its longest launch shape."""

    kernel: str
    seconds: float = Field(description="As measured.")
    launches: float
    blocks: int
    threads: int
    operations: dict[str, float] = Field(description="By class, as counters or the source tell them.")
    bytes: float | None = Field(description="To and from device memory.")
    basis: Basis = Field(description="What tells what limits it.")
    on: dict[str, OnRecord] = Field(description="By the device's key.")


class RankedDeviceRecord(Record):
    """A device: seconds of the whole, speedup over the device of the profile at its usual clock, seconds of kernels by what limits them, and
    what would not carry over.
    """

    device: DeviceRecord
    seconds: RangeRecord
    speedup: RangeRecord
    limiter: str
    limiters: dict[str, float]
    lacking: list[str]


class RankingRecord(Record):
    """Devices for the kernels of a profile, the fastest first; the kernels by their time, the longest first."""

    format: Literal["chathpc-devices/1"] = Field(default="chathpc-devices/1", alias="schema")
    profile: str
    measured_on: DeviceRecord
    likened: str = Field(
        description="What the profile calls that device where it is only taken to be like it, else empty."
    )
    clock: float | None = Field(description="Hz of the multiprocessors while it was measured.")
    seconds: float = Field(description="Of all kernels, as measured.")
    other: float = Field(description="Seconds of the run that no kernel takes, and that are taken to stay.")
    devices: list[RankedDeviceRecord]
    kernels: list[MovedKernelRecord]
    notes: list[str]


def chosen(names: Sequence[str], source: Device) -> tuple[Device, ...]:
    """The devices of names, each once; "all" are the GPUs of the catalogue that the maker of `source` makes: between makers times are rough
    guesses. UsageError for others, and for processors.
    """
    same = [each for each in devices() if each.gpu and each.vendor == (source.vendor or "NVIDIA")]
    found = {each.key: each for name in names for each in (same if name == "all" else (device(name),))}
    if processors := [each.name for each in found.values() if not each.gpu]:
        raise UsageError(f"Kernels do not move to processors: {', '.join(processors)}.", hint="Name GPUs, or all.")
    return tuple(found.values())


def ranking(
    title: str, profile: Profile, kernels: Sequence[Measured], source: Device, targets: Iterable[Device], predictions: Sequence[Prediction] = (),
) -> RankingRecord:  # fmt: skip
    """The answer for the kernels of a profile that was measured on `source`, which is always among the `targets`; `predictions` from source,
    for `source`, tell what kernels do that have no counters.
    """
    wall = wall_seconds(profile)
    gpus = max(len(profile.timeline.devices) if wall and profile.timeline else 1, 1)
    kernels, notes = _with_source(kernels, predictions)
    source, targets = source.usual, [each.usual for each in targets]
    # One GPU, on average: they work beside each other.
    kernels = [replace(each, seconds=each.seconds / gpus, launches=each.launches / gpus) for each in kernels]
    total = sum(each.seconds for each in kernels)
    other = max((wall or 0.0) - total, 0.0)
    found = ranked(kernels, source, {each.key: each for each in (source, *targets)}.values(), other)
    clock = sum(each.clock * each.seconds for each in kernels) / total or None
    told = {
        "profile": title, "measured_on": source, "likened": unlike(profile, source), "clock": clock, "seconds": total, "other": other,
        "devices": found, "kernels": _kernels(kernels, found),
        "notes": [*_notes(kernels, source, clock, wall, other, gpus), *_left_out(profile), *notes],
    }  # fmt: skip
    return RankingRecord.model_validate(told, from_attributes=True)


def _with_source(
    kernels: Sequence[Measured], predictions: Iterable[Prediction]
) -> tuple[Sequence[Measured], list[str]]:
    """The kernels with what their source does, where counters do not tell it and it was predicted for the launch that was measured; what
    could not be used, in sentences.
    """
    known = {base_key(each.kernel): each for each in predictions}
    done, other = [], []
    for each in kernels:
        found = known.get(base_key(each.launch.kernel))
        if each.busy or found is None:
            done.append(each)
        elif abs(found.launch.threads - each.launch.threads) > _ALIKE * each.launch.threads:
            other.append(kernel_title(each.launch.kernel))
            done.append(each)
        else:
            launch = replace(found.launch, kernel=each.launch.kernel)
            totals = {kind: value for kind in CLASSES if (value := found.counts.total(kind))}
            done.append(
                replace(each, launch=launch, counts=found.counts, operations=totals, bytes=found.counts.dram_bytes)
            )
    names = ", ".join(dict.fromkeys(other))
    said = f"Of {names} launches of other shapes were measured than predicted: moved without the source. --args, --grid or --launch choose others."
    return done, [said] if other else []


def _kernels(kernels: Sequence[Measured], found: Sequence[Ranked]) -> list[MovedKernelRecord]:
    by_name: dict[str, list[int]] = {}
    for at, each in enumerate(kernels):
        by_name.setdefault(each.launch.kernel, []).append(at)
    made = []
    for name, places in by_name.items():
        mine = [kernels[at] for at in places]
        operations: dict[str, float] = {}
        for each in mine:
            for kind, value in each.operations.items():
                operations[kind] = operations.get(kind, 0.0) + value * each.launches
        launch = mine[0].launch
        there = {
            one.device.key: {
                "seconds": Range.total([one.kernels[at].seconds for at in places]),
                "limiter": one.kernels[places[0]].limiter,
            }
            for one in found
        }
        told = {
            "kernel": name, "seconds": sum(each.seconds for each in mine), "launches": sum(each.launches for each in mine),
            "blocks": launch.blocks, "threads": launch.threads // max(launch.blocks, 1), "operations": operations,
            "bytes": sum(each.bytes * each.launches for each in mine if each.bytes) or None, "basis": _basis(mine[0]), "on": there,
        }  # fmt: skip
        made.append(MovedKernelRecord.model_validate(told, from_attributes=True))
    return sorted(made, key=lambda each: -each.seconds)


def _basis(each: Measured) -> Basis:
    return "source" if each.counts else "counters" if each.busy else "nothing"


def _left_out(profile: Profile) -> Iterable[str]:
    if names := untimed(profile):
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"Skipped, as the profile has no times for them: {', '.join(names[:3])}{more}."


def _notes(
    kernels: Sequence[Measured], source: Device, clock: float | None, wall: float | None, other: float, gpus: int
) -> Iterable[str]:
    total = sum(each.seconds for each in kernels)
    if clock and abs(clock / source.clock - 1) > _SAME_CLOCK:
        locked = ", which Nsight Compute locks" if clock < source.clock else ", more than is usual"
        yield (
            f"Measured at {clock / 1e9:.2f} GHz{locked}; compared is with {source.name} at its usual {source.clock / 1e9:.2f} GHz."
        )
    if gpus > 1:
        yield f"Times are those of one of the {gpus} GPUs, on average."
    if wall is None:
        yield "The profile does not tell how long the host took: these are times of kernels alone."
    elif other:
        yield f"{numbers.seconds(other)} of the run no kernel takes that computes (host, copies, communication, waiting): taken to stay."
    unknown = [each for each in kernels if _basis(each) == "nothing"]
    if unknown:
        names = list(dict.fromkeys(kernel_title(each.launch.kernel, 30) for each in unknown))
        share = numbers.percent(sum(each.seconds for each in unknown) / total)
        what = f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
        yield (
            f"No counters and no source of these launches tell what limits {what} ({share} of the kernels' time): taken to move like the mean of clock, "
            "instruction issue, single precision, L2 and memory; bounds are the extremes of these. Better: ncu --set full, or give the source."
        )
    yield "Not known: whether all the memory that the program allocates fits, and whether a larger L2 keeps more."
