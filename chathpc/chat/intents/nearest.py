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
        self._columns: dict[str, int] = {}  #: of the matrix of texts (rows) and parts
        row: list[int] = []
        column: list[int] = []
        count: list[int] = []
        for number, text in enumerate(self.texts):
            counted = Counter(self._parts(text))
            row += [number] * len(counted)
            column += [self._columns.setdefault(part, len(self._columns)) for part in counted]
            count += counted.values()
        self._row, self._column = np.array(row, dtype=np.int32), np.array(column, dtype=np.int32)
        self._rarest = log(1 + len(self.texts)) + 1
        held = np.bincount(self._column, minlength=len(self._columns))
        telling = np.array([_telling(part) for part in self._columns])
        self._worth: FloatArray = telling * (np.log((1 + len(self.texts)) / (1 + held)) + 1)
        value = (1 + np.log(np.array(count, dtype=np.float64))) * self._worth[self._column]
        length = np.sqrt(np.bincount(self._row, value * value, len(self.texts)))
        self._value: FloatArray = value / length[self._row]
        self._first = np.searchsorted(self._row, np.arange(len(self.texts) + 1))
        order = np.argsort(self._column, kind="stable")
        self._first_with = np.searchsorted(self._column[order], np.arange(len(self._columns) + 1))
        self._row_with, self._value_with = self._row[order], self._value[order]  #: the same by columns

    def likeness(self, text: str) -> FloatArray:
        """The cosine (0..1) of `text` and each of the texts; what none of them has makes it unlike all."""
        found = np.zeros(len(self.texts))
        squares = 0.0
        for part, count in Counter(self._parts(text)).items():
            column = self._columns.get(part)
            worth = _telling(part) * self._rarest if column is None else float(self._worth[column])
            value = (1 + log(count)) * worth
            squares += value * value
            if column is not None:
                part_of = slice(self._first_with[column], self._first_with[column + 1])
                found[self._row_with[part_of]] += value * self._value_with[part_of]
        return found / squares**0.5 if squares else found

    def weighed(self, likeness: FloatArray, kinds: IntArray) -> FloatArray:
        """How much the texts that a text is most like speak for each kind (0: not, 1: as if it were one of them); `kinds` are the texts'.

        Kernel ridge regression on the nearest texts, with the cosine as kernel (Saunders, Gammerman and Vovk 1998): neighbours that say the
        same thing in the same words count once, as in a vote they would not.
        """
        near = np.argsort(-likeness, kind="stable")[:_NEIGHBOURS]
        near = near[likeness[near] > 0]
        parts = [np.arange(self._first[row], self._first[row + 1]) for row in near.tolist()]
        entries = np.concatenate([np.empty(0, dtype=np.intp), *parts])
        columns, column = np.unique(self._column[entries], return_inverse=True)
        vectors = np.zeros((len(near), len(columns)))
        vectors[np.repeat(np.arange(len(near)), [len(part) for part in parts]), column] = self._value[entries]
        # What only one of them has makes it like no other, and is left out; all are of length 1.
        shared = vectors[:, np.bincount(column, minlength=len(columns)) > 1]
        kernel = np.einsum("ik,jk->ij", shared, shared)
        np.fill_diagonal(kernel, 1 + _PENALTY)
        found = np.zeros(int(kinds.max()) + 1)
        np.add.at(found, kinds[near], _solved(kernel, likeness[near]))
        return found

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


def _telling(part: str) -> float:
    return _TELLING if part[0] in "@~" else 1.0


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of a positive definite system, by elimination; `matrix` and `right` are used up.

    By hand, as the kernel's product is: for a matrix of 100 rows BLAS wakes a thread for each core, and where others work there the
    answer takes ten times as long.
    """
    for row in range(len(right) - 1):
        factor = matrix[row + 1 :, row] / matrix[row, row]
        matrix[row + 1 :, row:] -= np.multiply.outer(factor, matrix[row, row:])
        right[row + 1 :] -= factor * right[row]
    for row in range(len(right) - 1, -1, -1):
        right[row] = (right[row] - (matrix[row, row + 1 :] * right[row + 1 :]).sum()) / matrix[row, row]
    return right


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, marks (`@function`) as they are."""
    return _WORD.findall(text[:_LONGEST].casefold().replace("'", "").replace("’", ""))
