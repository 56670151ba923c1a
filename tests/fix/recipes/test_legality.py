# ruff: noqa: E501
"""Which iterations may run at the same time, by what they read and write: where they may, three threads print what one prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.fix.recipes.analysis.dependences import Dependences, dependences, is_independent
from chathpc.fix.recipes.analysis.loops import counted, loops_of
from chathpc.fix.recipes.analysis.program import program
from tests.fix.recipes.applying import output

_HEAD = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>
typedef struct { double x, y; double w[3]; } Point;
typedef struct { int n; double *v, *u; Point *p; double fixed[16]; } Box;
static double g[64][64], h[64][64], line[4096];
static int at[64];
"""
_MAIN = """
static double sum(const double *v, int n) { double s = 0; for (int k = 0; k < n; k++) s += v[k] * (1 + k % 7); return s; }
int main(void) {
  omp_set_dynamic(0);
  double *a = malloc(4096 * sizeof(double)), *b = malloc(4096 * sizeof(double));
  Box *box = malloc(sizeof *box);
  box->n = 64;
  box->v = malloc(64 * sizeof(double));
  box->u = malloc(64 * sizeof(double));
  box->p = malloc(64 * sizeof(Point));
  for (int k = 0; k < 4096; k++) { a[k] = 0.5 * k; b[k] = 1.0 / (k + 1); line[k] = k % 11; }
  for (int k = 0; k < 64; k++) { at[k] = (k * 7) % 64; box->v[k] = k; box->u[k] = 2 * k; memset(&box->p[k], 0, sizeof(Point)); }
  memset(box->fixed, 0, sizeof box->fixed);
  double r = work(a, b, box, 64);
  double s = r + sum(a, 4096) + sum(b, 4096) + sum(&g[0][0], 4096) + sum(&h[0][0], 4096) + sum(line, 4096) + sum(box->v, 64) + sum(box->u, 64) + sum(box->fixed, 16);
  for (int k = 0; k < 64; k++) s += box->p[k].x + 2 * box->p[k].y + 3 * box->p[k].w[k % 3];
  printf("%.17g\\n", s);
  return 0;
}
"""


def _whole(body: str, before: str = "") -> str:
    return (
        f"{_HEAD}{before}static double work(double *a, double *b, Box *t, int n) {{\n  {body}\n  return 0;\n}}\n{_MAIN}"
    )


_SHARED = {
    "rows by number": "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) a[i * n + j] = b[i * n + j] + 1;",
    "pointer to a row": "for (int i = 0; i < n; i++) {\n    double *row = a + i * n;\n    for (int j = 0; j < n; j++) row[j] += b[j];\n  }",
    "address of a row": "for (int i = 0; i < n; i++) {\n    double *row = &a[i * n];\n    for (int j = 0; j < n; j++) row[j] += exp(-b[j]);\n  }",
    "member array": "for (int i = 0; i < 64; i++) { t->v[i] = t->u[i] * 2; }",
    "records": "for (int i = 0; i < n; i++) { t->p[i].x = i; t->p[i].y = sqrt(i); }",
    "array in a record": "for (int i = 0; i < 16; i++) { t->fixed[i] = a[i] + b[i]; }",
    "array of its own": "for (int i = 0; i < n; i++) {\n    double own[4];\n    for (int k = 0; k < 4; k++) own[k] = i + k;\n    g[i][0] = own[1] + own[2];\n  }",
    "record of its own": "for (int i = 0; i < n; i++) {\n    Point q;\n    q.x = i;\n    q.w[1] = 3;\n    a[i] = q.x + q.w[1];\n  }",
    "continue": "for (int i = 0; i < n; i++) {\n    if (i % 3 == 0) continue;\n    a[i] = exp(b[i]);\n  }",
    "break of an inner loop": "for (int i = 0; i < n; i++) {\n    for (int j = 0; j < n; j++) { if (g[i][j] > 3) break; g[i][j] = i + j; }\n  }",
    "name for an index": "for (int i = 0; i < n; i++) {\n    const int k = i * 2 + 1;\n    line[k] = b[k] + 1;\n  }",
    "cast index": "for (int i = 0; i < n; i++) {\n    size_t k = (size_t)i * 3;\n    line[k] = a[k] * 2;\n  }",
    "even and odd": "for (int i = 0; i < 30; i++) { line[2 * i] = line[2 * i + 1] * 2; }",
    "downwards": "for (int i = 63; i >= 0; i--) { g[i][1] = h[i][2] + i; }",
    "sum of whole numbers": "long s = 0;\n  for (int i = 0; i < n; i++) { s += at[i] * 3; }\n  a[0] = s;",
    "counted": "int c = 0;\n  for (int i = 0; i < n; i++) { if (at[i] > 30) c++; }\n  a[0] = c;",
    "bits": "unsigned c = 0;\n  for (int i = 0; i < n; i++) { c ^= (unsigned)at[i]; }\n  a[0] = c;",
    "written out": "long c = 0;\n  for (int i = 0; i < n; i++) { c = c + at[i]; }\n  a[0] = c;",
    "local pointer": "double *q = b;\n  for (int i = 0; i < n; i++) { a[i] = q[i] * 2 + q[0]; }",
    "either of two others": "double *q = n > 3 ? b : line;\n  for (int i = 0; i < n; i++) { a[i] = q[i] + q[1]; }",
    "own memory": "double *q = malloc(n * sizeof(double));\n  for (int i = 0; i < n; i++) { q[i] = a[i] + 1; }\n  for (int i = 0; i < n; i++) a[i] = q[i];\n  free(q);",
}  # fmt: skip


