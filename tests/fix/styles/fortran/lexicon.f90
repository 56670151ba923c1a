module words
  implicit none
  integer, parameter :: wlen = 12, cap = 20000
  type entry
    character(len=wlen) :: key
    integer :: hits
  end type entry
  type(entry) :: book(cap)
  integer :: used = 0
contains

  subroutine spell(code, w)
    integer, intent(in) :: code
    character(len=wlen), intent(out) :: w
    integer :: c, i
    w = 'word'
    c = code
    i = 5
    do while (c > 0)
      w(i:i) = achar(iachar('a') + mod(c, 26))
      c = c / 26
      i = i + 1
    end do
  end subroutine spell

  subroutine note(w)
    character(len=wlen), intent(in) :: w
    integer :: k
    k = 1
    do while (k <= used)
      if (book(k)%key == w) exit
      k = k + 1
    end do
    if (k > used) then
      used = used + 1
      book(used)%key = w
      book(used)%hits = 0
    end if
    book(k)%hits = book(k)%hits + 1
  end subroutine note

end module words

program lexicon
  use words
  implicit none
  integer :: tokens, i, top
  integer(8) :: s, h
  character(len=wlen) :: w
  character(len=16) :: arg

  tokens = 120000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) tokens
  end if
  s = 271828
  do i = 1, tokens
    s = mod(s * 1103515245_8 + 12345_8, 2147483648_8)
    call spell(int(mod(s / 256, 9000_8)), w)
    call note(w)
  end do
  top = 0
  h = 0
  do i = 1, used
    top = max(top, book(i)%hits)
    h = mod(h * 31 + book(i)%hits, 1000000007_8)
  end do
  print '(a,3(1x,i0))', 'checksum', used, top, h
end program lexicon
