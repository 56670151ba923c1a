"""Lists of which all items move for each one: what is one, and what only looks like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.profile.source_text import no_source
from tests.diagnosis.parts import causes, diagnosed, finding, function, main, source
from tests.diagnosis.source.programs import Case, case, first_cause
from tests.profile.build import build, call, line

QUADRATIC = "quadratic-algorithm"

CPP = [
    case("taken from the front of a member, called in a loop", QUADRATIC, """
struct Job { long id, cost[5]; };
class Spool {
 public:
  Job take() {
    Job first = jobs_.front();
    jobs_.erase(jobs_.begin()); // HOT memmove
    return first;
  }
 private:
  std::vector<Job> jobs_;
};"""),
    case("put in at the front of what a pointer names", QUADRATIC, """
struct Log { std::vector<long> lines; };
void note(Log *log, long x) {
  log->lines.insert(log->lines.cbegin(), x); // HOT memmove
}"""),
    case("the free functions", QUADRATIC, """
void drop(std::vector<long> &v) {
  v.erase(std::begin(v)); // HOT memmove
}"""),
    case("in the middle", QUADRATIC, """
void drop(std::vector<long> &v, size_t at) {
  v.erase(v.begin() + at); // HOT memmove
}"""),
    case("the first characters of a text", QUADRATIC, """
char next(std::string &text) {
  char c = text[0];
  text.erase(0, 1); // HOT memmove
  return c;
}"""),
    case("the rest of a text", QUADRATIC, """
char next(std::string &text) {
  char c = text[0];
  text = text.substr(1); // HOT memcpy
  return c;
}"""),
    case("called once", "redundant-copies", """
void drop(std::vector<long> &v) { // ONCE
  v.erase(v.begin()); // HOT memmove
}"""),
    case("at the end of a vector", "redundant-copies", """
void drop(std::vector<long> &v) {
  v.erase(v.end() - 1); // HOT memmove
}"""),
    case("at the end, counted from the beginning", "redundant-copies", """
void drop(std::vector<long> &v) {
  v.erase(v.begin() + v.size() - 1); // HOT memmove
}"""),
    case("popped from the back", "redundant-copies", """
struct Row { long a[64]; };
class Pool {
 public:
  Row take() {
    Row last = rows_.back(); // HOT memcpy
    rows_.pop_back();
    return last;
  }
 private:
  std::vector<Row> rows_;
};"""),
    case("taken from a queue with two ends", "", """
class Spool {
 public:
  long take() {
    long first = jobs_.front();
    jobs_.erase(jobs_.begin()); // HOT
    return first;
  }
 private:
  std::deque<long> jobs_;
};"""),
    case("taken from a map", "", """
long take(std::map<long, long> &todo) {
  todo.erase(todo.begin()); // HOT
  return todo.size();
}"""),
    case("another one's beginning", "redundant-copies", """
void splice(std::vector<long> &to, std::vector<long> &from) {
  to.insert(to.end(), from.begin(), from.end()); // HOT memmove
}"""),
    case("the beginning of a text", "redundant-copies", """
void cut(std::string &text, int n) {
  text = text.substr(0, n); // HOT memcpy
}"""),
]  # fmt: skip

C = [
    case("a list of C, with memmove", QUADRATIC, """
typedef struct { int n; double *at; } List;
double take(List *l) {
  double x = l->at[0];
  memmove(l->at, l->at + 1, (l->n - 1) * sizeof *l->at); // HOT memmove
  l->n--;
  return x;
}"""),
    case("by addresses of elements, behind an index", QUADRATIC, """
void insert(double *a, int *n, int k, double x) {
  int m = *n;
  memmove(&a[k + 1], &a[k], (m - k) * sizeof a[0]); // HOT memmove
  a[k] = x;
  m += 1;
  *n = m;
}"""),
    case("one by one", QUADRATIC, """
struct queue { int *item; int used; };
int pop(struct queue *q) {
  int first = q->item[0];
  for (int i = 1; i < q->used; i++)
    q->item[i - 1] = q->item[i]; // HOT
  q->used = q->used - 1;
  return first;
}"""),
    case("one by one, from behind", QUADRATIC, """
static int count;
static double list[100000];
void push(double x) {
  for (int i = count; i > 0; i--)
    list[i] = list[i - 1]; // HOT
  list[0] = x;
  count++;
}"""),
    case("to another array", "redundant-copies", """
void keep(double *a, const double *b, int n) {
  memmove(a, b + 1, n * sizeof *a); // HOT memmove
  n--;
}"""),
    case("what is left of a buffer", "redundant-copies", """
void compact(char *buffer, int *used, int done) {
  int left = *used - done;
  memmove(buffer, buffer + done, left); // HOT memmove
  *used = left;
}"""),
    case("a field that is moved along", "", """
