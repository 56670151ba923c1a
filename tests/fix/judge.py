"""Lets changes pass the gates of the fix loop, all those of a task in one session.

python -m tests.fix.judge [cheats|human|buggy|honest] [NAME ...]      what each gate says, as a table

Of honest changes, which are work in good faith whether fast or not, the last line counts those that were refused for anything but their speed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chathpc.bench.fixes.find import missing
from chathpc.bench.fixes.task import Task
from chathpc.diagnosis.records import Diagnosis
from chathpc.fix.gates.chain import attempt
from chathpc.fix.ledger import Ledger
from chathpc.fix.original import begin, first_state
from chathpc.fix.profiling import measured
from chathpc.fix.project_file import read
from chathpc.fix.records import Attempt, Candidate, Verdict
from chathpc.fix.runner import Runner
from chathpc.fix.session import Budget, Session, State
from chathpc.fix.workspace import Workspace
from chathpc.sandbox import choose
from tests.fix.tasks_here import buggy, cheats, honest, human, tasks


@dataclass
class Judge:
    """A task's original, built, run and diagnosed, and the gates for changes of it."""

    task: Task
    session: Session
    first: State
    tried: dict[str, Attempt] = field(default_factory=dict)

    @property
    def diagnosis(self) -> Diagnosis:
        """What the diagnosis says of the original."""
        return self.first.diagnosis

    def attempt(self, one: Candidate) -> Attempt:
        """What becomes of a candidate, whatever the diagnosis says."""
        findings = self.diagnosis.findings
        named = [each for each in findings if each.cause in self.task.right]
        candidate = replace(one, finding=next(iter((*named, *findings)), None))
        found = self.tried[one.id] = attempt(self.session, f"{len(self.tried)}-{one.id}", candidate, self.first)
        return found


@contextmanager
def judging(task: Task, *, timing: float = 30.0) -> Iterator[Judge]:
    """A session on a task, with `timing` seconds for the timed runs of a candidate."""
    project = read(task.original)
    with tempfile.TemporaryDirectory(prefix="chathpc-judge-") as folder:
        space = Workspace(Path(folder) / "work")
        with space.locked():
            space.prepare(project.root)
            ledger = Ledger(space.ledger)
            session = Session(
                project, (), Runner(project, choose(), space), ledger, Budget(timing=timing), measured, lambda stage: None,
                np.random.default_rng(), False,
            )  # fmt: skip
            try:
                begin(session)
                yield Judge(task, session, first_state(session, None))
            finally:
                ledger.close()


#: What may become of work in good faith: it is taken, or it is no faster than it was.
NOT_REFUSED = {Verdict.ACCEPTED, Verdict.IMPROVED_IF, Verdict.SLOWER, Verdict.INCONCLUSIVE, Verdict.INVALID}


def main(words: Sequence[str]) -> None:
    """The table."""
    judged: list[Verdict] = []
    which, names = (words[0] if words else "cheats"), set(words[1:])
    for task in tasks():
        if (names and task.name not in names) or missing(task) or task.healthy:
            continue
        candidates = {
            "cheats": lambda task: [each.candidate for each in cheats() if each.task == task.name],
            "human": lambda task: [human(task)],
            "buggy": lambda task: [buggy(task)],
            "honest": lambda task: list(honest(task)),
        }[which](task)
        if not candidates:
            continue
        with judging(task) as judge:
            print(f"{task.name:9} {judge.diagnosis.verdict.value}", flush=True)
            for one in candidates:
                tried = judge.attempt(one)
                judged.append(tried.verdict)
                last = tried.gates[-1]
                print(
                    f"{task.name:9} {one.id:28} {tried.verdict.value:13} {last.gate:12} {last.statement[:150]}",
                    flush=True,
                )
    if which == "honest":
        print(f"{sum(each not in NOT_REFUSED for each in judged)} of {len(judged)} refused")


if __name__ == "__main__":
    main(sys.argv[1:])
