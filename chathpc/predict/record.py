"""A prediction as a record with a stable form: the schema chathpc-prediction/1 (docs/prediction-schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from chathpc.predict.roofline import change
from chathpc.profile import numbers
from chathpc.report import Record

if TYPE_CHECKING:
    from chathpc.predict.prediction import Prediction

#: Classes of operations and limits of the time, in words.
KINDS = {
    "fp32": "FP32", "fp64": "FP64", "fp16": "FP16", "integer": "integer", "tensor": "tensor", "special": "special functions",
    "conversion": "conversions",
}  # fmt: skip
LIMITS = {
    "memory": "device memory", "l2": "the L2 cache", "l1": "L1 and shared memory", "issue": "instruction issue",
    "core": "the cores", "branches": "mispredicted branches", "caches": "the caches", "launch": "the launch",
    "latency": "waiting (latency)", "atomic": "atomics", "atomics": "atomics", "mapped": "host memory over PCIe",
}  # fmt: skip
#: What shortens a limit, where its name does not say it.
_LESS = {
    "l2": "It would take less time with fewer sectors: neighbouring threads at neighbouring addresses, tiles in shared memory.",
    "issue": "It would take less time with fewer instructions.",
    "latency": "It would take less time with more to do while it waits: more warps, or several independent elements a thread.",
    "fp64": "It would take less time in single precision, where that is exact enough.",
    "atomic": "It would take less time with fewer atomics at the same addresses: combine in registers or shared memory first (a private copy a block).",
}
#: By how many times the average a warp is long for itself, and passes are more than what is asked for needs.
_LONE = 2.0
#: A part of the instructions that it pays to make fewer.
_MUCH = 0.1
_SECTOR = 32.0


class RangeRecord(Record):
    """A value with the bounds that hold it in about four of five cases."""

    value: float
    low: float
    high: float | None = Field(description="None: at least `low`, and nothing bounds it above.")

    @field_validator("high", mode="before")
    @classmethod
    def _finite(cls, high: float | None) -> float | None:
        return None if high == inf else high


class DeviceRecord(Record):
    """The device that is predicted for: SI units; `peaks` are operations per second by class, each taken for half of a multiply-add."""

    key: str
    name: str
    architecture: str
    units: int = Field(description="Multiprocessors, compute units or cores.")
    clock: float = Field(description="Hz.")
    bandwidth: float = Field(description="Bytes per second of device memory.")
    peaks: dict[str, float]
    source: str


class LaunchRecord(Record):
    """How the kernel is launched. `arguments`: the bytes of each parameter in hexadecimal."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = Field(description="Bytes of shared memory of a block.")
    registers: int
    local: int = Field(description="Bytes of a thread's own memory.")
    occurrence: int = Field(description="Which launch of the kernel, from 0.")
    arguments: list[str]


class RoofRecord(Record):
    """A class of operations against the memory; intensity and balance point in operations per byte of device memory."""

    kind: str
    operations: RangeRecord
    intensity: float
    balance: float
    of_peak: float = Field(description="Predicted rate as a part (0..1) of the class's peak.")


class BytesRecord(Record):
    """Bytes of the launch: as threads ask for them, in sectors of 32, distinct ones, and those that reach device memory."""

    requested: dict[str, float]
    requests: dict[str, float] = Field(description="Instructions of warps by space and way.")
    sectors: dict[str, float] = Field(description="Sectors of 32 bytes; of shared memory passes.")
    footprint_read: float
    footprint_written: float
    memory_read: RangeRecord
    memory_written: RangeRecord


class TimeRecord(Record):
    """Seconds, what each limit alone would take, and how the launch fills the device."""

    seconds: RangeRecord
    limiter: str
    parts: dict[str, float]
    blocks: int = Field(description="Blocks that a multiprocessor holds at once in this launch.")
    warps: int
    occupancy: float = Field(description="Warps there, of those that a multiprocessor can hold (0..1).")
    occupancy_limiter: str
    waves: float = Field(description="By how often the grid fills the device.")


class LineRecord(Record):
    """A source line with its share (0..1) of the instructions that threads execute."""

    file: str
    line: int
    share: float
    text: str


class KernelRecord(Record):
    """One launch. `bound` is its class by the roofline model, right with `probability`; `limiter` what takes longest at its peak."""

    kernel: str
    mangled: str
    headline: str
    bound: Literal["bandwidth", "compute"]
    probability: float
    limiter: str
    launch: LaunchRecord
    operations: dict[str, RangeRecord]
    issued: dict[str, float] = Field(description="Instructions of warps by pipe.")
    roofs: list[RoofRecord]
    bytes: BytesRecord
    time: TimeRecord
    lines: list[LineRecord]
    change: list[str] = Field(
        description="What would take less of the time's limiter, and what would change the class, in sentences."
    )
    assumptions: list[str]
    followed: float = Field(description="Part (0..1) of the blocks that were followed.")


class PredictionRecord(Record):
    """What kernels of a program will do on a device, the longest first. Nothing in it was measured."""

    format: Literal["chathpc-prediction/1"] = Field(default="chathpc-prediction/1", alias="schema")
    program: str
    device: DeviceRecord
    compiled_for: str
    tools: dict[str, str]
    kernels: list[KernelRecord]


