module basin_mod
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains

  subroutine fill_basin(h, bed)
    real(dp), intent(out) :: h(:), bed(:)
    integer :: i, n
    real(dp) :: x
    n = size(h)
    do i = 1, n
      x = real(i, dp) / real(n, dp)
      bed(i) = 2.0_dp * (x - 0.5_dp)**2 + 0.001_dp * real(mod(i * 7, 13), dp)
      h(i) = 1.2_dp - bed(i)
      if (i > n / 3 .and. i < n / 2) h(i) = h(i) + 0.25_dp
    end do
  end subroutine fill_basin

  pure function face_flux(hl, hr, bl, br) result(q)
    real(dp), intent(in) :: hl, hr, bl, br
    real(dp) :: q
    q = 0.5_dp * (hl + hr) * ((hl + bl) - (hr + br))
  end function face_flux

  subroutine relax(h, bed, c)
    real(dp), intent(inout) :: h(:)
    real(dp), intent(in) :: bed(:), c
    real(dp) :: q(size(h))
    integer :: i, n
    n = size(h)
    q(n) = 0.0_dp
    do i = 1, n - 1
      q(i) = face_flux(h(i), h(i + 1), bed(i), bed(i + 1))
    end do
    h(1) = h(1) - c * q(1)
    do i = 2, n
      h(i) = h(i) - c * (q(i) - q(i - 1))
    end do
  end subroutine relax

  subroutine rain(h, amount, first, width)
    real(dp), intent(inout) :: h(:)
    real(dp), intent(in) :: amount
    integer, intent(in) :: first, width
    integer :: i, last
    last = min(size(h), first + width)
    do i = first, last
      h(i) = h(i) + amount
    end do
  end subroutine rain

  subroutine report(h, bed, step)
    real(dp), intent(in) :: h(:), bed(:)
    integer, intent(in) :: step
    integer :: n
    n = size(h)
    write (*, '(a,i4,3f16.10)') 'step', step, sum(h) / real(n, dp), h(n / 3), h(n / 2) + bed(n / 2)
  end subroutine report

end module basin_mod

program main
  use basin_mod
  implicit none
  integer :: n, steps, s
  character(len=32) :: arg
  real(dp), allocatable :: h(:), bed(:)

  n = 5000000
  steps = 30
  if (command_argument_count() >= 2) then
    call get_command_argument(1, arg)
    read (arg, *) n
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  allocate (h(n), bed(n))
  call fill_basin(h, bed)
  do s = 1, steps
    if (mod(s, 10) == 1) call rain(h, 0.002_dp, 1 + (s * 1009) / 2, n / 50)
    call relax(h, bed, 0.1_dp)
    if (mod(s, 10) == 0) call report(h, bed, s)
  end do
end program main
