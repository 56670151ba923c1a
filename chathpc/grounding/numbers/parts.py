"""Whether `A of B` can be: a part is not larger than its whole, both are of one item of evidence, and a percentage behind them is A / B."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from chathpc.grounding.evidence.facts import Fact, World
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import Quantity
from chathpc.grounding.numbers.rounding import equals

_LINES = re.compile(r"\blines?\s+(\d{1,9})\s*(?:to|through|-|–)\s*(\d{1,9})\b", re.IGNORECASE)
#: Characters between a whole and the percentage that says what its part is: ` (` or `, or `.
_NEAR = 6
_ROUNDING = 1e-9


def parts(statement: Statement, known: World) -> bool:
    """False if a part is larger than its whole, no item of evidence has both, or a percentage behind them is another one."""
    found = statement.quantities
    for position, (part, whole) in enumerate(pairwise(found)):
        if not whole.is_base or part.is_base or part.dimension != whole.dimension or part.dimension not in _SIZES:
            continue
        if part.interval[0] > whole.interval[1] * (1 + _ROUNDING):
            return False
        mine, others = _facts(part, known), _facts(whole, known)
        if mine and others and not _is_one_whole(mine, others, known):
            return False
        share = found[position + 2] if position + 2 < len(found) else None
        if share is not None and share.dimension == "share" and _is_of_both(share, whole, statement):
            low = 100 * part.interval[0] / max(whole.interval[1], _ROUNDING)
            high = 100 * part.interval[1] / max(whole.interval[0], _ROUNDING)
            if share.interval[1] < low * (1 - _ROUNDING) or share.interval[0] > high * (1 + _ROUNDING):
                return False
    return True


_SIZES = ("time", "bytes")


def _is_of_both(share: Quantity, whole: Quantity, statement: Statement) -> bool:
    """True for a share right behind `A of B`, or in a clause of its own that says nothing else: `…, roughly a third`."""
    if 0 <= share.start - whole.end <= _NEAR:
        return True
    segment = next((s for s in statement.segments if any(q.start == share.start for q in s.quantities)), None)
    alone = segment is not None and not segment.marks and segment.last - segment.first <= _SHORT
    return alone and share.base is None and share.exactness in ("exact", "about")


#: Words of a clause that is only a number: `or just about a third`.
_SHORT = 5


def ranges(text: str) -> bool:
    """False if a range of lines ends before it begins."""
    return all(int(first) <= int(last) for first, last in _LINES.findall(text))


def _facts(quantity: Quantity, known: World) -> tuple[Fact, ...]:
    """The facts that have the number, whatever they say about it."""
    return tuple(f for f in known.facts if f.quantity.dimension == quantity.dimension and equals(quantity, f))


def _is_one_whole(parts: Sequence[Fact], wholes: Sequence[Fact], known: World) -> bool:
    """True if an item of evidence has both, or a finding has both and knows of no other whole: `survey calls for 2.71 s of it`."""
    if any(set(part.evidence) & set(whole.evidence) for part in parts for whole in wholes):
        return True
    both = frozenset().union(*(p.bundles for p in parts)) & frozenset().union(
        *(w.bundles for w in wholes if w.quantity.is_base)
    )
    dimension = wholes[0].quantity.dimension
    return any(
        {
            f.quantity.value
            for f in known.facts
            if bundle in f.bundles and f.quantity.is_base and f.quantity.dimension == dimension
        }
        == {w.quantity.value for w in wholes if bundle in w.bundles and w.quantity.is_base}
        for bundle in both
    )
