# ruff: noqa: E501
"""Programs of Fortran that hand over sections and add to files record by record, and what in them must be left alone."""

from __future__ import annotations

from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import f90 as left
from tests.fix.recipes.programs import f90

_LAYERS = r"""
module soil
  implicit none
  integer, parameter :: wp = kind(1.d0)
  type :: column_t
    integer :: n = 0
    real(wp), allocatable :: depth(:), heat(:, :)
  end type column_t
  type(column_t) :: col
  real(wp) :: heat(9, 12) = 0.25_wp
contains
  pure real(wp) function at_depth(n, z, v, where_)
    integer, intent(in) :: n
    real(wp), intent(in) :: z(0:n-1)
    real(wp), dimension(-1:n-2), intent(in) :: v
    real(wp), intent(in) :: where_
    integer :: k
    at_depth = v(-1)
    do k = 1, n - 1
      if (z(k - 1) <= where_) at_depth = v(k - 2) + (v(k - 1) - v(k - 2))*min(1.0_wp, (where_ - z(k - 1))/(z(k) - z(k - 1)))
    end do
  end function at_depth

  subroutine relax(n, m, box, weights)
    integer, intent(in) :: n, m
    real(wp), intent(inout) :: box(n, m)
    real(wp), intent(in) :: weights(n)
    integer :: i, j
    do j = 2, m
      do i = 1, n
        box(i, j) = box(i, j) + weights(i)*box(i, j - 1)
      end do
    end do
    box(1:n, 1) = 0.5_wp*box(1:n, 1)
  end subroutine relax

  subroutine shares(n, v, total)
    integer, intent(in) :: n
    real(wp), intent(inout) :: v(n)
    real(wp), intent(out) :: total
    total = sum(v) + size(v)
    v = v/total
  end subroutine shares
end module soil

program main
  use soil
  implicit none
  integer :: i, j, n, m, k_
  type(column_t) :: cols(2)
  integer :: idx(9)
  real(wp) :: s, t
  real(wp), allocatable :: field(:, :, :)
  n = 12
  m = 9
  col%n = n
  allocate (col%depth(n), col%heat(m, n), field(m, 4, n))
  do j = 1, n
    col%depth(j) = 0.3_wp*j
    do i = 1, m
      col%heat(i, j) = sin(0.7_wp*i*j)
      field(i, :, j) = [(cos(0.1_wp*i*j*k_), k_ = 1, 4)]
    end do
  end do
  s = 0
  do i = 1, m
    do j = 1, 20
      s = s + at_depth(n, col%depth, col%heat(i, :), 0.17_wp*j)
    end do
  end do
  do i = 1, 4
    call relax(m, n, field(:, i, :), col%heat(:, 1))
  end do
  do i = 1, m
    call shares(n, field(i, 2, 1:n), t)
    call shares(n - 2, field(i, 3, 3:), t)
    s = s + t
  end do
  do i = 1, m
    call shares(size(col%heat, 2), col%heat(i, :), t)
    s = s + t
  end do
  cols(1) = col
  cols(2) = col
  idx = [(m + 1 - i, i = 1, m)]
  call sample(s)
  print '(es24.16)', s, field(:, 3, 5)
contains
  subroutine sample(s)
    real(wp), intent(inout) :: s
    integer :: k
    do k = 1, m
      s = s + at_depth(cols(1)%n, cols(1)%depth, cols(mod(k, 2) + 1)%heat(idx(k), :), 0.4_wp)
      s = s + at_depth(n, col%depth, cols(2)%heat(min(k, col%n), :), where_=0.9_wp) + at_depth(n, col%depth, heat(-(-k), :), 0.1_wp)
    end do
  end subroutine sample
end program main
"""

