# ruff: noqa: E501
"""Serial programs behind macros, accessors and classes in which a recipe would be wrong, as in `near_misses`."""

from __future__ import annotations

from tests.fix.recipes.misses import Miss, c, cpp

_IMAGE = "struct Image { int n; std::vector<double> v; double &at(int x, int y) { return v[y * n + x]; } };\n"


def io(why: str, recipe: str, body: str) -> Miss:
    """A near miss of output in C."""
    one = c(why, recipe, body)
    return Miss(why, recipe, "c", one.source, "io-small-requests")


SERIAL_MISSES = (
    # -- macros and accessors
    c("the macro counts", "hoist-invariant-call", "static int calls;\n#define NEXT(x) ((x) + calls++)\ndouble f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) s += exp(NEXT(x)); return s; }"),
    c("the macro is another one later", "interchange-loops", "#define AT(i, j) a[(i) * m + (j)]\n#undef AT\n#define AT(i, j) a[(j) * m + (i)]\nvoid f(double *a, int n, int m) { for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) AT(i, j) *= 2; }"),
    c("the macro reads what is written before", "interchange-loops", "#define AT(i, j) a[(i) * m + (j)]\nvoid f(double *a, int n, int m) { for (int j = 1; j < m; j++) for (int i = 0; i < n - 1; i++) AT(i, j) = AT(i + 1, j - 1) + 1; }"),
    cpp("the accessor is virtual", "interchange-loops", "struct Grid { int n; std::vector<double> v; virtual double &at(int i, int j) { return v[i * n + j]; } };\nvoid f(Grid &g) { for (int j = 0; j < g.n; j++) for (int i = 0; i < g.n; i++) g.at(i, j) *= 2; }"),
    cpp("the accessor counts", "interchange-loops", "struct Grid { int n, calls; std::vector<double> v; double &at(int i, int j) { calls++; return v[i * n + j]; } };\nvoid f(Grid &g) { for (int j = 0; j < g.n; j++) for (int i = 0; i < g.n; i++) g.at(i, j) *= 2; }"),
    cpp("the accessor writes the same element for several arguments", "interchange-loops", "struct Grid { int n; std::vector<double> v; double &at(int i, int j) { return v[(i + j) % n]; } };\nvoid f(Grid &g) { for (int j = 0; j < g.n; j++) for (int i = 0; i < g.n; i++) g.at(i, j) = g.at(i, j) * 2 + i; }"),
    cpp("fractions lose something on the way to the accessor", "interchange-loops", "struct Grid { int n; std::vector<double> v; double &at(int i, int j) { return v[i * n + j]; } };\nvoid f(Grid &g) { for (int j = 0; j < g.n; j++) for (int i = 0; i < g.n; i++) g.at(i * 0.5, j) = g.at(i * 0.5, j) + i; }"),
    # -- bisection
    # -- texts
    c("the text is looked at", "keep-end-of-text", "void f(char *out, char **w, int n) { for (int i = 0; i < n; i++) { strcat(out, w[i]); if (out[3] == 'x') out[0] = 0; } }"),
    c("the text is appended to itself", "keep-end-of-text", "void f(char *out, int n) { for (int i = 0; i < n; i++) strcat(out, out + 1); }"),
    c("the text is another one each time", "keep-end-of-text", "void f(char **texts, char *w, int n) { for (int i = 0; i < n; i++) { char *out = texts[i]; strcat(out, w); } }"),
    # -- memory
    c("a way out with the memory", "keep-buffer", "static double *kept; static int f(int n) { double *t; t = malloc(n * sizeof *t); if (n > 3) { kept = t; return 1; } free(t); return 0; }\nint main(void) { for (int i = 0; i < 9; i++) f(i); }"),
    c("assigned twice", "keep-buffer", "static void f(int n) { double *t; t = malloc(n * sizeof *t); t[0] = 1; free(t); t = malloc(n * sizeof *t); t[0] = 1; free(t); }\nint main(void) { for (int i = 1; i < 9; i++) f(i); }"),
    # -- recursion
    # -- invariants
    cpp("the member is changed by its bare name", "hoist-invariant-call", "struct S { double g; double f(int n) { double s = 0; for (int i = 0; i < n; i++) { this->g += 1; s += std::exp(g); } return s; } };"),
    cpp("the member function changes something", "hoist-invariant-call", "struct S { mutable int calls; double look(double x) const { calls++; double s = 0; for (int i = 0; i < 9; i++) s += x * i; return s; } }; double f(const S &o, int n) { double s = 0; for (int i = 0; i < n; i++) s += o.look(2.0); return s; }"),
    cpp("the object is another one each time", "hoist-invariant-call", "struct S { std::vector<double> v; double sum() const { double s = 0; for (double x : v) s += x; return s; } }; double f(const std::vector<S> &o, int n) { double s = 0; for (int i = 0; i < n; i++) s += o[i].sum(); return s; }"),
    cpp("what the member function reads is written", "hoist-invariant-call", "struct S { double k; double sum() const { double s = 0; for (int i = 0; i < 9; i++) s += k * i; return s; } }; double f(S &o, int n) { double s = 0; for (int i = 0; i < n; i++) { s += o.sum(); o.k = s; } return s; }"),
    cpp("the setter loses something", "interchange-loops", "struct M { int n; float *d; }; static void put(M *m, int i, int j, int v) { m->d[i * m->n + j] = v; } void f(M *m) { for (int j = 0; j < m->n; j++) for (int i = 0; i < m->n; i++) put(m, i, j, m->d[i * m->n + j] * 1.5f); }"),
    # -- more of what stands beside
    c("the macro has another number of arguments", "interchange-loops", "#define AT(i, j) a[(i) * m + (j)]\nvoid f(double *a, int n, int m) { for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) AT(i) *= 2; }"),
    c("the macro is a statement", "hoist-invariant-call", "#define ADD(s, x) do { (x) += 1; (s) += exp(x); } while (0)\ndouble f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) ADD(s, x); return s; }"),
)  # fmt: skip
