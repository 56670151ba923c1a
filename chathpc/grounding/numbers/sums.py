"""Numbers that are sums of others: `f and g together take 3.2 s`, `the two problems take 71 %`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Mark, Segment, Statement
from chathpc.grounding.language.quantities import NONE, TOTAL, Quantity
from chathpc.grounding.language.vocabulary import stem
from chathpc.grounding.numbers.operands import Recomputed, Side, close, rests_on, value, values

_TOGETHER = frozenset(map(stem, ("together", "combined", "altogether", "both", "sum", "total")))
#: `Most` is no sum: nearly any two parts are most of something.
_VAGUE = 0.25
#: What a sentence counts instead of naming it: `the two functions take 71 %`.
COUNTED_THINGS = frozenset(map(stem, ("function", "kernel", "loop", "line", "call", "file")))
#: Operands beyond this many are no sum that a sentence spells out.
MOST_OPERANDS = 4
_SHORT_CLAUSE = 2


def operands(statement: Statement, position: int) -> list[Side]:
    """The parts of `A and B together take …`: the names, else the subjects, before the number in its clause."""
    segment = statement.segment_at(position)
    marks = [m for m in segment.marks if m.position < position] if segment else []
    if segment and not marks and statement.quantities:
        marks = [m for m in segment.marks if m.position > position and m.names]  # `Nine tenths of it are f and g`
    names = [Side(NONE, m.names) for m in marks if m.names]
    for earlier in reversed(statement.segments[: statement.segments.index(segment)] if segment else ()):
        if not _is_short(earlier, statement) or not earlier.names:
            break  # `f, g and h together`: each name before the comma is a clause of its own
        names += [Side(NONE, m.names) for m in earlier.marks if m.names]
    if len(names) > 1:
        return names[: MOST_OPERANDS + 1]
    return [one for one in (Side.of([m]) for m in marks if not _only_words(m)) if one][: MOST_OPERANDS + 1]


def is_together(statement: Statement, position: int) -> bool:
    """True if the clause of a number says `together`, or one of that word alone goes before it."""
    index = next((i for i, s in enumerate(statement.segments) if s.first <= position < s.last), 0)
    first, last = statement.segments[index].first, statement.segments[index].last
    for before in reversed(statement.segments[:index]):
        if not _is_short(before, statement) or before.quantities:
            break
        first = before.first
    said = statement.stems[first:last]
    if _A_TOTAL_OF in zip(said, said[1:], said[2:], strict=False):
        said = tuple(word for word in said if word != "total")
    return bool(_TOGETHER & set(said)) or _BETWEEN_THEM in pairwise(said)


def _is_short(segment: Segment, statement: Statement) -> bool:
    """True for a clause of a single name, and of words that only say `together`."""
    told = [w for w in statement.stems[segment.first : segment.last] if w not in _TOGETHER | _TAKEN]
    return len(told) <= _SHORT_CLAUSE


_TAKEN = frozenset(map(stem, ("taken", "take", "all", "added")))
_A_TOTAL_OF = ("a", "total", "of")
_BETWEEN_THEM = ("between", "them")


def _are_joined(statement: Statement, position: int) -> bool:
    """True for `f and g take 3 s`: two names or subjects with nothing but `and` or commas between them, and no number of each."""
    segment = statement.segment_at(position)
    if segment is None or len(segment.quantities) > 1:
        return False
    told = [
        m.position
        for m in segment.marks
        if m.position < position and (m.names or any(k.startswith("what:") for k in m.keys))
    ] or [m.position for m in segment.marks if m.names]
    return any(
        all(statement.stems[p] in _AND or statement.tokens[p].text == "," for p in range(one + 1, other))
        and other > one + 1
        for one, other in pairwise(told)
    )


_AND = frozenset({"and", "the", "functions", "function"})


def _only_words(mark: Mark) -> bool:
    return not mark.names and all(key.startswith("word:") for key in mark.keys)


def summed(quantity: Quantity, statement: Statement, position: int, world: World) -> Recomputed | None:
    """The numbers of the things that a clause names together, where they add up to its number; None where they do not."""
    if quantity.interval[1] - quantity.interval[0] > _VAGUE * quantity.value:
        return None
    parts = operands(statement, position)
    several = any(q.noun in COUNTED_THINGS for q in statement.quantities)
    if not is_together(statement, position) and not _are_joined(statement, position) and not several:
        return None
    if len(parts) < 2 and quantity.dimension == "share" and not quantity.names:
        added = leading_sum(quantity, world)
        return rests_on("sum", added) if added else None
    if not 1 < len(parts) <= MOST_OPERANDS:
        return None
    base = (quantity.base or TOTAL) if quantity.dimension == "share" else None
    choices = [values(one, quantity.dimension, world, base)[:4] for one in parts]
    for chosen in product(*choices):
        if len({id(fact) for fact in chosen}) == len(chosen) and close(sum(map(value, chosen)), chosen, quantity):
            return rests_on("sum", chosen)
    return None


def leading_sum(quantity: Quantity, world: World) -> Sequence[Fact]:
    """The leading shares of the whole that add up to a number, first the first two, then the first three, ….

    Facts of findings' costs only: they do not overlap.
    """
    costs = [
        f
        for f in world.facts
        if f.quantity.dimension == "share" and "what:cost" in f.subjects and f.quantity.base in (None, TOTAL)
    ]
    by_bundle = {min(f.bundles): f for f in costs if (f.bundles and f.exact is not None) or f.text}
    chosen = [by_bundle[index] for index in sorted(by_bundle)]
    for count in range(2, min(len(chosen), MOST_OPERANDS) + 1):
        if close(sum(map(value, chosen[:count])), chosen[:count], quantity):
            return chosen[:count]
    return ()
