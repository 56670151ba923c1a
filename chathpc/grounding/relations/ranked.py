"""Which finding promises more, and which one is surer: comparisons of what findings know of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chathpc.grounding.evidence.facts import Assessment, World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.vocabulary import stem_set
from chathpc.grounding.numbers.meant import described, mentioned

_MORE = stem_set("larger", "higher", "greater", "bigger", "more", "better")
_LESS = stem_set("less", "lower", "smaller")
_MOST = stem_set("largest", "highest", "greatest", "biggest", "most", "best")
_LEAST = stem_set("lowest", "smallest", "least")
_GAIN = stem_set("potential", "gain", "speedup", "bound", "improvement", "win", "saving", "benefit", "headroom")
_SURE = stem_set("certain", "sure", "confident", "confidence", "certainty")
_NEAR, _FAR = 3, 8


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Which findings are compared: `ours` with `theirs`, by what, and whether more of it is claimed; None for as much."""

    position: int
    by: str
    more: bool | None
    ours: frozenset[int]
    theirs: frozenset[int]


def ranked(statement: Statement, world: World) -> Mapping[int, bool]:
    """The comparisons of gains and of confidences in a sentence, by position: whether each is right."""
    return {one.position: _is_right(one, world) for one in _comparisons(statement, world)}


def _comparisons(statement: Statement, world: World) -> Iterable[_Comparison]:
    for segment in statement.segments:
        for position in range(segment.first, segment.last):
            yield from _at(position, segment, statement, world)


def _at(position: int, segment: Segment, statement: Statement, world: World) -> Iterable[_Comparison]:
    stems = statement.stems
    word = stems[position]
    than = next((p for p in range(position + 1, min(position + _FAR, len(stems))) if stems[p] == "than"), None)
    by = _by(stems[position + 1 : min(position + 1 + _NEAR, segment.last, than or segment.last)])
    if word == "as" and stems[position + 1 : position + 2] and _by(stems[position + 1 : position + 2]) == "confidence":
        again = next((p for p in range(position + 2, len(stems)) if stems[p] == "as"), None)
        if again is None:
            return
        ours, theirs = (described(statement, r, world) for r in (range(position), range(again + 1, segment.last)))
        ours = ours or described(statement, range(position + 2, again), world)
        more: bool | None = None
        by = "confidence"
    else:
        higher, lower = word in _MORE | _MOST, word in _LESS | _LEAST
        if not higher and not lower:
            return
        if than is not None and not by:  # `the confidence in A is lower than that in B`
            by = _by(stems[max(segment.first, position - _FAR) : position])
        if not by or (than is not None and than + 1 < len(stems) and statement.tokens[than + 1].kind == "number"):
            return
        more = higher
        if than is not None:
            ours, theirs = (described(statement, r, world) for r in (range(than), range(than + 1, len(stems))))
        else:
            ours = described(statement, range(segment.first, segment.last), world)
            every = frozenset(range(len(world.assessments)))
            theirs = mentioned(statement, world) - ours or every - ours
    if ours:
        yield _Comparison(position, by, more, ours, theirs)


def _by(words: Iterable[str]) -> str:
    for word in words:
        if word in _SURE:
            return "confidence"
        if word in _GAIN:
            return "bound"
    return ""


def _is_right(one: _Comparison, world: World) -> bool:
    if not one.theirs or one.ours & one.theirs:
        return False
    ours = [_value(world.assessments[i], one.by) for i in one.ours]
    theirs = [_value(world.assessments[i], one.by) for i in one.theirs]
    if one.more is None:
        return len({*ours, *theirs}) == 1
    return min(ours) > max(theirs) if one.more else max(ours) < min(theirs)


def _value(one: Assessment, by: str) -> float:
    return one.confidence if by == "confidence" else one.bound or 1.0
