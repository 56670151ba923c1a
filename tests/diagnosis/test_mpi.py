from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import chathpc
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Finding, Verdict
from chathpc.diagnosis.rules import mpi as rule
from chathpc.profile.location import Locations
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from tests.diagnosis.parts import (
    barrier,
    causes,
    diagnosed,
    finding,
    function,
    libc,
    main,
    mpi,
    ranks,
    statements,
    thread,
    wall,
)
from tests.diagnosis.test_arrivals import sampled
from tests.profile.build import Node, build, call, entry, line, loop

Seconds = tuple[float | None, ...]


def helpers(seconds: Seconds) -> Node:
    """A thread that Open MPI runs for itself and that only polls."""
    engine = call("progress_engine", libc("epoll_wait", time=seconds), module="/usr/lib/libopen-pal.so.40")
    return thread(libc("start_thread", engine))


def compute(name: str, seconds: Seconds, at: int = 20) -> Node:
    return function(name, loop(f"app.c:{at + 1}", line(f"app.c:{at + 2}", time=seconds)), at=f"app.c:{at}")


def exchange(name: str, *inside: Node, time: Seconds | None = None, at: int = 70) -> Node:
    return function("exchange", line(f"app.c:{at + 1}", mpi(name, *inside, time=time)), at=f"app.c:{at}")


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("PMPI_Waitall_f08 [libmpi_mpifh.so.40]", "MPI_Waitall"),
        ("PMPI_Allreduce [libmpi.so.40.30.4]", "MPI_Allreduce"),
        ("mpi_allreduce_", "MPI_Allreduce"),
        ("pmpi_barrier__", "MPI_Barrier"),
        ("MPI_Send_f08ts_", "MPI_Send"),
        ("ompi_allreduce_f [libmpi_mpifh.so.40.30.0]", "MPI_Allreduce"),
        ("ompi_coll_base_sendrecv_actual", "ompi_coll_base_sendrecv_actual"),
        ("opal_progress [libopen-pal.so.40]", "opal_progress"),
    ],
)
def test_calls_go_by_the_name_of_the_standard(name: str, public: str) -> None:
    assert rule.public_name(name) == public


# -- unequal work --------------------------------------------------------------------------------------------


def test_ranks_with_less_work_wait_for_the_busiest() -> None:
    profile = build(
        main(compute("forces", (6.0, 4.0, 2.0)), exchange("MPI_Allreduce", time=(0.0, 2.0, 4.0))), locations=ranks(3)
    )
    diagnosis = diagnosed(profile)
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function, found.where.short) == ("mpi-load-imbalance", "forces", "app.c:21")
    assert (found.seconds, found.share, found.against) == (6.0, 6.0 / 18.0, ())
    assert found.summary == (
        "The work is unevenly distributed: rank 0 has 1.50 times the mean, most of the difference in forces; "
        "the others wait in MPI in exchange (app.c:71)."
    )
    assert statements(diagnosis, found.cause) == [
        "MPI on 3 ranks takes 6.00 s of 18.0 s (33.3 %): MPI_Allreduce 100 %.",
        "Computing of a rank takes 2.00 s at least, 4.00 s on average and 6.00 s at most, over 3 ranks, most on rank 0.",
        "Waiting for the busiest rank takes 6.00 s of the 6.00 s of MPI time (100 %).",
        "forces on rank 0 takes 6.00 s, the other ranks on average 3.00 s (2.00 times as much).",
    ]


def over_time(*busy: tuple[int, int]) -> Profile:
    """Two ranks of which each computes so long (ms) of each 100 ms, and then waits for the other."""
    work = tuple(sum(part) / 1000 for part in zip(*busy, strict=True))
    wait = tuple(len(busy) / 10 - each for each in work)
    profile = wall(build(main(compute("forces", work), exchange("MPI_Allreduce", time=wait)), locations=ranks(2)))
    inside = "PMPI_Allreduce [libmpi.so.40.30.4]"
    states = [
        [state for at, part in enumerate(busy) for state in ((100 * at, "app.c:22"), (100 * at + part[rank], inside))]
        for rank in (0, 1)
    ]
    return sampled(profile, [[*each, (100 * len(busy), "")] for each in states])


