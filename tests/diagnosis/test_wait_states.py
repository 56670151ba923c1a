"""Waiting by Scalasca's patterns: each by hand, and all against one call looked at after the other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from chathpc.diagnosis.wait_states import COLLECTIVES, POINT_TO_POINT, Pattern, waits
from chathpc.profile.messages import Communication, Meeting
from tests.diagnosis.mpi_traces import TICK, communication_of
from tests.diagnosis.test_replay import Programs, networks, programs
from tests.synthetic.mpi_program import IDEAL, Network, simulate


def waited(made: Programs, network: Network = IDEAL) -> dict[Pattern, int]:
    found = waits(communication_of(simulate(made, network)))
    return {kind: found.spent(kind) // TICK for kind in Pattern if found.spent(kind)}


def test_a_late_sender_keeps_its_receiver_until_it_sends() -> None:
    # 0..10 nothing is sent; from 10 to 13 the message travels: that is no waiting for the sender.
    made: Programs = {0: [("compute", "f", 10), ("send", 1, 8)], 1: [("compute", "g", 4), ("recv", 0, 8)]}
    assert waited(made, Network(latency=3)) == {Pattern.LATE_SENDER: 6}


def test_a_late_receiver_keeps_a_sender_that_waits_for_it() -> None:
    made: Programs = {0: [("compute", "f", 2), ("send", 1, 8)], 1: [("compute", "g", 9), ("recv", 0, 8)]}
    assert waited(made, Network(latency=3, rendezvous=True)) == {Pattern.LATE_RECEIVER: 7}
    assert waited(made, Network(latency=3)) == {}


@pytest.mark.parametrize(
    ("operation", "root", "expected"),
    [
        ("ALLREDUCE", None, {Pattern.COLLECTIVE: 6 + 3}),
        ("BCAST", 1, {Pattern.LATE_ROOT: 3}),
        ("REDUCE", 0, {Pattern.EARLY_ROOT: 6}),
        ("REDUCE", 2, {}),
    ],
)
def test_in_collectives_those_wait_who_need_others(
    operation: str, root: int | None, expected: dict[Pattern, int]
) -> None:
    made: Programs = {
        rank: [("compute", "f", work), ("collective", operation, root, 8)] for rank, work in enumerate((1, 4, 7))
    }
    assert waited(made, Network(transfer=5)) == expected


def test_the_longest_of_several_waits_in_a_call_counts() -> None:
    made: Programs = {
        0: [("irecv", 1, 8), ("irecv", 2, 8), ("waitall",)],
        1: [("compute", "f", 5), ("send", 0, 8)],
        2: [("compute", "f", 9), ("send", 0, 8)],
    }
    told = communication_of(simulate(made, IDEAL))
    found = waits(told)
    assert (found.length // TICK).tolist() == [9]
    assert told.calls.location[found.late].tolist() == [2]


def one_by_one(told: Communication) -> dict[int, int]:
    """Nanoseconds of waiting of each call, by the definitions."""
    calls, m, c = told.calls, told.messages, told.collectives
    start, end = calls.start.tolist(), calls.end.tolist()
    found: dict[int, int] = {}

    def note(call: int, other: int) -> None:
        spent = min(start[other], end[call]) - start[call]
        if spent > 0:
            found[call] = max(found.get(call, 0), spent)

    for i in range(len(m)):
        note(int(m.received[i]), int(m.sent[i]))
        done, posted = int(m.sent_done[i]), int(m.posted[i])
        if start[done] < start[posted] <= end[done]:
            note(done, posted)
    for i in range(len(c.instance)):
        kind = Meeting(int(c.meeting[c.instance[i]]))
        for j in range(len(c.instance)):
            if c.instance[i] == c.instance[j] and (
                kind == Meeting.ALL
                or (kind == Meeting.FROM_ROOT and c.is_root[j] and not c.is_root[i])
                or (kind == Meeting.TO_ROOT and c.is_root[i] and not c.is_root[j])
            ):
                note(int(c.done[i]), int(c.begun[j]))
    return found


@settings(max_examples=150, deadline=None)
@given(programs(), networks)
def test_waiting_is_what_each_call_on_its_own_shows(made: Programs, network: Network) -> None:
    told = communication_of(simulate(made, network))
    found = waits(told)
    assert dict(zip(found.call.tolist(), found.length.tolist(), strict=True)) == one_by_one(told)
    assert found.spent(*POINT_TO_POINT) + found.spent(*COLLECTIVES) == found.length.sum()
    assert bool((found.length <= (told.calls.end - told.calls.start)[found.call]).all())
