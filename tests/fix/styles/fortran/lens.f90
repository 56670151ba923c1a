module optics
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: real64, soft

  type, public :: soft
    integer :: radius = 12
    real(real64) :: width = 4.5_real64
  contains
    procedure :: pass => soft_pass
  end type soft

contains

  subroutine soft_pass(self, src, dst)
    class(soft), intent(in) :: self
    real(real64), intent(in) :: src(:, :)
    real(real64), intent(out) :: dst(:, :)
    integer :: i, j, k, p, m
    real(real64) :: acc, norm, w

    m = size(src, 1)
    do j = 1, size(src, 2)
      do i = 1, m
        acc = 0
        norm = 0
        do k = -self%radius, self%radius
          p = min(max(i + k, 1), m)
          w = exp(-0.5_real64 * (k / self%width)**2)
          acc = acc + w * src(p, j)
          norm = norm + w
        end do
        dst(i, j) = acc / norm
      end do
    end do
  end subroutine soft_pass

end module optics

program lens
  use optics
  implicit none
  type(soft) :: s
  real(real64), allocatable :: a(:, :), b(:, :)
  integer :: n, reps, i, j, r
  character(12) :: arg

  n = 1100
  reps = 5
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) n
  end if
  allocate (a(n, n), b(n, n))
  do concurrent(j=1:n, i=1:n)
    a(i, j) = mod(i * 31 + j * 17, 256)
  end do
  do r = 1, reps
    s%width = 3.5_real64 + 0.5_real64 * r
    call s%pass(a, b)
    call s%pass(b, a)
  end do
  print '("checksum ", es20.10, 1x, es20.10)', sum(a), a(n / 2, n / 3)
end program lens
