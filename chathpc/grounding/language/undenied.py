"""Clauses of trusted texts without their negations: what is said with the very words of a denial, and is its contrary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from chathpc.grounding.language.quotation import Quotable
from chathpc.grounding.language.vocabulary import Vocabulary, stem

#: Words of a clause that can be known again.
LEAST_CLAUSE = 3
_DO = frozenset(map(stem, ("do", "does", "did")))


def undenied(texts: Iterable[Quotable], words: Vocabulary) -> frozenset[tuple[str, ...]]:
    """Each clause that denies, without its negations, unless a clause that denies nothing has these words."""
    clauses = [clause for text in texts for clause in text.clauses]
    affirming = [clause for clause in clauses if words.negations.isdisjoint(clause)]
    return frozenset(
        left
        for clause in clauses
        for left in _affirmed(clause, words)
        if len(left) >= LEAST_CLAUSE and not any(any(ends(one, left)) for one in affirming)
    )


def ends(words: Sequence[str], some: Sequence[str]) -> Iterable[int]:
    """Where `some`, beside each other in `words`, end."""
    for end in range(len(some), len(words) + 1):
        if tuple(words[end - len(some) : end]) == tuple(some):
            yield end


def _affirmed(clause: Sequence[str], words: Vocabulary) -> Iterable[tuple[str, ...]]:
    """A clause that denies without its negations, and without the `do` of `do not` as well; nothing for one that denies nothing."""
    if words.negations.isdisjoint(clause):
        return
    yield tuple(word for word in clause if word not in words.negations)
    yield tuple(
        word
        for word, after in zip_longest(clause, clause[1:])
        if word not in words.negations and not (word in _DO and after in words.negations)
    )
