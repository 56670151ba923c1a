"""What repairs gave, and whether a report's bounds hold: `python -m tests.bench.gains [PLANTED] [--tasks] [--write]`.

Measured repairs are the labels of tests/fix/tasks (`measured` of task.yaml) and, where the folder is given, planted programs with a
repaired twin (`fixed_speedup` of truth.json; of two faults that of the first alone). `--write` renews chathpc/diagnosis/measured_gains.yaml.
With `--tasks` the tasks are built and profiled as `chathpc fix` does (some minutes), and their bounds count as well.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

from chathpc.adapters.load import load
from chathpc.bench.fixes.find import missing
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.measured_gains import FILE
from chathpc.diagnosis.records import Finding
from tests.fix.judge import judging
from tests.fix.tasks_here import tasks as all_tasks

TASKS = Path(__file__).resolve().parents[1] / "fix" / "tasks"
#: A bound that is beaten by no more than this is within what timing tells.
TOLERANCE = 1.05


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair that was measured: of which program, for which cause, and how many times as fast the run became."""

    name: str
    cause: str
    speedup: float


def repairs(planted: Path | None) -> Iterator[Repair]:
    """All measured repairs of programs with a fault."""
    for file in sorted(TASKS.glob("*/task.yaml")):
        task = yaml.safe_load(file.read_text(encoding="utf-8"))
        if "measured" in task and task["cause"] != "healthy" and task.get("expect", "faster") == "faster":
            yield Repair(file.parent.name, task["cause"], task["measured"]["speedup"])
    for file in sorted(planted.glob("*/truth.json")) if planted else ():
        truth = json.loads(file.read_text(encoding="utf-8"))
        speedup = truth.get("fixed_primary_only_speedup") or truth.get("fixed_speedup")
        if not truth.get("healthy") and speedup:
            yield Repair(file.parent.name, truth["cause"], speedup)


def write(found: list[Repair]) -> None:
    """Write the table that reports quote."""
    table: dict[str, list[dict[str, object]]] = {}
    for one in sorted(found, key=lambda each: (each.cause, each.speedup)):
        table.setdefault(one.cause, []).append({"program": one.name, "speedup": one.speedup})
    head = "# Speed-ups of whole runs by measured repairs, by cause; written by: python -m tests.bench.gains PLANTED --write\n"
    FILE.write_text(head + yaml.safe_dump(table, sort_keys=True, default_flow_style=None), encoding="utf-8")


def first_findings(planted: Path | None, *, tasks: bool) -> Iterator[tuple[Repair, Finding | None]]:
    """Programs with a measured repair, and what a report says of them first."""
    known = {one.name: one for one in repairs(planted)}
    for file in sorted(planted.glob("*/truth.json")) if planted else ():
        if file.parent.name in known and (file.parent / "database").is_dir():
            yield known[file.parent.name], next(iter(diagnose(load(file.parent / "database")).findings), None)
    for task in all_tasks() if tasks else ():
        if task.name in known and not missing(task):
            with judging(task) as judge:
                yield known[task.name], next(iter(judge.diagnosis.findings), None)


def bounds(planted: Path | None, *, tasks: bool) -> None:
    """Print stated and real speed-ups of first findings that name the cause which the repair mends."""
    stated, beaten, ratios, asked = 0, [], [], 0
    print(f"{'program':10} {'cause':26} {'at most':>8} {'if free':>8} {'real':>8}")
    for one, first in first_findings(planted, tasks=tasks):
        if first is None or first.cause != one.cause:
            continue
        asked += 1
        said = "" if first.speedup_bound is None else f"{first.speedup_bound:.2f}"
        free = "" if first.speedup_if_free is None else f"{first.speedup_if_free:.2f}"
        print(f"{one.name:10} {one.cause:26} {said:>8} {free:>8} {one.speedup:8.2f}", flush=True)
        if first.speedup_bound is not None:
            stated += 1
            ratios.append(first.speedup_bound / one.speedup)
            if one.speedup > first.speedup_bound * TOLERANCE:
                beaten.append(one.name)
    print(f"'at most' stands for {stated} of {asked} first findings; beaten by more than 5 %: {len(beaten)} {beaten}")
    if ratios:
        print(f"stated / real: median {median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")


def main(words: list[str]) -> None:
    """Print the bounds, or write the table."""
    folders = [Path(word) for word in words if not word.startswith("-")]
    planted = folders[0] if folders else None
    if "--write" in words:
        write(list(repairs(planted)))
    bounds(planted, tasks="--tasks" in words)


if __name__ == "__main__":
    main(sys.argv[1:])
