from __future__ import annotations

import json
from pathlib import Path

import pytest

from chathpc.llm import fitness
from chathpc.llm.fitness import Fitness, Trial, remember, remembered

GOOD = Trial(answers=5, formed=5, sufficient=5, sentences=20, kept=15)


@pytest.mark.parametrize(
    ("trial", "passed"),
    [
        (GOOD, True),
        (Trial(5, 5, 3, 20, 12), True),
        (Trial(5, 5, 3, 20, 11), False),  # 55 % of the sentences hold
        (Trial(5, 5, 2, 20, 20), False),  # of most answers too little is left
        (Trial(5, 4, 5, 20, 20), False),  # one came late or in the wrong form
        (Trial(1, 1, 1, 4, 4), False),  # one answer says nothing
        (Trial(), False),
        (Trial(5, 5, 0, 0, 0), False),
    ],
)
def test_a_form_is_passed_or_not(trial: Trial, passed: bool) -> None:
    assert trial.passed is passed
    assert ("prose" in Fitness("m", None, None, None, 1.0, prose=trial).forms) is passed
    assert ("structured" in Fitness("m", None, None, None, 1.0, structured=trial).forms) is passed


RESULT = Fitness("m", 25.0, 1.5, 70.0, 60.0, prose=GOOD, structured=Trial(5, 0, 0, 0, 0))


@pytest.mark.parametrize(("speed", "tokens"), [(None, None), (74.0, 2220), (1.0, 800), (5000.0, 150_000)])
def test_a_prompt_is_what_is_read_in_half_a_minute(speed: float | None, tokens: int | None) -> None:
    assert Fitness("m", None, None, speed, 1.0).prompt_tokens == tokens


def test_a_result_is_remembered_for_its_model_alone() -> None:
    path = remember("local m 1", RESULT)
    assert path is not None
    assert remembered("local m 1") == RESULT
    assert remembered("local m 2") is None
    assert json.loads(path.read_text())["fit_for"] == ["prose"]
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"test": 0}',
        '{"test": 2, "identity": "i"}',
        '{"test": 2, "identity": "i", "fitness": {"prose": 1, "structured": {}}}',
        "null",
    ],
)
def test_a_damaged_result_counts_as_none(content: str) -> None:
    path = remember("i", RESULT)
    assert path is not None
    path.write_text(content)
    assert remembered("i") is None


def test_a_result_of_an_older_test_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    remember("i", RESULT)
    monkeypatch.setattr(fitness, "TEST_VERSION", fitness.TEST_VERSION + 1)
    assert remembered("i") is None


def test_without_a_place_for_it_a_result_is_not_kept(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_home / ".cache").touch()
    assert remember("i", RESULT) is None
    monkeypatch.setenv("HOME", "relative")
    assert remember("i", RESULT) is None
    assert remembered("i") is None
