! Regional glacier evolution: an inventory of independent flowlines, shallow-ice
! diffusion on each, forced by a warming equilibrium-line altitude.
module flowline_mod
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: rho_g = 910.0_dp*9.81_dp, glen_a = 7.6e-17_dp, dx = 150.0_dp
  type :: flowline
     integer :: n
     real(dp) :: gradient
     real(dp), allocatable :: bed(:), h(:), flux(:)
  end type flowline
contains
  subroutine init_flowline(f, id)
    type(flowline), intent(out) :: f
    integer, intent(in) :: id
    integer :: i
    f%n = 420 + mod(37*id, 140)
    f%gradient = 0.005_dp + 0.00002_dp*mod(id, 60)
    allocate(f%bed(f%n), f%h(f%n), f%flux(0:f%n))
    do i = 1, f%n
       f%bed(i) = 3400.0_dp - 6.0_dp*(1 + 0.01_dp*mod(id, 50))*i
    end do
    f%h = 0
    f%flux = 0
  end subroutine init_flowline

  subroutine ice_flux(f)
    type(flowline), intent(inout) :: f
    real(dp) :: slope, hm, g
    integer :: i
    g = 2.0_dp*glen_a/5.0_dp*(rho_g*1.0e-0_dp)**3
    !$omp parallel do private(slope, hm)
    do i = 1, f%n - 1
       slope = (f%bed(i+1) + f%h(i+1) - f%bed(i) - f%h(i))/dx
       hm = 0.5_dp*(f%h(i) + f%h(i+1))
       f%flux(i) = -g*hm**5*slope*slope*slope
    end do
    !$omp end parallel do
  end subroutine ice_flux

  subroutine mass_balance(f, ela, dt)
    type(flowline), intent(inout) :: f
    real(dp), intent(in) :: ela, dt
    real(dp) :: b
    integer :: i
    !$omp parallel do private(b)
    do i = 1, f%n
       b = min(2.0_dp, f%gradient*(f%bed(i) + f%h(i) - ela))
       f%h(i) = max(0.0_dp, f%h(i) + dt*(b - (f%flux(i) - f%flux(i-1))/dx))
    end do
    !$omp end parallel do
  end subroutine mass_balance

  subroutine evolve(f, ela, years, dt)
    type(flowline), intent(inout) :: f
    real(dp), intent(in) :: ela, dt
    integer, intent(in) :: years
    integer :: it
    do it = 1, nint(years/dt)
       call ice_flux(f)
       call mass_balance(f, ela, dt)
    end do
  end subroutine evolve
end module flowline_mod

program glacier
  use flowline_mod
  implicit none
  integer, parameter :: nglaciers = 10, decades = 12
  type(flowline), allocatable :: region(:)
  real(dp) :: ela, volume, length
  integer :: g, d
  allocate(region(nglaciers))
  do g = 1, nglaciers
     call init_flowline(region(g), g)
  end do
  print '(a)', 'year      ELA      mean thickness   mean length'
  do d = 1, decades
     ela = 2700.0_dp + 15.0_dp*d
     do g = 1, nglaciers
        call evolve(region(g), ela, 10, 0.025_dp)
     end do
     volume = 0
     length = 0
     do g = 1, nglaciers
        volume = volume + sum(region(g)%h)/region(g)%n
        length = length + count(region(g)%h > 1.0_dp)*dx
     end do
     print '(i4,f11.1,2f16.5)', 10*d, ela, volume/nglaciers, length/nglaciers
  end do
end program glacier
