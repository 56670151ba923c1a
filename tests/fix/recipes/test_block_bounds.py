"""Bounds of loops that are tried out with numbers, compared with what C and Python compute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.source.model import Expr
from chathpc.diagnosis.source.text import parsed
from chathpc.fix.recipes.analysis.whole_numbers import value
from chathpc.fix.recipes.mpi.block_bounds import Bounds, Setting


def expr(text: str) -> Expr:
    """The expression of a text of C."""
    file = parsed("a.c", f"int f(int a, int b, int c) {{ return {text}; }}".encode())
    assert file is not None
    (_, function) = next(iter(file.procedures(99)))
    found = function.statements[0].expr
    assert found is not None
    return found


@given(st.integers(-99, 99), st.integers(-99, 99).filter(bool), st.integers(0, 9))
def test_numbers_are_those_of_c(a: int, b: int, c: int) -> None:
    names = {"a": a, "b": b, "c": c}
    quotient = int(a / b)
    truths = {
        "a / b": quotient,
        "a % b": a - b * quotient,
        "(long)a * b - c": a * b - c,
        "a < b ? a : b": min(a, b),
        "a + (b > c)": a + (b > c),
        "-a * !c": -a * (not c),
        "(a >= 0 && b != c) + (a == b || c <= 3)": (a >= 0 and b != c) + (a == b or c <= 3),
        "min(a, b) + max(b, c)": min(a, b) + max(b, c),
    }
    for text, truth in truths.items():
        assert value(expr(text), names) == truth, text


@pytest.mark.parametrize("text", ["a / 0", "a % 0", "g(a)", "a[b]", "d + 1", "1.5 * a", "~a"])
def test_what_is_not_known_has_no_number(text: str) -> None:
    assert value(expr(text), {"a": 3, "b": 4, "c": 5}) is None


def bounds(low: str, high: str, *settings: tuple[str, str], inclusive: bool = False) -> tuple[int, str] | None:
    """What the bounds share out, with `r` the number of the process of `p`."""
    kept = tuple(Setting(name, expr(text), None, True, at) for at, (name, text) in enumerate(settings))
    return Bounds(expr(low), expr(high), inclusive, kept, "r", "p").shared()


@pytest.mark.parametrize(
    ("low", "high", "settings", "whole"),
    [
        ("n * r / p", "n * (r + 1) / p", (), (0, "n")),
        ("r * c", "r == p - 1 ? n : r * c + c", (("c", "n / p"),), (0, "n")),
        ("r * c + min(r, e)", "r * c + min(r, e) + c + (r < e)", (("c", "n / p"), ("e", "n % p")), (0, "n")),
        ("r * c", "min(r * c + c, n)", (("c", "(n + p - 1) / p"),), (0, "n")),
        ("1 + n * r / p", "1 + n * (r + 1) / p", (), (1, "n + 1")),
        ("r * c", "r * c + c", (("c", "n / p"), ("t", "c * p")), (0, "t")),
    ],
)
def test_blocks_that_follow_each_other_are_shares_of_all(
    low: str, high: str, settings: tuple[tuple[str, str], ...], whole: tuple[int, str]
) -> None:
    assert bounds(low, high, *settings) == whole


@pytest.mark.parametrize(
    ("low", "high", "settings"),
    [
        ("r * c", "r * c + c", (("c", "n / p"),)),  # what remains is left undone: nobody says where that ends
        ("r * c", "r * c + c + 1", (("c", "n / p"),)),  # blocks overlap
        ("r * c + 1", "r * c + c", (("c", "n / p"),)),  # gaps
        ("0", "n", ()),  # all do all
        ("(r - 1) * c", "r * c", (("c", "n / (p - 1)"),)),  # one process deals out
        ("(p - 1 - r) * c", "(p - r) * c", (("c", "n / p"),)),  # the last comes first
    ],
)
def test_other_bounds_are_no_shares(low: str, high: str, settings: tuple[tuple[str, str], ...]) -> None:
    assert bounds(low, high, *settings) is None
