"""`chathpc fix` on the command line: exit codes, files, and when a yes is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from chathpc.commands.main import main
from chathpc.fix import strategies
from chathpc.fix.records import Attempt, Candidate, Problem
from chathpc.fix.runner import Runner
from chathpc.fix.workspace import tree_hash
from tests.fix.parts import Scripted, candidate
from tests.fix.shell_project import FAST, SLOW, WRONG
from tests.llm import fault_server as fs
from tests.llm.fault_server import fault_server

PROFILE = """#!/bin/sh
set -- $(grep sleep work.txt)
n=$(echo "$2" | tr -d .)
printf 'main;slow;pow %d\\nmain;slow 500\\nmain;other 1500\\n' $((${n#00} * 1000 - 2000)) > samples.txt
"""
YAML = """project:
  build: cp work.txt app && chmod +x app
  run: ./app 20
  edit: [work.txt]
  profile: {command: sh profile.sh, result: samples.txt}
"""


def right() -> Scripted:
    return Scripted([candidate("right", {"work.txt": FAST})])


def stopped() -> Scripted:
    class Stopped(Scripted):
        learns = True

        def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterable[Candidate]:
            os.kill(os.getpid(), signal.SIGTERM)
            return []

    return Stopped([])


def wrong() -> Scripted:
    return Scripted([candidate("wrong", {"work.txt": WRONG})])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "prog"
    root.mkdir()
    for name, text in {"work.txt": SLOW, "profile.sh": PROFILE, "chathpc.yaml": YAML}.items():
        (root / name).write_text(text)
    monkeypatch.setitem(strategies.STRATEGIES, "recipes", f"{__name__}:right")
    # The script's work is a child, whose arguments would count as lost.
    monkeypatch.setattr(Runner, "traces", False)
    return root


def run(folder: Path, *words: str) -> int:
    return main(["fix", str(folder), "--no-sandbox", *words])


def in_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_an_improvement_is_told_and_nothing_is_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_hash(folder)
    assert run(folder, "--format", "json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["verdict"] == "improved"
    assert found["accepted"] == ["right"]
    assert found["speedup"]["low"] > 1.02
    assert "change.patch" in captured.err
    assert tree_hash(folder) == before
    patch = folder.with_name("prog.chathpc-fix") / "change.patch"
    subprocess.run(["patch", "-p1", "-d", str(folder), "-i", str(patch)], check=True, capture_output=True)
    assert (folder / "work.txt").read_text() == FAST


def test_without_a_terminal_apply_means_no_and_with_yes_it_means_yes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "--apply") == 0
    assert "No changes made." in capsys.readouterr().err
    assert (folder / "work.txt").read_text() == SLOW
    assert run(folder, "--apply", "--yes") == 0
    assert "Changed: work.txt." in capsys.readouterr().err
    assert (folder / "work.txt").read_text() == FAST


@pytest.mark.parametrize("how", [("--apply", "--yes"), ("--branch", "faster")])
def test_a_session_that_is_stopped_applies_nothing(
    how: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    in_repository(folder, monkeypatch)
    assert run(folder) == 0
    monkeypatch.setitem(strategies.STRATEGIES, "recipes", f"{__name__}:stopped")
    assert run(folder, *how) == 5
    assert "Stopped early; nothing was applied." in capsys.readouterr().err
    assert (folder / "work.txt").read_text() == SLOW
    branches = subprocess.run(["git", "-C", str(folder), "branch", "-a"], check=True, capture_output=True).stdout
    assert b"faster" not in branches


def test_a_person_at_the_terminal_has_to_type_yes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chathpc.commands import fix

    class Terminal:
        def __init__(self, says: str) -> None:
            self.says = says

        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return self.says

    for says, expected in (
        ("", False),
        ("\n", False),
        ("y\n", False),
        ("no\n", False),
        ("yes\n", True),
        ("YES\n", True),
    ):
        monkeypatch.setattr(fix.sys, "stdin", Terminal(says))
        assert fix._said_yes(1, folder) is expected


def test_nothing_passed_is_6(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(strategies.STRATEGIES, "recipes", f"{__name__}:wrong")
    assert run(folder) == 6
    assert "NOTHING PASSED" in capsys.readouterr().out


def test_without_a_model_recipes_do_it_and_the_report_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--llm", "none", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "improved"
    assert any(remark.startswith("No model was used") for remark in found["remarks"])


def test_a_strategy_that_asks_a_model_leads_to_one_that_needs_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "--llm", "none", "--strategy", "agent") == 2
    assert "--strategy recipes, which needs none" in capsys.readouterr().err


def test_a_model_that_the_server_lacks_is_4_before_anything_is_built(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with fault_server(fs.stream(*fs.WELCOME), models=fs.whole({"data": [{"id": "here"}]})) as server:
        words = ("--llm", "openai:gone", "--base-url", server.url, "--strategy")
        assert run(folder, *words, "agent") == 4
        captured = capsys.readouterr()
        assert "has no model 'gone'" in captured.err
        assert captured.out == ""
        assert not list((tmp_path / "prog.chathpc-fix" / "built").glob("*"))
        assert run(folder, *words, "agent", "--strategy", "recipes") == 0


def test_a_limit_is_5(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--time-limit", "1") in (0, 5)
    assert run(folder, "--fresh", "--strategy", "none-such") == 2
    assert "Strategies are recipes" in capsys.readouterr().err


def test_wrong_usage_is_2(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--yes") == 2
    assert main(["fix", str(tmp_path / "none")]) == 2
    assert "chathpc fix --init" in capsys.readouterr().err


def test_a_commit_goes_to_a_branch(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    in_repository(folder, monkeypatch)
    assert run(folder, "--branch", "faster") == 0
    assert "on the branch faster" in capsys.readouterr().err
    said = subprocess.run(
        ["git", "log", "-1", "--format=%B", "faster"], cwd=folder, check=True, capture_output=True, text=True
    )
    first = said.stdout.split("\n")[0]
    assert "x faster: " in first
    assert len(first) <= 72
    # That there is such a branch is told before anything is built or run.
    monkeypatch.setattr("chathpc.fix.loop.fix", None)
    assert run(folder, "--branch", "faster") == 2
    assert "The branch faster exists." in capsys.readouterr().err
    shown = subprocess.run(["git", "show", "faster:work.txt"], cwd=folder, check=True, capture_output=True, text=True)
    assert shown.stdout == FAST
    assert (folder / "work.txt").read_text() == SLOW


def test_a_first_description_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.c").write_text('#include <stdio.h>\nint main(void) { printf("1\\n"); return 0; }\n')
    assert main(["fix", "--init", str(tmp_path)]) == 0
    assert "project:" in (tmp_path / "chathpc.yaml").read_text()
    assert "Review it" in capsys.readouterr().err
    assert main(["fix", "--init", str(tmp_path)]) == 2
