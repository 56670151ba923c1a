"""What a tool is, what it is asked and what it answers: amounts with their share of the run, bounds on rows, sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isclose, isfinite
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chathpc.chat.session import Session
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.metric import Metric
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import Timeline
from chathpc.prompts.untrusted import quote

#: Unit of a column whose values are parts of the whole (0..1).
SHARE = "share"

_LONGEST_STATEMENT, _LONGEST_SENTENCE = 2_000, 600
#: Times of which the profile knows what they are a part of.
WHOLES = {"io.time": "run.time"}

Cell = str | float | int | None


class Arguments(BaseModel):
    """What a tool is asked: bounded, and nothing beyond the schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=2_000)

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """JSON schema, as a model is told."""
        schema = cls.model_json_schema()
        schema.pop("description", None)
        schema.pop("title", None)
        for part in schema.get("properties", {}).values():
            part.pop("title", None)
        return schema


class NoArguments(Arguments):
    """A tool that needs no arguments."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer's table: its title, and the unit of its numbers; without a unit it holds text.

    `prose` is set for sentences, which are wrapped where they do not fit; only the last column holds any.
    """

    title: str
    unit: str | None = None
    prose: bool = False

    def written(self, cell: Cell) -> str:
        """A cell as a person reads it."""
        if cell is None:
            return ""
        if isinstance(cell, str):
            return cell
        if not isfinite(cell):
            return numbers.UNKNOWN
        if self.unit == SHARE:
            return numbers.percent_cell(cell)
        return str(cell) if self.unit is None else numbers.quantity(float(cell), self.unit)


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answers. All text from the profile in it is escaped: one line, no control characters, no chat-template tokens.

    `text` says it in sentences, `rows` (under `columns`) in detail, at most as many as were asked for; `omitted` counts the others.
    Every number in them is in `facts`, in the form that the claim check takes. Where the question could not be answered,
    `error` says why in one sentence, `hint` what to ask instead, and all else is empty. `lines` is text that keeps its form:
    source or a command. `complete` is set where `text` is the whole answer, and no model could word the facts any better.
    """

    text: str = ""
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    facts: tuple[Fact, ...] = ()
    omitted: int = 0
    lines: tuple[str, ...] = ()
    complete: bool = False
    error: str = ""
    hint: str = ""

    def as_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        if self.error:
            return {"error": self.error, "hint": self.hint}
        return {
            "text": self.text,
            "columns": [{"title": column.title, "unit": column.unit, "prose": column.prose} for column in self.columns],
            "rows": [list(map(_finite, row)) for row in self.rows],
            "omitted": self.omitted,
            "lines": list(self.lines),
            "facts": [
                {
                    "id": fact.id,
                    "statement": fact.statement,
                    "value": _finite(fact.value),
                    "unit": fact.unit,
                    "subject": fact.subject,
                    "source": fact.source,
                }
                for fact in self.facts
            ],
        }

    def as_text(self) -> str:
        """Plain text with an aligned table, for programs without a renderer of their own."""
        if self.error:
            end = "" if self.error.endswith((".", "?", "!")) else "."
            return f"{self.error}{end} {self.hint}".rstrip()
        parts = [self.text] if self.text else []
        if self.rows:
            parts.append("\n".join(_aligned(self.columns, self.rows)))
        if self.lines:
            parts.append("\n".join(self.lines))
        if self.omitted:
            parts.append(f"({numbers.count(self.omitted)} more rows)")
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Tool:
    """A read-only question to a profile: what it tells in one sentence, its arguments, and the function that answers.

    `run` may raise ChathpcError for what the profile does not have; `call` turns that into a Result. Models that call tools are not
    told of one that is not `to_models`: what it says, others tell them too.
    """

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Session, Any], Result]
    to_models: bool = True

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return self.arguments.parameters()


def function(name: str, description: str, arguments: type[Arguments]) -> dict[str, object]:
    """A tool as OpenAI's chat protocol describes functions."""
    return {"name": name, "description": description, "parameters": arguments.parameters()}


def refused(error: str, hint: str = "") -> Result:
    """The answer to a question that cannot be answered."""
    return Result(error=quote(error, longest=400), hint=prose(hint))


