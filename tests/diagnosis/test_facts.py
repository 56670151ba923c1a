from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.records import Place
from chathpc.profile.activity import Activity, is_outlined
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Unit
from chathpc.profile.tree import NodeKind
from tests.diagnosis.parts import function, libc, libm, main, mpi, ranks, thread
from tests.profile.build import build, call, entry, line, loop


def test_shares_are_of_the_programs_own_threads() -> None:
    polling = thread(call("progress", libc("poll", time=6.0), module="/usr/lib/libopen-pal.so.40"))
    facts = Facts(build(main(line("app.c:2", time=3.0), mpi("MPI_Barrier", time=1.0)), polling))
    assert facts.total == 4.0
    assert facts.profile.helpers.time == 6.0
    assert facts.spent(Activity.MPI) == 1.0
    assert facts.share(Activity.MPI) == 0.25
    assert facts.share(Activity.COMPUTE, Activity.MPI) == 1.0


def test_negative_values_count_as_nothing() -> None:
    facts = Facts(build(main(line("app.c:2", time=3.0), line("app.c:3", time=-1.0))))
    assert facts.total == 3.0


def test_a_location_that_is_nearly_all_polling_is_no_thread_of_the_program() -> None:
    profile = build(
        main(line("app.c:2", time=(4.0, 0.5, 1.0, None))),
        thread(libc("poll", time=(None, 2.5, 2.0, None))),
        locations=ranks(2, threads=2),
    )
    facts = Facts(profile)  # of location 1 five sixths is polling, of location 2 two thirds, location 3 has no time
    assert facts.locations.tolist() == [0, 2]
    assert facts.thread_count == 2
    assert facts.ranks.tolist() == [0, 1]
    assert facts.rank_count == 2
    assert facts.matrix[:, Activity.COMPUTE].tolist() == [4.0, 1.0]


def test_gpu_streams_are_no_threads() -> None:
    where = Locations.of(2, thread=np.array([0, -1]), gpu_context=np.array([-1, 0]), stream=np.array([-1, 7]))
    facts = Facts(build(main(line("app.c:2", time=(1.0, 1.0))), locations=where))
    assert facts.locations.tolist() == [0]
    assert facts.rank_count == 0


def test_without_a_trace_the_smallest_value_stands_for_a_sample() -> None:
    many = [line(f"app.c:{number}", time=0.02) for number in range(2, 52)]
    assert Facts(build(main(*many))).samples == pytest.approx(50)


def test_one_value_that_is_much_too_small_is_no_sample() -> None:
    many = [line(f"app.c:{number}", time=0.02) for number in range(2, 52)]
    facts = Facts(build(main(*many, line("app.c:60", time=1e-30))))
    assert facts.samples == pytest.approx(50)


def test_few_values_are_hardly_one_sample_each_so_the_default_period_is_assumed() -> None:
    assert Facts(build(main(line("app.c:2", time=2.0)))).samples == pytest.approx(400)  # 2 s / 5 ms
    assert Facts(build(main(line("app.c:2", values={"cpu.cycles": 1e6})))).samples == 1


def test_the_samples_of_the_trace_count_for_the_programs_part_of_the_time() -> None:
    helper = thread(libc("poll", time=1.0))
    profile = build(main(line("app.c:2", time=3.0)), helper, sample_count=4000)
    assert Facts(profile).samples == pytest.approx(3000)
    # 3 s at 5 ms would be 600 samples; a trace of 500 leaves some out, one of 20 says that the period was another one.
    assert Facts(replace(profile, sample_count=500)).samples == pytest.approx(600)
    assert Facts(replace(profile, sample_count=20)).samples == pytest.approx(15)
    # 100 samples a second, as those of Python take them, are half of what 5 ms would give.
    assert Facts(replace(profile, sample_count=400)).samples == pytest.approx(300)


def test_waiting_that_was_not_sampled_does_not_decide_how_many_samples_are_the_programs() -> None:
    """A helper thread waits for 50 s and has 40 of 1,040 samples of 1 ms."""
    work = line("app.c:2", values={"cpu.time": (1.0, None), "cpu.time.wall": (6.0, None)})
    helper = thread(libc("epoll_wait", values={"cpu.time": (None, 0.04), "cpu.time.wall": (None, 50.0)}))
    profile = build(main(work), helper, sample_count=1040)
    time = replace(profile.metrics["cpu.time.wall"], unit=Unit.SECONDS, clock=Clock.WALL)
    facts = Facts(replace(profile, metrics=profile.metrics | {"cpu.time.wall": time}))
    assert (facts.total, facts.samples) == (6.0, pytest.approx(1000))


@pytest.mark.parametrize("smallest", [5e-324, 1e-300])
def test_an_absurdly_small_value_does_not_make_the_number_of_samples_infinite(smallest: float) -> None:
    seconds = Facts(build(main(line("app.c:2", time=1.0), line("app.c:3", time=smallest))))
    assert seconds.samples <= 1e6
    cycles = Facts(
        build(main(line("app.c:2", values={"cpu.cycles": 1e9}), line("app.c:3", values={"cpu.cycles": smallest})))
    )
    assert cycles.samples <= 1e9


def test_without_time_there_are_no_samples_and_nothing_is_known() -> None:
    facts = Facts(build(main(line("app.c:2", time=0.0))))
    assert facts.samples == 0
    assert facts.total == 0
    assert facts.error(0.5) == 1.0
    assert facts.share(Activity.COMPUTE) == 0.0


