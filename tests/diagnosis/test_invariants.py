from __future__ import annotations

import numpy as np
import pytest

from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.invariants import assigned, invariant_argument, invariant_call
from chathpc.profile.tree import NodeKind
from tests.diagnosis.parts import function, libm, main, source
from tests.profile.build import build, line, loop


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("for (int k = 0; k < n; k++) {", {"k"}),
        ("a[i] += b;", {"a"}),
        ("a[b[i]] = 2;", {"a"}),
        ("a[i][j] *= 2;", {"a"}),
        ("c->flux[k] += ray;", {"flux"}),
        ("g.x = 1;", {"x"}),
        ("--left; right--; ++up;", {"left", "right", "up"}),
        ("x <<= 2; y >>= 1; z |= 4;", {"x", "y", "z"}),
        ("if (a == b || a <= c || a != d || a >= e) f(a);", set()),
        ("read_value(&x);", {"x"}),
        ("stream >> x >> y;", {"x", "y"}),
        ("for (const auto& [key, value] : table) {", {"const", "auto", "key", "value"}),
        ("for (std::size_t v : values) {", {"std", "size_t", "v"}),
        ("if (!done) x = 2;", {"x"}),
        ('printf("a = %d", a); // b = 3', set()),
        ("y = 1; /* z = 2 */", {"y"}),
    ],
)
def test_names_that_c_assigns(text: str, names: set[str]) -> None:
    assert assigned([text]) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("do i = 1, n", {"i"}),
        ("  DO 10 K = 1, N", {"k"}),
        ("outer: do j = 1, n", {"j"}),
        ("flux(i, j) = 0.5d0  ! x = 2", {"flux"}),
        ("a(idx(i)) = 1", {"a"}),
        ("cell%energy = e", {"energy"}),
        ("call update(x, y(3))", {"x", "y"}),
        ("read(10, *) t, u", {"t", "u"}),
        ("print *, 'a = ', a", set()),
        ("if (a == b) cycle", set()),
    ],
)
def test_names_that_fortran_assigns(text: str, names: set[str]) -> None:
    assert assigned([text], fortran=True) == names


@pytest.mark.parametrize(
    ("text", "changing", "call"),
    [
        ("y = pow(x, 2.0);", {"i"}, "pow(x, 2.0)"),
        ("y = pow(x, 2.0);", {"x"}, None),
        ("y = std::pow(x, 2.0);", set(), "pow(x, 2.0)"),
        ("y = powf(x, 2.0f);", set(), "pow(x, 2.0f)"),
        ("y = pow(c->mu[a], 0.37);", {"k"}, "pow(c->mu[a], 0.37)"),
        ("y = pow(c->mu[a], 0.37);", {"mu"}, None),
        ("y = pow(v[k], 0.5) + pow(a, 1.3);", {"k"}, "pow(a, 1.3)"),
        ("y = pow((double)(n + 1), (a + b) * 2);", {"k"}, "pow((double)(n + 1), (a + b) * 2)"),
        ("y = pow(x++, 2.0);", set(), None),
        ("y = pow(--x, 2.0);", set(), None),
        ("y = pow(sqrt(x), 2.0);", set(), "pow(sqrt(x), 2.0)"),
        ("y = pow(uniform(), 2.0);", set(), None),
        ("y = pow(rng.next(), 2.0);", set(), None),
        ("y = pow(x,", set(), None),
        ("y = power(x, 2);", set(), None),
        ("y = x * x;", set(), None),
    ],
)
def test_a_call_is_invariant_if_nothing_in_its_arguments_changes(
    text: str, changing: set[str], call: str | None
) -> None:
    assert invariant_argument(text, ["pow"], changing) == call


def test_fortran_calls_are_compared_without_case() -> None:
    assert invariant_argument("y = EXP(-Rate * DT)", ["exp"], {"i"}, fortran=True) == "exp(-Rate * DT)"
    assert invariant_argument("y = EXP(-Rate * DT)", ["exp"], {"rate"}, fortran=True) is None
    assert invariant_argument("y = exp(e(k))", ["exp"], {"i"}, fortran=True) == "exp(e(k))"


def found(
    text: str,
    hot: int,
    header: int,
    *,
    file: str = "a.c",
    callees: list[str] | None = None,
    pure: bool = True,
    lines: tuple[int, ...] = (),
):
    """What is found for a loop recorded at line `header` whose line `hot` calls a math function."""
    inside = [line(f"{file}:{number}", time=0.1) for number in lines]
    profile = build(
        main(
            function(
                "f", loop(f"{file}:{header}", line(f"{file}:{hot}", libm("pow", time=2.0)), *inside), at=f"{file}:1"
            )
        ),
        read_source=source({"a.c": text, "a.f90": text}),
    )
    tree = profile.tree
    node = int(np.flatnonzero((tree.kind == NodeKind.LINE) & (tree.line == hot))[0])
    (start,) = np.flatnonzero(tree.kind == NodeKind.LOOP)
    return invariant_call(Facts(profile), int(start), node, callees or ["pow"], pure=pure)


