"""Columns read from the pages of a file are what sqlite3 says of them, whatever the table; damage is an error or sqlite3's answer."""

from __future__ import annotations

import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chathpc.adapters import sqlite_columns
from chathpc.adapters.sqlite import open_database, quoted
from chathpc.adapters.sqlite_columns import IntegerColumn, integer_columns
from chathpc.adapters.sqlite_pages import PageFile, Unusual, leaves, open_pages, varint
from chathpc.errors import AdapterError

WIDTHS = [0, 1, -1, 127, -128, 128, 32767, -32768, 32768, (1 << 23) - 1, -(1 << 23), 1 << 23, (1 << 31) - 1, -(1 << 31)]
WIDTHS += [1 << 31, (1 << 47) - 1, -(1 << 47), 1 << 47, (1 << 53) + 1, (1 << 63) - 1, -(1 << 63), 255, 256, 65535]
PAGE_SIZES = (512, 1024, 4096, 65536)

Table = dict[str, list[int | None]]


def read(path: Path, names: Sequence[str], table: str = "t") -> Table:
    """The columns through the reader, which are the same if 32 bits are allowed."""
    with open_database(path) as database:
        found = listed(integer_columns(database, table, names))
        assert listed(integer_columns(database, table, names, narrow=names), (np.int32, np.int64)) == found
        return found


def listed(columns: dict[str, IntegerColumn], kinds: tuple[type, ...] = (np.int64,)) -> Table:
    """Columns as lists with None for NULL, and their invariants."""
    for column in columns.values():
        assert column.values.dtype in kinds
        if column.present is not None:
            assert column.present.dtype == np.bool_
            assert len(column.present) == len(column)
            assert not column.values[~column.present].any()
    return {
        name: [
            int(value) if there else None
            for value, there in zip(
                column.values, [True] * len(column) if column.present is None else column.present, strict=True
            )
        ]
        for name, column in columns.items()
    }


