! Plasma wake behind a driver: macro-particles on ranks, potential on a common grid
module wake
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: nx = 96, ny = 96
  real(dp) :: rho(nx, ny), phi(nx, ny)
  real(dp), allocatable :: x(:), y(:), u(:), v(:)
  integer :: rank, nranks, np
contains

  subroutine load_plasma(ntotal)
    integer, intent(in) :: ntotal
    integer :: i, g
    np = ntotal / nranks
    if (rank < mod(ntotal, nranks)) np = np + 1
    allocate(x(np), y(np), u(np), v(np))
    do i = 1, np
      g = (i - 1) * nranks + rank
      x(i) = 2.0_dp + (nx - 4) * mod(g * 0.754877666_dp, 1.0_dp)
      y(i) = 2.0_dp + (ny - 4) * mod(g * 0.569840291_dp, 1.0_dp)
      u(i) = 0.05_dp * sin(0.1_dp * g)
      v(i) = 0.05_dp * cos(0.3_dp * g)
    end do
  end subroutine load_plasma

  subroutine deposit()
    integer :: k, i, j
    real(dp) :: fx, fy
    rho = 0.0_dp
    do k = 1, np
      i = int(x(k)); j = int(y(k))
      fx = x(k) - i; fy = y(k) - j
      rho(i, j) = rho(i, j) + (1 - fx) * (1 - fy)
      rho(i + 1, j) = rho(i + 1, j) + fx * (1 - fy)
      rho(i, j + 1) = rho(i, j + 1) + (1 - fx) * fy
      rho(i + 1, j + 1) = rho(i + 1, j + 1) + fx * fy
    end do
  end subroutine deposit

  subroutine relax(charge, sweeps)
    real(dp), intent(in) :: charge(nx, ny)
    integer, intent(in) :: sweeps
    integer :: s, i, j
    real(dp) :: mean
    real(dp), parameter :: omega = 1.9_dp
    mean = sum(charge) / (nx * ny)
    do s = 1, sweeps
      do j = 2, ny - 1
        do i = 2, nx - 1
          phi(i, j) = (1 - omega) * phi(i, j) + 0.25_dp * omega * (phi(i - 1, j) + phi(i + 1, j) &
                      + phi(i, j - 1) + phi(i, j + 1) + charge(i, j) / mean - 1.0_dp)
        end do
      end do
    end do
  end subroutine relax

  subroutine potential(sweeps)
    integer, intent(in) :: sweeps
    real(dp) :: total(nx, ny)
    integer :: ierr
    total = 0.0_dp
    call MPI_Reduce(rho, total, nx * ny, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call relax(total, sweeps)
    call MPI_Bcast(phi, nx * ny, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine potential

  subroutine push(dt, driver)
    real(dp), intent(in) :: dt, driver
    integer :: k, i, j
    real(dp) :: ex, ey, kick, gam
    do k = 1, np
      i = int(x(k)); j = int(y(k))
      ex = 0.5_dp * (phi(i + 1, j) - phi(i - 1, j))
      ey = 0.5_dp * (phi(i, j + 1) - phi(i, j - 1))
      kick = 0.4_dp * exp(-0.02_dp * ((x(k) - driver)**2 + (y(k) - 0.5_dp * ny)**2))
      u(k) = u(k) + dt * (0.01_dp * ex + kick)
      v(k) = v(k) + dt * 0.01_dp * ey
      gam = sqrt(1.0_dp + u(k)**2 + v(k)**2)
      x(k) = x(k) + dt * u(k) / gam
      y(k) = y(k) + dt * v(k) / gam
      if (x(k) < 2 .or. x(k) > nx - 2) then
        u(k) = -u(k)
        x(k) = min(max(x(k), 2.0_dp), nx - 2.0_dp)
      end if
      if (y(k) < 2 .or. y(k) > ny - 2) then
        v(k) = -v(k)
        y(k) = min(max(y(k), 2.0_dp), ny - 2.0_dp)
      end if
    end do
  end subroutine push
end module wake

program wakefield
  use wake
  implicit none
  integer :: step, steps, ierr
  real(dp) :: e, etot
  character(len=16) :: arg
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  steps = 80
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read(arg, *) steps
  end if
  phi = 0.0_dp
  call load_plasma(160000)
  do step = 1, steps
    call deposit()
    call potential(200)
    call push(0.3_dp, 10.0_dp + 0.5_dp * step)
  end do
  e = sum(0.5_dp * (u**2 + v**2))
  call MPI_Reduce(e, etot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,f16.6,a,f12.6)', 'energy ', etot, '  phi ', phi(nx / 2, ny / 2)
  call MPI_Finalize(ierr)
end program wakefield
