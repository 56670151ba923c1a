module lookup
  use iso_fortran_env, only: dp => real64
  implicit none
  private
  public :: bracket

contains

  pure integer function bracket(x, n, v) result(lo)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp), intent(in) :: v
    integer :: hi, mid
    lo = 1
    hi = n
    do while (hi - lo > 1)
      mid = (lo + hi)/2
      if (x(mid) <= v) then
        lo = mid
      else
        hi = mid
      end if
    end do
  end function bracket

end module lookup

module opacity
  use iso_fortran_env, only: dp => real64
  use lookup
  implicit none
  private
  public :: mean_table, make_table, kappa

  type mean_table
    integer :: nodes = 0
    real(dp), allocatable :: node(:, :)
  end type mean_table

contains

  subroutine make_table(tab, nodes, cold, hot)
    type(mean_table), intent(out) :: tab
    integer, intent(in) :: nodes
    real(dp), intent(in) :: cold, hot
    integer :: k
    real(dp) :: f
    tab%nodes = nodes
    allocate (tab%node(3, nodes))
    do k = 1, nodes
      f = real(k - 1, dp)/real(nodes - 1, dp)
      tab%node(1, k) = cold + (hot - cold)*f*f
      tab%node(2, k) = 0.2_dp + 3*f*(1 - f) + 0.4_dp*sin(25*f)**2
    end do
    do k = 1, nodes - 1
      tab%node(3, k) = (tab%node(2, k + 1) - tab%node(2, k))/(tab%node(1, k + 1) - tab%node(1, k))
    end do
    tab%node(3, nodes) = 0
  end subroutine make_table

  real(dp) function kappa(tab, t)
    type(mean_table), intent(in) :: tab
    real(dp), intent(in) :: t
    integer :: k
    k = bracket(tab%node(1, :), tab%nodes, t)
    kappa = tab%node(2, k) + tab%node(3, k)*(t - tab%node(1, k))
  end function kappa

end module opacity

module shell
  use iso_fortran_env, only: dp => real64
  use opacity
  implicit none
  private
  public :: star, set_up, relax, depth

  type star
    integer :: layers
    real(dp), allocatable :: t(:), rho(:), flux(:)
    type(mean_table) :: tab
  end type star

contains

  subroutine set_up(s, layers, nodes)
    type(star), intent(out) :: s
    integer, intent(in) :: layers, nodes
    integer :: i
    s%layers = layers
    allocate (s%t(layers), s%rho(layers), s%flux(0:layers))
    call make_table(s%tab, nodes, 1.0e3_dp, 1.0e5_dp)
    do i = 1, layers
      s%t(i) = 2.0e3_dp + 9.0e4_dp*(real(i, dp)/layers)**3
      s%rho(i) = 1.0e-3_dp*(1 + real(i, dp)/layers)
    end do
  end subroutine set_up

  subroutine relax(s, step)
    type(star), intent(inout) :: s
    real(dp), intent(in) :: step
    integer :: i
    s%flux(0) = 0
    s%flux(s%layers) = 0
    do i = 1, s%layers - 1
      s%flux(i) = (s%t(i + 1) - s%t(i))/(1 + 100*s%rho(i)*kappa(s%tab, 0.5_dp*(s%t(i) + s%t(i + 1))))
    end do
    do i = 1, s%layers
      s%t(i) = s%t(i) + step*(s%flux(i) - s%flux(i - 1))
    end do
  end subroutine relax

  real(dp) function depth(s)
    type(star), intent(in) :: s
    integer :: i
    depth = 0
    do i = 1, s%layers
      depth = depth + s%rho(i)*kappa(s%tab, s%t(i))
    end do
  end function depth

end module shell

program opac
  use iso_fortran_env, only: dp => real64
  use shell
  implicit none
  type(star) :: s
  integer :: layers, nodes, steps, k
  character(len=32) :: arg(3)

  do k = 1, 3
    call get_command_argument(k, arg(k))
  end do
  read (arg, *) layers, nodes, steps
  call set_up(s, layers, nodes)
  do k = 1, steps
    call relax(s, 0.3_dp)
  end do
  print '(a,es22.14)', 'depth ', depth(s)
  print '(a,es22.14)', 'core  ', s%t(layers)
  print '(a,es22.14)', 'skin  ', s%t(1)
end program opac
