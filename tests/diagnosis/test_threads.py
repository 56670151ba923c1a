"""Threads that are not OpenMP's, over time: lanes of a few stays, whose sums are done by hand or in steps of a millisecond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chathpc.diagnosis.facts import Facts
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import WITHOUT_CORE, Lane, Timeline
from tests.diagnosis.parts import causes, diagnosed, function, libc, main, statements, thread, wall
from tests.profile.build import Node, build, call, line

IDLE = -1
Stays = Sequence[tuple[str, float]]  #: name of a place (or "", "no core"), seconds


def threads(*lanes: Stays) -> Profile:
    """A program whose threads were at places one after the other: `set_up` of main's, `work` and `solve` of all, and waiting."""
    spent = [{place: sum(length for name, length in lane if name == place) for place, _ in lane} for lane in lanes]

    def times(place: str) -> tuple[float | None, ...]:
        return tuple(each.get(place) or None for each in spent)

    profile = build(
        main(
            function("set_up", line("app.cc:5", time=times("set_up")), at="app.cc:4"),
            function("run", line("app.cc:30", libc("pthread_join", time=times("join"))), at="app.cc:29"),
        ),
        thread(
            function(
                "pool",
                line("app.cc:10", libc("pthread_cond_wait", time=times("wait"))),
                line("app.cc:11", libc("pthread_mutex_lock", time=times("lock"))),
                function("work", line("app.cc:15", time=times("work")), at="app.cc:14"),
                function("solve", line("app.cc:20", time=times("solve")), at="app.cc:19"),
                at="app.cc:9",
            )
        ),
    )
    tree = profile.tree
    lines = {"set_up": 5, "work": 15, "solve": 20}
    node = {place: int(np.flatnonzero(tree.line == number)[0]) for place, number in lines.items()}
    for place, name in (("join", "pthread_join"), ("wait", "pthread_cond_wait"), ("lock", "pthread_mutex_lock")):
        node[place] = int(np.flatnonzero(tree.named(f"{name} [libc.so.6]"))[0])
    node |= {"": IDLE, "no core": WITHOUT_CORE}
    found = []
    for row, lane in enumerate(lanes):
        ends = np.cumsum([0.0, *(length for _, length in lane)])
        states = [*(node[place] for place, _ in lane), IDLE]
        found.append(Lane(row, np.round(ends * 1e9).astype(np.uint64), np.array(states, dtype=np.int32)))
    end = max(int(each.start[-1]) for each in found)
    return replace(wall(profile), sample_count=10_000.0, read_timeline=lambda: Timeline(0, end, tuple(found)))


def test_a_thread_that_ends_early_leaves_the_others_with_the_work() -> None:
    """Two threads could work 4 s each; one of them has ended for 3 s of it."""
    diagnosis = diagnosed(threads([("join", 4.0)], [("work", 4.0)], [("work", 1.0)]))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function, first.title) == ("omp-load-imbalance", "pool", "Uneven work of threads")
    assert (first.share, first.speedup_bound) == (pytest.approx(3 / 8), pytest.approx(1 / (1 - 3 / 8), rel=0.05))
    assert first.summary == (
        "The work in pool is unevenly distributed: the busiest of 2 threads computes for 4.00 s, the mean is 2.50 s."
    )
    assert "3.00 s of the 8.00 s of 2 threads" in " ".join(statements(diagnosis, first.cause))
    assert any("fetch_add" in each for each in first.advice)
    assert not any("schedule(" in each for each in first.advice)


def test_what_one_thread_does_before_the_others_begin_is_serial() -> None:
    diagnosis = diagnosed(
        threads([("set_up", 2.0), ("join", 2.0)], [("", 2.0), ("work", 2.0)], [("", 2.0), ("work", 2.0)])
    )
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function, first.share) == ("omp-serial-fraction", "set_up", pytest.approx(2 / 8))
    assert first.summary == "One thread works alone for 50.0 % of the elapsed time, most of it in set_up."


def test_threads_that_take_turns_are_serial_too() -> None:
    """Of 8 s two threads work together for 4, and one solves while the other waits, now this one and now that."""
    one = [("work", 2.0), ("solve", 1.0), ("wait", 1.0)] * 2
    other = [("work", 2.0), ("wait", 1.0), ("solve", 1.0)] * 2
    first = diagnosed(threads([("join", 8.0)], one, other)).findings[0]
    assert (first.cause, first.where.function, first.share) == ("omp-serial-fraction", "solve", pytest.approx(4 / 16))


