"""Finds entries of the catalogue by words: which patterns are about `false sharing`, or `slow allreduce on many ranks`.

`search` ranks those that have any of the words in any of their texts; `about` names those that have all in id, title or keywords.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from chathpc.diagnosis.catalogue.entry import Cause

_WORD = re.compile(r"[a-z0-9+]+")
#: A word of a name: `i/o`, `omp-load-imbalance`.
_NAME = re.compile(r"[a-z0-9'][a-z0-9'+/-]*")
#: A stem shorter than three letters matches too much.
_ENDING = re.compile(r"(?<=...)(?:ings|ing|ies|ed|es|s|e|(?<![aeo])y)$")
_AMERICAN = re.compile(r"iz(?=e|ing|ation)")
#: From this length on a word may be the beginning of another: `synchro` finds synchronisation.
_PREFIX = 4
#: From this length on it may stand inside another: `coalescing` finds uncoalesced.
_INSIDE = 6
#: Words that say nothing about a problem.
_COMMON = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how", "i", "in", "is", "it", "its", "my", "of",
    "on", "or", "so", "that", "the", "to", "too", "what", "why", "with",
})  # fmt: skip

#: What a word is worth by where it stands: names before symptoms before advice.
_TITLE, _KEYWORD, _SYMPTOM, _ADVICE, _OTHER = 8.0, 6.0, 4.0, 2.0, 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that words were found in: `score` orders them, `words` are those found, `text` the passage that says most."""

    cause: Cause
    score: float
    words: tuple[str, ...]
    text: str


def search(words: Iterable[str], causes: Sequence[Cause]) -> tuple[Hit, ...]:
    """Entries that hold any of `words`, the best first.

    A word counts once for an entry, by the best place it stands in, times the rarity log(1 + N / n) of an entry that has
    it (n of N; inverse document frequency, Spärck Jones 1972), so that a word that all entries have decides nothing.
    Entries that hold more of the words come first. No words, or only words without meaning: no entries.
    """
    wanted = list(dict.fromkeys(word for text in words for word in _WORD.findall(text.lower()) if word not in _COMMON))
    passages = {cause.id: _passages(cause) for cause in causes}
    found: dict[str, dict[str, float]] = {cause.id: {} for cause in causes}
    for word in wanted:
        for cause in causes:
            best = max((weight for weight, _, tokens in passages[cause.id] if _holds(tokens, word)), default=0.0)
            if best:
                found[cause.id][word] = best
    count = {word: sum(word in each for each in found.values()) for word in wanted}
    hits = []
    for cause in causes:
        mine = found[cause.id]
        if mine:
            worth = {word: weight * log(1 + len(causes) / count[word]) for word, weight in mine.items()}
            score = sum(worth.values()) * len(mine) / len(wanted)
            hits.append(Hit(cause, score, tuple(mine), _telling(passages[cause.id], worth)))
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.cause.id)))


_Passage = tuple[float, str, frozenset[str]]


def _passages(cause: Cause) -> list[_Passage]:
    """The texts of an entry in the order of their worth, each with the words in it."""
    symptoms = [cause.what, *cause.evidence, cause.why]
    advice = [each.do for each in cause.advice]
    others = [cause.gain, *cause.speaks_against, cause.next_measurement.tells, *cause.references]
    texts = [
        (_TITLE, cause.title), (_TITLE, cause.id), (_KEYWORD, ", ".join(cause.keywords)),
        *((_SYMPTOM, text) for text in symptoms), *((_ADVICE, text) for text in advice), *((_OTHER, text) for text in others),
    ]  # fmt: skip
    return [(weight, text, frozenset(_WORD.findall(text.lower()))) for weight, text in texts]


def _holds(tokens: frozenset[str], word: str) -> bool:
    if word in tokens:
        return True
    stem = root(word)
    return any(
        root(token) == stem
        or (len(word) >= _PREFIX and token.startswith(word))
        or (len(stem) >= _INSIDE and stem in token)
        for token in tokens
    )


def _telling(passages: list[_Passage], worth: dict[str, float]) -> str:
    """The sentence or phrase with most of the worth; of symptoms and advice, as the title is shown anyway."""
    texts = [(text, tokens) for weight, text, tokens in passages if weight in (_SYMPTOM, _ADVICE)]
    return max(texts, key=lambda pair: sum(value for word, value in worth.items() if _holds(pair[1], word)))[0]


def about(words: str, causes: Sequence[Cause], *, keywords: bool = True) -> tuple[Cause, ...]:
    """The entries that have all of the words, in any form, in id or title, or, with `keywords`, in these."""
    wanted = {root(word) for word in _NAME.findall(words.casefold())}
    return tuple(one for one in causes if wanted and all(_names_it(word, _names(one, keywords)) for word in wanted))


def _names_it(root_of: str, names: frozenset[str]) -> bool:
    return root_of in names or (len(root_of) >= _INSIDE and any(root_of in name for name in names))


def _names(cause: Cause, keywords: bool) -> frozenset[str]:
    """The roots of the words of an entry's id, title and keywords, and of the parts of compounds."""
    told = f"{cause.id} {cause.title} {' '.join(cause.keywords) if keywords else ''}"
    words = _NAME.findall(told.casefold())
    return frozenset(root(part) for word in words for part in (word, *word.split("-")))


def root(word: str) -> str:
    """A word without its ending, as the British spell it: write, writes → writ; vectorized → vectoris."""
    return _ENDING.sub("", _AMERICAN.sub("is", word))
