# ruff: noqa: E501
"""Programs that ask a function the same again and again from loops further out, and near misses of them."""

from __future__ import annotations

from tests.fix.recipes.cases import c, cpp
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss
from tests.fix.recipes.misses import cpp as miss_cpp

_RECIPE = "remember-last-result"

#: What stands around a function `f(x, n)` in C: rows that are the same for all columns, with -0.0 and NaN among them.
_GRID = """
typedef struct { double *lat; double *cell; int rows, cols; } Model;
static double step(Model *m, int row, int col, const int *day)
{
    double *p = &m->cell[row * m->cols + col];
    if (*p > 90) return 0;
    double sun = f(m->lat[row], *day);
    *p += 1;
    return sun * (1 + *p);
}
int main(void)
{
    double lat[] = {0.0, -0.0, -0.0, 0.0, NAN, 1.25, 1.25, -2.5, 1e300, 0.5}, cell[10 * 7] = {0};
    Model m = {lat, cell, 10, 7};
    for (int day = 0; day < 5; day++)
        for (int r = 0; r < m.rows; r++) {
            double s = 0;
            for (int c = 0; c < m.cols; c++) s += step(&m, r, c, &day);
            unsigned long long bits;
            memcpy(&bits, &s, sizeof bits);
            if (s != s) bits = 0; /* of what is no number the sign is the compiler's choice */
            printf("%d %d %llx\\n", day, r, bits);
        }
    return 0;
}
"""

LAST_RESULTS = (
    c(
        "zeros of both signs and no numbers", _RECIPE,
        """
static const double Half = 0.5, Turn = 2 * 3.25;
#define SCALE 3
static double f(double x, int n) { return atan2(x, -1.0) * Turn + SCALE * n + Half + M_PI; }
""" + _GRID, "memcmp(&last_x, &x, sizeof(x)) == 0 && last_n == n", "_Thread_local double last_x, last_result;", "return last_result = atan2",
    ),
    c(
        "parameters that are changed, and several ways out", _RECIPE,
        """
double f(double x, int n);
double f(double x, int n)
{
    double s = 0; int k = 0;
    if (n == 3) return(x);
    for (; n >= 0; n--) { x = x * 0.5 + n; s += cos(x); }
    switch (k) {
    case 0: if (s > 100) return 1;
    default: break;
    }
    if (s < 0)
        return k++, s;
    return s;
}
""" + _GRID, "return last_result = (x);", "return last_result = 1;", "return last_result = (k++, s);", "    last_n = n;\n",
    ),
    c(
        "functions below and a constant table", _RECIPE,
        """
static const double weight[4] = {0.5, 1.5, -2.0, 1e-3};
static double inner(double x) { double t[2] = {x, 1}; return exp(-t[0] * t[0]) + t[1]; }
static double f(const double x, unsigned int n) { double s = 0; for (unsigned k = 0; k < n; k++) s += weight[k & 3] * inner(x); return s; } // in one line
""" + _GRID, "static _Thread_local double last_x, last_result;", "_Thread_local unsigned int last_n;", "return last_result = s; }", has_not=("return last_result = exp",),
    ),
    c(
        "lower precision", _RECIPE,
        """
static float f(float x, int n) { if (n > 2) return 0.5f; return expf(-x * x) + sqrtf(n); }
""" + _GRID, "static _Thread_local unsigned char last_x[sizeof(x)];", "memcmp(last_x, &x, sizeof(x)) == 0", "_Thread_local double last_result;",
    ),
    c(
        "an array of rows and variables of the caller", _RECIPE,
        """
static long f(double x, long n) { long s = 0; for (int k = 0; k < 50; k++) s += (long)floor(x * k) % (n + 1); return s; }
static double lat[6] = {1, 2, 3.5, 4, 5, 6};
static long asked;
static long column(int row, int day) { const double here = 2 * lat[row]; const long d = day + 1; asked++; return f(here, d); }
static long line(int row, int day, int cols) { long s = 0; int c = 0; while (c < cols) { s += column(row, day) * c; c++; } return s; }
int main(void) { for (int day = 0; day < 3; day++) for (int r = 0; r < 6; r++) printf("%ld\\n", line(r, day, 9)); return 0; }
""", "last_n == n", "static _Thread_local long last_n, last_result;",
    ),
    cpp(
        "threads, a name space and members", _RECIPE,
        """
#include <omp.h>
namespace sky { namespace {
inline double clear(double lat, std::int32_t day) noexcept { return lat < 0 ? 0.0 : std::pow(lat, 1.0 + 0.01 * day); }
} }
class Site {
  double lat_;
  int day_;
public:
  Site(double lat, int day) : lat_(lat), day_(day) {}
  double melt(double snow) const { return snow * sky::clear(lat_, day_); }
};
int main() {
  std::vector<double> rows(12, 0.0);
#pragma omp parallel for
  for (int r = 0; r < 12; r++) {
    Site site(0.25 * r, r % 5);
    for (int c = 0; c < 40; c++) rows[r] += site.melt(1.0 + c % 3);
  }
  for (double one : rows) std::printf("%.17g\\n", one);
}
""", "#include <cstring>\n", "std::memcmp(&last_lat, &lat, sizeof(lat)) == 0", "static thread_local std::int32_t last_day;", "static thread_local bool has_last;",
    ),
    c(
        "other names of types", _RECIPE,
        """
typedef double real;
static real f(real x, int n) { real s = 0; for (int k = 0; k < n; k++) s += sin(x * k); return s; }
""" + _GRID, "_Thread_local double last_x, last_result;",
    ),
    c(
        "no include but one under a condition", _RECIPE,
        """
static int f_calls(int n) { int s = 0; for (int k = 1; k <= n; k++) if (n % k == 0) s++; return s; }
static int item(const int *v, int r, int c) { return c + f_calls(v[r]); }
int main(void) { int v[] = {60, 97, 97, 128}; long s = 0; for (int r = 0; r < 4; r++) for (int c = 0; c < 9; c++) s += item(v, r, c); printf("%ld\\n", s); return 0; }
""", "if (has_last && last_n == n)", has_not=("memcmp",),
    ),
)  # fmt: skip


