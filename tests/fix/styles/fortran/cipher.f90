module codec
  implicit none
contains

  function sample(n, seed) result(text)
    integer, intent(in) :: n, seed
    character(len=n) :: text
    integer :: i, k
    k = seed
    do i = 1, n
      k = mod(k * 421 + 1663, 7875)
      if (mod(k, 6) == 0) then
        text(i:i) = ' '
      else
        text(i:i) = achar(iachar('a') + mod(k, 26))
      end if
    end do
  end function sample

  function rotate(text, key) result(out)
    character(len=*), intent(in) :: text
    integer, intent(in) :: key
    character(len=:), allocatable :: out
    character(len=1) :: c
    integer :: i, v
    out = ''
    do i = 1, len(text)
      c = text(i:i)
      select case (c)
      case ('a':'z')
        v = mod(iachar(c) - iachar('a') + key + i, 26)
        out = out // achar(v + iachar('A'))
      case default
        out = out // '_'
      end select
    end do
  end function rotate

  function digest(text) result(h)
    character(len=*), intent(in) :: text
    integer(8) :: h
    integer :: i
    h = 17
    do i = 1, len(text)
      h = mod(h * 131_8 + iachar(text(i:i)), 1000000007_8)
    end do
  end function digest

end module codec

program cipher
  use codec
  implicit none
  integer :: n, letters, i
  integer(8) :: total
  character(len=16) :: arg

  letters = 80
  n = 26000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) letters
  end if
  total = 0
  do i = 1, letters
    total = total + digest(rotate(sample(n, i), i))
  end do
  print '(a,1x,i0)', 'checksum', total
end program cipher