def _first(source: str, function: str = "work") -> tuple[Dependences, int]:
    """What is known of the iterations of the first loop of a function, and where the loop begins."""
    parsed = program({"app.c": source})
    procedure = parsed.named(function)[0]
    header = counted(loops_of(procedure)[0], procedure)
    assert header is not None
    return dependences([header], header.body, parsed), header.node.start_byte


@pytest.mark.parametrize("name", _SHARED)
def test_iterations_of_their_own_may_run_at_the_same_time(name: str, tmp_path: Path) -> None:
    source = _whole(_SHARED[name])
    found, start = _first(source)
    assert found.is_known, found.why
    assert is_independent(found.vectors)
    clauses = "".join(f" reduction({one.operator} : {one.name})" for one in found.reductions.values())
    shared = source[:start] + f"\n#pragma omp parallel for schedule(static, 1){clauses}\n  " + source[start:]
    assert output(shared, "c", tmp_path / "new", threads=3) == output(source, "c", tmp_path / "old")


_APART = {
    "next element": "for (int i = 1; i < n; i++) { a[i] = a[i - 1] + 1; }",
    "through an index": "for (int i = 0; i < n; i++) { a[at[i]] = i; }",
    "the same element": "for (int i = 0; i < n; i++) { a[0] = b[i]; }",
    "the same record": "for (int i = 0; i < n; i++) { t->p[0].x = i; }",
    "the same member": "for (int i = 0; i < n; i++) { t->n = i; a[i] = t->n; }",
    "other row of the pointer": "for (int i = 1; i < n; i++) {\n    double *row = a + i * n, *last = a + (i - 1) * n;\n    for (int j = 0; j < n; j++) row[j] = last[j] + 1;\n  }",
    "moved pointer": "double *q = a;\n  for (int i = 0; i < n; i++) { *q = i; q++; }",
    "pointer moved in the loop": "for (int i = 0; i < n; i++) {\n    double *q = a;\n    q = q + 1;\n    q[i] = q[i + 1];\n  }",
    "pointer that may be the same": "double *q = n > 3 ? a : b;\n  for (int i = 1; i < n; i++) { a[i] = q[i - 1]; }",
    "part of the same": "double *q = a + 1;\n  for (int i = 0; i < n; i++) { a[i] = q[i]; }",
    "loop variable is changed": "for (int i = 0; i < n; i++) { a[i] = 1; if (b[i] > 3) i++; }",
    "return": "for (int i = 0; i < n; i++) { if (b[i] > 3) return 1; a[i] = 1; }",
    "break": "for (int i = 0; i < n; i++) { if (b[i] > 3) break; a[i] = 1; }",
    "output": 'for (int i = 0; i < n; i++) { a[i] = 1; printf("%d", i); }',
    "state of the library": "for (int i = 0; i < n; i++) { a[i] = rand(); }",
    "carried scalar": "double last = 0;\n  for (int i = 0; i < n; i++) { a[i] = last; last = b[i]; }",
    "sum that is looked at": "long s = 0;\n  for (int i = 0; i < n; i++) { s += at[i]; a[i] = s; }",
    "two kinds of sums": "long s = 1;\n  for (int i = 0; i < n; i++) { s += at[i]; s *= 3; }\n  a[0] = s;",
    "sum of itself": "long s = 1;\n  for (int i = 0; i < n; i++) { s += s + at[i]; }\n  a[0] = s;",
    "difference the other way": "long s = 1;\n  for (int i = 0; i < n; i++) { s = at[i] - s; }\n  a[0] = s;",
    "remainder of the index": "for (int i = 0; i < n; i++) { a[i % 8] = b[i]; }",
    "narrow index": "for (int i = 0; i < n; i++) {\n    unsigned char k = i * 9;\n    a[k] = b[i];\n  }",
    "fraction as index": "for (int i = 0; i < n; i++) { a[(int)(i * 0.5)] = b[i]; }",
    "crossing": "for (int i = 0; i < 64; i++) { line[i] = line[63 - i]; }",
    "next block": "const int m = n / 2;\n  for (int i = m; i < n; i++)\n    for (int j = 0; j < 8; j++) a[i * 8 + j] = a[i * 8 + j + 8];",
    "steps that meet": "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) a[i * 7 + j] = i;",
    "inner bound changes": "for (int i = 0; i < n; i++)\n    for (int j = 0; j < at[i]; j++) a[i * 8 + j] = i;",
    "whole rows are written": "for (int i = 1; i < n; i++)\n    for (int j = 0; j < n; j++) g[i][j] = g[i - 1][j];",
    "array of all": "double own[4] = {0};\n  for (int i = 0; i < n; i++) { own[1] = i; a[i] = own[1]; }",
    "array that stays": "for (int i = 0; i < n; i++) {\n    static double own[4];\n    own[1] += i;\n    a[i] = own[1];\n  }",
    "assembly": 'for (int i = 0; i < n; i++) { __asm__ volatile ("" ::: "memory"); a[i] = i; }',
    "goto": "for (int i = 0; i < n; i++) { if (b[i] > 3) goto end; a[i] = i; }\nend:",
    "copied memory": "for (int i = 0; i < n; i++) { memcpy(a, b + i, 8); }",
    "other member of the same record": "Point *q = t->p;\n  for (int i = 1; i < n; i++) { t->p[i].x = q[i - 1].x; }",
    "member of another record": "Box *other = t;\n  for (int i = 1; i < 64; i++) { t->v[i] = other->v[i - 1]; }",
    "called through a pointer": "double (*f)(double) = n > 3 ? sin : cos;\n  for (int i = 0; i < n; i++) { a[i] = f(b[i]); }",
    "values of records": "for (int i = 1; i < n; i++) { t->p[i] = t->p[i - 1]; }",
    "address of what is written": "double last = 0, *q = &last;\n  for (int i = 0; i < n; i++) { a[i] = *q; last = b[i]; }",
}  # fmt: skip


