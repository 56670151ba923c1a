module frame
  use iso_fortran_env, only: int64
  implicit none
  integer, parameter :: dp = kind(1d0)

  type :: network
    integer :: nodes = 0, bars = 0
    integer, allocatable :: head(:), tail(:)
    real(dp), allocatable :: rest(:), stiff(:)
    logical, allocatable :: pinned(:)
    real(dp), allocatable :: pos(:, :), vel(:, :), load(:, :)
    real(dp) :: energy = 0
  end type network

contains

  real(dp) function draw(state)
    integer(int64), intent(inout) :: state
    state = mod(state * 16807_int64, 2147483647_int64)
    draw = real(state, dp) / 2147483647.0_dp
  end function draw

  subroutine connect(net, a, b, k)
    type(network), intent(inout) :: net
    integer, intent(in) :: a, b
    real(dp), intent(in) :: k
    net%bars = net%bars + 1
    net%head(net%bars) = a
    net%tail(net%bars) = b
    net%stiff(net%bars) = k
    net%rest(net%bars) = merge(1.0_dp, sqrt(2.0_dp), k > 30.0_dp)
  end subroutine connect

  subroutine build(net, side, seed)
    type(network), intent(inout) :: net
    integer, intent(in) :: side
    integer(int64), intent(in) :: seed
    integer(int64) :: state
    integer :: i, j, me
    state = mod(abs(seed), 2147483000_int64) + 17
    net%nodes = side * side
    allocate (net%head(4 * net%nodes), net%tail(4 * net%nodes))
    allocate (net%rest(4 * net%nodes), net%stiff(4 * net%nodes))
    allocate (net%pos(2, net%nodes), net%vel(2, net%nodes), net%load(2, net%nodes))
    allocate (net%pinned(net%nodes))
    net%vel = 0
    do j = 1, side
      do i = 1, side
        me = (j - 1) * side + i
        net%pos(1, me) = i + 0.2_dp * (draw(state) - 0.5_dp)
        net%pos(2, me) = j + 0.2_dp * (draw(state) - 0.5_dp)
        net%pinned(me) = j == 1
        if (i < side) call connect(net, me, me + 1, 40.0_dp)
        if (j < side) call connect(net, me, me + side, 35.0_dp)
        if (i < side .and. j < side) call connect(net, me, me + side + 1, 20.0_dp)
        if (i > 1 .and. j < side) call connect(net, me, me + side - 1, 20.0_dp)
      end do
    end do
  end subroutine build

  subroutine strain(net, k, fx, fy, work)
    type(network), intent(in) :: net
    integer, intent(in) :: k
    real(dp), intent(out) :: fx, fy, work
    real(dp) :: dx, dy, length, stretch
    dx = net%pos(1, net%tail(k)) - net%pos(1, net%head(k))
    dy = net%pos(2, net%tail(k)) - net%pos(2, net%head(k))
    length = sqrt(dx * dx + dy * dy)
    stretch = length - net%rest(k)
    fx = net%stiff(k) * stretch * dx / length
    fy = net%stiff(k) * stretch * dy / length
    work = 0.5_dp * net%stiff(k) * stretch * stretch
  end subroutine strain

  subroutine gather_loads(net)
    type(network), intent(inout) :: net
    real(dp), allocatable :: part(:, :)
    real(dp) :: fx, fy, work, energy
    integer :: a, b, k
    net%load = 0
    energy = 0
    !$omp parallel private(part, fx, fy, work, a, b) reduction(+:energy)
    allocate (part(2, net%nodes))
    part = 0
    !$omp do
    do k = 1, net%bars
      a = net%head(k)
      b = net%tail(k)
      call strain(net, k, fx, fy, work)
      energy = energy + work
      if (.not. net%pinned(a)) then
        part(1, a) = part(1, a) + fx
        part(2, a) = part(2, a) + fy
        part(1, b) = part(1, b) - fx
        part(2, b) = part(2, b) - fy
      end if
    end do
    !$omp end do nowait
    !$omp critical (joint)
    net%load = net%load + part
    !$omp end critical (joint)
    deallocate (part)
    !$omp end parallel
    net%energy = energy
  end subroutine gather_loads

  subroutine advance(net, dt)
    type(network), intent(inout) :: net
    real(dp), intent(in) :: dt
    integer :: i
    !$omp parallel do
    do i = 1, net%nodes
      if (.not. net%pinned(i)) net%load(2, i) = net%load(2, i) - 0.05_dp
      net%vel(:, i) = 0.98_dp * net%vel(:, i) + dt * net%load(:, i)
      net%pos(:, i) = net%pos(:, i) + dt * net%vel(:, i)
    end do
    !$omp end parallel do
  end subroutine advance

end module frame

program truss
  use frame
  implicit none
  type(network) :: net
  character(len=32) :: word
  integer :: side, steps, t
  integer(int64) :: seed
  real(dp) :: total
  side = 120
  steps = 60
  seed = 5
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) side
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, word)
    read (word, *) steps
  end if
  if (command_argument_count() > 2) then
    call get_command_argument(3, word)
    read (word, *) seed
  end if
  call build(net, side, seed)
  total = 0
  do t = 1, steps
    call gather_loads(net)
    call advance(net, 0.02_dp)
    total = total + net%energy
  end do
  write (*, '(a,3es20.11)') 'checksum ', total, sum(abs(net%pos)), sqrt(sum(net%vel**2))
end program truss
