"""The longest chain against an exhaustive search over all paths of small random programs, and against arithmetic."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis import critical_path as module
from chathpc.diagnosis.critical_path import Dependencies, Work, critical_path
from chathpc.profile import intervals

Span = tuple[int, int, int]
Edge = tuple[int, int, int, int]


def work(*spans: Span) -> Work:
    """(start, end, label) of each span."""
    columns = np.array(spans, dtype=np.int64).reshape(-1, 3)
    return Work(columns[:, 0], columns[:, 1], columns[:, 2].astype(np.int32))


def needs(*edges: Edge) -> Dependencies:
    """(source, done, into, at) of each edge."""
    columns = np.array(edges, dtype=np.int64).reshape(-1, 4)
    return Dependencies(columns[:, 0].astype(np.int32), columns[:, 1], columns[:, 2].astype(np.int32), columns[:, 3])


# -- by hand ---------------------------------------------------------------------------------------------------


def test_a_single_lane_is_its_own_path() -> None:
    found = critical_path([work((10, 30, 1), (50, 60, 2))], needs())
    assert (found.length, dict(found.by_label), dict(found.by_lane)) == (30, {1: 20, 2: 10}, {0: 30})
    assert found.stretch is None


def test_without_dependencies_the_longest_lane_is_the_path() -> None:
    found = critical_path([work((0, 10, 1)), work((0, 25, 2)), work()], needs())
    assert dict(found.by_label) == {2: 25}


def test_a_barrier_leads_from_the_last_to_arrive_to_all() -> None:
    # Lane 1 works until 80; both go on together; then lane 0 is the longer one.
    lanes = [work((0, 50, 1), (80, 200, 3)), work((0, 80, 2), (80, 120, 4))]
    found = critical_path(lanes, needs((1, 80, 0, 80)))
    assert found.length == 80 + 120
    assert dict(found.by_label) == {2: 80, 3: 120}
    assert [(step.lane, step.begin, step.end) for step in found.steps] == [(1, 0, 80), (0, 80, 200)]


def test_work_that_hides_behind_other_work_is_not_on_the_path() -> None:
    # A host launches two kernels and waits: the device's second kernel begins when its first is done.
    host, device = work((0, 10, 0), (10, 20, 0), (100, 110, 0)), work((5, 60, 1), (60, 100, 2))
    found = critical_path([host, device], needs((0, 5, 1, 5), (0, 15, 1, 60), (1, 100, 0, 100)))
    assert dict(found.by_label) == {0: 5 + 10, 1: 55, 2: 40}


def test_idle_time_on_the_path_is_not_counted() -> None:
    found = critical_path([work((0, 10, 1)), work((50, 60, 2))], needs((0, 10, 1, 50)))
    assert found.length == 20


def test_of_more_dependencies_than_are_looked_at_those_in_the_middle_count(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten rounds of 10: lane 0 works for 6, then lane 1 for 4, each after the other.
    lanes = [
        work(*((10 * i, 10 * i + 6, 1) for i in range(10))),
        work(*((10 * i + 6, 10 * i + 10, 2) for i in range(10))),
    ]
    edges = [(0, 10 * i + 6, 1, 10 * i + 6) for i in range(10)] + [(1, 10 * i, 0, 10 * i) for i in range(1, 10)]
    assert dict(critical_path(lanes, needs(*edges)).by_label) == {1: 60, 2: 40}
    monkeypatch.setattr(module, "MOST", 9)
    found = critical_path(lanes, needs(*edges))
    # 19 dependencies at 6, 10, 16, 20, …: those from the sixth (26) to the fourteenth (66).
    assert found.stretch in ((30, 70), (26, 66))
    assert found.length == 40
    assert found.by_label[1] == 24


def test_a_dependency_that_leads_backwards_is_refused() -> None:
    with pytest.raises(ValueError, match="backwards in time"):
        critical_path([work((0, 10, 1)), work((0, 10, 2))], needs((0, 9, 1, 5)))


def test_nothing_at_all_has_an_empty_path() -> None:
    assert critical_path([], needs()).steps == ()
    assert critical_path([work()], needs()).length == 0


# -- against exhaustive search ---------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Work], list[Edge]]:
    lanes = []
    for _ in range(draw(st.integers(1, 4))):
        marks = sorted(draw(st.sets(st.integers(0, 40), max_size=8)))
        spans = [(a, b, draw(st.integers(0, 3))) for a, b in zip(marks[::2], marks[1::2], strict=False)]
        lanes.append(work(*spans))
    lane = st.integers(0, len(lanes) - 1)
    edges = []
    for _ in range(draw(st.integers(0, 6))):
        done = draw(st.integers(0, 40))
        edges.append((draw(lane), done, draw(lane), draw(st.integers(done, 40))))
    return lanes, edges


def longest_by_search(lanes: list[Work], edges: list[Edge]) -> int:
    """Tries every way through: at each whole time on each lane go on by one, or follow a dependency, and never wait."""
    busy = [
        {t for a, b in zip(one.start.tolist(), one.end.tolist(), strict=True) for t in range(a, b)} for one in lanes
    ]

    @cache
    def rest(lane: int, time: int) -> int:
        ways = [0]
        if time <= 40:
            ways.append((time in busy[lane]) + rest(lane, time + 1))
        ways += [
            rest(into, at)
            for source, done, into, at in edges
            if source == lane and done == time and (into, at) != (lane, time)
        ]
        return max(ways)

    return max(rest(lane, 0) for lane in range(len(lanes)))


def without_cycles_at_one_time(edges: list[Edge]) -> list[Edge]:
    """The search above could run in circles through dependencies that take no time: keep those from lower to higher lanes."""
    return [(a, done, b, at) for a, done, b, at in edges if at > done or a < b]


@given(programs())
def test_no_chain_is_longer_than_the_path(program: tuple[list[Work], list[Edge]]) -> None:
    lanes, edges = program
    edges = without_cycles_at_one_time(edges)
    found = critical_path(lanes, needs(*edges))
    # A chain that passes several dependencies at one instant needs no work in between, so both may pass it.
    assert found.length <= longest_by_search(lanes, edges)
    instants = {done for _, done, _, _ in edges} & {at for _, _, _, at in edges}
    if not instants:
        assert found.length == longest_by_search(lanes, edges)


@given(programs())
def test_the_path_is_in_order_of_time_and_holds_what_it_says(program: tuple[list[Work], list[Edge]]) -> None:
    lanes, edges = program
    found = critical_path(lanes, needs(*edges))
    ends = [step.end for step in found.steps]
    assert all(step.begin < step.end for step in found.steps)
    assert all(later.begin >= end for end, later in zip(ends, found.steps[1:], strict=False))
    total = 0
    for step in found.steps:
        one = lanes[step.lane]
        total += intervals.length(intervals.clip((one.start, one.end), step.begin, step.end)) if len(one.start) else 0
    assert found.length == total == sum(found.by_lane.values()) == sum(found.by_label.values())
    assert found.length >= max((int((one.end - one.start).sum()) for one in lanes), default=0)


@given(st.lists(st.integers(0, 50), max_size=10), programs())
def test_work_before_a_time_is_what_was_done_until_then(
    times: list[int], program: tuple[list[Work], list[Edge]]
) -> None:
    for one in program[0]:
        expected = [
            sum(max(0, min(b, t) - a) for a, b in zip(one.start.tolist(), one.end.tolist(), strict=True)) for t in times
        ]
        assert one.before(np.array(times, dtype=np.int64)).tolist() == expected
