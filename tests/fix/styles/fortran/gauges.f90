module network
  implicit none
  integer, parameter :: slots = 480
  type station
    real(8) :: base
    real(8) :: gain
    real(8) :: hist(slots)
  end type station
  type(station), allocatable :: net(:)
contains

  subroutine open_network(n)
    integer, intent(in) :: n
    integer :: i, k
    allocate (net(n))
    do i = 1, n
      net(i)%base = 5.0d0 + 0.1d0 * i
      net(i)%gain = 1.0d0 + 0.001d0 * mod(i, 13)
      net(i)%hist = [(0.01d0 * mod(i * k, 97), k = 1, slots)]
    end do
  end subroutine open_network

  function reading(id, slot) result(r)
    integer, intent(in) :: id, slot
    real(8) :: r
    type(station) :: st
    st = net(id)
    r = st%base + st%gain * st%hist(slot)
  end function reading

  function route(start, hops) result(total)
    integer, intent(in) :: start, hops
    real(8) :: total
    integer :: id, slot, h
    id = start
    slot = 1 + mod(start, slots)
    total = 0.0d0
    do h = 1, hops
      total = total + reading(id, slot)
      id = 1 + mod(id * 5 + 3 + h, size(net))
      slot = 1 + mod(slot * 7 + id, slots)
    end do
  end function route

end module network

program gauges
  use network
  implicit none
  integer :: n, routes, i
  real(8) :: acc
  character(len=16) :: arg
  n = 400
  routes = 60000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) routes
  end if
  call open_network(n)
  acc = 0.0d0
  do i = 1, routes
    acc = acc + route(1 + mod(i, n), 300)
  end do
  write (*, '(a,1x,es20.12)') 'checksum', acc
end program gauges
