module disk
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function c_fsync(fd) bind(c, name="fsync")
      import :: c_int
      integer(c_int), value :: fd
    end function
    integer(c_int) function c_rename(from, to) bind(c, name="rename")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: from(*), to(*)
    end function
    integer(c_int) function c_chmod(path, mode) bind(c, name="chmod")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode
    end function
  end interface
contains
  subroutine settle(unit)
    integer, intent(in) :: unit
    flush (unit)
    if (c_fsync(int(fnum(unit), c_int)) /= 0) stop 2
  end subroutine

  subroutine replace_by(from, to, mode)
    character(*), intent(in) :: from, to
    integer, intent(in) :: mode
    if (c_chmod(trim(from) // c_null_char, int(mode, c_int)) /= 0) stop 3
    if (c_rename(trim(from) // c_null_char, trim(to) // c_null_char) /= 0) stop 4
  end subroutine
end module

module ice
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: n, last_restart
  real(dp), allocatable :: h(:, :), bed(:, :), d(:, :), s(:, :)
contains
  subroutine set_up(size)
    integer, intent(in) :: size
    integer :: i, j
    n = size
    allocate (h(n, n), bed(n, n), d(n, n), s(n, n))
    do j = 1, n
      do i = 1, n
        bed(i, j) = 100 * sin(0.11_dp * i) * cos(0.09_dp * j)
        h(i, j) = max(0.0_dp, 900 - 0.6_dp * ((i - n / 2)**2 + (j - n / 2)**2) * (80.0_dp / n)**2)
      end do
    end do
    d = 0
  end subroutine

  pure real(dp) function fluidity(z) result(a)
    real(dp), intent(in) :: z
    integer :: layer
    a = 0
    do layer = 1, 6
      a = a + 0.2e-7_dp * exp(-6.0e4_dp / 8.314_dp * (1 / (263.15_dp - 0.0065_dp * z + 0.3_dp * layer) - 1 / 263.15_dp))
    end do
  end function

  subroutine diffusivity()
    integer :: i, j; real(dp) :: gx, gy
    s = bed + h
    do i = 2, n - 1
      do j = 2, n - 1
        gx = (s(i + 1, j) - s(i - 1, j)) / 2000
        gy = (s(i, j + 1) - s(i, j - 1)) / 2000
        d(i, j) = min(1e-4_dp * fluidity(bed(i, j)) * h(i, j)**5 * (gx**2 + gy**2), 2.0e5_dp)
      end do
    end do
  end subroutine

  subroutine advance()
    integer :: i, j; real(dp) :: flux
    call diffusivity()
    do i = 2, n - 1
      do j = 2, n - 1
        flux = (d(i, j) + d(i + 1, j)) * (s(i + 1, j) - s(i, j)) - (d(i, j) + d(i - 1, j)) * (s(i, j) - s(i - 1, j)) &
             + (d(i, j) + d(i, j + 1)) * (s(i, j + 1) - s(i, j)) - (d(i, j) + d(i, j - 1)) * (s(i, j) - s(i, j - 1))
        h(i, j) = max(0.0_dp, h(i, j) + 0.4e-6_dp * flux + 1e-3_dp * (s(i, j) - 450) / 100)
      end do
    end do
  end subroutine
end module

program glacier
  use disk; use ice
  implicit none
  integer :: step, steps, size, log_unit, past, status
  character(32) :: word
  size = 96; steps = 1200
  if (command_argument_count() > 0) then
    call get_command_argument(1, word); read (word, *) size
    call get_command_argument(2, word); read (word, *) steps
  end if
  last_restart = steps - mod(steps, 24)
  call set_up(size)
  open (newunit=log_unit, file="volume.log", status="replace", action="write")
  open (newunit=past, file="history.dat", status="replace", form="unformatted", access="stream")
  do step = 1, steps
    call advance()
    if (mod(step, 24) /= 0) cycle
    call restart(step)
    write (log_unit, "(i6, 2es20.10)") step, sum(h), maxval(h)
    call settle(log_unit)
    write (past) h
  end do
  call settle(past)
  close (past); close (log_unit)
  call execute_command_line("gzip -n -9 -f history.dat", exitstat=status)
  if (status /= 0) stop 5
  print "(a, es20.10)", "checksum", sum(h) + sum(d)
contains
  subroutine restart(step)
    integer, intent(in) :: step
    integer :: unit
    character(32) :: name
    write (name, "(a, i1, a)") "restart_", mod(step / 24, 4), ".bin"
    open (newunit=unit, file="restart.tmp", status="replace", form="unformatted", action="write")
    write (unit) step, n
    write (unit) h
    write (unit) d
    call settle(unit)
    close (unit)
    call replace_by("restart.tmp", name, int(o'640'))
  end subroutine
end program
