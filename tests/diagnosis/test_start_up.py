"""Short runs that do little but start MPI."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Verdict
from tests.diagnosis.parts import function, main, mpi, ranks
from tests.profile.build import build


@pytest.mark.parametrize(
    ("init", "work", "short"),
    [((0.3, 0.2), (0.1, 0.2), True), ((0.1, 0.1), (0.3, 0.3), False), ((30.0, 20.0), (10.0, 20.0), False)],
)
def test_a_short_run_that_mostly_starts_mpi_is_no_ground_for_a_conclusion(
    init: tuple[float, float], work: tuple[float, float], short: bool
) -> None:
    profile = build(main(function("work", time=work), mpi("MPI_Init", time=init)), locations=ranks(2))
    diagnosis = diagnose(profile)
    assert (diagnosis.verdict == Verdict.INSUFFICIENT) == short
    assert (diagnosis.headline.startswith("The run takes 400 ms in each of 2 threads or ranks, and 62.5 %")) == short
    assert ("(MPI_Init 62.5 %)" in diagnosis.headline) == short


@pytest.mark.parametrize(("blocked", "work", "short"), [(0.25, 0.2, False), (0.25, 0.01, True), (0.45, 0.0, True)])
def test_waiting_for_other_ranks_to_start_does_not_make_the_rest_less(blocked: float, work: float, short: bool) -> None:
    """Two ranks of a sampled run that sleep in MPI_Init till all are there."""
    waits = function("<blocked>", time=(blocked, blocked))
    start = mpi("MPI_Init", waits, time=(0.02, 0.02))
    profile = build(main(function("work", time=(work, work)), start), locations=ranks(2))
    assert (diagnose(profile).verdict == Verdict.INSUFFICIENT) == short


def test_starting_mpi_is_no_place_of_the_program() -> None:
    """A rank sleeps in MPI_Init for most of the run, called from main; the work is spread over functions."""
    works = [function(f"f{number}", time=(0.5, 0.5)) for number in range(8)]
    diagnosis = diagnose(build(main(mpi("MPI_Init", time=(6.0, 6.0)), *works), locations=ranks(2)))
    assert (
        diagnosis.headline
        == "MPI start-up and shutdown take 60.0 % of the time, once per run: no cause was found in the rest."
    )


def test_a_run_of_microseconds_is_too_short_to_be_timed() -> None:
    profile = replace(build(main(function("work", time=(4e-5,)))), timed=True)
    diagnosis = diagnose(profile)
    assert diagnosis.verdict == Verdict.INSUFFICIENT
    assert diagnosis.headline.startswith("The run takes 40.0 µs: too short")
    assert diagnose(replace(build(main(function("work", time=(4e-2,)))), timed=True)).verdict != Verdict.INSUFFICIENT
