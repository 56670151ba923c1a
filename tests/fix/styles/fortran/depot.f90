module shipping
  implicit none
  character(len=*), parameter :: path = 'depot.tmp'
  type parcel
    integer :: id
    integer :: zone
    real(8) :: mass
  end type parcel
contains

  subroutine wipe()
    integer :: u
    open (newunit=u, file=path, status='replace', action='write')
    close (u)
  end subroutine wipe

  function arrive(i) result(p)
    integer, intent(in) :: i
    type(parcel) :: p
    p%id = 100000 + i
    p%zone = 1 + mod(i * 7, 23)
    p%mass = 0.5d0 + 0.25d0 * mod(i * 13, 61)
  end function arrive

  subroutine record(p)
    type(parcel), intent(in) :: p
    integer :: u
    open (newunit=u, file=path, status='old', position='append', action='write')
    write (u, '(i8,i4,f10.3)') p%id, p%zone, p%mass
    close (u)
  end subroutine record

  subroutine audit(n, mass)
    integer, intent(out) :: n
    real(8), intent(out) :: mass
    integer :: u, ios
    type(parcel) :: p
    n = 0
    mass = 0
    open (newunit=u, file=path, status='old', action='read')
    do
      read (u, *, iostat=ios) p%id, p%zone, p%mass
      if (ios /= 0) exit
      n = n + 1
      mass = mass + p%mass * p%zone
    end do
    close (u, status='delete')
  end subroutine audit

end module shipping

program depot
  use shipping
  implicit none
  integer :: i, n, total
  real(8) :: mass
  character(len=16) :: arg
  total = 80000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) total
  end if
  call wipe()
  do i = 1, total
    call record(arrive(i))
  end do
  call audit(n, mass)
  print '(a,1x,i0,1x,es16.8)', 'checksum', n, mass
end program depot
