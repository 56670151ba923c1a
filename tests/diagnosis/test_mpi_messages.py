"""Latency of many small messages, told from waiting and from volume by calls and bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.tau import read
from chathpc.diagnosis.diagnose import diagnose
from tests.synthetic.tau import Tree, write_run


@pytest.mark.parametrize(
    ("calls", "bytes_each", "microseconds", "found"),
    [
        (200_000, 8, 20.0, True),
        (200, 8, 20_000.0, False),  # few calls that wait
        (200_000, 80_000, 20.0, False),  # volume
        (20_000, 8, 200.0, False),  # each waits
        (20_000, 8, 5.0, False),  # little time
    ],
)
def test_many_calls_with_few_bytes_each_are_latency(
    tmp_path: Path, calls: int, bytes_each: int, microseconds: float, found: bool
) -> None:
    tree: Tree = {
        ("main",): (4e6, 1),
        ("main", "exchange"): (1e4, 1),
        ("main", "exchange", "MPI_Send()"): (calls * microseconds, calls),
    }
    events = (f'"Message size sent to all nodes" {calls} {bytes_each} {bytes_each} {bytes_each} 1',)
    profile = read(write_run(tmp_path / "run", {(rank, 0, 0): tree for rank in range(2)}, events=events))
    diagnosis = diagnose(profile)
    causes = [one.cause for one in diagnosis.findings]
    assert ("mpi-small-messages" in causes) == found
    if found:
        first = diagnosis.findings[0]
        assert (first.cause, first.where.function) == ("mpi-small-messages", "exchange")
        assert first.seconds == pytest.approx(8.0)
        assert "400,000 MPI calls of 20.0 µs and 8.00 B each" in first.summary
        assert not {"mpi-late-sender", "mpi-communication-bound"} & set(causes)


def test_calls_of_instrumentation_do_not_show_what_is_inside_them(tmp_path: Path) -> None:
    tree: Tree = {("main",): (4e6, 1), ("main", "MPI_Recv()"): (3e6, 10)}
    profile = read(write_run(tmp_path / "run", {(rank, 0, 0): tree for rank in range(2)}))
    first = diagnose(profile).findings[0]
    assert first.cause == "mpi-late-sender"
    assert any("cannot be told from moving data" in doubt for doubt in first.against)
