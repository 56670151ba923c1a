"""The model's own knowledge, in several rounds: it guesses, the gates measure, it is told what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chathpc.fix.models.asking import Asking
from chathpc.fix.models.questions import candidate, question, tries_of, worthwhile
from chathpc.fix.records import Attempt, Candidate, Problem, identity


class Direct(Asking):
    """One candidate a round for each finding that a change of source could mend."""

    name = "direct"

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """What the model writes for each finding; what it has written before is left out."""
        known = {attempt.candidate.id for attempt in history}
        for finding in worthwhile(problem):
            tries = tries_of(finding, history)
            # The same question would get the same answer: each further try is drawn anew, also where the one before could not be used.
            mine = self._turn(finding, sum(one.candidate.proposer == self.name for one in tries))
            asked = question(
                "fix_direct",
                problem,
                finding,
                model=self._ask.form,
                tries=tries,
                unused=self._why_unused(finding),
                temperature=0.7 if mine else 0.0,
                seed=mine,
            )
            answer = self._ask(asked, problem)
            if answer is None:
                return
            change = self._edits(answer, problem, finding)
            id = identity(change)
            if change and id not in known:
                known.add(id)
                yield candidate(self.name, change, finding, id)
