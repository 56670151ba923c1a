"""The GPU kernels of a profile that have counters, each with what these say of it: the view that the rules about counters share.

What was not collected is None here, never zero. Percentages above 100 come from counting in several passes and count as
100 (NVIDIA Nsight Compute, Kernel Profiling Guide: range and precision).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.catalogue.entry import NextMeasurement
from chathpc.diagnosis.device import Kernel, kernel_place
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gpu_tools import fitted
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.stall_samples import Hot, hottest, sampled_stalls, warp_samples
from chathpc.diagnosis.statistics import is_above
from chathpc.profile.gpu_counters import COUNTERS
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

PREFIX = "gpu.kernel."
_STALL = "stall."


@dataclass(frozen=True, slots=False, eq=False)
class Counted(Kernel):
    """One kernel node with all below it. `share` is its part (0..1) of all kernel time in the profile; `values` holds what was
    collected by id without the prefix "gpu.kernel."."""

    facts: Facts
    share: float
    values: Mapping[str, float]

    @property
    def profile(self) -> Profile:
        """The profile that counts it."""
        return self.facts.profile

    def get(self, name: str) -> float | None:
        """A fact by its id without "gpu.kernel."; None if it was not collected."""
        return self.values.get(name)

    def at_least(self, name: str, limit: float) -> bool:
        """True if a fact was collected and is `limit` or more."""
        value = self.values.get(name)
        return value is not None and value >= limit

    # -- speed of light ------------------------------------------------------------------------------------

    @property
    def compute(self) -> float | None:
        """Throughput of the multiprocessors, percent of peak."""
        return self.get("sm-throughput")

    @cached_property
    def memory(self) -> float | None:
        """Throughput of the memory system, percent of peak: as the tool says, else its busiest part that is known."""
        said = self.get("memory-throughput")
        parts = [self.get(name) for name in ("dram-throughput", "l2-throughput", "l1-data-pipe")]
        known = [part for part in parts if part is not None]
        return said if said is not None else max(known, default=self.get("l1-throughput"))

    @property
    def busiest(self) -> float | None:
        """The higher of the throughputs of compute and memory; None if neither is known."""
        return max((value for value in (self.compute, self.memory) if value is not None), default=None)

    @property
    def idle(self) -> float:
        """The part (0..1) that even the busiest unit is not used: no speed-up goes beyond it; 1 if not known."""
        return 1.0 if self.busiest is None else max(0.0, 1.0 - self.busiest / 100)

    @cached_property
    def level(self) -> tuple[str, float] | None:
        """The busiest level of the memory system, dram, l2 or l1, and its throughput in percent of peak."""
        l1 = [value for name in ("l1-throughput", "l1-data-pipe") if (value := self.get(name)) is not None]
        found = {"dram": self.get("dram-throughput"), "l2": self.get("l2-throughput"), "l1": max(l1, default=None)}
        known = {name: value for name, value in found.items() if value is not None}
        if not known:
            return None
        name = max(known, key=lambda each: known[each])
        return name, known[name]

    @cached_property
    def pipe(self) -> tuple[str, float] | None:
        """The busiest arithmetic pipe and the percentage of its cycles that it is busy; the load and store pipe is none."""
        found = {
            name.removeprefix("pipe."): value
            for name, value in self.values.items()
            if name.startswith("pipe.") and name != "pipe.lsu"
        }
        name = max(sorted(found), key=lambda each: found[each], default="")
        return (name, found[name]) if name else None

    # -- stalls --------------------------------------------------------------------------------------------

    @cached_property
    def stalls(self) -> Mapping[str, float]:
        """Reason → part (0..1) of the cycles between two instructions of a warp; empty if too few reasons were collected.

        Nsight Compute's guided analysis divides by the same sum, which includes the cycle of issuing.
        """
        counters = self._stall_counters
        if not counters:
            return sampled_stalls(self.profile, self.nodes)
        cycles = {name.removeprefix(_STALL): value for name in counters if (value := self.values[name]) > 0}
        latency = self.get("latency-per-issue") or 0.0
        total = max(latency, sum(cycles.values()))
        complete = latency > 0 or len(counters) >= common()["min_stall_reasons"].value
        return {name: value / total for name, value in cycles.items()} if complete and total > 0 else {}

    @property
    def _stall_counters(self) -> list[str]:
        return [name for name in self.values if name.startswith(_STALL)]

    def stalled(self, *reasons: str) -> float:
        """Part (0..1) of the time between two instructions that a warp waits for the reasons; 0 if not known."""
        return min(1.0, sum(self.stalls.get(reason, 0.0) for reason in reasons))

    def stalls_reach(self, part: float, least: float) -> bool:
        """True if `part` of the time that warps wait for some reasons is `least` or more: by more than sampling explains
        (`sigma` of common.yaml) where it comes from samples, which counters do not.
        """
        samples = inf if self._stall_counters else warp_samples(self.profile, self.nodes)
        return is_above(part, least, samples, common()["sigma"].value)

    # -- launch --------------------------------------------------------------------------------------------

    @cached_property
    def multiprocessors(self) -> float | None:
        """Number of multiprocessors of the device; None if nothing tells it."""
        said = self.get("multiprocessors")
        counts = {device.multiprocessors for device in self.profile.devices.values() if device.multiprocessors}
        return said if said else float(counts.pop()) if len(counts) == 1 else None

    @cached_property
    def limiters(self) -> tuple[str, ...]:
        """What limits the warps on a multiprocessor, in words: all limits that are equally low; empty if unknown."""
        words = {
            "registers": "registers", "shared-memory": "shared memory", "warps": "the block's size",
            "blocks": "the number of blocks on a multiprocessor", "barriers": "barriers",
        }  # fmt: skip
        limits = {word: value for key, word in words.items() if (value := self.get(f"limit.{key}")) is not None}
        lowest = min(limits.values(), default=0.0)
        return tuple(word for word, value in limits.items() if value == lowest) if len(limits) > 2 else ()

    # -- words ---------------------------------------------------------------------------------------------

    def place(self, trouble: str = "") -> tuple[Place, Hot | None]:
        """The kernel at its source line with most of a kind of trouble, and where in it that is counted; None without values
        by line or instruction.
        """
        hot = hottest(self.profile, self.nodes, trouble)
        if hot is None or not self.profile.tree.line[hot.node]:
            return kernel_place(self.profile, self), hot
        at = np.zeros(len(self.profile.tree))
        at[hot.node] = 1.0
        return kernel_place(self.profile, self, at), hot

    def fact(
        self,
        kind: Kind,
        name: str,
        value: float | None = None,
        *,
        subject: str,
        how: str,
        unit: str = "",
        form: Form = Form.ONE,
        whole: Quantity | None = None,
        parts: Iterable[Part] = (),
        text: str = "",
    ) -> Fact:
        """A fact about this kernel; value and unit default to those of the counter `name`."""
        metric = PREFIX + name
        known = self.profile.metrics.get(metric)
        return fact(
            self.facts, kind, self.values.get(name, 0.0) if value is None else value, subject=subject, form=form, whole=whole, parts=parts,
            text=text, unit=unit or (str(known.unit) if known is not None else "count"), metric=metric, how=how,
        )  # fmt: skip

    def part(
        self, name: str, value: float, subject: str, of: str, how: str, *, kind: Kind = Kind.SHARE, form: Form = Form.ONE
    ) -> Fact:  # fmt: skip
        """A part (0..1) of what `of` names; see `fact`."""
        return self.fact(kind, name, value, subject=subject, form=form, whole=Quantity(of=of), unit="ratio", how=how)

    def collected(
        self, kind: Kind, name: str, subject: str, unit: str, how: str = "launch configuration"
    ) -> list[Fact]:
        """What a counter, or the launch, says; nothing if it was not collected."""
        return [] if self.get(name) is None else [self.fact(kind, name, subject=subject, unit=unit, how=how)]

    def percent(self, name: str, subject: str, of: str = "", form: Form = Form.ONE) -> list[Fact]:
        """A percentage, of what it is one; nothing if it was not collected."""
        if self.get(name) is None:
            return []
        whole = Quantity(of=of) if of else None
        return [self.fact(Kind.VALUE, name, subject=subject, form=form, whole=whole, unit="percent", how=_MEAN)]

    def measure(self, what: str, *sections: str) -> str:
        """The command that would collect what is missing, and what it would tell."""
        options = " ".join(f"--section {section}" for section in sections)
        return self.named(NextMeasurement(f"ncu {options} -k KERNEL -c 3 ./app", what))

    def named(self, following: NextMeasurement) -> str:
        """A measurement of the catalogue, for this kernel; with the profiler of the device's maker."""
        return fitted(self.profile, following, self.name)


