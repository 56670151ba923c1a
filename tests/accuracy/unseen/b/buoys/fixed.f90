module drifters
  use iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: fix, logbook, open_book, append, close_book, audit, advance

  type fix
    integer(int64) :: buoy
    real(real64) :: hour
    real(real64) :: lon
    real(real64) :: lat
  end type fix

  type logbook
    integer :: unit = -1
    character(len=:), allocatable :: path
    integer :: entries = 0
    integer(int64), allocatable :: place(:)
  end type logbook

contains

  subroutine open_book(book, path, most)
    type(logbook), intent(inout) :: book
    character(len=*), intent(in) :: path
    integer, intent(in) :: most
    book%path = path
    book%entries = 0
    allocate (book%place(most))
    open (newunit=book%unit, file=path, access='stream', form='unformatted', &
          status='replace', action='readwrite')
  end subroutine open_book

  integer(int64) function tail(book)
    type(logbook), intent(in) :: book
    inquire (unit=book%unit, pos=tail)
  end function tail

  subroutine append(book, f)
    type(logbook), intent(inout) :: book
    type(fix), intent(in) :: f
    book%entries = book%entries + 1
    book%place(book%entries) = tail(book)
    write (book%unit) f%buoy, f%hour, f%lon, f%lat
  end subroutine append

  subroutine close_book(book)
    type(logbook), intent(inout) :: book
    close (book%unit, status='delete')
    deallocate (book%place)
  end subroutine close_book

  subroutine audit(book, far, spots, check)
    type(logbook), intent(inout) :: book
    real(real64), intent(out) :: far
    integer, intent(out) :: spots
    integer(int64), intent(out) :: check
    type(fix) :: f
    integer :: k
    far = 0
    spots = 0
    check = 0
    rewind (book%unit)
    do k = 1, book%entries
      read (book%unit) f%buoy, f%hour, f%lon, f%lat
      far = max(far, abs(f%lat))
      if (f%lon > 10.0_real64) spots = spots + 1
      check = check + book%place(k)*mod(f%buoy, 97_int64)
    end do
  end subroutine audit

  elemental subroutine advance(f, dt)
    type(fix), intent(inout) :: f
    real(real64), intent(in) :: dt
    real(real64) :: u, v
    u = 0.3_real64 + 0.02_real64*f%lat*(1 - 0.01_real64*f%lat**2)
    v = 0.1_real64*(mod(f%lon, 7.0_real64) - 3.5_real64)
    f%lon = f%lon + u*dt
    f%lat = f%lat + v*dt
    if (abs(f%lat) > 60) f%lat = sign(60.0_real64, f%lat)
    f%hour = f%hour + dt
  end subroutine advance

end module drifters

program buoys
  use iso_fortran_env, only: int64, real64
  use drifters
  implicit none
  type(logbook) :: book
  type(fix), allocatable :: fleet(:)
  integer :: count, steps, b, s, spots
  integer(int64) :: check
  real(real64) :: far
  character(len=32) :: arg

  count = 400
  steps = 3000
  if (command_argument_count() > 1) then
    call get_command_argument(1, arg)
    read (arg, *) count
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  allocate (fleet(count))
  do b = 1, count
    fleet(b) = fix(int(b, int64)*101, 0.0_real64, 0.05_real64*b, 20 - 0.1_real64*b)
  end do
  call open_book(book, 'buoys.dat', count*steps)
  do s = 1, steps
    call advance(fleet, 0.25_real64)
    do b = 1, count
      call append(book, fleet(b))
    end do
  end do
  call audit(book, far, spots, check)
  print '(a,i0)', 'entries ', book%entries
  print '(a,f14.8)', 'far     ', far
  print '(a,i0)', 'spots   ', spots
  print '(a,i0)', 'check   ', check
  call close_book(book)
end program buoys
