module film
  use, intrinsic :: iso_fortran_env, only: real32, int64
  implicit none
contains

  subroutine paint(a, t)
    real(real32), intent(out) :: a(:, :)
    integer, intent(in) :: t
    integer :: i, j
    do concurrent(j=1:size(a, 2), i=1:size(a, 1))
      a(i, j) = real(mod(i * 3 + j * 5 + t * 7, 255), real32) / 255.0_real32
    end do
  end subroutine paint

  subroutine save_frame(lun, a)
    integer, intent(in) :: lun
    real(real32), intent(in) :: a(:, :)
    integer :: i, j
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        write (lun) a(i, j)
      end do
    end do
  end subroutine save_frame

  subroutine load_frame(lun, a)
    integer, intent(in) :: lun
    real(real32), intent(out) :: a(:, :)
    read (lun, pos=1) a
  end subroutine load_frame

end module film

program frames
  use film
  implicit none
  integer :: w, h, count, t, lun
  integer(int64) :: bytes
  real(real32), allocatable :: a(:, :)
  real(8) :: light
  character(len=16) :: arg

  w = 900
  h = 700
  count = 20
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) count
  end if
  allocate (a(w, h))
  open (newunit=lun, file='frames.tmp', access='stream', form='unformatted', &
        status='replace', action='readwrite')
  light = 0
  do t = 1, count
    call paint(a, t)
    rewind (lun)
    call save_frame(lun, a)
    call load_frame(lun, a)
    light = light + sum(real(a, 8))
  end do
  inquire (unit=lun, size=bytes)
  close (lun, status='delete')
  print '(a,1x,es17.9,1x,i0)', 'checksum', light, bytes
end program frames