void advect(double *u, int n) {
  for (int i = 0; i < n - 1; i++)
    u[i] = u[i + 1]; // HOT
}"""),
    case("a short history", "redundant-copies", """
void note(double *past, int k, double x) {
  memmove(past + 1, past, 7 * sizeof *past); // HOT memmove
  past[0] = x;
  k++;
}"""),
    case("a short history, one by one", "", """
int n;
void note(double *past, double x) {
  for (int i = 7; i > 0; i--)
    past[i] = past[i - 1]; // HOT
  past[0] = x;
  n++;
}"""),
    case("a ring", "", """
struct ring { long item[4096]; unsigned head, used; };
long take(struct ring *r) {
  long x = r->item[r->head % 4096]; // HOT
  r->head++;
  r->used--;
  return x;
}"""),
]  # fmt: skip

FORTRAN = [
    case("sections", QUADRATIC, """
subroutine take(list, n, first)
  integer, intent(inout) :: n, list(:)
  integer, intent(out) :: first
  first = list(1)
  list(1:n-1) = list(2:n) ! HOT
  n = n - 1
end subroutine"""),
    case("the whole list", QUADRATIC, """
subroutine take(todo, first)
  integer, allocatable, intent(inout) :: todo(:)
  integer, intent(out) :: first
  first = todo(1)
  todo = todo(2:) ! HOT
end subroutine"""),
    case("a component", QUADRATIC, """
subroutine put(q, x)
  type(queue), intent(inout) :: q
  real, intent(in) :: x
  q%item(2:q%n+1) = q%item(1:q%n) ! HOT
  q%item(1) = x
  q%n = q%n + 1
end subroutine"""),
    case("a loop", QUADRATIC, """
subroutine take(list, n)
  integer, intent(inout) :: n, list(:)
  integer :: i
  do i = 1, n - 1
    list(i) = list(i + 1) ! HOT
  end do
  n = n - 1
end subroutine"""),
    case("a field that is moved along", "", """
subroutine advect(u, n)
  integer, intent(in) :: n
  real, intent(inout) :: u(:)
  u(1:n-1) = u(2:n) ! HOT
end subroutine"""),
    case("the last is left out", "", """
subroutine drop(list)
  integer, allocatable, intent(inout) :: list(:)
  list = list(1:size(list)-1) ! HOT
end subroutine"""),
    case("the last is left out, from the beginning", "", """
subroutine drop(list)
  integer, allocatable, intent(inout) :: list(:)
  list = list(:size(list)-1) ! HOT
end subroutine"""),
    case("the last are written over", "", """
subroutine drop(list, n)
  integer, intent(inout) :: list(:), n
  n = n - 1
  list(:n) = list(1:n) ! HOT
end subroutine"""),
    case("another list", "", """
subroutine keep(a, b, n)
  integer, intent(inout) :: n
  integer, intent(inout) :: a(:), b(:)
  a(1:n-1) = b(2:n) ! HOT
  n = n - 1
end subroutine"""),
]  # fmt: skip


@pytest.mark.parametrize("one", CPP, ids=lambda one: one.name)
def test_cpp(one: Case) -> None:
    assert first_cause(one.text, "a.cpp") == one.cause


@pytest.mark.parametrize("one", C, ids=lambda one: one.name)
def test_c(one: Case) -> None:
    assert first_cause(one.text, "a.c") == one.cause


@pytest.mark.parametrize("one", FORTRAN, ids=lambda one: one.name)
def test_fortran(one: Case) -> None:
    assert first_cause(one.text, "a.f90") == one.cause


@pytest.mark.parametrize("copy", ["__memmove_avx512_unaligned_erms", "__memcpy_a64fx", "__GI_memmove"])
def test_moving_a_list_is_one_finding_with_the_time_of_the_copies_whose_load_module_perf_leaves_out(copy: str) -> None:
    text = CPP[0].text
    at = next(number for number, each in enumerate(text.splitlines(), 1) if "HOT" in each)
    moved = call(copy, line("memmove-vec-unaligned-erms.S:664", time=9.0), at="memmove-vec-unaligned-erms.S:260")
    taken = function("Spool::take", line(f"a.cpp:{at}", moved, time=0.5), at=f"a.cpp:{at - 2}")
    tree = main(line("d.cpp:3", taken, time=0.5), at="d.cpp:1")
    read = source({"a.cpp": text, "d.cpp": "void f(Spool &s) {\n  while (busy())\n    work(s.take());\n}\n"})
    profile = build(tree, read_source=read)
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, QUADRATIC)
    assert [one.cause for one in diagnosis.findings] == [QUADRATIC]
    assert found.where.function == "Spool::take"
    assert found.seconds == pytest.approx(9.5)
    assert causes(replace(profile, read_source=no_source))[0] == "redundant-copies"
