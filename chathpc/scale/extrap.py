"""Input files of Extra-P: measured costs by call path and metric, in its text format, JSON (both layouts) and JSON Lines.

Formats: https://github.com/extra-p/extrap/blob/master/docs/file-formats.md
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.adapters.lines import lines
from chathpc.errors import AdapterError
from chathpc.scale.laws import Measurement

#: By call path and metric ("" where the file names none): its measurements, in the order of the file.
Measured = dict[tuple[str, str], tuple[Measurement, ...]]

_HINT = "Extra-P's text format, JSON and JSON Lines are read."
_POINT = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
#: A JSON file is read as a whole; larger ones are not input files of Extra-P.
_LARGEST = 256 << 20


@dataclass
class _Gathered:
    """Values by call path and metric, and there by point."""

    path: Path
    found: dict[tuple[str, str], dict[tuple[tuple[str, float], ...], list[float]]] = field(default_factory=dict)

    def add(self, callpath: str, metric: str, point: Mapping[str, float], values: Iterable[float]) -> None:
        key = tuple(point.items())
        self.found.setdefault((callpath, metric), {}).setdefault(key, []).extend(values)

    def measured(self) -> Measured:
        """All that was gathered; AdapterError if nothing was."""
        if not self.found:
            raise AdapterError("has no measurements", path=self.path, hint=_HINT)
        return {
            key: tuple(Measurement(dict(point), tuple(values)) for point, values in points.items())
            for key, points in self.found.items()
        }


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
    rows = lines(path)
    first = next((row for row in rows if row.strip() and not row.startswith("#")), "").lstrip()
    if not first.startswith("{"):
        return _text(path)
    try:
        head = json.loads(first)
    except (ValueError, RecursionError):
        head = None
    if isinstance(head, dict) and "params" in head:
        return _json_lines(path)
    return _json(path)


def _number(text: object, path: Path, where: str) -> float:
    try:
        value = float(text) if isinstance(text, (str, int, float)) and not isinstance(text, bool) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise AdapterError(f"{where}: a number was expected, not {str(text)[:40]!r}", path=path, hint=_HINT)
    return value


def _text(path: Path) -> Measured:
    gathered = _Gathered(path)
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
                    raise AdapterError(
                        f"{where}: there are more DATA lines than the {len(points)} points", path=path, hint=_HINT
                    )
                values = [_number(each, path, where) for each in rest.split()]
                if not values:
                    raise AdapterError(f"{where}: DATA without a value", path=path, hint=_HINT)
                gathered.add(region, metric, points[place], values)
                place += 1
            case _:
                raise AdapterError(f"{where}: {word[:40]!r} is not a section", path=path, hint=_HINT)
    return gathered.measured()


def _points(text: str, names: list[str], path: Path, where: str) -> list[dict[str, float]]:
    """The points of a POINTS line: `4 8 16` or `(4) (8)` for one parameter, `( 20 1 ) ((20) (2))` for several."""
    if not names:
        raise AdapterError(f"{where}: POINTS before any PARAMETER", path=path, hint=_HINT)
    groups = [found.group(1) for found in _POINT.finditer(text)] if "(" in text else text.split()
    found = []
    for group in groups:
        values = [_number(each, path, where) for each in group.replace("(", " ").replace(")", " ").split()]
        if len(names) == 1 and len(values) > 1:
            found += [{names[0]: each} for each in values]
            continue
        if len(values) != len(names):
            raise AdapterError(
                f"{where}: a point has {len(values)} values for {len(names)} parameters", path=path, hint=_HINT
            )
        found.append(dict(zip(names, values, strict=True)))
    return found


def _json_lines(path: Path) -> Measured:
    gathered = _Gathered(path)
    for count, line in enumerate(lines(path), 1):
        if not line.strip():
            continue
        where = f"line {count}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise AdapterError(f"{where} is not JSON", path=path, hint=_HINT) from error
        if not isinstance(row, dict) or not isinstance(row.get("params"), dict) or "value" not in row:
            raise AdapterError(f'{where} has no "params" and "value"', path=path, hint=_HINT)
        point = {str(name): _number(value, path, where) for name, value in row["params"].items()}
        values = row["value"] if isinstance(row["value"], list) else [row["value"]]
        numbers = [_number(each, path, where) for each in values]
        gathered.add(str(row.get("callpath", "")), str(row.get("metric", "")), point, numbers)
    return gathered.measured()


def _json(path: Path) -> Measured:
    try:
        if path.stat().st_size > _LARGEST:
            raise AdapterError(f"has more than {_LARGEST >> 20} MB", path=path, hint=_HINT)
        content = json.loads("\n".join(lines(path)))
        gathered = _Gathered(path)
        if isinstance(content["measurements"], dict):
            names = [str(name) for name in content["parameters"]]
            for callpath, metrics in content["measurements"].items():
                for metric, rows in metrics.items():
                    for row in rows:
                        numbers = [_number(each, path, f"a point of {callpath[:40]!r}") for each in row["point"]]
                        values = [_number(each, path, f"a value of {callpath[:40]!r}") for each in row["values"]]
                        gathered.add(callpath, metric, dict(zip(names, numbers, strict=True)), values)
            return gathered.measured()
        named = {
            part: {each["id"]: str(each["name"]) for each in content[part]}
            for part in ("parameters", "callpaths", "metrics")
        }
        points = {
            each["id"]: {
                named["parameters"][pair["parameter_id"]]: _number(pair["parameter_value"], path, "a coordinate")
                for pair in each["parameter_value_pairs"]
            }
            for each in content["coordinates"]
        }
        for each in content["measurements"]:
            keys = named["callpaths"][each["callpath_id"]], named["metrics"][each["metric_id"]]
            gathered.add(*keys, points[each["coordinate_id"]], [_number(each["value"], path, "a measurement")])
    except OSError as error:
        raise AdapterError(error.strerror or "cannot be read", path=path) from error
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise AdapterError(
            f"is not JSON as Extra-P writes it ({type(error).__name__}: {str(error)[:60]})", path=path, hint=_HINT
        ) from error
    return gathered.measured()
