! Exchange Monte Carlo for ordering in a binary BCC alloy (Ising-like pair model
! on the two cubic sublattices).  Prints energy and long-range order per anneal step.
module lattice_mod
  implicit none
  integer, parameter :: dp = kind(1.0d0), i1 = selected_int_kind(2)
  type :: crystal
     integer :: n = 0
     integer(i1), allocatable :: occ(:,:,:,:)    ! (x, y, z, sublattice)
     real(dp) :: v1 = 1.0_dp, v2 = -0.375_dp
  end type crystal
  type :: site
     integer :: x, y, z, s
  end type site
contains
  subroutine setup(c, n)
    type(crystal), intent(out) :: c
    integer, intent(in) :: n
    integer :: i, j, k
    c%n = n
    allocate(c%occ(n, n, n, 2))
    do k = 1, n
       do j = 1, n
          do i = 1, n
             c%occ(i, j, k, 1) = merge(1_i1, -1_i1, mod(i + 2*j + 3*k, 4) < 2)
             c%occ(i, j, k, 2) = -c%occ(i, j, k, 1)
          end do
       end do
    end do
  end subroutine setup

  pure function site_energy(c, p) result(e)
    type(crystal), intent(in) :: c
    type(site), intent(in) :: p
    real(dp) :: e
    integer :: a, b, g, d, o, xm, xp, ym, yp, zm, zp, near, far
    o = 3 - p%s
    d = merge(-1, 1, p%s == 1)
    near = 0
    do g = 0, 1
       do b = 0, 1
          do a = 0, 1
             near = near + c%occ(wrap(p%x + a*d, c%n), wrap(p%y + b*d, c%n), wrap(p%z + g*d, c%n), o)
          end do
       end do
    end do
    xm = wrap(p%x - 1, c%n); xp = wrap(p%x + 1, c%n)
    ym = wrap(p%y - 1, c%n); yp = wrap(p%y + 1, c%n)
    zm = wrap(p%z - 1, c%n); zp = wrap(p%z + 1, c%n)
    far = c%occ(xm, p%y, p%z, p%s) + c%occ(xp, p%y, p%z, p%s) &
        + c%occ(p%x, ym, p%z, p%s) + c%occ(p%x, yp, p%z, p%s) &
        + c%occ(p%x, p%y, zm, p%s) + c%occ(p%x, p%y, zp, p%s)
    e = c%occ(p%x, p%y, p%z, p%s) * (c%v1*near + c%v2*far)
  end function site_energy

  pure integer function wrap(i, n)
    integer, intent(in) :: i, n
    wrap = i
    if (i < 1) wrap = i + n
    if (i > n) wrap = i - n
  end function wrap

  subroutine exchange(c, p, q)
    type(crystal), intent(inout) :: c
    type(site), intent(in) :: p, q
    integer(i1) :: t
    t = c%occ(p%x, p%y, p%z, p%s)
    c%occ(p%x, p%y, p%z, p%s) = c%occ(q%x, q%y, q%z, q%s)
    c%occ(q%x, q%y, q%z, q%s) = t
  end subroutine exchange

  function exchange_cost(c, p, q) result(de)
    type(crystal), intent(in) :: c
    type(site), intent(in) :: p, q
    type(crystal) :: after
    real(dp) :: de
    after = c
    call exchange(after, p, q)
    de = site_energy(after, p) + site_energy(after, q) - site_energy(c, p) - site_energy(c, q)
  end function exchange_cost

  function total_energy(c) result(e)
    type(crystal), intent(in) :: c
    real(dp) :: e
    integer :: i, j, k, s
    e = 0
    do s = 1, 2
       do k = 1, c%n
          do j = 1, c%n
             do i = 1, c%n
                e = e + 0.5_dp*site_energy(c, site(i, j, k, s))
             end do
          end do
       end do
    end do
  end function total_energy
end module lattice_mod

module rng_mod
  implicit none
  integer, parameter :: i8 = selected_int_kind(18)
  integer(i8) :: state = 88172645463325252_i8
contains
  real(kind(1.0d0)) function uniform()
    state = ieor(state, ishft(state, 13))
    state = ieor(state, ishft(state, -7))
    state = ieor(state, ishft(state, 17))
    uniform = real(ishft(state, -11), kind(1.0d0)) * 2.0d0**(-53)
  end function uniform
  integer function below(n)
    integer, intent(in) :: n
    below = 1 + int(uniform()*n)
  end function below
end module rng_mod

program alloy
  use lattice_mod
  use rng_mod
  implicit none
  integer, parameter :: n = 20, anneals = 12, trials = 2400000
  type(crystal) :: c
  type(site) :: p, q
  real(dp) :: de, beta
  integer :: step, t, accepted
  call setup(c, n)
  do step = 1, anneals
     beta = 0.05_dp*step
     accepted = 0
     do t = 1, trials
        p = site(below(n), below(n), below(n), below(2))
        q = site(below(n), below(n), below(n), below(2))
        if (c%occ(p%x, p%y, p%z, p%s) == c%occ(q%x, q%y, q%z, q%s)) cycle
        de = exchange_cost(c, p, q)
        if (de > 0) then
           if (uniform() > exp(-beta*de)) cycle
        end if
        call exchange(c, p, q)
        accepted = accepted + 1
     end do
     print '(a,f6.3,a,f10.5,a,f9.5,a,i9)', 'beta ', beta, '  E/site ', total_energy(c)/(2*n**3), &
          '  order ', abs(sum(real(c%occ(:,:,:,1), dp)) - sum(real(c%occ(:,:,:,2), dp)))/(2*n**3), '  moves ', accepted
  end do
end program alloy
