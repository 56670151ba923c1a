"""What costs no time and what needs no remedy: `the leak costs no time`, `pinning is no remedy, the memory is pinned already`."""

from __future__ import annotations

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import NONE, Keys
from chathpc.grounding.language.quotation import Quotable
from chathpc.grounding.language.vocabulary import stem

_COSTS = frozenset(map(stem, ("cost", "costs", "take", "takes", "matter", "lose", "need", "needs")))
_TIME = stem("time")
_NONE = frozenset({"none", "nothing"})
_REMEDY = frozenset(
    map(stem, ("remedy", "help", "helps", "solution", "cure", "use", "point", "gain", "gains", "win", "wins", "bring", "brings", "need", "needed", "benefit",
               "improvement", "more", "change", "changes", "worth", "necessary", "option"))
)  # fmt: skip
_ALREADY = stem("already")
_REACH = 5


def costs_no_time(statement: Statement, position: int, world: World) -> bool:
    """True for `the leak costs no time` where a trusted text of that finding says so."""
    segment = statement.segment_at(position)
    if segment is None or segment.names:
        return False
    own = set(statement.stems[segment.first : segment.last])
    if not own & _COSTS or not (_TIME in own or statement.stems[position] in _NONE):
        return False
    about = _things(segment) or frozenset(k for s in statement.segments if s.first < segment.first for k in _things(s))
    return bool(about) and any(
        about <= bundle.subjects and _says_so(text, world)
        for bundle in world.bundles
        if bundle.cause is not None
        for text in world.facts_told
        if text.evidence[:1] == bundle.evidence[:1]
    )


def _says_so(text: Quotable, world: World) -> bool:
    return any(
        {stem("cost"), _TIME} <= set(clause) and bool(world.words.negations & set(clause)) for clause in text.clauses
    )


def is_done_already(statement: Statement, position: int, world: World) -> bool:
    """True for `pinning is no remedy`, `there is nothing more to win from pinning` where the evidence has it pinned already."""
    segment = statement.segment_at(position)
    if segment is None or not _REMEDY & set(statement.stems[position + 1 : position + 1 + _REACH]):
        return False
    about = _things(segment) & _done(world)
    return bool(about) and _things(segment) <= about | {"what:copy"}


def _done(world: World) -> Keys:
    """What is `already` so by a trusted text that is no advice: what stands in the same clause before the word."""
    found: Keys = NONE
    for text in world.facts_told:
        for clause in text.clauses:
            if _ALREADY in clause:
                found |= frozenset(
                    k for _, keys in world.words.subjects.found(clause) for k in keys if k.startswith("what:")
                )
    return found


def _things(segment: Segment) -> Keys:
    return frozenset(k for k in segment.keys if k.startswith("what:") and k not in ("what:cost", "what:speedup"))
