"""A series in words: the verdict, why a place costs more, what a law says, what single runs and the profiler have to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Literal

import numpy as np

from chathpc.diagnosis.statistics import MAD_TO_SIGMA, far
from chathpc.profile import numbers
from chathpc.profile.activity import ACTIVITY_WORDS, Activity
from chathpc.profile.run import processors
from chathpc.profile.tree import FloatArray
from chathpc.scale.laws import FEWEST, Fitted
from chathpc.scale.loss import Cause, Costs, Loss, Losses, unjudged
from chathpc.scale.outlook import needed
from chathpc.scale.record import FindingRecord, PointRecord
from chathpc.scale.series import Kind, Run, Series, short_name
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
    Activity.LOCK: ("lock-contention", "waits for a lock that another {who} holds"),
    Activity.MPI: ("mpi-communication-bound", "communicates longer the more {who}s there are"),
    Activity.GPU: (None, "has nothing to do: the host starts work too late, or there is too little for all"),
    Activity.GPU_COPY: (None, "copies data, or sets memory, for longer"),
}
#: The cause of what is spread unevenly, by the parameter and whether one worker alone does it.
_UNEVEN = {
    ("ranks", False): "mpi-load-imbalance",
    ("threads", False): "omp-load-imbalance",
    ("threads", True): "omp-serial-fraction",
}


def catalogued(series: Series, cause: Cause) -> str | None:
    """The catalogue's cause that a loss measures; None where several may be behind it."""
    if cause.loss == Loss.GROWTH:
        return "quadratic-algorithm"
    if cause.loss == Loss.WAITING:
        return _WAITING.get(cause.kind, (None, ""))[0]
    return _UNEVEN.get((series.parameter, cause.alone)) if cause.loss == Loss.UNEVEN else None


def why(series: Series, cause: Cause, law: Fitted | None) -> str:
    """Why a place costs more at the largest scale, in a sentence without its subject."""
    who = worker(series)
    if cause.loss == Loss.GROWTH:
        return f"grows {growth_words(law, series.parameter)}"
    if cause.loss == Loss.UNEVEN:
        if cause.alone:
            where = "thread of a rank" if series.hybrid and series.parameter == "threads" else who
            return f"runs on one {where} only while the others wait"
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


# -- the whole -------------------------------------------------------------------------------------------------


def verdict(
    costs: Costs, efficiencies: Sequence[PointRecord], losses: Losses, findings: Sequence[FindingRecord]
) -> tuple[Literal["scales", "loses", "grows", "cannot-tell"], str]:
    """What the series shows, in a word and in a sentence."""
    series = costs.series
    first, last = point(series, 0), point(series, -1)
    worst = findings[0] if findings else None
    if series.kind == Kind.PROBLEM_SIZE:
        if worst is None:
            power, told = costs.data
            if told:
                said = f"which grow as {series.parameter}^{power:.3g} ({told})"
                return "scales", f"Nothing grows much faster than the data, {said}, from {first} to {last}."
            return "scales", f"Nothing grows much faster than {series.parameter} from {first} to {last}."
        part = numbers.percent(worst.costs[-1] / (float(costs.mean(costs.elapsed)) or 1.0))
        return "grows", f"{worst.name} {worst.why}; at {last} it has {part} of the time."
    if not costs.is_told:
        which = f"Some profiles ({costs.untold})" if costs.untold else "The profiles"
        said = f"{which} do not show their workers one by one: only the growth of their time is known."
        return "cannot-tell", said
    lost, whole = numbers.percent(max(losses.total, 0.0)), f"of all {worker(series)}s' time"
    needs_attention = max(losses.total, worst.share if worst else 0.0) > 1 - threshold("scales_well")
    if needs_attention and worst is None:
        factor = mostly(efficiencies[0], efficiencies[-1])
        return "loses", f"At {last}, {lost} {whole} is lost against {first}{factor}, at no single place that is sure."
    if needs_attention and worst is not None:
        if worst.share <= losses.total:
            return "loses", f"At {last}, {lost} {whole} is lost against {first}; most in {worst.name}: it {worst.why}."
        return "loses", (
            f"At {last}, {worst.name} costs {numbers.percent(worst.share)} {whole}: it {worst.why}. "
            f"Other places cost less than at {first}, so that {lost} is lost in all."
        )
    overall = efficiencies[-1].overall
    said = "" if overall is None else f"; global efficiency {overall * 100:.0f} %"
    where = unjudged(costs)
    beside = f"; waiting in {where} was not judged, as threads had no core" if where else ""
    most = f", most in {worst.name} ({numbers.percent(worst.share)})" if worst else ""
    if worst is not None and worst.share > losses.total:
        most = f": {numbers.percent(worst.share)} in {worst.name}, while other places cost less"
    return "scales", f"From {first} to {last} {lost} of the time is lost{most}{said}{beside}."


