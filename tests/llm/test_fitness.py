from __future__ import annotations

import json
from pathlib import Path

import pytest

from chathpc.llm import fitness
from chathpc.llm.fitness import Fitness, Reads, Retells, remember, remembered


@pytest.mark.parametrize(
    ("reads", "passed"),
    [
        (Reads(18, 25, 5, 25), True),
        (Reads(17, 25, 0, 25), False),  # 68 % right
        (Reads(25, 25, 6, 25), False),  # 24 % of the healthy blamed
        (Reads(6, 8, 1, 8), True),
        (Reads(7, 7, 0, 8), False),  # too few to say
        (Reads(8, 8, 0, 7), False),
        (Reads(), False),
    ],
)
def test_a_model_reads_or_not(reads: Reads, passed: bool) -> None:
    assert reads.passed is passed
    shown = Fitness("m", None, None, None, 1.0, reads, Retells(4, 5))
    assert ("structured" in shown.forms) is passed
    assert shown.ability == ("reads" if passed else "retells")


@pytest.mark.parametrize(("told", "asked", "passed"), [(5, 5, True), (4, 5, True), (3, 5, False), (0, 0, False)])
def test_a_model_retells_or_not(told: int, asked: int, passed: bool) -> None:
    shown = Fitness("m", None, None, None, 1.0, retells=Retells(told, asked))
    assert shown.forms == (("prose",) if passed else ())
    assert shown.ability == ("retells" if passed else "none")


@pytest.mark.parametrize(
    ("reads", "settled"),
    [
        (Reads(0, 7, 0, 7), False),  # 18 of 18 more would do
        (Reads(0, 8, 0, 7), True),
        (Reads(10, 10, 5, 10), False),
        (Reads(10, 10, 6, 10), True),
        (Reads(20, 20, 0, 20), True),  # 20 of 25, and at most 5 blamed
        (Reads(20, 20, 1, 20), False),
    ],
)
def test_a_test_ends_when_what_is_left_of_25_pieces_changes_nothing(reads: Reads, settled: bool) -> None:
    assert reads.settled(25 - reads.asked, 25 - reads.twins) is settled


RESULT = Fitness("m", 25.0, 1.5, 70.0, 60.0, Reads(2, 9, 1, 8), Retells(5, 5))


@pytest.mark.parametrize(("speed", "tokens"), [(None, None), (74.0, 2220), (1.0, 800), (5000.0, 150_000)])
def test_a_prompt_is_what_is_read_in_half_a_minute(speed: float | None, tokens: int | None) -> None:
    assert Fitness("m", None, None, speed, 1.0).prompt_tokens == tokens


def test_a_result_is_remembered_for_its_model_alone() -> None:
    path = remember("local m 1", RESULT)
    assert path is not None
    assert remembered("local m 1") == RESULT
    assert remembered("local m 2") is None
    assert json.loads(path.read_text())["ability"] == "retells"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"test": 0}',
        '{"test": 3, "identity": "i"}',
        '{"test": 3, "identity": "i", "fitness": {"reads": 1, "retells": {}}}',
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
