program tally
  use, intrinsic :: iso_fortran_env, only: i8 => int64
  implicit none
  integer, parameter :: nbin = 64
  integer :: n, runs, k
  integer(i8) :: bins(nbin), h
  character(len=16) :: arg

  n = 1000000
  runs = 12
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) n
  end if
  bins = 0
  do k = 1, runs
    call toss(n, k, bins)
  end do
  h = 0
  do k = 1, nbin
    h = mod(h * 31_i8 + bins(k), 1000000007_i8)
  end do
  print '(a,2(1x,i0))', 'checksum', sum(bins), h

contains

  pure integer function slot(i, run)
    integer, intent(in) :: i, run
    integer(i8) :: s
    integer :: m
    s = mod(int(i, i8) * 2654435_i8 + int(run, i8) * 40503_i8, 2147483648_i8)
    do m = 1, 3
      s = mod(s * 1103515245_i8 + 12345_i8, 2147483648_i8)
    end do
    slot = 1 + int(mod(s / 1024_i8, int(nbin, i8)))
  end function slot

  subroutine toss(count, run, b)
    integer, intent(in) :: count, run
    integer(i8), intent(inout) :: b(nbin)
    integer :: i, c
    !$omp parallel do private(c)
    do i = 1, count
      c = slot(i, run)
      !$omp critical
      b(c) = b(c) + 1
      !$omp end critical
    end do
    !$omp end parallel do
  end subroutine toss

end program tally
