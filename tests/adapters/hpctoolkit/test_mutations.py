"""Seeded damage to small databases, and that the harness that does it is repeatable and sees failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.contained import Outcome, Server
from tests.adapters.hpctoolkit import mutations
from tests.adapters.hpctoolkit.mutations import Case

CASES = 400


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return mutations.write_bases(tmp_path_factory.mktemp("bases"))


def test_damaged_databases_are_read_or_refused(bases: list[Path], tmp_path: Path) -> None:
    results = list(mutations.run(range(CASES), bases, tmp_path))
    assert len(results) == CASES
    assert all(outcome.good for _, outcome in results), mutations.table(results)
    # Neither all read nor all refused: the damage is real, and the reader reads.
    kinds = [outcome.kind for _, outcome in results]
    assert min(kinds.count("profile"), len(kinds) - kinds.count("profile")) > CASES / 10


def test_undamaged_databases_are_read(bases: list[Path]) -> None:
    with Server() as server:
        assert [server.run(base).kind for base in bases] == ["profile"] * len(bases)


def test_a_case_is_the_same_every_time(bases: list[Path], tmp_path: Path) -> None:
    for number in range(30):
        first = mutations.make(number, bases, tmp_path / f"a{number}")
        again = mutations.make(number, bases, tmp_path / f"b{number}")
        assert first == again
        for file in mutations.FILES:
            if (tmp_path / f"a{number}" / file).exists():
                assert (tmp_path / f"a{number}" / file).read_bytes() == (tmp_path / f"b{number}" / file).read_bytes()


def test_a_case_leaves_the_good_database_alone(bases: list[Path], tmp_path: Path) -> None:
    before = {
        (base, file): (base / file).read_bytes() for base in bases for file in mutations.FILES if (base / file).exists()
    }
    for number in range(200):
        mutations.make(number, bases, tmp_path / str(number))
    assert all((base / file).read_bytes() == data for (base, file), data in before.items())


def test_nearly_every_case_differs_from_the_good_database(bases: list[Path], tmp_path: Path) -> None:
    by_name = {base.name: base for base in bases}
    changed = 0
    for number in range(200):
        case = mutations.make(number, bases, tmp_path / str(number))
        changed += (tmp_path / str(number) / case.file).read_bytes() != (by_name[case.base] / case.file).read_bytes()
    assert changed > 170  # zeros that were zeros and words that were equal are no change


def test_a_reader_that_fails_is_found(bases: list[Path], tmp_path: Path) -> None:
    results = list(
        mutations.run(range(4), bases, tmp_path, processes=2, reader="tests.adapters.hpctoolkit.stubs:raises")
    )
    assert sorted(case.number for case, _ in results) == [0, 1, 2, 3]
    assert not any(outcome.good for _, outcome in results)
    text = mutations.table(results)
    assert "failed   4" in text
    assert "4 × error: KeyError" in text


def test_the_table_counts_by_file_and_outcome_and_names_failing_cases() -> None:
    results = [
        (Case(1, "small", "meta.db", "truncate"), Outcome("refused", hint="Measure again.")),
        (Case(2, "small", "meta.db", "flip_bit"), Outcome("hang", "did not return", 3.0)),
        (Case(3, "gpu", "cct.db", "splice"), Outcome("profile", bytes=5 << 20)),
    ]
    rows = mutations.table(results).splitlines()
    assert rows[0].split() == [
        "file",
        "profile",
        "late",
        "refused",
        "error",
        "slow",
        "memory",
        "hang",
        "crash",
        "total",
    ]
    assert rows[1].split() == ["meta.db", "0", "0", "1", "0", "0", "0", "1", "0", "2"]
    assert rows[6].split() == ["all", "1", "0", "1", "0", "0", "0", "1", "0", "3"]
    assert "slowest  3.000 s  case 2: flip_bit of meta.db of small" in rows
    assert "largest  5.0 MiB  case 3: splice of cct.db of gpu" in rows
    assert rows[-1].strip() == "case 2: flip_bit of meta.db of small"
