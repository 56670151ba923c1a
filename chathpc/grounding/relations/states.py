"""What a sentence says that something is or is not: even, overlapped, coalesced, freed, and whether a finding excludes it."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import DETERMINERS
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.relations.related import is_told

#: A negation stands at most so many words before what it denies.
_REACH = 5
_WILL = stem("will")


def states(statement: Statement, world: World) -> bool:
    """False if a sentence calls something what a finding excludes: `the accesses are coalesced` beside uncoalesced access.

    A clause with a number is left to the number: `of 2.05 GB 1.89 GB are freed`.
    """
    stems = statement.stems
    for position, names in world.words.states.found(stems):
        if not names & world.absent or is_told(statement, position, world) or _is_topic(stems, position, world):
            continue
        segment = statement.segment_at(position)
        if segment is not None and any(not q.in_words for q in segment.quantities):
            continue
        if segment is not None and segment.quantities and _is_counted_before(statement, segment, names, world):
            continue
        if not world.words.negations & set(stems[max(0, position - _REACH) : position]):
            return False
    return True


def _is_topic(stems: Sequence[str], position: int, world: World) -> bool:
    """True for `could overlap` where a trusted text says the same, and for `a caveat about overlapping`, which says of nothing that it does."""
    if position and (stems[position - 1], stems[position]) in world.told and stems[position - 1] in _POSSIBLY:
        return True
    before = [word for word in stems[max(0, position - 3) : position] if word not in DETERMINERS]
    return len(before) > 1 and before[-1] in _ABOUT and before[-2] in _REMARKS


_POSSIBLY = frozenset({"could"})
_ABOUT = frozenset({"about", "on", "against", "regard", "concern", "with", "to", "for"})
_REMARKS = frozenset(
    map(
        stem,
        (
            "caveat",
            "objection",
            "reservation",
            "remark",
            "note",
            "advice",
            "word",
            "doubt",
            "argument",
            "case",
            "limit",
            "finding",
            "hint",
        ),
    )
)


def _is_counted_before(statement: Statement, segment: Segment, names: frozenset[str], world: World) -> bool:
    """True for `…, so most of it is freed` behind a clause that has the number of what is freed."""
    return any(
        earlier.first < segment.first
        and any(not q.in_words for q in earlier.quantities)
        and any(names & found for _, found in world.words.states.found(statement.stems[earlier.first : earlier.last]))
        for earlier in statement.segments
    )


def contrary(statement: Statement, world: World) -> bool:
    """True if a sentence without a number says the opposite of a word that trusted texts use: `new arguments` beside `the same arguments`."""
    stems = statement.stems
    if any(not q.in_words for q in statement.quantities) or world.words.negations & set(stems):
        return False
    for pair in world.words.opposites:
        for said, other in (pair, pair[::-1]):
            mine = said.found(stems)
            if not mine or other.found(stems):
                continue
            told = [clause for text in world.facts_told for clause in text.clauses]
            if any(other.found(clause) for clause in told) and not any(said.found(clause) for clause in told):
                return True
    return False


def denies_absent(statement: Statement, position: int, world: World) -> bool:
    """True if the negation at a position denies what a finding excludes: `copies and kernels never overlap`."""
    if statement.stems[position] == "cannot" or statement.stems[position - 1 : position] == (_WILL,):
        return False  # it is not so, but nobody knows that it could not be
    return any(
        names & world.absent and position < found <= position + _REACH
        for found, names in world.words.states.found(statement.stems)
    )
