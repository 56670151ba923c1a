"""What the laws of growth say of a series: growth of its places, time at another scale, when communication overtakes computing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.predict.counts import Range
from chathpc.profile.tree import FloatArray
from chathpc.scale.laws import Fitted, Measurement, fit
from chathpc.scale.loss import Cause, Costs, Loss, standing
from chathpc.scale.series import Kind, Series
from chathpc.scale.thresholds import threshold

#: At most so many places are ranked at the target.
_PLACES = 6
#: A crossing is looked for up to so many times the largest scale, in steps of a factor.
_FURTHEST, _STEP = 1024.0, 2**0.25


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a place costs the busiest worker at the target."""

    node: int
    cost: Range


@dataclass(frozen=True, slots=True)
class Prediction:
    """The busiest worker's time at a target, efficiency against the smallest scale (None with the problem's size), and who has it.

    `refusal` says why nothing is predicted; everything else is then None or empty.
    """

    at: Mapping[str, float]
    elapsed: Range | None
    efficiency: Range | None
    ranked: tuple[Ranked, ...]
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Crossing:
    """The scale from which on workers wait longer than they compute; `low` and `high` where the laws' 80 % intervals say it at first
    and at last (infinite: not within the range that was looked at). `refusal` as for predictions.
    """

    value: float
    low: float
    high: float
    refusal: str = ""


def law_of(series: Series, cost: FloatArray) -> Fitted | None:
    """The law of a cost (one number a run) along the series' parameter; None where it is nothing everywhere."""
    if not np.any(cost > 0):
        return None
    return fit(
        [
            Measurement({series.parameter: point.value}, tuple(max(float(cost[run]), 0.0) for run in point.runs))
            for point in series.points
        ]
    )


def cost_at(costs: Costs, node: int, loss: Loss | None = None) -> FloatArray:
    """What a place with all below it costs a worker, by run: its mean computing, or the busiest worker's whole time."""
    inside = slice(node, int(costs.joint.tree.end[node]))
    table = costs.computing if loss == Loss.COMPUTING else costs.of(Loss.GROWTH)
    found: FloatArray = table[:, inside].sum(axis=1)
    return found


def laws_of_places(series: Series, costs: Costs, causes: Sequence[Cause]) -> dict[int, Fitted]:
    """The laws of what the largest places cost, those of the causes first; none inside another."""
    laws = ((node, law_of(series, cost_at(costs, node))) for node in _places(series, costs, causes))
    return {node: law for node, law in laws if law is not None}


def predict(
    series: Series, costs: Costs, whole: Fitted | None, laws: Mapping[int, Fitted], target: float
) -> Prediction:
    """Time and efficiency at a value of the series' parameter, and the places that have most of it there, from the law of the elapsed
    time and those of places.
    """
    at = {series.parameter: target}
    refusal = _refusal(series, costs)
    if whole is None or refusal:
        return Prediction(at, None, None, (), refusal or "nothing was measured")
    if told := whole.refusal(at):
        return Prediction(at, None, None, (), told)
    elapsed = whole.predict(at)
    ranked = sorted((Ranked(node, law.predict(at)) for node, law in laws.items()), key=lambda each: -each.cost.value)
    if ranked and ranked[0].cost.value > elapsed.high:
        # A place that grows is small at the scales that were measured: the law of the whole does not see it yet.
        return Prediction(
            at, None, None, (), "the laws of a part and of the whole disagree that far; measure larger scales"
        )
    return Prediction(at, elapsed, _efficiency(series, costs, elapsed, target), tuple(ranked[:_PLACES]))


def _refusal(series: Series, costs: Costs) -> str:
    if len(series.points) < 3:
        return f"{len(series.points)} values of {series.parameter} tell no law; measure three at least, better five"
    if series.kind != Kind.PROBLEM_SIZE and not costs.told.all():
        return "the profiles do not show all workers"
    return ""


def _efficiency(series: Series, costs: Costs, elapsed: Range, target: float) -> Range | None:
    if series.kind not in (Kind.STRONG, Kind.WEAK):
        return None
    first = series.points[0]
    reference = float(np.mean(costs.elapsed[list(first.runs)]))
    ideal = reference * (first.value / target if series.kind == Kind.STRONG else 1.0)
    value, low, high = (ideal / max(each, 1e-300) for each in (elapsed.value, elapsed.high, elapsed.low))
    return Range(value, low, high)


def _places(series: Series, costs: Costs, causes: Sequence[Cause]) -> list[int]:
    tree = costs.joint.tree
    chosen = [cause.node for cause in causes if cause.node]
    chosen = [node for node in chosen if not any(other < node < tree.end[other] for other in chosen)]
    covered = tree.inside(np.array(sorted(set(chosen)), dtype=np.int32)) if chosen else np.zeros(len(tree), dtype=bool)
    own = costs.of(Loss.GROWTH)[list(series.points[-1].runs)].mean(axis=0)
    rest = np.where(covered, 0.0, own)
    large = [
        standing(series, costs, int(node))
        for node in np.argsort(-rest)[:_PLACES]
        if rest[node] > threshold("min_loss") * own.sum()
    ]
    large = [node for node in large if not any(node <= cause < tree.end[node] for cause in chosen)]
    return [*dict.fromkeys(chosen), *large]


def crossing(series: Series, costs: Costs) -> Crossing | None:
    """Where waiting (for others, for messages, at locks) overtakes computing; None with the problem's size, or where nobody waits."""
    if series.kind == Kind.PROBLEM_SIZE or not costs.told.all() or int(costs.workers.max()) < 2:
        return None
    lost = (costs.uneven + costs.waiting).sum(axis=1)
    useful = costs.computing.sum(axis=1)
    if refusal := _refusal(series, costs):
        return Crossing(np.inf, np.inf, np.inf, refusal)
    first, second = law_of(series, lost), law_of(series, useful)
    if first is None or second is None:
        return None
    found = [np.inf, np.inf, np.inf]
    scale = series.values[0]
    while scale <= _FURTHEST * series.values[-1]:
        at = {series.parameter: scale}
        waits, works = first.predict(at), second.predict(at)
        for number, past in enumerate((waits.value > works.value, waits.high > works.low, waits.low > works.high)):
            if past:
                found[number] = min(found[number], scale)
        scale *= _STEP
    refusal = (
        ""
        if np.isinf(found[0])
        else first.refusal({series.parameter: found[0]}) or second.refusal({series.parameter: found[0]})
    )
    return Crossing(found[0], found[1], found[2], refusal)