def truth(path: Path, names: Sequence[str], table: str = "t") -> Table | None:
    """The same from sqlite3, None where a value is not a whole number; damage is what sqlite3 raises."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        database.text_factory = bytes
        database.execute("PRAGMA cell_size_check = ON")
        chosen = ", ".join(quoted(name) for name in names)
        rows = database.execute(f"SELECT {chosen} FROM {quoted(table)} NOT INDEXED").fetchall()
    columns: Table = {}
    for k, name in enumerate(names):
        values = [row[k] for row in rows]
        if any(isinstance(v, bytes) or (isinstance(v, float) and not whole(v)) for v in values):
            return None
        columns[name] = [None if v is None else int(v) for v in values]
    return columns


def whole(value: float) -> bool:
    """True for a float that an integer of 64 bits can be."""
    return value.is_integer() and abs(value) < 2.0**63


@contextmanager
def no_query() -> Iterator[None]:
    """Within, a table that is left to SQLite is a failure."""
    queried = sqlite_columns._queried

    def refused(*_: object) -> dict[str, IntegerColumn]:
        raise AssertionError("left to SQLite")

    sqlite_columns._queried = refused
    try:
        yield
    finally:
        sqlite_columns._queried = queried


def write(path: Path, *statements: str, rows: Sequence[Sequence[object]] = (), page_size: int = 4096) -> Path:
    """A database of what the statements make, and rows in table t (before the last statement that begins with 'then')."""
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA page_size = {page_size}")
        for statement in statements:
            if not statement.startswith("then "):
                database.execute(statement)
        if rows:
            database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", rows)
        database.commit()
        for statement in statements:
            if statement.startswith("then "):
                database.execute(statement.removeprefix("then "))
        database.commit()
    return path


# Plain tables: decoded, and right.


def test_every_width_of_an_integer_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = write(tmp_path / "w.db", "CREATE TABLE t (a INTEGER, b INTEGER)", rows=[(v, -1) for v in WIDTHS])
    with no_query():
        assert read(path, ["a", "b"]) == {"a": WIDTHS, "b": [-1] * len(WIDTHS)}


@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_a_table_of_many_pages_is_read_in_the_order_of_its_key(tmp_path: Path, page_size: int) -> None:
    rows = [(k, k * 1_000_003 % 977, None if k % 7 else -k) for k in range(20_000)]
    path = write(tmp_path / "m.db", "CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER)", rows=rows, page_size=page_size)
    with no_query():
        assert read(path, ["c", "a", "b"]) == {
            "a": [r[0] for r in rows],
            "b": [r[1] for r in rows],
            "c": [r[2] for r in rows],
        }


def test_columns_have_32_bits_where_they_may_and_no_value_needs_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_columns, "BATCH", 4096)  # so that what is wide comes in a later batch
    rows = [(k, k if k < 9_000 else k << 40, None, 1) for k in range(10_000)]
    path = write(tmp_path / "n.db", "CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d INTEGER)", rows=rows)
    with no_query(), open_database(path) as database:
        found = integer_columns(database, "t", "abcd", narrow="abc")
    kinds = {name: column.values.dtype for name, column in found.items()}
    assert kinds == {"a": np.int32, "b": np.int64, "c": np.int32, "d": np.int64}
    assert listed(found, (np.int32, np.int64)) == {name: [row[k] for row in rows] for k, name in enumerate("abcd")}


def test_a_wide_number_in_a_row_that_sqlite_is_asked_for_is_kept(tmp_path: Path) -> None:
    rows = [(k, "x") for k in range(100)]
    rows[7] = (1 << 50, "x" * 5000)
    path = write(tmp_path / "o.db", "CREATE TABLE t (a INTEGER, b TEXT)", rows=rows)
    with no_query():
        assert read(path, ["a"]) == {"a": [row[0] for row in rows]}


def test_numbers_far_behind_or_at_many_places_are_found(tmp_path: Path) -> None:
    rows = [("x" * (k % 9), "y" * (k % 2 * 90), k, -k) for k in range(2_000)]
    path = write(tmp_path / "f.db", "CREATE TABLE t (x TEXT, y TEXT, a INTEGER, b INTEGER)", rows=rows)
    with no_query():
        assert read(path, ["b", "a"]) == {"b": [row[3] for row in rows], "a": [row[2] for row in rows]}


def test_several_batches_and_threads_give_the_rows_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_columns, "BATCH", 4096)
    monkeypatch.setattr(sqlite_columns.os, "sched_getaffinity", lambda _: {0, 1, 2})
    path = write(tmp_path / "b.db", "CREATE TABLE t (a INTEGER)", rows=[(k,) for k in range(5_000)])
    with no_query():
        assert read(path, ["a"]) == {"a": list(range(5_000))}


def test_the_integer_primary_key_is_the_row_number(tmp_path: Path) -> None:
    rows = [(k * k + 5, k) for k in range(3_000)]
    path = write(tmp_path / "k.db", "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, a INTEGER)", rows=rows)
    with no_query():
        assert read(path, ["a", "id"]) == {"a": [r[1] for r in rows], "id": [r[0] for r in rows]}


def test_a_descending_integer_primary_key_is_no_row_number(tmp_path: Path) -> None:
    path = write(tmp_path / "k.db", "CREATE TABLE t (id INTEGER PRIMARY KEY DESC)", rows=[(5,), (3,), (9,)])
    with no_query():
        assert read(path, ["id"]) == {"id": [5, 3, 9]}


def test_an_index_does_not_change_the_order(tmp_path: Path) -> None:
    path = write(tmp_path / "i.db", "CREATE TABLE t (a INTEGER)", "CREATE INDEX i ON t (a)", rows=[(5,), (3,), (9,)])
    with no_query():
        assert read(path, ["a"]) == {"a": [5, 3, 9]}


def test_rows_older_than_a_column_have_no_value_in_it(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.db", "CREATE TABLE t (a INTEGER)",
        "then ALTER TABLE t ADD COLUMN b INTEGER", "then INSERT INTO t VALUES (3, 4)", rows=[(1,), (2,)],
    )  # fmt: skip
    with no_query():
        assert read(path, ["a", "b"]) == {"a": [1, 2, 3], "b": [None, None, 4]}


def test_rows_older_than_a_column_have_its_default(tmp_path: Path) -> None:
    path = write(
        tmp_path / "d.db", "CREATE TABLE t (a INTEGER)",
        "then ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 77", "then INSERT INTO t VALUES (3, 4)",
        rows=[(k,) for k in range(500)],
    )  # fmt: skip
    assert read(path, ["b"]) == {"b": [77] * 500 + [4]}


def test_long_text_before_a_column_takes_a_few_questions_to_sqlite(tmp_path: Path) -> None:
    rows = [(k, "x" * (100_000 if k % 500 == 3 else k % 300), k + 1) for k in range(2_000)]
    path = write(tmp_path / "o.db", "CREATE TABLE t (a INTEGER, text TEXT, b INTEGER)", rows=rows)
    with no_query():
        assert read(path, ["a", "b"]) == {"a": [r[0] for r in rows], "b": [r[2] for r in rows]}


def test_whole_numbers_that_are_stored_as_floating_point_count(tmp_path: Path) -> None:
    rows: list[tuple[object]] = [(k,) for k in range(1_000)]
    rows[500] = (1e300 * 0 + 2.0**60,)
    path = write(tmp_path / "f.db", "CREATE TABLE t (a)", rows=rows)
    with no_query():
        assert read(path, ["a"])["a"][500] == 2**60


def test_an_empty_table_has_empty_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "e.db", "CREATE TABLE t (a INTEGER)")
    with no_query():
        assert read(path, ["a"]) == {"a": []}


def test_a_column_asked_for_twice_is_there_once(tmp_path: Path) -> None:
    path = write(tmp_path / "e.db", "CREATE TABLE t (a INTEGER)", rows=[(7,)])
    assert read(path, ["a", "a"]) == {"a": [7]}


# Tables that are left to SQLite.

UNUSUAL = {
    "without row numbers": ("CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER, c TEXT) WITHOUT ROWID",),
    "a view": ("CREATE TABLE s (a INTEGER, b INTEGER)", "CREATE VIEW t AS SELECT a, b FROM s", "then INSERT INTO s VALUES (1, 2)"),
    "computed": ("CREATE TABLE t (a INTEGER, b INTEGER AS (a + 1), c INTEGER)", "then INSERT INTO t VALUES (1, 2)"),
    "floating point": ("CREATE TABLE t (a REAL, b DOUBLE PRECISION)", "then INSERT INTO t VALUES (1, 9007199254740993)"),
    "no name for the row": ("CREATE TABLE t (a, b, rowid, _rowid_, oid)", "then INSERT INTO t VALUES (1, 2, 3, 4, 5)"),
    "numbers of nine bytes": ("CREATE TABLE t (a INTEGER PRIMARY KEY, b)", "then INSERT INTO t VALUES (-5, 2), (6, 3)"),
    "many columns": (f"CREATE TABLE t (a, b, {', '.join(f'c{k}' for k in range(200))})",
                     f"then INSERT INTO t VALUES ({', '.join('1' * 202)})"),
    "many fractions that are none": ("CREATE TABLE t (a, b)", "then WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
                                     "INSERT INTO t SELECT CAST(i AS REAL), i FROM n"),
}  # fmt: skip


@pytest.mark.parametrize("statements", UNUSUAL.values(), ids=list(UNUSUAL))
def test_unusual_tables_are_read_all_the_same(tmp_path: Path, statements: tuple[str, ...]) -> None:
    path = write(tmp_path / "u.db", *statements)
    assert read(path, ["a"]) == truth(path, ["a"])


@pytest.mark.parametrize(
    ("value", "words"),
    [("text", "text"), (b"blob", "a blob"), (0.5, "not a whole number"), (1e30, "not a whole number")],
)
@pytest.mark.parametrize("rows", [10, 2_000])
def test_what_is_no_whole_number_is_refused_with_its_place(
    tmp_path: Path, value: object, words: str, rows: int
) -> None:
    path = write(tmp_path / "x.db", "CREATE TABLE t (a, b)", rows=[(k, value if k == 7 else k) for k in range(rows)])
    assert read(path, ["a"]) == {"a": list(range(rows))}
    with pytest.raises(AdapterError, match=f"{words}.*'t'.*'b'.*row 8"):
        read(path, ["b"])


def test_infinity_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.db", "CREATE TABLE t (a)", "then INSERT INTO t VALUES (1e999)")
    with pytest.raises(AdapterError, match="not a whole number"):
        read(path, ["a"])


def test_digits_in_a_text_are_no_number(tmp_path: Path) -> None:
    path = write(tmp_path / "x.db", "CREATE TABLE t (a TEXT)", rows=[("12",), ("13",)])
    with pytest.raises(AdapterError, match="text"):
        read(path, ["a"])


@pytest.mark.parametrize(
    ("table", "names"),
    [("t", ["b"]), ("nothing", ["a"]), ("t", []), ("t", ["a", "A"]), ("sqlite_master", ["rootpage"])],
)
def test_a_missing_table_or_column_is_an_error(tmp_path: Path, table: str, names: list[str]) -> None:
    path = write(tmp_path / "x.db", "CREATE TABLE t (a INTEGER)", rows=[(1,)])
    with pytest.raises(AdapterError, match="column"):
        read(path, names, table)


def test_too_little_memory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    path = write(tmp_path / "x.db", "CREATE TABLE t (a INTEGER)", rows=[(1,)])
    monkeypatch.setattr(sqlite_columns, "decode", full)
    with pytest.raises(AdapterError, match="memory"):
        read(path, ["a"])


def test_a_name_that_would_be_sql_is_a_name(tmp_path: Path) -> None:
    name = 'a" FROM t; --\x1b'
    path = write(tmp_path / "x.db", f"CREATE TABLE t ({quoted(name)} INTEGER, b INTEGER)", rows=[(1, 2)])
    assert read(path, [name]) == {name: [1]}
    with pytest.raises(AdapterError) as caught:
        read(path, ["\x1b[2J"])
    assert "\x1b" not in str(caught.value)


# Any table that sqlite3 writes.

INTEGERS = st.one_of(st.none(), st.sampled_from(WIDTHS), st.integers(-(1 << 63), (1 << 63) - 1))
OTHERS = st.one_of(
    st.none(), st.integers(-300, 300), st.floats(), st.text(max_size=70), st.binary(max_size=70),
    st.integers(50, 9_000).map(lambda n: "é" * n),
)  # fmt: skip


@st.composite
def databases(draw: st.DrawFn) -> tuple[Callable[[Path], None], list[str]]:
    """How to write a database with a table t, and columns to ask for."""
    kinds = draw(st.lists(st.sampled_from(["INTEGER", "NUMERIC", "", "TEXT", "REAL", "BLOB"]), min_size=1, max_size=8))
    key = draw(st.sampled_from([None, None, 0, len(kinds) - 1]))
    columns = [f"c{k} {'INTEGER PRIMARY KEY' if k == key else kind}" for k, kind in enumerate(kinds)]
    plain = draw(st.booleans())  # only whole numbers in the columns that are asked for
    clean = [kind in ("INTEGER", "NUMERIC", "") for kind in kinds]
    count = draw(st.integers(0, 40))
    one = st.tuples(*(INTEGERS if clean[k] and plain else st.one_of(INTEGERS, OTHERS) for k in range(len(kinds))))
    rows: list[list[Any]] = [list(row) for row in draw(st.lists(one, min_size=count, max_size=count))]
    if key is not None:
        keys = st.integers(-(1 << 63), (1 << 63) - 1) if draw(st.booleans()) else st.integers(1, 5_000)
        numbers = draw(st.lists(keys, min_size=count, max_size=count, unique=True))
        for row, number in zip(rows, numbers, strict=True):
            row[key] = number
    copies = draw(st.sampled_from([1, 1, 30])) if key is None else 1
    page_size, vacuum = draw(st.sampled_from(PAGE_SIZES)), draw(st.sampled_from([0, 0, 1, 2]))
    added, default = draw(st.booleans()), draw(st.sampled_from(["", " DEFAULT NULL", " DEFAULT 5", " DEFAULT 'x'"]))
    deleted, cleaned = draw(st.sampled_from([0, 0, 2, 3])), draw(st.booleans())
    other = draw(st.booleans())  # a table whose pages lie between

    def write_it(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(f"PRAGMA page_size = {page_size}")
            database.execute(f"PRAGMA auto_vacuum = {vacuum}")
            database.execute("PRAGMA synchronous = OFF")
            database.execute("PRAGMA journal_mode = MEMORY")
            database.execute(f"CREATE TABLE t ({', '.join(columns)})")
            database.execute("CREATE TABLE other (x)")
            marks = ", ".join("?" * len(columns))
            database.execute("BEGIN")
            for _ in range(copies):
                database.executemany(f"INSERT INTO t VALUES ({marks})", rows)
                if other:
                    database.execute("INSERT INTO other VALUES (zeroblob(3000))")
            if added:
                database.execute(f"ALTER TABLE t ADD COLUMN late INTEGER{default}")
                if rows and key is None:
                    database.execute(f"INSERT INTO t VALUES ({marks}, 12)", rows[0])
            if deleted:
                database.execute(f"DELETE FROM t WHERE abs(rowid % {deleted}) = 1")
            database.execute("COMMIT")
            if cleaned:
                database.execute("VACUUM")

    names = [f"c{k}" for k in range(len(kinds)) if clean[k] or not plain] or ["c0"]
    if added and draw(st.booleans()):
        names.append("late")
    return write_it, draw(st.permutations(names))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(databases())
def test_any_table_reads_as_sqlite3_reads_it(made: tuple[Callable[[Path], None], list[str]]) -> None:
    write_it, names = made
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        write_it(path)
        for wanted in (names, *([name] for name in names)):
            expected = truth(path, wanted)
            if expected is None:
                with pytest.raises(AdapterError):
                    read(path, wanted)
            else:
                assert read(path, wanted) == expected


@settings(max_examples=200)
@given(st.lists(st.integers(0, (1 << 56) - 1), min_size=1), st.integers(0, (1 << 64) - 1))
def test_variable_length_numbers_are_decoded(numbers: list[int], rubbish: int) -> None:
    """Against the encoding of the specification, written out for one number."""
    encoded = []
    for number in numbers:
        groups = [number & 127]
        while number := number >> 7:
            groups.append(number & 127 | 128)
        encoded.append(bytes(reversed(groups)))
    words = b"".join((code + struct.pack("<Q", rubbish))[:8] for code in encoded)
    values, lengths = varint(np.frombuffer(words, "<u8"))
    assert values.tolist() == numbers
    assert lengths.tolist() == [len(code) for code in encoded]


def test_a_number_of_nine_bytes_is_left_to_sqlite() -> None:
    with pytest.raises(Unusual):
        varint(np.array([1, 0xFFFFFFFFFFFFFFFF], np.uint64))


# Damage: sqlite3's answer or an error, never other numbers.


def valuable(path: Path) -> list[tuple[Path, list[str]]]:
    """Small tables of several kinds, to be damaged."""
    numbers = [(k, k * 7919 % 1000 - 300, "y" * (k % 80), None if k % 5 else k << 33) for k in range(300)]
    plain = "CREATE TABLE t (a INTEGER, b INTEGER, text TEXT, c INTEGER)"
    keyed = "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER, text TEXT, c INTEGER)"
    long = [(k, k, "z" * (3_000 if k == 100 else 3), k) for k in range(200)]
    return [
        (write(path / "plain.db", plain, rows=numbers, page_size=512), ["a", "b", "c"]),
        (write(path / "keyed.db", keyed, rows=numbers, page_size=1024), ["a", "c"]),
        (write(path / "long.db", plain, "then ALTER TABLE t ADD COLUMN d", rows=long, page_size=512), ["b", "c", "d"]),
        (write(path / "one.db", plain, rows=numbers[:20], page_size=4096), ["a", "b"]),
    ]


def answers(path: Path, names: Sequence[str]) -> tuple[Table | None, Table | None]:
    """What sqlite3 and the reader say of a damaged file, None for an error or for what is not a whole number."""
    try:
        expected = truth(path, names)
    except (sqlite3.Error, OverflowError, MemoryError):
        expected = None
    except UnicodeDecodeError:  # Python's module cannot name a column of a damaged schema
        return None, None
    try:
        found = read(path, names)
    except AdapterError:
        found = None
    return expected, found


EDITS = st.lists(
    st.tuples(
        st.integers(0, 1 << 20),
        st.one_of(
            st.sampled_from(
                [b"\x00", b"\xff", b"\x05", b"\x0d", b"\x80", b"\x81\x00", b"\xff" * 9, b"\x7f\xff\xff\xff"]
            ),
            st.binary(min_size=1, max_size=4),
        ),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, list[str]]]:
    return valuable(tmp_path_factory.mktemp("samples"))


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(which=st.integers(0, 3), edits=EDITS)
def test_edited_bytes_never_give_other_numbers(
    samples: list[tuple[Path, list[str]]], which: int, edits: list[tuple[int, bytes, bool]]
) -> None:
    path, names = samples[which]
    data = bytearray(path.read_bytes())
    page_size = int.from_bytes(data[16:18], "big")
    for place, new, at_head in edits:
        place = place % (len(data) - 100) + 100
        if at_head:  # where the head of a page and its pointers are
            place = place // page_size * page_size + place % 24
        data[place : place + len(new)] = new
    with tempfile.TemporaryDirectory() as folder:
        damaged = Path(folder) / "d.db"
        damaged.write_bytes(data)
        expected, found = answers(damaged, names)
        assert found is None or found == expected


def edited(path: Path, offset: int, new: bytes) -> Path:
    data = bytearray(path.read_bytes())
    data[offset : offset + len(new)] = new
    path.write_bytes(data)
    return path


@pytest.fixture
def tree(tmp_path: Path) -> tuple[Path, int]:
    """A table of one inner page and many leaves, and where its root begins."""
    path = write(tmp_path / "tree.db", "CREATE TABLE t (a INTEGER)", rows=[(k,) for k in range(2_000)], page_size=512)
    with closing(sqlite3.connect(path)) as database:
        root = database.execute("SELECT rootpage FROM sqlite_master").fetchone()[0]
    return path, (root - 1) * 512


def first_leaf(path: Path, root: int) -> int:
    """Where the leftmost leaf begins."""
    data = path.read_bytes()
    while data[root] == 5:
        cell = root + int.from_bytes(data[root + 12 : root + 14], "big")
        root = (int.from_bytes(data[cell : cell + 4], "big") - 1) * 512
    return root


BOMBS = {
    "the root is its own child": lambda data, root, leaf: (root + 8, struct.pack(">I", root // 512 + 1)),
    "the right child is page 0": lambda data, root, leaf: (root + 8, bytes(4)),
    "the right child is page 1": lambda data, root, leaf: (root + 8, struct.pack(">I", 1)),
    "the right child is beyond the file": lambda data, root, leaf: (root + 8, b"\xff" * 4),
    "two children are one": lambda data, root, leaf: (root + 8, struct.pack(">I", leaf // 512 + 1)),
    "65535 cells on the root": lambda data, root, leaf: (root + 3, b"\xff\xff"),
    "65535 cells on a leaf": lambda data, root, leaf: (leaf + 3, b"\xff\xff"),
    "no cells on a leaf": lambda data, root, leaf: (leaf + 3, b"\x00\x00"),
    "as many cells as fit, all at one place": lambda data, root, leaf: (leaf + 3, struct.pack(">H", 84) + bytes(3) + b"\x00\xc0" * 84),
    "a cell in the head": lambda data, root, leaf: (leaf + 8, b"\x00\x02"),
    "a cell behind the page": lambda data, root, leaf: (leaf + 8, b"\x02\x00"),
    "a cell that ends behind the page": lambda data, root, leaf: (leaf + 8, b"\x01\xfc"),
    "a payload of 2^63 bytes": lambda data, root, leaf: (cell(data, leaf), b"\xff" * 8 + b"\xff"),
    "a payload of 2^31 bytes": lambda data, root, leaf: (cell(data, leaf), b"\x88\x80\x80\x80\x00"),
    "a payload of no bytes": lambda data, root, leaf: (cell(data, leaf), b"\x00"),
    "a header of no bytes": lambda data, root, leaf: (cell(data, leaf) + 2, b"\x00"),
    "a header longer than the record": lambda data, root, leaf: (cell(data, leaf) + 2, b"\x7e"),
    "a header of 2^56 bytes": lambda data, root, leaf: (cell(data, leaf) + 2, b"\xff" * 8),
    "a type that is never stored": lambda data, root, leaf: (cell(data, leaf) + 3, b"\x0a"),
    "a leaf of an index": lambda data, root, leaf: (leaf, b"\x0a"),
    "an unknown page": lambda data, root, leaf: (leaf, b"\x77"),
    "a leaf that is an inner page": lambda data, root, leaf: (leaf, b"\x05"),
    "the root is a leaf": lambda data, root, leaf: (root, b"\x0d"),
    "rows out of order": lambda data, root, leaf: (cell(data, leaf) + 1, b"\x7f"),
}  # fmt: skip


def cell(data: bytes, leaf: int) -> int:
    """Where the second cell of a leaf begins."""
    return leaf + int.from_bytes(data[leaf + 10 : leaf + 12], "big")


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=list(BOMBS))
def test_a_damaged_tree_gives_an_error_or_what_sqlite3_says(
    tree: tuple[Path, int], bomb: Callable[[bytes, int, int], tuple[int, bytes]]
) -> None:
    path, root = tree
    edited(path, *bomb(path.read_bytes(), root, first_leaf(path, root)))
    expected, found = answers(path, ["a"])
    assert found is None or found == expected


@pytest.mark.parametrize("page", [0, 1, 2**31 - 1, -1, "text", None, 2.5])
def test_a_root_page_out_of_range_is_an_error(tree: tuple[Path, int], page: object) -> None:
    path, _ = tree
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET rootpage = ?", (page,))
    expected, found = answers(path, ["a"])
    assert found is None or found == expected


def test_a_shortened_file_is_an_error(tree: tuple[Path, int]) -> None:
    path, _ = tree
    whole_file = path.read_bytes()
    for length in range(600, len(whole_file), 700):
        path.write_bytes(whole_file[:length])
        expected, found = answers(path, ["a"])
        assert found is None or found == expected


def test_memory_is_bounded_by_the_result(tmp_path: Path) -> None:
    import tracemalloc

    rows = [(k, 1 << 40, "t" * 100) for k in range(200_000)]
    path = write(tmp_path / "m.db", "CREATE TABLE t (a INTEGER, b INTEGER, text TEXT)", rows=rows)
    with open_database(path) as database, no_query():
        tracemalloc.start()
        integer_columns(database, "t", ["a", "b"])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2 * 8 * len(rows) + (100 << 20)


# Pages by themselves: what they refuse is left to SQLite, which then has the last word.


def test_a_file_that_is_not_as_sqlite_says_is_not_read(tree: tuple[Path, int], tmp_path: Path) -> None:
    path, _ = tree
    pages = path.stat().st_size // 512
    (tmp_path / "short.db").write_bytes(path.read_bytes()[:99])
    for name, size, count in (
        ("missing.db", 512, 1),
        ("short.db", 512, 0),
        ("tree.db", 1024, 1),
        ("tree.db", 512, pages + 1),
    ):
        with pytest.raises(Unusual), open_pages(tmp_path / name, size, count):
            pass
    with pytest.raises(Unusual, match="cannot be read"), open_pages(path, 512, pages):
        raise OSError


def test_a_file_that_is_shortened_while_it_is_read_is_not_read(tree: tuple[Path, int]) -> None:
    path, root = tree
    pages = path.stat().st_size // 512
    with open_pages(path, 512, pages) as file:
        assert len(leaves(file, root // 512 + 1)) > 10
        path.write_bytes(path.read_bytes()[:2048])
        with pytest.raises(Unusual, match="ends"):
            file.read(np.array([3, 30]))


@pytest.mark.parametrize("page", [0, 1, -1, 1 << 30])
def test_a_root_out_of_range_is_not_read(tree: tuple[Path, int], page: int) -> None:
    path, _ = tree
    with open_pages(path, 512, path.stat().st_size // 512) as file, pytest.raises(Unusual, match="range"):
        leaves(file, page)


def test_the_page_of_the_lock_byte_belongs_to_no_table() -> None:
    with pytest.raises(Unusual, match="range"):
        PageFile(0, 65536, 65536, 1 << 20).check(np.array([5, (1 << 30) // 65536 + 1]))


def test_a_page_below_two_others_is_not_read(tree: tuple[Path, int]) -> None:
    path, root = tree
    data = path.read_bytes()
    child = int.from_bytes(data[root + 12 : root + 14], "big") + root
    edited(path, root + 8, data[child : child + 4])
    with open_pages(path, 512, len(data) // 512) as file, pytest.raises(Unusual, match="twice"):
        leaves(file, root // 512 + 1)


def test_pages_that_multiply_are_not_followed(tmp_path: Path) -> None:
    """Eleven inner pages, each of which has all of them as children: 11^20 paths."""
    size, root, children = 512, 2, list(range(2, 13))
    cells = b"".join(struct.pack(">IB", child, 1) + bytes(1) for child in children[:-1])
    content = size - len(cells)
    pointers = b"".join(struct.pack(">H", content + 6 * k) for k in range(len(children) - 1))
    page = struct.pack(">BHHHBI", 5, 0, len(children) - 1, content, 0, children[-1]) + pointers
    page += bytes(content - len(page)) + cells
    path = write(tmp_path / "bomb.db", "CREATE TABLE t (a INTEGER)", page_size=size)
    header = bytearray(path.read_bytes()[:size])
    header[28:32] = struct.pack(">I", 12)
    path.write_bytes(bytes(header) + page * 11)
    with open_pages(path, size, 12) as file, pytest.raises(Unusual, match="twice"):
        leaves(file, root)
    with open_database(path, seconds=1.0) as database, pytest.raises(AdapterError):
        integer_columns(database, "t", ["a"])


def test_a_row_that_is_not_found_by_its_number_leaves_the_table_to_sqlite(tmp_path: Path) -> None:
    rows = [(k, k + 0.0 if k == 40 else k) for k in range(400)]
    path = write(tmp_path / "r.db", "CREATE TABLE t (a INTEGER, b)", rows=rows, page_size=512)
    data = path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        root = (database.execute("SELECT rootpage FROM sqlite_master").fetchone()[0] - 1) * 512
    # The keys of the inner page are made so small that a search goes wrong; a scan does not look at them.
    for k in range(int.from_bytes(data[root + 3 : root + 5], "big")):
        at = root + int.from_bytes(data[root + 12 + 2 * k : root + 14 + 2 * k], "big")
        edited(path, at + 4, b"\x80\x01" if data[at + 4] & 128 else b"\x01")
    assert read(path, ["b"]) == {"b": list(range(400))}
