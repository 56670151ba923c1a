"""What a request to a hosted model may cost, before it is sent, and what it did cost, afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from chathpc.llm.backend import Completion, Request
from chathpc.profile import numbers

#: Bytes of English text and source code per token, low so that an estimate is seldom too small.
BYTES_PER_TOKEN = 2.5
_PER = 1e6


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens of prompt (`input`) and of answer (`output`), in the currency of the user's price table."""

    input: float
    output: float


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