LOOP = """void f(double *v, int n, double a)
{
  for (int i = 0; i < n; i++) {
    v[i] += pow(a, 1.5);
  }
}
"""


def test_evidence_of_an_invariant_call_names_call_line_and_loop() -> None:
    item = found(LOOP, hot=4, header=3)
    assert item is not None
    assert item.statement == "The source of a.c:4 calls pow(a, 1.5), and nothing in it changes in the loop at a.c:3."
    assert (item.value, item.unit) == (4.0, "line")
    assert "not measured" in item.source


def test_a_change_after_the_last_sampled_line_is_seen() -> None:
    assert found(LOOP.replace("  }\n}", "    a *= 0.5;\n  }\n}"), hot=4, header=3) is None


def test_a_change_behind_the_loop_does_not_count() -> None:
    assert found(LOOP.replace("  }\n}", "  }\n  a *= 0.5;\n}"), hot=4, header=3) is not None


def test_the_control_variable_is_known_where_the_body_stands_for_the_loop() -> None:
    text = LOOP.replace("pow(a, 1.5)", "pow(a, i)")
    assert found(text, hot=4, header=4) is None
    assert found(LOOP, hot=4, header=4) is not None


def test_a_loop_of_one_statement_ends_with_it() -> None:
    text = (
        "void f(double *v, int n, double a) {\n  for (int i = 0; i < n; i++)\n    v[i] += pow(a, 1.5);\n  a = 2;\n}\n"
    )
    assert found(text, hot=3, header=2) is not None


def test_sampled_lines_belong_to_the_loop_wherever_brackets_end() -> None:
    text = "void f() {\n  for (;;)\n    v += pow(a, 1.5);\n  a = 2;\n}\n"
    assert found(text, hot=3, header=2, lines=(4,)) is None


FORTRAN = """subroutine f(v, n, a)
  do i = 1, n
    v(i) = v(i) + a ** 2 * EXP(-a)
    do j = 1, 3
      w(j) = 1
    end do
  end do
end subroutine
"""


def test_a_fortran_loop_is_read_to_its_own_end() -> None:
    assert found(FORTRAN, hot=3, header=2, file="a.f90", callees=["exp"]) is not None
    late = FORTRAN.replace("  end do\nend sub", "    a = a + 1\n  enddo\nend sub")
    assert found(late, hot=3, header=2, file="a.f90", callees=["exp"]) is None


@pytest.mark.parametrize(
    ("text", "hot", "header"),
    [
        ("", 4, 3),  # no source at all
        (LOOP, 40, 39),  # lines behind the end of the file
        ("\n\n\n\n\n\n\n\nx = pow(a, 2);\n", 9, 9),  # no word that begins a loop
        ("for (;;) {\n" + "  x = pow(a, 2);\n" * 400 + "}\n", 3, 1),  # too long to be read
    ],
)
def test_without_the_whole_loop_nothing_is_said(text: str, hot: int, header: int) -> None:
    assert found(text, hot=hot, header=header) is None


def test_a_file_that_ends_within_the_loop_is_read_to_its_end() -> None:
    assert found("for (;;) {\n  x = pow(a, 2);\n", hot=2, header=1) is not None


def test_unknown_lines_and_other_files_are_not_read() -> None:
    assert found(LOOP, hot=0, header=3) is None
    assert found(LOOP, hot=4, header=0) is None
    profile = build(
        main(function("f", loop("b.c:3", line("a.c:4", libm("pow", time=2.0))))), read_source=source({"a.c": LOOP})
    )
    kinds = profile.tree.kind.tolist()
    assert invariant_call(Facts(profile), kinds.index(NodeKind.LOOP), kinds.index(NodeKind.LINE), ["pow"]) is None


def test_a_function_that_may_have_effects_counts_only_with_numbers_as_arguments() -> None:
    assert found(LOOP, hot=4, header=3, pure=False) is None
    item = found(LOOP.replace("pow(a, 1.5)", "pow(2, 1.5e-3)"), hot=4, header=3, pure=False)
    assert item is not None
    assert "calls pow(2, 1.5e-3)" in item.statement
    assert found(LOOP.replace("pow(a, 1.5)", "pow()"), hot=4, header=3, pure=False) is None
