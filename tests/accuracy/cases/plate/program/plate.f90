program plate
  implicit none
  integer, parameter :: n = 1200
  real(8), allocatable :: t(:, :), u(:, :)
  integer :: i, j, step
  allocate (t(n, n), u(n, n))
  !$omp parallel do schedule(static) private(i)
  do j = 1, n
    do i = 1, n
      t(i, j) = mod(i + 3 * j, 40)
      u(i, j) = t(i, j)
    end do
  end do
  do step = 1, 400
    call sweep(t, u)
    call sweep(u, t)
  end do
  print '(a, es16.8)', 'checksum ', sum(t)
contains
  subroutine sweep(from, to)
    real(8), intent(in) :: from(n, n)
    real(8), intent(inout) :: to(n, n)
    integer :: i, j
    !$omp parallel do schedule(static) private(i)
    do j = 2, n - 1
      do i = 2, n - 1
        to(i, j) = 0.25d0 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1))
      end do
    end do
  end subroutine sweep
end program plate
