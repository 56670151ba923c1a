"""A model's answer as records: each part of it that holds by construction, and why the others do not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chathpc import validation
from chathpc.diagnosis.catalogue import cause as entry
from chathpc.reading import change as changes
from chathpc.reading.question import Question
from chathpc.reading.wording import Printed, Vocabulary, printed
from chathpc.report import HypothesisRecord, PlaceRecord, StatementRecord

OTHER = "other"
#: As many of each are looked at.
MOST_HYPOTHESES, MOST_STATEMENTS = 3, 6
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n```\s*\Z", re.DOTALL)
_CONFIDENT = {"likely": 1.0, "possible": 0.5, "unlikely": 0.2}

Short = Annotated[str, Field(max_length=200)]


class _Said(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Edit(_Said):
    file: Short
    search: Annotated[str, Field(max_length=6000)]
    replace: Annotated[str, Field(max_length=6000)]


class _Hypothesis(_Said):
    cause: Short
    name: Short = ""
    place: Short
    #: A word that is none of these is no statement of certainty.
    confidence: Annotated[
        Literal["likely", "possible", "unlikely"],
        BeforeValidator(lambda said: said if isinstance(said, str) and said in _CONFIDENT else "possible"),
    ]
    mechanism: str
    cites: Annotated[list[Short], Field(max_length=40)] = []
    against: str = ""
    change: Annotated[list[_Edit], Field(max_length=20)] = []


class _Statement(_Said):
    kind: Literal["reading", "advice"]
    text: str
    cites: Annotated[list[Short], Field(max_length=40)] = []


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model read: hypotheses, the most worthwhile first, and statements, also those that were dropped."""

    hypotheses: tuple[HypothesisRecord, ...] = ()
    statements: tuple[StatementRecord, ...] = ()


def problem(text: str) -> str:
    """What is wrong with the form of an answer, in a clause; empty if nothing is."""
    data = _object(text)
    if data is None:
        return "it is empty" if not text.strip() else "it is not one JSON object"
    lacking = [key for key in ("hypotheses", "statements") if not isinstance(data.get(key), list)]
    return f"it has no list '{lacking[0]}'" if lacking else ""


def read(text: str, question: Question, by: str) -> Reading:
    """The answer `text` to `question` by the model named `by`. Nothing is raised: what does not hold is dropped, with its reason."""
    data = _object(text) or {}
    reader = _Reader(question, by)
    for number, item in enumerate(_list(data, "hypotheses", MOST_HYPOTHESES), 1):
        reader.hypothesis(number, item)
    for item in _list(data, "statements", MOST_STATEMENTS):
        reader.statement(item)
    ranked = sorted(reader.hypotheses, key=lambda each: -_CONFIDENT[each.confidence])
    return Reading(tuple(ranked), tuple(reader.statements))


def statements(text: str, known: Vocabulary, by: str) -> list[StatementRecord]:
    """The statements of an answer that is nothing else (a turn of a chat), each as far as it holds; none where it is no such answer."""
    found = []
    for item in _list(_object(text) or {}, "statements", MOST_STATEMENTS):
        with suppress(ValidationError):
            said = _Statement.model_validate(item)
            held = printed(said.text, known)
            cites = [each for each in (*said.cites, *held.slots) if known.slot(each) is not None]
            found.append(_recorded(said, held, cites, by))
    return found


def _recorded(said: _Statement, held: Printed, cites: Iterable[str], by: str) -> StatementRecord:
    kept, why = list(dict.fromkeys(cites)), held.wrong or None
    return StatementRecord(kind=said.kind, text=held.text, cites=kept, by=by, dropped_because=why)


Model = TypeVar("Model", bound=_Said)


class _Reader:
    """Takes an answer apart."""

    def __init__(self, question: Question, by: str) -> None:
        self.question, self.by = question, by
        self.hypotheses: list[HypothesisRecord] = []
        self.statements: list[StatementRecord] = []

    def hypothesis(self, number: int, item: object) -> None:
        """One hypothesis: cause and place are ids that were given; a text or change that does not hold is dropped alone."""
        said = self._parsed(_Hypothesis, item)
        if said is None:
            return
        place = self.question.place(said.place)
        if said.cause != OTHER and said.cause not in self.question.causes:
            return self._drop("reading", said.mechanism, f"{said.cause[:60]} is not a listed cause")
        if place is None:
            return self._drop("reading", said.mechanism, f"{said.place[:20]} is not a listed place")
        name = self._held("reading", said.name) if said.cause == OTHER else entry(said.cause).title
        if not name:
            return self._drop("reading", said.mechanism, "it has no name")
        change = changes.checked(
            [each.model_dump() for each in said.change], self.question.shown, self.question.vocabulary.knows
        )
        if change.wrong:
            self._drop("advice", "\n".join(each.replace for each in said.change), f"the change: {change.wrong}")
        against = self._held("reading", said.against)
        self.hypotheses.append(
            HypothesisRecord(
                id=f"H{number}",
                cause=said.cause,
                name=name,
                where=PlaceRecord.model_validate(place.place),
                mechanism=self._held("reading", said.mechanism),
                cites=self._cited(said.cites),
                against=[*self.question.refuted.get(said.cause, ()), *([against] if against else [])],
                confidence=said.confidence,
                share=place.share or place.below,
                trial="change" if change.edits else said.cause if said.cause != OTHER else None,
                change=list(change.edits),
                status="refuted" if said.cause in self.question.refuted else "suspected",
                by=self.by,
                supported=said.cause in self.question.found,
            )
        )
        return None

    def statement(self, item: object) -> None:
        """One statement."""
        said = self._parsed(_Statement, item)
        if said is not None:
            held = printed(said.text, self.question.vocabulary)
            cites = (*self._cited(said.cites), *self._told(held.slots))
            self.statements.append(_recorded(said, held, cites, self.by))

    def _parsed(self, model: type[Model], item: object) -> Model | None:
        if isinstance(item, dict):  # what is null is left out
            item = {key: value for key, value in item.items() if value is not None}
        try:
            return model.model_validate(item)
        except ValidationError as error:
            self._drop("reading", "(of another form)", validation.words(error, show=False))
            return None

    def _held(self, kind: Literal["reading", "advice"], text: str) -> str:
        """The text as it may be printed; empty, and noted as dropped, if it may not."""
        if not text.strip():
            return ""
        found = printed(text, self.question.vocabulary)
        if found.wrong:
            self._drop(kind, found.text, found.wrong)
            return ""
        return found.text

    def _cited(self, cites: Sequence[str]) -> list[str]:
        known = [each.strip("{} ") for each in cites]
        unknown = [each for each in known if self.question.stands_for(each) is None]
        if unknown:
            self._drop("reading", "", f"it cites {unknown[0][:60]}, which was not shown")
        return self._told(each for each in known if each not in unknown)

    def _told(self, cites: Iterable[str]) -> list[str]:
        """Citations as a report has them: ids of facts, source lines, and places by their own name."""
        places = ((each, self.question.place(each)) for each in cites)
        return list(dict.fromkeys(each if place is None else place.place.short or place.name for each, place in places))

    def _drop(self, kind: Literal["reading", "advice"], text: str, why: str) -> None:
        self.statements.append(StatementRecord(kind=kind, text=text[:1000], cites=[], by=self.by, dropped_because=why))


def _object(text: str) -> dict[str, Any] | None:
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _list(data: dict[str, Any], key: str, most: int) -> list[object]:
    found = data.get(key)
    return found[:most] if isinstance(found, list) else []
