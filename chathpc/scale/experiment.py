"""The next run of a series: which one tells most for its price, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from chathpc.scale.advice import Advice, Candidate, Decision, costs_most, keeps, next_run, repetitions
from chathpc.scale.laws import Fitted
from chathpc.scale.loss import Costs, name_of
from chathpc.scale.series import Kind, Series, is_workers
from chathpc.scale.thresholds import threshold

#: Half the 80 % interval that a time is wanted to have, and the fewest and most repetitions that give it.
_HALF, _FEWEST, _MOST = 0.05, 3, 10
_SECONDS = 3600.0
#: Runs between the largest and the target are offered in steps of this factor, at most so many.
_STEP, _OFFERED = 2.0, 6


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a run would decide, for a reader; `advice.run` is None where none is worth its price. `value` is that of the parameter,
    `seconds` the upper bound of one run.
    """

    question: str
    advice: Advice
    value: float | None
    seconds: float


def experiment(
    series: Series, costs: Costs, whole: Fitted, laws_of_places: Mapping[int, Fitted], target: float
) -> Experiment:
    """The run to make before one believes what is said of `target`: that which tells most for a core-hour of what costs most there, or, if
    that is settled, of whether the efficiency is enough.
    """
    at = {series.parameter: target}
    count = min(max(needed(series, costs), _FEWEST), _MOST)
    offered = [_candidate(series, costs, whole, value, count) for value in _values(series, target)]
    fits = {name_of(costs, node): law for node, law in laws_of_places.items()}
    asked: list[tuple[str, Mapping[str, Fitted], Decision]] = []
    if len(fits) > 1:
        asked.append(("what costs most", fits, costs_most))
    if series.kind in (Kind.STRONG, Kind.WEAK):
        first = series.points[0]
        ideal = float(np.mean(costs.elapsed[list(first.runs)])) * (
            first.value / target if series.kind == Kind.STRONG else 1.0
        )
        least = threshold("scales_well")
        asked.append((f"whether the efficiency is {least * 100:.0f} %", {"time": whole}, keeps(ideal / least)))
    found = Experiment("", Advice(None, "", 1.0, 0.0, ""), None, 0.0)
    for question, laws, decision in asked:
        advice = next_run(laws, at, offered, decision)
        value = None if advice.run is None else advice.run.parameters[series.parameter]
        found = Experiment(
            question, advice, value, 0.0 if value is None else whole.predict({series.parameter: value}).high
        )
        if value is not None:
            break
    return found


def needed(series: Series, costs: Costs) -> int:
    """Runs at a scale that give its time an 80 % interval of ± 5 %, by how repetitions have differed until now; 0 where there are none."""
    spread = [
        (costs.elapsed[runs].var(ddof=1) / costs.elapsed[runs].mean() ** 2, len(runs) - 1)
        for point in series.points
        if len(runs := list(point.runs)) > 1 and costs.elapsed[list(point.runs)].mean() > 0
    ]
    if not spread:
        return 0
    noise = sqrt(sum(each * weight for each, weight in spread) / sum(weight for _, weight in spread))
    return repetitions(noise, _HALF)


def _values(series: Series, target: float) -> list[float]:
    """Those that were measured, then twice the largest and on, below the target."""
    last = series.values[-1]
    further = [last * _STEP**step for step in range(1, _OFFERED + 1)]
    return [*series.values, *(value for value in further if value <= target)]


def _candidate(series: Series, costs: Costs, whole: Fitted, value: float, count: int) -> Candidate:
    at = {series.parameter: value}
    return Candidate(at, whole.predict(at).value / _SECONDS * _cores(series, costs, value) * count, count)


def _cores(series: Series, costs: Costs, value: float) -> float:
    """Cores of a run: as many as workers, which grow with a parameter that counts them."""
    last = series.points[-1]
    workers = float(costs.workers[list(last.runs)].mean())
    return max(workers * (value / last.value if is_workers(series.parameter) else 1.0), 1.0)
