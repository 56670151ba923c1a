"""The end of a session: what was accepted together against the original, and what the compiler alone would have done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chathpc.comparison.record import Diff
from chathpc.diagnosis.records import Verdict
from chathpc.fix.gates.effects import durability
from chathpc.fix.project import Project
from chathpc.fix.records import Attempt, Speedup
from chathpc.fix.session import Session, State
from chathpc.fix.thresholds import threshold


@dataclass(frozen=True, slots=True)
class Baseline:
    """The original with other flags: what the compiler alone would have done."""

    flags: str
    outcome: str
    speedup: Speedup | None
    statement: str
    changed: Speedup | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. `accepted` build on each other; `speedup` is that of all of them together against the original. `given_up` says in
    sentences without a point what they give up; where that is not allowed, the one that is accepted depends on its user's word.
    A session that was `interrupted` was not timed as a whole.
    """

    project: Project
    first: State
    last: State
    attempts: tuple[Attempt, ...]
    accepted: tuple[Attempt, ...]
    speedup: Speedup | None
    diff: Diff | None
    baselines: tuple[Baseline, ...]
    originals: Mapping[str, str]
    remarks: tuple[str, ...]
    complete: bool
    work: Path
    sandbox: str
    given_up: tuple[str, ...] = ()
    interrupted: bool = False
    strategies: tuple[str, ...] = ()

    @property
    def conditional(self) -> bool:
        """What was accepted gives up something that the project does not allow for."""
        return bool(self.given_up) and "durability" not in self.project.allow

    @property
    def healthy(self) -> bool:
        """Nothing was there to improve."""
        return self.first.diagnosis.verdict == Verdict.HEALTHY

    @property
    def improved(self) -> bool:
        """Something was accepted, and depends on nobody's word."""
        return bool(self.accepted) and not self.conditional


def outcome_of(
    session: Session,
    first: State,
    last: State,
    accepted: Sequence[Attempt],
    *,
    complete: bool,
    interrupted: bool = False,
) -> Outcome:
    """What came of the session that went from `first` to `last`; times all changes together if there are several, and baselines, unless
    it was interrupted.
    """
    run = session.project.run
    alone = len(session.original.declared) == 1 and not run.seeded
    if session.attempts and alone and not re.search(r"\d", run.command):
        session.remarks.append(
            "There is one input and no seed: a change that hard-codes the output is harder to detect. Declare more under 'inputs'."
        )
    speedup, diff = None, None
    baselines: tuple[Baseline, ...] = ()
    if len(accepted) == 1:
        speedup = accepted[0].speedup
    elif accepted and not interrupted:
        session.progress("timing all changes together")
        speedup = session.recorded(f"all {last.built.digest}", first.built, last.built)[1]
    if accepted and not interrupted:
        diff = None if last.profile is None else session.compared(first, last.built)
        if session.with_baselines:
            baselines = _baselines(session, first, last)
    return Outcome(
        project=session.project,
        first=first,
        last=last,
        attempts=tuple(session.attempts),
        accepted=tuple(accepted),
        speedup=speedup,
        diff=diff,
        baselines=baselines,
        originals=session.originals,
        remarks=tuple(session.remarks),
        complete=complete,
        work=session.runner.workspace.root,
        sandbox=session.runner.sandbox.name,
        given_up=tuple(dict.fromkeys(each for attempt in accepted for each in durability(attempt.gates))),
        interrupted=interrupted,
        strategies=tuple(each.name for each in session.proposers),
    )


def _baselines(session: Session, first: State, last: State) -> tuple[Baseline, ...]:
    """Would the compiler alone have done it? The original with -O3 -march=native, and the change with it as well."""
    declared, runner = session.project.flags, session.runner
    if declared is None:
        session.remarks.append("The effect of -O3 alone is unknown: chathpc.yaml declares no `flags`.")
        return ()
    flags = optimised(declared.value)
    if not last.files and sorted((last.flags or "").split()) == sorted(flags.split()):
        return ()  # that is what was accepted
    if session.taken > session.budget.seconds and f"original {flags}" not in session.past.measured:
        session.remarks.append("The effect of -O3 alone is unknown: the time limit was reached.")
        return ()
    session.progress(f"building the original with {flags}")
    built = runner.build({}, flags)
    if not built.completed.succeeded or built.digest == last.built.digest:
        return ()
    fewest = threshold("baseline_pairs")
    outcome, speedup, statement = session.recorded(f"original {flags}", first.built, built, fewest)
    changed = None
    if outcome != "wrong answer" and last.files:
        both = runner.build(last.files, optimised(last.flags or declared.value))
        if both.completed.succeeded:
            changed = session.recorded(f"changed {both.digest}", built, both, fewest)[1]
    return (Baseline(flags, outcome, speedup, statement, changed),)


def optimised(flags: str) -> str:
    """The flags with -O3 -march=native in the place of what they say of optimisation."""
    kept = [flag for flag in flags.split() if not flag.startswith("-O") and not flag.startswith("-march")]
    return " ".join([*kept, "-O3", "-march=native"])
