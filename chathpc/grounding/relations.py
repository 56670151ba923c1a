"""Whether what a sentence says of its subjects to each other is so: roles, waiting, levels, comparisons, limits, cause and effect."""

from __future__ import annotations

from itertools import pairwise

from chathpc.grounding.claims import Segment, Statement, group
from chathpc.grounding.facts import World, level_claims
from chathpc.grounding.match import is_context
from chathpc.grounding.quantities import NONE, Keys


def limits(statement: Statement, world: World) -> bool:
    """False if a sentence says that something limits the program which no finding names as its reason."""
    stems = statement.stems
    limiting = frozenset(
        key
        for name in world.causes
        if name in world.words.causes
        for key in (world.words.causes[name].reason | world.words.causes[name].effect)
    )
    reasons = frozenset(
        key for name in world.causes if name in world.words.causes for key in world.words.causes[name].reason
    )
    for position, _ in world.words.limits.found(stems):
        for segment in statement.segments:
            if not segment.first <= position < segment.last:
                continue
            after = frozenset(k for m in segment.marks if m.position > position for k in m.keys)
            strict = after - is_context(after, world) - group(after, "who")
            if not after | frozenset(n for m in segment.marks if m.position > position for n in m.names):
                return False
            if strict and not (strict <= limiting and strict & reasons):
                return False
    return True


def reasons(statement: Statement, world: World) -> bool:
    """False if cause and effect stand the wrong way round."""
    for index, segment in enumerate(statement.segments):
        if segment.joint not in ("reason", "result") or (index == 0 and segment.joint == "result"):
            continue
        before = frozenset(k for s in statement.segments[:index] for k in s.keys)
        here = segment.keys
        because, then = (here, before) if segment.joint == "reason" else (before, here)
        if index == 0:
            then = frozenset(k for s in statement.segments[1:] for k in s.keys)
        for name in world.causes & world.words.causes.keys():
            entry = world.words.causes[name]
            only_effect = because & entry.effect and not because & entry.reason
            if only_effect and then & entry.reason and not then & entry.effect:
                return False
    return True


def roles(segment: Segment, world: World) -> bool:
    """False if a clause gives a thread or rank a role that is not its own, or names one that is unknown."""
    who = group(segment.keys, "who")
    instances = {key for key in who if key[-1].isdigit()}
    known = {key for s in world.segments for key in group(s.keys, "who") if key[-1].isdigit()}
    if not instances <= known:
        return False
    marks = [m for m in segment.marks if group(m.keys, "who")]
    for first, second in pairwise(marks):
        for one, role in ((first, second), (second, first)):
            for key in one.keys:
                for said in role.keys & {"who:busiest", "who:idlest"}:
                    if key[-1].isdigit() and (key, said) not in world.roles:
                        return False
    return True


def waits(segment: Segment, statement: Statement, world: World) -> bool:
    """False if a clause lets the wrong one wait: the busiest waits for nobody, and nobody waits for the idlest."""
    position = next((m.position for m in segment.marks if "act:wait" in m.keys), None)
    if position is None:
        return True
    before = [m for m in segment.marks if m.position < position]
    objects = frozenset(
        k
        for m in segment.marks
        if m.position > position and _stem_between(statement, position, m.position, "for")
        for k in m.keys
    )
    who = frozenset(k for m in before for k in group(m.keys, "who"))
    instances = frozenset(k for k in who if k[-1].isdigit())
    stated = any({"act:wait"} | instances <= _subjects_of_wait(s) for s in world.segments)
    if "who:busiest" in world.with_roles(who) or (instances and not stated):
        return False
    if objects and group(objects, "who") and "who:busiest" not in world.with_roles(objects):
        return False
    callers = frozenset(n for m in before for n in m.names)
    return not callers or any(callers <= s.names and "act:wait" in s.keys for s in world.segments)


def _stem_between(statement: Statement, first: int, last: int, stem: str) -> bool:
    return any(statement.tokens[p].stem == stem for p in range(first + 1, last))


