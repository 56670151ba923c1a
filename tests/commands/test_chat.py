"""chat and ask as commands: pipes, formats, exit codes, resumed conversations."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from chathpc.chat.record import Answer

EXAMPLES = Path(__file__).parents[2] / "examples"
DATABASE = str(EXAMPLES / "omp-triangle" / "database")
Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def scripted_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHATHPC_TEST_BACKENDS", "tests.llm.scripted")
    monkeypatch.setenv("HOME", str(tmp_path))


def piped(monkeypatch: pytest.MonkeyPatch, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False))


def test_a_question_is_answered_and_nothing_else_is_printed(run: Run) -> None:
    result = run("ask", DATABASE, "who calls work_item?", "--llm", "none")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("work_item is called by 1 function")
    assert "\x1b" not in result.out


def test_an_answer_as_json_validates_and_as_markdown_is_marked_up(run: Run, tmp_path: Path) -> None:
    result = run("ask", DATABASE, "/top line 2", "--llm", "none", "--format", "json")
    answer = json.loads(result.out)
    jsonschema.validate(answer, Answer.model_json_schema(by_alias=True, mode="serialization"))
    assert (answer["schema"], len(answer["steps"][0]["rows"])) == ("chathpc-answer/1", 2)
    run("ask", DATABASE, "hot loops", "--llm", "none", "-o", str(tmp_path / "a.md"))
    assert (tmp_path / "a.md").read_text().startswith("**hot loops**")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["sing a song", "--llm", "none"], 1),
        (["/callers no_such_function", "--llm", "none"], 1),
        (["/nope", "--llm", "none"], 2),
        (["why?", "--llm", "nonsense"], 2),
        (["hottest functions", "--llm", "scripted:silent"], 4),
        (["hottest functions", "--llm", "local:/no/such.gguf"], 4),
        (["/top", "--llm", "scripted:echo"], 4),
        (["--llm", "none"], 2),
    ],
)
def test_exit_codes_are_those_of_the_documentation(arguments: list[str], code: int, run: Run) -> None:
    result = run("ask", DATABASE, *arguments)
    assert result.code == code, result


def test_a_path_that_is_no_profile_is_told_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no profile")
    assert run("ask", "x", "why?", "--llm", "none").code == 3
    assert run("chat").code == 2


def test_in_a_pipe_each_line_is_a_question(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"# comment\n/top line 1\nwho calls work_item\n\xff\xfe\n/nope\nwhy is the program slow")
    result = run("chat", DATABASE, "--llm", "none")
    assert result.code == 0
    assert "is called by 1 function" in result.out
    assert "unevenly distributed" in result.out
    assert "/nope" in result.err
    assert "\x1b" not in result.out
    questions = [line for line in result.out.splitlines() if line.startswith(">")]
    assert questions[:2] == ["> /top line 1", "> who calls work_item"]
    assert questions[-2:] == ["> /nope", "> why is the program slow"]


def test_an_empty_pipe_ends_at_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"")
    assert run("chat", DATABASE, "--llm", "none").out == ""
    monkeypatch.setattr("sys.stdin", None)
    assert run("chat", DATABASE, "--llm", "none").code == 0


def test_a_conversation_is_resumed_with_its_profiles(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    piped(monkeypatch, f"/top\n/diff {DATABASE}\n/save {file}\n")
    assert run("chat", DATABASE, "--llm", "none", "--budget", "77").code == 0
    piped(monkeypatch, f"/budget\n/diff\n/save {file}\n")
    resumed = run("chat", "--resume", str(file), "--llm", "none")
    assert "0 of 77 tokens" in resumed.out
    assert "Saved 3 answers" in resumed.out
    other = str(EXAMPLES / "mpi-imbalance" / "database")
    wrong = run("chat", other, "--resume", str(file), "--llm", "none")
    assert wrong.code == 2
    assert "a different profile" in wrong.err


def test_a_profile_to_compare_with_is_an_option(run: Run) -> None:
    result = run("ask", DATABASE, "what changed?", "--compare", DATABASE, "--llm", "none")
    assert result.code == 0
    assert "work_item" in result.out
