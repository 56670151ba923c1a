module vectors
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine triad(a, b, c, q, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: b(n), c(n), q
    real(dp), intent(out) :: a(n)
    integer :: i
    do i = 1, n
      a(i) = b(i) + q*c(i)
    end do
  end subroutine
  subroutine blend(a, b, w, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n), w
    real(dp), intent(inout) :: b(n)
    integer :: i
    do i = 1, n
      b(i) = w*b(i) + (1.0_dp - w)*a(i)
    end do
  end subroutine
  real(dp) function dot(a, b, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n), b(n)
    integer :: i
    dot = 0
    do i = 1, n
      dot = dot + a(i)*b(i)
    end do
  end function
end module

program axpy
  use vectors
  implicit none
  real(dp), allocatable :: a(:), b(:), c(:)
  real(dp) :: s
  character(32) :: arg
  integer :: it, i, n, steps
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  allocate (a(n), b(n), c(n))
  do i = 1, n
    b(i) = 1.0_dp + mod(i, 7)*0.1_dp
    c(i) = 0.5_dp - mod(i, 11)*0.01_dp
  end do
  s = 0
  do it = 1, steps
    call triad(a, b, c, 0.25_dp, n)
    call blend(a, b, 0.9_dp, n)
    s = s + dot(a, c, n)
  end do
  print '(a,es18.10)', 'checksum ', s
end program
