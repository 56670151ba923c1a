"""Series with costs that are known by arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chathpc.comparison.run import Run as Measured
from chathpc.profile.profile import Profile
from chathpc.scale.series import Kind, Run, Series, series_of
from tests.diagnosis.parts import function, main, mpi
from tests.profile.build import build

#: Seconds of each worker.
Costs = Callable[[int], tuple[float, ...]]


def even(total: float) -> Costs:
    """Work that is divided evenly."""
    return lambda count: (total / count,) * count


def each(seconds: float) -> Costs:
    """Work that every worker does."""
    return lambda count: (seconds,) * count


def alone(seconds: float) -> Costs:
    """Work of the first worker."""
    return lambda count: (seconds, *((0.0,) * (count - 1)))


def profile(count: int, functions: Mapping[str, Costs], messages: Costs | None = None) -> Profile:
    """One of `count` workers: functions below main, and messages in `exchange`."""
    nodes = [function(name, time=costs(count) if count > 1 else costs(1)[0]) for name, costs in functions.items()]
    if messages is not None:
        nodes.append(function("exchange", mpi("MPI_Allreduce", time=messages(count) if count > 1 else messages(1)[0])))
    return build(main(*nodes), timed=True)


def series(parameter: str, profiles: Mapping[float, Profile], kind: Kind | None = None) -> Series:
    """One run at each value."""
    runs = [
        Run(Path(f"{parameter}{value:g}"), Measured(found, found.metric("cpu.time")), {parameter: value})
        for value, found in profiles.items()
    ]
    return series_of(runs, "as given", kind=kind)


def strong(
    functions: Mapping[str, Costs], messages: Costs | None = None, counts: tuple[int, ...] = (1, 2, 4, 8, 16)
) -> Series:
    """A series over threads."""
    return series("threads", {count: profile(count, functions, messages) for count in counts})


def repeated(
    parameter: str,
    profiles: Mapping[float, Sequence[Profile]],
    kind: Kind | None = None,
    run: Mapping[str, str] | None = None,
) -> Series:
    """Several runs at each value; `run` are facts of all of them, with `{}` for the value."""
    runs = []
    for value, several in profiles.items():
        for number, found in enumerate(several, 1):
            facts = {key: text.replace("{}", f"{value:g}") for key, text in (run or {}).items()}
            known = replace(found, run={**found.run, **facts})
            runs.append(
                Run(
                    Path(f"{parameter}{value:g}/rep{number}"),
                    Measured(known, known.metric("cpu.time")),
                    {parameter: value},
                )
            )
    return series_of(runs, "as given", kind=kind)
