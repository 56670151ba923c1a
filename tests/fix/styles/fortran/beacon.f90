module chart
  implicit none
  type point
    double precision :: x, y
  end type point
contains

  subroutine scatter(p, phase)
    type(point), intent(out) :: p(:)
    double precision, intent(in) :: phase
    integer :: i
    do i = 1, size(p)
      p(i)%x = 50d0 * sin(phase + 1.7d0 * i) + 0.001d0 * i
      p(i)%y = 50d0 * cos(phase + 2.3d0 * i) - 0.002d0 * i
    end do
  end subroutine scatter

  subroutine pull(boat, mark, n, fx, fy)
    type(point), intent(in) :: boat, mark(*)
    integer, intent(in) :: n
    double precision, intent(out) :: fx, fy
    double precision :: dx, dy, w
    integer :: k
    fx = 0d0
    fy = 0d0
    k = 1
    do while (k <= n)
      dx = mark(k)%x - boat%x
      dy = mark(k)%y - boat%y
      w = 1d0 / (4d0 + dx * dx + dy * dy)
      fx = fx + w * cos(atan2(dy, dx))
      fy = fy + w * sin(atan2(dy, dx))
      k = k + 1
    end do
  end subroutine pull

end module chart

program beacon
  use chart
  implicit none
  integer, parameter :: nmark = 1500
  type(point) :: mark(nmark)
  type(point), allocatable :: boat(:)
  double precision :: fx, fy, path
  integer :: nboat, hours, i, t
  character(len=8) :: c

  nboat = 1000
  hours = 20
  if (command_argument_count() > 0) then
    call get_command_argument(1, c)
    read (c, *) nboat
  end if
  allocate (boat(nboat))
  call scatter(mark, 0.4d0)
  call scatter(boat, 1.9d0)
  path = 0d0
  do t = 1, hours
    do i = 1, nboat
      call pull(boat(i), mark, nmark, fx, fy)
      boat(i)%x = boat(i)%x + 0.05d0 * fx
      boat(i)%y = boat(i)%y + 0.05d0 * fy
      path = path + abs(fx) + abs(fy)
    end do
  end do
  write (*, '(a,es18.9,es18.9)') 'checksum ', path, boat(nboat)%x
end program beacon