class FactList:
    """Collects the facts of an answer and numbers them F1, F2, …; amounts, of a `metric` or of time, are parts of the `whole`."""

    def __init__(self, source: str, metric: Metric | None = None, whole: Quantity | None = None) -> None:
        self.items: list[Fact] = []
        self._source, self._whole = source, whole
        self._metric = None if metric is None else metric.id
        self._unit = metric.unit.value if metric is not None else whole.unit if whole is not None else ""

    def amount(
        self,
        subject: str,
        value: float,
        *,
        form: Form = Form.NAME,
        parts: tuple[Part, ...] = (),
        where: Place | None = None,
    ) -> None:
        """How much of the metric something has, as a part of the whole."""
        whole, metric = self._whole, self._metric
        self.add(
            Kind.AMOUNT, subject, value, self._unit, form=form, whole=whole, parts=parts, metric=metric, where=where
        )

    def value(self, subject: str, value: float, unit: str = "", *, form: Form = Form.NAME) -> None:
        """A value of the metric, or that follows from it in another unit."""
        self.add(Kind.VALUE, subject, value, unit or self._unit, form=form, metric=self._metric)

    def count(self, subject: str, number: int, what: str) -> None:
        """How many of something there are."""
        self.add(Kind.COUNT, subject, number, what, form=Form.ONE)

    def add(
        self,
        kind: Kind,
        subject: str,
        value: float,
        unit: str,
        *,
        form: Form = Form.NAME,
        whole: Quantity | None = None,
        parts: tuple[Part, ...] = (),
        metric: str | None = None,
        where: Place | None = None,
    ) -> None:
        """One fact. A value that was not measured is none."""
        id, source = f"F{len(self.items) + 1}", self._source
        if isfinite(value):
            self.items.append(
                Fact(id, kind, subject, float(value), unit, source, whole, parts, form=form, metric=metric, where=where)
            )

    def all(self) -> tuple[Fact, ...]:
        """The facts, in order."""
        return tuple(self.items)


def prose(text: str) -> str:
    """A sentence of the diagnosis, or that a user wrote, as it stands in an answer."""
    return quote(text, longest=_LONGEST_SENTENCE)


def escaped(item: Fact) -> Fact:
    """Evidence of the diagnosis as it stands in an answer."""
    return replace(
        item.renamed(lambda text: quote(text, longest=_LONGEST_STATEMENT)),
        source=quote(item.source, longest=_LONGEST_STATEMENT),
        where=None if item.where is None else _escaped_place(item.where),
    )


def _escaped_place(where: Place) -> Place:
    return replace(
        where,
        function=None if where.function is None else quote(where.function),
        file=None if where.file is None else quote(where.file),
        kernel=None if where.kernel is None else quote(where.kernel),
        path=tuple(map(quote, where.path)),
    )


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not isfinite(cell) else cell


def _aligned(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> list[str]:
    cells = [[column.title for column in columns]]
    cells += [[column.written(cell) for column, cell in zip(columns, row, strict=True)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [column.unit is not None for column in columns]
    return [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]


#: Rows of an answer unless the question says otherwise, and at most.
ROWS = 10
MOST_ROWS = 100

METRIC = Field(default="", max_length=200, description="Id of a metric; empty: the time of the host.")
NAME = "A function (solve), call path (main > solve), file or line (heat.c:12)."
PLACE = Field(min_length=1, max_length=2_000, description=NAME)


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
    known = {"cpu.time.wall": "the wall-clock time", "run.time": "the run time of all processes"}
    return known.get(metric.id, f"the run's {metric.id}")


def of_what(session: Session) -> str:
    """That shares are parts of what was profiled, where that is not the run."""
    if not session.of_devices or session.measured.timeline is not None:
        return ""
    return " Shares are of what was profiled; the rest of the run is not in the profile."


def origin(profile: Profile) -> str:
    """The name of what a profile was read from."""
    return profile.sources[0].path.name if profile.sources else profile.format


def source_of(session: Session, metric: Metric, how: str) -> str:
    """Where a number comes from: file, metric, computation."""
    return quote(f"{origin(session.measured)}: {metric.source_name or metric.id}, {how}")


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


def facts_of_trace(recorded: Timeline) -> FactList:
    """Facts about a recorded trace, whose times are parts of the recording."""
    source = quote("trace: union of intervals, so that what overlaps is counted once")
    return FactList(source, whole=Quantity(recorded.seconds, "s", "the recording"))


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
