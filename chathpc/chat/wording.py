"""A model's words for what was looked up, sentence by sentence, each checked against the facts before it is shown."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chathpc.chat.record import CheckedSentence
from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.grounding.check import Checker, GroundedText
from chathpc.grounding.evidence.names import reads_like_a_sentence
from chathpc.grounding.language.sentences import split
from chathpc.llm.backend import Backend, Completion, Request
from chathpc.prompts.build import build_chat
from chathpc.prompts.whole_facts import key_lines
from chathpc.report import ClaimStatistics

#: Is given each sentence that passed the check, as soon as it is complete.
OnSentence = Callable[[str], None]


#: Facts that are weighed for a prompt; it has room for fewer.
_LOOKED_AT = 12


@dataclass(frozen=True, slots=True)
class Worded:
    """A model's answer after the check: what is left of it, and all its sentences."""

    text: str
    sentences: tuple[CheckedSentence, ...]
    claims: ClaimStatistics
    tokens: int


def numbered(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts of several tools under ids of their own, F1, F2, …; evidence of the diagnosis keeps its id, each fact once."""
    seen: dict[object, Fact] = {}
    for fact in facts:
        seen.setdefault(fact.id if fact.id.startswith("E") else fact.says, fact)
    named: list[Fact] = []
    for fact in seen.values():
        own = fact.id.startswith("E")
        number = 1 + sum(one.id.startswith("F") for one in named)
        named.append(fact if own else replace(fact, id=f"F{number}"))
    return tuple(named)


def known(facts: Sequence[Fact], diagnosis: Diagnosis) -> Diagnosis:
    """What an answer may say: the facts that were looked up, and the findings whose evidence is among them.

    Facts about names that read like sentences are left out: whoever chose such a name would otherwise have it said as a fact.
    """
    facts = [fact for fact in facts if not any(map(reads_like_a_sentence, _names(fact)))]
    ids = {fact.id for fact in facts}
    findings = tuple(finding for finding in diagnosis.findings if ids & set(finding.evidence))
    verdict = diagnosis.verdict if findings or not facts else Verdict.BOTTLENECK
    headline = diagnosis.headline if findings else ""
    evidence = [*facts, *(item for item in diagnosis.evidence if item.id not in ids and _cited(item, findings))]
    return Diagnosis(verdict, headline, findings, tuple(evidence))


def _names(fact: Fact) -> list[str]:
    where = fact.where
    return [fact.subject, *([] if where is None else [name for name in (where.function, where.kernel) if name])]


def _cited(item: Fact, findings: Sequence[object]) -> bool:
    return any(item.id in getattr(finding, "evidence", ()) for finding in findings)


class Checking:
    """Checks an answer while it arrives, and passes on each sentence that holds."""

    def __init__(self, checker: Checker, on_sentence: OnSentence | None) -> None:
        self._checker = checker
        self._on_sentence = on_sentence
        self._text = ""
        self._complete = 0
        self._shown: list[str] = []

    def token(self, piece: str) -> None:
        """A piece of the answer has arrived."""
        if self._on_sentence is None:
            return
        self._text += piece
        if not any(mark in piece for mark in ".!?\n"):
            return
        # The last sentence may go on: `1.` may become `1.5`.
        whole = split(self._text)[:-1]
        if len(whole) > self._complete:
            self._complete = len(whole)
            self._show(self._checker.check(" ".join(whole), form="prose"))

    def end(self, text: str) -> GroundedText:
        """The answer is complete: what came of it."""
        grounded = self._checker.check(text, form="prose")
        if self._on_sentence is not None:
            self._show(grounded)
        return grounded

    def _show(self, grounded: GroundedText) -> None:
        for sentence in grounded.sentences:
            if sentence.status != "struck" and sentence.text not in self._shown:
                self._shown.append(sentence.text)
                if self._on_sentence is not None:
                    self._on_sentence(sentence.text)


def word(
    question: str,
    facts: Sequence[Fact],
    lead: str,
    diagnosis: Diagnosis,
    backend: Backend,
    *,
    deadline: float,
    about_all: bool = False,
    on_sentence: OnSentence | None = None,
) -> Worded:
    """`backend`'s words for `facts`, which answer `question`; `lead` is what the tool says itself.

    A question `about_all` is told what matters most of the whole diagnosis, as an explanation is.

    Raises what the back end raises.
    """
    allowed = diagnosis if about_all else known(facts, diagnosis)
    checker = Checker.of(allowed)
    told = key_lines(diagnosis) if about_all else _offered(allowed.evidence, lead, checker)
    prompt = build_chat(question, told, marker=secrets.token_hex(4))
    checking = Checking(checker, on_sentence)
    request = Request(prompt.system, prompt.user, prompt.max_tokens, deadline=deadline)
    completion = backend.complete(request, on_token=checking.token)
    return worded(completion, checking.end(completion.text))


def _offered(facts: Sequence[Fact], lead: str, checker: Checker) -> list[str]:
    """What a model is told: facts whose statement would pass the check, for it will repeat them; else what the tool says."""
    statements = [fact.statement for fact in facts[:_LOOKED_AT]]
    good = [
        text
        for text in statements
        if all(one.status == "supported" for one in checker.check(text, form="prose").sentences)
    ]
    return good or [lead, *statements]


def worded(completion: Completion, grounded: GroundedText, more_tokens: int = 0) -> Worded:
    """A checked answer as it is recorded."""
    found = grounded.statistics
    return Worded(
        grounded.text,
        tuple(
            CheckedSentence(text=one.text, evidence=list(one.evidence), status=one.status, reason=one.reason)
            for one in grounded.sentences
        ),
        ClaimStatistics(checked=found.checked, supported=found.supported, repaired=found.repaired, struck=found.struck),
        tokens_of(completion) + more_tokens,
    )


def tokens_of(completion: Completion) -> int:
    """Tokens that were read and written, as far as the back end tells."""
    return (completion.prompt_tokens or 0) + (completion.completion_tokens or 0)
