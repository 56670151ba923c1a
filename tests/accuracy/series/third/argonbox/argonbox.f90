! Molecular dynamics of liquid argon in reduced Lennard-Jones units.
module argon
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: mc = 6, maxnb = 160
  real(dp), parameter :: rcut = 2.5_dp, skin = 0.3_dp, rho = 0.80_dp
  integer :: n
  real(dp) :: box
  real(dp), allocatable :: x(:,:), v(:,:), f(:,:)
  integer, allocatable :: nnb(:), nb(:,:), nxt(:)
  integer :: head(0:mc-1,0:mc-1,0:mc-1)
contains

  subroutine setup_lattice()
    integer :: i, k, m, c(3)
    real(dp) :: a, r(3)
    integer, allocatable :: seed(:)
    box = (n/rho)**(1d0/3d0)
    m = ceiling(real(n,dp)**(1d0/3d0))
    a = box/m
    call random_seed(size=k)
    allocate(seed(k)); seed = 4711
    call random_seed(put=seed)
    do i = 1, n
       c = [mod(i-1,m), mod((i-1)/m,m), (i-1)/(m*m)]
       call random_number(r)
       x(:,i) = modulo((c + 0.5_dp + 0.1_dp*(r-0.5_dp))*a, box)
       call random_number(r)
       v(:,i) = r - 0.5_dp
    end do
  end subroutine setup_lattice

  subroutine neighbour_table()
    integer :: i, j, ix, iy, iz, c(3)
    real(dp) :: d(3), rr
    head = 0
    do i = 1, n
       c = min(mc-1, int(x(:,i)/box*mc))
       nxt(i) = head(c(1),c(2),c(3))
       head(c(1),c(2),c(3)) = i
    end do
    do i = 1, n
       nnb(i) = 0
       c = min(mc-1, int(x(:,i)/box*mc))
       do iz = c(3)-1, c(3)+1
          do iy = c(2)-1, c(2)+1
             do ix = c(1)-1, c(1)+1
                j = head(modulo(ix,mc),modulo(iy,mc),modulo(iz,mc))
                do while (j > i)
                   d = x(:,i) - x(:,j)
                   d = d - box*anint(d/box)
                   rr = d(1)*d(1) + d(2)*d(2) + d(3)*d(3)
                   if (rr < (rcut+skin)**2 .and. nnb(i) < maxnb) then
                      nnb(i) = nnb(i) + 1
                      nb(nnb(i),i) = j
                   end if
                   j = nxt(j)
                end do
             end do
          end do
       end do
    end do
  end subroutine neighbour_table

  subroutine lj_forces(epot)
    real(dp), intent(out) :: epot
    integer :: i, j, k
    real(dp) :: d(3), rr, s6, w
    f = 0; epot = 0
    do i = 1, n
       do k = 1, nnb(i)
          j = nb(k,i)
          d = x(:,i) - x(:,j)
          d = d - box*anint(d/box)
          rr = d(1)*d(1) + d(2)*d(2) + d(3)*d(3)
          if (rr > rcut*rcut) cycle
          s6 = 1d0/rr**3
          epot = epot + 4*s6*(s6-1)
          w = 48*s6*(s6-0.5_dp)/rr
          f(:,i) = f(:,i) + w*d
          f(:,j) = f(:,j) - w*d
       end do
    end do
  end subroutine lj_forces

  subroutine move_atoms(dt)
    real(dp), intent(in) :: dt
    v = v + dt*f
    x = modulo(x + dt*v, box)
  end subroutine move_atoms
end module argon

program argonbox
  use argon
  implicit none
  character(len=32) :: arg
  integer :: step
  integer, parameter :: nsteps = 17, every = 17
  real(dp) :: epot
  n = 6000
  if (command_argument_count() > 0) then
     call get_command_argument(1, arg); read(arg,*) n
  end if
  allocate(x(3,n), v(3,n), f(3,n), nnb(n), nb(maxnb,n), nxt(n))
  call setup_lattice()
  do step = 0, nsteps-1
     if (mod(step,every) == 0) call neighbour_table()
     call lj_forces(epot)
     call move_atoms(0.0005_dp)
  end do
  print '(a,i0,a,f12.6,a,f12.6)', 'atoms ', n, '  epot/atom ', epot/n, '  ekin/atom ', 0.5_dp*sum(v*v)/n
end program argonbox
