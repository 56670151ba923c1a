"""Threads that libraries run for themselves: recognised by their stacks, named, and no part of any value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.facts import Facts
from chathpc.profile.activity import Activity
from chathpc.profile.classification import classify
from chathpc.profile.helper_threads import helper_nodes
from chathpc.profile.location import Locations
from chathpc.profile.merge import merge
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree, NodeKind, Relation
from tests.diagnosis.parts import function, libc, main, mpi, ranks, thread
from tests.profile.build import Amount, Node, build, call, entry, kernel, line, node, placeholder

MPI = "/usr/lib/libopen-pal.so.40"
CUDA = "/usr/lib/libcuda.so.1"


def polling(time: Amount, module: str = MPI) -> Node:
    return thread(call("progress", libc("poll", time=time), module=module))


def with_helpers() -> Profile:
    """Two ranks of three threads: one works, one polls for MPI, one for the GPU's runtime."""
    return build(
        main(line("app.c:2", time=(3.0, None, None, 2.0, None, None)), mpi("MPI_Barrier", time=(1.0, 0, 0, 2.0, 0, 0))),
        polling((None, 6.0, None, None, 7.0, None)),
        polling((None, None, 5.0, None, None, 5.5), CUDA),
        locations=ranks(2, threads=3),
    )


def test_the_total_is_that_of_the_programs_threads_and_one_sentence_says_what_is_not_in_it() -> None:
    profile = with_helpers()
    assert profile.total("cpu.time") == 8.0
    assert profile.exclusive("cpu.time").sum() == 8.0
    assert profile.everything.total("cpu.time") == 31.5
    assert profile.helpers.time == 23.5
    assert profile.helpers.owners == {"the MPI library": 2, "the GPU runtime": 2}
    assert profile.helpers.sentence == "4 helper threads of the MPI library and the GPU runtime left out: 23.5 s."
    assert profile.helpers.locations.tolist() == [False, True, True, False, True, True]
    assert profile.threads.tolist() == [0, 3]
    assert profile.shape == "2 ranks"
    assert profile.everything.shape == "2 ranks × 3 threads"


def test_tables_and_locations_leave_them_out_too() -> None:
    profile = with_helpers()
    for by in ("function", "line", "module"):
        assert profile.table(by)["exclusive"].sum() == 8.0
    assert np.nansum(profile.locations["cpu.time"]) == 8.0
    assert profile.locations["kind"].tolist() == ["thread", "helper thread", "helper thread"] * 2


def test_per_location_values_leave_them_out() -> None:
    profile = with_helpers()
    roots = profile.tree.roots
    per_location = profile.values.per_location("cpu.time", roots)
    assert per_location.sum() == 8.0
    assert per_location.sum(axis=1).tolist() == [4.0, 0, 0, 4.0, 0, 0]
    everything = profile.everything.values.per_location("cpu.time", roots)
    assert everything.sum(axis=1).tolist() == [4.0, 6.0, 5.0, 4.0, 7.0, 5.5]


def test_a_format_that_tells_no_threads_apart_still_leaves_out_their_stacks() -> None:
    profile = build(main(line("app.c:2", time=3.0)), polling(6.0))
    assert profile.total("cpu.time") == 3.0
    assert profile.helpers.sentence == "Helper threads of the MPI library left out: 6.00 s."
    assert profile.shape == profile.everything.shape


def test_nothing_is_left_out_or_said_where_all_threads_are_the_programs() -> None:
    profile = build(main(line("app.c:2", time=(3.0, 1.0))), locations=ranks(1, threads=2))
    assert profile.total("cpu.time") == 4.0
    assert profile.helpers.sentence == ""
    assert profile.shape == "1 rank × 2 threads"


def test_what_the_programs_thread_does_before_its_first_function_belongs_to_the_run() -> None:
    start = libc("_dl_start", time=(0.25, None))
    profile = build(main(line("app.c:2", time=(3.0, None))), start, polling((None, 3.5)), locations=ranks(1, threads=2))
    assert profile.total("cpu.time") == 3.25
    assert profile.helpers.time == 3.5


def test_a_cpu_clock_sees_nothing_of_threads_that_never_work_and_they_are_not_counted() -> None:
    profile = build(main(line("app.c:2", time=(3.0, None, 2.0, None))), locations=ranks(2, threads=2))
    assert profile.shape == "2 ranks"


def test_threads_of_which_several_launch_are_counted_without_the_one_that_has_nothing() -> None:
    def launching(*seconds: float | None) -> Profile:
        times = kernel("k", values={"gpu.time": seconds})
        return build(main(times), locations=ranks(1, threads=len(seconds)))

    assert launching(2.0, None, 1.0).shape == "1 rank × 2 threads"
    assert launching(2.0, None, None).shape == "1 rank × 3 threads"


