"""Damaged input of every format is read or refused, with words, in bounded time and memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.adapters import mutations
from tests.adapters.contained import Server
from tests.adapters.structured_damage import damage_database, damage_json

CASES = 40
#: Formats whose samples only a package can write.
PACKAGES = {"otf2": "otf2"}


def write_bases(format: str, folder: Path) -> list[Path]:
    if format in PACKAGES:
        pytest.importorskip(PACKAGES[format], reason=f"needs the package {PACKAGES[format]}")
    return mutations.write_bases(format, folder)


@pytest.mark.parametrize("format", mutations.formats())
def test_damaged_input_is_read_or_refused(format: str, tmp_path: Path) -> None:
    bases = write_bases(format, tmp_path / "bases")
    results = list(mutations.run(range(CASES), bases, tmp_path))
    assert len(results) == CASES
    assert not [case for case, outcome in results if mutations.failed(case, outcome)], mutations.table(results)
    kinds = {outcome.kind for _, outcome in results}
    assert "profile" in kinds, mutations.table(results)
    assert kinds & {"refused", "late"}, mutations.table(results)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(mutations.READER) as one:
        yield one


@pytest.mark.parametrize("format", mutations.formats())
def test_undamaged_input_is_read(format: str, tmp_path: Path, server: Server) -> None:
    bases = write_bases(format, tmp_path / "bases")
    assert bases
    for base in bases:
        outcome = server.run(base)
        assert outcome.kind == "profile", f"{base.name}: {outcome}"


def test_a_case_is_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "a.json").write_text('{"a": [1, 2, {"b": "c"}], "d": 5}')
    (tmp_path / "base" / "b.txt").write_text("one 1\ntwo 2\nthree 3\n")
    (tmp_path / "base" / "c.bin").write_bytes(bytes(range(256)) * 4)
    changed = 0
    for number in range(60):
        first, one = mutations.make(number, [tmp_path / "base"], tmp_path / f"x{number}")
        again, two = mutations.make(number, [tmp_path / "base"], tmp_path / f"y{number}")
        assert first == again
        contents = [
            {p.name: p.read_bytes() for p in mutations.files_of(path)} for path in (one, two, tmp_path / "base")
        ]
        assert contents[0] == contents[1]
        changed += contents[0] != contents[2]
    assert changed > 45


def test_damage_to_one_document_leaves_no_trace_in_the_next() -> None:
    document = json.dumps({"a": [1, [2, {"b": []}], {}], "c": {"d": [[]], "e": "f"}}).encode()
    first = [damage_json(document, Random(number)) for number in range(400)]
    again = [damage_json(document, Random(number)) for number in reversed(range(400))]
    assert first == again[::-1]


def test_a_database_without_tables_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE a (b)")
    connection.execute("DROP TABLE a")
    connection.close()
    before = path.read_bytes()
    for number in range(20):
        damage_database(path, Random(number))
    assert path.read_bytes() == before
