module observing
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
  real(real64), parameter :: turn = 6.283185307179586_real64

  type curve
    real(real64), allocatable :: date(:), mag(:)
  end type curve

contains

  function observe(n, seed) result(c)
    integer, intent(in) :: n, seed
    type(curve) :: c
    integer(int64) :: x
    integer :: i
    real(real64) :: d, phase
    allocate (c%date(n), c%mag(n))
    x = mod(int(seed, int64) * 48271_int64 + 11_int64, 2147483647_int64)
    if (x < 1) x = 11
    d = 0.0_real64
    do i = 1, n
      x = mod(x * 48271_int64, 2147483647_int64)
      d = d + 0.02_real64 + 0.9_real64 * real(x, real64) / 2147483647.0_real64
      phase = turn * d / 5.366_real64
      x = mod(x * 48271_int64, 2147483647_int64)
      c%date(i) = d
      c%mag(i) = 3.9_real64 - 0.4_real64 * sin(phase) + 0.15_real64 * cos(2.0_real64 * phase) &
        + 0.3_real64 * (real(x, real64) / 2147483647.0_real64 - 0.5_real64)
    end do
    c%mag = c%mag - sum(c%mag) / n
  end function observe

  pure subroutine stretch(c, lowest, turn_c, turn_s, power)
    type(curve), intent(in) :: c
    real(real64), intent(in) :: lowest, turn_c(:), turn_s(:)
    real(real64), intent(out) :: power(:)
    real(real64), dimension(size(c%date)) :: co, si
    real(real64) :: up, across, shift, ct, st, a, b, yc, ys, cc, ss
    integer :: i, k
    co = cos(turn * lowest * c%date)
    si = sin(turn * lowest * c%date)
    do k = 1, size(power)
      up = 0.0_real64
      across = 0.0_real64
      do i = 1, size(c%date)
        up = up + 2.0_real64 * si(i) * co(i)
        across = across + (co(i) - si(i)) * (co(i) + si(i))
      end do
      shift = 0.5_real64 * atan2(up, across)
      ct = cos(shift)
      st = sin(shift)
      yc = 0.0_real64
      ys = 0.0_real64
      cc = 1.0e-12_real64
      ss = 1.0e-12_real64
      do i = 1, size(c%date)
        a = co(i) * ct + si(i) * st
        b = si(i) * ct - co(i) * st
        yc = yc + c%mag(i) * a
        ys = ys + c%mag(i) * b
        cc = cc + a**2
        ss = ss + b**2
        a = co(i)
        co(i) = a * turn_c(i) - si(i) * turn_s(i)
        si(i) = si(i) * turn_c(i) + a * turn_s(i)
      end do
      power(k) = 0.5_real64 * (yc**2 / cc + ys**2 / ss)
    end do
  end subroutine stretch

  subroutine scan(c, lowest, step, power)
    type(curve), intent(in) :: c
    real(real64), intent(in) :: lowest, step
    real(real64), intent(out) :: power(:)
    integer, parameter :: long = 50
    real(real64), dimension(size(c%date)) :: turn_c, turn_s
    integer :: k, last
    turn_c = cos(turn * step * c%date)
    turn_s = sin(turn * step * c%date)
    !$omp parallel do schedule(static) private(last)
    do k = 1, size(power), long
      last = min(k + long - 1, size(power))
      call stretch(c, lowest + (k - 1) * step, turn_c, turn_s, power(k:last))
    end do
    !$omp end parallel do
  end subroutine scan

end module observing

program cepheid
  use observing
  implicit none
  type(curve) :: c
  real(real64), allocatable :: power(:)
  real(real64) :: step
  integer :: n, m, seed, best
  character(len=24) :: word
  n = 700
  m = 60000
  seed = 3
  if (command_argument_count() > 0) call get_command_argument(1, word)
  if (command_argument_count() > 0) read (word, *) n
  if (command_argument_count() > 1) call get_command_argument(2, word)
  if (command_argument_count() > 1) read (word, *) m
  if (command_argument_count() > 2) call get_command_argument(3, word)
  if (command_argument_count() > 2) read (word, *) seed
  c = observe(n, seed)
  allocate (power(m))
  step = 0.9_real64 / m
  call scan(c, 0.05_real64, step, power)
  best = maxloc(power, 1)
  print '(a,i7,a,f12.7,a,es20.12)', 'peak', best, ' period', 1.0_real64 / (0.05_real64 + (best - 1) * step), ' power', power(best)
  print '(a,es20.12,es20.12)', 'checksum', sum(power), sum(power(::7)**2)
end program cepheid
