"""Changes that cheat, are wrong or only shuffle are never accepted; the expert's version is, and not its twin with a bug.

All of them pass the gates for real, one session a task: build, runs, profile and times of the original are the same for all its changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest

from chathpc.bench.fixes.find import missing
from chathpc.bench.fixes.task import Task
from chathpc.fix.gates import scope
from chathpc.fix.loop import may_gain
from chathpc.fix.project_file import read
from chathpc.fix.records import Verdict
from chathpc.fix.workspace import entries
from chathpc.sandbox import states
from tests.fix.judge import Judge, judging
from tests.fix.tasks_here import Cheat, buggy, cheats, editable, honest, human, tasks

BY_NAME = {task.name: task for task in tasks() if "gpu" not in task.needs}
CHEATS = list(cheats())
pytestmark = [
    pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf"),
    pytest.mark.skipif(all(fault for _, fault in states()), reason="no sandbox works here"),
    pytest.mark.timeout(3600),
]


@pytest.fixture(scope="module")
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    task = request.param
    lacking = missing(task)
    if lacking:
        pytest.skip(f"{task.name}: {lacking}")
    with judging(task) as found:
        yield found


def _marks(task: Task, kind: str) -> list[pytest.MarkDecorator]:
    """One worker has all tests of a task, since they share a session."""
    return [pytest.mark.xdist_group(task.name), pytest.mark.kind(kind)]


@pytest.mark.parametrize(
    ("judge", "change"),
    [
        pytest.param(
            BY_NAME[each.task], each, id=f"{each.task}-{each.name}", marks=_marks(BY_NAME[each.task], each.kind)
        )
        for each in CHEATS
        if each.task in BY_NAME
    ],
    indirect=["judge"],
)
def test_a_change_that_cheats_is_not_accepted(judge: Judge, change: Cheat) -> None:
    verdict = judge.attempt(change.candidate).verdict
    assert verdict != Verdict.ACCEPTED, change.does
    assert change.expect != "lost" or verdict != Verdict.IMPROVED_IF, change.does


@pytest.mark.parametrize(
    "judge",
    [
        pytest.param(task, id=task.name, marks=_marks(task, task.language))
        for task in BY_NAME.values()
        if task.buggy is not None
    ],
    indirect=True,
)
def test_the_human_version_with_a_bug_is_not_accepted(judge: Judge) -> None:
    assert judge.attempt(buggy(judge.task)).verdict != Verdict.ACCEPTED


@pytest.mark.parametrize(
    "judge",
    [
        pytest.param(task, id=task.name, marks=_marks(task, task.model))
        for task in BY_NAME.values()
        if task.expect in ("faster", "improved-if")
    ],
    indirect=True,
)
def test_the_human_version_is_accepted(judge: Judge) -> None:
    assert may_gain(judge.diagnosis), judge.diagnosis.headline
    attempt = judge.attempt(human(judge.task))
    if attempt.verdict == Verdict.INCONCLUSIVE:  # the machine was busy with other things
        attempt = judge.attempt(replace(human(judge.task), id="again"))
    asked = Verdict.IMPROVED_IF if judge.task.expect == "improved-if" else Verdict.ACCEPTED
    assert attempt.verdict == asked, attempt.gates[-1].statement


@pytest.mark.parametrize("task", [task for task in BY_NAME.values() if any(honest(task))], ids=lambda task: task.name)
def test_nothing_in_the_source_of_an_honest_change_is_refused(task: Task) -> None:
    """Without a machine."""
    project = read(task.original)
    before, tree = editable(task), tuple(path for path, _ in entries(task.original))
    for each in honest(task):
        found = scope.judge(each, project, before, tree)
        assert found.passed, (each.id, found.statement)


@pytest.mark.parametrize("name", sorted({each.task for each in CHEATS}))
def test_changes_that_edit_the_judge_touch_what_may_not_be_edited(name: str) -> None:
    """Without a machine: what they write is protected, whatever else they do."""
    from chathpc.fix import globs

    (task,) = [task for task in tasks() if task.name == name]
    project = read(task.original)
    for each in CHEATS:
        if each.task == name and each.kind == "edits-judge" and each.candidate.flags is None:
            assert any(
                not globs.matches(path, project.edit) or globs.matches(path, project.protect)
                for path in each.candidate.files
            ), each.id
