! Mineral identification in a hyperspectral strip: every pixel is compared
! with a reference library on its diagnostic bands; the best match is counted.
module signatures
  implicit none
  private
  integer, parameter, public :: nband = 420, ndiag = 12
  type, public :: signature
    character(len=16) :: name = ' '
    integer :: class = 0
    real :: refl(nband) = 0.0
    integer :: diag(ndiag) = 0
    real :: weight(ndiag) = 0.0
  end type signature
  type, public :: library
    integer :: n = 0
    type(signature), allocatable :: item(:)
  contains
    procedure :: build
    procedure :: get
  end type library
  public :: uniform

contains

  real function uniform(s)
    integer, intent(inout) :: s
    s = iand(s * 1103 + 12345, 1048575)
    uniform = real(s) / 1048576.0
  end function uniform

  subroutine build(self, n)
    class(library), intent(inout) :: self
    integer, intent(in) :: n
    integer :: i, b, k, s
    real :: centre(4), depth(4), width(4), x
    s = 4242
    self%n = n
    allocate(self%item(n))
    do i = 1, n
      write(self%item(i)%name, '(a,i4.4)') 'ref-', i
      self%item(i)%class = 1 + mod(i - 1, 9)
      do k = 1, 4
        centre(k) = 420.0 * uniform(s)
        depth(k) = 0.1 + 0.3 * uniform(s)
        width(k) = 6.0 + 20.0 * uniform(s)
      end do
      do b = 1, nband
        x = 0.75 + 0.0003 * b
        do k = 1, 4
          x = x - depth(k) * exp(-((b - centre(k)) / width(k))**2)
        end do
        self%item(i)%refl(b) = max(x, 0.02)
      end do
      do k = 1, ndiag
        self%item(i)%diag(k) = min(nband, max(1, nint(centre(1 + mod(k, 4))) + 3 * (k - 6)))
        self%item(i)%weight(k) = depth(1 + mod(k, 4))
      end do
    end do
  end subroutine build

  function get(self, i) result(sig)
    class(library), intent(in) :: self
    integer, intent(in) :: i
    type(signature) :: sig
    if (i < 1 .or. i > self%n) error stop 'library: no such entry'
    sig = self%item(i)
  end function get

end module signatures

module matching
  use signatures
  implicit none
  private
  public :: misfit, best_match

contains

  pure real function misfit(ref, pixel)
    type(signature), intent(in) :: ref
    real, intent(in) :: pixel(nband)
    integer :: k
    misfit = 0.0
    do k = 1, ndiag
      misfit = misfit + ref%weight(k) * abs(ref%refl(ref%diag(k)) - pixel(ref%diag(k)))
    end do
  end function misfit

  subroutine best_match(lib, pixel, which, score)
    type(library), intent(in) :: lib
    real, intent(in) :: pixel(nband)
    integer, intent(out) :: which
    real, intent(out) :: score
    real :: m
    integer :: i
    which = 0
    score = huge(score)
    do i = 1, lib%n
      m = misfit(lib%get(i), pixel)
      if (m < score) then
        score = m
        which = i
      end if
    end do
  end subroutine best_match

end module matching

program strip
  use signatures
  use matching
  implicit none
  integer, parameter :: nline = 650, nsample = 160, nref = 480
  type(library) :: lib
  real :: pixel(nband, nsample), score, total, a
  integer :: line, smp, which, s, p, q
  integer :: counts(9)

  call lib%build(nref)
  counts = 0
  total = 0.0
  s = 77
  do line = 1, nline
    do smp = 1, nsample
      p = 1 + int(uniform(s) * nref)
      q = 1 + int(uniform(s) * nref)
      a = 0.7 + 0.3 * uniform(s)
      pixel(:, smp) = a * lib%item(p)%refl + (1.0 - a) * lib%item(q)%refl
    end do
    do smp = 1, nsample
      call best_match(lib, pixel(:, smp), which, score)
      counts(lib%item(which)%class) = counts(lib%item(which)%class) + 1
      total = total + score
    end do
  end do
  do p = 1, 9
    print '(a,i2,a,i8)', 'class', p, ' pixels ', counts(p)
  end do
  print '(a,f12.5)', 'mean misfit', total / real(nline * nsample)
end program strip
