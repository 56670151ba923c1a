module soil
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: field
    integer :: nx = 0, nz = 0
    real(dp), allocatable :: theta(:, :)
    real(dp), allocatable :: k(:)
  end type field
contains

  subroutine setup(f, nx, nz)
    type(field), intent(inout) :: f
    integer, intent(in) :: nx, nz
    integer :: i, j
    f%nx = nx
    f%nz = nz
    allocate (f%theta(nx, nz), f%k(nz))
    do j = 1, nz
      f%k(j) = 0.10_dp + 0.05_dp*real(j, dp)/real(nz, dp)
      do i = 1, nx
        f%theta(i, j) = 0.2_dp + 0.1_dp*real(mod(i*7 + j*13, 101), dp)/101.0_dp
      end do
    end do
  end subroutine setup

  subroutine horizontal(f, dt)
    type(field), intent(inout) :: f
    real(dp), intent(in) :: dt
    real(dp), allocatable, save :: flux(:, :)
    integer :: i, j
    if (.not. allocated(flux)) allocate (flux(f%nx, f%nz))
    do j = 1, f%nz
      do i = 1, f%nx - 1
        flux(i, j) = f%k(j)*(f%theta(i, j) - f%theta(i + 1, j))
      end do
      flux(f%nx, j) = 0.0_dp
    end do
    do j = 1, f%nz
      f%theta(1, j) = f%theta(1, j) - dt*flux(1, j)
      do i = 2, f%nx
        f%theta(i, j) = f%theta(i, j) + dt*(flux(i - 1, j) - flux(i, j))
      end do
    end do
  end subroutine horizontal

  subroutine rain(f, step)
    type(field), intent(inout) :: f
    integer, intent(in) :: step
    integer :: i
    do i = 1, f%nx
      f%theta(i, 1) = min(0.45_dp, f%theta(i, 1) + 0.001_dp*real(mod(step + i, 3), dp))
    end do
  end subroutine rain

  subroutine drain(f, dt)
    type(field), intent(inout) :: f
    real(dp), intent(in) :: dt
    real(dp) :: q
    integer :: i, j
    do j = f%nz - 1, 1, -1
      do i = 1, f%nx
        q = dt*f%k(j)*max(0.0_dp, f%theta(i, j) - 0.25_dp)
        f%theta(i, j) = f%theta(i, j) - q
        f%theta(i, j + 1) = f%theta(i, j + 1) + q
      end do
    end do
  end subroutine drain

  function storage(f) result(total)
    type(field), intent(in) :: f
    real(dp) :: total
    integer :: j
    total = 0.0_dp
    do j = 1, f%nz
      total = total + sum(f%theta(:, j))
    end do
  end function storage
end module soil

program column
  use soil
  implicit none
  type(field) :: f
  integer :: nx, nz, steps, s
  character(len=32) :: arg
  nx = 3000
  nz = 2000
  steps = 40
  if (command_argument_count() >= 3) then
    call get_command_argument(1, arg)
    read (arg, *) nx
    call get_command_argument(2, arg)
    read (arg, *) nz
    call get_command_argument(3, arg)
    read (arg, *) steps
  end if
  call setup(f, nx, nz)
  do s = 1, steps
    call rain(f, s)
    call horizontal(f, 0.5_dp)
    if (mod(s, 5) == 0) call drain(f, 2.5_dp)
    if (mod(s, 10) == 0) print '(a,i6,a,es18.10)', 'step', s, ' storage', storage(f)
  end do
  print '(a,es18.10)', 'corner', f%theta(nx, nz)
end program column
