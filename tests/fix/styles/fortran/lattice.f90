module charges
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), allocatable :: x(:), y(:), q(:)
contains

  subroutine place(n)
    integer, intent(in) :: n
    integer :: i
    allocate (x(n), y(n), q(n))
    do i = 1, n
      x(i) = 0.5_dp * mod(i, 97) + 0.01_dp * sin(real(i, dp))
      y(i) = 0.5_dp * (i / 97) + 0.01_dp * cos(real(i, dp))
      q(i) = merge(1.0_dp, -1.0_dp, mod(i, 2) == 0)
    end do
  end subroutine place

  subroutine shake(step)
    integer, intent(in) :: step
    x = x + 0.001_dp * cos(y + step)
  end subroutine shake

  function energy(n, kappa) result(e)
    integer, intent(in) :: n
    real(dp), intent(in) :: kappa
    real(dp) :: e, r
    integer :: i, j
    e = 0.0_dp
    !$omp parallel do schedule(static) private(j, r) reduction(+:e)
    do i = 1, n - 1
      do j = i + 1, n
        r = sqrt((x(i) - x(j))**2 + (y(i) - y(j))**2 + 1.0e-6_dp)
        e = e + q(i) * q(j) * exp(-kappa * r) / r
      end do
    end do
    !$omp end parallel do
  end function energy

end module charges

program lattice
  use charges
  implicit none
  integer :: n, steps, t
  real(dp) :: total
  character(len=16) :: arg

  n = 8000
  steps = 8
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) n
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  call place(n)
  total = 0.0_dp
  do t = 1, steps
    call shake(t)
    total = total + energy(n, 0.35_dp)
  end do
  print '(a,1x,es14.6)', 'checksum', total
end program lattice