_MEAN = "mean over its launches, weighted with their time"


#: Facts that other tools tell of a kernel as well (HPCToolkit, Nsight Systems: its launch; Neutrino: its accesses); alone they are
#: no counters.
_NO_COUNTERS = frozenset(
    PREFIX + name
    for name in (
        "blocks", "threads-per-block", "registers", "shared-memory-per-block", "occupancy", "multiprocessors", "clock",
        "footprint", "unique-pages", "accesses-per-page", "multiprocessors-used", "multiprocessor-imbalance",
    )
)  # fmt: skip

#: Facts that are parts (0..1) of a whole.
_PARTS = frozenset(
    ("excessive-sectors", "excessive-wavefronts", "host-misses", "host-sectors", "sector-use.global-load", "sector-use.global-store")
)  # fmt: skip


def has_counters(profile: Profile) -> bool:
    """True if the profile holds counters of kernels, not only facts about their launch or accesses."""
    return bool(counting_tools(profile))


def counting_tools(profile: Profile) -> frozenset[str]:
    """The tools that counted in kernels; "" for that of a profile that only one tool measured."""
    return frozenset(
        profile.metrics[name].tool for name in profile.metrics if name in COUNTERS and name not in _NO_COUNTERS and profile.has(name)
    )  # fmt: skip