def test_each_time_another_thread_is_late() -> None:
    first = diagnosed(
        threads(
            [("join", 8.0)],
            [("work", 3.0), ("wait", 2.0), ("work", 1.0)] * 1,
            [("work", 1.0), ("wait", 2.0), ("work", 3.0)],
        )
    ).findings[0]
    assert first.cause == "omp-load-imbalance"
    assert first.summary.endswith("each thread has about as much in all, but not at the same time.")


@pytest.mark.parametrize("state", ["no core", "lock"])
def test_who_has_no_core_or_wants_a_lock_is_not_idle(state: str) -> None:
    lanes = [("join", 4.0)], [("work", 4.0)], [("work", 1.0), (state, 2.5), ("work", 0.5)]
    assert not {"omp-load-imbalance", "omp-serial-fraction"} & set(causes(threads(*lanes)))


def test_a_share_of_the_time_that_others_need_for_set_up_is_healthy() -> None:
    lanes = [("set_up", 0.5), ("join", 4.5)], *[[("", 0.5), ("work", 4.5)]] * 2
    assert not {"omp-load-imbalance", "omp-serial-fraction"} & set(causes(threads(*lanes)))


def test_waiting_for_threads_that_work_one_after_the_other_is_no_waiting_of_the_program() -> None:
    """Main waits to the end; some thread always works."""
    lanes = [("wait", 4.0)], *([("", float(at)), ("work", 1.0)] for at in range(4))
    facts = Facts(threads(*lanes))
    assert facts.concurrency is None  # never two at once
    waits = (
        [("wait", 6.0)],
        [("work", 2.0), ("wait", 3.0), ("work", 1.0)],
        [("work", 2.0), ("wait", 3.0), ("work", 1.0)],
    )
    known = Facts(threads(*waits)).concurrency
    assert known is not None
    assert (known.nobody, known.elapsed, known.width) == (pytest.approx(3.0), pytest.approx(6.0), 2)


def test_who_does_ever_so_little_of_the_work_could_do_more() -> None:
    diagnosis = diagnosed(threads([("join", 4.0)], [("work", 4.0)], [("work", 0.1)]))
    first = diagnosis.findings[0]
    assert (first.cause, first.share) == ("omp-load-imbalance", pytest.approx(3.9 / 8))
    # Who does something else beside it could not, for all that is known.
    beside = diagnosed(threads([("join", 4.0)], [("work", 4.0)], [("solve", 0.1)]))
    assert not {"omp-load-imbalance", "omp-serial-fraction"} & {each.cause for each in beside.findings}


def meeting(*waits: float) -> Profile:
    """Threads that work 1 s each and wait so long at barriers."""
    works = tuple(1.0 for _ in waits)
    barrier = libc("pthread_barrier_wait", libc("futex_wait", time=waits))
    return wall(build(thread(function("worker", line("app.c:8", time=works), line("app.c:9", barrier)))))


def test_barriers_at_which_all_wait_come_too_often() -> None:
    diagnosis = diagnosed(meeting(3.0, 4.0))
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function, first.where.line) == ("omp-barrier-wait", "worker", 9)
    assert first.share == pytest.approx(2 * 3.0 / 9.0)
    assert "blocking-wait" not in causes(meeting(3.0, 4.0))
    assert "omp-barrier-wait" not in causes(meeting(0.0, 4.0))


