"""SQLite databases opened so that a hostile one can do nothing: read-only, no trusted schema, limits on size and time."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from chathpc.adapters.glance import SQLITE
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Bytes of the longest text or blob that is read. None in a file is longer than the file: only a view can make one,
#: and some room is left for what is made of names and numbers.
LONGEST_VALUE, MADE_VALUE = 64 << 20, 64 << 10
#: Rows that are fetched at once at most.
MOST_ROWS = 1_000_000
#: Columns of a table, terms of an expression, attached databases: far above what profilers write.
LIMITS = {
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
#: Seconds of processor time that one database may take, and what each byte of it adds (a slow machine reads 20 MB/s).
SECONDS, SECONDS_PER_BYTE = 20.0, 1 / 20e6
#: Instructions of SQLite's machine between two looks at the clock.
INSTRUCTIONS = 100_000

EXPORT_AGAIN = "Export it again."
#: Bytes of a database's header.
_HEADER = 100


class Database:
    """An open database; every method raises AdapterError for damage. Use `open_database`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self._columns: dict[str, tuple[str, ...]] = {}
        self.tables = frozenset(self._names("table"))
        self.views = frozenset(self._names("view"))

    def _names(self, kind: str) -> list[str]:
        rows = self.rows("SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite_%'", (kind,))
        return [str(name) for (name,) in rows]

    def has(self, table: str, *columns: str) -> bool:
        """True if there is a table of that name with all of the columns."""
        return table in self.tables and set(columns) <= set(self.columns(table))

    def columns(self, table: str) -> tuple[str, ...]:
        """Names of the columns of a table or view; empty if there is none of that name."""
        if table not in self.tables and table not in self.views:
            return ()
        if table not in self._columns:
            rows = self.rows(f"PRAGMA table_info({quoted(table)})")
            self._columns[table] = tuple(str(row[1]) for row in rows)
        return self._columns[table]

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """All rows of a query, for what is known to be small; AdapterError beyond a million rows."""
        rows = list(islice(self.each(statement, parameters), MOST_ROWS + 1))
        if len(rows) > MOST_ROWS:
            raise AdapterError(
                f"more than {MOST_ROWS:,} rows where few are expected", path=self.path, hint=EXPORT_AGAIN
            )
        return rows

    def select(self, table: str, needed: Sequence[str], wanted: Sequence[str] = ()) -> Iterator[tuple[object, ...]]:
        """Rows of a table: the columns `needed`, then those `wanted` (None where it lacks one); none without the needed ones."""
        if not self.has(table, *needed):
            return iter(())
        there = self.columns(table)
        columns = [quoted(name) if name in there else "NULL" for name in (*needed, *wanted)]
        return self.each(f"SELECT {', '.join(columns)} FROM {quoted(table)}")  # noqa: S608  quoted

    def each(self, statement: str, parameters: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """The rows of a query one by one."""
        try:
            for row in self.connection.execute(statement, tuple(parameters)):  # noqa: UP028  the cursor may outlive the database
                yield row
        except sqlite3.OperationalError as error:
            words = "takes too long to read" if "interrupted" in str(error) else f"is damaged: {clean(str(error))}"
            raise AdapterError(f"the database {words}", path=self.path, hint=EXPORT_AGAIN) from None
        except (sqlite3.DatabaseError, OverflowError, UnicodeDecodeError) as error:
            raise AdapterError(
                f"the database is damaged: {clean(str(error))}", path=self.path, hint=EXPORT_AGAIN
            ) from None
        except MemoryError:
            raise AdapterError(
                "the database needs more memory than is available", path=self.path, hint=EXPORT_AGAIN
            ) from None


def quoted(name: str) -> str:
    """`name` as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


#: What a journal that is still needed begins with, and a write-ahead log (https://www.sqlite.org/fileformat2.html, 3 and 4.1).
JOURNAL, LOGS = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")


def refuse_unfinished(path: Path) -> None:
    """AdapterError if changes to the database still lie in a file beside it, which reading without a trace leaves out."""
    for ending, marks in (("-journal", (JOURNAL,)), ("-wal", LOGS)):
        beside = path.with_name(path.name + ending)
        try:
            with beside.open("rb") as file:
                unfinished = file.read(8).startswith(marks)
        except OSError:
            continue
        if unfinished:
            raise AdapterError(
                f"is being written, or writing was interrupted: changes are in {clean(beside.name)}",
                path=path,
                hint='Wait for its writer to end. If it has ended: sqlite3 FILE "SELECT count(*) FROM sqlite_master"',
            )


def cut_off(head: bytes, size: int) -> str:
    """That a database is shorter than its header says (https://www.sqlite.org/fileformat2.html, 1.3), as words; empty where it is not, or the
    header's number of pages is not kept.
    """
    page, counter = int.from_bytes(head[16:18]), head[24:28]
    pages = int.from_bytes(head[28:32]) * (65536 if page == 1 else page) if head[92:96] == counter else 0
    return f"cut off at {size:,} of {pages:,} bytes" if pages > size else ""


@contextmanager
def open_database(path: Path, *, seconds: float | None = None) -> Iterator[Database]:
    """Open the database at `path` for reading only; AdapterError if it is none or damaged.

    `seconds` bounds the processor time of all queries together; without it the bound grows with the file.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER)
            if not head.startswith(SQLITE):
                raise AdapterError("not an SQLite database", path=path, hint=EXPORT_AGAIN)
            size = os.fstat(file.fileno()).st_size
        refuse_unfinished(path)
        if what := cut_off(head, size):
            raise AdapterError(f"the database is {what}", path=path, hint=EXPORT_AGAIN)
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path.resolve()))}?mode=ro&immutable=1", uri=True, isolation_level=None,
            check_same_thread=False,
        )  # fmt: skip
    except OSError as error:
        raise AdapterError(error.strerror or "cannot be read", path=path, hint="Check its permissions.") from None
    except ValueError:  # a zero byte
        raise AdapterError("is not a path", path=clean(str(path)), hint="Check the path.") from None
    except sqlite3.Error as error:
        raise AdapterError(f"cannot be opened: {clean(str(error))}", path=path, hint=EXPORT_AGAIN) from None
    allowed = SECONDS + size * SECONDS_PER_BYTE if seconds is None else seconds
    deadline = time.process_time() + allowed
    try:
        for limit, value in LIMITS.items():
            connection.setlimit(limit, value)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(LONGEST_VALUE, max(MADE_VALUE, size)))
        connection.set_progress_handler(lambda: int(time.process_time() > deadline), INSTRUCTIONS)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA mmap_size = 0")
        except sqlite3.DatabaseError as error:
            raise AdapterError(f"the database is damaged: {clean(str(error))}", path=path, hint=EXPORT_AGAIN) from None
        yield Database(path, connection)
    finally:
        connection.close()


def table_names(path: Path) -> frozenset[str]:
    """Names of the tables and views of a database; AdapterError if it is damaged."""
    with open_database(path, seconds=1.0) as database:
        return database.tables | database.views
