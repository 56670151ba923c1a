"""What a sentence says that something is or is not: even, overlapped, coalesced, freed, and whether a finding excludes it."""

from __future__ import annotations

from chathpc.grounding.claims import Statement
from chathpc.grounding.facts import World
from chathpc.grounding.relations import is_told
from chathpc.grounding.vocabulary import stem

#: A negation stands at most so many words before what it denies.
_REACH = 5
_COULD, _NEAR = frozenset({"could"}), 2
_WILL = stem("will")


def states(statement: Statement, world: World) -> bool:
    """False if a sentence calls something what a finding excludes: `the accesses are coalesced` beside uncoalesced access.

    A clause with a number is left to the number: `of 2.05 GB 1.89 GB are freed`.
    """
    stems = statement.stems
    for position, names in world.words.states.found(stems):
        if not names & world.absent or is_told(statement, position, world):
            continue
        segment = next((s for s in statement.segments if s.first <= position < s.last), None)
        if segment is not None and any(not q.in_words for q in segment.quantities):
            continue
        if _COULD & set(stems[max(0, position - _NEAR) : position]):
            continue  # `120 ms could overlap`; `conditions.prediction` sees whether that is known
        if not world.words.negations & set(stems[max(0, position - _REACH) : position]):
            return False
    return True


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
