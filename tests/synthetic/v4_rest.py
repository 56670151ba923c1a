"""trace.db, metrics/default.yaml and src/ of a synthetic HPCToolkit v4.0 database."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.synthetic.v4_meta import Shape

ELEMENT = np.dtype([("time", "<u8"), ("context", "<u4")])

#: (times in nanoseconds, context ids) of one location; id 0 is idle.
TraceLine = tuple[NDArray[np.uint64], NDArray[np.uint32]]

#: {operator: [operand, …]}; an operand is a number, a formula, or the name of a metric.
Formula = Mapping[str, Sequence["Formula | str | float"]]


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured metric."""

    name: str
    description: str = ""
    visible: bool = True


@dataclass(frozen=True, slots=True)
class Derived:
    """A metric that exists only as a formula in default.yaml."""

    name: str
    formula: Formula
    description: str = ""
    format: str = ""
    visible: bool = True


def write_traces(path: Path, lines: Mapping[int, TraceLine], shape: Shape) -> None:
    """Write trace.db; keys of `lines` are location numbers from 0, the profile's index being one more."""
    section = len(shape.header(b"trce", [(0, 0)]))
    header_size, row_size = len(shape.extended(b"\0" * 32)), len(shape.extended(b"\0" * 24))
    rows_at = section + header_size
    at = rows_at + row_size * len(lines)
    times = [times for times, _ in lines.values() if len(times)]
    span = (min(int(t[0]) for t in times), max(int(t[-1]) for t in times)) if times else (0, 0)
    head = shape.header(b"trce", [(at - section, section)])
    head += shape.extended(struct.pack("<QIBxxxQQ", rows_at, len(lines), row_size, *span))
    with path.open("wb") as file:
        file.write(head)
        for location, (when, _) in lines.items():
            end = at + ELEMENT.itemsize * len(when)
            file.write(shape.extended(struct.pack("<IxxxxQQ", location + 1, at, end)))
            at = end
        for when, contexts in lines.values():
            elements = np.empty(len(when), dtype=ELEMENT)
            elements["time"], elements["context"] = when, contexts
            file.write(elements.tobytes())
        file.write(b"trace.db")


def taxonomy(metrics: Sequence[Metric], derived: Sequence[Derived], partials: Sequence[tuple[str, int]]) -> str:
    """metrics/default.yaml: the inputs with anchors, then one root per metric, as hpcprof writes them."""
    out = ["version: 0", "inputs:"]
    for metric in metrics:
        for scope in ("execution", "lex_aware", "function"):
            for formula, combine in partials:
                word = ("sum", "min", "max")[combine]
                out.append(f"  - &{_anchor(metric.name, scope, formula, word)}")
                out.append(f"    metric: {_quoted(metric.name)}")
                out += [f"    scope: {scope}", f"    formula: {formula}", f"    combine: {word}"]
    out.append("roots:")
    for metric in metrics:
        out += _root(metric.name, metric.description or metric.name, metric.visible)
        out += _variant("Sum", "[number, percent]", "", partial(_reference, metric.name))
        if len(partials) > 1:
            out += _statistics(metric.name)
    for one in derived:
        out += _root(one.name, one.description or one.name, one.visible)
        out += _variant('""', "[number]", one.format, partial(_formula, one.formula))
    return "\n".join(out)


def _root(name: str, description: str, visible: bool) -> list[str]:
    lines = [f"  - name: {_quoted(name)}", f"    description: {_quoted(description)}"]
    return lines + ([] if visible else ["    visible by default: false"]) + ["    variants:"]


def _variant(name: str, render: str, layout: str, value: Callable[[str], str]) -> list[str]:
    return [
        f"      {name}:",
        f"        render: {render}",
        *([f"        format: {json.dumps(layout)}"] if layout else []),
        "        formula:",
        "          inclusive:",
        f"            standard: {value('execution')}",
        "          exclusive:",
        f"            custom: {value('lex_aware')}",
        f"            standard: {value('function')}",
    ]


def _statistics(name: str) -> list[str]:
    def mean(scope: str) -> str:
        return f"{{/: [*{_anchor(name, scope)}, *{_anchor(name, scope, '1')}]}}"

    def deviation(scope: str) -> str:
        squares = f"{{/: [*{_anchor(name, scope, '($$^2)')}, *{_anchor(name, scope, '1')}]}}"
        return f'{{sqrt: [{{"-": [{squares}, {{^: [{mean(scope)}, 2]}}]}}]}}'

    out = _variant("Mean", "[number]", "", mean) + _variant("StdDev", "[number]", "", deviation)
    out += _variant("CfVar", "[number]", "", lambda scope: f"{{/: [{deviation(scope)}, {mean(scope)}]}}")
    out += _variant("Min", "[number]", "", lambda scope: "*" + _anchor(name, scope, "$$", "min"))
    return out + _variant("Max", "[number]", "", lambda scope: "*" + _anchor(name, scope, "$$", "max"))


def _formula(formula: Formula | str | float, scope: str) -> str:
    if isinstance(formula, str):
        return "*" + _anchor(formula, scope)
    if isinstance(formula, int | float):
        return str(formula)
    ((operator, operands),) = formula.items()
    return f'{{"{operator}": [{", ".join(_formula(one, scope) for one in operands)}]}}'


def _reference(metric: str, scope: str) -> str:
    return "*" + _anchor(metric, scope)


def _anchor(metric: str, scope: str, formula: str = "$$", combine: str = "sum") -> str:
    return f"{_escaped(metric)}-{combine}-{_escaped(formula)}-{scope}"


def _escaped(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", lambda match: f"x{ord(match[0]):02x}_", text)


def _quoted(text: str) -> str:
    """`text` as a YAML scalar: plain where that is safe, else in double quotes with YAML's own escapes."""
    if re.fullmatch(r"[A-Za-z][\w (),.:-]*[\w)]", text, re.ASCII) and ": " not in text:
        return text
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text) + '"'
