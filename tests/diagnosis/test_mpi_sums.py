"""Sums over ranks with their extremes, as Caliper writes them; expected numbers are arithmetic on what is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chathpc.adapters.caliper import read
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Diagnosis, Finding
from tests.synthetic.caliper import Record, across, write_cali

MAIN = (("function", "main"),)
STEP = (*MAIN, ("function", "advance"))
SOLVE = (*MAIN, ("function", "solve"))

#: Exclusive seconds of each rank by path.
Seconds = dict[tuple[tuple[str, str], ...], Sequence[float]]


def explained(folder: Path, own: Seconds, *, extremes: bool = True, ranks: int = 4) -> Diagnosis:
    records = []
    for path in own:
        below = [values for other, values in own.items() if other[: len(path)] == path]
        whole = [sum(column) for column in zip(*below, strict=True)]
        values = across(whole)
        if not extremes:
            values = {name: value for name, value in values.items() if name.startswith("sum#")}
        records.append(Record(path, values))
    return diagnose(read(write_cali(folder / "run.cali", records, facts={"jobsize": str(ranks)})))


def first(diagnosis: Diagnosis) -> Finding:
    return diagnosis.findings[0]


def mpi(path: tuple[tuple[str, str], ...], name: str) -> tuple[tuple[str, str], ...]:
    return (*path, ("mpi.function", name))


def statements(diagnosis: Diagnosis) -> list[str]:
    return [item.statement for item in diagnosis.evidence if item.id in first(diagnosis).evidence]


def test_a_collective_that_most_ranks_wait_in_is_found_with_its_caller(tmp_path: Path) -> None:
    own: Seconds = {
        MAIN: (1.0,) * 4,
        STEP: (8.0, 6.0, 6.0, 6.0),
        SOLVE: (1.0,) * 4,
        mpi(SOLVE, "MPI_Allreduce"): (0.5, 2.5, 2.5, 2.5),
    }
    diagnosis = explained(tmp_path, own)
    found = first(diagnosis)
    assert (found.cause, found.where.function) == ("mpi-collective-wait", "solve")
    assert (found.seconds, found.share) == (pytest.approx(8.0), pytest.approx(8 / 42))
    assert diagnosis.headline == (
        "The ranks spend 19.0 % of the time (2.00 s per rank on average) in MPI_Allreduce called from solve, and 75.0 % of "
        "that exceeds the minimum over the ranks: waiting for late ranks."
    )
    assert statements(diagnosis) == [
        "MPI takes 8.00 s of 42.0 s (19.0 %): MPI_Allreduce 8.00 s.",
        "MPI_Allreduce called from solve takes 8.00 s of 42.0 s (19.0 %): per rank on average 2.00 s.",
        "MPI_Allreduce called from solve takes 500 ms at least, 2.00 s on average and 2.50 s at most, over 4 ranks.",
        "advance takes 6.00 s at least, 6.50 s on average and 8.00 s at most, over 4 ranks.",
    ]
    assert "which of them is late" in found.against[0]
    assert found.next_measurement is not None
    assert "hatchet-region-profile" in found.next_measurement


def test_a_call_that_takes_all_ranks_the_same_time_communicates(tmp_path: Path) -> None:
    own: Seconds = {MAIN: (1.0,) * 4, STEP: (6.0,) * 4, mpi(STEP, "MPI_Alltoall"): (2.9, 3.0, 3.0, 3.1)}
    diagnosis = explained(tmp_path, own)
    assert (first(diagnosis).cause, first(diagnosis).where.function) == ("mpi-communication-bound", "advance")
    assert "all of them about equally" in diagnosis.headline


def test_without_extremes_waiting_and_moving_data_are_not_told_apart(tmp_path: Path) -> None:
    own: Seconds = {MAIN: (1.0,) * 4, STEP: (6.0,) * 4, mpi(STEP, "MPI_Waitall"): (1.0, 3.0, 3.0, 3.0)}
    diagnosis = explained(tmp_path, own, extremes=False)
    assert first(diagnosis).cause == "mpi-late-sender"
    assert "cannot be distinguished" in first(diagnosis).against[0]
    assert len(statements(diagnosis)) == 2


def test_two_kinds_of_calls_are_two_findings_each_at_its_dearest_caller(tmp_path: Path) -> None:
    own: Seconds = {
        MAIN: (10.0,) * 4,
        STEP: (10.0,) * 4,
        mpi(STEP, "MPI_Wait"): (3.0, 1.0, 3.0, 3.0),
        mpi(STEP, "MPI_Allreduce"): (1.0,) * 4,
        SOLVE: (10.0,) * 4,
        mpi(SOLVE, "MPI_Wait"): (2.0,) * 4,
        mpi(SOLVE, "MPI_Allreduce"): (8.0, 1.0, 8.0, 8.0),
    }
    diagnosis = explained(tmp_path, own)
    found = [(one.cause, one.where.function) for one in diagnosis.findings if one.cause.startswith("mpi")]
    assert found == [("mpi-collective-wait", "solve")] or found[0] == ("mpi-collective-wait", "solve")
    assert "such calls from other places 4.00 s" in " ".join(statements(diagnosis))


def test_little_time_in_mpi_is_no_finding(tmp_path: Path) -> None:
    own: Seconds = {MAIN: (10.0,) * 4, STEP: (10.0,) * 4, mpi(STEP, "MPI_Allreduce"): (0.1,) * 4}
    assert not [one for one in explained(tmp_path, own).findings if one.cause.startswith("mpi")]


def test_one_process_alone_spends_and_does_not_average(tmp_path: Path) -> None:
    own: Seconds = {MAIN: (6.0,), STEP: (2.0,), mpi(STEP, "MPI_Barrier"): (2.0,)}
    diagnosis = explained(tmp_path, own, extremes=False, ranks=1)
    assert diagnosis.headline == "The program spends 20.0 % of the time in MPI_Barrier called from advance."


def test_repairs_that_gave_more_than_the_cost_allows_are_not_told(tmp_path: Path) -> None:
    """MPI_Reduce has 30 % of a run of which main has all: without it the run is 1 / 0.7 = 1.43 times as fast."""
    found = first(explained(tmp_path, {MAIN: (7.0,) * 4, mpi(MAIN, "MPI_Reduce"): (3.0,) * 4}, extremes=False))
    assert (found.cause, found.share) == ("mpi-collective-wait", pytest.approx(0.3))
    assert found.speedup_if_free is None  # nothing would be left without main
    assert found.typical_gain is None  # 1.19x and 2.69x were measured: one that fits is no range


def test_all_calls_that_make_the_time_are_named_and_no_late_rank_is_assumed(tmp_path: Path) -> None:
    own: Seconds = {MAIN: (6.0,), mpi(MAIN, "MPI_Reduce"): (3.0,), mpi(MAIN, "MPI_Bcast"): (1.0,)}
    diagnosis = explained(tmp_path, own, extremes=False, ranks=1)
    assert diagnosis.headline == "The program spends 40.0 % of the time in MPI_Reduce and MPI_Bcast called from main."
    assert statements(diagnosis)[1] == "MPI_Reduce and MPI_Bcast called from main take 4.00 s of 10.0 s (40.0 %)."
    found = first(diagnosis)
    assert found.title == "Collective MPI calls take time"
    assert not any("late rank" in each or "critical rank" in each for each in found.advice)
