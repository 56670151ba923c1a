"""The facts of a diagnosis that matter most, told in the catalogue's words: the explanation without a model, and what one retells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.phrasing import as_clause, gain_sentence, meaning
from chathpc.diagnosis.records import Diagnosis, Verdict
from chathpc.reading.retelling import Told, speaks

if TYPE_CHECKING:
    from chathpc.prompts.loader import Audience

#: Findings after the first that are worth a sentence, by cost × headroom.
_WORTH_MENTIONING = 0.05
_MENTIONED = 3

ADVICE = "What to do first:"


def narrate(diagnosis: Diagnosis, audience: Audience = "expert") -> tuple[Told, ...]:
    """The diagnosis told in a few sentences, most important first; every number comes from the evidence.

    A newcomer is told at length what it means and why it costs time, a manager only what it costs, what could be won and what to do.
    """
    if diagnosis.verdict == Verdict.INSUFFICIENT:
        told = [Told(diagnosis.headline)]
    elif diagnosis.blames:
        told = _bottleneck(diagnosis, audience)
    else:
        told = _healthy(diagnosis)[: 1 if audience == "manager" else None]
    speaking = [name for name in _names(diagnosis) if speaks(name)]
    return tuple(replace(one, offered=not any(name in one.text for name in speaking)) for one in told)


def _names(diagnosis: Diagnosis) -> set[str]:
    places = [*(each.where for each in diagnosis.findings), *(each.where for each in diagnosis.evidence if each.where)]
    return {name for place in places for name in (place.function, place.kernel, *place.path) if name}


def _bottleneck(diagnosis: Diagnosis, audience: Audience) -> list[Told]:
    first, *others = diagnosis.findings
    entry = cause(first.cause)
    told = [Told(first.summary, first.evidence)]
    if audience == "expert" and first.origin != "source":  # else the summary says what its source does
        told.append(Told(meaning(first.cause)))
    elif audience == "newcomer":
        told += [Told(" ".join(text.split())) for text in (entry.what, entry.why)]
    won = gain_sentence(first)
    if won is not None:
        told.append(Told(won, first.evidence))
    if first.advice:
        told.append(Told(f"{ADVICE} {as_clause(first.advice[0])}"))
    if audience == "manager":
        return told
    if first.against:
        told.append(Told(f"What speaks against it: {as_clause(first.against[0])}"))
    for other in [one for one in others if one.weight >= _WORTH_MENTIONING][: _MENTIONED - 1]:
        told.append(Told(f"Besides that: {as_clause(other.summary)}", other.evidence))
    return told


def _healthy(diagnosis: Diagnosis) -> list[Told]:
    hot = next((finding for finding in diagnosis.findings if cause(finding.cause).where_only), None)
    told = [Told(diagnosis.headline, () if hot is None else hot.evidence)]
    if hot is not None:
        told.append(Told(meaning(hot.cause)))
    if hot is not None and hot.cause == "gpu-kernel-bound" and hot.next_measurement:
        told.append(Told(f"To see more, collect the kernel's counters: {hot.next_measurement}"))
    elif diagnosis.not_collected:
        lacking, command = next(iter(diagnosis.not_collected.items()))
        told.append(Told(f"To see more, collect {lacking}: {command}"))
    return told
