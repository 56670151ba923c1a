"""What a sentence says that the diagnosis does not tell: true where no fact and no place of that kind is known."""

from __future__ import annotations

import re

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import NONE
from chathpc.grounding.language.vocabulary import stem

_SOURCES = frozenset(
    map(
        stem,
        (
            "diagnosis",
            "profile",
            "report",
            "finding",
            "evidence",
            "analysis",
            "trace",
            "timeline",
            "measurement",
            "data",
        ),
    )
)
_TELLS = frozenset(
    map(stem, ("say", "says", "said", "name", "names", "tell", "tells", "told", "give", "gives", "given", "show", "shows", "list", "lists", "contain",
               "contains", "mention", "state", "know", "knows", "known", "include", "provide", "identify", "point", "reveal", "record"))
)  # fmt: skip
_LINES = frozenset(map(stem, ("line", "lines")))
_LARGE = frozenset(map(stem, ("large", "big", "small")))
_SIZES = frozenset(map(stem, ("size", "sizes", "bytes")))
_HOW = "how"
_NAMED_LINE = re.compile(r".+\.\w+:[0-9]+")
_REACH = 4


def is_unsaid(statement: Statement, position: int, world: World) -> bool:
    """True for `the diagnosis does not say how large a request is`, `names no source line` where nothing of that kind is known."""
    segment = statement.segment_at(position)
    if segment is None or not _SOURCES & set(statement.stems[segment.first : position]):
        return False
    around = range(max(segment.first, position - _REACH), min(segment.last, position + _REACH))
    verb = next((p for p in around if statement.stems[p] in _TELLS and p != position), None)
    return verb is not None and _is_missing(statement, segment, max(verb, position) + 1, world)


def _is_missing(statement: Statement, segment: Segment, first: int, world: World) -> bool:
    """True if the kind of thing that is asked for behind `first` is known of none of the things that are named there."""
    asked = statement.stems[first : segment.last]
    if _LINES & set(asked):
        return not any(_NAMED_LINE.fullmatch(n) for b in world.bundles if segment.names <= b.names for n in b.names)
    if _SIZES & set(asked) or (_HOW in asked and _LARGE & set(asked)):
        keys = frozenset(
            k for m in segment.marks if m.position >= first for k in m.keys if k.startswith(("in:", "what:"))
        )
        return bool(keys) and not _is_known("bytes", keys - {"what:size"}, segment, world)
    return bool(_counted(asked, world)) and not _has_count(asked, world)


def is_counted(statement: Statement, position: int, world: World) -> bool:
    """True for the negation of `one cannot see how many copies there are` where their number is known."""
    segment = statement.segment_at(position)
    return segment is not None and _has_count(statement.stems[position : segment.last], world)


def _has_count(asked: tuple[str, ...], world: World) -> bool:
    counted = _counted(asked, world)
    counts = [f for f in world.facts if f.quantity.dimension == "count"]
    return any(f.quantity.noun in counted or f"in:{one}" in f.quantity.own for f in counts for one in counted)


def _is_known(dimension: str, keys: frozenset[str], segment: Segment, world: World) -> bool:
    return any(
        f.quantity.dimension == dimension
        and segment.names <= (f.names | f.near if segment.names else NONE)
        and (keys & (f.subjects | f.quantity.own) or f.quantity.is_each or f.quantity.per is not None)
        for f in world.facts
    )


def _counted(asked: tuple[str, ...], world: World) -> list[str]:
    """The noun of `how many calls`, `the number of calls`."""
    pairs = ((_HOW, "many"), ("number", "of"))
    found = [asked[i + 2] for i in range(len(asked) - 2) if asked[i : i + 2] in pairs]
    return [world.words.same_count.get(noun, noun) for noun in found if noun in world.words.counted]
