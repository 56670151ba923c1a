"""A round: the candidates of all proposers for one state, each judged, and the best of those that passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from chathpc.errors import BudgetSpentError
from chathpc.fix.agent.briefing import claimed
from chathpc.fix.agent.workbench import Workbench
from chathpc.fix.gates.chain import attempt
from chathpc.fix.history import candidate_data, candidate_of
from chathpc.fix.records import Attempt, Candidate, Problem, Verdict, identity
from chathpc.fix.session import Session, State
from chathpc.fix.strategies import notes_of
from chathpc.profile.text import clean


def best_of_round(
    session: Session, number: int, base: State
) -> tuple[tuple[State, Attempt] | None, BudgetSpentError | None]:
    """The best accepted candidate of a round as the next state, None if there is none; and the bound of the session, if it ended the
    round: what had passed by then is as good as ever.
    """
    passed: list[tuple[Attempt, str]] = []
    spent = None
    try:
        for key, candidate in _candidates(session, number, base):
            begun = session.clock()
            with _within_the_limit(session, candidate):
                tried = attempt(session, key, candidate, base)
            session.longest = max(session.longest, session.clock() - begun)
            session.attempts.append(tried)
            if session.takes(tried):
                passed.append((tried, key))
    except BudgetSpentError as error:
        spent = error
    best = _best(passed)
    if spent is None and number not in session.past.rounds:
        session.ledger.append("round", {"round": number, "accepted": None if best is None else best[1]})
    if best is None:
        return None, spent
    tried, key = best
    files, flags = base.changed_by(tried.candidate)
    return (session.state(files, flags, session.runner.build(files, flags), key), tried), spent


def _best(passed: Sequence[tuple[Attempt, str]]) -> tuple[Attempt, str] | None:
    """The one with the highest lower end; of changes of nothing but flags that cannot be told from it the one with the fewest flags."""
    best = max(passed, key=lambda each: each[0].speedup.low if each[0].speedup else 0.0, default=None)
    if best is None or best[0].candidate.files or best[0].speedup is None:
        return best
    top = best[0].speedup
    alike = [
        each
        for each in passed
        if not each[0].candidate.files
        and each[0].speedup is not None
        and top.low <= each[0].speedup.estimate
        and top.estimate <= each[0].speedup.high
    ]
    return min(alike, key=lambda each: len((each[0].candidate.flags or "").split()))


def best_if(session: Session) -> Attempt | None:
    """The best change that passes only if its user can do without what it gives up; None if there is none. All are of the original, for
    nothing else was gone on with.
    """
    found = [each for each in session.attempts if each.verdict == Verdict.IMPROVED_IF and not session.takes(each)]
    return max(found, key=lambda each: each.speedup.low if each.speedup else 0.0, default=None)


def _candidates(session: Session, number: int, base: State) -> Iterator[tuple[str, Candidate]]:
    """Those that the ledger has of this round, then what the proposers say; none twice."""
    past = session.past
    for key, data in list(past.candidates.items()):
        if data["round"] == number:
            session.seen.add(key)
            yield key, _known(data, base)
    if number in past.rounds:
        return
    problem = Problem(
        session.project_at(base), session.sources(base), base.diagnosis, base.profile, Workbench(session, base)
    )
    before = len(session.attempts)
    for proposer in session.proposers:
        if (number, proposer.name) in past.asked or proposer.name in past.finished:
            continue
        if proposer.learns and any(map(session.takes, session.attempts[before:])):
            return  # a model goes on from what passed, and is not asked for the same once more
        for candidate in proposer.propose(problem, session.attempts):
            _spend(session)
            key = _key(session, candidate, base)
            while proposer.learns and past.verdicts.get(key) == Verdict.INVALID:
                key += "-again"  # what could not be timed then says nothing of the change
            if key in session.seen:
                continue
            session.seen.add(key)
            session.ledger.append("candidate", candidate_data(candidate, key, number))
            yield key, candidate
        last = {"finished": notes_of([proposer])} if getattr(proposer, "finished", False) else {}
        session.ledger.append("asked", {"round": number, "proposer": proposer.name, **last})


def _known(data: Mapping[str, Any], base: State) -> Candidate:
    """A candidate of the ledger; what a model claimed for it, which no finding of the diagnosis is, is made once more."""
    found = candidate_of(data, base.diagnosis.findings)
    if found.finding is None and data["finding"] is not None and base.profile is not None:
        return replace(found, finding=claimed(base.profile, base.diagnosis, *found.claims))
    return found


def _spend(session: Session) -> None:
    """BudgetSpentError if nothing more may be tried."""
    budget = session.budget
    if not has_time(session):
        raise BudgetSpentError(
            f"The time limit of {budget.seconds:g} s leaves no time for another change.",
            hint="Allow more with --time-limit; finished work is kept.",
        )
    if len(session.seen) >= budget.candidates:
        raise BudgetSpentError(
            f"{budget.candidates} candidates were tried, the limit.", hint="Allow more with --candidates."
        )


def has_time(session: Session) -> bool:
    """Whether one more candidate can be judged in this session."""
    accepted = any(map(session.takes, session.attempts))
    return time_for_another(session.budget.seconds, session.taken, session.longest, accepted=accepted)


def time_for_another(limit: float, taken: float, longest: float, *, accepted: bool) -> bool:
    """Whether one more candidate can be judged within the limit (seconds), going by the longest so far; once something was accepted,
    the end of the session needs as much again: all changes together and the compiler alone are timed there.
    """
    closing = longest if accepted else 0.0
    return taken + longest + closing <= limit


@contextmanager
def _within_the_limit(session: Session, candidate: Candidate) -> Iterator[None]:
    """End the trial of a candidate, by a BudgetSpentError, before the first build or run that would begin after the time limit."""

    def check() -> None:
        if session.taken > session.budget.seconds:
            raise BudgetSpentError(
                f"The time limit of {session.budget.seconds:g} s was reached while this was tried: {clean(candidate.title)}.",
                hint="The same command with a higher --time-limit resumes it.",
            )

    session.runner.before_each = check
    try:
        yield
    finally:
        session.runner.before_each = lambda: None


def _key(session: Session, candidate: Candidate, base: State) -> str:
    """What a candidate is known by: everything that it makes of the original, and what its author claims."""
    files, flags = base.changed_by(candidate)
    changed = {path: text for path, text in files.items() if text != session.originals.get(path)}
    digest = session.runner.digest(changed, flags)
    # Another claim may be judged otherwise.
    return f"{digest}-{identity({}, ' '.join(candidate.claims))}" if candidate.claims else digest
