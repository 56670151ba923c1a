from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.rules.openmp import team
from chathpc.profile.location import Locations
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import Lane, Timeline
from chathpc.profile.tree import NodeKind, Relation
from tests.diagnosis.parts import (
    barrier,
    causes,
    diagnosed,
    finding,
    function,
    gomp,
    libc,
    main,
    mpi,
    ranks,
    source,
    statements,
    sure,
    thread,
)
from tests.profile.build import Node, build, call, line, loop, node, placeholder

Seconds = tuple[float | None, ...]


def region(name: str, work: Seconds, wait: Seconds, *more: Node, at: int = 10, calls: Seconds | None = None) -> Node:
    """A function with one parallel loop: what each thread works in it and waits at its end, and perhaps how often it enters it."""
    body = function(
        f"{name}._omp_fn.0",
        loop(f"app.c:{at + 1}", line(f"app.c:{at + 2}", time=work)),
        *more,
        barrier(time=wait),
        at=f"app.c:{at}",
        values=None if calls is None else {"calls.count": calls},
    )
    return function(name, line(f"app.c:{at}", gomp("GOMP_parallel", body)), at=f"app.c:{at}")


# -- imbalance -----------------------------------------------------------------------------------------------


def test_unequal_iterations_are_an_imbalance_at_the_loop() -> None:
    # 10 s of work and 6 s of waiting; to the busiest the others lack 1 + 2 + 3 s.
    diagnosis = diagnosed(build(main(region("forces", (4.0, 3.0, 2.0, 1.0), (0.0, 1.0, 2.0, 3.0)))))
    (found,) = diagnosis.findings
    assert (found.cause, found.where.function, found.where.short) == ("omp-load-imbalance", "forces", "app.c:11")
    assert (found.seconds, found.share, found.against) == (6.0, 0.375, ())
    assert found.speedup_bound == pytest.approx(1 / (1 - 0.375), rel=0.1)  # with the error of sampling
    assert found.summary == (
        "The iterations of forces are unevenly distributed: the busiest of 4 threads has 1.60 times the mean work while the others wait."
    )
    assert statements(diagnosis, found.cause) == [
        "Waiting in the OpenMP runtime takes 6.00 s of 16.0 s (37.5 %).",
        "The work of a thread in forces takes 1.00 s at least, 2.50 s on average and 4.00 s at most, over 4 threads.",
        "Waiting for the busiest thread in forces takes 6.00 s of the 6.00 s of waiting (100 %).",
    ]
    assert diagnosis.headline == found.summary
    assert found.confidence_reason.endswith("spread from 4 threads accurate to a factor of 1.5")


def test_what_a_worker_runs_below_a_lost_stack_is_no_serial_code() -> None:
    """The first thread works for 0.2 s and waits for 1.8 s, the second works for 0.3 s, and for 1.7 s in a stack without its beginning."""
    mine = call("_start", main(region("steps", (0.2, None), (1.8, None))))
    body = function("steps._omp_fn.0", loop("app.c:11", line("app.c:12", time=(None, 0.3))), at="app.c:10")
    lost = call("[unknown]", function("solve", line("app.c:40", time=(None, 1.7)), at="app.c:39"))
    profile = build(mine, call("clone3", call("start_thread", body)), lost)
    threads = team(Facts(profile))
    assert threads is not None
    assert threads.serial.tolist() == [0.0, 0.0]
    assert threads.work.sum(axis=1).tolist() == pytest.approx([0.2, 2.0])
    assert diagnosed(profile).findings[0].cause == "omp-load-imbalance"
    serial = team(Facts(build(mine, call("clone3", call("start_thread", body)), call("_start", lost))))
    assert serial is not None
    assert serial.serial.tolist() == [0.0, 1.7]  # below the program's own beginning nothing is lost


def test_the_body_of_a_region_needs_no_name_that_says_so() -> None:
    """perf calls the bodies of C++ functions like the functions themselves; those of the workers stand below the runtime's own thread."""
    name = "(anonymous namespace)::score"
    mine = function(
        name, loop("app.cpp:11", line("app.cpp:12", time=(4.0, None))), barrier(time=(None, None)), at="app.cpp:10"
    )
    theirs = function(
        name, loop("app.cpp:11", line("app.cpp:12", time=(None, 1.0))), barrier(time=(None, 3.0)), at="app.cpp:10"
    )
    tree = build(
        main(function(name, line("app.cpp:9", gomp("GOMP_parallel", mine)), at="app.cpp:9")),
        thread(libc("start_thread", gomp("[unknown]", theirs))),
    )
    found = finding(diagnosed(tree), "omp-load-imbalance")
    assert (found.where.function, found.where.short, found.seconds) == (name, "app.cpp:11", 3.0)
    assert (
        "takes 1.00 s at least, 2.50 s on average and 4.00 s at most"
        in statements(diagnosed(tree), "omp-load-imbalance")[1]
    )