@pytest.mark.parametrize(
    ("busy", "when"),
    [
        ([(100, 50)] * 10, "in each tenth of the run"),
        ([(100, 30)] * 9 + [(80, 100)], "in 9 tenths of the run"),
        ([(100, 30)] * 18 + [(20, 100)] * 2, "in 9 tenths of the run"),
    ],
)
def test_a_trace_tells_whether_the_same_rank_is_busiest_throughout(busy: list[tuple[int, int]], when: str) -> None:
    diagnosis = diagnosed(over_time(*busy))
    assert f", most on rank 0, {when}." in statements(diagnosis, "mpi-load-imbalance")[1]
    assert "executes more instructions" in str(diagnosis.findings[0].next_measurement)


def test_without_a_trace_it_is_what_is_to_be_measured() -> None:
    profile = build(main(compute("forces", (8.0, 4.0)), exchange("MPI_Allreduce", time=(0.0, 4.0))), locations=ranks(2))
    assert "busiest over the whole run" in str(finding(diagnosed(profile), "mpi-load-imbalance").next_measurement)


def test_one_ranks_private_work_keeps_the_others_in_a_collective() -> None:
    profile = build(
        main(
            compute("step", (4.0, 4.0)),
            compute("validate", (4.0, None), 40),
            exchange("MPI_Allreduce", time=(0.0, 4.0)),
        ),
        locations=ranks(2),
    )
    diagnosis = diagnosed(profile)
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function, found.share) == ("mpi-collective-wait", "validate", 0.25)
    assert found.summary == "Only rank 0 runs validate; the other ranks wait for it in MPI in exchange (app.c:71)."
    assert statements(diagnosis, found.cause)[-1] == "validate on rank 0 takes 4.00 s, the other rank 0 s."


def test_unequal_work_of_two_ranks_is_less_certain_than_that_of_sixteen() -> None:
    def found(count: int) -> Finding:
        """Half of the ranks compute for 12 s, the others for 10 s and wait for 2: 8.3 % of the time."""
        half = count // 2
        work, wait = (12.0,) * half + (10.0,) * half, (None,) * half + (2.0,) * half
        profile = build(main(compute("forces", work), exchange("MPI_Barrier", time=wait)), locations=ranks(count))
        return finding(diagnosed(profile), "mpi-load-imbalance")

    two, sixteen = found(2), found(16)
    assert two.share == sixteen.share == pytest.approx(1 / 12)
    assert two.confidence < sixteen.confidence
    assert two.confidence_reason.endswith("spread from 2 ranks accurate to a factor of 2.0")
    assert sixteen.confidence_reason.endswith("spread from 16 ranks accurate to a factor of 1.2")


def test_the_cost_of_unequal_work_is_at_most_the_time_in_mpi() -> None:
    profile = build(main(compute("forces", (8.0, 4.0)), exchange("MPI_Wait", time=(0.0, 3.0))), locations=ranks(2))
    assert finding(diagnosed(profile), "mpi-load-imbalance").seconds == 3.0


def test_a_rank_is_all_its_threads() -> None:
    profile = build(
        main(compute("forces", (4.0, 4.0, 2.0, 2.0)), exchange("MPI_Barrier", time=(None, None, 4.0, None))),
        locations=ranks(2, threads=2),
    )
    times = rule.ranks(Facts(profile))
    assert times is not None
    assert times.compute.tolist() == [8.0, 4.0]
    assert times.mpi.tolist() == [0.0, 4.0]
    assert finding(diagnosed(profile), "mpi-load-imbalance").seconds == 4.0


def test_without_a_function_to_blame_the_imbalance_is_that_of_the_program() -> None:
    idle = entry("<thread root>", libc("memcpy", time=(6.0, 2.0)))
    profile = build(idle, main(exchange("MPI_Barrier", time=(0.0, 4.0))), locations=ranks(2))
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "mpi-load-imbalance")
    assert found.where.function is None
    assert "most of the difference in the program" in found.summary
    assert len(found.evidence) == 3


