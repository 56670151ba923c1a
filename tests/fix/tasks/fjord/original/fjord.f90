module system_calls
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function c_open(path, flags) bind(c, name="open")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: flags
    end function
    integer(c_int) function c_fsync(fd) bind(c, name="fsync")
      import :: c_int
      integer(c_int), value :: fd
    end function
    integer(c_int) function c_close(fd) bind(c, name="close")
      import :: c_int
      integer(c_int), value :: fd
    end function
    integer(c_int) function c_rename(old, new) bind(c, name="rename")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: old(*), new(*)
    end function
    integer(c_int) function c_chmod(path, mode) bind(c, name="chmod")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode
    end function
  end interface
contains
  subroutine settle(path)
    character(*), intent(in) :: path
    integer(c_int) :: fd, told
    fd = c_open(path // c_null_char, 1_c_int)
    told = c_fsync(fd)
    told = c_close(fd)
  end subroutine
end module

program fjord
  use system_calls
  implicit none
  integer :: n, steps, step
  real(8), allocatable :: ice(:, :)
  character(32) :: word
  n = 300
  steps = 60
  call get_command_argument(1, word)
  if (len_trim(word) > 0) read (word, *) n
  call get_command_argument(2, word)
  if (len_trim(word) > 0) read (word, *) steps
  allocate (ice(n, n))
  ice = 1.0d0
  open (21, file="tide.log", status="replace")
  do step = 1, steps
    call flow(ice, step)
    write (21, "(i6, f20.10)") step, sum(ice)
    flush (21)
    call settle("tide.log")
    call restart(ice, step)
    if (mod(step, 5) == 0) call profile(ice, step)
    if (mod(step, 20) == 0) call execute_command_line("cp tide.log tide.copy")
  end do
  close (21)
  write (*, "(a, es20.12)") "checksum ", sum(ice)
contains
  subroutine flow(ice, step)
    real(8), intent(inout) :: ice(:, :)
    integer, intent(in) :: step
    integer :: i, j
    do j = 1, size(ice, 2)
      do i = 1, size(ice, 1)
        ice(i, j) = ice(i, j) * (1.0d0 - 1.0d-4 * exp(-0.01d0 * step) * sin(0.02d0 * step)) &
          + 1.0d-5 * exp(-0.01d0 * step) * cos(0.01d0 * (i + j))
      end do
    end do
  end subroutine

  subroutine restart(ice, step)
    real(8), intent(in) :: ice(:, :)
    integer, intent(in) :: step
    integer :: told
    open (22, file="restart.new", form="unformatted", access="stream", status="replace")
    write (22) step, ice(:, 1:8)
    close (22)
    call settle("restart.new")
    told = c_rename("restart.new" // c_null_char, "restart.dat" // c_null_char)
  end subroutine

  subroutine profile(ice, step)
    real(8), intent(in) :: ice(:, :)
    integer, intent(in) :: step
    integer :: i, told
    character(32) :: name
    write (name, "(a, i4.4, a)") "profile_", step, ".txt"
    open (23, file=trim(name), status="replace")
    do i = 1, size(ice, 1)
      write (23, "(i6, f16.8)") i, ice(i, i)
    end do
    close (23)
    call settle(trim(name))
    told = c_chmod(trim(name) // c_null_char, int(o"600", c_int))
  end subroutine
end program
