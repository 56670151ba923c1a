"""A first look at a path raises nothing, reads little and sees through compression."""

from __future__ import annotations

import errno
import gzip
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters import glance
from chathpc.adapters.glance import HEAD, Glance


def saved(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def all_of(look: Glance) -> tuple[object, ...]:
    """Everything a look shows."""
    return (look.is_file, look.is_folder, look.names, look.head, look.content, look.text, look.tables)


NOTHING = (False, False, (), b"", b"", "", frozenset())


def test_a_file_shows_its_beginning(tmp_path: Path) -> None:
    look = Glance(saved(tmp_path / "a", b"abc" * HEAD))
    assert all_of(look) == (
        True,
        False,
        (),
        (b"abc" * HEAD)[:HEAD],
        (b"abc" * HEAD)[:HEAD],
        ("abc" * HEAD)[:HEAD],
        frozenset(),
    )


def test_a_folder_shows_its_names_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        saved(tmp_path / name, name.encode())
    look = Glance(tmp_path)
    assert all_of(look) == (False, True, ("a", "b", "c"), b"", b"", "", frozenset())
    assert look.inside("b").head == b"b"
    assert all_of(look.inside("missing")) == NOTHING


def test_a_link_is_what_it_leads_to(tmp_path: Path) -> None:
    saved(tmp_path / "a", b"abc")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    assert Glance(tmp_path / "link").head == b"abc"
    assert all_of(Glance(tmp_path / "loop")) == NOTHING


def test_a_folder_of_very_many_files_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glance, "NAMES", 5)
    for k in range(9):
        saved(tmp_path / str(k), b"")
    assert len(Glance(tmp_path).names) == 5


def test_what_is_neither_file_nor_folder_shows_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    for path in (
        tmp_path / "pipe",
        tmp_path / "missing",
        Path("/dev/zero"),
        tmp_path / "a\0b",
        tmp_path / ("x" * 5_000),
    ):
        assert all_of(Glance(path)) == NOTHING


def test_what_may_not_be_read_shows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = saved(tmp_path / "a", b"abc")
    monkeypatch.setattr(Path, "open", denied)  # the file's own permissions do not bind root
    monkeypatch.setattr(os, "scandir", denied)
    assert Glance(path).content == b""
    assert Glance(tmp_path).names == ()
    monkeypatch.setattr(os, "stat", denied)
    looked = all_of(Glance(path))
    monkeypatch.undo()
    assert looked == NOTHING


def test_gzip_is_seen_through(tmp_path: Path) -> None:
    look = Glance(saved(tmp_path / "a", gzip.compress(b"{}" * HEAD)))
    assert look.head.startswith(b"\x1f\x8b")
    assert look.content == (b"{}" * HEAD)[:HEAD]
    assert look.text == ("{}" * HEAD)[:HEAD]


@pytest.mark.parametrize(
    "parts", [[b"", b"{}"], [b"", b"", b"a", b"b" * HEAD], [b"{}" * 1_000] * 70, [os.urandom(70_000), b"x"]]
)
def test_members_of_gzip_are_one_content(tmp_path: Path, parts: list[bytes]) -> None:
    look = Glance(saved(tmp_path / "a", b"".join(map(gzip.compress, parts))))
    whole = b"".join(parts)[:HEAD]
    assert whole.startswith(look.content)
    assert len(look.content) >= min(len(whole), HEAD - 1_000)


def test_what_lies_before_damage_is_seen(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b"traceEvents" + os.urandom(20_000)))
    packed[10_000:10_100] = os.urandom(100)
    assert Glance(saved(tmp_path / "a", bytes(packed))).content.startswith(b"traceEvents")
    assert Glance(saved(tmp_path / "b", bytes(packed[:5_000]))).content.startswith(b"traceEvents")


def test_a_gzip_bomb_is_looked_at_in_no_time(tmp_path: Path) -> None:
    bomb = saved(tmp_path / "a", gzip.compress(bytes(100 << 20)))
    many = saved(tmp_path / "b", gzip.compress(b"") * 100_000)
    began = time.process_time()
    assert Glance(bomb).content == bytes(HEAD)
    assert Glance(many).content == b""
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("é".encode(), "é"),
        ("\ufeffé".encode(), "é"),
        ("\ufeffé".encode("utf-16-le"), "é"),
        ("\ufeffé".encode("utf-16-be"), "é"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_text_is_decoded_by_its_mark(tmp_path: Path, data: bytes, text: str) -> None:
    assert Glance(saved(tmp_path / "a", data)).text == text


def test_tables_of_a_database_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE one (a)")
        database.execute("CREATE VIEW two AS SELECT a FROM one")
    assert Glance(path).tables == {"one", "two"}


def test_a_damaged_database_names_no_tables(tmp_path: Path) -> None:
    assert Glance(saved(tmp_path / "a", b"SQLite format 3\0" + b"\xff" * 5_000)).tables == frozenset()
    assert Glance(saved(tmp_path / os.fsdecode(b"\xff"), b"SQLite format 3\0")).tables == frozenset()


@settings(max_examples=150)
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"SQLite format 3\0", b"\xff\xfe", b"\xfe\xff"]),
)
def test_a_look_at_any_bytes_raises_nothing(data: bytes, mark: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        look = Glance(saved(Path(folder) / "a", mark + data))
        assert look.head == mark + data
        assert len(all_of(look)) == len(NOTHING)
