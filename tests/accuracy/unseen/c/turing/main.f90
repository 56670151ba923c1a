module chemistry
  use iso_fortran_env, only: real32
  implicit none
  integer, parameter :: wp = real32
  integer, parameter :: n = 40
  type :: recipe
     real(wp) :: feed, kill
  end type recipe
contains

  subroutine initial(a, b, id)
    real(wp), intent(out) :: a(0:n+1, 0:n+1), b(0:n+1, 0:n+1)
    integer, intent(in) :: id
    integer :: i, j
    a = 1.0_wp
    b = 0.0_wp
    do j = 14, 27
       do i = 14, 27
          a(i, j) = 0.5_wp
          b(i, j) = 0.25_wp + 0.01_wp * mod(i * 5 + j * 3 + id, 7)
       end do
    end do
  end subroutine initial

  subroutine react(a, b, an, bn, r)
    real(wp), intent(in) :: a(0:n+1, 0:n+1), b(0:n+1, 0:n+1)
    real(wp), intent(inout) :: an(0:n+1, 0:n+1), bn(0:n+1, 0:n+1)
    type(recipe), intent(in) :: r
    real(wp), parameter :: da = 0.2_wp, db = 0.1_wp
    real(wp) :: ca, cb, rate
    integer :: i, j
    ca = 1.0_wp - 4.0_wp * da - r%feed
    cb = 1.0_wp - 4.0_wp * db - r%feed - r%kill
    do j = 1, n
       do i = 1, n
          rate = a(i, j) * b(i, j) * b(i, j)
          an(i, j) = ca * a(i, j) - rate + r%feed &
               + da * ((a(i-1, j) + a(i+1, j)) + (a(i, j-1) + a(i, j+1)))
          bn(i, j) = cb * b(i, j) + rate &
               + db * ((b(i-1, j) + b(i+1, j)) + (b(i, j-1) + b(i, j+1)))
       end do
    end do
  end subroutine react

  subroutine evolve(id, r, steps, yield)
    integer, intent(in) :: id, steps
    type(recipe), intent(in) :: r
    real(wp), intent(out) :: yield
    real(wp) :: a(0:n+1, 0:n+1), b(0:n+1, 0:n+1), c(0:n+1, 0:n+1), d(0:n+1, 0:n+1)
    integer :: t
    call initial(a, b, id)
    c = a
    d = b
    do t = 1, steps, 2
       call react(a, b, c, d, r)
       call react(c, d, a, b, r)
    end do
    yield = sum(b(1:n, 1:n)) / (n * n)
  end subroutine evolve
end module chemistry

program turing
  use mpi
  use chemistry
  implicit none
  integer :: rank, ranks, ierr, cases, per, k, id, steps
  real(wp), allocatable :: mine(:), all(:)
  character(len=16) :: arg
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, arg)
  read (arg, *) cases
  call get_command_argument(2, arg)
  read (arg, *) steps
  per = cases / ranks
  allocate (mine(per), all(per * ranks))
  do k = 1, per
     id = rank * per + k
     call evolve(id, recipe(0.030_wp + 0.0005_wp * id, 0.058_wp + 0.0002_wp * id), steps, mine(k))
  end do
  call mpi_gather(mine, per, MPI_REAL, all, per, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
     do k = 1, size(all)
        print '(i4,f12.8)', k, all(k)
     end do
  end if
  call mpi_finalize(ierr)
end program turing
