module wire
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type cord_t
    integer :: n
    real(dp), allocatable :: z(:), v(:)
  end type cord_t
contains

  subroutine pluck(c, n)
    type(cord_t), intent(out) :: c
    integer, intent(in) :: n
    integer :: i
    c%n = n
    allocate (c%z(n), c%v(n))
    do i = 1, n
      c%z(i) = min(real(i - 1, dp), 0.25_dp * (n - i)) / n
    end do
    c%v = 0.0_dp
  end subroutine pluck

  subroutine vibrate(c, tension, steps)
    type(cord_t), intent(inout) :: c
    real(dp), intent(in) :: tension
    integer, intent(in) :: steps
    integer :: i, t
    do t = 1, steps
      !$omp parallel do
      do i = 2, c%n - 1
        c%v(i) = 0.99999_dp * c%v(i) + tension * (c%z(i - 1) - 2.0_dp * c%z(i) + c%z(i + 1))
      end do
      !$omp end parallel do
      !$omp parallel do
      do i = 2, c%n - 1
        c%z(i) = c%z(i) + c%v(i)
      end do
      !$omp end parallel do
    end do
  end subroutine vibrate

end module wire

program cord
  use wire
  implicit none
  type(cord_t) :: c
  integer :: n, steps
  character(len=16) :: arg

  n = 240
  steps = 300000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) n
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  call pluck(c, n)
  call vibrate(c, 0.2_dp, steps)
  print '(a,1x,es16.8,1x,es16.8)', 'checksum', sum(c%z**2), sum(abs(c%v))
end program cord
