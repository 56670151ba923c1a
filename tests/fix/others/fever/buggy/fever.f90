module epidemic
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: town, outbreak, seed_town

  type :: town
    integer :: people = 0
    real(real64) :: spread = 1.4_real64
    integer(int64) :: state = 1_int64
  end type town

contains

  subroutine seed_town(t, people, seed)
    type(town), intent(out) :: t
    integer, intent(in) :: people, seed
    integer :: k
    real(real64) :: skip
    t%people = people
    t%state = modulo(int(seed, int64)*7919_int64 + 12345_int64, 2147483646_int64) + 1_int64
    do k = 1, 20
      skip = draw(t)
    end do
  end subroutine seed_town

  real(real64) function draw(t)
    type(town), intent(inout) :: t
    t%state = modulo(t%state*48271_int64, 2147483647_int64)
    draw = real(t%state, real64)/2147483647.0_real64
  end function draw

  subroutine outbreak(t, cases, days)
    type(town), intent(inout) :: t
    integer, intent(out) :: cases
    real(real64), intent(out) :: days
    integer :: well, ill
    real(real64) :: catch
    well = t%people - 1
    ill = 1
    cases = 1
    days = 0.0_real64
    do while (ill > 0)
      catch = t%spread*real(well, real64)/real(t%people, real64)
      days = days - log(draw(t))/(real(ill, real64)*(catch + 1.0_real64))
      if (draw(t)*(catch + 1.0_real64) < catch) then
        well = well - 1
        ill = ill + 1
        cases = cases + 1
      else
        ill = ill - 1
      end if
    end do
  end subroutine outbreak

end module epidemic

program fever
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use epidemic
  implicit none
  integer, parameter :: block = 1000
  integer :: rank, ranks, ierr, people, rounds, seed, r, first, n, largest, streak, quiet
  integer :: cases(block), all_cases(block)
  real(real64) :: days(block), longest(block), mean, spread, slowest, delta
  type(town) :: here

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  people = argument(1, 12000)
  rounds = argument(2, 4000)
  seed = modulo(argument(3, 3), 1000000)
  call seed_town(here, people, seed*64 + rank)

  mean = 0
  spread = 0
  slowest = 0
  largest = 0
  streak = 0
  quiet = 0
  do first = 1, rounds, block
    n = min(block, rounds - first + 1)
    streak = 0
    do r = 1, n
      call outbreak(here, cases(r), days(r))
    end do
    call MPI_Allreduce(cases, all_cases, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Allreduce(days, longest, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do r = 1, n
      delta = all_cases(r) - mean
      mean = mean + delta/(first + r - 1)
      spread = spread + delta*(all_cases(r) - mean)
      largest = max(largest, all_cases(r))
      slowest = slowest + longest(r)
      if (all_cases(r) < people/2) then
        streak = streak + 1
        quiet = quiet + streak
      else
        streak = 0
      end if
    end do
  end do

  if (rank == 0) then
    print '(a,i0,a,i0)', 'largest ', largest, ' quiet ', quiet
    print '(a,3es20.11)', 'checksum', mean, spread, slowest
  end if
  call MPI_Finalize(ierr)

contains

  integer function argument(k, otherwise)
    integer, intent(in) :: k, otherwise
    character(len=32) :: text
    argument = otherwise
    if (command_argument_count() >= k) then
      call get_command_argument(k, text)
      read (text, *) argument
    end if
  end function argument

end program fever
