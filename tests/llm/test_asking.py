from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.errors import BudgetSpentError
from chathpc.llm.asking import ask
from chathpc.llm.backend import Completion, Request
from chathpc.llm.guard import GuardedBackend
from chathpc.llm.price import Price, Purse, cost, estimate
from chathpc.llm.settings import Settings
from chathpc.llm.spec import Choice, resolve
from chathpc.privacy.placeholders import Placeholders
from tests.llm.scripted import ScriptedBackend

QUESTION = Request("Explain.", "x" * 1000, max_tokens=500, deadline=10.0)
#: 4 + 401 tokens of prompt (8 and 1,000 bytes at 2.5 a token, and one each for what is left over) and 500 of answer.
MOST = (405 * 2.0 + 500 * 10.0) / 1e6


def answers(*texts: str) -> ScriptedBackend:
    said = iter(texts)

    def script(_request: Request) -> Iterator[str]:
        return iter(next(said).split(" "))

    return ScriptedBackend(script)


def hosted(
    backend: ScriptedBackend, price: Price | None = None, spend: float | None = None, told: list[str] | None = None
) -> Choice:
    """A model on another machine behind the guard."""
    choice = Choice(backend, hosted=True, price=price)
    purse = Purse(choice, Settings(spend=spend), None if told is None else told.append)
    return replace(choice, backend=GuardedBackend(backend, Placeholders("none"), purse=purse))


def test_an_answer_in_the_right_form_is_asked_for_once() -> None:
    backend = answers("fine")
    answer = ask(Choice(backend), QUESTION, problem=lambda _text: "")
    assert (answer.text, answer.tries) == ("fine", 1)
    assert backend.requests == [QUESTION]


def test_the_second_try_is_the_last_and_hears_why() -> None:
    backend = answers("bad", "worse", "good")
    answer = ask(Choice(backend), QUESTION, problem=lambda text: "it is " + text)
    assert (answer.text, answer.tries) == ("worse", 2)
    assert "cannot be used: it is bad. It was:\nbad\n" in backend.requests[1].user


def test_an_answer_that_was_cut_is_not_asked_for_again() -> None:
    backend = answers(" ".join("w" * 600))
    assert ask(Choice(backend), QUESTION, problem=lambda _text: "cut").tries == 1


def test_before_a_model_elsewhere_is_asked_the_cost_is_told_and_held() -> None:
    told: list[str] = []
    price = Price(input=2.0, output=10.0)
    ask(hosted(answers("a b c"), price, MOST, told), QUESTION)
    assert told == ["asking custom (scripted): about 405 tokens and up to 500 of answer, at most 0.00581 USD"]
    backend = answers("never")
    with pytest.raises(BudgetSpentError, match="may cost"):
        ask(hosted(backend, price, MOST * 0.999), QUESTION)
    assert backend.requests == []


def test_with_a_limit_on_money_a_model_without_a_price_is_not_asked() -> None:
    backend = answers("never")
    with pytest.raises(BudgetSpentError, match="is unknown"):
        ask(hosted(backend, spend=1.0), QUESTION)
    assert backend.requests == []
    assert ask(hosted(answers("yes")), QUESTION).text == "yes"
    assert ask(hosted(answers("yes"), Price(input=0.0, output=0.0), spend=0.0), QUESTION).text == "yes"


def test_a_limit_on_money_holds_for_a_server_on_this_machine_too() -> None:
    settings = Settings(
        base_url="http://127.0.0.1:1/v1", prices={"big": Price(input=2.0, output=10.0)}, spend=MOST * 0.999
    )
    for model, why in (("big", "may cost"), ("other", "is unknown")):
        with pytest.raises(BudgetSpentError, match=why):
            Purse(resolve(f"openai:{model}", settings), settings).afford(QUESTION)


def test_models_on_this_machine_cost_nothing_and_are_not_announced() -> None:
    told: list[str] = []
    choice = Choice(answers("yes"))
    Purse(choice, Settings(spend=0.0), told.append).afford(QUESTION)
    assert ask(choice, QUESTION).text == "yes"
    assert told == []


def test_the_second_try_counts_against_the_limit() -> None:
    """It has the first answer in its prompt, so it may cost more than the first, and something was spent already."""
    choice = hosted(answers("bad", "good"), Price(input=2.0, output=10.0), MOST)
    answer = ask(choice, QUESTION, problem=lambda _text: "it is bad")
    assert (answer.text, answer.tries) == ("bad", 1)


def completion(prompt: int | None, answer: int | None) -> Completion:
    return Completion("", "m", prompt, answer, "stop", 1.0)


@given(st.integers(0, 10**7), st.integers(0, 10**6), st.floats(0, 1e3), st.floats(0, 1e3))
def test_the_cost_is_tokens_times_price(prompt: int, answer: int, first: float, second: float) -> None:
    expected = prompt / 1e6 * first + answer / 1e6 * second
    assert cost(completion(prompt, answer), Price(input=first, output=second)) == pytest.approx(expected)


def test_without_a_count_or_a_price_there_is_no_cost() -> None:
    assert cost(completion(None, 3), Price(input=1, output=1)) is None
    assert cost(completion(3, None), Price(input=1, output=1)) is None
    assert cost(completion(3, 3), None) is None


@given(st.text(max_size=400), st.text(max_size=400))
def test_an_estimate_counts_bytes(system: str, user: str) -> None:
    """Never fewer than one token for 2.5 bytes."""
    found = estimate(Request(system, user, max_tokens=7), None)
    size = sum(len(message["content"].encode()) for message in Request(system, user, max_tokens=7).messages())
    assert found.prompt_tokens >= size / 2.5
    assert (found.answer_tokens, found.cost) == (7, None)


def test_nothing_to_ask_is_a_mistake_of_the_caller() -> None:
    check: Callable[[], object] = lambda: ask(Choice(None), QUESTION)  # noqa: E731
    with pytest.raises(ValueError, match="no back end"):
        check()
