"""Profiles of a series in, what it loses and how it goes on out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Literal

import numpy as np

from chathpc.diagnosis import catalogue
from chathpc.diagnosis.diagnose import models_of
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.grown import GrownPlace
from chathpc.report import PlaceRecord
from chathpc.scale import extrap, measurements, outlook, runs, words
from chathpc.scale.activities import OPENMP
from chathpc.scale.efficiency import efficiencies_of
from chathpc.scale.experiment import needed, next_run
from chathpc.scale.laws import FEWEST, Fitted, fit, gathered
from chathpc.scale.loss import MAIN, Cause, Costs, Loss, Losses, costs_of, losses_of, name_of, path_names, place_of
from chathpc.scale.record import (
    FindingRecord,
    LawRecord,
    NodeRecord,
    PointRecord,
    PredictionRecord,
    Scaling,
    SpreadRecord,
    StepRecord,
    is_below,
)
from chathpc.scale.series import Kind, Point, Series, read_series
from chathpc.scale.spread import is_small, spread_of
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
        return measurements.scaling_of(Path(paths[0]), extrap.read(Path(paths[0])), at, along=along, metric=metric)
    along = along or next((name for target in at for name in target), None)
    series = read_series(
        [Path(path) for path in paths], values=values, parameter=along, kind=kind, metric=metric, progress=progress
    )
    return scaling_of(series, at, progress)


def scaling_of(
    series: Series, at: Sequence[Mapping[str, float]] = (), progress: Callable[[str], None] = lambda stage: None
) -> Scaling:
    """The same of a series that was read. UsageError for a target that these runs say nothing of."""
    asked = [dict(target) for target in at] or [{series.parameter: series.values[-1] * _FURTHER}]
    _refuse_others(series, asked)
    targets = [target[series.parameter] for target in asked if len(target) == 1]
    several = [target for target in asked if len(target) > 1]
    progress("comparing the runs")
    costs = costs_of(series)
    progress("looking for laws")
    efficiencies, losses = efficiencies_of(series, costs), losses_of(series, costs)
    farthest = max([*targets, series.values[-1]])
    whole = outlook.law_of(series, costs.elapsed)
    findings = [found for cause in losses.causes if (found := _finding(series, costs, cause, farthest)) is not None]
    laws = outlook.laws_of_places(series, costs, losses.causes) if targets else {}
    whole = None if whole is None else replace(whole, parts=tuple(laws.values()))
    predictions = [outlook.predict(series, costs, whole, laws, target) for target in targets]
    verdict, headline = _verdict(series, costs, efficiencies, losses, findings)
    first = series.runs[0]
    return Scaling(
        title=first.profile.title,
        formats=sorted({run.profile.format for run in series.runs}),
        verdict=verdict,
        headline=headline,
        parameter=series.parameter,
        kind=series.kind.value,
        kind_reason=series.reason,
        source=series.source,
        worker=words.worker(series),
        fixed=dict(series.fixed),
        metric=first.measured.metric.id,
        unit=first.measured.metric.unit.value,
        points=efficiencies,
        loss=losses.total if len(losses.hot_path) or costs.told.all() else None,
        hot_path=[
            StepRecord(name=name_of(costs, node), loss=float(losses.by_place[node]))
            for node in losses.hot_path[-_STEPS:]
            if node
        ],
        findings=findings,
        law=_law(series, whole, farthest),
        predictions=[*predictions, *(_several(series, several) if several else [])],
        crossing=outlook.crossing(series, costs),
        next_run=next_run(series, costs, whole, laws, targets[0]) if targets else None,
        spread=_spread(series),
        tree=_tree(series, costs, losses),
        notes=_notes(series, costs),
        versions=_versions(),
    )


def _refuse_others(series: Series, targets: Sequence[Mapping[str, float]]) -> None:
    varied = {series.parameter, *series.fixed}
    if all({series.parameter} <= set(target) <= varied for target in targets):
        return
    hint = f"Give --at {series.parameter}=N."
    if series.fixed:
        hint = f"Give --at with {series.parameter} and any of {', '.join(sorted(series.fixed))}."
    raise UsageError(f"These runs are a series along {series.parameter}.", hint=hint)


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
    rest = _rest(found, growing)
    places: dict[str, GrownPlace] = {}
    # A function stands for what it calls: its cost holds theirs.
    for each in sorted(growing, key=lambda each: each.name != each.where.function):
        name, law = each.where.function or each.name, each.law
        if law is None:
            continue
        places.setdefault(
            name,
            GrownPlace(
                function=name, file=each.where.file, line=each.where.line, parameter=found.parameter,
                exponent=(law.growth.value, law.growth.low, law.growth.high), sizes=tuple(point.value for point in found.points),
                costs=tuple(each.costs), unit=found.unit, rest=rest, name=each.name,
            ),
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


def _finding(series: Series, costs: Costs, cause: Cause, farthest: float) -> FindingRecord | None:
    law = outlook.law_of(series, cause.cost)
    if cause.loss == Loss.GROWTH and (law is None or law.growth(series.parameter).value < threshold("superlinear")):
        return None
    where = PlaceRecord.of(place_of(series, costs, cause.node))
    return FindingRecord(
        loss=cause.loss.value,
        name="the whole program" if cause.general else name_of(costs, cause.node),
        where=where.model_copy(update={"path": path_names(costs, cause.node)}),
        why=words.why(series, cause, law),
        cause=(id := words.catalogued(series, cause)),
        advice="" if id is None else _advice(series, costs, cause, id),
        share=cause.share,
        seconds=cause.seconds,
        error=cause.error,
        costs=[float(series.mean(cause.cost, at)) for at in range(len(series.points))],
        law=_law(series, law, farthest),
    )


def _advice(series: Series, costs: Costs, cause: Cause, id: str) -> str:
    if cause.loss == Loss.GROWTH:
        # What makes it grow is not known, so that a remedy for one way would fit few.
        return catalogue.cause(id).why
    facts = series.runs[series.points[-1].runs[0]].measured.facts
    told = catalogue.cause(id).advice_for(*models_of(facts, place_of(series, costs, cause.node).file or ""))
    return told[0] if told else ""


def _law(series: Series, law: Fitted | None, farthest: float) -> LawRecord | None:
    return None if law is None else LawRecord.of(law, series.parameter, farthest)


def _spread(series: Series) -> SpreadRecord | None:
    largest = series.runs[series.points[-1].runs[0]]
    profile, where = largest.profile, largest.profile.where
    if len(where) < 2 or where.is_gpu.all() or not is_small(profile):
        return None
    return spread_of(profile, largest.measured.metric.id)


def _tree(series: Series, costs: Costs, losses: Losses) -> list[NodeRecord]:
    """Places with a hundredth of the time or of the loss, the heaviest ones of many."""
    tree = costs.joint.tree
    own = series.mean(costs.of(Loss.GROWTH), -1)
    time = tree.inclusive(own) / max(own.sum(), 1e-300)
    weight = np.maximum(time, np.abs(losses.by_place))
    least = max(_HUNDREDTH, float(np.sort(weight)[-_NODES]) if len(tree) > _NODES else 0.0)
    top = next((node for node in np.flatnonzero(time > 1 - _HUNDREDTH).tolist() if costs.joint.name(node) in MAIN), 0)
    kept = {top: 0}
    name = name_of(costs, top) if top else "all"
    found = [NodeRecord(name=name, parent=-1, time=float(time[top]), loss=float(losses.by_place[top]))]
    for node in np.flatnonzero(weight >= least).tolist():
        if node != top and int(tree.parent[node]) in kept:
            kept[node] = len(found)
            found.append(
                NodeRecord(
                    name=name_of(costs, node), parent=kept[int(tree.parent[node])],
                    time=float(time[node]), loss=float(losses.by_place[node]),
                )
            )  # fmt: skip
    return found


def _several(series: Series, targets: Sequence[Mapping[str, float]]) -> list[PredictionRecord]:
    """Times at values of several parameters, by one law of the runs at all values of them."""
    every = (*series.runs, *series.others)
    points = tuple(Point(float(at), (at,)) for at in range(len(every)))
    elapsed = costs_of(replace(series, runs=every, points=points, others=())).elapsed
    names = (series.parameter, *series.fixed)
    law = fit(
        gathered(
            ({name: run.parameters[name] for name in names}, [time])
            for run, time in zip(every, elapsed.tolist(), strict=True)
        )
    )
    found = []
    for target in targets:
        at = {**series.fixed, **target}
        refusal = law.refusal(at, series.runs[0].measured.metric.unit.value)
        found.append(PredictionRecord.of(at, None if refusal else law.predict(at), refusal=refusal))
    return found


def _verdict(
    series: Series,
    costs: Costs,
    efficiencies: Sequence[PointRecord],
    losses: Losses,
    findings: Sequence[FindingRecord],
) -> tuple[Literal["scales", "loses", "grows", "cannot-tell"], str]:
    first, last = words.point(series, 0), words.point(series, -1)
    worst = findings[0] if findings else None
    if series.kind == Kind.PROBLEM_SIZE:
        if worst is None:
            return "scales", f"Nothing grows much faster than {series.parameter} from {first} to {last}."
        part = numbers.percent(worst.costs[-1] / (float(series.mean(costs.elapsed, -1)) or 1.0))
        return "grows", f"{worst.name} {worst.why}; at {last} it has {part} of the time."
    if not costs.told.all():
        some = runs.untold(series, costs)
        which = f"Some profiles ({some})" if some else "The profiles"
        return (
            "cannot-tell",
            f"{which} do not show their workers one by one: only the growth of their time is known.",
        )
    lost, whole = numbers.percent(max(losses.total, 0.0)), f"of all {words.worker(series)}s' time"
    if worst is not None and worst.share > losses.total:
        return "loses", (
            f"At {last}, {worst.name} costs {numbers.percent(worst.share)} {whole}: it {worst.why}. "
            f"Other places cost less than at {first}, so that {lost} is lost in all."
        )
    if worst is not None:
        return "loses", f"At {last}, {lost} {whole} is lost against {first}; most in {worst.name}: it {worst.why}."
    if losses.total > 1 - threshold("scales_well"):
        factor = _least_factor(efficiencies[-1])
        return "loses", f"At {last}, {lost} {whole} is lost against {first}{factor}, at no single place that is sure."
    overall = efficiencies[-1].overall
    said = "" if overall is None else f", and {numbers.percent(min(overall, 1.0))} of it is useful"
    unjudged = "; waiting in OpenMP was not judged, as threads had no core" if costs.starved.any() else ""
    return "scales", f"From {first} to {last} {lost} of the time is lost{said}{unjudged}."


def _least_factor(point: PointRecord) -> str:
    """What most of a loss is due to, by the smallest of POP's factors; empty if none is small."""
    factors = {
        "load balance": point.balance,
        "communication": point.communication,
        "computation scaling": point.computation,
    }
    known = {name: value for name, value in factors.items() if value is not None and value < threshold("scales_well")}
    name = min(known, key=known.__getitem__, default="")
    return f", mostly by {name} ({numbers.percent(known[name])})" if name else ""


