module sky
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: ecc = 0.0167_dp, pi = 3.14159265358979_dp
contains

  function anomaly(day) result(nu)
    real(dp), intent(in) :: day
    real(dp) :: nu, m, e, d
    m = 2.0_dp * pi * (day - 3.0_dp) / 365.25_dp
    e = m
    do
      d = (e - ecc * sin(e) - m) / (1.0_dp - ecc * cos(e))
      e = e - d
      if (abs(d) < 1.0e-13_dp) exit
    end do
    nu = 2.0_dp * atan2(sqrt(1.0_dp + ecc) * sin(0.5_dp * e), &
                        sqrt(1.0_dp - ecc) * cos(0.5_dp * e))
  end function anomaly

  subroutine add_day(day, slat, clat, q)
    real(dp), intent(in) :: day
    real(dp), intent(in) :: slat(:), clat(:)
    real(dp), intent(inout) :: q(:)
    integer :: i
    real(dp) :: nu, sd, cd
    do i = 1, size(q)
      nu = anomaly(day)
      sd = 0.3978_dp * sin(nu + 4.9382_dp)
      cd = sqrt(1.0_dp - sd * sd)
      q(i) = q(i) + max(0.0_dp, slat(i) * sd + clat(i) * cd)
    end do
  end subroutine add_day

end module sky

program season
  use sky
  implicit none
  integer :: n, days, i, d
  real(dp), allocatable :: slat(:), clat(:), q(:)
  real(dp) :: lat
  character(len=16) :: arg

  n = 20000
  days = 365
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) n
  end if
  allocate (slat(n), clat(n), q(n))
  do i = 1, n
    lat = pi * (real(i, dp) / n - 0.5_dp)
    slat(i) = sin(lat)
    clat(i) = cos(lat)
    q(i) = 0.0_dp
  end do
  do d = 1, days
    call add_day(real(d, dp), slat, clat, q)
  end do
  print '(a,1x,es16.8,1x,es16.8)', 'checksum', sum(q), q(n / 3)
end program season
