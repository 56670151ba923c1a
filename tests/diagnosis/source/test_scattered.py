"""Reads whose address other data gives: by a search that halves, by a table of indices, by a hash."""

from __future__ import annotations

import pytest

from tests.diagnosis.source.programs import diagnosis_of, first_cause

BISECTION = """
long find(const double *a, long n, double x)
{
    long low = 0, high = n;
    while (high - low > 1) {
        long mid = low + (high - low) / 2;
        if (a[mid] > x) // HOT
            high = mid;
        else
            low = mid;
    }
    return low;
}
"""
POINTER = """
typedef struct { double energy, total, elastic; } Point;
double look(const Point *points, const int *starts, long row, int kind, double x)
{
    const Point *low = &points[starts[row * 64 + kind]];
    const Point *high = low + 1;
    double f = (high->energy - x) / (high->energy - low->energy); // HOT
    return high->total - f * (high->total - low->total);
}
"""
HASH = """
double value(const double *table, unsigned long key, unsigned long mask)
{
    unsigned long h = key * 11400714819323198485u;
    return table[(h >> 20) & mask]; // HOT
}
"""
LONG_BODY = """
void push(double *x, const double *field, const int *cell, int n)
{
    for (int i = 0; i < n; i++) {
        double a = field[cell[i]]; // HOT
        double b = a * a + 1.0, c = b * a - 2.0, d = c * b + a, e = d * c - b;
        double f = e * d + c, g = f * e - d, h = g * f + e;
        x[i] += a + b + c + d + e + f + g + h;
    }
}
"""


@pytest.mark.parametrize("text", [BISECTION, POINTER, HASH, LONG_BODY])
def test_what_waits_for_memory_is_suspected(text: str) -> None:
    diagnosis = diagnosis_of(text, "a.c")
    assert (diagnosis.verdict, diagnosis.findings[0].cause) == ("suspected", "memory-latency")
    assert diagnosis.findings[0].status == "derived"


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (BISECTION, ("const double *a, long n, double x)\n{", "long n, double x)\n{\n    static const double a[512];")),
        (POINTER, ("starts[row * 64 + kind]", "row * 64 + kind")),
        (POINTER, ("const int *starts", "const unsigned char *starts")),
        (HASH, ("key * 11400714819323198485u", "key")),
        (LONG_BODY, ("field[cell[i]]", "field[i]")),
    ],
)
def test_without_what_makes_it_scattered_it_is_not(text: str, change: tuple[str, str]) -> None:
    assert change[0] in text
    assert first_cause(text.replace(*change), "a.c") != "memory-latency"


def test_a_function_that_is_called_once_looks_up_once() -> None:
    assert diagnosis_of(POINTER, "a.c", once=True).findings[0].cause == "hot-compute"


STENCIL = """
void step(double *restrict u, double *restrict v, const double *restrict a, const double *restrict b, int n)
{
    for (int i = 1; i < n; i++)
        u[i] = (a[i] * b[i] + v[i]) * (a[i] - b[i]) + a[i] * v[i] * 0.5; // HOT
    for (int i = 1; i < n; i++)
        v[i] = (a[i] * u[i] + b[i]) * (a[i] - u[i]) + b[i] * u[i] * 0.5; // HOT
}
"""


def test_with_some_arithmetic_a_stream_is_only_suspected_and_its_loops_are_one() -> None:
    diagnosis = diagnosis_of(STENCIL, "a.c")
    (hot,) = diagnosis.findings
    assert (diagnosis.verdict, hot.cause, hot.suspected) == ("suspected", "hot-compute", ("memory-bandwidth",))


def test_loops_of_one_function_that_stream_are_one_finding_with_the_cost_of_all() -> None:
    text = STENCIL.replace("(a[i] * b[i] + v[i]) * (a[i] - b[i]) + a[i] * v[i] * 0.5", "a[i] + v[i]").replace(
        "(a[i] * u[i] + b[i]) * (a[i] - u[i]) + b[i] * u[i] * 0.5", "b[i] + u[i]"
    )
    diagnosis = diagnosis_of(text, "a.c")
    (found,) = diagnosis.findings
    assert (diagnosis.verdict, found.cause, found.share) == ("suspected", "memory-bandwidth", 1.0)
    assert "Other loops of step that do the same take 1.00 s of 2.00 s (50.0 %)." in [
        item.statement for item in diagnosis.evidence
    ]


NODES = """
#include <list>
struct Drifter { double x, y, u, v; };
using Swarm = std::list<Drifter>;
void advect(Swarm &swarm, double dt)
{
    for (Drifter &d : swarm) {
        d.x += d.u * dt; // HOT
        d.y += d.v * dt;
    }
}
"""
FOUND = """
#include <algorithm>
#include <vector>
class Mesh {
    int vertex(long key)
    {
        const auto it = std::find(keys_.begin(), keys_.end(), key); // HOT
        return static_cast<int>(it - keys_.begin());
    }
    std::vector<long> keys_;
};
"""


def test_items_that_are_nodes_of_their_own_are_chased() -> None:
    assert first_cause(NODES, "a.cpp") == "memory-latency"
    assert first_cause(NODES.replace("std::list<", "std::vector<"), "a.cpp") != "memory-latency"


def test_a_search_in_a_function_is_one_for_each_call() -> None:
    assert first_cause(FOUND, "a.cpp") == "quadratic-algorithm"
    assert diagnosis_of(FOUND, "a.cpp", once=True).findings[0].cause != "quadratic-algorithm"


LENGTH = """
#include <string.h>
typedef struct { char *bases, *qual; int masked; } Read;
static size_t span(const Read *r)
{
    return strlen(r->bases); // HOT strlen
}
void mask(Read *r)
{
    for (size_t i = 0; i < span(r); i++) // HOT span
        if (r->qual[i] < 8) {
            r->bases[i] = 'N';
            r->masked++;
        }
}
"""
RECORD = """
typedef struct { int capacity; double *level; unsigned char *quality; } Station;
static int days(const Station *s)
{
    int n = 0;
    while (n < s->capacity && s->quality[n] != 0)
        n++;
    return n;
}
void clear(Station *s)
{
    for (int i = 0; i < days(s); i++) // HOT days
        s->level[i] -= 1.0;
}
"""


@pytest.mark.parametrize("text", [LENGTH, RECORD])
def test_a_functions_result_that_the_loop_does_not_change_is_computed_anew(text: str) -> None:
    assert "loop-invariant-work" in {one.cause for one in diagnosis_of(text, "a.c").findings}


@pytest.mark.parametrize(
    ("text", "changes"),
    [(LENGTH, ("r->bases[i] = 'N';", "r->bases[i] = '\\0';")), (RECORD, ("s->level[i] -= 1.0;", "s->quality[i] = 0;"))],
)
def test_what_the_loop_changes_is_no_invariant(text: str, changes: tuple[str, str]) -> None:
    assert changes[0] in text
    assert "loop-invariant-work" not in {one.cause for one in diagnosis_of(text.replace(*changes), "a.c").findings}
