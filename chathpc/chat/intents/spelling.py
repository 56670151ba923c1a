"""Misspelt words of a question put right, where one known word is near enough."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Shorter words are near to too many others; those of this length are only taken for a word with two letters exchanged.
_SHORTEST = 4
#: From this length on two slips are one word still.
_LONG = 8
_WORD = re.compile(r"[a-z]+")


def put_right(text: str, known: Iterable[str]) -> str:
    """`text`, in small letters, with each word that is not `known` as the one known word that it is a slip of the pen for."""
    words = frozenset(known)

    def right(match: re.Match[str]) -> str:
        word = match[0]
        return word if len(word) < _SHORTEST or word in words else _nearest(word, words)

    return _WORD.sub(right, text)


def complete(text: str, known: Iterable[str]) -> str:
    """`text`, in small letters, with a letter that was left out of a `known` word put in, and two that were exchanged put back.

    Other slips may be words of their own (`stored`, `ranked`), these seldom are.
    """
    words = frozenset(known)

    def whole(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) <= _SHORTEST or word in words:
            return word
        near = [one for one in sorted(words) if one[0] == word[0] and _left_out(word, one)]
        return near[0] if near else word

    return _WORD.sub(whole, text)


def _left_out(word: str, whole: str) -> bool:
    """Whether `word` is `whole` without one letter inside, or with two neighbours exchanged."""
    if len(word) == len(whole):
        return sorted(word) == sorted(whole) and distance(word, whole) == 1
    return len(word) + 1 == len(whole) and word[-1] == whole[-1] and distance(word, whole) == 1


def _nearest(word: str, known: frozenset[str]) -> str:
    most = 2 if len(word) >= _LONG else 1
    found: list[tuple[int, str]] = []
    for one in sorted(known):
        if len(one) < _SHORTEST or abs(len(one) - len(word)) > most:
            continue
        slips = distance(word, one)
        if slips <= most and (len(word) > _SHORTEST or (sorted(word) == sorted(one) and word[0] == one[0])):
            found.append((slips, one))
    best = [one for slips, one in found if slips == min(found)[0]]
    return best[0] if best else word


def distance(one: str, other: str) -> int:
    """Letters that were left out, added, mistaken or exchanged with their neighbour (Damerau 1964, optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        now = [row]
        for column, wanted in enumerate(other, start=1):
            cost = min(last[column] + 1, now[column - 1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]
