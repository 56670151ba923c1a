from __future__ import annotations

import numpy as np
import pytest

from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.rules.compute import invariant_call
from chathpc.profile.tree import NodeKind
from tests.diagnosis.parts import function, libm, main, source
from tests.profile.build import build, line, loop


def found(text: str, hot: int, *, file: str = "a.c", callee: str = "pow") -> Fact | None:
    """What is found for line `hot`, which calls a math function."""
    profile = build(
        main(function("f", loop(f"{file}:{hot}", line(f"{file}:{hot}", libm(callee, time=2.0))), at=f"{file}:1")),
        read_source=source({file: text}),
    )
    (node,) = np.flatnonzero((profile.tree.kind == NodeKind.LINE) & (profile.tree.line == hot))
    return invariant_call(Facts(profile), int(node), [callee])


def c(statement: str, *more: str) -> Fact | None:
    """The same for a statement in a loop, with others behind it."""
    lines = [
        "void f(struct C *c, double *v, int n, double a, double b, double x)",
        "{",
        "  for (int i = 0; i < n; i++) {",
    ]
    return found("\n".join([*lines, f"    {statement}", *(f"    {each}" for each in more), "  }", "}", ""]), 4)


def fortran(statement: str, *more: str, callee: str = "exp") -> Fact | None:
    lines = ["subroutine f(v, n, a, rate, dt)", "  do i = 1, n"]
    text = "\n".join([*lines, f"    {statement}", *(f"    {each}" for each in more), "  end do", "end subroutine", ""])
    return found(text, 3, file="a.f90", callee=callee)


def test_evidence_of_an_invariant_call_names_call_line_and_loop() -> None:
    item = c("v[i] += pow(a, 1.5);")
    assert item is not None
    assert item.statement == "The source at a.c:4 calls pow(a, 1.5), and nothing in it changes in the loop over i."
    assert (item.value, item.unit) == (4.0, "line")
    assert "not measured" in item.source


@pytest.mark.parametrize(
    "statement",
    [
        "y = pow(a, 2.0);",
        "y = std_pow(x) + pow(a, 2.0);",
        "y = powf(a, 2.0f);",
        "y = pow((double)(n + 1), (a + b) * 2);",
        "y = pow(sqrt(x), 2.0);",
        "y = pow(v[i], 0.5) + pow(a, 1.3);",
        "c->flux[i] += pow(c->mu[n], 0.37);",  # another member is written
        "if (a == b || a <= x || a != y) y = pow(a, 1.5);",
        'printf("a = %d", pow(a, 2)); // a = 3',
    ],
)
def test_a_call_is_invariant_if_nothing_in_its_arguments_changes(statement: str) -> None:
    assert c(statement) is not None


@pytest.mark.parametrize(
    "statement",
    [
        "y = pow(i, 2.0);",
        "y = pow(v[i], 2.0);",
        "y = pow(a++, 2.0);",
        "y = pow(--a, 2.0);",
        "y = pow(uniform(), 2.0);",
        "y = pow(rng.next(), 2.0);",
        "y = pow(uniform(a), 2.0);",
        "y = power(a, 2);",
        "y = x * x;",
        "y = pow(a, );",
    ],
)
def test_a_call_is_not_invariant_if_an_argument_may_change(statement: str) -> None:
    assert c(statement) is None


@pytest.mark.parametrize(
    "change",
    [
        "a *= 0.5;",
        "a = 2;",
        "a++;",
        "--a;",
        "a <<= 2;",
        "read_value(&a);",
        "if (n) a = 2;",
        "for (a = 0; a < 3; a++) v[0] = a;",
        "(a) = 3;",
    ],
)
def test_a_change_anywhere_in_the_loop_is_seen(change: str) -> None:
    assert c("v[i] += pow(a, 1.5);", change) is None
    assert c("v[i] += pow(b, 1.5);", change) is not None


@pytest.mark.parametrize("change", ["c->mu[i] = 2;", "(*c).mu = 2;", "c = next;", "c->mu[b] += 1;"])
def test_a_change_of_a_member_or_of_its_record_is_seen(change: str) -> None:
    assert c("v[i] += pow(c->mu[n], 1.5);", change) is None


def test_a_record_that_is_read_as_a_whole_changes_with_any_member() -> None:
    assert c("v[i] += pow(c, 1.5);", "c->flux = 2;") is None
    assert c("v[i] += pow(c, 1.5);", "x = 2;") is not None


def test_what_is_extracted_from_a_stream_changes() -> None:
    text = "void f(double *v) {\n  for (;;) {\n    in >> a >> b;\n    v[0] += pow(a, 1.5);\n  }\n}\n"
    assert found(text, 4, file="a.cpp") is None
    assert found(text.replace("in >> a", "in >> x"), 4, file="a.cpp") is not None


def test_what_a_range_for_takes_changes() -> None:
    text = "void f(const T& all) {\n  for (const auto& v : all)\n    s += pow(v, 1.5);\n}\n"
    assert found(text, 3, file="a.cpp") is None
    assert found(text.replace("pow(v", "pow(w"), 3, file="a.cpp") is not None


def test_a_change_behind_the_loop_does_not_count() -> None:
    text = (
        "void f(double *v, int n, double a) {\n  for (int i = 0; i < n; i++)\n    v[i] += pow(a, 1.5);\n  a = 2;\n}\n"
    )
    assert found(text, 3) is not None


@pytest.mark.parametrize("statement", ["v(i) = EXP(-Rate * DT)", "v(i) = v(i) + a ** 2 * exp(-a)", "v(i) = exp(e(k))"])
def test_fortran_calls_are_compared_without_case(statement: str) -> None:
    assert fortran(statement) is not None


@pytest.mark.parametrize(
    "change",
    [
        "rate = 2",
        "RATE = 2",
        "call update(rate, 3)",
        "read(10, *) rate",
        "do rate = 1, 3\nx = 1\nend do",
        "if (n > 2) rate = 1",
    ],
)
def test_names_that_fortran_changes(change: str) -> None:
    assert fortran("v(i) = exp(-rate * dt)", change) is None
    assert fortran("v(i) = exp(-a * dt)", change) is not None


def test_a_fortran_loop_is_read_to_its_own_end() -> None:
    inner = ("do j = 1, 3", "  w(j) = 1", "end do")
    assert fortran("v(i) = exp(-a)", *inner) is not None
    assert fortran("v(i) = exp(-a)", *inner, "a = a + 1") is None


@pytest.mark.parametrize(
    ("text", "hot"),
    [
        ("", 4),  # no source at all
        ("void f(void) {\n  x = pow(a, 2);\n}\n", 2),  # no loop
        ("void f(void) {\n  for (;;)\n    x = pow(a, 2);\n}\n", 40),  # a line behind the end of the file
        ("x = pow(a, 2);\n", 1),  # no function
        ("void f(void) {\n  for (;;) {\n    x = pow(a, 2);\n    b = = 3;\n  }\n}\n", 3),  # something cannot be parsed
    ],
)
def test_without_the_whole_loop_nothing_is_said(text: str, hot: int) -> None:
    assert found(text, hot) is None


def test_lines_without_a_number_are_not_read() -> None:
    assert found("void f(void) {\n  for (;;)\n    x = pow(a, 2);\n}\n", 0) is None
