module streams
  use iso_fortran_env, only: int64, real64
  implicit none
  type :: stream
     integer(int64) :: state
   contains
     procedure :: seed => stream_seed
     procedure :: next => stream_next
  end type stream
contains

  subroutine stream_seed(self, id)
    class(stream), intent(inout) :: self
    integer, intent(in) :: id
    self%state = ieor(int(id, int64) * 2654435761_int64, 88172645463325252_int64)
    self%state = ieor(self%state, ishft(self%state, 21))
  end subroutine stream_seed

  function stream_next(self) result(u)
    class(stream), intent(inout) :: self
    real(real64) :: u
    self%state = ieor(self%state, ishft(self%state, 13))
    self%state = ieor(self%state, ishft(self%state, -7))
    self%state = ieor(self%state, ishft(self%state, 17))
    u = real(ishft(self%state, -11), real64) * 2.0_real64**(-53)
  end function stream_next
end module streams

module detector
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: layers = 200
  type :: tally
     integer(int64) :: hits(layers) = 0
     integer(int64) :: escaped = 0
  end type tally
contains

  subroutine score(t, depth)
    type(tally), intent(inout) :: t
    real(real64), intent(in) :: depth
    integer :: k
    k = min(layers, 1 + int(depth * layers))
    !$omp critical (scoring)
    t%hits(k) = t%hits(k) + 1
    !$omp end critical (scoring)
  end subroutine score

  subroutine leave(t)
    type(tally), intent(inout) :: t
    !$omp atomic
    t%escaped = t%escaped + 1
  end subroutine leave

  subroutine report(t)
    type(tally), intent(in) :: t
    integer :: k
    do k = 1, layers, 25
       print '(i5,i14)', k, t%hits(k)
    end do
    print '(a,i14)', 'escaped', t%escaped
  end subroutine report
end module detector

module transport
  use streams
  use detector
  implicit none
contains

  subroutine follow(id, t)
    integer, intent(in) :: id
    type(tally), intent(inout) :: t
    type(stream) :: rng
    real(real64) :: z, mu, path
    integer :: order
    call rng%seed(id)
    z = 0.5_real64
    do order = 1, 60
       mu = 2.0_real64 * rng%next() - 1.0_real64
       path = 0.02_real64 + 0.10_real64 * rng%next()
       z = z + mu * path
       if (z < 0.0_real64 .or. z >= 1.0_real64) then
          call leave(t)
          return
       end if
       call score(t, z)
    end do
  end subroutine follow

  subroutine illuminate(photons, t)
    integer, intent(in) :: photons
    type(tally), intent(inout) :: t
    integer :: i
    !$omp parallel do schedule(static)
    do i = 1, photons
       call follow(i, t)
    end do
    !$omp end parallel do
  end subroutine illuminate
end module transport

program slab
  use transport
  implicit none
  type(tally) :: t
  integer :: photons
  character(len=16) :: arg
  call get_command_argument(1, arg)
  read (arg, *) photons
  call illuminate(photons, t)
  call report(t)
end program slab
