! Active-layer thickness along a north-south transect of boreholes: for every
! site the seasonal thaw front is integrated through a layered soil column.
module soil
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: mlay = 400
  real(dp), parameter :: latent = 3.34d8

  type :: borehole
    real(dp) :: latitude = 0, tmean = 0, tamp = 0, ice = 0
    real(dp) :: front = 0, heat = 0
    integer :: frozen_years = 0
  end type borehole

contains

  ! Conducts heat through the thawed part of the column for one day.
  subroutine conduct(temp, nthaw, surface, kdt)
    real(dp), intent(inout) :: temp(0:mlay)
    integer, intent(in) :: nthaw
    real(dp), intent(in) :: surface, kdt
    real(dp) :: c(0:mlay), d(0:mlay), m
    integer :: k
    temp(0) = surface
    c(0) = 0
    d(0) = temp(0)
    do k = 1, nthaw - 1
      m = 1.0_dp / (1.0_dp + kdt * (2.0_dp - c(k - 1)))
      c(k) = kdt * m
      d(k) = (temp(k) + kdt * d(k - 1)) * m
    end do
    temp(nthaw) = 0
    do k = nthaw - 1, 1, -1
      temp(k) = d(k) + c(k) * temp(k + 1)
    end do
  end subroutine conduct

  subroutine simulate(site, years)
    type(borehole), intent(inout) :: site
    integer, intent(in) :: years
    real(dp) :: temp(0:mlay), surface, melt, dz
    integer :: y, day, nthaw, deepest
    dz = 0.02_dp
    site%front = 0
    site%heat = 0
    do y = 1, years
      temp = 0
      nthaw = 1
      melt = 0
      deepest = 0
      do day = 1, 365
        surface = site%tmean + 0.01_dp * y &
                - site%tamp * cos(6.283185307_dp * (day - 15) / 365.0_dp)
        if (surface <= 0 .and. nthaw == 1) cycle
        call conduct(temp, nthaw, max(surface, 0.0_dp), 86400.0_dp * 8.0d-7 / dz**2)
        melt = melt + 1.6_dp * (temp(nthaw - 1) - temp(nthaw)) / dz * 86400.0_dp
        do while (melt > site%ice * latent * dz .and. nthaw < mlay)
          melt = melt - site%ice * latent * dz
          nthaw = nthaw + 1
        end do
        deepest = max(deepest, nthaw)
        site%heat = site%heat + sum(temp(1:nthaw)) * dz
      end do
      if (deepest < 2) site%frozen_years = site%frozen_years + 1
      site%front = site%front + deepest * dz / years
    end do
  end subroutine simulate

end module soil

program transect
  use soil
  implicit none
  integer, parameter :: nsite = 1600, years = 20, nzone = 8
  type(borehole), allocatable :: site(:)
  integer :: i, z, lo, hi

  allocate(site(nsite))
  do i = 1, nsite
    site(i)%latitude = 84.0_dp - 22.0_dp * real(i - 1, dp) / nsite
    site(i)%tmean = -25.0_dp + 21.5_dp * real(i, dp) / nsite + 0.3_dp * sin(0.37_dp * i)
    site(i)%tamp = 17.0_dp + 2.0_dp * cos(0.011_dp * i)
    site(i)%ice = 0.12_dp + 0.03_dp * sin(1.3_dp * i)
  end do

  !$omp parallel do schedule(static) default(none) shared(site)
  do i = 1, nsite
    call simulate(site(i), years)
  end do
  !$omp end parallel do

  print '(a)', ' zone  latitude   thaw depth    heat content  frozen years'
  do z = 1, nzone
    lo = 1 + (z - 1) * nsite / nzone
    hi = z * nsite / nzone
    print '(i5,f10.2,f13.5,es16.6,i14)', z, sum(site(lo:hi)%latitude) / (hi - lo + 1), &
      sum(site(lo:hi)%front) / (hi - lo + 1), sum(site(lo:hi)%heat) / (hi - lo + 1), &
      sum(site(lo:hi)%frozen_years)
  end do
end program transect