def test_a_rank_without_time_is_still_a_rank() -> None:
    profile = build(main(line("app.c:2", time=(3.0, None))), locations=ranks(2))
    assert profile.shape == "2 ranks"


def test_joined_views_leave_out_what_each_leaves_out() -> None:
    one, two = with_helpers(), with_helpers()
    assert merge([one, two]).total("cpu.time") == pytest.approx(16.0)
    assert merge([one, two]).everything.total("cpu.time") == pytest.approx(63.0)


def _parts() -> st.SearchStrategy[Node]:
    leaf: st.SearchStrategy[Callable[..., Node]] = st.sampled_from(
        [
            lambda *below: function("work", *below, time=1.0),
            lambda *below: libc("poll", *below, time=1.0),
            lambda *below: libc("start_thread", *below),
            lambda *below: libc("_dl_fixup", *below, time=1.0),
            lambda *below: call("progress", *below, module=MPI, time=1.0),
            lambda *below: call("operator()", *below, at="/usr/include/c++/13/bits/stl_algo.h:3", time=1.0),
            lambda *below: call("std::sort", *below, time=1.0),
            lambda *below: call("exp", *below, time=1.0),
            lambda *below: call("malloc", *below, time=1.0),
            lambda *below: mpi("MPI_Recv", *below, time=1.0),
            lambda *below: libc("asm_exc_page_fault", *below, time=1.0),
        ]
    )
    return st.recursive(
        leaf.map(lambda make: make()),
        lambda below: st.tuples(leaf, st.lists(below, max_size=3)).map(lambda pair: pair[0](*pair[1])),
        max_leaves=12,
    )


@given(st.lists(_parts(), min_size=1, max_size=4))
def test_the_quick_search_finds_what_the_classification_of_the_whole_tree_finds(parts: list[Node]) -> None:
    tree: CallTree = build(entry("<thread root>", *parts), main(line("app.c:2", time=1.0))).tree
    assert helper_nodes(tree).tolist() == classify(tree).of(Activity.HELPER).tolist()


def test_gpu_streams_are_no_helper_threads() -> None:
    where = Locations.of(2, thread=np.array([0, -1]), gpu_context=np.array([-1, 0]), stream=np.array([-1, 7]))
    profile = build(main(line("app.c:2", time=(1.0, None))), polling((None, 5.0)), locations=where)
    assert profile.helpers.locations.tolist() == [False, False]


def test_threads_of_pythons_own_pools_are_left_out() -> None:
    lib, native = "/usr/lib/python3.11", "/usr/lib/libpython3.11.so.1.0"
    wait = call(
        "Condition.wait",
        call("lock_PyThread_acquire_lock", module=native, time=(None, 9.0)),
        at=f"{lib}/threading.py:327",
    )
    feeder = call(
        "Thread.run", call("Queue._feed", wait, at=f"{lib}/multiprocessing/queues.py:231"), at=f"{lib}/threading.py:982"
    )
    profile = build(call("main", line("app.py:3", time=(4.0, None)), at="app.py:3"), feeder)
    assert (profile.total("cpu.time"), profile.helpers.time) == (4.0, 9.0)


def test_the_threads_of_a_pool_of_processes_and_its_wait_for_results_are_left_out_while_the_workers_work() -> None:
    lib, native = "/usr/lib/python3.11", "/usr/bin/python3.11"
    read = call("os_read", libc("read", time=(None, 9.0, None)), module=native)
    received = call("Connection.recv", read, at=f"{lib}/multiprocessing/connection.py:250")
    handler = call(
        "Thread.run",
        call("Pool._handle_results", received, at=f"{lib}/multiprocessing/pool.py:579"),
        at=f"{lib}/threading.py:982",
    )
    event = call(
        "Event.wait",
        call("lock_PyThread_acquire_lock", module=native, time=(9.0, None, None)),
        at=f"{lib}/threading.py:629",
    )
    result = call("ApplyResult.get", event, at=f"{lib}/multiprocessing/pool.py:774")
    work = call(
        "worker",
        call("one", line("app.py:3", time=(None, None, 8.0)), at="app.py:2"),
        at=f"{lib}/multiprocessing/pool.py:114",
    )
    profile = build(
        call(
            "main",
            line("app.py:30", result),
            line("app.py:31", work),
            line("app.py:32", time=(0.5, None, None)),
            at="app.py:28",
        ),
        handler,
    )
    assert profile.total("cpu.time") == 8.5
    assert (profile.helpers.time, profile.helpers.joining) == (9.0, 9.0)
    assert helper_nodes(profile.tree).tolist() == classify(profile.tree).of(Activity.HELPER).tolist()


