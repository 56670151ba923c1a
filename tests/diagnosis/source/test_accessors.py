"""Accessors put in place of their calls: what the loops around them then show, and what stays a call."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.source.inlining import expanded
from chathpc.diagnosis.source.model import expressions
from chathpc.diagnosis.source.text import parsed
from tests.diagnosis.parts import diagnosed, function, main, source
from tests.diagnosis.source.programs import Case, case, first_cause
from tests.profile.build import build, line

STRIDED = "strided-access"
CLASS = """
class Field {
 public:
  double &at(int i, int j) { return v_[(size_t)j * nx_ + i]; }
  double at(int i, int j) const { return v_[(size_t)j * nx_ + i]; }
  double operator()(int i, int j) const { return v_[j * nx_ + i]; }
  int nx_, ny_;
  std::vector<double> v_;
};
"""

CASES = [
    case("an accessor in the wrong order", STRIDED, CLASS + """
void f(Field &a, double c) {
  for (int i = 0; i < a.nx_; i++)
    for (int j = 1; j < a.ny_; j++)
      a.at(i, j) = c * a.at(i, j - 1); // HOT
}"""),
    case("the same in the right order", "", CLASS + """
double f(Field &a, double c) {
  double s = 0;
  for (int j = 1; j < a.ny_; j++)
    for (int i = 0; i < a.nx_; i++)
      s = c * s + a.at(i, j) * (s - c) * (c + 2.0 * s) / (1.0 + s * s); // HOT
  return s;
}"""),
    case("an object that is called", STRIDED, CLASS + """
double f(const Field &a, int nx, int ny) {
  double s = 0;
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      s += a(i, j); // HOT
  return s;
}"""),
    case("an accessor of an accessor, behind a pointer", STRIDED, """
struct Grid {
  long index(long x, long y) const { return y * width + x; }
  float get(long x, long y) const { return cell[this->index(x, y)]; }
  long width;
  float *cell;
};
float f(const Grid *g, long w, long h) {
  float s = 0;
  for (long x = 0; x < w; x++)
    for (long y = 0; y < h; y++)
      s += g->get(x, y); // HOT
  return s;
}"""),
    case("a free function of the index", STRIDED, """
static inline int at(int row, int col, int width) { return row * width + col; }
void f(double *u, int n, int m) {
  for (int c = 0; c < m; c++)
    for (int r = 0; r < n; r++)
      u[at(r, c, m)] *= 0.5; // HOT
}"""),
    case("a free function of the index, in the right order", "memory-bandwidth", """
static inline int at(int row, int col, int width) { return row * width + col; }
void f(double *u, int n, int m) {
  for (int r = 0; r < n; r++)
    for (int c = 0; c < m; c++)
      u[at(r, c, m)] *= 0.5; // HOT
}""".replace("u[at(r, c, m)]", "u[r * m + c]")),
    case("accessors that do not agree", "", """
struct A { double at(int i, int j) { return v[j * n + i]; } int n; double *v; };
struct B { double at(int i, int j) { return v[i * n + j]; } int n; double *v; };
double f(B &b, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s += b.at(i, j); // HOT
  return s;
}"""),
    case("one that a class may replace", "", """
struct A { virtual double at(int i, int j) { return v[j * n + i]; } int n; double *v; };
double f(A &a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s += a.at(i, j); // HOT
  return s;
}"""),
    case("arguments with effects", "", CLASS + """
double f(const Field &a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n;)
      s += a.at(i, j++); // HOT
  return s;
}"""),
    case("a function of that name that does more", "", """
static inline double at(const double *v, int i, int j, int n) { if (i < 0) return 0; return v[j * n + i]; }
double f(const double *v, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s += at(v, i, j, n); // HOT
  return s;
}"""),
]  # fmt: skip


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_accessors(one: Case) -> None:
    assert first_cause(one.text, "a.cpp") == one.cause


def test_calls_of_accessors_become_what_they_return() -> None:
    text = CLASS + "double f(Field &a, const Field &b, int k) { return a.at(k, 2) + b(0, k) + other(a.at(k)); }\n"
    file = parsed("a.cpp", text.encode())
    assert file is not None
    (f,) = file.functions_named("f")
    (shown,) = (str(one.expr) for one in expanded(f, file).statements)
    assert shown == "a.v_[2 * a.nx_ + k] + b.v_[k * b.nx_ + 0] + other(a.at(k))"
    assert expanded(expanded(f, file), file).statements == expanded(f, file).statements
    (at, *_) = file.functions_named("at")
    assert expanded(at, file) is at
    assert not any(one.kind == "call" and one.short == "operator" for one in expressions(f.statements))


def test_accessors_that_call_each_other_come_to_an_end() -> None:
    text = "static inline int a(int i) { return b(i) + b(i); }\nstatic inline int b(int i) { return a(i) + a(i); }\nint f(int i) { return a(i); }\n"
    file = parsed("a.cpp", text.encode())
    assert file is not None
    (f,) = file.functions_named("f")
    assert sum(1 for _ in expressions(expanded(f, file).statements)) < 2000


def test_a_finding_names_the_function_of_the_source_where_the_profile_lost_it() -> None:
    text = CASES[0].text.lstrip("\n") + "int main() {\n  Field a;\n  f(a, 0.5);\n}\n"
    at = next(number for number, each in enumerate(text.splitlines(), 1) if "HOT" in each)
    first = next(number for number, each in enumerate(text.splitlines(), 1) if each.startswith("int main"))
    tree = function("main", line(f"a.cpp:{at}", time=5.0), at=f"a.cpp:{first}")
    (found,) = diagnosed(build(main(tree, at="s.c:1"), read_source=source({"a.cpp": text}))).findings
    assert (found.cause, found.where.function, found.where.line) == (STRIDED, "f", at)
    assert found.summary.startswith("f steps through")
    kept = function(
        "g", line(f"a.cpp:{at}", time=5.0), at=f"a.cpp:{first}"
    )  # a name that the file does not have: a clone
    (found,) = diagnosed(build(main(kept, at="s.c:1"), read_source=source({"a.cpp": text}))).findings
    assert found.where.function == "g"
