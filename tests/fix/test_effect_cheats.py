"""Changes that leave something undone beside the answer, judged by the gate of effects alone: it refuses them, or says what they give up.

The other gates stop some of them earlier (`test_cheats.py` lets them pass all); here it is seen that this one would not need that.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from chathpc.fix.gates import effects
from chathpc.fix.gates.examination import Reference
from chathpc.fix.project_file import read
from chathpc.fix.runner import Runner
from chathpc.fix.workspace import Workspace
from chathpc.sandbox import choose, states
from tests.fix.tasks_here import TASKS, Cheat, buggy, cheats, human, tasks

CHEATS = list(cheats("effects"))
NAMES = sorted({each.task for each in CHEATS})
BY_NAME = {task.name: task for task in tasks() if task.name in NAMES}
pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace"),
    pytest.mark.skipif(all(fault for _, fault in states()), reason="no sandbox works here"),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    project = read(TASKS / request.param / "original")
    space = Workspace(Path(tmp_path_factory.mktemp(request.param)) / "work")
    with space.locked():
        space.prepare(project.root)
        runner = Runner(project, choose(), space)
        yield Reference(runner, runner.build({}, None))


def _mark(task: str, kind: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xdist_group(task), pytest.mark.kind(kind)]


@pytest.mark.parametrize(
    ("original", "change"),
    [
        pytest.param(each.task, each, id=f"{each.task}-{each.name}", marks=_mark(each.task, each.kind))
        for each in CHEATS
    ],
    indirect=["original"],
)
def test_what_is_left_undone_is_told(original: Reference, change: Cheat) -> None:
    changed = original.runner.build(change.candidate.files, None)
    assert changed.completed.succeeded, changed.completed.stderr
    found = effects.examine(original, changed)
    if change.expect == "lost":
        assert not found.passed, found.statement
    assert not found.passed or effects.durability([found]), (change.does, found.statement)


@pytest.mark.parametrize("original", [pytest.param(name, marks=_mark(name, "honest")) for name in NAMES], indirect=True)
def test_the_human_version_does_the_same(original: Reference) -> None:
    task = BY_NAME[Path(original.runner.project.root).parent.name]
    for candidate in (human(task), *([buggy(task)] if task.buggy is not None else [])):
        changed = original.runner.build(candidate.files, candidate.flags)
        assert changed.completed.succeeded, changed.completed.stderr
        found = effects.examine(original, changed)
        assert found.passed or candidate.proposer == "buggy", found.statement
        assert effects.durability([found]) == ()
