module room
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: dp = real64
  type :: patch_set
    integer :: n = 0
    real(dp), allocatable :: at(:,:), normal(:,:), area(:), albedo(:), source(:)
  end type patch_set
contains
  subroutine furnish(p, n)
    type(patch_set), intent(out) :: p
    integer, intent(in) :: n
    integer :: i, wall, axis
    real(dp) :: u, v
    p%n = n
    allocate(p%at(n, 3), p%normal(n, 3), p%area(n), p%albedo(n), p%source(n))
    p%normal = 0.0_dp
    do i = 1, n
      wall = mod(i, 6)
      axis = wall / 2 + 1
      u = modulo(i * 0.6180339887498949_dp, 1.0_dp)
      v = modulo(i * 0.7548776662466927_dp, 1.0_dp)
      p%at(i, axis) = real(mod(wall, 2), dp)
      p%at(i, mod(axis, 3) + 1) = u
      p%at(i, mod(axis + 1, 3) + 1) = v
      p%normal(i, axis) = 1.0_dp - 2.0_dp * mod(wall, 2)
      p%area(i) = 6.0_dp / n
      p%albedo(i) = 0.5_dp + 0.4_dp * u
      p%source(i) = merge(25.0_dp, 0.0_dp, wall == 5 .and. abs(u - 0.5_dp) < 0.1_dp)
    end do
  end subroutine furnish

  subroutine exchange_factors(p, first, last, f)
    type(patch_set), intent(in) :: p
    integer, intent(in) :: first, last
    real(dp), intent(out) :: f(:, first:)
    real(dp), parameter :: pi = 3.14159265358979324_dp
    real(dp) :: dx, dy, dz, r2, ci, cj
    integer :: i, j
    do j = first, last
      do i = 1, p%n
        dx = p%at(i, 1) - p%at(j, 1)
        dy = p%at(i, 2) - p%at(j, 2)
        dz = p%at(i, 3) - p%at(j, 3)
        r2 = dx * dx + dy * dy + dz * dz + 1.0e-3_dp
        cj = max(0.0_dp, dx * p%normal(j, 1) + dy * p%normal(j, 2) + dz * p%normal(j, 3))
        ci = max(0.0_dp, -dx * p%normal(i, 1) - dy * p%normal(i, 2) - dz * p%normal(i, 3))
        f(i, j) = p%albedo(j) * p%area(i) * ci * cj / (pi * r2 * r2)
      end do
    end do
  end subroutine exchange_factors

  subroutine bounce(n, m, f, light, source, out)
    integer, intent(in) :: n, m
    real(dp), intent(in), contiguous :: f(:,:), light(:), source(:)
    real(dp), intent(out), contiguous :: out(:)
    real(dp) :: s1, s2, s3, s4
    integer :: i, j
    do j = 1, m, 4
      s1 = 0.0_dp
      s2 = 0.0_dp
      s3 = 0.0_dp
      s4 = 0.0_dp
      do i = 1, n
        s1 = s1 + f(i, j) * light(i)
        s2 = s2 + f(i, j + 1) * light(i)
        s3 = s3 + f(i, j + 2) * light(i)
        s4 = s4 + f(i, j + 3) * light(i)
      end do
      out(j) = source(j) + s1
      out(j + 1) = source(j + 1) + s2
      out(j + 2) = source(j + 2) + s3
      out(j + 3) = source(j + 3) + s4
    end do
  end subroutine bounce
end module room

program lamp
  use mpi
  use room
  implicit none
  type(patch_set) :: p
  real(dp), allocatable :: f(:,:), light(:), mine(:)
  integer :: rank, ranks, ierr, n, m, first, bounces, b
  character(len=32) :: arg
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  n = 5120
  bounces = 300
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) bounces
  end if
  m = n / ranks
  first = rank * m + 1
  call furnish(p, n)
  allocate(f(n, first:first + m - 1), light(n), mine(m))
  call exchange_factors(p, first, first + m - 1, f)
  light = p%source
  do b = 1, bounces
    call bounce(n, m, f, light, p%source(first:first + m - 1), mine)
    call mpi_allgather(mine, m, mpi_double_precision, light, m, mpi_double_precision, mpi_comm_world, ierr)
  end do
  if (rank == 0) print '(a,f16.9,a,f16.9)', 'mean ', sum(light) / n, ' brightest ', maxval(light)
  call mpi_finalize(ierr)
end program lamp
