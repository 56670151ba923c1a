program ledger
  implicit none
  integer :: nbond, nper, rounds, t
  double precision, allocatable :: flow(:,:), rate(:), price(:)
  double precision :: total
  character(len=20) :: word

  nbond = 20000
  nper = 120
  rounds = 40
  if (command_argument_count() >= 1) then
    call get_command_argument(1, word)
    read (word, *) nbond
  end if
  if (command_argument_count() >= 2) then
    call get_command_argument(2, word)
    read (word, *) rounds
  end if

  allocate (flow(nper, nbond), rate(nper), price(nbond))
  call issue()
  total = 0d0
  do t = 1, rounds
    call shift_curve(t)
    call value_all()
    total = total + sum(price) / nbond
  end do
  write (*, '(a,es18.9,es18.9)') 'checksum ', total, price(nbond / 2)

contains

  subroutine issue()
    integer :: b, k, life
    do b = 1, nbond
      life = 20 + mod(b * 37, nper - 20)
      do k = 1, nper
        if (k < life) then
          flow(k, b) = 1.5d0 + 0.01d0 * mod(b, 90)
        else if (k == life) then
          flow(k, b) = 100d0
        else
          flow(k, b) = 0d0
        end if
      end do
    end do
  end subroutine issue

  subroutine shift_curve(step)
    integer, intent(in) :: step
    integer :: k
    do k = 1, nper
      rate(k) = 0.02d0 + 0.0001d0 * k + 0.002d0 * sin(0.3d0 * step)
    end do
  end subroutine shift_curve

  subroutine value_all()
    integer :: b, k
    double precision :: s
    do b = 1, nbond
      s = 0d0
      do k = 1, nper
        s = s + flow(k, b) * (1d0 + rate(k)) ** (-0.5d0 * k)
      end do
      price(b) = s
    end do
  end subroutine value_all

end program ledger