def test_a_thread_that_never_enters_the_region_counts_with_nothing() -> None:
    diagnosis = diagnosed(build(main(region("forces", (3.0, None), (None, 3.0)))))
    assert "takes 0 s at least, 1.50 s on average" in statements(diagnosis, "omp-load-imbalance")[1]


def test_the_worst_region_is_named() -> None:
    first = region("first", (2.0, 1.0), (0.0, 1.0))
    second = region("second", (1.0, 4.0), (3.0, 0.0), at=30)
    found = finding(diagnosed(build(main(first, second))), "omp-load-imbalance")
    assert (found.where.function, found.where.short, found.seconds) == ("second", "app.c:31", 3.0)


def test_processes_are_compared_within_themselves() -> None:
    # Rank 1 has twice the work of rank 0, but within each the threads are even.
    profile = build(main(region("forces", (2.0, 2.0, 4.0, 4.0), (0.2, 0.2, 0.2, 0.2))), locations=ranks(2, threads=2))
    assert "omp-load-imbalance" not in causes(profile)
    threads = team(Facts(profile))
    assert threads is not None
    assert threads.imbalance.tolist() == [0.0]
    assert threads.process.tolist() == [0, 0, 1, 1]
    uneven = build(main(region("forces", (4.0, 2.0, 4.0, 2.0), (0.0, 2.0, 0.0, 2.0))), locations=ranks(2, threads=2))
    found = finding(diagnosed(uneven), "omp-load-imbalance")
    assert found.seconds == 4.0


def test_a_slight_imbalance_has_something_against_it() -> None:
    # The busiest has 3.5 s, the mean is 3.125 s: 12 % above it.
    found = finding(
        diagnosed(build(main(region("forces", (3.5, 3.0, 3.0, 3.0), (0.0, 0.5, 0.5, 0.5))))), "omp-load-imbalance"
    )
    assert found.against == ("The busiest thread is less than 20.0 % above the mean.",)


def test_little_waiting_is_no_finding() -> None:
    assert causes(build(main(region("forces", (10.0, 9.0), (0.0, 0.9))))) == ["hot-compute"]  # 0.9 of 19.9 s


def test_an_imbalance_that_explains_less_than_a_quarter_of_the_waiting_is_not_the_cause() -> None:
    profile = build(main(region("forces", (5.0, 4.2), (3.0, 3.8))))  # 0.8 s of 6.8 s waiting
    assert "omp-load-imbalance" not in causes(profile)


def test_without_a_loop_the_place_is_the_hottest_line() -> None:
    body = function("forces._omp_fn.0", line("app.c:12", time=(4.0, 1.0)), barrier(time=(None, 3.0)), at="app.c:10")
    found = finding(diagnosed(build(main(gomp("GOMP_parallel", body)))), "omp-load-imbalance")
    assert found.where.short == "app.c:12"


def test_the_shared_loop_is_the_outermost_one() -> None:
    inner = loop("app.c:13", line("app.c:14", time=(3.0, 1.0)))
    body = function("forces._omp_fn.0", loop("app.c:12", inner), barrier(time=(None, 2.0)), at="app.c:10")
    found = finding(diagnosed(build(main(gomp("GOMP_parallel", body)))), "omp-load-imbalance")
    assert found.where.short == "app.c:12"


def test_a_task_stands_for_its_region_where_the_body_has_no_function() -> None:
    task = placeholder(
        "<omp impl task>", function("kernel", line("app.c:12", time=(4.0, 1.0))), barrier(time=(None, 3.0))
    )
    found = finding(diagnosed(build(main(task))), "omp-load-imbalance")
    assert (found.seconds, found.where.function) == (3.0, "kernel")


def test_a_task_around_an_outlined_body_is_no_region_of_its_own() -> None:
    body = function(".omp_outlined.", line("app.c:12", time=(4.0, 1.0)), barrier(time=(None, 3.0)))
    facts = Facts(build(main(placeholder("<omp impl task>", body))))
    threads = team(facts)
    assert threads is not None
    assert threads.regions == (".omp_outlined.",)
    assert threads.work.tolist() == [[4.0], [1.0]]


