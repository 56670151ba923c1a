! Electron density on a longitude-latitude-altitude grid, driven by the sun,
! with recombination and vertical drift; maps of the column content.
module iono_mod
  implicit none
  integer, parameter :: dp = kind(1.0d0)

  type :: grid_t
     integer :: nlon, nlat, nalt
     real(dp) :: dz
     real(dp), allocatable :: alt(:), lat(:), lon(:)
  end type grid_t

  type :: plasma_t
     type(grid_t) :: grid
     real(dp), allocatable :: ne(:,:,:)      ! lon, lat, alt
     real(dp), allocatable :: loss(:)
     real(dp), allocatable :: shape(:)
   contains
     procedure :: init
     procedure :: produce
     procedure :: content
     procedure :: slant
  end type plasma_t

contains

  subroutine init(self, nlon, nlat, nalt)
    class(plasma_t), intent(inout) :: self
    integer, intent(in) :: nlon, nlat, nalt
    integer :: k
    real(dp), parameter :: pi = acos(-1.0_dp)
    real(dp) :: h

    self%grid%nlon = nlon
    self%grid%nlat = nlat
    self%grid%nalt = nalt
    self%grid%dz = 900.0_dp / nalt
    self%grid%alt = [(100.0_dp + self%grid%dz * (k - 0.5_dp), k = 1, nalt)]
    self%grid%lat = [(-pi / 2 + pi * (k - 0.5_dp) / nlat, k = 1, nlat)]
    self%grid%lon = [(2 * pi * (k - 1) / nlon, k = 1, nlon)]
    allocate(self%ne(nlon, nlat, nalt), self%loss(nalt), self%shape(nalt))
    self%ne = 0.1_dp
    do k = 1, nalt
       h = (self%grid%alt(k) - 300.0_dp) / 70.0_dp
       self%shape(k) = exp(1.0_dp - h - exp(-h))
       self%loss(k) = 0.02_dp * exp(-(self%grid%alt(k) - 100.0_dp) / 120.0_dp)
    end do
  end subroutine init

  subroutine produce(self, hour, dt)
    class(plasma_t), intent(inout) :: self
    real(dp), intent(in) :: hour, dt
    integer :: i, j, k
    real(dp) :: sun(self%grid%nlon, self%grid%nlat), a, b

    do j = 1, self%grid%nlat
       sun(:, j) = max(0.0_dp, cos(self%grid%lat(j)) * cos(self%grid%lon + 0.2618_dp * hour))
    end do
    do k = 1, self%grid%nalt
       a = self%shape(k) * dt
       b = self%loss(k) * dt
       do j = 1, self%grid%nlat
          do i = 1, self%grid%nlon
             self%ne(i, j, k) = self%ne(i, j, k) + a * sun(i, j) &
                  - b * self%ne(i, j, k) * self%ne(i, j, k)
          end do
       end do
    end do
  end subroutine produce

  ! Column content and height of the peak at every place of the map.
  subroutine content(self, tec, peak)
    class(plasma_t), intent(in) :: self
    real(dp), intent(out) :: tec(:,:), peak(:,:)
    integer :: i, j

    do i = 1, self%grid%nlon
       do j = 1, self%grid%nlat
          call self%slant(i, j, tec(i, j), peak(i, j))
       end do
    end do
  end subroutine content

  subroutine slant(self, i, j, total, top)
    class(plasma_t), intent(in) :: self
    integer, intent(in) :: i, j
    real(dp), intent(out) :: total, top
    integer :: k

    total = 0.0_dp
    top = 0.0_dp
    do k = 1, self%grid%nalt
       total = total + self%ne(i, j, k) * self%grid%dz
       top = max(top, self%ne(i, j, k))
    end do
  end subroutine slant

end module iono_mod

program ionosphere
  use iono_mod
  implicit none
  integer, parameter :: nlon = 256, nlat = 128, nalt = 160
  type(plasma_t) :: plasma
  real(dp) :: tec(nlon, nlat), peak(nlon, nlat), mean(nlon, nlat), hour
  integer :: n, nstep
  character(len=16) :: arg

  nstep = 96
  if (command_argument_count() > 0) then
     call get_command_argument(1, arg)
     read(arg, *) nstep
  end if

  call plasma%init(nlon, nlat, nalt)
  mean = 0.0_dp
  do n = 1, nstep
     hour = 0.25_dp * n
     call plasma%produce(hour, 0.25_dp)
     call plasma%content(tec, peak)
     mean = mean + tec / nstep
     if (mod(n, 24) == 0) write(*, '(a,f7.2,a,f14.6,a,f12.6)') 'hour ', hour, &
          '  largest content ', maxval(tec), '  peak ', maxval(peak)
  end do
  write(*, '(a,f16.8,a,f16.8)') 'mean content ', sum(mean) / size(mean), '  at noon ', mean(1, nlat / 2)
end program ionosphere
