"""What is read in C++, and what is not."""

from __future__ import annotations

import pytest

from tests.diagnosis.source.programs import Case, case, diagnosis_of, first_cause

STRIDED, QUADRATIC, RECURSION = "strided-access", "quadratic-algorithm", "redundant-recursion"
STREAM, LATENCY, INVARIANT = "memory-bandwidth", "memory-latency", "loop-invariant-work"
SHARING, CRITICAL, COPIES, CHURN = (
    "omp-false-sharing",
    "omp-critical-contention",
    "redundant-copies",
    "allocation-churn",
)
BUILD, MATH = "unoptimised-build", "expensive-math"

CASES = [
    case("an atomic counter of C++", "omp-critical-contention", """
void f(const std::vector<int>& v, std::atomic<long>& sum) { // in threads of omp
  for (int i = 0; i < 9000; i++)
    sum += v[i]; // HOT
}"""),
    case("a search by a part of a structured binding", QUADRATIC, """
void count(const std::vector<std::string>& words, std::vector<std::pair<std::string, int>>& counts) {
  for (const auto& word : words) {
    bool found = false;
    for (auto& [known, n] : counts) {
      if (known == word) { // HOT
        n++;
        found = true;
        break;
      }
    }
    if (!found)
      counts.emplace_back(word, 1);
  }
}"""),
    case("a search for what a structured binding has itself", "", """
const int* odd(const std::vector<std::vector<std::pair<int, int>>>& rows) {
  for (const auto& row : rows)
    for (auto& [a, b] : row)
      if (a != b) // HOT
        return &a;
  return nullptr;
}"""),
    case("vectors of vectors in the wrong order", STRIDED, """
void f(std::vector<std::vector<double>>& a, int n) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      a[i][j] *= 2.0; // HOT
}"""),
    case("a vector walked by rows", STRIDED, """
void f(std::vector<double>& a, const std::vector<double>& b, std::size_t rows, std::size_t cols) {
  for (std::size_t c = 0; c < cols; ++c)
    for (std::size_t r = 0; r < rows; ++r)
      a[r * cols + c] = b[r * cols + c] + 1.0; // HOT
}"""),
    case("the same with a cast", STRIDED, """
void f(double* a, int rows, int cols) {
  for (int c = 0; c < cols; ++c)
    for (int r = 0; r < rows; ++r)
      a[static_cast<std::size_t>(r) * cols + c] *= 0.5; // HOT
}"""),
    case("the right order with a cast", STREAM, """
void f(double* a, int rows, int cols) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      a[static_cast<std::size_t>(r) * cols + c] *= 0.5; // HOT
}"""),
    case("a block of as many rows as the template says", "", """
template <int W>
void pack(const double* x, std::size_t ld, int rows, int depth, double* out) {
  for (int p = 0; p < rows; p += W)
    for (int k = 0; k < depth; ++k)
      for (int r = 0; r < W; ++r)
        *out++ = x[static_cast<std::size_t>(p + r) * ld + k]; // HOT
}"""),
    case("a block of a few rows", "", """
constexpr int W = 8;
void pack(const double* x, std::size_t ld, int rows, int depth, double* out) {
  for (int p = 0; p < rows; p += W)
    for (int k = 0; k < depth; ++k)
      for (int r = 0; r < W; ++r)
        *out++ = x[static_cast<std::size_t>(p + r) * ld + k]; // HOT
}"""),
    case("a transposition", STRIDED, """
template <typename T>
void transpose(T* out, const T* in, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      out[j * n + i] = in[i * n + j]; // HOT
}"""),
    case("a member array in the wrong order", STRIDED, """
class Grid {
 public:
  void smooth() {
    for (int i = 0; i < nx_; i++)
      for (int j = 0; j < ny_; j++)
        v_[j * nx_ + i] = 0.5 * (v_[j * nx_ + i] + w_[j * nx_ + i]); // HOT
  }
 private:
  int nx_, ny_;
  std::vector<double> v_, w_;
};"""),
    case("one field of large particles", STRIDED, """
struct Particle { double x, y, z, vx, vy, vz, m, q; double history[16]; };
double f(const std::vector<Particle>& all) {
  double s = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    s += all[i].m; // HOT
  return s;
}"""),
    case("tiles", "", """
void f(double* out, const double* in, int n) {
  for (int ii = 0; ii < n; ii += 32)
    for (int jj = 0; jj < n; jj += 32)
      for (int i = ii; i < ii + 32; ++i)
        for (int j = jj; j < jj + 32; ++j)
          out[i * n + j] = in[i * n + j] * in[i * n + j] + 0.5 * out[i * n + j] * in[i * n + j] - 3.0 * in[i * n + j]; // HOT
}"""),
    case("a search in a vector that grows", QUADRATIC, """
class Registry {
 public:
  double merge(const P& p) {
    for (size_t k = 0; k < seen_.size(); k++)
      if (seen_[k].id == p.id) { // HOT
        seen_[k].w += p.w;
        return seen_[k].w;
      }
    seen_.push_back(p);
    return p.w;
  }
 private:
  std::vector<P> seen_;
};"""),
    case("a search with a range-for", QUADRATIC, """
struct Item { std::string key; long n; };
Item& f(std::vector<Item>& items, const std::string& key) {
  for (Item& it : items)
    if (it.key == key) return it; // HOT
  items.push_back(Item{key, 0});
  return items.back();
}"""),
    case("an iterator that searches", QUADRATIC, """
bool f(const std::list<long>& seen, long key) {
  for (auto it = seen.begin(); it != seen.end(); ++it)
    if (*it == key) return true; // HOT
  return false;
}"""),
    case("std::find in a loop", QUADRATIC, """
int f(const std::vector<int>& a, std::vector<int>& seen) {
  int n = 0;
  for (int x : a)
    if (std::find(seen.begin(), seen.end(), x) == seen.end()) { // HOT
      seen.push_back(x);
      n++;
    }
  return n;
}"""),
    case("std::count_if in a loop", QUADRATIC, """
long f(const std::vector<int>& a) {
  long n = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int x = a[i];
    n += std::count(a.begin(), a.end(), x); // HOT
  }
  return n;
}"""),
    case("find of a hash table", "", """
int f(const std::vector<int>& a, const std::unordered_map<int, int>& table) {
  int n = 0;
  for (int x : a)
    if (table.find(x) != table.end()) n++; // HOT
  return n;
}"""),
    case("std::lower_bound", "", """
int f(const std::vector<int>& a, const std::vector<int>& sorted) {
  int n = 0;
  for (int x : a)
    n += std::lower_bound(sorted.begin(), sorted.end(), x) != sorted.end(); // HOT
  return n;
}"""),
    case("erasing at the front of a vector", QUADRATIC, """
void f(std::vector<int>& queue) {
  while (!queue.empty())
    queue.erase(queue.begin()); // HOT
}"""),
    case("inserting at the front of a vector", QUADRATIC, """
void f(std::vector<int>& out, int n) {
  for (int i = 0; i < n; ++i)
    out.insert(out.begin(), i); // HOT memmove
}"""),
    case("taking the front of a deque", "", """
void f(std::deque<int>& queue) {
  while (!queue.empty())
    queue.pop_front(); // HOT
}"""),
    case("appending", "", """
void f(std::vector<int>& out, int n) {
  for (int i = 0; i < n; ++i)
    out.push_back(i); // HOT
}"""),
    case("Fibonacci with a conditional", RECURSION, """
static long fib(int n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2); // HOT
}"""),
    case("binomials in a class", RECURSION, """
struct Combine {
  static long choose(int n, int k) {
    if (k == 0 || k == n) return 1;
    return choose(n - 1, k - 1) + choose(n - 1, k); // HOT
  }
};"""),
    case("results in a map", "", """
static std::map<int, long> known;
static long fib(int n) {
  if (n < 2) return n;
  auto it = known.find(n);
  if (it != known.end()) return it->second;
  return known[n] = fib(n - 1) + fib(n - 2); // HOT
}"""),
    case("a tree of objects", "", """
struct Node {
  Node *left, *right;
  double value;
  double sum() const { return value + (left ? left->sum() : 0) + (right ? right->sum() : 0); } // HOT
};"""),
    case("sorting by parts", "", """
static void quick(double* v, int lo, int hi) {
  if (hi - lo < 2) return;
  int p = partition(v, lo, hi);
  quick(v, lo, p); // HOT
  quick(v, p + 1, hi);
}"""),
    case("a vector by value", COPIES, """
static long cost(std::vector<int> group, int k) {
  long s = 0;
  for (size_t i = k; i < group.size(); i += 100) s += group[i];
  return s;
}
long f(const std::vector<int>& all, int n) {
  long s = 0;
  for (int k = 0; k < n; ++k)
    s += cost(all, k); // HOT
  return s;
}"""),
    case("a string by value whose copy is measured", COPIES, """
static bool known(std::string name) { return name[0] == 'a'; }
int f(const std::vector<std::string>& names) {
  int n = 0;
  for (const auto& name : names)
    n += known(name); // HOT memcpy
  return n;
}"""),
    case("a vector by reference", "", """
static long cost(const std::vector<int>& group, int k) {
  long s = 0;
  for (size_t i = k; i < group.size(); i += 100) s += group[i];
  return s;
}
long f(const std::vector<int>& all, int n) {
  long s = 0;
  for (int k = 0; k < n; ++k)
    s += cost(all, k); // HOT
  return s;
}"""),
    case("a vector by value that is sorted inside", "", """
static long median(std::vector<int> group) {
  std::sort(group.begin(), group.end());
  return group[group.size() / 2];
}
long f(const std::vector<int>& all, int n) {
  long s = 0;
  for (int k = 0; k < n; ++k)
    s += median(all) + k; // HOT
  return s;
}"""),
    case("a vector by value that is moved on", "", """
struct Holder {
  std::vector<int> kept;
  void set(std::vector<int> v) { kept = std::move(v); }
};
void f(Holder& h, const std::vector<int>& all, int n) {
  for (int k = 0; k < n; ++k)
    h.set(all); // HOT
}"""),
    case("copies in a range-for", COPIES, """
long f(const std::vector<std::string>& names) {
  long n = 0;
  for (std::string name : names) // HOT
    n += name.size();
  return n;
}"""),
    case("copies in a range-for with auto", COPIES, """
struct Region { std::vector<double> v; int id; };
long f(const std::vector<Region>& regions) {
  long n = 0;
  for (auto r : regions) // HOT
    n += r.v.size() * r.id;
  return n;
}"""),
    case("references in a range-for", "", """
long f(const std::vector<std::string>& names) {
  long n = 0;
  for (const auto& name : names) // HOT
    n += name.size();
  return n;
}"""),
    case("numbers in a range-for", "", """
double f(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) // HOT
    s += x;
  return s;
}"""),
    case("a getter that returns a copy", COPIES, """
class Mesh {
 public:
  std::vector<int> cells() const { return cells_; }
 private:
  std::vector<int> cells_;
};
long f(const Mesh& m, int n) {
  long s = 0;
  for (int i = 0; i < n; ++i)
    s += m.cells()[i]; // HOT memcpy
  return s;
}"""),
    case("a getter that returns a reference", "", """
class Mesh {
 public:
  const std::vector<int>& cells() const { return cells_; }
 private:
  std::vector<int> cells_;
};
long f(const Mesh& m, int n) {
  long s = 0;
  for (int i = 0; i < n; ++i)
    s += m.cells()[i] * 3 + 7; // HOT
  return s;
}"""),
    case("memory in every iteration", CHURN, """
double f(int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double* w = new double[256]; // HOT malloc
    s += w[0];
    delete[] w;
  }
  return s;
}"""),
    case("memory once", CHURN, """
/* ONCE */
double* f(int n) {
  return new double[n]; // HOT malloc
}"""),
    case("accessors that were not inlined", BUILD, """
class Grid {
 public:
  double at(int i, int j) const { return v_[i * n_ + j]; } // HOT
 private:
  int n_;
  std::vector<double> v_;
};"""),
    case("a small function that nobody may inline", "", """
__attribute__((noinline)) static double square(double x) { return x * x; } // HOT
"""),
    case("a virtual accessor", "", """
struct Shape {
  virtual double area() const { return w_ * h_; } // HOT
  double w_, h_;
};"""),
    case("an accessor with a loop", "", """
struct Shape {
  double area() const { double s = 0; for (double w : w_) s += w * w * 0.5 + s * w; return s; } // HOT
  std::vector<double> w_;
};"""),
    case("a member function whose result stays", INVARIANT, """
static double scale(double a, double b) {
  double s = 0;
  for (int k = 0; k < 50; k++) s += a / (b + k);
  return s;
}
void f(std::vector<double>& v, double a, double b) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] *= scale(a, b); // HOT scale
}"""),
    case("a function of the loop's variable", "", """
static double scale(double a, double b) {
  double s = 0;
  for (int k = 0; k < 50; k++) s += a / (b + k);
  return s;
}
void f(std::vector<double>& v, double a) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] *= scale(a, i); // HOT scale
}"""),
    case("a function that writes a global", "", """
static long calls;
static double scale(double a) { calls++; return a * 0.5 + a * a; }
void f(std::vector<double>& v, double a) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] *= scale(a); // HOT scale
}"""),
    case("vectors of sums by thread", SHARING, """
void f(const double* v, long n, std::vector<double>& sums) {
#pragma omp parallel
  {
    const int t = omp_get_thread_num();
#pragma omp for
    for (long i = 0; i < n; ++i)
      sums[t] += v[i] * v[i]; // HOT
  }
}"""),
    case("aligned sums by thread", "", """
struct alignas(64) Sum { double v; };
void f(const double* v, long n, std::vector<Sum>& sums) {
#pragma omp parallel
  {
    const int t = omp_get_thread_num();
#pragma omp for
    for (long i = 0; i < n; ++i)
      sums[t].v += v[i] * v[i]; // HOT
  }
}"""),
    case("a list that is followed", LATENCY, """
struct Node { double v; Node* next; };
double f(const Node* p) {
  double s = 0;
  while (p) {
    s += p->v; // HOT
    p = p->next;
  }
  return s;
}"""),
    case("a sparse matrix", LATENCY, """
void f(int rows, const int* start, const int* col, const double* val, const double* x, double* y) {
  for (int r = 0; r < rows; ++r) {
    double s = 0;
    for (int k = start[r]; k < start[r + 1]; ++k)
      s += val[k] * x[col[k]]; // HOT
    y[r] = s;
  }
}"""),
    case("a sum of products", STREAM, """
double f(const std::vector<double>& a, const std::vector<double>& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    s += a[i] * b[i]; // HOT
  return s;
}"""),
    case("random numbers", "", """
struct Rng {
  uint64_t s;
  double uniform() {
    s ^= s << 13; s ^= s >> 7; // HOT
    return (s >> 11) * 1e-16;
  }
};"""),
    case("two ranges compared item by item", QUADRATIC, """
int f(const std::vector<A>& a, const std::vector<B>& b) {
  int k = 0;
  for (const auto& x : a)
    for (const auto& y : b)
      if (x.id == y.id) k++; // HOT
  return k;
}"""),
    case("a text that is built anew", COPIES, """
std::string f(const std::vector<std::string>& w) {
  std::string out;
  for (const auto& x : w)
    out = out + x; // HOT memcpy
  return out;
}"""),
    case("a sweep over a sparse matrix", LATENCY, """
double f(std::vector<double>& x, const Csr& a) {
  double s = 0;
  for (int r = 0; r < a.rows; ++r) {
    double sum = a.b[r];
    for (int k = a.start[r]; k < a.start[r + 1]; ++k)
      if (a.col[k] != r) sum -= a.val[k] * x[a.col[k]] + sum * 1e-9 * a.val[k] * x[a.col[k]] * 0.5 + a.val[k] * a.val[k] * sum; // HOT
    x[r] = sum / a.diag[r];
  }
  return s;
}"""),
    case("a filter of nine points", "", """
void f(std::vector<float>& img, const std::vector<float>& in, int w, int h) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      float s = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          s += in[(y + dy) * w + x + dx] * 0.1f; // HOT
      img[y * w + x] = s;
    }
}"""),
    case("a vector by value that grows inside", "", """
static long longer(std::vector<int> group) { group.push_back(3); return group.size(); }
long f(const std::vector<int>& all, int n) {
  long s = 0;
  for (int k = 0; k < n; ++k)
    s += longer(all) * k; // HOT
  return s;
}"""),
    case("a vector by value whose items are set", "", """
static long first(std::vector<int> group) { group[0] = 3; return group[0]; }
long f(const std::vector<int>& all, int n) {
  long s = 0;
  for (int k = 0; k < n; ++k)
    s += first(all) * k; // HOT
  return s;
}"""),
    case("copies in a range-for that are changed", "", """
long f(const std::vector<std::string>& names) {
  long n = 0;
  for (std::string name : names) { // HOT
    name.append("x");
    n += hash(name);
  }
  return n;
}"""),
    case("copies in a range-for that are kept", "", """
void f(const std::vector<std::string>& names, std::vector<std::string>& out) {
  for (std::string name : names) // HOT
    out.push_back(std::move(name));
}"""),
    case("copies in a range-for that are set", "", """
long f(const std::vector<std::string>& names) {
  long n = 0;
  for (std::string name : names) { // HOT
    name[0] = 'x';
    n += hash(name);
  }
  return n;
}"""),
    case("structured bindings", LATENCY, """
long f(const std::map<int, int>& all) {
  long n = 0;
  for (const auto& [key, value] : all) // HOT
    n += key * value;
  return n;
}"""),
    case("a lambda in the function", "", """
static double twice(double a) { auto g = [&](double x) { return 2 * x; }; return g(a); }
void f(std::vector<double>& v, double a) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] *= twice(a); // HOT twice
}"""),
    case("an accessor that calls itself", "", """
static inline int gcd(int a, int b) { return b ? gcd(b, a % b) : a; } // HOT
"""),
    case("an accessor of a mathematical function", "", """
static inline double length(double x, double y) { return sqrt(x * x + y * y); } // HOT
"""),
]  # fmt: skip


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_cpp(one: Case) -> None:
    assert first_cause(one.text, "a.cpp") == one.cause


