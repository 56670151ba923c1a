"""Indices, sizes and what belongs to what, by hand."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.source import affine, layout
from chathpc.diagnosis.source.model import Expr, Function, Kind, changed
from chathpc.diagnosis.source.strides import Step, walks
from chathpc.diagnosis.source.text import SourceFile, parsed


def file_of(text: str, name: str = "a.c") -> SourceFile:
    file = parsed(name, text.encode())
    assert file is not None
    return file


def function_of(text: str, name: str = "a.c") -> Function:
    return file_of(text, name).everything()[-1]


@pytest.mark.parametrize(
    ("index", "step"),
    [
        ("i", "1"),
        ("-i", "-1"),
        ("2 * i + 3", "2"),
        ("i * n", "n"),
        ("n * i + j", "n"),
        ("(i + 1) * n - j", "n"),
        ("(i * ny + j) * nz + k", "ny*nz"),
        ("n - 1 - i", "-1"),
        ("j", "0"),
        ("at", "n"),
        ("at + i", "n + 1"),
        ("N * i", "8"),
        ("run", "3"),
        ("i - i + j", "0"),
        ("i % n", None),
        ("i * i", None),
        ("idx[i]", None),
        ("g(i)", None),
        ("i / 2", None),
    ],
)
def test_by_how_much_an_index_changes_in_each_iteration(index: str, step: str | None) -> None:
    text = f"""#define N 8
void f(double *a, int n, int j, int k, int ny, int nz) {{
  long run = 0;
  for (int i = 0; i < n; i++) {{
    int at = i * n + j;
    a[{index}] = 0;
    run += 3;
  }}
}}"""
    file = file_of(text)
    function = file.everything()[0]
    scope = affine.scope_of(function, file.unit)
    moves = affine.advance(function, function.loops[0], scope)
    (part,) = next(
        one.expr.parts[0].parts
        for one in function.statements
        if one.expr and one.expr.parts and one.expr.parts[0].kind == Kind.INDEX
    )
    found = affine.stride(part, scope, moves)
    assert (None if found is None else affine.words(found)) == step


@pytest.mark.parametrize(
    ("declared", "size"),
    [
        ("double x", 8),
        ("float x", 4),
        ("char x", 1),
        ("struct S x", 24),  # 1 byte, padded to 8, then 8 + 4, padded to 24
        ("struct S *x", 24),
        ("struct S **x", 8),
        ("struct Aligned x", 64),
        ("struct Table x", 96),  # twelve doubles
        ("unknown_t x", None),
        ("struct Open x", None),
    ],
)
def test_sizes_of_types(declared: str, size: int | None) -> None:
    text = f"""#define ROWS 3
struct S {{ char c; double d; int i; }};
struct __attribute__((aligned(64))) Aligned {{ double d; }};
struct Table {{ double v[ROWS][4]; }};
struct Open {{ unknown_t v; }};
void f({declared}) {{ }}"""
    file = file_of(text)
    (parameter,) = file.everything()[0].parameters
    assert layout.size_of(parameter, file.unit) == size


@pytest.mark.parametrize(
    ("declared", "size"),
    [
        ("real(8)", 8),
        ("real", 4),
        ("real(kind=dp)", 8),
        ("double precision", 8),
        ("integer", 4),
        ("complex(8)", 16),
        ("type(cell)", 16),
        ("real(what)", None),
    ],
)
def test_sizes_of_fortran_types(declared: str, size: int | None) -> None:
    text = f"""module m
type cell
  real(8) :: e
  integer :: n
