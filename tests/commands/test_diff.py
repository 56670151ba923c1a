"""`chathpc diff` on the command line: sides, exit codes, formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Result
from tests.synthetic.collapsed import write

Run = Callable[..., Result]


@pytest.fixture
def files(tmp_path: Path) -> None:
    """s1, s2, s3: main → solve with 400 samples and a little more; f1, f2, f3: with 900; each 100 in init."""
    for name, count in (("s1", 400), ("s2", 410), ("s3", 390), ("f1", 900), ("f2", 905), ("f3", 895), ("t1", 430)):
        (tmp_path / name).write_text(write([(("main", "solve"), count), (("main", "init"), 100)]))


@pytest.mark.usefixtures("files")
def test_two_paths_are_before_and_after(run: Run) -> None:
    result = run("diff", "s1", "f1")
    assert result.code == 0
    assert "SLOWER" in result.out
    assert "Mostly solve (+500 samples)." in " ".join(result.out.split())
    assert result.err == ""
    assert "FASTER" in run("diff", "f1", "s1").out
    assert "UNCHANGED  No difference: the total is 500 samples on both sides." in run("diff", "s1", "s1").out


@pytest.mark.usefixtures("files")
def test_several_runs_stand_behind_before_and_after(run: Run) -> None:
    for words in (
        ["--before", "s1", "s2", "s3", "--after", "f1", "f2", "f3", "--format", "json"],
        ["--format", "json", "--after", "f1", "f2", "f3", "--before", "s1", "s2", "s3"],
        ["--before", "s1", "--before", "s2", "--before", "s3", "--after", "f1", "f2", "f3", "--format", "json"],
    ):
        content = json.loads(run("diff", *words).out)
        assert content["schema"] == "chathpc-diff/1"
        assert (len(content["before"]["runs"]), len(content["after"]["runs"])) == (3, 3)
        assert (content["total"]["before"], content["total"]["after"]) == (500.0, 1000.0)
        assert content["noise"]["kind"] == "repetitions"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("s1",),
        ("s1", "f1", "s2"),
        ("--before", "s1"),
        ("--before", "s1", "--after"),
        ("--before",),
        ("s1", "--before", "s2", "--after", "f1"),
        ("--before", "s1", "s1", "--after", "f1"),
        ("s1", "f1", "--fail-on-regression", "much"),
        ("s1", "f1", "--metric", "nothing"),
        ("s1", "f1", "-o", "s1"),
    ],
)
def test_anything_else_is_wrong_usage(run: Run, words: tuple[str, ...]) -> None:
    result = run("diff", *words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("chathpc: ")


@pytest.mark.usefixtures("files")
def test_a_regression_has_an_exit_code_of_its_own_and_the_answer_is_given_all_the_same(run: Run) -> None:
    failed = run("diff", "s1", "f1", "--fail-on-regression", "5%")
    assert failed.code == 7
    assert "GATE FAILED" in failed.out
    assert failed.err.startswith("chathpc: The total has grown beyond the limit of +5 %: +100 %")
    assert run("diff", "f1", "s1", "--fail-on-regression", "5%").code == 0
    assert (
        run("diff", "--before", "s1", "s2", "s3", "--after", "f1", "f2", "f3", "--fail-on-regression", "50").code == 7
    )


@pytest.mark.usefixtures("files")
def test_what_cannot_be_decided_does_not_fail_and_is_said(run: Run) -> None:
    # 530 against 500 samples: +6 % ± 12.
    result = run("diff", "s1", "t1", "--fail-on-regression", "5%")
    assert result.code == 0
    assert "GATE UNDECIDED" in result.out
    assert "cannot be decided" in result.err
    assert "too close to the limit" in result.err or "times as many samples" in result.err


@pytest.mark.usefixtures("files")
def test_the_format_follows_the_file(run: Run, tmp_path: Path) -> None:
    assert run("diff", "s1", "f1", "-o", "d.md") == Result(0, "", "")
    assert "## Where it changed" in (tmp_path / "d.md").read_text()
    run("diff", "s1", "f1", "-o", "d.json")
    assert json.loads((tmp_path / "d.json").read_text())["verdict"] == "slower"


def test_what_is_no_profile_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\0\1\2")
    result = run("diff", "x", "x")
    assert result.code == 3
    assert "not a profile" in result.err
