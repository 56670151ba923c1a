! Hourly streamflow along a main stem: rainfall-runoff of every subcatchment, then channel routing
module basin
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: nreach = 300, nhour = 8760
contains
  subroutine rainfall(id, p)
    integer, intent(in) :: id
    real(dp), intent(out) :: p(nhour)
    integer :: t
    do t = 1, nhour
      p(t) = max(0d0, 4d0*sin(0.013d0*t + 0.2d0*id)*sin(0.171d0*t) - 1.5d0)
    end do
  end subroutine

  ! nonlinear reservoir with evaporation
  subroutine runoff(p, q, nsub)
    real(dp), intent(in) :: p(nhour)
    real(dp), intent(out) :: q(nhour)
    integer, intent(in) :: nsub
    real(dp) :: s, out, dt
    integer :: t, k
    s = 20d0
    dt = 1d0/nsub
    do t = 1, nhour
      q(t) = 0d0
      do k = 1, nsub
        out = 0.002d0*s*sqrt(s)
        s = max(0.1d0, s + dt*(p(t) - out - 0.02d0*(1d0 - exp(-0.05d0*s))))
        q(t) = q(t) + dt*out
      end do
    end do
  end subroutine

  ! kinematic wave with a Newton step in each segment
  subroutine route_reach(lateral, q)
    real(dp), intent(in) :: lateral(nhour)
    real(dp), intent(inout) :: q(nhour)
    integer, parameter :: nseg = 6
    real(dp) :: a(nseg), inflow, f, df
    integer :: t, k, it
    a = 1d0
    do t = 1, nhour
      inflow = q(t) + lateral(t)
      do k = 1, nseg
        do it = 1, 3
          f = a(k) + 0.4d0*a(k)*sqrt(sqrt(a(k))) - 1d0 - 0.4d0*inflow
          df = 1d0 + 0.5d0*sqrt(sqrt(a(k)))
          a(k) = max(1d-3, a(k) - f/df)
        end do
        inflow = 0.7d0*inflow + 0.3d0*a(k)*sqrt(sqrt(a(k)))
      end do
      q(t) = inflow
    end do
  end subroutine

  subroutine route_stem(lateral, nloc, rank, nproc, q)
    integer, intent(in) :: nloc, rank, nproc
    real(dp), intent(in) :: lateral(nhour, nloc)
    real(dp), intent(out) :: q(nhour)
    integer :: i, ierr
    q = 0.5d0
    if (rank > 0) call MPI_Recv(q, nhour, MPI_DOUBLE_PRECISION, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 1, nloc
      call route_reach(lateral(:, i), q)
    end do
    if (rank < nproc - 1) call MPI_Send(q, nhour, MPI_DOUBLE_PRECISION, rank + 1, 3, MPI_COMM_WORLD, ierr)
  end subroutine
end module

program rivchain
  use basin
  implicit none
  integer :: rank, nproc, ierr, lo, hi, i
  real(dp), allocatable :: lateral(:, :)
  real(dp) :: p(nhour), q(nhour), vol, all
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  lo = nreach*rank/nproc + 1
  hi = nreach*(rank + 1)/nproc
  allocate (lateral(nhour, hi - lo + 1))
  do i = lo, hi
    call rainfall(i, p)
    call runoff(p, lateral(:, i - lo + 1), 10)
  end do
  call route_stem(lateral, hi - lo + 1, rank, nproc, q)
  vol = sum(lateral)
  call MPI_Reduce(vol, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == nproc - 1) print '(a,f12.4,a,f12.4)', 'outlet peak ', maxval(q), ' mean ', sum(q)/nhour
  if (rank == 0) print '(a,es14.6)', 'runoff volume ', all
  call MPI_Finalize(ierr)
end program
