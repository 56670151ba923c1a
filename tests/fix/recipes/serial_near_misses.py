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
    # -- columns
    cpp("columns depend on each other", "block-columns", _IMAGE + "void f(Image &im) { for (int x = 1; x < im.n; x++) { double last = 0; for (int y = 1; y < im.n; y++) last = im.at(x, y) = im.at(x - 1, y - 1) + last; } }"),
    c("the sum goes on to the next column", "block-columns", "void f(double *v, int w, int h) { double s = 0; for (int x = 0; x < w; x++) { double t = s; for (int y = 0; y < h; y++) { t += v[y * w + x]; s += t; v[y * w + x] = s; } } }"),
    c("rows of different lengths", "block-columns", "void f(double *restrict v, double *restrict m, int w) { for (int x = 0; x < w; x++) { double t = 0; for (int y = 0; y < x; y++) t += v[y * w + x]; m[x] = t; } }"),
    c("the scalar is used afterwards", "block-columns", "double f(double *restrict v, double *restrict m, int w, int h) { double t = 0; for (int x = 0; x < w; x++) { t = 0; for (int y = 0; y < h; y++) t += v[y * w + x]; m[x] = t; } return t; }"),
    c("the scalar keeps its value", "block-columns", "void f(double *restrict v, double *restrict m, int w, int h) { double t, u = 1; for (int x = 0; x < w; x++) { t = u; for (int y = 0; y < h; y++) { t += v[y * w + x]; u = t; } m[x] = u; } }"),
    c("walks along the rows already", "block-columns", "void f(double *restrict v, double *restrict m, int w, int h) { for (int y = 0; y < h; y++) { double t = 0; for (int x = 0; x < w; x++) t += v[y * w + x]; m[y] = t; } }"),
    c("prints on the way", "block-columns", "void f(double *restrict v, int w, int h) { for (int x = 0; x < w; x++) { double t = 0; for (int y = 0; y < h; y++) t += v[y * w + x]; printf(\"%g\", t); } }"),
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
    # -- hash tables
    cpp("goes through the items in order", "unordered-container", "int main() { std::map<int, double> m; for (int i = 0; i < 9; i++) m[i * 7 % 5] += i; for (auto &one : m) std::printf(\"%d\", one.first); }"),
    cpp("asks for the next key", "unordered-container", "int main() { std::map<int, double> m; m[4] = 1; std::printf(\"%d\", m.lower_bound(2)->first); }"),
    cpp("steps on from what was found", "unordered-container", "int main() { std::map<int, double> m; m[4] = 1; m[5] = 2; auto it = m.find(4); ++it; std::printf(\"%g\", it->second); }"),
    cpp("is handed on", "unordered-container", "void show(std::map<int, double> &m); int main() { std::map<int, double> m; m[4] = 1; show(m); }"),
    cpp("an item is changed", "ask-hash-table", "#include <algorithm>\nint main() { std::vector<int> v; for (int i = 0; i < 9; i++) { if (std::find(v.begin(), v.end(), i % 4) == v.end()) v.push_back(i); v[0] = 7; } std::printf(\"%zu\", v.size()); }"),
    cpp("items are taken away", "ask-hash-table", "#include <algorithm>\nint main() { std::vector<int> v; for (int i = 0; i < 9; i++) { if (std::find(v.begin(), v.end(), i % 4) == v.end()) v.push_back(i); else v.pop_back(); } std::printf(\"%zu\", v.size()); }"),
    # -- streams
    io("the file is read again", "leave-out-flushes", "int main(void) { FILE *f = fopen(\"x\", \"w\"), *g = fopen(\"x\", \"r\"); for (int i = 0; i < 9; i++) { fprintf(f, \"%d\", i); fflush(f); printf(\"%d\", fgetc(g)); } }"),
    io("the program asks something", "leave-out-flushes", "int main(void) { int k; for (int i = 0; i < 9; i++) { printf(\"? \"); fflush(stdout); scanf(\"%d\", &k); } }"),
    io("the program ends itself", "leave-out-flushes", "int main(void) { for (int i = 0; i < 9; i++) { printf(\"%d\", i); fflush(stdout); if (i == 7) _exit(1); } }"),
    io("the program ends itself behind a macro", "leave-out-flushes", "#define QUIT() _exit(1)\nint main(void) { for (int i = 0; i < 9; i++) { printf(\"%d\", i); fflush(stdout); if (i == 7) QUIT(); } }"),
    io("standard error", "leave-buffer", "int main(void) { setvbuf(stderr, NULL, _IONBF, 0); for (int i = 0; i < 9; i++) fprintf(stderr, \"%d\", i); }"),
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
    # -- values
    cpp("the member changes meanwhile", "return-by-reference", "class G { std::vector<int> v; public: std::vector<int> all() const { return v; } void add(int k) { v.push_back(k); } }; int main() { G g; g.add(1); for (int k : g.all()) g.add(k); std::printf(\"%zu\", g.all().size()); }"),
    cpp("a temporary is returned", "return-by-reference", "class G { int n; public: std::vector<int> all() const { return std::vector<int>(n); } }; int main() { G g; std::printf(\"%zu\", g.all().size()); }"),
    cpp("iterators of the copy are kept", "return-by-reference", "class G { std::vector<int> v; public: std::vector<int> all() const { return v; } void add(int k) { v.push_back(k); } }; int main() { G g; g.add(1); auto it = g.all().begin(); g.add(2); std::printf(\"%d\", *it); }"),
    c("the copy is changed", "pass-by-pointer", "typedef struct { double w[40]; } L; static double f(L l) { l.w[0] += 1; return l.w[0]; } int main(void) { L l = {{0}}; double s = 0; for (int i = 0; i < 9; i++) s += f(l); printf(\"%g\", s); }"),
    c("the original may change", "pass-by-pointer", "typedef struct { double w[40]; } L; static L all; static double f(L l) { all.w[0] += 1; return l.w[0]; } int main(void) { double s = 0; for (int i = 0; i < 9; i++) s += f(all); printf(\"%g\", s); }"),
    c("a function is handed on", "pass-by-pointer", "typedef struct { double w[40]; } L; static double f(L l) { return l.w[0]; } static double (*g)(L) = f; int main(void) { L l = {{0}}; printf(\"%g\", g(l) + f(l)); }"),
    cpp("the lambda changes its copy", "refer-instead-of-copy", "#include <algorithm>\nint main() { std::vector<std::string> v{\"b\", \"a\"}; std::sort(v.begin(), v.end(), [](std::string a, std::string b) { a += \"x\"; return a < b; }); }"),
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
    # -- copies back
    c("the step reads what it wrote before", "exchange-arrays", "int main(void) { int n = 9; double *u = calloc(n, sizeof(double)); double *v = calloc(n, sizeof(double)); for (int t = 0; t < 5; t++) { for (int i = 0; i < n; i++) v[i] = v[i] + u[i] + 1; memcpy(u, v, n * sizeof(double)); } printf(\"%g\", u[3]); }"),
    c("somebody else has the array", "exchange-arrays", "int main(void) { int n = 9; double *u = calloc(n, sizeof(double)); double *v = calloc(n, sizeof(double)); double *w = u; for (int t = 0; t < 5; t++) { for (int i = 0; i < n; i++) v[i] = u[i] + 1; memcpy(u, v, n * sizeof(double)); } printf(\"%g\", w[3]); }"),
    c("a part of the array", "exchange-arrays", "int main(void) { int n = 9; double *u = calloc(n, sizeof(double)); double *v = calloc(n, sizeof(double)); for (int t = 0; t < 5; t++) { for (int i = 0; i < n; i++) v[i] = u[i] + 1; memcpy(u, v, 4 * sizeof(double)); } printf(\"%g\", u[3]); }"),
    c("arrays of the caller", "exchange-arrays", "void f(double *u, double *v, int n) { for (int t = 0; t < 5; t++) { for (int i = 0; i < n; i++) v[i] = u[i] + 1; memcpy(u, v, n * sizeof(double)); } }"),
    # -- room
    c("begins with some room", "double-room", "int main(void) { int n = 3; int *v = malloc(3 * sizeof(int)); for (int i = 0; i < 9; i++) { v = realloc(v, (n + 1) * sizeof(int)); v[n++] = i; } printf(\"%d\", v[5]); }"),
    c("begins with items", "double-room", "int main(void) { int n = 3; int *v = NULL; for (int i = 0; i < 9; i++) { v = realloc(v, (n + 1) * sizeof(int)); v[n++] = i; } printf(\"%d\", v[5]); }"),
    c("grows by two", "double-room", "int main(void) { int n = 0; int *v = NULL; for (int i = 0; i < 9; i++) { v = realloc(v, (n + 1) * sizeof(int)); v[n] = i; n += 2; } printf(\"%d\", v[4]); }"),
    c("an array of the caller", "double-room", "int *add(int *v, int n, int x) { v = realloc(v, (n + 1) * sizeof(int)); v[n] = x; return v; }"),
    # -- fronts and lists
    cpp("the front is looked at on the way", "turn-around-once", "int main() { std::vector<int> v; for (int i = 0; i < 9; i++) { v.insert(v.begin(), i); if (v[0] == 7) break; } std::printf(\"%d\", v[0]); }"),
    cpp("there were items before", "turn-around-once", "int main() { std::vector<int> v; v.push_back(3); for (int i = 0; i < 9; i++) v.insert(v.begin(), i); std::printf(\"%d\", v[0]); }"),
    cpp("items are put between others", "list-as-vector", "#include <iterator>\n#include <list>\nint main() { std::list<int> l; for (int i = 0; i < 9; i++) l.push_back(i); l.insert(std::next(l.begin(), 3), 7); std::printf(\"%d\", l.front()); }"),
    cpp("an item is kept meanwhile", "list-as-vector", "#include <iterator>\n#include <list>\nint main() { std::list<int> l; l.push_back(1); auto it = l.begin(); for (int i = 0; i < 9; i++) l.push_back(*it + *std::next(l.begin(), i)); std::printf(\"%d\", l.back()); }"),
    # -- objects
    cpp("a pointer is kept", "object-on-stack", "struct T { int k; T(int n) : k(n) {} }; static T *last; int main() { for (int i = 0; i < 9; i++) { T *t = new T(i); last = t; delete t; } }"),
    cpp("deleted elsewhere", "object-on-stack", "struct T { int k; T(int n) : k(n) {} }; int main() { for (int i = 0; i < 9; i++) { T *t = new T(i); if (t->k > 3) delete t; } }"),
    cpp("the object hands itself out", "object-on-stack", "struct T; static T *last; struct T { int k; T(int n) : k(n) {} void keep() { last = this; } }; int main() { for (int i = 0; i < 9; i++) { T *t = new T(i); t->keep(); delete t; } }"),
    cpp("the condition counts", "erase-once", "int main() { std::vector<int> v{1, 2, 3}; int n = 0; for (auto it = v.begin(); it != v.end();) { if (n++ % 2) it = v.erase(it); else ++it; } std::printf(\"%zu\", v.size()); }"),
    cpp("the condition looks at its neighbours", "erase-once", "int main() { std::vector<int> v{1, 2, 3}; for (auto it = v.begin(); it != v.end();) { if (*it == v.back()) it = v.erase(it); else ++it; } std::printf(\"%zu\", v.size()); }"),
    cpp("the setter loses something", "interchange-loops", "struct M { int n; float *d; }; static void put(M *m, int i, int j, int v) { m->d[i * m->n + j] = v; } void f(M *m) { for (int j = 0; j < m->n; j++) for (int i = 0; i < m->n; i++) put(m, i, j, m->d[i * m->n + j] * 1.5f); }"),
    c("what is gathered is used on the way", "block-columns", "double f(double *restrict v, int w, int h) { double worst = 0; for (int x = 0; x < w; x++) { double t = worst; for (int y = 0; y < h; y++) t += v[y * w + x]; if (t > worst) worst = t; } return worst; }"),
    c("leaves when it is found", "block-columns", "double f(double *restrict v, int w, int h) { double worst = 0; for (int x = 0; x < w; x++) { double t = 0; for (int y = 0; y < h; y++) t += v[y * w + x]; if (t > worst) return t; } return worst; }"),
    # -- more of what stands beside
    c("the macro has another number of arguments", "interchange-loops", "#define AT(i, j) a[(i) * m + (j)]\nvoid f(double *a, int n, int m) { for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) AT(i) *= 2; }"),
    c("the macro is a statement", "hoist-invariant-call", "#define ADD(s, x) do { (x) += 1; (s) += exp(x); } while (0)\ndouble f(double x, int n) { double s = 0; for (int i = 0; i < n; i++) ADD(s, x); return s; }"),
    cpp("the scalar is a reference", "block-columns", "void f(double *v, double *m, int w, int h) { for (int x = 0; x < w; x++) { double &t = m[x]; for (int y = 0; y < h; y++) t += v[y * w + x]; } }"),
    c("a column ends early", "block-columns", "void f(double *restrict v, double *restrict m, int w, int h) { for (int x = 0; x < w; x++) { double t = 0; for (int y = 0; y < h; y++) { if (v[y * w + x] < 0) break; t += v[y * w + x]; } m[x] = t; } }"),
    c("a column is left out", "block-columns", "void f(double *restrict v, double *restrict m, int w, int h) { for (int x = 0; x < w; x++) { double t = 0; if (m[x] < 0) continue; for (int y = 0; y < h; y++) t += v[y * w + x]; m[x] = t; } }"),
    c("gathered in two places", "block-columns", "double f(double *restrict v, double *restrict m, int w, int h) { double all = 0; for (int x = 0; x < w; x++) { double t = 0; for (int y = 0; y < h; y++) t += v[y * w + x]; all += t; for (int y = 0; y < h; y++) t -= v[y * w + x]; all *= t; m[x] = t; } return all; }"),
    c("columns of different heights", "block-columns", "void f(double *restrict v, double *restrict m, int w) { for (int x = 0; x < w; x++) { double t = 0; int h = x; for (int y = 0; y < h; y++) t += v[y * w + x]; for (int y = 0; y < 9; y++) v[y * w + x] = t; } }"),
    c("the second loop reads the next column", "block-columns", "void f(double *restrict v, double *restrict m, int w, int h) { for (int x = 0; x < w - 1; x++) { double t = 0; for (int y = 0; y < h; y++) t += v[y * w + x]; for (int y = 0; y < h; y++) v[y * w + x + 1] = t; } }"),
    c("static in the column", "block-columns", "void f(double *restrict v, double *restrict m, int w, int h) { for (int x = 0; x < w; x++) { static double t = 0; for (int y = 0; y < h; y++) t += v[y * w + x]; m[x] = t; } }"),
    c("something else if not found", "bisect-table", "int f(const int *t, int n, int x) { int r = 0; for (int k = 0; k < n; k++) if (t[k] == x) return k; else r++; return r; }"),
    c("goes on after it is found", "bisect-table", "int f(const int *t, int n, int x) { int r = 0; for (int k = 0; k < n; k++) if (t[k] == x) r = k; return r; }"),
    c("from behind", "bisect-table", "int f(const int *t, int n, int x) { for (int k = n - 1; k >= 0; k--) if (t[k] == x) return k; return -1; }"),
    c("intervals of two tables", "bisect-table", "int f(const double *t, const double *u, int n, double x) { for (int k = 0; k < n; k++) if (x >= t[k] && x < u[k]) return k; return -1; }"),
    cpp("the table of another type", "unordered-container", "#include <set>\nint main() { std::set<double> s; for (int i = 0; i < 9; i++) s.insert(i * 0.5); std::printf(\"%zu\", s.count(1.0)); }"),
    cpp("made from another one", "unordered-container", "int main() { std::map<int, int> m; m[3] = 4; std::map<int, int> n = m; std::printf(\"%d\", n[3]); }"),
    cpp("an array of maps", "unordered-container", "int main() { std::map<int, int> m[4]; m[1][3] = 4; std::printf(\"%d\", m[1][3]); }"),
    cpp("the type is another name's as well", "unordered-container", "using Counts = std::map<int, int>;\nint main() { std::map<int, int> m; m[3] = 4; Counts n; n[3] = 2; for (auto &one : n) std::printf(\"%d\", one.second + m[3]); }"),
    cpp("items are visited by reference", "ask-hash-table", "#include <algorithm>\nint main() { std::vector<int> v; for (int i = 0; i < 9; i++) { if (std::find(v.begin(), v.end(), i % 4) == v.end()) v.push_back(i); for (int &k : v) k++; } std::printf(\"%zu\", v.size()); }"),
    cpp("sorted on the way", "ask-hash-table", "#include <algorithm>\nint main() { std::vector<int> v; for (int i = 0; i < 9; i++) { if (std::find(v.begin(), v.end(), i % 4) == v.end()) v.push_back(i); std::sort(v.begin(), v.end()); } std::printf(\"%zu\", v.size()); }"),
    io("the stream is handed out", "open-once", "static FILE *record(int i) { FILE *f = fopen(\"x\", \"a\"); fprintf(f, \"%d\", i); fclose(f); return f; }\nint main(void) { for (int i = 0; i < 9; i++) record(i); }"),
    io("left before it is closed", "open-once", "static int record(int i) { FILE *f = fopen(\"x\", \"a\"); if (i == 3) return 1; fprintf(f, \"%d\", i); fclose(f); return 0; }\nint main(void) { for (int i = 0; i < 9; i++) record(i); }"),
    io("flushed once", "leave-out-flushes", "int main(void) { printf(\"begin\"); fflush(stdout); for (int i = 0; i < 9; i++) printf(\"%d\", i); }"),
    cpp("arrays of different sizes", "exchange-arrays", "int main() { int n = 9; double *u = new double[n], *v = new double[n * 2]; for (int t = 0; t < 5; t++) { for (int i = 0; i < n; i++) v[i] = t + i; for (int i = 0; i < n; i++) u[i] = v[i]; } std::printf(\"%g\", u[3]); }"),
    cpp("vectors of different types", "exchange-arrays", "int main() { std::vector<double> u(9); int v = 0; for (int t = 0; t < 5; t++) { v = t; u[0] = v; } std::printf(\"%g\", u[0]); }"),
    c("every other item is copied", "exchange-arrays", "int main(void) { int n = 9; double *u = calloc(n, sizeof(double)); double *v = calloc(n, sizeof(double)); for (int t = 0; t < 5; t++) { for (int i = 0; i < n; i++) v[i] = u[i] + 1; for (int i = 0; i < n; i += 2) u[i] = v[i]; } printf(\"%g\", u[3]); }"),
    c("a small record", "pass-by-pointer", "typedef struct { double x, y; } P; static double f(P p) { return p.x * p.y; } int main(void) { P p = {1, 2}; double s = 0; for (int i = 0; i < 9; i++) s += f(p); printf(\"%g\", s); }"),
    c("a record that is made on the way", "pass-by-pointer", "typedef struct { double w[40]; } L; static L make(int k) { L l = {{k}}; return l; } static double f(L l) { return l.w[0]; } int main(void) { double s = 0; for (int i = 0; i < 9; i++) s += f(make(i)); printf(\"%g\", s); }"),
    cpp("a reference to a number is another one each time", "object-on-stack", "struct T { int k; T(int n) : k(n) {} }; int main() { for (int i = 0; i < 9; i++) { T *t = new T(i); if (i == 3) continue; std::printf(\"%d\", t->k); delete t; } }"),
)  # fmt: skip
