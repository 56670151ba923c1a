"""What a sentence says could be won: which of its words make a number the most that could be, or the least.

A gain is an upper bound of what nobody has tried: `at most`, `no more than`, `won't give more than`, `bounded by` say the same of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chathpc.grounding.evidence.assessed import ASSESSED
from chathpc.grounding.language.claims import Statement
from chathpc.grounding.language.quantities import Quantity
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import stem_set, stems


def phrases(*several: str) -> tuple[tuple[str, ...], ...]:
    """The stems of some phrases."""
    return tuple(map(stems, several))


#: Words between a cue and its number.
ROUGHLY = stem_set("about", "roughly", "approximately", "around", "some", "only", "just", "a", "an", "the", "at", "most", "best", "very", "up", "to", "as",
                  "much", "of", "further", "another", "nearly", "almost", "maybe", "perhaps", "something", "like")  # fmt: skip
#: Words that make what stands in a sentence an upper bound.
_UPPER = phrases("at most", "at best", "at the most", "at the best", "at the very most", "at the very best", "in the best case", "up to", "upper bound",
                 "upper limit", "bound", "maximum", "no more than", "not more than", "less than", "under", "limited to", "capped at")  # fmt: skip
_MORE = stem_set("more", "higher", "larger", "greater", "better", "faster", "bigger")
_EXCEED = stem_set("exceed", "exceeds", "surpass", "above", "beyond", "over", "top")
_LITTLE_MORE = stems("little more than")
_NEAR, _LONGEST_CAP = 4, 9
_LEAST = phrases("at least", "no less than", "not less than")


_LOWER = phrases(
    "the least that", "the least one", "the least you", "lower bound", "lower limit", "minimum gain", "minimum speedup"
)


def is_upper(statement: Statement) -> bool:
    """True if a sentence says that something is the most that could be."""
    return _has(statement.stems, _UPPER) or bool(caps(statement))


def caps(statement: Statement) -> list[range]:
    """The words of `won't give more than`, `do not expect more than`, up to the number, by their positions."""
    found = []
    stems, tokens = statement.stems, statement.tokens
    for position in range(len(stems)):
        if stems[position] not in _NOT:
            continue
        for end in range(position + 1, min(position + _LONGEST_CAP, len(tokens))):
            if tokens[end].kind == "number" or tokens[end].text in (",", ";", ":"):
                break
            than = stems[end] in _MORE and stems[end + 1 : end + 2] == ("than",)
            if not than and stems[end] not in _EXCEED:
                continue
            number = _next_number(tokens, stems, end + 1 + than)
            if number is not None:
                found.append(range(position - (stems[position - 1 : position] == ("will",)), number))
                break
    return found


_NOT = stem_set(
    "not", "never", "won't", "can't", "cannot", "don't", "doesn't", "no", "nobody", "nothing", "hardly", "unlikely"
)
_OF_A_FACTOR = ROUGHLY | stem_set("factor", "speedup", "speed", "gain")


def _next_number(tokens: Sequence[Token], stems: Sequence[str], position: int) -> int | None:
    while position < len(tokens):
        if tokens[position].kind == "number":
            return position
        if stems[position] not in _OF_A_FACTOR:
            return None
        position += 1
    return None


def covered(statement: Statement) -> frozenset[int]:
    """The positions of words that only say that a gain is an upper bound."""
    gains = {q.start for q in statement.quantities if q.dimension in (ASSESSED, "factor")}
    found = frozenset(p for one in caps(statement) if statement.tokens[one.stop].start in gains for p in one)
    little = [i for i, t in enumerate(statement.tokens) if t.start in gains and is_little_more(i, statement)]
    return found | frozenset(p for i in little for p in range(i - len(_LITTLE_MORE), i))


def is_little_more(position: int, statement: Statement) -> bool:
    """True for the number of `little more than 1 %`."""
    return statement.stems[max(0, position - len(_LITTLE_MORE)) : position] == _LITTLE_MORE


def is_gain(statement: Statement) -> bool:
    """True for a sentence with a number of what could be won."""
    return any(q.dimension == "factor" or (q.dimension == ASSESSED and q.noun in WON) for q in statement.quantities)


#: Kinds of numbers of what could be won.
WON = frozenset({"bound", "gained", "spared", "left", "saved", "whole"})


def is_lower(statement: Statement) -> bool:
    """True if a sentence speaks of the least that would be won."""
    return _has(statement.stems, _LOWER)


def at_least(quantity: Quantity, statement: Statement) -> bool:
    """True for a number that is told as the least."""
    position = position_of(quantity, statement)
    if quantity.exactness == "above" and not quantity.in_words:
        return True
    return is_lower(statement) or _has(statement.stems[max(0, position - _NEAR) : position], _LEAST)


def position_of(quantity: Quantity, statement: Statement) -> int:
    """Which of a statement's words a number begins at."""
    return next((i for i, t in enumerate(statement.tokens) if t.start == quantity.start), 0)


def _has(stems: Sequence[str], phrases: Iterable[tuple[str, ...]]) -> bool:
    return any(tuple(stems[i : i + len(p)]) == p for p in phrases for i in range(len(stems)))
