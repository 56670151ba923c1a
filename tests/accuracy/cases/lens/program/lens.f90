module optics
  implicit none
contains
  pure real(8) function bend(angle, ratio)
    real(8), intent(in) :: angle, ratio
    bend = cos(asin(ratio * sin(angle)))
  end function bend

  subroutine trace(rays, total)
    integer, intent(in) :: rays
    real(8), intent(inout) :: total
    integer :: i
    do i = 1, rays
      total = total + bend(1d-7 * i, 0.7d0)
    end do
  end subroutine trace
end module optics

program lens
  use optics
  implicit none
  integer :: pass
  real(8) :: total
  total = 0d0
  do pass = 1, 120
    call trace(1000000, total)
  end do
  print '(a, es14.6)', 'checksum ', total
end program lens
