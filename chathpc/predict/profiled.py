"""What a profile tells of kernels: which there are, how they are launched, how long they took, and what counters counted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from chathpc.adapters.load import load
from chathpc.diagnosis.device import Kernel, kernels
from chathpc.errors import UsageError
from chathpc.predict import devices
from chathpc.predict.across import Measured
from chathpc.predict.counts import Launch
from chathpc.predict.prediction import Prediction
from chathpc.predict.program import Asked
from chathpc.profile import numbers
from chathpc.profile.kernel_names import base_key, kernel_key
from chathpc.profile.profile import Profile

_COLLECT = "Collect it: nsys profile ./app"


@dataclass(frozen=True, slots=True)
class Profiled:
    """A kernel of a profile; `blocks` and `threads` of a block are 0 where it does not tell them; `seconds` of a launch on average."""

    kernel: str
    blocks: int
    threads: int
    seconds: float

    def asked(self, asked: Asked) -> Asked:
        """What is to be predicted, with what the user did not say taken from the profile: profiles tell how many blocks and threads
        there are, not how they are laid out, so they are taken along x, and hold for a kernel without a main alone.
        """
        return replace(
            asked,
            kernel=asked.kernel or kernel_key(self.kernel),
            alone_grid=(self.blocks, 1, 1) if self.blocks else None,
            alone_block=(self.threads, 1, 1) if self.threads else None,
        )

    def beside(self, found: Prediction) -> Prediction:
        """The prediction with what the profile measured, and whether its launch is that of the profile."""
        said = [f"In the profile a launch takes {numbers.seconds(self.seconds)} on average."] if self.seconds else []
        threads = found.launch.threads // max(found.launch.blocks, 1)
        if (self.blocks and self.blocks != found.launch.blocks) or (self.threads and self.threads != threads):
            said.append(
                f"In the profile it has {self.blocks:,} blocks of {self.threads:,} threads; this launch has {found.launch.blocks:,} of {threads:,}: "
                "give the same arguments (--args), or name the launch (--grid, --launch)."
            )
        return replace(found, assumptions=(*found.assumptions, *said))


def _communicates(kernel: Kernel) -> bool:
    return _COMMUNICATES.match(base_key(kernel.name)) is not None


def _is(kernel: Kernel, name: str) -> bool:
    return kernel_key(kernel.name) == kernel_key(name) or base_key(kernel.name) == base_key(name)


def profiled(path: Path, kernel: str | None) -> Profiled:
    """The kernel of that name in a profile, the longest without a name. Errors: AdapterError, UsageError if it has no such kernel."""
    profile = load(path)
    found = kernels(profile)
    wanted = [each for each in found if kernel is None or _is(each, kernel)]
    if not wanted:
        names = ", ".join(f"'{each.short}'" for each in found[:8])
        what = f"no kernel {kernel}" if found else "no kernels"
        raise UsageError(f"{path} has {what}.", hint=f"It has: {names}." if names else _COLLECT)
    first = wanted[0]

    def told(metric: str) -> int:
        value = profile.exclusive(metric).at(first.top) if profile.has(metric) else None
        return round(value) if value else 0

    each = first.seconds / first.launches if first.launches else 0.0
    return Profiled(first.name, told("gpu.kernel.blocks"), told("gpu.kernel.threads-per-block"), each)


#: Kernels that wait for other devices and links, not for this one.
_COMMUNICATES = re.compile(r"(nccl|rccl|nvshmem|msccl)")
#: Limits, and the counters that tell their use, in percent: of the whole time, or of that in which multiprocessors were active.
_USE: Mapping[str, tuple[str, bool]] = {
    "memory": ("dram-throughput", False), "l2": ("l2-throughput", False), "l1": ("l1-throughput", True), "issue": ("issue-active", True),
    "fp32": ("pipe.fma", True), "fp64": ("pipe.fp64", True), "fp16": ("pipe.fp16", True), "integer": ("pipe.alu", True),
    "special": ("pipe.xu", True), "tensor": ("pipe.tensor", True),
}  # fmt: skip


def measured(profile: Profile, only: str | None = None) -> tuple[Measured, ...]:
    """Every kernel of a profile, or the one of a name, at each of its launch shapes, the longest first; those without a time, and
    those that communicate, are left out. UsageError if there is none.
    """
    shapes: dict[Launch, list[Measured]] = {}
    for kernel in kernels(profile):
        if _communicates(kernel) or (only is not None and not _is(kernel, only)):
            continue
        for node in kernel.nodes.tolist():
            told = {
                name: profile.exclusive(name).at(node) for name in profile.metrics if name.startswith("gpu.kernel.")
            }
            found = _measured(kernel.name, {name: value for name, value in told.items() if value})
            if found is not None:
                shapes.setdefault(found.launch, []).append(found)
    if not shapes:
        raise UsageError(f"The profile has no times of {only or 'kernels'}.", hint=_COLLECT)
    return tuple(sorted(map(_together, shapes.values()), key=lambda each: -each.seconds))


def _measured(name: str, told: Mapping[str, float]) -> Measured | None:
    """A node of the tree by its counters that are not zero."""

    def value(metric: str) -> float:
        return told.get(f"gpu.kernel.{metric}", 0.0)

    if not value("time"):
        return None
    whole = [round(value(each)) for each in ("blocks", "threads-per-block", "shared-memory-per-block", "registers")]
    blocks, threads, shared, registers = whole
    active = value("active") / 100 or 1.0
    busy = {limit: value(metric) / 100 * (active if part else 1.0) for limit, (metric, part) in _USE.items()}
    if not any(busy[limit] for limit in busy if limit not in ("memory", "l2", "l1")):
        # Nothing of the pipes: the busiest part of the multiprocessors, whatever it is.
        busy["issue"] = value("sm-throughput") / 100
    launches = value("count") or 1.0
    each = value("time") / launches
    rates = {kind: value(f"flops.{kind}") for kind in ("fp16", "fp32", "fp64", "tensor")}
    return Measured(
        value("time"), launches, Launch(name, (blocks, 1, 1), (threads, 1, 1), shared, registers),
        busy={limit: min(share, 1.0) for limit, share in busy.items() if share},
        operations={kind: rate * each for kind, rate in rates.items() if rate},
        bytes=value("dram-rate") * each or None, clock=value("clock"),
    )  # fmt: skip


def _together(same: Sequence[Measured]) -> Measured:
    """Launches of one shape at several places as one: counters weighed by time."""
    seconds = sum(each.seconds for each in same)

    def mean(maps: Sequence[Mapping[str, float]]) -> dict[str, float]:
        names = dict.fromkeys(name for each in maps for name in each)
        return {
            name: sum(found.get(name, 0.0) * each.seconds for found, each in zip(maps, same, strict=True)) / seconds
            for name in names
        }

    read = mean([{"bytes": each.bytes or 0.0, "clock": each.clock} for each in same])
    return replace(
        same[0], seconds=seconds, launches=sum(each.launches for each in same), busy=mean([each.busy for each in same]),
        operations=mean([each.operations for each in same]), bytes=read["bytes"] or None, clock=read["clock"],
    )  # fmt: skip


def device_of(profile: Profile, named: str | None) -> devices.Device:
    """The device that a profile was measured on: `named` by the user, else by the name that the profile has, else by what it tells of it.
    UsageError if that is not enough, or if there are several kinds.
    """
    if named is not None:
        return devices.device(named)
    kinds = {each.name: each for each in profile.devices.values()}
    if len(kinds) != 1:
        what = f"was measured on {' and '.join(kinds)}" if kinds else "does not tell which GPU it was measured on"
        raise UsageError(f"The profile {what}.", hint="Say it, for example --device a100")
    (found,) = kinds.values()
    if (named_so := devices.known_as(found.name)) is not None:
        return named_so
    if found.multiprocessors and found.clock and found.bandwidth and found.capability:
        with suppress(UsageError):
            return devices.told(
                found.name, found.capability, found.multiprocessors, found.clock, found.bandwidth, found.memory or 0.0
            )
    raise UsageError(
        f"The profile was measured on {found.name!r}, which is no name of the catalogue.",
        hint=f"Name what it is like, or a YAML file that describes it: --device {' or '.join(_alike(found.name, found.capability))}",
    )


def _alike(name: str, capability: str) -> list[str]:
    """Devices of that compute capability, or of the nearest that there is; where it is none, the GPUs whose key is in the name, else its
    maker's, else all.
    """
    every, digits = [each for each in devices.devices() if each.gpu], capability.replace(".", "")
    if digits.isdecimal():
        away = {
            each.key: abs(int(each.architecture[3:]) - int(digits))
            for each in every
            if each.architecture.startswith("sm_")
        }
        return [key for key in away if away[key] == min(away.values())]
    named = [each for each in every if each.key in name.lower().replace(" ", "")]
    made = [each for each in every if each.vendor == name.partition(" ")[0]]
    return [each.key for each in named or made or every]


def unlike(profile: Profile, source: devices.Device) -> str:
    """What the profile calls the GPU where the user says that it is like `source`; empty where that is its own name, or it tells none."""
    names = dict.fromkeys(each.name for each in profile.devices.values())
    return " and ".join(name for name in names if source.name != name and devices.known_as(name) != source)


def untimed(profile: Profile) -> list[str]:
    """Kernels that compute and whose time the profile does not tell."""
    return [each.short for each in kernels(profile) if not each.seconds > 0 and not _communicates(each)]
