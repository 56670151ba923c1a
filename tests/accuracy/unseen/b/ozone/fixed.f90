module chemistry
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: nspec = 4

  type :: column
    real(dp) :: latitude = 0.0_dp, longitude = 0.0_dp
    real(dp), allocatable :: c(:, :)
  end type column

contains

  pure real(dp) function cosine_zenith(lat, lon, hour) result(mu)
    real(dp), intent(in) :: lat, lon, hour
    real(dp), parameter :: rad = acos(-1.0_dp)/180.0_dp, tilt = 0.21_dp
    mu = sin(lat*rad)*sin(tilt) + cos(lat*rad)*cos(tilt)*cos(lon*rad + (hour - 12.0_dp)*15.0_dp*rad)
  end function cosine_zenith

  pure subroutine tendency(c, photo, dcdt)
    real(dp), intent(in) :: c(nspec), photo
    real(dp), intent(out) :: dcdt(nspec)
    real(dp) :: r1, r2, r3, r4
    r1 = photo*c(3)
    r2 = 0.8_dp*c(1)*c(4)
    r3 = 0.05_dp*c(2)*c(3)
    r4 = 0.3_dp*photo*c(2)
    dcdt(1) = r1 + r4 - r2
    dcdt(2) = r2 - r3 - r4
    dcdt(3) = r2 - r1 - r3
    dcdt(4) = r1 + r4 - r2 + 2.0_dp*r3
  end subroutine tendency

  pure subroutine advance(c, photo, dt, parts)
    real(dp), intent(inout) :: c(nspec)
    real(dp), intent(in) :: photo, dt
    integer, intent(in) :: parts
    real(dp) :: h, k1(nspec), k2(nspec)
    integer :: n
    h = dt/parts
    do n = 1, parts
      call tendency(c, photo, k1)
      call tendency(c + 0.5_dp*h*k1, photo, k2)
      c = max(c + h*k2, 0.0_dp)
    end do
  end subroutine advance

  pure subroutine react(cell, hour, dt)
    type(column), intent(inout) :: cell
    real(dp), intent(in) :: hour, dt
    real(dp) :: mu, photo, depth
    integer :: k, parts
    mu = cosine_zenith(cell%latitude, cell%longitude, hour)
    depth = 0.02_dp
    do k = 1, size(cell%c, 2)
      photo = 0.0_dp
      if (mu > 0.02_dp) photo = 6.0_dp*exp(-depth/mu)
      parts = 2 + int(12.0_dp*photo)
      call advance(cell%c(:, k), photo, dt, parts)
      depth = depth + 0.01_dp*cell%c(3, k)
    end do
  end subroutine react

end module chemistry

module globe
  use chemistry
  implicit none

contains

  subroutine seed(cells, nlat, nlon, nlev)
    type(column), allocatable, intent(out) :: cells(:)
    integer, intent(in) :: nlat, nlon, nlev
    integer :: i, j, k, m
    allocate (cells(nlat*nlon))
    do i = 1, nlon
      do j = 1, nlat
        m = (i - 1)*nlat + j
        cells(m)%latitude = -90.0_dp + 180.0_dp*(j - 0.5_dp)/nlat
        cells(m)%longitude = -180.0_dp + 360.0_dp*(i - 0.5_dp)/nlon
        allocate (cells(m)%c(nspec, nlev))
        do k = 1, nlev
          cells(m)%c(:, k) = [0.2_dp, 1.0_dp + 0.01_dp*k, 0.6_dp + 0.1_dp*mod(m, 7), 0.3_dp]
        end do
      end do
    end do
  end subroutine seed

  subroutine morning(cells, first, last, dt)
    type(column), intent(inout) :: cells(:)
    real(dp), intent(in) :: first, last, dt
    real(dp) :: hour
    integer :: m, n, steps
    steps = nint((last - first)/dt)
    do n = 1, steps
      hour = first + (n - 1)*dt
      !$omp parallel do schedule(dynamic, 16)
      do m = 1, size(cells)
        call react(cells(m), hour, dt)
      end do
      !$omp end parallel do
    end do
  end subroutine morning

  subroutine report(cells)
    type(column), intent(in) :: cells(:)
    real(dp) :: burden(nspec), peak
    integer :: m
    burden = 0.0_dp
    peak = 0.0_dp
    do m = 1, size(cells)
      burden = burden + sum(cells(m)%c, dim=2)
      peak = max(peak, maxval(cells(m)%c(2, :)))
    end do
    print '(a,4es18.9)', 'burden', burden
    print '(a,es18.9)', 'peak  ', peak
  end subroutine report

end module globe

program ozone
  use globe
  implicit none
  type(column), allocatable :: cells(:)
  character(len=32) :: arg
  integer :: nlon
  call get_command_argument(1, arg)
  read (arg, *) nlon
  call seed(cells, nlon/2, nlon, 30)
  call morning(cells, 5.0_dp, 7.0_dp, 0.1_dp)
  call report(cells)
end program ozone
