module sheath_data
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: species_t
    real(dp), allocatable :: x(:), v(:)
    real(dp) :: mass = 1.0_dp, charge = 1.0_dp
    integer :: n = 0
  end type species_t
  integer :: rank = 0, nranks = 1, ierr = 0
contains
  subroutine load(s, n, mass, charge, skew)
    type(species_t), intent(inout) :: s
    integer, intent(in) :: n
    real(dp), intent(in) :: mass, charge, skew
    integer :: i, g
    s%n = n
    s%mass = mass
    s%charge = charge
    allocate(s%x(n), s%v(n))
    do i = 1, n
      g = i + rank*n
      s%x(i) = mod(g*1.6180339887_dp, 1.0_dp)**skew
      s%v(i) = 0.5_dp*(mod(g*0.7548776662_dp, 1.0_dp) - 0.5_dp)
    end do
  end subroutine load
end module sheath_data

module sheath_steps
  use sheath_data
  implicit none
contains
  subroutine push(s, field, dt)
    type(species_t), intent(inout) :: s
    real(dp), intent(in) :: field(:), dt
    integer :: i, c, m
    real(dp) :: e, f, q
    m = size(field)
    q = s%charge/s%mass*dt
    do i = 1, s%n
      f = s%x(i)*(m - 1)
      c = int(f)
      f = f - c
      e = (1.0_dp - f)*field(c + 1) + f*field(c + 2)
      s%v(i) = s%v(i) + q*e
      s%x(i) = s%x(i) + dt*s%v(i)
      s%x(i) = s%x(i) - floor(s%x(i))
      if (s%x(i) >= 1.0_dp) s%x(i) = 0.0_dp
    end do
  end subroutine push

  subroutine deposit(s, m, rho)
    type(species_t), intent(in) :: s
    integer, intent(in) :: m
    real(dp), intent(inout) :: rho(m)
    integer :: i, c
    real(dp) :: f
    do i = 1, s%n
      f = s%x(i)*(m - 1)
      c = int(f)
      f = f - c
      rho(c + 1) = rho(c + 1) + s%charge*(1.0_dp - f)
      rho(c + 2) = rho(c + 2) + s%charge*f
    end do
  end subroutine deposit

  subroutine gather_density(part, total)
    real(dp), intent(in) :: part(:)
    real(dp), intent(out) :: total(:)
    call MPI_Allreduce(part, total, size(part), MPI_DOUBLE_PRECISION, MPI_SUM, &
                       MPI_COMM_WORLD, ierr)
  end subroutine gather_density

  subroutine solve(rho, field, scale)
    real(dp), intent(in) :: rho(:), scale
    real(dp), intent(out) :: field(:)
    integer :: c
    real(dp) :: mean
    mean = sum(rho)/size(rho)
    field(1) = 0.0_dp
    do c = 2, size(rho)
      field(c) = field(c-1) + scale*(rho(c) - mean)
    end do
    field = field - sum(field)/size(field)
  end subroutine solve
end module sheath_steps

program sheath
  use sheath_steps
  implicit none
  integer, parameter :: cells = 2048
  type(species_t) :: ions, electrons
  real(dp) :: part(cells), rho(cells), field(cells), energy
  integer :: step, nsteps, npart
  character(len=32) :: arg
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  nsteps = 1000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) nsteps
  end if
  npart = 48000/nranks
  call load(ions, npart, 1836.0_dp, 1.0_dp, 1.0_dp)
  call load(electrons, npart, 1.0_dp, -1.0_dp, 1.2_dp)
  field = 0.0_dp
  do step = 1, nsteps
    part = 0.0_dp
    call deposit(ions, cells, part)
    call deposit(electrons, cells, part)
    call gather_density(part, rho)
    call solve(rho, field, 1.0e-5_dp)
    call push(ions, field, 0.01_dp)
    call push(electrons, field, 0.01_dp)
    if (mod(step, 200) == 0 .and. rank == 0) then
      energy = sum(field**2)/cells
      print '(a,i6,a,es18.9)', 'step ', step, '  field energy ', energy
    end if
  end do
  call MPI_Finalize(ierr)
end program sheath
