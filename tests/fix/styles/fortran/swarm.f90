program swarm
  implicit none
  integer, parameter :: dp = kind(1d0)
  type body
    real(dp) :: x(3), v(3), m
  end type body
  type(body), allocatable :: s(:)
  integer :: n, steps, t, i
  real(dp) :: ke
  character(len=16) :: arg

  n = 1200
  steps = 25
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) n
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  allocate (s(n))
  do i = 1, n
    s(i)%x = [cos(0.7_dp * i), sin(1.3_dp * i), cos(0.37_dp * i + 1.0_dp)] * (1.0_dp + 0.002_dp * i)
    s(i)%v = 0
    s(i)%m = 1.0_dp + 0.1_dp * mod(i, 7)
  end do
  do t = 1, steps
    call kick(s, 1.0e-4_dp)
    call drift(s, 1.0e-2_dp)
  end do
  ke = 0
  do i = 1, n
    ke = ke + 0.5_dp * s(i)%m * dot_product(s(i)%v, s(i)%v)
  end do
  print '(a,2es18.9)', 'checksum ', ke, s(1)%x(1)

contains

  subroutine kick(b, h)
    type(body), intent(inout) :: b(:)
    real(dp), intent(in) :: h
    integer :: p, q
    real(dp) :: d(3), f(3), r2, r
    do p = 1, size(b)
      f = 0
      do q = 1, size(b)
        d = b(q)%x - b(p)%x
        r2 = d(1) * d(1) + d(2) * d(2) + d(3) * d(3) + 1.0e-3_dp
        r = r2**0.5_dp
        f = f + d * (b(q)%m / r**3.0_dp)
      end do
      b(p)%v = b(p)%v + h * f
    end do
  end subroutine kick

  subroutine drift(b, h)
    type(body), intent(inout) :: b(:)
    real(dp), intent(in) :: h
    integer :: p
    do p = 1, size(b)
      b(p)%x = b(p)%x + h * b(p)%v
    end do
  end subroutine drift

end program swarm
