program buoy
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: samples, unit, n
  real(dp) :: energy
  character(len=16) :: arg

  samples = 400000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) samples
  end if
  open (newunit=unit, file='buoy.tmp', status='replace', action='readwrite')
  call listen(unit, samples, energy)
  inquire (unit=unit, size=n)
  close (unit, status='delete')
  print '(a,1x,es16.8,1x,i0)', 'checksum', energy, n

contains

  pure function height(k) result(z)
    integer, intent(in) :: k
    real(dp) :: z
    z = 1.2_dp * sin(0.21_dp * k) + 0.4_dp * sin(0.57_dp * k + 0.8_dp)
  end function height

  subroutine listen(lun, count, e)
    integer, intent(in) :: lun, count
    real(dp), intent(out) :: e
    real(dp) :: z, last
    integer :: k
    e = 0.0_dp
    last = 0.0_dp
    do k = 1, count
      z = height(k)
      e = e + z * z + (z - last)**2
      call emit(lun, k, z)
      last = z
    end do
  end subroutine listen

  subroutine emit(lun, k, z)
    integer, intent(in) :: lun, k
    real(dp), intent(in) :: z
    write (lun, '(i9,1x,f10.5)') k, z
    flush (lun)
  end subroutine emit

end program buoy
