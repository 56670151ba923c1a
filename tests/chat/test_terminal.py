"""The history of what was typed, and the completer, without a terminal."""

from __future__ import annotations

import stat
from pathlib import Path

from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from chathpc.chat import terminal
from chathpc.chat.session import Session
from tests.chat.profiles import calls


def test_history_is_kept_in_a_file_that_nobody_else_can_read(tmp_path: Path) -> None:
    file = tmp_path / "state" / "history"
    assert isinstance(terminal._history(file), FileHistory)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    terminal._history(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_no_file_can_be_history_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    target = tmp_path / "elsewhere"
    (tmp_path / "link").symlink_to(target)
    for place in (None, tmp_path / "file" / "history", tmp_path / "link"):
        assert isinstance(terminal._history(place), InMemoryHistory)
    assert not target.exists()


def test_the_word_before_the_cursor_is_replaced() -> None:
    completer = terminal._completer(Session(calls()))
    found = list(completer.get_completions(Document("/callers so"), CompleteEvent()))
    assert [(one.text, one.start_position) for one in found] == [("solve", -2)]


def test_lines_come_as_they_are_typed_until_control_d() -> None:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("/top\rgone\x03why\r\x04")
        assert list(terminal.terminal_lines(Session(calls()), None)) == ["/top", "why"]