def test_only_real_regions_are_counted() -> None:
    facts = Facts(build(main(line("app.c:3", time=(1.0, None)), region("forces", (4.0, 1.0), (0.0, 4.0)))))
    threads = team(facts)
    assert threads is not None
    assert threads.regions == ("forces",)
    assert threads.serial.tolist() == [1.0, 0.0]


# -- serial code ---------------------------------------------------------------------------------------------


def serial(seconds: Seconds, work: Seconds, wait: Seconds, **facts: object):
    return build(
        main(function("setup", line("app.c:40", time=seconds), at="app.c:39"), region("forces", work, wait)), **facts
    )


def test_what_one_thread_does_alone_the_others_wait_for() -> None:
    diagnosis = diagnosed(serial((3.0, None, None, None), (1.0,) * 4, (0.0, 3.0, 3.0, 3.0)))
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function, found.where.short) == ("omp-serial-fraction", "setup", "app.c:40")
    assert (found.seconds, found.share) == (9.0, 0.5625)
    assert found.summary == "setup runs on one thread while 3 others wait."
    assert statements(diagnosis, found.cause) == [
        "Waiting in the OpenMP runtime takes 9.00 s of 16.0 s (56.2 %).",
        "Serial code outside parallel regions takes 3.00 s of 16.0 s (18.8 %).",
        "setup outside parallel regions takes 3.00 s of 16.0 s (18.8 %).",
    ]


def test_only_the_threads_of_the_same_process_wait_for_its_serial_code() -> None:
    profile = serial((3.0, None, 3.0, None), (1.0,) * 4, (0.0, 3.0, 0.0, 3.0), locations=ranks(2, threads=2))
    found = diagnosed(profile).findings[0]
    assert (found.cause, found.seconds) == ("omp-serial-fraction", 6.0)
    assert found.summary == "setup runs on one thread while 1 other waits."


def test_waiting_is_divided_between_the_causes_that_explain_it() -> None:
    # Serial code costs 2 s, the imbalance 2 s, but only 3 s were waited: each gets three quarters.
    found = diagnosed(serial((2.0, None), (4.0, 2.0), (0.0, 3.0))).findings
    assert {item.cause: item.seconds for item in found if item.cause.startswith("omp-")} == {
        "omp-load-imbalance": 1.5,
        "omp-serial-fraction": 1.5,
    }


SINGLE = """\
void cycle(void) {
#pragma omp parallel
  {
#pragma omp single
    for (int i = 0; i < n; i++)
      fill(i);
#pragma omp for
    for (int i = 0; i < n; i++)
      apply(i);
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task
      fill(i);
    }
  }
}
"""


@pytest.mark.parametrize(("at", "alone"), [(6, True), (9, False), (13, False)])
def test_what_the_source_gives_to_one_thread_is_serial_whichever_takes_it(at: int, alone: bool) -> None:
    """Two threads take turns in a single; its tasks are everybody's."""
    filled = line(f"app.c:{at}", function("fill", line("app.c:30", time=(2.0, 1.0)), at="app.c:29"))
    body = function("cycle._omp_fn.0", filled, line("app.c:4", barrier(time=(1.0, 2.0))), at="app.c:2")
    profile = build(main(function("cycle", line("app.c:2", gomp("GOMP_parallel", body)), at="app.c:1")))
    diagnosis = diagnosed(replace(profile, read_source=source({"app.c": SINGLE})))
    assert ("omp-serial-fraction" in [found.cause for found in diagnosis.findings]) == alone
    if alone:
        found = diagnosis.findings[0]
        assert (found.cause, found.where.function, found.where.short) == ("omp-serial-fraction", "cycle", "app.c:6")
        assert found.seconds == 3.0


def test_waiting_for_a_thread_that_had_no_core_is_not_held_against_the_program() -> None:
    """Thread 0 works 1 s and stands still for 3 s meanwhile; thread 1 waits 3 s, in which the other has no core."""
    gone, seen = "cpu.time.no-core", "cpu.time.others-without-core"
    work = line("app.c:12", time=(1.0, 1.0), values={gone: (3.0, 0.0)})
    body = function("forces._omp_fn.0", work, barrier(time=(0.0, 3.0), values={seen: (0.0, 3.0)}), at="app.c:10")
    profile = build(main(function("forces", line("app.c:9", gomp("GOMP_parallel", body)), at="app.c:9")))
    metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in profile.metrics.items()}
    diagnosis = diagnosed(replace(profile, metrics=metrics))
    assert [found.cause for found in diagnosis.findings] == ["hot-compute"]
    assert diagnosis.headline.startswith(  # as that is most of the time
        "Runnable threads had no core for 3.00 s: other programs were running, or the threads are bound to too few cores."
    )