def _beside(function: str, before: str = "") -> str:
    """A whole program around a function `f(x, n)` that may not be changed."""
    return before + function + _GRID


def _called(
    step: str, *, function: str = "static double f(double x, int n) { return pow(x, n + 0.5); }", loop: str = ""
) -> str:
    """A whole program whose loop calls a function `step`, in which the call stands."""
    loop = loop or "for (int c = 0; c < 7; c++) s += step(v, r, c);"
    return f'{function}\n{step}\nint main(void) {{ double v[9] = {{1, 2, 3}}, s = 0; for (int r = 0; r < 9; r++) {{ {loop} s *= 0.5; }} printf("%g", s); return 0; }}'


def _no(why: str, body: str) -> Miss:
    return miss(why, _RECIPE, body)


def _no_cpp(why: str, body: str) -> Miss:
    return miss_cpp(why, _RECIPE, body)


_PLAIN = "static double f(double x, int n) { return pow(x, n + 0.5); }"
_STEP = "static double step(double *v, int r, int c) { return c + f(v[r], 3); }"

_CPP_STEP = 'static double step(double x, int c) { return c + f(x); } int main() { double s = 0; for (int r = 0; r < 9; r++) { for (int c = 0; c < 9; c++) s += step(r, c); s *= 2; } std::printf("%g", s); }'

#: What the near misses are without what is wrong in them.
CHANGED = (
    _no("a function beside the grid", _beside(_PLAIN)),
    _no("a step", _called(_STEP)),
    _no("a member that stays", _called("typedef struct { double t; } S; static double step(S *s, int c) { return f(s->t, 3) + c; }", loop="S o = {1}; for (int c = 0; c < 7; c++) s += step(&o, c);")),
    _no("the same from two functions", _called("static double step(double *v, int r, int c) { double x = v[r]; return f(x, 3) + f(x, 3) * c; }")),
    _no("a loop beside other programs' loops without promises", _called(_STEP, loop="\n#pragma omp parallel for reduction(+:s)\nfor (int c = 0; c < 7; c++) s += step(v, r, c);\n")),
    _no("a promise in a function that does not call it", "static double all(const double *v) { double s = 0;\n#pragma omp simd reduction(+:s)\nfor (int k = 0; k < 9; k++) s += v[k]; return s; }\n" + _called(_STEP, loop="for (int c = 0; c < 7; c++) s += step(v, r, c) + all(v);")),
    _no_cpp("a function of C++", "static double f(double x) { return std::exp(x); } " + _CPP_STEP),
    _no_cpp("the object stays", "static double f(double x) { return std::exp(x); } struct S { double k; double look(int c) const { return c + f(k); } }; int main() { std::vector<S> all(9); double s = 0; for (S &one : all) { for (int r = 0; r < 9; r++) s += one.look(r); s *= 2; } std::printf(\"%g\", s); }"),
)  # fmt: skip

