"""Messages are matched as MPI does it, and a part of a trace holds together like the whole."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chathpc.profile.messages import (
    NO_CALL,
    Calls,
    Collectives,
    Communication,
    Meeting,
    Messages,
    match,
    ordered,
)

ends = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), max_size=20)


@given(ends, ends, st.randoms(use_true_random=False))
def test_the_nth_send_belongs_to_the_nth_receive_of_its_kind(
    sends: list[tuple[int, int, int]], receives: list[tuple[int, int, int]], random: object
) -> None:
    orders = [np.array(random.sample(range(100), len(rows)), dtype=np.int64) for rows in (sends, receives)]  # type: ignore[attr-defined]
    columns = [[np.array([row[i] for row in rows], dtype=np.int64) for i in range(3)] for rows in (sends, receives)]
    ours, theirs = match(columns[0], orders[0], columns[1], orders[1])
    queues: dict[tuple[int, int, int], list[list[int]]] = defaultdict(lambda: [[], []])
    for side, rows in enumerate((sends, receives)):
        for row in np.argsort(orders[side]).tolist():
            queues[rows[row]][side].append(row)
    expected = {pair for mine, other in queues.values() for pair in zip(mine, other, strict=False)}
    assert set(zip(ours.tolist(), theirs.tolist(), strict=True)) == expected
    assert len(ours) == len(expected)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def example() -> Communication:
    """Locations 4 and 2, recorded 0..100: a message from 4 (call at 10) to 2 (call 5..20), then a barrier at 40 and 60 to 70."""
    calls = Calls(
        np.array([4, 4, 2, 2], dtype=np.int32), numbers(10, 40, 5, 60), numbers(12, 70, 20, 70), np.array([1, 2, 3, 2])
    )
    return ordered(
        (np.array([2, 4], dtype=np.int32), numbers(0, 0), numbers(100, 100)),
        calls,
        Messages(numbers(0), numbers(0), numbers(2), numbers(2), numbers(64), numbers(7)),
        Collectives(numbers(0, 0), numbers(1, 3), numbers(1, 3), np.array([False, False]), np.array([Meeting.ALL])),
        3,
    )


def test_calls_are_sorted_and_numbers_follow() -> None:
    told = example()
    assert told.calls.location.tolist() == [2, 2, 4, 4]
    assert told.calls.start.tolist() == [5, 60, 10, 40]
    assert (told.messages.sent.tolist(), told.messages.received.tolist()) == ([2], [0])
    assert told.collectives.begun.tolist() == [3, 1]
    assert (told.first.tolist(), told.of_call.tolist()) == ([0, 2, 4], [0, 0, 1, 1])
    assert (told.between.tolist(), told.after.tolist()) == ([5, 40, 10, 28], [30, 30])


def test_a_part_is_cut_at_its_edges() -> None:
    part = example().within(numbers(11, 11), numbers(65, 55))
    assert (part.begin.tolist(), part.end.tolist()) == ([11, 11], [65, 55])
    assert part.calls.start.tolist() == [11, 60, 11, 40]
    assert part.calls.end.tolist() == [20, 65, 12, 55]
    assert part.messages.sent.tolist() == [2]
    assert (part.after.tolist(), part.unmatched) == ([0, 0], 3)


def test_what_connects_to_a_call_outside_a_part_has_none_there() -> None:
    part = example().within(numbers(15, 15), numbers(100, 50))
    assert part.calls.location.tolist() == [2, 2, 4]
    assert (part.messages.sent.tolist(), part.messages.received.tolist()) == ([NO_CALL], [0])
    assert part.collectives.begun.tolist() == [2, 1]
    empty = example().within(numbers(90, 90), numbers(95, 95))
    assert (len(empty.calls), len(empty.messages), len(empty.collectives.begun)) == (0, 0, 0)
    assert (empty.between.tolist(), empty.after.tolist()) == ([], [5, 5])
    assert example().within(numbers(200, 0), numbers(300, 100)).end.tolist()[0] >= 100


def test_in_another_profile_locations_and_nodes_have_other_numbers() -> None:
    row, node = np.array([0, 0, 9, 0, 1], dtype=np.int32), np.array([5, 6, 7, 8, -1], dtype=np.int32)
    moved = example().moved(row, node)
    assert moved.member.tolist() == [1, 9]
    assert moved.calls.location.tolist() == [1, 1, 9, 9]
    assert moved.calls.start.tolist() == [10, 40, 5, 60]
    assert moved.calls.node.tolist() == [6, 7, 8, 7]
    assert (moved.messages.sent.tolist(), moved.messages.received.tolist()) == ([0], [2])