def mostly(first: PointRecord, last: PointRecord) -> str:
    """What most of a loss is due to: the one of POP's factors that has fallen most; empty if that is not most of what all have."""
    factors = (("balance", "load balance"), ("communication", "communication"), ("computation", "computation scaling"))
    told = [(getattr(last, name), getattr(first, name), words) for name, words in factors]
    fallen = [(log(after / before), after, words) for after, before, words in told if after and before]
    most, value, name = min(fallen, default=(0.0, 0.0, ""))
    return (
        f", mostly by {name} ({numbers.percent(value)})"
        if 2 * most < min(sum(each for each, _, _ in fallen), 0.0)
        else ""
    )


def notes(costs: Costs) -> list[str]:
    """What a reader should bear in mind, in sentences."""
    series, found = costs.series, list(costs.series.notes)
    if costs.starved.any():
        found.append(_starved(costs))
    if FEWEST <= len(series.points) < threshold("few_points"):
        found.append(f"{len(series.points)} scales are few for a law: five at least are usual.")
    fewest, most = (extreme(len(point.runs) for point in series.points) for extreme in (min, max))
    if most == 1:
        found.append("One run a scale: how much runs differ by themselves is not known.")
    if (wanted := needed(costs)) > fewest:
        found.append(f"Runs differ: {wanted} at each scale would tell a time to ± 5 %, and there are {fewest}.")
    found += [*outliers(costs), *overhead(costs)]
    if series.others:
        others = ", ".join(series.fixed)
        found.append(f"{len(series.others)} runs at other values of {others} are not part of this series.")
    return found


def too_few_cores(costs: Costs, value: float | None) -> list[str]:
    """That the machine has fewer cores than a run with this value of the parameter would use, in a sentence; of several nodes none tells."""
    series, run = costs.series, costs.series.largest
    cores, nodes = processors(run.profile), np.unique(run.profile.where.node)
    if value is None or not cores or len(nodes) > 1 or series.parameter not in ("ranks", "threads"):
        return []
    if float(costs.mean(costs.workers)) * value / series.values[-1] <= cores:
        return []
    return [f"The machine of these runs has {cores} core{'s' * (cores > 1)}: the next run needs a larger one."]


def _starved(costs: Costs) -> str:
    series = costs.series
    scales = sorted({series.runs[at].parameters[series.parameter] for at in np.flatnonzero(costs.starved)})
    where = f"{series.parameter} {', '.join(map(value, scales))}" if scales != series.values else "all scales"
    several = costs.workers.max() > 1
    judged = f"; waiting in {waits} is not judged there" if (waits := unjudged(costs)) else ""
    return (
        f"At {where} {'threads' if several else 'the program'} had no core for a good part of the time, which does not count{judged}"
        f"{', and efficiencies are at most those shown' if several else ''}."
    )


# -- single runs -----------------------------------------------------------------------------------------------


