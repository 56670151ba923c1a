"""Loops of which only the text tells that iterations take different times."""

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
