"""The catalogue's suggestions, carried out by the model: each one for itself, so that it can be told which of them helped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chathpc.fix.models.asking import Asking
from chathpc.fix.models.questions import candidate, question, worthwhile
from chathpc.fix.records import Attempt, Candidate, Problem, identity

#: Suggestions of one finding that are tried.
_MOST = 3
#: What a model answers to a suggestion that does not fit.
_NONE = "NONE"


class Advice(Asking):
    """One candidate for each suggestion of each finding, in the catalogue's order."""

    name = "advice"

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """The suggestions that were not tried yet, each as the model carries it out."""
        known = {attempt.candidate.id for attempt in history}
        tried = {attempt.candidate.recipe for attempt in history if attempt.candidate.proposer == self.name}
        for finding in worthwhile(problem):
            for number, advice in enumerate(finding.advice[:_MOST], 1):
                recipe = f"{finding.cause}/{number}"
                about = f"{recipe} {finding.where.function}"
                if recipe in tried or self._asked[about]:
                    continue
                self._asked[about] += 1
                asked = question("fix_advice", problem, finding, model=self._ask.form, advice=advice)
                answer = self._ask(asked, problem)
                if answer is None:
                    return
                if answer.strip().strip(".`") == _NONE:
                    continue
                change = self._edits(answer, problem, finding)
                id = identity(change)
                if change and id not in known:
                    known.add(id)
                    yield candidate(self.name, change, finding, id, recipe=recipe)
