module heat
  implicit none
  integer, parameter :: wp = selected_real_kind(15)
contains

  subroutine fill(u)
    real(wp), intent(out) :: u(:, :)
    integer :: i, j
    do j = 1, size(u, 2)
      do i = 1, size(u, 1)
        u(i, j) = 20.0_wp + mod(i * 5 + j * 11, 23)
      end do
    end do
  end subroutine fill

  subroutine relax(u, v, k)
    real(wp), intent(in) :: u(:, :)
    real(wp), intent(inout) :: v(:, :)
    real(wp), intent(in) :: k
    integer :: i, j, nx, ny
    nx = size(u, 1)
    ny = size(u, 2)
    do i = 2, nx - 1
      do j = 2, ny - 1
        v(i, j) = u(i, j) + k * (u(i - 1, j) + u(i + 1, j) &
                + u(i, j - 1) + u(i, j + 1) - 4.0_wp * u(i, j))
      end do
    end do
  end subroutine relax

  pure function mean(u) result(m)
    real(wp), intent(in) :: u(:, :)
    real(wp) :: m
    m = sum(u) / size(u)
  end function mean

end module heat

program basin
  use heat
  implicit none
  real(wp), dimension(:, :), allocatable :: u, v
  integer :: n, steps, t
  character(len=32) :: a

  n = 1900
  steps = 25
  if (command_argument_count() > 0) then
    call get_command_argument(1, a); read (a, *) n
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, a); read (a, *) steps
  end if
  allocate (u(n, n), v(n, n))
  call fill(u)
  call fill(v)
  do t = 1, steps
    call relax(u, v, 0.2_wp)
    call relax(v, u, 0.15_wp)
  end do
  print '(a,es17.9,es17.9)', 'checksum ', mean(u), u(n / 2, n / 4)
end program basin
