"""From the outcome of the loop to its report."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from statistics import median
from typing import Literal

from chathpc import __version__
from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.records import Finding
from chathpc.diagnosis.records import Verdict as Health
from chathpc.fix.outcome import Outcome
from chathpc.fix.patch import unified
from chathpc.fix.recipes.analysis.program import program
from chathpc.fix.recipes.table import recipes
from chathpc.fix.records import Attempt, Speedup, Verdict, figures_of
from chathpc.fix.report import AttemptRecord, BaselineRecord, FixReport, GateRecord, SpeedupRecord, UntriedRecord
from chathpc.fix.session import State
from chathpc.fix.strategies import MODEL_STRATEGIES
from chathpc.fix.thresholds import threshold
from chathpc.profile import numbers
from chathpc.profile.text import clean
from chathpc.report import TreeRecord

#: Rows of each tree that are shown, and things that are given up.
_ROWS = 14
_GIVEN_UP = 3


def report(outcome: Outcome) -> FixReport:
    """Everything that is to be told."""
    project = outcome.project
    before, after = _seconds(outcome)
    new_flags = outcome.last.flags if outcome.accepted else None
    alone = _compiler_alone(outcome)
    tree = _tree(outcome.first) if outcome.accepted else None
    return FixReport(
        verdict=_verdict(outcome),
        headline=_headline(outcome),
        folder=clean(str(project.root)),
        command=clean(f"{project.launcher} {project.run.command}".strip()),
        flags=None if project.flags is None else project.flags.value,
        new_flags=new_flags,
        sandbox=outcome.sandbox,
        diagnosis=outcome.first.diagnosis.headline,
        speedup=_speedup(outcome.speedup),
        seconds_before=before,
        seconds_after=after,
        accepted=[each.candidate.id for each in outcome.accepted],
        given_up=list(outcome.given_up),
        attempts=[_attempt(each) for each in outcome.attempts],
        untried=_untried(outcome),
        baselines=[BaselineRecord.model_validate(each) for each in outcome.baselines],
        compiler_alone=alone,
        patch=unified(outcome.originals, outcome.last.files) if outcome.accepted else "",
        tree_before=tree,
        tree_after=_tree(outcome.last) if outcome.accepted else None,
        comparison=outcome.diff,
        remarks=[*outcome.remarks, *_unseen(tree, before)],
        work=clean(str(outcome.work)),
        versions={"chathpc": __version__},
    )


def _verdict(
    outcome: Outcome,
) -> Literal["improved", "improved-if", "healthy", "nothing-passed", "insufficient-data", "unfinished"]:
    if outcome.accepted:
        return "improved-if" if outcome.conditional else "improved"
    if outcome.first.diagnosis.verdict == Health.HEALTHY:
        return "healthy"
    if outcome.first.diagnosis.verdict == Health.INSUFFICIENT:
        return "insufficient-data"
    return "nothing-passed" if outcome.complete else "unfinished"


def _headline(outcome: Outcome) -> str:
    speedup = outcome.speedup
    if outcome.given_up:
        return _conditional(outcome)
    if outcome.improved and speedup is not None:
        return f"{_faster(speedup)} with the same answers: {_titles(outcome)}."
    if outcome.improved:
        return "Faster with the same answers, but the changes could not be timed together."
    if outcome.healthy:
        return "The profile shows a healthy program; nothing is proposed."
    if outcome.first.diagnosis.verdict.value == "insufficient-data":
        return (
            "Nothing is proposed: the profile has too little data to show what is slow. Let `run` in chathpc.yaml take a few seconds, "
            "and start over with --fresh."
        )
    tried = len(outcome.attempts)
    if not tried and not outcome.complete:
        return "The session ended before a change was fully tried."
    if not tried:
        asked = "" if any(name in MODEL_STRATEGIES for name in outcome.strategies) else " A model may have one (--llm)."
        return f"No strategy has a change for the findings.{asked}"
    if passed := "; ".join(each.candidate.title for each in outcome.attempts if each.verdict == Verdict.ACCEPTED):
        return f"The session ended before what passed all gates was taken; the same command takes it: {passed}."
    counted = Counter(each.verdict.value.replace("-", " ") for each in outcome.attempts)
    reasons = ", ".join(f"{count} {name}" for name, count in counted.items())
    return f"Nothing is proposed: of {tried} change{'s' if tried > 1 else ''} none passed all gates ({reasons})."


def _conditional(outcome: Outcome) -> str:
    """First what is given up, then what that wins."""
    told = "; ".join(outcome.given_up[:_GIVEN_UP])
    more = len(outcome.given_up) - _GIVEN_UP
    told += f"; {more} more" if more > 0 else ""
    won = "faster" if outcome.speedup is None else _faster(outcome.speedup)
    condition = (
        "If a crash may cost more than before"
        if outcome.conditional
        else "As was allowed, a crash may cost more than before"
    )
    return f"{condition} ({told}): {won} with the same answers and the same files in the end: {_titles(outcome)}."


def _faster(speedup: Speedup) -> str:
    return f"{speedup.estimate:.2f}x faster ({speedup.low:.2f} to {speedup.high:.2f})"


def _titles(outcome: Outcome) -> str:
    return "; ".join(each.candidate.title for each in outcome.accepted)


def _attempt(attempt: Attempt) -> AttemptRecord:
    candidate = attempt.candidate
    told = [gate for gate in attempt.gates if not gate.passed] or list(attempt.gates)
    return AttemptRecord(
        id=candidate.id,
        proposer=candidate.proposer,
        recipe=candidate.recipe,
        title=candidate.title,
        finding=None if candidate.finding is None else candidate.finding.title,
        files=sorted(candidate.files),
        flags=candidate.flags,
        verdict=attempt.verdict.value,
        reason=told[-1].statement if told else "",
        speedup=_speedup(attempt.speedup),
        predicted=attempt.predicted,
        gates=[GateRecord.model_validate(gate) for gate in attempt.gates],
    )


def _untried(outcome: Outcome) -> list[UntriedRecord]:
    """Findings that remain, promise a gain and have advice, and for which no change of that kind was tried."""
    meant = {recipe.name: recipe for recipe in recipes()}

    def was_tried(finding: Finding) -> bool:
        for each in (attempt.candidate for attempt in outcome.attempts):
            aim = each.finding
            if aim is None or (aim.cause, aim.where.function) != (finding.cause, finding.where.function):
                continue
            parts = [meant[name] for name in each.recipe.split("+") if name in meant]
            if not parts or any(finding.cause in part.causes for part in parts):
                return True
        return False

    languages = {source.language for source in program(outcome.originals).sources.values()}
    known = {cause for recipe in meant.values() if languages & {*recipe.languages} for cause in recipe.causes}
    found = []
    for finding in outcome.last.diagnosis.findings:
        if finding.weight <= 0 or not finding.advice or was_tried(finding):
            continue
        if not outcome.complete:
            why = "the session ended before"
        elif outcome.strategies and {*outcome.strategies} <= {*MODEL_STRATEGIES}:
            why = "the model proposed no such change"
        elif finding.cause in known:
            why = "no recipe could prove that a change keeps the answers"
        else:
            why = "no recipe makes such a change"
        advice = finding.advice[0]
        general = any(advice == each.do for each in cause(finding.cause).advice)
        where = finding.where.short
        found.append(UntriedRecord(finding=finding.title, place=where, why=why, advice=advice, general=general))
    return found


def _speedup(speedup: Speedup | None) -> SpeedupRecord | None:
    return None if speedup is None else SpeedupRecord.model_validate(speedup)


def _compiler_alone(outcome: Outcome) -> bool | None:
    """Whether flags alone come close to what was accepted: their interval reaches it, or nothing but flags was accepted."""
    if outcome.accepted and not any(each.candidate.files for each in outcome.accepted):
        return True
    found = [
        each.speedup
        for each in outcome.baselines
        if each.speedup is not None and isfinite(each.speedup.high) and each.outcome != "wrong answer"
    ]
    if not found or outcome.speedup is None:
        return None
    return any(each.high >= threshold("as_good") * outcome.speedup.estimate for each in found)


def _seconds(outcome: Outcome) -> tuple[float | None, float | None]:
    """Medians of the timed runs: of the original in the first change's pairs, of the last change in its own."""
    if not outcome.accepted or outcome.speedup is None:
        return None, None
    sides = ((outcome.accepted[0], "seconds_original"), (outcome.accepted[-1], "seconds_changed"))
    before, after = (figures_of(each.gates, "speed", name) for each, name in sides)
    return (median(before), median(after)) if before and after else (None, None)


def _tree(state: State) -> TreeRecord | None:
    from chathpc.diagnosis.facts import Facts
    from chathpc.pipeline import report_of
    from chathpc.reports.calltree import largest

    if state.profile is None:
        return None
    tree = report_of(state.profile, Facts(state.profile), state.diagnosis).tree
    return None if tree is None else largest(tree, _ROWS)


def _unseen(tree: TreeRecord | None, seconds: float | None) -> list[str]:
    """Where the trees hold much less than the timed runs take."""
    if tree is None or tree.unit != "s" or seconds is None or seconds <= threshold("bound_error") * tree.total:
        return []
    shown, whole = numbers.seconds(tree.total), numbers.seconds(seconds)
    return [
        f"The call trees hold {shown} of the {whole} that a run takes: waiting, such as for a core, is not in them."
    ]


def exit_code(outcome: Outcome) -> int:
    """0 improved or nothing to improve, 5 if a limit was reached before, 6 if nothing passed, or only what gives something up."""
    from chathpc.errors import BudgetSpentError, FixRejectedError

    if outcome.improved or outcome.healthy:
        return 0
    return FixRejectedError.exit_code if outcome.complete or outcome.conditional else BudgetSpentError.exit_code
