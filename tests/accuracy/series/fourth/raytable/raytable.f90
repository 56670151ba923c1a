! Kirchhoff-style imaging of a seismic line; travel times from a layered model
module imaging
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: nlayer = 40, noff = 900, ndep = 160
contains
  subroutine velocity_model(v, h)
    real(dp), intent(out) :: v(nlayer), h(nlayer)
    integer :: k
    do k = 1, nlayer
      v(k) = 1500d0 + 60d0*k + 80d0*sin(0.9d0*k)
      h(k) = 50d0
    end do
  end subroutine

  ! two-point ray by bisection on the ray parameter
  function shoot(v, h, offset, layers) result(t)
    real(dp), intent(in) :: v(nlayer), h(nlayer), offset
    integer, intent(in) :: layers
    real(dp) :: t, lo, hi, p, x, c
    integer :: it, k
    lo = 0d0
    hi = (1d0 - 1d-9)/maxval(v(1:layers))
    t = 0d0
    do it = 1, 30
      p = 0.5d0*(lo + hi)
      x = 0d0
      t = 0d0
      do k = 1, layers
        c = sqrt(1d0 - (p*v(k))**2)
        x = x + h(k)*p*v(k)/c
        t = t + h(k)/(v(k)*c)
      end do
      if (x < offset) then
        lo = p
      else
        hi = p
      end if
    end do
  end function

  subroutine travel_times(v, h, tt)
    real(dp), intent(in) :: v(nlayer), h(nlayer)
    real(dp), intent(out) :: tt(noff, ndep)
    integer :: i, j
    do j = 1, ndep
      do i = 1, noff
        tt(i, j) = shoot(v, h, 10d0*i, 1 + mod(j, nlayer)) + 1d-3*j
      end do
    end do
  end subroutine

  subroutine stack_column(trace, nt, ntrace, tt, col, image)
    integer, intent(in) :: nt, ntrace, col
    real(dp), intent(in) :: trace(nt, ntrace), tt(noff, ndep)
    real(dp), intent(out) :: image(ndep)
    integer :: j, k, o, it
    real(dp) :: s, t, w
    do j = 1, ndep
      s = 0d0
      do k = 1, ntrace
        o = min(noff, 1 + abs(k - col))
        t = 2d0*tt(o, j)*250d0
        it = int(t)
        if (it < 1 .or. it >= nt) cycle
        w = t - it
        s = s + ((1d0 - w)*trace(it, k) + w*trace(it + 1, k))/sqrt(1d0 + 0.01d0*o*o)
      end do
      image(j) = s
    end do
  end subroutine
end module

program raytable
  use imaging
  implicit none
  integer, parameter :: nt = 1000, ntrace = 900
  real(dp), allocatable :: trace(:, :), image(:, :), tt(:, :)
  real(dp) :: v(nlayer), h(nlayer)
  integer :: i, k
  allocate (trace(nt, ntrace), image(ndep, ntrace))
  call velocity_model(v, h)
  do k = 1, ntrace
    do i = 1, nt
      trace(i, k) = sin(0.05d0*i + 0.01d0*k)*exp(-((i - 400d0 - 0.3d0*k)/60d0)**2)
    end do
  end do
!$omp parallel private(tt)
  allocate (tt(noff, ndep))
  call travel_times(v, h, tt)
!$omp do schedule(static)
  do k = 1, ntrace
    call stack_column(trace, nt, ntrace, tt, k, image(:, k))
  end do
!$omp end do
  deallocate (tt)
!$omp end parallel
  print '(a,2es16.8)', 'image energy, peak: ', sum(image**2), maxval(abs(image))
end program
