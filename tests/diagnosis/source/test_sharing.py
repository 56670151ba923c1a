"""Neighbouring elements that threads write to, where the program starts its threads itself: what is told, and how surely."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.records import Verdict
from tests.diagnosis.source.programs import diagnosis_of

SHARING = "omp-false-sharing"
CLAIMED, SUSPECTED, NOTHING = "claimed", "suspected", "nothing"

TALLY = """
struct Tally { std::atomic<long> hits{0}, misses{0}; };
static Tally tallies[8];
void scan(int me, const int *v, long n) {
  for (long i = 0; i < n; i++)
    if (v[i] > 0) tallies[me].hits.fetch_add(1, std::memory_order_relaxed); // HOT
    else tallies[me].misses.fetch_add(1);
}
void run(const int *v, long n, int crew) {
  std::vector<std::thread> all;
  for (int t = 0; t < crew; t++) all.emplace_back(scan, t, v, n);
  for (auto &one : all) one.join();
}
"""
PLAIN = """
struct Tally { long hits, misses; };
void scan(int me, Tally *all, const int *v, long n) {
  for (long i = 0; i < n; i++)
    all[me].hits += v[i] > 0; // HOT
}
void run(const int *v, long n, int crew) {
  Tally tallies[8];
  std::vector<std::thread> group;
  for (int t = 0; t < crew; t++) group.push_back(std::thread(scan, t, tallies, v, n));
}
"""
PTHREADS = """
typedef struct { int id; const int *v; long n, sum; } Work;
static void *scan(void *given) {
  Work *mine = (Work *)given;
  for (long i = 0; i < mine->n; i++)
    mine->sum += mine->v[i]; // HOT
  return NULL;
}
int run(Work *unused, int crew) {
  pthread_t all[8];
  Work work[8];
  for (int t = 0; t < crew; t++) pthread_create(&all[t], NULL, scan, &work[t]);
  return 0;
}
"""
C11 = """
static atomic_long counts[16];
static void *scan(void *given) {
  long me = (long)given;
  for (long i = 0; i < 100000000; i++)
    atomic_fetch_add(&counts[me], i & 1); // HOT
  return NULL;
}
void run(pthread_t *all, int crew) {
  for (long t = 0; t < crew; t++) pthread_create(&all[t], NULL, &scan, (void *)t);
}
"""
REFERENCE = """
void scan(std::atomic<int> &mine, long n) {
  for (long i = 0; i < n; ++i)
    mine += 1; // HOT
}
void run(long n, int crew) {
  std::vector<std::atomic<int>> counts(crew);
  std::vector<std::jthread> all;
  for (int t = 0; t < crew; ++t) all.emplace_back(scan, std::ref(counts[t]), n);
}
"""
FUTURES = """
static std::atomic<unsigned> seen[64];
int scan(int who, long n) {
  int me = who;
  for (long i = 0; i < n; ++i)
    seen[me]++; // HOT
  return 0;
}
void run(long n, int crew, std::vector<std::future<int>> &all) {
  for (int t = 0; t < crew; ++t) all.push_back(std::async(std::launch::async, scan, t, n));
}
"""
OPENMP = """
static std::atomic<long> hits[64];
void scan(const int *v, int n) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      hits[me].fetch_add(v[i] & 1); // HOT
  }
}
"""

CASES = [
    ("atomic counters of std::thread", CLAIMED, TALLY),
    ("C11's, with the number as argument", CLAIMED, C11),
    ("a reference to an element", CLAIMED, REFERENCE),
    ("std::async, the number in a variable", CLAIMED, FUTURES),
    ("atomic counters in OpenMP", CLAIMED, OPENMP),
    ("on lines of their own", NOTHING, TALLY.replace("struct Tally", "struct alignas(64) Tally")),
    ("aligned by a constant", NOTHING, TALLY.replace("struct Tally", "struct alignas(kLine) Tally")),
    (
        "aligned by the library's constant",
        NOTHING,
        TALLY.replace("struct Tally", "struct alignas(std::hardware_destructive_interference_size) Tally"),
    ),
    ("fields that are aligned", NOTHING, TALLY.replace("{ std::atomic", "{ alignas(64) std::atomic")),
    ("padded", NOTHING, TALLY.replace("misses{0};", "misses{0}; char rest[112];")),
    ("of a type that is not known", NOTHING, TALLY.replace("std::atomic<long>", "Counter")),
    ("started once", NOTHING, TALLY.replace("for (int t = 0; t < crew; t++) all", "int t = crew; all")),
    ("the same element for all", NOTHING, TALLY.replace("emplace_back(scan, t,", "emplace_back(scan, 0,")),
    ("called, not started", NOTHING, TALLY.replace("all.emplace_back(scan, t, v, n)", "scan(t, v, n)")),
    ("put into another list", NOTHING, TALLY.replace("vector<std::thread>", "vector<Job>")),
    (
        "stored once behind the loop",
        NOTHING,
        TALLY.replace("if (v[i] > 0) tallies[me].hits.fetch_add(1, std::memory_order_relaxed); // HOT", "found += v[i]; // HOT")
        .replace("    else tallies[me].misses.fetch_add(1);\n", "  tallies[me].hits.fetch_add(found);\n")
        .replace("  for (long i", "  long found = 0;\n  for (long i"),
    ),
    ("in some iterations only", SUSPECTED, TALLY.replace("    else tallies[me].misses.fetch_add(1);\n", "")),
    ("beside calls", SUSPECTED, FUTURES.replace("seen[me]++; // HOT", "{\n    seen[me]++;\n    work(i); // HOT\n  }")),
    (
        "beside much else",
        SUSPECTED,
        FUTURES.replace("    seen[me]++; // HOT", "  { " + "x = x * 3 + i; " * 12 + "\n    seen[me]++; // HOT\n  }"),
    ),
    (
        "in the loop around the one with the work",
        SUSPECTED,
        FUTURES.replace("    seen[me]++; // HOT", "  {\n    for (int k = 0; k < n; k++) x += k;\n    seen[me]++; // HOT\n  }"),
    ),
    ("plain counters", SUSPECTED, PLAIN),
    ("plain counters, far apart", NOTHING, PLAIN.replace("long hits, misses;", "long hits, misses, rest[14];")),
    ("sums in the records of pthreads", SUSPECTED, PTHREADS),
    ("sums in large records of pthreads", NOTHING, PTHREADS.replace("sum;", "sum; char pad[64];")),
    ("a sum of its own", NOTHING, PTHREADS.replace("mine->sum += mine->v[i]", "sum += mine->v[i]")),
]  # fmt: skip


def told(text: str, threads: int = 2) -> str:
    """Whether false sharing is claimed, suspected, or neither."""
    file = "a.c" if "pthread" in text else "a.cpp"
    diagnosis = diagnosis_of(text.lstrip("\n"), file, once=True, threads=threads)
    if any(one.cause == SHARING for one in diagnosis.findings):
        assert diagnosis.verdict == Verdict.SUSPECTED
        return CLAIMED
    suspected = [SHARING in one.suspected for one in diagnosis.findings]
    said = [any("It may be false sharing" in each for each in one.against) for one in diagnosis.findings]
    assert suspected == said
    return SUSPECTED if any(suspected) else NOTHING


@pytest.mark.parametrize(("name", "expected", "text"), CASES, ids=[name for name, _, _ in CASES])
def test_neighbouring_elements_of_threads(name: str, expected: str, text: str) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("declared", "written", "suspected"),
    [
        ("hits(8, 100000)", "hits(me, k)", True),
        ("hits(4, 8)", "hits(k, me)", True),
        ("hits(1000, 8)", "hits(k, me)", False),
    ],
)
def test_fortran_stores_the_first_index_side_by_side(declared: str, written: str, suspected: bool) -> None:
    text = f"""subroutine scan(v, n)
  integer :: {declared}, n, i, k, me, v(n)
  !$omp parallel private(me, k)
  me = omp_get_thread_num() + 0
  me = omp_get_thread_num()
  !$omp do
  do i = 1, n
    k = v(i)
    {written} = {written} + 1 ! HOT
  end do
  !$omp end parallel
end subroutine
"""
    findings = diagnosis_of(text, "a.f90", once=True, threads=2).findings
    assert any(SHARING in one.suspected for one in findings) == suspected


def test_one_thread_shares_nothing() -> None:
    assert told(TALLY, threads=1) == NOTHING


def test_a_suspicion_is_no_claim() -> None:
    diagnosis = diagnosis_of(PLAIN.lstrip("\n"), "a.cpp", once=True, threads=2)
    assert diagnosis.verdict == Verdict.SUSPECTED
    assert [(one.cause, one.suspected) for one in diagnosis.findings] == [("hot-compute", (SHARING,))]


def test_what_helps_what_is_suspected_is_advised_first() -> None:
    diagnosis = diagnosis_of(PLAIN.lstrip("\n"), "a.cpp", once=True, threads=2)
    found = next(one for one in diagnosis.findings if SHARING in one.suspected)
    assert "alignas(64)" in found.advice[0] or "thread-local" in found.advice[0]
    assert any("-O3" in each for each in found.advice[1:])
