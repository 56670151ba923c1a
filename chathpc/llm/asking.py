"""One question put to a back end, with the tools that it calls, and once more if the answer has not the form asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic

from chathpc.errors import BudgetSpentError
from chathpc.llm import price as prices
from chathpc.llm.backend import Backend, Completion, FinishReason, OnToken, Request, ToolCall, Turn
from chathpc.llm.guard import new_answer
from chathpc.llm.spec import Choice

#: What is wrong with an answer's form, in one clause ("line 3 is not JSON"); empty if nothing is.
Problem = Callable[[str], str]

#: What a tool that the model calls says.
LookUp = Callable[[ToolCall], str]

#: Of an answer that was refused, the beginning is shown to the model again (characters).
_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, how it ended, and what it took: tries, calls of tools, tokens (null where the server tells none), money (null without a price)."""

    text: str
    finish: FinishReason
    tries: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    calls: int = 0


def ask(
    choice: Choice,
    request: Request,
    *,
    problem: Problem | None = None,
    on_token: OnToken | None = None,
    look_up: LookUp | None = None,
    most_calls: int = 0,
) -> Answer:
    """The answer of `choice` to `request`; if `problem` finds fault with its form, the model is told so and asked once more.

    Where the back end calls tools, those of the request are offered first: `look_up` answers up to `most_calls` calls. All of it is one
    answer to the guard before the back end, which holds the money that it may cost. Raises what `complete` raises.
    """
    if choice.backend is None:
        raise ValueError("there is no back end to ask")
    until = monotonic() + request.deadline
    new_answer(choice.backend)
    if look_up is None or not getattr(choice.backend, "calls_tools", False):
        request = replace(request, tools=())
    exchange = Exchange(choice.backend, request)
    completions, called = exchange.completions, 0
    calls = exchange.ask(request.tools, request.deadline, most_calls, on_token)
    while look_up is not None and calls:
        called += len(calls)
        for one in calls:
            exchange.tell(one, look_up(one))
        offered = request.tools if called < most_calls else ()
        calls = exchange.ask(offered, until - monotonic(), most_calls - called, on_token)
    looked = len(completions) - 1
    wrong = "" if problem is None else problem(completions[-1].text)
    remaining = until - monotonic()
    if wrong and remaining > 0 and completions[-1].finish_reason == "stop":
        asked = replace(request, turns=tuple(exchange.turns), deadline=remaining, tools=())
        again = replace(asked, user=_once_more(request, completions[-1].text, wrong))
        with suppress(BudgetSpentError):  # the first answer stands; what can be read of it is judged like any other
            completions.append(choice.backend.complete(again, on_token=on_token))
    costs = [prices.cost(one, choice.price) for one in completions]
    return Answer(
        text=completions[-1].text,
        finish=completions[-1].finish_reason,
        tries=len(completions) - looked,
        prompt_tokens=_sum([one.prompt_tokens for one in completions]),
        completion_tokens=_sum([one.completion_tokens for one in completions]),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        calls=called,
    )


def _once_more(request: Request, answer: str, wrong: str) -> str:
    """The question with the answer that was refused and the reason; the model's text is data here like any other."""
    shown = answer[:_SHOWN] + (" …" if len(answer) > _SHOWN else "")
    return (
        f"{request.user}\n\nYour last answer cannot be used: {wrong}. It was:\n{shown}\n\n"
        "Answer again, with nothing but what was asked for, in the form that was asked for."
    )


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


@dataclass(slots=True)
class Exchange:
    """The turns between a model and who answers its calls; nothing is called here.

    `request` is the question as it was put first, `completions` are all answers. What a call was told is given to `tell` before the model
    is asked again.
    """

    backend: Backend
    request: Request
    turns: list[Turn] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)

    def ask(
        self,
        tools: tuple[Mapping[str, object], ...],
        deadline: float,
        most: int | None = None,
        on_token: OnToken | None = None,
    ) -> tuple[ToolCall, ...]:
        """Ask the model, offering `tools`, and return the first `most` of its calls; none where it has answered. Raise what `complete` raises."""
        asked = replace(self.request, tools=tools, turns=tuple(self.turns), deadline=max(deadline, 0.001))
        done = self.backend.complete(asked, on_token=on_token)
        self.completions.append(done)
        calls = done.tool_calls[:most] if tools else ()
        if calls:
            self.turns.append(Turn("assistant", done.text, calls))
        return calls

    def tell(self, call: ToolCall, text: str) -> None:
        """Answer one of the model's calls."""
        self.turns.append(Turn("tool", text, call_id=call.id))

    @property
    def text(self) -> str:
        """What the model said last."""
        return self.completions[-1].text if self.completions else ""
