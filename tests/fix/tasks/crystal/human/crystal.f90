module crystal_model
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type sites
    integer :: count = 0
    real(dp), allocatable :: x(:)
  end type
contains
  subroutine add(s, x)
    type(sites), intent(inout) :: s
    real(dp), intent(in) :: x
    real(dp), allocatable :: larger(:)
    if (.not. allocated(s%x)) allocate (s%x(64))
    if (s%count == size(s%x)) then
      allocate (larger(2*s%count))
      larger(1:s%count) = s%x
      call move_alloc(larger, s%x)
    end if
    s%count = s%count + 1
    s%x(s%count) = x
  end subroutine

  real(dp) function energy(s)
    type(sites), intent(in) :: s
    integer :: i
    energy = 0
    do i = 2, s%count
      energy = energy + 1.0_dp/(0.1_dp + abs(s%x(i) - s%x(i - 1)))
    end do
  end function
end module

program crystal
  use crystal_model
  implicit none
  type(sites) :: s
  integer :: n, steps, i, k
  real(dp) :: e
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  e = 0
  do k = 1, steps
    s%count = 0
    if (allocated(s%x)) deallocate (s%x)
    do i = 1, n
      call add(s, 0.01_dp*mod(i*i + 3*k, 211))
    end do
    e = e + energy(s)
  end do
  print '(a,es22.14,i9)', 'checksum ', e, s%count
end program
