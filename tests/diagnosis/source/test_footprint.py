"""How much memory a chain takes, and that what fits into a cache is not taken for waiting for memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.source.footprint import footprint
from chathpc.diagnosis.source.text import parsed
from tests.diagnosis.parts import diagnosed, finding, function, main, ranks, source
from tests.diagnosis.source.programs import diagnosis_of, first_cause
from tests.profile.build import build, line, loop

LATENCY = "memory-latency"
NODE = "struct Node { long v; struct Node *next; };\n"
FOLLOW = "long f(struct Node *p) {\n  long s = 0;\n  for (; p; p = p->next)\n    s += p->v; // HOT\n  return s;\n}\n"
HOPS = "long f(const int *next, long steps) {\n  int i = 0;\n  for (long k = 0; k < steps; k++)\n    i = next[i]; // HOT\n  return i;\n}\n"


def made(count: str) -> str:
    """A list of so many items, each allocated by itself."""
    return (
        f"{NODE}{FOLLOW}int main(int n, char **argv) {{\n  struct Node *head = 0;\n  for (int i = 0; i < {count}; i++) {{\n"
        "    struct Node *one = malloc(sizeof(struct Node));\n    one->next = head;\n    head = one;\n  }\n  return f(head);\n}\n"
    )


def chained(how: str) -> str:
    return f"#define N 1000\nstatic const long BIG = 1L << 26;\n{HOPS}int main(int n, char **argv) {{\n  {how}\n  return f(next, 1L << 30);\n}}\n"


SIZES = [
    (made("1000"), "p", "a.c", 1000 * 32),  # glibc: 16 bytes and a head of 8, in steps of 16
    (made("n"), "p", "a.c", None),
    (
        made("1000").replace("int main(int n, char **argv)", "static long all(int n)")
        + "int main(void) { return all(3); }\n",
        "p",
        "a.c",
        32000,
    ),
    (made("1000").replace("int main(int n, char **argv)", "long all(int n)"), "p", "a.c", None),  # who knows how often
    (
        made("1000").replace("int main(int n, char **argv)", "long all(int n)")
        + "int main(void) { for (int i = 0; i < 9; i++) all(i); }\n",
        "p",
        "a.c",
        None,
    ),
    (NODE + FOLLOW + "int main(void) { struct Node pool[64]; return f(pool); }\n", "p", "a.c", 1024),
    (HOPS + "int *make(int n);\nint main(int n, char **argv) { return f(make(n), 9); }\n", "next", "a.c", None),
    (
        HOPS.replace("const int *next, ", "").replace("long f", "int *next;\nlong f")
        + "void set(void) { next = malloc(4096); }\n",
        "next",
        "a.c",
        4096,
    ),
    (chained("double *next = malloc(N * sizeof(double *));"), "next", "a.c", 8000),
    (chained("int *next = memalign(64, 4 * N);"), "next", "a.c", 4000),
    (chained("int *next = malloc(sizeof(int) * (N - 8));"), "next", "a.c", 4 * 992),
    (chained("long count = N + 24; int *next = malloc(count * sizeof next[0]);"), "next", "a.c", 4 * 1024),
    (chained("int *next = calloc(n, sizeof(int));"), "next", "a.c", None),
    (chained("int *next = new int[n];"), "next", "a.cpp", None),
    (chained("int *next = argv[1];"), "next", "a.c", None),
    (f"{NODE}{FOLLOW}struct Node pool[500];\nint main(void) {{ return f(pool); }}\n", "p", "a.c", 500 * 16),
    (f"{NODE}{FOLLOW}int main(void) {{ return f(new Node[4096]); }}\n", "p", "a.cpp", 4096 * 16),
    (f"{NODE}{FOLLOW}struct Node *make(void) {{ return malloc(sizeof(struct Node)); }}\n", "p", "a.c", None),
    (f"{NODE}{FOLLOW}", "p", "a.c", None),
    (chained("int *next = malloc(N * sizeof(int));"), "next", "a.c", 4000),
    (chained("int *next = malloc(N * sizeof *next);"), "next", "a.c", 4000),
    (chained("int *next = calloc(N, sizeof(int));"), "next", "a.c", 4000),
    (chained("int *next = aligned_alloc(64, 4 * N);"), "next", "a.c", 4000),
    (chained("int *next = malloc(BIG * sizeof(int));"), "next", "a.c", 4 << 26),
    (chained("int *next = malloc((1 << 26) * sizeof(int));"), "next", "a.c", 4 << 26),
    (chained("int *next = malloc(n * sizeof(int));"), "next", "a.c", None),
    (chained("int next[N];"), "next", "a.c", 4000),
    (chained("int *next = new int[2 * N + 24];"), "next", "a.cpp", 4 * 2024),
    (chained("std::vector<int> next(1000);"), "next", "a.cpp", 4000),
    (chained("std::vector<int> next; next.resize(3 * N);"), "next", "a.cpp", 12000),
    (chained("int *next = argv ? malloc(40) : 0; next = malloc(N * 4);"), "next", "a.c", None),
    (HOPS, "next", "a.c", None),
]


@pytest.mark.parametrize(("text", "name", "file", "size"), SIZES, ids=range(len(SIZES)))
def test_sizes_are_those_of_the_allocations(text: str, name: str, file: str, size: int | None) -> None:
    source = parsed(file, text.encode())
    assert source is not None
    found = footprint(name, source.functions_named("f")[0], source)
    assert found == size


def test_an_allocatable_array_of_fortran_has_a_size() -> None:
    text = "integer function f()\ninteger, allocatable :: next(:)\nallocate(next(1000))\nf = next(1)\nend function\n"
    source = parsed("a.f90", text.encode())
    assert source is not None
    assert footprint("next", source.functions_named("f")[0], source) == 4000


@pytest.mark.parametrize(
    "text",
    [
        made("1000"),
        chained("int *next = malloc(N * sizeof(int));"),
        chained("int next[N];"),
        f"{NODE}{FOLLOW}struct Node pool[500];\nint main(void) {{ return f(pool); }}\n",
    ],
    ids=["list", "chain", "array", "pool"],
)
def test_a_chain_that_fits_into_the_cache_does_not_wait_for_memory(text: str) -> None:
    assert first_cause(text, "a.c") == ""


def test_a_chain_of_unknown_size_is_less_sure_and_has_an_alternative() -> None:
    unknown = finding(diagnosis_of(HOPS, "a.c"), LATENCY)
    assert len(unknown.against) == 2
    assert any("cache misses would distinguish the two" in each for each in unknown.against)
    large = finding(diagnosis_of(chained("int *next = malloc((1 << 26) * sizeof(int));"), "a.c"), LATENCY)
    assert large.against == ()
    assert large.confidence > unknown.confidence
    between = finding(diagnosis_of(chained("int *next = malloc((1 << 20) * sizeof(int));"), "a.c"), LATENCY)
    assert len(between.against) == 1
    assert "last-level cache" in between.against[0]
    assert unknown.confidence < between.confidence < large.confidence


STREAM = """void f(double *a, const double *b, long n) {
  for (long k = 0; k < 1000; k++)
    for (long i = 0; i < n; i++)
      a[i] = 2.0 * b[i]; // HOT
}
"""


@pytest.mark.parametrize(("held", "told"), [("", True), ("50000000", True), ("30000000", False)])
def test_a_run_that_never_held_more_than_the_cache_does_not_wait_for_memory(held: str, told: bool) -> None:
    hot = loop("a.c:2", loop("a.c:3", line("a.c:4", time=8.0)))
    profile = build(main(function("f", hot, at="a.c:1"), at="driver.c:1"), read_source=source({"a.c": STREAM}))
    run = {"peak_memory": held, "last_level_cache": "33554432"}
    found = diagnosed(replace(profile, run=run)).findings
    assert ("memory-bandwidth" in [each.cause for each in found]) is told


def test_what_the_run_held_is_told_where_the_source_shows_no_size() -> None:
    """Ranks share the cache: 2 times 12 MB fit into 32 MB, 2 times 20 MB do not."""
    for held, told in (("12000000", "24.0 MB"), ("20000000", "does not show how much memory")):
        hot = loop("a.c:3", line("a.c:4", time=(8.0, 8.0)))
        root = main(function("f", hot, at="a.c:1"), at="driver.c:1")
        profile = build(root, read_source=source({"a.c": HOPS}), locations=ranks(2))
        run = {"peak_memory": held, "last_level_cache": "33554432"}
        assert told in finding(diagnosed(replace(profile, run=run)), LATENCY).against[0]


def test_instructions_in_a_cycle_that_were_counted_win_over_the_source() -> None:
    def causes_at(executed: float) -> list[str]:
        counted = {"cpu.cycles": 24e9, "cpu.instructions": executed}
        hot = loop("a.c:3", line("a.c:4", time=8.0, values=counted))
        root = main(function("f", hot, line("a.c:5", time=1.0), at="a.c:1"), at="driver.c:1")
        return [each.cause for each in diagnosed(build(root, read_source=source({"a.c": HOPS}))).findings]

    assert LATENCY in causes_at(12e9)
    assert LATENCY not in causes_at(48e9)


@pytest.mark.parametrize(
    ("misses", "seconds", "is_told"),
    [
        (None, 8.0, True),  # not counted
        (5e7, 8.0, True),  # 80 ns each: half of the time
        (5e6, 8.0, False),  # a twentieth
        (0.0, 8.0, False),
    ],
)
def test_cache_misses_that_were_counted_win_over_the_source(
    misses: float | None, seconds: float, is_told: bool
) -> None:
    counted = {} if misses is None else {"cpu.cache.misses": misses}
    other = {} if misses is None else {"cpu.cache.misses": 1e6}
    root = main(
        function(
            "f",
            loop("a.c:3", line("a.c:4", time=seconds, values=counted)),
            line("a.c:5", time=1.0, values=other),
            at="a.c:1",
        ),
        at="driver.c:1",
    )
    found = diagnosed(build(root, read_source=source({"a.c": HOPS})))
    assert (LATENCY in [each.cause for each in found.findings]) == is_told
