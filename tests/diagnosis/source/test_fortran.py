"""What is read in Fortran, and what is not."""

from __future__ import annotations

import pytest

from tests.diagnosis.source.programs import Case, case, first_cause

STRIDED, QUADRATIC, RECURSION = "strided-access", "quadratic-algorithm", "redundant-recursion"
STREAM, LATENCY, INVARIANT = "memory-bandwidth", "memory-latency", "loop-invariant-work"
SHARING, CRITICAL, MATH, COPIES, CHURN = (
    "omp-false-sharing",
    "omp-critical-contention",
    "expensive-math",
    "redundant-copies",
    "allocation-churn",
)


def procedure(name: str, cause: str, body: str, declared: str = "", head: str = "subroutine f(a, b, c, n, m)") -> Case:
    """A case with the usual head and declarations."""
    end = "end function" if "function" in head else "end subroutine"
    usual = "integer :: n, m, i, j, k, l\nreal(8) :: a(n, m), b(n, m), c(n, m), s, t\n"
    return case(name, cause, f"{head}\n{declared or usual}{body.strip()}\n{end}")


VECTORS = "integer :: n, i, j, k\nreal(8) :: a(n), b(n), c(n), s, q\ninteger :: idx(n)\n"

CASES = [
    procedure(
        "the last index innermost",
        STRIDED,
        """
do i = 1, n
  do j = 1, m
    a(i, j) = a(i, j) + b(i, j) ! HOT
  end do
end do""",
    ),
    procedure(
        "the first index innermost",
        "",
        """
do j = 1, m
  do i = 1, n
    a(i, j) = b(i, j) * c(i, j) + c(i, j) * (b(i, j) + 2.0d0 * c(i, j)) - b(i, j) * 0.5d0 ! HOT
  end do
end do""",
    ),
    procedure(
        "sections of the first index, which are contiguous, in a loop over the last",
        "",
        """
do k = 1, n
  do j = 1, 16
    s = s + sum(a(:, j, k) * b(:, j, k)) ! HOT
  end do
  do i = 1, 16
    s = s + c(i, k) ! HOT
  end do
end do""",
        "integer :: n, i, j, k\nreal(4) :: a(16, 16, n), b(16, 16, n), c(16, n), s\n",
        "subroutine f(a, b, c, s, n)",
    ),
    procedure(
        "sections of the last index",
        STRIDED,
        """
do j = 1, m
  do i = 1, n
    a(j, i) = a(j, i) + b(j, i) ! HOT
  end do
  c(:, j) = a(:, j)
end do""",
    ),
    procedure(
        "capital letters",
        STRIDED,
        """
DO I = 1, N
  DO J = 1, M
    A(I, J) = 2.0D0 * B(I, J) ! HOT
  END DO
END DO""",
    ),
    procedure(
        "neighbours in both directions, wrong order",
        STRIDED,
        """
do i = 2, n - 1
  do j = 2, m - 1
    a(i, j) = b(i, j) - 0.5d0 * (b(i, j) - b(i - 1, j)) - 0.5d0 * (b(i, j) - b(i, j - 1)) ! HOT
  end do
end do""",
    ),
    procedure(
        "assumed shape",
        STRIDED,
        """
do i = 1, size(a, 1)
  do j = 1, size(a, 2)
    a(i, j) = a(i, j) * 1.5d0 ! HOT
  end do
end do""",
        "real(8), intent(inout) :: a(:, :)\ninteger :: i, j\n",
        "subroutine f(a)",
    ),
    procedure(
        "the third dimension innermost",
        STRIDED,
        """
do k = 1, n
  do j = 1, n
    do i = 1, n
      u(k, j, i) = v(k, j, i) * 2.0d0 ! HOT
    end do
  end do
end do""",
        "integer :: n, i, j, k\nreal(8), dimension(n, n, n) :: u, v\n",
        "subroutine f(u, v, n)",
    ),
    procedure(
        "three dimensions in order",
        STREAM,
        """
do k = 1, n
  do j = 1, n
    do i = 1, n
      u(i, j, k) = v(i, j, k) * 2.0d0 ! HOT
    end do
  end do
end do""",
        "integer :: n, i, j, k\nreal(8), dimension(n, n, n) :: u, v\n",
        "subroutine f(u, v, n)",
    ),
    procedure(
        "a small matrix",
        "",
        """
do k = 1, n
  do i = 1, 12
    do j = 1, 12
      s = s + w(i, j) * w(i, j) * s * 0.25d0 + 1.0d0 ! HOT
    end do
  end do
end do""",
        "integer :: n, i, j, k\nreal(8) :: w(12, 12), s\n",
        "subroutine f(n)",
    ),
    procedure(
        "three components in the second index",
        "",
        """
do i = 1, n
  do k = 1, 3
    x(k, i) = x(k, i) + v(k, i) * s * (1.0d0 + s * v(k, i) * 0.5d0 + s * s * x(k, i)) ! HOT
  end do
end do""",
        "integer :: n, i, k\nreal(8) :: x(3, n), v(3, n), s\n",
        "subroutine f(x, v, n)",
    ),
    procedure(
        "a flattened index",
        STRIDED,
        """
do i = 1, n
  do j = 1, m
    a((j - 1) * n + i) = b((j - 1) * n + i) ! HOT
  end do
end do""",
        "integer :: n, m, i, j\nreal(8) :: a(*), b(*)\n",
        "subroutine f(a, b, n, m)",
    ),
    procedure(
        "a matrix product",
        STRIDED,
        """
do i = 1, n
  do j = 1, n
    do k = 1, n
      c(i, j) = c(i, j) + a(i, k) * b(k, j) ! HOT
    end do
  end do
end do""",
    ),
    procedure(
        "a transposition",
        STRIDED,
        """
do j = 1, n
  do i = 1, n
    a(j, i) = b(i, j) ! HOT
  end do
end do""",
    ),
    procedure(
        "a member in the wrong order",
        STRIDED,
        """
do i = 1, g%nx
  do j = 1, g%ny
    g%u(i, j) = g%u(i, j) + 1.0d0 ! HOT
  end do
end do""",
        "type(grid) :: g\ninteger :: i, j\n",
        "subroutine f(g)",
    ),
    procedure(
        "samples on purpose",
        "",
        """
do i = 1, n, 64
  s = max(s, a(i)) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, n)",
    ),
    procedure(
        "a search in a list",
        QUADRATIC,
        """
do i = 1, n
  if (idx(i) == k) then ! HOT
    j = i
    exit
  end if
end do""",
        VECTORS,
        "subroutine f(idx, n, k, j)",
    ),
    procedure(
        "a search in one line",
        QUADRATIC,
        """
do i = 1, n
  if (idx(i) .eq. k) return ! HOT
end do""",
        VECTORS,
        "subroutine f(idx, n, k)",
    ),
    procedure(
        "a search that is made once",
        "",
        """
! ONCE
do i = 1, n
  if (idx(i) == k) exit ! HOT
end do""",
        VECTORS,
        "subroutine f(idx, n, k)",
    ),
    procedure(
        "any in a loop",
        QUADRATIC,
        """
do i = 1, n
  if (.not. any(c(1:k) == a(i))) then ! HOT
    k = k + 1
    c(k) = a(i)
  end if
end do""",
        VECTORS,
        "subroutine f(a, c, n, k)",
    ),
    procedure(
        "findloc in a loop",
        QUADRATIC,
        """
do i = 1, n
  idx(i) = findloc(b, a(i), dim=1) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, idx, n)",
    ),
    procedure(
        "any of something else",
        "",
        """
do i = 1, n
  s = s + merge(1.0d0, 0.0d0, a(i) > 0.5d0) * s * a(i) + a(i) * a(i) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, n)",
    ),
    procedure(
        "all pairs compared",
        QUADRATIC,
        """
do i = 1, n
  do j = i + 1, n
    if (idx(i) == idx(j)) k = k + 1 ! HOT
  end do
end do""",
        VECTORS,
        "subroutine f(idx, n, k)",
    ),
    procedure(
        "a search by halves",
        LATENCY,
        """
do while (j - i > 1)
  k = (i + j) / 2
  if (a(k) > s) then ! HOT
    j = k
  else
    i = k
  end if
end do""",
        VECTORS,
        "subroutine f(a, n, s)",
    ),
    procedure(
        "Fibonacci",
        RECURSION,
        """
if (n < 2) then
  r = n
else
  r = fib(n - 1) + fib(n - 2) ! HOT
end if""",
        "integer, intent(in) :: n\ninteger :: r\n",
        "recursive function fib(n) result(r)",
    ),
    procedure(
        "Fibonacci with results that are kept",
        "",
        """
if (known(n) > 0) then
  r = known(n)
else
  r = fib(n - 1) + fib(n - 2) ! HOT
  known(n) = r
end if""",
        "integer, intent(in) :: n\ninteger :: r\n",
        "recursive function fib(n) result(r)",
    ),
    procedure(
        "a sum by halves",
        "",
        """
if (hi - lo < 2) then
  r = 1.0d0
else
  mid = (lo + hi) / 2
  r = total(lo, mid) + total(mid, hi) ! HOT
end if""",
        "integer, intent(in) :: lo, hi\ninteger :: mid\nreal(8) :: r\n",
        "recursive function total(lo, hi) result(r)",
    ),
    procedure(
        "a triad",
        STREAM,
        """
do i = 1, n
  a(i) = b(i) + q * c(i) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, c, q, n)",
    ),
    procedure(
        "a sum of products",
        STREAM,
        """
do i = 1, n
  s = s + a(i) * b(i) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, s, n)",
    ),
    procedure(
        "do concurrent",
        STREAM,
        """
do concurrent (i = 1:n)
  a(i) = b(i) + q * c(i) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, c, q, n)",
    ),
    procedure(
        "a triad of a few elements",
        "",
        """
do i = 1, 1000
  a(i) = b(i) + q * c(i) ! HOT
end do""",
        "integer :: i\nreal(8) :: a(1000), b(1000), c(1000), q\n",
        "subroutine f(a, b, c, q)",
    ),
    procedure(
        "a recurrence",
        "",
        """
do i = 2, n
  a(i) = b(i) - q * a(i - 1) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, q, n)",
    ),
    procedure(
        "much arithmetic",
        "",
        """
do i = 1, n
  a(i) = ((((b(i) * 0.1d0 + 0.2d0) * b(i) + 0.3d0) * b(i) + 0.4d0) * b(i) + 0.5d0) * b(i) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, n)",
    ),
    procedure(
        "a gather",
        LATENCY,
        """
do i = 1, n
  s = s + a(idx(i)) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, idx, s, n)",
    ),
    procedure(
        "a scatter",
        "",
        """
do i = 1, n
  a(idx(i)) = a(idx(i)) + 1.0d0 ! HOT
end do""",
        VECTORS,
        "subroutine f(a, idx, n)",
    ),
    procedure(
        "a chain of indices",
        LATENCY,
        """
do i = 1, n
  k = idx(k) ! HOT
end do""",
        VECTORS,
        "subroutine f(idx, k, n)",
    ),
    procedure(
        "powers where no library was seen",
        MATH,
        """
do i = 1, n
  a(i) = b(i)**1.7d0 + exp(-b(i)) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, n)",
    ),
    procedure(
        "a square",
        "",
        """
do i = 1, n
  a(i) = b(i)**2 + c(i)**2 * (b(i) + q) * (c(i) - q) + b(i) * c(i) * q + q * q * c(i) ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, c, q, n)",
    ),
    procedure(
        "an exponential of what stays",
        INVARIANT,
        """
do i = 1, n
  a(i) = b(i) * exp(q) ! HOT exp
end do""",
        VECTORS,
        "subroutine f(a, b, q, n)",
    ),
    procedure(
        "an exponential of what changes",
        MATH,
        """
do i = 1, n
  a(i) = b(i) * exp(q * c(i)) ! HOT exp
end do""",
        VECTORS,
        "subroutine f(a, b, c, q, n)",
    ),
    procedure(
        "memory in every iteration",
        CHURN,
        """
do i = 1, n
  allocate (w(n)) ! HOT malloc
  w(1) = 1
  deallocate (w)
end do""",
        "integer :: n, i\nreal(8), allocatable :: w(:)\n",
        "subroutine f(n)",
    ),
    procedure(
        "sums of threads side by side",
        SHARING,
        """
!$omp parallel private(k, i)
k = omp_get_thread_num()
!$omp do
do i = 1, n
  sums(k) = sums(k) + a(i) * a(i) ! HOT
end do
!$omp end do
!$omp end parallel""",
        "integer :: n, i, k\nreal(8) :: a(n), sums(0:63)\n",
        "subroutine f(a, n)",
    ),
    procedure(
        "a row for each thread",
        "",
        """
!$omp parallel private(k, i)
k = omp_get_thread_num()
!$omp do
do i = 1, n
  sums(1, k) = sums(1, k) + a(i) * a(i) * 0.5d0 * (a(i) + 3.0d0) * a(i) + a(i) ! HOT
end do
!$omp end do
!$omp end parallel""",
        "integer :: n, i, k\nreal(8) :: a(n), sums(8, 0:63)\n",
        "subroutine f(a, n)",
    ),
    procedure(
        "an atomic update",
        CRITICAL,
        """
!$omp parallel do
do i = 1, n
  !$omp atomic
  s = s + a(i) ! HOT
end do
!$omp end parallel do""",
        VECTORS,
        "subroutine f(a, s, n)",
    ),
    procedure(
        "a reduction",
        STREAM,
        """
!$omp parallel do reduction(+:s)
do i = 1, n
  s = s + a(i) ! HOT
end do
!$omp end parallel do""",
        VECTORS,
        "subroutine f(a, s, n)",
    ),
    procedure(
        "divisions by what stays",
        MATH,
        """
do i = 1, n
  a(i) = a(i) / dx / dy ! HOT
end do""",
        "integer :: n, i\nreal(8) :: a(n), dx, dy\n",
        "subroutine f(a, dx, dy, n)",
    ),
    procedure(
        "text that is no Fortran",
        "",
        """
do i = 1, n
  a(i == ) b(i) + * q ! HOT
end do""",
        VECTORS,
        "subroutine f(a, b, q, n)",
    ),
    case(
        "an array that is built anew",
        COPIES,
        """
subroutine f(a, n)
integer :: n, i
real(8), allocatable :: a(:)
do i = 1, n
  a = [a, real(i, 8)] ! HOT memcpy
end do
end subroutine""",
    ),
    case(
        "shifting items",
        QUADRATIC,
        """
subroutine f(a, n)
integer :: n, i, j
real(8) :: a(n), t
do i = 2, n
  t = a(i)
  j = i - 1
  do while (j >= 1)
    if (a(j) <= t) exit ! HOT
    a(j + 1) = a(j) ! HOT
    j = j - 1
  end do
  a(j + 1) = t
end do
end subroutine""",
    ),
]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_fortran(one: Case) -> None:
    assert first_cause(one.text, "a.f90") == one.cause
