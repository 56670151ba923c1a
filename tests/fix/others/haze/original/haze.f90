program haze
  use sky
  implicit none
  type(atmosphere) :: air
  integer :: step, steps
  real(dp) :: s(3)

  call create(air, option(1, 256), option(2, 256), option(3, 48), option(5, 4))
  steps = option(4, 9)
  do step = 1, steps
    call advance(air)
  end do
  s = digest(air)
  print '(a,es20.11)', 'smoke', s(3)
  print '(a,2es20.11)', 'checksum', s(1), s(2)

contains

  integer function option(k, default)
    integer, intent(in) :: k, default
    character(len=24) :: word
    option = default
    if (k > command_argument_count()) return
    call get_command_argument(k, word)
    read (word, *) option
  end function option

end program haze
