! Drainage analysis of a square digital elevation model with n cells.
module terrain
  implicit none
  integer, parameter :: dp = kind(1d0)
contains
  subroutine synth_dem(z, m)
    integer, intent(in) :: m
    real(dp), intent(out) :: z(m, m)
    integer :: i, j, k
    real(dp) :: x, y
    do j = 1, m
      do i = 1, m
        x = real(i, dp)/m
        y = real(j, dp)/m
        z(i, j) = 300d0*x + 60d0*abs(y - 0.5d0)
        do k = 1, 6
          z(i, j) = z(i, j) + 2d0/k*sin(11.3d0*k*x + k)*cos(7.7d0*k*y - k)
        end do
      end do
    end do
  end subroutine

  subroutine smooth_dem(z, w, m, sweeps)
    integer, intent(in) :: m, sweeps
    real(dp), intent(inout) :: z(m, m), w(m, m)
    integer :: i, j, s
    do s = 1, sweeps
      w = z
      do j = 2, m - 1
        do i = 2, m - 1
          z(i, j) = 0.6d0*w(i, j) + 0.1d0*(w(i - 1, j) + w(i + 1, j) + w(i, j - 1) + w(i, j + 1))
        end do
      end do
    end do
  end subroutine

  subroutine flow_direction(z, down, m)
    integer, intent(in) :: m
    real(dp), intent(in) :: z(m, m)
    integer, intent(out) :: down(m*m)
    integer :: i, j, di, dj, k
    real(dp) :: s, best
    do j = 1, m
      do i = 1, m
        k = i + (j - 1)*m
        down(k) = 0
        best = 0d0
        do dj = -1, 1
          do di = -1, 1
            if (di == 0 .and. dj == 0) cycle
            if (i + di < 1 .or. i + di > m .or. j + dj < 1 .or. j + dj > m) cycle
            s = (z(i, j) - z(i + di, j + dj))/sqrt(real(di*di + dj*dj, dp))
            if (s > best) then
              best = s
              down(k) = k + di + dj*m
            end if
          end do
        end do
      end do
    end do
  end subroutine

  subroutine contributing_area(down, rain, area, ncell)
    integer, intent(in) :: ncell, down(ncell)
    real(dp), intent(in) :: rain(ncell)
    real(dp), intent(out) :: area(ncell)
    integer :: k, c
    area = 0d0
    do k = 1, ncell
      c = k
      do while (c /= 0)
        area(c) = area(c) + rain(k)
        c = down(c)
      end do
    end do
  end subroutine

  subroutine effective_rain(z, rain, m, storms)
    integer, intent(in) :: m, storms
    real(dp), intent(in) :: z(m*m)
    real(dp), intent(out) :: rain(m*m)
    integer :: k, s
    real(dp) :: p
    do k = 1, m*m
      rain(k) = 0d0
      do s = 1, storms
        p = 12d0 + 9d0*sin(0.37d0*s) + 0.01d0*z(k)
        rain(k) = rain(k) + p*exp(-3d0/p)/storms
      end do
    end do
  end subroutine

  function wetness(area, z, n) result(t)
    integer, intent(in) :: n
    real(dp), intent(in) :: area(n), z(n)
    real(dp) :: t
    t = sum(log(area + 1d0)/(1d0 + 0.001d0*abs(z)))/n
  end function
end module

program drainage
  use terrain
  implicit none
  character(32) :: arg
  integer :: n, m
  real(dp), allocatable :: z(:, :), w(:, :), rain(:), area(:)
  integer, allocatable :: down(:)
  call get_command_argument(1, arg)
  read (arg, *) n
  m = nint(sqrt(real(n, dp)))
  allocate (z(m, m), w(m, m), rain(m*m), area(m*m), down(m*m))
  call synth_dem(z, m)
  call smooth_dem(z, w, m, 20)
  call flow_direction(z, down, m)
  call effective_rain(z, rain, m, 60)
  call contributing_area(down, rain, area, m*m)
  print '(a,i0,a,es14.6,a,f10.5)', 'cells ', m*m, '  largest ', maxval(area), '  wetness ', wetness(area, z, m*m)
end program
