module soil_state
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: soil_t
    integer :: ncol = 0, nlev = 0
    real(dp), allocatable :: theta(:,:), cond(:,:), gam(:,:)
    real(dp), allocatable :: dz(:), rain(:)
  end type soil_t
contains
  subroutine soil_init(s, ncol, nlev)
    type(soil_t), intent(out) :: s
    integer, intent(in) :: ncol, nlev
    integer :: i, k
    s%ncol = ncol
    s%nlev = nlev
    allocate(s%theta(ncol,nlev), s%cond(ncol,nlev), s%gam(ncol,nlev))
    allocate(s%dz(nlev), s%rain(ncol))
    do k = 1, nlev
      s%dz(k) = 0.02_dp + 0.004_dp*k
    end do
    !$omp parallel do private(k)
    do i = 1, ncol
      s%rain(i) = 0.001_dp*mod(i*37, 101)/101.0_dp
    end do
    !$omp end parallel do
    do k = 1, nlev
      !$omp parallel do
      do i = 1, ncol
        s%theta(i,k) = 0.15_dp + 0.1_dp*mod(i + 13*k, 97)/97.0_dp
        s%cond(i,k) = 0.3_dp + 0.2_dp*mod(3*i + 7*k, 89)/89.0_dp
        s%gam(i,k) = 0.0_dp
      end do
      !$omp end parallel do
    end do
  end subroutine soil_init

  subroutine soil_report(s, step)
    type(soil_t), intent(in) :: s
    integer, intent(in) :: step
    real(dp) :: total
    integer :: i, k
    total = 0.0_dp
    do k = 1, s%nlev
      do i = 1, s%ncol
        total = total + s%theta(i,k)*s%dz(k)
      end do
    end do
    print '(a,i5,a,es22.14)', 'step ', step, '  storage ', total
  end subroutine soil_report
end module soil_state

module soil_physics
  use soil_state
  implicit none
contains
  subroutine infiltrate(s, dt)
    type(soil_t), intent(inout) :: s
    real(dp), intent(in) :: dt
    integer :: i
    !$omp parallel do
    do i = 1, s%ncol
      s%theta(i,1) = s%theta(i,1) + dt*s%rain(i)*(0.45_dp - s%theta(i,1))
    end do
    !$omp end parallel do
  end subroutine infiltrate

  subroutine redistribute(s, dt)
    type(soil_t), intent(inout) :: s
    real(dp), intent(in) :: dt
    integer :: i, k, n
    real(dp) :: lo, up, den
    n = s%nlev
    !$omp parallel do private(k, lo, up, den) schedule(static)
    do i = 1, s%ncol
      up = dt*s%cond(i,1)/s%dz(1)
      den = 1.0_dp/(1.0_dp + up)
      s%gam(i,1) = up*den
      s%theta(i,1) = s%theta(i,1)*den
      do k = 2, n
        lo = dt*s%cond(i,k-1)/s%dz(k)
        up = dt*s%cond(i,k)/s%dz(k)
        den = 1.0_dp/(1.0_dp + lo + up - lo*s%gam(i,k-1))
        s%gam(i,k) = up*den
        s%theta(i,k) = (s%theta(i,k) + lo*s%theta(i,k-1))*den
      end do
      do k = n - 1, 1, -1
        s%theta(i,k) = s%theta(i,k) + s%gam(i,k)*s%theta(i,k+1)
      end do
    end do
    !$omp end parallel do
  end subroutine redistribute
end module soil_physics

program aquifer
  use soil_state
  use soil_physics
  implicit none
  type(soil_t) :: soil
  integer :: nsteps, step
  character(len=32) :: arg
  nsteps = 20
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) nsteps
  end if
  call soil_init(soil, 65536, 60)
  do step = 1, nsteps
    call infiltrate(soil, 0.05_dp)
    call redistribute(soil, 0.05_dp)
    if (mod(step, 10) == 0) call soil_report(soil, step)
  end do
end program aquifer
