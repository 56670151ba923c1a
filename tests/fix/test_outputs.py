"""Outputs are compared by value where they are numbers, and word by word where they are not."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.fix.outputs import Outputs, compare, compare_bytes, numbers_in, value_of
from chathpc.fix.project import Check

CHECK = Check(relative=1e-6, ignore=("^time",))


def kind(original: str, changed: str, check: Check = CHECK) -> str:
    return compare_bytes("stdout", original.encode(), changed.encode(), check).kind


@pytest.mark.parametrize(
    ("original", "changed", "expected"),
    [
        ("sum 1.000000", "sum 1.0000005", "none"),
        ("sum 1.000000", "sum 1.00001", "number"),
        ("sum 1", "total 1", "text"),
        ("sum 1 2", "sum 1", "text"),
        ("a\nb", "a", "length"),
        ("time 3.1 s\nsum 2.5", "time 9.9 s\nsum 2.5", "none"),
        ("sum 2.5", "sum nan", "poison"),
        ("sum 2.5", "sum -inf", "poison"),
        ("sum nan", "sum nan", "none"),
        ("sum -nan", "sum nan", "none"),
        ("sum inf", "sum -inf", "number"),
        ("sum inf", "sum 3.5", "number"),
        ("  1.50   x ", "1.50 x", "none"),
        ("step1 2.0", "step2 2.0", "text"),
        ("1.0D+03", "1.0E+03", "none"),
        ("1.234-101", "1.234E-101", "none"),
        ("checksum 22fe580efd3a6cec", "checksum 22fe580efd3a6ced", "text"),
        ("v 0.000000000000", "v 0.000000", "format"),
        ("v 1.200", "v 1.2", "format"),
        ("v 1.20", "v 1.2", "none"),
        ("0", "-0", "none"),
        ("0.0", "1e-30", "number"),
    ],
)
def test_a_difference_has_its_kind(original: str, changed: str, expected: str) -> None:
    assert kind(original, changed) == expected


def test_an_absolute_tolerance_lets_zeros_differ() -> None:
    assert kind("0.0", "1e-30", Check(absolute=1e-20)) == "none"


def test_the_first_difference_is_told_with_its_line() -> None:
    found = compare_bytes("out.dat", b"1.0\n2.0\n3.0\n", b"1.0\n2.5\n9.0\n", CHECK)
    assert found.statement == "out.dat line 2: '2.5' instead of '2.0', 0.25 away, allowed are 1e-06"


def test_binary_files_are_equal_or_not() -> None:
    found = compare_bytes("x.bin", b"ab\0cd", b"ab\0cx", CHECK)
    assert found.kind == "binary"
    assert "byte 4" in found.statement


@given(
    numbers=st.lists(st.floats(1e-20, 1e20), min_size=1, max_size=30),
    away=st.floats(-3e-6, 3e-6),
    head=st.binary(max_size=9),
    single=st.booleans(),
)
def test_numbers_in_binary_files_may_differ_within_tolerance(
    numbers: list[float], away: float, head: bytes, single: bool
) -> None:
    kind = np.dtype("<f4" if single else "<f8")
    first = np.array(numbers, dtype=kind)
    second = first.copy()
    second[-1] = second[-1] * (1 + away)
    found = compare_bytes("x", head + b"\0" + first.tobytes(), head + b"\0" + second.tobytes(), CHECK)
    share = abs(float(second[-1]) - float(first[-1])) / float(first[-1])
    if share < 0.99e-6:
        assert found.same
        assert found.largest <= 1.01e-6
    elif share > 1.01e-6:
        assert not found.same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (struct.pack("<ii", 5, 7), struct.pack("<ii", 6, 7)),
        (struct.pack("<q", 123456), struct.pack("<q", 123457)),
        (b"\0state_17", b"\0ttate_17"),
        (struct.pack("<d", 1.5), struct.pack("<d", math.nan)),
        (struct.pack("<d", 0.0), struct.pack("<d", 1e-12)),
        (struct.pack("<2d", 0.0, 1.5), struct.pack("<d", 1.5)),
        (b"\x00\x01\xa0\x7f", b"\x00\x02\xa0\x7f"),  # not a number that signals
        (struct.pack("<ii", -1, -1), struct.pack("<ii", -2, -1)),
    ],
)
def test_what_is_no_number_in_a_binary_file_is_equal_or_not(one: bytes, other: bytes) -> None:
    assert not compare_bytes("x", one, other, CHECK).same


def test_a_file_that_is_not_written_and_another_status_are_differences() -> None:
    whole = Outputs(0, {"stdout": b"1", "x": b"2"})
    assert compare(whole, Outputs(1, dict(whole.contents)), CHECK).kind == "status"
    assert compare(whole, Outputs(0, {"stdout": b"1", "x": None}), CHECK).statement == "x is not written"
    assert compare(whole, Outputs(0, {"stdout": b"1"}), CHECK).kind == "missing"
    assert compare(whole, whole, CHECK).same


def test_what_a_terminal_would_obey_is_not_told_as_it_is() -> None:
    assert "\x1b" not in compare_bytes("o", b"a", b"\x1b[31mb", CHECK).statement


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_is_read_as_it_was(number: float) -> None:
    for form in (f"{number!r}", f"{number:.17e}"):
        assert [value_of(text) for text in numbers_in(f"x = {form} y".encode())] == [number]


@given(st.floats(min_value=1e-100, max_value=1e100), st.floats(min_value=0, max_value=1e-3))
def test_a_number_passes_within_its_tolerance_and_not_beyond(number: float, away: float) -> None:
    check = Check(relative=1e-6)
    changed = number * (1 + away)
    told = kind(f"{number!r}", f"{changed!r}", check)
    share = abs(changed - number) / number
    if share < 0.99e-6:
        assert told in ("none", "format")
    elif share > 1.01e-6:
        assert told == "number"


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_can_be_compared_and_equal_ones_are_the_same(one: bytes, other: bytes) -> None:
    assert compare_bytes("o", one, one, CHECK).same
    found = compare_bytes("o", one, other, CHECK)
    assert found.same or found.statement


def test_nan_is_read_as_nan() -> None:
    assert math.isnan(value_of(b"-nan"))
    assert math.isnan(value_of(b"NaN(0x7)"))