def test_a_repair_frees_what_its_finding_costs_and_no_other_waiting() -> None:
    """On free cores both are there for 4 s, of which the one waits 3 s; with even work that would be 2.5 s: 1.6 times as fast."""
    gone, seen = "cpu.time.no-core", "cpu.time.others-without-core"
    work = line("app.c:12", time=(4.0, 1.0), values={gone: (3.0, 3.0)})
    body = function("forces._omp_fn.0", work, barrier(time=(3.0, 6.0), values={seen: (3.0, 3.0)}), at="app.c:10")
    profile = build(main(function("forces", line("app.c:9", gomp("GOMP_parallel", body)), at="app.c:9")))
    metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in profile.metrics.items()}
    found = finding(diagnosed(replace(profile, metrics=metrics, sample_count=14e6)), "omp-load-imbalance")
    assert (found.seconds, found.speedup_bound) == (3.0, pytest.approx(1.6, rel=0.01))
    # Serial code of 1 s costs another thread 1 s, which even work does not free.
    setup = function("setup", line("app.c:40", time=(1.0, None)), at="app.c:39")
    both = build(main(setup, region("forces", (4.0, 1.0), (0.0, 4.0))), sample_count=1e7)
    assert finding(diagnosed(both), "omp-load-imbalance").speedup_bound == pytest.approx(10 / (10 - 3), rel=0.01)


@pytest.mark.parametrize(
    ("lacked", "told"), [(1.5, "had no core for 1.50 s"), (0.0, "Measuring made the run 1.50 times")]
)
def test_what_other_programs_took_is_not_called_the_profilers(lacked: float, told: str) -> None:
    work = function("step", line("app.c:12", time=2.0, values={"cpu.time.no-core": lacked}), at="app.c:10")
    profile = replace(build(main(work)), run={"overhead": "0.5"})
    metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in profile.metrics.items()}
    notes = diagnosed(replace(profile, metrics=metrics)).notes
    assert [told in note for note in notes] == [True]


def test_threads_that_share_a_core_are_not_uneven() -> None:
    """Each could work for 4 s and had the core for a part of it: the loop gives the next iterations to whoever runs."""
    gone = "cpu.time.no-core"
    for lacked, expected in (((1.0, 3.0), ["hot-compute"]), ((0.0, 0.0), ["omp-load-imbalance"])):
        work = line("app.c:12", time=(3.0, 1.0), values={gone: lacked})
        body = function("forces._omp_fn.0", work, barrier(time=(0.0, 2.0)), at="app.c:10")
        profile = build(main(function("forces", line("app.c:9", gomp("GOMP_parallel", body)), at="app.c:9")))
        metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in profile.metrics.items()}
        assert [found.cause for found in diagnosed(replace(profile, metrics=metrics)).findings] == expected


@pytest.mark.parametrize(("lacked", "expected"), [(4.0, "hot-compute"), (0.0, "omp-barrier-wait")])
def test_threads_that_are_late_by_turns_for_want_of_a_core_do_not_meet_too_often(lacked: float, expected: str) -> None:
    """Each stands still for as long as the other: while one catches up the other waits, whether or not it is without a core just then."""
    work = line("app.c:12", time=(3.0, 3.0), values={"cpu.time.no-core": (lacked, lacked)})
    body = function("forces._omp_fn.0", work, barrier(time=(2.0, 2.0)), at="app.c:10")
    profile = build(main(function("forces", line("app.c:9", gomp("GOMP_parallel", body)), at="app.c:9")))
    metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in profile.metrics.items()}
    assert diagnosed(replace(profile, metrics=metrics)).findings[0].cause == expected


LOOPED = """void one(int i)
{
  check(i);
}
void cluster(void)
{
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    check(i);
  for (int i = 0; i < n; i++)
    one(i);
}
"""