def test_helper_threads_of_the_library_are_left_out() -> None:
    # Each rank: the program's thread, and two of the library that poll for the whole run.
    work, wait = (6.0, None, None, 2.0, None, None), (0.0, None, None, 4.0, None, None)
    profile = build(
        main(compute("forces", work), exchange("MPI_Allreduce", time=wait)),
        helpers((None, 6.0, 6.0, None, 6.0, 6.0)),
        locations=ranks(2, threads=3),
    )
    diagnosis = diagnosed(profile)
    found = diagnosis.findings[0]
    assert (found.cause, found.seconds, found.share) == ("mpi-load-imbalance", 4.0, 4.0 / 12.0)
    assert diagnosis.notes == ("4 helper threads of the MPI library left out: 24.0 s.",)


def test_missing_cores_are_told_before_what_is_left_out() -> None:
    gone = "cpu.time.no-core"
    lacked = {gone: (4.0, None, None, 4.0, None, None)}
    step = function("step", line("app.c:21", time=(6.0, None, None, 6.0, None, None), values=lacked))
    profile = build(
        main(step, exchange("MPI_Allreduce", time=(4.0, None, None, 4.0, None, None))),
        helpers((None, 6.0, 6.0, None, 6.0, 6.0)),
        locations=ranks(2, threads=3),
    )
    metrics = profile.metrics | {gone: replace(profile.metrics[gone], unit=Unit.SECONDS)}
    diagnosis = diagnosed(replace(profile, metrics=metrics))
    assert [note.split()[0] for note in diagnosis.notes] == ["Runnable", "4"]


def test_helpers_between_the_openmp_threads_of_a_rank_are_left_out() -> None:
    # In a rank with OpenMP the helpers are threads 1 and 2, the OpenMP worker is thread 3.
    body = function(
        "forces._omp_fn.0",
        line("app.c:12", time=(4.0, None, None, 2.0, 2.0, None, None, 1.0)),
        barrier(time=(None, None, None, 2.0, None, None, None, 1.0)),
        at="app.c:10",
    )
    profile = build(
        main(body, exchange("MPI_Barrier", time=(None, None, None, None, 2.0, None, None, None))),
        helpers((None, 4.0, 4.0, None, None, 4.0, 4.0, None)),
        locations=ranks(2, threads=4),
    )
    found = causes(profile)
    assert found[0] == "omp-load-imbalance"
    assert "mpi-load-imbalance" in found
    assert Facts(profile).locations.tolist() == [0, 3, 4, 7]


def test_threads_of_no_rank_do_not_count() -> None:
    where = Locations.of(3, rank=np.array([-1, 0, 1]))
    profile = build(
        main(compute("forces", (9.0, 6.0, 2.0)), exchange("MPI_Barrier", time=(None, 0.0, 4.0))), locations=where
    )
    times = rule.ranks(Facts(profile))
    assert times is not None
    assert times.ids.tolist() == [0, 1]
    assert times.compute.tolist() == [6.0, 2.0]


# -- equal work ----------------------------------------------------------------------------------------------


def equal(
    name: str, inside: Seconds = (None, None), below: str = "opal_progress", *, spent: Seconds = (4.0, 4.0)
) -> Node:
    progress = call(f"{below} [libopen-pal.so.40]", module="/usr/lib/libopen-pal.so.40", time=inside)
    return exchange(name, progress, time=spent)


def pair(node: Node, seconds: Seconds = (6.0, 6.0)):
    return build(main(compute("stage", seconds), node), locations=ranks(2))


def test_ranks_that_compute_equally_and_wait_for_messages_have_late_senders() -> None:
    diagnosis = diagnosed(pair(equal("MPI_Recv")))
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function, found.where.short) == ("mpi-late-sender", "exchange", "app.c:71")
    assert (found.share, found.seconds) == (0.4, 8.0)
    assert statements(diagnosis, found.cause) == [
        "MPI on 2 ranks takes 8.00 s of 20.0 s (40.0 %): MPI_Recv 100 %.",
        "The computing time of the busiest rank is 1.00 times the mean.",
        "Copying and sending data takes 0 s of the 8.00 s of MPI time (0 %).",
    ]


