"""Programs of Fortran with something to mend, as various people would write them."""

from __future__ import annotations

from tests.fix.recipes.programs import f90

APPLIED = (
    f90(
        "work array of a subroutine", "fortran-keep-array",
        r"""
module smooth
  implicit none
contains
  subroutine pass(u, n)
    integer, intent(in) :: n
    real, intent(inout) :: u(n)
    real, allocatable :: w(:)
    integer :: i
    allocate (w(n))
    w(1) = u(1); w(n) = u(n)
    do i = 2, n-1
      w(i) = 0.25*(u(i-1) + 2.0*u(i) + u(i+1))
    end do
    u = w
    deallocate (w)
  end subroutine
end module
program p
  use smooth
  implicit none
  integer, parameter :: m = 500
  real :: u(m), acc
  real, allocatable :: work(:), mat(:,:)
  integer :: it, k
  do k = 1, m
    u(k) = mod(k*37, 101)
  end do
  acc = 0
  do it = 1, 200
    call pass(u, m)
    allocate(work(m), mat(3, m))
    do k = 1, m
      work(k) = u(k)*u(k)
      mat(1,k) = work(k); mat(2,k) = 1; mat(3,k) = it
    end do
    acc = acc + sum(work) + sum(mat)
    deallocate(work, mat)
  end do
  print *, acc
end program
""", "if (size(w, 1) /= n) deallocate (w)",
    ),
    f90(
        "labelled loops in upper case", "fortran-interchange-loops",
        r"""
MODULE FIELDS
  IMPLICIT NONE
  INTEGER, PARAMETER :: NX = 200, NY = 160
  REAL(8) :: T(NX, NY), TN(NX, NY)
CONTAINS
  SUBROUTINE STEP(ALPHA)
    REAL(8), INTENT(IN) :: ALPHA
    INTEGER :: I, J
    DO 20 I = 2, NX - 1
      DO 10 J = 2, NY - 1
        TN(I, J) = T(I, J) + ALPHA*(T(I + 1, J) + T(I - 1, J) &
                 + T(I, J + 1) + T(I, J - 1) - 4.0D0*T(I, J))
10    CONTINUE
20  CONTINUE
    DO I = 2, NX - 1
      DO J = 2, NY - 1
        T(I, J) = TN(I, J)
      END DO
    END DO
  END SUBROUTINE STEP
END MODULE FIELDS
PROGRAM HEAT
  USE FIELDS
  IMPLICIT NONE
  INTEGER :: K
  T = 0.0D0
  T(NX/2, NY/2) = 100.0D0
  TN = T
  DO K = 1, 20
    CALL STEP(0.1D0)
  END DO
  PRINT '(ES22.14)', SUM(T*T)
END PROGRAM HEAT
""", "DO 20 J = 2, NY - 1\n      DO 10 I = 2, NX - 1",
    ),
    f90(
        "arrays that are components", "fortran-interchange-loops",
        r"""
module grid_m
  implicit none
  type :: grid_t
    integer :: nx, ny, nz
    real(8), allocatable :: rho(:,:,:), vel(:,:,:)
  end type grid_t
contains
  subroutine setup(g, nx, ny, nz)
    type(grid_t), intent(out) :: g
    integer, intent(in) :: nx, ny, nz
    integer :: i, j, k
    g%nx = nx; g%ny = ny; g%nz = nz
    allocate(g%rho(nx,ny,nz), g%vel(nx,ny,nz))
    do i = 1, nx
      do j = 1, ny
        do k = 1, nz
          g%rho(i,j,k) = 1.0d0 + 0.01d0*i + 0.02d0*j
          g%vel(i,j,k) = 0.1d0*k
        end do
      end do
    end do
  end subroutine setup
  function kinetic(g) result(e)
    type(grid_t), intent(in) :: g
    real(8) :: e
    integer :: i, j, k
    e = 0.0d0
    do i = 1, g%nx
      do j = 1, g%ny
        do k = 1, g%nz
          e = e + 0.5d0*g%rho(i,j,k)*g%vel(i,j,k)**2.0d0
        end do
      end do
    end do
  end function kinetic
end module grid_m
program main
  use grid_m
  implicit none
  type(grid_t) :: g
  integer :: it
  real(8) :: e
  call setup(g, 40, 30, 20)
  e = 0
  do it = 1, 5
    e = e + kinetic(g)
  end do
  write(*,'(es20.12)') e
end program main
""", "do k = 1, g%nz\n      do j = 1, g%ny\n        do i = 1, g%nx", relative=1e-12,
    ),
    f90(
        "concurrent loops", "fortran-interchange-loops",
        r"""
program conc
  implicit none
  integer, parameter :: n = 150
  real :: a(n,n), b(n,n), c(n,n)
  integer :: i, j, it
  call random_seed(put=[(i, i=1,33)])
  do j = 1, n; do i = 1, n
    a(i,j) = mod(i*j, 17) * 0.1; b(i,j) = 1.0/(i+j)
  end do; end do
  c = 0
  do it = 1, 3
    do concurrent (i = 1:n)
      do concurrent (j = 1:n)
        c(i,j) = c(i,j) + a(i,j)*b(i,j)
      end do
    end do
    do i = 1, n
      b(i, :) = b(i, :) * 0.5 + a(i, :) / (1.0 + it)
    end do
    do i = 1, n
      do j = 1, n
        if (a(i,j) > 0.5) then
          b(i,j) = b(i,j) + 0.25
        else
          b(i,j) = b(i,j) - 0.25
        end if
      end do
    end do
  end do
  print *, sum(c), sum(b)
end program conc
""", "do concurrent (j = 1:n)\n      do concurrent (i = 1:n)",
    ),
    f90(
        "powers of components", "fortran-power-to-products",
        r"""
module forces
  use iso_fortran_env, only: real64
  implicit none
  integer, parameter :: rk = real64
  type particle
    real(rk) :: x, y, z, q
  end type
contains
  pure function dist(a, b) result(d)
    type(particle), intent(in) :: a, b
    real(rk) :: d
    d = ((a%x - b%x)**2.0_rk + (a%y - b%y)**2.0_rk + (a%z - b%z)**2.0_rk)**0.5_rk
  end function dist
  subroutine energy(p, n, eps, e)
    integer, intent(in) :: n
    type(particle), intent(in) :: p(n)
    real(rk), intent(in) :: eps
    real(rk), intent(out) :: e
    integer :: i, j
    real(rk) :: r
    e = 0.0_rk
    do i = 1, n - 1
      do j = i + 1, n
        r = dist(p(i), p(j))
        e = e + p(i)%q*p(j)%q/r**1.5_rk * exp(-eps*2.0_rk) * log(1.0_rk + eps)
      end do
    end do
  end subroutine energy
end module forces
program coulomb
  use forces
  implicit none
  integer, parameter :: n = 120
  type(particle) :: p(n)
  real(rk) :: e
  integer :: i
  do i = 1, n
    p(i)%x = sin(1.0_rk*i); p(i)%y = cos(2.0_rk*i); p(i)%z = 0.01_rk*i; p(i)%q = merge(1, -1, mod(i,2)==0)
  end do
  call energy(p, n, 0.3_rk, e)
  print '(es23.15)', e
end program coulomb
""", "d = sqrt((a%x - b%x)**2 + (a%y - b%y)**2", relative=1e-12,
    ),
    f90(
        "sums and components", "fortran-hoist-invariant",
        r"""
module stats
  implicit none
  type params
    real(8) :: k, beta
    integer :: m
  end type params
contains
  subroutine normalise(w, y, n, p)
    integer, intent(in) :: n
    real(8), intent(in) :: w(n)
    real(8), intent(out) :: y(n)
    type(params), intent(in) :: p
    integer :: i
    do i = 1, n
      y(i) = w(i)/sum(w) * exp(-p%k/p%beta) + maxval(abs(w))
    end do
  end subroutine normalise
end module stats
program main
  use stats
  implicit none
  integer, parameter :: n = 600
  real(8) :: w(n), y(n), a(30,30), x(30), z(30)
  type(params) :: p
  integer :: i, it
  p = params(1.5d0, 0.7d0, 3)
  do i = 1, n
    w(i) = 1.0d0 + mod(i, 13)
  end do
  do i = 1, 30
    a(:, i) = 0.01d0*i
  end do
  x = 1.0d0
  do it = 1, 40
    call normalise(w, y, n, p)
    z = matmul(transpose(a), x)
    x = 0.5d0*x + 0.01d0*z + dot_product(w, w)*1d-9
  end do
  print '(2es22.14)', sum(y), sum(x)
end program main
""", "= exp(-p%k/p%beta)\n",
    ),
    f90(
        "arrays with bounds of their own", "fortran-keep-array",
        r"""
module sizes
  implicit none
  integer :: width = 40
contains
  subroutine fill(v, n, s)
    integer, intent(in) :: n
    real(8), intent(out) :: v(n)
    real(8), intent(in) :: s
    integer :: k
    do k = 1, n
      v(k) = s/k
    end do
  end subroutine
  real(8) function smooth(u)
    real(8), intent(in) :: u(:)
    real(8), allocatable :: pad(:), twice(:, :)
    integer :: k
    allocate (pad(0:size(u) + 1), twice(2, size(u)))
    pad = 0
    pad(1:size(u)) = u
    do k = 1, size(u)
      twice(1, k) = pad(k - 1)
      twice(2, k) = pad(k + 1)
    end do
    smooth = sum(twice)
    deallocate (pad, twice)
  end function
end module
program p
  use sizes
  implicit none
  integer :: n, i, outer
  real(8), allocatable :: u(:), v(:), w(:, :)
  real(8) :: total
  n = 25
  allocate (u(30))
  total = 0
  do outer = 1, 3
    do i = 1, 8
      allocate (v(n)); allocate (w(size(u, 1), width/2))
      call fill(v, n, 1.5d0*i)
      w = i
      total = total + smooth(v) + sum(w)
      if (mod(i, 4) == 0) total = total + v(1)
      deallocate (v)
      deallocate (w)
    end do
    if (outer == 2) width = 38
  end do
  print '(es22.14)', total
end program
""", "if (lbound(pad, 1) /= 0 .or. ubound(pad, 1) /= size(u) + 1) deallocate (pad)", "save :: pad, twice",
    ),
    f90(
        "regions for few iterations", "fortran-region-if-large",
        """
module wire
  implicit none
  type cord
    integer :: n
    real(8), allocatable :: z(:, :)
  end type cord
contains
  subroutine relax(c, steps)
    type(cord), intent(inout) :: c
    integer, intent(in) :: steps
    integer :: i, j, t
    do t = 1, steps
      !$omp parallel do private(i) &
      !$omp schedule(static)
      do j = 2, c%n - 1
        do i = 1, c%n
          c%z(i, j) = 0.5d0*c%z(i, j) + t
        end do
      end do
      !$omp end parallel do
      !$omp parallel do
      do j = 1, c%n
        c%z(1, j) = 0
      end do
    end do
  end subroutine relax
end module wire
program main
  use wire
  implicit none
  type(cord) :: c
  c%n = 12
  allocate (c%z(12, 12))
  c%z = 1
  call relax(c, 5)
  print '(es24.16)', sum(c%z)
end program main
""", "!$omp parallel do private(i) if(int(c%n - 1, 8) * c%n > 20000) &", "!$omp parallel do if(c%n > 20000)",
    ),
)  # fmt: skip