def counted_names(profile: Profile) -> frozenset[str]:
    """Names of the kernels with counters."""
    return frozenset(profile.tree.function_name(node) for node in _facts_by_node(profile))


def _facts_by_node(profile: Profile) -> dict[int, dict[str, float]]:
    """Facts of each kernel that has counters among them, by id without the prefix."""
    if not has_counters(profile):
        return {}
    found: dict[int, dict[str, float]] = {}
    more = set()
    for identifier in COUNTERS:
        if not profile.has(identifier):
            continue
        column = profile.exclusive(identifier)
        for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
            found.setdefault(node, {})[identifier.removeprefix(PREFIX)] = value
        if identifier not in _NO_COUNTERS:
            more.update(column.nodes.tolist())
    kind = profile.tree.kind
    return {node: found[node] for node in sorted(more) if kind[node] == NodeKind.GPU_KERNEL}


def counted_kernels(facts: Facts) -> list[Counted]:
    """The kernels with counters, the one with most time first. Those without time are left out, unless there is only one
    in all, which then has share 1.
    """
    profile = facts.profile
    tree, collected = profile.tree, _facts_by_node(profile)
    time = profile.dense("gpu.kernel.time")
    time = np.where(np.isfinite(time), np.maximum(time, 0.0), 0.0)
    total = float(time.sum())
    launches = profile.dense("gpu.kernel.count")
    found = []
    for node, values in collected.items():
        below = slice(node, int(tree.end[node]))
        seconds = float(time[below].sum())
        if (total > 0 and seconds <= 0) or (total == 0 and len(collected) > 1):
            continue
        found.append(
            Counted(
                name=tree.function_name(node),
                nodes=np.arange(below.start, below.stop, dtype=np.int32),
                top=node,
                seconds=seconds,
                launches=float(launches[below].sum()),
                facts=facts,
                share=min(seconds / total, 1.0) if total else 1.0,
                values=_plausible(profile, values),
            )
        )
    return sorted(found, key=lambda kernel: (-kernel.seconds, kernel.name, kernel.top))


def _plausible(profile: Profile, values: Mapping[str, float]) -> dict[str, float]:
    """Values that can be: no infinities or negative numbers, percentages of at most 100, parts of at most 1."""
    kept = {}
    for name, value in values.items():
        if isfinite(value) and value >= 0:
            metric = profile.metrics.get(PREFIX + name)
            percent = metric is not None and metric.unit == Unit.PERCENT
            kept[name] = min(value, 100.0) if percent else _whole(min(value, 1.0) if name in _PARTS else value)
    return kept


def _whole(value: float) -> float:
    """A mean of equal whole numbers is that number, whatever rounding the weights brought."""
    return float(round(value)) if abs(value - round(value)) < 1e-9 * max(value, 1.0) else value
