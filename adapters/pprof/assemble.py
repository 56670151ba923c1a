"""Profiles from the stacks of any form of pprof."""

from __future__ import annotations

from pathlib import Path

from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric
from chathpc.profile.profile import Profile, Source
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
    metrics = [metric for metric in metrics if stacks.has(metric.id)]
    if not metrics:
        raise AdapterError("contains no sample with a value", path=path, hint="Record a longer run.")
    tree, values = stacks.finish(metrics)
    ids = {metric.id for metric in metrics}
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
        missing["waiting (blocked and sleeping threads)"] = "go tool pprof -proto http://HOST/debug/pprof/block"
    missing["hardware counters (cache misses, instructions per cycle)"] = (
        "perf record -e cycles,instructions,cache-misses -g ./app"
    )
    return Profile(
        format=f"pprof ({form})",
        title=path.name.split(".")[0],
        tree=tree,
        metrics={metric.id: metric for metric in metrics},
        values=values,
        where=Locations.single(),
        sources=(Source(path, "pprof"),),
        caveats=tuple(said),
        not_collected=missing,
        sample_count=sample_count,
    )
