"""Errors become one message and an exit code; help costs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

import chathpc
import chathpc.__main__
from chathpc import errors
from chathpc.commands.main import COMMANDS, cli
from tests.commands.conftest import Result

Run = Callable[..., Result]
ROOT = Path(__file__).parents[2]


def process(*args: str, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"PYTHONPATH": str(ROOT)} | dict(env or {})
    return subprocess.run(
        [sys.executable, *args], env=environ, text=True, encoding="utf-8", timeout=60, check=False, **options
    )


@pytest.mark.parametrize("args", ["--help", "explain --help", "tree --help", "post --help", "--version", "nonsense"])
def test_help_imports_nothing_heavy(args: str) -> None:
    code = (
        "import sys; from chathpc.commands.main import main; main(sys.argv[1:]); "
        "print(*sorted(set(sys.modules) & set(sys.argv[0:0] + "
        "['numpy', 'pandas', 'pydantic', 'rich', 'hatchet', 'openai', 'networkx', 'yaml', 'asyncio'])), file=sys.stderr)"
    )
    done = process("-c", code, *args.split(), capture_output=True)
    assert done.stderr.splitlines()[-1].strip() == ""


def test_python_dash_m_works() -> None:
    done = process("-m", "chathpc", "--version", capture_output=True)
    assert (done.returncode, done.stdout) == (0, f"chathpc {chathpc.__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_page_lists_each_command_with_its_own_first_sentence(name: str) -> None:
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    assert command.name == name
    assert COMMANDS[name] == (command.help or "").partition("\n")[0]


@pytest.mark.parametrize("name", ["explain", "tree", "metrics", "adapters", "doctor", "completion", "post"])
def test_every_command_shows_an_example(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.code == 0
    assert f"chathpc {name}" in result.out.replace("\n", " ").replace("  ", " ").split("Usage:")[1].split("example")[1]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ChathpcError("m", hint="h"), 1),
        (errors.UsageError("m", hint="h"), 2),
        (errors.AdapterError("m", hint="h"), 3),
        (errors.ModelUnavailableError("m", hint="h"), 4),
        (errors.BudgetSpentError("m", hint="h"), 5),
        (errors.FixRejectedError("m", hint="h"), 6),
    ],
)
def test_each_expected_error_has_its_exit_code_and_prints_message_and_hint(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int
) -> None:
    def load(*paths: Path) -> None:
        raise error

    monkeypatch.setattr(chathpc, "load", load, raising=False)
    assert run("explain", "db") == Result(code, "", "chathpc: m\nh\n")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "\nchathpc: interrupted\n"),
        (MemoryError(), 1, "chathpc: out of memory\nUse a machine with more memory, or a profile of fewer ranks.\n"),
    ],
)
def test_interruption_and_lack_of_memory_are_told_in_a_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    def load(*paths: Path) -> None:
        raise error

    monkeypatch.setattr(chathpc, "load", load, raising=False)
    assert run("tree", "db") == Result(code, "", message)


def test_an_unexpected_error_is_one_line_with_its_place_and_exit_code_70(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chathpc, "load", lambda *paths: {}["a\x1bb"], raising=False)
    result = run("explain", "db")
    assert result.code == 70
    first, second = result.err.splitlines()
    assert first.startswith("chathpc: internal error at explain.py:")
    assert first.endswith("please report it: KeyError: 'a\\x1bb'")
    assert second == "Run again with CHATHPC_DEBUG=1 for the details."


def test_the_traceback_is_there_for_those_who_ask(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chathpc, "load", lambda *paths: {}["key"], raising=False)
    result = run("--debug", "explain", "db")
    assert result.code == 70
    assert "Traceback (most recent call last)" in result.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["explain"], "Missing argument 'PATH...'"),
        (["explain", "db", "--format", "xml"], "Invalid value for '--format'"),
        (["explain", "db", "--nonsense"], "No such option"),
        (["exlpain", "db"], "There is no command 'exlpain'. Did you mean 'explain'?"),
        (["qqq"], "There is no command 'qqq'."),
        (["tree", "db", "--min-share", "200%"], "'200%' is not a percentage"),
        (["tree", "db", "--min-share", "nan"], "'nan' is not a percentage"),
        (["tree", "db", "--depth", "0"], "Invalid value for '--depth'"),
        (["completion", "tcsh"], "Invalid value"),
        (["adapters", "nonsense"], "No such command"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_where_help_is(run: Run, args: list[str], message: str) -> None:
    result = run(*args)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("chathpc: ")
    assert message in result.err
    assert "--help'." in result.err.splitlines()[-1]


@pytest.mark.parametrize("args", [[], ["adapters"], ["models"]])
def test_a_command_alone_that_needs_another_shows_its_help_page_as_it_is(run: Run, args: list[str]) -> None:
    result = run(*args)
    page = run(*args, "--help").out
    assert page.count("\n") > 5
    assert page.strip() in (result.out.strip(), result.err.strip())


def test_a_path_in_place_of_a_command_is_understood(run: Run, tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    assert "chathpc explain db" in run("db").err


@pytest.mark.parametrize("verb", ["explain", "tree", "metrics"])
@pytest.mark.parametrize("name", ["missing", "empty", "file", "\x1b[31mred", "a\nb", "\udcff"])
def test_a_path_that_is_no_profile_ends_with_3(run: Run, tmp_path: Path, verb: str, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("no profile")
    result = run(verb, name)
    assert result.code == 3
    assert result.out == ""
    assert result.err.startswith("chathpc: ")
    assert "\x1b" not in result.err


def test_a_profile_that_may_not_be_read_ends_with_3_and_an_empty_path_with_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed.json").write_text("{}")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.R_OK)
    for args in (["explain"], ["metrics"], ["scale"], ["ranks"], ["diff", "closed.json"]):
        result = run(*args, "closed.json")
        assert (result.code, result.err) == (
            3,
            "chathpc: closed.json: the file cannot be read\nCheck its permissions.\n",
        )
    assert run("explain", "").code == 2


def test_a_reader_of_help_that_goes_away_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = process("-m", "chathpc", "--help", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    code = (
        "import sys, chathpc; from chathpc.commands.main import main; from tests.reports.sample import sample;"
        "chathpc.load = lambda *p: None; chathpc.explain = lambda p, **k: sample(); sys.exit(main(['explain', 'db']))"
    )
    reading, writing = os.pipe()
    os.close(reading)
    done = process("-c", code, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_full_stdout_is_told() -> None:
    with open("/dev/full", "w") as full:
        done = process("-m", "chathpc", "completion", "bash", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == "chathpc: Cannot write to standard output: No space left on device.\n"


def test_a_closed_stdout_is_told() -> None:
    done = process("-c", "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, '-m', 'chathpc', "
                   "'completion', 'bash'])", stderr=subprocess.PIPE)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "chathpc: Standard output is closed.\nName a file with -o.\n"


def test_a_full_stderr_does_not_change_the_exit_code() -> None:
    with open("/dev/full", "w") as full:
        assert process("-m", "chathpc", "tree", "missing", stderr=full).returncode == 3


@pytest.mark.parametrize("width", [40, 57, 60, 80, 100])
@pytest.mark.parametrize("path", [(), *((name,) for name in COMMANDS), ("models", "pull"), ("patterns", "show")])
def test_a_help_page_breaks_no_word_at_any_width(
    path: tuple[str, ...], width: int, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def page(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        return run(*path, "--help").out

    monkeypatch.setitem(cli.context_settings, "max_content_width", 1000)
    words = set(page(1000).split())
    monkeypatch.setitem(cli.context_settings, "max_content_width", 100)
    text = page(width)
    long = [word for word in words if len(word) > width // 2]
    broken = [word for word in text.split() if word not in words and not word.endswith("...")]
    assert [word for word in broken if not any(word in each for each in long)] == []
    assert "\N{NON-BREAKING HYPHEN}" not in text


def test_a_full_disk_is_no_bug_of_ours() -> None:
    with open("/dev/full", "w") as full:
        done = process("-m", "chathpc", "--help", stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, "chathpc: Cannot write: No space left on device.\n")


def test_an_interrupt_while_the_command_line_is_imported_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("chathpc.commands.main.main", interrupted)
    assert chathpc.__main__.main() == 130
    assert capsys.readouterr().err == "\nchathpc: interrupted\n"
