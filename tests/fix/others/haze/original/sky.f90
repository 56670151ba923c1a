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

  subroutine diffuse(t, s, fresh)
    real(dp), intent(inout) :: t(:)
    real(dp), intent(in) :: s(:), fresh
    real(dp) :: upper(size(t)), right(size(t)), kappa, pivot
    integer :: k, n
    n = size(t)
    upper(1) = 0.0_dp
    right(1) = t(1) + fresh
    do k = 2, n
      kappa = 0.2_dp + 0.6_dp/(1.0_dp + s(k))
      pivot = 1.0_dp/(1.0_dp + kappa*(2.0_dp - upper(k - 1)))
      upper(k) = kappa*pivot
      right(k) = (t(k) + kappa*right(k - 1))*pivot
    end do
    t(n) = right(n)
    do k = n - 1, 1, -1
      t(k) = right(k) + upper(k)*t(k + 1)
    end do
  end subroutine diffuse

  subroutine sink(t, s, fallen)
    real(dp), intent(in) :: t(:)
    real(dp), intent(inout) :: s(:), fallen
    real(dp) :: drop, above
    integer :: k
    above = 0.0_dp
    do k = size(s), 1, -1
      drop = s(k)*(0.04_dp + 0.0005_dp*abs(t(k)))
      s(k) = s(k) - drop + above
      above = drop
    end do
    fallen = fallen + above
  end subroutine sink

  subroutine shine(t, s)
    real(dp), intent(inout) :: t(:)
    real(dp), intent(in) :: s(:)
    real(dp) :: depth
    integer :: k
    depth = 0.0_dp
    do k = size(t), 1, -1
      depth = depth + 0.03_dp*s(k)
      t(k) = t(k) + 0.08_dp*s(k)/(1.0_dp + depth) - 0.01_dp*(t(k) + 20.0_dp)
    end do
  end subroutine shine

  subroutine advance(air)
    type(atmosphere), intent(inout) :: air
    integer :: i, j
    do j = 1, air%ny
      do i = 1, air%nx
        call diffuse(air%warmth(i, j, :), air%smoke(i, j, :), 0.01_dp*air%ground(i, j))
        call sink(air%warmth(i, j, :), air%smoke(i, j, :), air%ground(i, j))
        call shine(air%warmth(i, j, :), air%smoke(i, j, :))
      end do
    end do
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
