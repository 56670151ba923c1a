module sky
  implicit none
  private
  integer, parameter, public :: dp = kind(1.0d0)
  public :: atmosphere, create, advance, digest

  type :: atmosphere
    integer :: nx = 0, ny = 0, nz = 0
    real(dp), allocatable :: warmth(:,:,:), smoke(:,:,:), ground(:,:)
  end type atmosphere

contains

  subroutine create(air, nx, ny, nz, seed)
    type(atmosphere), intent(out) :: air
    integer, intent(in) :: nx, ny, nz, seed
    integer :: i, j, k, r
    air%nx = nx
    air%ny = ny
    air%nz = nz
    allocate (air%warmth(nx, ny, nz), air%smoke(nx, ny, nz), air%ground(nx, ny))
    r = modulo(seed, 30000) + 1
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          r = modulo(r*171 + 11, 30269)
          air%warmth(i, j, k) = 15.0_dp - 0.4_dp*k + 0.1_dp*modulo(i + 2*j, 9)
          air%smoke(i, j, k) = 1.0e-4_dp*r
        end do
      end do
    end do
    air%ground = 0.0_dp
  end subroutine create

  subroutine diffuse(nx, nz, t, s, fresh)
    integer, intent(in) :: nx, nz
    real(dp), contiguous, intent(inout) :: t(:,:,:)
    real(dp), contiguous, intent(in) :: s(:,:,:), fresh(:,:)
    real(dp) :: upper(nx, nz), right(nx, nz), kappa, pivot
    integer :: i, j, k
    do j = 1, size(t, 2)
      upper(:, 1) = 0.0_dp
      right(:, 1) = t(:, j, 1) + 0.01_dp*fresh(:, j)
      do k = 2, nz
        do i = 1, nx
          kappa = 0.2_dp + 0.6_dp/(1.0_dp + s(i, j, k))
          pivot = 1.0_dp/(1.0_dp + kappa*(2.0_dp - upper(i, k - 1)))
          upper(i, k) = kappa*pivot
          right(i, k) = (t(i, j, k) + kappa*right(i, k - 1))*pivot
        end do
      end do
      t(:, j, nz) = right(:, nz)
      do k = nz - 1, 1, -1
        do i = 1, nx
          t(i, j, k) = right(i, k) + upper(i, k)*t(i, j, k + 1)
        end do
      end do
    end do
  end subroutine diffuse

  subroutine sink_and_shine(nx, nz, t, s, fallen)
    integer, intent(in) :: nx, nz
    real(dp), contiguous, intent(inout) :: t(:,:,:), s(:,:,:), fallen(:,:)
    real(dp) :: drop, above(nx), depth(nx)
    integer :: i, j, k
    depth = 0.0_dp
    do j = 1, size(t, 2)
      above = 0.0_dp
      do k = nz, 1, -1
        do i = 1, nx
          drop = s(i, j, k)*(0.04_dp + 0.0005_dp*abs(t(i, j, k)))
          s(i, j, k) = s(i, j, k) - drop + above(i)
          above(i) = drop
          depth(i) = depth(i) + 0.03_dp*s(i, j, k)
          t(i, j, k) = t(i, j, k) + 0.08_dp*s(i, j, k)/(1.0_dp + depth(i)) - 0.01_dp*(t(i, j, k) + 20.0_dp)
        end do
      end do
      fallen(:, j) = fallen(:, j) + above
    end do
  end subroutine sink_and_shine

  subroutine advance(air)
    type(atmosphere), intent(inout) :: air
    call diffuse(air%nx, air%nz, air%warmth, air%smoke, air%ground)
    call sink_and_shine(air%nx, air%nz, air%warmth, air%smoke, air%ground)
  end subroutine advance

  function digest(air) result(s)
    type(atmosphere), intent(in) :: air
    real(dp) :: s(3)
    integer :: i, j
    s = 0.0_dp
    do j = 1, air%ny
      do i = 1, air%nx
        s(1) = s(1) + air%ground(i, j)*modulo(i + 3*j, 8)
        s(2) = s(2) + air%warmth(i, j, 1 + modulo(i + j, air%nz))
      end do
    end do
    s(3) = sum(air%smoke)
  end function digest

end module sky