@pytest.mark.parametrize(("read", "place"), [(True, ("cluster", "app.c:11")), (False, ("one", "app.c:3"))])
def test_the_serial_part_is_where_it_calls_what_runs_mostly_in_regions(read: bool, place: tuple[str, str]) -> None:
    def check(*time: float | None) -> Node:
        return function(
            "check", line("app.c:31", function("count", line("app.c:41", time=time), at="app.c:40")), at="app.c:30"
        )

    body = function("cluster._omp_fn.0", line("app.c:9", check(3.0, 3.0)), barrier(time=(None, 2.0)), at="app.c:7")
    one = line("app.c:11", function("one", line("app.c:3", check(2.0, None)), at="app.c:1"))
    region = line("app.c:7", gomp("GOMP_parallel", body))
    profile = build(main(line("app.c:60", function("cluster", region, one, at="app.c:5"))))
    if read:
        profile = replace(profile, read_source=source({"app.c": LOOPED}))
    found = finding(diagnosed(profile), "omp-serial-fraction")
    assert (found.where.function, found.where.short) == place
    assert f"{place[0]} outside parallel regions takes 2.00 s of 10.0 s (20.0 %)." in statements(
        diagnosed(profile), found.cause
    )


def test_serial_code_without_a_main_place_is_one_sign_only() -> None:
    parts = [function(f"f{number}", line(f"app.c:{number}", time=(1.0, None))) for number in range(40, 43)]
    found = finding(diagnosed(build(main(*parts, region("forces", (1.0, 1.0), (0.0, 3.0))))), "omp-serial-fraction")
    assert found.confidence == sure(1)


def test_time_in_mpi_or_asleep_is_not_serial_computing() -> None:
    exchange = line("app.c:60", mpi("MPI_Barrier", time=(5.0, None)))
    profile = build(main(exchange, region("forces", (1.0, 1.0), (0.0, 5.0))))
    threads = team(Facts(profile))
    assert threads is not None
    assert threads.serial.tolist() == [0.0, 0.0]
    assert "omp-serial-fraction" not in causes(profile)


def test_a_line_of_python_gets_no_directives_but_the_number_of_threads_of_the_library() -> None:
    """Its own time in exec_blas is OpenBLAS looking whether its other threads are ready; libgomp's worker waits for regions of a library."""
    blas, packages = "/opt/numpy.libs/libscipy_openblas64_.so", "/usr/lib/python3.11/site-packages"
    spins = call("exec_blas", call("daxpy_k", module=blas, time=(2.0, None)), module=blas, time=(5.0, None))
    norm = call("norm", spins, at=f"{packages}/numpy/linalg.py:20")
    body = call(
        "lloyd._omp_fn.0",
        gomp("gomp_team_barrier_wait", time=(1.0, 3.0)),
        module=f"{packages}/sklearn/_k_means.so",
        time=(2.0, 2.0),
    )
    fit = call("KMeans.fit", gomp("GOMP_parallel", body), at=f"{packages}/sklearn/cluster.py:30")
    work = (line("app.py:26", fit), line("app.py:31", norm), line("app.py:32", time=(9.0, None)))
    diagnosis = diagnosed(build(function("main", *work, at="app.py:21")))
    found = diagnosis.findings[0]
    assert (found.title, found.where.short, found.seconds, found.speedup_bound) == (
        "Threads of a library with too little work", "app.py:31", 9.0, None,
    )  # fmt: skip
    assert statements(diagnosis, found.cause) == [
        "Waiting of library threads in calls from main takes 9.00 s of 24.0 s (37.5 %): app.py:31 5.00 s, app.py:26 4.00 s."
    ]
    assert "OPENBLAS_NUM_THREADS=1" in found.advice[0]
    assert all("omp " not in advice for each in diagnosis.findings for advice in each.advice)


# -- synchronising -------------------------------------------------------------------------------------------


def test_regions_with_less_work_than_waiting_are_too_small_where_they_were_counted() -> None:
    counted = (50_000.0, 50_000.0)
    diagnosis = diagnosed(build(main(region("tiny", (1.0, 1.0), (3.0, 3.5), calls=counted))))
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function) == ("omp-fine-grained-regions", "tiny")
    assert (found.seconds, found.share) == (6.0, 6.0 / 8.5)  # twice what the one waits that waits least
    assert statements(diagnosis, found.cause) == [
        "Waiting in the OpenMP runtime takes 6.50 s of 8.50 s (76.5 %).",
        "Waiting of the thread that waits least takes 3.00 s.",
        "Work in parallel regions takes 2.00 s of the 8.50 s of working and waiting (23.5 %): 1 parallel region.",
        # 8.5 s of 100,000 entries.
        "Working in a parallel region and waiting for the next one takes 85.0 µs on average, over 100,000 entries of a thread.",
    ]


