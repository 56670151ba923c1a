"""What a request to a hosted model may cost, before it is sent, what it did cost, afterwards, and what one answer may cost in all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from chathpc.errors import BudgetSpentError
from chathpc.llm.backend import Completion, Request
from chathpc.profile import numbers

if TYPE_CHECKING:
    from chathpc.llm.settings import Settings
    from chathpc.llm.spec import Choice

#: Bytes of English text and source code per token, low so that an estimate is seldom too small.
BYTES_PER_TOKEN = 2.5
_PER = 1e6


class Price(BaseModel):
    """Money for a million tokens, in the currency of the user's price table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0, le=1e9, description="Of the prompt.")
    output: float = Field(ge=0, le=1e9, description="Of the answer.")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens that a request will need: those of the prompt about, those of the answer at most; `cost` null without a price."""

    prompt_tokens: int
    answer_tokens: int
    cost: float | None

    def in_words(self, currency: str) -> str:
        """`about 2,100 tokens and 900 of answer, at most 0.0123 USD`."""
        tokens = f"about {self.prompt_tokens:,} tokens and up to {self.answer_tokens:,} of answer"
        return tokens if self.cost is None else f"{tokens}, at most {numbers.money(self.cost, currency)}"


def estimate(request: Request, price: Price | None) -> Estimate:
    """What `request` will need, from its length in bytes."""
    prompt = prompt_tokens(request)
    return Estimate(prompt, request.max_tokens, None if price is None else _cost(price, prompt, request.max_tokens))


def prompt_tokens(request: Request) -> int:
    """Tokens of the prompt, a cautious figure from its bytes."""
    return sum(int(len(message["content"].encode()) / BYTES_PER_TOKEN) + 1 for message in request.messages())


def cost(completion: Completion, price: Price | None) -> float | None:
    """What an answer has cost; None without a price, or where the server did not count the tokens of the prompt or the answer."""
    if price is None or completion.prompt_tokens is None or completion.completion_tokens is None:
        return None
    return _cost(price, completion.prompt_tokens, completion.completion_tokens)


def _cost(price: Price, prompt: int, answer: int) -> float:
    return (prompt * price.input + answer * price.output) / _PER


#: Is told in words what is about to be asked.
Notice = Callable[[str], None]


class Purse:
    """Stops requests to `choice` that may cost more than `settings.spend` leaves of an answer; `notice` is told what each needs.

    A model in this process costs nothing, and nobody is told of it; what a server on this machine passes on may cost.
    """

    def __init__(self, choice: Choice, settings: Settings, notice: Notice | None = None) -> None:
        self._choice = choice
        self._settings = settings
        self._notice = notice
        self._spent = 0.0

    def begin(self) -> None:
        """Another answer begins: what the last one cost does not count for it."""
        self._spent = 0.0

    def afford(self, request: Request) -> None:
        """Tell what `request` needs; BudgetSpentError if it may cost more than is left, or nobody can tell."""
        if not self._choice.hosted or self._choice.backend is None:
            return
        needed = estimate(request, self._choice.price)
        label, currency, most = self._choice.backend.label, self._settings.currency, self._settings.spend
        if most is not None:
            limit = numbers.money(most, currency)
            if needed.cost is None:
                raise BudgetSpentError(
                    f"The price of {label} is unknown, and one answer may cost {limit} at most.",
                    hint="Add the model to `prices` in your config.yaml (0 where it costs nothing), or remove `spend`.",
                )
            if self._spent + needed.cost > most:
                raise BudgetSpentError(
                    f"{label} may cost {numbers.money(self._spent + needed.cost, currency)}; "
                    f"the limit per answer is {limit}.",
                    hint="Raise `spend`, or use --llm local or --llm none.",
                )
        if self._notice is not None:
            self._notice(f"asking {label}: {needed.in_words(currency)}")

    def pay(self, request: Request, completion: Completion | None) -> None:
        """Count what an answer has cost, or may have where it broke off or the server does not count."""
        real = None if completion is None else cost(completion, self._choice.price)
        self._spent += real if real is not None else estimate(request, self._choice.price).cost or 0.0
