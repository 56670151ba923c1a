module ground
  use iso_fortran_env, only: int64
  implicit none
  integer, parameter :: r8 = selected_real_kind(15)
  real(r8), parameter :: year = 400.0_r8, two_pi = 6.283185307179586_r8

contains

  subroutine start_column(layers, base, warmth, moist)
    integer, intent(in) :: layers
    real(r8), intent(in) :: base
    real(r8), intent(out) :: warmth(layers), moist(layers)
    integer :: k
    do k = 1, layers
      warmth(k) = base + 2.0_r8 * exp(-0.1_r8 * k)
      moist(k) = 0.3_r8 + 0.2_r8 * sin(0.7_r8 * k + base)
    end do
  end subroutine start_column

  subroutine conduct(layers, moist, warmth, lambda)
    integer, intent(in) :: layers
    real(r8), intent(in) :: moist(layers), warmth(layers)
    real(r8), intent(out) :: lambda(layers)
    integer :: k
    do k = 1, layers
      lambda(k) = 0.1_r8 + 0.3_r8 * moist(k) + 0.1_r8 * moist(k) / (1.0_r8 + warmth(k)**2)
    end do
  end subroutine conduct

  subroutine exchange(layers, air, warmth, lambda, flux)
    integer, intent(in) :: layers
    real(r8), intent(in) :: air, warmth(layers), lambda(layers)
    real(r8), intent(out) :: flux(0:layers)
    integer :: k
    flux(0) = 2.0_r8 * lambda(1) * (air - warmth(1))
    flux(layers) = 0.002_r8
    do k = 1, layers - 1
      flux(k) = 2.0_r8 * lambda(k) * lambda(k + 1) / (lambda(k) + lambda(k + 1)) * (warmth(k) - warmth(k + 1))
    end do
  end subroutine exchange

  subroutine heat(layers, moist, flux, warmth, frozen)
    integer, intent(in) :: layers
    real(r8), intent(in) :: moist(layers), flux(0:layers)
    real(r8), intent(inout) :: warmth(layers)
    integer, intent(inout) :: frozen
    integer :: k
    do k = 1, layers
      warmth(k) = warmth(k) + (flux(k - 1) - flux(k)) / (1.0_r8 + 1.5_r8 * moist(k))
      if (warmth(k) < 0.0_r8) frozen = frozen + 1
    end do
  end subroutine heat

  subroutine simulate(layers, steps, base, store, frozen)
    integer, intent(in) :: layers, steps
    real(r8), intent(in) :: base
    real(r8), intent(out) :: store
    integer, intent(out) :: frozen
    real(r8) :: moist(layers), warmth(layers), lambda(layers), flux(0:layers), air
    real(r8) :: gain = 0
    integer :: t
    call start_column(layers, base, warmth, moist)
    frozen = 0
    do t = 1, steps
      air = base + 12.0_r8 * sin(two_pi * t / year)
      call conduct(layers, moist, warmth, lambda)
      call exchange(layers, air, warmth, lambda, flux)
      call heat(layers, moist, flux, warmth, frozen)
      if (mod(t, 50) == 0) gain = gain + sum(warmth * moist)
    end do
    store = gain + warmth(layers) + warmth(1)
  end subroutine simulate

end module ground

program peat
  use ground
  implicit none
  integer :: columns, layers, steps, c, ios
  integer(int64) :: seed, state, total
  integer, allocatable :: frozen(:)
  real(r8), allocatable :: base(:), store(:)
  character(len=24) :: arg(4)
  arg = ['40  ', '64  ', '8000', '3   ']
  do c = 1, command_argument_count()
    call get_command_argument(c, arg(c))
  end do
  read (arg(1), *, iostat=ios) columns
  read (arg(2), *, iostat=ios) layers
  read (arg(3), *, iostat=ios) steps
  read (arg(4), *, iostat=ios) seed
  allocate (base(columns), store(columns), frozen(columns))
  state = mod(abs(seed), 1000003_int64) + 1
  do c = 1, columns
    state = mod(state * 48271_int64, 2147483647_int64)
    base(c) = -4.0_r8 + 6.0_r8 * real(state, r8) / 2147483647.0_r8
  end do
  !$omp parallel do schedule(dynamic)
  do c = 1, columns
    call simulate(layers, steps, base(c), store(c), frozen(c))
  end do
  !$omp end parallel do
  total = sum(int(frozen, int64))
  write (*, '(a,i0)') 'frozen ', total
  write (*, '(a,2es20.11)') 'checksum ', sum(abs(store)), maxval(store)
end program peat