@pytest.mark.parametrize(
    ("work", "switches", "processors", "cause"),
    [
        (1.0, 50_000.0, "2", "omp-fine-grained-regions"),
        (1.0, 50.0, "2", "omp-barrier-wait"),
        (1.0, None, "2", "omp-barrier-wait"),
        # Two of one core: (2 s + 2 s) of what the core has is work, so each waits for its turn.
        (1.0, 50_000.0, "1", "oversubscription"),
        (0.1, 50_000.0, "1", "omp-fine-grained-regions"),
    ],
)
def test_threads_that_sleep_often_are_in_regions_that_are_too_small(
    work: float, switches: float | None, processors: str, cause: str
) -> None:
    body = function("tiny._omp_fn.0", line("app.c:12", time=(work, work)), at="app.c:10")
    counted = None if switches is None else {"cpu.context-switches": (switches, switches)}
    wait = gomp("GOMP_parallel", body, time=(3.0, 3.0), values=counted)
    profile = replace(build(main(line("app.c:9", wait))), hardware={"processors": processors})
    found = diagnosed(profile).findings[0]
    assert found.cause == cause
    if cause == "omp-fine-grained-regions":
        # 2 × (1 s + 3 s) or 2 × (0.1 s + 3 s) of 100,000 switches
        mean = {1.0: "80.0", 0.1: "62.0"}[work]
        assert (
            f"takes {mean} µs on average, over 100,000 times that a thread left its core while it waited."
            in statements(diagnosed(profile), cause)[-1]
        )


@pytest.mark.parametrize("calls", [None, (50.0, 50.0)])
def test_few_or_uncounted_regions_are_not_called_too_small(calls: Seconds | None) -> None:
    found = diagnosed(build(main(region("steps", (1.0, 1.0), (3.0, 3.5), calls=calls)))).findings[0]
    assert (found.cause, found.seconds) == ("omp-barrier-wait", 6.0)


