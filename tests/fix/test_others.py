"""The programs of `others`: slow programs by people who knew neither the recipes nor the tasks, with what they would do themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from chathpc.bench.fixes.find import find_tasks
from chathpc.bench.fixes.oracle import differing
from chathpc.bench.fixes.task import Task
from chathpc.diagnosis.catalogue import ids
from chathpc.fix.project_file import read
from tests.fix.tasks_here import TASKS, editable, sources

OTHERS = Path(__file__).parent / "others"
ALL = find_tasks([OTHERS])


def test_there_are_programs_of_all_languages_and_none_of_the_tasks() -> None:
    assert len(ALL) >= 24
    assert {task.language for task in ALL} == {"c", "c++", "fortran"}
    assert {task.model for task in ALL} == {"serial", "openmp", "threads", "mpi"}
    assert not {task.name for task in ALL} & {folder.name for folder in TASKS.iterdir()}


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.name)
def test_a_program_is_complete(task: Task) -> None:
    project = read(task.original)
    assert len(project.inputs) >= 2
    assert set(task.right) <= set(ids())
    label = yaml.safe_load((OTHERS / task.name / "task.yaml").read_text())
    assert label["change"]
    assert label["bug"]
    text = sources(task.original)[label["where"]["file"]]
    assert label["where"]["function"].rpartition("::")[2] in text
    assert task.human is not None
    assert task.buggy is not None
    original = editable(task)
    human, buggy = differing(task.human, original), differing(task.buggy, original)
    assert human
    assert buggy
    assert human != buggy
