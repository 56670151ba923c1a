program rounds
  implicit none
  integer, parameter :: i8 = selected_int_kind(18)
  integer :: n, tries, i
  integer(i8) :: seed
  integer, allocatable :: order(:)
  real(8), allocatable :: px(:), py(:)
  real(8) :: length
  character(len=16) :: arg

  n = 3000
  tries = 3000000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) tries
  end if
  seed = 97
  order = [(i, i = 1, n)]
  px = [(sin(12.9898d0 * i) * 100.0d0, i = 1, n)]
  py = [(cos(78.233d0 * i) * 100.0d0, i = 1, n)]
  call improve(order, tries)
  length = 0
  do i = 2, n
    length = length + leg(order(i - 1), order(i))
  end do
  print '(a,1x,es18.10)', 'checksum', length

contains

  integer function pick(lo, hi)
    integer, intent(in) :: lo, hi
    seed = mod(seed * 1103515245_i8 + 12345_i8, 2147483648_i8)
    pick = lo + int(mod(seed / 128, int(hi - lo + 1, i8)))
  end function pick

  real(8) function leg(a, b)
    integer, intent(in) :: a, b
    leg = sqrt((px(a) - px(b))**2 + (py(a) - py(b))**2)
  end function leg

  real(8) function around(o, k)
    integer, intent(in) :: o(:), k
    around = leg(o(k - 1), o(k)) + leg(o(k), o(k + 1))
  end function around

  subroutine improve(cur, count)
    integer, intent(inout) :: cur(:)
    integer, intent(in) :: count
    integer :: trial(size(cur))
    integer :: t, a, b
    real(8) :: before, after
    do t = 1, count
      a = pick(2, size(cur) - 1)
      b = pick(2, size(cur) - 1)
      if (abs(a - b) < 2) cycle
      trial = cur
      trial(a) = cur(b)
      trial(b) = cur(a)
      before = around(cur, a) + around(cur, b)
      after = around(trial, a) + around(trial, b)
      if (after < before) cur = trial
    end do
  end subroutine improve

end program rounds