def test_an_idle_server_of_openblas_is_left_out() -> None:
    idle = thread(
        call(
            "blas_thread_server",
            libc("pthread_cond_wait", time=(None, 9.0)),
            module="/env/numpy.libs/libscipy_openblas64_-32a4.so",
        )
    )
    assert build(main(line("app.c:2", time=(4.0, None))), idle).total("cpu.time") == 4.0


def test_a_thread_that_runs_the_programs_code_may_wait_where_nobody_saw_it() -> None:
    """On a busy machine most of a team's time may be told as blocked somewhere; who works at all is no helper."""
    sweep = call("[unknown]", function("sweep", line("app.c:9", time=(None, 0.4)), at="app.c:8"))
    blocked = placeholder("<blocked>", time=(None, 9.0))
    first = function("main", line("app.c:2", time=(4.0, None)))
    profile = build(node(NodeKind.REGION, Relation.LEXICAL, "app", first, sweep, blocked))
    assert (profile.total("cpu.time"), profile.helpers.time) == (13.4, 0.0)


def with_joins(*, others: tuple[float, ...] = (4.0, 3.0)) -> Profile:
    """Main works for 0.5 s and waits for 5 s for others to end."""
    return build(
        main(
            line("app.c:2", time=(0.5, *(None for _ in others))),
            libc("pthread_join", time=(5.0, *(None for _ in others))),
        ),
        thread(function("work", line("app.c:9", time=(None, *others)))),
        locations=ranks(1, threads=1 + len(others)),
    )


def test_a_wait_for_threads_to_end_is_no_part_of_the_time_while_these_work() -> None:
    profile = with_joins()
    assert profile.total("cpu.time") == 0.5 + 4.0 + 3.0
    assert profile.everything.total("cpu.time") == 12.5
    assert profile.helpers.joining == 5.0
    assert profile.helpers.sentence == "Excluded: 5.00 s of waiting for threads to end."
    assert profile.present("cpu.time").tolist() == [5.5, 4.0, 3.0]
    assert np.nan_to_num(profile.location_totals("cpu.time")).tolist() == [0.5, 4.0, 3.0]
    facts = Facts(profile)
    assert facts.total == 7.5
    assert facts.share(Activity.JOIN) == 0.0
    assert facts.matrix[:, Activity.JOIN].tolist() == [5.0, 0.0, 0.0]


def test_a_wait_for_what_the_profile_does_not_have_is_part_of_the_time() -> None:
    assert with_joins(others=(0.1,)).total("cpu.time") == 0.5 + 5.0 + 0.1
    alone = build(main(line("app.c:2", time=1.0), libc("waitpid", time=5.0)))
    assert alone.total("cpu.time") == 6.0
    assert not alone.helpers.sentence


def test_a_thread_that_does_nothing_but_wait_for_others_is_still_there() -> None:
    profile = build(
        main(libc("pthread_join", time=(5.0, None, None))),
        thread(function("work", line("app.c:9", time=(None, 4.0, 3.0)))),
        locations=ranks(1, threads=3),
    )
    assert profile.threads.tolist() == [0, 1, 2]
    assert profile.counts.threads == 3


def unseen(*blocked: Amount, work: tuple[float | None, ...], ranks_of: int = 1) -> Profile:
    """Threads of a process that block where nobody saw it, and work."""
    sweep = call("[unknown]", function("sweep", line("app.c:9", time=work), at="app.c:8"))
    top = node(NodeKind.REGION, Relation.LEXICAL, "app", sweep, placeholder("<blocked>", time=blocked))
    return build(top, locations=ranks(ranks_of, threads=len(work) // ranks_of))


def test_a_main_thread_that_was_not_seen_to_wait_while_others_work_is_no_librarys() -> None:
    profile = unseen(12.0, None, None, work=(None, 1.5, 1.5))
    assert profile.total("cpu.time") == 3.0
    assert not profile.helpers.locations.any()
    assert profile.helpers.sentence == "Excluded: 12.0 s of waiting while others work."
    assert profile.present("cpu.time").tolist() == [12.0, 1.5, 1.5]


def test_what_workers_wait_for_unseen_beside_a_waiting_main_thread_is_not_dropped_with_more_of_it() -> None:
    profile = unseen(12.0, 2.0, 1.5, work=(None, 1.5, 1.5))
    assert profile.total("cpu.time") == 12.0 + 2.0 + 1.5 + 3.0


def test_main_threads_wait_unseen_for_threads_of_their_own_process_alone() -> None:
    profile = unseen(4.0, None, work=(None, 3.0), ranks_of=2)
    assert profile.total("cpu.time") == 7.0
    assert not profile.helpers.sentence


def test_another_thread_that_was_never_seen_in_the_program_is_a_librarys() -> None:
    profile = unseen(None, 9.0, work=(4.0, None))
    assert (profile.total("cpu.time"), profile.helpers.locations.tolist()) == (4.0, [False, True])