def outliers(costs: Costs) -> list[str]:
    """A sentence for each run whose time is far from the other repetitions at its scale: three there at least.

    Far: the modified z-score (B. Iglewicz and D. Hoaglin, 1993) of its relative distance from the median there, against all such
    distances of the series, and more than a share that matters.
    """
    series = costs.series
    found: list[tuple[int, int, float]] = []
    for at, scale in enumerate(series.points):
        times = costs.elapsed[list(scale.runs)]
        if len(times) > 2 and (middle := np.median(times)) > 0:
            found += [(at, run, away) for run, away in zip(scale.runs, (times / middle - 1).tolist(), strict=True)]
    # The middle one of three has no distance by definition.
    found = [each for each in found if each[2]]
    distances = np.abs([away for _, _, away in found])
    chosen = far(distances, times=threshold("outlier") * MAD_TO_SIGMA, least=threshold("min_loss"))
    return [
        f"At {point(series, at)} {short_name(series.runs[run].path)} took {numbers.percent(abs(away))} {'more' if away > 0 else 'less'} time than "
        f"the median there{_nodes(series, series.runs[run])}."
        for at, run, away in (found[each] for each in chosen.tolist())
    ]


def _nodes(series: Series, run: Run) -> str:
    """On which nodes it ran, if that tells it from other runs."""
    nodes = [{int(node) for node in each.profile.where.node.tolist() if node >= 0} for each in series.runs]
    own = nodes[series.runs.index(run)]
    if not own or all(each == own for each in nodes):
        return ""
    shown = ", ".join(str(node) for node in sorted(own)[:4])
    return f"; it ran on node{'s' * (len(own) > 1)} {shown}{', …' if len(own) > 4 else ''}"


def overhead(costs: Costs) -> list[str]:
    """What the profiler costs, in a sentence; none where these runs do not tell.

    Known are runs that were measured with and without it, and runs at one scale at different sampling rates r: there the time is
    T (1 + c r), and c is fitted by least squares of relative times, each scale with its own T.
    """
    records = [run.record for run in costs.series.runs]
    if shares := [each["overhead"] for each in records if isinstance(each.get("overhead"), int | float)]:
        runs = f"{len(shares)} run{'s' * (len(shares) > 1)} with and without it"
        return [
            f"The profiler costs {numbers.percent(float(np.median(np.array(shares, float))))} of the time ({runs})."
        ]
    rates = np.array([rate if isinstance(rate := each.get("rate"), int | float) else 0.0 for each in records])
    sampled = [[run for run in scale.runs if rates[run] > 0] for scale in costs.series.points]
    scales = [chosen for chosen in sampled if len(chosen) > 1 and np.ptp(rates[chosen]) > 0]
    free = sum(map(len, scales)) - len(scales) - 1
    if free < 1:
        return _unlike(costs.series, rates)
    rate = np.concatenate([rates[chosen] - rates[chosen].mean() for chosen in scales])
    time = np.concatenate([costs.elapsed[chosen] / costs.elapsed[chosen].mean() - 1 for chosen in scales])
    most = float(rates.max())
    slope = float(rate @ time / (rate @ rate))
    error = float(np.sqrt(((time - slope * rate) ** 2).sum() / free / (rate @ rate)))
    if error * most > threshold("min_loss"):
        return _unlike(costs.series, rates)  # what differs between runs would hide it
    at, around = f"at {numbers.number(most)} samples a second and thread", numbers.percent(error * most)
    if slope < threshold("sigma") * error:
        return [f"Runs at different sampling rates show no cost of the profiler beyond noise ({around}) {at}."]
    return [
        f"The profiler costs {numbers.percent(slope * most)} ± {around} of the time {at}, as runs at different rates tell."
    ]


def _unlike(series: Series, rates: FloatArray) -> list[str]:
    """That scales were sampled at different rates, whose unknown cost may pass for growth."""
    usual = [float(np.median(rates[list(scale.runs)])) for scale in series.points]
    low, high = min(usual), max(usual)
    if not low > 0 or high - low < threshold("min_loss") * high:
        return []
    between = f"{numbers.number(low)} to {numbers.number(high)} samples a second and thread"
    return [
        f"Scales were sampled at {between}: what the profiler costs may pass for growth. Measure all at one rate: --rate {low:.0f}."
    ]
