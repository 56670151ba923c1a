module pump
  implicit none
  integer, parameter :: dp = selected_real_kind(15)
contains

  subroutine build(curve)
    real(dp), intent(out) :: curve(:, :)
    integer :: c, k
    do k = 1, size(curve, 2)
      do c = 1, size(curve, 1)
        curve(c, k) = k * (1.0_dp + 0.002_dp * c) + 0.3_dp * sin(0.01_dp * k)
      end do
    end do
  end subroutine build

  function locate(n, x, v) result(lo)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n), v
    integer :: lo, hi, mid
    lo = 1
    hi = n
    do while (hi - lo > 1)
      mid = (lo + hi) / 2
      if (x(mid) > v) then
        hi = mid
      else
        lo = mid
      end if
    end do
  end function locate

  subroutine serve(curve, requests, total)
    real(dp), intent(in) :: curve(:, :)
    integer, intent(in) :: requests
    integer(8), intent(out) :: total
    integer(8) :: s
    integer :: r, c, m
    real(dp) :: v
    m = size(curve, 2)
    s = 4711
    total = 0
    do r = 1, requests
      s = mod(s * 1103515245_8 + 12345_8, 2147483648_8)
      c = 1 + int(mod(s / 64, int(size(curve, 1), 8)))
      v = 1.0_dp + real(s, dp) / 2147483648.0_dp * (m - 2)
      total = total + locate(m, curve(c, :), v)
    end do
  end subroutine serve

end module pump

program curves
  use pump
  implicit none
  integer :: npump, npoint, requests
  integer(8) :: total
  real(dp), allocatable :: curve(:, :)
  character(len=16) :: arg
  npump = 300
  npoint = 500
  requests = 1500000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) requests
  end if
  allocate (curve(npump, npoint))
  call build(curve)
  call serve(curve, requests, total)
  print '(a,1x,i0,1x,es15.7)', 'checksum', total, curve(npump, npoint)
end program curves
