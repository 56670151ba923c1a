"""What the laws of growth say of a series: growth of its places, time at another scale, when communication overtakes computing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from chathpc.profile.tree import FloatArray
from chathpc.scale.laws import FEWEST, Fitted, Measurement, fit
from chathpc.scale.loss import Cause, Costs, Loss, name_of, standing
from chathpc.scale.record import CrossingRecord, PredictionRecord, RangeRecord
from chathpc.scale.runs import untold
from chathpc.scale.series import Kind, Series
from chathpc.scale.thresholds import threshold

#: At most so many places are ranked at the target.
_PLACES = 6
#: A crossing is looked for up to so many times the largest scale, in steps of a factor.
_FURTHEST, _STEP = 1024.0, 2**0.25


def law_of(series: Series, cost: FloatArray) -> Fitted | None:
    """The law of a cost (one number a run) along the series' parameter; None where it is nothing everywhere."""
    return fit(measurements(series, cost)) if np.any(cost > 0) else None


def measurements(series: Series, cost: FloatArray) -> list[Measurement]:
    """A cost (one number a run) at the points of the series."""
    return [
        Measurement({series.parameter: point.value}, tuple(np.maximum(cost[list(point.runs)], 0.0).tolist()))
        for point in series.points
    ]


def laws_of_places(series: Series, costs: Costs, causes: Sequence[Cause]) -> dict[int, Fitted]:
    """The laws of what the largest places cost, those of the causes first; a place inside another is not counted in that one too."""
    places = _places(series, costs, causes)
    nearest = np.zeros(len(costs.joint.tree), dtype=np.int32)
    for node in sorted(places):
        nearest[node : costs.joint.tree.end[node]] = node
    whole = costs.of(Loss.GROWTH)
    laws = ((node, law_of(series, whole[:, nearest == node].sum(axis=1))) for node in places)
    return {node: law for node, law in laws if law is not None}


def predict(
    series: Series, costs: Costs, whole: Fitted | None, laws: Mapping[int, Fitted], target: float
) -> PredictionRecord:
    """Time and efficiency at a value of the series' parameter, and the places that have most of it there, from the law of the elapsed
    time and those of places.
    """
    at = {series.parameter: target}
    unit = series.runs[0].measured.metric.unit.value
    refused = unseen(series, costs) or ("nothing was measured" if whole is None else whole.refusal(at, unit))
    if whole is None or refused:
        return PredictionRecord.of(at, None, refusal=refused)
    elapsed = whole.predict(at)
    ranked = [(name_of(costs, node), law.predict(at)) for node, law in laws.items()]
    ideal, efficiency = ideal_time(series, costs, target), None
    if ideal is not None:
        value, low, high = (max(each, 1e-300) for each in (elapsed.value, elapsed.low, elapsed.high))
        efficiency = RangeRecord(value=ideal / value, low=ideal / high, high=ideal / low)
    return PredictionRecord.of(at, elapsed, ranked, efficiency=efficiency)


def ideal_time(series: Series, costs: Costs, target: float) -> float | None:
    """The time at a scale if none were lost against the smallest one; None where nothing says what it should be."""
    if series.kind not in (Kind.STRONG, Kind.WEAK):
        return None
    first = float(series.mean(costs.elapsed, 0))
    return first * (series.values[0] / target if series.kind == Kind.STRONG else 1.0)


def unseen(series: Series, costs: Costs) -> str:
    """Why no number of runs would do, if these profiles do not show who works; else empty."""
    if series.kind == Kind.PROBLEM_SIZE or costs.told.all():
        return ""
    if some := untold(series, costs):
        return f"some profiles do not show all workers; measure these again, or leave them out: {some}"
    return "the profiles do not show all workers; measure with a profiler that does (chathpc measure)"


def _places(series: Series, costs: Costs, causes: Sequence[Cause]) -> list[int]:
    tree = costs.joint.tree
    chosen = [cause.node for cause in causes if cause.node]
    covered = tree.inside(np.array(sorted(set(chosen)), dtype=np.int32)) if chosen else np.zeros(len(tree), dtype=bool)
    own = series.mean(costs.of(Loss.GROWTH), -1)
    rest = np.where(covered, 0.0, own)
    large = [
        standing(series, costs, int(node))
        for node in np.argsort(-rest)[:_PLACES]
        if rest[node] > threshold("min_loss") * own.sum()
    ]
    return list(dict.fromkeys([*chosen, *large]))


def crossing(series: Series, costs: Costs) -> CrossingRecord | None:
    """Where waiting (for others, for messages, at locks) overtakes computing; None with the problem's size, of too few scales, or where
    nobody waits.
    """
    if series.kind == Kind.PROBLEM_SIZE or not costs.told.all() or int(costs.workers.max()) < 2:
        return None
    if len(series.points) < FEWEST:
        return None
    waits, works = (
        law_of(series, (costs.uneven + costs.waiting).sum(axis=1)),
        law_of(series, costs.computing.sum(axis=1)),
    )
    if waits is None or works is None:
        return None
    value = low = high = None
    scale = series.values[0]
    while scale <= _FURTHEST * series.values[-1]:
        lost, useful = waits.predict({series.parameter: scale}), works.predict({series.parameter: scale})
        value = scale if value is None and lost.value > useful.value else value
        low = scale if low is None and lost.high > useful.low else low
        high = scale if high is None and lost.low > useful.high else high
        scale *= _STEP
    at = {series.parameter: value or 0.0}
    return CrossingRecord(
        value=value, low=low, high=high, refusal="" if value is None else waits.refusal(at) or works.refusal(at)
    )
