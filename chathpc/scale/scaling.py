"""Profiles of a series in, what it loses and how it goes on out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np

from chathpc import __version__
from chathpc.diagnosis import catalogue
from chathpc.diagnosis.diagnose import models_of
from chathpc.errors import UsageError
from chathpc.profile.remark import GrownPlace
from chathpc.report import PlaceRecord
from chathpc.scale import extrap, words
from chathpc.scale.efficiency import efficiencies_of
from chathpc.scale.laws import Fitted, fit, gathered
from chathpc.scale.loss import MAIN, Cause, Costs, Loss, Losses, costs_of, losses_of, name_of, path_names, place_of
from chathpc.scale.outlook import Outlook, crossing, law_of, laws_of_places, measurements
from chathpc.scale.record import (
    FindingRecord,
    NodeRecord,
    PredictionRecord,
    Scaling,
    StepRecord,
    is_below,
)
from chathpc.scale.series import Kind, Series, is_workers, read_series
from chathpc.scale.spread import spread_of
from chathpc.scale.thresholds import threshold

#: Where nothing else is asked for, the prediction is for so many times the largest scale.
_FURTHER = 4.0
_STEPS = 8
#: Places of the tree that are kept: with a hundredth of the time, and at most so many.
_HUNDREDTH, _NODES = 0.01, 150


def scale(
    paths: Sequence[str | Path],
    *,
    at: Sequence[Mapping[str, float]] = (),
    values: Mapping[str, Mapping[str, float]] | None = None,
    along: str | None = None,
    kind: Kind | None = None,
    metric: str | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Scaling:
    """Where the program that was measured at several scales loses, why, how that grows, and what it will cost at others.

    `at` are targets; the first one's first parameter is the one along which the runs are looked at, and targets with more parameters are
    predicted from the runs at all values of them. A file of Extra-P has laws alone. The rest as for `series.read_series`.
    """
    if len(paths) == 1 and extrap.recognises(Path(paths[0])):
        return extrap.scaling_of(Path(paths[0]), at, along=along, metric=metric)
    along = along or next((name for target in at for name in target), None)
    series = read_series(
        [Path(path) for path in paths], values=values, parameter=along, kind=kind, metric=metric, progress=progress
    )
    return scaling_of(series, at, progress)


def scaling_of(
    series: Series, at: Sequence[Mapping[str, float]] = (), progress: Callable[[str], None] = lambda stage: None
) -> Scaling:
    """The same of a series that was read. UsageError for a target that these runs say nothing of."""
    asked = at or [{series.parameter: series.values[-1] * _FURTHER}]
    if not all({series.parameter} <= set(target) <= {series.parameter, *series.fixed} for target in asked):
        more = f" and any of {', '.join(sorted(series.fixed))}" if series.fixed else "=N"
        hint = f"Give --at {'with ' if series.fixed else ''}{series.parameter}{more}."
        raise UsageError(f"These runs are a series along {series.parameter}.", hint=hint)
    if any(is_workers(name) and value % 1 for target in at for name, value in target.items()):
        raise UsageError("Ranks, threads and the like are whole numbers.", hint="Give --at one, such as --at ranks=8.")
    targets = [target[series.parameter] for target in asked if len(target) == 1]
    several = [target for target in asked if len(target) > 1]
    progress("comparing the runs")
    costs = costs_of(series)
    if not costs.elapsed.any():
        raise UsageError("No time of the program itself was measured in these runs.", hint="Measure longer runs.")
    progress("looking for laws")
    efficiencies, losses = efficiencies_of(costs), losses_of(costs)
    findings = [found for cause in losses.causes if (found := _finding(costs, cause, targets)) is not None]
    laws = laws_of_places(costs, losses.causes) if targets else {}
    whole = replace(fit(measurements(costs, costs.elapsed)), parts=tuple(laws.values()))
    outlook = Outlook(costs, whole, laws)
    next_run = outlook.next_run(targets[0]) if targets else None
    verdict, headline = words.verdict(costs, efficiencies, losses, findings)
    first = series.runs[0]
    return Scaling(
        title=first.profile.title,
        formats=sorted({run.profile.format for run in series.runs}),
        verdict=verdict,
        headline=headline,
        parameter=series.parameter,
        kind=series.kind.value,
        kind_reason=series.reason,
        data_growth=costs.data[0],
        source=series.source,
        worker=words.worker(series),
        fixed=dict(series.fixed),
        metric=first.measured.metric.id,
        unit=first.measured.metric.unit.value,
        points=efficiencies,
        loss=losses.total if len(losses.hot_path) or costs.is_told else None,
        hot_path=[
            StepRecord(name=name_of(costs, node), loss=float(losses.by_place[node]))
            for node in losses.hot_path[-_STEPS:]
            if node
        ],
        findings=findings if verdict != "scales" else [],
        law=whole.record(series.parameter, targets),
        predictions=[*map(outlook.predict, targets), *(_several(series, several) if several else [])],
        crossing=crossing(costs),
        next_run=next_run,
        spread=spread_of(series.largest.profile, series.largest.measured.metric.id),
        tree=_tree(costs, losses),
        notes=[*words.notes(costs), *words.too_few_cores(costs, next_run.at if next_run is not None else None)],
        versions={"chathpc": __version__},
    )


def grown_of(found: Scaling) -> tuple[GrownPlace, ...]:
    """What a series over sizes of the problem is evidence of in the diagnosis of one of its runs: the functions that grow, each once.

    UsageError where other things than the size of the problem vary.
    """
    if found.kind != Kind.PROBLEM_SIZE.value:
        raise UsageError(
            f"The runs of the series differ in {found.parameter}, not in the size of the problem.",
            hint="Measure one: chathpc measure --vary n=1000,2000,4000 -o runs -- ./app {n}",
        )
    growing = [each for each in found.findings if each.loss == "growth" and each.law is not None]
    rest, sizes = _rest(found, growing), tuple(point.value for point in found.points)
    places: dict[str, GrownPlace] = {}
    # A function stands for what it calls, as its cost holds theirs, and of its calls the costliest.
    for each in sorted(growing, key=lambda each: (-each.costs[-1], each.name != each.where.function)):
        name = each.where.function or each.name
        if each.law is not None and name not in places:
            growth = each.law.growth
            places[name] = GrownPlace(
                function=name, file=each.where.file, line=each.where.line, parameter=found.parameter,
                exponent=(growth.value, growth.low, growth.high), sizes=sizes, costs=tuple(each.costs), unit=found.unit, rest=rest, name=each.name,
                data=found.data_growth,
            )  # fmt: skip
    return tuple(places.values())


def _rest(found: Scaling, growing: Sequence[FindingRecord]) -> float | None:
    """The exponent of the time without the places that grow, from the smallest to the largest size; None where there is hardly a rest."""
    first, last = found.points[0], found.points[-1]
    outer = [each for each in growing if not any(is_below(each, other) for other in growing)]
    left = [point.elapsed - sum(each.costs[at] for each in outer) for at, point in ((0, first), (-1, last))]
    if min(left[0] / first.elapsed, left[1] / last.elapsed) < threshold("min_loss"):
        return None
    return log(left[1] / left[0]) / log(last.value / first.value)


# -- parts -----------------------------------------------------------------------------------------------------


def _finding(costs: Costs, cause: Cause, targets: Sequence[float]) -> FindingRecord | None:
    series, law = costs.series, law_of(costs, cause.cost)
    if cause.loss == Loss.GROWTH and (law is None or not _grows(costs, cause, law)):
        return None
    place = place_of(costs, cause.node)
    id, advice = words.catalogued(series, cause), ""
    if id is not None and cause.loss == Loss.GROWTH:
        # What makes it grow is not known, so that a remedy for one way would fit few.
        advice = catalogue.cause(id).why
    elif id is not None:
        told = catalogue.cause(id).advice_for(*models_of(series.largest.measured.facts, place.file or ""))
        advice = told[0] if told else ""
    return FindingRecord(
        loss=cause.loss.value,
        name="the whole program" if cause.general else name_of(costs, cause.node),
        where=PlaceRecord.model_validate(place).model_copy(update={"path": path_names(costs, cause.node)}),
        why=words.why(series, cause, law),
        cause=id,
        advice=advice,
        share=cause.share,
        seconds=cause.seconds,
        error=cause.error,
        costs=[float(costs.mean(cause.cost, at)) for at in range(len(series.points))],
        law=None if law is None else law.record(series.parameter, targets),
    )


def _grows(costs: Costs, cause: Cause, law: Fitted) -> bool:
    """True if a place grows faster than the data in proportion. No law has a power above 3, which those of a box exceed: there costs decide."""
    found, data = law.growth(costs.series.parameter).value, costs.data[0]
    first, last = (float(costs.mean(cause.cost, at)) for at in (0, -1))
    if data > 1 and first > 0:
        found = max(found, log(last / first) / log(costs.series.values[-1] / costs.series.values[0]))
    return found >= threshold("superlinear") * data


def _tree(costs: Costs, losses: Losses) -> list[NodeRecord]:
    """Places with a hundredth of the time or of the loss, the heaviest ones of many."""
    tree = costs.joint.tree
    own = costs.mean(costs.whole)
    time = tree.inclusive(own) / max(own.sum(), 1e-300)
    weight = np.maximum(time, np.abs(losses.by_place))
    least = max(_HUNDREDTH, float(np.sort(weight)[-_NODES]) if len(tree) > _NODES else 0.0)
    top = next((node for node in np.flatnonzero(time > 1 - _HUNDREDTH).tolist() if costs.joint.name(node) in MAIN), 0)
    kept: dict[int, int] = {}
    for node in (top, *np.flatnonzero(weight >= least).tolist()):
        if node == top or int(tree.parent[node]) in kept:
            kept.setdefault(node, len(kept))
    return [
        NodeRecord(
            name=name_of(costs, node) if node else "all",
            parent=kept.get(int(tree.parent[node]), -1) if at else -1,
            time=float(time[node]),
            loss=float(losses.by_place[node]),
        )
        for node, at in kept.items()
    ]


def _several(series: Series, targets: Sequence[Mapping[str, float]]) -> list[PredictionRecord]:
    """Times at values of several parameters, by one law of the runs at all values of them."""
    every, names = (*series.runs, *series.others), (series.parameter, *series.fixed)
    points = [{name: run.parameters[name] for name in names} for run in every]
    elapsed = costs_of(replace(series, runs=every)).elapsed.tolist()
    law = fit(gathered((point, [time]) for point, time in zip(points, elapsed, strict=True)))
    unit = series.runs[0].measured.metric.unit.value
    return [law.prediction({**series.fixed, **target}, unit) for target in targets]
