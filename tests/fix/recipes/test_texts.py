# ruff: noqa: E501
"""What recipes write where nothing can be run here, and edits, types and origins by themselves."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.fix.recipes.analysis.edits import Edit, applied, indent, line_end, line_start, shifted
from chathpc.fix.recipes.analysis.origins import origins
from chathpc.fix.recipes.analysis.program import is_same_file, program
from chathpc.fix.recipes.analysis.syntax import nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, type_of
from tests.fix.recipes.applying import changed

_MPI = "#include <math.h>\n#include <mpi.h>\n#include <stdlib.h>\n"


def test_messages_of_one_element_become_one() -> None:
    source = (
        _MPI
        + """static void share(double *c, int n, int rank, int size) {
  if (rank == 0) {
    for (int to = 1; to < size; to++)
      for (int k = 0; k < n; k++) MPI_Send(&c[k], 1, MPI_DOUBLE, to, k, MPI_COMM_WORLD);
  } else {
    for (int k = 0; k < n; k++) MPI_Recv(&c[k], 1, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
"""
    )
    new = changed("one-message", source, "c")
    assert new is not None
    assert "if (n > 0) MPI_Send(&c[0], n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);" in new
    assert "if (n > 0) MPI_Recv(&c[0], n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" in new


def test_exchanges_of_one_element_become_one() -> None:
    source = (
        _MPI
        + """static void exchange(double *h, int n, int up, int down) {
  for (int i = 2; i < n; i++) {
    MPI_Sendrecv(&h[n + i], 1, MPI_DOUBLE, up, i, &h[9 * n + i], 1, MPI_DOUBLE, down, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
"""
    )
    new = changed("one-message", source, "c")
    assert new is not None
    assert "if (n - (2) > 0) MPI_Sendrecv(&h[n + 2], n - (2), MPI_DOUBLE, up, 0, &h[9 * n + 2], n - (2)" in new


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = 0; k < n; k++) MPI_Send(&c[k], 1, MPI_DOUBLE, k, 3, MPI_COMM_WORLD);",
        'for (int k = 0; k < n; k++) { printf("%d", k); MPI_Send(&c[k], 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); }',
        "for (int k = 0; k < n; k++) { if (p[k]) continue; MPI_Send(&c[k], 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); }",
        "for (int k = 0; k < n; k++) { if (p[k]) MPI_Send(&c[k], 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); }",
        "for (int k = 0; k < n; k++) { n = p[k]; MPI_Send(&c[k], 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); }",
        "for (int k = 0; k < n; k++) MPI_Recv(&c[k], 1, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    ],
    ids=["partner changes", "printed between", "left out", "under a condition", "bound changes", "from anybody"],
)
def test_messages_that_must_stay_apart_are_left_alone(body: str) -> None:
    assert changed("one-message", f"{_MPI}void f(double *c, int *p, int n) {{ {body} }}", "c") is None


def test_one_message_cannot_become_larger_where_its_receiver_cannot() -> None:
    source = (
        _MPI
        + """static void put(double *c, int n) { for (int k = 0; k < n; k++) MPI_Send(&c[k], 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); }
static void take(double *c, int n) {
  for (int k = 0; k < n; k++) { MPI_Recv(&c[k], 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); printf("%g", c[k]); }
}
"""
    )
    assert changed("one-message", source, "c") is None


def test_powers_in_kernels_are_for_both_sides() -> None:
    source = "#include <math.h>\n__global__ void k(double *v) { v[threadIdx.x] = pow(v[threadIdx.x], 3.0); }\n"
    new = changed("power-to-products", source, "cuda")
    assert new is not None
    assert "static inline __host__ __device__ double cubed(double x) { return x * x * x; }" in new


def test_cleared_memory_is_cleared_each_time() -> None:
    source = "#include <stdlib.h>\n#include <string.h>\nstatic int f(int n) {\n  int *t = calloc(n, sizeof(int));\n  t[0] += n;\n  int s = t[0];\n  free(t);\n  return s;\n}\n"
    new = changed("keep-buffer", source, "c")
    assert new is not None
    assert "if (t) memset(t, 0, t_need);" in new


@given(
    st.binary(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.binary(max_size=5)), max_size=6),
)
def test_edits_change_what_they_name_and_nothing_else(text: bytes, wanted: list[tuple[int, int, bytes]]) -> None:
    edits = [Edit(min(a, b, len(text)), min(max(a, b), len(text)), new) for a, b, new in wanted]
    new = applied(text, edits)
    if new is None:
        ordered = sorted(edits, key=lambda one: (one.start, one.end))
        assert any(one.end > other.start for one, other in pairwise(ordered))
    else:
        assert len(new) == len(text) + sum(len(one.new) - (one.end - one.start) for one in edits)
    assert applied(text, []) == text


def test_lines_and_indents() -> None:
    text = b"one\n\t two;\nthree"
    assert (line_start(text, 7), line_end(text, 7)) == (4, 11)
    assert line_end(text, 13) == len(text)
    assert indent(text, 7) == b"\t "
    assert shifted(b"a;\n#if X\n  b;\n\nc", b"  ") == b"a;\n#if X\n    b;\n\n  c"


def test_files_are_the_same_by_their_names() -> None:
    assert is_same_file("/home/me/src/app.c", "src/app.c")
    assert is_same_file("app.c", "src/app.c")
    assert not is_same_file("/home/me/app.cpp", "app.c")


_TYPES = """#include <math.h>
#include <string.h>
typedef struct { int n; double *v; float w[4]; } T;
static double g(int k) { return k * 0.5; }
void f(T *t, T u, const char *s, unsigned char c) {
  double **m; long k;
  use(%s);
}
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("t->n", Type("int")), ("t->v", Type("double", 1)), ("t->v[k]", Type("double")), ("u.w[1]", Type("float")),
        ("m[1][2]", Type("double")), ("*m[0]", Type("double")), ("&k", Type("long", 1)), ("k + 1", Type("long")), ("k * 1.5", Type("double")),
        ("1.5f", Type("float")), ("2L", Type("long")), ("0x1f", Type("int")), ("'a'", Type("int")), ("strlen(s)", Type("size_t")),
        ("(float)k", Type("float")), ("k < 3", Type("int")), ("!k", Type("int")), ("-k", Type("long")), ("g(2)", Type("double")),
        ("sqrt(k)", Type("double")), ("sqrtf(k)", Type("float")), ("k ? 1 : 2.5", Type("double")), ("(k)", Type("long")),
        ("sizeof(int)", Type("size_t")), ("k = 3", Type("long")), ("malloc(3)", Type("void", 1)), ("s", Type("char", 1)), ("unknown", None), ("other(3)", None), ('"text"', Type("char", 1)), ("s + 1", Type("char", 1)), ("unknown + 1", None), ("u + 1", None), ("u.missing", None), ("t->w", Type("float", 1)),
    ],
)  # fmt: skip
def test_types_of_expressions(expression: str, expected: Type | None) -> None:
    parsed = program({"app.c": _TYPES % expression})
    procedure = parsed.named("f")[0]
    call = next(each for each in nodes(procedure.node, "call_expression") if text_of(each).startswith("use("))
    arguments = call.child_by_field_name("arguments")
    assert arguments is not None
    assert type_of(arguments.named_children[0], procedure, parsed) == expected


_ORIGINS = """#include <stdlib.h>
typedef struct { double *a, *b; double c[9]; } S;
static double g1[9], *g2;
static double *make(int n) { double *p = malloc(n * 8); return p; }
static void work(double *x, double *y, S *s, double *z) { use(%s); }
int main(int argc, char **argv) {
  double *p = make(3), *q = make(4), *r = calloc(9, 8);
  S s = {make(5), malloc(6)};
  g2 = argc > 1 ? r : p;
  work(p, q + 1, &s, argc ? p : q);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("x", "y", True), ("x", "z", False), ("y", "z", False), ("s->a", "s->b", True), ("s->a", "x", True), ("g1", "x", True),
        ("g2", "x", False), ("g2", "y", True), ("s->c", "s->a", True), ("&x[3]", "y", True), ("x + 2", "z", False), ("(double *)x", "y", True),
    ],
)  # fmt: skip
def test_where_pointers_come_from(one: str, other: str, apart: bool) -> None:
    found = []
    for expression in (one, other):
        parsed = program({"app.c": _ORIGINS % expression})
        procedure = parsed.named("work")[0]
        call = next(each for each in nodes(procedure.node, "call_expression") if text_of(each).startswith("use("))
        arguments = call.child_by_field_name("arguments")
        assert arguments is not None
        # The texts differ in length before main: origins in it are told by what follows the expression.
        shift = len(expression)
        where = origins(arguments.named_children[0], procedure, parsed)
        assert where is not None
        found.append({_moved(each, shift) for each in where})
    assert (not found[0] & found[1]) == apart


def _moved(origin: str, shift: int) -> str:
    head, _, at = origin.rpartition(":")
    return f"{head}:{int(at) - shift}" if at.isdigit() else origin


def test_callers_that_nobody_has_shown_may_hand_over_anything() -> None:
    source = "void f(double *x, double *y) { use(x); }\n"
    parsed = program({"app.c": source})
    procedure = parsed.named("f")[0]
    call = next(nodes(procedure.node, "call_expression"))
    arguments = call.child_by_field_name("arguments")
    assert arguments is not None
    assert origins(arguments.named_children[0], procedure, parsed) is None
