"""What a model says to what was looked up: a small one tells the facts in its words, one that reads makes statements; each part is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from chathpc.chat.tools import Result
from chathpc.diagnosis.fact import Fact, amount
from chathpc.diagnosis.records import Diagnosis
from chathpc.llm.backend import Backend, Completion, Request
from chathpc.prompts.build import build_chat
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote
from chathpc.pruners.source import SourceText
from chathpc.reading.answer import statements
from chathpc.reading.retelling import Told, amounts, narrate, retold, sentences, speaks, statement
from chathpc.reading.wording import Vocabulary
from chathpc.report import StatementRecord

#: Is given each sentence that may be printed, as soon as it is complete.
OnSentence = Callable[[str], None]

#: Facts that a small model is told: its prompt has room for no more.
_TOLD = 6
#: A numbered line of source as the tools show it: one share or two, number, text.
_SOURCE_LINE = re.compile(r"^(?:.{8}){1,2} +(\d+)(?:  (.*))?$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Worded:
    """A model's statements, also those that were dropped, and the tokens that they took."""

    statements: tuple[StatementRecord, ...]
    tokens: int

    @property
    def holds(self) -> bool:
        """Whether any is printed."""
        return any(each.dropped_because is None for each in self.statements)


def numbered(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts of several tools under ids of their own, F1, F2, …; evidence of the diagnosis keeps its id, each fact once."""
    seen: dict[object, Fact] = {}
    for fact in facts:
        seen.setdefault(_key(fact), fact)
    named: list[Fact] = []
    for fact in seen.values():
        number = 1 + sum(one.id.startswith("F") for one in named)
        named.append(fact if fact.id.startswith("E") else replace(fact, id=f"F{number}"))
    return tuple(named)


def _key(fact: Fact) -> object:
    return fact.id if fact.id.startswith("E") else fact.says


class Material:
    """What a model that reads was told in an answer: facts, the places that they are about, and source."""

    def __init__(self) -> None:
        self._facts: list[Fact] = []
        self._places: dict[str, str] = {}  #: name → id
        self._names: set[str] = set()
        self._numbers: set[str] = set()

    def add(self, result: Result) -> list[str]:
        """Take up a result; its facts as the model reads them, with their ids and those of their places."""
        self._facts += result.facts
        ids = {_key(fact): fact.id for fact in numbered(self._facts)}
        self._read(result)
        told = []
        for fact in result.facts:
            place = "" if fact.where is None else fact.where.kernel or fact.where.function or ""
            at = f" {{{self._places.setdefault(place, f'P{len(self._places) + 1}')}}}: {quote(place)}." if place else ""
            told.append(f"{ids[_key(fact)]}: {quote(fact.statement, longest=300)}{at}")
        return told

    def _read(self, result: Result) -> None:
        """The names in source, in tables and in trees that a tool showed."""
        file = next((fact.where.file for fact in result.facts if fact.where is not None and fact.where.file), None)
        lines = [found[2] or "" for line in result.lines if (found := _SOURCE_LINE.match(line))]
        if not lines:
            cells = (str(cell) for row in result.rows for cell in row)
            self._names.update(name for text in (*cells, *result.lines) for name in _IDENTIFIER.findall(text))
        elif file:
            text = SourceText(file, lines)
            self._names |= text.names_on(range(1, len(lines) + 1))
            self._numbers |= {number for line in text.lines for number in re.findall(r"\d[\w.]*", line)}

    def vocabulary(self) -> Vocabulary:
        """What statements may use."""
        facts = numbered(self._facts)
        values = {fact.id: amount(fact) for fact in facts}
        values |= {id: "that place" if speaks(name) else quote(name) for name, id in self._places.items()}
        return Vocabulary(values.get, frozenset(self._names), frozenset(self._numbers), amounts(facts))


class Retelling:
    """Sentences of a small model as they arrive: each must tell one of the facts, and no two the same one."""

    def __init__(self, facts: Sequence[Told], by: str, on_sentence: OnSentence | None) -> None:
        self._left = [fact for fact in facts if fact.offered]
        self._by, self._on_sentence = by, on_sentence
        self._text = ""
        self.said: list[StatementRecord] = []

    def token(self, piece: str) -> None:
        """A piece of the answer has arrived; the last sentence may go on."""
        self._text += piece
        if any(mark in piece for mark in ".!?\n"):
            self._judge(sentences(self._text)[len(self.said) : -1])

    def end(self, text: str) -> tuple[StatementRecord, ...]:
        """The answer is complete."""
        self._judge(sentences(text)[len(self.said) :])
        return tuple(self.said)

    def _judge(self, new: Sequence[str]) -> None:
        for said in new:
            fact = next((each for each in self._left if not retold(said, each.text)), None)
            if fact is None:
                why = retold(said, self._left[0].text) if self._left else ""
                self.said.append(statement(said[:600], (), self._by, why or "it tells no fact that is left"))
                continue
            self._left.remove(fact)
            self.said.append(statement(said, fact.cites, self._by))
            if self._on_sentence is not None:
                self._on_sentence(said)


def word(
    question: str,
    result: Result,
    diagnosis: Diagnosis,
    backend: Backend,
    *,
    deadline: float,
    about_all: bool = False,
    on_sentence: OnSentence | None = None,
) -> Worded:
    """What `backend` says to the `result` that answers `question`; to one `about_all` from what matters most of the whole diagnosis.

    Raises what the back end raises.
    """
    if backend.form == "structured":
        return _read(question, result, backend, deadline)
    told = narrate(diagnosis) if about_all else [_told(fact) for fact in numbered(result.facts)]
    offered = [fact for fact in told if fact.offered][:_TOLD]
    if not offered:
        return Worded((), 0)
    prompt = build_chat(question, [fact.text for fact in offered])
    retelling = Retelling(offered, backend.label, on_sentence)
    request = Request(prompt.system, prompt.user, prompt.max_tokens, deadline=deadline)
    completion = backend.complete(request, on_token=retelling.token)
    return Worded(retelling.end(completion.text), tokens_of(completion))


def _told(fact: Fact) -> Told:
    where = fact.where
    names = [fact.subject, *([] if where is None else [name for name in (where.function, where.kernel) if name])]
    return Told(fact.statement, (fact.id,), offered=not any(map(speaks, names)))


def _read(question: str, result: Result, backend: Backend, deadline: float) -> Worded:
    """The statements of a model that reads and calls no tools."""
    form, material = template("tools"), Material()
    known, said = [*material.add(result), *result.lines], [quote(question, longest=4_000)]
    marker = marker_of([*known, *said])
    told, asked = block("looked up", known, marker), block("question", said, marker)
    user = f"{told}\n\n{asked}\n\n{form.task}"
    completion = backend.complete(
        Request(form.system, user, form.max_output_tokens, json_schema=form.schema, deadline=deadline)
    )
    return Worded(tuple(statements(completion.text, material.vocabulary(), backend.label)), tokens_of(completion))


def tokens_of(completion: Completion) -> int:
    """Tokens that were read and written, as far as the back end tells."""
    return (completion.prompt_tokens or 0) + (completion.completion_tokens or 0)
