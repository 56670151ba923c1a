! Line-by-line absorption spectrum of a trace gas through an atmospheric column
module absorption
  implicit none
  integer, parameter :: dp = kind(1d0)
  type line
    real(dp) :: nu, s, gam, e
  end type
contains
  subroutine line_list(l, n)
    integer, intent(in) :: n
    type(line), intent(out) :: l(n)
    integer :: k
    do k = 1, n
      l(k)%nu = 600d0 + 0.5d0*k + 0.2d0*sin(1.7d0*k)
      l(k)%s = 1d-3*(1d0 + cos(0.3d0*k)**2)
      l(k)%gam = 0.07d0 + 0.02d0*sin(0.11d0*k)
      l(k)%e = 50d0 + 0.8d0*k
    end do
  end subroutine

  subroutine column(p, t, nlev)
    integer, intent(in) :: nlev
    real(dp), intent(out) :: p(nlev), t(nlev)
    integer :: k
    do k = 1, nlev
      p(k) = exp(-0.25d0*(k - 1))
      t(k) = max(215d0, 290d0 - 5d0*k)
    end do
  end subroutine

  ! pseudo-Voigt profile
  function optical_depth(nu, l, n, p, t) result(tau)
    real(dp), intent(in) :: nu, p, t
    integer, intent(in) :: n
    type(line), intent(in) :: l(n)
    real(dp) :: tau, x, gl, gd, s, eta
    integer :: k
    tau = 0d0
    do k = 1, n
      gl = l(k)%gam*p
      gd = 1d-3*l(k)%nu*1d-3*sqrt(t)
      s = l(k)%s*exp(-1.4388d0*l(k)%e*(1d0/t - 1d0/296d0))
      x = nu - l(k)%nu
      eta = gl/(gl + gd)
      tau = tau + s*(eta*gl/(3.14159265d0*(x*x + gl*gl)) + (1d0 - eta)*exp(-(x/gd)**2)/(1.7724539d0*gd))
    end do
  end function

  subroutine transmission(nu, l, n, p, t, nlev, tr)
    real(dp), intent(in) :: nu
    integer, intent(in) :: n, nlev
    type(line), intent(in) :: l(n)
    real(dp), intent(in) :: p(nlev), t(nlev)
    real(dp), intent(out) :: tr
    integer :: k
    real(dp) :: tau
    tau = 0d0
    do k = 1, nlev
      tau = tau + optical_depth(nu, l, n, p(k), t(k))*p(k)
    end do
    tr = exp(-tau)
  end subroutine
end module

program linespec
  use mpi
  use absorption
  implicit none
  integer, parameter :: nline = 300, nlev = 12, npoint = 26000
  type(line) :: l(nline)
  real(dp) :: p(nlev), t(nlev), tr, nu, band(2), total(2)
  integer :: rank, nproc, ierr, i
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  call line_list(l, nline)
  call column(p, t, nlev)
  band = 0d0
  do i = 1 + rank, npoint, nproc
    nu = 600d0 + 150d0*i/npoint
    call transmission(nu, l, nline, p, t, nlev, tr)
    band(1) = band(1) + tr
    band(2) = band(2) + (1d0 - tr)*nu**3*exp(-1.4388d0*nu/288d0)
  end do
  call MPI_Reduce(band, total, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,f10.6,a,es14.6)', 'mean transmission ', total(1)/npoint, '  absorbed ', total(2)/npoint
  call MPI_Finalize(ierr)
end program
