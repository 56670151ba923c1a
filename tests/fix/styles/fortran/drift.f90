module flow
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains

  subroutine slope(y, dy)
    real(dp), intent(in) :: y(:)
    real(dp), intent(out) :: dy(:)
    dy(1) = 10.0_dp * (y(2) - y(1))
    dy(2) = y(1) * (28.0_dp - y(3)) - y(2)
    dy(3) = y(1) * y(2) - 8.0_dp / 3.0_dp * y(3)
  end subroutine slope

  subroutine advance(y, h)
    real(dp), intent(inout) :: y(:)
    real(dp), intent(in) :: h
    real(dp), allocatable :: k1(:), k2(:), k3(:), k4(:), w(:)
    integer :: n
    n = size(y)
    allocate (k1(n), k2(n), k3(n), k4(n), w(n))
    call slope(y, k1)
    w = y + 0.5_dp * h * k1
    call slope(w, k2)
    w = y + 0.5_dp * h * k2
    call slope(w, k3)
    w = y + h * k3
    call slope(w, k4)
    y = y + h / 6.0_dp * (k1 + 2.0_dp * k2 + 2.0_dp * k3 + k4)
    deallocate (k1, k2, k3, k4, w)
  end subroutine advance

end module flow

program drift
  use flow
  implicit none
  integer :: members, steps, i, t
  real(dp), allocatable :: y(:, :)
  real(dp) :: spread
  character(len=16) :: arg

  members = 1000
  steps = 6000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) members
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  allocate (y(3, members))
  do i = 1, members
    y(:, i) = [1.0_dp, 1.0_dp + 0.001_dp * i, 20.0_dp]
  end do
  do t = 1, steps
    do i = 1, members
      call advance(y(:, i), 0.001_dp)
    end do
  end do
  spread = maxval(y(1, :)) - minval(y(1, :))
  print '(a,1x,es16.8,1x,es16.8)', 'checksum', spread, sum(y(3, :))
end program drift
