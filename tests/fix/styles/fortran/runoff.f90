module storm
  implicit none
  private
  public :: make_rain, soak

  integer, parameter, public :: dp = kind(0.0d0)

contains

  subroutine make_rain(r, year)
    real(dp), intent(out) :: r(:)
    integer, intent(in) :: year
    integer :: i
    do i = 1, size(r)
      r(i) = max(0.0_dp, sin(0.01_dp * i * year) + 0.3_dp * cos(0.37_dp * i))
    end do
  end subroutine make_rain

  subroutine soak(r, limit, excess)
    real(dp), intent(in) :: r(:), limit
    real(dp), intent(out) :: excess(:)
    real(dp) :: fallen, held
    integer :: i
    do i = 1, size(r)
      fallen = sum(r(1:i))
      held = limit * (1.0_dp - exp(-fallen / limit))
      excess(i) = fallen - held
    end do
  end subroutine soak

end module storm

program runoff
  use storm
  implicit none
  integer :: hours, years, y
  real(dp), allocatable :: r(:), excess(:)
  real(dp) :: peak, total
  character(len=12) :: arg

  hours = 24000
  years = 6
  select case (command_argument_count())
  case (1)
    call get_command_argument(1, arg)
    read (arg, *) hours
  case (2:)
    call get_command_argument(1, arg)
    read (arg, *) hours
    call get_command_argument(2, arg)
    read (arg, *) years
  end select

  allocate (r(hours), excess(hours))
  peak = 0
  total = 0
  do y = 1, years
    call make_rain(r, y)
    call soak(r, 350.0_dp, excess)
    peak = max(peak, maxval(excess(2:) - excess(:hours - 1)))
    total = total + excess(hours)
  end do
  write (*, '(a,2(1x,es16.8))') 'checksum', total, peak
end program runoff
