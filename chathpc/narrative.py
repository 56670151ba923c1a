"""The explanation without a model: the catalogue's words around the numbers of the diagnosis."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.phrasing import as_clause, gain_sentence, meaning
from chathpc.diagnosis.records import Diagnosis, Verdict

if TYPE_CHECKING:
    from chathpc.prompts.loader import Audience

#: Findings after the first that are worth a sentence, by cost × headroom.
_WORTH_MENTIONING = 0.05
_MENTIONED = 3

ADVICE = "What to do first:"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the ids of the evidence it rests on; `needed` is set for what one must read to judge and to act."""

    text: str
    evidence: tuple[str, ...] = ()
    needed: bool = False


def narrate(diagnosis: Diagnosis, audience: Audience = "expert") -> tuple[Sentence, ...]:
    """The diagnosis told in a few sentences, most important first; every number comes from the evidence.

    A newcomer is told at length what it means and why it costs time, a manager only what it costs, what could be won and what to do.
    """
    if diagnosis.verdict == Verdict.INSUFFICIENT:
        return (Sentence(diagnosis.headline),)
    if not diagnosis.blames:
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
    won = gain_sentence(first)
    if won is not None:
        told.append(Sentence(won, first.evidence, needed=True))
    if first.advice:
        told.append(Sentence(f"{ADVICE} {as_clause(first.advice[0])}", needed=True))
    if audience == "manager":
        return told
    if first.against:
        told.append(Sentence(f"What speaks against it: {as_clause(first.against[0])}", needed=True))
    for other in [one for one in others if one.weight >= _WORTH_MENTIONING][: _MENTIONED - 1]:
        told.append(Sentence(f"Beside that: {as_clause(other.summary)}", other.evidence))
    return told


def left_out(
    diagnosis: Diagnosis, cited: Collection[str], audience: Audience = "expert"
) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """What stands before and after the words of another author, who cited the facts `cited`: what is wrong, unless one of its facts
    about a place is cited; and gain, advice, objection, what to collect, and other causes of which no fact of their own is.
    """
    placed = {item.id for item in diagnosis.evidence if item.where is not None}
    headline, *rest = narrate(diagnosis, audience)
    told, first = frozenset(cited), frozenset(headline.evidence)
    before = () if told & ((first & placed) or first) else (headline,)
    after = (one for one in rest if one.needed or (one.evidence and told.isdisjoint({*one.evidence} - first)))
    return before, tuple(after)


def _healthy(diagnosis: Diagnosis) -> list[Sentence]:
    hot = next(
        (finding for finding in diagnosis.findings if finding.cause in ("hot-compute", "gpu-kernel-bound")), None
    )
    told = [Sentence(diagnosis.headline, () if hot is None else hot.evidence)]
    if hot is not None:
        told.append(Sentence(meaning(hot.cause)))
    if hot is not None and hot.cause == "gpu-kernel-bound" and hot.next_measurement:
        told.append(Sentence(f"To see more, collect the kernel's counters: {hot.next_measurement}", needed=True))
    elif diagnosis.not_collected:
        lacking, command = next(iter(diagnosis.not_collected.items()))
        told.append(Sentence(f"To see more, collect {lacking}: {command}", needed=True))
    return told
