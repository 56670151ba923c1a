"""Time of a kernel from what it does, how it is launched and what the device can do.

Several limits, each a time: moving bytes (device memory, L2, L1, shared memory), beginning instructions (schedulers, each pipe), and
waiting (latencies of the warps that can be resident, the longest warp's way). The kernel takes somewhat more than the longest of them,
and a constant for its launch. The few constants were fitted to development kernels of the public labels: kernel_time.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import ceil, inf
from typing import Any

from chathpc.errors import UsageError
from chathpc.packaged import table
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import Device
from chathpc.predict.warp_chain import Chain

__all__ = ["KEPT", "Occupancy", "Time", "combined", "constants", "limits", "occupancy", "predict_time"]

#: Allocation of registers: so many to a warp at a time (CUDA occupancy calculator, every architecture since Kepler).
_REGISTER_UNIT = 256
#: Shared memory that each block loses to the system since compute capability 8.0 (CUDA programming guide), in bytes.
_RESERVED_SHARED = 1024
_SECTOR = 32.0
#: A cache keeps what takes less than this part of it, beside what else there is.
KEPT = 0.8
#: A kernel whose limits take less is about as long as its launch, in seconds.
_BRIEF = 3e-6
#: Counts that may be off by more than this factor were cut off before their end.
_GUESSED = 3.0
#: Device whose times the constants were fitted to.
_FITTED_ON = "rtx3080"
#: Pipes with a constant of their own.
_PIPES = ("fp32", "fp64", "integer", "fp16", "special")


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks and warps that a multiprocessor holds at once, `limiter`: what allows no more (blocks, warps, registers, shared memory,
    grid), and `waves`: by how often the grid fills the device.
    """

    blocks: int
    warps: int
    share: float
    limiter: str
    waves: float


@dataclass(frozen=True, slots=True)
class Time:
    """`seconds` with its bounds for four of five cases; `parts`: each limit's seconds; `limiter`: the longest's name."""

    seconds: Range
    limiter: str
    parts: Mapping[str, float]
    occupancy: Occupancy


