module poll
  implicit none
  type table
    integer :: nq = 0, np = 0
    real(8), allocatable :: answer(:, :)
    real(8), allocatable :: weight(:)
  end type table
contains

  subroutine load(t, nq, np)
    type(table), intent(inout) :: t
    integer, intent(in) :: nq, np
    integer :: p, q
    t%nq = nq
    t%np = np
    allocate (t%answer(nq, np), t%weight(np))
    do p = 1, np
      t%answer(:, p) = [(real(mod(q * p + q, 11), 8), q = 1, nq)]
    end do
  end subroutine load

  subroutine resample(t, round)
    type(table), intent(inout) :: t
    integer, intent(in) :: round
    integer(8) :: s
    integer :: p
    s = 1000 + 7919_8 * round
    do p = 1, t%np
      s = mod(s * 1103515245_8 + 12345_8, 2147483648_8)
      t%weight(p) = real(s, 8) / 2147483648.0d0
    end do
    t%weight = t%weight / sum(t%weight)
  end subroutine resample

  subroutine moments(t, avg, var)
    type(table), intent(in) :: t
    real(8), intent(out) :: avg(:), var(:)
    integer :: p, q
    real(8) :: a, b
    do q = 1, t%nq
      a = 0
      b = 0
      do p = 1, t%np
        a = a + t%weight(p) * t%answer(q, p)
        b = b + t%weight(p) * t%answer(q, p) * t%answer(q, p)
      end do
      avg(q) = a
      var(q) = b - a * a
    end do
  end subroutine moments

end module poll

program survey
  use poll
  implicit none
  type(table) :: t
  real(8), allocatable :: avg(:), var(:)
  real(8) :: total
  integer :: r, rounds
  character(16) :: arg
  rounds = 30
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) rounds
  end if
  call load(t, 240, 36000)
  allocate (avg(t%nq), var(t%nq))
  total = 0
  do r = 1, rounds
    call resample(t, r)
    call moments(t, avg, var)
    total = total + sum(avg) + sum(sqrt(max(var, 0.0d0)))
  end do
  write (*, '(a,1x,es17.9)') 'checksum', total
end program survey