_BUOYS = r"""
module buoys
  implicit none
  character(len=*), parameter :: log_file = 'buoys.txt'
  integer :: nr
contains
  subroutine begin_log(title)
    character(len=*), intent(in) :: title
    open (newunit=nr, file=log_file, status='replace', action='write')
    write (nr, '(a)') title
    close (nr)
  end subroutine begin_log

  subroutine add_buoy(id, x)
    integer, intent(in) :: id
    real(8), intent(in) :: x(:)
    integer :: k
    if (id == 13) return
    open (newunit=nr, file=log_file, status='old', position='append', &
          action='write')   ! one line for each
    do k = 1, size(x)
      if (x(k) > 1.9d0) cycle
      write (nr, '(i5,f12.6)') id, x(k)
    end do
    close (nr)
  end subroutine add_buoy

  subroutine mark(text)
    character(len=*), intent(in) :: text
    integer :: u
    open (newunit=u, file='./buoys.txt', position='append', action='write')
    write (u, '(a5,a12)') '-1', text
    close (u)
  end subroutine mark
end module buoys

module readers
  use buoys, only: log_file
  implicit none
contains
  subroutine total(name, s, lines)
    character(len=*), intent(in) :: name
    real(8), intent(out) :: s
    integer, intent(out) :: lines
    integer :: u, id, ios, bytes
    real(8) :: x
    logical :: here
    s = 0
    lines = 0
    inquire (file=log_file, exist=here, size=bytes)
    if (.not. here) return
    open (newunit=u, file=name, status='old', action='read')
    read (u, *)
    do
      read (u, *, iostat=ios) id, x
      if (ios /= 0) exit
      s = s + id*x
      lines = lines + 1
    end do
    close (u)
    lines = lines + 1000*bytes
  end subroutine total
end module readers

program main
  use buoys
  use readers
  implicit none
  integer :: i, lines, u
  real(8) :: s, x(3)
  logical :: tell
  call begin_log('buoys')
  do i = 1, 40
    x = [sin(0.1d0*i), 2*cos(0.3d0*i), 0.25d0]
    call add_buoy(i, x)
    if (mod(i, 16) == 0) call mark('0.5')
    tell = mod(i, 10) == 0
    if (tell) then
      call total(log_file, s, lines)
      print '(i6,es22.14)', lines, s
    end if
  end do
  open (newunit=u, file='other.txt', status='replace')
  write (u, *) lines
  if (lines > 3) close (u, status='delete')
  call add_buoy(99, [1.0d0])
  if (lines < 0) open (newunit=u, file=log_file)
end program main
"""

_STATION = r"""
program station
  implicit none
  character(len=*), parameter :: dat = "station.dat"
  integer :: i, line, u, hour
  real(8) :: t, s
  do i = 1, 3
    call reset()
    do hour = 1, 24
      call note(hour, 10*sin(0.26d0*hour)*i)
    end do
    open (newunit=u, file='station.dat', form='unformatted', action='read')
    s = 0
    do line = 1, 24
      read (u) hour, t
      s = s + hour*t
    end do
    close (u, status='delete')
    print '(es22.14)', s
  end do
contains
  subroutine reset()
    logical :: old
    integer :: v
    inquire (file='station.dat', exist=old)
    if (old) open (newunit=v, file='station.dat', status='old')
    if (old) close (v, status='delete')
  end subroutine reset
  subroutine note(hour, t)
    integer, intent(in) :: hour
    real(8), intent(in) :: t
    integer :: v
    open (newunit=v, file=dat, form='unformatted', position='append')
    write (v) hour, t
    close (unit=v)
  end subroutine note
end program station
"""

_ROWS = r"""
module m
  implicit none
contains
  subroutine smooth(n, x, s)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    real(8), intent(out) :: s
    integer :: k
    s = 0
    do k = 1, n
      s = s + x(k)
      x(k) = 0.5d0*x(k)
    end do
  end subroutine smooth
end module m
program p
  use m
  implicit none
  integer :: i
  real(8) :: a(9, 7), c(20), t
  a = 1
  c = 2
  do i = 1, 9
    call smooth(7, a(i, :), t)
  end do
  print *, t, a(3, 3)
end program p
"""

_NORM = r"""
program main
  implicit none
  integer :: i, n
  real(8), allocatable :: a(:, :)
  real(8) :: b(5, 3:9), s
  n = 30
  allocate (a(4, 0:n - 1))
  do i = 1, 4
    a(i, :) = i*0.25d0
  end do
  b = 2
  call scaled(4, a)
  s = 0
  do i = 1, 4
    s = s + norm(n, v=a(i, :))
    s = s + norm(7, b(i, :))
  end do
  print '(es24.16)', s
contains
  subroutine scaled(k, w)
    integer, intent(in) :: k
    real(8), intent(inout) :: w(:, :)
    w(k, 2) = 0.75d0*w(k, 2)
  end subroutine scaled
  real(8) function norm(n, v)
    integer, intent(in) :: n
    real(8) :: v(n)
    norm = sqrt(sum(v*v)) + maxval(v(2:))
  end function norm
end program main
"""

