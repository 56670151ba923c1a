# ruff: noqa: E501
"""Programs whose outer loop makes calls of an inner counter again and again, and others in which a table would be wrong."""

from __future__ import annotations

from tests.fix.recipes.cases import Case, f90
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import f90 as f90_miss

_FORTRAN = "fortran-tabulate-calls"

_F90 = """
program main
  implicit none
  real(8) :: x(20), y(20), s
  integer :: i, j, n
  {decl}
  n = 20
  s = 0
  do i = 1, n
    x(i) = i
    y(i) = 1.0d0/i
  end do
{loops}
  print *, s
end program main
"""
_F90_LOOPS = """
  do i = 1, n
    do j = 1, n
      s = s + y(i)*exp(-x(j))
    end do
  end do
"""

TABULATED: tuple[Case, ...] = (
    f90("the plain program of the near misses", _FORTRAN, _F90.format(decl="", loops=_F90_LOOPS), "tabulated(j) = exp(-x(j))", "y(i)*tabulated(j)"),
    f90(
        "pairs, with threads", _FORTRAN,
        """
module forces
  implicit none
contains
  subroutine attract(q, x, f, n)
    integer, intent(in) :: n
    real(8), intent(in) :: q(n), x(n)
    real(8), intent(out) :: f(n)
    integer :: i, j
    f = 0
    !$omp parallel do private(j) schedule(static)
    do i = 1, n - 1
      do j = i + 1, n
        f(i) = f(i) + q(i)*x(j)**0.7d0*sin(q(j))
      end do
    end do
    !$omp end parallel do
  end subroutine attract
end module forces
program main
  use forces
  implicit none
  real(8) :: q(40), x(40), f(40)
  integer :: k
  do k = 1, 40
    q(k) = 0.1d0*k
    x(k) = 1 + mod(k*7, 11)
  end do
  call attract(q, x, f, 40)
  print '(es24.16)', sum(f)
end program main
""", "do j = lbound(x, 1), n\n      tabulated(j) = x(j)**0.7d0", "do j = lbound(q, 1), n\n      tabulated2(j) = sin(q(j))\n    end do\n    !$omp parallel do",
    ),
    f90(
        "every step needs the same weights", _FORTRAN,
        """
program main
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: i, j, t
  real(dp) :: u(9, 7), s, total, scale
  scale = 0.02_dp
  total = 0
  do j = 1, 7
    do i = 1, 9
      u(i, j) = mod(i*5 + j*3, 7)
    end do
  end do
  do t = 1, 4
    s = 0
    do j = 2, 7
      do i = 1, 9
        s = s + u(i, j)*exp(-scale*(i*i + j*j))
      end do
    end do
    u(t, t) = u(t, t) + 0.1_dp*s
    total = total + s
  end do
  print '(es24.16)', total
end program main
""", "allocate (tabulated(1:9, 2:7))", "u(i, j)*tabulated(i, j)",
    ),
)  # fmt: skip


TABLE_MISSES: tuple[Miss, ...] = (
    f90_miss("what it reads is written in the outer loop", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n    x(i) = s\n  end do\n")),
    f90_miss("it depends on the outer counter", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + exp(-x(j)*y(i))\n    end do\n  end do\n")),
    f90_miss("the inner loop ends elsewhere each time", _FORTRAN, _F90.format(decl="real(8) :: s0 = 0.1d0", loops="  do i = 1, n\n    do j = 1, i\n      s = s + y(i)*exp(-s0*j)\n    end do\n  end do\n")),
    f90_miss("counts by two", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n, 2\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n")),
    f90_miss("counts down", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = n, 1, -1\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n")),
    f90_miss("the counter is used afterwards", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n  s = s + j\n")),
    f90_miss("an element that is asked for only sometimes", _FORTRAN, _F90.format(decl="integer :: k(20) = 0", loops="  do i = 1, n\n    do j = 1, n\n      if (k(j) > 0) s = s + y(i)*exp(-x(k(j)))\n    end do\n  end do\n")),
    f90_miss("there is one loop alone", _FORTRAN, _F90.format(decl="", loops="  do j = 1, n\n    s = s + exp(-x(j))\n  end do\n")),
    f90_miss("threads come to the loop", _FORTRAN, _F90.format(decl="", loops="  !$omp parallel private(i, j)\n  if (n > 20) stop\n  !$omp do reduction(+:s)\n  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n  !$omp end do\n  !$omp end parallel\n")),
    f90_miss("the threads are told what they share", _FORTRAN, _F90.format(decl="", loops="  !$omp parallel do default(none) shared(x, y, n) private(j) reduction(+:s)\n  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n")),
    f90_miss("the loop is left early", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n    if (s > 3) exit\n  end do\n")),
)  # fmt: skip