end type
contains
subroutine f(x)
{declared} :: x
end subroutine
end module"""
    file = file_of(text, "a.f90")
    (parameter,) = file.everything()[0].parameters
    assert layout.size_of(parameter, file.unit) == size


@pytest.mark.parametrize(
    ("header", "count"),
    [
        ("int i = 0; i < 8; i++", 8),
        ("int i = 0; i <= 8; i++", 9),
        ("int i = 1; i < N; i += 2", 2),  # 1, 3: (4 - 1) // 2 rounds down
        ("int i = 7; i >= 0; i--", 8),
        ("int i = 0; i < n; i++", None),
        ("int i = 0; i < 8; i += s", None),
        ("int i = 0; ; i++", None),
    ],
)
def test_iterations_of_a_loop_between_constants(header: str, count: int | None) -> None:
    file = file_of(f"#define N 5\nvoid f(int n, int s) {{ for ({header}) g(i); }}")
    assert layout.trips(file.everything()[0].loops[0], file.unit.constants) == count


def test_constants_of_a_file() -> None:
    text = (
        "#define A 12\n#define B (1 << 10)\n#define C 0x10\n#define D (A + 1)\n#define E f(x)\nstatic const int F = 7;\n"
        "enum { G = 3, H };\nenum e { I, J = sizeof(int), K, L = 2, M };\n"
    )
    known = {"A": 12, "B": 1024, "C": 16, "F": 7, "G": 3, "H": 4, "I": 0, "L": 2, "M": 3}
    assert file_of(text).unit.constants == known
    text = "module m\ninteger, parameter :: nx = 40, ny = 50\ninteger :: nz = 3\nend module"
    assert file_of(text, "a.f90").unit.constants == {"nx": 40, "ny": 50}


def test_functions_of_classes_templates_and_namespaces_are_found_by_their_last_name() -> None:
    text = """namespace a { namespace b {
template <typename T> struct V { T get(int i) const { return v[i]; } T *v; };
template <typename T> T V<T>::sum() { return T(); }
} }
extern "C" { int plain(void) { return 1; } }
#ifdef X
static int guarded() { return 2; }
#endif
double &operator+(int a, int b) { }
"""
    assert file_of(text, "a.cpp").function_names == ["get", "sum", "plain", "guarded", "operator+"]


def test_lines_of_functions_of_fortran_do_not_overlap() -> None:
    text = "module m\ncontains\nsubroutine f\nend subroutine\ninteger function g(x)\ninteger :: x\ng = x\nend function\nend module\n"
    text += "program p\ncall f\nend program\n"
    found = {one.name: (one.first, one.last) for one in file_of(text, "a.f90").everything()}
    assert found == {"f": (3, 4), "g": (5, 8), "p": (10, 12)}


def test_names_that_statements_change() -> None:
    function = function_of("void f(struct S *c, int k) { c->flux[k] = 1; k++; g(&x, y); (*p).q -= 2; int z = 3; }")
    assert changed(function.statements) == {"c.", "flux", "k", "x", "p.", "q", "z"}


@pytest.mark.parametrize(
    ("access", "step"),
    [
        ("a[i][j]", Step.NEAR),
        ("a[j][i]", Step.ROWS),
        ("a[i][3]", Step.STILL),
        ("a[j + 1][0]", Step.ROWS),
        ("a[idx[j]][i]", Step.UNKNOWN),
        ("m[j][i]", Step.FAR),
    ],
)
def test_steps_through_arrays_of_two_dimensions(access: str, step: Step) -> None:
    file = file_of(
        f"double m[100][50];\nvoid f(int n, double **a, int i, int *idx) {{ for (int j = 0; j < n; j++) {access} = 0; }}"
    )
    function = file.everything()[0]
    found = {str(walk.access): walk for walk in walks(function, file.unit, function.loops[0], function.statements)}
    assert found[access].step == step
    if step == Step.FAR:
        assert found[access].elements == 50


def test_regions_hold_the_lines_under_a_directive() -> None:
    text = """void f(int n) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < n; i++)
      g(i);
#pragma omp barrier
#pragma omp critical (name)
    { h(); }
  }
}"""
    found = [(one.words, one.first, one.last) for one in function_of(text).regions]
    assert found == [("parallel", 2, 10), ("for nowait", 4, 6), ("critical (name)", 8, 9)]
    text = """subroutine f(n)
!$omp parallel
!$omp do
do i = 1, n
  !$omp atomic
  s = s + 1
end do
!$omp end do
!$omp end parallel
end subroutine"""
    found = [(one.words, one.first, one.last) for one in function_of(text, "a.f90").regions]
    assert found == [("parallel", 2, 9), ("do", 3, 8), ("atomic", 5, 6)]


@pytest.mark.parametrize(
    "text",
    [
        "n * (r + 1) / p - n * r / p",
        "a - (b - c)",
        "a - b - c",
        "-(a + b)",
        "a && (b || c)",
        "a + b * c == d",
        "f((a + b) * c)",
    ],
)
def test_parentheses_are_written_where_operators_need_them(text: str) -> None:
    (one,) = (each.expr for each in function_of(f"void g() {{ x = {text}; }}").statements)
    assert str(one) == f"x = {text}"


def test_an_expression_is_shown_as_it_is_written() -> None:
    function = function_of('void f() { a->b[i + 1][-j] = g(x, "t") ? *p : s.h(y)[2]; }')
    (one,) = (each.expr for each in function.statements)
    assert str(one) == "a.b[i + 1][-j] = ?"
    assert [str(each) for each in one.walk() if each.kind == Kind.CALL] == ['g(x, "…")', "s.h(y)"]
    assert str(Expr(Kind.OTHER)) == "…"


def test_fortran_is_shown_as_fortran() -> None:
    text = "subroutine f(u, n)\nreal(8) :: u(n, n)\ndo i = 1, n\n  u(i, 2) = g%cell(i + 1)%e - h(i)\nend do\n"
    text += "end subroutine"
    function = function_of(text, "a.f90")
    (one,) = (each.expr for each in function.statements if each.expr is not None and each.expr.kind == Kind.ASSIGN)
    assert function.show(one) == "u(i, 2) = g%cell(i + 1)%e - h(i)"
    assert function.show(None) == ""


def test_what_cannot_be_parsed_is_noted_by_its_line() -> None:
    assert function_of("void f() {\n  int i = 0;\n  i = = 2 );\n}").broken == (3,)
    assert not function_of("void f() {\n  int i = 0;\n}").broken
