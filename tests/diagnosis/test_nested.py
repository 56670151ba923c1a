"""Intervals that reach into a stretch of time, compared with a loop over all."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.nested import inside
from chathpc.profile import intervals
from chathpc.profile.timeline import IntervalLane, LaneKind

SPANS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9) | st.integers(0, 300)), min_size=1, max_size=90)
STRETCH = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 20)), min_size=1, max_size=3)


@given(SPANS, STRETCH)
def test_calls_that_reach_into_few_gaps_are_those_a_loop_finds(spans, gaps):
    spans = sorted(spans)
    start = np.array([begin for begin, _ in spans], dtype=np.int64)
    end = start + np.array([length for _, length in spans], dtype=np.int64)
    node = (np.arange(len(spans)) % 3 - 1).astype(np.int32)  # -1, 0, 1
    begin = np.array([begin for begin, _ in gaps], dtype=np.int64)
    stretch = intervals.union(begin, begin + np.array([length for _, length in gaps], dtype=np.int64))
    lane = IntervalLane(LaneKind.API, -1, 0, start, end, node)
    names = np.array([5, 6, 9], dtype=np.int32)  # that of "no node" stands at the end
    found = {
        name: sorted(zip(first.tolist(), last.tolist(), strict=True))
        for name, first, last, _ in inside(lane, stretch, names)
    }
    # As the reader of gaps does: a call belongs to a stretch if it reaches into the first part that ends after its start.
    expected: dict[int, list[tuple[int, int]]] = {}
    for a, b, n in zip(start.tolist(), end.tolist(), node.tolist(), strict=True):
        later = [(p, q) for p, q in zip(*(part.tolist() for part in stretch), strict=True) if q > a]
        if later and later[0][0] < b:
            expected.setdefault(int(names[n]), []).append((a, b))
    assert found == {name: sorted(spans) for name, spans in expected.items()}
