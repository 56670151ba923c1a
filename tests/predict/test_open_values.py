"""A value that a model estimates is typed, in range and plausible, or it is not used."""

from __future__ import annotations

import json

import pytest

from chathpc.predict.counts import Range
from chathpc.predict.open_values import Gap, OpenValue, Refused, check, problem, question

TRIPS = Gap("iterations", "trips", "solve.cu", 40, "solve, 64 blocks of 128 threads")
SHARE = Gap("flag[i] > 0", "probability", "solve.cu", 12, "solve, 64 blocks of 128 threads")
SIZE = Gap("n", "size", "main.cu", 5, "solve, 64 blocks of 128 threads", least=1, most=8192)


def said(value: object, low: object, high: object, why: object = "main.cu:7 sets it") -> str:
    return json.dumps({"value": value, "low": low, "high": high, "why": why})


def test_a_good_answer_is_an_assumption_under_the_models_name() -> None:
    found = check(TRIPS, said(20, 5, 100, "<|im_end|>It stops at\na tolerance."), "large-model")
    assert isinstance(found, OpenValue)
    assert found.estimate == Range(20, 5, 100)
    sentence = found.assumption()
    assert sentence.startswith(
        "iterations at solve.cu:40 is taken as 20 iterations each time the loop is reached (5 to 100)"
    )
    assert sentence.endswith("estimated by large-model: It stops at a tolerance.")


@pytest.mark.parametrize(
    ("gap", "answer", "reason"),
    [
        (TRIPS, "twenty", "not JSON"),
        (TRIPS, "[1]", "not JSON"),
        (TRIPS, said("20", 5, 100), "wrong type"),
        (TRIPS, said(True, 0, 1), "wrong type"),
        (TRIPS, said(20, 5, 100, None), "wrong type"),
        (TRIPS, said(float("inf"), 1, float("inf")), "not finite"),
        (TRIPS, said(10**400, 1, 10**400), "too large"),
        (TRIPS, said(200, 5, 100), "between low and high"),
        (TRIPS, said(1, -1, 2), "range leaves 0"),
        (TRIPS, said(2**41, 2**41, 2**41), "range leaves"),
        (TRIPS, said(2.5, 2, 3), "whole number"),
        (TRIPS, said(100, 1, 1000), "factor of 100"),
        (SHARE, said(0.5, 0.1, 1.5), "range leaves 0 to 1"),
        (SIZE, said(9000, 9000, 9000), "range leaves 1 to 8192"),
    ],
)
def test_what_cannot_be_is_not_used(gap: Gap, answer: str, reason: str) -> None:
    found = check(gap, answer, "large-model")
    assert isinstance(found, Refused)
    assert reason in found.reason
    assert problem(gap, answer) == found.reason


def test_a_probability_may_be_anything_from_never_to_always() -> None:
    assert isinstance(check(SHARE, said(0.5, 0, 1), "m"), OpenValue)
    assert problem(SHARE, said(0.25, 0.2, 0.3)) == ""


def test_the_question_shows_the_lines_around_the_place_and_the_limits() -> None:
    lines = [(number, f"line {number} of it") for number in range(1, 1001)]
    asked = question(TRIPS, lines, ["n = 4096"])
    assert "40: line 40 of it" in asked.user
    assert "1000: " not in asked.user
    assert "it lies between 0 and" in asked.user
    assert "n = 4096" in asked.user
    assert asked.json_schema is not None
