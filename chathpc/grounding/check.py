"""The claim check: a model's text in, sentences that the evidence supports out.

A sentence is kept if every claim in it has support, repaired if its only faults are numbers that the evidence corrects without
choice, struck otherwise. What cannot be understood is struck: the check can lose a right sentence, but should not pass a wrong one.
Sentences without any claim that can be checked are struck as well; they would only fill the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from chathpc.diagnosis.records import Diagnosis
from chathpc.grounding import structured
from chathpc.grounding.diagnosed import world
from chathpc.grounding.evidence.facts import World
from chathpc.grounding.evidence.names import without_claims
from chathpc.grounding.evidence.queries import Queries
from chathpc.grounding.judgement import Sentence, check_sentence, strike
from chathpc.grounding.language import sentences
from chathpc.grounding.language.vocabulary import vocabulary
from chathpc.grounding.structured import Claimed

Form = Literal["prose", "structured"]
#: With fewer good sentences a text explains nothing; the catalogue's words are better.
LEAST_SENTENCES = 2
#: A model's answer within its budget has a dozen sentences; more are struck unread.
MOST_SENTENCES = 100


@dataclass(frozen=True, slots=True)
class Statistics:
    """Claims (numbers, names, subjects, causes, directions, advice): checked = supported + repaired + struck.

    All claims of a struck sentence count as struck, of a repaired one only the numbers that were replaced as repaired.
    """

    checked: int = 0
    supported: int = 0
    repaired: int = 0
    struck: int = 0


@dataclass(frozen=True, slots=True)
class GroundedText:
    """The checked text. `sufficient` is False if too little of it is left to stand for an explanation."""

    sentences: tuple[Sentence, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)

    @property
    def sufficient(self) -> bool:
        """At least LEAST_SENTENCES sentences were kept."""
        return sum(sentence.status != "struck" for sentence in self.sentences) >= LEAST_SENTENCES

    @property
    def text(self) -> str:
        """The sentences that were kept, in order."""
        return " ".join(sentence.text for sentence in self.sentences if sentence.status != "struck")


@dataclass(frozen=True, slots=True)
class Checker:
    """A diagnosis read once (which takes longer than to check a sentence), that any number of answers are checked against."""

    diagnosis: Diagnosis
    known: World

    @classmethod
    def of(cls, diagnosis: Diagnosis, queries: Queries | None = None) -> Checker:
        """Read the diagnosis; `queries` answers for what the profile holds beyond its evidence."""
        words = vocabulary()
        diagnosis = without_claims(diagnosis, words)
        return cls(diagnosis, world(diagnosis, words, queries))

    def check(self, answer: str | Sequence[Claimed], *, form: Form) -> GroundedText:
        """Check a model's answer.

        `answer` is text in the prose form, JSON or parsed sentences in the structured one. Never raises for what a model wrote, and
        takes time linear in its length.
        """
        if form == "prose" and isinstance(answer, str):
            texts = [(text, False) for text in sentences.split(answer)]
        else:
            claimed = structured.parse(answer[: sentences.LONGEST_TEXT]) if isinstance(answer, str) else tuple(answer)
            texts = _filled(claimed, self.diagnosis)
        return _summed(
            [
                strike(text, "placeholder") if lost else check_sentence(text, self.known)
                for text, lost in texts[:MOST_SENTENCES]
            ]
        )


def check(
    answer: str | Sequence[Claimed], diagnosis: Diagnosis, *, form: Form, queries: Queries | None = None
) -> GroundedText:
    """Check one answer against a diagnosis, and against the profile as far as `queries` answers for it (see `Checker`)."""
    return Checker.of(diagnosis, queries).check(answer, form=form)


def _filled(claimed: Sequence[Claimed], diagnosis: Diagnosis) -> list[tuple[str, bool]]:
    by_id = {item.id: item for item in diagnosis.evidence}
    texts = []
    for item in claimed[:MOST_SENTENCES]:
        filled = structured.filled(item.text[: sentences.LONGEST_TEXT], by_id)
        if filled is None or any(id not in by_id for id in item.evidence):
            texts.append((item.text, True))
        else:
            texts += [(text, False) for text in sentences.split(filled, whole=True)]
    return texts


def _summed(checked: Sequence[Sentence]) -> GroundedText:
    total = sum(s.claims for s in checked)
    struck = sum(s.claims for s in checked if s.status == "struck")
    repaired = sum(s.repairs for s in checked)
    return GroundedText(tuple(checked), Statistics(total, total - struck - repaired, repaired, struck))
