"""Sets of intervals, compared with sets of single nanoseconds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile import intervals
from chathpc.profile.timeline import DEVICE_LANES, IntervalLane, LaneKind, Timeline

SPAN = 60
pairs = st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)), max_size=12)


def arrays(spans):
    start = np.array([a for a, _ in spans], dtype=np.int64)
    return start, np.array([b for _, b in spans], dtype=np.int64)


def points(spans):
    """Every nanosecond that is inside."""
    return {t for a, b in zip(*spans, strict=True) for t in range(int(a), int(b))}


def disjoint(spans):
    found = intervals.union(*arrays(spans))
    assert np.all(found[0] < found[1])
    assert np.all(found[1][:-1] < found[0][1:]), "neither overlapping nor touching"
    return found


@given(pairs)
def test_a_union_covers_what_any_interval_covers(spans):
    found = disjoint(spans)
    assert points(found) == points(arrays(spans))
    assert intervals.length(found) == len(points(found))


@given(pairs, pairs)
def test_intersection_subtraction_and_union_are_those_of_sets(one, other):
    a, b = disjoint(one), disjoint(other)
    assert points(intervals.intersect(a, b)) == points(a) & points(b)
    assert points(intervals.subtract(a, b)) == points(a) - points(b)
    assert points(intervals.union_of(a, b)) == points(a) | points(b)


@given(pairs, st.integers(0, SPAN), st.integers(0, SPAN))
def test_gaps_and_what_is_inside_make_up_the_window(spans, begin, width):
    end = begin + width
    found = disjoint(spans)
    inside, free = intervals.clip(found, begin, end), intervals.gaps(found, begin, end)
    assert points(inside) == points(found) & set(range(begin, end))
    assert points(free) == set(range(begin, end)) - points(found)
    assert intervals.length(inside) + intervals.length(free) == end - begin


@given(pairs)
def test_times_are_covered_or_not(spans):
    found = disjoint(spans)
    times = np.arange(SPAN + 1, dtype=np.int64)
    assert intervals.covered(found, times).tolist() == [t in points(found) for t in times.tolist()]


many = st.lists(st.integers(0, 3), min_size=40, max_size=60)


@given(many, st.lists(st.tuples(st.integers(0, 150), st.integers(0, 150)), max_size=4))
def test_few_and_many_intervals_are_compared_both_ways(steps, spans):
    edges = np.cumsum(np.array(steps, dtype=np.int64) + 1)
    long, short = (edges[::2][: len(edges) // 2], edges[1::2]), disjoint(spans)
    for one, other in ((long, short), (short, long)):
        assert points(intervals.subtract(one, other)) == points(one) - points(other)
        assert points(intervals.intersect(one, other)) == points(one) & points(other)


def test_numbers_of_ranges_that_overlap_are_there_once():
    low, high = np.array([0, 2, 2, 9]), np.array([3, 2, 5, 11])
    assert intervals.numbers(low, high).tolist() == [0, 1, 2, 3, 4, 9, 10]
    assert not len(intervals.numbers(low[:0], high[:0]))


def test_what_is_sorted_and_apart_is_not_copied():
    start, end = np.array([0, 10, 20]), np.array([5, 15, 25])
    assert intervals.union(start, end)[0] is start
    assert intervals.union_of(intervals.NO_INTERVALS, (start, end))[1] is end
    assert intervals.clip((start, end), 0, 25)[0] is start
    assert points(intervals.clip((start, end), 1, 24)) == points((start, end)) & set(range(1, 24))


def test_the_union_of_nothing_is_nothing():
    assert intervals.length(intervals.union_of()) == 0
    assert intervals.length(intervals.subtract(intervals.NO_INTERVALS, intervals.NO_INTERVALS)) == 0


def lane(kind, device, *spans):
    start, end = arrays(spans)
    return IntervalLane(kind, device, -1, start, end, np.zeros(len(start), dtype=np.int32))


def test_a_device_is_busy_once_however_many_engines_work():
    timeline = Timeline(
        0,
        100,
        intervals=(
            lane(LaneKind.COMPUTE, 0, (10, 30), (20, 40)),
            lane(LaneKind.H2D, 0, (35, 60)),
            lane(LaneKind.COMPUTE, 1, (0, 100)),
            lane(LaneKind.API, -1, (0, 100)),
            lane(LaneKind.D2H, 2),
        ),
    )
    assert timeline.devices == (0, 1)
    assert intervals.length(timeline.busy(*DEVICE_LANES, device=0)) == 50
    assert intervals.length(timeline.idle(0)) == 50
    assert intervals.length(timeline.idle(1)) == 0
    assert [one.device for one in timeline.of(LaneKind.COMPUTE)] == [0, 1]
    assert len(timeline.of(LaneKind.COMPUTE, device=1)[0]) == 1
    assert timeline.seconds == pytest.approx(1e-7)


@given(pairs, pairs)
def test_overlap_counts_each_of_the_others(spans, others):
    def inside(span, other):
        return len({*range(*span)} & {*range(*other)})

    real = [(a, b) for a, b in spans if a <= b]
    expected = [sum(inside(span, other) for other in others) for span in real]
    assert intervals.overlap(arrays(real), arrays(others)).tolist() == expected


def test_overlap_of_times_since_the_epoch_keeps_its_digits():
    begin = np.full(1000, 1_700_000_000_000_000_000, dtype=np.int64)
    found = intervals.overlap((begin[:1], begin[:1] + 7), (begin, begin + 1_000_000_000))
    assert found.tolist() == [7000]
