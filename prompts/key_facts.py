"""The few facts that a small model is told of a diagnosis, each a whole sentence.

A small model repeats its facts: it says little that is wrong where each stands by itself, with its subject, and needs no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chathpc.diagnosis.phrasing import AMOUNT, SOURCE, TEMPLATE, as_clause, gain_sentence, meaning, placed
from chathpc.diagnosis.records import Diagnosis, Place, Verdict
from chathpc.prompts.loader import Audience
from chathpc.prompts.untrusted import quote

#: A statement is a sentence of ours around names of theirs.
LONGEST_STATEMENT = 300
#: Findings beyond the first that a small model is told of.
_ALSO = 1
#: Characters of all facts: an answer of 220 tokens holds them with room to spare.
_LONGEST_FACTS = 580

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: What a summary ends with: `: 44.7 % of the time (77.8 % in all places).` The measurements say it of the right part.
_LAST_AMOUNT = re.compile(r": \d[^:]*\.$")
#: A part of the time, and what says it in seconds: `take 1.62 s of 3.15 s (51.3 %)`.
_SHARE = re.compile(r"(?P<share>\d+(?:\.\d+)?) % of the time")
_TAKES = re.compile(r"\btakes? (?P<amount>[\d.]+ \w+ of [\d.]+ \w+ \((?P<share>[\d.]+) %\))")
_COMPUTES = re.compile(r"\bcomputes for [\d.]+ \w+ of [\d.]+ \w+ \((?P<share>[\d.]+) %\)")
#: A statement that needs the one before: `sweep calls usleep for 2.49 s of it.`
_LEANS = re.compile(r"\bof (?:it|them|these|those)\b")


@dataclass(frozen=True, slots=True)
class _Measured:
    """What is measured of the first finding: what is wrong and where, what that costs, what the source does there."""

    what: str
    costs: tuple[str, ...]
    source: tuple[str, ...]


def key_lines(diagnosis: Diagnosis, audience: Audience = "expert") -> list[str]:
    """The facts that matter most: what it is, measurements, what that means, the gain, what to do, what else.

    An answer is about as long as its facts, so what matters least is left out of a text that would be cut off.
    """
    if not diagnosis.findings:
        return [_told(diagnosis.headline)]
    first, found = diagnosis.findings[0], _measured(diagnosis, audience)
    means = [] if audience == "manager" else [_told(meaning(first.cause))]
    gain, advice, also = _to_act(diagnosis)
    cost = () if diagnosis.verdict == Verdict.HEALTHY else found.costs
    rest = [one for one in (*found.costs, *found.source) if one not in cost]
    return _fitting(
        (found.what, *found.costs, *found.source, *means, *gain, *advice, *also),
        (found.what, *advice, *gain, *cost, *means, *rest, *also),
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


def _measured(diagnosis: Diagnosis, audience: Audience) -> _Measured:
    first, healthy = diagnosis.findings[0], diagnosis.verdict == Verdict.HEALTHY
    by_id = {item.id: item for item in diagnosis.evidence}
    statements = [by_id[one].statement for one in first.evidence if one in by_id]
    whole = [text for text in statements if not _LEANS.search(text) and not TEMPLATE.search(text)]
    summary = diagnosis.headline
    if not healthy:
        summary, whole = _in_seconds(_LAST_AMOUNT.sub(".", first.summary) if whole else first.summary, whole)
        summary = summary if audience == "manager" else placed(summary, first.where)
        summary = _with_kind(summary, first.where)
    what = _told(summary)
    said = set(_NUMBER.findall(what))
    whole = [text for text in whole if not set(_NUMBER.findall(text)) <= said and not _repeats(text, what, first.where)]
    # What the program's own text says convinces most.
    source = [text for text in whole if text.startswith(SOURCE)][:1]
    # What costs time is said with how much.
    costs = [text for text in whole if text not in source][:1] if healthy or not AMOUNT.search(what) else []
    return _Measured(what, *(tuple(_told(_with_kind(one, first.where)) for one in some) for some in (costs, source)))


def _to_act(diagnosis: Diagnosis) -> tuple[list[str], list[str], list[str]]:
    """What could be won, what to do, what else costs time."""
    first, healthy = diagnosis.findings[0], diagnosis.verdict == Verdict.HEALTHY
    gain = [] if first.speedup_bound is None or healthy else [gain_sentence(first.speedup_bound)]
    advice = [f"What to {'try' if healthy else 'do'} first: {_told(as_clause(one))}" for one in first.advice[:1]]
    if healthy and first.suspected:
        advice = []  # what would show whether that is the case comes first
    others = [one.summary for one in diagnosis.findings[1:] if one.weight > 0][:_ALSO]
    return gain, advice, [f"Beside that: {_told(as_clause(one))}" for one in others]


def _repeats(statement: str, told: str, where: Place) -> bool:
    """True for the part of the time of a function that is told already: in seconds it reads like another amount."""
    share, name = _TAKES.search(statement) or _COMPUTES.search(statement), where.function or ""
    return bool(share and name and name in statement and name in told and f"{share['share']} %" in told)


def _in_seconds(summary: str, statements: list[str]) -> tuple[str, list[str]]:
    """A summary that says its part of the time in seconds as well, where a statement knows them, and the statements that are left.

    Two statements of one amount read like two amounts: those of the same part, and of a part that differs by other places, are left out.
    """
    share = _SHARE.search(summary)
    amounts = {text: found for text in statements if (found := _TAKES.search(text))}
    if share is None or not amounts:
        return summary, statements
    same = next((found for found in amounts.values() if found["share"] == share["share"]), None)
    if same is not None:
        summary = summary.replace(share[0], same["amount"], 1)
    return summary, [text for text in statements if text not in amounts]


def _with_kind(text: str, where: Place) -> str:
    """A sentence with the name of a function as its subject says that it is one: `accumulate steps through a` reads as a verb."""
    for kind, name in (("kernel", where.kernel), ("function", where.function)):
        if name and text.startswith(f"{name} "):
            return f"The {kind} {text}"
    return text


def _told(text: str) -> str:
    return quote(text, longest=LONGEST_STATEMENT)