def _subjects_of_wait(segment: Segment) -> Keys:
    """Who stands before `wait` in a trusted clause, with the act itself."""
    position = next((m.position for m in segment.marks if "act:wait" in m.keys), None)
    if position is None:
        return NONE
    return frozenset({"act:wait"}) | frozenset(k for m in segment.marks if m.position < position for k in m.keys)


def levels(statement: Statement, world: World) -> bool:
    """False if a sentence calls something high or low that neither the causes nor the evidence call so."""
    return all(
        any((subject, level) in world.levels for subject in subjects)
        for _, level, subjects in level_claims(statement, world.words)
    )


_ORDER = {"who:busiest": 3, "who:mean": 2, "who:others": 2, "who:idlest": 1}


def comparisons(statement: Statement, world: World) -> bool:
    """False if `A … more … than B` is not what the values of A and B say, or these are not known."""
    stems = statement.stems
    for position, meanings in world.words.comparisons.found(stems):
        than = next((p for p in range(position, min(position + 6, len(stems))) if stems[p] == "than"), None)
        transitive = stems[position] in ("exce", "exceed", "outweigh", "dominate", "dominat", "above", "below")
        if than is None and not transitive:
            if _is_bound(statement, position):
                continue
            return False
        if (
            than is not None
            and than + 1 < len(stems)
            and (statement.tokens[than + 1].kind == "number" or _is_bound(statement, position))
        ):
            continue
        split = than if than is not None else position
        left = _side(statement, 0, position)
        right = _side(statement, split + 1, len(stems))
        act = _side(statement, position, split) | left
        if not _compare(left, right, "act:wait" in act[0] | _side(statement, 0, split)[0], "more" in meanings, world):
            return False
    return True


def _is_bound(statement: Statement, position: int) -> bool:
    """True where a comparing word belongs to a number: `more than 1.4 s`, `more than half`."""
    tokens = statement.tokens
    start = tokens[position].start
    return any(q.exactness in ("above", "below") and 0 <= q.start - start < 24 for q in statement.quantities)


class _Pair(tuple[Keys, Keys]):
    """Subjects and names of one side of a comparison."""

    __slots__ = ()

    def __or__(self, other: object) -> _Pair:
        return _Pair((self[0] | other[0], self[1] | other[1])) if isinstance(other, _Pair) else NotImplemented


def _side(statement: Statement, first: int, last: int) -> _Pair:
    marks = [m for s in statement.segments for m in s.marks if first <= m.position < last]
    return _Pair((frozenset(k for m in marks for k in m.keys), frozenset(n for m in marks for n in m.names)))


def _compare(left: _Pair, right: _Pair, waiting: bool, more: bool, world: World) -> bool:
    mine, theirs = _rank(left, world), _rank(right, world)
    if mine and theirs:
        ordered = mine > theirs if more != waiting else mine < theirs
        return ordered and not (left[1] | right[1]) - world.names
    first, second = _values(left, world), _values(right, world)
    if not first or not second:
        return False
    return max(first) > max(second) if more else max(first) < max(second)


def _rank(side: _Pair, world: World) -> int:
    return max((_ORDER.get(key, 0) for key in world.with_roles(group(side[0], "who"))), default=0)


def _values(side: _Pair, world: World) -> list[float]:
    """Times of the facts that fit one side of a comparison best."""
    strict = side[0] - is_context(side[0], world) - {"what:cost"}
    if not strict and not side[1]:
        return []
    fitting = [
        (len(fact.subjects - strict) + len(fact.names - side[1]), fact.quantity.value)
        for fact in world.facts
        if fact.quantity.dimension == "time"
        and not fact.quantity.is_base
        and strict <= fact.subjects
        and side[1] <= (fact.names | fact.near)
    ]
    least = min((extra for extra, _ in fitting), default=0)
    return [value for extra, value in fitting if extra == least]
