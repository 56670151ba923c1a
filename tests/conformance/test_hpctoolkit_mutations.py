"""Seeded damage to databases that hpcprof wrote: read or refused, in time and memory, as with our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.adapters.hpctoolkit import mutations

DATA = Path(os.environ.get("CHATHPC_TEST_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
CASES = 300

#: Larger ones would only make the cases slow; the structures are the same.
LARGEST = 400_000


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Links to the small databases, under names that tell them apart."""
    found = sorted(path.parent for path in (DATA / "hpctoolkit").glob("*/database/meta.db"))
    small = [path for path in found if sum(one.stat().st_size for one in path.glob("*.db")) <= LARGEST]
    if not small:
        pytest.skip(f"no HPCToolkit databases below {DATA}; set CHATHPC_TEST_DATA")
    folder = tmp_path_factory.mktemp("bases")
    for path in small:
        (folder / path.parent.name).symlink_to(path, target_is_directory=True)
    return sorted(folder.iterdir())


def test_damaged_databases_of_hpcprof_are_read_or_refused(bases: list[Path], tmp_path: Path) -> None:
    results = list(mutations.run(range(CASES), bases, tmp_path))
    assert len(results) == CASES
    assert all(outcome.good for _, outcome in results), mutations.table(results)
