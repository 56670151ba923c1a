from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.profile.metric import Unit
from tests.diagnosis.parts import (
    causes,
    diagnosed,
    finding,
    function,
    libc,
    main,
    ranks,
    source,
    statements,
    sure,
    thread,
    wall,
)
from tests.profile.build import build, call, line, placeholder


def worker(*children: object):
    return thread(libc("start_thread", function("serve", *children, at="app.c:50")))


# -- lock-contention -----------------------------------------------------------------------------------------


def contended(first: float, second: float | None):
    lock = line("app.c:12", libc("pthread_mutex_lock", libc("__lll_lock_wait", time=(first, second))))
    return build(main(function("push", lock, line("app.c:13", time=(8.0, 2.0)), at="app.c:10")))


def test_threads_that_wait_for_a_lock_are_counted() -> None:
    diagnosis = diagnosed(contended(4.0, 6.0))
    found = finding(diagnosis, "lock-contention")
    assert (found.where.function, found.where.short, found.share, found.against) == ("push", "app.c:12", 0.5, ())
    assert statements(diagnosis, "lock-contention") == [
        "Lock functions in 2 threads take 10.0 s of 20.0 s (50.0 %).",
        "Calls from push take 10.0 s of the 10.0 s of lock functions in 2 threads (100 %).",
    ]


def test_one_thread_alone_is_a_doubt() -> None:
    diagnosis = diagnosed(contended(4.0, None))
    found = finding(diagnosis, "lock-contention")
    assert found.against == ("Only one thread was seen in lock functions.",)
    assert statements(diagnosis, "lock-contention")[0].startswith("Lock functions in 1 thread take 4.00 s")


def test_a_process_of_one_thread_waits_for_no_other() -> None:
    """Taking a lock that nobody else can hold costs time, too; each rank has locks of its own."""
    lock = line("app.c:12", libc("pthread_mutex_lock", time=(4.0, 6.0)))
    tree = build(main(function("push", lock, line("app.c:13", time=(8.0, 2.0)), at="app.c:10")))
    assert "lock-contention" in causes(tree)
    assert "lock-contention" not in causes(replace(tree, where=ranks(2)))
    assert "lock-contention" in causes(replace(tree, where=ranks(1, 2)))


def test_few_waits_or_locks_of_nobody_known_are_no_finding() -> None:
    assert causes(contended(0.2, 0.3)) == ["hot-compute"]  # 0.5 of 10.5 s
    orphan = thread(libc("pthread_mutex_lock", time=5.0))
    assert "lock-contention" not in causes(build(main(line("app.c:2", time=5.0)), orphan))


LIB, PYTHON = "/usr/lib/python3.11", "/usr/bin/python3.11"


def of_python(name: str, *children: object, at: str):
    return call(name, *children, at=f"{LIB}/{at}")


def test_threads_that_wait_for_the_interpreter_are_told_so() -> None:
    """A condition right below a function of Python is the interpreter's: it has its lock, and main waits for what the threads give."""
    locks = call("lock_PyThread_acquire_lock", module=PYTHON, time=(9.0, None, None))
    condition = of_python("Condition.wait", locks, at="threading.py:327")
    result = of_python("Future.result", condition, at="concurrent/futures/_base.py:451")
    taken = libc("pthread_cond_timedwait", time=(None, 6.0, 5.0))
    work = function("work", line("app.py:12", taken), line("app.py:13", time=(None, 3.0, 4.0)), at="app.py:10")
    profile = wall(
        build(
            function("main", line("app.py:30", result), at="app.py:28"),
            of_python("Thread.run", work, at="threading.py:982"),
        )
    )
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "lock-contention")
    assert (found.where.short, found.title, found.share) == (
        "app.py:12",
        "Threads wait for Python's interpreter lock",
        pytest.approx(11 / 18),
    )
    assert (
        statements(diagnosis, "lock-contention")[0]
        == "Waits of 2 threads for the interpreter's lock take 11.0 s of 18.0 s (61.1 %)."
    )
    assert all("jemalloc" not in advice for advice in found.advice)
    assert "blocking-wait" not in [each.cause for each in diagnosis.findings]


