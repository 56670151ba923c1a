"""Call graphs as trees: each caller's calls cost what the file tells, and own costs add up."""

from __future__ import annotations

import time
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.call_graph import MOST_CONTEXTS, OUTSIDE, Arc, Context, contexts, divided


def by_arc(own: list[float], found: list[Context]) -> dict[tuple[int, int], float]:
    """Inclusive costs of the contexts, added up by caller and function."""
    whole = [own[one.function] * one.part for one in found]
    for at in reversed(range(len(found))):
        if found[at].above >= 0:
            whole[found[at].above] += whole[at]
    added: dict[tuple[int, int], float] = defaultdict(float)
    for one, cost in zip(found, whole, strict=True):
        added[one.caller, one.function] += cost
    return added


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[float], dict[tuple[int, int], Arc]]:
    """Functions that call later ones alone, from the last one on: what each call costs follows from its share of the calls."""
    count = draw(st.integers(1, 9))
    own = [float(draw(st.integers(1, 1000))) for _ in range(count)]
    calls = {
        (caller, callee): draw(st.integers(1, 50))
        for callee in range(1, count)
        for caller in draw(st.sets(st.integers(0, callee - 1), max_size=4))
    }
    whole, arcs = list(own), {}
    for callee in reversed(range(count)):
        callers = {caller: number for (caller, called), number in calls.items() if called == callee}
        for caller, number in callers.items():
            arcs[caller, callee] = Arc(whole[callee] * number / sum(callers.values()), number)
            whole[caller] += arcs[caller, callee].cost
    return own, arcs


@given(programs())
def test_calls_cost_with_all_below_them_what_the_file_tells(
    program: tuple[list[float], dict[tuple[int, int], Arc]],
) -> None:
    own, arcs = program
    found = contexts(own, arcs)
    added = by_arc(own, found)
    assert {arc: cost for arc, cost in added.items() if arc[0] != OUTSIDE} == pytest.approx(
        {arc: told.cost for arc, told in arcs.items()}, rel=1e-4, abs=1e-5 * sum(own)
    )
    for arc, told in arcs.items():
        assert sum(one.calls for one in found if (one.caller, one.function) == arc) == told.calls
    assert all(one.above < at for at, one in enumerate(found))


def test_recursion_has_its_callers_and_ends() -> None:
    """main calls a and b, which call even; even and odd call one another."""
    arcs = {
        (0, 1): Arc(30),
        (0, 2): Arc(12),
        (1, 3): Arc(20, 2),
        (2, 3): Arc(10, 1),
        (3, 4): Arc(15, 8),
        (4, 3): Arc(14, 7),
    }
    own = [1.0, 10.0, 2.0, 15.0, 15.0]
    found = contexts(own, arcs)
    assert {one.caller for one in found if one.function == 3} == {1, 2, 4}
    assert sum(one.calls for one in found if one.function == 3) == 10
    assert by_arc(own, found)[1, 3] == pytest.approx(20)
    assert by_arc(own, found)[4, 3] == 0
    assert sum(own[one.function] * one.part for one in found) == pytest.approx(sum(own))


def test_what_a_recursion_calls_stands_below_all_of_it() -> None:
    """main calls the leaf dearly; even and odd, which call one another from even on, call it too."""
    own = [1.0, 100.0, 2.0, 2.0]
    arcs = {
        (0, 1): Arc(60, 6),
        (0, 2): Arc(44, 1),
        (2, 3): Arc(43, 9),
        (3, 2): Arc(41, 8),
        (2, 1): Arc(20, 9),
        (3, 1): Arc(20, 9),
    }
    found = contexts(own, arcs)
    assert {one.caller for one in found if one.function == 1} == {0, 2, 3}
    assert by_arc(own, found)[2, 1] == pytest.approx(20)
    assert by_arc(own, found)[3, 1] == pytest.approx(20)


def test_a_recursion_that_nobody_calls_is_entered_where_most_time_is() -> None:
    found = contexts([1.0, 5.0, 2.0], {(0, 1): Arc(1.0), (1, 2): Arc(1.0), (2, 0): Arc(1.0)})
    assert [(one.caller, one.function) for one in found] == [(OUTSIDE, 1), (1, 2), (2, 0), (0, 1)]


def test_paths_without_number_stay_few_and_keep_their_sums() -> None:
    """Forty levels of two functions that all call the two of the next level: 2^40 paths."""
    levels = 40
    own = [1.0] * (2 * levels)
    arcs = {
        (2 * level + a, 2 * level + 2 + b): Arc((levels - level - 1) / 2.0, 1)
        for level in range(levels - 1)
        for a in (0, 1)
        for b in (0, 1)
    }
    found = contexts(own, arcs)
    assert len(found) <= MOST_CONTEXTS
    assert sum(one.part for one in found) == pytest.approx(2 * levels)
    assert {(one.caller, one.function) for one in found if one.caller != OUTSIDE} == arcs.keys()


def test_long_chains_and_ladders_are_done_in_time() -> None:
    count = 20_000
    arcs = {(f, f + 1): Arc(1.0) for f in range(count - 1)} | {(f, count - 1): Arc(1.0) for f in range(count)}
    arcs |= {(f, f // 2): Arc(1.0) for f in range(1, count)} | {(0, f): Arc(1.0) for f in range(1, count, 7)}
    began = time.process_time()
    found = contexts([1.0] * count, arcs)
    assert time.process_time() - began < 5
    assert {one.function for one in found} == set(range(count))


@given(st.integers(0, 10**12), st.lists(st.integers(1, 100), min_size=1, max_size=20))
def test_whole_numbers_are_divided_into_whole_numbers(number: int, weights: list[int]) -> None:
    pieces = list(divided(number, [weight / sum(weights) for weight in weights]))
    assert sum(pieces) == number
    assert all(abs(piece - number * weight / sum(weights)) <= 1 for piece, weight in zip(pieces, weights, strict=True))
