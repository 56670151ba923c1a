"""The numbers of a sentence: value, unit, how exact it claims to be, and what a share is a part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.grounding.language.bases import base_of, is_base
from chathpc.grounding.language.numerals import digits, exactness, in_words
from chathpc.grounding.language.quantity import DETERMINERS, IT, NONE, OF_NUMBER, TOTAL, Keys, Quantity
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Vocabulary, stem

__all__ = ["DETERMINERS", "IT", "NONE", "OF_NUMBER", "TOTAL", "Keys", "Quantity", "quantity_at"]

_NEARLY = frozenset(map(stem, ("almost", "nearly", "close", "practically", "virtually", "up")))
#: `4 GB a second` and `4 GB moved per second` are rates.
_SECOND = frozenset(map(stem, ("second", "sec", "s")))


def quantity_at(
    tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary, used: set[int]
) -> Quantity | None:
    """The number that begins at a word, in digits or words; marks the words of its base as used."""
    token = tokens[position]
    if token.kind == "number":
        quantity, after = digits(tokens, stems, position, words)
    elif token.kind == "word":
        found = in_words(tokens, stems, position, words)
        if found is None:
            return None
        quantity, after = found
        used.update(range(position, after))
    else:
        return None
    quantity = replace(
        quantity,
        exactness=exactness(stems, tokens, position, words),
        nearly=bool(_NEARLY & set(stems[max(0, position - 2) : position])),
    )
    if after < len(tokens) and stems[after] == "each":
        quantity = replace(quantity, is_each=True)
    quantity = _per(quantity, tokens, stems, after, words)
    if position >= 1 and is_base(tokens, stems, position, quantity, words):
        quantity = replace(quantity, is_base=True)
    owned = position and stems[position - 1] == "the" and after + 1 < len(tokens) and tokens[after + 1].kind == "code"
    if quantity.dimension == "share" and after < len(tokens) and stems[after] == "of" and not owned:  # `the 55 % of f`
        base, end = base_of(tokens, stems, after + 1, words)
        used.update(range(after, end))
        quantity = replace(quantity, base=base)
    return quantity


def _per(quantity: Quantity, tokens: Sequence[Token], stems: Sequence[str], after: int, words: Vocabulary) -> Quantity:
    """The number with what it is per: `5 ms per call`, and `4 GB a second`, which is a rate."""
    if stems[after : after + 1] in (["a"], ["every"], ["each"]) and after + 1 < len(stems):
        if quantity.dimension == "bytes" and stems[after + 1] in _SECOND:
            return replace(quantity, dimension="rate")
        if quantity.dimension in ("time", "bytes") and stems[after + 1] in words.counted:
            return replace(quantity, is_each=True)  # `500 ns a fault`
    follow = after
    while follow < len(tokens) and follow < after + 2 and tokens[follow].kind == "word" and stems[follow] != "per":
        follow += 1
    if follow + 1 >= len(tokens) or stems[follow] != "per":
        return quantity
    if quantity.dimension == "bytes" and stems[follow + 1] in _SECOND:
        return replace(quantity, dimension="rate")
    return replace(quantity, per=stems[follow + 1])
