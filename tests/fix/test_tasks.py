"""The tasks are what docs/labelled-tasks.md says, and nothing in a program tells its fault."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import yaml

from chathpc.bench.case import HEALTHY
from chathpc.bench.fixes.task import Task
from chathpc.diagnosis.catalogue import ids
from chathpc.fix.project_file import read
from tests.fix.tasks_here import EFFECTS, KINDS, TASKS, buggy, cheats, human, sources, tasks

ALL = tasks()
NAMES = [task.name for task in ALL]
FAMILIES = ("c", "cpp", "fortran", "openmp", "mpi", "cuda")
#: Words by which a source would tell what is wrong with it.
TELLING = re.compile(
    r"slow|fast|optimi|bottleneck|fault|bad|wrong|fixme|todo|coalesced|diverg|naive|inefficient|false.shar|contention",
    re.IGNORECASE,
)


def test_there_are_at_least_fifty_tasks_of_all_languages_and_models() -> None:
    faults = [task for task in ALL if not task.healthy]
    assert len(faults) >= 44
    assert sum(task.healthy for task in ALL) >= 6
    languages, models = Counter(task.language for task in ALL), Counter(task.model for task in ALL)
    assert languages.keys() == {"c", "c++", "fortran", "cuda"}
    assert min(languages.values()) >= 7
    assert all(models[name] >= 6 for name in ("openmp", "mpi", "cuda")), models


@pytest.mark.parametrize("task", ALL, ids=NAMES)
def test_a_task_is_complete(task: Task) -> None:
    project = read(task.original)
    assert len(project.inputs) >= 3 or task.model in ("mpi", "cuda", "openmp")
    assert len(project.inputs) >= 2
    label = yaml.safe_load((TASKS / task.name / "task.yaml").read_text())
    assert set(task.right) - {HEALTHY} <= set(ids()), "causes are of the catalogue"
    if task.healthy:
        assert task.human is None
        assert task.buggy is None
        return
    assert label["change"]
    assert label["bug"]
    assert human(task).files or task.flags, "an expert changes something"
    assert buggy(task).files, "the buggy version is another program"
    assert human(task).files != buggy(task).files
    assert label["where"]["file"] in sources(task.original)
    function = label["where"]["function"].rpartition("::")[2]
    assert re.search(rf"\b{function}\b", sources(task.original)[label["where"]["file"]])


@pytest.mark.parametrize("task", ALL, ids=NAMES)
def test_nothing_in_a_program_tells_its_fault(task: Task) -> None:
    for name, text in sources(task.original).items():
        found = [match[0] for match in TELLING.finditer(f"{name}\n{text}") if match[0].lower() not in ("fast",)]
        assert not found, (name, found)
        assert name.endswith(".f90") or "//" not in text.replace("://", "")
        assert "/*" not in text
        assert not re.search(r"^\s*!(?!\$omp)", text, re.MULTILINE)


@pytest.mark.parametrize("task", [task for task in ALL if not task.healthy], ids=lambda task: task.name)
def test_a_program_is_short(task: Task) -> None:
    lines = max(len(text.splitlines()) for text in sources(task.original).values())
    assert 25 <= lines <= 130


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_twenty_changes_that_cheat_and_some_that_only_shuffle(family: str) -> None:
    found = list(cheats(family))
    kinds = Counter(each.kind for each in found)
    assert kinds.keys() <= KINDS
    assert sum(kinds.values()) - kinds["shuffle"] >= 20
    assert kinds["shuffle"] >= 1
    names = [each.id for each in found]
    assert len(names) == len(set(names))


def test_sixty_changes_cheat_by_effects() -> None:
    found = list(cheats("effects"))
    assert len(found) >= 60
    assert {each.kind for each in found} == EFFECTS
    assert {each.expect for each in found} == {"lost", "durability"}
    assert len({each.id for each in found}) == len(found)


def test_most_cheats_give_the_right_answer_where_they_are_timed_or_are_made_to_look_right() -> None:
    measured = [each for each in cheats() if each.main and each.kind != "shuffle"]
    assert sum(each.main == "right" for each in measured) >= 50
