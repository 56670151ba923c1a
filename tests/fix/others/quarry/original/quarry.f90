program quarry
  use ground
  implicit none
  integer, parameter :: nshots = 6, nbeds = 9
  real(dp), parameter :: dt = 5.0e-4_dp
  type(bed) :: beds(nbeds)
  type(shot) :: shots(nshots)
  type(place), allocatable :: phones(:)
  real(dp), allocatable :: trace(:, :)
  integer :: nphones, nsamples, nsurveys, survey
  real(dp) :: total

  nphones = argument(1, 60)
  nsamples = argument(2, 9000)
  nsurveys = argument(3, 3)
  call seed_with(argument(4, 1))
  allocate (phones(nphones), trace(nsamples, nphones))
  call lay_out()
  total = 0.0_dp
  do survey = 1, nsurveys
    call soak(beds)
    call listen()
    call describe(survey)
  end do
  print '(a,es22.14)', 'checksum ', total

contains

  integer function argument(k, default)
    integer, intent(in) :: k, default
    character(len=32) :: text
    argument = default
    if (command_argument_count() < k) return
    call get_command_argument(k, text)
    read (text, *) argument
  end function argument

  subroutine lay_out()
    integer :: k
    do k = 1, nbeds
      beds(k) = bed(uniform(5.0_dp, 20.0_dp), 700.0_dp + 240.0_dp * k + uniform(0.0_dp, 90.0_dp), uniform(0.05_dp, 0.2_dp))
    end do
    do k = 1, nshots
      shots(k)%at = place(uniform(-300.0_dp, 300.0_dp), uniform(-300.0_dp, 300.0_dp))
      shots(k)%onset = 0.15_dp * (k - 1) + uniform(0.0_dp, 0.05_dp)
      shots(k)%charge = uniform(2.0_dp, 5.0_dp)
    end do
    do k = 1, nphones
      phones(k) = place(25.0_dp * k, uniform(-40.0_dp, 40.0_dp))
    end do
  end subroutine lay_out

  subroutine listen()
    integer :: i, p, s
    real(dp) :: now, heard
    do i = 1, nsamples
      now = (i - 1) * dt
      do p = 1, nphones
        heard = 0.0_dp
        do s = 1, nshots
          heard = heard + motion(beds, shots(s), phones(p), now)
        end do
        trace(i, p) = heard
      end do
    end do
  end subroutine listen

  integer function shift_between(p, q) result(best)
    integer, intent(in) :: p, q
    integer :: lag, i
    real(dp) :: c, top
    best = 0
    top = 0.0_dp
    do lag = -30, 30
      c = 0.0_dp
      do i = max(1, 1 - lag), min(nsamples, nsamples - lag)
        c = c + trace(i, p) * trace(i + lag, q)
      end do
      if (c > top * (1.0_dp + 1.0e-9_dp)) then
        top = c
        best = lag
      end if
    end do
  end function shift_between

  subroutine describe(survey)
    integer, intent(in) :: survey
    integer :: i, p, first, shifts
    real(dp) :: energy
    energy = 0.0_dp
    first = 0
    shifts = 0
    do p = 1, nphones
      do i = 1, nsamples
        energy = energy + trace(i, p)**2
        total = total + trace(i, p) * cos(0.01_dp * (i + p + survey))
        if (first == 0 .and. abs(trace(i, p)) > 0.5_dp) first = i
      end do
      if (p > 1) shifts = shifts + shift_between(p - 1, p)
    end do
    print '(a,i4,a,es22.14,a,i7,a,i7)', 'survey', survey, ' energy', energy, ' first', first, ' shifts', shifts
  end subroutine describe

end program quarry
