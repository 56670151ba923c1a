module basin
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: nx = 0, ny = 0
  real(dp) :: dx = 1000.0_dp
  real(dp), allocatable :: h(:, :), u(:, :), v(:, :), depth(:, :)
contains

  subroutine prepare(n, m)
    integer, intent(in) :: n, m
    integer :: i, j
    real(dp) :: r
    nx = n
    ny = m
    allocate (h(nx, ny), u(nx + 1, ny), v(nx, ny + 1), depth(nx, ny))
    u = 0.0_dp
    v = 0.0_dp
    do j = 1, ny
      do i = 1, nx
        r = (real(i - nx/3, dp)/10.0_dp)**2 + (real(j - ny/2, dp)/10.0_dp)**2
        h(i, j) = exp(-r)
        depth(i, j) = 100.0_dp + 20.0_dp*real(i, dp)/real(nx, dp)
      end do
    end do
  end subroutine prepare

  subroutine momentum(dt)
    real(dp), intent(in) :: dt
    integer :: i, j
    real(dp) :: c
    c = 9.81_dp*dt/dx
    do j = 1, ny
      !$omp parallel do private(i) schedule(static)
      do i = 2, nx
        u(i, j) = u(i, j)*0.9999_dp - c*(h(i, j) - h(i - 1, j))
      end do
      !$omp end parallel do
    end do
    do j = 2, ny
      !$omp parallel do private(i) schedule(static)
      do i = 1, nx
        v(i, j) = v(i, j)*0.9999_dp - c*(h(i, j) - h(i, j - 1))
      end do
      !$omp end parallel do
    end do
  end subroutine momentum

  subroutine continuity(dt)
    real(dp), intent(in) :: dt
    integer :: i, j
    real(dp) :: c
    c = dt/dx
    !$omp parallel do private(i) schedule(static)
    do j = 1, ny
      do i = 1, nx
        h(i, j) = h(i, j) - c*depth(i, j)*(u(i + 1, j) - u(i, j) + v(i, j + 1) - v(i, j))
      end do
    end do
    !$omp end parallel do
  end subroutine continuity

  function volume() result(total)
    real(dp) :: total
    integer :: i, j
    total = 0.0_dp
    do j = 1, ny
      do i = 1, nx
        total = total + h(i, j)
      end do
    end do
  end function volume

  subroutine gauge(step)
    integer, intent(in) :: step
    print '(a,i6,3(1x,es16.8))', 'step', step, volume(), h(nx/2, ny/2), h(nx - 5, 5)
  end subroutine gauge
end module basin

program wave
  use basin
  implicit none
  integer :: n, m, steps, s
  character(len=32) :: arg
  n = 300
  m = 300
  steps = 1000
  if (command_argument_count() >= 3) then
    call get_command_argument(1, arg)
    read (arg, *) n
    call get_command_argument(2, arg)
    read (arg, *) m
    call get_command_argument(3, arg)
    read (arg, *) steps
  end if
  call prepare(n, m)
  do s = 1, steps
    call momentum(5.0_dp)
    call continuity(5.0_dp)
    if (mod(s, max(1, steps/5)) == 0) call gauge(s)
  end do
end program wave
