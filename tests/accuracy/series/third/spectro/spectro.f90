! Short-time spectra of a synthetic underwater recording; the tonal peaks of
! all frames are ranked by level.
module acoustics
  implicit none
  integer, parameter :: dp = kind(1d0), nfft = 512
  real(dp), parameter :: pi = 3.141592653589793d0, fs = 8000d0
  complex(dp) :: tw(nfft/2)
  real(dp) :: window(nfft)
contains

  subroutine init_tables()
    integer :: k
    do k = 1, nfft/2
       tw(k) = exp(cmplx(0d0, -2*pi*(k-1)/nfft, dp))
    end do
    do k = 1, nfft
       window(k) = 0.5d0 - 0.5d0*cos(2*pi*(k-1)/nfft)
    end do
  end subroutine init_tables

  subroutine synth_frame(iframe, s)
    integer, intent(in) :: iframe
    complex(dp), intent(out) :: s(nfft)
    integer :: k
    real(dp) :: t, f0
    f0 = 400d0 + 300d0*sin(1d-3*iframe)
    do k = 1, nfft
       t = (k-1)/fs
       s(k) = window(k)*(sin(2*pi*f0*t) + 0.3d0*sin(2*pi*2.7d0*f0*t + 0.01d0*iframe))
    end do
  end subroutine synth_frame

  subroutine fft(a)
    complex(dp), intent(inout) :: a(nfft)
    complex(dp) :: u, w
    integer :: i, j, m, len, stride
    j = 1
    do i = 1, nfft-1
       if (i < j) then
          u = a(j); a(j) = a(i); a(i) = u
       end if
       m = nfft/2
       do while (m >= 1 .and. j > m)
          j = j - m; m = m/2
       end do
       j = j + m
    end do
    len = 1
    do while (len < nfft)
       stride = nfft/(2*len)
       do i = 1, nfft, 2*len
          do j = 0, len-1
             w = tw(j*stride+1)*a(i+j+len)
             a(i+j+len) = a(i+j) - w
             a(i+j) = a(i+j) + w
          end do
       end do
       len = 2*len
    end do
  end subroutine fft

  subroutine strongest_tone(a, level)
    complex(dp), intent(in) :: a(nfft)
    real(dp), intent(out) :: level
    integer :: k
    level = -200d0
    do k = 2, nfft/2
       level = max(level, 10*log10(real(a(k))**2 + aimag(a(k))**2 + 1d-20))
    end do
  end subroutine strongest_tone

  subroutine rank_levels(a, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n)
    integer :: l, r, i, j
    real(dp) :: t
    l = n/2 + 1; r = n
    do
       if (l > 1) then
          l = l - 1; t = a(l)
       else
          t = a(r); a(r) = a(1); r = r - 1
          if (r <= 1) then
             a(1) = t; return
          end if
       end if
       i = l; j = 2*l
       do while (j <= r)
          if (j < r) then
             if (a(j) < a(j+1)) j = j + 1
          end if
          if (t >= a(j)) exit
          a(i) = a(j); i = j; j = 2*j
       end do
       a(i) = t
    end do
  end subroutine rank_levels
end module acoustics

program spectro
  use acoustics
  implicit none
  integer :: n, i
  character(len=32) :: arg
  complex(dp) :: s(nfft)
  real(dp), allocatable :: level(:)
  n = 12500
  if (command_argument_count() > 0) then
     call get_command_argument(1, arg); read(arg,*) n
  end if
  allocate(level(n))
  call init_tables()
  do i = 1, n
     call synth_frame(i, s)
     call fft(s)
     call strongest_tone(s, level(i))
  end do
  call rank_levels(level, n)
  print '(a,i0,3f10.4)', 'frames ', n, level(1), level((n+1)/2), level(n)
end program spectro
