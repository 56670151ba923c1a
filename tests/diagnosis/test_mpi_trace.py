"""Findings of traced MPI programs: each program has one fault by construction."""

from __future__ import annotations

from chathpc.diagnosis.records import Diagnosis, Verdict
from tests.diagnosis.mpi_traces import profile_of
from tests.diagnosis.parts import diagnosed, finding, statements
from tests.diagnosis.test_message_facts import pipeline, repeated
from tests.diagnosis.test_replay import Programs
from tests.synthetic.mpi_program import IDEAL, Network, simulate

#: Ticks (µs) of a millisecond.
MS = 1000


def found(made: Programs, network: Network = IDEAL) -> Diagnosis:
    return diagnosed(profile_of(simulate(made, network)))


def causes(diagnosis: Diagnosis) -> list[str]:
    return [each.cause for each in diagnosis.findings]


def within(function: str, *steps: tuple) -> list[tuple]:  # type: ignore[type-arg]
    return [("enter", function), *steps, ("leave", function)]


def test_ranks_that_take_turns_wait_for_late_senders() -> None:
    # Rank 0 packs, sends and is done; then rank 1 does the same while rank 0 waits. Both compute 12 ms a step.
    made = repeated(25, {
        0: within("step", ("compute", "pack", 10 * MS), ("send", 1, 800), ("compute", "rest", 2 * MS), ("recv", 1, 800)),
        1: within("step", ("recv", 0, 800), ("compute", "pack", 10 * MS), ("compute", "rest", 2 * MS), ("send", 0, 800)),
    })  # fmt: skip
    diagnosis = found(made, Network(latency=20))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function) == ("mpi-late-sender", "step")
    # Each step: rank 1 waits 10 ms for pack, then rank 0 waits from 12 until 22 ms (and 20 µs).
    assert abs(first.share - 20.02 / 44.08) < 0.001
    told = statements(diagnosis, "mpi-late-sender")
    assert told[0].startswith("MPI on 2 ranks takes 502 ms of 1.10 s")
    assert told[1] == "The computing time of the busiest rank is 1.00 times the mean."
    assert told[2].startswith("Waiting for late ranks takes 501 ms of the 502 ms of MPI time (99.")
    assert told[3].startswith(
        "Waiting for any one rank at most takes 251 ms of the 501 ms of waiting for late ranks (50.0 %)"
    )
    # Rank 1 waits 10.02 ms, 10 of them for pack; rank 0 as long, 8.02 of them for pack: 18.02 / 20.04.
    assert "meanwhile pack 89.9 %" in told[3]
    assert told[4] == "Calls from step (heat.c:7) take 501 ms of the 501 ms of waiting for late ranks (100 %)."
    assert diagnosis.verdict == Verdict.BOTTLENECK


def test_another_rank_is_late_at_each_collective() -> None:
    made: Programs = {
        rank: [
            step
            for number in range(60)
            for step in within(
                "loop",
                ("compute", "work", (20 if number % 4 == rank else 10) * MS),
                ("collective", "ALLREDUCE", None, 8),
            )
        ]
        for rank in range(4)
    }
    diagnosis = found(made, Network(transfer=5))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function, round(first.share, 3)) == ("mpi-collective-wait", "loop", 0.375)
    assert (
        "Waiting for late ranks takes 1.80 s of the 1.80 s of MPI time (99.9 %): in collectives until the last rank arrives 1.80 s."
        in statements(diagnosis, first.cause)
    )


def test_a_rank_that_always_has_more_to_do_is_an_imbalance() -> None:
    made: Programs = {
        rank: within("loop", ("compute", "work", (10 + 3 * rank) * MS), ("collective", "ALLREDUCE", None, 8)) * 40
        for rank in range(4)
    }
    diagnosis = found(made, Network(transfer=5))
    assert diagnosis.findings[0].cause == "mpi-load-imbalance"
    told = statements(diagnosis, "mpi-load-imbalance")
    assert (
        "Waiting for rank 3 takes 720 ms of the 720 ms of waiting for late ranks (100 %): meanwhile work 100 %." in told
    )


def test_data_on_its_way_is_no_waiting_for_anybody() -> None:
    made: Programs = {
        rank: within(
            "swap",
            ("compute", "work", 10 * MS),
            ("irecv", (rank - 1) % 4, 10**6),
            ("isend", (rank + 1) % 4, 10**6),
            ("waitall",),
        )
        * 50
        for rank in range(4)
    }
    diagnosis = found(made, Network(latency=2, per_byte=0.008))
    assert causes(diagnosis)[0] == "mpi-communication-bound"
    assert not {"mpi-late-sender", "mpi-collective-wait", "mpi-load-imbalance"} & set(causes(diagnosis))
    first = finding(diagnosis, "mpi-communication-bound")
    assert (first.where.function, round(first.share, 3)) == ("swap", round(8002 / 18002, 3))
    assert "The data sent in messages is 200 MB: 200 messages, each on average 1.00 MB." in statements(
        diagnosis, first.cause
    )


