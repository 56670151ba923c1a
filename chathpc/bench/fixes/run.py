"""Runs the fix loop on tasks, one after the other; what is done is kept, so that a run that was ended goes on."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from chathpc.bench.fixes.find import missing
from chathpc.bench.fixes.oracle import buggy, human
from chathpc.bench.fixes.outcome import Outcome, Tried, from_data, to_data
from chathpc.bench.fixes.task import Task
from chathpc.errors import ChathpcError
from chathpc.fix import ledger
from chathpc.fix.agent import Manner
from chathpc.fix.loop import Budget, fix, may_gain
from chathpc.fix.loop import Outcome as Fixed
from chathpc.fix.project_file import FILE, describes_project, read
from chathpc.fix.records import Attempt, Proposer
from chathpc.fix.strategies import notes_of, proposers
from chathpc.fix.suggest import suggest
from chathpc.fix.workspace import copy_tree, remove, tree_hash
from chathpc.profile.text import clean
from chathpc.reports.write import write_atomically
from chathpc.sandbox import Sandbox

HUMAN, BUGGY = "human", "buggy"
_ORACLES: dict[str, Callable[[Task], Proposer]] = {HUMAN: human, BUGGY: buggy}
_OUTCOME, _LEDGER = "outcome.json", "ledger.jsonl"


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for all tasks: the sandbox, the bounds of a task, where results are kept, the model of strategies that ask
    one, and how an agent works.
    """

    sandbox: Sandbox
    work: Path
    budget: Budget
    baselines: bool = False
    llm: str | None = None
    manner: Manner = field(default_factory=Manner)


def run_tasks(
    tasks: Sequence[Task],
    strategies: Sequence[str],
    settings: Settings,
    *,
    progress: Callable[[str], None] = lambda stage: None,
) -> list[tuple[Outcome, ...]]:
    """For each task its outcomes with the `strategies`, in their order.

    Expected trouble of a task is an outcome that says so. An outcome that is kept counts as long as task, strategy and bounds are
    the same. Where it is interrupted those of the tasks before are returned. UsageError for a strategy that there is not.
    """
    proposers([name for name in strategies if name not in _ORACLES], settings.llm)
    found: list[tuple[Outcome, ...]] = []
    for number, task in enumerate(tasks, 1):
        outcomes = []
        for name in strategies:
            here = f"{number} of {len(tasks)}: {task.name}, {name}"
            progress(here)

            def tell(stage: str, here: str = here) -> None:
                progress(f"{here}: {stage}")

            try:
                outcomes.append(_kept(task, name, settings, tell))
            except KeyboardInterrupt:
                return found
        found.append(tuple(outcomes))
    return found


def _kept(task: Task, strategy: str, settings: Settings, tell: Callable[[str], None]) -> Outcome:
    """The outcome from an earlier run, else that of this one."""
    lacking = missing(task)
    if lacking:
        return Outcome("skipped", lacking)
    if strategy in _ORACLES and _nothing_beside(task, strategy):
        return Outcome("skipped", f"there is no {strategy} version")
    folder = settings.work / task.name.replace("/", "--") / strategy
    key = _key(task, strategy, settings)
    known = _read(folder / _OUTCOME, key)
    if known is not None:
        return known
    begin = time.monotonic()
    try:
        outcome = _fixed(task, strategy, settings, folder, key, tell)
    except ChathpcError as error:
        outcome = Outcome("failed", clean(error.message))
    outcome = replace(outcome, seconds=outcome.seconds or time.monotonic() - begin)
    write_atomically(folder / _OUTCOME, json.dumps({"key": key, "outcome": to_data(outcome)}, indent=1) + "\n")
    return outcome


def _nothing_beside(task: Task, strategy: str) -> bool:
    return (task.human is None and task.flags is None) if strategy == HUMAN else task.buggy is None


def _key(task: Task, strategy: str, settings: Settings) -> str:
    """A hash of all that an outcome depends on and that can be known."""
    from chathpc import __version__

    parts = (
        tree_hash(task.folder),
        strategy,
        repr(settings.budget),
        settings.sandbox.name,
        settings.llm,
        repr(settings.manner),
        __version__,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _read(file: Path, key: str) -> Outcome | None:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("key") != key or not isinstance(content.get("outcome"), dict):
        return None
    return from_data(content["outcome"])


def _fixed(
    task: Task, strategy: str, settings: Settings, folder: Path, key: str, tell: Callable[[str], None]
) -> Outcome:
    """The loop on a copy of the original; what it built is thrown away, its ledger kept."""
    tree, work, mark = folder / "tree", folder / "work", folder / "key"
    if not mark.is_file() or mark.read_text("utf-8") != key:
        remove(folder)
        folder.mkdir(parents=True)
        copy_tree(task.original, tree)
        _describe(task, tree)
        write_atomically(mark, key)
    proposer = (
        _ORACLES[strategy](task)
        if strategy in _ORACLES
        else proposers((strategy,), settings.llm, manner=settings.manner)[0]
    )
    fixed = fix(
        read(tree),
        (proposer,),
        sandbox=settings.sandbox,
        work=work,
        budget=settings.budget,
        progress=tell,
        baselines=settings.baselines,
    )
    if fixed.interrupted:
        raise KeyboardInterrupt
    events = ledger.read(work / _LEDGER)[0]
    seconds = [
        event.data.get("seconds")
        for event in events
        if event.event == "measured" and event.data.get("what") == "original"
    ]
    outcome = replace(
        outcome_of(fixed),
        original_seconds=seconds[0] if seconds else None,
        rounds=max((event.data["round"] for event in events if event.event in ("candidate", "round")), default=0),
        tokens=int(getattr(proposer, "tokens", 0)),
        remarks=(*fixed.remarks, *notes_of((proposer,))),
        seconds=sum(after.time - before.time for before, after in pairwise(events) if after.event != "resume"),
    )
    (work / _LEDGER).replace(folder / _LEDGER)
    for each in (tree, work):
        remove(each)
    mark.unlink()
    return outcome


def _describe(task: Task, tree: Path) -> None:
    """See to it that the copy says how it is built: its own chathpc.yaml, that of the task, or what its files suggest."""
    if describes_project(tree):
        return
    beside = task.folder / FILE
    text = beside.read_text("utf-8") if describes_project(task.folder) else suggest(tree)[0]
    write_atomically(tree / FILE, text)


def outcome_of(fixed: Fixed) -> Outcome:
    """What is kept of a finished loop."""
    first = fixed.first.diagnosis
    if fixed.accepted:
        ended = "improved-if" if fixed.conditional else "improved"
    elif not may_gain(first):
        ended = first.verdict.value
    else:
        ended = "nothing-passed" if fixed.complete else "unfinished"
    return Outcome(
        ended=ended,
        diagnosis=first.headline,
        causes=tuple(dict.fromkeys(finding.cause for finding in first.findings)),
        speedup=fixed.speedup,
        tried=tuple(map(_tried, fixed.attempts)),
        remarks=fixed.remarks,
        sandbox=fixed.sandbox,
        flags_alone=bool(fixed.accepted) and all(not each.candidate.files for each in fixed.accepted),
    )


def _tried(attempt: Attempt) -> Tried:
    last = attempt.gates[-1] if attempt.gates else None
    return Tried(
        title=clean(attempt.candidate.title),
        verdict=attempt.verdict.value,
        statement=clean("" if last is None else last.statement),
        recipe=clean(attempt.candidate.recipe),
        predicted=attempt.predicted,
        speedup=attempt.speedup,
    )
