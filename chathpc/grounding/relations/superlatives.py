"""Whether what a sentence calls the largest is the largest of its kind."""

from __future__ import annotations

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import NONE, TOTAL
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.operands import Side, value, values
from chathpc.grounding.relations.hottest import is_of_a_line, right_line
from chathpc.grounding.relations.topmost import MOST, is_line

_DOMINATES = frozenset(map(stem, ("dominates", "dominate", "dominant")))
_MAIN = frozenset(map(stem, ("main", "major", "bulk")))
_LEAST = frozenset(map(stem, ("smallest", "shortest", "lowest", "fastest", "cheapest")))
#: `the most time`, `the most expensive function`, `the least time`.
_OF_TIME = frozenset(map(stem, ("time", "expensive", "costly", "work")))


def superlatives(statement: Statement, world: World) -> bool:
    """False if a function, kernel or line is called the largest or smallest, and another one is."""
    stems = statement.stems
    for position, word in enumerate(stems):
        following = stems[position + 1] if position + 1 < len(stems) else ""
        most = word in MOST or (word == "most" and following in _OF_TIME)
        most = most or word in _DOMINATES or (word in _MAIN and following == "part")
        least = word in _LEAST or (word == "least" and following in _OF_TIME)
        if not most and not least:
            continue
        if is_of_a_line(statement, position):
            if most and not right_line(statement, position, world):
                return False
            continue
        segment = statement.segment_at(position)
        names = segment.names if segment else NONE
        functions = frozenset(name for name in names if ":" not in name.replace("::", "") and "." not in name)
        if segment and _is_denied(statement, segment, position, world):
            continue  # `denials` sees whether it is not
        if len(functions) == 1 and not _is_extreme(functions, world, most=most):
            return False
    return True


def is_no_extreme(statement: Statement, position: int, world: World) -> bool:
    """True for the negation of `MPI is not the largest item` where something else has more."""
    stems = statement.stems
    segment = statement.segment_at(position)
    behind = range(position + 1, min(position + _REACH, len(stems)))
    most = next(
        (p for p in behind if stems[p] in MOST or (stems[p] == "most" and stems[p + 1 : p + 2][0] in _OF_TIME)), None
    )
    if segment is None or most is None:
        return False
    marks = [m for m in segment.marks if m.position < position]
    own = Side.of(marks)
    found = values(own, "share", world, TOTAL)
    others = [
        value(f)
        for f in world.facts
        if f.evidence
        and f.quantity.dimension == "share"
        and f.quantity.base == TOTAL
        and f.evidence not in {one.evidence for one in found}
        if f.names and not f.names & own.names
    ]
    return bool(found) and bool(others) and max(others) > max(map(value, found))


def _is_denied(statement: Statement, segment: Segment, position: int, world: World) -> bool:
    before = statement.stems[max(segment.first, position - _REACH + 1) : position]
    return bool(world.words.negations & set(before))


_REACH = 5


def mostly(statement: Statement, world: World) -> bool:
    """False for `mostly in f` where no text says so and f has no more than half of anything."""
    for position, word in enumerate(statement.stems):
        behind = range(position + 1, min(position + 3, len(statement.tokens)))
        name = next((statement.tokens[p].text for p in behind if statement.tokens[p].kind == "code"), None)
        if word not in _MOSTLY or name is None or (word, name) in world.told:
            continue
        inside = "in:mpi" in frozenset(k for s in statement.segments for k in s.keys)
        shares = [
            value(f)
            for f in world.facts
            if f.quantity.dimension == "share"
            and name in (f.quantity.names or f.names)
            and (not inside or "in:mpi" in (f.quantity.base or NONE))
        ]
        if not shares or max(shares) <= _HALF:
            return False
    return True


_MOSTLY = frozenset(map(stem, ("mostly", "mainly", "chiefly", "primarily", "predominantly", "largely")))
_HALF = 50.0


def slight(statement: Statement, world: World) -> bool:
    """False if a function or a kernel is called negligible that has more than a small part of the time."""
    for position, word in enumerate(statement.stems):
        segment = statement.segment_at(position)
        before = [m for m in segment.marks if m.position < position and m.names] if segment else []
        if word in _SLIGHT and before and segment is not None and not segment.quantities:
            found = values(Side(NONE, before[-1].names), "share", world)
            if not found or any(value(fact) > _SMALL for fact in found):
                return False
    return True


_SLIGHT = frozenset(
    map(stem, ("negligible", "insignificant", "marginal", "minor", "trivial", "minimal", "unimportant", "irrelevant"))
)
#: Percent; a tenth is worth a look.
_SMALL = 10.0


def _is_extreme(names: frozenset[str], world: World, *, most: bool) -> bool:
    own = [value(fact) for fact in values(Side(NONE, names), "time", world)]
    others = [
        value(fact)
        for fact in world.facts
        if fact.quantity.dimension == "time"
        and not fact.quantity.is_base
        and fact.exact is not None
        and len(fact.quantity.names) == 1
        and not fact.quantity.names & names
        and not is_line(fact.quantity.names)
    ]
    if not own:
        return False
    return all(max(own) >= one for one in others) if most else all(min(own) <= one for one in others)
