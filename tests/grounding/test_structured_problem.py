from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.grounding.structured import parse, problem


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "no JSON object"),
        ("}{", "no JSON object"),
        ("Sure! The loop waits.", "no JSON object"),
        ('{"sentences": [{"text": "a"}', "not valid JSON (Expecting ',' delimiter in line 1)"),
        ("{" * 100_000 + "}", "not valid JSON"),
        ('{"sentences": []}', "has no"),
        ('{"sentences": "a"}', "has no"),
        ('{"answer": {"text": "a"}}', "has no"),
    ],
)
def test_a_model_hears_what_is_wrong_with_its_answer(answer: str, said: str) -> None:
    assert said in problem(answer)


@pytest.mark.parametrize(
    "answer", ['{"sentences": [{"text": "a", "evidence": []}]}', 'Yes: {"sentences": [{"text": "a"}]} .']
)
def test_what_can_be_read_is_no_problem(answer: str) -> None:
    assert problem(answer) == ""


@given(st.text() | st.text(alphabet='{}[]":,sentexc '))
def test_there_is_a_problem_exactly_if_nothing_can_be_read(answer: str) -> None:
    assert bool(problem(answer)) == (not parse(answer))
