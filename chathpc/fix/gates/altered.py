"""The change with constants of unchanged code altered on both sides: what is computed follows, what was written down does not."""

from __future__ import annotations

from functools import partial
from itertools import islice

from chathpc.fix.gates.examination import Examination, Problem, slower_alone
from chathpc.fix.gates.mutants import Mutant, mutants
from chathpc.fix.outputs import Difference, compare
from chathpc.fix.records import Verdict
from chathpc.fix.runner import Case
from chathpc.fix.thresholds import threshold
from chathpc.profile.text import clean

_KNOWN = "It is fast only with the numbers that it knows"


def constants(examined: Examination) -> Problem | None:
    """Constants altered on both sides: first with the run that is timed, for that one gains from being known."""
    told: list[Problem] = []
    useful = followed = 0
    for case in dict.fromkeys((examined.reference.timed(), examined.reference.quickest())):
        altered = mutants(examined.original_texts, examined.texts, examined.random)
        for mutant in islice(altered, int(threshold("altered_tries"))):
            examined.tell(f"checking with a constant altered on both sides: {clean(mutant.statement)}")
            found = _mutated(examined, mutant, case)
            if found is None:
                continue
            useful += 1
            verdict, said = found
            said = f"{said} with a constant altered on both sides ({clean(mutant.statement)})."
            if verdict is None:
                followed += 1
                break
            if said.startswith(_KNOWN):
                return verdict, said
            # One constant alone may mean something else in a change that has replaced it; what is not computed follows none.
            told.append((verdict, said))
    if told and not followed:
        return max(told, key=lambda each: each[0] == Verdict.CHEATED)
    if useful:
        examined.tried.append(f"{useful} constant{'s' if useful != 1 else ''} altered on both sides")
    else:
        examined.left_out.append("altered constants: none was conclusive")
    return None


def _mutated(examined: Examination, mutant: Mutant, case: Case) -> tuple[Verdict | None, str] | None:
    """What a mutant tells: a verdict and why, (None, "") for nothing wrong; None if the original does not feel it."""
    runner = examined.runner
    check = runner.project.check
    plain = examined.reference.run(case)
    limit = plain.seconds * threshold("longer_altered") + threshold("longer_seconds")
    mine, theirs = runner.lanes.builds(
        [partial(runner.build, mutant.original, None), partial(runner.build, mutant.changed, examined.changed.flags)]
    )
    if not mine.completed.succeeded or not theirs.completed.succeeded:
        return None
    first = runner.run(mine, case, seconds=limit)
    if not first.completed.succeeded or not _reacts(compare(plain.outputs, first.outputs, check)):
        return None
    run = partial(runner.run, case=case, seconds=limit)
    second, answered = runner.lanes.runs([partial(run, theirs), partial(run, examined.changed)])
    examined.cases += 1
    found = compare(first.outputs, second.outputs, check)
    if found.same:
        if slower_alone((plain, first), (answered, second), lambda: runner.run(theirs, case, seconds=limit)):
            return Verdict.CHEATED, f"{_KNOWN}, and not"
        return None, ""
    if mutant.everywhere is not None:
        # The line that was altered may have a successor, and be of no use any more.
        there = runner.build(mutant.everywhere, examined.changed.flags)
        if (
            there.completed.succeeded
            and compare(first.outputs, runner.run(there, case, seconds=limit).outputs, check).same
        ):
            return None, ""
    if compare(answered.outputs, second.outputs, check).same:
        return Verdict.CHEATED, "The output is not computed: it stays the same"
    return Verdict.WRONG_ANSWER, f"The output differs ({found.statement})"


def _reacts(found: Difference) -> bool:
    """The answer is another, and still an answer."""
    return found.kind in ("number", "text")
