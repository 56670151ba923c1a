"""`--require NAME=VALUE`: what a figure must reach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from chathpc.bench.figures import Figure, Figures
from chathpc.errors import UsageError
from chathpc.profile.text import clean

_GATE = re.compile(r"(?:(?P<group>[^:=]+):)?(?P<key>[a-z0-9-]+)=(?P<value>-?\d+(?:\.\d+)?)")
#: Shares are required in percent, points in percentage points; other figures as they are.
_SCALE = {"share": 100.0, "points": 100.0}


@dataclass(frozen=True, slots=True)
class Gate:
    """A figure's key and what it must reach, of one set of cases or of all."""

    key: str
    value: float
    group: str | None = None


def parse_gate(text: str) -> Gate:
    """`detection1=90`, `apps:experts=85`; UsageError for anything else."""
    match = _GATE.fullmatch(text)
    if match is None or not isfinite(value := float(match["value"])):
        raise UsageError(
            f"--require {clean(text)!r} is not NAME=VALUE.",
            hint="For example: --require detection1=90 --require ece=0.1",
        )
    return Gate(match["key"], value, match["group"])


def failures(gates: Sequence[Gate], whole: Figures, parts: Sequence[Figures]) -> list[str]:
    """A sentence for each gate that is not passed; a figure without a case passes none.

    UsageError for a figure or a set that does not exist.
    """
    sentences = []
    for gate in gates:
        figure = _find(gate, whole, parts)
        scale = _SCALE.get(figure.unit, 1.0)
        value = figure.value * scale
        passed = value >= gate.value - _SLACK if figure.more else value <= gate.value + _SLACK
        if isnan(value) or not passed:
            found = "no case for it" if isnan(value) else f"{value:.4g}"
            word = "at least" if figure.more else "at most"
            name = f"{gate.group}:{gate.key}" if gate.group else gate.key
            sentences.append(f"{name}: {word} {gate.value:g} was required, measured: {found}.")
    return sentences


#: Nine tenths of ten are 90 %, however the division is rounded.
_SLACK = 1e-9


def _find(gate: Gate, whole: Figures, parts: Sequence[Figures]) -> Figure:
    chosen = whole
    if gate.group is not None:
        named = {part.name: part for part in parts}
        if gate.group not in named:
            raise UsageError(f"There is no set {clean(gate.group)!r}.", hint=f"Sets: {', '.join(named)}.")
        chosen = named[gate.group]
    figure = chosen.get(gate.key)
    if figure is None:
        known = ", ".join(each.key for each in whole.figures)
        raise UsageError(f"There is no figure {clean(gate.key)!r}.", hint=f"Figures: {known}.")
    return figure
