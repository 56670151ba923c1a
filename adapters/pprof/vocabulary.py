"""What the sample types of pprof count, in our vocabulary."""

from __future__ import annotations

from dataclasses import replace

from chathpc.profile.metric import Clock, Metric, Unit, slug

_UNITS: dict[str, tuple[Unit, float]] = {
    "nanoseconds": (Unit.SECONDS, 1e-9),
    "microseconds": (Unit.SECONDS, 1e-6),
    "milliseconds": (Unit.SECONDS, 1e-3),
    "seconds": (Unit.SECONDS, 1.0),
    "bytes": (Unit.BYTES, 1.0),
    "kilobytes": (Unit.BYTES, 1024.0),
    "megabytes": (Unit.BYTES, 1024.0**2),
}
#: type → (id, what it counts, unit that it has to have)
_TYPES: dict[str, tuple[str, str, Unit]] = {
    "samples": ("cpu.samples", "samples", Unit.COUNT),
    "sample": ("cpu.samples", "samples", Unit.COUNT),
    "cpu": ("cpu.time", "CPU time of the threads (sampled)", Unit.SECONDS),
    "wall": ("cpu.time.wall", "wall-clock time of the threads (sampled)", Unit.SECONDS),
    "contentions": ("lock.wait.count", "number of waits for a lock", Unit.COUNT),
    "delay": ("lock.wait.time", "time spent waiting for locks", Unit.SECONDS),
    "alloc_space": ("memory.allocated.bytes", "heap memory allocated", Unit.BYTES),
    "alloc_objects": ("memory.allocated.count", "objects allocated", Unit.COUNT),
    "inuse_space": ("memory.in-use.bytes", "heap memory in use", Unit.BYTES),
    "inuse_objects": ("memory.in-use.count", "objects in use", Unit.COUNT),
    "space": ("memory.in-use.bytes", "heap memory in use", Unit.BYTES),
    "objects": ("memory.in-use.count", "objects in use", Unit.COUNT),
}


def metric_of(kind: str, unit: str) -> Metric:
    """The metric of a sample type; unknown ones become `other.<slug>`."""
    known_unit, scale = _UNITS.get(unit, (Unit.COUNT, 1.0))
    identifier, words, expected = _TYPES.get(kind, ("", kind, Unit.COUNT))
    if not identifier or known_unit != expected:
        identifier, words = f"other.{slug(kind, longest=60)}", kind or "values"
    clock = {"cpu.time": Clock.CPU, "cpu.time.wall": Clock.WALL}.get(identifier)
    if identifier == "cpu.samples":
        known_unit = Unit.SAMPLES
    return Metric(identifier, known_unit, words, kind or "values", unit, scale, clock=clock)


def metrics_of(types: list[tuple[str, str]]) -> list[Metric]:
    """One metric per sample type, in order, with ids made unique."""
    found: list[Metric] = []
    taken: set[str] = set()
    for kind, unit in types:
        metric = metric_of(kind, unit)
        identifier, again = metric.id, 2
        while identifier in taken:
            identifier, again = f"{metric.id}-{again}", again + 1
        taken.add(identifier)
        found.append(replace(metric, id=identifier))
    return found
