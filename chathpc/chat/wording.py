"""What a model says to what was looked up: a small one tells the facts in its words, one that reads makes statements, and may call tools in bounded
rounds; each part is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from chathpc.chat.record import Answer
from chathpc.chat.session import Session
from chathpc.chat.tools import Result, tools_of
from chathpc.chat.tools.record import function
from chathpc.diagnosis.fact import Fact, amount
from chathpc.diagnosis.records import Diagnosis
from chathpc.errors import BudgetSpentError
from chathpc.llm.asking import Exchange
from chathpc.llm.backend import Backend, Completion, Request, ToolCall
from chathpc.profile import numbers
from chathpc.prompts.build import build_chat, estimate_tokens
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


#: Is told the tokens of each round, also of those that lead to no answer.
Count = Callable[[int], None]


class TokensLackError(BudgetSpentError):
    """The model is not asked: what it would read and write is more than the budget leaves."""


@dataclass(frozen=True, slots=True)
class Worded:
    """A model's statements, also those that were dropped."""

    statements: tuple[StatementRecord, ...]

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
    count: Count,
    about_all: bool = False,
    on_sentence: OnSentence | None = None,
) -> Worded:
    """What `backend` says to the `result` that answers `question`; to one `about_all` from what matters most of the whole diagnosis.

    Raises what the back end raises.
    """
    if backend.form == "structured":
        return _read(question, result, backend, deadline, count)
    told = narrate(diagnosis) if about_all else [_told(fact) for fact in numbered(result.facts)]
    offered = [fact for fact in told if fact.offered][:_TOLD]
    if not offered:
        return Worded(())
    request = replace(build_chat(question, [fact.text for fact in offered]), deadline=deadline)
    retelling = Retelling(offered, backend.label, on_sentence)
    completion = backend.complete(request, on_token=retelling.token)
    count(tokens_of(completion))
    return Worded(retelling.end(completion.text))


def _told(fact: Fact) -> Told:
    where = fact.where
    names = [fact.subject, *([] if where is None else [name for name in (where.function, where.kernel) if name])]
    return Told(fact.statement, (fact.id,), offered=not any(map(speaks, names)))


def _read(question: str, result: Result, backend: Backend, deadline: float, count: Count) -> Worded:
    """The statements of a model that reads and calls no tools."""
    form, material = template("tools"), Material()
    known, said = [*material.add(result), *result.lines], [quote(question, longest=4_000)]
    marker = marker_of([*known, *said])
    told, asked = block("looked up", known, marker), block("question", said, marker)
    user = f"{told}\n\n{asked}\n\n{form.task}"
    completion = backend.complete(
        Request(form.system, user, form.max_output_tokens, json_schema=form.schema, deadline=deadline)
    )
    count(tokens_of(completion))
    return Worded(tuple(statements(completion.text, material.vocabulary(), backend.label)))


def tokens_of(completion: Completion) -> int:
    """Tokens that were read and written, as far as the back end tells."""
    return (completion.prompt_tokens or 0) + (completion.completion_tokens or 0)


#: Rounds of calls before the model has to answer, and calls in all; a question seldom needs more than three.
ROUNDS = 5
CALLS = 12
#: Earlier questions that the model is told of.
_EARLIER = 4
_LONGEST_RESULT = 6_000
_LONGEST_LINE = 300

#: Calls a tool by name with JSON text as arguments.
LookUp = Callable[[str, str], Result]


def converse(
    question: str,
    earlier: Sequence[Answer],
    look_up: LookUp,
    session: Session,
    backend: Backend,
    *,
    deadline: float,
    tokens: int,
    count: Count,
    on_sentence: OnSentence | None = None,
) -> Worded:
    """What the model says to `question`, after it looked things up by `look_up`.

    At most ROUNDS rounds and CALLS calls; after that it is asked without tools. `tokens` bounds what all rounds read and write,
    `deadline` their seconds: BudgetSpentError beyond. `count` is told what each round took.
    """
    form = template("tools")
    user = _user(question, earlier, form.task)
    until = monotonic() + deadline
    exchange = Exchange(backend, Request(form.system, user, form.max_output_tokens, json_schema=form.schema))
    material = Material()
    used = called = 0
    for rounds in range(ROUNDS + 1):
        offered = tool_descriptions(session) if rounds < ROUNDS and called < CALLS else ()
        read = estimate_tokens(form.system + user + "".join(turn.content for turn in exchange.turns))
        if used + read + form.max_output_tokens > tokens or read > form.max_prompt_tokens:
            raise TokensLackError(
                f"The budget is spent: about {numbers.count(read + form.max_output_tokens)} tokens are needed, "
                f"{numbers.count(max(tokens - used, 0))} are left.",
                hint=session.asker.tokens,
            )
        # Sentences that come before the last call are no answer yet; so only the last round is passed on, at its end.
        calls = exchange.ask(offered, until - monotonic(), CALLS - called)
        took = tokens_of(exchange.completions[-1]) or read + estimate_tokens(exchange.text)
        used += took
        count(took)
        if not calls:
            said = tuple(statements(exchange.text, material.vocabulary(), backend.label))
            if on_sentence is not None:
                for each in said:
                    if each.dropped_because is None:
                        on_sentence(each.text)
            return Worded(said)
        for one in calls:
            result = look_up(one.name, one.arguments)
            exchange.tell(one, _as_read(one, result, material.add(result)))
        called += len(calls)
        if monotonic() >= until:
            raise BudgetSpentError(f"No answer within {deadline:g} s.", hint=session.asker.patience)
    raise BudgetSpentError(
        "The model called tools and gave no answer."
    )  # pragma: no cover  # the last round has no tools


def tool_descriptions(session: Session) -> tuple[Mapping[str, object], ...]:
    """The tools as OpenAI's chat protocol describes functions."""
    return tuple(
        function(tool.name, tool.description, tool.arguments) for tool in tools_of(session).values() if tool.to_models
    )


def _user(question: str, earlier: Sequence[Answer], task: str) -> str:
    before = [
        line
        for turn in earlier[-_EARLIER:]
        for line in (
            f"Asked: {quote(turn.question, longest=_LONGEST_LINE)}",
            f"Answered: {quote(turn.text, longest=_LONGEST_LINE)}",
        )
    ]
    asked = [quote(question, longest=4_000)]
    marker = marker_of([*before, *asked])
    parts = [block("earlier", before, marker)] if before else []
    return "\n\n".join([*parts, block("question", asked, marker), task])


def _as_read(call: ToolCall, result: Result, facts: Sequence[str]) -> str:
    """A result as the model reads it: data between marks."""
    text = result.as_text()
    lines = [line[:_LONGEST_LINE] for line in text[:_LONGEST_RESULT].splitlines()]
    if len(text) > _LONGEST_RESULT:
        lines.append("(cut)")
    lines += facts[:20]
    return block(f"result of {quote(call.name, longest=40)}", lines, marker_of(lines))
