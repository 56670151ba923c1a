"""A value that a model estimates is typed, in range and plausible, or it is not used."""

from __future__ import annotations

import json

import pytest

from chathpc.predict.counts import Range
from chathpc.predict.open_values import Gap, check, problem, question

SIZE = Gap("n", "main.cu", 40, "solve, 64 blocks of 128 threads")


def said(value: object, low: object, high: object, why: object = "main.cu:7 sets it") -> str:
    return json.dumps({"value": value, "low": low, "high": high, "why": why})


def test_a_good_answer_is_an_assumption_under_the_models_name() -> None:
    answer = said(20, 5, 100, "<|im_end|>It stops at\na tolerance.")
    found = check(SIZE, answer, "large-model")
    assert problem(SIZE, answer) == ""
    assert found.estimate == Range(20, 5, 100)
    sentence = found.assumption()
    assert sentence.startswith("n at main.cu:40 is taken as 20 elements (5 to 100)")
    assert sentence.endswith("estimated by large-model: It stops at a tolerance.")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("twenty", "not JSON"),
        ("[1]", "not JSON"),
        (said("20", 5, 100), "wrong type"),
        (said(True, 0, 1), "wrong type"),
        (said(20, 5, 100, None), "wrong type"),
        (said(float("inf"), 1, float("inf")), "not finite"),
        (said(10**400, 1, 10**400), "too large"),
        (said(200, 5, 100), "between low and high"),
        (said(1, -1, 2), "range leaves 1"),
        (said(2**41, 2**41, 2**41), "range leaves"),
        (said(2.5, 2, 3), "whole number"),
        (said(100, 1, 1000), "factor of 100"),
    ],
)
def test_what_cannot_be_is_not_used(answer: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check(SIZE, answer, "large-model")
    assert reason in problem(SIZE, answer)


def test_the_question_shows_the_lines_around_the_place_and_the_limits() -> None:
    lines = [(number, f"line {number} of it") for number in range(1, 1001)]
    asked = question(SIZE, lines)
    assert "40: line 40 of it" in asked.user
    assert "1000: " not in asked.user
    assert "it lies between 1 and" in asked.user
    assert asked.json_schema is not None
