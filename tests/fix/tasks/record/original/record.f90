module record_model
  implicit none
  integer, parameter :: dp = kind(1.0d0)
contains
  subroutine store(n, first)
    integer, intent(in) :: n, first
    integer :: i, unit
    real(dp) :: v
    do i = first, first + n - 1
      v = 10.0_dp + 0.25_dp*mod(i*i, 61)
      open (newunit=unit, file='stations.txt', position='append', action='write')
      write (unit, '(i8,f10.4)') i, v
      close (unit)
    end do
  end subroutine

  real(dp) function total()
    integer :: unit, i, status
    real(dp) :: v
    total = 0
    open (newunit=unit, file='stations.txt', action='read')
    do
      read (unit, *, iostat=status) i, v
      if (status /= 0) exit
      total = total + v*(1 + mod(i, 3))
    end do
    close (unit)
  end function
end module

program record
  use record_model
  implicit none
  integer :: n, steps, s
  character(32) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) steps
  do s = 1, steps
    call store(n, 1 + (s - 1)*n)
  end do
  print '(a,f20.4)', 'checksum ', total()
end program
