"""Functions below their dominators: compared with the definition, by taking functions away."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.call_graph import below


def reached(count: int, arcs: list[tuple[int, int]], entries: list[int], without: int = -1) -> set[int]:
    found: set[int] = set()
    pending = [entry for entry in entries if entry != without]
    while pending:
        function = pending.pop()
        if function not in found:
            found.add(function)
            pending += [callee for caller, callee in arcs if caller == function and callee != without]
    return found


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 9))
    arc = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    return count, draw(st.lists(arc, max_size=25))


@given(graphs())
def test_a_function_stands_below_the_innermost_one_that_all_its_calls_go_through(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    count, arcs = graph
    parent, order = below(count, arcs, [0.0] * count)
    assert sorted(order) == list(range(count))
    assert all(parent[f] < 0 or order.index(parent[f]) < order.index(f) for f in range(count))
    # Entries: functions without callers, then for each group that only calls itself its first.
    entries = [f for f in range(count) if not any(callee == f and caller != f for caller, callee in arcs)]
    for function in range(count):
        if function not in reached(count, arcs, entries):
            entries.append(function)
    for function in range(count):
        gates = {
            other
            for other in range(count)
            if other != function and function not in reached(count, arcs, entries, without=other)
        }
        chain = []
        step = parent[function]
        while step >= 0:
            chain.append(step)
            step = parent[step]
        assert set(chain) == gates


def test_a_recursion_that_nobody_calls_is_entered_where_most_time_is() -> None:
    assert below(3, [(0, 1), (1, 2), (2, 0)], [1.0, 5.0, 2.0])[0] == [2, -1, 1]


def test_long_chains_and_ladders_are_done_in_time() -> None:
    count = 20_000
    arcs = [(f, f + 1) for f in range(count - 1)] + [(f, count - 1) for f in range(count)]
    arcs += [(f, f // 2) for f in range(1, count)] + [(0, f) for f in range(1, count, 7)]
    began = time.process_time()
    parent, _ = below(count, arcs, [0.0] * count)
    assert time.process_time() - began < 5
    assert parent[count - 1] >= -1
