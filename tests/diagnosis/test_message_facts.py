"""POP's efficiencies, critical paths and late ranks of traced programs, against how the programs were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.efficiency import Efficiency, of_ranks, on_ideal_network
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.message_facts import MessageFacts
from chathpc.diagnosis.parallel_facts import parallel_evidence
from chathpc.diagnosis.path_facts import path_facts
from chathpc.diagnosis.wait_states import COLLECTIVES, POINT_TO_POINT, Pattern
from chathpc.profile.location import Locations
from chathpc.profile.messages import Messages
from chathpc.profile.profile import Profile
from tests.diagnosis.mpi_traces import profile_of
from tests.diagnosis.test_replay import Programs, networks, programs
from tests.synthetic.mpi_program import IDEAL, Network, Step, simulate


def told(made: Mapping[int, Sequence[Step]], network: Network = IDEAL) -> MessageFacts:
    found = Facts(profile_of(simulate(made, network))).messages
    assert found is not None
    return found


def efficiency(made: Mapping[int, Sequence[Step]], network: Network = IDEAL) -> Efficiency:
    found = told(made, network).efficiency
    assert found is not None
    return found


def steps(profile: Profile) -> list[str]:
    return [each.statement for each in (*parallel_evidence(Facts(profile)), *path_facts(Facts(profile)).evidence)]


def repeated(count: int, step: Mapping[int, Sequence[Step]]) -> Programs:
    return {rank: [each for _ in range(count) for each in own] for rank, own in step.items()}


def pipeline(ranks: int, work: int) -> Programs:
    """Each rank works when the one before is done, and then all meet."""
    return {
        rank: [
            *([("recv", rank - 1, 8)] if rank else []),
            ("compute", "work", work),
            *([("send", rank + 1, 8)] if rank < ranks - 1 else []),
            ("collective", "BARRIER", None, 0),
        ]
        for rank in range(ranks)
    }


# -- efficiencies ----------------------------------------------------------------------------------------------


def test_communication_is_split_as_pop_defines_it() -> None:
    # Useful 6 and 8 of 12, and 9 on an ideal network.
    found = of_ranks(np.array([6.0, 8.0]), np.array([12.0, 12.0]))
    assert found is not None
    split = on_ideal_network(found, 9.0)
    assert (split.serialisation, split.transfer) == pytest.approx((8 / 9, 9 / 12))
    assert split.waiting == pytest.approx(8 / 12)
    for wrong in (7.9, 12.1):
        with pytest.raises(ValueError, match="between"):
            on_ideal_network(found, wrong)


def test_a_balanced_program_without_waits_is_fully_efficient() -> None:
    made: Programs = {rank: [("compute", "f", 50), ("collective", "ALLREDUCE", None, 8)] * 3 for rank in range(4)}
    found = efficiency(made)
    assert (found.balance, found.serialisation, found.transfer, found.parallel) == (1, 1, 1, 1)


def test_a_pipeline_loses_by_serialisation_alone() -> None:
    found = efficiency(pipeline(4, 100))
    assert (found.balance, found.serialisation, found.transfer) == pytest.approx((1, 1 / 4, 1))


def test_a_slow_network_loses_by_transfer_alone() -> None:
    ring: Programs = {
        rank: [("compute", "f", 60), ("irecv", (rank - 1) % 3, 10), ("isend", (rank + 1) % 3, 10), ("waitall",)]
        for rank in range(3)
    }
    found = efficiency(ring, Network(latency=10, per_byte=3.0))  # 40 for each message
    assert (found.balance, found.serialisation, found.transfer) == pytest.approx((1, 1, 60 / 100))


def test_unequal_work_loses_by_load_balance_alone() -> None:
    made: Programs = {
        rank: [("compute", "f", work), ("collective", "ALLREDUCE", None, 8)] for rank, work in enumerate((20, 40, 60))
    }
    found = efficiency(made)
    assert (found.balance, found.serialisation, found.transfer) == pytest.approx((40 / 60, 1, 1))


@settings(max_examples=120, deadline=None)
@given(programs(), networks)
def test_efficiencies_are_shares_whose_product_is_the_parallel_efficiency(made: Programs, network: Network) -> None:
    facts = Facts(profile_of(simulate(made, network))).messages
    assume(facts is not None)
    assert facts is not None
    found = facts.efficiency
    if found is None:
        assert not facts.useful.any()
        return
    assert found.serialisation is not None
    assert found.transfer is not None
    parts = (found.balance, found.serialisation, found.transfer)
    assert all(0 < each <= 1 for each in parts)
    assert found.parallel == pytest.approx(np.prod(parts))
    assert found.parallel == pytest.approx(facts.useful.sum() / (found.count * found.elapsed))


@settings(max_examples=80, deadline=None)
@given(programs())
def test_latency_lowers_transfer_and_nothing_else(made: Programs) -> None:
    near, far = (Facts(profile_of(simulate(made, Network(latency=ticks)))).messages for ticks in (0, 5))
    assume(near is not None and near.efficiency is not None and near.efficiency.transfer is not None)
    assert near is not None
    assert far is not None
    assert near.efficiency is not None
    assert far.efficiency is not None
    assert far.efficiency.balance == pytest.approx(near.efficiency.balance)
    assert far.efficiency.serialisation == pytest.approx(near.efficiency.serialisation)
    assert far.efficiency.transfer is not None
    assert near.efficiency.transfer == 1
    assert far.efficiency.transfer <= 1


# -- what counts -----------------------------------------------------------------------------------------------


def test_starting_and_ending_mpi_do_not_count() -> None:
    own = simulate({0: [("compute", "f", 30)], 1: [("compute", "f", 50)]})
    events = {
        rank: [
            (0, "enter", "main"), (0, "enter", "MPI_Init"), (1000, "leave", "MPI_Init"),
            *((at + 1000, what, given) for at, what, given in own[rank][1:-1]),
            (1050, "enter", "MPI_Finalize"), (2000, "leave", "MPI_Finalize"), (2000, "leave", "main"),
        ]
        for rank in own
    }  # fmt: skip
    found = Facts(profile_of(events)).messages
    assert found is not None
    assert found.elapsed == pytest.approx(50e-6)
    assert found.useful == pytest.approx([50e-6, 50e-6])  # from the end of one to the beginning of the other
    assert found.in_mpi == 0


def test_a_program_of_one_rank_and_threads_that_call_mpi_are_not_told() -> None:
    assert Facts(profile_of(simulate({0: [("compute", "f", 9), ("collective", "BARRIER", None, 0)]}))).messages is None
    profile = profile_of(simulate(pipeline(2, 10)))
    threads = Locations.of(2, rank=np.array([0, 0]), thread=np.array([0, 1]))
    assert Facts(replace(profile, where=threads)).messages is None


def test_the_steady_state_has_efficiencies_of_its_own() -> None:
    # Start-up on rank 0 alone takes as long as the rest, in which both do the same.
    made: Programs = {0: [("compute", "read", 1000)], 1: []}
    for rank in made:
        made[rank] += [("collective", "BARRIER", None, 0)]
        made[rank] += [("compute", "work", 20), ("collective", "ALLREDUCE", None, 8)] * 150
    events = simulate(made)
    # The phases are those of the rank that was recorded most often, so rank 0 has some more regions.
    events[0][1:3] = [(at, what, "read") for n in range(20) for at, what in ((50 * n, "enter"), (50 * n + 50, "leave"))]
    statements = [each for each in steps(profile_of(events)) if "(POP)" in each]
    assert statements == [
        "The parallel efficiency of 2 ranks (POP) is 87.5 % = load balance 87.5 % × communication 100 %.",
        "The communication efficiency of 2 ranks (POP) is 100 % = serialisation 100 % × transfer 100 %.",
        "The parallel efficiency of 2 ranks in the 3.00 ms of steady state (POP) is 100 % = load balance 100 % × communication 100 %.",
        "The communication efficiency of 2 ranks in the 3.00 ms of steady state (POP) is 100 % = serialisation 100 % × transfer 100 %.",
    ]


def test_of_a_trace_that_was_cut_it_is_said() -> None:
    profile = profile_of(simulate(repeated(40, pipeline(2, 1000))), is_whole=False)
    statements = steps(profile)
    assert (
        "of 2 ranks in the first 80.0 ms of the trace (POP) is 50.0 % = load balance 100 % × communication 50.0 %, below the 80.0 % that POP recommends."
        in statements[0]
    )
    assert "of the 80.0 ms of the trace's beginning (100 %): work 100 %" in statements[-1]
    # What the rules say is about the whole run, and rests on its sums.
    summary = diagnose(profile).findings[0].summary
    assert "for late ranks" not in summary


# -- critical path ---------------------------------------------------------------------------------------------


def test_the_critical_path_leads_through_messages() -> None:
    # 10 of pack on rank 0, then 30 of solve on rank 1, while rank 0 does 5 of log; messages take 4.
    made: Programs = {
        0: [("compute", "pack", 10_000), ("send", 1, 8), ("compute", "log", 5_000)],
        1: [("compute", "read", 2_000), ("recv", 0, 8), ("compute", "solve", 30_000)],
    }
    profile = profile_of(simulate(made, Network(latency=4_000)))
    found = path_facts(Facts(profile))
    assert [each.statement for each in found.evidence] == [
        "The critical path takes 40.0 ms of the 44.0 ms of the trace (90.9 %): solve 75.0 %, pack 25.0 %, of "
        "which on rank 1 75.0 %. Work off this path costs no time."
    ]
    assert found.note == ""
    slow = path_facts(Facts(profile_of(simulate(made, Network(latency=10_000)))))
    assert slow.evidence[0].statement.endswith(
        "of which on rank 1 75.0 %, messages and collectives on their way 10.0 ms. Work off this path costs no time."
    )


def test_clocks_that_disagree_are_told() -> None:
    made: Programs = {0: [("compute", "f", 5_000), ("send", 1, 8)], 1: [("recv", 0, 8), ("compute", "g", 9_000)]}
    events = simulate(made)
    events[1] = [(max(at - 2_000, 0), what, given) for at, what, given in events[1]]
    found = path_facts(Facts(profile_of(events)))
    assert found.note.startswith("1 of 1 messages arrive before they are sent: the clocks of the ranks disagree")


def test_calls_that_wait_in_a_circle_have_no_path() -> None:
    made: Programs = {0: [("send", 1, 8), ("recv", 1, 8)], 1: [("send", 0, 8), ("recv", 0, 8)]}
    made = {rank: [("compute", "f", 5_000), *own, ("compute", "f", 5_000)] for rank, own in made.items()}
    profile = profile_of(simulate(made))
    timeline = profile.timeline
    assert timeline is not None
    assert timeline.communication is not None
    m = timeline.communication.messages
    crossed = Messages(m.received, m.received, m.sent, m.sent, m.bytes, m.tag)
    broken = replace(timeline, communication=replace(timeline.communication, messages=crossed))
    facts = Facts(replace(profile, read_timeline=lambda: broken))
    assert facts.messages is not None
    assert facts.messages.played is None
    assert facts.messages.efficiency is not None
    assert facts.messages.efficiency.transfer is None
    assert "in a way that is impossible in a real run" in path_facts(facts).note


# -- late ranks ------------------------------------------------------------------------------------------------


def test_who_is_late_and_what_it_does_meanwhile() -> None:
    # Ranks 1 and 2 wait from 4 to 10 for rank 0, which is in pack from 3 on.
    made: Programs = {
        0: [("compute", "solve", 3), ("compute", "pack", 7), ("send", 1, 8), ("send", 2, 8)],
        1: [("compute", "solve", 4), ("recv", 0, 8)],
        2: [("compute", "solve", 2), ("recv", 0, 8)],
    }
    facts = told(made)
    assert facts.waited(Pattern.LATE_SENDER) == pytest.approx(14e-6)
    found = facts.delay(*POINT_TO_POINT)
    assert found.by_member == pytest.approx([14e-6, 0, 0])
    names = facts.facts.label_names
    assert {names[i]: spent * 1e6 for i, spent in enumerate(found.by_label) if spent} == pytest.approx(
        {"solve": 1, "pack": 13}
    )
    assert found.in_mpi == pytest.approx(0)
    assert [facts.name(0), facts.name(2)] == ["rank 0", "rank 2"]


def test_waiting_for_one_who_waits_is_passed_on() -> None:
    # Rank 2 is at the barrier at 0 and waits until 20: 10 for rank 0's work that rank 1 waits for, 10 for rank 1's.
    made: Programs = {
        0: [("compute", "f", 10), ("send", 1, 8), ("collective", "BARRIER", None, 0)],
        1: [("recv", 0, 8), ("compute", "f", 10), ("collective", "BARRIER", None, 0)],
        2: [("collective", "BARRIER", None, 0)],
    }
    facts = told(made)
    assert facts.waited(*COLLECTIVES) == pytest.approx(30e-6)
    assert facts.passed_on(COLLECTIVES, POINT_TO_POINT) == pytest.approx(10e-6)
    assert facts.passed_on(POINT_TO_POINT, COLLECTIVES) == 0
    assert facts.delay(*COLLECTIVES).in_mpi == pytest.approx(10e-6)


@settings(max_examples=80, deadline=None)
@given(programs(), networks)
def test_calls_are_waiting_and_the_rest(made: Programs, network: Network) -> None:
    facts = Facts(profile_of(simulate(made, network))).messages
    assume(facts is not None)
    assert facts is not None
    assert facts.at_node.sum() + facts.waited(*Pattern) == pytest.approx(facts.in_mpi)
    assert facts.waited_at(*Pattern).sum() == pytest.approx(facts.waited(*Pattern))
    assert facts.at_node.min() >= -1e-12
    found = facts.delay(*Pattern)
    assert found.by_label.sum() + found.in_mpi <= found.by_member.sum() * (1 + 1e-9) + 1e-12