def test_a_profile_of_one_thread_that_waits_for_others_says_that_these_are_not_in_it() -> None:
    """As cProfile tells it: the lock is that of threading's wait, in the thread that started the others."""
    acquire = placeholder("<method 'acquire' of '_thread.lock' objects>", time=4.0)
    waits = function(
        "process", of_python("wait", acquire, at="threading.py:295"), line("app.py:40", time=0.3), at="app.py:39"
    )
    alone = build(function("main", waits, at="app.py:45"))
    diagnosis = diagnosed(wall(alone))
    assert (diagnosis.verdict, diagnosis.findings) == ("insufficient-data", ())
    assert diagnosis.headline.startswith(
        "For 93.0 % of the time the program waits, most in process, for other threads or processes"
    )


@pytest.mark.parametrize(("busy", "words"), [(7.0, "take much longer"), (0.5, "more to do")])
def test_workers_that_wait_for_tasks_are_told_of_tasks(busy: float, words: str) -> None:
    def worker_of(wait: tuple[float | None, ...], work: tuple[float | None, ...]):
        gets = of_python(
            "SimpleQueue.get",
            call("os_read", libc("read", time=wait), module=PYTHON),
            at="multiprocessing/queues.py:367",
        )
        return of_python(
            "worker",
            gets,
            function("one", line("app.py:3", time=work), at="app.py:2"),
            at="multiprocessing/pool.py:114",
        )

    profile = wall(
        build(function("main", line("app.py:30", worker_of((7.1 - busy, 6.0), (busy, 0.5))), at="app.py:28"))
    )
    found = finding(diagnosed(profile), "blocking-wait")
    assert found.title == "Workers wait for tasks"
    assert words in found.advice[0]


# -- blocking-wait -------------------------------------------------------------------------------------------


def test_a_program_that_sleeps_instead_of_working_is_found() -> None:
    collect = function(
        "collect",
        line("app.c:53", libc("usleep", libc("clock_nanosleep", time=6.0))),
        line("app.c:54", time=4.0),
        at="app.c:50",
    )
    diagnosis = diagnosed(wall(build(main(collect))))
    found = finding(diagnosis, "blocking-wait")
    assert (found.where.function, found.where.short, found.share, found.against) == ("collect", "app.c:53", 0.6, ())
    assert found.summary == "collect waits in usleep instead of working: 60.0 % of the thread time."
    assert found.confidence == sure(2)
    assert statements(diagnosis, "blocking-wait") == [
        "Sleeping and waiting for events takes 6.00 s of 10.0 s (60.0 %).",
        "usleep called from collect takes 6.00 s of the 6.00 s of sleeping and waiting (100 %).",
        "The work of the busiest thread takes 4.00 s of the 10.0 s of its time (40.0 %).",
    ]


def test_waiting_for_events_is_one_sign_only() -> None:
    collect = function("collect", line("app.c:53", libc("poll", time=6.0)), line("app.c:54", time=4.0))
    assert finding(diagnosed(build(main(collect))), "blocking-wait").confidence == sure(1)


def test_an_idle_worker_is_no_bottleneck() -> None:
    idle = worker(line("app.c:52", libc("pthread_cond_wait", time=(None, 10.0))))
    diagnosis = diagnosed(build(main(line("app.c:2", time=(10.0, None))), idle))
    found = finding(diagnosis, "blocking-wait")
    assert (found.share, found.headroom) == (0.5, 0.1)
    assert found.against[0].startswith("Another thread works for 100 % of the run")


