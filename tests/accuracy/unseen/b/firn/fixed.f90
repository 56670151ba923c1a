module glacier
  use iso_fortran_env, only: dp => real64
  implicit none
  private
  public :: sheet, lay_down, compact, settle, conduct, summary

  type sheet
    integer :: nx = 0, nz = 0
    real(dp), allocatable :: rho(:, :), temp(:, :), rate(:, :), work(:, :)
  end type sheet

  real(dp), parameter :: solid = 917.0_dp

contains

  subroutine lay_down(s, nx, nz)
    type(sheet), intent(out) :: s
    integer, intent(in) :: nx, nz
    integer :: i, k
    s%nx = nx
    s%nz = nz
    allocate (s%rho(nz, nx), s%temp(nz, nx), s%rate(nz, nx), s%work(nz, nx))
    !$omp parallel do private(k)
    do i = 1, nx
      do k = 1, nz
        s%rho(k, i) = 320 + 580*real(k, dp)/nz + 15*sin(0.05_dp*i)
        s%temp(k, i) = 240 + 12*cos(0.02_dp*i) + 0.01_dp*k
        s%rate(k, i) = 0
        s%work(k, i) = 0
      end do
    end do
  end subroutine lay_down

  subroutine compact(s, snow)
    type(sheet), intent(inout) :: s
    real(dp), intent(in) :: snow
    integer :: i, k
    !$omp parallel do private(k)
    do i = 1, s%nx
      do k = 1, s%nz
        associate (rho => s%rho(k, i), temp => s%temp(k, i))
          if (rho < 550.0_dp) then
            s%rate(k, i) = 11.0_dp*snow*(solid - rho)/(1 + 21.4_dp*sqrt(273.15_dp/temp)/(1 + sqrt(rho)))
          else if (rho < 830.0_dp) then
            s%rate(k, i) = 575.0_dp*sqrt(snow)*(solid - rho)/(40 + sqrt(temp*rho) + rho**2/temp)
          else
            s%rate(k, i) = 0.2_dp*(solid - rho)*sqrt(solid/rho - 0.9_dp)/(1 + sqrt(temp))
          end if
        end associate
      end do
    end do
  end subroutine compact

  subroutine settle(s, dt)
    type(sheet), intent(inout) :: s
    real(dp), intent(in) :: dt
    integer :: i, k
    !$omp parallel do private(k)
    do i = 1, s%nx
      do k = 1, s%nz
        s%rho(k, i) = min(s%rho(k, i) + dt*s%rate(k, i), solid)
      end do
    end do
  end subroutine settle

  subroutine conduct(s, dt)
    type(sheet), intent(inout) :: s
    real(dp), intent(in) :: dt
    integer :: i, k
    !$omp parallel do private(k)
    do i = 1, s%nx
      do k = 2, s%nz - 1
        s%work(k, i) = s%temp(k + 1, i) - 2*s%temp(k, i) + s%temp(k - 1, i)
      end do
      do k = 2, s%nz - 1
        s%temp(k, i) = s%temp(k, i) + dt*s%work(k, i)
      end do
    end do
  end subroutine conduct

  subroutine summary(s)
    type(sheet), intent(in) :: s
    print '(a,f18.10)', 'density ', sum(s%rho)/size(s%rho)
    print '(a,f18.10)', 'warmth  ', sum(s%temp)/size(s%temp)
    print '(a,i0)', 'closed  ', count(s%rho >= 830.0_dp)
  end subroutine summary

end module glacier

program firn
  use iso_fortran_env, only: dp => real64
  use glacier
  implicit none
  type(sheet) :: s
  integer :: nx, nz, years, y
  real(dp) :: snow
  character(len=32) :: arg(3)

  do y = 1, 3
    call get_command_argument(y, arg(y))
  end do
  read (arg, *) nx, nz, years
  call lay_down(s, nx, nz)
  do y = 1, years
    snow = 0.2_dp + 0.1_dp*mod(y, 5)
    call compact(s, snow)
    call settle(s, 0.004_dp)
    call conduct(s, 0.2_dp)
  end do
  call summary(s)
end program firn