def record(program: str, found: Sequence[Prediction]) -> PredictionRecord:
    """The record of a program's predictions, of which there is one at least; all are for one device."""
    first = found[0]
    told = {
        "program": program, "device": first.device, "compiled_for": first.architecture, "tools": first.tools,
        "kernels": [_kernel(each) for each in found],
    }  # fmt: skip
    return PredictionRecord.model_validate(told, from_attributes=True)


def _kernel(found: Prediction) -> KernelRecord:
    counts, roofline, time = found.counts, found.roofline, found.time
    held = time.occupancy
    told = {
        "kernel": found.kernel, "mangled": found.mangled, "headline": _headline(found), "bound": roofline.bound,
        "probability": roofline.probability, "limiter": roofline.limiter, "launch": found.launch, "operations": counts.operations,
        "issued": counts.issued, "lines": found.lines, "change": [each for each in (_less(found), _fuller(found), change(roofline)) if each],
        "assumptions": found.assumptions, "followed": counts.emulated,
        "roofs": [
            {
                "kind": roof.kind, "operations": roof.operations, "intensity": roof.intensity, "balance": roof.balance,
                "of_peak": roof.seconds / time.seconds.value,
            }
            for roof in roofline.roofs
        ],
        "bytes": {
            "requested": counts.requested, "requests": counts.requests, "sectors": counts.sectors, "footprint_read": counts.footprint_read,
            "footprint_written": counts.footprint_written, "memory_read": counts.dram_read, "memory_written": counts.dram_written,
        },
        "time": {
            "seconds": time.seconds, "limiter": time.limiter, "parts": time.parts, "blocks": held.blocks, "warps": held.warps,
            "occupancy": held.share, "occupancy_limiter": held.limiter, "waves": held.waves,
        },
    }  # fmt: skip
    return KernelRecord.model_validate(told, from_attributes=True)


def _headline(found: Prediction) -> str:
    """The verdict in one sentence."""
    roofline, time = found.roofline, found.time
    by = "" if roofline.bound == "bandwidth" else f"{KINDS.get(roofline.limiter, roofline.limiter)} arithmetic, "
    return (
        f"{found.kernel} on {found.device.name}: {numbers.ranged(time.seconds.value, time.seconds.low, time.seconds.high, numbers.seconds)}, "
        f"most of it for {limit(time.limiter)}; {roofline.bound}-bound by the roofline ({by}{likely(roofline.probability)} likely)."
    )


def _less(found: Prediction) -> str:
    """What would shorten what limits the time, other than the roofline says; empty where nothing is known."""
    counts, limiter = found.counts, found.time.limiter
    places = min(found.time.occupancy.warps * found.device.units, counts.warps)
    average = sum(counts.issued.values()) / (counts.warps or 1.0)
    # Of a launch that was cut off the longest warp is that which was seen longest.
    lone = limiter == "latency" and not counts.open and places
    if lone and counts.longest > average * max(counts.warps / places, _LONE):
        return (
            f"The longest warp has {numbers.number(counts.longest / average)}x the instructions of the average one, and the others do not fill "
            "its time: share its work among more threads and blocks."
        )
    asked, touched = (
        sum(each.get(f"global {way}", 0.0) for way in ("load", "store")) for each in (counts.requested, counts.sectors)
    )
    used = asked / (_SECTOR * touched or 1.0)
    if limiter in ("memory", "l2") and 0 < used < 1 / _LONE:
        return f"It would take less time if more than {numbers.percent(used)} of the sectors were used: neighbouring threads at neighbouring addresses."
    if limiter == "issue" and counts.issued.get("memory", 0.0) >= _MUCH * sum(counts.issued.values()):
        return f"{_LESS[limiter][:-1]}: wider loads and stores, less arithmetic for addresses."
    near = {name: value for name, value in counts.passes.items() if name != "global atomic"}
    if limiter != "l1" or not near:
        return _LESS.get(limiter, "")
    most = max(near, key=lambda name: near[name])
    # What threads ask for needs a pass for each 128 bytes, and each request one.
    times = near[most] / max(counts.requests.get(most, 0.0), counts.requested.get(most, 0.0) / 128, 1.0)
    apart = "avoid bank conflicts (pad the array, or let neighbours take neighbouring words)"
    far = "let neighbouring threads take neighbouring addresses"
    near_by = "keep values in registers and use each several times"
    many = "" if times < _LONE else f" ({numbers.number(times)} where 1 is possible)"
    what = near_by if times < _LONE else apart if most.startswith("shared") else far
    return f"It would take less time with fewer passes, most of which are for {most}s{many}: {what}."


def _fuller(found: Prediction) -> str:
    """What would give all multiprocessors work, where the grid has too few blocks for that."""
    launch, device = found.launch, found.device
    if not device.gpu or launch.blocks >= device.units or launch.threads <= launch.blocks * device.warp:
        return ""
    return f"Of {device.units} multiprocessors {device.units - launch.blocks} have no block: smaller blocks, and more of them, would use them."


def likely(probability: float) -> str:
    """A probability in whole percent, never certainty."""
    return f"{min(max(round(100 * probability), 1), 99)} %"


def limit(name: str) -> str:
    """What limits the time, in words."""
    return LIMITS.get(name) or f"{KINDS.get(name, name)} instructions"
