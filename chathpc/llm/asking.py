"""One question put to a back end: within the money that it may cost, and once more if the answer has not the form asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from chathpc.errors import BudgetSpentError
from chathpc.llm import price as prices
from chathpc.llm.backend import Completion, OnToken, Request
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice
from chathpc.profile import numbers

#: What is wrong with an answer's form, in one clause ("line 3 is not JSON"); empty if nothing is.
Problem = Callable[[str], str]
#: Is told in words what is about to be asked.
Notice = Callable[[str], None]

#: Of an answer that was refused, the beginning is shown to the model again (characters).
_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and what it took: tries, tokens (null where the server tells none), money (null without a price)."""

    text: str
    tries: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None


def ask(
    choice: Choice,
    request: Request,
    settings: Settings,
    *,
    problem: Problem | None = None,
    notice: Notice | None = None,
    on_token: OnToken | None = None,
) -> Answer:
    """The answer of `choice` to `request`; if `problem` finds fault with its form, the model is told so and asked once more.

    `notice` is told what the request needs before a model on another machine is asked. Raises BudgetSpentError before that if
    the answer may cost more than `settings.spend` allows or nobody can tell, and what `complete` raises.
    """
    if choice.backend is None:
        raise ValueError("there is no back end to ask")
    until = monotonic() + request.deadline
    spent = 0.0
    afford(choice, request, settings, spent, notice)
    completions = [choice.backend.complete(request, on_token=on_token)]
    wrong = "" if problem is None else problem(completions[0].text)
    remaining = until - monotonic()
    if wrong and remaining > 0 and completions[0].finish_reason == "stop":
        again = replace(request, user=_once_more(request, completions[0].text, wrong), deadline=remaining)
        spent = _cost(choice, request, completions[0])
        try:
            afford(choice, again, settings, spent, notice)
            completions.append(choice.backend.complete(again, on_token=on_token))
        except BudgetSpentError:
            pass  # the first answer stands; what can be read of it is judged like any other
    costs = [prices.cost(one, choice.price) for one in completions]
    return Answer(
        text=completions[-1].text,
        tries=len(completions),
        prompt_tokens=_sum([one.prompt_tokens for one in completions]),
        completion_tokens=_sum([one.completion_tokens for one in completions]),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def _once_more(request: Request, answer: str, wrong: str) -> str:
    """The question with the answer that was refused and the reason; the model's text is data here like any other."""
    shown = answer[:_SHOWN] + (" …" if len(answer) > _SHOWN else "")
    return (
        f"{request.user}\n\nYour last answer cannot be used: {wrong}. It was:\n{shown}\n\n"
        "Answer again, with nothing but what was asked for, in the form that was asked for."
    )


def afford(
    choice: Choice, request: Request, settings: Settings, spent: float = 0.0, notice: Notice | None = None
) -> None:
    """Tell `notice` what `request` needs; BudgetSpentError if it may cost more than `settings.spend`, of which `spent` is gone."""
    if not choice.hosted or choice.backend is None:
        return
    estimate = prices.estimate(request, choice.price)
    if settings.spend is not None:
        limit = numbers.money(settings.spend, settings.currency)
        if estimate.cost is None:
            raise BudgetSpentError(
                f"What {choice.backend.label} costs is not known, and one answer may cost {limit} at most.",
                hint="Add the model to `prices` in your config.yaml, or raise `spend`.",
            )
        if spent + estimate.cost > settings.spend:
            raise BudgetSpentError(
                f"{choice.backend.label} may cost {numbers.money(spent + estimate.cost, settings.currency)}; "
                f"{limit} is the most that one answer may cost.",
                hint="Raise `spend`, or use --llm local or --llm none.",
            )
    if notice is not None:
        notice(f"asking {choice.backend.label}: {estimate.in_words(settings.currency)}")


def _cost(choice: Choice, request: Request, completion: Completion) -> float:
    """What the first answer has cost, or may have where the server does not count."""
    real = prices.cost(completion, choice.price)
    return real if real is not None else prices.estimate(request, choice.price).cost or 0.0


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
