module channel
  implicit none
  private
  integer, parameter, public :: rk = selected_real_kind(p=15, r=307)
  public :: fill_ponds, spill, settle
contains

  pure subroutine fill_ponds(h, rain)
    real(rk), intent(inout) :: h(:)
    real(rk), intent(in) :: rain
    h = h + rain
  end subroutine fill_ponds

  elemental function notch(h) result(q)
    real(rk), intent(in) :: h
    real(rk) :: q
    q = 1.38_rk * h**2.5_rk
  end function notch

  subroutine spill(h, q)
    real(rk), intent(in) :: h(:)
    real(rk), intent(out) :: q(:)
    integer :: i
    do concurrent(i=1:size(h))
      q(i) = notch(h(i))
    end do
  end subroutine spill

  subroutine settle(h, q, dt)
    real(rk), intent(inout) :: h(:)
    real(rk), intent(in) :: q(:), dt
    integer :: i, n
    n = size(h)
    h(1) = max(h(1) - dt * q(1), 0.0_rk)
    do i = 2, n
      h(i) = max(h(i) + dt * (q(i - 1) - q(i)), 0.0_rk)
    end do
  end subroutine settle

end module channel

program weir
  use channel
  implicit none
  integer :: n, steps, t, i
  real(rk), allocatable :: h(:), q(:)
  real(rk) :: outflow
  character(len=24) :: text

  n = 200000
  steps = 500
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, text)
    read (text, *) steps
  end if
  h = [(0.4_rk + 0.01_rk * mod(i, 60), i = 1, n)]
  allocate (q(n))
  outflow = 0
  do t = 1, steps
    call fill_ponds(h, 1.0e-4_rk * (1 + mod(t, 3)))
    call spill(h, q)
    call settle(h, q, 0.02_rk)
    outflow = outflow + q(n)
  end do
  print '(a,1x,es17.9,1x,es17.9)', 'checksum', outflow, sum(h)
end program weir
