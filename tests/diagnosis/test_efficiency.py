"""POP's efficiencies against arithmetic by hand, on arrays and on whole profiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.efficiency import of_ranks, of_threads
from chathpc.diagnosis.fact import Kind, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.parallel_facts import parallel_evidence, rank_times, spread_evidence, standing_out, thread_times
from chathpc.profile.location import Locations
from chathpc.profile.profile import Profile
from tests.diagnosis.parts import barrier, diagnosed, function, gomp, hot_loop, main, mpi, ranks, wall
from tests.profile.build import build, call, line

Seconds = tuple[float, ...]


def array(*values: float) -> np.ndarray:
    return np.array(values)


# -- formulas --------------------------------------------------------------------------------------------------


def test_efficiencies_are_those_of_the_definition() -> None:
    found = of_ranks(array(8, 6, 4, 2), array(10, 10, 10, 10))
    assert found is not None
    assert found.balance == pytest.approx(5 / 8)  # mean / largest useful time
    assert found.waiting == pytest.approx(8 / 10)  # largest useful / elapsed time
    assert found.parallel == pytest.approx(20 / 40)  # useful part of all cores' time
    assert found.lost_to_imbalance == pytest.approx(12)


def test_perfect_ranks_are_fully_efficient() -> None:
    found = of_ranks(array(3, 3), array(3, 3))
    assert found is not None
    assert (found.parallel, found.balance, found.waiting) == (1, 1, 1)


@pytest.mark.parametrize(("useful", "total"), [((), ()), ((1.0,), (1.0,)), ((0.0, 0.0), (1.0, 1.0))])
def test_one_rank_and_ranks_that_do_nothing_have_no_efficiency(useful: Seconds, total: Seconds) -> None:
    assert of_ranks(array(*useful), array(*total)) is None


def test_more_useful_time_than_time_is_refused() -> None:
    with pytest.raises(ValueError, match="larger than the totals"):
        of_ranks(array(2, 1), array(1, 1))


def test_processes_have_their_own_elapsed_time_and_their_own_busiest_thread() -> None:
    found = of_threads(array(4, 2, 6, 6, 9), array(5, 5, 6, 6, 9), np.array([0, 0, 1, 1, 2]))
    assert found is not None
    assert found.balance == pytest.approx((4 + 2 + 6 + 6) / (2 * 4 + 2 * 6))
    assert found.waiting == pytest.approx((2 * 4 + 2 * 6) / (2 * 5 + 2 * 6))
    assert (found.count, found.elapsed) == (4, 6)


def test_a_single_thread_shares_nothing() -> None:
    assert of_threads(array(1.0, 2.0), array(1.0, 2.0), np.array([0, 1])) is None


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 1e4)), min_size=2, max_size=30))
def test_what_is_used_and_what_is_lost_make_up_all_time(rows: list[tuple[float, float]]) -> None:
    useful = np.array([row[0] for row in rows])
    total = useful + np.array([row[1] for row in rows])
    found = of_ranks(useful, total)
    if found is None:
        assert useful.max() == 0
        return
    assert 0 <= found.parallel <= 1 + 1e-12
    available = len(rows) * float(total.max())
    assert useful.sum() + found.lost_to_imbalance == pytest.approx(found.waiting * available)
    assert found.parallel == pytest.approx(useful.sum() / available)


# -- profiles --------------------------------------------------------------------------------------------------


def ranked(compute: Seconds, inside: Seconds, where: Locations | None = None) -> Profile:
    work = function("forces", hot_loop(compute, "app.c:20"))
    wait = function("exchange", line("app.c:71", mpi("MPI_Allreduce", time=inside)), at="app.c:70")
    return wall(build(main(work, wait), locations=where or ranks(len(compute))))


def threaded(work: Seconds, wait: Seconds, serial: float = 0.0) -> Profile:
    body = function("f._omp_fn.0", hot_loop(work, "app.c:11"), barrier(time=wait), at="app.c:10")
    before = hot_loop((serial, *(0.0,) * (len(work) - 1)), "app.c:3")
    return wall(build(main(before, line("app.c:5", gomp("GOMP_parallel", body)))))


def said(profile: Profile) -> list[str]:
    return [item.statement for item in parallel_evidence(Facts(profile))]


def test_ranks_lose_to_imbalance_and_to_communication() -> None:
    assert said(ranked((7.0, 5.0, 3.0, 1.0), (1.0, 3.0, 5.0, 7.0))) == [
        "The parallel efficiency of 4 ranks (POP) is 50.0 % = load balance 57.1 % × communication 87.5 %, below the 80.0 % that POP recommends.",
        "Uneven load of 4 ranks takes 12.0 s of the 32.0 s of their time (37.5 %).",
    ]


def test_efficient_ranks_get_one_line() -> None:
    assert said(ranked((9.0, 9.0), (1.0, 1.0))) == [
        "The parallel efficiency of 2 ranks (POP) is 90.0 % = load balance 100 % × communication 90.0 %."
    ]


def test_a_cpu_clock_tells_the_most_that_it_can_be() -> None:
    profile = ranked((9.0, 9.0), (1.0, 1.0))
    cpu = build(
        main(function("f", hot_loop((9.0, 9.0))), line("app.c:7", mpi("MPI_Barrier", time=(1.0, 1.0)))),
        locations=ranks(2),
    )
    assert said(cpu)[0].startswith("The parallel efficiency of 2 ranks (POP) is at most 90.0 %")
    assert "at most" not in said(profile)[0]


def test_threads_lose_to_imbalance_and_to_serial_code() -> None:
    # Useful: 2 + 6 and 3 of 8 elapsed; serial code counts as work of the first thread that the other lacks.
    profile = threaded((6.0, 3.0), (0.0, 5.0), serial=2.0)
    times = thread_times(Facts(profile))
    assert times is not None
    assert times.useful.tolist() == [8.0, 3.0]
    assert (
        said(profile)[0]
        == "The parallel efficiency of 2 OpenMP threads (POP) is 68.8 % = load balance 68.8 % × synchronisation 100 %, below the 80.0 % that POP recommends."
    )


def test_a_hybrid_program_gets_both_and_time_in_mpi_is_no_loss_of_openmp() -> None:
    where = ranks(2, threads=2)
    body = function(
        "f._omp_fn.0", hot_loop((6.0, 6.0, 6.0, 6.0), "app.c:11"), barrier(time=(0.0, 4.0, 0.0, 4.0)), at="app.c:10"
    )
    exchange = line("app.c:7", mpi("MPI_Allreduce", time=(4.0, 0.0, 4.0, 0.0)))
    statements = said(wall(build(main(line("app.c:5", gomp("GOMP_parallel", body)), exchange), locations=where)))
    assert statements[0].startswith(
        "The parallel efficiency of 2 ranks (POP) is 60.0 % = load balance 100 % × communication 60.0 %"
    )
    assert (
        "The parallel efficiency of 4 OpenMP threads (POP) is 100 % = load balance 100 % × synchronisation 100 %."
        in statements
    )


def test_start_and_end_of_mpi_are_left_out() -> None:
    init = line("app.c:2", mpi("MPI_Init", time=(5.0, 5.0)))
    work = function("f", hot_loop((9.0, 9.0)))
    profile = wall(build(main(init, work, line("app.c:7", mpi("MPI_Barrier", time=(1.0, 1.0)))), locations=ranks(2)))
    assert said(profile)[0].startswith("The parallel efficiency of 2 ranks (POP) is 90.0 %")


def test_programs_without_ranks_and_threads_have_none() -> None:
    assert said(wall(build(main(hot_loop(10.0))))) == []


def test_a_rank_alone_has_none() -> None:
    assert rank_times(Facts(ranked((9.0,), (1.0,)))) is None


def test_the_diagnosis_tells_it_beside_the_findings() -> None:
    diagnosis = diagnosed(ranked((7.0, 5.0, 3.0, 1.0), (1.0, 3.0, 5.0, 7.0)))
    assert any(item.kind == Kind.EFFICIENCY and item.value == pytest.approx(0.5) for item in diagnosis.evidence)


# -- spread over threads ---------------------------------------------------------------------------------------


def test_the_time_of_a_function_is_told_over_all_threads_with_zeros() -> None:
    facts = Facts(threaded((4.0, 2.0, 1.0, 0.0), (0.0, 2.0, 3.0, 4.0)))
    node = next(n for n in range(len(facts.profile.tree)) if facts.profile.tree.label(n) == "app.c:12")
    (told,) = spread_evidence(facts, [node, node, -1])
    assert told.statement == (
        "f takes 0 s at least, 1.50 s in the median, 1.75 s on average and 4.00 s at most, over 4 threads, none on 1 thread."
    )
    assert told.value == 1.5


def test_of_three_threads_no_spread_is_told() -> None:
    facts = Facts(threaded((4.0, 2.0, 1.0), (0.0, 2.0, 3.0)))
    assert spread_evidence(facts, list(range(len(facts.profile.tree)))) == ()


# -- what stands out -------------------------------------------------------------------------------------------


def sixteen(slow: float, *, per_node: int = 4, elapsed: float = 15.0) -> Profile:
    compute = [10.0 + 0.01 * (i % 3) for i in range(16)]
    compute[9] = slow
    where = Locations.of(16, rank=np.arange(16), node=np.arange(16) // per_node)
    return ranked(tuple(compute), tuple(elapsed - each for each in compute), where)


def test_one_slow_rank_is_named_with_its_node_and_what_it_costs() -> None:
    (told,) = standing_out(Facts(sixteen(13.0)))
    # Median 10.01, the busiest of the others 10.02: (13 − 10.02) × 15.
    assert told.statement == (
        "Rank 9, on node 2, takes 13.0 s, the median of 16 ranks 10.0 s (1.30 times as much): the 15 others wait 44.7 s."
    )
    assert (told.kind, told.value, told.whole) == (
        Kind.COMPARISON,
        13.0,
        Quantity(10.01, "s", "the median of 16 ranks"),
    )
    assert told.parts[-1].value == pytest.approx(2.98 * 15)
    assert told.subject == "rank 9, on node 2,"


def test_even_ranks_have_none_that_stands_out() -> None:
    assert standing_out(Facts(sixteen(10.02))) == ()


def test_a_node_whose_ranks_are_all_slow_is_named() -> None:
    compute = np.full(32, 10.0) + 0.01 * (np.arange(32) % 3)
    compute[8:12] = 13.0
    where = Locations.of(32, rank=np.arange(32), node=np.arange(32) // 4)
    told = standing_out(Facts(ranked(tuple(compute), tuple(15 - compute), where)))
    assert told[0].statement == (
        "Computing of the ranks on node 2 takes 13.0 s, the median of 8 nodes 10.0 s (1.30 times as much): 4 ranks."
    )
    assert [part.label for part in told[1].parts] == ["rank 9", "rank 10", "the 28 others wait"]


def test_half_of_the_ranks_are_no_outliers() -> None:
    compute = (10.0,) * 6 + (13.0,) * 4
    assert standing_out(Facts(ranked(compute, tuple(15 - each for each in compute)))) == ()


def test_few_samples_make_no_rank_stand_out() -> None:
    # 1 s at 5 ms: some ten samples a rank.
    profile = sixteen(13.0)
    assert profile.time is not None
    few = replace(profile, sample_count=160.0)
    assert standing_out(Facts(few)) == ()


def test_a_slow_thread_is_named() -> None:
    work = (5.0, 5.0, 5.01, 5.02, 5.0, 5.01, 9.0, 5.0)
    (told,) = standing_out(Facts(threaded(work, tuple(9.0 - each for each in work))))
    assert told.subject == "thread 6"
    assert (told.value, told.whole) == (9.0, Quantity(5.005, "s", "the median of 8 threads"))


def test_the_thread_with_the_serial_code_is_no_slow_one() -> None:
    profile = threaded((1.0,) * 8, (0.0, *(7.0,) * 7), serial=7.0)
    assert standing_out(Facts(profile)) == ()


def test_time_on_a_device_is_not_the_hosts_to_judge() -> None:
    launch = call("cudaLaunchKernel [libcudart.so]", module="/lib/libcudart.so", time=(1.0, 1.0))
    exchange = line("app.c:7", mpi("MPI_Barrier", time=(4.0, 4.0)))
    profile = wall(build(main(function("f", hot_loop((5.0, 5.0)), launch), exchange), locations=ranks(2)))
    assert said(profile) == []
