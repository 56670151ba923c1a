from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.labelled import PLAIN, case, three
from tests.commands.conftest import Result

Run = Callable[..., Result]


def test_a_set_that_is_answered_rightly_passes_its_gates(run: Run, tmp_path: Path) -> None:
    three(tmp_path / "set")
    result = run(
        "bench", "diagnosis", "set", "--require", "detection1=100", "--require", "abstention=100", "--format", "json"
    )
    assert result.code == 0
    assert result.err == ""
    content = json.loads(result.out)
    figures = {figure["key"]: figure["value"] for figure in content["all"]["figures"]}
    assert (figures["detection1"], figures["function"], figures["right1"], figures["false-on-healthy"]) == (1, 1, 1, 0)
    assert content["cases"] == []


def test_without_a_model_the_answer_is_the_same_again_but_for_the_cost(run: Run, tmp_path: Path) -> None:
    three(tmp_path / "set")
    pages = []
    for jobs in ("1", "2"):
        lines = run("bench", "diagnosis", "set", "--format", "markdown", "-j", jobs).out.splitlines()
        pages.append([line for line in lines if "of a case" not in line])
    assert pages[0] == pages[1]


def test_a_gate_that_is_missed_ends_with_1_after_the_answer(run: Run, tmp_path: Path) -> None:
    case(tmp_path / "set" / "a", PLAIN, where={"function": "parse"})
    result = run("bench", "diagnosis", "set", "--require", "detection1=90")
    assert result.code == 1
    assert "expected allocation-churn at parse" in " ".join(result.out.split())
    assert "told hot-spot: hot-compute at solve" in " ".join(result.out.split())
    assert "detection1: at least 90 was required, measured: 0." in result.err


def test_a_case_without_an_answer_ends_with_1_and_its_name(run: Run, tmp_path: Path) -> None:
    case(tmp_path / "set" / "broken", profiles=["missing"])
    result = run("bench", "diagnosis", "set", "--show", "none")
    assert result.code == 1
    assert "1 without an answer: broken." in result.err


def test_one_half_can_be_run_alone(run: Run, tmp_path: Path) -> None:
    three(tmp_path / "set")
    result = run("bench", "diagnosis", "set", "--split", "seen", "--format", "json", "--show", "all")
    assert [each["name"] for each in json.loads(result.out)["cases"]] == ["churn"]
    case(tmp_path / "seen" / "a", split="seen")
    nothing = run("bench", "diagnosis", "seen", "--split", "held-out")
    assert nothing.code == 1
    assert "The held-out half has no cases" in nothing.err


def test_wrong_usage_is_told_before_any_case_is_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three(tmp_path / "set")
    monkeypatch.setattr("chathpc.bench.run.run_cases", lambda *args, **options: pytest.fail("a case was run"))
    for arguments in (("set", "--require", "detection1"), ("missing",), ("set", "-o", "set/churn/truth.json")):
        assert run("bench", "diagnosis", *arguments).code == 2


def test_a_page_can_be_written_to_a_file(run: Run, tmp_path: Path) -> None:
    three(tmp_path / "set")
    assert run("bench", "diagnosis", "set", "-o", "accuracy.md") == Result(0, "", "")
    assert (tmp_path / "accuracy.md").read_text(encoding="utf-8").startswith("# Accuracy of the diagnosis\n")
