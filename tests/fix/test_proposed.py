"""What mended a task once is proposed for it still, at the place of its label, without anything being run."""

from __future__ import annotations

import pytest
import yaml

from chathpc.bench.fixes.task import Task
from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.fix.project_file import read
from chathpc.fix.recipes.proposer import Recipes
from chathpc.fix.records import Problem
from tests.fix.recipes.test_proposer import finding
from tests.fix.tasks_here import TASKS, editable, tasks

#: The recipe that was accepted for each task (docs/fix-accuracy.md); the others were mended by flags or by a
#: recipe that is none any more, or not at all, or need a GPU.
RECIPES = {
    "beam": "hoist-invariant-call",
    "census": "pass-by-reference",
    "chain": "send-early",
    "charge": "private-sums",
    "coast": "schedule-dynamic",
    "desk": "double-ended-queue",
    "field": "interchange-loops",
    "frames": "keep-buffer",
    "galaxy": "fortran-reduction",
    "gas": "power-to-products",
    "grain": "fortran-power-to-products",
    "hist": "private-sums",
    "lake": "one-message",
    "logger": "buffer-writes",
    "ozone": "fortran-schedule-dynamic",
    "pairs": "schedule-dynamic",
    "plan": "one-message",
    "plasma": "power-to-products",
    "plate": "fortran-interchange-loops",
    "relax": "parallel-loop",
    "report": "newline-instead-of-endl",
    "star": "fortran-hoist-invariant",
    "warm": "region-if-large",
}
ALL = {task.name: task for task in tasks()}


def problem(task: Task) -> Problem:
    """The task with a finding where its label says that the cost is."""
    label = yaml.safe_load((TASKS / task.name / "task.yaml").read_text())
    function, file = label["where"]["function"], label["where"]["file"]
    found = finding(label["cause"], function, label["where"].get("line"), file=file)
    return Problem(read(task.original), editable(task), Diagnosis(Verdict.BOTTLENECK, "", (found,)))


@pytest.mark.parametrize("name", RECIPES)
def test_what_mended_a_task_is_proposed_for_it(name: str) -> None:
    candidates = list(Recipes().propose(problem(ALL[name]), ()))
    assert RECIPES[name] in {part for each in candidates for part in each.recipe.split("+")}
