"""Small programs with threads and something to mend, in the many ways in which such programs are written."""

from __future__ import annotations

from tests.fix.recipes.programs import Case

THREADED = (
    Case(
        "one helper for several loops", "parallel-loop", "c",
        """
#include <math.h>
#include <stdio.h>
static double a[400][90], b[400], c[400];
static double work(void)
{
    int i, k;
    double x, s;
    x = 0.5;
    for (i = 0; i < 400; i++) {
        x = 0.25 * i;
        for (k = 0; k < 90; k++)
            a[i][k] = x + k % 7;
    }
    #pragma omp parallel for private(x)
    for (i = 0; i < 400; i++) {
        x = sin(0.01 * i);
        c[i] = x * x;
    }
    for (i = 0; i < 400; i++) {
        x = c[i];
        for (k = 0; k < 90; k++)
            x += a[i][k] * 0.125;
        b[i] = x;
    }
    s = 0;
    for (i = 0; i < 400; i++) {
        x = b[i] * (i % 3);
        s += x;
    }
    return s;
}
int main(void)
{
    double s = 0;
    for (int t = 0; t < 3; t++) s += work();
    printf("%.17g\\n", s);
    return 0;
}
""",
        ("#pragma omp parallel for private(k, x)",), (), 0.0, None,
    ),
    Case(
        "split region", "fortran-reduction", "fortran",
        """
module work
  implicit none
contains
  subroutine tri(a, x, y, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n, n), x(n)
    real(8), intent(out) :: y(n)
    integer :: i, j
    real(8) :: s
    !$omp parallel default(none) &
    !$omp&   shared(a, x, y, n) &
    !$omp&   private(i, j, s)
    !$omp do schedule(static)
    do i = 1, n
      s = 0d0
      do j = i, n
        s = s + a(j, i)*x(j)
      end do
      y(i) = s
    end do
    !$omp end do
    !$omp end parallel
  end subroutine
  function energy(y, n) result(e)
    integer, intent(in) :: n
    real(8), intent(in) :: y(n)
    real(8) :: e
    integer :: i
    e = 0
    !$omp parallel default(shared) private(i)
    !$omp do
    do i = 1, n
      !$omp atomic
      e = e + y(i)*y(i)
    end do
    !$omp end do
    !$omp end parallel
  end function
  subroutine peak(y, n, m)
    integer, intent(in) :: n
    real(8), intent(in) :: y(n)
    real(8), intent(out) :: m
    integer :: i
    m = -huge(m)
    !$omp parallel do
    do i = 1, n
      !$omp critical
      m = max(m, y(i))
      !$omp end critical
    end do
    !$omp end parallel do
  end subroutine
  subroutine scale(y, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: y(n, n)
    integer :: i, j
    do j = 1, n
      !$omp parallel do
      do i = 1, n
        y(i, j) = y(i, j)*0.5d0 + i
      end do
      !$omp end parallel do
    end do
  end subroutine
end module
program p
  use work
  implicit none
  integer, parameter :: n = 200
  real(8) :: a(n, n), x(n), y(n), m
  integer :: i, j
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i*j, 17)
    end do
    x(j) = 1d0/j
  end do
  call tri(a, x, y, n)
  call scale(a, n)
  call peak(y, n, m)
  print '(3es20.10)', energy(y, n), m, sum(a)
end program
""",
        ("!$omp do reduction(+:e)", "parallel do reduction(max:m)",), ("critical", "atomic",), 1e-09, None,
    ),
    Case(
        "loop of one thread", "share-single-work", "c",
        """
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
/* a loop left to one thread by single */
int main(void)
{
    int n = 60000;
    double *a = malloc(sizeof(double) * n), *b = malloc(sizeof(double) * n), s = 0;
#pragma omp parallel
    {
#pragma omp single
        for (int i = 0; i < n; i++)
            a[i] = exp(-i * 1e-4) * sin(i * 0.01);
#pragma omp for
        for (int i = 0; i < n; i++)
            b[i] = a[i] * 2 + 1;
    }
    for (int i = 0; i < n; i++) s += b[i];
    printf("%.9f\\n", s);
    return 0;
}
""",
        ("#pragma omp for\n        for (int i = 0; i < n; i++)\n            a[i]",), ("omp single",), 0, None,
    ),
    Case(
        "buffers of threads", "keep-buffer", "c",
        """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double row(const double *x, int n, int k)
{
    double s = 0;
    double *tmp = (double *)malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) tmp[i] = x[i] * (k % 5);
    for (int i = 1; i < n; i++) tmp[i] += tmp[i - 1] * 0.5;
    s = tmp[n - 1];
    free(tmp);
    return s;
}
int main(void)
{
    int n = 50, m = 2000;
    double x[50], *out = calloc(m, sizeof *out), t = 0;
    for (int i = 0; i < n; i++) x[i] = 1.0 / (i + 1);
#pragma omp parallel for
    for (int k = 0; k < m; k++) {
        double *w = malloc(sizeof(double) * n);
        memcpy(w, x, n * sizeof(double));
        for (int i = 0; i < n; i++) w[i] += k * 0.25;
        out[k] = w[n / 2] + row(w, n, k);
        free(w);
    }
    for (int k = 0; k < m; k++) t += out[k];
    printf("%.9f\\n", t);
    return 0;
}
""",
        ("static __thread double *w_kept;", "static __thread double *tmp_kept;",), (), 0, None,
    ),
    Case(
        "rows of threads", "pad-elements", "c",
        """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define BINS 8
static int local[32][BINS];
int main(void)
{
    int n = 200000, total[BINS] = {0};
    unsigned char *d = malloc(n);
    for (int i = 0; i < n; i++) d[i] = (i * 37) >> 3;
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++)
            local[me][d[i] & (BINS - 1)]++;
    }
    for (int t = 0; t < 32; t++)
        for (int b = 0; b < BINS; b++) total[b] += local[t][b];
    for (int b = 0; b < BINS; b++) printf("%d ", total[b]);
    printf("\\n");
    return 0;
}
""",
        ("local[32][BINS + 32]",), (), 0, None,
    ),
    Case(
        "small array in a named section", "fortran-reduction", "fortran",
        """
module physics
  use, intrinsic :: iso_fortran_env, only: dp => real64
  implicit none
contains
  subroutine bin(x, n, h, nb)
    integer, intent(in) :: n, nb
    real(dp), intent(in) :: x(n)
    integer, intent(inout) :: h(16)
    integer :: i, k
    !$omp parallel do default(none) shared(x, n, h, nb) private(i, k)
    do i = 1, n
      k = 1 + mod(int(x(i)), nb)
      !$omp critical (bins)
      h(k) = h(k) + 1
      !$omp end critical (bins)
    end do
    !$omp end parallel do
  end subroutine bin
  subroutine cover(a, nb, m)
    integer, intent(in) :: nb, m
    real(dp), intent(inout) :: a(m, m, nb)
    integer :: b, i, j
    !$OMP PARALLEL DO PRIVATE(i, j)
    do b = 1, nb
      do j = 1, m
        do i = 1, m
          a(i, j, b) = sin(0.1_dp*i) + cos(0.2_dp*j)*b
        end do
      end do
    end do
    !$OMP END PARALLEL DO
  end subroutine cover
  subroutine axpy(x, y, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp), intent(inout) :: y(n)
    integer :: i
    !$omp parallel do schedule(dynamic, 1)
    do i = 1, n
      y(i) = y(i) + 2*x(i)
    end do
    !$omp end parallel do
  end subroutine axpy
  subroutine relax(u, v, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(n, n)
    real(dp), intent(out) :: v(n, n)
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        v(i, j) = 0.25_dp*(u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
  end subroutine relax
end module physics
program main
  use physics
  implicit none
  integer, parameter :: n = 20000
  real(dp) :: x(n), y(n), a(40, 40, 3), u(60, 60), v(60, 60)
  integer :: h(16), i
  do i = 1, n
    x(i) = mod(i*7, 1000)
  end do
  y = 0; h = 0; v = 0
  u = reshape(x(1:3600), [60, 60])
  call bin(x, n, h, 16)
  call cover(a, 3, 40)
  call axpy(x, y, n)
  call relax(u, v, 60)
  print '(16i6)', h
  print '(3f16.6)', sum(a), sum(y), sum(v)
end program main
""",
        ("shared(x, n, nb) private(i, k) reduction(+:h)",), ("critical",), 1e-09, None,
    ),
    Case(
        "all kinds of sums", "fortran-reduction", "fortran",
        """
program sums
  implicit none
  integer, parameter :: n = 5000
  real(8) :: x(n), s, p, top, low
  integer :: i, c
  do i = 1, n
    x(i) = 1 + mod(i*37, 101)*1d-4
  end do
  s = 0; p = 1; top = 0; low = 9; c = 0
  !$omp parallel do shared(x, s, p, top, low, c) &
  !$omp& private(i)
  do i = 1, n
    !$omp critical
    s = x(i) + s
    p = p*x(i)
    top = max(top, x(i))
    low = min(low, x(i))
    !$omp end critical
    !$omp atomic
    c = c + 1
  end do
  !$omp end parallel do
  print '(f20.8, es20.8, 2f12.8, i8)', s, p, top, low, c
end program sums
""",
        ("shared(x) reduction(+:s, c) reduction(*:p) reduction(max:top) reduction(min:low) &",), ("critical", "atomic",), 1e-07, None,
    ),
    Case(
        "blocks of single and master", "share-single-work", "c",
        """
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
int main(void)
{
    int n = 20000, i, steps = 4;
    double *a = malloc(sizeof(double) * n), *b = calloc(n, sizeof(double)), total = 0, top = 0;
#pragma omp parallel private(i)
    {
        for (int t = 0; t < 4; t++) {
#pragma omp single
            {
                for (i = 0; i < n; i++) a[i] = sqrt(i + 1.0) + b[i] * t;
            }
#pragma omp for
            for (i = 0; i < n; i++) b[i] = 0.5 * a[i];
        }
#pragma omp master
        for (i = 0; i < n; i++) total += b[i];
    }
#pragma omp parallel for
    for (i = 0; i < n; i++) {
#pragma omp critical
        top = b[i] > top ? b[i] : top;
    }
    printf("%.6f %.9f %d\\n", total, top, steps);
    return 0;
}
""",
        ("#pragma omp for\n                for (i", "#pragma omp for reduction(+ : total)",), ("single", "master",), 1e-07, None,
    ),
)  # fmt: skip
