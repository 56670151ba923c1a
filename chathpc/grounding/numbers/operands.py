"""What is computed with: the facts that fit a side of a comparison, and whether a number is a right rounding of what came out.

Where a subject has several values of one kind, one of them must fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Mark, Statement
from chathpc.grounding.language.quantities import NONE, Keys, Quantity

#: A thread or rank is a place, not what is measured there.
PLACES = frozenset({"in:thread", "in:rank", "in:process", "in:openmp", "in:device", "in:loop", "in:runtime"})
IGNORED = frozenset({"what:cost", "who:total", "what:speedup", "what:calls"})
#: Of what there are numbers to compare.
DIMENSIONS = ("time", "share", "rate", "bytes", "count")


@dataclass(frozen=True, slots=True)
class Side:
    """What one operand is about."""

    keys: Keys
    names: Keys

    @staticmethod
    def of(marks: Iterable[Mark]) -> Side:
        """The subjects and names of some words."""
        found = tuple(marks)
        return Side(
            frozenset(key for m in found for key in m.keys) - IGNORED,
            frozenset(name for m in found for name in m.names),
        )

    def __bool__(self) -> bool:
        return bool(self.keys - PLACES or self.names)


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A number found again: `query` says by what (`sum`, `difference`, `ratio`), from which evidence."""

    query: str
    evidence: tuple[str, ...]


def side(statement: Statement, first: int, last: int) -> Side:
    """What the words `first:last` of a statement are about."""
    return Side.of(m for s in statement.segments for m in s.marks if first <= m.position < last)


def values(
    of: Side, dimension: str, world: World, base: Keys | None = None, *, single: bool | None = None
) -> Sequence[Fact]:
    """The facts of one dimension that fit a side best; of `single` things (their mean, or each of them), of all, or whatever."""
    if not of:
        return ()
    wanted = world.with_roles(of.keys) if any(key.startswith("who:") for key in of.keys) else of.keys
    new = (world.words.neutral | world.words.beside) - world.said
    asked = frozenset(k for k in of.keys - PLACES if not (k.startswith("word:") and k[5:] in new)) or of.keys - PLACES
    fitting = []
    for fact in world.facts:
        quantity = fact.quantity
        if (
            not fact.evidence
            or quantity.dimension != dimension
            or quantity.is_base
            or (single is not None and single != is_single(fact))
            or (base is not None and quantity.base != base)
        ):
            continue
        about = fact.subjects | (fact.around if "what:speedup" not in quantity.own else NONE)
        if not (asked <= about | world.with_roles(about)) or not of.names <= (fact.names | fact.near):
            continue
        if not {k for k in asked if k.startswith("act:")} <= fact.subjects | quantity.own:
            continue  # what else its sentence is about neither waits nor works for this number
        own = world.with_roles(quantity.own)
        if any(key.startswith("who:") for key in asked) and not {k for k in asked if k.startswith("who:")} <= own:
            continue
        strange = {k for k in quantity.own - wanted - PLACES - IGNORED if not k.startswith("word:")}
        missing = asked - fact.subjects
        named = bool(of.names) and not of.names & fact.names
        fitting.append((len(strange) + 2 * len(missing) + named + len(fact.names - of.names) * (not named), fact))
    least = min((distance for distance, _ in fitting), default=0)
    return [fact for distance, fact in fitting if distance == least]


def is_single(fact: Fact) -> bool:
    """True for a number of one of several things: their mean, or that of each."""
    return fact.quantity.is_each or "who:mean" in fact.quantity.own


def value(fact: Fact) -> float:
    """A fact's value, unrounded where it is known so."""
    return fact.exact if fact.exact is not None else fact.quantity.value


#: How far a computed value may be from a bound in digits, or in words (`more than twice`), and from a rough number.
_REACH, _WORD_REACH, _FAR_BELOW, _ABOUT = 0.1, 0.5, 0.8, 0.025
#: A sum or difference of numbers as they are printed may be off by their rounding; a rough one by a twentieth.
_ROUNDED, _ROUGH = 0.01, 0.05


def fits(found: float, quantity: Quantity, operands: Sequence[Fact] = ()) -> bool:
    """True if a number is a right rounding of a ratio or difference, of exact values or of those that are printed, or a bound near it."""
    low, high = quantity.interval
    reach = _WORD_REACH if quantity.in_words else _REACH
    slack = 1e-9 * abs(found) + printed_half(found, operands)
    if quantity.exactness == "above":
        return quantity.value - slack <= found <= (1 + reach) * quantity.value
    if quantity.exactness == "below":
        top = max(quantity.value + slack, quantity.interval[1] if quantity.nearly else 0.0)
        reach = _FAR_BELOW if quantity.in_words and not quantity.nearly else reach
        return (1 - reach) * quantity.value <= found <= top
    slack += _ABOUT * abs(quantity.value) if quantity.exactness == "about" else 0.0
    return low - slack <= found <= high + slack


def printed_half(found: float, operands: Sequence[Fact]) -> float:
    """What rounding the operands to their printed digits can do to a sum or difference of them; at most a hundredth of it."""
    half = sum((f.quantity.interval[1] - f.quantity.interval[0]) / 2 for f in operands)
    return min(half, _ROUNDED * abs(found))


def close(found: float, operands: Sequence[Fact], quantity: Quantity) -> bool:
    """True if a number is a right rounding of what was computed from rounded operands."""
    if quantity.exactness in ("above", "below"):
        return fits(found, quantity, operands)
    low, high = quantity.interval
    half = printed_half(found, operands)
    if quantity.exactness == "about":
        half += _ROUGH * abs(found)
    return low - half <= found <= high + half


def rests_on(query: str, facts: Sequence[Fact]) -> Recomputed:
    """A number found again from some facts."""
    return Recomputed(query, tuple(dict.fromkeys(id for fact in facts for id in fact.evidence[:1])))
