"""The loop asks the harnesses of declared kernels, and their no is its no."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chathpc.fix.gpu import gate
from chathpc.fix.loop import Budget, Outcome, fix
from chathpc.fix.project import Kernel
from chathpc.fix.records import Verdict
from tests.fix.parts import Scripted, Unguarded, candidate
from tests.fix.shell_project import FAST, SLOW, profiler, project


def run(tmp_path: Path, kernels: tuple[Kernel, ...]) -> Outcome:
    return fix(
        replace(project(tmp_path), kernels=kernels), [Scripted([candidate("right", {"work.txt": FAST})])], sandbox=Unguarded(),
        profiler=profiler, budget=Budget(rounds=1, timing=2), baselines=False,
    )  # fmt: skip


def test_a_kernel_that_is_wrong_by_itself_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def judge(*arguments: Any, **more: Any) -> list[gate.Judged]:
        asked.append(arguments)
        return [gate.Judged("k", Verdict.WRONG_ANSWER, "By itself, the kernel k writes behind the end of out.")]

    monkeypatch.setattr(gate, "judge", judge)
    (attempt,) = run(tmp_path, (Kernel("k", "work.txt"),)).attempts
    assert attempt.verdict == Verdict.WRONG_ANSWER
    assert attempt.gates[-1].statement == "By itself, the kernel k writes behind the end of out."
    assert [name for name, _ in [(one.gate, one.passed) for one in attempt.gates]] == ["scope", "build", "correctness"]
    ((_, profile, before, after, _),) = asked
    assert profile.tree is not None
    assert (before["work.txt"], after["work.txt"]) == (SLOW, FAST)


def test_a_kernel_without_harness_is_told_and_stops_nothing(tmp_path: Path) -> None:
    (attempt,) = run(tmp_path, (Kernel("k", "work.txt"),)).attempts
    correctness = next(one for one in attempt.gates if one.gate == "correctness")
    assert correctness.passed
    assert correctness.figures["kernels"] == ["No harness for k: work.txt cannot be read as CUDA source."]
    assert attempt.verdict == Verdict.ACCEPTED
