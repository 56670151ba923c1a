"""The money that one answer of a model on another machine may cost, however many requests it takes."""

from __future__ import annotations

from collections.abc import Callable

from chathpc.errors import BudgetSpentError
from chathpc.llm import price as prices
from chathpc.llm.backend import Completion, Request
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice
from chathpc.profile import numbers

#: Is told in words what is about to be asked.
Notice = Callable[[str], None]


class Purse:
    """Stops requests to `choice` that may cost more than `settings.spend` leaves of an answer; `notice` is told what each needs.

    A model on this machine costs nothing, and nobody is told of it.
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
        estimate = prices.estimate(request, self._choice.price)
        label, currency, most = self._choice.backend.label, self._settings.currency, self._settings.spend
        if most is not None:
            limit = numbers.money(most, currency)
            if estimate.cost is None:
                raise BudgetSpentError(
                    f"The price of {label} is unknown, and one answer may cost {limit} at most.",
                    hint="Add the model to `prices` in your config.yaml, or raise `spend`.",
                )
            if self._spent + estimate.cost > most:
                raise BudgetSpentError(
                    f"{label} may cost {numbers.money(self._spent + estimate.cost, currency)}; "
                    f"the limit per answer is {limit}.",
                    hint="Raise `spend`, or use --llm local or --llm none.",
                )
        if self._notice is not None:
            self._notice(f"asking {label}: {estimate.in_words(currency)}")

    def pay(self, request: Request, completion: Completion | None) -> None:
        """Count what an answer has cost, or may have where it broke off or the server does not count."""
        real = None if completion is None else prices.cost(completion, self._choice.price)
        self._spent += real if real is not None else prices.estimate(request, self._choice.price).cost or 0.0
