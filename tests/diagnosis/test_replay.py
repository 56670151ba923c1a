"""The replay on an ideal network against arithmetic, against a simulation of the same program, and against a search of all chains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chathpc.diagnosis.critical_path import Dependencies, Work, critical_path
from chathpc.diagnosis.wait_states import path, replay, synchronous
from chathpc.profile.messages import Calls, Collectives, Communication, Meeting, Messages
from tests.diagnosis.mpi_traces import TICK, communication_of
from tests.synthetic.mpi_program import IDEAL, Network, Step, simulate

Programs = dict[int, list[Step]]


def played(programs: Programs, network: Network = IDEAL, begin: dict[int, int] | None = None) -> Any:
    told = communication_of(simulate(programs, network, begin=begin))
    found = replay(told)
    assert found is not None
    return told, found


# -- by hand ---------------------------------------------------------------------------------------------------


def test_a_receive_ends_when_the_message_is_sent() -> None:
    # Rank 0 computes 10 and sends; the message takes 2; rank 1 waits for it, and computes 5; the reduction takes 1.
    programs: Programs = {
        0: [("compute", "f", 10), ("send", 1, 8), ("collective", "ALLREDUCE", None, 8)],
        1: [("recv", 0, 8), ("compute", "g", 5), ("collective", "ALLREDUCE", None, 8)],
    }
    told, found = played(programs, Network(latency=2, transfer=1))
    assert (found.enter // TICK).tolist() == [10, 10, 0, 15]
    assert (found.leave // TICK).tolist() == [10, 15, 10, 15]
    assert found.length == 15 * TICK
    assert found.awaited.tolist() == [0, 3, 0, 3]
    # The chain: f on rank 0 until it sends, then g on rank 1 (from 12 to 17 in the trace).
    steps = [(step.lane, step.begin // TICK, step.end // TICK) for step in path(told, found)]
    assert [step for step in steps if step[2] > step[1]] == [(0, 0, 10), (1, 12, 17)]


def test_a_message_that_was_sent_before_is_not_waited_for() -> None:
    programs: Programs = {0: [("send", 1, 8), ("compute", "f", 9)], 1: [("compute", "g", 6), ("recv", 0, 8)]}
    _, found = played(programs, Network(latency=50))
    assert (found.end // TICK).tolist() == [9, 6]


@pytest.mark.parametrize(
    ("operation", "root", "ends"),
    [("ALLREDUCE", None, [7, 7, 7]), ("BCAST", 1, [4, 4, 7]), ("REDUCE", 0, [7, 4, 7]), ("GATHER", 1, [1, 7, 7])],
)
def test_a_collective_waits_for_those_that_it_needs(operation: str, root: int | None, ends: list[int]) -> None:
    programs: Programs = {
        rank: [("compute", "f", work), ("collective", operation, root, 8)] for rank, work in enumerate((1, 4, 7))
    }
    _, found = played(programs, Network(transfer=3))
    assert (found.end // TICK).tolist() == ends


def test_a_sender_that_was_seen_to_wait_waits() -> None:
    programs: Programs = {0: [("send", 1, 8), ("compute", "f", 5)], 1: [("compute", "g", 10), ("recv", 0, 8)]}
    told, found = played(programs, Network(rendezvous=True, latency=3))
    assert synchronous(told).tolist() == [True]
    assert (found.end // TICK).tolist() == [15, 10]
    _, eager = played(programs, Network(latency=3))
    assert (eager.end // TICK).tolist() == [5, 10]


def test_requests_are_waited_for_where_they_are_completed() -> None:
    programs: Programs = {
        0: [("irecv", 1, 8), ("compute", "f", 3), ("waitall",), ("compute", "f", 1)],
        1: [("compute", "g", 8), ("isend", 0, 8), ("compute", "g", 2), ("waitall",)],
    }
    _, found = played(programs, Network(latency=4))
    assert (found.end // TICK).tolist() == [9, 10]


def test_ranks_begin_when_they_began() -> None:
    programs: Programs = {0: [("compute", "f", 5), ("send", 1, 8)], 1: [("recv", 0, 8)]}
    _, found = played(programs, begin={0: 100, 1: 40})
    assert (found.end // TICK).tolist() == [65, 65]


def test_calls_that_wait_for_each_other_in_a_circle_are_no_run() -> None:
    # Each rank first receives what the other sends only afterwards.
    time = np.array([0, 10, 0, 10], dtype=np.int64)
    columns = [np.array(each, dtype=np.int64) for each in ((1, 3), (1, 3), (2, 0), (2, 0), (8, 8), (0, 0))]
    empty = np.zeros(0, dtype=np.int64)
    told = Communication(
        np.array([0, 1], dtype=np.int32),
        np.zeros(2, dtype=np.int64),
        np.full(2, 20, dtype=np.int64),
        Calls(np.array([0, 0, 1, 1], dtype=np.int32), time, time + 5, np.zeros(4, dtype=np.int32)),
        Messages(*columns),
        Collectives(empty, empty, empty, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.uint8)),
    )
    assert replay(told) is None


# -- random programs -------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> Programs:
    """Ranks that compute, exchange messages in an order in which nobody waits for ever, and meet in collectives."""
    ranks = draw(st.integers(2, 4))
    made: Programs = {rank: [] for rank in range(ranks)}
    for _ in range(draw(st.integers(1, 7))):
        for rank in range(ranks):
            if draw(st.booleans()):
                made[rank].append(("compute", draw(st.sampled_from("fgh")), draw(st.integers(1, 9))))
        what = draw(st.sampled_from(("message", "requests", "ALLREDUCE", "BCAST", "REDUCE")))
        if what in ("message", "requests"):
            source, target = draw(st.permutations(range(ranks)))[:2]
            if what == "message":
                made[source].append(("send", target, 8))
                made[target].append(("recv", source, 8))
            else:
                made[target].append(("irecv", source, 8))
                made[source].append(("isend", target, 8))
                made[target] += [("compute", "f", draw(st.integers(1, 5))), ("waitall",)]
                made[source].append(("waitall",))
        else:
            root = None if what == "ALLREDUCE" else draw(st.integers(0, ranks - 1))
            for rank in range(ranks):
                made[rank].append(("collective", what, root, 8))
    return made


networks = st.builds(
    Network,
    latency=st.integers(0, 6),
    per_byte=st.sampled_from((0.0, 0.5)),
    transfer=st.integers(0, 4),
    overhead=st.integers(0, 3),
)


def edges_of(told: Communication) -> list[tuple[int, int]]:
    """(call that must have begun, call that may end then), one by one as the definitions say."""
    m, c = told.messages, told.collectives
    found = list(zip(m.sent.tolist(), m.received.tolist(), strict=True))
    found += [(int(m.posted[i]), int(m.sent_done[i])) for i in np.flatnonzero(synchronous(told))]
    for one in range(len(c.instance)):
        for other in range(len(c.instance)):
            if c.instance[one] == c.instance[other] and one != other:
                kind = c.meeting[c.instance[one]]
                if (
                    kind == Meeting.ALL
                    or (kind == Meeting.FROM_ROOT and c.is_root[one])
                    or (kind == Meeting.TO_ROOT and c.is_root[other])
                ):
                    found.append((int(c.begun[one]), int(c.done[other])))
    return found


def longest_by_search(told: Communication) -> int:
    """The longest of all chains of computing, each tried."""
    edges, gap, first = edges_of(told), told.between.tolist(), told.first.tolist()
    of_call = told.of_call.tolist()

    def begins(call: int) -> int:
        before = ends(call - 1) if call > first[of_call[call]] else int(told.begin[of_call[call]] - told.begin.min())
        return before + gap[call]

    def ends(call: int) -> int:
        return max([begins(call), *(begins(need) for need, target in edges if target == call)])

    last = [
        (ends(first[rank + 1] - 1) if first[rank + 1] > first[rank] else int(told.begin[rank] - told.begin.min()))
        for rank in range(len(told.member))
    ]
    return max(end + rest for end, rest in zip(last, told.after.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(programs(), networks)
def test_the_replay_is_the_longest_of_all_chains(made: Programs, network: Network) -> None:
    told = communication_of(simulate(made, network))
    found = replay(told)
    assert found is not None
    assert found.length == longest_by_search(told)


@settings(max_examples=150, deadline=None)
@given(programs(), networks)
def test_the_replay_is_what_the_program_takes_on_an_ideal_network(made: Programs, network: Network) -> None:
    events = simulate(made, network)
    told, ideal = communication_of(events), simulate(made, IDEAL)
    found = replay(told)
    assert found is not None
    measured = max(each[-1][0] for each in events.values())
    if not synchronous(
        told
    ).any():  # what was seen to wait for its receiver waits in the replay, and not in the simulation
        ends = {row: ideal[row][-1][0] for row in told.member.tolist()}
        assert found.end.tolist() == [ends[row] * TICK for row in told.member.tolist()]
    assert found.length <= measured * TICK


# The graph knows calls by their times alone: a message that takes no time at all leaves open which of two of the same moment came first.
@settings(max_examples=100, deadline=None)
@example(
    {
        0: [("compute", "f", 1), ("send", 1, 8)],
        1: [("recv", 0, 8), ("send", 2, 8)],
        2: [("recv", 1, 8), ("compute", "f", 1)],
    },
    Network(latency=1, per_byte=0.0, overhead=0, transfer=0, rendezvous=False),
)
@given(programs(), networks.filter(lambda network: network.latency > 0))
def test_the_path_is_as_long_as_the_replay_and_that_of_a_graph(made: Programs, network: Network) -> None:
    told = communication_of(simulate(made, network))
    found = replay(told)
    assert found is not None
    steps = path(told, found)
    works, of_call, edges = [], told.of_call, edges_of(told)
    for number in range(len(told.member)):
        mine = of_call == number
        start = np.append(told.begin[number], told.calls.end[mine])
        end = np.append(told.calls.start[mine], told.end[number])
        works.append(Work(start[end > start], end[end > start], np.zeros(int((end > start).sum()), dtype=np.int32)))
    rows = told.member.tolist()
    spent = 0
    for step in steps:
        work = works[rows.index(step.lane)]
        spent += int((np.minimum(work.end, step.end) - np.maximum(work.start, step.begin)).clip(min=0).sum())
    assert spent == found.length
    need, target = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))
    graph = Dependencies(
        of_call[need].astype(np.int32), told.calls.start[need], of_call[target].astype(np.int32), told.calls.end[target]
    )
    length = critical_path(works, graph).length
    # A graph of times cannot tell that what leaves a lane at the instant at which something arrives there needed that: it may be shorter.
    tied = any(
        np.intersect1d(graph.done[graph.source == lane], graph.at[graph.into == lane]).size
        for lane in range(len(works))
    )
    assert length <= found.length if tied else length == found.length
