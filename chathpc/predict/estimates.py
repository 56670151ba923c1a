"""Open values asked of a model, each as one typed question (open_values.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from chathpc.errors import BudgetSpentError
from chathpc.llm.asking import ask
from chathpc.llm.guard import guarded
from chathpc.llm.settings import load_settings
from chathpc.llm.spec import resolve
from chathpc.predict.open_values import Gap, OpenValue, Refused, check, problem, question
from chathpc.predict.prediction import Estimate
from chathpc.privacy.placeholders import Placeholders


def asker(spec: str, base_url: str | None = None) -> Estimate | None:
    """How values are asked of the model of a SPEC; None where that names none. What it does not answer in form and time stays open.

    Errors: UsageError for what is no SPEC, ModelUnavailableError.
    """
    settings = load_settings({"llm": spec, "base_url": base_url})
    choice = resolve(spec, settings)
    if choice.backend is None:
        return None
    backend = guarded(choice, settings, Placeholders)
    choice = replace(choice, backend=backend)

    def estimate(gap: Gap, source: Sequence[tuple[int, str]]) -> OpenValue | None:
        try:
            answer = ask(choice, question(gap, source), problem=partial(problem, gap))
        except BudgetSpentError:
            return None
        found = check(gap, answer.text, backend.label)
        return None if isinstance(found, Refused) else found

    return estimate
