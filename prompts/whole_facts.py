"""The few facts that a small model is told of a diagnosis, each a whole sentence.

A small model repeats its facts: it says little that is wrong where each stands by itself, with its subject, and needs no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chathpc.diagnosis.fact import Fact, Kind, sentence
from chathpc.diagnosis.phrasing import as_clause, gain_sentence, meaning
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.prompts.loader import Audience
from chathpc.prompts.untrusted import quote

#: A statement is a sentence of ours around names of theirs.
LONGEST_STATEMENT = 300
#: Characters of all facts: an answer of 220 tokens holds them with room to spare.
_LONGEST_FACTS = 580
#: Kinds that say what something costs.
_COSTS = (Kind.AMOUNT, Kind.SHARE, Kind.SPREAD, Kind.MEAN)


def key_lines(diagnosis: Diagnosis, audience: Audience = "expert") -> list[str]:
    """The facts that matter most: what it is, where, what it costs, what the source does, what that means, the gain, what to do, what else.

    An answer is about as long as its facts, so what matters least is left out of a text that would be cut off.
    """
    if not diagnosis.findings:
        return [_told(diagnosis.headline)]
    first, healthy = diagnosis.findings[0], not diagnosis.blames
    what = [_told(diagnosis.headline if healthy else first.summary)]
    where = [] if audience == "manager" or healthy else _place(first)
    costs = _first_of(diagnosis, first, _COSTS)
    source = _first_of(diagnosis, first, (Kind.SOURCE,))
    means = [] if audience == "manager" else [_told(meaning(first.cause))]
    won = None if healthy else gain_sentence(first)
    gain = [] if won is None else [won]
    # What would show whether a suspicion is right comes before advice.
    told = () if healthy and first.suspected else first.advice[:1]
    advice = [f"What to {'try' if healthy else 'do'} first: {_told(as_clause(one))}" for one in told]
    also = [f"Beside that: {_told(as_clause(one.summary))}" for one in diagnosis.findings[1:2] if one.weight > 0]
    return _fitting(
        (*what, *where, *costs, *source, *means, *gain, *advice, *also),
        (*what, *advice, *gain, *costs, *where, *source, *means, *also),
    )


def _fitting(lines: Sequence[str], by_rank: Iterable[str]) -> list[str]:
    """Those of `lines` that a short answer holds, the first ones of `by_rank`."""
    kept: list[str] = []
    length = 0
    for line in by_rank:
        length += len(line)
        if kept and length > _LONGEST_FACTS:
            break
        kept.append(line)
    return [line for line in lines if line in kept]


def _place(finding: Finding) -> list[str]:
    where = finding.where
    if not where.function or not where.short:
        return []
    return [_told(f"The function {where.function} is at {where.short}.")]


def _first_of(diagnosis: Diagnosis, finding: Finding, kinds: Sequence[Kind]) -> list[str]:
    """The finding's first fact of one of the kinds, without arguments of templates: they are too long for a small model."""
    facts = (item for item in diagnosis.evidence if item.id in finding.evidence and item.kind in kinds)
    return [_told(sentence(item)) for item in facts if not _is_template(item)][:1]


def _is_template(item: Fact) -> bool:
    return "<" in item.subject or any("<" in part.label for part in item.parts)


def _told(text: str) -> str:
    return quote(text, longest=LONGEST_STATEMENT)
