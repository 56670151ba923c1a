"""The explanation without a model: the catalogue's words around the numbers of the diagnosis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.phrasing import GAIN, as_clause, gain_sentence, meaning
from chathpc.diagnosis.records import Diagnosis, Finding, Verdict
from chathpc.profile import numbers

if TYPE_CHECKING:
    from chathpc.prompts.loader import Audience

#: Findings after the first that are worth a sentence, by cost × headroom.
_WORTH_MENTIONING = 0.05
_MENTIONED = 3

#: How sentences begin that tell what one needs to judge and to act.
ADVICE, _AGAINST, _BESIDE = "What to do first:", "What speaks against it:", "Beside that:"
_TO_SEE = "To see more,"
_NEEDED = (GAIN, ADVICE, _AGAINST, _BESIDE, _TO_SEE)

#: Parts of the words of a sentence that tell what it tells; a meaning is put into other words more than the rest.
_HALF, _THIRD = 1 / 2, 1 / 3

_BOUND = re.compile(r"at most ([\d.,]+)x as fast")
_LETTERS = 4
_LONG_WORD = re.compile(rf"[^\W\d]\w{{{_LETTERS - 1},}}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: A file with its line: no number of a measurement.
_FILE = re.compile(r"[\w/-]+\.[A-Za-z]\w*(?::\d+)?")
#: Words that say nothing of their own beside a name and a number.
_UNITS = frozenset(word[:_LETTERS] for word in ("function", "seconds", "milliseconds", "using", "which"))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the ids of the evidence it rests on."""

    text: str
    evidence: tuple[str, ...] = ()


def narrate(diagnosis: Diagnosis, audience: Audience = "expert") -> tuple[Sentence, ...]:
    """The diagnosis told in a few sentences, most important first; every number comes from the evidence.

    A newcomer is told at length what it means and why it costs time, a manager only what it costs, what could be won and what to do.
    """
    if diagnosis.verdict == Verdict.INSUFFICIENT:
        return (Sentence(diagnosis.headline),)
    if diagnosis.verdict == Verdict.HEALTHY:
        return tuple(_healthy(diagnosis))[: 1 if audience == "manager" else None]
    return tuple(_bottleneck(diagnosis, audience))


def _bottleneck(diagnosis: Diagnosis, audience: Audience) -> list[Sentence]:
    first, *others = diagnosis.findings
    entry = cause(first.cause)
    told = [Sentence(first.summary, first.evidence)]
    if audience == "expert":
        told.append(Sentence(meaning(first.cause)))
    elif audience == "newcomer":
        told += [Sentence(" ".join(text.split())) for text in (entry.what, entry.why)]
    if first.speedup_bound is not None:
        told.append(Sentence(gain_sentence(first.speedup_bound), first.evidence))
    if first.advice:
        told.append(Sentence(f"{ADVICE} {as_clause(first.advice[0])}"))
    if audience == "manager":
        return told
    if first.against:
        told.append(Sentence(f"{_AGAINST} {as_clause(first.against[0])}"))
    for other in [one for one in others if one.weight >= _WORTH_MENTIONING][: _MENTIONED - 1]:
        told.append(Sentence(f"{_BESIDE} {as_clause(other.summary)}", other.evidence))
    return told


def unsaid(diagnosis: Diagnosis, said: Sequence[str], audience: Audience = "expert") -> tuple[Sentence, ...]:
    """What a reader needs to judge and to act (gain, advice, objection, other causes, what to collect), as far as no sentence of `said` tells it.

    The gain is told by its number, the others by a sentence that has half of their words.
    """
    return tuple(
        one for one in narrate(diagnosis, audience) if one.text.startswith(_NEEDED) and not _is_told(one.text, said)
    )


def headline_unsaid(diagnosis: Diagnosis, said: Sequence[str], audience: Audience = "expert") -> Sentence | None:
    """What is wrong and where, as no sentence of `said` tells it: none names the place as the program spells it, or where the diagnosis
    has no name for it, none has half of its words. None where it is told.
    """
    headline = narrate(diagnosis, audience)[0]
    name = next((one.where.function for one in diagnosis.findings[:1] if one.where.function), "")
    named = bool(name) and _names(headline.text, name)
    told = any(_names(one, name) if named else _shares(headline.text, one) for one in said)
    return None if told else headline


def meaning_unsaid(diagnosis: Diagnosis, said: Sequence[str], audience: Audience = "expert") -> Sentence | None:
    """What the first finding means, for an expert, as no sentence of `said` has a third of its words. None where it is told."""
    if diagnosis.verdict != Verdict.BOTTLENECK or audience != "expert":
        return None
    told = meaning(diagnosis.findings[0].cause)
    return None if any(_shares(told, one, _THIRD) for one in said) else Sentence(told)


def repeats(text: str, other: str, part: float = _HALF) -> bool:
    """Whether `other` tells what `text` tells: that part of its words at least, and all of its numbers but those of lines."""
    return text.strip() in other or (_shares(text, other, part) and _numbers(text) <= _numbers(other))


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(_FILE.sub("", text)))


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _shares(text: str, other: str, part: float = _HALF) -> bool:
    words = _beginnings(text) - _UNITS
    return bool(words) and len(words & _beginnings(other)) >= part * len(words)


def _beginnings(text: str) -> set[str]:
    """Of each longer word the first letters: `waits` and `waiting` are one."""
    return {word[:_LETTERS] for word in _LONG_WORD.findall(text.lower())}


def _is_told(text: str, said: Sequence[str]) -> bool:
    bound = _BOUND.search(text)
    if bound is not None:
        return any(re.search(rf"(?<![\d.,]){re.escape(bound[1])}(?![\d,]|\.\d)", one) for one in said)
    words = text.partition(": ")[2]
    return any(_shares(words, one) for one in said)


def _healthy(diagnosis: Diagnosis) -> list[Sentence]:
    hot = next(
        (finding for finding in diagnosis.findings if finding.cause in ("hot-compute", "gpu-kernel-bound")), None
    )
    told = [Sentence(diagnosis.headline, () if hot is None else hot.evidence)]
    if hot is not None:
        told.append(Sentence(meaning(hot.cause)))
    if hot is not None and hot.cause == "gpu-kernel-bound" and hot.next_measurement:
        told.append(Sentence(f"{_TO_SEE} collect the kernel's counters: {hot.next_measurement}"))
    elif diagnosis.not_collected:
        lacking, command = next(iter(diagnosis.not_collected.items()))
        told.append(Sentence(f"{_TO_SEE} collect {lacking}: {command}"))
    return told


def gain(finding: Finding) -> str | None:
    """What could be won, in words; None where time alone cannot tell."""
    if finding.speedup_bound is None:
        return None
    return f"at most {numbers.speedup(finding.speedup_bound)} on the run"
