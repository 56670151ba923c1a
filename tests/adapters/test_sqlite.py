"""Databases from strangers: opened for reading only, bounded in time and memory, and left as they were."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from chathpc.adapters import sqlite
from chathpc.adapters.load import load
from chathpc.adapters.sqlite import LIMITS, open_database, quoted, table_names
from chathpc.errors import AdapterError

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


def write(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return write(
        tmp_path / "plain.db", "CREATE TABLE t (a INTEGER, b TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, NULL)"
    )


def test_tables_views_and_columns_are_known(plain: Path) -> None:
    write(plain, "CREATE VIEW v AS SELECT a AS one FROM t")
    with open_database(plain) as database:
        assert database.tables == {"t"}
        assert database.views == {"v"}
        assert database.columns("t") == ("a", "b")
        assert database.columns("v") == ("one",)
        assert database.columns("nothing") == ()
        assert database.has("t", "a", "b")
        assert database.has("t")
        assert not database.has("t", "c")
        assert not database.has("v", "one")
        assert database.rows("SELECT a FROM t WHERE a > ?", (1,)) == [(2,)]
    assert table_names(plain) == {"t", "v"}


def test_tables_of_sqlite_itself_are_not_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "s.db", "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)")
    assert table_names(path) == {"t"}


def test_a_quoted_name_is_one_identifier(tmp_path: Path) -> None:
    name = 'a"; DROP TABLE t; --'
    path = write(tmp_path / "q.db", f"CREATE TABLE {quoted(name)} (a)")
    with open_database(path) as database:
        assert database.columns(name) == ("a",)


@pytest.mark.parametrize("statement", ["INSERT INTO t VALUES (3, 'y')", "CREATE TABLE u (a)", "CREATE TEMP TABLE u (a)", "DELETE FROM t",
                                       "PRAGMA user_version = 7", "VACUUM", "ATTACH DATABASE ':memory:' AS other"])  # fmt: skip
def test_nothing_can_be_written(plain: Path, statement: str) -> None:
    before, seen = plain.read_bytes(), sorted(os.listdir(plain.parent))
    with open_database(plain) as database, suppress(AdapterError):
        database.rows(statement)
    assert plain.read_bytes() == before
    assert sorted(os.listdir(plain.parent)) == seen


def test_reading_leaves_no_trace(plain: Path) -> None:
    write(plain, "PRAGMA journal_mode = WAL")
    plain.chmod(0o444)
    before, status, seen = plain.read_bytes(), plain.stat(), sorted(os.listdir(plain.parent))
    with open_database(plain) as database:
        assert len(database.rows("SELECT * FROM t")) == 2
        assert sorted(os.listdir(plain.parent)) == seen
    assert (plain.read_bytes(), plain.stat().st_mtime_ns) == (before, status.st_mtime_ns)
    assert sorted(os.listdir(plain.parent)) == seen


# What is no database.


@pytest.mark.parametrize("content", [b"", b"SQLite", b"SQLite format 3", b"PK\x03\x04" + bytes(4096), bytes(4096)])
def test_what_is_no_database_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no.db"
    path.write_bytes(content)
    with pytest.raises(AdapterError, match="not an SQLite database"), open_database(path):
        pass


@pytest.mark.parametrize(
    "content", [b"SQLite format 3\0", b"SQLite format 3\0" + bytes(84), b"SQLite format 3\0" + b"\xff" * 8_000]
)
def test_a_database_of_which_little_is_left_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(content)
    with pytest.raises(AdapterError) as caught, open_database(path) as database:
        database.rows("SELECT * FROM t")
    assert str(path) in str(caught.value)


def test_a_missing_file_a_folder_and_an_impossible_path_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.db", tmp_path, tmp_path / "a\0b"):
        with pytest.raises(AdapterError), open_database(path):
            pass


def test_an_unreadable_file_is_an_error(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "open", denied)  # the file's own permissions do not bind root
    with pytest.raises(AdapterError, match="denied"), open_database(plain):
        pass


@pytest.mark.parametrize(
    "name", ["a?mode=rwc.db", "a#b.db", "a%20b.db", "ä b.db", os.fsdecode(b"\xff\xfe.db"), "a'b\".db"]
)
def test_any_name_of_a_file_is_opened(plain: Path, name: str) -> None:
    path = plain.rename(plain.parent / name)
    assert table_names(path) == {"t"}
    assert os.listdir(path.parent) == [name]


def test_a_name_that_could_act_on_a_terminal_does_not(plain: Path) -> None:
    write(plain, 'CREATE TABLE "\x1b[2J" (a)')
    with open_database(plain) as database, pytest.raises(AdapterError) as caught:
        database.rows('SELECT b FROM "\x1b[2J"')
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("position", [100, 500, 2048, 4095])
def test_a_shortened_database_is_refused_or_read(plain: Path, position: int) -> None:
    plain.write_bytes(plain.read_bytes()[:position])
    with pytest.raises(AdapterError), open_database(plain) as database:
        database.rows("SELECT * FROM t")


# Changes that are not in the file yet.


def test_a_database_with_a_hot_journal_is_refused(plain: Path) -> None:
    journal = plain.with_name(plain.name + "-journal")
    journal.write_bytes(bytes(512))  # what journal_mode = PERSIST leaves behind
    assert table_names(plain) == {"t"}
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))
    with pytest.raises(AdapterError, match="interrupted"):
        table_names(plain)


def test_a_database_whose_changes_lie_in_a_log_is_refused(plain: Path) -> None:
    with closing(sqlite3.connect(plain)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO t VALUES (3, 'z')")
        writer.commit()
        copy = plain.with_name("copy.db")
        for ending in ("", "-wal"):
            shutil.copy(f"{plain}{ending}", f"{copy}{ending}")
        with pytest.raises(AdapterError, match=r"copy\.db-wal"):
            table_names(copy)
    assert table_names(plain) == {"t"}  # the writer has ended, and tidied up


# Bombs.


def test_a_view_without_end_is_stopped_by_the_clock(tmp_path: Path) -> None:
    path = write(tmp_path / "v.db", f"CREATE VIEW v AS {ENDLESS}")
    began = time.process_time()
    with open_database(path, seconds=0.3) as database, pytest.raises(AdapterError, match="too long"):
        database.rows("SELECT count(*) FROM v")
    assert time.process_time() - began < 3


def test_a_view_of_many_rows_is_stopped_by_their_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MOST_ROWS", 1_000)
    path = write(tmp_path / "v.db", f"CREATE VIEW v AS {ENDLESS}", "CREATE TABLE t (a)")
    with open_database(path) as database:
        with pytest.raises(AdapterError, match="1,000 rows"):
            database.rows("SELECT * FROM v")
        assert len(database.rows("SELECT * FROM v LIMIT 1000")) == 1_000


@pytest.mark.parametrize("view", ["SELECT zeroblob(60000000) AS a", "SELECT printf('%.*c', 60000000, 'x') AS a", "SELECT hex(zeroblob(30000000)) AS a",
                                  f"SELECT group_concat(i) AS a FROM ({ENDLESS})"])  # fmt: skip
def test_a_small_file_makes_no_long_values(tmp_path: Path, view: str) -> None:
    path = write(tmp_path / "v.db", f"CREATE VIEW v AS {view}")
    with open_database(path, seconds=0.5) as database:
        tracemalloc.start()
        with suppress(AdapterError):
            database.rows("SELECT length(a), a FROM v")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 4 << 20


def test_a_long_value_that_is_in_the_file_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "l.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (zeroblob(3000000))")
    with open_database(path) as database:
        ((value,),) = database.rows("SELECT a FROM t")
    assert value == bytes(3_000_000)


def test_a_value_beyond_all_bounds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "LONGEST_VALUE", 1 << 20)
    path = write(tmp_path / "l.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (zeroblob(3000000))")
    with open_database(path) as database, pytest.raises(AdapterError, match="too big"):
        database.rows("SELECT a FROM t")


def test_views_of_views_without_end_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "v.db", "CREATE VIEW a AS SELECT * FROM b", "CREATE VIEW b AS SELECT * FROM a")
    with open_database(path) as database, pytest.raises(AdapterError):
        database.rows("SELECT * FROM a")


def test_views_that_double_are_stopped(tmp_path: Path) -> None:
    views = [f"CREATE VIEW v{k} AS SELECT x.a FROM v{k - 1} x, v{k - 1} y" for k in range(1, 40)]
    path = write(tmp_path / "v.db", "CREATE TABLE v0 (a)", "INSERT INTO v0 VALUES (1), (2)", *views)
    began = time.process_time()
    with open_database(path, seconds=0.5) as database, pytest.raises(AdapterError):
        database.rows("SELECT count(*) FROM v39")
    assert time.process_time() - began < 10


def test_functions_with_effects_are_not_run_by_a_view(tmp_path: Path) -> None:
    path = write(tmp_path / "v.db", "CREATE VIEW v AS SELECT load_extension('evil.so') AS a")
    with open_database(path) as database, pytest.raises(AdapterError):
        database.rows("SELECT a FROM v")


def test_a_schema_that_is_no_sql_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (a)")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE t (a, b' || char(27)")
        database.commit()
    with pytest.raises(AdapterError) as caught, open_database(path):
        pass
    assert "\x1b" not in str(caught.value)


def test_text_that_is_no_utf8_is_replaced(tmp_path: Path) -> None:
    path = write(tmp_path / "u.db", "CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES (CAST(x'61ff62' AS TEXT))")
    with open_database(path) as database:
        assert database.rows("SELECT a FROM t") == [("a\N{REPLACEMENT CHARACTER}b",)]


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_any_encoding_of_sqlite_is_read(tmp_path: Path, encoding: str) -> None:
    path = write(
        tmp_path / "u.db", f"PRAGMA encoding = '{encoding}'", "CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('Ä→')"
    )
    with open_database(path) as database:
        assert database.rows("SELECT a FROM t") == [("Ä→",)]


def test_a_number_too_large_for_sqlite_is_an_error(plain: Path) -> None:
    with open_database(plain) as database, pytest.raises(AdapterError):
        database.rows("SELECT ?", (1 << 70,))


def test_too_little_memory_is_an_error(plain: Path) -> None:
    class Full:
        def execute(self, *_: object) -> Iterator[object]:
            raise MemoryError

    with open_database(plain) as database:
        database.connection = Full()  # type: ignore[assignment]
        with pytest.raises(AdapterError, match="memory"):
            database.rows("SELECT 1")


def test_limits_are_set_on_the_connection(plain: Path) -> None:
    with open_database(plain) as database:
        for limit, value in LIMITS.items():
            assert database.connection.getlimit(limit) == value


def test_a_database_that_was_cut_off_is_told_with_its_sizes(tmp_path: Path) -> None:
    path = write(tmp_path / "cut.db", "CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES (printf('%.*c', 50000, 'x'))")
    size = path.stat().st_size
    os.truncate(path, size - 5000)
    words = f"cut off at {size - 5000:,} of {size:,} bytes"
    with pytest.raises(AdapterError, match=words), open_database(path):
        pass
    with pytest.raises(AdapterError, match=f"an SQLite database {words}, not a profile") as error:
        load(path)
    assert error.value.hint == "Copy or export it again."
