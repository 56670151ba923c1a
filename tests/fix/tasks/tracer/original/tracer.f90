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
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
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