def test_the_standard_error_of_a_share_is_that_of_the_binomial() -> None:
    facts = Facts(build(main(line("app.c:2", time=2.0))))
    assert facts.error(0.2) == pytest.approx(sqrt(0.2 * 0.8 / 400))
    assert facts.error(1.0) == 0.0


def test_cycles_are_not_seconds() -> None:
    facts = Facts(build(main(line("app.c:2", values={"cpu.cycles": 1e6}))))
    assert facts.metric == "cpu.cycles"
    assert not facts.in_seconds
    assert Facts(build(main(line("app.c:2", time=2.0)))).in_seconds


def test_a_profile_without_host_time_has_no_time_metric() -> None:
    with pytest.raises(ValueError, match="no host time"):
        _ = Facts(build(main(line("app.c:2", values={"io.read.bytes": 5.0})))).metric


def test_a_weight_lies_in_the_function_with_most_of_it_at_its_hottest_line() -> None:
    solve = function(
        "solve",
        line("app.c:11", libm("exp", time=1.0)),
        line("app.c:12", libm("pow", time=2.0), libm("exp", time=1.5)),
        at="app.c:10",
    )
    other = function("other", line("app.c:30", libm("exp", time=3.0)), at="app.c:29")
    facts = Facts(build(main(solve, other)))
    hot = facts.hot_place(facts.of(Activity.MATH))
    assert hot is not None
    assert (hot.place.function, hot.place.short) == ("solve", "app.c:12")
    assert hot.place.path == ("<program root>", "main", "solve")
    assert (hot.weight, hot.at_line) == (4.5, 3.5)
    assert facts.profile.tree.line[hot.line] == 12
    labels, sums = facts.by_function(facts.of(Activity.MATH))
    assert [facts.label_names[label] for label in labels] == ["solve", "other"]
    assert sums.tolist() == [4.5, 3.0]
    chosen = facts.hot_place(facts.of(Activity.MATH), int(labels[1]))
    assert chosen is not None
    assert chosen.place.short == "app.c:30"


def test_the_same_line_in_several_contexts_counts_once() -> None:
    def solve(first: float, second: float):
        return function("solve", line("app.c:11", time=first), line("app.c:12", time=second), at="app.c:10")

    facts = Facts(build(main(solve(2.0, 0.5), function("again", solve(1.0, 2.2)))))
    hot = facts.hot_place(facts.time)
    assert hot is not None
    assert hot.place.short == "app.c:11"
    assert (hot.at_line, hot.weight) == (3.0, pytest.approx(5.7))


def test_a_weight_outside_the_program_has_no_place() -> None:
    facts = Facts(build(thread(libc("memcpy", time=1.0))))
    assert facts.hot_place(facts.time) is None
    assert facts.hot_place(facts.time, 0) is None


def test_without_lines_the_place_is_the_function() -> None:
    facts = Facts(build(entry("<program root>", call("solve", time=1.0, module="/opt/app"))))
    hot = facts.hot_place(facts.time)
    assert hot is not None
    assert (hot.line, hot.at_line) == (-1, 0.0)
    assert (hot.place.function, hot.place.short, hot.place.line) == ("solve", "", None)


def test_a_place_of_no_node_is_empty_and_pseudo_files_are_left_out() -> None:
    facts = Facts(build(main(call("f", line("[app]:3", time=1.0), at="[app]:1"))))
    assert facts.place(-1) == Place()
    place = facts.place(int(np.argmax(facts.time)))
    assert (place.file, place.line) == (None, None)


def test_loops_are_looked_for_in_the_function_or_in_all_callers() -> None:
    profile = build(
        main(loop("app.c:5", function("f", loop("app.c:20", line("app.c:21", time=1.0)), line("app.c:30", time=1.0))))
    )
    facts = Facts(profile)
    tree = profile.tree
    inner, outer = (int(np.flatnonzero((tree.kind == NodeKind.LINE) & (tree.line == number))[0]) for number in (21, 30))
    assert tree.line[facts.innermost_loop(inner)] == 20
    assert facts.innermost_loop(outer) == -1
    assert facts.innermost_loop(-1) == -1
    assert facts.below_loop(outer)
    assert not facts.below_loop(0)


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("pair_potential._omp_fn.0", "pair_potential"),
        ("cycle(MonteCarlo*) [clone ._omp_fn.0]", "cycle"),
        ("solve.constprop.0.isra.0", "solve"),
        ("grid::sum(double const*, int)", "grid::sum"),
        ("A::f(int) const", "A::f"),
        ("(anonymous namespace)::f(void (*)(int))", "(anonymous namespace)::f"),
        ("A::operator()(int)", "A::operator()"),
        ("A::operator()", "A::operator()"),
        ("__flux_MOD_upwind", "upwind"),
        ("_Z4betav", "beta"),
        ("_ZN4grid3sumEPKdi.constprop.0", "grid::sum"),
        ("_Znonsense", "_Znonsense"),
        ("__advec_mom_kernel_mod_MOD_advec_mom_kernel._omp_fn.0", "advec_mom_kernel"),
        (".omp_outlined._debug__.2", ".omp_outlined._debug__.2"),
        ("main", "main"),
        ("f(int)::{lambda()#1}", "f(int)::{lambda()#1}"),
        ("broken)", "broken)"),
        ("(x)", "(x)"),
    ],
)
def test_a_function_is_named_as_its_author_would(name: str, readable: str) -> None:
    assert readable_function(name) == readable


def test_outlined_bodies_of_gcc_and_clang_are_known() -> None:
    assert is_outlined("f._omp_fn.3")
    assert is_outlined(".omp_outlined.")
    assert not is_outlined("outlined")