LAST_RESULT_MISSES = (
    # -- the function does or reads something else
    _no("reads what changes", _beside("static double g; static double f(double x, int n) { return pow(x, g); }")),
    _no("reads what another file may change", _beside("extern const double g; static double f(double x, int n) { return pow(x, g); }")),
    _no("reads what the hardware changes", _beside("static const volatile double g = 1; static double f(double x, int n) { return pow(x, g); }")),
    _no("reads a name that nobody declares", _beside("static double f(double x, int n) { return pow(x, unknown); }")),
    _no("reads a variable that a local one hides later", _beside("static double g; static double f(double x, int n) { double s = pow(x, g); { double g = 2; s += g; } return s; }")),
    _no("reads through a function", _beside("static double g; static double k(double x) { return x * g; } static double f(double x, int n) { double g = n; return pow(k(x), g); }")),
    _no("counts", _beside("static int calls; static double f(double x, int n) { calls++; return pow(x, n); }")),
    _no("prints", _beside("static double f(double x, int n) { printf(\"%d\", n); return pow(x, n); }")),
    _no("draws", _beside("static double f(double x, int n) { return pow(x, rand()); }")),
    _no("calls what is not seen", _beside("double g(double); static double f(double x, int n) { return pow(x, g(x)); }")),
    _no("keeps something already", _beside("static double f(double x, int n) { static double last; last = pow(x, n); return last; }")),
    _no("calls itself", _beside("static double f(double x, int n) { return n < 1 ? exp(x) : f(x, n - 1); }")),
    _no("calls itself through another one", _beside("static double f(double, int); static double g(double x, int n) { return n < 1 ? x : f(x, n - 1); } static double f(double x, int n) { return exp(g(x, n)); }")),
    _no("address of a parameter", _beside("static double f(double x, int n) { double *p = &x; *p += 1; return pow(x, n); }")),
    _no("address of a parameter that is compared", _beside("static double f(double x, int n) { const double *p = &x; return p ? pow(x, n) : 0; }")),
    _no("volatile inside", _beside("static double f(double x, int n) { volatile double y = pow(x, n); return y; }")),
    _no("assembler", _beside("static double f(double x, int n) { asm volatile(\"\"); return pow(x, n); }")),
    # -- its parameters and its result
    _no("pointer", _called("static double step(double *v, int r, int c) { return f(&v[r], 3); }", function="static double f(const double *x, int n) { return pow(*x, n); }")),
    _no("record", _called("static double step(double *v, int r, int c) { P p = {v[r]}; return f(p); }", function="typedef struct { double x; } P; static double f(P p) { return exp(p.x); }")),
    _no("bytes that are never set", _beside("static double f(long double x, int n) { return pow(x, n); }")),
    _no("no parameters", _called("static double step(double *v, int r, int c) { return f(); }", function="static double f(void) { return exp(2); }")),
    _no("any number of parameters", _called("static double step(double *v, int r, int c) { return f(v[r], 3); }", function="#include <stdarg.h>\nstatic double f(double x, ...) { return exp(x); }")),
    _no("whole number as a number of lower precision", _beside("static float f(double x, int n) { if (n) return n * 100000001L; return expf(x); }")),
    # -- how it is compiled
    _no("attribute", _beside("__attribute__((noinline)) static double f(double x, int n) { return pow(x, n); }")),
    _no("attribute where it is declared", _beside("double f(double x, int n) __attribute__((const));\ndouble f(double x, int n) { return pow(x, n); }")),
    _no("attribute behind a macro", _beside("#define PURE __attribute__((const))\nPURE double f(double x, int n);\ndouble f(double x, int n) { return pow(x, n); }")),
    _no("defined for other files", _beside("inline double f(double x, int n) { return pow(x, n); } extern inline double f(double x, int n);")),
    _no("two of them", _beside("#ifdef FAST\nstatic double f(double x, int n) { return exp(n * log(x)); }\n#else\nstatic double f(double x, int n) { return pow(x, n); }\n#endif\n")),
    _no("copies for several lanes", _beside("#pragma omp declare simd\nstatic double f(double x, int n) { return pow(x, n); }")),
    _no("loop that promises to carry nothing", _called(_STEP, loop="\n#pragma omp simd reduction(+:s)\nfor (int c = 0; c < 7; c++) s += step(v, r, c);\n")),
    _no("another processor", _called(_STEP, loop="\n#pragma omp target teams distribute parallel for reduction(+:s) map(v)\nfor (int c = 0; c < 7; c++) s += step(v, r, c);\n")),
    _no("another memcmp", _beside("#define memcmp(a, b, n) 0\nstatic double f(double x, int n) { return pow(x, n); }")),
    # -- the program looks at how it was computed
    _no("rounding is changed", _beside("#include <fenv.h>\nvoid up(void) { fesetround(FE_UPWARD); } static double f(double x, int n) { return pow(x, n); }")),
    _no("errors are asked for", _beside("#include <errno.h>\nint bad(void); static int check(void) { errno = 0; bad(); return errno; } static double f(double x, int n) { return pow(x, n); }")),
    _no("signals", _beside("#include <signal.h>\nstatic double f(double x, int n) { return pow(x, n); } static void on(int k) { printf(\"%g\", f(k, 1)); } void set(void) { signal(SIGINT, on); }")),
    # -- it cannot help
    _no("cheap", _beside("static double f(double x, int n) { return fabs(x) * n; }")),
    _no("another argument each time", _called("static double step(double *v, int r, int c) { return f(v[r], c); }")),
    _no("another item each time", _called("static double step(double *v, int r, int c) { return f(v[c], r); }")),
    _no("another argument by a variable", _called("static double step(double *v, int r, int c) { int k = c + 1; double x = v[k % 9]; return f(x, r); }")),
    _no("counted in the caller", _called("static double step(double *v, int r, int c) { double s = 0; for (int k = 0; k < 4; k++) s += f(v[r], k); return s + c; }")),
    _no("parameter of the caller is changed", _called("static double step(double *v, int r, int c) { r = (r + c) % 9; return f(v[r], 3); }")),
    _no("what it reads is written", _called("static double step(double *v, int r, int c) { v[r] += 0.5; return f(v[r], 3) + c; }")),
    _no("a member that is written", _called("typedef struct { double t; } S; static double step(S *s, int c) { double y = f(s->t, 3); s->t += 0.1; return y + c; }", loop="S o = {1}; for (int c = 0; c < 7; c++) s += step(&o, c);")),
    _no("a variable of the file that counts", _called("static int now; static double step(double *v, int r, int c) { now++; return f(v[r], now) + c; }")),
    _no("asked something else between", _called("static double step(double *v, int r, int c) { return f(v[r], 3) - f(v[r], 4) + c; }")),
    _no("asked something else by another one", _called("static double other(double *v, int r) { return f(v[r], 1); } static double step(double *v, int r, int c) { return f(v[r], 3) + other(v, r) + c; }")),
    _no("argument is drawn", _called("static double step(double *v, int r, int c) { return f(rand() % 3, r) + c; }")),
    _no("read from a file each time", _called("#define READ\nstatic double step(double *v, FILE *in) { fread(v, 8, 1, in); return f(v[0], 3); }", loop="for (int c = 0; c < 7; c++) s += step(v, stdin);")),
    _no("another thread writes what it reads", _called("#include <pthread.h>\ntypedef struct { pthread_mutex_t m; double x; } Box; static Box box; static double step(Box *b) { pthread_mutex_lock(&b->m); double x = b->x; pthread_mutex_unlock(&b->m); return f(x, 3); }", loop="for (int c = 0; c < 7; c++) s += step(&box);")),
    _no_cpp("a container that grows", "static double f(double x) { return std::exp(x); } struct S { std::vector<double> v; double look(int c) { v.push_back(c); return f(v.back()); } }; int main() { S o; double s = 0; for (int r = 0; r < 9; r++) { for (int c = 0; c < 9; c++) s += o.look(c); s *= 2; } std::printf(\"%g\", s); }"),
    _no("no loop", _PLAIN + "\nstatic double step(double x) { return f(x, 3); }\nint main(void) { printf(\"%g\", step(2)); return 0; }"),
    _no("a benchmark", _PLAIN + "\nstatic double step(double x) { return f(x, 3); }\nint main(void) { double s = 0; for (int k = 0; k < 99; k++) s += step(2); printf(\"%g\", s); return 0; }"),
    _no("can be moved out of the loop", _PLAIN + "\ndouble all(double x) { double s = 0; for (int r = 0; r < 9; r++) { for (int k = 0; k < 99; k++) s += k * f(x, r); s *= 0.5; } return s; }"),
    _no_cpp("template", "template <typename T> static double f(T x) { return std::exp(x); }" + _CPP_STEP),
    _no_cpp("computed by the compiler", "constexpr double f(int n) { double s = 0; for (int k = 0; k < n; k++) s += k; return s; } static double step(int r, int c) { return c + f(r); } int main() { double s = 0; for (int r = 0; r < 9; r++) { for (int c = 0; c < 9; c++) s += step(r, c); s *= 2; } std::printf(\"%g\", s); }"),
    _no_cpp("another class may replace it", "struct S { virtual double f(double x) const { return std::exp(x); } }; static double step(const S &o, double x, int c) { return c + o.f(x); } int main() { S o; double s = 0; for (int r = 0; r < 9; r++) { for (int c = 0; c < 9; c++) s += step(o, r, c); s *= 2; } std::printf(\"%g\", s); }"),
    _no_cpp("throws", "static double f(double x) { if (x < 0) throw 1; return std::exp(x); }" + _CPP_STEP),
    _no_cpp("reference", "static double f(const double &x) { return std::exp(x); }" + _CPP_STEP),
    _no_cpp("constant that is computed at the start", "static double start(); static const double g = start(); static double start() { return 2; } static double f(double x) { return std::pow(x, g); }" + _CPP_STEP),
    _no_cpp("overloaded", "static double f(double x) { return std::exp(x); } static double f(int n) { return std::log(n + 1.0); } static double step(double x, int c) { return c + f(x); } int main() { double s = 0; for (int r = 0; r < 9; r++) { for (int c = 0; c < 9; c++) s += step(r, c); s *= f(r); } std::printf(\"%g\", s); }"),
    _no_cpp("another object each time", "static double f(double x) { return std::exp(x); } struct S { double k; double look() const { return f(k); } }; int main() { std::vector<S> all(9); double s = 0; for (int r = 0; r < 9; r++) { for (S &one : all) s += one.look(); s *= 2; } std::printf(\"%g\", s); }"),
    _no_cpp("a class in the function", "static double f(double x) { struct L { double x; double g() { return std::exp(x); } }; L l{x}; return l.g(); } " + _CPP_STEP),
    _no_cpp("a class in the function that nobody uses", "static double f(double x) { struct L { double g() { return 1; } }; return std::exp(x); } " + _CPP_STEP),
    _no_cpp("a constant of another name space", "namespace a { static const double k = 2; } namespace b { double k = 3; double f(double x) { return std::pow(x, k); } } using b::f; " + _CPP_STEP),
    _no_cpp("a member of a class that has the name of a constant", "static const double k = 2; struct C { inline static double k = 3; }; static double f(double x) { return std::pow(x, C::k) + k; } " + _CPP_STEP),
    _no_cpp("tried and caught", "static double f(double x) try { return std::exp(x); } catch (...) { return 0; } " + _CPP_STEP),
    _no_cpp("result that is deduced", "static auto f(double x) { return std::exp(x); } " + _CPP_STEP),
    _no_cpp("address is handed over by reference", "static double f(double x) { double &y = x; y += 1; return std::exp(x); } " + _CPP_STEP),
    _no("function in a function", _beside("static double f(double x, int n) { double k(double y) { return exp(y); } return k(x) + n; }")),
    _no("kept in a register", _beside("static double f(register double x, int n) { return pow(x, n); }")),
    _no("jumps", _beside("static double f(double x, int n) { if (n > 3) goto out; return pow(x, n); out: return 0; }")),
    _no_cpp("lambda", "int main() { double s = 0; auto f = [](double x) { return std::exp(x); }; auto step = [&](double x, int c) { return c + f(x); }; for (int r = 0; r < 9; r++) { for (int c = 0; c < 9; c++) s += step(r, c); s *= 2; } std::printf(\"%g\", s); }"),
)  # fmt: skip
