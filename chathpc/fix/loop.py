"""The loop: measure, diagnose, propose, let every candidate pass the gates, go on from the best one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.fix.history import Past
from chathpc.fix.ledger import Ledger, read
from chathpc.fix.original import begin, first_state
from chathpc.fix.outcome import Outcome, outcome_of
from chathpc.fix.profiling import Profiler, measured
from chathpc.fix.project import Project
from chathpc.fix.records import Attempt, Proposer
from chathpc.fix.rounds import best_if, best_of_round, has_time
from chathpc.fix.runner import Runner
from chathpc.fix.session import Budget, Progress, Session
from chathpc.fix.workspace import Workspace, remove, work_folder
from chathpc.sandbox import Sandbox

__all__ = ["Budget", "Outcome", "fix"]

_USUAL = Budget()


def fix(
    project: Project,
    proposers: Sequence[Proposer],
    *,
    sandbox: Sandbox,
    work: Path | None = None,
    budget: Budget = _USUAL,
    profiler: Profiler = measured,
    profile: Path | None = None,
    fresh: bool = False,
    progress: Progress = lambda stage: None,
    seed: int | None = None,
    baselines: bool = True,
) -> Outcome:
    """Find changes of `project` that make it faster, and prove each.

    The user's tree is only read. All that is made lies below `work` (default: beside the tree), where a session that was ended goes on
    unless `fresh`. `profile` is a profile of the program as it is, else it is measured. `seed` fixes what is random, for tests: seeds of
    inputs must not be known before. ChathpcError if the original itself does not build, run or agree with itself.
    """
    space = Workspace((work or work_folder(project.root)).absolute())
    with space.locked():
        # Nothing is lost where the original was not even measured.
        if fresh or not Past.of(read(space.ledger)[0]).measured:
            _forget(space)
        space.prepare(project.root)
        ledger = Ledger(space.ledger)
        try:
            session = Session(
                project, tuple(proposers), Runner(project, sandbox, space), ledger, budget, profiler, progress,
                np.random.default_rng(seed), baselines,
            )  # fmt: skip
            return _run(session, profile)
        finally:
            ledger.close()


def _forget(space: Workspace) -> None:
    for folder in (space.original, space.built, space.profiles, *space.root.glob(f"{space.stage.name}*")):
        remove(folder)
    space.ledger.unlink(missing_ok=True)


def may_gain(diagnosis: Diagnosis) -> bool:
    """Whether changes are tried: a cause was measured or is suspected, or the time is at a place for no known reason. A change passes the
    same gates, or none is made.
    """
    return diagnosis.verdict not in (Verdict.HEALTHY, Verdict.INSUFFICIENT)


def _may_say_more(session: Session) -> bool:
    """Whether another round makes sense though nothing passed: who learns from what was refused is asked again while there is time."""
    left = [each for each in session.proposers if each.name not in session.past.finished]
    return any(proposer.learns for proposer in left) and has_time(session)


def _need_a_model(session: Session) -> None:
    """ModelUnavailableError, before anything is built, where only models would propose something and there is none."""
    checks: list[Any] = [
        getattr(each, "check", None) for each in session.proposers if each.name not in session.past.finished
    ]
    if all(checks):
        for check in checks:
            check()


def _run(session: Session, profile: Path | None) -> Outcome:
    """From the beginning, or from where an earlier session ended."""
    begin(session)
    _need_a_model(session)
    session.remarks += [note for notes in session.past.finished.values() for note in notes]
    first = last = first_state(session, profile)
    accepted: list[Attempt] = []
    complete, interrupted = True, False
    if may_gain(first.diagnosis) or (first.profile is not None and any(each.learns for each in session.proposers)):
        try:
            for number in range(1, session.budget.rounds + 1):
                best, spent = best_of_round(session, number, last)
                if best is not None:
                    last, attempt = best
                    accepted.append(attempt)
                if spent is not None:
                    session.remarks.append(spent.message)
                    complete = False
                if spent is not None or last.profile is None or (best is None and not _may_say_more(session)):
                    break
        except KeyboardInterrupt:
            session.remarks.append("Stopped early. Finished work is kept: the same command resumes it.")
            complete, interrupted = False, True
    conditional = None if accepted or interrupted else best_if(session)
    if conditional is not None:
        files, flags = first.changed_by(conditional.candidate)
        last = session.state(files, flags, session.runner.build(files, flags), conditional.candidate.id)
        accepted.append(conditional)
    outcome = outcome_of(session, first, last, accepted, complete=complete, interrupted=interrupted)
    if complete:
        session.ledger.append("end", {"improved": outcome.improved, "healthy": outcome.healthy})
    return outcome
