# ruff: noqa: E501
"""Programs in which a recipe would be wrong, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass

_HEAD = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
_CPP = (
    "#include <cmath>\n#include <cstdio>\n#include <iostream>\n#include <map>\n#include <string>\n#include <vector>\n"
)


@dataclass(frozen=True, slots=True)
class Miss:
    """A program that a recipe must leave alone."""

    why: str
    recipe: str
    language: str
    source: str
    cause: str | None = None
    relative: float = 1e-9


def c(why: str, recipe: str, body: str, *, relative: float = 1e-9) -> Miss:
    """A near miss in C."""
    return Miss(why, recipe, "c", _HEAD + body, None, relative)


def cpp(why: str, recipe: str, body: str) -> Miss:
    """A near miss in C++."""
    return Miss(why, recipe, "c++", _CPP + body)


def f90(why: str, recipe: str, body: str) -> Miss:
    """A near miss in Fortran."""
    return Miss(why, recipe, "fortran", body)


LEFT_ALONE = (
    # -- invariant calls
    c("argument changes", "hoist-invariant-call", "double f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) { s += exp(x); x += 0.1; } return s; }"),
    c("array may be the one written", "hoist-invariant-call", "void f(double *a, double *b, int n) { for (int i = 0; i < n; i++) b[i] = exp(a[0]) * i; }"),
    c("callee keeps state", "hoist-invariant-call", "static int k; static double next(double x) { k++; return x * k; } double f(int n) { double s = 0; for (int i = 0; i < n; i++) s += next(1.0); return s; }"),
    c("callee has a static variable", "hoist-invariant-call", "static double next(double x) { static int k; return x * ++k; } double f(int n) { double s = 0; for (int i = 0; i < n; i++) s += next(1.0); return s; }"),
    c("callee reads what the loop writes", "hoist-invariant-call", "static double g = 1; static double look(double x) { double s = 0; for (int i = 0; i < 9; i++) s += x * g; return s; } double f(int n) { double s = 0; for (int i = 0; i < n; i++) { s += look(2.0); g = s; } return s; }"),
    c("volatile", "hoist-invariant-call", "double f(volatile double *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += exp(*p); return s; }"),
    c("text of a macro", "hoist-invariant-call", "#define X (x += 1)\ndouble f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) s += exp(X); return s; }"),
    c("macro of that name", "hoist-invariant-call", "static double h(double);\n#define exp(x) h(x)\ndouble f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) s += exp(x); return s; }"),
    c("own function of that name", "hoist-invariant-call", "static int calls; static double cbrt(double x) { calls++; return x; }\ndouble f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) s += cbrt(x); return s; }"),
    c("unknown function in the loop", "hoist-invariant-call", "double g; void other(void); double f(int n) { double s = 0; for (int i = 0; i < n; i++) { s += exp(g); other(); } return s; }"),
    c("goto", "hoist-invariant-call", "double f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) { again: s += exp(x); if (s < 1) goto again; } return s; }"),
    c("memory read under a condition", "hoist-invariant-call", "static double f(const double *restrict p, double *restrict q, int n) { for (int i = 0; i < n; i++) if (p) q[i] = exp(p[0]); return q[0]; }"),
    c("letters may end the text", "hoist-invariant-call", "void f(char *t, const char *u) { for (size_t i = 0; i < strlen(t); i++) t[i] = u[i]; }"),
    c("end of the text is set", "hoist-invariant-call", "void f(char *t) { for (size_t i = 0; i < strlen(t); i++) if (t[i] == ' ') t[i] = '\\0'; }"),
    c("variable declared in the loop", "hoist-invariant-call", "double f(int n) { double s = 0; for (int i = 0; i < n; i++) { double x = i * 0.5; s += exp(x); } return s; }"),
    c("early exit before it", "hoist-invariant-call", "static double w(const double *p) { double s = 0; for (int i = 0; i < 9; i++) s += p[i]; return s; } double f(const double *restrict p, double *restrict q, int n) { for (int i = 0; i < n; i++) { if (!p) break; q[i] = w(p); } return q[0]; }"),
    c("chosen by the preprocessor", "hoist-invariant-call", "double f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) {\n#ifdef UP\n x += 1;\n#endif\n s += exp(x); } return s; }"),
    cpp("through a reference", "hoist-invariant-call", "double f(double &x, double &y, int n) { double s = 0; for (int i = 0; i < n; i++) { s += std::exp(x); y += 0.5; } return s; }"),
    cpp("member function may change it", "hoist-invariant-call", "struct A { double v; void step() { v += 1; } }; double f(A &a, int n) { double s = 0; for (int i = 0; i < n; i++) { s += std::exp(a.v); a.step(); } return s; }"),
    cpp("vector grows", "hoist-invariant-call", "double f(std::vector<double> v, int n) { double s = 0; for (int i = 0; i < n; i++) { s += std::pow(v.size(), 0.3); v.push_back(1); } return s; }"),
    # -- mathematics
    c("exponent unknown", "power-to-products", "double f(double x, double y) { return pow(x, y); }"),
    c("calls differ", "power-to-products", "static double g(double x, double k) { return pow(x, k); } int main(void) { printf(\"%g\", g(2, 3.0) + g(2, 4.0)); }"),
    c("parameter is changed", "power-to-products", "static double g(double x, double k) { k += 1; return pow(x, k); } int main(void) { printf(\"%g\", g(2, 3.0)); }"),
    c("function is handed on", "power-to-products", "static double g(double x, double k) { return pow(x, k); } typedef double (*F)(double, double); F h = g; int main(void) { printf(\"%g\", g(2, 3.0)); }"),
    c("own pow", "power-to-products", "double pow(double x, double y) { return x - y; } int main(void) { printf(\"%g\", pow(2, 3.0)); }"),
    c("a macro calls it with another number", "power-to-products", "static double g(double x, double k) { return pow(x, k); }\n#define CUBE(x) g(x, 3.0)\nint main(void) { printf(\"%g\", g(2, 4.0) + CUBE(3)); }"),
    cpp("called outside functions with another number", "power-to-products", "static double g(double x, double k) { return std::pow(x, k); }\nstatic double v = g(2.0, 3.0);\nint main() { std::printf(\"%g\", v + g(2.0, 4.0)); }"),
    c("a very long function calls it with another number", "power-to-products", "static double g(double x, double k) { return pow(x, k); }\nvoid f(void) { printf(\"%g\", g(2, 4.0)); }\nint main(void) {\n" + "  puts(\"\");\n" * 1300 + "  printf(\"%g\", g(2, 5.0));\n}"),
    c("the fraction is lost on the way", "power-to-products", "static double g(double x, int k) { return pow(x, k); }\nint main(void) { printf(\"%g\", g(2, 2.5)); }"),
    c("made from the restricted pointer", "hoist-invariant-call", "double f(double *restrict p, int n) { double *q = p + 1, *r = q - 1; double s = 0; for (int i = 0; i < n; i++) { s += exp(p[0]); r[0] = s; } return s; }"),
    c("restricted pointer is kept in a record", "hoist-invariant-call", "typedef struct { double *v; } T; double f(double *restrict p, T *t, int n) { double s = 0; t->v = p; for (int i = 0; i < n; i++) { s += exp(p[0]); t->v[0] = s; } return s; }"),
    c("record is written through its first member", "hoist-invariant-call", "typedef struct { double a, b; } S; double f(S *s, int n) { double r = 0; double *q = (double *)s; for (int i = 0; i < n; i++) { r += exp(s->a); q[0] = r; } return r; }"),
    cpp("threads of another kind", "keep-buffer", "#include <thread>\nstatic void f(size_t n) {\n  double *t = (double *)malloc(n * sizeof(double));\n  t[0] = n;\n  std::printf(\"%g\", t[0]);\n  free(t);\n}\nint main() { std::jthread a([] { f(900); }), b([] { f(9000); }); }"),
    cpp("parallel algorithm", "keep-buffer", "#include <algorithm>\n#include <execution>\nstatic void f(size_t n) {\n  double *t = (double *)malloc(n * sizeof(double));\n  t[0] = n;\n  std::printf(\"%g\", t[0]);\n  free(t);\n}\nint main() { std::vector<int> v(9); std::for_each(std::execution::par, v.begin(), v.end(), [](int k) { f(k); }); }"),
    c("elements of another type", "one-message", "#include <mpi.h>\nvoid f(double *c, int n, MPI_Datatype column) { for (int k = 0; k < n; k++) MPI_Send(&c[k], 1, column, 1, 3, MPI_COMM_WORLD); }"),
    c("elements of another size", "one-message", "#include <mpi.h>\nvoid f(double *c, int n) { for (int k = 0; k < n; k++) MPI_Send(&c[k], 1, MPI_INT, 1, 3, MPI_COMM_WORLD); }"),
    c("bound may be received", "one-message", "#include <mpi.h>\nvoid f(int *c, int *n) { for (int k = 0; k < *n; k++) MPI_Recv(&c[k], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }"),
    c("no tolerance", "power-to-products", "double f(double x) { return pow(x, 3.0); }", relative=0),
    c("no tolerance", "multiply-by-reciprocal", "void f(double *v, double h, int n) { for (int i = 0; i < n; i++) v[i] = i * 1.5 / h; }", relative=0),
    c("whole numbers", "multiply-by-reciprocal", "void f(int *v, int h, int n) { for (int i = 0; i < n; i++) v[i] = i / h; }"),
    c("divisor changes", "multiply-by-reciprocal", "void f(double *v, double h, int n) { for (int i = 0; i < n; i++) { v[i] = 1.5 / h; h += 1; } }"),
    c("changed between", "call-once", "double f(double x) { double a = exp(x); x += 1; double b = exp(x); return a + b; }"),
    c("written through a pointer between", "call-once", "double f(double *x, double *y) { double a = exp(*x); *y = 1; double b = exp(*x); return a + b; }"),
    c("in two branches", "call-once", "double f(double x, int k) { double s = 0; if (k) { s = exp(x); } else { s = 2 * exp(x); } return s; }"),
    c("counter from another number", "running-power", "double f(double x) { double s = 0; for (int k = 3; k < 9; k++) s += pow(x, k); return s; }"),
    c("iterations are left out", "running-power", "double f(double x) { double s = 0; for (int k = 0; k < 9; k++) { if (k == 3) continue; s += pow(x, k); } return s; }"),
    c("base changes", "running-power", "double f(double x) { double s = 0; for (int k = 0; k < 9; k++) { s += pow(x, k); x += 1; } return s; }"),
    # -- order of loops
    c("dependence against the new order", "interchange-loops", "double a[9][9]; void f(void) { for (int j = 1; j < 8; j++) for (int i = 1; i < 9; i++) a[i][j] = a[i - 1][j + 1]; }"),
    c("triangle", "interchange-loops", "double a[9][9]; void f(void) { for (int j = 0; j < 9; j++) for (int i = 0; i < j; i++) a[i][j] = 1; }"),
    c("arrays may be the same", "interchange-loops", "void f(double *a, double *b, int n) { for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i * n + j] = b[i * n + j + 1]; }"),
    c("bound is written", "interchange-loops", "int n = 9; int a[9][9]; void f(void) { for (int j = 0; j < 9; j++) for (int i = 0; i < n; i++) { a[i][j] = 1; n = 9 - a[0][0] * 0; } }"),
    c("scalar from the iteration before", "interchange-loops", "double a[9][9]; void f(double last) { for (int j = 0; j < 9; j++) for (int i = 0; i < 9; i++) { a[i][j] = last; last = a[i][j] + i; } }"),
    c("early exit", "interchange-loops", "int a[9][9]; int f(void) { for (int j = 0; j < 9; j++) for (int i = 0; i < 9; i++) if (a[i][j] == 3) return i; return 0; }"),
    c("output in the loop", "interchange-loops", "int a[9][9]; void f(void) { for (int j = 0; j < 9; j++) for (int i = 0; i < 9; i++) printf(\"%d\", a[i][j]); }"),
    c("sum without tolerance", "interchange-loops", "double a[9][9]; double f(void) { double s = 0; for (int j = 0; j < 9; j++) for (int i = 0; i < 9; i++) s += a[i][j]; return s; }", relative=0),
    c("index used afterwards", "interchange-loops", "int a[9][9]; int f(int n) { int i, j; for (j = 0; j < n; j++) for (i = 0; i < 9; i++) a[i][j] = 1; return i; }"),
    c("steps overlap", "interchange-loops", "void f(double *a, int n, int m) { for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) a[i * n + j] = a[i * n + j] + j; }"),
    c("index through another array", "interchange-loops", "double a[9][9]; int p[9]; void f(void) { for (int j = 0; j < 9; j++) for (int i = 0; i < 9; i++) a[p[i]][p[j]] = i; }"),
    c("narrow index", "interchange-loops", "double a[999][9]; void f(void) { for (int j = 0; j < 9; j++) for (int i = 0; i < 999; i++) a[(unsigned char)(i + j)][(unsigned char)(j - i) % 9] = i; }"),
    c("shared loop with private copies", "interchange-loops", "double a[9][9]; void f(void) { int i, j;\n#pragma omp parallel for private(i)\n for (j = 0; j < 9; j++) for (i = 0; i < 9; i++) a[i][j] = 1; }"),
    c("union", "accumulate-in-place", "union U { double d; float f; }; void f(double *a, double *b, double *c, int n) { for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += a[k] * b[k * n + j]; c[j] = s; } }"),
    c("result may be a factor", "accumulate-in-place", "void f(double *a, double *b, double *c, int n) { for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += a[k] * b[k * n + j]; c[j] = s; } }"),
    c("other precision", "accumulate-in-place", "void f(float *restrict a, float *restrict b, float *restrict c, int n) { for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += a[k] * b[k * n + j]; c[j] = s; } }"),
    c("same element each time", "accumulate-in-place", "void f(double *restrict a, double *restrict b, double *restrict c, int n) { for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += a[k] * b[k * n + j]; c[0] = s; } }"),
    c("in place", "tile-loops", "double a[99][99]; void f(void) { for (int i = 0; i < 99; i++) for (int j = 0; j < 99; j++) a[j][i] = a[i][j]; }"),
    # -- OpenMP
    c("threads are numbered", "schedule-dynamic", "#include <omp.h>\nvoid f(int *v, int n) {\n#pragma omp parallel for\n for (int i = 0; i < n; i++) v[i] = omp_get_thread_num(); }"),
    c("loops rely on each other", "schedule-dynamic", "void f(int *v, int n) {\n#pragma omp parallel\n {\n#pragma omp for schedule(static) nowait\n for (int i = 0; i < n; i++) v[i] = i; } }"),
    c("ordered", "schedule-guided", "void f(int *v, int n) {\n#pragma omp parallel for ordered\n for (int i = 0; i < n; i++) {\n#pragma omp ordered\n v[0] += i; } }"),
    c("chosen by the author", "schedule-cyclic", "void f(int *v, int n) {\n#pragma omp parallel for schedule(static, 64)\n for (int i = 0; i < n; i++) v[i] = i; }"),
    c("value is read in the section", "drop-sections", "int f(int *v, int n) { int s = 0;\n#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp critical\n { s += i; v[i] = s; } }\n return s; }"),
    c("two iterations write the same", "drop-sections", "void f(int *v, const int *p, int n) {\n#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp critical\n v[p[i]] = i; } }"),
    c("output in the section", "drop-sections", "void f(int n) {\n#pragma omp parallel for ordered\n for (int i = 0; i < n; i++) {\n#pragma omp ordered\n printf(\"%d\", i); } }"),
    c("read elsewhere in the loop", "private-sums", "typedef struct { long c[8]; } H; long f(H *h, int n) { long m = 0;\n#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp critical\n h->c[i & 7]++;\n if (h->c[0] > 3) continue; }\n return m; }"),
    c("length unknown", "private-sums", "void f(long *c, int n) {\n#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp atomic\n c[i & 7]++; } }"),
    c("bound of the inner depends", "collapse-loops", "double a[9][9]; void f(void) {\n#pragma omp parallel for\n for (int i = 0; i < 9; i++) for (int j = 0; j < i; j++) a[i][j] = 1; }"),
    c("inner iterations depend", "collapse-loops", "double a[9][9]; void f(void) {\n#pragma omp parallel for\n for (int i = 0; i < 9; i++) for (int j = 1; j < 9; j++) a[i][j] = a[i][j - 1] + 1; }"),
    c("iterations depend", "parallel-loop", "double a[99][99]; void f(void) { for (int i = 1; i < 99; i++) for (int j = 0; j < 99; j++) a[i][j] = a[i - 1][j] + 1; }\n#pragma omp threadprivate(x)\n"),
    c("arrays may be the same", "parallel-loop", "void f(double *a, const double *b, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] = b[j * n + i]; }"),
    c("scalar goes on", "parallel-loop", "double a[99][99]; double f(void) { double t = 0; for (int i = 0; i < 99; i++) for (int j = 0; j < 99; j++) { a[i][j] = t; t = a[i][j] * 0.5 + j; } return t; }"),
    c("scalar used afterwards", "parallel-loop", "double a[99][99]; double f(void) { double t = 0; for (int i = 0; i < 99; i++) for (int j = 0; j < 99; j++) { t = i + j; a[i][j] = t; } return t; }"),
    c("already parallel", "parallel-loop", "double a[99][99]; static void row(int i) { for (int k = 0; k < 9; k++) for (int j = 0; j < 9; j++) a[i * 9 + k][j] = j; } void f(void) {\n#pragma omp parallel for\n for (int i = 0; i < 9; i++) row(i); }"),
    c("sum without tolerance", "parallel-loop", "double a[99][99]; double f(void) { double t = 0; for (int i = 0; i < 99; i++) for (int j = 0; j < 99; j++) t += a[i][j]; return t; }", relative=0),
    # -- copies
    cpp("parameter is changed", "pass-by-reference", "static double f(std::vector<double> v) { v[0] = 1; return v[0]; } int main() { std::vector<double> v(3); f(v); }"),
    cpp("parameter is moved from", "pass-by-reference", "struct A { std::vector<double> v; }; static A f(std::vector<double> v) { A a; a.v = std::move(v); return a; } int main() { f({}); }"),
    cpp("global is changed meanwhile", "pass-by-reference", "std::vector<double> g; static double f(std::vector<double> v) { g[0] = 1; return v[0]; } int main() { g.resize(3); f(g); }"),
    cpp("other reference may be the same", "pass-by-reference", "static double f(std::vector<double> v, std::vector<double> &w) { w[0] = 1; return v[0]; } int main() { std::vector<double> v(3); f(v, v); }"),
    cpp("function is handed on", "pass-by-reference", "static double f(std::vector<double> v) { return v[0]; } double (*p)(std::vector<double>) = f; int main() { p({1}); }"),
    cpp("item is changed", "refer-instead-of-copy", "static long f(const std::vector<std::string> &all) { long s = 0; for (auto one : all) { one += 'x'; s += one.size(); } return s; }"),
    cpp("container is changed", "refer-instead-of-copy", "static long f(std::vector<std::string> &all, int n) { long s = 0; for (int i = 0; i < n; i++) { std::string one = all[0]; all[0] = \"b\"; s += one.size(); } return s; }"),
    cpp("container grows", "refer-instead-of-copy", "static long f(std::vector<std::string> &all) { std::string one = all[0]; all.push_back(\"x\"); return one.size(); }"),
    cpp("errors", "newline-instead-of-endl", "void f() { for (int i = 0; i < 3; i++) std::cerr << i << std::endl; }"),
    # -- files
    c("nobody closes it", "flush-at-the-end", "void f(FILE *f) { for (int i = 0; i < 3; i++) { fprintf(f, \"x\"); fflush(f); } }"),
    c("forced to the disk", "flush-at-the-end", "#include <unistd.h>\nvoid f(void) { FILE *f = fopen(\"x\", \"w\"); for (int i = 0; i < 3; i++) { fprintf(f, \"x\"); fflush(f); fsync(fileno(f)); } fclose(f); }"),
    c("position is set", "buffer-writes", "#include <fcntl.h>\n#include <unistd.h>\nvoid f(void) { int d = open(\"x\", 1); int k = 1; write(d, &k, sizeof k); lseek(d, 0, 0); write(d, &k, sizeof k); close(d); }"),
    c("two files", "buffer-writes", "#include <fcntl.h>\n#include <unistd.h>\nvoid f(void) { int d = open(\"x\", 1), e = open(\"y\", 1); int k = 1; write(d, &k, sizeof k); write(e, &k, sizeof k); close(d); close(e); }"),
    c("somebody else reads on", "read-in-blocks", "#include <unistd.h>\nvoid g(int fd); void f(int fd) { char c; while (read(fd, &c, 1) == 1) putchar(c); g(fd); }"),
    # -- memory
    c("pointer is returned", "keep-buffer", "double *f(int n) { double *t = malloc(n * sizeof *t); if (n > 9) { free(t); } return t; }"),
    c("pointer is kept", "keep-buffer", "static double *last; static void f(int n) { double *t = malloc(n * sizeof *t); last = t; free(t); }"),
    c("calls itself", "keep-buffer", "static double f(int n) { double *t = malloc(n * sizeof *t); t[0] = n; double s = n > 1 ? f(n - 1) : 0; s += t[0]; free(t); return s; }"),
    c("threads", "keep-buffer", "static double f(int n) { double *t = malloc(n * sizeof *t); t[0] = n; double s = t[0]; free(t); return s; } void g(void) {\n#pragma omp parallel for\n for (int i = 1; i < 9; i++) f(i); }"),
    c("not freed on one way", "keep-buffer", "static double f(int n) { double *t = malloc(n * sizeof *t); t[0] = n; if (n > 3) return 1; double s = t[0]; free(t); return s; }"),
    c("pointer moves", "keep-buffer", "static double f(int n) { double *t = malloc(n * sizeof *t); t++; double s = t[-1]; free(t - 1); return s; }"),
    c("freed by its address as something else", "pool-records", "typedef struct Node { int v; struct Node *next; double w; } Node; void *g(int n) { Node *one = malloc(sizeof *one); one->v = n; return one; } void h(void *p) { free(p); }"),
    c("arrays of them as well", "pool-records", "typedef struct Node { int v; struct Node *next; double w; } Node; void f(int n) { Node *one = malloc(sizeof *one), *all; Node *many = malloc(n * sizeof *many); all = many; free(one); free(all); }"),
    cpp("vector is returned", "hoist-vector", "std::vector<int> f(int n) { for (int i = 0; i < n; i++) { std::vector<int> v(3); v[0] = i; if (i > 3) return v; } return {}; }"),
    cpp("vector is moved", "hoist-vector", "void f(std::vector<std::vector<int>> &all, int n) { for (int i = 0; i < n; i++) { std::vector<int> v(3); all.push_back(std::move(v)); } }"),
    cpp("part reads the text", "append-in-place", "std::string f(int n) { std::string t = \"a\"; for (int i = 0; i < n; i++) t = t + t; return t; }"),
    cpp("no text", "append-in-place", "double f(int n) { double t = 1; for (int i = 0; i < n; i++) t = t + 1; return t; }"),
    # -- recursion, searches, waiting
    c("keeps count", "remember-results", "static int calls; static int fib(int n) { calls++; return n < 2 ? n : fib(n - 1) + fib(n - 2); } int main(void) { return fib(9); }"),
    c("takes a fraction", "remember-results", "static double f(double x) { return x < 1 ? 1 : f(x / 2) + f(x / 3); } int main(void) { return f(9) > 3; }"),
    c("handed on", "remember-results", "static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } int (*p)(int) = fib; int main(void) { return p(3) + fib(4); }"),
    c("prints", "remember-results", "static int fib(int n) { printf(\"%d\", n); return n < 2 ? n : fib(n - 1) + fib(n - 2); } int main(void) { return fib(9); }"),
    cpp("items are removed", "look-up-in-table", "struct I { int k; int n; }; class S { public: int *at(int k) { for (I &i : v_) if (i.k == k) return &i.n; v_.push_back(I{k, 0}); return &v_.back().n; } void drop() { v_.pop_back(); } private: std::vector<I> v_; };"),
    cpp("keys are changed", "look-up-in-table", "struct I { int k; int n; }; class S { public: int *at(int k) { for (I &i : v_) if (i.k == k) return &i.n; v_.push_back(I{k, 0}); return &v_.back().n; } void shift() { for (I &i : v_) i.k += 1; } private: std::vector<I> v_; };"),
    cpp("keys are fractions", "look-up-in-table", "struct I { double k; int n; }; class S { public: int *at(double k) { for (I &i : v_) if (i.k == k) return &i.n; v_.push_back(I{k, 0}); return &v_.back().n; } private: std::vector<I> v_; };"),
    cpp("memory is handed on", "double-ended-queue", "class Q { public: int next() { int r = w_.front(); w_.erase(w_.begin()); return r; } int *raw() { return w_.data(); } private: std::vector<int> w_; };"),
    c("nobody signals", "wait-on-condition", "#include <pthread.h>\n#include <unistd.h>\ntypedef struct { pthread_mutex_t mu; pthread_cond_t cv; int done; } B; void set(B *b) { pthread_mutex_lock(&b->mu); b->done = 1; pthread_mutex_unlock(&b->mu); } void f(B *b) { pthread_mutex_lock(&b->mu); while (!b->done) { pthread_mutex_unlock(&b->mu); usleep(9); pthread_mutex_lock(&b->mu); } pthread_mutex_unlock(&b->mu); }"),
    c("one of two places signals", "wait-on-condition", "#include <pthread.h>\n#include <unistd.h>\ntypedef struct { pthread_mutex_t mu; pthread_cond_t cv; int done; } B; void set(B *b) { pthread_mutex_lock(&b->mu); b->done = 1; pthread_cond_broadcast(&b->cv); pthread_mutex_unlock(&b->mu); } void quit(B *b) { pthread_mutex_lock(&b->mu); b->done = 2; pthread_mutex_unlock(&b->mu); } void f(B *b) { pthread_mutex_lock(&b->mu); while (!b->done) { pthread_mutex_unlock(&b->mu); usleep(9); pthread_mutex_lock(&b->mu); } pthread_mutex_unlock(&b->mu); }"),
    # -- threads
    c("stored as bytes", "pad-records", "#include <omp.h>\ntypedef struct { long n[2]; } T; static T all[64]; void f(FILE *o) { all[omp_get_thread_num()].n[0]++; fwrite(all, sizeof(T), 64, o); }"),
    cpp("result of the count is used", "count-privately", "#include <atomic>\nstatic std::atomic<long> c; long f(int n) { long s = 0; for (int i = 0; i < n; i++) { s += c.fetch_add(1, std::memory_order_relaxed); } return s; }"),
    cpp("looked at in the loop", "count-privately", "#include <atomic>\nstatic std::atomic<long> c; void f(int n) { for (int i = 0; i < n; i++) { c.fetch_add(1, std::memory_order_relaxed); if (c.load() > 5) break; } }"),
    cpp("looked at under the lock", "lock-once", "#include <mutex>\nstruct B { std::mutex m; long n = 0; }; void f(B &b, int n) { for (int i = 0; i < n; i++) { std::lock_guard<std::mutex> g(b.m); b.n += b.n + i; } }"),
    cpp("fractions", "lock-once", "#include <mutex>\nstruct B { std::mutex m; double n = 0; }; void f(B &b, int n) { for (int i = 0; i < n; i++) { std::lock_guard<std::mutex> g(b.m); b.n += i; } }"),
    # -- Fortran
    f90("dependence against the new order", "fortran-interchange-loops", "subroutine s(a, n)\n integer :: n, i, j\n real(8) :: a(n, n)\n do i = 2, n - 1\n do j = 2, n - 1\n a(i, j) = a(i - 1, j + 1)\n end do\n end do\nend subroutine\n"),
    f90("pointers", "fortran-interchange-loops", "subroutine s(a, b, n)\n integer :: n, i, j\n real(8), pointer :: a(:, :), b(:, :)\n do i = 2, n - 1\n do j = 2, n - 1\n a(i, j) = b(i, j + 1)\n end do\n end do\nend subroutine\n"),
    f90("triangle", "fortran-interchange-loops", "subroutine s(a, n)\n integer :: n, i, j\n real(8) :: a(n, n)\n do i = 1, n\n do j = 1, i\n a(i, j) = 1\n end do\n end do\nend subroutine\n"),
    f90("early exit", "fortran-interchange-loops", "subroutine s(a, n)\n integer :: n, i, j\n real(8) :: a(n, n)\n do i = 1, n\n do j = 1, n\n if (a(i, j) > 3) exit\n a(i, j) = 1\n end do\n end do\nend subroutine\n"),
    f90("subroutine is called", "fortran-interchange-loops", "subroutine s(a, n)\n integer :: n, i, j\n real(8) :: a(n, n)\n do i = 1, n\n do j = 1, n\n call t(a(i, j))\n end do\n end do\nend subroutine\n"),
    f90("argument changes", "fortran-hoist-invariant", "subroutine s(a, n, x)\n integer :: n, i\n real(8) :: a(n), x\n do i = 1, n\n a(i) = x**0.3d0\n x = x + 1\n end do\nend subroutine\n"),
    f90("function writes a module variable", "fortran-hoist-invariant", "module m\n implicit none\n real(8) :: c = 0\ncontains\n real(8) function f(x)\n real(8), intent(in) :: x\n c = c + 1\n f = x + c\n end function\n subroutine s(a, n, x)\n integer, intent(in) :: n\n real(8), intent(inout) :: a(n)\n real(8), intent(in) :: x\n integer :: i\n do i = 1, n\n a(i) = f(x)\n end do\n end subroutine\nend module\n"),
    f90("function reads what the loop writes", "fortran-hoist-invariant", "module m\n implicit none\n real(8) :: c = 0\ncontains\n real(8) function f(x)\n real(8), intent(in) :: x\n f = x + c\n end function\n subroutine s(a, n, x)\n integer, intent(in) :: n\n real(8), intent(inout) :: a(n)\n real(8), intent(in) :: x\n integer :: i\n do i = 1, n\n a(i) = f(x)\n c = a(i)\n end do\n end subroutine\nend module\n"),
    f90("whole exponent", "fortran-power-to-products", "subroutine s(x)\n real(8) :: x\n x = x**3\nend subroutine\n"),
    f90("iterations depend", "fortran-parallel-loop", "subroutine s(a, n)\n integer :: n, i, j\n real(8) :: a(n, n)\n do j = 2, n\n do i = 1, n\n a(i, j) = a(i, j - 1)\n end do\n end do\nend subroutine\n"),
    f90("also read in the loop", "fortran-reduction", "subroutine s(a, n)\n integer :: n, i\n real(8) :: a(n), t\n t = 0\n !$omp parallel do\n do i = 1, n\n !$omp critical\n t = t + a(i)\n !$omp end critical\n a(i) = t\n end do\n !$omp end parallel do\nend subroutine\n"),
    f90("name of the file changes", "fortran-open-once", "subroutine s(n)\n integer :: n, i, u\n character(9) :: f\n do i = 1, n\n write (f, '(i0)') i\n open (newunit=u, file=f, position='append', action='write')\n write (u, *) i\n close (u)\n end do\nend subroutine\n"),
    c("address is kept", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  double **u = &t;\n  u[0][0] = 1;\n  free(t);\n  return v[0];\n}"),
    c("handed to a function that keeps it", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  extern void keep(double *);\n  keep(t);\n  free(t);\n  return v[0];\n}"),
    c("copied to another pointer", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  double *u;\n  u = t;\n  u[0] = 1;\n  free(t);\n  return v[0];\n}"),
    c("moved", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  t++;\n  t--;\n  free(t);\n  return v[0];\n}"),
    c("grown", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  t = realloc(t, 2 * n);\n  free(t);\n  return v[0];\n}"),
    c("returned", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  if (n > 3) return t[0];\n  free(t);\n  return v[0];\n}"),
    c("left by goto", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  if (n > 3) goto end;\n  t[0] = 1;\nend:;\n  free(t);\n  return v[0];\n}"),
    c("size of the pointer", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  v[0] = sizeof(t);\n  memset(t, 0, 8);\n  free(t);\n  return v[0];\n}"),
    c("result of a function of it", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  double *u = memset(t, 0, 8);\n  u[0] = 1;\n  free(t);\n  return v[0];\n}"),
    c("comparison keeps nothing but a sum does", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  size_t k = (size_t)(t + 1);\n  v[0] = k;\n  free(t);\n  return v[0];\n}"),
    c("calls itself", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  t[0] = n > 3 ? f(v, n - 1) : 0;\n  v[0] = t[0];\n  free(t);\n  return v[0];\n}"),
    c("calls itself through another", "keep-buffer", "double g(double *, size_t);\nstatic double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  t[0] = g(v, n);\n  v[0] = t[0];\n  free(t);\n  return v[0];\n}\ndouble g(double *v, size_t n) { return n > 3 ? f(v, n - 1) : 0; }"),
    c("called through a pointer", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  t[0] = 1;\n  v[0] = t[0];\n  free(t);\n  return v[0];\n}\ntypedef double (*F)(double *, size_t);\nF chosen = f;"),
    c("freed in another block", "keep-buffer", "static double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  t[0] = 1;\n  if (n > 3) {\n    free(t);\n  }\n  return v[0];\n}"),
    c("loop is left before", "keep-buffer", "void f(double *v, int n) {\n  for (int i = 0; i < n; i++) {\n    double *t = malloc(n * sizeof *t);\n    if (v[i] > 3) break;\n    t[0] = v[i];\n    v[i] = t[0] + 1;\n    free(t);\n  }\n}"),
    c("the function that it is handed to keeps it", "keep-buffer", "static double *kept;\nstatic void keep(double *p) { kept = p; }\nstatic double f(double *v, size_t n) {\n  double *t = malloc(n * sizeof *t);\n  keep(t);\n  free(t);\n  return v[0];\n}"),
    f90("calls differ", "fortran-power-to-products", "module m\n implicit none\ncontains\n real(8) function f(x, k)\n real(8), intent(in) :: x, k\n f = x**k\n end function\n subroutine s(y)\n real(8) :: y\n y = f(y, 1.5d0) + f(y, 2.5d0)\n end subroutine\nend module\n"),
    f90("exponent may be changed", "fortran-power-to-products", "module m\n implicit none\ncontains\n real(8) function f(x, k)\n real(8) :: x, k\n k = k + 1\n f = x**k\n end function\n subroutine s(y)\n real(8) :: y\n y = f(y, 1.5d0)\n end subroutine\nend module\n"),
    f90("exponent is a variable", "fortran-power-to-products", "subroutine s(x)\n real(8) :: x, k\n k = 1.5d0\n x = x**k\nend subroutine\n"),
    f90("base is a function", "fortran-power-to-products", "subroutine s(x)\n real(8) :: x\n real(8), external :: f\n x = f(x)**1.5d0\nend subroutine\n"),
    f90("whole base", "fortran-power-to-products", "subroutine s(k, x)\n integer :: k\n real(8) :: x\n x = k**1.5d0\nend subroutine\n"),
    f90("bound is written", "fortran-interchange-loops", "subroutine s(a, n)\n integer :: n, i, j\n real(8) :: a(9, 9)\n do i = 1, 9\n do j = 1, n\n a(i, j) = 1\n n = 9\n end do\n end do\nend subroutine\n"),
    f90("bound calls a function", "fortran-interchange-loops", "subroutine s(a)\n integer :: i, j\n integer, external :: m\n real(8) :: a(9, 9)\n do i = 1, 9\n do j = 1, m(3)\n a(i, j) = 1\n end do\n end do\nend subroutine\n"),
    f90("scalar from the iteration before", "fortran-interchange-loops", "subroutine s(a, t)\n integer :: i, j\n real(8) :: a(9, 9), t\n do i = 1, 9\n do j = 1, 9\n a(i, j) = t\n t = a(i, j) + i\n end do\n end do\nend subroutine\n"),
    f90("output in the loop", "fortran-interchange-loops", "subroutine s(a)\n integer :: i, j\n real(8) :: a(9, 9)\n do i = 1, 9\n do j = 1, 9\n a(i, j) = 1\n print *, i, j\n end do\n end do\nend subroutine\n"),
    f90("memory is made", "fortran-interchange-loops", "subroutine s(a)\n integer :: i, j\n real(8) :: a(9, 9)\n real(8), allocatable :: b(:)\n do i = 1, 9\n do j = 1, 9\n allocate (b(i))\n a(i, j) = b(1)\n deallocate (b)\n end do\n end do\nend subroutine\n"),
    f90("index through another array", "fortran-interchange-loops", "subroutine s(a, p)\n integer :: i, j, p(9)\n real(8) :: a(9, 9)\n do i = 1, 9\n do j = 1, 9\n a(p(i), p(j)) = i\n end do\n end do\nend subroutine\n"),
    f90("array element is written", "fortran-hoist-invariant", "subroutine s(a, n)\n integer :: n, i\n real(8) :: a(n)\n do i = 1, n\n a(i) = exp(a(1))\n end do\nend subroutine\n"),
    f90("argument of a call", "fortran-hoist-invariant", "subroutine s(a, n, x)\n integer :: n, i\n real(8) :: a(n), x\n do i = 1, n\n a(i) = x**0.3d0\n call t(x)\n end do\nend subroutine\n"),
    f90("number of the thread", "fortran-schedule-dynamic", "subroutine s(a, n)\n use omp_lib\n integer :: n, i\n real(8) :: a(n)\n !$omp parallel do\n do i = 1, n\n a(i) = omp_get_thread_num()\n end do\n !$omp end parallel do\nend subroutine\n"),
    f90("ordered", "fortran-schedule-guided", "subroutine s(a, n)\n integer :: n, i\n real(8) :: a(n)\n !$omp parallel do ordered\n do i = 1, n\n !$omp ordered\n a(i) = a(1)\n !$omp end ordered\n end do\n !$omp end parallel do\nend subroutine\n"),
    f90("two operators", "fortran-reduction", "subroutine s(a, n)\n integer :: n, i\n real(8) :: a(n), t\n t = 1\n !$omp parallel do\n do i = 1, n\n !$omp critical\n t = t + a(i)\n t = t*2\n !$omp end critical\n end do\n !$omp end parallel do\nend subroutine\n"),
    f90("large array", "fortran-reduction", "subroutine s(a, h, n)\n integer :: n, i\n real(8) :: a(n), h(100000)\n !$omp parallel do\n do i = 1, n\n !$omp critical\n h(i) = h(i) + a(i)\n !$omp end critical\n end do\n !$omp end parallel do\nend subroutine\n"),
    f90("section has a name", "fortran-reduction", "subroutine s(a, n)\n integer :: n, i\n real(8) :: a(n), t\n t = 0\n !$omp parallel do\n do i = 1, n\n !$omp critical\n t = max(t, a(i))*2\n !$omp end critical\n end do\n !$omp end parallel do\nend subroutine\n"),
    f90("a subroutine is called", "fortran-parallel-loop", "subroutine s(a, n)\n use omp_lib\n integer :: n, i, j\n real(8) :: a(n, n)\n do j = 1, n\n do i = 1, n\n call t(a(i, j))\n end do\n end do\nend subroutine\n"),
    f90("value is used afterwards", "fortran-parallel-loop", "subroutine s(a, n, t)\n use omp_lib\n integer :: n, i, j\n real(8) :: a(n, n), t\n do j = 1, n\n do i = 1, n\n t = a(i, j)*2\n a(i, j) = exp(t)\n end do\n end do\nend subroutine\n"),
    f90("early exit", "fortran-parallel-loop", "subroutine s(a, n)\n use omp_lib\n integer :: n, i, j\n real(8) :: a(n, n)\n do j = 1, n\n if (a(1, j) > 3) exit\n do i = 1, n\n a(i, j) = exp(a(i, j))\n end do\n end do\nend subroutine\n"),
    f90("file is read as well", "fortran-open-once", "subroutine s(n)\n integer :: n, i, u, k\n do i = 1, n\n open (newunit=u, file='f', position='append', action='write')\n write (u, *) i\n close (u)\n open (newunit=u, file='f', action='read')\n read (u, *) k\n close (u)\n end do\nend subroutine\n"),
    f90("replaced each time", "fortran-open-once", "subroutine s(n)\n integer :: n, i, u\n do i = 1, n\n open (newunit=u, file='f', status='replace')\n write (u, *) i\n close (u)\n end do\nend subroutine\n"),
    cpp("changed through an element", "pass-by-reference", "struct Big { double v[16]; int n; }; static double f(Big b) { b.v[2] += 1; return b.v[2]; } int main() { Big b{}; return (int)f(b); }"),
    cpp("changed by a member function", "pass-by-reference", "static size_t f(std::vector<int> v) { v.push_back(1); return v.size(); } int main() { std::vector<int> v(3); return (int)f(v); }"),
    cpp("handed to what may change it", "pass-by-reference", "static void g(std::vector<int> &v) { v[0] = 1; } static int f(std::vector<int> v) { g(v); return v[0]; } int main() { std::vector<int> v(3); return f(v); }"),
    cpp("items are changed", "pass-by-reference", "static int f(std::vector<int> v) { for (int &x : v) x += 1; return v[0]; } int main() { std::vector<int> v(3); return f(v); }"),
    cpp("captured", "pass-by-reference", "static int f(std::vector<int> v) { auto g = [&] { v[0] = 3; }; g(); return v[0]; } int main() { std::vector<int> v(3); return f(v); }"),
    cpp("global may change meanwhile", "pass-by-reference", "static std::vector<int> all(3); static int f(std::vector<int> v) { all[0] = 7; return v[0]; } int main() { return f(all); }"),
    cpp("virtual", "pass-by-reference", "struct A { virtual int f(std::vector<int> v) { return v[0]; } }; int main() { std::vector<int> v(3); A a; return a.f(v); }"),
    cpp("copy is changed", "refer-instead-of-copy", "int main() { std::vector<std::string> v(3); size_t n = 0; for (auto one : v) { one += 'x'; n += one.size(); } return (int)n; }"),
    cpp("the original is changed", "refer-instead-of-copy", "int main() { std::vector<std::string> v(3); size_t n = 0; for (int i = 0; i < 3; i++) { std::string one = v[i]; v[i] = \"abc\"; n += one.size(); } return (int)n; }"),
    cpp("container grows", "refer-instead-of-copy", "int main() { std::vector<std::string> v(3); size_t n = 0; for (int i = 0; i < 3; i++) { std::string one = v[i]; v.push_back(\"abc\"); n += one.size(); } return (int)n; }"),
    cpp("moved away", "hoist-vector", "static std::vector<std::vector<int>> all; int main() { for (int i = 0; i < 9; i++) { std::vector<int> v(i + 1); v[0] = i; all.push_back(std::move(v)); } return (int)all.size(); }"),
    cpp("handed on", "hoist-vector", "static void keep(std::vector<int> &v); int main() { for (int i = 0; i < 9; i++) { std::vector<int> v(i + 1); keep(v); } return 0; }"),
    cpp("bound changes", "reserve-vector", "int main() { std::vector<int> v; int n = 10;\n  for (int i = 0; i < n; i++) { v.push_back(i); if (i == 3) n = 20; } return (int)v.size(); }"),
    cpp("a part of itself", "append-in-place", "int main() { std::string t = \"a\"; for (int i = 0; i < 9; i++) t = t + t + 'x'; return (int)t.size(); }"),
    cpp("from the front", "append-in-place", "int main() { std::string t; for (int i = 0; i < 9; i++) t = std::to_string(i) + t; return (int)t.size(); }"),
    cpp("errors", "newline-instead-of-endl", "int main() { for (int i = 0; i < 9; i++) std::cerr << i << std::endl; }"),
    cpp("key is changed elsewhere", "look-up-in-table", "struct I { int k; int n; }; class S { public: int *at(int k) { for (I &i : v_) if (i.k == k) return &i.n; v_.push_back(I{k, 0}); return &v_.back().n; } void turn() { v_[0].k = 7; } private: std::vector<I> v_; };"),
    cpp("items are taken out", "look-up-in-table", "struct I { int k; int n; }; class S { public: int *at(int k) { for (I &i : v_) if (i.k == k) return &i.n; v_.push_back(I{k, 0}); return &v_.back().n; } void drop() { v_.pop_back(); } private: std::vector<I> v_; };"),
    cpp("last match", "look-up-in-table", "struct I { int k; int n; }; class S { public: int at(int k) { int r = 0; for (I &i : v_) if (i.k == k) r = i.n; return r; } void add(int k) { v_.push_back(I{k, 0}); } private: std::vector<I> v_; };"),
    cpp("item by reference", "hoist-invariant-call", "double f(std::vector<double> &v) { double s = 0; for (double &x : v) { s += std::exp(v[0]); x = s; } return s; }"),
    cpp("operator of its own", "hoist-invariant-call", "struct V { double x; double &operator[](int k) { x += k; return x; } }; double f(V v, int n) { double s = 0; for (int i = 0; i < n; i++) s += std::exp(v[1]); return s; }"),
    cpp("constructor counts", "hoist-invariant-call", "static int made; struct C { int k; C(int n) : k(n) { made++; } }; static double g(int n) { C c(n); return c.k; } double f(int n) { double s = 0; for (int i = 0; i < n; i++) s += g(3); return s; }"),
    cpp("output", "hoist-invariant-call", "static double g(int n) { std::cout << n; return n; } double f(int n) { double s = 0; for (int i = 0; i < n; i++) s += g(3); return s; }"),
    c("divided by a whole number that may be 0", "hoist-invariant-call", "double f(double *restrict r, int d, int n) { for (int i = 0; i < n; i++) if (d) r[i] = exp(7 / d); return r[0]; }"),
    c("loop that always runs once", "hoist-invariant-call", "double f(double *p, int n) { double s = 0; do { if (n) s += exp(p[0]); } while (--n > 0); return s; }"),
    c("second part of a condition", "hoist-invariant-call", "static double w(const double *p) { return exp(p[0]); } double f(const double *restrict p, double *restrict q, int n) { for (int i = 0; i < n; i++) q[i] = p && w(p) > 3; return q[0]; }"),
    c("letter that may be the end", "hoist-invariant-call", "void f(char *t, int k) { for (size_t i = 0; i < strlen(t); i++) t[i] = (char)('A' + (t[i] + k) % 200); }"),
    c("any letter", "hoist-invariant-call", "void f(char *t, int k) { for (size_t i = 0; i < strlen(t); i++) t[i] = (char)(t[i] + k); }"),
    c("no name for every variable", "hoist-invariant-call", "double f(double x, int n) { double s = 0;\n#pragma omp parallel for default(none) shared(x, n) reduction(+ : s)\n for (int i = 0; i < n; i++) s += exp(x);\n return s; }"),
    c("two operators", "private-sums", "int f(int n) { int s = 1;\n#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp critical\n { s += i; s *= 2; } }\n return s; }"),
    c("depends on the sum", "private-sums", "int f(int n) { int s = 1;\n#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp critical\n { if (s < 9) s += i; } }\n return s; }"),
    c("looked at outside the section", "private-sums", "int f(int *v, int n) { int s = 1;\n#pragma omp parallel for\n for (int i = 0; i < n; i++) { v[i] = s;\n#pragma omp critical\n s += i;\n }\n return s; }"),
    c("large array", "private-sums", "static double h[1000000]; void f(const int *k, int n) {\n#pragma omp parallel for\n for (int i = 0; i < n; i++) {\n#pragma omp critical\n h[k[i]] += 1; } }"),
    c("triangle", "collapse-loops", "double a[9][9]; void f(void) {\n#pragma omp parallel for\n for (int i = 0; i < 9; i++)\n for (int j = 0; j < i; j++) a[i][j] = 1; }"),
    c("something between", "collapse-loops", "double a[9][9]; void f(void) {\n#pragma omp parallel for\n for (int i = 0; i < 9; i++) { a[i][0] = 3;\n for (int j = 0; j < 9; j++) a[i][j] = 1; } }"),
    c("changes something", "remember-results", "static int calls; static int f(int n) { calls++; return n < 2 ? n : f(n - 1) + f(n - 2); } int main(void) { return f(20) + calls; }"),
    c("takes fractions", "remember-results", "static double f(double n) { return n < 2 ? n : f(n - 1) + f(n - 2); } int main(void) { return (int)f(20); }"),
    c("file stays open", "flush-at-the-end", "void f(FILE *o, int n) { for (int i = 0; i < n; i++) { fprintf(o, \"%d\", i); fflush(o); } }"),
)  # fmt: skip
