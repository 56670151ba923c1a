module galaxy_model
  implicit none
  integer, parameter :: dp = kind(1.0d0), rings = 32
contains
  subroutine gather(x, y, m, n, mass, spin)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n), y(n), m(n)
    real(dp), intent(inout) :: mass(rings), spin
    real(dp) :: r
    integer :: i, k
    !$omp parallel do private(r, k) reduction(+:mass) reduction(max:spin)
    do i = 1, n
      r = sqrt(x(i)**2 + y(i)**2)
      k = min(rings, 1 + int(r*rings/1.5_dp))
      mass(k) = mass(k) + m(i)
      spin = spin + m(i)*r
    end do
    !$omp end parallel do
  end subroutine

  subroutine turn(x, y, n, angle)
    integer, intent(in) :: n
    real(dp), intent(inout) :: x(n), y(n)
    real(dp), intent(in) :: angle
    real(dp) :: c, s, t
    integer :: i
    c = cos(angle)
    s = sin(angle)
    !$omp parallel do private(t)
    do i = 1, n
      t = c*x(i) - s*y(i)
      y(i) = 1.0001_dp*(s*x(i) + c*y(i))
      x(i) = t
    end do
    !$omp end parallel do
  end subroutine
end module

program galaxy
  use galaxy_model
  implicit none
  integer :: n, steps, i, s
  real(dp), allocatable :: x(:), y(:), m(:)
  real(dp) :: mass(rings), spin
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  allocate (x(n), y(n), m(n))
  do i = 1, n
    x(i) = mod(i*37, 1009)/1009.0_dp
    y(i) = mod(i*61, 997)/997.0_dp
    m(i) = 1.0_dp + 0.001_dp*mod(i, 89)
  end do
  mass = 0
  spin = 0
  do s = 1, steps
    call gather(x, y, m, n, mass, spin)
    call turn(x, y, n, 0.1_dp)
  end do
  print '(a,3es22.13)', 'checksum ', spin, maxval(mass), sum([(i*mass(i), i=1, rings)])
end program
