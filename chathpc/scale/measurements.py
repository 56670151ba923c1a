"""A series of which only costs are known, by place and point (a file of Extra-P): laws, growth and larger scales, without workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.report import PlaceRecord
from chathpc.scale import words
from chathpc.scale.extrap import Measured
from chathpc.scale.laws import Fitted, Measurement, fit
from chathpc.scale.record import (
    FindingRecord,
    LawRecord,
    PointRecord,
    PredictionRecord,
    Scaling,
    is_below,
)
from chathpc.scale.series import is_workers, slice_along
from chathpc.scale.thresholds import threshold

#: Between the parts of a call path.
_BELOW = "->"
_FURTHER, _PLACES = 4.0, 6
#: Metrics that are seconds.
_TIMES = ("time", "runtime")


def scaling_of(
    path: Path,
    measured: Measured,
    at: Sequence[Mapping[str, float]],
    *,
    along: str | None = None,
    metric: str | None = None,
) -> Scaling:
    """The record: one law a place over all parameters, drawn along one of them with the others at their largest values.

    `metric` is the one to look at, by default the time, else the first. UsageError for a metric or parameter that is not there.
    """
    metrics = list(dict.fromkeys(name for _, name in measured))
    chosen = metric or next((name for name in metrics if name.lower() in _TIMES), metrics[0])
    places = {place: found for (place, name), found in measured.items() if name == chosen}
    if not places:
        raise UsageError(
            f"{path.name} has no metric {clean(chosen)}.", hint=f"It has: {', '.join(map(clean, metrics))}."
        )
    names = list(next(iter(places.values()))[0].parameters)
    parameter = along or next((name for target in at for name in target), names[0])
    if parameter not in names or any(not set(target) <= set(names) for target in at):
        raise UsageError(f"{path.name} has other parameters.", hint=f"It has: {', '.join(map(clean, names))}.")
    whole = _whole(places)
    along_it, fixed = slice_along(whole, parameter, [name for name in names if name != parameter])
    series = sorted(along_it, key=lambda each: each.parameters[parameter])
    targets = [{**fixed, **target} for target in at] or [
        {**fixed, parameter: series[-1].parameters[parameter] * _FURTHER}
    ]
    laws = {place: fit(found) for place, found in places.items()}
    law = fit(whole)
    last = float(np.mean(series[-1].values))
    findings = [] if last <= 0 else _findings(places, laws, law, parameter, series[-1].parameters, last, targets)
    shown = ", ".join(words.value(each.parameters[parameter]) for each in series)
    what = "the time" if chosen.lower() in _TIMES else chosen or "the cost"
    headline = f"No place grows much faster than it should along {parameter} ({shown})."
    if findings:
        here = words.at_value(parameter, series[-1].parameters[parameter])
        part = numbers.percent(findings[0].costs[-1] / last)
        headline = f"{findings[0].name} {findings[0].why}; at {here} it has {part} of {what}."
    kind: Literal["unknown", "problem size"] = "unknown" if is_workers(parameter) else "problem size"
    unit = "s" if chosen.lower() in _TIMES else ""
    from chathpc import __version__

    return Scaling(
        title=clean(path.name), formats=["Extra-P"], verdict="grows" if findings else "scales", headline=clean(headline),
        parameter=clean(parameter),
        kind=kind, kind_reason="a file of Extra-P holds costs alone", source="as the file tells", worker="worker", fixed=fixed, metric=clean(chosen),
        unit=unit, points=[_point(each, parameter, series[0]) for each in series],
        loss=None, hot_path=[], findings=findings, law=_law(law, parameter, fixed, targets),
        predictions=[_predicted(laws, law, target, unit) for target in targets],
        crossing=None, next_run=None, spread=None, tree=[], notes=[], versions={"chathpc": __version__},
    )  # fmt: skip


def _whole(places: Mapping[str, Sequence[Measurement]]) -> list[Measurement]:
    """The cost of everything: that of the place all others are below, else the sum over places, by point."""
    root = next(
        (place for place in places if all(other == place or other.startswith(place + _BELOW) for other in places)), None
    )
    if root is not None:
        return list(places[root])
    rows: dict[tuple[tuple[str, float], ...], list[tuple[float, ...]]] = {}
    for each in chain.from_iterable(places.values()):
        rows.setdefault(tuple(each.parameters.items()), []).append(each.values)
    return [Measurement(dict(point), tuple(map(sum, zip(*values, strict=False)))) for point, values in rows.items()]


def _point(found: Measurement, parameter: str, first: Measurement) -> PointRecord:
    mean = float(np.mean(found.values))
    return PointRecord(
        value=found.parameters[parameter], repetitions=len(found.values), workers=0.0, elapsed=mean,
        spread=float(np.std(found.values, ddof=1)) if len(found.values) > 1 else 0.0,
        speedup=float(np.mean(first.values)) / mean if mean else 1.0,
    )  # fmt: skip


def _findings(
    places: Mapping[str, Sequence[Measurement]], laws: Mapping[str, Fitted], whole: Fitted, parameter: str, last: Mapping[str, float],
    total: float, targets: Sequence[Mapping[str, float]],
) -> list[FindingRecord]:  # fmt: skip
    """Places that grow: with workers beyond what is constant, with the size of the problem faster than it and than the whole."""
    least = 0.0 if is_workers(parameter) else threshold("superlinear")
    found = []
    for place, law in laws.items():
        growth = law.growth(parameter, last)
        along = [
            each
            for each in places[place]
            if all(each.parameters[name] == last[name] for name in last if name != parameter)
        ]
        along.sort(key=lambda each: each.parameters[parameter])
        costs = [float(np.mean(each.values)) for each in along] or [0.0]
        # Of the whole with workers; with the size of the problem what exceeds growth in proportion.
        ideal = 0.0 if least == 0.0 else costs[0] * last[parameter] / along[0].parameters[parameter] if along else 0.0
        cost = costs[-1] - ideal
        if (
            growth.low <= least - (0.0 if least == 0.0 else 0.2)
            or growth.value <= least
            or cost < threshold("min_loss") * total
        ):
            continue
        found.append(
            FindingRecord(
                loss="growth", name=clean(place.rsplit(_BELOW, 1)[-1] or "the whole"), where=PlaceRecord(path=[clean(each) for each in place.split(_BELOW)]),
                why=f"grows {words.growth_words(law, parameter)}", cause=None if is_workers(parameter) else "quadratic-algorithm", advice="",
                share=cost / total, seconds=cost, error=law.noise * cost,
                costs=costs,
                law=_law(law, parameter, {name: value for name, value in last.items() if name != parameter}, targets),
            )
        )  # fmt: skip
    inner = [each for each in found if not any(is_below(other, each) for other in found)]
    return sorted(inner, key=lambda each: -each.share)[:_PLACES]


def _law(law: Fitted, parameter: str, fixed: Mapping[str, float], targets: Sequence[Mapping[str, float]]) -> LawRecord:
    column = law.points[:, law.hypotheses.parameters.index(parameter)]
    return LawRecord.of(law, parameter, max([float(column.max()), *(target[parameter] for target in targets)]), fixed)


def _predicted(laws: Mapping[str, Fitted], whole: Fitted, target: Mapping[str, float], unit: str) -> PredictionRecord:
    if refusal := whole.refusal(target, unit):
        return PredictionRecord.of(target, None, refusal=refusal)
    ranked = (
        (place.rsplit(_BELOW, 1)[-1], law.predict(target))
        for place, law in laws.items()
        if place and not law.refusal(target) and not any(other.startswith(place + _BELOW) for other in laws)
    )
    return PredictionRecord.of(target, whole.predict(target), ranked)
