module ozone_model
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine absorb(strength, absorbed, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: strength(n)
    real(dp), intent(inout) :: absorbed(n)
    real(dp) :: a, d
    integer :: i, j
    !$omp parallel do private(a, d, j) schedule(dynamic, 16)
    do i = 1, n
      a = 0
      do j = 1, i
        d = 0.01_dp*(i - j)
        a = a + strength(j)/(1.0_dp + d*d)
      end do
      absorbed(i) = 0.9_dp*absorbed(i) + 0.1_dp*a
    end do
    !$omp end parallel do
  end subroutine
end module

program ozone
  use ozone_model
  implicit none
  integer :: n, steps, i, s
  real(dp), allocatable :: strength(:), absorbed(:)
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  allocate (strength(n), absorbed(n))
  do i = 1, n
    strength(i) = 0.5_dp + 0.01_dp*mod(i*i, 89)
  end do
  absorbed = 0
  do s = 1, 10*steps
    call absorb(strength, absorbed, n)
    strength = strength*(1.0_dp - 1e-3_dp/(1.0_dp + absorbed))
  end do
  print '(a,2es22.14)', 'checksum ', sum(absorbed), strength(n)
end program
