"""All commands tell one total of one run: measured databases and public samples."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chathpc.adapters.load import load
from chathpc.errors import ChathpcError
from tests.totals import totals

DATA = Path(os.environ.get("CHATHPC_TEST_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
RUNS = sorted(
    {
        *(found.parent for found in DATA.glob("**/meta.db")),
        *(found for found in DATA.glob("profiles/*/*") if found.is_file() and found.suffix not in (".md", ".json5")),
    }
)
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the measured profiles are not here (CHATHPC_TEST_DATA)")


@pytest.mark.parametrize("path", RUNS, ids=lambda path: str(path.relative_to(DATA)))
def test_one_run_has_one_total(path: Path) -> None:
    try:
        profile = load(path)
    except ChathpcError:
        pytest.skip("no profile by itself")
    if profile.time is None or not profile.total(profile.time.id):
        pytest.skip("no time")
    expected = profile.total(profile.time.id)
    for who, value in totals(path, profile).items():
        assert value == pytest.approx(expected, rel=1e-9), who
