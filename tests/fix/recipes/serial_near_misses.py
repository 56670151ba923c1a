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
    c("the loop does something else as well", "bisect-table", "int f(const double *t, int n, double x) { int k = 0, steps = 0; while (k < n && t[k] <= x) { k++; steps++; } return k + steps; }"),
    c("begins somewhere else", "bisect-table", "int f(const double *t, int n, double x, int k) { while (k < n && t[k] <= x) k++; return k; }"),
    c("the table is being sorted", "bisect-table", "void f(double *t, int n, double x) { for (int r = 0; r < n; r++) { int k; for (k = 0; k < n && t[k] <= x; k++) ; t[k] = x; } }"),
    c("two tables", "bisect-table", "int f(const double *t, const double *u, int n) { int k = 0; while (k < n && t[k] <= u[k]) k++; return k; }"),
    c("every other item", "bisect-table", "int f(const double *t, int n, double x) { int k = 0; while (k < n && t[2 * k] <= x) k++; return k; }"),
    c("looks for what is different", "bisect-table", "int f(const int *t, int n, int x) { for (int k = 0; k < n; k++) if (t[k] != x) return k; return -1; }"),
    cpp("what is not found is added", "bisect-table", "int f(std::vector<int> &t, int x) { for (std::size_t k = 0; k < t.size(); k++) if (t[k] == x) return (int)k; t.push_back(x); return -1; }"),
    cpp("compares objects", "bisect-table", "struct Key { int a; bool operator<(const Key &o) const { return a > o.a; } }; int f(const std::vector<Key> &t, Key x) { std::size_t k = 0; while (k < t.size() && t[k] < x) k++; return (int)k; }"),
    # -- texts
    c("the text is looked at", "keep-end-of-text", "void f(char *out, char **w, int n) { for (int i = 0; i < n; i++) { strcat(out, w[i]); if (out[3] == 'x') out[0] = 0; } }"),
    c("the text is appended to itself", "keep-end-of-text", "void f(char *out, int n) { for (int i = 0; i < n; i++) strcat(out, out + 1); }"),
    c("the text is another one each time", "keep-end-of-text", "void f(char **texts, char *w, int n) { for (int i = 0; i < n; i++) { char *out = texts[i]; strcat(out, w); } }"),
    io("two functions write it", "open-once", "static void one(int i) { FILE *f = fopen(\"x\", \"a\"); fprintf(f, \"%d\", i); fclose(f); }\nstatic void other(int i) { FILE *f = fopen(\"x\", \"a\"); fprintf(f, \"-%d\", i); fclose(f); }\nint main(void) { for (int i = 0; i < 9; i++) { one(i); other(i); } }"),
    io("the file begins anew", "open-once", "static void record(int i) { FILE *f = fopen(\"x\", \"w\"); fprintf(f, \"%d\", i); fclose(f); }\nint main(void) { for (int i = 0; i < 9; i++) record(i); }"),
    # -- memory
    c("a way out with the memory", "keep-buffer", "static double *kept; static int f(int n) { double *t; t = malloc(n * sizeof *t); if (n > 3) { kept = t; return 1; } free(t); return 0; }\nint main(void) { for (int i = 0; i < 9; i++) f(i); }"),
    c("assigned twice", "keep-buffer", "static void f(int n) { double *t; t = malloc(n * sizeof *t); t[0] = 1; free(t); t = malloc(n * sizeof *t); t[0] = 1; free(t); }\nint main(void) { for (int i = 1; i < 9; i++) f(i); }"),
    cpp("the owner hands the array on", "keep-buffer", "#include <memory>\nstatic std::unique_ptr<int[]> last; static int f(int n) { std::unique_ptr<int[]> t(new int[n]); t[0] = n; last = std::move(t); return last[0]; } int main() { for (int i = 1; i < 9; i++) std::printf(\"%d\", f(i)); }"),
    cpp("the owner lets the array go", "keep-buffer", "#include <memory>\nstatic int *last; static int f(int n) { std::unique_ptr<int[]> t(new int[n]); t[0] = n; last = t.release(); return last[0]; } int main() { for (int i = 1; i < 9; i++) std::printf(\"%d\", f(i)); }"),
    cpp("the address of the array is kept", "keep-buffer", "#include <memory>\nstatic int *last; static int f(int n) { auto t = std::make_unique<int[]>(n); int *p = t.get(); last = p; p[0] = n; return t[0]; } int main() { for (int i = 1; i < 9; i++) std::printf(\"%d\", f(i)); }"),
    cpp("objects in the array are made and destroyed", "keep-buffer", "#include <memory>\nstruct T { int k = 0; ~T() { std::printf(\".\"); } }; static int f(int n) { auto t = std::make_unique<T[]>(n); t[0].k += n; return t[0].k; } int main() { for (int i = 1; i < 9; i++) std::printf(\"%d\", f(i)); }"),
    cpp("the array of an outer call is in use", "keep-buffer", "#include <memory>\nstatic int f(int n) { auto t = std::make_unique<int[]>(n); t[0] = n; int s = n > 1 ? f(n - 1) : 0; return s + t[0]; } int main() { for (int i = 1; i < 9; i++) std::printf(\"%d\", f(i)); }"),
    cpp("the size is another one each time it is asked", "keep-buffer", "#include <memory>\nstatic int calls; static int size(int n) { return n + calls++; } static int f(int n) { auto t = std::make_unique<int[]>(size(n)); t[0] = n; return t[0] + calls; } int main() { for (int i = 1; i < 9; i++) std::printf(\"%d\", f(i)); }"),
    cpp("calls itself through an object", "keep-vector", "struct Tree { std::vector<Tree> below; int sum() { std::vector<int> all; for (Tree &t : below) all.push_back(t.sum()); return (int)all.size(); } }; int main() { Tree t; for (int i = 0; i < 9; i++) std::printf(\"%d\", t.sum()); }"),
    cpp("the vector is returned", "keep-vector", "static std::vector<int> f(int n) { std::vector<int> v; for (int i = 0; i < n; i++) v.push_back(i); return v; } int main() { for (int i = 0; i < 9; i++) std::printf(\"%zu\", f(i).size()); }"),
    # -- recursion
    cpp("the member is changed on the way", "remember-results", "struct S { int calls = 0; int f(int n) { calls++; return n < 2 ? n : f(n - 1) + f(n - 2); } }; int main() { S s; std::printf(\"%d\", s.f(9)); }"),
    cpp("another class may replace it", "remember-results", "struct S { virtual int f(int n) const { return n < 2 ? n : f(n - 1) + f(n - 2); } }; int main() { S s; std::printf(\"%d\", s.f(9)); }"),
    cpp("the reference is another one each time", "remember-results", "static int f(const std::vector<int> &v, int n) { if (n < 2) return v[0]; std::vector<int> w(v.begin(), v.end()); w[0] = n; return f(w, n - 1) + f(w, n - 2); } int main() { std::vector<int> v{3}; std::printf(\"%d\", f(v, 9)); }"),
    # -- invariants
    cpp("the member is changed by its bare name", "hoist-invariant-call", "struct S { double g; double f(int n) { double s = 0; for (int i = 0; i < n; i++) { this->g += 1; s += std::exp(g); } return s; } };"),
    cpp("the member function changes something", "hoist-invariant-call", "struct S { mutable int calls; double look(double x) const { calls++; double s = 0; for (int i = 0; i < 9; i++) s += x * i; return s; } }; double f(const S &o, int n) { double s = 0; for (int i = 0; i < n; i++) s += o.look(2.0); return s; }"),
    cpp("the object is another one each time", "hoist-invariant-call", "struct S { std::vector<double> v; double sum() const { double s = 0; for (double x : v) s += x; return s; } }; double f(const std::vector<S> &o, int n) { double s = 0; for (int i = 0; i < n; i++) s += o[i].sum(); return s; }"),
    cpp("what the member function reads is written", "hoist-invariant-call", "struct S { double k; double sum() const { double s = 0; for (int i = 0; i < 9; i++) s += k * i; return s; } }; double f(S &o, int n) { double s = 0; for (int i = 0; i < n; i++) { s += o.sum(); o.k = s; } return s; }"),
    cpp("the map is changed", "hoist-invariant-call", "double f(std::map<int, double> &m, int n) { double s = 0; for (int i = 0; i < n; i++) { s += m.at(3); m[3] = s; } return s; }"),
    cpp("the setter loses something", "interchange-loops", "struct M { int n; float *d; }; static void put(M *m, int i, int j, int v) { m->d[i * m->n + j] = v; } void f(M *m) { for (int j = 0; j < m->n; j++) for (int i = 0; i < m->n; i++) put(m, i, j, m->d[i * m->n + j] * 1.5f); }"),
    # -- more of what stands beside
    c("the macro has another number of arguments", "interchange-loops", "#define AT(i, j) a[(i) * m + (j)]\nvoid f(double *a, int n, int m) { for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) AT(i) *= 2; }"),
    c("the macro is a statement", "hoist-invariant-call", "#define ADD(s, x) do { (x) += 1; (s) += exp(x); } while (0)\ndouble f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) ADD(s, x); return s; }"),
    c("something else if not found", "bisect-table", "int f(const int *t, int n, int x) { int r = 0; for (int k = 0; k < n; k++) if (t[k] == x) return k; else r++; return r; }"),
    c("goes on after it is found", "bisect-table", "int f(const int *t, int n, int x) { int r = 0; for (int k = 0; k < n; k++) if (t[k] == x) r = k; return r; }"),
    c("from behind", "bisect-table", "int f(const int *t, int n, int x) { for (int k = n - 1; k >= 0; k--) if (t[k] == x) return k; return -1; }"),
    c("intervals of two tables", "bisect-table", "int f(const double *t, const double *u, int n, double x) { for (int k = 0; k < n; k++) if (x >= t[k] && x < u[k]) return k; return -1; }"),
    io("the stream is handed out", "open-once", "static FILE *record(int i) { FILE *f = fopen(\"x\", \"a\"); fprintf(f, \"%d\", i); fclose(f); return f; }\nint main(void) { for (int i = 0; i < 9; i++) record(i); }"),
    io("left before it is closed", "open-once", "static int record(int i) { FILE *f = fopen(\"x\", \"a\"); if (i == 3) return 1; fprintf(f, \"%d\", i); fclose(f); return 0; }\nint main(void) { for (int i = 0; i < 9; i++) record(i); }"),
)  # fmt: skip
