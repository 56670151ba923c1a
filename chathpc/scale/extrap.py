"""Input files of Extra-P: measured costs by call path and metric, in its text format, JSON (both layouts) and JSON Lines.

Formats: https://github.com/extra-p/extrap/blob/master/docs/file-formats.md
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chathpc.adapters.lines import lines
from chathpc.errors import AdapterError
from chathpc.scale.laws import Measurement, gathered

#: By call path and metric ("" where the file names none): its measurements, in the order of the file.
Measured = dict[tuple[str, str], tuple[Measurement, ...]]
#: Call path, metric, point and values, as a file has them one after the other.
Row = tuple[str, str, Mapping[str, float], list[float]]

_POINT = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
#: A JSON file is read as a whole; larger ones are not input files of Extra-P.
_LARGEST = 256 << 20


def recognises(path: Path) -> bool:
    """True for a file that begins as one of Extra-P's does."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(4096).decode("utf-8", "replace")
    except OSError:
        return False
    rows = [row.strip() for row in head.splitlines() if row.strip() and not row.startswith("#")]
    first = rows[0] if rows else ""
    return first.startswith("PARAMETER ") or (
        first.startswith("{")
        and (('"params"' in first and '"value"' in first) or ('"parameters"' in head and '"measurements"' in head))
    )


def read(path: Path) -> Measured:
    """The measurements of a file of Extra-P, whichever of the formats it has; AdapterError if it has none of them or is damaged."""
    found: dict[tuple[str, str], list[tuple[Mapping[str, float], list[float]]]] = {}
    for callpath, metric, point, values in _rows(path):
        found.setdefault((callpath, metric), []).append((point, values))
    if not found:
        raise _unread(path, "has no measurements")
    return {key: gathered(rows) for key, rows in found.items()}


def _rows(path: Path) -> Iterator[Row]:
    first = next((row for row in lines(path) if row.strip() and not row.startswith("#")), "").lstrip()
    if not first.startswith("{"):
        return _text(path)
    try:
        head = json.loads(first)
    except (ValueError, RecursionError):
        head = None
    return _json_lines(path) if isinstance(head, dict) and "params" in head else _json(path)


def _unread(path: Path, why: str) -> AdapterError:
    return AdapterError(why, path=path, hint="Extra-P's text format, JSON and JSON Lines are read.")


def _number(text: object, path: Path, where: str) -> float:
    try:
        value = float(text) if isinstance(text, (str, int, float)) and not isinstance(text, bool) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise _unread(path, f"{where}: a number was expected, not {str(text)[:40]!r}")
    return value


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
                values = [_number(each, path, where) for each in rest.split()]
                if not values:
                    raise _unread(path, f"{where}: DATA without a value")
                yield region, metric, points[place], values
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
        values = [_number(each, path, where) for each in group.replace("(", " ").replace(")", " ").split()]
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
        point = {str(name): _number(value, path, where) for name, value in row["params"].items()}
        values = row["value"] if isinstance(row["value"], list) else [row["value"]]
        yield (
            str(row.get("callpath", "")),
            str(row.get("metric", "")),
            point,
            [_number(each, path, where) for each in values],
        )


def _json(path: Path) -> Iterator[Row]:
    try:
        if path.stat().st_size > _LARGEST:
            raise _unread(path, f"has more than {_LARGEST >> 20} MB")
        content = json.loads("\n".join(lines(path)))
        yield from (_nested if isinstance(content["measurements"], dict) else _numbered)(content, path)
    except OSError as error:
        raise AdapterError(error.strerror or "cannot be read", path=path) from error
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise _unread(path, f"is not JSON as Extra-P writes it ({type(error).__name__}: {str(error)[:60]})") from error


def _nested(content: Any, path: Path) -> Iterator[Row]:
    names = [str(name) for name in content["parameters"]]
    for callpath, metrics in content["measurements"].items():
        for metric, rows in metrics.items():
            for row in rows:
                numbers = [_number(each, path, f"a point of {callpath[:40]!r}") for each in row["point"]]
                values = [_number(each, path, f"a value of {callpath[:40]!r}") for each in row["values"]]
                yield callpath, metric, dict(zip(names, numbers, strict=True)), values


def _numbered(content: Any, path: Path) -> Iterator[Row]:
    """The layout in which parameters, call paths, metrics and points are listed with their numbers."""
    parameters, callpaths, metrics = (
        {each["id"]: str(each["name"]) for each in content[part]} for part in ("parameters", "callpaths", "metrics")
    )
    points = {
        each["id"]: {
            parameters[pair["parameter_id"]]: _number(pair["parameter_value"], path, "a coordinate")
            for pair in each["parameter_value_pairs"]
        }
        for each in content["coordinates"]
    }
    for each in content["measurements"]:
        value = _number(each["value"], path, "a measurement")
        yield callpaths[each["callpath_id"]], metrics[each["metric_id"]], points[each["coordinate_id"]], [value]
