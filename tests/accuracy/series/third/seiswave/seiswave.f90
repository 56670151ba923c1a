! Acoustic wave through a layered basin, fourth order in space, slabs in y
module basin
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: nx = 400, ny = 400
  real(dp), allocatable :: p0(:,:), p1(:,:), c2(:,:)
  integer :: rank, nranks, first, n, above, below
contains

  subroutine set_model()
    integer :: i, j, gj
    first = ny * rank / nranks
    n = ny * (rank + 1) / nranks - first
    above = rank - 1
    if (above < 0) above = MPI_PROC_NULL
    below = rank + 1
    if (below >= nranks) below = MPI_PROC_NULL
    allocate(p0(-1:nx+2, -1:n+2), p1(-1:nx+2, -1:n+2), c2(nx, n))
    p0 = 0.0_dp
    p1 = 0.0_dp
    do j = 1, n
      gj = first + j
      do i = 1, nx
        c2(i, j) = (0.3_dp + 0.1_dp * tanh(0.1_dp * (gj - 130 - 10 * sin(0.03_dp * i))))**2
      end do
    end do
  end subroutine set_model

  subroutine exchange(p)
    real(dp), intent(inout) :: p(-1:nx+2, -1:n+2)
    integer :: ierr, m
    m = 2 * (nx + 4)
    call MPI_Sendrecv(p(-1, 1), m, MPI_DOUBLE_PRECISION, above, 1, p(-1, n + 1), m, MPI_DOUBLE_PRECISION, below, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(p(-1, n - 1), m, MPI_DOUBLE_PRECISION, below, 2, p(-1, -1), m, MPI_DOUBLE_PRECISION, above, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange

  subroutine advance(old, cur)
    real(dp), intent(inout) :: old(-1:nx+2, -1:n+2)
    real(dp), intent(in) :: cur(-1:nx+2, -1:n+2)
    integer :: i, j
    real(dp) :: lap, damp
    do j = 1, n
      do i = 1, nx
        lap = (-60.0_dp * cur(i, j) + 16.0_dp * (cur(i - 1, j) + cur(i + 1, j) + cur(i, j - 1) + cur(i, j + 1)) &
               - (cur(i - 2, j) + cur(i + 2, j) + cur(i, j - 2) + cur(i, j + 2))) / 12.0_dp
        damp = 0.002_dp * exp(-cur(i, j)**2)
        old(i, j) = (2.0_dp - damp) * cur(i, j) - (1.0_dp - damp) * old(i, j) + c2(i, j) * lap
      end do
    end do
  end subroutine advance

  subroutine shoot(p, step)
    real(dp), intent(inout) :: p(-1:nx+2, -1:n+2)
    integer, intent(in) :: step
    real(dp) :: a
    integer :: j
    j = ny / 2 - first
    a = (0.15_dp * (step - 25))**2
    if (j >= 1 .and. j <= n) p(nx / 2, j) = p(nx / 2, j) + (1 - 2 * a) * exp(-a)
  end subroutine shoot
end module basin

program seiswave
  use basin
  implicit none
  integer :: ierr, step, steps
  real(dp) :: e, etot
  character(len=16) :: arg
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  steps = 1440
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read(arg, *) steps
  end if
  call set_model()
  do step = 1, steps, 2
    call exchange(p1)
    call advance(p0, p1)
    call shoot(p0, step)
    call exchange(p0)
    call advance(p1, p0)
    call shoot(p1, step + 1)
  end do
  e = sum(p1(1:nx, 1:n)**2)
  call MPI_Reduce(e, etot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i6,a,es16.8)', 'steps ', steps, '  energy ', etot
  call MPI_Finalize(ierr)
end program seiswave
