"""All commands tell one total of one run, without the threads that libraries run for themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

import chathpc
from tests.totals import totals

EXAMPLES = sorted(path.parent for path in (Path(__file__).resolve().parents[1] / "examples").glob("*/*/meta.db"))


@pytest.mark.parametrize("database", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_one_run_has_one_total(database: Path) -> None:
    profile = chathpc.load(database)
    expected = profile.total("cpu.time")
    assert expected > 0
    for who, value in totals(database, profile).items():
        assert value == pytest.approx(expected, rel=1e-9), who


def test_helper_threads_are_left_out_and_what_is_left_is_that_of_the_ranks() -> None:
    (database,) = [path for path in EXAMPLES if path.parent.name == "mpi-imbalance"]
    profile = chathpc.load(database)
    whole = profile.everything
    # Each of the 4 ranks has one thread of the program and two of Open MPI, which sleep for the whole run.
    by_location = whole.location_totals("cpu.time")
    program = by_location[whole.where.thread == 0]
    assert len(program) == 4
    assert profile.total("cpu.time") == pytest.approx(float(program.sum()), rel=1e-9)
    assert whole.total("cpu.time") == pytest.approx(float(by_location.sum()), rel=1e-9)
    assert profile.shape == "4 ranks"
    assert profile.helpers.sentence == "8 helper threads of the MPI library left out: 28.1 s."