def test_collectives_that_move_much_data_are_communication() -> None:
    made: Programs = {
        rank: within("turn", ("compute", "work", 10 * MS), ("collective", "ALLTOALL", None, 10**6)) * 40
        for rank in range(3)
    }
    diagnosis = found(made, Network(transfer=5 * MS))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function, round(first.share, 4)) == ("mpi-communication-bound", "turn", 0.3333)
    assert first.against == ()
    assert not any("messages carry" in each for each in statements(diagnosis, first.cause))


def test_clocks_that_disagree_speak_against_a_finding() -> None:
    made = repeated(30, {
        0: within("step", ("compute", "pack", 10 * MS), ("send", 1, 800), ("recv", 1, 800)),
        1: within("step", ("recv", 0, 800), ("compute", "pack", 10 * MS), ("send", 0, 800)),
    })  # fmt: skip
    events = simulate(made, Network(latency=20))
    events[1] = [(at + 500, what, given) for at, what, given in events[1]]  # half a millisecond ahead
    first = diagnosed(profile_of(events)).findings[0]
    assert first.cause == "mpi-late-sender"
    assert first.against[0].startswith("30 of 60 messages arrive before they are sent")


def test_a_pipeline_is_late_senders_and_the_barrier_after_it_is_their_doing() -> None:
    made: Programs = {rank: within("sweep", *steps) for rank, steps in pipeline(4, 100 * MS).items()}
    diagnosis = found(repeated(3, made))
    first, second = (finding(diagnosis, name) for name in ("mpi-late-sender", "mpi-collective-wait"))
    assert diagnosis.findings[0] == first
    # Of 3 × 4 × 400 ms: receives wait 100 + 200 + 300, the barrier as long, half of that for ranks in a receive.
    assert (round(first.share, 4), round(second.share, 4)) == (0.5625, 0.1875)
    assert first.summary == (
        "The ranks wait 37.5 % of their time in point-to-point calls from sweep (heat.c:7) for late ranks, and 18.7 % more in "
        "collectives because of it, though each computes about the same in all."
    )
    assert (
        "in collective calls from sweep (heat.c:7) for late ranks (18.7 % because these wait in messages)"
        in second.summary
    )
    assert (
        "Waiting in collectives for ranks that come late from messages takes 900 ms of the 1.80 s of waiting in collectives (50.0 %)."
        in statements(diagnosis, "mpi-collective-wait")
    )
    assert "Waiting in collectives for ranks that come late from messages takes 900 ms." in statements(
        diagnosis, "mpi-late-sender"
    )


def test_an_even_program_blames_nothing() -> None:
    made: Programs = {
        rank: within("loop", ("compute", "work", 10 * MS), ("collective", "ALLREDUCE", None, 8)) * 60
        for rank in range(4)
    }
    diagnosis = found(made, Network(transfer=20))
    assert diagnosis.verdict == Verdict.HOT_SPOT
    assert causes(diagnosis) == ["hot-compute"]


def test_many_small_messages_are_latency_and_no_late_ranks() -> None:
    # 6,000 exchanges of 8 bytes: each call takes 5 µs of its own, beside 20 µs of work.
    made: Programs = {
        rank: within("halo", ("compute", "work", 20), ("irecv", 1 - rank, 8), ("isend", 1 - rank, 8), ("waitall",))
        * 6000
        for rank in range(2)
    }
    diagnosis = found(made, Network(latency=10, overhead=5))
    assert causes(diagnosis)[0] == "mpi-communication-bound"  # the profile counts no bytes sent, so size is not judged
    assert "mpi-late-sender" not in causes(diagnosis)


def test_late_roots_and_late_receivers_are_told_as_such() -> None:
    made: Programs = {
        0: within("share", ("compute", "read", 10 * MS), ("collective", "BCAST", 0, 8), ("compute", "more", 5 * MS), ("collective", "BARRIER", None, 0)),
        1: within("share", ("compute", "more", 5 * MS), ("collective", "BCAST", 0, 8), ("compute", "read", 10 * MS), ("collective", "BARRIER", None, 0)),
    }  # fmt: skip
    diagnosis = found(repeated(30, made))
    told = [each.statement for each in diagnosis.evidence]
    assert any("in broadcasts and scatters until the root arrives (late broadcast)" in each for each in told)
    made = {
        0: within("give", ("compute", "a", 2 * MS), ("send", 1, 8), ("compute", "b", 10 * MS), ("collective", "BARRIER", None, 0)),
        1: within("give", ("compute", "b", 10 * MS), ("recv", 0, 8), ("compute", "a", 2 * MS), ("collective", "BARRIER", None, 0)),
    }  # fmt: skip
    diagnosis = found(repeated(30, made), Network(rendezvous=True))
    told = statements(diagnosis, "mpi-late-sender")
    assert any("to send to ranks that receive later (late receiver)" in each for each in told)
