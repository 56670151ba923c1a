"""The catalogue's suggestions, carried out by a model without tools: each one for itself, so that it can be told which of them helped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from chathpc.fix.models.answers import edited
from chathpc.fix.models.asker import Asker
from chathpc.fix.models.questions import PROPOSER, candidate, place_of, question, worthwhile
from chathpc.fix.records import Attempt, Candidate, Problem
from chathpc.profile.text import clean

#: Suggestions of one finding that are tried.
_MOST = 3
#: What a model answers to a suggestion that does not fit.
_NONE = "NONE"
#: Reasons for useless answers that are told.
_REASONS = 3


class Advice:
    """One candidate for each suggestion of each finding, in the catalogue's order."""

    name = PROPOSER
    learns = True

    def __init__(self, ask: Asker) -> None:
        self._ask = ask
        self._asked: set[str] = set()
        #: Answers that could not be used, by the reason.
        self._useless: Counter[str] = Counter()

    def propose(self, problem: Problem, history: Sequence[Attempt]) -> Iterator[Candidate]:
        """The suggestions that were not tried yet, each as the model carries it out."""
        known = {attempt.candidate.id for attempt in history}
        tried = {attempt.candidate.recipe for attempt in history if attempt.candidate.proposer == self.name}
        for finding in worthwhile(problem):
            for number, advice in enumerate(finding.advice[:_MOST], 1):
                recipe = f"{finding.cause}/{number}"
                about = f"{recipe} {finding.where.function}"
                if recipe in tried or about in self._asked:
                    continue
                self._asked.add(about)
                answer = self._ask(question(problem, finding, model=self._ask.form, advice=advice), problem)
                if answer is None:
                    return
                if answer.strip().strip(".`") == _NONE:
                    continue
                change = edited(answer, problem.sources, place_of(problem, finding))
                if change.problem:
                    self._useless[change.problem] += 1
                    continue
                made = candidate(change.files, finding, recipe)
                if made.id not in known:
                    known.add(made.id)
                    yield made

    @property
    def tokens(self) -> int:
        """Tokens of all questions and answers, as far as the model counts them."""
        return int(getattr(self._ask, "tokens", 0))

    @property
    def notes(self) -> list[str]:
        """Why there was no answer, each reason once, and how many answers could not be used."""
        notes = list(getattr(self._ask, "notes", ()))
        if self._useless:
            reasons = "; ".join(
                f"{clean(why).rstrip('.')} ({times})" for why, times in self._useless.most_common(_REASONS)
            )
            count = self._useless.total()
            notes.append(
                f"{self.name}: {count} {'answer' if count == 1 else 'answers'} of the model could not be used. {reasons}."
            )
        return notes
