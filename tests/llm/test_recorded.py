"""Recordings of a model's answers: what is kept, what is given again, and that a question which has changed has no answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.errors import ModelUnavailableError, UsageError
from chathpc.llm.backend import Request
from chathpc.llm.guard import GuardedBackend
from chathpc.llm.recorded import Recording, ReplayBackend, key_of
from chathpc.llm.settings import Settings
from chathpc.llm.spec import parse, resolve
from chathpc.privacy.placeholders import Placeholders
from tests.llm.scripted import ScriptedBackend

ASK = Request("You explain.", "What is slow in quokka_step?", 50)


def recording(tmp_path: Path, answer: str = "The loop in fn_1.") -> tuple[GuardedBackend, ScriptedBackend, Path]:
    behind = ScriptedBackend(lambda _request: iter([answer]), form="structured")
    file = tmp_path / "answers.jsonl"
    names = Placeholders("default", {"quokka_step": "fn"})
    return GuardedBackend(behind, names, recording=Recording(file)), behind, file


def test_an_answer_is_kept_with_its_question_and_given_again(tmp_path: Path) -> None:
    backend, behind, file = recording(tmp_path)
    assert backend.complete(ASK).text == "The loop in quokka_step."
    assert backend.complete(ASK).text == "The loop in quokka_step."
    assert [each.user for each in behind.requests] == ["What is slow in fn_1?"]  # the server saw no name
    backend.complete(replace(ASK, user="And why?"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [sorted(line) for line in lines if "text" in line] == [["system", "text"]]
    assert [line["user"] for line in lines if "key" in line] == ["What is slow in quokka_step?", "And why?"]
    told: list[str] = []
    assert ReplayBackend(Recording(file)).complete(ASK, on_token=told.append).text == "The loop in quokka_step."
    assert told == ["The loop in quokka_step."]


@pytest.mark.parametrize(
    "changed", [{"user": "What is slow now?"}, {"system": "You explain well."}, {"json_schema": {"type": "object"}}]
)
def test_a_question_that_has_changed_has_no_answer(tmp_path: Path, changed: dict[str, object]) -> None:
    backend, _behind, file = recording(tmp_path)
    backend.complete(ASK)
    with pytest.raises(ModelUnavailableError) as told:
        ReplayBackend(Recording(file)).complete(replace(ASK, **changed))  # type: ignore[arg-type]
    assert "--record" in (told.value.hint or "")


def test_time_and_length_do_not_change_a_question() -> None:
    assert key_of(ASK) == key_of(replace(ASK, deadline=1.0, max_tokens=7))


@pytest.mark.parametrize("text", ["not json\n", '{"other": 1}\n', "[1]\n"])
def test_another_file_is_no_recording(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(text)
    with pytest.raises(ModelUnavailableError):
        Recording(file)


def test_a_spec_names_a_recording(tmp_path: Path) -> None:
    backend, _behind, file = recording(tmp_path)
    backend.complete(ASK)
    choice = resolve(f"replay:{file}", Settings())
    assert choice.serves
    assert choice.backend is not None
    assert "recorded" in choice.backend.label
    assert str(parse("record:a/b.jsonl:gpt-x")) == "record:a/b.jsonl:gpt-x"
    with pytest.raises(UsageError):
        parse("record:nothing")