@pytest.mark.parametrize(
    ("length", "cause", "changes"),
    [(1, "omp-fine-grained-regions", 198), (2, "omp-fine-grained-regions", 100), (20, "omp-barrier-wait", 0)],
)
def test_a_trace_shows_how_often_regions_are_entered(length: int, cause: str, changes: int) -> None:
    """Of 400 samples a thread one in four is at work, in stretches of a length: n p (1 − p) = 75 changes were expected of each."""
    profile = build(main(region("loops", (1.0, 1.0), (3.0, 3.0))))
    tree = profile.tree
    work, wait = int(np.flatnonzero(tree.line == 12)[0]), int(np.flatnonzero(tree.named("<omp barrier wait>"))[0])
    node = np.tile(np.repeat([work, wait, wait, wait], length), 400 // (4 * length)).astype(np.int32)
    start = np.arange(len(node), dtype=np.uint64) * 10_000_000
    lanes = tuple(Lane(row, start, node) for row in range(2))
    traced = replace(profile, sample_count=800.0, read_timeline=lambda: Timeline(0, int(start[-1]), lanes))
    diagnosis = diagnosed(traced)
    assert diagnosis.findings[0].cause == cause
    told = [text for text in statements(diagnosis, cause) if "changes from work to waiting" in text]
    assert len(told) == (changes > 0)
    assert all(text.endswith(f": {2 * len(node) // (4 * length)} changes.") for text in told)


@pytest.mark.parametrize(("shifted", "cause"), [(True, "omp-serial-fraction"), (False, "omp-barrier-wait")])
def test_a_region_in_which_threads_take_turns_is_serial_by_a_trace(shifted: bool, cause: str) -> None:
    """Both threads work and wait half of the time: one after the other, or together."""
    profile = build(main(region("loops", (2.0, 2.0), (2.0, 2.0))))
    tree = profile.tree
    work, wait = int(np.flatnonzero(tree.line == 12)[0]), int(np.flatnonzero(tree.named("<omp barrier wait>"))[0])
    node = np.tile(np.repeat([work, wait], 20), 10).astype(np.int32)
    start = np.arange(len(node), dtype=np.uint64) * 10_000_000
    lanes = Lane(0, start, node), Lane(1, start, np.roll(node, 20) if shifted else node)
    traced = replace(profile, sample_count=800.0, read_timeline=lambda: Timeline(0, int(start[-1]), lanes))
    first = diagnosed(traced).findings[0]
    assert (first.cause, first.where.line) == (cause, 12 if shifted else first.where.line)
    if shifted:
        assert first.summary.endswith("though in a parallel region, runs on one thread while 1 other waits.")


def test_a_thread_with_little_of_a_region_is_no_turn() -> None:
    """The other one works all the time, beside it as well."""
    profile = build(main(region("loops", (4.0, 0.6), (0.0, 3.4))))
    tree = profile.tree
    work, wait = int(np.flatnonzero(tree.line == 12)[0]), int(np.flatnonzero(tree.named("<omp barrier wait>"))[0])
    start = np.arange(400, dtype=np.uint64) * 10_000_000
    few = np.tile(np.repeat([work, wait], [6, 34]), 10).astype(np.int32)
    lanes = Lane(0, start, np.full(400, work, dtype=np.int32)), Lane(1, start, few)
    traced = replace(profile, sample_count=800.0, read_timeline=lambda: Timeline(0, int(start[-1]), lanes))
    assert diagnosed(traced).findings[0].cause == "omp-load-imbalance"


def test_even_waiting_beside_much_work_is_too_much_synchronisation() -> None:
    found = diagnosed(build(main(region("steps", (6.0, 6.0), (4.0, 4.0))))).findings[0]
    assert (found.cause, found.share) == ("omp-barrier-wait", 0.4)
    # Two threads alone: ln(0.4 / 0.1) × sqrt(2) = 1.96 standard errors from the threshold.
    assert found.confidence == pytest.approx(sure(1) * 0.975, abs=0.005)


def test_overhead_of_the_runtime_counts_as_waiting() -> None:
    body = function("tiny._omp_fn.0", line("app.c:12", time=(1.0, 1.0)), values={"calls.count": (9e4, 9e4)})
    found = diagnosed(build(main(line("app.c:9", gomp("GOMP_parallel", body, time=(3.0, 3.0)))))).findings[0]
    assert (found.cause, found.seconds) == ("omp-fine-grained-regions", 6.0)


# -- critical sections ---------------------------------------------------------------------------------------


def critical(lock: Seconds, *, wait: Seconds = (None, None)):
    enter = line("app.c:15", gomp("GOMP_critical_start", time=lock))
    return build(main(region("count", (2.0, 2.0), wait, enter)))


def test_threads_that_queue_at_a_critical_section_are_found() -> None:
    diagnosis = diagnosed(critical((3.0, 3.0)))
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function, found.where.short) == ("omp-critical-contention", "count", "app.c:15")
    assert (found.share, found.seconds, found.confidence) == (0.6, 6.0, sure(2))
    assert found.summary == "Threads contend for the critical section in count: 60.0 % of the thread time."
    assert statements(diagnosis, found.cause) == [
        "Entering and leaving critical sections or locks takes 6.00 s of 10.0 s (60.0 %): 2 threads.",
        "Calls from count take 6.00 s of the 6.00 s of critical sections or locks (100 %).",
        "app.c:15 takes 6.00 s of the 6.00 s of critical sections or locks (100 %).",
    ]


def test_the_barrier_behind_a_critical_section_is_no_second_cause() -> None:
    assert [c for c in causes(critical((3.0, 3.0), wait=(2.0, 2.0))) if c.startswith("omp-")] == [
        "omp-critical-contention"
    ]


def test_one_thread_in_a_lock_is_one_sign_only() -> None:
    assert finding(diagnosed(critical((3.0, None))), "omp-critical-contention").confidence == sure(1)


def test_little_time_in_locks_is_no_finding() -> None:
    assert "omp-critical-contention" not in causes(critical((0.1, 0.1)))  # 0.2 of 4.2 s


def test_locks_without_lines_or_callers() -> None:
    enter = gomp("GOMP_critical_start", time=(3.0, 3.0))
    bare = replace(region("count", (2.0, 2.0), (None, None)))
    assert "omp-critical-contention" in causes(build(main(bare, function("count", enter, at="app.c"))))
    assert causes(build(main(line("app.c:2", time=(1.0, 1.0))), gomp("GOMP_critical_start", time=(3.0, 3.0)))) == [
        "hot-compute"
    ]


# -- who takes part ------------------------------------------------------------------------------------------


def test_a_single_thread_is_no_team() -> None:
    profile = build(main(region("forces", (4.0,), (2.0,))))
    assert team(Facts(profile)) is None
    assert causes(profile) == ["hot-compute"]


