! Ionosonde pulse compression: received sweeps are correlated with the emitted
! chirp in the frequency domain, and the echo power is averaged per height.
! Eight sweeps are transformed side by side, the sweep index running fastest.
module batchfft
  implicit none
  private
  integer, parameter, public :: sp = kind(1.0)
  integer, parameter, public :: nlane = 8, npt = 1024, nstage = 5
  integer, parameter :: len = nlane * npt
  real(sp), save :: wr(3, 0:npt), wi(3, 0:npt)
  integer, save :: first(nstage)
  public :: plan_init, transform

contains

  subroutine plan_init()
    integer :: stage, n, p, k, at
    real(kind(1.0d0)) :: phi
    at = 0
    n = npt
    do stage = 1, nstage
      first(stage) = at
      do p = 0, n / 4 - 1
        do k = 1, 3
          phi = -2.0d0 * acos(-1.0d0) * k * p / n
          wr(k, at) = real(cos(phi), sp)
          wi(k, at) = real(sin(phi), sp)
        end do
        at = at + 1
      end do
      n = n / 4
    end do
  end subroutine plan_init

  ! Forward transform; swap the arguments re and im for the inverse one.
  subroutine transform(re, im)
    real(sp), intent(inout), contiguous :: re(0:), im(0:)
    real(sp), save :: tr(0:len - 1), ti(0:len - 1)
    integer :: stage, n, s
    n = npt
    s = nlane
    do stage = 1, nstage
      if (mod(stage, 2) == 1) then
        call butterfly(n, s, wr(:, first(stage):), wi(:, first(stage):), re, im, tr, ti)
      else
        call butterfly(n, s, wr(:, first(stage):), wi(:, first(stage):), tr, ti, re, im)
      end if
      n = n / 4
      s = s * 4
    end do
    re(0:len - 1) = tr
    im(0:len - 1) = ti
  end subroutine transform

  subroutine butterfly(n, s, cr, ci, xr, xi, yr, yi)
    integer, intent(in) :: n, s
    real(sp), intent(in), contiguous :: cr(:, 0:), ci(:, 0:)
    real(sp), intent(in), contiguous :: xr(0:), xi(0:)
    real(sp), intent(inout), contiguous :: yr(0:), yi(0:)
    real(sp) :: ar, ai, br, bi, er, ei, dr, di, pr, pi, qr, qi
    real(sp) :: w1r, w1i, w2r, w2i, w3r, w3i
    integer :: m, p, q, i, j, h
    m = n / 4
    h = s * m
    do p = 0, m - 1
      w1r = cr(1, p); w1i = ci(1, p)
      w2r = cr(2, p); w2i = ci(2, p)
      w3r = cr(3, p); w3i = ci(3, p)
      i = s * p
      j = 4 * s * p
      !GCC$ ivdep
      do q = 0, s - 1
        ar = xr(i + q) + xr(i + q + 2 * h);     ai = xi(i + q) + xi(i + q + 2 * h)
        br = xr(i + q) - xr(i + q + 2 * h);     bi = xi(i + q) - xi(i + q + 2 * h)
        er = xr(i + q + h) + xr(i + q + 3 * h); ei = xi(i + q + h) + xi(i + q + 3 * h)
        dr = xr(i + q + h) - xr(i + q + 3 * h); di = xi(i + q + h) - xi(i + q + 3 * h)
        yr(j + q) = ar + er
        yi(j + q) = ai + ei
        pr = br + di; pi = bi - dr
        yr(j + q + s) = w1r * pr - w1i * pi
        yi(j + q + s) = w1r * pi + w1i * pr
        qr = ar - er; qi = ai - ei
        yr(j + q + 2 * s) = w2r * qr - w2i * qi
        yi(j + q + 2 * s) = w2r * qi + w2i * qr
        pr = br - di; pi = bi + dr
        yr(j + q + 3 * s) = w3r * pr - w3i * pi
        yi(j + q + 3 * s) = w3r * pi + w3i * pr
      end do
    end do
  end subroutine butterfly

end module batchfft

program sounder
  use batchfft
  implicit none
  integer, parameter :: nfreq = 12, nbatch = 9000, nchirp = 256, npool = 65536
  integer, parameter :: total = nlane * npt
  real(sp) :: re(0:total - 1), im(0:total - 1), cr(0:total - 1), ci(0:total - 1)
  real(sp) :: sr(0:total - 1), si(0:total - 1)
  real(sp) :: power(0:total - 1), pool(0:npool + total), t
  real(sp) :: profile(0:npt - 1)
  integer :: f, b, k, l, s, height, off

  call plan_init()
  cr = 0
  ci = 0
  do k = 0, nchirp - 1
    t = real(k, sp) / nchirp
    cr(k * nlane:k * nlane + nlane - 1) = cos(200.0_sp * t * t)
    ci(k * nlane:k * nlane + nlane - 1) = sin(200.0_sp * t * t)
  end do
  s = 9871
  do k = 0, npool + total
    s = iand(s * 1103515245 + 12345, 2147483647)
    pool(k) = real(s, sp) * 9.313226e-10_sp - 1.0_sp
  end do

  sr = cr
  si = ci
  call transform(sr, si)
  do f = 1, nfreq
    height = 90 + 37 * f
    power = 0
    do b = 1, nbatch
      off = mod(b * 1237 + f * 4001, npool)
      call receive(height * nlane)
      call transform(re, im)
      call correlate()
      call transform(im, re)
      power = power + re * re + im * im
    end do
    do k = 0, npt - 1
      profile(k) = 0
      do l = 0, nlane - 1
        profile(k) = profile(k) + power(k * nlane + l)
      end do
    end do
    print '(a,i3,a,i5,a,f8.3)', 'frequency', f, '  echo at gate', maxloc(profile, 1) - 1, &
      '  contrast', maxval(profile) / (sum(profile) / npt)
  end do

contains

  subroutine receive(delay)
    integer, intent(in) :: delay
    integer, parameter :: nc = nchirp * nlane
    re = pool(off:off + total - 1)
    im = pool(off + 1:off + total)
    re(delay:delay + nc - 1) = re(delay:delay + nc - 1) + 0.3_sp * cr(0:nc - 1)
    im(delay:delay + nc - 1) = im(delay:delay + nc - 1) + 0.3_sp * ci(0:nc - 1)
  end subroutine receive

  subroutine correlate()
    integer :: i
    real(sp) :: x
    do i = 0, total - 1
      x = re(i) * sr(i) + im(i) * si(i)
      im(i) = im(i) * sr(i) - re(i) * si(i)
      re(i) = x
    end do
  end subroutine correlate

end program sounder
