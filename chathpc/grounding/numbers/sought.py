"""What a number of a sentence is about where its own clause does not say it all."""

from __future__ import annotations

from dataclasses import replace

from chathpc.grounding.evidence.facts import World
from chathpc.grounding.language.claims import Segment, Statement
from chathpc.grounding.language.quantities import TOTAL, Quantity
from chathpc.grounding.language.vocabulary import stem

_WHOLE = frozenset(map(stem, ("program", "application", "run", "execution")))
_LASTS = frozenset(map(stem, ("take", "takes", "lasts", "runs")))
_POINTERS = frozenset(map(stem, ("this", "these", "it", "the", "that", "they")))


def pointed(segment: Segment, statement: Statement) -> Segment:
    """The clause without the noun behind `this`: `This section takes …` is about no section of its own."""
    if segment.first or statement.stems[:1] not in (("this",), ("these",)):
        return segment
    kept = tuple(m for m in segment.marks if m.position > 1 or not all(k.startswith("word:") for k in m.keys))
    return replace(segment, marks=kept)


def points_back(statement: Statement) -> bool:
    """True for a sentence that begins with `this`, `it`, `the …`: what it is about may stand before it."""
    return bool(statement.stems) and statement.stems[0] in _POINTERS


def completed(quantity: Quantity, statement: Statement, known: World) -> Quantity:
    """A number in a clause that says nothing of its subject (`The run loses 3.17 s because …`) is about what the next clauses say.

    Where these say nothing either and the sentence points back (`This takes …`), it is about the leading finding.
    """
    pointing = points_back(statement)
    if _is_whole(quantity, statement):
        return replace(quantity, own=TOTAL, is_base=True)
    if pointing:  # the noun behind `this` is no subject of its own
        named = frozenset(k for s in statement.segments for m in s.marks if m.position <= 1 for k in m.keys)
        named = frozenset(key for key in named if key.startswith("word:"))
        quantity = replace(quantity, own=quantity.own - named, inherited=quantity.inherited - named)
    if quantity.keys - {"what:cost"} or quantity.names or quantity.inherited_names or quantity.is_base:
        return quantity
    keys = frozenset(key for segment in statement.segments for key in segment.keys)
    names = frozenset(name for segment in statement.segments for name in segment.names)
    if pointing and not names and not {k for k in keys - {"what:cost", "who:total"} if not k.startswith("word:")}:
        keys, names = keys | known.leading.keys, known.leading.names
    return replace(quantity, own=frozenset(), inherited=quantity.inherited | keys, inherited_names=names)


def _is_whole(quantity: Quantity, statement: Statement) -> bool:
    """True for the number of `the program takes 4.18 s`."""
    position = next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), 0)
    before = [word for word in statement.stems[max(0, position - 3) : position] if word not in ("to", "about")]
    if quantity.dimension == "time" and before[-3:] == ["total", stem("time"), "is"]:
        return True
    return quantity.dimension == "time" and before[-2:-1] != [] and before[-2] in _WHOLE and before[-1] in _LASTS