PLACES = ("set_up", "work", "solve", "wait", "lock", "", "no core")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(PLACES), st.integers(1, 40)), min_size=2, max_size=8), min_size=2, max_size=4
    )
)
def test_idleness_is_what_a_count_in_each_millisecond_gives(lanes: list[list[tuple[str, int]]]) -> None:
    profile = threads(*([(place, length / 1000) for place, length in lane] for lane in lanes))
    known = Facts(profile).concurrency
    steps = max(sum(length for _, length in lane) for lane in lanes)
    at = [[place for place, length in lane for _ in range(length)] for lane in lanes]
    at = [[*lane, *[""] * (steps - len(lane))] for lane in at]
    working = [[lane[step] for lane in at if lane[step] not in ("", "wait")] for step in range(steps)]
    present = {row for row, lane in enumerate(lanes) if any(place not in ("", "no core") for place, _ in lane)}
    if known is None or len(present) < len(lanes):
        return  # never two at once, or lanes without any time, which are no threads
    some = [step for step in range(steps) if working[step]]
    inside = working[some[0] : some[-1] + 1]
    held = dict.fromkeys(PLACES, 0.0)
    for now in inside:
        running = [place for place in now if place != "lock"]
        for place in running:
            held[place] += max(known.width - len(now), 0) / len(running) / 1000
    lines = {"set_up": 5, "work": 15, "solve": 20}
    for place, number in lines.items():
        node = int(np.flatnonzero(profile.tree.line == number)[0])
        assert known.charged[node] == pytest.approx(held[place], abs=1e-9)
    assert known.elapsed == pytest.approx(len(inside) / 1000)
    assert known.nobody == pytest.approx(sum(not [one for one in now if one != "lock"] for now in inside) / 1000)


def scheduled(work: float, tasks: float, starts: float) -> Profile:
    """Main hands out tasks of oneTBB or starts threads; another thread works as well."""
    body: list[Node] = [
        function(
            "step",
            line("app.cc:12", call("tbb::detail::d1::spawn", at="task.h:5", module="/opt/app", time=(tasks, None))),
        ),
        function("each", line("app.cc:22", libc("pthread_create", time=(starts, None)), time=(work, work))),
    ]
    return wall(build(main(*body)))


@pytest.mark.parametrize(
    ("work", "tasks", "starts", "place"),
    [(1.0, 4.0, 0.0, "step"), (1.0, 0.0, 4.0, "each"), (2.0, 0.8, 0.0, ""), (2.0, 0.0, 0.5, "")],
)
def test_tasks_and_threads_that_cost_more_than_they_do(work: float, tasks: float, starts: float, place: str) -> None:
    diagnosis = diagnosed(scheduled(work, tasks, starts))
    found = [each for each in diagnosis.findings if each.cause == "omp-fine-grained-regions"]
    assert [each.where.function for each in found] == ([place] if place else [])
    if place:
        assert (found[0].share, found[0].title) == (pytest.approx(4 / 6), "Tasks with too little work")


def test_threads_that_live_too_short_for_a_sample_of_their_work() -> None:
    """What was seen of them is how the kernel begins and ends them; main waits for each."""
    begun = libc(
        "clone3",
        call(
            "ret_from_fork",
            call("schedule_tail", module="[kernel.kallsyms]", time=(None, 3.0)),
            module="[kernel.kallsyms]",
        ),
    )
    ended = libc(
        "start_thread",
        libc("advise_stack_range", libc("madvise", time=(None, 1.0))),
        function("work", line("app.c:9", time=(None, 1.0))),
    )
    profile = wall(
        build(
            main(line("app.c:5", libc("pthread_join", time=(5.0, None)))), thread(begun), thread(libc("clone3", ended))
        )
    )
    first = diagnosed(profile).findings[0]
    assert (first.cause, first.where.function, first.where.line) == ("omp-fine-grained-regions", "main", 5)
    assert first.share == pytest.approx(1 - 1 / 5)
    assert "starting and ending threads takes 80.0 %" in first.summary


def test_a_thread_whose_samples_are_lost_bounds_no_gain() -> None:
    """Of the worker's 8 s the profile has samples for 4; the other worker has all of its own."""
    lost = [("", 1.0), ("work", 1.0), ("", 2.0), ("work", 1.0), ("", 2.0), ("work", 2.0), ("", 1.0)]
    whole = [("", 1.0), ("work", 1.0), ("wait", 7.0)]
    diagnosis = diagnosed(threads([("set_up", 9.0)], lost, whole))
    note = next(each for each in diagnosis.notes if "has samples for" in each)
    assert note.startswith("Thread 1 has samples for 4.00 s of the 8.00 s from its first to its last: ")
    assert {each.speedup_bound for each in diagnosis.findings} == {None}


def test_who_starts_late_or_has_no_core_has_lost_no_samples() -> None:
    late = [("", 4.0), ("work", 1.0), ("no core", 3.0), ("work", 1.0)]
    assert Facts(threads([("set_up", 9.0)], late)).unseen == []