_LOG = r"""
module logs
  implicit none
  integer, parameter :: wide = 8
contains
  subroutine add(i)
    integer, intent(in) :: i
    integer :: u
    open (newunit=u, file='log.txt', position='append', action='write')
    write (u, '(i0)') i
    close (u)
  end subroutine add
  subroutine look(name)
    character(*), intent(in) :: name
    integer :: v, k
    open (newunit=v, file='log.txt', action='read')
    read (v, *) k
    close (v)
    print *, k, name
  end subroutine look
end module logs
program p
  use logs
  implicit none
  integer :: i
  do i = 1, 9
    call add(i)
  end do
  call look('log.txt')
end program p
"""


HANDOVERS = (
    f90(
        "rows of components and sections of fields", "assumed-shape-dummies", _LAYERS,
        "z(0:n-1)", "dimension(-1:n-2), intent(in) :: v(-1:)", "box(:, :)", "weights(n)", "v(n)\n",
    ),
    f90(
        "sizes that are the same", "assumed-shape-dummies",
        _LAYERS.replace("field(i, 3, 3:)", "field(i, 3, 3:n)"), "real(wp), intent(inout) :: v(:)",
    ),
    f90(
        "size of the whole program's array", "assumed-shape-dummies",
        _NORM, "real(8) :: v(:)",
    ),
    f90("rows", "assumed-shape-dummies", _ROWS, "x(:)"),
    f90(
        "log of a module without variables", "fortran-open-once",
        _LOG.replace("  integer, parameter :: wide = 8\n", "").replace("write (u, '(i0)') i", "write (unit=u, fmt='(i0)') i; k(i) = i").replace("    integer :: u\n", "    integer :: u, k(9)\n").replace("integer :: i\n  do", "integer :: i\n  integer :: access(3)\n  access = 4\n  open (unit=12)\n  write (12, *) access(2)\n  close (12, status='delete')\n  do"),
        "  integer, parameter, private :: add_unit", "\n  open (unit=12)",
    ),
    f90("log", "fortran-open-once", _LOG, "call close_add\n    open (newunit=v"),
    f90(
        "records in a file that others open", "fortran-open-once", _BUOYS,
        "if (.not. add_buoy_is_open) then", "call close_add_buoy\n    open (newunit=nr", "use buoys, only: close_add_buoy\n  use buoys, only: log_file",
        "call close_add_buoy\n    inquire", "call close_add_buoy\n  if (lines < 0) open", "write (add_buoy_unit, '(i5,f12.6)')", "public :: close_add_buoy",
        has_not=("call close_add_buoy\n  open (newunit=u, file='other.txt'",),
    ),
    f90(
        "records that are deleted", "fortran-open-once", _STATION,
        "call close_note\n    open", "call close_note\n    if (old) open", "logical, save :: note_is_open = .false.",
    ),
)  # fmt: skip


def _rows(why: str, *pairs: tuple[str, str]) -> Miss:
    return left(why, "assumed-shape-dummies", _changed(_ROWS, pairs))


def _norm(why: str, *pairs: tuple[str, str]) -> Miss:
    return left(why, "assumed-shape-dummies", _changed(_NORM, pairs))


def _log(why: str, *pairs: tuple[str, str]) -> Miss:
    return left(why, "fortran-open-once", _changed(_LOG, pairs))


