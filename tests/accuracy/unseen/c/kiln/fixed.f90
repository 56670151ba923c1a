module kiln_material
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: material_t
    real(dp), allocatable :: band(:), weight(:)
    real(dp) :: density, heat, conduct
  end type material_t
contains
  subroutine make_brick(m, nbands)
    type(material_t), intent(out) :: m
    integer, intent(in) :: nbands
    integer :: b
    allocate(m%band(nbands), m%weight(nbands))
    do b = 1, nbands
      m%band(b) = 0.4_dp + 0.5_dp*mod(b*29, nbands)/real(nbands, dp)
      m%weight(b) = 1.0_dp/(1.0_dp + 0.1_dp*abs(b - nbands/3))
    end do
    m%density = 2000.0_dp
    m%heat = 840.0_dp
    m%conduct = 1.2_dp
  end subroutine make_brick

  function emissivity(m, gas) result(e)
    type(material_t), intent(in) :: m
    real(dp), intent(in) :: gas
    real(dp) :: e, top, bottom, w
    integer :: b
    top = 0.0_dp
    bottom = 0.0_dp
    do b = 1, size(m%band)
      w = m%weight(b)/(1.0_dp + 0.001_dp*gas*m%band(b))
      top = top + w*m%band(b)
      bottom = bottom + w
    end do
    e = top/bottom
  end function emissivity

  function diffusivity(m) result(d)
    type(material_t), intent(in) :: m
    real(dp) :: d
    d = m%conduct/(m%density*m%heat)
  end function diffusivity
end module kiln_material

module kiln_wall
  use kiln_material
  implicit none
  type :: wall_t
    real(dp), allocatable :: t(:,:), face(:)
    real(dp) :: dx = 0.01_dp
    integer :: n = 0, layers = 0
  end type wall_t
contains
  subroutine make_wall(w, n, layers)
    type(wall_t), intent(out) :: w
    integer, intent(in) :: n, layers
    integer :: i
    w%n = n
    w%layers = layers
    allocate(w%t(n, layers), w%face(n))
    do i = 1, n
      w%t(i,:) = 290.0_dp + 5.0_dp*mod(i, 13)
    end do
    w%face = 0.0_dp
  end subroutine make_wall

  subroutine radiate(w, m, gas)
    type(wall_t), intent(inout) :: w
    type(material_t), intent(in) :: m
    real(dp), intent(in) :: gas
    real(dp), parameter :: sigma = 5.670374e-8_dp
    real(dp) :: e
    integer :: i
    e = emissivity(m, gas)
    do i = 1, w%n
      w%face(i) = e*sigma*(gas**4 - w%t(i,1)**4)
    end do
  end subroutine radiate

  subroutine conduct(w, m, dt)
    type(wall_t), intent(inout) :: w
    type(material_t), intent(in) :: m
    real(dp), intent(in) :: dt
    real(dp) :: a, above
    real(dp) :: keep(w%n)
    integer :: i, k
    a = diffusivity(m)*dt/w%dx**2
    keep = w%t(:,1) + w%face*dt/(m%density*m%heat*w%dx) + a*(w%t(:,2) - w%t(:,1))
    do k = 2, w%layers - 1
      do i = 1, w%n
        above = keep(i)
        keep(i) = w%t(i,k) + a*(w%t(i,k-1) - 2.0_dp*w%t(i,k) + w%t(i,k+1))
        w%t(i,k-1) = above
      end do
    end do
    w%t(:,w%layers-1) = keep
  end subroutine conduct
end module kiln_wall

program kiln
  use kiln_wall
  implicit none
  type(wall_t) :: wall
  type(material_t) :: brick
  real(dp) :: gas
  integer :: step, nsteps
  character(len=32) :: arg
  nsteps = 1500
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) nsteps
  end if
  call make_brick(brick, 48)
  call make_wall(wall, 6000, 40)
  do step = 1, nsteps
    gas = 300.0_dp + 900.0_dp*min(1.0_dp, step/1000.0_dp)
    call radiate(wall, brick, gas)
    call conduct(wall, brick, 2.0_dp)
    if (mod(step, 250) == 0) then
      print '(a,i6,2f16.8)', 'step ', step, sum(wall%t(:,1))/wall%n, sum(wall%t(:,10))/wall%n
    end if
  end do
end program kiln
