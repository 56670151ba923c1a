"""Nesting of spans, against a stack that is pushed and popped one event at a time; paths and small numbers for large ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.adapters.nsight_systems import spans as nesting
from chathpc.adapters.nsight_systems.columns import distinct, encode
from chathpc.adapters.nsight_systems.paths import Paths
from chathpc.adapters.nsight_systems.spans import Axis, Nesting, Spans, nest
from chathpc.profile.tree import NodeKind

span = st.tuples(st.integers(0, 2), st.integers(-20, 60), st.integers(0, 25))
spans = st.lists(span, max_size=40)


def columns(rows: list[tuple[int, int, int]]) -> Spans:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Spans(table[:, 0].astype(np.int32), table[:, 1], table[:, 1] + table[:, 2])


def one_by_one(given_spans: Spans) -> Nesting:
    """The same by a loop: per thread, by beginning, the longer first."""
    n = len(given_spans)
    parent, depth = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    own = (given_spans.end - given_spans.start).copy()
    start, end = given_spans.start.tolist(), given_spans.end.tolist()
    stacks: dict[int, list[int]] = {}
    for row in sorted(range(n), key=lambda row: (start[row], -end[row], row)):
        stack = stacks.setdefault(int(given_spans.thread[row]), [])
        while stack and end[stack[-1]] <= start[row]:
            stack.pop()
        if stack:
            parent[row], depth[row] = stack[-1], len(stack)
            own[stack[-1]] -= min(end[row], end[stack[-1]]) - start[row]
        stack.append(row)
    return Nesting(parent, depth, np.maximum(own, 0))


def same(one: Nesting, other: Nesting) -> bool:
    return all(
        np.array_equal(mine, theirs)
        for mine, theirs in ((one.parent, other.parent), (one.depth, other.depth), (one.own, other.own))
    )


@given(spans)
@settings(max_examples=500, deadline=None)
def test_nesting_is_that_of_a_stack_whether_spans_nest_or_overlap(rows: list[tuple[int, int, int]]) -> None:
    given_spans = columns(rows)
    assert same(nest(given_spans.thread, given_spans.start, given_spans.end), one_by_one(given_spans))


@st.composite
def proper(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    """Spans that nest: halves of halves."""
    rows: list[tuple[int, int, int]] = []
    todo = [(0, draw(st.integers(1, 400)))]
    while todo and len(rows) < 60:
        start, end = todo.pop()
        rows.append((0, start, end - start))
        if end - start > 3:
            cut = draw(st.integers(start + 1, end - 1))
            todo += [(start, cut), (cut, end)][: draw(st.integers(0, 2))]
    return rows


@given(proper())
@settings(max_examples=200, deadline=None)
def test_own_times_of_spans_that_nest_add_up_to_the_outermost(rows: list[tuple[int, int, int]]) -> None:
    given_spans = columns(rows)
    nested = nest(given_spans.thread, given_spans.start, given_spans.end)
    outermost = nested.parent < 0
    assert int(nested.own.sum()) == int((given_spans.end - given_spans.start)[outermost].sum())


@given(st.lists(st.integers(0, 60), min_size=4, max_size=60), st.lists(span, max_size=6), st.booleans())
@settings(max_examples=500, deadline=None)
def test_looking_many_up_gives_what_sorting_them_in_gives(
    edges: list[int], others: list[tuple[int, int, int]], first: bool
) -> None:
    edges = sorted(edges)
    many = columns(
        [(k % 2, begin, end - begin) for k, (begin, end) in enumerate(zip(edges[::2], edges[1::2], strict=False))]
    )
    few = columns(others)
    sources = [few, many] if first else [many, few]
    found = nesting._looked_up(sources, int(first))
    if found is None:
        return
    everything = [(int(s.thread[k]), int(s.start[k]), int(s.end[k])) for s in sources for k in range(len(s))]
    if len(set(everything)) < len(everything):
        return  # which of two equal spans is the outer one is nobody's business
    assert same(found, nest(*nesting._columns(sources)))


def test_many_flat_calls_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    begin = np.arange(60_000, dtype=np.int64) * 10
    calls = Spans((begin // 10 % 3).astype(np.int32), begin, begin + rng.integers(0, 8, 60_000))
    shuffled = rng.permutation(60_000)
    calls = Spans(calls.thread[shuffled], calls.start[shuffled], calls.end[shuffled])
    ranges = columns([(k % 3, 1_000 * k, 800 + 400 * (k % 5)) for k in range(500)])
    looked: list[Nesting | None] = []
    monkeypatch.setattr(nesting, "_looked_up", lambda *a, _f=nesting._looked_up: looked.append(_f(*a)) or looked[-1])
    found = nesting.nest_all([ranges, calls])
    assert looked
    assert looked[0] is not None
    assert same(found, one_by_one(Spans(*nesting._columns([ranges, calls]))))


def test_nothing_nests_in_nothing() -> None:
    assert len(nesting.nest_all([]).parent) == 0
    assert len(nest(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)).parent) == 0


def test_times_that_are_centuries_apart_do_not_fit() -> None:
    far = Spans(np.array([0, 1], dtype=np.int32), np.array([0, 2**61]), np.array([1, 2**61 + 1]))
    with pytest.raises(OverflowError):
        Axis.of([far])


@given(st.lists(st.integers(-(2**62), 2**62), max_size=50))
def test_encoding_gives_back_the_values(values: list[int]) -> None:
    known, index = encode(np.array(values, dtype=np.int64))
    assert known[index].tolist() == values if values else not len(index)
    assert (np.diff(known) > 0).all()


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("low", [0, 1, 2**31 - 70_000])
def test_encoding_of_many_values_that_are_close_to_each_other(kind: type, low: int) -> None:
    values = (np.arange(100_000) * 7 % 65_000 + low).astype(kind)
    known, index = encode(values)
    assert known.dtype == np.int64
    assert (np.diff(known) > 0).all()
    assert (known[index] == values).all()


def test_encoding_of_many_rows_finds_rare_values_too() -> None:
    values = np.full(200_000, 7, dtype=np.int64)
    known, index = encode(values)
    assert (known.tolist(), int(index.max())) == ([7], 0)
    values[5], values[100_001] = -3, 2**60
    known, index = encode(values)
    assert known.tolist() == [-3, 7, 2**60]
    assert (known[index] == values).all()


@given(st.lists(st.integers(0, 99), min_size=1, max_size=30), st.sampled_from([100, 10**9]))
def test_distinct_keys_are_numbered_in_a_small_and_in_a_large_space(keys: list[int], space: int) -> None:
    known, index = distinct(np.array(keys, dtype=np.int64), space)
    assert known[index].tolist() == keys
    assert known.tolist() == sorted(set(keys))


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), max_size=12))
@settings(deadline=None)
def test_equal_paths_become_one_node_however_they_were_added(words: list[list[str]]) -> None:
    paths = Paths()
    ends = []
    for word in words:
        node = -1
        for letter in word:
            node = paths.node(node, NodeKind.REGION, letter)
        ends.append(node)
    tree, final = paths.finish()
    tree.check()
    for word, node in zip(words, ends, strict=True):
        assert "".join(tree.label(step) for step in tree.path(int(final[node]))) == "".join(word)
    prefixes = {tuple(word[:k]) for word in words for k in range(1, len(word) + 1)}
    assert len(tree) == max(len(prefixes), 1)
