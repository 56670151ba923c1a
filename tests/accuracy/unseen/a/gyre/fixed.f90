module basin
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: ocean
    integer :: nx, ny, nz
    integer, allocatable :: floor(:,:)
    real(dp), allocatable :: depth(:)
    real(dp), allocatable :: temp(:,:,:)
    real(dp), allocatable :: salt(:,:,:)
  end type ocean
contains
  subroutine build(o, nx, ny, nz)
    type(ocean), intent(out) :: o
    integer, intent(in) :: nx, ny, nz
    integer :: i, j, k
    real(dp) :: north
    o%nx = nx
    o%ny = ny
    o%nz = nz
    allocate(o%floor(nx, ny), o%depth(nz), o%temp(nz, nx, ny), o%salt(nz, nx, ny))
    do k = 1, nz
      o%depth(k) = 5.0_dp + 0.15_dp * k
    end do
    do j = 1, ny
      north = real(j, dp) / ny
      do i = 1, nx
        o%floor(i, j) = bottom(nz, north, i)
        do k = 1, nz
          o%temp(k, i, j) = 2.0_dp + (22.0_dp - 14.0_dp * north) / (1.0_dp + 0.1_dp * k) &
                            + 0.01_dp * mod(i * 7 + j * 13 + k, 17)
          o%salt(k, i, j) = 34.0_dp + 0.02_dp * k + 0.005_dp * mod(i * 3 + j * 5, 11)
        end do
      end do
    end do
  end subroutine build

  pure integer function bottom(nz, north, i)
    integer, intent(in) :: nz, i
    real(dp), intent(in) :: north
    real(dp) :: d
    d = 0.06_dp + 0.9_dp * max(0.0_dp, min(1.0_dp, (north - 0.42_dp) * 6.0_dp))
    bottom = max(3, min(nz, int(d * nz) + mod(i * 11, 5) - 2))
  end function bottom
end module basin

module mixing
  use basin, only: dp, ocean
  implicit none
  integer, parameter :: deepest = 128
contains
  pure function diffusivity(n, t, s) result(kv)
    integer, intent(in) :: n
    real(dp), intent(in) :: t(:), s(:)
    real(dp) :: kv(deepest)
    real(dp) :: r
    integer :: k
    do k = 1, n - 1
      r = 0.17_dp * (t(k) - t(k + 1)) + 0.78_dp * (s(k + 1) - s(k))
      kv(k) = 1.0e-3_dp + 5.0e-2_dp / (1.0_dp + 25.0_dp * r * r)
    end do
  end function diffusivity

  pure subroutine solve(n, dz, kv, dt, q)
    integer, intent(in) :: n
    real(dp), intent(in) :: dz(:), kv(:), dt
    real(dp), intent(inout) :: q(:)
    real(dp) :: c(deepest), up, dn, b
    integer :: k
    up = 0.0_dp
    do k = 1, n
      dn = 0.0_dp
      if (k < n) dn = dt * kv(k) / (dz(k) * dz(k))
      b = 1.0_dp + up + dn
      if (k > 1) then
        b = b - up * c(k - 1)
        q(k) = (q(k) + up * q(k - 1)) / b
      else
        q(k) = q(k) / b
      end if
      c(k) = dn / b
      up = dn
    end do
    do k = n - 1, 1, -1
      q(k) = q(k) + c(k) * q(k + 1)
    end do
  end subroutine solve

  pure subroutine mix(n, dz, dt, t, s)
    integer, intent(in) :: n
    real(dp), intent(in) :: dz(:), dt
    real(dp), intent(inout) :: t(:), s(:)
    real(dp) :: kv(deepest)
    kv = diffusivity(n, t, s)
    call solve(n, dz, kv, dt, t)
    call solve(n, dz, kv, dt, s)
  end subroutine mix

  subroutine advance(o, dt, flux)
    type(ocean), intent(inout) :: o
    real(dp), intent(in) :: dt, flux
    integer :: i, j
    !$omp parallel do private(i) schedule(dynamic, 2)
    do j = 1, o%ny
      do i = 1, o%nx
        o%temp(1, i, j) = o%temp(1, i, j) + flux * dt
        call mix(o%floor(i, j), o%depth, dt, o%temp(:, i, j), o%salt(:, i, j))
      end do
    end do
    !$omp end parallel do
  end subroutine advance
end module mixing

program gyre
  use basin
  use mixing
  implicit none
  type(ocean) :: o
  integer :: step, steps
  real(dp) :: flux
  character(len=32) :: arg
  steps = 60
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) steps
  end if
  call build(o, 320, 160, 64)
  do step = 1, steps
    flux = 1.0e-6_dp * (mod(step, 24) - 11.5_dp)
    call advance(o, 1800.0_dp, flux)
  end do
  print '(a,f14.8,a,f14.8)', 'temperature ', sum(o%temp) / size(o%temp), ' salinity ', sum(o%salt) / size(o%salt)
end program gyre
