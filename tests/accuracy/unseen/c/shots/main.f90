module medium
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: shot
     real(dp) :: position
     real(dp) :: frequency
     real(dp) :: contrast
  end type shot
contains

  subroutine draw(list, cycle)
    type(shot), intent(out) :: list(:)
    integer, intent(in) :: cycle
    integer :: k
    do k = 1, size(list)
       list(k)%position = 0.1_dp + 0.8_dp * modulo(0.618034_dp * (k + 17 * cycle), 1.0_dp)
       list(k)%frequency = 8.0_dp + 4.0_dp * modulo(0.414214_dp * (k + 5 * cycle), 1.0_dp)
       list(k)%contrast = 0.2_dp + 0.1_dp * modulo(0.732051_dp * (k + cycle), 1.0_dp)
    end do
  end subroutine draw

  subroutine propagate(s, n, steps, trace)
    type(shot), intent(in) :: s
    integer, intent(in) :: n, steps
    real(dp), intent(out) :: trace
    real(dp) :: u(0:n+1), v(0:n+1), c(n)
    integer :: i, t, at
    u = 0.0_dp
    v = 0.0_dp
    do i = 1, n
       c(i) = 0.25_dp
       if (i > n / 2) c(i) = 0.25_dp + s%contrast
    end do
    at = max(1, int(s%position * n))
    trace = 0.0_dp
    do t = 1, steps
       v(at) = v(at) + sin(s%frequency * t * 0.01_dp)
       do i = 1, n
          v(i) = v(i) + c(i) * (u(i-1) - 2.0_dp * u(i) + u(i+1))
       end do
       u(1:n) = u(1:n) + v(1:n)
       trace = trace + u(n/4)**2
    end do
  end subroutine propagate

  subroutine propagate_all(list, n, steps, traces)
    type(shot), intent(in) :: list(:)
    integer, intent(in) :: n, steps
    real(dp), intent(out) :: traces(:)
    integer :: k
    do k = 1, size(list)
       call propagate(list(k), n, steps, traces(k))
    end do
  end subroutine propagate_all
end module medium

module survey
  use mpi
  use medium
  implicit none
contains

  subroutine ship(list)
    type(shot), intent(in) :: list(:)
    real(dp) :: flat(3 * size(list))
    integer :: ierr
    flat(1::3) = list%position
    flat(2::3) = list%frequency
    flat(3::3) = list%contrast
    call mpi_send(flat, size(flat), MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, ierr)
  end subroutine ship

  subroutine accept(list)
    type(shot), intent(out) :: list(:)
    real(dp) :: flat(3 * size(list))
    integer :: ierr
    call mpi_recv(flat, size(flat), MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    list%position = flat(1::3)
    list%frequency = flat(2::3)
    list%contrast = flat(3::3)
  end subroutine accept

  subroutine fire(rank, cycle, n, steps, misfit)
    integer, intent(in) :: rank, cycle, n, steps
    real(dp), intent(inout) :: misfit
    integer, parameter :: m = 8
    type(shot) :: batch(2 * m), part(m)
    real(dp) :: near(m), far(m)
    integer :: ierr
    if (rank == 0) then
       call draw(batch, cycle)
       call propagate_all(batch(1:m), n, steps, near)
       call ship(batch(m+1:2*m))
       call mpi_recv(far, m, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
       misfit = misfit + sum(near) + sum(far)
    else
       call accept(part)
       call propagate_all(part, n, steps, far)
       call mpi_send(far, m, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, ierr)
    end if
  end subroutine fire
end module survey

program shots
  use survey
  implicit none
  integer :: rank, ierr, cycle, cycles, n, steps
  real(dp) :: misfit
  character(len=16) :: arg
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, arg)
  read (arg, *) cycles
  call get_command_argument(2, arg)
  read (arg, *) n
  steps = 2 * n
  misfit = 0.0_dp
  do cycle = 1, cycles
     call fire(rank, cycle, n, steps, misfit)
     if (rank == 0 .and. mod(cycle, 10) == 0) print '(a,i5,es20.10)', 'cycle', cycle, misfit
  end do
  call mpi_finalize(ierr)
end program shots
