! Salinity in a tidal estuary: explicit upwind advection and diffusion on a
! depth-averaged grid, split over ranks along the channel axis.
module estuary_mod
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: domain
     integer :: nx, ny, rank, nranks, up, down
     real(dp) :: dx = 100.0_dp, dt = 4.0_dp, kappa = 20.0_dp
     real(dp), allocatable :: s(:,:), sn(:,:), width(:)
  end type domain
contains
  subroutine create(d, nx, ny_total)
    type(domain), intent(out) :: d
    integer, intent(in) :: nx, ny_total
    integer :: ierr, j, first
    call MPI_Comm_rank(MPI_COMM_WORLD, d%rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, d%nranks, ierr)
    d%nx = nx
    d%ny = ny_total/d%nranks
    if (d%rank < mod(ny_total, d%nranks)) d%ny = d%ny + 1
    first = d%rank*(ny_total/d%nranks) + min(d%rank, mod(ny_total, d%nranks))
    d%up = merge(d%rank - 1, MPI_PROC_NULL, d%rank > 0)
    d%down = merge(d%rank + 1, MPI_PROC_NULL, d%rank < d%nranks - 1)
    allocate(d%s(0:nx+1, 0:d%ny+1), d%sn(0:nx+1, 0:d%ny+1), d%width(0:d%ny+1))
    do j = 0, d%ny + 1
       d%s(:, j) = 0.1_dp + 34.9_dp*max(0.0_dp, real(first + j, dp)/ny_total - 0.6_dp)/0.4_dp
       d%width(j) = 0.4_dp + 0.6_dp*real(first + j, dp)/ny_total
    end do
    d%sn = d%s
  end subroutine create

  subroutine update_rows(d, j1, j2, u, v)
    type(domain), intent(inout) :: d
    integer, intent(in) :: j1, j2
    real(dp), intent(in) :: u, v
    real(dp) :: cx, cy, ck, aw, ae, as, an, ac
    integer :: i, j
    cx = u*d%dt/d%dx
    ck = d%kappa*d%dt/d%dx**2
    aw = ck + cx
    ae = ck
    do j = j1, j2
       cy = v*d%dt/(d%dx*d%width(j))
       as = ck + max(cy, 0.0_dp)
       an = ck - min(cy, 0.0_dp)
       ac = 1 - (aw + ae + as + an)
       do i = 1, d%nx
          d%sn(i, j) = ac*d%s(i, j) + aw*d%s(i-1, j) + ae*d%s(i+1, j) + as*d%s(i, j-1) + an*d%s(i, j+1)
       end do
       d%sn(0, j) = d%sn(1, j)
       d%sn(d%nx+1, j) = d%sn(d%nx, j)
    end do
  end subroutine update_rows

  subroutine advance(d, time)
    type(domain), intent(inout) :: d
    real(dp), intent(in) :: time
    real(dp), allocatable :: swap(:,:)
    real(dp) :: u, v
    integer :: req(4), ierr, n
    n = d%nx + 2
    u = 0.05_dp
    v = 0.9_dp*sin(2*acos(-1.0_dp)*time/44712.0_dp) + 0.05_dp
    call MPI_Irecv(d%s(0, 0), n, MPI_DOUBLE_PRECISION, d%up, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(d%s(0, d%ny+1), n, MPI_DOUBLE_PRECISION, d%down, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(d%s(0, 1), n, MPI_DOUBLE_PRECISION, d%up, 2, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(d%s(0, d%ny), n, MPI_DOUBLE_PRECISION, d%down, 1, MPI_COMM_WORLD, req(4), ierr)
    call update_rows(d, 2, d%ny - 1, u, v)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    call update_rows(d, 1, 1, u, v)
    call update_rows(d, d%ny, d%ny, u, v)
    call move_alloc(d%s, swap)
    call move_alloc(d%sn, d%s)
    call move_alloc(swap, d%sn)
    if (d%up == MPI_PROC_NULL) d%s(:, 0) = 0.1_dp
    if (d%down == MPI_PROC_NULL) d%s(:, d%ny+1) = 35
  end subroutine advance

  subroutine report(d, time)
    type(domain), intent(in) :: d
    real(dp), intent(in) :: time
    real(dp) :: local(2), global(2)
    integer :: ierr
    local(1) = sum(d%s(1:d%nx, 1:d%ny))
    local(2) = count(d%s(1:d%nx, 1:d%ny) > 2.0_dp)
    call MPI_Reduce(local, global, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (d%rank == 0) print '(a,f9.2,a,f14.4,a,f10.0)', 'hour ', time/3600, '  salt ', global(1)/1.0e3_dp, &
         '  brackish cells ', global(2)
  end subroutine report
end module estuary_mod

program estuary
  use estuary_mod
  implicit none
  integer, parameter :: nx = 240, ny = 1600, steps = 18000, every = 3000
  type(domain) :: d
  integer :: it, ierr
  call MPI_Init(ierr)
  call create(d, nx, ny)
  do it = 1, steps
     call advance(d, it*d%dt)
     if (mod(it, every) == 0) call report(d, it*d%dt)
  end do
  call MPI_Finalize(ierr)
end program estuary