def _changed(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


_CALL = "    call smooth(7, a(i, :), t)\n"
_OPEN = "    open (newunit=u, file='log.txt', position='append', action='write')\n"
_WRITE = "    write (u, '(i0)') i\n"
_READ = "    open (newunit=v, file='log.txt', action='read')\n"

LEFT_ALONE = (
    _rows("columns lie in one piece", ("a(i, :)", "a(:, i)"), ("smooth(7", "smooth(9"), ("do i = 1, 9", "do i = 1, 7")),
    _rows("an element stands for what follows", ("  print", "  call smooth(3, c(4), t)\n  print")),
    _rows("an array of other rank", ("  print", "  call smooth(63, a, t)\n  print")),
    _rows("the whole array is used, its size unknown", ("    s = 0\n", "    s = sum(x)\n"), ("smooth(7", "smooth(6")),
    _rows("the array's size is asked for", ("    s = 0\n", "    s = size(x)\n"), ("smooth(7", "smooth(6")),
    _rows("section to the end", ("    s = 0\n", "    s = sum(x(2:))\n"), ("smooth(7", "smooth(6")),
    _rows("set as a whole", ("    s = 0\n", "    s = 0\n    x = 3\n"), ("smooth(7", "smooth(6")),
    _rows("handed on", ("    s = 0\n", "    call other(x)\n")),
    _rows("an element is handed on as an array", ("    s = 0\n", "    call total(n - 1, x(2), s)\n"), ("end module", "  subroutine total(n, x, s)\n    integer, intent(in) :: n\n    real(8), intent(in) :: x(n)\n    real(8), intent(out) :: s\n    s = x(n)\n  end subroutine\nend module")),
    _rows("other leading size", ("x(n)\n", "x(n, 2)\n"), ("x(k)", "x(k, 1)"), ("a(9, 7)", "a(9, 7, 2)"), ("a(i, :)", "a(i, :, :)"), ("smooth(7", "smooth(5"), ("a(3, 3)", "a(3, 3, 1)")),
    _rows("size unknown", ("x(n)", "x(*)")),
    _rows("one element stands for many", ("x(n)", "x(1)")),
    _rows("called from C", ("s)\n    integer", "s) bind(c)\n    integer")),
    _rows("argument of another procedure", ("  print", "  call apply(smooth)\n  print")),
    _rows("bound to a type", ("contains\n", "  type t\n  contains\n    procedure, nopass :: smooth\n  end type\ncontains\n")),
    _rows("pointer", ("intent(inout) :: x", "target, intent(inout) :: x")),
    _rows("may be absent", ("intent(inout) :: x", "optional, intent(inout) :: x")),
    _rows("the same array twice", ("smooth(7, a(i, :), t)", "smooth(7, a(i, :), a(i, 2))")),
    _rows("reached past the arguments", ("contains\n", "  real(8) :: a(9, 7)\ncontains\n"), ("    s = 0\n", "    s = a(1, 1)\n"), (":: a(9, 7), c", ":: c")),
    _rows("an expression", ("  print", "  call smooth(7, (a(2, :)), t)\n  print"), ("intent(inout)", "intent(in)"), ("      x(k) = 0.5d0*x(k)\n", "")),
    _rows("elements by a list", ("  print", "  call smooth(3, a([1, 2, 3], 2), t)\n  print")),
    _rows("external procedure", ("module m\n  implicit none\ncontains\n", ""), ("end module m\n", ""), ("  use m\n", "")),
    _rows("entry", ("    s = 0\n", "    s = 0\n    entry half(n, x, s)\n")),
    _rows("text", ("real(8), intent(inout) :: x(n)", "character(3), intent(inout) :: x(n)"), ("      s = s + x(k)\n      x(k) = 0.5d0*x(k)\n", "      x(k) = 'a'\n"), ("real(8) :: a(9, 7), c(20), t", "character(3) :: a(9, 7)\n  real(8) :: c(20), t"), ("  a = 1\n", "  a = '1'\n")),
    _rows("called again in itself", ("  subroutine smooth", "  recursive subroutine smooth")),
    _rows("text of another file", ("  print", "  include 'more.inc'\n  print")),
    _rows("used by a procedure in it", ("  end subroutine smooth", "    call more()\n  contains\n    subroutine more()\n      s = s + x(1)\n    end subroutine more\n  end subroutine smooth")),
    _rows("named by a directive", ("    s = 0\n", "    s = 0\n    !$omp parallel do firstprivate(x)\n")),
    _rows("version for vectors", ("contains\n", "contains\n  !$omp declare simd(smooth)\n")),
    _rows("one of several of a name", ("contains\n", "  interface smoothed\n    module procedure smooth\n  end interface\ncontains\n")),
    _rows("an element by its keyword", ("    s = 0\n", "    call total(n=n - 1, x=x(2), s=s)\n"), ("end module", "  subroutine total(n, x, s)\n    integer, intent(in) :: n\n    real(8), intent(in) :: x(n)\n    real(8), intent(out) :: s\n    s = x(n)\n  end subroutine\nend module")),
    _rows("an element for a function that is not known", ("    integer :: k\n", "    integer :: k\n    real(8), external :: other\n"), ("      s = s + x(k)\n", "      s = s + other(x(k))\n")),
    _rows("no whole array", ("  print", "  call deep(a)\n  print"), ("end module", "  subroutine deep(w)\n    real(8), intent(inout) :: w(*)\n    real(8) :: t\n    call smooth(9, w, t)\n  end subroutine\nend module")),
    _rows("any rank", ("x(n)", "x(..)"), ("      s = s + x(k)\n      x(k) = 0.5d0*x(k)\n", "      s = s + k\n")),
    _rows("name of something else as well", ("  integer :: i\n", "  integer :: i\n  real(8) :: v\n"), ("  print", "  v = other(smooth=3)\n  print")),
    _rows("a list of rows in a component", ("  integer :: i\n", "  type t\n    real(8) :: v(7) = 1\n  end type\n  type(t) :: c2(3)\n  integer :: i\n"), ("  print", "  call smooth(3, c2(:)%v(1), t)\n  print")),
    _rows("a copy as long as the number that changes", ("    s = 0\n", "    s = sum(x)\n"), ("  integer :: i\n", "  integer :: i, k\n"), ("a(9, 7)", "a(9, 7)"), ("  a = 1\n", "  a = 1\n  k = 7\n"), (_CALL, "    call smooth(k, a(i, :), t)\n    k = 6\n")),
    _norm("size changes before the call", ("  b = 2\n", "  b = 2\n  n = 29\n")),
    _norm("size is read again", ("  b = 2\n", "  b = 2\n  read (*, *) n\n")),
    _norm("size may be changed by a call", ("  b = 2\n", "  b = 2\n  call shrink(n)\n"), ("contains\n", "contains\n  subroutine shrink(k)\n    integer :: k\n    k = k - 1\n  end subroutine shrink\n")),
    _norm("allocated twice", ("  b = 2\n", "  b = 2\n  deallocate (a)\n  allocate (a(4, 0:n + 1))\n  a = 1\n")),
    _norm("gets another shape by a value", ("  b = 2\n", "  b = 2\n  a = reshape(a, [4, 40], [0.5d0])\n")),
    _norm("allocated elsewhere", ("  allocate (a(4, 0:n - 1))\n", "  call make(a)\n"), ("contains\n", "contains\n  subroutine make(w)\n    real(8), allocatable :: w(:, :)\n    allocate (w(4, 40))\n  end subroutine make\n")),
    _norm("handed to who may allocate it", ("real(8), intent(inout) :: w(:, :)", "real(8), allocatable, intent(inout) :: w(:, :)")),
    _norm("handed to who knows whom", ("call scaled(4, a)", "call other(a)")),
    _norm("size has another value first", ("  integer :: i, n\n", "  integer :: i, n = 3\n")),
    _norm("size is set in a branch", ("  n = 30\n", "  if (command_argument_count() == 0) n = 30\n")),
    _norm("size may be pointed to", ("  integer :: i, n\n", "  integer :: i\n  integer, target :: n\n")),
    _norm("size of a loop", ("  b = 2\n", "  b = 2\n  do n = 1, 3\n    b = b + n\n  end do\n")),
    _norm("one more than is said", ("0:n - 1", "0:n")),
    _norm("of another variable of that name", ("    s = s + norm(n, v=a(i, :))\n", "    s = s + more(12)\n"), ("contains\n", "contains\n  real(8) function more(n)\n    integer, intent(in) :: n\n    more = norm(n, a(2, :))\n  end function more\n")),
    _log("name from outside", ("'log.txt', position", "name, position"), ("add(i)\n    integer, intent(in) :: i", "add(i, name)\n    integer, intent(in) :: i\n    character(*), intent(in) :: name"), ("call add(i)", "call add(i, 'log.txt')")),
    _log("another program reads it", ("  call look", "  call execute_command_line('cat log.txt')\n  call look")),
    _log("another language reads it", ("contains\n", "  interface tell\n    subroutine c_tell() bind(c)\n    end subroutine\n  end interface\ncontains\n")),
    _log("a library may read it", ("  use logs\n", "  use logs\n  use netcdf\n")),
    _log("subroutine that is not known", ("  call look", "  call other('log.txt')\n  call look")),
    _log("threads", ("  do i = 1, 9\n", "  !$omp parallel do\n  do i = 1, 9\n")),
    _log("written anew each time", ("position='append'", "position='append', status='replace'")),
    _log("errors are asked for", ("position='append'", "position='append', iostat=ios"), ("    integer :: u\n", "    integer :: u, ios\n")),
    _log("a line in parts", (_WRITE, "    write (u, '(i0)', advance='no') i\n")),
    _log("left before it is closed", (_WRITE, "    if (i == 3) return\n" + _WRITE)),
    _log("unit is told", ("    integer :: u\n", ""), ("contains\n", "  integer :: u\ncontains\n"), ("  call look", "  write (u, *) 3\n  call look")),
    _log("unit of all of the program", ("    integer :: u\n", ""), ("module logs\n  implicit none\n  integer, parameter :: wide = 8\ncontains\n", "program p\n  implicit none\n  integer :: i, u\n  do i = 1, 9\n    call add(i)\n  end do\n  close (u)\ncontains\n"), ("end module logs\nprogram p\n  use logs\n  implicit none\n  integer :: i\n  do i = 1, 9\n    call add(i)\n  end do\n  call look('log.txt')\n", "")),
    _log("unit is used by others without opening", ("    integer :: u\n", ""), ("contains\n", "  integer :: u\ncontains\n"), ("    close (v)\n", "    close (v)\n    close (u)\n")),
    _log("read in between by what it calls", (_WRITE, "    write (u, '(i0)') lines()\n"), ("end module", "  integer function lines()\n    inquire (file='log.txt', size=lines)\n  end function\nend module")),
    _log("opened where the module is not known", ("  call look", "  call far\n  call look"), ("program p\n", "subroutine far\n  open (12, file='log.txt')\n  close (12)\nend subroutine\nprogram p\n")),
    _log("opened behind a label", (_READ, " 10 open (newunit=v, file='log.txt', action='read')\n")),
    _log("device", ("'log.txt'", "'/dev/stdout'")),
    _log("ends in error", ("  call look", "  if (i < 3) error stop 'few'\n  call look")),
    _log("without a program", ("program p", "subroutine p")),
    _log("in no module", ("module logs\n  implicit none\n  integer, parameter :: wide = 8\ncontains\n", ""), ("end module logs\n", ""), ("  use logs\n", "")),
    _log("unit is printed", ("    close (u)\n", "    close (u)\n    print *, u\n")),
    _log("unit is an argument", ("add(i)\n", "add(i, u)\n"), ("    integer :: u\n", "    integer, intent(out) :: u\n"), ("call add(i, u)", "call add(i, k)"), ("  integer :: i\n  do", "  integer :: i, k\n  do")),
    _log("nothing is written", (_WRITE, "")),
    _log("file of a variable", ("    integer :: u\n", "    integer :: u\n    character(9) :: f\n    f = 'log.txt'\n"), ("file='log.txt', position", "file=f, position")),
    _log("two files", (_OPEN, "    open (12, file='b')\n    close (12)\n" + _OPEN)),
    _log("read as well", ("action='write'", "action='readwrite'"), (_WRITE, _WRITE + "    rewind (u)\n")),
    _log("another statement with that unit", (_WRITE, _WRITE + "    flush (u)\n")),
    _log("closed somewhere else", ("    close (u)\n", "    if (i > 0) then\n      close (u)\n    end if\n")),
    _log("opened under a condition", (_OPEN, "    if (i > 3) open (newunit=u, file='log.txt', position='append', action='write')\n")),
    _log("deleted at the end", ("    close (u)\n", "    close (u, status='delete')\n")),
    _log("calls itself", (_WRITE, _WRITE + "    if (i > 3) call twice(i)\n"), ("end module", "  subroutine twice(i)\n    integer, intent(in) :: i\n    call add(i - 2)\n  end subroutine\nend module")),
    _log("methods that may do anything", ("  integer, parameter :: wide = 8\n", "  type t\n  contains\n    procedure, nopass :: look\n  end type\n  type(t) :: o\n"), (_WRITE, "    call o%look('a')\n" + _WRITE)),
    _log("unit of a path", ("newunit=u, file='log.txt', pos", "newunit=us(1), file='log.txt', pos"), ("    integer :: u\n", "    integer :: us(2), u\n")),
    _log("name that is longer than what is kept", ("  integer, parameter :: wide = 8\n", "  character(*), parameter :: f = 'a_very_long_folder/of_somebody/who_likes_words/log.txt'\n"), ("file='log.txt', position", "file=f, position")),
    _log("opened behind other statements of the line", (_READ, "    open (newunit=v, file=name, action='read'); read (v, *) k; rewind (v); open (newunit=i, file=name)\n")),
    _log("called once", ("  do i = 1, 9\n    call add(i)\n  end do\n", "  call add(1)\n")),
    _log("file is moved", ("  call look", "  i = rename('log.txt', 'old.txt')\n  call look")),
)  # fmt: skip
