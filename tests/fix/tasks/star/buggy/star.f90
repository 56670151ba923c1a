module star_model
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: layers = 400, levels = 24
  real(dp) :: density(layers), depth(layers), field(layers), energy(levels), weight(levels)
contains
  subroutine prepare()
    integer :: k
    do k = 1, layers
      density(k) = 1.0_dp + 0.01_dp*mod(k*k, 97)
      depth(k) = 0.002_dp*(1 + mod(k, 13))
      field(k) = 0
    end do
    do k = 1, levels
      energy(k) = 1.0_dp - 1.0_dp/(k*k)
      weight(k) = 2.0_dp*k*k
    end do
  end subroutine

  real(dp) function partition(temperature)
    real(dp), intent(in) :: temperature
    integer :: k
    partition = 0
    do k = 1, levels
      partition = partition + weight(k)*exp(-energy(k)/temperature)
    end do
  end function

  real(dp) function emerge(wave, temperature)
    real(dp), intent(in) :: wave, temperature
    real(dp) :: tau, states
    integer :: k
    emerge = 0
    states = partition(wave)
    do k = 1, layers
      tau = density(k)*depth(k)*wave/states
      emerge = emerge/(1.0_dp + tau) + tau
      field(k) = field(k) + 1e-3_dp*emerge
    end do
  end function
end module

program star
  use star_model
  implicit none
  integer :: n, steps, i, s
  real(dp) :: total
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  call prepare()
  total = 0
  do s = 1, steps
    do i = 1, n
      total = total + emerge(0.4_dp + 0.6_dp*i/n, 0.5_dp + 0.01_dp*s)
    end do
  end do
  print '(a,2es22.14)', 'checksum ', total, sum(field)
end program
