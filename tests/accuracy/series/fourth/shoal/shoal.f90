! Underwater acoustics: transmission loss from rays launched over a range of angles.
module rays
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: nrng = 60, ndep = 30
  real(dp) :: power(nrng, ndep)
contains
  pure real(dp) function sound_speed(z)
    real(dp), intent(in) :: z
    real(dp) :: e
    e = 2d0*(z-1300d0)/1300d0
    sound_speed = 1500d0*(1d0 + 0.00737d0*(e - 1d0 + exp(-e)))
  end function

  subroutine trace(theta0, freq)
    real(dp), intent(in) :: theta0, freq
    real(dp) :: r, z, th, c, g, amp, ds
    integer :: k, ir, iz
    r = 0; z = 1000; th = theta0; amp = 1; ds = 40
    do k = 1, 1500
      c = sound_speed(z)
      g = (sound_speed(z+1d0) - c)
      th = th - ds*cos(th)*g/c
      r = r + ds*cos(th); z = z + ds*sin(th)
      if (z < 0) then
        z = -z; th = -th; amp = amp*0.95d0
      else if (z > 5000) then
        z = 10000-z; th = -th; amp = amp*(0.6d0 + 0.3d0*cos(th))
      end if
      amp = amp*(1 - 1d-6*freq)
      ir = min(int(r/1000d0)+1, nrng); iz = min(int(z/5000d0*ndep)+1, ndep)
      power(ir,iz) = power(ir,iz) + amp*amp*ds/(1d0+r)
    end do
  end subroutine
end module

program shoal
  use rays
  use mpi
  implicit none
  integer :: rank, nproc, ierr, i, j
  integer, parameter :: nray = 18000
  real(dp) :: total(nrng, ndep)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  power = 0
  do i = 1 + rank, nray, nproc
    call trace((i - 0.5d0*nray)/nray*0.5d0, 50d0)
  end do
  call MPI_Reduce(power, total, nrng*ndep, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    do j = 5, ndep, 10
      print '(a,f7.0,a,6f8.2)', 'depth ', (j-0.5d0)*5000/ndep, ' m  TL', &
        (-10*log10(total(i,j)/nray + 1d-30), i = 10, nrng, 10)
    end do
  end if
  call MPI_Finalize(ierr)
end program
