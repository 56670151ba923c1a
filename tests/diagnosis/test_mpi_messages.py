"""Latency of many small messages, told from waiting and from volume by calls and bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.adapters.tau import read
from chathpc.diagnosis.diagnose import diagnose
from chathpc.profile.merge import merge
from chathpc.profile.profile import Profile, Source
from tests.diagnosis.parts import causes, diagnosed, function, main, mpi, ranks, source, statements
from tests.profile.build import Node, build, line
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


def test_very_many_short_calls_are_latency_where_bytes_were_not_counted(tmp_path: Path) -> None:
    tree: Tree = {
        ("main",): (4e6, 1),
        ("main", "exchange"): (1e4, 1),
        ("main", "exchange", "MPI_Send()"): (4e6, 200_000),
    }
    first = diagnose(read(write_run(tmp_path / "run", {(rank, 0, 0): tree for rank in range(2)}))).findings[0]
    assert (first.cause, first.against) == ("mpi-small-messages", ("How much data they move was not measured.",))
    assert "400,000 MPI calls of 20.0 µs each" in first.summary


def test_bytes_that_another_tool_counted_are_no_quotient_with_these_calls() -> None:
    """Of 400,000 calls one tool counts the bytes, 8 each; the other saw few calls, and 48 bytes."""

    def seen(tool: str, calls: float, sent: dict[str, float]) -> Profile:
        send = mpi("MPI_Send", values={"cpu.time": 8.0, "calls.count": calls, **sent})
        profile = build(main(send, line("app.c:2", time=2.0)))
        return replace(profile, sources=(Source(Path(tool), tool),))

    joined = merge([seen("A", 4e5, {"mpi.sent.bytes": 3.2e6}), seen("B", 10.0, {"mpi.message.bytes": 48.0})])
    first = diagnose(joined).findings[0]
    assert "400,000 MPI calls of 20.0 µs and 8.00 B each" in first.summary


def test_short_collective_calls_are_named_and_merged_and_no_messages_to_one_rank(tmp_path: Path) -> None:
    tree: Tree = {
        ("main",): (4e6, 1),
        ("main", "step"): (1e4, 1),
        ("main", "step", "MPI_Bcast()"): (3e6, 150_000),
        ("main", "step", "MPI_Reduce()"): (1e6, 50_000),
    }
    diagnosis = diagnose(read(write_run(tmp_path / "run", {(rank, 0, 0): tree for rank in range(2)})))
    first = diagnosis.findings[0]
    assert (first.cause, first.title) == ("mpi-small-messages", "Many small collective calls")
    assert "MPI_Bcast 6.00 s, MPI_Reduce 2.00 s" in diagnosis.evidence[0].statement
    assert not any("MPI_Send" in each or "same rank" in each for each in first.advice)


EXCHANGE = """\
#define FEW 2
void exchange(double *a, double *halo, int n, int other) {
  for (int i = 0; i < n; i += FEW)
    MPI_Send(&a[i], FEW, MPI_DOUBLE, other, i, MPI_COMM_WORLD);
  for (int k = 0; k < steps; k++)
    MPI_Send(&last, 1, MPI_DOUBLE, other, k, MPI_COMM_WORLD);
  for (int k = 0; k < steps; k++)
    MPI_Send(&a[k * n], n, MPI_DOUBLE, other, k, MPI_COMM_WORLD);
}
"""


@pytest.mark.parametrize(("at", "small"), [(4, True), (6, False), (8, False)])
def test_elements_sent_one_by_one_are_small_messages_by_the_source(at: int, small: bool) -> None:
    """A value for each step is a different thing: its buffer does not move with the loop."""
    send = line(f"app.c:{at}", mpi("MPI_Send", time=(4.0, 4.0)))
    tree = main(
        function("exchange", send, at="app.c:2"), function("work", line("app.c:30", time=(6.0, 6.0)), at="app.c:29")
    )
    profile = replace(build(tree, locations=ranks(2)), read_source=source({"app.c": EXCHANGE}))
    first = diagnosed(profile).findings[0]
    assert first.cause == ("mpi-small-messages" if small else "mpi-late-sender")
    if small:
        assert (first.where.function, first.seconds, first.status) == ("exchange", 8.0, "derived")
        assert "sends or receives 2 elements a message in a loop over i" in first.summary
        assert "mpi-late-sender" not in causes(profile)


def test_waiting_for_a_rank_with_more_work_is_no_cost_of_small_messages() -> None:
    """Rank 0 computes for 3 s, rank 1 for 7 s; they exchange for 7 s and 3 s: without the 4 s in which rank 0 waits, 6 s."""
    send = line("app.c:4", mpi("MPI_Send", time=(7.0, 3.0)))
    tree = main(
        function("exchange", send, at="app.c:2"), function("work", line("app.c:30", time=(3.0, 7.0)), at="app.c:29")
    )
    diagnosis = diagnosed(replace(build(tree, locations=ranks(2)), read_source=source({"app.c": EXCHANGE})))
    seconds = {one.cause: one.seconds for one in diagnosis.findings}
    assert (seconds["mpi-small-messages"], seconds["mpi-load-imbalance"]) == (pytest.approx(6.0), pytest.approx(4.0))
    assert "Waiting there for the busiest rank takes 4.00 s of the 10.0 s of MPI in them (40.0 %)." in statements(
        diagnosis, "mpi-small-messages"
    )


SEAM = """\
static void trade(const double *mine, double *theirs, int peer) {
  MPI_Sendrecv(mine, 1, MPI_DOUBLE, peer, 0, theirs, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void seam(double *t, int rows, int pitch, int peer) {
  for (int r = 1; r <= rows; r++)
    trade(t + r * pitch, t + r * pitch + 1, peer);
}
"""


def test_elements_sent_by_a_function_that_a_loop_calls_are_small_messages_of_the_loop() -> None:
    send = line("app.c:2", mpi("MPI_Sendrecv", time=(4.0, 4.0)))
    trade = line("app.c:6", function("trade", send, at="app.c:1"))
    tree = main(
        function("seam", trade, at="app.c:4"), function("work", line("app.c:30", time=(6.0, 6.0)), at="app.c:29")
    )
    profile = replace(build(tree, locations=ranks(2)), read_source=source({"app.c": SEAM}))
    first = diagnosed(profile).findings[0]
    assert (first.cause, first.where.function, first.seconds) == ("mpi-small-messages", "seam", 8.0)
    whole = replace(profile, read_source=source({"app.c": SEAM.replace("mine, 1,", "mine, n,")}))
    assert "mpi-small-messages" not in causes(whole)


def test_calls_of_instrumentation_do_not_show_what_is_inside_them(tmp_path: Path) -> None:
    tree: Tree = {("main",): (4e6, 1), ("main", "MPI_Recv()"): (3e6, 10)}
    profile = read(write_run(tmp_path / "run", {(rank, 0, 0): tree for rank in range(2)}))
    first = diagnose(profile).findings[0]
    assert first.cause == "mpi-late-sender"
    assert any("cannot be distinguished from moving data" in doubt for doubt in first.against)


TOTALS = """\
static double total(double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
void deposit(const double *local, double *rho, int bins) {
  for (int b = 0; b < bins; b++)
    rho[b] = total(local[b]);
}
void solve(double *part, double *norm, int steps) {
  for (int k = 0; k < steps; k++) {
    MPI_Allreduce(&part[k], &norm[k], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    part[k + 1] = advance(norm[k]);
  }
}
"""


def reducing(caller: str, begin: int, *inside: Node) -> Profile:
    work = function("work", line("app.c:30", time=(6.0, 6.0)), at="app.c:29")
    tree = main(function(caller, *inside, at=f"app.c:{begin}"), work)
    return replace(build(tree, locations=ranks(2)), read_source=source({"app.c": TOTALS}))


def test_an_array_that_is_reduced_element_by_element_can_be_reduced_at_once() -> None:
    call = line("app.c:3", mpi("MPI_Allreduce", time=(4.0, 4.0)))
    first = diagnosed(reducing("deposit", 6, line("app.c:8", function("total", call, at="app.c:1")))).findings[0]
    assert (first.cause, first.where.function, first.title) == (
        "mpi-small-messages",
        "deposit",
        "Many small collective calls",
    )
    assert [each.split()[0] for each in first.advice] == ["Merge"]


def test_a_result_that_the_next_iteration_needs_cannot_be_reduced_with_it() -> None:
    profile = reducing("solve", 10, line("app.c:12", mpi("MPI_Allreduce", time=(4.0, 4.0))))
    assert causes(profile)[0] == "mpi-collective-wait"


GHOSTS = """\
subroutine swap(u, n, up)
  real(8), intent(inout) :: u(0:, 0:)
  integer, intent(in) :: n, up
  do j = 1, n
    call mpi_sendrecv(u(1, j), 1, mpi_double_precision, up, 1, &
                      u(0, j), 1, mpi_double_precision, up, 1, &
                      mpi_comm_world, mpi_status_ignore, ierr)
  end do
end subroutine
"""


@pytest.mark.parametrize("at", [5, 6, 7])  # gfortran gives a call to its last line
def test_a_call_over_several_lines_is_found_at_each(at: int) -> None:
    send = line(f"app.f90:{at}", mpi("MPI_Sendrecv", time=(4.0, 4.0)))
    work = function("work", line("app.f90:30", time=(6.0, 6.0)), at="app.f90:29")
    tree = main(function("swap", send, at="app.f90:1"), work)
    profile = replace(build(tree, locations=ranks(2)), read_source=source({"app.f90": GHOSTS}))
    assert causes(profile)[0] == "mpi-small-messages"