def test_who_has_no_core_would_work() -> None:
    gone = "cpu.time.no-core"
    idle = worker(line("app.c:52", libc("pthread_cond_wait", time=(None, 10.0))))
    profile = build(main(line("app.c:2", time=(4.0, None), values={gone: (6.0, None)})), idle)
    metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in profile.metrics.items()}
    found = finding(diagnosed(replace(profile, metrics=metrics)), "blocking-wait")
    assert found.headroom == 0.1
    assert any(
        "with its wait for a core" in said
        for said in statements(diagnosed(replace(profile, metrics=metrics)), "blocking-wait")
    )


@pytest.mark.parametrize(("busy", "headroom"), [(6.9, 0.7), (7.1, 0.1)])
def test_waiting_counts_where_nobody_works_for_nearly_a_third_of_the_run(busy: float, headroom: float) -> None:
    half = line("app.c:2", line("app.c:3", time=(busy, None)), libc("sem_wait", time=(10.0 - busy, None)))
    profile = build(main(half), worker(line("app.c:52", libc("poll", time=(None, 10.0)))))
    assert finding(diagnosed(profile), "blocking-wait").headroom == headroom


def test_sleeping_decides_the_place_where_it_is_a_fifth_of_the_waiting() -> None:
    asleep = function("nap", line("app.c:30", libc("usleep", time=2.0)))
    polls = function("watch", line("app.c:33", libc("poll", time=6.0)), line("app.c:34", time=2.0))
    found = finding(diagnosed(build(main(asleep, polls))), "blocking-wait")
    assert (found.where.function, found.share) == ("nap", 0.8)
    assert found.summary == "nap waits in usleep instead of working: 20.0 % of the thread time (80.0 % program-wide)."


def test_short_waits_are_no_finding() -> None:
    assert causes(build(main(line("app.c:2", libc("usleep", time=0.5), time=9.5)))) == ["hot-compute"]


def test_joining_threads_is_no_blocking() -> None:
    assert causes(build(main(line("app.c:2", libc("pthread_join", time=5.0), time=5.0)))) == ["hot-compute"]


# -- waiting that was not seen -------------------------------------------------------------------------------

JOURNAL = """void commit(int fd, double *row) {
    write(fd, row, 4096);
    fsync(fd);
}
double relax(double *v, int n) {
    double s = 0;
    for (int i = 1; i < n; i++) s += v[i] * v[i - 1];
    return s;
}
void simulate(int fd, double *v, int n) {
    for (int k = 0; k < n; k++) {
        relax(v, n);
        commit(fd, v);
    }
}
"""


@pytest.mark.parametrize(
    ("text", "cause", "where", "at"),
    [
        (JOURNAL, "io-bound", "commit", "a.c:3"),
        (JOURNAL.replace("fsync(fd)", "usleep(500)"), "blocking-wait", "commit", "a.c:3"),
        (JOURNAL.replace("fsync(fd)", "pthread_mutex_lock(&all)"), "lock-contention", "commit", "a.c:3"),
        # Nothing, or several things to wait for: the function after whose samples the thread was blocked, and no line.
        (JOURNAL.replace("fsync(fd)", "count(fd)"), "blocking-wait", "relax", "a.c"),
        (JOURNAL.replace("relax(v, n);", "sleep(1);"), "blocking-wait", "relax", "a.c"),
    ],
)
def test_waiting_that_was_not_seen_is_at_the_only_call_that_waits_and_never_in_the_loop_beside(
    text: str, cause: str, where: str, at: str
) -> None:
    relax = function("relax", line("a.c:7", placeholder("<blocked>", time=7.0), time=3.0), at="a.c:5")
    simulate = function("simulate", line("a.c:12", relax), at="a.c:10")
    diagnosis = diagnosed(wall(build(main(simulate), read_source=source({"a.c": text}))))
    found = finding(diagnosis, cause)
    assert (found.where.function, found.where.short, found.share) == (where, at, 0.7)
    assert "was not seen" in found.against[-1]
    assert found.next_measurement.startswith("strace -f -c -w ./app (")
    if cause == "io-bound":
        assert statements(diagnosis, cause)[-1] == (
            "The source at a.c:3 calls fsync, the only kind of call in and below simulate in which a thread waits."
        )
