module basin
  implicit none
  integer, parameter :: n = 2600
  real(8), allocatable :: level(:, :), flow(:, :)
contains
  subroutine diffuse()
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        flow(i, j) = 0.9d0 * flow(i, j) + 0.05d0 * (level(i, j + 1) - level(i, j - 1))
      end do
    end do
  end subroutine diffuse
end module basin

program ocean
  use basin
  implicit none
  integer :: i, j, step
  allocate (level(n, n), flow(n, n))
  do j = 1, n
    do i = 1, n
      level(i, j) = mod(i * 5 + j * 11, 89)
      flow(i, j) = 0d0
    end do
  end do
  do step = 1, 25
    call diffuse()
  end do
  print '(a, es20.12)', 'checksum ', sum(flow)
end program ocean
