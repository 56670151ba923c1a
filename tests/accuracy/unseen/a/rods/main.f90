module rod_mod
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: rod_type
    real(dp) :: alpha
    real(dp) :: left
    real(dp) :: right
  end type rod_type
contains

  subroutine make_rods(rods)
    type(rod_type), intent(out) :: rods(:)
    integer :: r
    do r = 1, size(rods)
      rods(r)%alpha = 0.10_dp + 0.30_dp * real(mod(r * 37, 101), dp) / 101.0_dp
      rods(r)%left = 300.0_dp + real(mod(r, 17), dp)
      rods(r)%right = 280.0_dp + real(mod(r * 5, 23), dp)
    end do
  end subroutine make_rods

  subroutine initial_profile(rod, u)
    type(rod_type), intent(in) :: rod
    real(dp), intent(out) :: u(:)
    integer :: i, n
    n = size(u)
    do i = 1, n
      u(i) = rod%left + (rod%right - rod%left) * real(i - 1, dp) / real(n - 1, dp)
      u(i) = u(i) + 15.0_dp * sin(0.05_dp * real(i, dp))
    end do
    u(1) = rod%left
    u(n) = rod%right
  end subroutine initial_profile

  subroutine diffuse(alpha, u, v)
    real(dp), intent(in) :: alpha
    real(dp), intent(in) :: u(:)
    real(dp), intent(out) :: v(:)
    integer :: i, n
    n = size(u)
    !$omp parallel do
    do i = 2, n - 1
      v(i) = u(i) + alpha * (u(i - 1) - 2.0_dp * u(i) + u(i + 1))
    end do
    !$omp end parallel do
    v(1) = u(1)
    v(n) = u(n)
  end subroutine diffuse

  subroutine evolve(rod, n, steps, midpoint, mean)
    type(rod_type), intent(in) :: rod
    integer, intent(in) :: n, steps
    real(dp), intent(out) :: midpoint, mean
    real(dp) :: u(n), v(n)
    integer :: s
    call initial_profile(rod, u)
    do s = 1, steps
      call diffuse(rod%alpha, u, v)
      call diffuse(rod%alpha, v, u)
    end do
    midpoint = u(n / 2)
    mean = sum(u) / real(n, dp)
  end subroutine evolve

  subroutine survey(rods, n, steps, midpoint, mean)
    type(rod_type), intent(in) :: rods(:)
    integer, intent(in) :: n, steps
    real(dp), intent(out) :: midpoint(:), mean(:)
    integer :: r
    do r = 1, size(rods)
      call evolve(rods(r), n, steps, midpoint(r), mean(r))
    end do
  end subroutine survey

end module rod_mod

program main
  use rod_mod
  implicit none
  integer :: nrods, n, steps, k
  character(len=32) :: arg
  type(rod_type), allocatable :: rods(:)
  real(dp), allocatable :: midpoint(:), mean(:)

  nrods = 200
  n = 300
  steps = 1000
  if (command_argument_count() >= 3) then
    call get_command_argument(1, arg)
    read (arg, *) nrods
    call get_command_argument(2, arg)
    read (arg, *) n
    call get_command_argument(3, arg)
    read (arg, *) steps
  end if
  allocate (rods(nrods), midpoint(nrods), mean(nrods))
  call make_rods(rods)
  call survey(rods, n, steps, midpoint, mean)
  do k = 1, nrods, max(1, nrods / 5)
    write (*, '(a,i5,2f14.8)') 'rod ', k, midpoint(k), mean(k)
  end do
  write (*, '(a,f16.8)') 'all ', sum(mean) / real(nrods, dp)
end program main
