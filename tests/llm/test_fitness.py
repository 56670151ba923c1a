from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from chathpc.llm import fitness
from chathpc.llm.backend import Request
from chathpc.llm.fitness import Fitness, copies_numbers, examine, is_disciplined, remember, remembered
from chathpc.llm.scripted import ScriptedBackend

PROSE = "assemble_matrix computes for 12.7 s [E1], and exchange_halo waits 8.31 s. write_checkpoint writes 945 MB."
GOOD: list[dict[str, object]] = [
    {"text": "assemble_matrix computes for {E1}.", "evidence": ["E1"]},
    {"text": "exchange_halo waits {E2}.", "evidence": ["E2"]},
    {"text": "write_checkpoint writes {E3}.", "evidence": ["E3"]},
]


def as_json(*sentences: dict[str, object]) -> str:
    return json.dumps({"sentences": sentences})


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (PROSE, True),
        ("It takes 12.7 s and 8.31 s.", True),
        ("It takes 12.7 s.", False),  # one number of three
        ("It takes 12.7 s, 8.31 s and 21.01 s in all.", False),  # a sum that was not given
        ("It takes 12.70 s and 8.31 s.", False),
        ("", False),
    ],
)
def test_numbers_are_copied_or_not(text: str, fine: bool) -> None:
    assert copies_numbers(text) is fine


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (as_json(*GOOD), True),
        (as_json(*reversed(GOOD)), True),
        (as_json(*GOOD[:2]), False),
        (as_json(*GOOD, GOOD[0]), False),
        (as_json({**GOOD[0], "evidence": ["E2"]}, {**GOOD[1], "evidence": ["E1"]}, GOOD[2]), False),
        (as_json({**GOOD[0], "text": "assemble_matrix takes 12.7 s."}, *GOOD[1:]), False),
        (as_json({**GOOD[0], "text": "assemble_matrix takes {E1}, 3 times as much."}, *GOOD[1:]), False),
        (as_json({**GOOD[0], "text": "assemble_matrix and exchange_halo take {E1}."}, *GOOD[1:]), False),
        (as_json({**GOOD[0], "text": "It takes {E1}."}, *GOOD[1:]), False),
        (as_json({**GOOD[0], "evidence": ["E1", "E2"]}, *GOOD[1:]), False),
        (as_json(*GOOD)[:-5], False),
        ("[]", False),
        ('{"sentences": [1]}', False),
        ('{"sentences": 1}', False),
    ],
)
def test_a_schema_is_kept_or_not(text: str, fine: bool) -> None:
    assert is_disciplined(text) is fine


def model(prose: str, structured: str) -> ScriptedBackend:
    def answer(request: Request) -> Iterator[str]:
        text = prose if request.json_schema is None else structured
        return iter(text.split(" ")) if not text else iter(word + " " for word in text.split(" "))

    return ScriptedBackend(answer)


@pytest.mark.parametrize(
    ("prose", "structured", "forms"),
    [
        (PROSE, as_json(*GOOD), ("structured", "prose")),
        (PROSE, "{}", ("prose",)),
        ("It takes 99 s.", as_json(*GOOD), ()),
    ],
)
def test_a_model_is_fit_for_what_it_has_shown(prose: str, structured: str, forms: tuple[str, ...]) -> None:
    assert examine(model(prose, structured)).forms == forms


def test_a_model_that_says_nothing_has_no_speed() -> None:
    result = examine(ScriptedBackend("silent"))
    assert (result.tokens_per_second, result.first_token, result.forms) == (None, None, ())


def test_the_worst_models_fail() -> None:
    assert examine(ScriptedBackend("liar")).forms == ()
    assert examine(ScriptedBackend("endless")).forms == ()


RESULT = Fitness("m", 25.0, 1.5, schema_ok=False, numbers_ok=True)


def test_a_result_is_remembered_for_its_model_alone() -> None:
    path = remember("local m 1", RESULT)
    assert path is not None
    assert remembered("local m 1") == RESULT
    assert remembered("local m 2") is None
    assert json.loads(path.read_text())["fit_for"] == ["prose"]
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"test": 0}', '{"test": 1, "identity": "i"}', "null"])
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
