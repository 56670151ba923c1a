"""How numbers are written, against decimal arithmetic: what is shown is the exact value rounded once."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile import numbers

TIME = {
    "h": Decimal(3600),
    "s": Decimal(1),
    "ms": Decimal("1e-3"),
    "µs": Decimal("1e-6"),
    "ns": Decimal("1e-9"),
    "ps": Decimal("1e-12"),
}
SIZE = {
    "B": Decimal(1),
    "kB": Decimal("1e3"),
    "MB": Decimal("1e6"),
    "GB": Decimal("1e9"),
    "TB": Decimal("1e12"),
    "PB": Decimal("1e15"),
}
COUNT = {"": Decimal(1), "M": Decimal("1e6"), "G": Decimal("1e9"), "T": Decimal("1e12"), "P": Decimal("1e15")}


def is_nearest(text: str, value: float, units: dict[str, Decimal]) -> bool:
    """True if no other number of three digits is nearer to `value`; both neighbours are right halfway between them."""
    shown, _, unit = text.partition(" ")
    exact, number = Decimal(value) / units[unit], Decimal(shown.replace(",", ""))
    step = Decimal(1).scaleb(exact.adjusted() - 2)
    return abs(number - exact) <= step / 2 * (1 + Decimal("1e-9"))


@pytest.mark.parametrize(("value", "text"), [(100_447.0, "27.9 h"), (239_616.0, "66.6 h"), (11_218.0, "3.12 h")])
def test_hours_are_rounded_once(value: float, text: str) -> None:
    assert numbers.seconds(value) == text


@given(st.floats(1e-12, 1e12))
def test_a_duration_is_rounded_once(value: float) -> None:
    assert is_nearest(numbers.seconds(value), value, TIME)


@given(st.floats(1, 1e17))
def test_sizes_and_counts_are_rounded_once(value: float) -> None:
    assert is_nearest(numbers.size(value), value, SIZE)
    assert is_nearest(numbers.count(value), value, COUNT) or float(value).is_integer()
