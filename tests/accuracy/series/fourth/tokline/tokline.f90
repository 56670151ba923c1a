! Heat transport along and across flux surfaces of a tokamak, alternating directions.
! The radial direction is divided among the ranks.
module transport
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: nr = 256, nt = 384
  integer :: me, np, ml, ierr
  real(dp), allocatable :: te(:,:), cp(:,:), dpr(:,:), chi(:,:)
contains
  subroutine setup()
    integer :: i, j
    ml = nr/np
    allocate(te(nt,0:ml+1), cp(nt,0:ml+1), dpr(nt,0:ml+1), chi(nt,0:ml+1))
    do j = 0, ml+1
      do i = 1, nt
        te(i,j) = 1 + 4*exp(-((me*ml+j)/80d0)**2)*(1+0.1d0*cos(6.2831853d0*i/nt))
      end do
    end do
  end subroutine

  subroutine conductivity()
    integer :: i, j
    do j = 1, ml
      do i = 1, nt
        chi(i,j) = 0.3d0 + 0.02d0*te(i,j)*sqrt(te(i,j))
      end do
    end do
  end subroutine

  subroutine poloidal_step(dt)
    real(dp), intent(in) :: dt
    real(dp) :: w(nt)
    integer :: i, j, s
    do s = 1, 2
      do j = 1, ml
        do i = 1, nt
          w(i) = te(i,j) + 0.5d0*dt*chi(i,j)*(te(mod(i,nt)+1,j) - 2*te(i,j) + te(mod(i+nt-2,nt)+1,j))
        end do
        te(:,j) = w
      end do
    end do
  end subroutine

  subroutine radial_step(dt)
    real(dp), intent(in) :: dt
    integer :: i, j
    real(dp) :: a, m
    if (me > 0) then
      call MPI_Recv(cp(1,0), nt, MPI_DOUBLE_PRECISION, me-1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Recv(dpr(1,0), nt, MPI_DOUBLE_PRECISION, me-1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    else
      cp(:,0) = 1; dpr(:,0) = 0
    end if
    do j = 1, ml
      do i = 1, nt
        a = dt*chi(i,j)/(1+0.1d0*sqrt(te(i,j)))
        m = 1 + 2*a - a*cp(i,j-1)
        cp(i,j) = a/m
        dpr(i,j) = (te(i,j) + a*dpr(i,j-1))/m
      end do
    end do
    if (me < np-1) then
      call MPI_Send(cp(1,ml), nt, MPI_DOUBLE_PRECISION, me+1, 1, MPI_COMM_WORLD, ierr)
      call MPI_Send(dpr(1,ml), nt, MPI_DOUBLE_PRECISION, me+1, 2, MPI_COMM_WORLD, ierr)
      call MPI_Recv(te(1,ml+1), nt, MPI_DOUBLE_PRECISION, me+1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    else
      te(:,ml+1) = 1
    end if
    do j = ml, 1, -1
      do i = 1, nt
        te(i,j) = dpr(i,j) + cp(i,j)*te(i,j+1)
      end do
    end do
    if (me > 0) call MPI_Send(te(1,1), nt, MPI_DOUBLE_PRECISION, me-1, 3, MPI_COMM_WORLD, ierr)
  end subroutine
end module

program tokline
  use transport
  implicit none
  integer :: step
  real(dp) :: e, etot
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  call setup()
  do step = 1, 1000
    call conductivity()
    call poloidal_step(0.2d0)
    call radial_step(0.2d0)
  end do
  e = sum(te(:,1:ml))
  call MPI_Reduce(e, etot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a,f12.6)', 'mean temperature ', etot/(real(nr,dp)*nt)
  call MPI_Finalize(ierr)
end program
