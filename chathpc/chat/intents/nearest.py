"""The texts that are most like another one, by the groups of letters and the words that they have in common, and what they say together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log

import numpy as np

from chathpc.profile.tree import FloatArray, IntArray

#: Letters in a group, and letters of a text that are read.
_GROUP, _LONGEST = 3, 400
#: A mark (`@function`), or a word's meaning, tells so many times as much as a group of letters; by questions held out.
_TELLING = 2.7
_WORD = re.compile(r"@?[\w/+]+")
#: So many of the nearest texts decide together, as a ridge regression with this penalty weighs them; by questions held out.
_NEIGHBOURS, _PENALTY = 100, 0.3


class Nearest:
    """Texts as vectors of character n-grams, weighed by tf-idf and compared by their cosine.

    (Salton and Buckley 1988, with the inverse document frequency smoothed as in scikit-learn.) With `alike` (word → meaning) also words
    and pairs of words count, and words that are alike have their meaning in common.
    """

    def __init__(self, texts: Sequence[str], alike: Mapping[str, str] | None = None) -> None:
        self.texts = tuple(texts)
        self._alike = alike or {}
        counted = [Counter(self._parts(text)) for text in self.texts]
        held = Counter(part for one in counted for part in one)
        self._rarest = log(1 + len(counted)) + 1
        self._rarity = {part: log((1 + len(counted)) / (1 + count)) + 1 for part, count in held.items()}
        self._vectors: list[dict[str, float]] = []
        rows: dict[str, list[int]] = {part: [] for part in held}
        values: dict[str, list[float]] = {part: [] for part in held}
        for row, one in enumerate(counted):
            vector = {part: self._weight(part, count) for part, count in one.items()}
            length = sum(value * value for value in vector.values()) ** 0.5
            self._vectors.append({part: value / length for part, value in vector.items()})
            for part, value in self._vectors[-1].items():
                rows[part].append(row)
                values[part].append(value)
        self._rows: dict[str, IntArray] = {part: np.array(found, dtype=np.int32) for part, found in rows.items()}
        self._values: dict[str, FloatArray] = {part: np.array(found) for part, found in values.items()}

    def likeness(self, text: str) -> FloatArray:
        """The cosine (0..1) of `text` and each of the texts; what none of them has makes it unlike all."""
        found = np.zeros(len(self.texts))
        squares = 0.0
        for part, count in Counter(self._parts(text)).items():
            value = self._weight(part, count)
            squares += value * value
            if part in self._rows:
                found[self._rows[part]] += value * self._values[part]
        return found / squares**0.5 if squares else found

    def weighed(self, likeness: FloatArray, kinds: IntArray) -> FloatArray:
        """How much the texts that a text is most like speak for each kind (0: not, 1: as if it were one of them); `kinds` are the texts'.

        Kernel ridge regression on the nearest texts, with the cosine as kernel (Saunders, Gammerman and Vovk 1998): neighbours that say the
        same thing in the same words count once, as in a vote they would not.
        """
        near = np.argsort(-likeness, kind="stable")[:_NEIGHBOURS]
        near = near[likeness[near] > 0]
        columns = {
            part: at for at, part in enumerate(dict.fromkeys(part for row in near for part in self._vectors[row]))
        }
        vectors = np.zeros((len(near), len(columns)))
        for at, row in enumerate(near.tolist()):
            held = self._vectors[row]
            vectors[at, [columns[part] for part in held]] = list(held.values())
        kernel = vectors @ vectors.T + _PENALTY * np.eye(len(near))
        found = np.zeros(int(kinds.max()) + 1)
        np.add.at(found, kinds[near], np.linalg.solve(kernel, likeness[near]))
        return found

    def _weight(self, part: str, count: int) -> float:
        telling = _TELLING if part[0] in "@~" else 1.0
        return telling * (1 + log(count)) * self._rarity.get(part, self._rarest)

    def _parts(self, text: str) -> Iterator[str]:
        words = words_of(text)
        for word in words:
            if word[0] == "@":
                yield word  # a mark is like nothing but itself
                continue
            if self._alike:
                yield f"={word}"
            if word in self._alike:
                yield f"~{self._alike[word]}"
            padded = f" {word} "
            yield from (padded[at : at + _GROUP] for at in range(len(padded) - _GROUP + 1))
        if self._alike:
            meant = ["^", *(self._alike.get(word, word) for word in words), "$"]
            yield from (f"{one}_{other}" for one, other in pairwise(meant))


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, marks (`@function`) as they are."""
    return _WORD.findall(text[:_LONGEST].casefold().replace("'", "").replace("’", ""))
