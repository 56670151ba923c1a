! Electrostatic particle-in-cell, two dimensions, conducting walls.
module pic
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: m, np
  real(dp), allocatable :: x(:), y(:), vx(:), vy(:)
  real(dp), allocatable :: rho(:,:), phi(:,:), ex(:,:), ey(:,:)
contains
  subroutine load_particles(ppc)
    integer, intent(in) :: ppc
    integer :: i
    real(dp) :: r(4)
    call random_init(.true., .true.)
    np = ppc*m*m
    allocate(x(np), y(np), vx(np), vy(np))
    do i = 1, np
      call random_number(r)
      x(i) = 1 + (m-2)*r(1)*(0.9d0 + 0.1d0*r(2))
      y(i) = 1 + (m-2)*r(2)
      vx(i) = 0.2d0*(r(3)-0.5d0)
      vy(i) = 0.2d0*(r(4)-0.5d0)
    end do
  end subroutine

  subroutine deposit()
    integer :: i, j, k
    real(dp) :: fx, fy, q
    q = 1d0/(real(np,dp)/(m*m))
    rho = -1d0
    do k = 1, np
      i = int(x(k)); j = int(y(k))
      fx = x(k)-i; fy = y(k)-j
      rho(i,j) = rho(i,j) + q*(1-fx)*(1-fy)
      rho(i+1,j) = rho(i+1,j) + q*fx*(1-fy)
      rho(i,j+1) = rho(i,j+1) + q*(1-fx)*fy
      rho(i+1,j+1) = rho(i+1,j+1) + q*fx*fy
    end do
  end subroutine

  subroutine potential(iters)
    integer, intent(out) :: iters
    integer :: i, j, c
    real(dp) :: w, d, res, res0
    w = 2d0/(1d0 + sin(acos(-1d0)/m))
    res0 = sqrt(sum(rho(2:m-1,2:m-1)**2))
    do iters = 1, 100000
      res = 0
      do c = 0, 1
        do j = 2, m-1
          do i = 2 + mod(j+c,2), m-1, 2
            d = 0.25d0*(phi(i-1,j)+phi(i+1,j)+phi(i,j-1)+phi(i,j+1)+rho(i,j)) - phi(i,j)
            phi(i,j) = phi(i,j) + w*d
            res = res + d*d
          end do
        end do
      end do
      if (sqrt(res) < 1d-6*res0) exit
    end do
  end subroutine

  subroutine field()
    integer :: i, j
    do j = 2, m-1
      do i = 2, m-1
        ex(i,j) = 0.5d0*(phi(i-1,j)-phi(i+1,j))
        ey(i,j) = 0.5d0*(phi(i,j-1)-phi(i,j+1))
      end do
    end do
  end subroutine

  subroutine push(dt)
    real(dp), intent(in) :: dt
    integer :: i, j, k
    real(dp) :: fx, fy, e1, e2, g
    do k = 1, np
      i = int(x(k)); j = int(y(k))
      fx = x(k)-i; fy = y(k)-j
      e1 = (1-fy)*((1-fx)*ex(i,j)+fx*ex(i+1,j)) + fy*((1-fx)*ex(i,j+1)+fx*ex(i+1,j+1))
      e2 = (1-fy)*((1-fx)*ey(i,j)+fx*ey(i+1,j)) + fy*((1-fx)*ey(i,j+1)+fx*ey(i+1,j+1))
      vx(k) = vx(k) - dt*e1; vy(k) = vy(k) - dt*e2
      g = 1d0/sqrt(1d0 + 1d-2*(vx(k)**2+vy(k)**2))
      x(k) = x(k) + dt*vx(k)*g; y(k) = y(k) + dt*vy(k)*g
      if (x(k) < 1.0d0 .or. x(k) >= m) then
        x(k) = min(max(2d0-x(k), 1d0), m-1d-3); vx(k) = -vx(k)
      end if
      if (y(k) < 1.0d0 .or. y(k) >= m) then
        y(k) = min(max(2d0-y(k), 1d0), m-1d-3); vy(k) = -vy(k)
      end if
    end do
  end subroutine
end module

program plasma
  use pic
  implicit none
  character(16) :: arg
  integer :: step, ncells, it, total
  call get_command_argument(1, arg)
  read(arg,*) ncells
  m = nint(sqrt(real(ncells,dp)))
  allocate(rho(m,m), phi(m,m), ex(m,m), ey(m,m))
  phi = 0; ex = 0; ey = 0; total = 0
  call load_particles(20)
  do step = 1, 6
    call deposit()
    call potential(it)
    call field()
    call push(0.1d0)
    total = total + it
  end do
  print '(a,i0,a,i0,a,es12.5)', 'cells ', m*m, ' sweeps ', total, ' kinetic ', sum(vx**2+vy**2)/np
end program
