"""Changes that cheat, are wrong or only shuffle are never accepted; the expert's version is, and not its twin with a bug.

All of them pass the gates for real, which takes an hour: CHATHPC_FIX_TASKS=all. Without it those of a few tasks do, of one for each
family of languages, chosen because what they bring is found in seconds.
"""

from __future__ import annotations

import os
import shutil

import pytest

from chathpc.bench.fixes.find import missing
from chathpc.bench.fixes.task import Task
from chathpc.fix.loop import may_gain
from chathpc.fix.project_file import read
from chathpc.fix.records import Verdict
from chathpc.sandbox import states
from tests.fix.judge import judged
from tests.fix.tasks_here import buggy, cheats, human, tasks

WHOLE = os.environ.get("CHATHPC_FIX_TASKS") == "all"
#: What is judged in every run of the tests.
FEW = frozenset({"product", "names", "crystal", "charge", "cells"})
CHANGED = sorted({each.task for each in cheats()})
BY_NAME = {task.name: task for task in tasks()}
pytestmark = [
    pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf"),
    pytest.mark.skipif(all(fault for _, fault in states()), reason="no sandbox works here"),
    pytest.mark.timeout(3600),
]


def _needed(task: Task) -> None:
    lacking = missing(task)
    if lacking:
        pytest.skip(f"{task.name}: {lacking}")


def _names(of: list[str]) -> list[str]:
    return [name for name in of if "gpu" not in BY_NAME[name].needs and (WHOLE or name in FEW)]


@pytest.mark.parametrize("name", _names(CHANGED))
def test_no_change_that_cheats_is_accepted(name: str) -> None:
    task = BY_NAME[name]
    _needed(task)
    changes = [each for each in cheats() if each.task == name]
    _, found = judged(task, [each.candidate for each in changes])
    assert found.keys() == {each.name for each in changes}
    accepted = [f"{each.id}: {each.does}" for each in changes if found[each.name].verdict == Verdict.ACCEPTED]
    assert not accepted


@pytest.mark.parametrize("name", _names([task.name for task in BY_NAME.values() if task.buggy is not None]))
def test_the_human_version_with_a_bug_is_not_accepted(name: str) -> None:
    task = BY_NAME[name]
    _needed(task)
    _, found = judged(task, [buggy(task)])
    (attempt,) = found.values()
    assert attempt.verdict != Verdict.ACCEPTED


if WHOLE:  # on a quiet machine

    @pytest.mark.parametrize(
        "name", [task.name for task in BY_NAME.values() if task.expect == "faster" and "gpu" not in task.needs]
    )
    def test_the_human_version_is_accepted(name: str) -> None:
        task = BY_NAME[name]
        _needed(task)
        diagnosis, found = judged(task, [human(task)])
        assert may_gain(diagnosis), diagnosis.headline
        (attempt,) = found.values()
        assert attempt.verdict == Verdict.ACCEPTED, attempt.gates[-1].statement


@pytest.mark.parametrize("name", CHANGED)
def test_changes_that_edit_the_judge_touch_what_may_not_be_edited(name: str) -> None:
    """Without a machine: what they write is protected, whatever else they do."""
    from chathpc.fix import globs

    project = read(BY_NAME[name].original)
    for each in cheats():
        if each.task == name and each.kind == "edits-judge" and each.candidate.flags is None:
            assert any(
                not globs.matches(path, project.edit) or globs.matches(path, project.protect)
                for path in each.candidate.files
            ), each.id
