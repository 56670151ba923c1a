"""Random loop nests in C: whatever the recipes for loops change, the program prints the same, also with several threads."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fix.recipes.applying import changed, output

_HEAD = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 18 };
static double a[N][N], b[N][N], c[N * N], d[N];
static long s;
static double mix(double x, int k) { double r = x; for (int q = 0; q < k; q++) r = 0.5 * r + 0.25; return r; }
static double digest(void) {
  double h = s % 1000003;
  for (int x = 0; x < N; x++) {
    h += d[x] * (x + 1);
    for (int y = 0; y < N; y++) h = 0.999 * h + a[x][y] * (x + 2 * y) - b[x][y] * (3 * x + y) + c[x * N + y] * (x - y);
  }
  return h;
}
"""
_NAMES = ("i", "j", "k")


def _index(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    name, offset = draw(st.sampled_from(names)), draw(st.sampled_from((0, 0, 0, 1, -1)))
    return name if offset == 0 else f"{name} {'+' if offset > 0 else '-'} 1"


def _element(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    kind = draw(st.sampled_from(("a", "b", "c", "d", "two")))
    if kind in ("a", "b"):
        return f"{kind}[{_index(draw, names)}][{_index(draw, names)}]"
    if kind == "c":
        return f"c[({_index(draw, names)}) * N + {_index(draw, names)}]"
    if kind == "two":
        return f"d[({_index(draw, names)} + {_index(draw, names)}) / 2]"
    return f"d[{_index(draw, names)}]"


def _term(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    choice = draw(st.integers(0, 5))
    if choice == 0:
        return f"0.125 * exp(-{_element(draw, names)} * {_element(draw, names)})"
    if choice == 1:
        return f"mix({_element(draw, names)}, {draw(st.integers(0, 3))})"
    if choice == 2:
        return f"0.001 * {draw(st.sampled_from(names))}"
    return f"0.25 * {_element(draw, names)}"


def _statement(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    choice = draw(st.integers(0, 7))
    if choice == 0:
        return f"s += {names[0]} * 3 + {names[-1]};"
    if choice == 1:
        return f"double t = {_term(draw, names)}; {_element(draw, names)} = t + 0.5 * t;"
    operator = draw(st.sampled_from(("=", "=", "+=", "-=")))
    value = " + ".join(_term(draw, names) for _ in range(draw(st.integers(1, 3))))
    statement = f"{_element(draw, names)} {operator} {value};"
    return f"if ({names[0]} > 3) {statement}" if choice == 2 else statement


@st.composite
def nests(draw: st.DrawFn) -> str:
    """A function with one nest of two or three loops."""
    names = _NAMES[: draw(st.integers(2, 3))]
    order = draw(st.permutations(names))
    body = " ".join(f"{{ {_statement(draw, names)} }}" for _ in range(draw(st.integers(1, 2))))
    heads = []
    for name in order:
        low, high = draw(st.integers(1, 3)), draw(st.sampled_from(("N - 1", "N - 2", "16")))
        heads.append(f"for (int {name} = {low}; {name} < {high}; {name}++)")
    return "\n  ".join((*heads, f"{{ {body} }}"))


def _whole(functions: list[str]) -> str:
    parts = [f"static void f{at}(void) {{\n  {one}\n}}\n" for at, one in enumerate(functions)]
    calls = " ".join(f'f{at}(); printf("%.17g\\n", digest());' for at in range(len(functions)))
    fill = "for (int x = 0; x < N; x++) { d[x] = 0.01 * x; "
    fill += "for (int y = 0; y < N; y++) { a[x][y] = 0.1 * x - 0.03 * y; b[x][y] = 0.02 * x * y; c[x * N + y] = 0.5 - 0.01 * y; } }"
    return _HEAD + "".join(parts) + f"int main(void) {{\n  {fill}\n  {calls}\n  return 0;\n}}\n"


@pytest.mark.parametrize("recipe", ["interchange-loops", "hoist-invariant-call", "parallel-loop"])
@settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(functions=st.lists(nests(), min_size=24, max_size=40))
def test_changed_nests_print_the_same(recipe: str, functions: list[str]) -> None:
    source = _whole(functions)
    new = changed(recipe, source, "c", relative=0)
    if new is None:
        return
    with TemporaryDirectory() as folder:
        before = output(source, "c", Path(folder) / "old")
        after = output(new, "c", Path(folder) / "new", threads=3)
    # The sign of a NaN is nobody's business (IEEE 754-2019, 6.3).
    assert after.replace("-nan", "nan") == before.replace("-nan", "nan"), new