def test_copies_take_the_allocations_that_they_make() -> None:
    text = next(one.text for one in CASES if one.name == "a vector by value").replace("// HOT", "// HOT malloc")
    causes = [one.cause for one in diagnosis_of(text, "a.cpp").findings]
    assert causes == ["redundant-copies"]


@pytest.mark.parametrize(
    ("file", "inside", "words", "others"),
    [
        ("a.c", "if (i == j || type[i] == type[j]) continue;\n      if (fabs(x[i] - x[j]) < rc) c++;", "cell list", ("qsort", "ring buffer")),
        ("a.cpp", "if (id[i] == id[j]) c++;", "std::unordered_map", ("pop_front", "cell list")),
        ("a.c", "if (id[i] == id[j]) c++;", "qsort", ("ring buffer", "cell list")),
    ],
)  # fmt: skip
def test_advice_for_pairs_is_for_what_is_looked_for_among_them(
    file: str, inside: str, words: str, others: tuple[str, ...]
) -> None:
    text = f"""int f(const int *id, const int *type, const double *x, int n, double rc) {{
  int c = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {{
      {inside} // HOT
    }}
  return c;
}}
"""
    found = diagnosis_of(text, file).findings[0]
    assert found.cause == QUADRATIC
    assert words in found.advice[0]
    assert not any(other in each for other in others for each in found.advice)


def test_advice_for_items_that_move_is_about_moving() -> None:
    text = "void f(std::vector<int>& v) {\n  while (!v.empty())\n    v.erase(v.begin()); // HOT\n}\n"
    (advice,) = diagnosis_of(text, "a.cpp").findings[0].advice
    assert "pop_front" in advice
