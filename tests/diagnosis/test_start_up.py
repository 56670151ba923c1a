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


def test_a_run_of_microseconds_is_too_short_to_be_timed() -> None:
    profile = replace(build(main(function("work", time=(4e-5,)))), timed=True)
    diagnosis = diagnose(profile)
    assert diagnosis.verdict == Verdict.INSUFFICIENT
    assert diagnosis.headline.startswith("The run takes 40.0 µs: too short")
    assert diagnose(replace(build(main(function("work", time=(4e-2,)))), timed=True)).verdict != Verdict.INSUFFICIENT
