module atmosphere
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: state
     integer :: nx = 0, ny = 0, nz = 0
     real(dp), allocatable :: humidity(:,:,:)
     real(dp), allocatable :: thickness(:,:,:)
     real(dp), allocatable :: path(:,:)
  end type state
contains

  subroutine prepare(a, nx, ny, nz)
    type(state), intent(inout) :: a
    integer, intent(in) :: nx, ny, nz
    integer :: i, j, k
    real(dp) :: h
    a%nx = nx
    a%ny = ny
    a%nz = nz
    allocate (a%humidity(nx, ny, nz), a%thickness(nx, ny, nz), a%path(nx, ny))
    do k = 1, nz
       h = 0.018_dp * (1.0_dp - real(k, dp) / (nz + 1))**3
       do j = 1, ny
          do i = 1, nx
             a%humidity(i, j, k) = h * (1.0_dp + 0.1_dp * mod(i * 7 + j * 3, 11))
             a%thickness(i, j, k) = 1000.0_dp + 2.0_dp * mod(i + j + k, 5)
          end do
       end do
    end do
    a%path = 0.0_dp
  end subroutine prepare

  pure function layer(q, dz) result(w)
    real(dp), intent(in) :: q, dz
    real(dp) :: w
    w = max(q, 0.0_dp) * dz / 9.80665_dp
  end function layer

  pure function column(a, i, j) result(w)
    type(state), intent(in) :: a
    integer, intent(in) :: i, j
    real(dp) :: w
    integer :: k
    w = 0.0_dp
    do k = 1, a%nz
       w = w + layer(a%humidity(i, j, k), a%thickness(i, j, k))
    end do
  end function column

  subroutine integrate_paths(a)
    type(state), intent(inout) :: a
    integer :: i, j
    do j = 1, a%ny
       do i = 1, a%nx
          a%path(i, j) = column(a, i, j)
       end do
    end do
  end subroutine integrate_paths

  subroutine rain_out(a, limit)
    type(state), intent(inout) :: a
    real(dp), intent(in) :: limit
    integer :: j
    do j = 1, a%ny
       where (a%path(:, j) > limit)
          a%humidity(:, j, 1) = 0.97_dp * a%humidity(:, j, 1)
          a%humidity(:, j, 2) = 0.98_dp * a%humidity(:, j, 2)
       end where
    end do
  end subroutine rain_out

  subroutine summary(a, step)
    type(state), intent(in) :: a
    integer, intent(in) :: step
    print '(a,i4,a,f14.8,a,f14.8)', 'step', step, ' mean ', &
         sum(a%path) / (a%nx * a%ny), ' peak ', maxval(a%path)
  end subroutine summary
end module atmosphere

program vapour
  use atmosphere
  implicit none
  type(state) :: a
  integer :: n, nz, steps, t
  character(len=16) :: arg
  call get_command_argument(1, arg)
  read (arg, *) n
  call get_command_argument(2, arg)
  read (arg, *) nz
  call get_command_argument(3, arg)
  read (arg, *) steps
  call prepare(a, n, n, nz)
  do t = 1, steps
     call integrate_paths(a)
     call rain_out(a, 45.0_dp)
     if (mod(t, 5) == 0) call summary(a, t)
  end do
end program vapour
