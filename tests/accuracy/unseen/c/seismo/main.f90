module filter_bank
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: ntap = 12, nfilter = 96, nsample = 1600
  type :: bank_t
    real(dp) :: tap(ntap, nfilter)
    real(dp) :: level(nfilter)
  end type bank_t
contains
  subroutine design(bank)
    type(bank_t), intent(out) :: bank
    real(dp) :: omega, decay
    integer :: f, k
    do f = 1, nfilter
      omega = 3.0_dp*f/nfilter
      do k = 1, ntap
        decay = exp(-0.25_dp*(k - 1))
        bank%tap(k, f) = decay*cos(omega*(k - 1))
      end do
      bank%level(f) = 0.0_dp
    end do
  end subroutine design

  subroutine record_trace(x, number)
    real(dp), intent(out) :: x(nsample + ntap)
    integer, intent(in) :: number
    integer :: i, h
    do i = 1, nsample + ntap
      h = ieor(i*40503 + number*30011, number*977)
      h = ieor(h, ishft(h, -13))
      h = iand(h, 65535)
      x(i) = real(h, dp)*(1.0_dp/32768.0_dp) - 1.0_dp
    end do
  end subroutine record_trace

  pure function response(x, c) result(e)
    real(dp), intent(in) :: x(nsample + ntap), c(ntap)
    real(dp) :: e, y
    real(dp) :: c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12
    integer :: i
    c1 = c(1)
    c2 = c(2)
    c3 = c(3)
    c4 = c(4)
    c5 = c(5)
    c6 = c(6)
    c7 = c(7)
    c8 = c(8)
    c9 = c(9)
    c10 = c(10)
    c11 = c(11)
    c12 = c(12)
    e = 0.0_dp
    !$omp simd reduction(+:e) private(y)
    do i = 1, nsample
      y = (c1*x(i) + c2*x(i+1) + c3*x(i+2) + c4*x(i+3)) &
        + (c5*x(i+4) + c6*x(i+5) + c7*x(i+6) + c8*x(i+7)) &
        + (c9*x(i+8) + c10*x(i+9) + c11*x(i+10) + c12*x(i+11))
      e = e + abs(y)
    end do
  end function response

  subroutine analyse(bank, x)
    type(bank_t), intent(inout) :: bank
    real(dp), intent(in) :: x(nsample + ntap)
    integer :: f
    do f = 1, nfilter
      bank%level(f) = bank%level(f) + response(x, bank%tap(:, f))
    end do
  end subroutine analyse
end module filter_bank

program seismo
  use mpi
  use filter_bank
  implicit none
  type(bank_t) :: bank
  real(dp) :: trace(nsample + ntap), total(nfilter)
  integer :: rank, nranks, ierr, ntraces, k, f
  character(len=32) :: arg
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  ntraces = 20000
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) ntraces
  end if
  call design(bank)
  do k = rank + 1, ntraces, nranks
    call record_trace(trace, k)
    call analyse(bank, trace)
  end do
  call MPI_Reduce(bank%level, total, nfilter, MPI_DOUBLE_PRECISION, MPI_SUM, 0, &
                  MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    do f = 1, nfilter, 12
      print '(i4,es20.10)', f, total(f)/(real(ntraces, dp)*nsample)
    end do
  end if
  call MPI_Finalize(ierr)
end program seismo
