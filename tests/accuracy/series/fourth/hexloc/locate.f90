! Monte Carlo localisation of a mobile robot from range scans.
module mcl
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: np = 16000, nbeam = 24, nx = 240, ny = 240, nobs = 40
  real(dp) :: obs(2,nobs), px(np), py(np), pt(np), wt(np)
contains
  subroutine make_world()
    integer :: k
    do k = 1, nobs
      obs(1,k) = 80 + 70*cos(2.4d0*k)*sqrt(k/real(nobs,dp))
      obs(2,k) = 80 + 70*sin(2.4d0*k)*sqrt(k/real(nobs,dp))
    end do
  end subroutine

  subroutine distance_field(d)
    real(dp), intent(out) :: d(nx,ny)
    integer :: i, j, k
    real(dp) :: r
    do j = 1, ny
      do i = 1, nx
        d(i,j) = 1d9
        do k = 1, nobs
          r = sqrt((i-obs(1,k))**2 + (j-obs(2,k))**2)
          d(i,j) = min(d(i,j), r)
        end do
        d(i,j) = exp(-0.5d0*min(d(i,j),8d0)**2/4d0) + 0.02d0
      end do
    end do
  end subroutine

  subroutine scan(x, y, th, z)
    real(dp), intent(in) :: x, y, th
    real(dp), intent(out) :: z(nbeam)
    integer :: b, k
    real(dp) :: c, s, a, q, dx, dy
    do b = 1, nbeam
      c = cos(th + b*6.2831853d0/nbeam); s = sin(th + b*6.2831853d0/nbeam)
      z(b) = 60
      do k = 1, nobs
        dx = obs(1,k)-x; dy = obs(2,k)-y
        a = dx*c + dy*s; q = abs(dx*s - dy*c)
        if (a > 0 .and. q < 2) z(b) = min(z(b), a)
      end do
    end do
  end subroutine

  subroutine weigh(z, d, first, last)
    real(dp), intent(in) :: z(nbeam), d(nx,ny)
    integer, intent(in) :: first, last
    integer :: k, b, i, j
    real(dp) :: lw, a
    do k = first, last
      lw = 0
      do b = 1, nbeam
        if (z(b) >= 60) cycle
        a = pt(k) + b*6.2831853d0/nbeam
        i = min(max(nint(px(k) + z(b)*cos(a)), 1), nx)
        j = min(max(nint(py(k) + z(b)*sin(a)), 1), ny)
        lw = lw + log(d(i,j))
      end do
      wt(k) = exp(0.3d0*lw)
    end do
  end subroutine

  subroutine move(step, first, last)
    integer, intent(in) :: step, first, last
    integer :: k
    real(dp) :: e
    do k = first, last
      e = sin(12.9898d0*k + 78.233d0*step)*43758.5453d0
      e = e - floor(e) - 0.5d0
      pt(k) = pt(k) + 0.04d0 + 0.02d0*e
      px(k) = px(k) + cos(pt(k))*(1+0.3d0*e)
      py(k) = py(k) + sin(pt(k))*(1-0.3d0*e)
    end do
  end subroutine
end module

program locate
  use mcl
  use omp_lib
  implicit none
  integer :: t, k, first, last, me, nt
  real(dp) :: z(nbeam), tx, ty, tth, ex, ey
  real(dp), allocatable :: field(:,:)
  call make_world()
  tx = 80; ty = 50; tth = 0.1d0; ex = 0; ey = 0
  do k = 1, np
    px(k) = tx + 10*sin(1.7d0*k); py(k) = ty + 10*cos(2.3d0*k); pt(k) = tth + 0.2d0*sin(0.9d0*k)
  end do
  do t = 1, 125
    obs(:,1) = [40d0 + 0.8d0*t, 120d0]
    obs(:,2) = [110d0, 130d0 - 0.9d0*t]
    tth = tth + 0.04d0; tx = tx + cos(tth); ty = ty + sin(tth)
    call scan(tx, ty, tth, z)
    !$omp parallel private(field, first, last, me, nt)
    me = omp_get_thread_num(); nt = omp_get_num_threads()
    first = np*me/nt + 1; last = np*(me+1)/nt
    allocate(field(nx,ny))
    call distance_field(field)
    call move(t, first, last)
    call weigh(z, field, first, last)
    deallocate(field)
    !$omp end parallel
    ex = sum(wt*px)/sum(wt) - tx; ey = sum(wt*py)/sum(wt) - ty
  end do
  print '(a,2f9.3,a,2f8.3)', 'pose ', tx, ty, '  error ', ex, ey
end program