@pytest.mark.parametrize("name", _APART)
def test_iterations_that_may_meet_are_told(name: str) -> None:
    found, _ = _first(_whole(_APART[name]))
    assert not found.is_known or not is_independent(found.vectors)


_HANDED = """#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
%s
static void step(double *x, double *y, int n) {
  for (int i = 1; i < n - 1; i++) { y[i] = x[i - 1] + x[i + 1]; }
}
int main(void) {
  omp_set_dynamic(0);
  int n = 300;
  double *a = calloc(n, sizeof(double)), *b = calloc(n, sizeof(double));
  a[n / 2] = b[n / 2] = 1;
  %s
  for (int i = 0; i < n; i++) printf("%%g ", a[i] + 2 * b[i]);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("apart", "before", "calls"),
    [
        (True, "", "step(a, b, n);"),
        (True, "", "for (int k = 0; k < 20; k++) { step(a, b, n); double *w = a; a = b; b = w; }"),
        (True, "", "double *w; for (int k = 0; k < 20; k++) { step(a, b, n); w = a; a = b; b = w; }"),
        (True, "static double *make(int n) { double *p = malloc(n * sizeof(double)); for (int k = 0; k < n; k++) p[k] = k; return p; }", "double *c = make(n), *d = make(n); step(c, d, n);"),
        (True, "static double c[300], d[300];", "step(c, d, n);"),
        (False, "", "step(a, a, n);"),
        (False, "", "step(a, b, n); b = a; step(a, b, n);"),
        (False, "", "for (int k = 0; k < 20; k++) { step(a, b, n); double *w = a; a = b; if (k == 3) b = w; }"),
        (False, "", "step(a, a + 1, n - 1);"),
        (False, "", "step(n > 3 ? a : b, b, n);"),
        (False, "static double *make(int n) { static double *p; if (!p) p = malloc(n * sizeof(double)); return p; }", "double *c = make(n), *d = make(n); step(c, d, n);"),
        (False, "static double *kept; static double *make(int n) { double *p = calloc(n, sizeof(double)); kept = p; return p; }", "double *c = make(n); step(c, kept, n);"),
        (False, "static double *kept; static void keep(double *p) { kept = p; }", "keep(a); step(a, kept, n);"),
        (False, "extern double *other(int n);", "if (n < 3) { double *c = other(n); step(c, a, n); }"),
        (False, "static void twist(double **p, double **q) { *p = *q; }", "twist(&a, &b); step(a, b, n);"),
        (False, "", "double *c = realloc(a, n * sizeof(double)), *d = c; step(c, d, n); a = c;"),
    ],
)  # fmt: skip
def test_pointers_of_all_calls_decide(apart: bool, before: str, calls: str, tmp_path: Path) -> None:
    source = _HANDED % (before, calls)
    found, start = _first(source, "step")
    assert (found.is_known and is_independent(found.vectors)) == apart
    if apart:
        shared = f"{source[:start]}\n#pragma omp parallel for schedule(static, 1)\n  {source[start:]}"
        assert output(shared, "c", tmp_path / "new", threads=3) == output(source, "c", tmp_path / "old")
