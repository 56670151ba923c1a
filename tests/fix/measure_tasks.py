"""Whether the human version of each task really is faster, with the user's flags and with -O3: what its task.yaml records.

    python -m tests.fix.measure_tasks [--pairs N] [--write] [NAME ...]

Builds both versions, compares their outputs on all inputs, and runs them in pairs, in turn. With --write the figures at -O3 are put
into task.yaml. They mean something only on a quiet machine: the load before and after is printed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chathpc.bench.fixes.find import missing
from chathpc.bench.fixes.task import Task
from chathpc.fix.outputs import compare
from chathpc.fix.project_file import read
from chathpc.fix.runner import Built, Case, Runner
from chathpc.fix.speed import ratio
from chathpc.fix.workspace import Workspace
from chathpc.sandbox import choose
from tests.fix.tasks_here import buggy, human, tasks

SEED = 12345


@dataclass(frozen=True)
class Measured:
    """Seconds of both versions with some flags, and the ratio with its interval of 95 %."""

    flags: str
    original: float
    human: float
    ratio: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True)
class Found:
    """Of a task: figures with the user's flags and with -O3, inputs with another answer of the human version, and of the buggy one."""

    user: Measured
    best: Measured
    wrong: tuple[str, ...]
    buggy: tuple[str, ...]


def at_o3(flags: str) -> str:
    """The flags with -O3 in the place of the level that they name."""
    return re.sub(r"-O[0-3s]\b", "-O3", flags)


def measure(task: Task, pairs: int) -> Found:
    """Both versions of one task."""
    project = read(task.original)
    assert project.flags is not None
    with tempfile.TemporaryDirectory(prefix="chathpc-measure-") as folder:
        space = Workspace(Path(folder) / "work")
        space.prepare(project.root)
        runner = Runner(project, choose(), space)
        files, own = human(task).files, project.flags.value
        original, expert = runner.build({}, own), runner.build(files, task.flags or own)
        wrong = _differences(runner, original, expert)
        user = _pairs(runner, original, expert, own, pairs)
        best = at_o3(own)
        found = user
        if best != own or task.flags:
            found = _pairs(runner, runner.build({}, best), runner.build(files, at_o3(task.flags or own)), best, pairs)
        bug: tuple[str, ...] = ()
        if task.buggy is not None:
            bug = _differences(runner, original, runner.build(buggy(task).files, task.flags or own))
    return Found(user, found, wrong, bug)


def _differences(runner: Runner, original: Built, changed: Built) -> tuple[str, ...]:
    """Names of the inputs with another answer."""
    if not changed.completed.succeeded:
        return ("does not build",)
    return tuple(
        run.name
        for run in runner.project.inputs
        for case in (Case(run, seed=SEED if run.seeded else None),)
        if not compare(runner.run(original, case).outputs, runner.run(changed, case).outputs, runner.project.check).same
    )


def _pairs(runner: Runner, original: Built, changed: Built, flags: str, pairs: int) -> Measured:
    case = Case(runner.project.run, seed=SEED if runner.project.run.seeded else None)
    mine, theirs = [], []
    for number in range(pairs):
        for side in ((mine, original), (theirs, changed)) if number % 2 else ((theirs, changed), (mine, original)):
            side[0].append(runner.run(side[1], case).seconds)
    estimate, low, high = ratio(mine, theirs)
    return Measured(flags, float(np.median(mine)), float(np.median(theirs)), estimate, low, high, pairs)


def record(task: Task, found: Measured) -> None:
    """Put the figures into task.yaml, in the place of older ones."""
    file = task.folder / "task.yaml"
    kept = [line for line in file.read_text().splitlines() if not line.startswith("measured:")]
    today = datetime.datetime.now(tz=datetime.UTC).date()
    kept.append(
        f"measured: {{flags: {found.flags}, speedup: {found.ratio:.2f}, low: {found.low:.2f}, high: {found.high:.2f},"
        f" pairs: {found.pairs}, cores: {os.cpu_count()}, date: {today}}}"
    )
    file.write_text("\n".join(kept) + "\n")


def main(words: Sequence[str] | None = None) -> None:
    """The table."""
    parser = argparse.ArgumentParser(prog="python -m tests.fix.measure_tasks")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args(words)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {chosen.pairs} pairs")
    for task in tasks():
        if task.healthy or (chosen.names and task.name not in chosen.names):
            continue
        lacking = missing(task)
        if lacking:
            print(f"{task.name:9} left out: {lacking}")
            continue
        found = measure(task, chosen.pairs)
        shown = "  ".join(
            f"{one.original:5.2f} {one.human:5.2f} {one.ratio:6.2f} ({one.low:.2f} to {one.high:.2f})"
            for one in (found.user, found.best)
        )
        answers = "same answers" if not found.wrong else f"OTHER ANSWERS with {', '.join(found.wrong)}"
        print(
            f"{task.name:9} {shown}  {answers}; buggy is found with {', '.join(found.buggy) or 'NOTHING'}", flush=True
        )
        if chosen.write:
            record(task, found.best)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
