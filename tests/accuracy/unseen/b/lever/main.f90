module economy
  use omp_lib
  implicit none
  integer, parameter :: dp = kind(1.0d0)

  type :: model
    integer :: n = 0
    real(dp), allocatable :: a(:, :)
    real(dp), allocatable :: demand(:)
  end type model

contains

  pure subroutine share(n, part, parts, first, last)
    integer, intent(in) :: n, part, parts
    integer, intent(out) :: first, last
    first = (n*part)/parts + 1
    last = (n*(part + 1))/parts
  end subroutine share

  pure real(dp) function coefficient(i, j, n) result(c)
    integer, intent(in) :: i, j, n
    integer :: h
    h = ieor(i*40503, j*30011)
    c = real(iand(ishft(h, -4), 1023), dp)*(1.95e-3_dp/n)
  end function coefficient

  subroutine assemble(m, n)
    type(model), intent(inout) :: m
    integer, intent(in) :: n
    integer :: i, j, first, last
    m%n = n
    allocate (m%a(n, n), m%demand(n))
    !$omp parallel private(i, j, first, last)
    call share(n, omp_get_thread_num(), omp_get_num_threads(), first, last)
    do j = 1, n
      do i = first, last
        m%a(i, j) = coefficient(i, j, n)
      end do
    end do
    do i = first, last
      m%demand(i) = 1.0_dp + 0.25_dp*mod(i, 9)
    end do
    !$omp end parallel
  end subroutine assemble

  subroutine accumulate(n, first, last, a, x, y)
    integer, intent(in) :: n, first, last
    real(dp), intent(in) :: a(n, n), x(n)
    real(dp), intent(inout) :: y(n)
    integer :: i, j
    real(dp) :: x1, x2, x3, x4
    do j = 1, n, 4
      x1 = x(j)
      x2 = x(j + 1)
      x3 = x(j + 2)
      x4 = x(j + 3)
      do i = first, last
        y(i) = y(i) + a(i, j)*x1 + a(i, j + 1)*x2 + a(i, j + 2)*x3 + a(i, j + 3)*x4
      end do
    end do
  end subroutine accumulate

  subroutine respond(m, x, y, rounds)
    type(model), intent(in) :: m
    real(dp), intent(inout) :: x(:), y(:)
    integer, intent(in) :: rounds
    integer :: k, first, last
    !$omp parallel private(k, first, last)
    call share(m%n, omp_get_thread_num(), omp_get_num_threads(), first, last)
    do k = 1, rounds
      y(first:last) = m%demand(first:last)
      call accumulate(m%n, first, last, m%a, x, y)
      !$omp barrier
      x(first:last) = m%demand(first:last)
      call accumulate(m%n, first, last, m%a, y, x)
      !$omp barrier
    end do
    !$omp end parallel
  end subroutine respond

end module economy

program lever
  use economy
  implicit none
  type(model) :: m
  real(dp), allocatable :: x(:), y(:)
  character(len=32) :: arg
  integer :: n, rounds
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) rounds
  n = 8*(n/8)
  call assemble(m, n)
  allocate (x(n), y(n))
  x = m%demand
  y = 0.0_dp
  call respond(m, x, y, rounds)
  print '(a,i0,a,i0)', 'sectors ', n, ' rounds ', rounds
  print '(a,es20.12)', 'output  ', sum(x)
  print '(a,es20.12)', 'largest ', maxval(x)
  print '(a,es20.12)', 'change  ', maxval(abs(x - y))
end program lever