def _notes(series: Series, costs: Costs) -> list[str]:
    notes = list(series.notes)
    if costs.starved.any():
        notes.append(_starved(series, costs))
    if FEWEST <= len(series.points) < threshold("few_points"):
        notes.append(f"{len(series.points)} scales are few for a law: five at least are usual.")
    if all(len(point.runs) == 1 for point in series.points):
        notes.append("One run a scale: how much runs differ by themselves is not known.")
    wanted = needed(series, costs)
    fewest = min(len(point.runs) for point in series.points)
    if wanted > fewest:
        notes.append(f"Runs differ: {wanted} at each scale would tell a time to ± 5 %, and there are {fewest}.")
    notes += [*runs.outliers(series, costs), runs.overhead(series, costs)]
    if series.others:
        notes.append(
            f"{len(series.others)} runs at other values of {', '.join(series.fixed)} are not part of this series."
        )
    return [note for note in notes if note]


def _starved(series: Series, costs: Costs) -> str:
    scales = sorted({series.runs[at].parameters[series.parameter] for at in np.flatnonzero(costs.starved)})
    where = f"{series.parameter} {', '.join(map(words.value, scales))}" if scales != series.values else "all scales"
    who, more = (
        ("threads", ", and efficiencies are at most those shown") if costs.workers.max() > 1 else ("the program", "")
    )
    judged = "; waiting in OpenMP is not judged there" if np.isin(costs.kind, OPENMP).any() else ""
    return f"At {where} {who} had no core for a good part of the time, which does not count{judged}{more}."


def _versions() -> dict[str, str]:
    from chathpc import __version__

    return {"chathpc": __version__}
