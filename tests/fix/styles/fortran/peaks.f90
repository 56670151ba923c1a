program peaks
  use iso_fortran_env, only: int64, real64
  implicit none
  integer :: scans, length, s
  real(real64), allocatable :: hits(:)
  real(real64) :: total
  character(len=16) :: arg

  scans = 50
  length = 26000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) scans
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, arg)
    read (arg, *) length
  end if

  total = 0
  do s = 1, scans
    call collect(trace(length, s), hits)
    total = total + summary(hits)
  end do
  print '(a,1x,es18.10,1x,i0)', 'checksum', total, size(hits)

contains

  function trace(n, seed) result(x)
    integer, intent(in) :: n, seed
    real(real64) :: x(n)
    integer(int64) :: z
    integer :: i
    z = 12345_int64 + 104729_int64 * seed
    do i = 1, n
      z = mod(z * 1103515245_int64 + 12345_int64, 2147483648_int64)
      x(i) = real(z, real64) / 2147483648.0_real64
    end do
  end function trace

  subroutine collect(x, found)
    real(real64), intent(in) :: x(:)
    real(real64), allocatable, intent(out) :: found(:)
    integer :: i
    allocate (found(0))
    do i = 2, size(x) - 1
      if (x(i) > x(i - 1) .and. x(i) >= x(i + 1)) then
        found = [found, x(i) + 0.25_real64 * (x(i - 1) + x(i + 1))]
      end if
    end do
  end subroutine collect

  pure function summary(v) result(r)
    real(real64), intent(in) :: v(:)
    real(real64) :: r, m
    m = sum(v) / max(size(v), 1)
    r = sqrt(sum((v - m)**2))
  end function summary

end program peaks
