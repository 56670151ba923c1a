module grain_model
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine stress(overlap, force, n, stiffness, exponent)
    integer, intent(in) :: n
    real(dp), intent(in) :: overlap(n), stiffness, exponent
    real(dp), intent(inout) :: force(n)
    integer :: i
    do i = 1, n
      force(i) = 0.5_dp*force(i) + stiffness**0.3_dp*overlap(i)**exponent + overlap(i)**0.25_dp/(1.0_dp + overlap(i)**3.5_dp)
    end do
  end subroutine
end module

program grain
  use grain_model
  implicit none
  integer :: n, steps, i, s
  real(dp), allocatable :: overlap(:), force(:)
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  allocate (overlap(n), force(n))
  do i = 1, n
    overlap(i) = 0.01_dp + 0.001_dp*mod(i*31, 977)
  end do
  force = 0
  do s = 1, steps
    call stress(overlap, force, n, 2.0_dp + 0.1_dp*s, 1.5_dp)
    overlap = overlap*(1.0_dp + 1e-4_dp*force)
  end do
  print '(a,2es22.14)', 'checksum ', sum(force), overlap(n)
end program
