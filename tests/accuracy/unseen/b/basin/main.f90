module terrain
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: di(8) = [1, 1, 0, -1, -1, -1, 0, 1]
  integer, parameter :: dj(8) = [0, 1, 1, 1, 0, -1, -1, -1]
  integer, parameter :: opposite(8) = [5, 6, 7, 8, 1, 2, 3, 4]

  type :: grid
    integer :: nx = 0, ny = 0
    real(dp) :: cell = 90.0_dp
    real, allocatable :: height(:, :)
    integer(1), allocatable :: course(:, :)
  end type grid

  type :: gauge
    integer :: i, j
    integer :: cells = 0
    real(dp) :: relief = 0.0_dp
  end type gauge

contains

  subroutine raise(g, nx, ny)
    type(grid), intent(inout) :: g
    integer, intent(in) :: nx, ny
    real, allocatable :: east(:), north(:)
    integer :: i, j, k
    g%nx = nx
    g%ny = ny
    allocate (g%height(nx, ny), g%course(nx, ny), east(nx), north(ny))
    do i = 1, nx
      east(i) = 60.0*sin(0.021*i) + 25.0*sin(0.113*i + 1.0)
    end do
    do j = 1, ny
      north(j) = 45.0*cos(0.017*j) + 20.0*sin(0.149*j)
    end do
    do j = 1, ny
      do i = 1, nx
        k = iand(ieor(i*7919, j*104729), 1023)
        g%height(i, j) = 0.8*i + 0.5*j + east(i) + north(j) + 0.004*k
      end do
    end do
  end subroutine raise

  subroutine drain(g)
    type(grid), intent(inout) :: g
    integer :: i, j, d, best
    real :: drop, steepest
    real, parameter :: inv(8) = [1.0, 0.70710678, 1.0, 0.70710678, 1.0, 0.70710678, 1.0, 0.70710678]
    g%course = 0_1
    do j = 2, g%ny - 1
      do i = 2, g%nx - 1
        best = 0
        steepest = 0.0
        do d = 1, 8
          drop = (g%height(i, j) - g%height(i + di(d), j + dj(d)))*inv(d)
          if (drop > steepest) then
            steepest = drop
            best = d
          end if
        end do
        g%course(i, j) = int(best, 1)
      end do
    end do
  end subroutine drain

  subroutine delineate(g, nx, ny, site, limit)
    type(grid), intent(in) :: g
    integer, intent(in) :: nx, ny, limit
    type(gauge), intent(inout) :: site
    logical :: inside(nx, ny)
    integer :: queue(2, limit)
    integer :: head, tail, i, j, d, p, q
    real :: top
    inside = .false.
    head = 0
    tail = 1
    queue(:, 1) = [site%i, site%j]
    inside(site%i, site%j) = .true.
    top = g%height(site%i, site%j)
    do while (head < tail)
      head = head + 1
      i = queue(1, head)
      j = queue(2, head)
      top = max(top, g%height(i, j))
      do d = 1, 8
        p = i + di(d)
        q = j + dj(d)
        if (p < 2 .or. q < 2 .or. p > nx - 1 .or. q > ny - 1) cycle
        if (inside(p, q) .or. g%course(p, q) /= opposite(d)) cycle
        if (tail == limit) cycle
        tail = tail + 1
        queue(:, tail) = [p, q]
        inside(p, q) = .true.
      end do
    end do
    site%cells = tail
    site%relief = real(top - g%height(site%i, site%j), dp)
  end subroutine delineate

end module terrain

program basin
  use terrain
  implicit none
  type(grid) :: g
  type(gauge), allocatable :: sites(:)
  character(len=32) :: arg
  integer :: n, m, k, largest
  real(dp) :: area
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) m
  call raise(g, n, n)
  call drain(g)
  allocate (sites(m))
  do k = 1, m
    sites(k)%i = 50 + mod(k*7477, n - 100)
    sites(k)%j = 50 + mod(k*3571, n - 100)
    call delineate(g, g%nx, g%ny, sites(k), 200000)
  end do
  area = 0.0_dp
  largest = 0
  do k = 1, m
    area = area + sites(k)%cells*g%cell**2*1.0e-6_dp
    largest = max(largest, sites(k)%cells)
  end do
  print '(a,i0,a,f14.4,a,i0)', 'gauges ', m, ' area ', area, ' largest ', largest
  print '(a,f14.4)', 'relief ', sum(sites%relief)/m
end program basin
