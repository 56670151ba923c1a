! Wind driven shelf sea: momentum and tracer rows are divided among ranks,
! free surface from an implicit elliptic equation.
module shelf
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0), nx = 256, ny = 256, nz = 12
  integer :: rank, nranks, nloc, j0, ierr
  real(dp), allocatable :: u(:,:,:), rhs(:,:), eta(:,:)
  real(dp) :: eta_all(nx,ny), rhs_all(nx,ny)
contains

  subroutine momentum(istep)
    integer, intent(in) :: istep
    integer :: i, j, k
    real(dp) :: wind, ri, kz, slope
    do j = 1, nloc
       do i = 1, nx
          wind = 1d-3*sin(0.02d0*(j0+j)+0.1d0*istep)
          slope = eta(min(nx,i+1),j) - eta(max(1,i-1),j)
          do k = 1, nz
             ri = 0.2d0*k/(1d0 + 50d0*abs(u(k,i,j)))
             kz = 0.05d0*exp(-ri) + 1d-4*sqrt(1d0 + ri)
             u(k,i,j) = u(k,i,j)*(1d0 - kz) + wind*exp(-0.3d0*k) - 0.01d0*slope
          end do
          rhs(i,j) = sum(u(:,i,j))
       end do
    end do
  end subroutine momentum

  subroutine relax_elevation(niter)
    integer, intent(in) :: niter
    integer :: i, j, it
    do it = 1, niter
       do j = 2, ny-1
          do i = 2, nx-1
             eta_all(i,j) = eta_all(i,j) + 1.5d0*((eta_all(i-1,j) + eta_all(i+1,j) + eta_all(i,j-1) &
                  + eta_all(i,j+1) + rhs_all(i,j))/4.1d0 - eta_all(i,j))
          end do
       end do
    end do
  end subroutine relax_elevation

  subroutine surface_step()
    call MPI_Gather(rhs, nx*nloc, MPI_DOUBLE_PRECISION, rhs_all, nx*nloc, MPI_DOUBLE_PRECISION, &
         0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call relax_elevation(20)
    call MPI_Bcast(eta_all, nx*ny, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    eta(:,:) = eta_all(:,j0+1:j0+nloc)
  end subroutine surface_step
end module shelf

program shelfmodel
  use shelf
  implicit none
  integer :: istep, nsteps
  character(len=16) :: arg
  real(dp) :: ke, ke_all
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  nsteps = 42
  if (command_argument_count() > 0) then
     call get_command_argument(1, arg); read(arg,*) nsteps
  end if
  nloc = ny/nranks
  j0 = rank*nloc
  allocate(u(nz,nx,nloc), rhs(nx,nloc), eta(nx,nloc))
  u = 0d0; eta = 0d0; eta_all = 0d0; rhs_all = 0d0
  do istep = 1, nsteps
     call momentum(istep)
     call surface_step()
  end do
  ke = 0.5d0*sum(u**2)
  call MPI_Reduce(ke, ke_all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i0,a,es14.6,a,es14.6)', 'steps ', nsteps, '  kinetic energy ', ke_all, &
       '  max elevation ', maxval(eta_all)
  call MPI_Finalize(ierr)
end program shelfmodel
