"""Columns of whole numbers of an SQLite table as arrays: what timelines and totals are computed from.

They are decoded from the pages of the file, many rows at once; SQLite itself hands over one row after the other and needs five times as
long. Whatever is not plain (records that go on in other pages, numbers with a fraction, a schema that computes values,
damage) is left to SQLite: single rows are asked for by their number, else the table is.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.sqlite import EXPORT_AGAIN, Database, quoted
from chathpc.adapters.sqlite_pages import Numbers, PageFile, Unusual, leaves, open_pages
from chathpc.adapters.sqlite_records import KEY, Batch, Integers, Layout, decode
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Rows fetched at a time.
ROWS = 20_000
#: Bytes of pages decoded at a time by each thread; what is made of them should stay in the processor's cache.
BATCH = 2 << 20
THREADS = 4
#: Rows that SQLite is asked for one by one: more than one in this many, and a query for the table is faster.
ODD_ONE_IN, ODD_ALWAYS = 20, 50
#: Names of the row number; a column of the same name hides one.
KEY_NAMES = ("rowid", "_rowid_", "oid")
#: Declared types whose columns SQLite turns into floating point when they are read (datatype3.html, section 3.1).
REAL_TYPES = ("REAL", "FLOA", "DOUB")

Number = TypeVar("Number", bound=np.generic)
Present: TypeAlias = NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class IntegerColumn:
    """A column, one entry a row in the order of the table's key; `present` is None if every row has a value.

    A row without a value (NULL) has the value 0 and is not present.
    """

    values: Integers
    present: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)


def integer_columns(
    database: Database, table: str, names: Sequence[str], *, narrow: Collection[str] = ()
) -> dict[str, IntegerColumn]:
    """The columns `names` of a table or view, row by row in the order of the table's key.

    They have 64 bits; those in `narrow` have 32 where that is enough and costs nothing to know. A real number counts as an
    integer if it is whole. AdapterError if the table or a column is missing, if a value is text, a blob or a fraction, or if
    the database is damaged.
    """
    wanted = tuple(dict.fromkeys(names))
    missing = [name for name in wanted if name not in database.columns(table)]
    if missing or not wanted:
        what = f"no column {clean(missing[0])!r} in the table" if missing else "no columns of the table were requested"
        raise AdapterError(f"{what} {clean(table)!r}", path=database.path, hint=EXPORT_AGAIN)
    try:
        try:
            return _stored(database, table, wanted, narrow)
        except Unusual:
            return _queried(database, table, wanted)
    except MemoryError:
        raise AdapterError(
            f"the table {clean(table)!r} needs more memory than is available",
            path=database.path,
            hint="Record a shorter run.",
        ) from None


def _stored(
    database: Database, table: str, names: tuple[str, ...], narrow: Collection[str]
) -> dict[str, IntegerColumn]:
    """The columns from the pages of the file; Unusual where SQLite has to be asked for the table."""
    root, key, layout = _schema(database, table, names, narrow)
    ((size,),), ((count,),) = database.rows("PRAGMA page_size"), database.rows("PRAGMA page_count")
    columns = [_Growing(np.dtype(np.int32 if name in narrow else np.int64)) for name in names]
    odd_rows: list[int] = []
    odd_keys: list[int] = []
    rows, last = 0, None
    with open_pages(database.path, int(str(size)), int(str(count))) as file:
        pages = leaves(file, root)
        for batch in _batches(file, pages, layout):
            if last is not None and last >= batch.keys[0]:
                raise Unusual("rows out of order")
            expected = len(batch.keys) * len(pages) // max(1, min(len(pages), BATCH // file.size)) + 1
            for column, values, present in zip(columns, batch.values, batch.present, strict=True):
                column.append(values, present, len(batch.keys), expected)
            odd_rows += (batch.odd + rows).tolist()
            odd_keys += batch.keys[batch.odd].tolist()
            rows, last = rows + len(batch.keys), batch.keys[-1]
            if len(odd_rows) > max(ODD_ALWAYS, rows // ODD_ONE_IN):
                raise Unusual("many rows that are not plain")
    found = {name: column.finished() for name, column in zip(names, columns, strict=True)}
    return _asked(database, table, key, odd_rows, odd_keys, found) if odd_rows else found


def _schema(database: Database, table: str, names: tuple[str, ...], narrow: Collection[str]) -> tuple[int, str, Layout]:
    """The root page of a table, a name for its row number, and where the columns are in its records.

    Unusual for views, virtual tables, tables without row numbers and computed columns.
    """
    found = database.rows("SELECT rootpage, sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
    if len(found) != 1:
        raise Unusual("no table")
    root, statement = found[0]
    if not isinstance(root, int) or not isinstance(statement, str) or root < 2 or "without" in statement.lower():
        raise Unusual("no table with row numbers")
    columns = database.rows(f"PRAGMA table_xinfo({quoted(table)})")
    numbers = {str(column[1]): k for k, column in enumerate(columns)}
    hidden = {name.lower() for name in numbers}
    key = next((name for name in KEY_NAMES if name not in hidden), None)
    if key is None or any(column[6] for column in columns) or not set(names) <= numbers.keys():
        raise Unusual("computed columns, or no name for the row number")
    if any(kind in str(columns[numbers[name]][2]).upper() for name in names for kind in REAL_TYPES):
        raise Unusual("a column of floating point")
    keyed = [k for k, column in enumerate(columns) if column[5]]
    if len(keyed) == 1 and str(columns[keyed[0]][2]).upper() == "INTEGER":
        # The row number by another name, unless it has an index of its own (INTEGER PRIMARY KEY DESC).
        if any(index[3] == "pk" for index in database.rows(f"PRAGMA index_list({quoted(table)})")):
            keyed = []
    else:
        keyed = []
    wanted = tuple(KEY if numbers[name] in keyed else numbers[name] for name in names)
    optional = tuple(columns[numbers[name]][4] is None for name in names)
    return root, key, Layout(len(columns), wanted, optional, tuple(name in narrow for name in names))


def _batches(file: PageFile, pages: Numbers, layout: Layout) -> Iterator[Batch]:
    """All rows, in the order of the pages; several threads, since numpy and reading let each other run."""
    step = max(1, BATCH // file.size)
    pieces = [pages[start : start + step] for start in range(0, len(pages), step)]
    threads = min(THREADS, len(os.sched_getaffinity(0)), len(pieces))
    if threads < 2:
        yield from (decode(file, piece, layout) for piece in pieces)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(lambda piece: decode(file, piece, layout), pieces)
    finally:
        pool.shutdown(cancel_futures=True)


def _asked(
    database: Database, table: str, key: str, rows: list[int], keys: list[int], columns: dict[str, IntegerColumn]
) -> dict[str, IntegerColumn]:
    """`columns` with what SQLite says of some rows, whose row numbers are `keys`."""
    columns = {name: IntegerColumn(c.values.astype(np.int64, copy=False), c.present) for name, c in columns.items()}
    there = {name: np.ones(len(c), np.bool_) if c.present is None else c.present for name, c in columns.items()}
    statement = f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)} WHERE {key} = ?"  # noqa: S608
    for row, number in zip(rows, keys, strict=True):
        found = database.rows(statement, (number,))
        if len(found) != 1:
            raise Unusual("a row that is not found by its number")
        for name, value in zip(columns, found[0], strict=True):
            values, present = _integers((value,), database, table, name, row)
            columns[name].values[row], there[name][row] = values[0], present is None
    return {name: IntegerColumn(c.values, None if there[name].all() else there[name]) for name, c in columns.items()}


def _queried(database: Database, table: str, names: tuple[str, ...]) -> dict[str, IntegerColumn]:
    """The columns by a query."""
    if table in database.views:
        # A view can make long values out of nothing, and many rows are held at a time.
        chosen = ", ".join(
            f"CASE WHEN typeof({name}) IN ('text', 'blob') THEN substr({name}, 1, 0) ELSE {name} END"
            for name in map(quoted, names)
        )
        plan = ""
    else:
        chosen, plan = ", ".join(map(quoted, names)), " NOT INDEXED"  # an index would give the rows in its own order
    rows = database.each(f"SELECT {chosen} FROM {quoted(table)}{plan}")  # noqa: S608
    columns = [_Growing(np.dtype(np.int64)) for _ in names]
    done = 0
    while piece := list(itertools.islice(rows, ROWS)):
        for name, column, values in zip(names, columns, zip(*piece, strict=True), strict=True):
            column.append(*_integers(values, database, table, name, done), len(values), done)
        done += len(piece)
    return {name: column.finished() for name, column in zip(names, columns, strict=True)}


def _integers(values: Sequence[object], database: Database, table: str, name: str, row: int) -> tuple[Numbers, Present]:
    """`values`, which begin at row number `row` (from 0), as integers, and which of them there are."""
    if set(map(type, values)) <= {int}:
        return np.fromiter(values, np.int64, len(values)), None
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
            kind = "text" if isinstance(value, str) else "a blob" if isinstance(value, bytes) else "not a whole number"
            raise AdapterError(
                f"{kind} where a whole number belongs: table {clean(table)!r}, column {clean(name)!r}, row {row + k + 1}",
                path=database.path,
                hint=EXPORT_AGAIN,
            )
    return numbers, None if present.all() else present


class _Growing:
    """A column that grows at its end, in memory for as many rows as are expected, so that it is not held twice."""

    def __init__(self, kind: np.dtype[np.signedinteger[Any]]) -> None:
        self.values: Integers = np.empty(0, kind)
        self.present: NDArray[np.bool_] | None = None
        self.length = 0

    def append(self, values: Integers, present: Present, rows: int, expected: int) -> None:
        """Add rows; `expected` is a guess of how many there will be in the end."""
        start, self.length = self.length, self.length + rows
        wider = values.itemsize > self.values.itemsize
        if self.length > len(self.values) or wider:
            room = max(self.length, expected, len(self.values) * 5 // 4)
            self.values = _larger(self.values, start, room, values.dtype if wider else self.values.dtype)
            self.present = None if self.present is None else _larger(self.present, start, room, self.present.dtype)
        self.values[start : self.length] = values
        if present is not None and self.present is None:
            self.present = np.empty(len(self.values), np.bool_)
            self.present[:start] = True
        if self.present is not None:
            self.present[start : self.length] = True if present is None else present

    def finished(self) -> IntegerColumn:
        """The column, without memory to spare."""
        self.values.resize(self.length, refcheck=False)
        if self.present is not None:
            self.present.resize(self.length, refcheck=False)
        return IntegerColumn(self.values, self.present)


def _larger(array: NDArray[Number], length: int, room: int, kind: np.dtype[Number]) -> NDArray[Number]:
    """The first `length` entries in an array of `room`; memory is not touched before it is used."""
    larger = np.empty(room, kind)
    larger[:length] = array[:length]
    return larger
