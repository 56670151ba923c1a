"""Which entries of the catalogue a few words name: `memory bound`, `load imbalance`, `false sharing`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chathpc.diagnosis.catalogue.entry import Cause

#: A word of a question or of an entry: `i/o`, `omp-load-imbalance`.
WORD = re.compile(r"[a-z0-9'][a-z0-9'+/-]*")
_ENDINGS = ("ings", "ing", "ies", "ed", "es", "s", "e", "y")
_SHORTEST_ROOT = 3


def entry_words(cause: Cause, *, keywords: bool = True) -> frozenset[str]:
    """The words of an entry's id, title and keywords, and the parts of compounds."""
    told = f"{cause.id} {cause.title} {' '.join(cause.keywords) if keywords else ''}"
    words = WORD.findall(told.casefold())
    return frozenset(words) | frozenset(part for word in words for part in word.split("-"))


def covers(entry: Iterable[str], words: Sequence[str]) -> bool:
    """Whether an entry has all of the words, in any form."""
    return all(any(_same(word, other) for other in entry) for word in words)


def about(words: str, causes: Sequence[Cause], *, keywords: bool = True) -> tuple[Cause, ...]:
    """The entries that have all of the words in id or title, or, with `keywords`, in these."""
    found = WORD.findall(words.casefold())
    return tuple(one for one in causes if found and covers(entry_words(one, keywords=keywords), found))


def _same(word: str, other: str) -> bool:
    """Whether two words are one in another form: sender, senders; spill, spilling; miss, misses."""
    return word == other or root(word) == root(other)


def root(word: str) -> str:
    """A word without its ending: write, writes → writ."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_ROOT:
            return word[: -len(ending)]
    return word
