! Spectral analysis of an atmospheric vorticity field with triangular
! truncation, followed by simple grid point physics.
module spectral
  use omp_lib
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: mtrunc = 170, nlat = 256, nlon = 512
  real(dp), parameter :: pi = 3.141592653589793d0
  real(dp) :: mu(nlat), wgt(nlat)
  real(dp) :: grid(nlon,nlat), four(nlat,0:mtrunc), spec(0:mtrunc,0:mtrunc)
contains

  subroutine latitudes()
    integer :: j
    do j = 1, nlat
       mu(j) = sin(pi*((j-0.5d0)/nlat - 0.5d0))
       wgt(j) = pi/nlat*sqrt(1d0 - mu(j)**2)
    end do
  end subroutine latitudes

  subroutine gridpoint_physics(istep)
    integer, intent(in) :: istep
    integer :: i, j
    real(dp) :: lam
    !$omp parallel do private(i, lam) schedule(static)
    do j = 1, nlat
       do i = 1, nlon
          lam = 2*pi*(i-1)/nlon
          grid(i,j) = mu(j)*(1d0 - 0.1d0*mu(j)**2) + 0.2d0*sin(4*lam + 0.1d0*istep)*(1d0 - mu(j)**2)
       end do
    end do
    !$omp end parallel do
  end subroutine gridpoint_physics

  subroutine zonal_amplitudes()
    integer :: j, m
    !$omp parallel do private(m) schedule(static)
    do j = 1, nlat
       do m = 0, mtrunc
          four(j,m) = grid(1+3*m,j)*cos(0.3d0*m)/(1d0 + m)
       end do
    end do
    !$omp end parallel do
  end subroutine zonal_amplitudes

  subroutine legendre_analysis()
    integer :: m, n, j
    real(dp) :: pm2, pm1, p, a, b, pmm, c
    !$omp parallel do private(n, j, pm2, pm1, p, a, b, pmm, c) schedule(static)
    do m = 0, mtrunc
       spec(:,m) = 0d0
       do j = 1, nlat
          pmm = sqrt(0.5d0*(2*m+1))*exp(0.5d0*m*log(1d0 - mu(j)**2))
          c = four(j,m)*wgt(j)
          pm2 = 0d0; pm1 = pmm
          spec(m,m) = spec(m,m) + c*pm1
          do n = m+1, mtrunc
             a = sqrt((4d0*n*n - 1d0)/(dble(n)*n - dble(m)*m))
             b = sqrt(((n-1d0)**2 - dble(m)*m)/(4d0*(n-1d0)**2 - 1d0))
             p = a*(mu(j)*pm1 - b*pm2)
             spec(n,m) = spec(n,m) + c*p
             pm2 = pm1; pm1 = p
          end do
       end do
    end do
    !$omp end parallel do
  end subroutine legendre_analysis
end module spectral

program zonalspec
  use spectral
  implicit none
  integer :: istep, nsteps
  character(len=16) :: arg
  real(dp) :: enstrophy
  nsteps = 42
  if (command_argument_count() > 0) then
     call get_command_argument(1, arg); read(arg,*) nsteps
  end if
  call latitudes()
  enstrophy = 0d0
  do istep = 1, nsteps
     call gridpoint_physics(istep)
     call zonal_amplitudes()
     call legendre_analysis()
     enstrophy = enstrophy + sum(spec**2)
  end do
  print '(a,i0,a,es16.8)', 'steps ', nsteps, '  mean enstrophy ', enstrophy/nsteps
end program zonalspec
