! Kuramoto-Sivashinsky flame front on a periodic interval, exponential Runge-Kutta (ETDRK4)
module spectral
  use, intrinsic :: iso_c_binding
  implicit none
  include 'fftw3.f03'
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: n = 2048, nh = n/2 + 1
  real(dp), parameter :: pi = acos(-1d0)
  type(c_ptr) :: to_grid, to_modes
  real(dp), pointer :: u(:)
  complex(dp), pointer :: w(:), nv(:), na(:), nb(:), nc(:)
contains

  subroutine open_transforms()
    call space(w)
    call space(nv)
    call space(na)
    call space(nb)
    call space(nc)
    call c_f_pointer(fftw_alloc_real(int(n, c_size_t)), u, [n])
    to_grid = fftw_plan_dft_c2r_1d(n, w, u, FFTW_MEASURE)
    to_modes = fftw_plan_dft_r2c_1d(n, u, nv, FFTW_MEASURE)
  end subroutine

  subroutine space(a)
    complex(dp), pointer, intent(out) :: a(:)
    call c_f_pointer(fftw_alloc_complex(int(nh, c_size_t)), a, [nh])
    a = 0
  end subroutine

  ! spectrum of u**2; the modes come in w and are lost
  subroutine advect(res)
    complex(dp), pointer, intent(in) :: res(:)
    integer :: i
    call fftw_execute_dft_c2r(to_grid, w, u)
    do i = 1, n
      u(i) = u(i)*u(i)
    end do
    call fftw_execute_dft_r2c(to_modes, u, res)
  end subroutine
end module

program flamefront
  use spectral
  implicit none
  integer, parameter :: nquad = 32
  real(dp) :: e(nh), e2(nh), q(nh), f1(nh), f2(nh), f3(nh), k(nh), lin, length, dt, energy, top
  real(dp) :: g(2, nh)
  complex(dp), pointer :: v(:), a(:)
  complex(dp) :: r, z
  integer :: i, m, step, steps, lun
  character(16) :: arg

  steps = 60000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) steps
  end if
  length = 400*pi
  dt = 0.05_dp
  call open_transforms()
  call space(v)
  call space(a)

  do i = 1, nh
    k(i) = 2*pi*(i - 1)/length
    lin = k(i)**2 - k(i)**4
    e(i) = exp(dt*lin)
    e2(i) = exp(dt*lin/2)
    q(i) = 0
    f1(i) = 0
    f2(i) = 0
    f3(i) = 0
    do m = 1, nquad
      r = exp((0, 1)*pi*(m - 0.5_dp)/nquad)
      z = dt*lin + r
      q(i) = q(i) + dt*real((exp(z/2) - 1)/z)/nquad
      f1(i) = f1(i) + dt*real((-4 - z + exp(z)*(4 - 3*z + z**2))/z**3)/nquad
      f2(i) = f2(i) + dt*real((2 + z + exp(z)*(z - 2))/z**3)/nquad
      f3(i) = f3(i) + dt*real((-4 - 3*z - z**2 + exp(z)*(4 - z))/z**3)/nquad
    end do
    ! factor -ik/2 of the advection, two thirds rule, 1/n of the transform
    g(1, i) = -0.5_dp*k(i)/n
    if (3*(i - 1) > n) g(1, i) = 0
    g(2, i) = g(1, i)
  end do

  do i = 1, n
    u(i) = cos(2*pi*i*3/n)*(1 + sin(2*pi*i*7/n)) + 0.1_dp*cos(2*pi*i*41/n)
  end do
  call fftw_execute_dft_r2c(to_modes, u, v)
  do i = 1, nh
    v(i) = v(i)/n
  end do
  do i = 1, nh
    ! everything that multiplies a nonlinear term absorbs k/2 (its i follows in the loops)
    q(i) = q(i)*g(1, i)*n
    f1(i) = f1(i)*g(1, i)*n
    f2(i) = 2*f2(i)*g(1, i)*n
    f3(i) = f3(i)*g(1, i)*n
  end do
  q = q/n
  f1 = f1/n
  f2 = f2/n
  f3 = f3/n

  open (newunit=lun, file='front.dat', action='write')
  do step = 1, steps
    do i = 1, nh
      w(i) = v(i)
    end do
    call advect(nv)
    do i = 1, nh
      a(i) = e2(i)*v(i) + q(i)*turn(nv(i))
      w(i) = a(i)
    end do
    call advect(na)
    do i = 1, nh
      w(i) = e2(i)*v(i) + q(i)*turn(na(i))
    end do
    call advect(nb)
    do i = 1, nh
      w(i) = e2(i)*a(i) + q(i)*turn(2*nb(i) - nv(i))
    end do
    call advect(nc)
    do i = 1, nh
      v(i) = e(i)*v(i) + turn(f1(i)*nv(i) + f2(i)*(na(i) + nb(i)) + f3(i)*nc(i))
    end do
    if (mod(step, 50) == 0) then
      energy = 2*sum(real(v)**2 + aimag(v)**2)
      top = maxval(abs(v))
      write (lun, '(f10.3,2es16.8)') step*dt, energy, top
    end if
  end do
  close (lun)
  print '(a,f12.6,a,es12.4)', 'energy ', energy, '  strongest mode ', top
contains
  elemental complex(dp) function turn(z)
    complex(dp), intent(in) :: z
    turn = cmplx(-aimag(z), real(z), dp)
  end function
end program
