"""A model that reads and calls tools: rounds of calls and results, bounded, and then its statements, checked by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from chathpc.chat.record import Answer
from chathpc.chat.session import Session
from chathpc.chat.tools import Result, tools_of
from chathpc.chat.tools.record import function
from chathpc.chat.wording import Material, OnSentence, Worded, tokens_of
from chathpc.errors import BudgetSpentError
from chathpc.llm.asking import Exchange
from chathpc.llm.backend import Backend, Request, ToolCall
from chathpc.prompts.build import estimate_tokens
from chathpc.prompts.loader import template
from chathpc.prompts.untrusted import block, marker_of, quote
from chathpc.reading.answer import statements

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
    on_sentence: OnSentence | None = None,
) -> Worded:
    """What the model says to `question`, after it looked things up by `look_up`.

    At most ROUNDS rounds and CALLS calls; after that it is asked without tools. `tokens` bounds what all rounds read and write,
    `deadline` their seconds: BudgetSpentError beyond.
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
            raise BudgetSpentError("The question needs more tokens than are left.", hint=session.asker.tokens)
        # Sentences that come before the last call are no answer yet; so only the last round is passed on, at its end.
        calls = exchange.ask(offered, until - monotonic(), CALLS - called)
        used += tokens_of(exchange.completions[-1]) or read + estimate_tokens(exchange.text)
        if not calls:
            said = tuple(statements(exchange.text, material.vocabulary(), backend.label))
            if on_sentence is not None:
                for each in said:
                    if each.dropped_because is None:
                        on_sentence(each.text)
            return Worded(said, used)
        for one in calls:
            result = look_up(one.name, one.arguments)
            exchange.tell(one, _told(one, result, material.add(result)))
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


def _told(call: ToolCall, result: Result, facts: Sequence[str]) -> str:
    """A result as the model reads it: data between marks."""
    text = result.as_text()
    lines = [line[:_LONGEST_LINE] for line in text[:_LONGEST_RESULT].splitlines()]
    if len(text) > _LONGEST_RESULT:
        lines.append("(cut)")
    lines += facts[:20]
    return block(f"result of {quote(call.name, longest=40)}", lines, marker_of(lines))
