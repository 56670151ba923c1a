# ruff: noqa: E501
"""Loops of which only the text tells that iterations take different times, and records that threads index by their number."""

from __future__ import annotations

import pytest

from tests.fix.recipes.applying import changed

_LOOP = """#include <stdlib.h>
static int plain(int n) {{ int s = 0; for (int k = 0; k < 9; k++) s += n; return s; }}
static int search(const int *p, int n) {{ for (int k = 0; k < 9; k++) if (p[k] == n) return k; return 0; }}
static int until(const int *p, int n) {{ int k = 0; for (k = 0; k < 9 && p[k] != n; k++) {{ }} return k; }}
static int halve(int n) {{ int k = 0; while (n > 1) {{ n /= 2; k++; }} return k; }}
void f(int *v, const int *p, int n) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{ {0} }}
}}
"""


@pytest.mark.parametrize(
    ("body", "uneven"),
    [
        ("for (int j = 0; j < i; j++) v[i] += j;", True),
        ("for (int j = 0; j < p[3]; j++) v[i] += j;", True),
        ("for (int j = p[2]; j < 9; j++) v[i] += j;", True),
        ("int k = 9; while (k > p[i]) k--; v[i] = k;", True),
        ("int k = 9; do k--; while (k > 3); v[i] = k;", True),
        ("if (p[i] > 3) continue; v[i] = 1;", True),
        ("v[i] = search(p, i);", True),
        ("v[i] = until(p, i);", True),
        ("v[i] = halve(i);", True),
        ("v[i] = plain(i);", False),
        ("v[i] = p[i] + 1;", False),
        ("for (int j = 0; j < n; j++) v[i] += j;", False),
    ],
)  # fmt: skip
def test_only_loops_of_uneven_iterations_are_handed_out_in_pieces(body: str, uneven: bool) -> None:
    source = _LOOP.format(body)
    assert (changed("schedule-dynamic", source, "c", cause="hot-compute") is not None) == uneven
    assert changed("schedule-dynamic", source, "c", cause="omp-load-imbalance") is not None


_RECORDS = """#include <omp.h>
#include <thread>
#include <vector>
struct Tally {{ long n; long m; }};
static Tally all[64];
{0}
"""


@pytest.mark.parametrize(
    ("uses", "padded"),
    [
        ("void f() {\n#pragma omp parallel\n { int me = omp_get_thread_num(); all[me].n++; } }", True),
        ("void g(int who, int n) { for (int i = 0; i < n; i++) all[who].n += i; }\nint main() { std::thread a(g, 0, 9), b(g, 1, 9); a.join(); b.join(); }", True),
        ("void f(int n) { for (int i = 0; i < n; i++) all[i % 64].n++; }", False),
    ],
)  # fmt: skip
def test_records_are_kept_apart_where_threads_have_one_each(uses: str, padded: bool) -> None:
    new = changed("pad-records", _RECORDS.format(uses), "c++")
    assert (new is not None and ("padding" in new or "alignas" in new)) == padded