def test_without_waiting_or_regions_there_is_no_team() -> None:
    assert team(Facts(build(main(line("app.c:3", time=(1.0, 1.0)))))) is None
    assert team(Facts(build(main(line("app.c:3", gomp("GOMP_barrier", time=(1.0, 1.0)), time=(1.0, 1.0)))))) is None


def test_threads_of_helpers_are_not_in_the_team() -> None:
    # Rank 0: threads 0 and 3 work; 1 and 2 belong to the MPI library and only poll.
    helper = polling((None, 10.0, 10.0, None))
    profile = build(
        main(region("forces", (4.0, None, None, 2.0), (0.0, None, None, 2.0))),
        helper,
        locations=ranks(1, threads=4),
    )
    threads = team(Facts(profile))
    assert threads is not None
    assert threads.work.tolist() == [[4.0], [2.0]]
    assert finding(diagnosed(profile), "omp-load-imbalance").seconds == 2.0


def polling(seconds: Seconds) -> Node:
    return thread(
        libc("start_thread", call("progress_engine", libc("poll", time=seconds), module="/usr/lib/libopen-pal.so.40"))
    )


def test_more_threads_than_cores_are_a_doubt() -> None:
    where = Locations.of(4, thread=np.arange(4), core=np.array([0, 1, 0, 1]))
    profile = build(main(region("forces", (4.0, 3.0, 2.0, 1.0), (0.0, 1.0, 2.0, 3.0))), locations=where)
    found = diagnosed(profile).findings[0]
    assert found.against == ("4 threads ran on 2 cores: part of the waiting may be for a core, not for work.",)
    assert found.confidence == sure(3, against=1)
    bound = replace(profile, where=Locations.of(4, thread=np.arange(4), core=np.arange(4)))
    assert diagnosed(bound).findings[0].against == ()


# -- regions that instrumentation names --------------------------------------------------------------------------


def directive(name: str, *children: Node, time: Seconds, at: int = 40) -> Node:
    """A region as OPARI2 names it for Score-P, entered 10,000 times by each thread."""
    calls = {"calls.count": (1e4,) * len(time)}
    return node(
        NodeKind.REGION,
        Relation.CALL,
        f"!$omp {name} @app.c:{at}",
        *children,
        at=f"app.c:{at}",
        time=time,
        values=calls,
    )


def instrumented(overhead: Seconds, work: Seconds, wait: Seconds) -> Profile:
    loop_ = directive("for", directive("implicit barrier", time=wait, at=44), time=work)
    nothing = (0.0,) * len(work)
    return build(
        main(function("relax", directive("parallel", loop_, time=overhead, at=39), time=nothing, at="app.c:30"))
    )


def test_instrumented_regions_of_unequal_work_are_an_imbalance_of_their_function() -> None:
    diagnosis = diagnosed(instrumented((0.0,) * 4, (4.0, 3.0, 2.0, 1.0), (0.0, 1.0, 2.0, 3.0)))
    (found,) = diagnosis.findings
    assert (found.cause, found.where.function, found.seconds) == ("omp-load-imbalance", "relax", 6.0)
    assert (
        "The work of a thread in relax takes 1.00 s at least, 2.50 s on average and 4.00 s at most, over 4 threads."
        in statements(diagnosis, found.cause)
    )


def test_instrumented_regions_with_less_work_than_overhead_are_too_small() -> None:
    (found,) = diagnosed(instrumented((1.0,) * 4, (0.5,) * 4, (2.5,) * 4)).findings
    assert (found.cause, found.where.function) == ("omp-fine-grained-regions", "relax")
    assert found.share == pytest.approx(3.5 / 4)


def test_the_critical_section_of_an_instrumented_loop_belongs_to_its_function() -> None:
    loop_ = directive("for", directive("critical", time=(1.0, 1.0), at=47), time=(1.0, 1.0))
    profile = build(main(function("relax", directive("parallel", loop_, time=(0.0, 0.0)), at="app.c:30")))
    assert finding(diagnosed(profile), "omp-critical-contention").where.function == "relax"


@pytest.mark.parametrize(("work", "idle"), [((4.0, 3.9), False), ((4.0, 0.0), True)])
def test_more_threads_are_advised_only_where_some_do_nothing_of_a_hot_place(work: Seconds, idle: bool) -> None:
    profile = build(main(region("sweep", work, (0.1, 0.1)), *([] if not idle else [line("app.c:90", time=(0.0, 4.0))])))
    advice = finding(diagnosed(profile), "hot-compute").advice
    assert any("cores are idle" in each for each in advice) is idle
