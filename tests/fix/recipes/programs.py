# ruff: noqa: E501
"""Small programs with something to mend, each with what must (not) be in the changed text."""

from __future__ import annotations

from tests.fix.recipes.cases import Case, c, cpp, f90
from tests.fix.recipes.serial_programs import SERIAL

_SUM = """
static double total(const double *v, int n) { double s = 0; for (int i = 0; i < n; i++) s += v[i] * (1 + i % 7); return s; }
"""

APPLIED: tuple[Case, ...] = (
    *SERIAL,
    c(
        "pure call of the outer variable", "hoist-invariant-call",
        """
typedef struct { int n, m; double *a, *b; } T;
static void run(T *t, double p) {
  for (int i = 0; i < t->n; i++)
    for (int j = 0; j < t->m; j++) t->b[j] += sin(t->a[i] + p) * j;
}
int main(void) {
  T t = {20, 30, malloc(20 * sizeof(double)), calloc(30, sizeof(double))};
  for (int i = 0; i < 20; i++) t.a[i] = 0.1 * i;
  run(&t, 0.3);
  for (int j = 0; j < 30; j++) printf("%.17g ", t.b[j]);
  return 0;
}
""", "sin_once = 0 < t->m ?",
    ),
    c(
        "function of the program", "hoist-invariant-call",
        """
static double weigh(double x, int k) { double s = 0; for (int i = 0; i < k; i++) s += 1.0 / (x + i); return s; }
static double run(double x, int n) { double s = 0; for (int i = 0; i < n; i++) s += weigh(x, 50) * i; return s; }
int main(void) { printf("%.17g\\n", run(1.5, 100)); return 0; }
""", "weigh_once",
    ),
    c(
        "loop without braces in a loop", "hoist-invariant-call",
        """
static double a[8][9];
static void fill(double x) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 9; j++) a[i][j] = exp(x * i) + cos(x) * j;
}
int main(void) {
  fill(0.7);
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 9; j++) printf("%.17g ", a[i][j]);
  return 0;
}
""", "exp_once", "cos_once",
    ),
    cpp(
        "member of a vector", "hoist-invariant-call",
        """
static double f(const std::vector<double> &v, double p) {
  double s = 0;
  for (size_t i = 0; i < v.size(); i++) s += v[i] * std::pow(p, 1.7);
  return s;
}
int main() { std::vector<double> v(40, 1.25); std::printf("%.17g\\n", f(v, 2.0)); }
""", "pow_once",
    ),
    c(
        "exponents that are numbers", "power-to-products",
        """
int main(void) {
  double s = 0;
  for (int i = 1; i < 200; i++) { double x = 0.01 * i; s += pow(x, 3.0) + pow(x + 1, 2.5) - pow(x, 0.5) + pow(x, -0.25) + pow(x, 1.37); }
  printf("%.17g\\n", s);
  return 0;
}
""", "cubed(x)", "power5_2(x + 1)", "pow(x, 1.37)", relative=1e-13,
    ),
    cpp(
        "exponent of all calls", "power-to-products",
        """
static double law(double x, double k) { return std::pow(x, k) + std::pow(2.0 * x, 2.0); }
int main() { double s = 0; for (int i = 1; i < 99; i++) s += law(0.1 * i, 4.0); std::printf("%.17g\\n", s); }
""", "power4(x)", "squared(2.0 * x)", relative=1e-13,
    ),
    c(
        "columns first", "interchange-loops",
        _SUM + """
static void scale(double *a, int n, int m) {
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) a[i * m + j] = a[i * m + j] * 1.5 + i - j;
}
int main(void) {
  double a[30 * 20] = {0};
  scale(a, 30, 20);
  printf("%.17g\\n", total(a, 600));
  return 0;
}
""", "for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++) a",
    ),
    c(
        "three loops", "interchange-loops",
        _SUM + """
static double a[12][13][14];
int main(void) {
  for (int k = 0; k < 14; k++)
    for (int j = 0; j < 13; j++)
      for (int i = 0; i < 12; i++) a[i][j][k] = i + 0.5 * j - 0.25 * k * i;
  printf("%.17g\\n", total(&a[0][0][0], 12 * 13 * 14));
  return 0;
}
""", "int k = 0; k < 14; k++) a[i][j][k]",
    ),
    c(
        "dependence that stays in order", "interchange-loops",
        """
int main(void) {
  static double a[40][50];
  for (int j = 0; j < 50; j++) a[0][j] = 1.0 + j;
  for (int j = 0; j < 50; j++)
    for (int i = 1; i < 40; i++) a[i][j] = a[i - 1][j] * 0.5 + i;
  double s = 0;
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 50; j++) s += a[i][j] * (i + j);
  printf("%.17g\\n", s);
  return 0;
}
""", "for (int j = 0; j < 50; j++) a[i][j] = a[i - 1][j]",
    ),
    c(
        "sum of whole numbers", "interchange-loops",
        """
int main(void) {
  static int a[40][50];
  long s = 0;
  for (int i = 0; i < 40; i++) for (int j = 0; j < 50; j++) a[i][j] = i * 3 + j;
  for (int j = 0; j < 50; j++)
    for (int i = 0; i < 40; i++) s += a[i][j];
  printf("%ld\\n", s);
  return 0;
}
""", "for (int j = 0; j < 50; j++) s += a[i][j]",
    ),
    c(
        "triangle", "schedule-dynamic",
        """
int main(void) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < i; j++) s += 0.5 * j;
  printf("%.17g\\n", s);
  return 0;
}
""", "schedule(dynamic", relative=1e-12,
    ),
    c(
        "triangle", "schedule-guided",
        """
int main(void) {
  long s = 0;
#pragma omp parallel for schedule(static) reduction(+ : s)
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < i; j++) s += j;
  printf("%ld\\n", s);
  return 0;
}
""", "schedule(guided)", has_not=("schedule(static)",),
    ),
    c(
        "triangle", "schedule-cyclic",
        """
int main(void) {
  long s = 0;
#pragma omp parallel for \\
    reduction(+ : s)
  for (int i = 0; i < 300; i++)
    for (int j = 0; j < i; j++) s += j;
  printf("%ld\\n", s);
  return 0;
}
""", "schedule(static, 8)",
    ),
    c(
        "histogram", "private-sums",
        """
typedef struct { long count[32]; double weight; } H;
static void fill(H *h, const int *v, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int b = v[i] & 31;
#pragma omp critical
    {
      h->count[b]++;
      h->weight += 0.5;
    }
  }
}
int main(void) {
  int *v = malloc(1000 * sizeof *v);
  H *h = calloc(1, sizeof *h);
  for (int i = 0; i < 1000; i++) v[i] = i * 7 + i / 3;
  fill(h, v, 1000);
  for (int b = 0; b < 32; b++) printf("%ld ", h->count[b]);
  printf("%.17g\\n", h->weight);
  return 0;
}
""", "[:32]", has_not=("critical",),
    ),
    c(
        "small regions in a loop", "region-if-large",
        """
static void add(double *v, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) v[i] += 0.5 * i;
}
int main(void) {
  double v[30] = {0};
  for (int t = 0; t < 100; t++) add(v, 30);
  printf("%.17g\\n", v[29]);
  return 0;
}
""", "if(n > 20000)",
    ),
    cpp(
        "small regions in a template", "region-if-large",
        """
template <typename T>
class String {
 public:
  explicit String(int count) : y_(count), w_(count, T(0)) {
    for (int i = 0; i < count; i++) y_[i] = T(0.3) * (i % 5);
  }
  void relax(T rate) {
    const int last = static_cast<int>(y_.size()) - 1;
#pragma omp parallel for
    for (int i = 1; i < last; i++) w_[i] = T(0.5) * (y_[i - 1] + y_[i + 1]);
#pragma omp parallel for
    for (int i = 1; i < last; i++) y_[i] += rate * (w_[i] - y_[i]);
  }
  T middle() const { return y_[y_.size() / 2]; }
 private:
  std::vector<T> y_, w_;
};
int main() {
  String<double> s(40);
  for (int t = 0; t < 100; t++) s.relax(0.7);
  std::printf("%.17g\\n", s.middle());
}
""", "if(last > 20000)",
    ),
    c(
        "independent rows", "parallel-loop",
        """
static int nx, ny;
static void update(const double *u, double *v) {
  int i, j;
  double t;
  for (j = 1; j < ny - 1; j++)
    for (i = 1; i < nx - 1; i++) {
      t = u[j * nx + i - 1] + u[j * nx + i + 1];
      v[j * nx + i] = t * 0.5 + sin(t);
    }
}
int main(void) {
  nx = 60, ny = 50;
  double *u = malloc(sizeof(double) * nx * ny), *v = calloc(nx * ny, sizeof(double)), s = 0;
  for (int k = 0; k < nx * ny; k++) u[k] = k % 31;
  update(u, v);
  for (int k = 0; k < nx * ny; k++) s += v[k] * (k % 5);
  printf("%.17g\\n", s);
  return 0;
}
""", "#pragma omp parallel for private(i, t)",
    ),
    cpp(
        "parameter", "pass-by-reference",
        """
static double mean(std::vector<double> v, std::string name) { double s = 0; for (double x : v) s += x; return s / v.size() + name.size(); }
int main() { std::vector<double> v(9, 2.5); double s = 0; for (int i = 0; i < 9; i++) s += mean(v, "abc"); std::printf("%.17g\\n", s); }
""", "const std::vector<double> &v", "const std::string &name",
    ),
    cpp(
        "lines", "newline-instead-of-endl",
        """
int main() { for (int i = 0; i < 9; i++) std::cout << i << ' ' << i * i << std::endl; }
""", "'\\n'", has_not=("endl",),
    ),
    c(
        "records", "buffer-writes",
        """
#include <fcntl.h>
#include <unistd.h>
typedef struct { int a; double b; } R;
static void put(int fd, const R *r) { if (write(fd, r, sizeof *r) != (ssize_t)sizeof *r) exit(1); }
int main(void) {
  int fd = open("records.bin", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  for (int i = 0; i < 9000; i++) { R r; memset(&r, 0, sizeof r); r.a = i; r.b = i * 0.5; put(fd, &r); }
  close(fd);
  FILE *f = fopen("records.bin", "rb");
  int c; unsigned s = 7;
  while ((c = fgetc(f)) != EOF) s = s * 31 + c;
  printf("%u\\n", s);
  return 0;
}
""", "buffered_write(fd, r, sizeof *r)", "buffered_close(fd)",
    ),
    c(
        "buffer of a function", "keep-buffer",
        """
static double work(const double *v, size_t n) {
  double *t = malloc(n * sizeof *t);
  double s = 0;
  for (size_t i = 0; i < n; i++) t[i] = v[i] * v[i];
  for (size_t i = 0; i < n; i++) s += t[n - 1 - i];
  free(t);
  return s;
}
int main(void) {
  double v[4000], s = 0;
  for (int i = 0; i < 4000; i++) v[i] = i * 0.25;
  for (int k = 1; k < 40; k++) s += work(v, 100 * k) + work(v, 4000 - k);
  printf("%.17g\\n", s);
  return 0;
}
""", "static double *t_kept;", has_not=("  free(t);",),
    ),
    cpp(
        "small array", "keep-buffer",
        """
static double three(double x) {
  double *w = new double[16];
  for (int i = 0; i < 16; i++) w[i] = x * i;
  double s = w[3] + w[15];
  delete[] w;
  return s;
}
int main() { double s = 0; for (int i = 0; i < 100; i++) s += three(i); std::printf("%.17g\\n", s); }
""", "w_kept", has_not=("delete",),
    ),
    cpp(
        "queue", "double-ended-queue",
        """
class Q { public: void add(int x) { w_.push_back(x); } int next() { int r = w_.front(); w_.erase(w_.begin()); return r; } bool empty() const { return w_.empty(); } private: std::vector<int> w_; };
int main() { Q q; for (int i = 0; i < 20; i++) q.add(i * 3); long s = 1; while (!q.empty()) s = s * 7 % 10007 + q.next(); std::printf("%ld\\n", s); }
""", "std::deque<int> w_;", "w_.pop_front()",
    ),
    f90(
        "rows first", "fortran-interchange-loops",
        """
program p
  implicit none
  integer, parameter :: n = 40
  real(8) :: a(n, n), b(n, n)
  integer :: i, j
  do j = 1, n
    do i = 1, n
      a(i, j) = i + 0.5d0*j
    end do
  end do
  do i = 2, n - 1
    do j = 2, n - 1
      b(i, j) = a(i - 1, j) + a(i, j + 1)*2
    end do
  end do
  print '(es24.16)', sum(b(2:n-1, 2:n-1))
end program
""", "do j = 2, n - 1\n    do i = 2, n - 1",
    ),
    f90(
        "powers", "fortran-power-to-products",
        """
program p
  implicit none
  real(8) :: x, s
  integer :: i
  s = 0
  do i = 1, 50
    x = 0.1d0*i
    s = s + x**1.5d0 + x**0.25d0 + x**2.0d0 + x**1.3d0
  end do
  print '(es24.16)', s
end program
""", "(x*sqrt(x))", "x**1.3d0", relative=1e-13,
    ),
    f90(
        "pure function", "fortran-hoist-invariant",
        """
module m
  implicit none
  real(8) :: w(5) = [1d0, 2d0, 3d0, 4d0, 5d0]
contains
  real(8) function partition(t)
    real(8), intent(in) :: t
    integer :: k
    partition = 0
    do k = 1, 5
      partition = partition + w(k)*exp(-k/t)
    end do
  end function
  subroutine emerge(f, n, t)
    integer, intent(in) :: n
    real(8), intent(inout) :: f(n)
    real(8), intent(in) :: t
    integer :: k
    do k = 1, n
      f(k) = f(k)*partition(t) + t**0.3d0
    end do
  end subroutine
end module
program p
  use m
  real(8) :: f(30)
  f = 1
  call emerge(f, 30, 1.7d0)
  print '(es24.16)', sum(f)
end program
""", "invariant_value = partition(t)", "= t**0.3d0",
    ),
    f90(
        "triangle", "fortran-schedule-dynamic",
        """
program p
  integer :: i, j
  integer(8) :: s
  s = 0
  !$omp parallel do private(j) reduction(+:s)
  do i = 1, 200
    do j = 1, i
      s = s + j
    end do
  end do
  !$omp end parallel do
  print *, s
end program
""", "schedule(dynamic, 1)",
    ),
    f90(
        "triangle", "fortran-schedule-guided",
        """
program p
  integer :: i, j
  integer(8) :: s
  s = 0
  !$omp parallel do private(j) schedule(static) reduction(+:s)
  do i = 1, 200
    do j = 1, i
      s = s + j
    end do
  end do
  !$omp end parallel do
  print *, s
end program
""", "schedule(guided)",
    ),
    f90(
        "rings", "fortran-reduction",
        """
program p
  implicit none
  integer, parameter :: rings = 8
  real(8) :: mass(rings), r
  integer :: i, k
  mass = 0
  !$omp parallel do private(r, k)
  do i = 1, 500
    r = i*0.5d0
    k = 1 + mod(i, rings)
    !$omp critical
    mass(k) = mass(k) + r
    !$omp end critical
  end do
  !$omp end parallel do
  print '(8es24.16)', mass
end program
""", "reduction(+:mass)", has_not=("critical",),
    ),
    c(
        "buffer that helpers use", "keep-buffer",
        """
static void fill(double *t, const double *v, size_t n) { for (size_t i = 0; i < n; i++) t[i] = v[i]; }
static double work(const double *v, size_t n) {
  double *t = (double *)malloc(sizeof(double) * n);
  if (!t) exit(1);
  if (n < 3) {
    free(t);
    return 1;
  }
  memset(t, 0, n * sizeof(double));
  fill(t, v, n);
  memcpy(t + 1, v, sizeof(double));
  double s = *t;
  for (size_t i = 0; i < n; i++) {
    if (t[i] > 900) break;
    if (i % 2) continue;
    s += t[i];
  }
  free(t);
  return s;
}
int main(void) {
  double v[4000], s = 0;
  for (int i = 0; i < 4000; i++) v[i] = i * 0.25;
  for (int k = 1; k < 40; k++) s += work(v, 100 * k) + work(v, 4000 - k) + work(v, 2);
  printf("%.17g\\n", s);
  return 0;
}
""", "static double *t_kept;",
    ),
    c(
        "function that reads memory", "hoist-invariant-call",
        """
static double norm(const double *v, int n) { double s = 0; for (int i = 0; i < n; i++) s += v[i] * v[i]; return s; }
static void scale(const double *restrict v, double *restrict w, int n) {
  for (int i = 0; i < n; i++) w[i] = (norm(v, n) + 1.0) * i;
}
int main(void) {
  double v[40], w[40];
  for (int i = 0; i < 40; i++) v[i] = i;
  scale(v, w, 40);
  scale(v, w, 0);
  for (int i = 0; i < 40; i++) printf("%.17g ", w[i]);
  return 0;
}
""", "0 < n ? (norm(v, n) + 1.0)",
    ),
    c(
        "scalar and a member", "private-sums",
        """
int main(void) {
  long c = 0, d = 0;
  double s = 0;
#pragma omp parallel for
  for (int i = 0; i < 400; i++) {
#pragma omp critical
    { s += 0.5 * i; c += i; }
#pragma omp atomic
    d += 2;
  }
  printf("%.17g %ld %ld\\n", s, c, d);
  return 0;
}
""", "reduction(+", has_not=("critical",),
    ),
    c(
        "inner loops by data", "schedule-dynamic",
        """
static int length(int n) { int k = 0; while (n > 1) { n = n % 2 ? 3 * n + 1 : n / 2; k++; } return k; }
int main(void) {
  long s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 1; i < 900; i++) s += length(i);
  printf("%ld\\n", s);
  return 0;
}
""", "schedule(dynamic", cause="hot-compute",
    ),
    c(
        "sum of fractions", "parallel-loop",
        """
#include <omp.h>
int main(void) {
  double s = 0;
  long c = 0;
  for (int i = 0; i < 50; i++)
    for (int j = 0; j < 60; j++) { s += exp(-0.1 * i) * j; c += j; }
  printf("%.17g %ld\\n", s, c);
  return 0;
}
""", "reduction(+", relative=1e-12,
    ),
    cpp(
        "parameters of all kinds of use", "pass-by-reference",
        """
struct Big { double v[16]; int n; };
static double part(const Big &b, int k) { return b.v[k] * b.n; }
static double use(Big b, std::vector<double> w, std::map<int, double> m) {
  double s = part(b, 2) + w.front() + w.at(1) + (w.empty() ? 0 : w[0]);
  for (const auto &one : m) s += one.second;
  for (double x : w) s += x;
  const double first = w[0];
  std::vector<double> copy(w.begin(), w.end());
  return s + first + copy.size() + m.size() + b.v[3];
}
int main() {
  Big b{}; b.n = 3; b.v[2] = 4; b.v[3] = 5;
  std::vector<double> w(9, 2.5); std::map<int, double> m; m[2] = 7;
  double s = 0;
  for (int i = 0; i < 9; i++) s += use(b, w, m);
  std::printf("%.17g\\n", s);
}
""", "const Big &b",
    ),
    f90(
        "exponent of all calls", "fortran-power-to-products",
        """
module m
  implicit none
contains
  real(8) function law(x, k)
    real(8), intent(in) :: x
    real(8), intent(in) :: k
    law = x**k
  end function
end module
program p
  use m
  real(8) :: s
  integer :: i
  s = 0
  do i = 1, 40
    s = s + law(0.1d0*i, 1.5d0) + law(2d0*i, 1.5d0)
  end do
  print '(es24.16)', s
end program
""", "sqrt(x)", relative=1e-13,
    ),
    f90(
        "scalars", "fortran-reduction",
        """
program p
  implicit none
  real(8) :: s, t
  integer :: i
  s = 0
  t = 0
  !$omp parallel do
  do i = 1, 500
    !$omp critical
    s = s + i*0.5d0
    t = t + 1d0/i
    !$omp end critical
  end do
  !$omp end parallel do
  print '(2es24.16)', s, t
end program
""", "reduction(+:s", has_not=("critical",), relative=1e-13,
    ),
)  # fmt: skip
