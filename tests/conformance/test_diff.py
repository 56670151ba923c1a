"""Comparisons of measured databases: programs with a planted fault and without it, against what their authors measured."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import pytest

import chathpc
from chathpc.adapters.load import load
from chathpc.comparison.record import Diff
from chathpc.profile.profile import Profile
from tests.conformance.test_diagnosis import DATA, DATABASES, TWINS, needs_data, truth_of

pytestmark = needs_data

#: Twins whose difference a profile of the host's time shows: a leak costs none.
FASTER = [folder for folder in TWINS if truth_of(folder)["cause"] != "memory-leak"]
#: Of these, p49's plain runs contain the start of MPI, most of the faster one's time.
WITHOUT_START = [folder for folder in FASTER if truth_of(folder)["cause"] != "mpi-collective-wait"]
#: Sampling costs something: measured speed-ups lie so close to those of plain runs (largest seen: 19 %).
NEAR = 0.2


@cache
def profile(path: Path) -> Profile:
    return load(path)


@cache
def twin(folder: Path) -> Diff:
    return chathpc.diff(profile(folder / "database"), profile(folder / "database-fixed"), fail_on_regression=0.05)


@pytest.mark.parametrize("folder", FASTER, ids=lambda folder: folder.name)
def test_the_fixed_program_is_faster_and_no_regression(folder: Path) -> None:
    found = twin(folder)
    assert found.verdict == "faster"
    assert found.gate is not None
    assert found.gate.outcome == "passed"


@pytest.mark.parametrize("folder", WITHOUT_START, ids=lambda folder: folder.name)
def test_the_speed_up_is_that_of_plain_runs(folder: Path) -> None:
    found = twin(folder)
    whole = found.elapsed or found.total
    assert whole is not None
    assert whole.ratio is not None
    assert 1 / whole.ratio == pytest.approx(truth_of(folder)["fixed_speedup"], rel=NEAR)


@pytest.mark.parametrize("folder", FASTER, ids=lambda folder: folder.name)
def test_the_largest_part_is_at_the_place_of_the_fault_or_in_the_wait_for_it(folder: Path) -> None:
    truth, largest = truth_of(folder), twin(folder).shares[0]
    places = {truth["where"]["function"], *truth["acceptable_functions"]}
    names = {name.rsplit("::", 1)[-1] for path in largest.contexts for name in path}
    waits = largest.activity is not None and ("waiting" in largest.activity or largest.activity == "MPI")
    assert waits or names & {place.rsplit("::", 1)[-1] for place in places}


@pytest.mark.parametrize("folder", FASTER, ids=lambda folder: folder.name)
def test_turned_round_the_gate_fails(folder: Path) -> None:
    found = chathpc.diff(profile(folder / "database-fixed"), profile(folder / "database"), fail_on_regression=0.05)
    assert found.verdict == "slower"
    assert found.gate is not None
    assert found.gate.outcome == "failed"


def test_a_fault_that_costs_no_time_is_no_difference_in_time() -> None:
    (folder,) = (folder for folder in TWINS if truth_of(folder)["cause"] == "memory-leak")
    assert twin(folder).verdict == "unchanged"


@pytest.mark.parametrize("path", DATABASES, ids=lambda path: str(path.relative_to(DATA)))
def test_a_database_does_not_differ_from_itself(path: Path) -> None:
    try:
        mine = load(path)
    except chathpc.AdapterError:
        pytest.skip("cannot be read")
    found = chathpc.diff(mine, mine)
    assert found.verdict in ("unchanged", "not-comparable")
    assert found.shares == []
    assert {each.status for each in found.findings} <= {"same"}


def test_parts_of_differences_of_unlike_databases_are_the_whole() -> None:
    compared = 0
    for one, other in itertools.pairwise(folder / "database" for folder in TWINS):
        diff = chathpc.diff(profile(one), profile(other))
        if diff.total is None or diff.rest is None:
            assert diff.verdict == "not-comparable"  # another clock
            continue
        compared += 1
        told = sum(share.change for share in diff.shares) + diff.rest.change
        assert told == pytest.approx(diff.total.change, abs=1e-9 * max(diff.total.before, diff.total.after))
    assert compared > len(TWINS) // 2


def test_two_ways_to_write_one_measurement_do_not_differ() -> None:
    """hpcprof with and without statistics, of one measurement."""
    one, other = (profile(DATA / "hpctoolkit" / name / "database") for name in ("mpi-4", "mpi-4-allstats"))
    found = chathpc.diff(one, other)
    assert found.total is not None
    assert (found.total.change, found.shares, found.rest.change if found.rest else None) == (0, [], 0)
