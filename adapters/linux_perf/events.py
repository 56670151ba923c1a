"""What the events of Linux perf count, in our vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from chathpc.profile.metric import Clock, Metric, Unit, slug, unused

#: name of the event → (id, unit, factor from perf's unit, what it counts). Clocks count nanoseconds (perf_event_open(2)).
_EVENTS: dict[str, tuple[str, Unit, float, str]] = {
    "cpu-clock": ("cpu.time", Unit.SECONDS, 1e-9, "CPU time of the threads"),
    "task-clock": ("cpu.time", Unit.SECONDS, 1e-9, "CPU time of the threads"),
    "cycles": ("cpu.cycles", Unit.CYCLES, 1.0, "CPU cycles"),
    "ref-cycles": ("cpu.reference-cycles", Unit.CYCLES, 1.0, "CPU cycles at the reference frequency"),
    "instructions": ("cpu.instructions", Unit.COUNT, 1.0, "instructions"),
    "cache-misses": ("cpu.cache.misses", Unit.COUNT, 1.0, "last-level cache misses"),
    "cache-references": ("cpu.cache.references", Unit.COUNT, 1.0, "last-level cache references"),
    "branches": ("cpu.branches", Unit.COUNT, 1.0, "branches"),
    "branch-misses": ("cpu.branch.misses", Unit.COUNT, 1.0, "mispredicted branches"),
    "page-faults": ("cpu.page-faults", Unit.COUNT, 1.0, "page faults"),
    "minor-faults": ("cpu.page-faults.minor", Unit.COUNT, 1.0, "minor page faults"),
    "major-faults": ("cpu.page-faults.major", Unit.COUNT, 1.0, "major page faults"),
    "context-switches": ("cpu.context-switches", Unit.COUNT, 1.0, "context switches"),
    "cpu-migrations": ("cpu.migrations", Unit.COUNT, 1.0, "migrations to another core"),
}
#: Other names of these (perf-list(1)).
_ALIASES = {
    "cpu-cycles": "cycles",
    "branch-instructions": "branches",
    "faults": "page-faults",
    "cs": "context-switches",
    "migrations": "cpu-migrations",
}
#: Characters of an unknown event's name that its metric's id keeps.
_LONGEST_SLUG = 60
#: `cpu_core/cycles/`, `armv8_pmuv3_0/cpu_cycles/`: event of a named counter unit.
_UNIT_OF_COUNTERS = re.compile(r"[\w.-]+/(?P<event>[\w.-]+)[^/]*/(?P<modifiers>\w*)")
#: What samples of a time-like event stand for where their period is not known.
_TIME_LIKE = frozenset({"cpu-clock", "task-clock", "cycles", "ref-cycles", ""})


@dataclass(frozen=True, slots=True)
class Event:
    """An event as perf calls it, and the same without counter unit, modifiers and aliases."""

    source: str
    name: str

    @property
    def is_known(self) -> bool:
        """True if our vocabulary has it."""
        return self.name in _EVENTS

    def metric(self, *, sampled: bool) -> Metric:
        """The metric of the event's counts; unknown events become `other.<slug>`."""
        identifier, unit, scale, words = _EVENTS.get(
            self.name, (f"other.{slug(self.name, longest=_LONGEST_SLUG)}", Unit.COUNT, 1.0, self.name)
        )
        return Metric(
            id=identifier,
            unit=unit,
            description=f"{words} (sampled)" if sampled else words,
            source_name=self.source,
            source_unit="ns" if scale == 1e-9 else "",
            scale=scale,
            clock=Clock.CPU if identifier == "cpu.time" else None,
        )

    def samples(self) -> Metric:
        """The metric of the event's samples, where what each stands for was not recorded."""
        return Metric(
            id="cpu.samples" if self.name in _TIME_LIKE else f"{self.metric(sampled=True).id}.samples",
            unit=Unit.SAMPLES,
            description=f"samples of {self.source or 'the processor'}",
            source_name=f"samples of {self.source}" if self.source else "samples",
        )


def event_of(source: str) -> Event:
    """The event that perf calls `source`: `cycles:u`, `cpu-clock:pppH`, `cpu_core/cycles/P`, `syscalls:sys_enter_read`."""
    unit = _UNIT_OF_COUNTERS.fullmatch(source)
    name = unit["event"] if unit else source
    head, colon, modifiers = name.rpartition(":")
    if colon and re.fullmatch(r"[ukhHGPpISDWeb]+", modifiers):
        name = head
    name = name.replace("_", "-") if name.replace("_", "-") in _EVENTS | _ALIASES else name
    return Event(source, _ALIASES.get(name, name))


def unlike(metric: Metric, name: str, others: Iterable[Metric]) -> Metric:
    """`metric`, with the `name` of its event in its id where one of the `others` has that."""
    taken = {other.id for other in others}
    if metric.id not in taken:
        return metric
    return replace(metric, id=unused(f"{metric.id}.{slug(name, longest=_LONGEST_SLUG)}", taken, "-"))
