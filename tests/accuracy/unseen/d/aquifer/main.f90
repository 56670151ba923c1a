! Transient drawdown in an unconfined aquifer: explicit Boussinesq update
! with pumping wells, leakage to a river and constant-head edges.
module grid_def
  implicit none
  integer, parameter :: rk = kind(1.0d0)
  type :: well_t
    integer  :: i, j
    real(rk) :: rate
  end type well_t
  type :: aquifer_t
    integer  :: nx, ny
    real(rk) :: dx, dt, porosity
    real(rk), allocatable :: head(:,:), cond(:,:)
    type(well_t), allocatable :: wells(:)
  end type aquifer_t
end module grid_def

module flow
  use grid_def
  implicit none
contains

  subroutine face_fluxes(aq, qx, qy)
    type(aquifer_t), intent(in) :: aq
    real(rk), intent(out) :: qx(aq%nx, aq%ny), qy(aq%nx, aq%ny)
    integer :: i, j
    real(rk) :: r
    r = 0.25_rk / aq%dx
    do j = 1, aq%ny - 1
      do i = 1, aq%nx - 1
        qx(i,j) = r * (aq%cond(i,j) + aq%cond(i+1,j)) * (aq%head(i,j)**2 - aq%head(i+1,j)**2)
        qy(i,j) = r * (aq%cond(i,j) + aq%cond(i,j+1)) * (aq%head(i,j)**2 - aq%head(i,j+1)**2)
      end do
    end do
  end subroutine face_fluxes

  subroutine advance(aq, recharge)
    type(aquifer_t), intent(inout) :: aq
    real(rk), intent(in) :: recharge
    real(rk) :: qx(aq%nx, aq%ny), qy(aq%nx, aq%ny)
    real(rk) :: c
    integer :: i, j, w
    call face_fluxes(aq, qx, qy)
    c = aq%dt / (aq%porosity * aq%dx)
    do j = 2, aq%ny - 1
      do i = 2, aq%nx - 1
        aq%head(i,j) = aq%head(i,j) + c * (qx(i-1,j) - qx(i,j) + qy(i,j-1) - qy(i,j) + recharge * aq%dx)
      end do
    end do
    do w = 1, size(aq%wells)
      associate (p => aq%wells(w))
        aq%head(p%i,p%j) = max(1.0_rk, aq%head(p%i,p%j) - p%rate * aq%dt / (aq%porosity * aq%dx**2))
      end associate
    end do
  end subroutine advance

  subroutine river_exchange(aq, stage, leak)
    type(aquifer_t), intent(inout) :: aq
    real(rk), intent(in)  :: stage
    real(rk), intent(out) :: leak
    integer :: i, j
    real(rk) :: dh
    leak = 0.0_rk
    do i = 2, aq%nx - 1
      j = aq%ny / 2 + nint(0.1_rk * aq%ny * sin(6.0_rk * i / aq%nx))
      dh = 0.02_rk * (stage - aq%head(i,j))
      aq%head(i,j) = aq%head(i,j) + dh
      leak = leak + dh * aq%porosity * aq%dx**2
    end do
  end subroutine river_exchange

end module flow

program aquifer
  use grid_def
  use flow
  implicit none
  type(aquifer_t) :: aq
  integer, parameter :: years = 4, steps_per_year = 25
  integer :: i, j, y, s, w
  real(rk) :: leak, total_leak, low, x

  aq%nx = 2200
  aq%ny = 2000
  aq%dx = 50.0_rk
  aq%dt = 0.2_rk
  aq%porosity = 0.18_rk
  allocate(aq%head(aq%nx, aq%ny), aq%cond(aq%nx, aq%ny))
  do j = 1, aq%ny
    do i = 1, aq%nx
      x = sin(0.011_rk * i) * cos(0.007_rk * j) + 0.5_rk * sin(0.041_rk * (i + j))
      aq%cond(i,j) = 4.0_rk * exp(0.8_rk * x)
      aq%head(i,j) = 30.0_rk + 4.0_rk * real(i, rk) / aq%nx
    end do
  end do
  allocate(aq%wells(60))
  do w = 1, size(aq%wells)
    aq%wells(w)%i = 100 + mod(w * 7919, aq%nx - 200)
    aq%wells(w)%j = 100 + mod(w * 6101, aq%ny - 200)
    aq%wells(w)%rate = 40.0_rk + 5.0_rk * mod(w, 7)
  end do

  do y = 1, years
    total_leak = 0.0_rk
    do s = 1, steps_per_year
      call advance(aq, merge(0.0012_rk, 0.0002_rk, s <= 10))
      call river_exchange(aq, 31.0_rk, leak)
      total_leak = total_leak + leak
    end do
    low = huge(low)
    do w = 1, size(aq%wells)
      low = min(low, aq%head(aq%wells(w)%i, aq%wells(w)%j))
    end do
    print '(a,i3,a,f10.5,a,f10.5,a,es14.6)', 'year', y, '  mean head', sum(aq%head) / size(aq%head), &
      '  lowest well', low, '  river leakage', total_leak
  end do
end program aquifer
