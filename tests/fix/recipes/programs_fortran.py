"""Programs of Fortran with something to mend, as various people would write them."""

from __future__ import annotations

from tests.fix.recipes.programs import f90

APPLIED = (
    f90(
        "list that callers grow", "fortran-append-in-room",
        r"""
module stack_mod
  implicit none
  integer, parameter :: wp = kind(1.d0)
contains
  SUBROUTINE push_back(arr, val)
    REAL(wp), ALLOCATABLE, INTENT(INOUT) :: arr(:)
    REAL(wp), INTENT(IN) :: val
    REAL(wp), ALLOCATABLE :: tmp(:)
    INTEGER :: n
    IF (.NOT. ALLOCATED(arr)) ALLOCATE(arr(0))
    n = SIZE(arr)
    ALLOCATE(tmp(n+1))
    tmp(1:n) = arr(1:n)
    tmp(n+1) = val
    CALL MOVE_ALLOC(tmp, arr)
  END SUBROUTINE push_back
end module stack_mod

program main
  use stack_mod
  implicit none
  real(wp), allocatable :: primes(:), evens(:)
  integer, allocatable :: hits(:)
  integer :: i, n
  real(wp) :: x, total
  n = 3000
  x = 0.5_wp
  allocate(hits(0))
  do i = 1, n
    x = 3.9_wp * x * (1.0_wp - x)
    if (x > 0.5_wp) then
      call push_back(primes, x)
    end if
    if (x < 0.2_wp) hits = [hits, i]
    if (x < 0.1_wp) then
      evens = [evens, x, &
        & 2*x]
    end if
  end do
  total = sum(primes) + sum(evens)
  print '(es22.15,3i8)', total, size(primes), size(hits), sum(hits)
end program main
""", "primes_room(primes_count + 1) = x", "if (x < 0.2_wp) then",
    ),
    f90(
        "counted lists", "fortran-double-room",
        r"""
program grid
  implicit none
  type :: bag_t
    real(8), allocatable :: vals(:)
    integer :: n = 0
  end type bag_t
  type(bag_t) :: bag(4)
  real(8), allocatable :: list(:), temp(:)
  integer :: count, i, j
  real(8) :: s
  count = 0
  do i = 1, 2000
    if (mod(i*i, 7) == 2) cycle
    count = count + 1
    allocate(temp(count))
    if (count > 1) temp(1:count-1) = list
    temp(count) = sin(real(i, 8))
    call move_alloc(temp, list)
  end do
  s = 0.0d0
  do i = 1, count
    s = s + list(i)
  end do
  do i = 1, 1000
    j = mod(i, 4) + 1
    call put(bag(j), dble(i))
  end do
  do j = 1, 4
    do i = 1, bag(j)%n
      s = s + bag(j)%vals(i) * j
    end do
  end do
  print *, s, count
contains
  subroutine put(b, v)
    type(bag_t), intent(inout) :: b
    real(8), intent(in) :: v
    real(8), allocatable :: new(:)
    integer :: k
    allocate(new(b%n + 1))
    do k = 1, b%n
      new(k) = b%vals(k)
    end do
    new(b%n + 1) = v
    call move_alloc(from=new, to=b%vals)
    b%n = b%n + 1
  end subroutine put
end program grid
""", "if (size(b%vals) < b%n + 1) then", "temp(1:count-1) = list(1:count-1)",
    ),
    f90(
        "growing texts", "fortran-append-text",
        r"""
program text
  implicit none
  character(len=:), allocatable :: out
  character(len=20000) :: line
  character(len=12) :: word
  integer :: i
  out = ''
  line = ' '
  do i = 1, 2000
    write (word, '(i0)') i*7
    out = out // trim(word) // ','
    if (mod(i, 3) == 0) line = trim(line) // trim(adjustl(word)) // ';'
  end do
  print '(i0,1x,i0,1x,a)', len(out), len_trim(line), out(len(out)-30:)
  print '(a)', line(1:60)
end program text
""", "out = out_room(1:out_end)", "line_end = len_trim(line)",
    ),
    f90(
        "work arrays of a loop", "fortran-allocate-once",
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
""", "allocate(work(m), mat(3, m))\n  do it",
    ),
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
        "rows of a plane", "fortran-rows-at-once",
        r"""
module tracer_model
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine carry(q, c, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: q(n)
    real(dp), intent(in) :: c
    real(dp) :: flux(n + 1)
    integer :: i
    flux(1) = c*q(1)
    do i = 2, n
      flux(i) = c*(0.5_dp*(q(i - 1) + q(i)) - 0.5_dp*c*(q(i) - q(i - 1)))
    end do
    flux(n + 1) = c*q(n)
    do i = 1, n
      q(i) = q(i) - (flux(i + 1) - flux(i))
    end do
  end subroutine
end module

program tracer
  use tracer_model
  implicit none
  integer :: n, steps, i, j, s
  real(dp), allocatable :: q(:, :)
  n = 53
  steps = 3
  allocate (q(n, n))
  do j = 1, n
    do i = 1, n
      q(i, j) = 1.0_dp + 0.1_dp*mod(3*i + 5*j, 17)
    end do
  end do
  do s = 1, steps
    do i = 1, n
      call carry(q(i, :), 0.2_dp + 0.001_dp*mod(i, 7), n)
    end do
    do j = 1, n
      call carry(q(:, j), 0.1_dp, n)
    end do
  end do
  print '(a,2es22.14)', 'checksum ', sum(q), q(n/2, n/3)
end program
""", "call carry(q_rows(:, i - first_row + 1)",
    ),
)  # fmt: skip
