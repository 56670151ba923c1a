module branching
  use iso_fortran_env, only: dp => real64
  implicit none
  private
  public :: brood, found, descend, lineage, summary

  integer, parameter, public :: block = 40

  type brood
    integer :: most = 0
    real(dp), allocatable :: chance(:)
  end type brood

  type lineage
    integer :: kinds = 0
    real(dp), allocatable :: gone(:)
  end type lineage

contains

  subroutine found(b, most, mean)
    type(brood), intent(out) :: b
    integer, intent(in) :: most
    real(dp), intent(in) :: mean
    integer :: k
    real(dp) :: ratio, scale
    b%most = most
    allocate (b%chance(0:most))
    ratio = mean/(1 + mean)
    b%chance(0) = 1 - ratio
    do k = 1, most
      b%chance(k) = b%chance(k - 1)*ratio
    end do
    scale = 1/sum(b%chance)
    b%chance = b%chance*scale
  end subroutine found

  pure subroutine generate(chance, most, z)
    integer, intent(in) :: most
    real(dp), intent(in) :: chance(0:most)
    real(dp), intent(inout) :: z(block)
    real(dp) :: s(block), g(block)
    integer :: k, l
    s = z
    g = chance(most)
    do k = most - 1, 0, -1
      !$omp simd
      do l = 1, block
        g(l) = g(l)*s(l) + chance(k)
      end do
    end do
    z = g
  end subroutine generate

  pure subroutine follow(b, z, generations)
    type(brood), intent(in) :: b
    real(dp), intent(inout) :: z(block)
    integer, intent(in) :: generations
    integer :: g
    do g = 1, generations
      call generate(b%chance, b%most, z)
    end do
  end subroutine follow

  subroutine descend(b, l, kinds, generations)
    type(brood), intent(in) :: b
    type(lineage), intent(out) :: l
    integer, intent(in) :: kinds, generations
    integer :: i, j
    real(dp) :: z(block)
    l%kinds = kinds/block*block
    allocate (l%gone(l%kinds))
    !$omp parallel do schedule(dynamic, 64) private(j, z)
    do i = 0, l%kinds - block, block
      do j = 1, block
        z(j) = real(i + j, dp)/(l%kinds + 1)
      end do
      call follow(b, z, generations)
      l%gone(i + 1:i + block) = z
    end do
  end subroutine descend

  subroutine summary(l)
    type(lineage), intent(in) :: l
    print '(a,i0)', 'kinds   ', l%kinds
    print '(a,f16.12)', 'mean    ', sum(l%gone)/l%kinds
    print '(a,f16.12)', 'least   ', minval(l%gone)
    print '(a,f16.12)', 'most    ', maxval(l%gone)
  end subroutine summary

end module branching

program kin
  use iso_fortran_env, only: dp => real64
  use branching
  implicit none
  type(brood) :: b
  type(lineage) :: l
  integer :: kinds, generations, most
  character(len=32) :: arg(3)
  integer :: k

  do k = 1, 3
    call get_command_argument(k, arg(k))
  end do
  read (arg, *) kinds, generations, most
  call found(b, most, 1.4_dp)
  call descend(b, l, kinds, generations)
  call summary(l)
end program kin
