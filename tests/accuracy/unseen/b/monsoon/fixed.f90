module fluid
  implicit none
  integer, parameter :: dp = kind(1.0d0)

  type :: layer
    integer :: nx = 0, ny = 0
    real(dp), allocatable :: now(:, :), new(:, :), forcing(:, :)
  end type layer

contains

  subroutine prepare(f, nx, ny, base)
    type(layer), intent(inout) :: f
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: base
    integer :: i, j
    f%nx = nx
    f%ny = ny
    allocate (f%now(0:nx + 1, 0:ny + 1), f%new(0:nx + 1, 0:ny + 1), f%forcing(nx, ny))
    f%forcing = 0.0_dp
    do j = 0, ny + 1
      do i = 0, nx + 1
        f%now(i, j) = base + 3.0_dp*sin(0.05_dp*i)*cos(0.08_dp*j)
      end do
    end do
    f%new = f%now
  end subroutine prepare

  subroutine relax(nx, ny, old, new, forcing, mix)
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: old(0:nx + 1, 0:ny + 1), forcing(nx, ny), mix
    real(dp), intent(inout) :: new(0:nx + 1, 0:ny + 1)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        new(i, j) = old(i, j) + mix*(old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1) &
                    - 4.0_dp*old(i, j)) + 0.002_dp*forcing(i, j)
      end do
    end do
  end subroutine relax

  subroutine sweep(f, pairs, mix)
    type(layer), intent(inout) :: f
    integer, intent(in) :: pairs
    real(dp), intent(in) :: mix
    integer :: n
    do n = 1, pairs
      call relax(f%nx, f%ny, f%now, f%new, f%forcing, mix)
      call relax(f%nx, f%ny, f%new, f%now, f%forcing, mix)
    end do
  end subroutine sweep

end module fluid

module exchange
  use mpi
  use fluid
  implicit none
  integer, parameter :: air = 0, sea = 1
  integer, parameter :: maxlag = 160

  type :: archive
    real(dp) :: lagged(0:maxlag) = 0.0_dp
    integer :: records = 0
  end type archive

contains

  subroutine correlate(f, log)
    type(layer), intent(in) :: f
    type(archive), intent(inout) :: log
    real(dp) :: row(f%nx), mean
    integer :: i, j, l
    mean = sum(f%now(1:f%nx, 1:f%ny))/(f%nx*f%ny)
    do l = 0, maxlag
      row = 0.0_dp
      do j = 1, f%ny
        do i = 1, f%nx - l
          row(i) = row(i) + (f%now(i, j) - mean)*(f%now(i + l, j) - mean)
        end do
      end do
      log%lagged(l) = log%lagged(l) + sum(row)/((f%nx - l)*f%ny)
    end do
    log%records = log%records + 1
  end subroutine correlate

  subroutine publish(f, log, peer)
    type(layer), intent(in) :: f
    type(archive), intent(inout) :: log
    integer, intent(in) :: peer
    real(dp) :: wire(f%nx, f%ny)
    integer :: ierr
    wire = f%now(1:f%nx, 1:f%ny)
    call MPI_Send(wire, size(wire), MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, ierr)
    call correlate(f, log)
  end subroutine publish

  subroutine collect(f, peer, gain)
    type(layer), intent(inout) :: f
    integer, intent(in) :: peer
    real(dp), intent(in) :: gain
    real(dp) :: wire(f%nx, f%ny)
    integer :: ierr
    call MPI_Recv(wire, size(wire), MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, &
                  MPI_STATUS_IGNORE, ierr)
    f%forcing = gain*(wire - f%now(1:f%nx, 1:f%ny))
  end subroutine collect

  subroutine reply(f, peer)
    type(layer), intent(in) :: f
    integer, intent(in) :: peer
    real(dp) :: wire(f%nx, f%ny)
    integer :: ierr
    wire = f%now(1:f%nx, 1:f%ny)
    call MPI_Send(wire, size(wire), MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, ierr)
  end subroutine reply

end module exchange

program monsoon
  use exchange
  implicit none
  type(layer) :: f
  type(archive) :: log
  character(len=32) :: arg
  integer :: me, ierr, days, day
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call get_command_argument(1, arg)
  read (arg, *) days
  call prepare(f, 192, 128, merge(15.0_dp, 22.0_dp, me == air))
  do day = 1, days
    if (me == air) then
      call sweep(f, 6, 0.15_dp)
      call publish(f, log, sea)
      call collect(f, sea, 0.8_dp)
    else if (me == sea) then
      call collect(f, air, 0.3_dp)
      call sweep(f, 20, 0.10_dp)
      call reply(f, air)
    end if
  end do
  if (me == air) then
    print '(a,i0,a,f16.10)', 'day ', log%records, ' air ', sum(f%now)/size(f%now)
    print '(a,3es20.10)', 'lags ', log%lagged([0, 24, 160])/log%records
  end if
  call MPI_Finalize(ierr)
end program monsoon
