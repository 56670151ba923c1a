# ruff: noqa: E501
"""Programs whose outer loop makes calls of an inner counter again and again, and others in which a table would be wrong."""

from __future__ import annotations

from tests.fix.recipes.cases import Case, c, cpp, f90
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as c_miss
from tests.fix.recipes.misses import cpp as cpp_miss
from tests.fix.recipes.misses import f90 as f90_miss

_RECIPE, _FORTRAN = "tabulate-calls", "fortran-tabulate-calls"

_IN_MAIN = 'int main(void) {{ double x[20], y[20], s = 0; int n = 20; for (int k = 0; k < n; k++) x[k] = y[k] = k;\n{}\nprintf("%g", s); }}'
_PLAIN = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += y[i] * exp(-x[j]);"

_F90 = """
program main
  implicit none
  real(8) :: x(20), y(20), s
  integer :: i, j, n
  {decl}
  n = 20
  s = 0
  do i = 1, n
    x(i) = i
    y(i) = 1.0d0/i
  end do
{loops}
  print *, s
end program main
"""
_F90_LOOPS = """
  do i = 1, n
    do j = 1, n
      s = s + y(i)*exp(-x(j))
    end do
  end do
"""

TABULATED: tuple[Case, ...] = (
    c("the plain program of the near misses", _RECIPE, _IN_MAIN.format(_PLAIN), "s += y[i] * exp_of[j];"),
    c(
        "the sum of a row", _RECIPE,
        """
static void project(const double *angle, const double *weight, double *out, int rows, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[i] += weight[i] * (2.0 * exp(-angle[j]) + 1.0);
}
int main(void)
{
    double *angle = malloc(40 * sizeof(double)), *weight = malloc(30 * sizeof(double)), *out = calloc(30, sizeof(double)), s = 0;
    for (int j = 0; j < 40; j++) angle[j] = 0.1 * j;
    for (int i = 0; i < 30; i++) weight[i] = 1.0 / (i + 1);
    project(angle, weight, out, 30, 40);
    for (int i = 0; i < 30; i++) s += out[i] * (i % 7);
    printf("%.17g\\n", s);
    return 0;
}
""", "exp_of[j] = 2.0 * exp(-angle[j]) + 1.0;", "weight[i] * exp_of[j];", "free(exp_of);",
    ),
    c(
        "pairs", _RECIPE,
        """
int main(void)
{
    double x[50], s = 0;
    int i, j, n = 50;
    for (i = 0; i < n; i++) x[i] = 1.0 + (i * 37 % 11);
    for (i = 0; i < n; i++)
        for (j = i + 1; j < n; j++) s += x[i] * log(x[j]);
    printf("%.17g\\n", s);
    return 0;
}
""", "for (int j = 0; j < n; j++)\n        log_of[j] = log(x[j]);", "s += x[i] * log_of[j]",
    ),
    c(
        "a window of lines", _RECIPE,
        """
typedef struct { double at, broad; } Line;
typedef struct { double warmth; } Layer;
static Line *lines;
static int nlines;
static double width(const Line *l, const Layer *y) { return l->broad * pow(y->warmth, 0.5 + l->at); }
static int first(double at) { int k = 0; while (k < nlines && lines[k].at < at) k++; return k; }
static void absorb(const Layer *a, double *dark, int channels)
{
#pragma omp parallel for
    for (int c = 0; c < channels; c++) {
        double nu = 0.1 * c, k = 0.0;
        for (int i = first(nu - 0.4); i < nlines && lines[i].at <= nu + 0.4; i++) {
            double off = nu - lines[i].at, w = width(&lines[i], a);
            k += w / (off * off + w * w);
        }
        dark[c] += k;
    }
}
int main(void)
{
    double *dark = calloc(60, sizeof(double)), s = 0;
    nlines = 70;
    lines = malloc(70 * sizeof(Line));
    for (int i = 0; i < 70; i++) { lines[i].at = 0.09 * i; lines[i].broad = 0.1 + 0.01 * (i % 5); }
    for (int t = 0; t < 3; t++) {
        Layer y = {2.0 + t};
        absorb(&y, dark, 60);
    }
    for (int i = 0; i < 60; i++) s += dark[i] * (i % 7);
    printf("%.17g\\n", s);
    return 0;
}
""", "for (int i = 0; i < nlines; i++)\n        width_of[i] = width(&lines[i], a);\n#pragma omp parallel for", "w = width_of[i];",
    ),
    c(
        "every step needs the same weights", _RECIPE,
        """
int main(void)
{
    int n = 12, m = 9;
    double u[12][9], s = 0, scale = 0.02;
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) u[i][j] = (i * 5 + j * 3) % 7;
    for (int t = 0; t < 4; t++) {
        double sum = 0;
        for (int i = 1; i < n; i++)
            for (int j = 0; j <= m - 1; j++)
                sum += u[i][j] * exp(-scale * (i * i + j * j));
        u[t][t] += 0.1 * sum;
        s += sum;
    }
    printf("%.17g\\n", s);
    return 0;
}
""", "exp_of[(size_t)i * (m - 1 + 1 > 0 ? m - 1 + 1 : 1) + j] = exp(-scale * (i * i + j * j));",
    ),
    c(
        "counts from below zero, by two", _RECIPE,
        """
int main(void)
{
    int n = 11, m = 6;
    double s = 0, a[11];
    for (int i = 0; i < n; i++) a[i] = i * 7 % 5;
    for (int i = 0; i < n; i++)
        for (int k = -m; k <= m; k += 2) s += a[i] * cos(0.3 * k);
    printf("%.17g\\n", s);
    return 0;
}
""", "k += 2)\n        cos_of[k - (-m)] = cos(0.3 * k);",
    ),
    c(
        "what is called has a loop", _RECIPE,
        """
static double series(double x, int terms)
{
    double s = 0, t = 1;
    for (int k = 1; k <= terms; k++) { t *= x / k; s += t; }
    return s;
}
int main(void)
{
    double x[20], q[15], s = 0;
    for (int j = 0; j < 20; j++) x[j] = 0.05 * j;
    for (int i = 0; i < 15; i++) q[i] = i % 4;
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 20; j++) s += q[i] * series(x[j], 12);
    printf("%.17g\\n", s);
    return 0;
}
""", "if (0 < 15)\n        for (int j = 0; j < 20; j++)\n            series_of[j] = series(x[j], 12);",
    ),
    cpp(
        "members of a class", _RECIPE,
        """
struct Sky {
    std::vector<double> height, dark;
    double scale;
    double seen(double z) const { return scale * std::exp(-z / 8.0); }
    void shine(int rays)
    {
        for (int r = 0; r < rays; r++) {
            double left = 1.0;
            for (std::size_t k = 0; k < height.size(); ++k) {
                left *= 1.0 - 0.01 * seen(height[k]) / (r + 1);
                if (left < 0.5) break;
            }
            dark[r] = left;
        }
    }
};
int main()
{
    Sky sky{{}, std::vector<double>(30), 0.7};
    for (int k = 0; k < 25; k++) sky.height.push_back(0.4 * k);
    sky.shine(30);
    double s = 0;
    for (double d : sky.dark) s += d;
    std::printf("%.17g\\n", s);
}
""", "std::vector<double> seen_of((size_t)(height.size() > 0 ? height.size() : 1));", "left *= 1.0 - seen_of[k] / (r + 1);",
        relative=1e-15,
    ),
    f90("the plain program of the near misses", _FORTRAN, _F90.format(decl="", loops=_F90_LOOPS), "tabulated(j) = exp(-x(j))", "y(i)*tabulated(j)"),
    f90(
        "pairs, with threads", _FORTRAN,
        """
module forces
  implicit none
contains
  subroutine attract(q, x, f, n)
    integer, intent(in) :: n
    real(8), intent(in) :: q(n), x(n)
    real(8), intent(out) :: f(n)
    integer :: i, j
    f = 0
    !$omp parallel do private(j) schedule(static)
    do i = 1, n - 1
      do j = i + 1, n
        f(i) = f(i) + q(i)*x(j)**0.7d0*sin(q(j))
      end do
    end do
    !$omp end parallel do
  end subroutine attract
end module forces
program main
  use forces
  implicit none
  real(8) :: q(40), x(40), f(40)
  integer :: k
  do k = 1, 40
    q(k) = 0.1d0*k
    x(k) = 1 + mod(k*7, 11)
  end do
  call attract(q, x, f, 40)
  print '(es24.16)', sum(f)
end program main
""", "do j = lbound(x, 1), n\n      tabulated(j) = x(j)**0.7d0", "do j = lbound(q, 1), n\n      tabulated2(j) = sin(q(j))\n    end do\n    !$omp parallel do",
    ),
    f90(
        "every step needs the same weights", _FORTRAN,
        """
program main
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer :: i, j, t
  real(dp) :: u(9, 7), s, total, scale
  scale = 0.02_dp
  total = 0
  do j = 1, 7
    do i = 1, 9
      u(i, j) = mod(i*5 + j*3, 7)
    end do
  end do
  do t = 1, 4
    s = 0
    do j = 2, 7
      do i = 1, 9
        s = s + u(i, j)*exp(-scale*(i*i + j*j))
      end do
    end do
    u(t, t) = u(t, t) + 0.1_dp*s
    total = total + s
  end do
  print '(es24.16)', total
end program main
""", "allocate (tabulated(1:9, 2:7))", "u(i, j)*tabulated(i, j)",
    ),
)  # fmt: skip


