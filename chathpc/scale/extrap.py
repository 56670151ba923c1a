"""Files of Extra-P: costs by call path, metric and point, and what they tell: laws, growth and larger scales, without workers.

Its text format, JSON (both layouts) and JSON Lines: https://github.com/extra-p/extrap/blob/master/docs/file-formats.md
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from chathpc import __version__
from chathpc.adapters.glance import Glance
from chathpc.adapters.lines import lines
from chathpc.errors import AdapterError, UsageError
from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.report import PlaceRecord
from chathpc.scale import words
from chathpc.scale.laws import Fitted, Measurement, fit, gathered
from chathpc.scale.record import FindingRecord, PointRecord, RangeRecord, Scaling, is_below
from chathpc.scale.series import is_workers, slice_along
from chathpc.scale.thresholds import threshold

#: By call path and metric ("" where the file names none): its measurements, in the order of the file.
Measured = dict[tuple[str, str], tuple[Measurement, ...]]
#: Call path, metric, point and values, as a file has them one after the other.
Row = tuple[str, str, Mapping[str, float], list[float]]

_POINT = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
#: A JSON file is read as a whole; larger ones are not input files of Extra-P.
_LARGEST = 256 << 20
#: What reading JSON raises where it is not as expected.
_UNEXPECTED = (KeyError, TypeError, AttributeError, ValueError, RecursionError)
#: Between the parts of a call path.
_BELOW = "->"
_FURTHER, _PLACES = 4.0, 6
#: Metrics that are seconds.
_TIMES = ("time", "runtime")


# -- reading ---------------------------------------------------------------------------------------------------


def recognises(path: Path) -> bool:
    """True for a file that begins as one of Extra-P's does."""
    head = Glance(path).text
    rows = (row.strip() for row in head.splitlines())
    first = next((row for row in rows if row and not row.startswith("#")), "")
    if first.startswith("{"):
        return ('"params"' in first and '"value"' in first) or ('"parameters"' in head and '"measurements"' in head)
    return first.startswith("PARAMETER ")


def read(path: Path) -> Measured:
    """The measurements of a file of Extra-P, whichever of the formats it has; AdapterError if it has none of them or is damaged."""
    first = next((row for row in lines(path) if row.strip() and not row.startswith("#")), "").lstrip()
    try:
        head = json.loads(first)
    except (ValueError, RecursionError):
        head = None
    rows = _json if first.startswith("{") else _text
    if isinstance(head, dict) and "params" in head:
        rows = _json_lines
    found: dict[tuple[str, str], list[tuple[Mapping[str, float], list[float]]]] = {}
    for callpath, metric, point, values in rows(path):
        found.setdefault((callpath, metric), []).append((point, values))
    if not found:
        raise _unread(path, "has no measurements")
    return {key: gathered(each) for key, each in found.items()}


def _unread(path: Path, why: str) -> AdapterError:
    return AdapterError(why, path=path, hint="Extra-P's text format, JSON and JSON Lines are read.")