@pytest.mark.parametrize(
    ("recv", "barrier", "cause", "share"), [(3.0, 1.0, "mpi-late-sender", 0.3), (1.0, 3.0, "mpi-collective-wait", 0.3)]
)
def test_only_the_calls_of_the_finding_count_for_it(recv: float, barrier: float, cause: str, share: float) -> None:
    """Of 20 s on two ranks 8 are in MPI, 6 of these in calls of the kind that the finding is about."""
    both = [mpi("MPI_Recv", time=(recv, recv)), mpi("MPI_Barrier", time=(barrier, barrier))]
    found = finding(diagnosed(pair(function("both", line("app.c:80", *both)))), cause)
    assert (found.share, found.seconds) == (pytest.approx(share), pytest.approx(6.0))
    assert "30.0 % of their time" in found.summary


def test_where_missing_cores_may_explain_most_of_the_waiting_they_come_first() -> None:
    """Each rank stands still for 3 s of its work, so that the other may wait so long: 6 of 8 s, or none if it had its core."""
    gone = "cpu.time.no-core"
    for lacked, cause in ((3.0, None), (0.0, "mpi-collective-wait")):
        step = function("step", line("app.c:21", time=(2.0, 2.0), values={gone: (lacked, lacked)}))
        profile = build(main(step, exchange("MPI_Allreduce", time=(4.0, 4.0))), locations=ranks(2))
        metrics = profile.metrics | {gone: replace(profile.metrics[gone], unit=Unit.SECONDS)}
        diagnosis = diagnosed(replace(profile, metrics=metrics))
        efficiencies = [item for item in diagnosis.evidence if "(POP)" in item.subject]
        if cause is None:
            assert diagnosis.headline.startswith("Runnable threads had no core for 6.00 s: other programs were running")
            assert diagnosis.headline not in diagnosis.notes
            # A hot spot has a place: here nothing is hot.
            assert (diagnosis.verdict == Verdict.INSUFFICIENT) == (not diagnosis.findings)
            assert not diagnosis.blames
            assert not efficiencies  # they would be the machine's load
        else:
            assert (diagnosis.findings[0].cause, diagnosis.findings[0].title) == (
                cause,
                "Ranks wait for each other in a collective",
            )
            assert efficiencies


@pytest.mark.parametrize("name", ["MPI_Allreduce", "MPI_Barrier", "MPI_Ibcast", "mpi_alltoall_"])
def test_ranks_that_compute_equally_and_wait_in_collectives(name: str) -> None:
    assert diagnosed(pair(equal(name))).findings[0].cause == "mpi-collective-wait"


def test_the_place_is_that_of_the_calls_that_decide() -> None:
    other = function("gather", line("app.c:90", mpi("MPI_Recv", time=(3.0, 3.0))), at="app.c:89")
    found = diagnosed(pair(function("both", equal("MPI_Barrier"), other))).findings[0]
    assert (found.cause, found.where.short) == ("mpi-collective-wait", "app.c:71")


def test_waiting_for_one_another_is_a_spread_over_the_ranks_and_moving_data_is_none() -> None:
    waits = build(main(compute("step", (4.0, 4.0)), exchange("MPI_Allreduce", time=(2.0, 2.0))), locations=ranks(2))
    assert "spread from 2 ranks" in finding(diagnosed(waits), "mpi-collective-wait").confidence_reason
    copied = exchange("MPI_Allreduce", libc("memcpy", time=(2.0, 2.0)))
    moves = build(main(compute("step", (4.0, 4.0)), copied), locations=ranks(2))
    assert "spread" not in finding(diagnosed(moves), "mpi-communication-bound").confidence_reason