def occupancy(launch: Launch, device: Device) -> Occupancy:
    """How many blocks are resident (CUDA programming guide, "Multiprocessor level")."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    warps = max(ceil(threads / device.warp), 1)
    rows = {"blocks": float(device.max_blocks), "warps": device.max_warps // warps}
    if launch.registers:
        each = ceil(launch.registers * device.warp / _REGISTER_UNIT) * _REGISTER_UNIT
        # Warps are spread over the schedulers, each with its part of the registers.
        rows["registers"] = device.registers // device.schedulers // each * device.schedulers // warps
    if launch.shared and device.shared:
        rows["shared memory"] = device.shared // (launch.shared + _RESERVED_SHARED)
    limiter = min(rows, key=lambda name: rows[name])
    most = max(int(rows[limiter]), 1)
    blocks = min(most, max(ceil(launch.blocks / device.units), 1))
    share, waves = min(blocks * warps / device.max_warps, 1.0), launch.blocks / (device.units * most)
    return Occupancy(blocks, blocks * warps, share, limiter if blocks == most else "grid", waves)


def limits(
    counts: Counts,
    launch: Launch,
    device: Device,
    chain: Chain | None = None,
    fitted: Mapping[str, float] | None = None,
) -> Mapping[str, float]:
    """Seconds of each limit, without the launch. `chain`: waits of the warps as machine code tells them; without it latency is no limit."""
    k = fitted or constants()
    held = occupancy(launch, device)
    units, clock, blocks = device.units, device.clock, max(launch.blocks, 1)
    warps = counts.warps or blocks * ceil(launch.threads / blocks / device.warp)
    per_block = warps / blocks
    # The fullest multiprocessor's share, by that of the average; and schedulers without a warp.
    uneven = units * ceil(blocks / units) / blocks
    here = held.blocks * per_block
    slow = uneven * max(device.schedulers / here, 1.0)
    second = units * clock
    # Resident threads go through their own memory again and again: a cache keeps nothing of what it cannot keep all of, also where a launch was
    # not followed for so long.
    own = here * device.warp * launch.local
    spilled = _SECTOR * sum(value for name, value in counts.sectors.items() if "local" in name)
    moved = max(counts.dram_bytes, spilled) if own * units > KEPT * device.l2 > 0 else counts.dram_bytes
    parts = {"memory": moved / (device.bandwidth * k["memory"])}
    touched = sum(value for name, value in counts.sectors.items() if "shared" not in name) * _SECTOR
    # The share of the touched sectors that L1 does not hold: between what leaves L2 and all of them.
    missed = min(moved / touched, 1.0) ** k["l1_misses"] if touched else 1.0
    beyond = spilled if device.l1 and own > KEPT * (device.l1 - here / per_block * launch.shared) else 0.0
    parts["l2"] = max(touched * missed, beyond) / (device.l2_rate * clock * k["l2"])
    atomics = counts.passes.get("global atomic", 0.0)
    each = device.warp / device.load_store
    near = {
        name: max(value, counts.instructions.get(name, 0.0) * each) for name, value in counts.passes.items() if value
    }
    parts["l1"] = (sum(near.values()) - near.get("global atomic", 0.0)) / (second * k["l1"]) * uneven
    issued = sum(counts.issued.values())
    parts["issue"] = issued / (device.schedulers * second * k["issue"]) * slow
    for name, value in counts.issued.items():
        if name in _PIPES and device.rates.get(name):
            parts[name] = value * device.warp / (device.rates[name] * second * k[name]) * slow
    if counts.total("tensor") and device.peak("tensor"):
        parts["tensor"] = counts.total("tensor") / (device.peak("tensor") * k["fp32"]) * slow
    if atomics:
        # Those at one sector come one after another; a slice of L2 does one at a time.
        busiest = max(counts.most_atomics, atomics * _SECTOR / device.l2_rate)
        parts["atomic"] = busiest * k["atomic"] / clock
    if chain is not None:
        alone = _alone(counts, warps, chain, missed, k)
        resident = min(here * units, warps)
        longest = alone * max(counts.longest * warps / issued, 1.0) if issued else alone
        # Warps one after another on as many places as there are, and never less than the longest.
        parts["latency"] = max(alone * warps / resident, longest) * k["latency"] / clock
    return parts


def _alone(counts: Counts, warps: float, chain: Chain, missed: float, k: Mapping[str, float]) -> float:
    """Cycles of an average warp that is alone on its multiprocessor."""
    loads = counts.sectors.get("global load", 0.0)
    far = min(counts.dram_read.value / (loads * _SECTOR), 1.0) if loads else 1.0
    # A request waits for the slowest of its sectors.
    each = max(loads / counts.requests["global load"], 1.0) if counts.requests.get("global load") else 1.0
    remote = (
        k["l1_latency"]
        + min(missed * each, 1.0) * (k["l2_latency"] - k["l1_latency"])
        + min(far * each, 1.0) * (k["memory_latency"] - k["l2_latency"])
    )
    known = {"global": remote, "atomic": k["l2_latency"], "local": k["l1_latency"], "shared": k["shared_latency"]}
    rest = sum(value * known.get(name, k["other_latency"]) for name, value in chain.waits.items())
    return (chain.cycles + rest) / warps


def predict_time(counts: Counts, launch: Launch, device: Device, chain: Chain | None = None) -> Time:
    """The time of a launch on a device, in seconds. UsageError if the device is no GPU: a processor has no blocks."""
    if not device.gpu:
        raise UsageError(
            f"Times of kernels are predicted for GPUs, and {device.name} is none.",
            hint="Its roofline is there: peaks and balance points.",
        )
    k = constants()
    parts = limits(counts, launch, device, chain)
    limiter = max(parts, key=lambda name: parts[name])
    seconds = combined(parts, k)
    low, high = intervals()[error_group(parts[limiter], limiter, counts)]
    if counts.open:
        low, high = intervals()[error_group(parts[limiter], limiter, replace(counts, operations={}))][0], inf
    wider = 1.0 if device.key == _FITTED_ON else _fitted()["elsewhere"]
    least = max(seconds * low / wider, min(_least(counts, device), seconds))
    return Time(Range(seconds, least, seconds * high * wider), limiter, parts, occupancy(launch, device))


def _least(counts: Counts, device: Device) -> float:
    """Seconds that no execution beats: the bytes at the memory's peak, operations and passes of L1 at that of the highest clock; of all the
    least.
    """
    highest = max(device.boost, device.clock)
    computing = ("fp32", "fp64", "fp16", "tensor", "integer")
    peaks = [(counts.operations.get(kind), device.peak(kind) * highest / device.clock) for kind in computing]
    moved = (counts.dram_read.low + counts.dram_written.low) / device.bandwidth
    passes = sum(value for name, value in counts.passes.items() if name != "global atomic")
    sure = min((each.low / each.value for each in counts.operations.values() if each.value), default=1.0)
    computed = (found.low / peak for found, peak in peaks if found and peak)
    return max([moved, passes * sure / (device.units * highest), *computed])


def error_group(seconds: float, limiter: str, counts: Counts) -> str:
    """Whose errors are alike: by what limits, and by how much of the launch was followed."""
    known = counts.operations.get("integer")
    if known and known.value and known.high / known.value > _GUESSED:
        return "cut"
    if seconds < _BRIEF:
        return "launch"
    named = limiter if limiter in {"memory", "latency", "atomic"} else "pipes"
    return named if named == "atomic" or counts.emulated >= 1 else f"{named}, sampled"


def combined(parts: Mapping[str, float], k: Mapping[str, float]) -> float:
    """Seconds of the whole: limits overlap, but not fully (a power mean, as in Hong and Kim's and later models), and the launch."""
    power = k["overlap"]
    whole = max(parts.values())
    return float(
        whole * sum((part / whole) ** power for part in parts.values() if part > 0) ** (1 / power) + k["launch"]
    )


def constants() -> Mapping[str, float]:
    """The fitted constants of the physical model: seconds, cycles, shares of peaks."""
    return _fitted()["constants"]  # type: ignore[no-any-return]


def intervals() -> Mapping[str, tuple[float, float]]:
    """Factors around a time that hold four of five, by the group of errors."""
    return _fitted()["intervals"]  # type: ignore[no-any-return]


@cache
def _fitted() -> Mapping[str, Any]:
    return table("chathpc.predict", "kernel_time.yaml")  # type: ignore[no-any-return]
