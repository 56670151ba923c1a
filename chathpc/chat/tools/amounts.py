"""How the tools write what they found: amounts with their share of the run, bounds on rows, sources."""

from __future__ import annotations

from math import isclose

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.record import FactList
from chathpc.diagnosis.fact import Part, Quantity
from chathpc.profile import numbers
from chathpc.profile.metric import Metric
from chathpc.prompts.untrusted import quote

#: Rows of an answer unless the question says otherwise, and at most.
ROWS = 10
MOST_ROWS = 100

METRIC = Field(default="", max_length=200, description="Id of a metric; empty: the time of the host.")
NAME = "A function (solve), call path (main > solve), file or line (heat.c:12)."


def limit(default: int = ROWS) -> int:
    """The field that bounds the rows of an answer."""
    found: int = Field(default=default, ge=1, le=MOST_ROWS, description="At most this many rows.")
    return found


def share_of(value: float, total: float) -> float:
    """`value` as a part of `total` (0..1); NaN for a total of nothing."""
    return value / total if total > 0 else float("nan")


def amount(value: float, total: float, metric: Metric) -> str:
    """`3.17 s (35.2 %)`."""
    share = share_of(value, total)
    text = numbers.quantity(value, metric.unit.value)
    return f"{text} ({numbers.percent(share)})" if np.isfinite(share) else text


def whole(metric: Metric) -> str:
    """What shares are of: `the run's cpu.time`, `the wall-clock time`."""
    return "the wall-clock time" if metric.id == "cpu.time.wall" else f"the run's {metric.id}"


def source_of(session: Session, metric: Metric, how: str) -> str:
    """Where a number comes from: file, metric, computation."""
    path = session.measured.sources[0].path.name if session.measured.sources else session.measured.format
    return quote(f"{path}: {metric.source_name or metric.id}, {how}")


def held(own: float, inclusive: float, metric: Metric, *, first: str = "itself") -> tuple[Part, ...]:
    """The other one of a place's own and inclusive values, as a part of a fact on the first; none where both are the same."""
    unit = metric.unit.value
    if isclose(own, inclusive, rel_tol=1e-9):
        return ()
    return (Part("with all that it calls", inclusive, unit),) if first == "itself" else (Part("itself", own, unit),)


def facts_on(session: Session, metric: Metric, how: str) -> FactList:
    """Facts about a metric, whose values are parts of the run's, and how they were computed."""
    return FactList(
        source_of(session, metric, how), metric, Quantity(session.total(metric), metric.unit.value, metric.id)
    )


def has(name: str, own: float, inclusive: float, total: float, metric: Metric, *, first: str = "itself") -> str:
    """A sentence on a place's own and inclusive value, the one that was asked for `first`; one number where both are the same."""
    if isclose(own, inclusive, rel_tol=1e-9):
        return f"{name} has {amount(own, total, metric)} of {whole(metric)} itself."
    parts = {
        "itself": f"{amount(own, total, metric)} of {whole(metric)} itself",
        "inclusive": f"{amount(inclusive, total, metric)} of {whole(metric)} with all it calls",
    }
    one, other = (parts[first], parts["inclusive" if first == "itself" else "itself"])
    return f"{name} has {one} and {other}."
