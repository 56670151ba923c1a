"""Sections of arrays that are copied for a call, and such that are handed on as they are."""

from __future__ import annotations

import pytest

from tests.diagnosis.parts import diagnosed, function, main, source
from tests.diagnosis.source.programs import first_cause
from tests.profile.build import build, line

COPIES = "redundant-copies"
PROGRAM = """module rows
contains
  subroutine relax(n, w, u)
    integer, intent(in) :: n
    real(8), intent(in) :: w
    real(8), intent(inout) :: u(n)
    u = w*u + 1.0
  end subroutine
  real(8) function total(u, n)
    integer, intent(in) :: n
    real(8), intent(in) :: u(*)
    total = sum(u(1:n))
  end function
  subroutine step(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n, n)
    integer :: k
    do k = 1, n
      call relax(n, 0.5d0, a(k, :)) ! HOT
    end do
  end subroutine
end module
"""
CALL = "call relax(n, 0.5d0, a(k, :))"


@pytest.mark.parametrize(
    ("expected", "old", "new"),
    [
        (COPIES, "", ""),
        (COPIES, CALL, "call relax(u=a(k, 1:n), n=n, w=0.5d0)"),
        (COPIES, CALL, "call relax(n, 0.5d0, a(1:n:2, k))"),
        (COPIES, CALL, "s = s + total(a(k, :), n)"),
        (COPIES, "u(n)\n", "u(n, 1)\n"),
        (COPIES, "u(n)\n", "u(0:n-1)\n"),
        (COPIES, "intent(inout) :: u(n)", "dimension(0:n-1), intent(inout) :: u"),
        ("", CALL, "call relax(n, 0.5d0, a(:, k))"),
        ("", CALL, "call relax(n, 0.5d0, a(2:n, k))"),
        ("", CALL, "call relax(n, 0.5d0, a(1:n:1, k))"),
        ("", CALL, "call relax(n, 0.5d0, a(1, k))"),
        ("", CALL, "call relax(n, 0.5d0, a)"),
        ("", CALL, "call relax(n, a(k, 1), b)"),
        ("", CALL, "call elsewhere(n, 0.5d0, a(k, :))"),
        ("", "u(n)\n", "u(:)\n"),
        ("", "u(n)\n", "u(0:)\n"),
        ("", "intent(inout) :: u(n)", "dimension(0:), intent(inout) :: u"),
        ("", "real(8), intent(inout) :: u(n)", "real(8), pointer, intent(inout) :: u(:)"),
        ("", "real(8), intent(inout) :: u(n)", "real(8), intent(inout) :: u"),
    ],
)
def test_rows_are_copied_for_a_routine_that_wants_them_in_one_piece(expected: str, old: str, new: str) -> None:
    assert old in PROGRAM
    assert first_cause(PROGRAM.replace(old, new), "a.f90") == expected


def test_only_the_time_of_the_line_itself_goes_for_the_copies() -> None:
    at = next(number for number, each in enumerate(PROGRAM.splitlines(), 1) if "HOT" in each)
    called = function("__rows_MOD_relax", line("a.f90:7", time=6.0), at="a.f90:3")
    tree = function("__rows_MOD_step", line(f"a.f90:{at}", called, time=4.0), at="a.f90:14")
    diagnosis = diagnosed(build(main(tree, at="m.c:1"), read_source=source({"a.f90": PROGRAM})))
    found = next(one for one in diagnosis.findings if one.cause == COPIES)
    assert (found.where.function, found.share) == ("step", pytest.approx(0.4))


def test_the_routine_may_be_in_another_file() -> None:
    rows, steps = PROGRAM.split("  subroutine step", 1)
    texts = {
        "rows.f90": rows + "end module\n",
        "a.f90": "module steps\n  use rows\ncontains\n  subroutine step" + steps,
    }
    at = next(number for number, each in enumerate(texts["a.f90"].splitlines(), 1) if "HOT" in each)
    called = function("__rows_MOD_relax", line("rows.f90:7", time=4.0), at="rows.f90:3")
    tree = function("__steps_MOD_step", line(f"a.f90:{at}", called, time=6.0), at="a.f90:4")
    for name in ("rows.f90", "other.f90"):
        known = {"a.f90": texts["a.f90"], name: texts["rows.f90"]}
        diagnosis = diagnosed(build(main(tree, at="m.c:1"), read_source=source(known)))
        assert any(one.cause == COPIES for one in diagnosis.findings) == (name == "rows.f90")
