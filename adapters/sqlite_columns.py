"""Columns of whole numbers of an SQLite table as arrays: what timelines and totals are computed from."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.sqlite import EXPORT_AGAIN, Database, quoted
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Rows fetched at a time.
ROWS = 20_000


@dataclass(frozen=True, slots=True)
class IntegerColumn:
    """A column, one entry a row in the order of the table's key; `present` is None if every row has a value.

    A row without a value (NULL) has the value 0 and is not present.
    """

    values: NDArray[np.int64]
    present: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)


def integer_columns(database: Database, table: str, names: Sequence[str]) -> dict[str, IntegerColumn]:
    """The columns `names` of a table or view, row by row in the order of the table's key.

    A real number counts as an integer if it is whole. AdapterError if the table or a column is missing, if a value is
    text, a blob or a fraction, or if the database is damaged.
    """
    wanted = tuple(dict.fromkeys(names))
    missing = [name for name in wanted if name not in database.columns(table)]
    if missing or not wanted:
        what = f"no column {clean(missing[0])!r} in the table" if missing else "no columns were asked for of the table"
        raise AdapterError(f"{what} {clean(table)!r}", path=database.path, hint=EXPORT_AGAIN)
    return _queried(database, table, wanted)


def _queried(database: Database, table: str, names: tuple[str, ...]) -> dict[str, IntegerColumn]:
    """The columns by a query."""
    chosen = ", ".join(map(quoted, names))
    # An index that covers the columns would give the rows in its own order.
    plan = "" if table in database.views else " NOT INDEXED"
    rows = database.each(f"SELECT {chosen} FROM {quoted(table)}{plan}")  # noqa: S608
    pieces: dict[str, list[IntegerColumn]] = {name: [] for name in names}
    done = 0
    while piece := list(itertools.islice(rows, ROWS)):
        for name, values in zip(names, zip(*piece, strict=True), strict=True):
            pieces[name].append(_integers(values, database, table, name, done))
        done += len(piece)
    return {name: _joined(pieces.pop(name)) for name in names}


def _integers(values: Sequence[object], database: Database, table: str, name: str, row: int) -> IntegerColumn:
    """`values`, which begin at row number `row` (from 0), as integers."""
    found = np.asarray(values)
    if found.dtype == np.int64:
        return IntegerColumn(found)
    numbers = np.zeros(len(values), np.int64)
    present = np.ones(len(values), np.bool_)
    for k, value in enumerate(values):
        if isinstance(value, int):
            numbers[k] = value
        elif isinstance(value, float) and value.is_integer() and abs(value) < 2.0**63:
            numbers[k] = int(value)
        elif value is None:
            present[k] = False
        else:
            kind = {str: "text", bytes: "a blob"}.get(type(value), "a number that is not whole")
            raise AdapterError(
                f"{kind} where a whole number belongs: table {clean(table)!r}, column {clean(name)!r}, row {row + k + 1}",
                path=database.path,
                hint=EXPORT_AGAIN,
            )
    return IntegerColumn(numbers, None if present.all() else present)


def _joined(pieces: list[IntegerColumn]) -> IntegerColumn:
    """Pieces one behind the other."""
    if not pieces:
        return IntegerColumn(np.zeros(0, np.int64))
    values = np.concatenate([piece.values for piece in pieces])
    if all(piece.present is None for piece in pieces):
        return IntegerColumn(values)
    everywhere = [np.ones(len(p), np.bool_) if p.present is None else p.present for p in pieces]
    return IntegerColumn(values, np.concatenate(everywhere))
