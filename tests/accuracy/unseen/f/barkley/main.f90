! Barkley model of excitable heart tissue; the sheet is cut along its first
! dimension, every rank keeps one ghost row above and below its own part.
module tissue
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: a = 0.75_dp, b = 0.02_dp, eps = 0.02_dp, dt = 0.005_dp
  real(dp), parameter :: diff = dt / 0.25_dp

  type :: sheet
    integer :: nx, ny, x0, up, down
    real(dp), allocatable :: u(:,:), v(:,:), w(:,:)
  end type sheet

contains

  subroutine create(s, nx, ny)
    type(sheet), intent(out) :: s
    integer, intent(in) :: nx, ny
    integer :: rank, size, ierr, i, j
    call mpi_comm_rank(mpi_comm_world, rank, ierr)
    call mpi_comm_size(mpi_comm_world, size, ierr)
    s%x0 = nx * rank / size
    s%nx = nx * (rank + 1) / size - s%x0
    s%ny = ny
    s%up = merge(rank - 1, mpi_proc_null, rank > 0)
    s%down = merge(rank + 1, mpi_proc_null, rank < size - 1)
    allocate(s%u(0:s%nx+1, 0:ny+1), s%v(0:s%nx+1, 0:ny+1), s%w(0:s%nx+1, 0:ny+1))
    s%u = 0
    s%v = 0
    s%w = 0
    do j = 1, ny
      do i = 1, s%nx
        if (j < ny / 2) s%u(i, j) = 1
        if (s%x0 + i < nx / 2) s%v(i, j) = a / 2
      end do
    end do
  end subroutine create

  subroutine swap_ghosts(s)
    type(sheet), intent(inout) :: s
    integer :: j, ierr
    do j = 1, s%ny
      call mpi_sendrecv(s%u(s%nx, j), 1, mpi_double_precision, s%down, 1, &
                        s%u(0, j), 1, mpi_double_precision, s%up, 1, &
                        mpi_comm_world, mpi_status_ignore, ierr)
      call mpi_sendrecv(s%u(1, j), 1, mpi_double_precision, s%up, 2, &
                        s%u(s%nx + 1, j), 1, mpi_double_precision, s%down, 2, &
                        mpi_comm_world, mpi_status_ignore, ierr)
    end do
    if (s%up == mpi_proc_null) s%u(0, :) = s%u(1, :)
    if (s%down == mpi_proc_null) s%u(s%nx + 1, :) = s%u(s%nx, :)
    s%u(:, 0) = s%u(:, 1)
    s%u(:, s%ny + 1) = s%u(:, s%ny)
  end subroutine swap_ghosts

  subroutine advance(s)
    type(sheet), intent(inout) :: s
    integer :: i, j
    real(dp) :: u, v
    do j = 1, s%ny
      do i = 1, s%nx
        u = s%u(i, j)
        v = s%v(i, j)
        s%w(i, j) = u + dt / eps * u * (1 - u) * (u - (v + b) * (1 / a)) &
                  + diff * (s%u(i - 1, j) + s%u(i + 1, j) + s%u(i, j - 1) + s%u(i, j + 1) - 4 * u)
        s%v(i, j) = v + dt * (u - v)
      end do
    end do
    call exchange_arrays(s%u, s%w)
  end subroutine advance

  subroutine exchange_arrays(p, q)
    real(dp), allocatable, intent(inout) :: p(:,:), q(:,:)
    real(dp), allocatable :: t(:,:)
    call move_alloc(p, t)
    call move_alloc(q, p)
    call move_alloc(t, q)
  end subroutine exchange_arrays

  subroutine summarise(s, step)
    type(sheet), intent(in) :: s
    integer, intent(in) :: step
    real(dp) :: mine(3), all(3)
    integer :: rank, ierr
    mine(1) = sum(s%u(1:s%nx, 1:s%ny))
    mine(2) = sum(s%v(1:s%nx, 1:s%ny))
    mine(3) = count(s%u(1:s%nx, 1:s%ny) > 0.5_dp)
    call mpi_reduce(mine, all, 3, mpi_double_precision, mpi_sum, 0, mpi_comm_world, ierr)
    call mpi_comm_rank(mpi_comm_world, rank, ierr)
    if (rank == 0) print '(a,i6,a,f14.5,a,f14.5,a,i8)', 'step', step, '  u', all(1), &
      '  v', all(2), '  excited cells', int(all(3))
  end subroutine summarise

end module tissue

program heart
  use tissue
  implicit none
  type(sheet) :: s
  integer :: ierr, step
  call mpi_init(ierr)
  call create(s, 320, 1000)
  do step = 1, 1400
    call swap_ghosts(s)
    call advance(s)
    if (mod(step, 200) == 0) call summarise(s, step)
  end do
  call mpi_finalize(ierr)
end program heart
