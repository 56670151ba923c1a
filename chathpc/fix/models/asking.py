"""What the strategies that ask a model share: whose turn it is, and what became of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from chathpc.diagnosis.records import Finding
from chathpc.fix.models.answers import edited
from chathpc.fix.models.asker import Asker
from chathpc.fix.models.questions import place_of
from chathpc.fix.records import Problem
from chathpc.profile.text import clean

#: Reasons for useless answers that are told.
_REASONS = 3


class Asking:
    """What the strategies share: the way to a model, and what that took so far."""

    learns = True
    name: str

    def __init__(self, ask: Asker) -> None:
        self._ask = ask
        #: Questions by what they are about, those whose answers could not be used among them.
        self._asked: Counter[str] = Counter()
        #: Answers that could not be used, by the reason; and the reason of the last one, by what it was about.
        self._useless: Counter[str] = Counter()
        self._unused: dict[str, str] = {}

    def _turn(self, finding: Finding, tries: int, questions: int = 1) -> int:
        """The number of the next of so many questions about a finding, of which so many tries are known: none is asked twice."""
        about = _about(finding)
        first = max(tries, self._asked[about])
        self._asked[about] = first + questions
        return first

    def _edits(self, answer: str, problem: Problem, finding: Finding) -> Mapping[str, str]:
        """The files that an answer changes; empty if it cannot be used, which is counted, and told with the next question."""
        change = edited(answer, problem.sources, place_of(problem, finding))
        if change.problem:
            self._useless[change.problem] += 1
        self._unused[_about(finding)] = change.problem
        return change.files

    def _why_unused(self, finding: Finding) -> str:
        """Why the last answer about a finding could not be used; empty if it could."""
        return self._unused.get(_about(finding), "")

    @property
    def tokens(self) -> int:
        """Tokens of all questions and answers of those that share the way, as far as the model counts them."""
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


def _about(finding: Finding) -> str:
    return f"{finding.cause} {finding.where.function}"
