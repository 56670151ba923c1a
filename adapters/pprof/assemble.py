"""Profiles from the stacks of any form of pprof: what the sample types count, and what to say of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.metric import Clock, Metric, Unit, slug, unused
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

#: Contexts that a file may have: so many, and one for so many of its bytes. A frame takes a byte at least.
CONTEXTS, CONTEXTS_PER_BYTE = 50_000, 4
_NO_SYMBOLS = (
    "Frames without symbols are shown as addresses in their load module; pprof -proto BINARY PROFILE > symbolised.pb.gz "
    "adds the names if the binary is available."
)


def stacks_for(size: int) -> Stacks:
    """Stacks of a file with `size` bytes (unpacked)."""
    return Stacks(CONTEXTS + CONTEXTS_PER_BYTE * size)


def assembled(
    stacks: Stacks, metrics: list[Metric], path: Path, form: str, *, sample_count: float | None, caveats: list[str]
) -> Profile:
    """The profile of what was added to `stacks`; AdapterError if that is nothing."""
    profile = stacks.profile(path, metrics, format=f"pprof ({form})", tool="pprof")
    ids = profile.metrics.keys()
    if not ids:
        raise AdapterError("contains no sample with a value", path=path, hint="Record a longer run.")
    said = list(caveats)
    missing: dict[str, str] = {}
    if stacks.has_kind(NodeKind.INSTRUCTION):
        said.append(_NO_SYMBOLS)
    if any(name.startswith("memory.") for name in ids):
        said.append(
            "A heap profile is sampled by size: its numbers are estimates, and it has no information about time."
        )
    if "lock.wait.time" in ids:
        said.append("It has the time that threads waited for locks, but not its share of the run.")
    if not ids & {"cpu.time", "cpu.time.wall", "cpu.samples"}:
        missing["host time"] = (
            "perf record -e cpu-clock -g ./app (of a server in Go: go tool pprof -proto http://HOST/debug/pprof/profile)"
        )
    elif "cpu.time.wall" not in ids:
        go = any(name.endswith(".go") for name in profile.tree.files)
        missing["waiting (blocked and sleeping threads)"] = (
            "go tool pprof -proto http://HOST/debug/pprof/block" if go else "perf trace -s ./app"
        )
    missing["hardware counters (cache misses, instructions per cycle)"] = (
        "perf record -e cycles,instructions,cache-misses -g ./app"
    )
    return replace(profile, caveats=tuple(said), not_collected=missing, sample_count=sample_count)


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
    found: dict[str, Metric] = {}
    for kind, unit in types:
        metric = metric_of(kind, unit)
        identifier = unused(metric.id, found, "-")
        found[identifier] = replace(metric, id=identifier)
    return list(found.values())
