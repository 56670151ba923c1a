"""Whether several places that a sentence lists as the hottest are: `the hottest lines are a.c:7 and b.c:9`."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import DETERMINERS, Keys
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.operands import value

_LISTING = frozenset({",", "and", "&"})
#: Between a function and its line: `f at a.c:7`.
_AT = frozenset({"at", "in", "on", "line"})
MOST = frozenset(
    map(stem, ("largest", "biggest", "longest", "highest", "greatest", "heaviest", "hottest", "costliest", "worst"))
)
_TOP = stem("top")
_OF_TIME = frozenset(map(stem, ("time", "expensive", "costly")))


def listed(segment: Segment, statement: Statement) -> list[Keys]:
    """The places that a clause lists, each with the names that it has: `f at a.c:7, g at b.c:9 and h`; none where it is no list."""
    named = [mark for mark in segment.marks if mark.names]
    groups: list[set[str]] = []
    for before, mark in zip([None, *named], named, strict=False):
        if before is None:
            groups.append(set(mark.names))
            continue
        between = [
            token.text if token.kind == "punctuation" else token.stem
            for token in statement.tokens[before.position + 1 : mark.position]
        ]
        between = [word for word in between if word not in DETERMINERS]
        if between and set(between) <= _AT and is_line(mark.names) and not is_line(before.names):
            groups[-1] |= mark.names
        elif between and set(between) <= _LISTING:
            groups.append(set(mark.names))
        else:
            return []
    return [frozenset(group) for group in groups] if len(groups) > 1 else []


def topmost(statement: Statement, world: World) -> bool:
    """False if a sentence lists as the hottest what others of their kind have more time than."""
    stems = statement.stems
    for position, word in enumerate(stems):
        if word not in MOST | {_TOP} and not (word == "most" and _OF_TIME & set(stems[position + 1 : position + 2])):
            continue
        index = next((i for i, s in enumerate(statement.segments) if s.first <= position < s.last), 0)
        named = next((s for s in statement.segments[index : index + 2] if s.names), None)
        places = listed(named, statement) if named is not None else []
        if places and not are_first(places, world):
            return False
    return True


def are_first(places: Sequence[Keys], world: World) -> bool:
    """Whether none of their kind, lines or functions, has more time than each of these places; True where that is not known."""
    lines = any(map(is_line, places))
    timed = [
        f for f in world.facts if f.quantity.dimension == "time" and f.exact is not None and not f.quantity.is_base
    ]
    timed = [fact for fact in timed if is_line(_names(fact)) is lines]
    mine = [[value(fact) for fact in timed if place <= _names(fact)] for place in places]
    others = [value(fact) for fact in timed if _names(fact) and not any(place <= _names(fact) for place in places)]
    if not mine or not all(mine):
        return True
    return all(min(map(max, mine)) >= one for one in others)


def _names(fact: Fact) -> Keys:
    return fact.quantity.names or fact.names


def is_line(names: Keys) -> bool:
    """True if one of the names is a line: `a.c:7`, not `std::sort`."""
    return any(":" in name.replace("::", "") for name in names)