def _numbers(found: Iterable[object], path: Path, where: str) -> list[float]:
    values = []
    for each in found:
        try:
            value = float(each) if isinstance(each, (str, int, float)) and not isinstance(each, bool) else math.nan
        except (ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            raise _unread(path, f"{where}: a number was expected, not {str(each)[:40]!r}")
        values.append(value)
    return values


def _text(path: Path) -> Iterator[Row]:
    names: list[str] = []
    points: list[dict[str, float]] = []
    region = metric = ""
    place = 0
    for count, line in enumerate(lines(path), 1):
        word, _, rest = line.strip().partition(" ")
        rest, where = rest.strip(), f"line {count}"
        if not word or word.startswith("#"):
            continue
        match word:
            case "PARAMETER":
                names += rest.split()
            case "POINTS":
                points += _points(rest, names, path, where)
            case "REGION":
                region, place = rest, 0
            case "METRIC":
                metric, place = rest, 0
            case "DATA":
                if place >= len(points):
                    raise _unread(path, f"{where}: there are more DATA lines than the {len(points)} points")
                if not rest:
                    raise _unread(path, f"{where}: DATA without a value")
                yield region, metric, points[place], _numbers(rest.split(), path, where)
                place += 1
            case _:
                raise _unread(path, f"{where}: {word[:40]!r} is not a section")


def _points(text: str, names: list[str], path: Path, where: str) -> list[dict[str, float]]:
    """The points of a POINTS line: `4 8 16` or `(4) (8)` for one parameter, `( 20 1 ) ((20) (2))` for several."""
    if not names:
        raise _unread(path, f"{where}: POINTS before any PARAMETER")
    groups = [found.group(1) for found in _POINT.finditer(text)] if "(" in text else text.split()
    found = []
    for group in groups:
        values = _numbers(group.replace("(", " ").replace(")", " ").split(), path, where)
        if len(names) == 1 and len(values) > 1:
            found += [{names[0]: each} for each in values]
            continue
        if len(values) != len(names):
            raise _unread(path, f"{where}: a point has {len(values)} values for {len(names)} parameters")
        found.append(dict(zip(names, values, strict=True)))
    return found


def _json_lines(path: Path) -> Iterator[Row]:
    for count, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        where = f"line {count}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _unread(path, f"{where} is not JSON") from error
        if not isinstance(row, dict) or not isinstance(row.get("params"), dict) or "value" not in row:
            raise _unread(path, f'{where} has no "params" and "value"')
        point = dict(zip(row["params"], _numbers(row["params"].values(), path, where), strict=True))
        values = row["value"] if isinstance(row["value"], list) else [row["value"]]
        yield str(row.get("callpath", "")), str(row.get("metric", "")), point, _numbers(values, path, where)


def _json(path: Path) -> Iterator[Row]:
    try:
        if path.stat().st_size > _LARGEST:
            raise _unread(path, f"has more than {_LARGEST >> 20} MB")
        content = json.loads("\n".join(lines(path)))
        yield from (_nested if isinstance(content["measurements"], dict) else _numbered)(content, path)
    except OSError as error:
        raise AdapterError(error.strerror or "cannot be read", path=path) from error
    except _UNEXPECTED as error:
        raise _unread(path, f"is not JSON as Extra-P writes it ({type(error).__name__}: {str(error)[:60]})") from error


def _nested(content: Any, path: Path) -> Iterator[Row]:
    names = [str(name) for name in content["parameters"]]
    for callpath, metrics in content["measurements"].items():
        for metric, rows in metrics.items():
            for row in rows:
                point = _numbers(row["point"], path, f"a point of {callpath[:40]!r}")
                values = _numbers(row["values"], path, f"a value of {callpath[:40]!r}")
                yield callpath, metric, dict(zip(names, point, strict=True)), values


def _numbered(content: Any, path: Path) -> Iterator[Row]:
    """The layout in which parameters, call paths, metrics and points are listed with their numbers."""
    parameters, callpaths, metrics = (
        {each["id"]: str(each["name"]) for each in content[part]} for part in ("parameters", "callpaths", "metrics")
    )
    points = {}
    for each in content["coordinates"]:
        pairs = each["parameter_value_pairs"]
        values = _numbers((pair["parameter_value"] for pair in pairs), path, "a coordinate")
        points[each["id"]] = dict(zip((parameters[pair["parameter_id"]] for pair in pairs), values, strict=True))
    for each in content["measurements"]:
        values = _numbers([each["value"]], path, "a measurement")
        yield callpaths[each["callpath_id"]], metrics[each["metric_id"]], points[each["coordinate_id"]], values


# -- what they tell --------------------------------------------------------------------------------------------


def scaling_of(
    path: Path, at: Sequence[Mapping[str, float]], *, along: str | None = None, metric: str | None = None
) -> Scaling:
    """The record: one law a place over all parameters, drawn along one of them with the others at their largest values.

    `metric` is the one to look at, by default the time, else the first. UsageError for a metric or parameter that is not there.
    """
    measured = read(path)
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
    everything = _whole(places)
    along_it, fixed = slice_along(everything, parameter, [name for name in names if name != parameter])
    series = sorted(along_it, key=lambda each: each.parameters[parameter])
    largest = series[-1].parameters[parameter]
    targets = [{**fixed, **target} for target in at] or [{**fixed, parameter: largest * _FURTHER}]
    scales = [target[parameter] for target in targets]
    laws, law = {place: fit(found) for place, found in places.items()}, fit(everything)
    points = []
    for each in series:
        mean = float(np.mean(each.values))
        points.append(
            PointRecord(
                value=each.parameters[parameter], repetitions=len(each.values), workers=0.0, elapsed=mean,
                spread=float(np.std(each.values, ddof=1)) if len(each.values) > 1 else 0.0,
                speedup=float(np.mean(series[0].values)) / mean if mean else 1.0,
            )
        )  # fmt: skip
    findings = _findings(places, laws, parameter, series, scales) if points[-1].elapsed > 0 else []
    unit, what = ("s", "the time") if chosen.lower() in _TIMES else ("", chosen or "the cost")
    headline = f"No place grows much faster than it should along {parameter} ({', '.join(words.value(each.value) for each in points)})."
    if findings:
        part = numbers.percent(findings[0].costs[-1] / points[-1].elapsed)
        headline = (
            f"{findings[0].name} {findings[0].why}; at {words.at_value(parameter, largest)} it has {part} of {what}."
        )
    return Scaling(
        title=clean(path.name), formats=["Extra-P"], verdict="grows" if findings else "scales", headline=clean(headline),
        parameter=clean(parameter), kind="unknown" if is_workers(parameter) else "problem size",
        kind_reason="a file of Extra-P holds costs alone", source="as the file tells", worker="worker", fixed=fixed, metric=clean(chosen),
        unit=unit, points=points, loss=None, hot_path=[], findings=findings, law=law.record(parameter, scales, fixed),
        predictions=[law.prediction(each, unit, _ranked(laws, each)) for each in targets],
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


def _findings(
    places: Mapping[str, Sequence[Measurement]], laws: Mapping[str, Fitted], parameter: str, series: Sequence[Measurement],
    targets: Sequence[float],
) -> list[FindingRecord]:  # fmt: skip
    """Places that grow: with workers beyond what is constant, with the size of the problem faster than it and than the whole."""
    workers, last, total = is_workers(parameter), series[-1].parameters, float(np.mean(series[-1].values))
    fixed = {name: value for name, value in last.items() if name != parameter}
    least, lowest = (0.0, 0.0) if workers else (threshold("superlinear"), threshold("superlinear") - 0.2)
    found = []
    for place, law in laws.items():
        along = [each for each in places[place] if fixed.items() <= each.parameters.items()]
        along.sort(key=lambda each: each.parameters[parameter])
        costs = [float(np.mean(each.values)) for each in along] or [0.0]
        # Of the whole with workers; with the size of the problem what exceeds growth in proportion.
        ideal = 0.0 if workers or not along else costs[0] * last[parameter] / along[0].parameters[parameter]
        cost, growth = costs[-1] - ideal, law.growth(parameter, last)
        if growth.low <= lowest or growth.value <= least or cost < threshold("min_loss") * total:
            continue
        found.append(
            FindingRecord(
                loss="growth", name=clean(place.rsplit(_BELOW, 1)[-1] or "the whole"), where=PlaceRecord(path=[clean(each) for each in place.split(_BELOW)]),
                why=f"grows {words.growth_words(law, parameter)}", cause=None if workers else "quadratic-algorithm", advice="",
                share=cost / total, seconds=cost, error=law.noise * cost, costs=costs, law=law.record(parameter, targets, fixed),
            )
        )  # fmt: skip
    inner = [each for each in found if not any(is_below(other, each) for other in found)]
    return sorted(inner, key=lambda each: -each.share)[:_PLACES]


def _ranked(laws: Mapping[str, Fitted], target: Mapping[str, float]) -> Iterator[tuple[str, RangeRecord]]:
    """The innermost places with their costs at a point, where these can be extrapolated."""
    for place, law in laws.items():
        inner = bool(place) and not any(other.startswith(place + _BELOW) for other in laws)
        if inner and not law.refusal(target):
            yield place.rsplit(_BELOW, 1)[-1], law.predict(target)
