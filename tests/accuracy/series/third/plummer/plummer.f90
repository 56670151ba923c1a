! Collisional evolution of a Plummer star cluster, direct summation; every
! rank integrates its own stars.
module cluster
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0), nstar = 2400
  real(dp), parameter :: eps2 = 1d-4, pi = 3.141592653589793d0
  integer :: rank, nranks, nloc, i0, ierr
  real(dp) :: pos(3,nstar), mass
  real(dp), allocatable :: vel(:,:), acc(:,:), mine(:,:)
contains

  subroutine sample_plummer()
    integer :: i
    real(dp) :: r, c, s, phi, q
    mass = 1d0/nstar
    do i = 1, nstar
       q = (i - 0.5d0)/nstar
       r = 1d0/sqrt(q**(-2d0/3d0) - 1d0 + 1d-3)
       c = 2d0*mod(i*0.618033988749895d0, 1d0) - 1d0
       s = sqrt(1d0 - c*c)
       phi = 2d0*pi*mod(i*0.414213562373095d0, 1d0)
       pos(:,i) = r*[s*cos(phi), s*sin(phi), c]
    end do
  end subroutine sample_plummer

  subroutine gravity()
    integer :: i, j
    real(dp) :: a(3), d(3), r2, w
    do i = 1, nloc
       a = 0d0
       do j = 1, nstar
          d = pos(:,j) - mine(:,i)
          r2 = d(1)*d(1) + d(2)*d(2) + d(3)*d(3) + eps2
          w = mass/(r2*sqrt(r2))
          a = a + w*d
       end do
       acc(:,i) = a
    end do
  end subroutine gravity

  subroutine kick_drift(dt)
    real(dp), intent(in) :: dt
    vel = vel + dt*acc
    mine = mine + dt*vel
  end subroutine kick_drift

  subroutine share_positions()
    call MPI_Allgather(mine, 3*nloc, MPI_DOUBLE_PRECISION, pos, 3*nloc, MPI_DOUBLE_PRECISION, &
         MPI_COMM_WORLD, ierr)
  end subroutine share_positions
end module cluster

program plummer
  use cluster
  implicit none
  integer :: istep, nsteps
  character(len=16) :: arg
  real(dp) :: ekin, etot
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  nsteps = 22
  if (command_argument_count() > 0) then
     call get_command_argument(1, arg); read(arg,*) nsteps
  end if
  nloc = nstar/nranks
  i0 = rank*nloc
  allocate(vel(3,nloc), acc(3,nloc), mine(3,nloc))
  call sample_plummer()
  mine = pos(:,i0+1:i0+nloc)
  vel = 0d0
  do istep = 1, nsteps
     call gravity()
     call kick_drift(0.002d0)
     call share_positions()
  end do
  ekin = 0.5d0*mass*sum(vel**2)
  call MPI_Reduce(ekin, etot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i0,a,es14.6)', 'steps ', nsteps, '  kinetic energy ', etot
  call MPI_Finalize(ierr)
end program plummer