def test_time_that_moves_data_is_communication() -> None:
    moving = exchange(
        "MPI_Allgather",
        libc("__memmove_avx", time=(1.0, 1.0)),
        libc("process_vm_readv", time=(1.0, 0.5)),
        time=(2.0, 2.5),
    )
    diagnosis = diagnosed(pair(moving))
    found = diagnosis.findings[0]
    assert (found.cause, found.share) == ("mpi-communication-bound", 0.4)
    assert statements(diagnosis, found.cause)[-1].startswith(
        "Copying and sending data takes 3.50 s of the 8.00 s of MPI time (43.8 %)"
    )


def test_ranks_that_hardly_do_anything_else_are_not_late_but_communicate() -> None:
    """Whoever waits for a late rank waits while that one works: four ranks that work 80 ms each can delay the other three 960 ms in all."""
    ends = mpi("MPI_Finalize", time=(5.0,) * 4)
    for work, cause in ((0.08, "mpi-communication-bound"), (1.0, "mpi-collective-wait")):
        told = exchange(
            "MPI_Allgather", call("__intel_avx_rep_memcpy", module="/opt/app", time=(0.5,) * 4), time=(2.5,) * 4
        )
        diagnosis = diagnosed(build(main(compute("fill", (work,) * 4), told, ends), locations=ranks(4)))
        assert [found.cause for found in diagnosis.findings if found.cause.startswith("mpi")] == [cause]
        assert any(
            text.startswith("Copying and sending data takes 2.00 s of the 12.0 s")
            for text in statements(diagnosis, cause)
        )
    moving = next(
        text
        for text in statements(
            diagnosed(build(main(compute("fill", (0.08,) * 4), told), locations=ranks(4))), "mpi-communication-bound"
        )
        if "late" in text
    )
    assert moving.startswith("Waiting for a late rank takes at most 960 ms of the 12.0 s of MPI time (8.00 %)")


def test_one_rank_that_is_in_mpi_less_than_the_others_is_not_told_to_communicate() -> None:
    """What it does instead, no clock of the processor sees."""
    told = exchange("MPI_Bcast", time=(0.5, 3.0, 3.0, 3.0))
    assert finding(
        diagnosed(build(main(compute("fill", (0.08,) * 4), told), locations=ranks(4))), "mpi-collective-wait"
    )


def test_several_calls_are_named_and_none_where_all_are_small() -> None:
    both = function("both", line("app.c:80", mpi("MPI_Recv", time=(3.0, 3.0)), mpi("MPI_Send", time=(1.0, 1.0))))
    diagnosis = diagnosed(pair(both))
    assert statements(diagnosis, "mpi-late-sender")[0].endswith(": MPI_Recv 75.0 %, MPI_Send 25.0 %.")
    names = ["Send", "Recv", "Isend", "Irecv", "Wait", "Test", "Probe", "Ssend", "Bsend", "Rsend", "Waitall"]
    many = function("many", line("app.c:80", *[mpi(f"MPI_{name}", time=(0.4, 0.4)) for name in names]))
    assert statements(diagnosed(pair(many)), "mpi-late-sender")[0].endswith("of 20.8 s (42.3 %).")


def test_little_mpi_or_little_waiting_is_no_finding() -> None:
    assert causes(pair(equal("MPI_Recv", spent=(0.2, 0.2)))) == ["hot-compute"]  # 3.2 %
    assert causes(pair(equal("MPI_Recv", spent=(0.5, 0.5)))) == ["hot-compute"]  # 7.7 %, a late sender needs 10 %


def test_a_single_rank_and_a_program_without_ranks_have_nobody_to_wait_for() -> None:
    node = equal("MPI_Recv", spent=(4.0,), inside=(None,))
    assert "hot-compute" in causes(build(main(compute("stage", (6.0,)), node), locations=ranks(1)))
    assert causes(build(main(compute("stage", (6.0, 6.0)), equal("MPI_Recv")))) == ["hot-compute"]


def test_ranks_need_time_in_mpi() -> None:
    assert rule.ranks(Facts(build(main(compute("stage", (6.0, 6.0))), locations=ranks(2)))) is None


def test_starting_and_ending_mpi_is_a_note_and_no_finding() -> None:
    diagnosis = diagnosed(pair(exchange("MPI_Init", time=(2.0, 2.0))))
    assert [found.cause for found in diagnosis.findings] == ["hot-compute"]
    assert diagnosis.notes == ("MPI start-up and shutdown take 25.0 % of the time; they matter less in longer runs.",)


