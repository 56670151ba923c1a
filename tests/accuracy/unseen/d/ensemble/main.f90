! Adaptive ensemble adjustment filter for a field of local states.
! Cells are packed in lanes, members by lane block; analysis and forecast
! share one sweep.
! The inflation of a cycle follows from the innovations of the cycle before.
module filter
  use, intrinsic :: iso_fortran_env, only: sp => real32, dp => real64, int32
  implicit none
  integer, parameter :: members = 16, lanes = 16
  real(sp), parameter :: inv_m = 1.0_sp / members, inv_m1 = 1.0_sp / (members - 1)

  type :: statistics
    real(dp) :: innovation2 = 0, spread = 0, rmse2 = 0
  end type statistics

contains

  pure real(sp) function scatter(k) result(u)
    integer(int32), intent(in) :: k
    integer(int32) :: h
    h = ieor(k, ishft(k, 13))
    h = ieor(h, ishft(h, -17))
    h = ieor(h, ishft(h, 5))
    u = real(iand(h, 8388607_int32), sp) / 4194304.0_sp - 1.0_sp
  end function scatter

  subroutine initialise(x, truth, forcing, blocks)
    integer, intent(in) :: blocks
    real(sp), intent(out) :: x(lanes, members, blocks), truth(lanes, blocks), forcing(lanes, blocks)
    integer :: b, c, k, m
    !$omp parallel do schedule(static) private(c, k, m)
    do b = 1, blocks
      do k = 1, lanes
        c = (b - 1) * lanes + k
        forcing(k,b) = 1.0_sp + 0.4_sp * scatter(int(c, int32))
        truth(k,b)   = 0.6_sp + 0.2_sp * scatter(int(c + 77, int32))
      end do
      do m = 1, members
        do k = 1, lanes
          c = (b - 1) * lanes + k
          x(k,m,b) = 0.6_sp + 0.3_sp * scatter(int(c + 1013 * m, int32))
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine initialise

  subroutine cycle_all(x, truth, forcing, blocks, step, obs_var, inflation, st)
    integer, intent(in) :: blocks, step
    real(sp), intent(inout) :: x(lanes, members, blocks), truth(lanes, blocks)
    real(sp), intent(in) :: forcing(lanes, blocks), obs_var, inflation
    type(statistics), intent(out) :: st
    real(sp), parameter :: dt = 0.05_sp
    real(sp), dimension(lanes) :: mean, var, shrink, analysis, e1, e3
    real(sp) :: d, gain, y, infl2, f, a, noise
    real(dp) :: s1, s2, s3
    integer :: b, c, k, m
    infl2 = inflation * inflation
    noise = sqrt(3.0_sp * obs_var)
    s1 = 0
    s2 = 0
    s3 = 0
    !$omp parallel do schedule(static) reduction(+:s1,s2,s3) &
    !$omp& private(c, k, m, mean, var, shrink, analysis, e1, e3, d, gain, y, f, a)
    do b = 1, blocks
      mean = 0
      var = 0
      do m = 1, members
        mean = mean + x(:,m,b)
      end do
      mean = mean * inv_m
      do m = 1, members
        var = var + (x(:,m,b) - mean)**2
      end do
      !$omp simd private(c, d, gain, y, f)
      do k = 1, lanes
        c = (b - 1) * lanes + k
        f = forcing(k,b)
        var(k) = var(k) * inv_m1 * infl2
        y = truth(k,b) + noise * scatter(int(c + 7919 * step, int32))
        d = y - mean(k)
        gain = var(k) / (var(k) + obs_var)
        shrink(k) = inflation * sqrt(1.0_sp - gain)
        analysis(k) = mean(k) + gain * d
        e1(k) = d * d
        e3(k) = (analysis(k) - truth(k,b))**2
        truth(k,b) = truth(k,b) + dt * truth(k,b) * (f - truth(k,b)) + 0.01_sp * scatter(int(c + 104729 * step, int32))
      end do
      do m = 1, members
        !$omp simd private(a)
        do k = 1, lanes
          a = analysis(k) + shrink(k) * (x(k,m,b) - mean(k))
          x(k,m,b) = a + dt * a * (forcing(k,b) - a)
        end do
      end do
      s1 = s1 + sum(e1)
      s2 = s2 + sum(var)
      s3 = s3 + sum(e3)
    end do
    !$omp end parallel do
    st = statistics(s1 / (lanes * blocks), s2 / (lanes * blocks), s3 / (lanes * blocks))
  end subroutine cycle_all

end module filter

program ensemble
  use filter
  implicit none
  integer, parameter :: blocks = 250000
  real(sp), parameter :: obs_var = 0.01_sp
  real(sp), allocatable :: x(:,:,:), truth(:,:), forcing(:,:)
  real(sp) :: inflation, wanted
  type(statistics) :: st
  character(16) :: arg
  integer :: step, cycles

  cycles = 200
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) cycles
  end if
  allocate(x(lanes, members, blocks), truth(lanes, blocks), forcing(lanes, blocks))
  call initialise(x, truth, forcing, blocks)
  inflation = 1.05_sp
  do step = 1, cycles
    call cycle_all(x, truth, forcing, blocks, step, obs_var, inflation, st)
    wanted = sqrt(max(real(st%innovation2, sp) - obs_var, 1.0e-5_sp) / max(real(st%spread, sp), 1.0e-6_sp))
    inflation = min(1.3_sp, max(1.0_sp, inflation * (0.9_sp + 0.1_sp * wanted)))
    if (mod(step, 10) == 0) print '(a,i4,3(a,f9.5))', 'cycle', step, '  rmse', sqrt(st%rmse2), &
      '  spread', sqrt(st%spread), '  inflation', inflation
  end do
end program ensemble
