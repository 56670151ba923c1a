"""Source excerpts come from src/ and from nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.hpctoolkit import read
from chathpc.profile.source_text import LARGEST_SOURCE, SourceReader, copied
from tests.synthetic.hpctoolkit_v4 import TIME, Database, entry, function, line, point, write

TEXT = "one\n\ttwo\nthree\x1b[2J\nfour\r\nfive"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    (tmp_path / "db" / "src" / "home" / "me").mkdir(parents=True)
    (tmp_path / "db" / "src" / "home" / "me" / "a.c").write_text(TEXT)
    (tmp_path / "secret.c").write_text("secret\n")
    return tmp_path / "db"


@pytest.fixture
def reader(database: Path) -> SourceReader:
    return copied(database / "src", "src")


@pytest.mark.parametrize("file", ["src/home/me/a.c", "/home/me/a.c", "home/me/a.c", "src/home/../home/me/a.c"])
def test_a_copied_file_is_found_by_its_path_in_the_database_or_on_the_machine(reader: SourceReader, file: str) -> None:
    excerpt = reader(file, 2, 1)
    assert excerpt is not None
    assert (excerpt.file, excerpt.first) == (file, 1)
    assert excerpt.lines == ("one", "    two", "three\N{REPLACEMENT CHARACTER}[2J")


def test_an_excerpt_ends_with_the_file(reader: SourceReader) -> None:
    first, last = reader("src/home/me/a.c", 1, 1), reader("src/home/me/a.c", 5, 1)
    assert first is not None
    assert last is not None
    assert (first.first, first.lines[0], len(first.lines)) == (1, "one", 2)
    assert (last.first, last.lines) == (4, ("four", "five"))


@pytest.mark.parametrize("number", [-1, 0, 6, 1 << 40])
def test_a_line_that_the_file_does_not_have_gives_no_excerpt(reader: SourceReader, number: int) -> None:
    assert reader("src/home/me/a.c", number, 3) is None


@pytest.mark.parametrize(
    "file",
    [
        "src/../../secret.c", "../secret.c", "src/out/secret.c", "src/link.c", "/link.c", "src/loop", "src", "src/home",
        "src/missing.c", "[libc.so.6]", "<unknown>", "", "src/nul\0.c", "src/" + "x" * 5000, "~/secret.c", "meta.db",
    ],
)  # fmt: skip
def test_what_is_no_file_below_src_is_not_opened(database: Path, file: str) -> None:
    (database / "src" / "out").symlink_to(database.parent)
    (database / "src" / "link.c").symlink_to(database.parent / "secret.c")
    (database / "src" / "loop").symlink_to("loop")
    (database / "meta.db").write_text("not source\n")
    assert copied(database / "src", "src")(file, 1, 3) is None


def test_an_absolute_path_is_looked_up_below_src_only(database: Path) -> None:
    assert copied(database / "src", "src")(str(database.parent / "secret.c"), 1, 3) is None
    inside = database / "src" / str(database.parent).lstrip("/")
    inside.mkdir(parents=True)
    (inside / "secret.c").write_text("the copy\n")
    excerpt = copied(database / "src", "src")(str(database.parent / "secret.c"), 1, 0)
    assert excerpt is not None
    assert excerpt.lines == ("the copy",)


def test_a_link_inside_src_is_followed(database: Path) -> None:
    (database / "src" / "b.c").symlink_to("home/me/a.c")
    assert copied(database / "src", "src")("src/b.c", 1, 0) is not None


def test_a_huge_file_gives_no_excerpt(database: Path) -> None:
    with (database / "src" / "huge.c").open("wb") as file:
        file.truncate(LARGEST_SOURCE + 1)
    assert copied(database / "src", "src")("src/huge.c", 1, 0) is None


def test_a_file_is_read_once(database: Path, reader: SourceReader) -> None:
    assert reader("src/home/me/a.c", 1, 0) is not None
    (database / "src" / "home" / "me" / "a.c").unlink()
    assert reader("src/home/me/a.c", 5, 0) is not None
    assert reader("src/missing.c", 1, 0) is None


def test_a_copied_file_that_is_missing_is_no_error(tmp_path: Path) -> None:
    # System headers are marked as copied and yet are often not in src/.
    calls = [line(f, 1, point(1, {TIME: {0: 1.0}})) for f in ("src/usr/include/h.h", "src/a.c", "/elsewhere/b.c")]
    profile = read(write(tmp_path, Database([entry(function("main", *calls))], sources={"src/a.c": "a\n"})).path)
    excerpts = [profile.source(node) for node in range(len(profile.tree)) if profile.tree.file[node] >= 0]
    assert [None if e is None else e.lines for e in excerpts] == [None, ("a", ""), None]
