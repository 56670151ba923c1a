module plate_model
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine prepare(t, k, n)
    integer, intent(in) :: n
    real(dp), intent(out) :: t(n, n), k(n, n)
    integer :: i, j
    do j = 1, n
      do i = 1, n
        t(i, j) = 20.0_dp + mod(i*7 + j*13, 31)
        k(i, j) = 0.05_dp + 0.01_dp*mod(i + 2*j, 5)
      end do
    end do
  end subroutine

  subroutine step(t, u, k, n, cooled)
    integer, intent(in) :: n
    real(dp), intent(in) :: t(n, n), k(n, n)
    real(dp), intent(inout) :: u(n, n)
    integer, intent(inout) :: cooled
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        u(i, j) = t(i, j) + k(i, j)*(t(i - 1, j) + t(i + 1, j) + t(i, j - 1) + t(i, j + 1) - 4*t(i, j))
        if (u(i, j) > 44.0_dp) then
          u(i, j) = 44.0_dp
          cooled = cooled + 1
        end if
      end do
    end do
  end subroutine
end module

program plate
  use plate_model
  implicit none
  real(dp), allocatable :: t(:, :), u(:, :), k(:, :)
  integer :: n, steps, s, cooled
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  allocate (t(n, n), u(n, n), k(n, n))
  call prepare(t, k, n)
  u = t
  cooled = 0
  do s = 1, steps
    call step(t, u, k, n, cooled)
    call step(u, t, k, n, cooled)
  end do
  print '(a,es22.14,i10)', 'checksum ', sum(t), cooled
end program
