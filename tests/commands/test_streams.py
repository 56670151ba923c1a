"""What goes to stderr: whole words and whole commands, at any width of the terminal."""

from __future__ import annotations

import pytest

from chathpc.commands.streams import wrapped


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_an_error_is_wrapped_at_blanks(columns: int) -> None:
    line = "chathpc: /scratch/project/users/me/runs/2026-11/chathpc.yaml: 'project.edit': no file below it matches *.f90, or all that match are protected."
    lines = wrapped(line, columns)
    assert " ".join(lines) == line
    assert all(len(one) <= columns or " " not in one for one in lines)


def test_a_command_to_copy_is_on_one_line() -> None:
    command = "chathpc explain PATH --llm openai:MODEL --format json -o report.json"
    assert wrapped(f"Write one with: {command}", 60) == ["Write one with:", f"  {command}"]
    assert wrapped(f"Write one with: {command}", 100) == [f"Write one with: {command}"]


def test_a_short_line_is_left_as_it_is() -> None:
    assert wrapped("chathpc:  interrupted", 60) == ["chathpc:  interrupted"]
