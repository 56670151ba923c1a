module ground
  implicit none
  integer, parameter :: dp = kind(1.0d0), i8 = selected_int_kind(18)

  type :: bed
    real(dp) :: thickness, speed, pore
  end type bed

  type :: place
    real(dp) :: x, y
  end type place

  type :: shot
    type(place) :: at
    real(dp) :: onset, charge
  end type shot

  type :: echo
    real(dp) :: late, size_of
  end type echo

  integer(i8), private :: state = 12345_i8

contains

  subroutine seed_with(s)
    integer, intent(in) :: s
    state = mod(int(s, i8) * 7919_i8 + 12345_i8, 2147483647_i8)
    if (state <= 0) state = 1
  end subroutine seed_with

  real(dp) function uniform(a, b)
    real(dp), intent(in) :: a, b
    state = mod(state * 16807_i8, 2147483647_i8)
    uniform = a + (b - a) * real(state, dp) / 2147483647.0_dp
  end function uniform

  pure real(dp) function reflection_time(beds, offset) result(t)
    type(bed), intent(in) :: beds(:)
    real(dp), intent(in) :: offset
    real(dp) :: depth
    integer :: k
    depth = sum(beds%thickness)
    t = 0.0_dp
    do k = 1, size(beds)
      t = t + 2.0_dp * sqrt(beds(k)%thickness**2 + (0.5_dp * offset * beds(k)%thickness / depth)**2) / beds(k)%speed
    end do
  end function reflection_time

  pure real(dp) function passed(beds) result(p)
    type(bed), intent(in) :: beds(:)
    integer :: k
    p = 1.0_dp
    do k = 2, size(beds)
      p = p * 4.0_dp * beds(k - 1)%speed * beds(k)%speed / (beds(k - 1)%speed + beds(k)%speed)**2
    end do
  end function passed

  pure real(dp) function wavelet(t)
    real(dp), intent(in) :: t
    real(dp) :: a
    a = (94.0_dp * t)**2
    wavelet = 0.0_dp
    if (a < 60.0_dp) wavelet = (1.0_dp - 2.0_dp * a) * exp(-a)
  end function wavelet

  pure type(echo) function echo_of(beds, s, p) result(e)
    type(bed), intent(in) :: beds(:)
    type(shot), intent(in) :: s
    type(place), intent(in) :: p
    real(dp) :: offset
    offset = hypot(p%x - s%at%x, p%y - s%at%y)
    e%late = reflection_time(beds, offset)
    e%size_of = s%charge * passed(beds) / (1.0_dp + e%late)
  end function echo_of

  pure real(dp) function motion(e, s, t)
    type(echo), intent(in) :: e
    type(shot), intent(in) :: s
    real(dp), intent(in) :: t
    motion = e%size_of * wavelet(t - s%onset - e%late)
  end function motion

  subroutine soak(beds)
    type(bed), intent(inout) :: beds(:)
    integer :: k
    do k = 1, size(beds)
      beds(k)%pore = beds(k)%pore * (1.0_dp + 0.3_dp / k)
      beds(k)%speed = beds(k)%speed * (1.0_dp + 0.05_dp * beds(k)%pore)
    end do
  end subroutine soak

end module ground