def _miss(why: str, loops: str, before: str = "") -> Miss:
    return c_miss(why, _RECIPE, before + _IN_MAIN.format(loops))


TABLE_MISSES: tuple[Miss, ...] = (
    _miss("what it reads is written in the outer loop", "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) s += exp(x[j]); x[i] = s; }"),
    _miss("it depends on the outer counter", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += exp(x[j] * y[i]);"),
    _miss("it depends on what the outer loop declares", "for (int i = 0; i < n; i++) { double q = y[i]; for (int j = 0; j < n; j++) s += exp(x[j] * q); }"),
    _miss("the counter is changed in the body", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { s += exp(x[j]); if (s > 9) j++; }"),
    _miss("the inner loop ends elsewhere each time", "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s += exp(x[j]);"),
    _miss("it may begin below zero", "for (int i = 0; i < n; i++) for (int k = -i; k < n; k++) s += exp(0.1 * k);"),
    _miss("counts down", "for (int i = 0; i < n; i++) for (int j = n - 1; j >= 0; j--) s += exp(x[j]);"),
    _miss("leaves the function", "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) s += exp(x[j]); if (s > 1e9) return 1; }"),
    _miss("what is called counts", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += f(x[j]);", "static int calls;\nstatic double f(double x) { calls++; return exp(x); }\n"),
    _miss("whole numbers are divided where there is something to divide by", "int d[20] = {0};\nfor (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (d[j]) s += exp(100 / d[j]);"),
    _miss("might not end where it is not asked", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (x[j] > 1) s += f(x[j]);", "static double f(double x) { double t = 0; while (x > 0.5) { x /= 2; t += exp(x); } return t; }\n"),
    _miss("there is one loop alone", "for (int j = 0; j < n; j++) s += exp(x[j]);"),
    _miss("costs next to nothing", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += sqrt(x[j]) * i;"),
    _miss("the threads are told what they share", "\n#pragma omp parallel for default(none) shared(x, n) reduction(+:s)\nfor (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += exp(x[j]);\n"),
    _miss("the counter's address is handed on", "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { s += exp(x[j]); scanf(\"%d\", &j); }"),
    c_miss("a benchmark repeats its work", _RECIPE, "int main(void) { double x[20] = {0}, s = 0;\nfor (int r = 0; r < 9; r++) { for (int j = 0; j < 20; j++) s += exp(x[j]); }\nprintf(\"%g\", s); }"),
    cpp_miss("the loop goes over items", _RECIPE, "double f(const std::vector<double> &x, const std::vector<double> &y) { double s = 0;\nfor (double a : y) for (double b : x) s += a * std::exp(b); return s; }"),
    cpp_miss("the object may be another one", _RECIPE, "struct S { virtual double f(double x) const { return std::exp(x); } }; double g(const S &o, const double *x, int n) { double s = 0;\nfor (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += i * o.f(x[j]);\n return s; }"),
    f90_miss("what it reads is written in the outer loop", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n    x(i) = s\n  end do\n")),
    f90_miss("it depends on the outer counter", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + exp(-x(j)*y(i))\n    end do\n  end do\n")),
    f90_miss("the inner loop ends elsewhere each time", _FORTRAN, _F90.format(decl="real(8) :: s0 = 0.1d0", loops="  do i = 1, n\n    do j = 1, i\n      s = s + y(i)*exp(-s0*j)\n    end do\n  end do\n")),
    f90_miss("counts by two", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n, 2\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n")),
    f90_miss("counts down", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = n, 1, -1\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n")),
    f90_miss("the counter is used afterwards", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n  s = s + j\n")),
    f90_miss("an element that is asked for only sometimes", _FORTRAN, _F90.format(decl="integer :: k(20) = 0", loops="  do i = 1, n\n    do j = 1, n\n      if (k(j) > 0) s = s + y(i)*exp(-x(k(j)))\n    end do\n  end do\n")),
    f90_miss("there is one loop alone", _FORTRAN, _F90.format(decl="", loops="  do j = 1, n\n    s = s + exp(-x(j))\n  end do\n")),
    f90_miss("threads come to the loop", _FORTRAN, _F90.format(decl="", loops="  !$omp parallel private(i, j)\n  if (n > 20) stop\n  !$omp do reduction(+:s)\n  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n  !$omp end do\n  !$omp end parallel\n")),
    f90_miss("the threads are told what they share", _FORTRAN, _F90.format(decl="", loops="  !$omp parallel do default(none) shared(x, y, n) private(j) reduction(+:s)\n  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n  end do\n")),
    f90_miss("the loop is left early", _FORTRAN, _F90.format(decl="", loops="  do i = 1, n\n    do j = 1, n\n      s = s + y(i)*exp(-x(j))\n    end do\n    if (s > 3) exit\n  end do\n")),
)  # fmt: skip
