"""Functions that call themselves once for each of many numbers: whose results are worth keeping, and whose are not."""

from __future__ import annotations

import pytest

from tests.diagnosis.source.programs import Case, case, first_cause

RECURSION = "redundant-recursion"

CASES = [
    case("steps up and down, in one expression", RECURSION, """
static long steps(unsigned long k) {
  if (k < 2) return 0;
  return steps(k & 1 ? 3 * k + 1 : k / 2) + 1; // HOT
}
long all(unsigned long last) {
  long sum = 0;
  for (unsigned long k = 1; k <= last; k++) sum += steps(k);
  return sum;
}"""),
    case("in two statements, with a parameter handed on", RECURSION, """
int height(int64_t x, int base) {
  if (x <= 1) return base;
  if (x % 3 == 0) return 1 + height(x / 3, base);
  return 1 + height(2 * x + 5, base); // HOT
}
int most(int64_t from, int64_t to) {
  int best = 0;
  for (int64_t x = from; x < to; ++x) {
    int h = height(x, 0);
    best = h > best ? h : best;
  }
  return best;
}"""),
    case("a sum over all before", RECURSION, """
double up_to(int n) {
  if (n == 0) return 0;
  return up_to(n - 1) + 1.0 / n; // HOT
}
void fill(double *h, int n) {
  for (int i = 0; i < n; i++) h[i] = up_to(i + 1);
}"""),
    case("results that are kept", "", """
static int known[1 << 20];
static int steps(unsigned long k) {
  if (k < 2) return 0;
  if (k < 1 << 20 && known[k]) return known[k];
  int s = steps(k & 1 ? 3 * k + 1 : k / 2) + 1; // HOT
  if (k < 1 << 20) known[k] = s;
  return s;
}
long all(unsigned long last) {
  long sum = 0;
  for (unsigned long k = 1; k <= last; k++) sum += steps(k);
  return sum;
}"""),
    case("results that the caller keeps", "", """
static int known[1 << 20];
static int steps(unsigned long k, unsigned long below) {
  if (k < below) return known[k];
  return steps(k & 1 ? 3 * k + 1 : k / 2, below) + 1; // HOT
}
void all(unsigned long last) {
  for (unsigned long k = 2; k <= last; k++) known[k] = steps(k, k);
}"""),
    case("results in a map", "", """
static long steps(std::map<long, long> &kept, long k) {
  if (auto it = kept.find(k); it != kept.end()) return it->second;
  return kept[k] = steps(kept, k % 2 ? 3 * k + 1 : k / 2) + 1; // HOT
}
void all(std::map<long, long> &kept, long last) {
  for (long k = 2; k <= last; k++) steps(kept, k);
}"""),
    case("digits", "", """
static int digits(unsigned long k) {
  if (k < 10) return k;
  return digits(k / 10) + k % 10; // HOT
}
long all(unsigned long last) {
  long sum = 0;
  for (unsigned long k = 1; k <= last; k++) sum += digits(k);
  return sum;
}"""),
    case("bits", "", """
static int bits(unsigned long k) { return k ? 1 + bits(k & (k - 1)) : 0; } // HOT
long all(unsigned long last) {
  long sum = 0;
  for (unsigned long k = 1; k <= last; k++) sum += bits(k);
  return sum;
}"""),
    case("a common divisor", "", """
static long divisor(long a, long b) { return b ? divisor(b, a % b) : a; } // HOT
long all(long last) {
  long sum = 0;
  for (long k = 1; k <= last; k++) sum += divisor(k, 360360);
  return sum;
}"""),
    case("numbers from a list", "", """
static long steps(unsigned long k) {
  if (k < 2) return 0;
  return steps(k & 1 ? 3 * k + 1 : k / 2) + 1; // HOT
}
long all(const unsigned long *x, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) sum += steps(x[i]);
  return sum;
}"""),
    case("a random walk", "", """
static unsigned long state;
static long walk(long k) {
  state = state * 6364136223846793005u + 1;
  if (k < 2) return 0;
  return walk(state >> 63 ? 2 * k + 1 : k / 2) + 1; // HOT
}
long all(long last) {
  long sum = 0;
  for (long k = 1; k <= last; k++) sum += walk(k);
  return sum;
}"""),
    case("numbers with a fraction", "", """
static double settle(double x) { return x < 1 ? x : settle(0.5 * x + 0.25); } // HOT
double all(int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += settle(i);
  return sum;
}"""),
    case("a list of nodes", "", """
static long length(const struct node *p) { return p ? 1 + length(p->next) : 0; } // HOT
long all(struct node **p, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) sum += length(p[i]);
  return sum;
}"""),
    case("called for one number", "", """
static long steps(unsigned long k) { // ONCE
  if (k < 2) return 0;
  return steps(k & 1 ? 3 * k + 1 : k / 2) + 1; // HOT
}
long one(unsigned long k) { return steps(k); }"""),
]  # fmt: skip


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_chains(one: Case) -> None:
    assert first_cause(one.text, "a.cpp" if "std::" in one.text else "a.c") == one.cause


def test_chains_in_fortran() -> None:
    text = """integer recursive function steps(k) result(s)
  integer(8), intent(in) :: k
  if (k < 2) then
    s = 0
  else if (mod(k, 2_8) == 0) then
    s = 1 + steps(k/2)
  else
    s = 1 + steps(3*k + 1) ! HOT
  end if
end function
subroutine all(last, total)
  integer(8) :: last, total, k
  do k = 1, last
    total = total + steps(k)
  end do
end subroutine
"""
    assert first_cause(text, "a.f90") == RECURSION
    assert first_cause(text.replace("total + steps(k)", "total + steps(list(k))"), "a.f90") == ""
    kept = text.replace("  if (k < 2) then", "  if (known(k) > 0) then\n    s = known(k)\n  else if (k < 2) then")
    assert (
        first_cause(
            kept.replace("integer(8), intent(in) :: k", "integer(8), intent(in) :: k\n  integer :: known(1000)"),
            "a.f90",
        )
        == ""
    )
