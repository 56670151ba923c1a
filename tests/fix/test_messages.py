"""Requests that nothing waits for, and messages from anybody: told where a change brings them, and only there."""

from __future__ import annotations

import pytest

from chathpc.fix.gates.races import message_races

PLAIN = "void f(double *e) {\n  MPI_Send(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\n}\n"
FORTRAN = "subroutine f(e)\n  call MPI_Send(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, ierr)\nend subroutine\n"


def changed(body: str, name: str = "a.c", before: str = PLAIN) -> list[str]:
    return message_races({name: before}, {name: body})


@pytest.mark.parametrize(
    "body",
    [
        "void f(double *e) { MPI_Request r; MPI_Isend(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &r); }",
        "void f(double *e) { MPI_Request r, q; MPI_Irecv(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &r); MPI_Wait(&q, s); }",
        "void f(double *e, MPI_Request *r) { MPI_Ibcast(e, 4, D, 0, C, r); }\n"
        "void g(double *e) { MPI_Request q, p; f(e, &q); MPI_Wait(&p, 0); }",
        "void f(double *e, MPI_Request *r) { MPI_Ibcast(e, 4, D, 0, C, r); }\n"
        "void g(double *e) { MPI_Request q, r; f(e, &q); MPI_Wait(&q, 0); MPI_Ibcast(e, 4, D, 0, C, &r); }",
        "void f(double *e) { MPI_Iallreduce(e, e + 1, 1, MPI_DOUBLE, MPI_SUM, comm(1, 2), &all[k]); }",
        'void f(double *e) { /* MPI_Wait(&r) */ MPI_Isend(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &r); puts("MPI_Wait(&r)"); }',
    ],
)
def test_a_request_that_nothing_waits_for_is_told(body: str) -> None:
    assert any("no call waits for the request" in one for one in changed(body))


@pytest.mark.parametrize(
    "body",
    [
        PLAIN,
        "void f(double *e) { MPI_Request r; MPI_Isend(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &r); MPI_Wait(&r, 0); }",
        "void f(double *e) { MPI_Request r[2]; MPI_Isend(e, 4, D, 1, 7, C, &r[0]); MPI_Irecv(e, 4, D, 1, 7, C, r + 1);"
        " MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }",
        "void f(double *e) { MPI_Isend(e, 4, D, 1, 7, C, &w->request); }\nvoid g(W *w) { MPI_Test(&w->request, &done, 0); }",
        "void f(double *e, MPI_Request *r) { MPI_Ibcast(e, 4, D, 0, C, r); }\n"
        "void g(double *e) { MPI_Request q; f(e, &q); MPI_Wait(&q, 0); }",
        "void f(void) { int k; MPI_Iprobe(0, 1, C, &k, &s); MPI_Initialized(&k); MPI_Info_create(&i); MPI_Init(0, 0); }",
    ],
)
def test_what_is_waited_for_and_what_starts_nothing_is_not(body: str) -> None:
    assert changed(body) == []


def test_fortran_has_the_error_behind_the_request_or_nothing() -> None:
    start = "subroutine f(e)\n  call mpi_isend(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, Req, ierr)\n"
    assert changed(start + "end subroutine\n", "a.f90", FORTRAN)
    assert not changed(start + "  call MPI_WAIT(req, st, ierr)\nend subroutine\n", "a.f90", FORTRAN)
    short = start.replace(", ierr", "")
    assert not changed(short + "  call mpi_wait(req, st)\nend subroutine\n", "a.f90", FORTRAN)


@pytest.mark.parametrize("error", ["", ", ierr"])
@pytest.mark.parametrize(
    "call", ["mpi_ibarrier(MPI_COMM_WORLD", "MPI_Ibcast(e, 4, MPI_DOUBLE, 0, comm", "mpi_send_init(e, 4, t, 1, 7, comm"]
)
def test_in_fortran_the_request_is_told_from_the_error_behind_it(call: str, error: str) -> None:
    start = f"subroutine f(e)\n  call {call}, req{error})\n"
    waited = changed(f"{start}  call mpi_wait(req, MPI_STATUS_IGNORE)\nend subroutine\n", "a.f90", FORTRAN)
    other = changed(f"{start}  call mpi_wait(other, MPI_STATUS_IGNORE, ierr)\nend subroutine\n", "a.f90", FORTRAN)
    several = changed(f"{start}  call mpi_waitall(1, [req], statuses, ierr)\nend subroutine\n", "a.f90", FORTRAN)
    assert (waited, several) == ([], [])
    assert len(other) == 1


@pytest.mark.parametrize(
    ("wait", "told"),
    [
        ("MPI_Wait(&r, &s)", 0),
        ("MPI_Test(&r, &done, &s)", 0),
        ("MPI_Waitall(n, &r, MPI_STATUSES_IGNORE)", 0),
        ("MPI_Waitany(n, all_of(r), &at, &s)", 0),
        ("MPI_Testsome(n, &r, &count, at, statuses)", 0),
        ("MPI_Wait(&q, &r)", 1),
        ("MPI_Waitall(r, q, MPI_STATUSES_IGNORE)", 1),
        ("MPI_Session_init(i, h, &r)", 1),
    ],
)
def test_what_is_waited_for_is_the_request_and_nothing_else_of_the_call(wait: str, told: int) -> None:
    assert len(changed(f"void f(void) {{ MPI_Ibarrier(MPI_COMM_WORLD, &r); {wait}; }}")) == told


def test_what_the_original_does_already_is_not_held_against_a_change() -> None:
    open_ended = "void f(double *e) { MPI_Isend(e, 4, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &r); }"
    assert changed(open_ended + " // faster", before=open_ended) == []


def test_messages_from_anybody_are_told_where_there_are_more_of_them() -> None:
    anybody = "void f(double *e) { MPI_Recv(e, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, 0); }"
    assert "MPI_ANY_SOURCE" in changed(anybody)[0]
    assert changed(anybody, before=anybody) == []


@pytest.mark.parametrize(
    "body", ["MPI_Isend(", "MPI_Isend()", "MPI_Isend(" * 5000, "MPI_Isend(" + "(" * 9000, "MPI_Wait("]
)
def test_broken_text_is_read_in_bounded_time(body: str) -> None:
    changed(body)
