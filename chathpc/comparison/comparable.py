"""What two sides have in common, and what cannot be compared."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from statistics import fmean

from chathpc.comparison.thresholds import threshold
from chathpc.diagnosis.command import program_of
from chathpc.diagnosis.kernel_counters import has_counters
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.merge import kernels, tool_of
from chathpc.profile.metric import Aggregation, Clock, Metric, Unit
from chathpc.profile.names import middle
from chathpc.profile.profile import COMMAND, TIME_METRICS, Profile
from chathpc.profile.text import clean

_CLOCKS = {Clock.WALL: "a wall clock", Clock.CPU: "a CPU clock", None: "a clock that is not known"}

#: What was read and written.
_MOVED = ("io.read.bytes", "io.write.bytes")
#: What is only measured of a GPU, and what taking samples of its program counter leaves.
_GPU_TIMES, _PC_SAMPLES = ("gpu.time", "gpu.kernel.time"), ("gpu.samples", "gpu.stall.")
#: So many characters of the arguments of a program are told.
_LONGEST = 60


def common_metric(
    before: Sequence[Profile], after: Sequence[Profile], name: str | None
) -> tuple[list[Metric], list[str]]:
    """The metric of each profile by which the sides are compared (none if there is none), and what is to be said of it.

    `name` is an id or the tool's own name; UsageError if a profile lacks it or its values do not add up. Without it, the time
    that both sides have.
    """
    profiles = (*before, *after)
    if name is not None:
        chosen = [profile.metric(name) for profile in profiles]
        if any(metric.aggregation != Aggregation.SUM for metric in chosen):
            raise UsageError(f"The values of '{clean(name)}' do not add up, so a difference cannot be attributed.")
        if not all(metric.has_values for metric in chosen):
            raise UsageError(f"'{clean(name)}' has no values on one side.")
        return _same(chosen)
    mine, theirs = before[0].time, after[0].time
    if mine is None or theirs is None:
        side = "Neither side has" if mine is theirs else f"The side {'before' if mine is None else 'after'} has not"
        return [], [f"{side} measured any time: only findings are compared."]
    for identifier in (mine.id, *TIME_METRICS):
        found = [profile.metrics.get(identifier) for profile in profiles]
        usable = [metric for metric in found if metric is not None and metric.has_values]
        if len(usable) == len(profiles) and all(metric.aggregation == Aggregation.SUM for metric in usable):
            chosen, notes = _same(usable)
            if chosen and mine.id != theirs.id:
                notes.append(
                    f"The sides use different main metrics ({mine.source_name} and {theirs.source_name}); both "
                    f"have {identifier}, which is compared."
                )
            return chosen, notes
    return [], [
        f"{mine.source_name} was measured before, {theirs.source_name} after ({_kind(mine)}, {_kind(theirs)}): their difference is "
        "meaningless. Only findings are compared; measure both sides with the same event."
    ]


def _kind(metric: Metric) -> str:
    return "time" if metric.unit == Unit.SECONDS else str(metric.unit)


def _same(chosen: list[Metric]) -> tuple[list[Metric], list[str]]:
    """The metrics, unless they stand for different things under one name."""
    clocks = {metric.clock for metric in chosen}
    units = {metric.unit for metric in chosen}
    if len(units) > 1:
        words = " and ".join(sorted(str(unit) for unit in units))
        return [], [f"'{chosen[0].id}' is in {words}: their difference is meaningless. Only findings are compared."]
    if len(clocks) > 1:
        first = next(metric for metric in chosen if metric.clock != chosen[0].clock)
        return [], [
            f"Time was taken from {_CLOCKS[chosen[0].clock]} ({chosen[0].source_name}) and from {_CLOCKS[first.clock]} "
            f"({first.source_name}). A CPU clock stops while a thread waits, so their difference is meaningless. Only "
            "findings are compared; measure both sides with the same event."
        ]
    return chosen, []


def launches_differ(profiles: Sequence[Profile], metrics: Sequence[Metric]) -> bool:
    """True if kernels were profiled launch by launch, and of some kernel more launches in one profile than in another: how many is asked
    of the profiler, and tells nothing of the program.
    """
    if not {metric.id for metric in metrics} <= {"gpu.time", "gpu.kernel.time"}:
        return False
    if not all(has_counters(profile) and len(profile.threads) == 0 for profile in profiles):
        return False
    found = [kernels(profile) for profile in profiles]
    shared = set.intersection(*(set(each) for each in found))
    return any(len({each[key][2] for each in found}) > 1 for key in shared)


def remarks(before: Sequence[Profile], after: Sequence[Profile], metrics: Sequence[Metric]) -> list[str]:
    """What a reader should know before a comparison is believed."""
    notes = []
    read = [{source.path.resolve() for profile in side for source in profile.sources} for side in (before, after)]
    if read[0] and read[0] == read[1]:
        notes.append("Both sides are the same profile.")
    if _differ(before, after, tool_of):
        notes.append(
            f"{_all(before, tool_of)} measured before, {_all(after, tool_of)} after: what the tools themselves cost, and how they "
            "name functions, is part of the difference."
        )
    (timed, mine), (others, theirs) = (
        [_has(side, each) for each in (_GPU_TIMES, _PC_SAMPLES)] for side in (before, after)
    )
    if timed and others and mine != theirs:
        notes.append(
            f"PC samples of the GPU were only taken {'before' if mine else 'after'}: what that costs is part of the difference."
        )
    if _differ(before, after, lambda profile: profile.program):
        first, second = (" and ".join(sorted({clean(each.program) for each in side})) for side in (before, after))
        notes.append(f"The programs have different names: {first} before, {second} after.")
    arguments = [{given for profile in side if (given := _arguments(profile)) is not None} for side in (before, after)]
    if all(arguments) and arguments[0] != arguments[1]:
        first, second = (" and ".join(sorted(middle(each, _LONGEST) or "none" for each in side)) for side in arguments)
        notes.append(
            f"The programs had different arguments, {first} before and {second} after: part of the difference may be the work they "
            "were given."
        )
    hardware = sorted(
        key
        for key in before[0].hardware.keys() & after[0].hardware.keys()
        if before[0].hardware[key] != after[0].hardware[key]
    )
    if hardware:
        pairs = (f"{key} {before[0].hardware[key]} and {after[0].hardware[key]}" for key in hardware[:4])
        notes.append(f"The machines differ: {'; '.join(pairs)}.")
    devices = [
        ", ".join(sorted({clean(one.name) for each in side for one in each.devices.values() if one.name}))
        for side in (before, after)
    ]
    if all(devices) and devices[0] != devices[1]:
        notes.append(f"The GPUs differ: {devices[0]} before, {devices[1]} after.")
    moved = [
        fmean(sum(each.total(name) for name in _MOVED if name in each.metrics) for each in s) for s in (before, after)
    ]
    if metrics and metrics[0].id == "io.time" and abs(moved[1] - moved[0]) > threshold("alike") * max(moved):
        first, second = (numbers.quantity(each, "bytes") for each in moved)
        notes.append(
            f"The amounts of data differ, {first} before and {second} after: part of the difference is the work."
        )
    if metrics and metrics[0].unit == Unit.SAMPLES:
        notes.append(
            "Numbers of samples are compared: they stand for time only if both sides were sampled at the same rate."
        )
    if metrics and metrics[0].unit == Unit.PERCENT:
        notes.append("Only percentages were recorded: parts of the run are compared, not its length.")
    return notes


def _has(profiles: Sequence[Profile], names: tuple[str, ...]) -> bool:
    """Whether a metric whose name begins so was measured."""
    found = (metric for profile in profiles for metric in profile.metrics.values() if metric.id.startswith(names))
    return any(metric.has_values for metric in found)


def _arguments(profile: Profile) -> str | None:
    """What the program was given, as words for a shell; None where the command is not known."""
    if COMMAND not in profile.run:
        return None
    program = program_of(profile)
    return shlex.join((program.script or program.words)[1:])


def _differ(before: Sequence[Profile], after: Sequence[Profile], what: Callable[[Profile], str]) -> bool:
    mine, theirs = ({what(profile) for profile in side} - {""} for side in (before, after))
    return bool(mine and theirs) and mine != theirs


def _all(profiles: Sequence[Profile], what: Callable[[Profile], str]) -> str:
    return " and ".join(sorted({clean(what(profile)) for profile in profiles}))
