"""Tables of an export as arrays: what columns there are, what rows can be used, few distinct values as small numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.sqlite import Database
from chathpc.adapters.sqlite_columns import integer_columns

Int64Array = NDArray[np.int64]
Int32Array = NDArray[np.int32]
#: 64 bits, or 32 where these are enough.
Integers = NDArray[np.signedinteger[Any]]
#: Columns that are computed with and so have 64 bits always.
WIDE = ("start", "end", "bytes", "size")

#: Nanoseconds since the start of the session, or since the epoch: 73 years. A time beyond is damage.
LATEST = 2**61
#: Every how many rows a value is looked at to guess all distinct ones.
STEP = 997
#: As many rows are sorted at once rather than guessed.
FEW = 50_000
#: Values that are no further apart are looked up in a table.
TABLE = 1 << 16


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns of a table by name; an absent one is not in it. Where a row has no value (NULL) the value is −1.

    Columns of numbers that only stand for something may have 32 bits: before sums and differences they are to be widened.
    """

    table: str
    columns: dict[str, Integers]
    count: int

    def __getitem__(self, name: str) -> Integers:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def get(self, name: str, absent: int = -1) -> Integers:
        """The column, or one that is `absent` everywhere."""
        found = self.columns.get(name)
        return np.full(self.count, absent, dtype=np.int64) if found is None else found

    def take(self, name: str, absent: int = -1) -> Integers:
        """The column, which is then forgotten here."""
        found = self.get(name, absent)
        self.columns.pop(name, None)
        return found

    def where(self, keep: NDArray[np.bool_]) -> Rows:
        """The rows for which `keep` holds."""
        if keep.all():
            return self
        return Rows(self.table, {name: values[keep] for name, values in self.columns.items()}, int(keep.sum()))


def rows(database: Database, table: str, needed: Sequence[str], wanted: Sequence[str] = ()) -> Rows | None:
    """The columns `needed` and those of `wanted` that there are; None without the table (a view is none) or one that is needed."""
    if not database.has(table, *needed):
        return None
    there = set(database.columns(table))
    names = (*needed, *(name for name in wanted if name in there))
    read = integer_columns(database, table, names, narrow=set(names).difference(WIDE))
    columns: dict[str, Integers] = {}
    for name in names:
        column = read.pop(name)
        if column.present is not None:
            np.copyto(column.values, -1, where=~column.present)
        columns[name] = column.values
    return Rows(table, columns, len(columns[names[0]]))


def usable(found: Rows) -> tuple[Rows, int]:
    """The rows with plausible times that do not end before they begin, and how many there are of the others."""
    start, end = found["start"], found["end"]
    if found.count and int(start.min()) > -LATEST and int(end.max()) < LATEST and bool((end >= start).all()):
        return found, 0
    good = (start > -LATEST) & (start < LATEST) & (end < LATEST) & (end >= start)
    kept = found.where(good)
    return kept, found.count - kept.count


def encode(values: Integers) -> tuple[Int64Array, Int32Array]:
    """The distinct values, ascending, and for each row the number of its own among them: linear for few distinct ones."""
    if len(values) <= FEW:
        known, index = np.unique(values, return_inverse=True)
        return known.astype(np.int64, copy=False), index.astype(np.int32)
    low, high = int(values.min()), int(values.max())
    if low >= 0 and high - low < TABLE:
        near, number = distinct(values - low if low else values, high - low + 1)
        return near + low, number
    known = np.unique(values[::STEP]).astype(np.int64, copy=False)
    if int(known[0]) == int(known[-1]) and bool((values == known[0]).all()):
        return known, np.zeros(len(values), dtype=np.int32)
    while True:
        index = np.searchsorted(known, values)
        np.minimum(index, len(known) - 1, out=index)
        strange = known[index] != values
        if not strange.any():
            return known, index.astype(np.int32)
        known = np.union1d(known, values[strange])


def distinct(key: Integers, space: int) -> tuple[Int64Array, Int32Array]:
    """As `encode`, for keys of [0, space): by a table of all possible keys where that is not too large."""
    if space > max(4 * len(key), 1 << 16):
        return encode(key.astype(np.int64))
    there = np.zeros(space, dtype=bool)
    there[key] = True
    known = np.flatnonzero(there)
    number = np.zeros(space, dtype=np.int32)
    number[known] = np.arange(len(known), dtype=np.int32)
    return known, number.take(key)


def by_group(group: Int32Array, groups: int) -> NDArray[np.intp]:
    """The order that puts rows of one group together and keeps their order within it."""
    small = group.astype(np.uint16) if groups <= 1 << 16 else group  # numpy sorts 16 bits in linear time
    return np.argsort(small, kind="stable")