# -- oversubscription ----------------------------------------------------------------------------------------


def yielding(yields: float, rest: float):
    return pair(exchange("MPI_Sendrecv", libc("__GI___sched_yield", time=(yields, yields)), time=(rest, rest)))


def test_a_library_that_gives_its_core_away_has_too_many_ranks() -> None:
    diagnosis = diagnosed(yielding(3.0, 1.0))
    found = finding(diagnosis, "oversubscription")
    assert (found.share, found.seconds, found.where.short) == (0.3, 6.0, "app.c:71")
    assert statements(diagnosis, "oversubscription") == [
        "sched_yield in MPI calls takes 6.00 s of the 8.00 s of MPI time (75.0 %)."
    ]
    # With even work the rest of the waiting is for its turn: one cause, not two.
    assert "mpi-late-sender" not in [found.cause for found in diagnosis.findings]


def test_some_yielding_makes_waiting_doubtful() -> None:
    diagnosis = diagnosed(yielding(1.6, 2.4))
    late = finding(diagnosis, "mpi-late-sender")
    assert len(late.against) == 1
    assert late.against[0].startswith("40.0 % of the MPI time is in sched_yield")


def test_ranks_that_share_too_few_cores_wait_for_their_turn() -> None:
    even = replace(pair(equal("MPI_Recv", spent=(4.0, 4.0))), hardware={"processors": "1"})
    found = diagnosed(even).findings[0]
    assert (found.cause, found.seconds) == ("oversubscription", 8.0)
    assert found.summary.startswith("2 ranks share 1 core,")
    assert "mpi-late-sender" not in causes(even)
    enough = replace(even, hardware={"processors": "2"})
    assert causes(enough)[0] == "mpi-late-sender"
    assert "oversubscription" not in causes(replace(yielding(3.0, 1.0), hardware={"processors": "2"}))


def test_little_yielding_is_no_sign_of_too_many_ranks() -> None:
    diagnosis = diagnosed(yielding(0.4, 3.6))
    assert "oversubscription" not in [found.cause for found in diagnosis.findings]
    assert finding(diagnosis, "mpi-late-sender").against == ()


def test_calls_of_fortran_are_collectives_by_whatever_name_a_profiler_finds_at_their_address() -> None:
    wrapper = call("ompi_allreduce_f", mpi("MPI_Allreduce", time=(1.0, 1.0)), module="/usr/lib/libmpi_mpifh.so.40.30.0")
    profile = build(
        main(compute("solve", (1.0, 1.0)), function("norm", line("app.f90:71", wrapper), at="app.f90:70")),
        locations=ranks(2),
    )
    first = finding(diagnosed(profile), "mpi-collective-wait")
    assert (first.where.function, first.where.line) == ("norm", 71)


@pytest.mark.parametrize(("least", "alike"), [(1.9, True), (0.7, False)])
def test_ranks_are_said_to_compute_about_the_same_only_where_they_do(least: float, alike: bool) -> None:
    profile = build(
        main(compute("forces", (2.0, least)), exchange("MPI_Allreduce", time=(8.0, 10.0 - least))), locations=ranks(2)
    )
    found = diagnosed(profile).findings[0]
    assert found.cause == "mpi-collective-wait"
    assert ("though each computes about the same" in found.summary) is alike


def test_the_words_say_of_no_rank_that_it_is_late_where_all_compute_alike() -> None:
    alike, late = (
        pair(equal("MPI_Allreduce")),
        build(
            main(
                compute("stage", (2.0, 2.0)),
                exchange("MPI_Allreduce", time=(1.0, 3.0)),
                compute("check", (2.0, 0.0), at=40),
            ),
            locations=ranks(2),
        ),
    )
    for profile, said in ((alike, False), (late, True)):
        report = chathpc.explain(profile, llm="none")
        assert report.findings[0].cause == "mpi-collective-wait"
        assert ("one or a few ranks arrive late" in report.explanation.text) is said
