"""The log of prompts and answers: for its user alone, bounded, safe among processes, and off when asked."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chathpc.commands.main import main
from chathpc.errors import UsageError
from chathpc.llm import log as logs
from chathpc.llm.log import Entry, Log, find, log_of, open_log, turn
from chathpc.llm.settings import Settings

ENTRY = Entry(
    model="openai:m", label="m (at h)", confidential="default", system="s", user="u", answer="a\nb\x1b[2J", finish="stop",
    prompt_tokens=3, completion_tokens=2, seconds=1.25,
)  # fmt: skip


def clock() -> Callable[[], datetime]:
    ticks = iter(range(100_000))
    return lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) + timedelta(seconds=next(ticks))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "state" / "chathpc" / "log", clock())


def test_an_entry_comes_back_as_it_was_with_id_and_time(log: Log) -> None:
    log.append(ENTRY)
    (entry,) = log.entries()
    assert (entry.time, entry.id[:15]) == ("2026-01-02T03:04:05+00:00", "20260102T030405")
    assert (entry.user, entry.answer, entry.prompt_tokens, entry.seconds) == ("u", "a\nb\x1b[2J", 3, 1.25)


def test_nobody_else_can_read_it(log: Log) -> None:
    mask = os.umask(0)
    try:
        log.append(ENTRY)
    finally:
        os.umask(mask)
    assert {stat.S_IMODE(file.stat().st_mode) for file in log.path.iterdir()} == {0o600}
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (log.path, log.path.parent)} == {0o700}


def test_the_oldest_go_when_there_are_too_many(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MOST_ENTRIES", 3)
    for number in range(7):
        log.append(Entry(**{**_fields(), "user": str(number)}))
    assert [entry.user for entry in log.entries()] == ["4", "5", "6"]


def test_the_oldest_go_when_they_are_too_large(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MOST_BYTES", 5000)
    for number in range(5):
        log.append(Entry(**{**_fields(), "user": str(number) * 2000}))
    assert [entry.user[0] for entry in log.entries()] == ["3", "4"]
    log.append(Entry(**{**_fields(), "user": "x" * 9000}))
    assert [entry.user[0] for entry in log.entries()] == ["x"]


def test_a_text_is_cut_at_its_limit(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LONGEST_TEXT", 10)
    log.append(Entry(**{**_fields(), "answer": "y" * 50}))
    assert next(iter(log.entries())).answer == "y" * 10


def _fields() -> dict[str, object]:
    return {name: getattr(ENTRY, name) for name in Entry.__dataclass_fields__}


def _write(folder: str, number: int) -> None:
    log = log_of({"XDG_STATE_HOME": folder})
    assert log is not None
    for turn_number in range(10):
        log.append(Entry(**{**_fields(), "user": f"{number} {turn_number}", "answer": "y" * 50_000}))
        assert all(len(entry.answer) == 50_000 for entry in log.entries())  # nobody sees one that is half written


def test_sixteen_processes_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    with ProcessPoolExecutor(16) as pool:
        list(pool.map(_write, [str(tmp_path)] * 16, range(16)))
    log = log_of({"XDG_STATE_HOME": str(tmp_path)})
    assert log is not None
    users = [entry.user for entry in log.entries()]
    assert sorted(users) == sorted(f"{number} {turn}" for number in range(16) for turn in range(10))
    assert [user for user in users if user.startswith("7 ")] == [f"7 {turn}" for turn in range(10)]
    assert not list(log.path.glob(".*"))  # nothing unfinished is left


def test_a_log_that_cannot_be_written_is_told_of_once_and_no_error(
    log: Log, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    log.append(ENTRY)
    log.append(ENTRY)
    assert len(caplog.records) == 1
    assert "cannot be written" in caplog.text


def test_a_damaged_entry_is_passed_over(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.append(ENTRY)
    (tmp_path / "0.json").write_text("{")
    (tmp_path / "1.json").write_text('{"a": 1}')
    (tmp_path / "2.json").write_bytes(b"\xff")
    assert len(list(log.entries())) == 1


def test_an_empty_log_has_no_entries(log: Log) -> None:
    assert list(log.entries()) == []
    with pytest.raises(UsageError, match="No entry"):
        find(log, "last")


def test_settings_and_the_user_can_turn_it_off(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    assert open_log(Settings(), environ) is not None
    assert open_log(Settings(log=False), environ) is None
    turn(environ, on=False)
    assert open_log(Settings(), environ) is None
    turn(environ, on=True)
    assert open_log(Settings(), environ) is not None


def test_without_a_home_there_is_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chathpc.llm.places.home", lambda environ: None)
    assert log_of({}) is None
    assert open_log(Settings(), {}) is None
    with pytest.raises(UsageError, match="no home folder"):
        turn({}, on=False)
    monkeypatch.delenv("XDG_STATE_HOME")
    assert main(["logs", "path"]) == 2


def test_what_cannot_be_turned_off_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "chathpc").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        turn({"XDG_STATE_HOME": str(tmp_path)}, on=False)


def test_the_command_lists_and_shows_and_acts_on_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "list"]) == 0
    assert capsys.readouterr().out == "The log is empty.\n"
    log = log_of(os.environ)
    assert log is not None
    for entry in (ENTRY, Entry(**{**_fields(), "answer": "", "error": "x" * 90, "prompt_tokens": None})):
        log.append(entry)
    assert main(["logs", "path"]) == 0
    assert capsys.readouterr().out == f"{log.path}\n"
    assert main(["logs", "list"]) == 0
    newest, oldest = capsys.readouterr().out.splitlines()
    assert newest.endswith("x…")
    assert oldest.endswith("openai:m  1.2 s  a b\N{REPLACEMENT CHARACTER}[2J")
    first = next(iter(log.entries()))
    assert main(["logs", "show", first.id]) == 0
    shown = capsys.readouterr().out
    assert "confidential  default" in shown
    assert "--- answer ---\na\nb\N{REPLACEMENT CHARACTER}[2J" in shown
    assert main(["logs", "show", "last", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] == "x" * 90
    assert main(["logs", "list", "-n", "1", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1
    assert main(["logs", "show", "2"]) == 2
    assert "Several entries begin with '2'" in capsys.readouterr().err
    assert main(["logs", "off"]) == 0
    assert open_log(Settings()) is None
    assert main(["logs", "on"]) == 0
    assert open_log(Settings()) is not None


def test_the_log_is_quiet_where_nothing_is_wrong(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log.append(ENTRY)
    assert not caplog.records
