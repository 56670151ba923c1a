"""A series in words: why a place costs more, what that means, what a law says."""

from __future__ import annotations

from collections.abc import Mapping

from chathpc.profile import numbers
from chathpc.profile.activity import ACTIVITY_WORDS, Activity
from chathpc.scale.laws import Fitted
from chathpc.scale.loss import Cause, Loss
from chathpc.scale.series import Kind, Series
from chathpc.scale.thresholds import threshold

_ONE = {"ranks": "rank", "threads": "thread", "GPUs": "GPU", "nodes": "node", "cores": "core"}
#: From so many times a worker's computing at the smallest scale on it grows with their number.
_REPEATED = 1.5


def worker(series: Series) -> str:
    """What works: a rank, thread or GPU; a worker where that may be several of them."""
    return (
        _ONE[series.parameter] if series.parameter in ("ranks", "threads", "GPUs") and not series.hybrid else "worker"
    )


def value(number: float) -> str:
    """A value of a parameter: whole numbers as they are."""
    return f"{number:,.0f}" if float(number).is_integer() else numbers.number(number)


def point(series: Series, at: int) -> str:
    """`8 threads`, `1 thread`, `n = 4,000`."""
    return at_value(series.parameter, series.values[at])


def at_value(parameter: str, number: float) -> str:
    """The same of any value."""
    if parameter in _ONE:
        return f"{value(number)} {_ONE[parameter] if number == 1 else parameter}"
    return f"{parameter} = {value(number)}"


_BARRIERS = "waits at barriers, or the runtime starts and ends many short regions"
#: What workers wait for: the catalogue's cause, and why, where that is more than what the activity is called.
_WAITING: Mapping[Activity, tuple[str | None, str]] = {
    Activity.OMP_LOCK: (
        "omp-critical-contention",
        "waits for a critical section, atomic or lock: one thread at a time gets in",
    ),
    Activity.OMP_WAIT: ("omp-barrier-wait", _BARRIERS),
    Activity.OMP_OVERHEAD: ("omp-barrier-wait", _BARRIERS),
    Activity.LOCK: ("lock-contention", ""),
    Activity.MPI: ("mpi-communication-bound", "communicates longer the more {who}s there are"),
    Activity.GPU: (None, "has nothing to do: the host starts work too late, or there is too little for all"),
    Activity.GPU_COPY: (None, "copies data, or sets memory, for longer"),
}


def catalogued(series: Series, cause: Cause) -> str | None:
    """The catalogue's cause that a loss measures; None where several may be behind it."""
    if cause.loss == Loss.GROWTH:
        return "quadratic-algorithm"
    if cause.loss == Loss.WAITING:
        return _WAITING.get(cause.kind, (None, ""))[0]
    if cause.loss == Loss.COMPUTING:
        return None
    if series.parameter == "ranks":
        return None if cause.alone else "mpi-load-imbalance"
    if series.parameter == "threads":
        return "omp-serial-fraction" if cause.alone else "omp-load-imbalance"
    return None


def why(series: Series, cause: Cause, law: Fitted | None) -> str:
    """Why a place costs more at the largest scale, in a sentence without its subject."""
    who = worker(series)
    if cause.loss == Loss.GROWTH:
        return f"grows {growth_words(law, series.parameter)}"
    if cause.loss == Loss.UNEVEN:
        if cause.alone:
            return f"runs on one {who} only while the others wait"
        return f"is spread unevenly: one {who} has more of it than the mean, and the others wait"
    if cause.loss == Loss.COMPUTING:
        if cause.general:
            return f"computes longer on every {who}: caches, memory bandwidth or clock rate are shared, or the work grows with their number"
        if series.kind == Kind.WEAK:
            return f"computes longer on each {who} the more there are: its work depends on their number"
        if cause.repeated > _REPEATED:
            return f"computes longer on every {who} the more there are: its work depends on their number"
        if cause.repeated > threshold("scales_well"):
            return f"is not divided: every {who} does all of it, however many there are"
        return f"takes more time over all {who}s together the more there are: work is repeated, or its memory is shared"
    said = _WAITING.get(cause.kind, (None, ""))[1]
    return said.format(who=who) if said else f"spends time {ACTIVITY_WORDS[cause.kind]}"


def growth_words(law: Fitted | None, parameter: str) -> str:
    """`as n^2`, with the exponent that was measured."""
    if law is None:
        return "faster than the rest"
    found = law.growth(parameter)
    return f"as {parameter}^{found.value:.1f} ({found.low:.1f} to {found.high:.1f})"
