"""What the launches of a report cannot tell, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from chathpc.adapters.nsight_compute.lacking import not_collected
from chathpc.adapters.nsight_compute.launch import Launch

#: Names in caveats are cut to this, and so many are named.
_NAME, _NAMED = 80, 3

CLOCKS = (
    "Kernel times were taken one kernel at a time, at the clock that Nsight Compute sets (the base clock unless "
    "--clock-control none was given): they are not comparable with times of Nsight Systems or of the program."
)
CHOSEN = (
    "Only the profiled kernel launches are included: their share of the run, and what happens between them, is unknown."
)


def lacking(metrics: Collection[str], launches: Sequence[Launch], *, lines: bool, exported: bool) -> Mapping[str, str]:
    """What is not in the report → the command that collects it."""
    if insufficient(launches):
        return {"counters of the kernels": "ncu --set full -o report ./app"}
    return not_collected(metrics, lines=lines, exported=exported)


def insufficient(launches: Sequence[Launch]) -> str:
    """Why nothing can be concluded, as a sentence; empty if something can."""
    if all(launch.failed for launch in launches):
        count = "the one kernel launch" if len(launches) == 1 else f"the {len(launches)} kernel launches"
        return f"Profiling failed: no counter of {count} in the report has a value."
    return ""


def _names(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(name if len(name) <= _NAME else name[: _NAME - 1] + "…" for name in names))
    more = f" and {len(distinct) - _NAMED} more" if len(distinct) > _NAMED else ""
    return ", ".join(distinct[:_NAMED]) + more


def caveats(launches: Sequence[Launch], metrics: Collection[str], *, averaged: bool, exported: bool) -> Iterable[str]:
    """What the report cannot tell, as sentences; `averaged` if entries stand for several launches each."""
    if "gpu.kernel.time" in metrics:
        yield CLOCKS
    yield CHOSEN
    if insufficient(launches):
        return
    failed = [launch for launch in launches if launch.failed]
    if failed:
        yield (
            f"Nothing was measured for {len(failed)} of {len(launches)} launches, so these could not be assessed: "
            f"{_names(launch.kernel for launch in failed)}."
        )
    untimed = [launch for launch in launches if launch.seconds is None and not launch.failed]
    if untimed:
        yield f"No time was measured for {len(untimed)} of {len(launches)} launches: {_names(launch.kernel for launch in untimed)}."
    if "gpu.kernel.sm-throughput" not in metrics and "gpu.kernel.memory-throughput" not in metrics:
        known = "times and launch configurations" if "gpu.kernel.time" in metrics else "launch configurations"
        yield f"The report has no utilisation of multiprocessors or memory: besides selected counters, only {known} can be used."
    if any(launch.kind not in (0, 4) for launch in launches):
        yield "Some results are for ranges or graphs of several kernels: statements about them cover all their kernels together."
    if averaged:
        yield (
            "Launches of one kernel with the same grid, block and shared memory are merged; their counters are "
            "time-weighted averages."
        )
    if exported:
        yield "Read from an export: values are rounded as printed, and there is no per-instruction data."
