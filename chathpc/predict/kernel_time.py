"""Time of a kernel from what it does, how it is launched and what the device can do.

Several limits, each a time: moving bytes (device memory, L2, L1, shared memory), beginning instructions (schedulers, each pipe), and
waiting (latencies of the warps that can be resident, the longest warp's way). The kernel takes somewhat more than the longest of them,
and a constant for its launch. The few constants were fitted to development kernels of the public labels: kernel_time.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil, log
from typing import Any

from chathpc.packaged import table
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.devices import Device
from chathpc.predict.warp_chain import Chain

__all__ = ["Occupancy", "Time", "correction_features", "limits", "occupancy", "predict_time"]

#: Allocation of registers: so many to a warp at a time (CUDA occupancy calculator, every architecture since Kepler).
_REGISTER_UNIT = 256
#: Shared memory that each block loses to the system since compute capability 8.0 (CUDA programming guide), in bytes.
_RESERVED_SHARED = 1024
_SECTOR = 32.0


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks and warps that a multiprocessor can hold at once, `limiter`: what allows no more (blocks, warps, registers, shared memory,
    grid), and `waves`: by how often the grid fills the device.
    """

    blocks: int
    warps: int
    share: float
    limiter: str
    waves: float


@dataclass(frozen=True, slots=True)
class Time:
    """`seconds` with its bounds for four of five cases; `parts`: each limit's seconds; `limiter`: the longest's name; `physical`: the
    seconds without the learned correction.
    """

    seconds: Range
    limiter: str
    parts: Mapping[str, float]
    occupancy: Occupancy
    physical: float
    device: str


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
    blocks = max(int(rows[limiter]), 1)
    if launch.blocks <= device.units * (blocks - 1):
        limiter = "grid"
    return Occupancy(
        blocks,
        blocks * warps,
        min(blocks * warps / device.max_warps, 1.0),
        limiter,
        launch.blocks / (device.units * blocks),
    )


def limits(
    counts: Counts,
    launch: Launch,
    device: Device,
    chain: Chain | None = None,
    fitted: Mapping[str, float] | None = None,
) -> Mapping[str, float]:
    """Seconds of each limit, without the launch. `chain`: waits of the warps where machine code told them, else they are estimated."""
    k = fitted or _fitted()["constants"]
    held = occupancy(launch, device)
    units, clock, blocks = device.units, device.clock, max(launch.blocks, 1)
    warps = counts.warps or blocks * ceil(launch.threads / blocks / device.warp)
    per_block = warps / blocks
    # The fullest multiprocessor's share, by that of the average; and schedulers without a warp.
    uneven = units * ceil(blocks / units) / blocks
    here = min(held.blocks, ceil(blocks / units)) * per_block
    slow = uneven * max(device.schedulers / here, 1.0)
    second = units * clock
    parts = {"memory": counts.dram_bytes / (device.bandwidth * k["memory"])}
    touched = sum(value for name, value in counts.sectors.items() if "shared" not in name) * _SECTOR
    # Between what leaves L2 and what threads touch lies what L1 did not hold.
    through = (
        max(touched, 1.0) ** k["l1_misses"] * max(counts.dram_bytes, 1.0) ** (1 - k["l1_misses"]) if touched else 0.0
    )
    parts["l2"] = through / (device.l2_rate * clock * k["l2"])
    requests = sum(value for name, value in counts.requests.items() if "shared" not in name)
    wavefronts = max(requests, touched / 128)
    passes = sum(value for name, value in counts.sectors.items() if "shared" in name)
    parts["l1"] = (wavefronts + passes) / (second * k["l1"]) * uneven
    issued = sum(counts.issued.values())
    parts["issue"] = issued / (device.schedulers * second * k["issue"]) * slow
    for name, value in counts.issued.items():
        rate = device.rates.get(name, 0.0)
        if rate and name != "tensor":
            parts[name] = value * device.warp / (rate * second * k["pipe"]) * slow
    if counts.total("tensor") and device.peak("tensor"):
        parts["tensor"] = counts.total("tensor") / (device.peak("tensor") * k["pipe"]) * slow
    alone = _alone(counts, warps, chain, k)
    resident = min(here * units, warps)
    longest = alone * max(counts.longest * warps / issued, 1.0) if issued else alone
    # Warps one after another on as many places as there are, and never less than the longest.
    parts["latency"] = max(alone * warps / resident, longest) * k["latency"] / clock
    return parts


def _alone(counts: Counts, warps: float, chain: Chain | None, k: Mapping[str, float]) -> float:
    """Cycles of an average warp that is alone on its multiprocessor."""
    loads = counts.sectors.get("global load", 0.0) * _SECTOR
    missing = min(counts.dram_read.value / loads, 1.0) if loads else 1.0
    remote = k["l2_latency"] + missing * (k["memory_latency"] - k["l2_latency"])
    if chain is not None:
        known = {
            "global": remote,
            "atomic": k["memory_latency"],
            "local": k["l1_latency"],
            "shared": k["shared_latency"],
        }
        rest = sum(value * known.get(name, k["other_latency"]) for name, value in chain.waits.items())
        return (chain.cycles + rest) / warps
    near = sum(value for name, value in counts.requests.items() if "shared" in name or "local" in name)
    far = sum(value for name, value in counts.requests.items() if "load" in name or "atomic" in name) - near
    return (
        sum(counts.issued.values()) * k["step"] + counts.issued.get("special", 0.0) * k["other_latency"]
        + near * k["shared_latency"] + max(far, 0.0) * remote / k["together"] + counts.barriers * k["other_latency"]
    ) / warps  # fmt: skip


def correction_features(
    parts: Mapping[str, float], held: Occupancy, counts: Counts, launch: Launch
) -> tuple[float, ...]:
    """What the learned correction looks at: how near each limit is to the whole, and how the launch fills the device (logarithms)."""
    whole = max(parts.values())
    near = [log(max(parts.get(name, 0.0) / whole, 1e-3)) for name in _PARTS]
    requests = sum(value for name, value in counts.requests.items() if "global" in name)
    sectors = sum(value for name, value in counts.sectors.items() if "global" in name)
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    return (
        *near, log(whole * 1e6 + 1), log(max(held.waves, 1e-3)), log(held.warps), log(threads),
        log(max(sectors, 1.0) / max(requests, 1.0)), log(max(counts.longest, 1.0)),
    )  # fmt: skip


#: Limits whose nearness the correction looks at.
_PARTS = ("memory", "l2", "l1", "issue", "integer", "fp32", "fp64", "special", "latency")


def predict_time(counts: Counts, launch: Launch, device: Device, chain: Chain | None = None) -> Time:
    """The time of a launch on a device, in seconds."""
    found = _fitted()
    parts = limits(counts, launch, device, chain)
    held = occupancy(launch, device)
    physical = combined(parts, found["constants"])
    return Time(
        Range(physical, physical, physical),
        max(parts, key=lambda name: parts[name]),
        parts,
        held,
        physical,
        device.name,
    )


def combined(parts: Mapping[str, float], k: Mapping[str, float]) -> float:
    """Seconds of the whole: limits overlap, but not fully (a power mean, as in Hong and Kim's and later models), and the launch."""
    power = k["overlap"]
    whole = max(parts.values())
    return float(
        whole * sum((part / whole) ** power for part in parts.values() if part > 0) ** (1 / power) + k["launch"]
    )


@cache
def _fitted() -> Mapping[str, Any]:
    found: Mapping[str, Any] = table("chathpc.predict", "kernel_time.yaml")
    return found
