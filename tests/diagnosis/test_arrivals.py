"""Who releases whom at barriers, against a simulation that knows; and critical paths of whole profiles by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis import path_facts as module
from chathpc.diagnosis.critical_path import Presence, Work, critical_path, releases
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.path_facts import PathFacts, path_facts
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import Lane, LaneKind, Timeline
from tests.diagnosis.parts import barrier, diagnosed, function, gomp, hot_loop, main, mpi, ranks, wall
from tests.diagnosis.timelines import api, every, kernel, recorded
from tests.profile.build import build, line

MILLI = 1_000_000


def present(lane: int, end: int, *waits: tuple[int, int]) -> Presence:
    spans = np.array(waits, dtype=np.int64).reshape(-1, 2)
    return Presence(lane, 0, end, (spans[:, 0], spans[:, 1]))


def rows(*group: Presence, together: bool = False) -> list[tuple[int, int, int, int]]:
    found = releases(group, together=together)
    columns = (found.source, found.done, found.into, found.at)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


# -- who comes last --------------------------------------------------------------------------------------------


def test_the_one_that_works_until_the_end_of_the_waiting_came_last() -> None:
    assert rows(present(0, 100, (40, 90)), present(1, 100)) == [(1, 90, 0, 90)]


def test_where_all_wait_the_last_to_begin_came_last() -> None:
    group = (present(0, 100, (40, 90)), present(1, 100, (60, 90)), present(2, 100, (80, 90)))
    assert rows(*group) == [(2, 80, 0, 90), (2, 80, 1, 90)]


def test_of_several_that_work_the_one_that_has_worked_longest_counts() -> None:
    group = (present(0, 100, (40, 90)), present(1, 100, (10, 70)), present(2, 100, (10, 20)))
    assert (2, 90, 0, 90) in rows(*group)


def test_a_lane_that_has_ended_or_not_begun_releases_nobody() -> None:
    assert rows(present(0, 100, (40, 90)), present(1, 50)) == []
    assert rows(present(0, 100, (40, 90)), Presence(1, 95, 200, present(0, 0).waits)) == []


def test_alone_nobody_is_waited_for() -> None:
    assert rows(present(0, 100, (40, 90))) == []
    assert rows() == []


def test_a_call_in_which_most_do_not_wait_is_none_of_all_ranks() -> None:
    group = (present(0, 100, (40, 90)), present(1, 100), present(2, 100), present(3, 100))
    assert rows(*group, together=True) == []
    most = (*group[:2], present(2, 100, (50, 90)), present(3, 100, (60, 90)))
    assert rows(*most, together=True)[-1][0] == 1


@given(st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_path_through_barriers_is_the_sum_of_the_longest_phases(phases: list[list[int]]) -> None:
    # Three threads, a barrier after each phase: Σ of the longest is by definition what no schedule can undercut.
    begin, work, waits = 0, [[] for _ in range(3)], [[] for _ in range(3)]
    for number, durations in enumerate(phases):
        end = begin + max(durations)
        for lane, duration in enumerate(durations):
            work[lane].append((begin, begin + duration, number))
            if begin + duration < end:
                waits[lane].append((begin + duration, end))
        begin = end
    lanes = [Work(*(np.array(column) for column in zip(*spans, strict=True))) for spans in work]
    needs = releases([present(lane, begin, *waits[lane]) for lane in range(3)])
    found = critical_path(lanes, needs)
    assert found.length == sum(map(max, phases))


# -- threads and ranks of a profile ----------------------------------------------------------------------------


def sampled(profile: Profile, states: Sequence[Sequence[tuple[int, str]]]) -> Profile:
    """The profile with a trace: for each location (milliseconds, label of the node) until the next; "" is idle."""
    tree = profile.tree
    of_label = {tree.label(node): node for node in range(len(tree))} | {"": -1}
    lanes = tuple(
        Lane(
            location,
            np.array([time * MILLI for time, _ in lane], dtype=np.uint64),
            np.array([of_label[label] for _, label in lane], dtype=np.int32),
        )
        for location, lane in enumerate(states)
    )
    end = max(time for lane in states for time, _ in lane) * MILLI
    return replace(profile, read_timeline=lambda: Timeline(0, end, lanes), sample_count=5000.0)


def openmp(work: tuple[float, ...] = (6.0, 3.0), wait: tuple[float, ...] = (0.0, 5.0)) -> Profile:
    body = function("f._omp_fn.0", hot_loop(work, "app.c:11"), barrier(time=wait), at="app.c:10")
    serial = function("setup", hot_loop((2.0, *(0.0,) * (len(work) - 1)), "app.c:3"), at="app.c:2")
    return wall(build(main(serial, line("app.c:5", gomp("GOMP_parallel", body)))))


def test_the_path_of_threads_follows_serial_code_and_the_busiest() -> None:
    states = [
        [(0, "app.c:4"), (200, "app.c:12"), (800, "app.c:12")],
        [(0, "<omp barrier wait>"), (200, "app.c:12"), (500, "<omp barrier wait>"), (800, "")],
    ]
    profile = sampled(openmp(), states)
    (told,) = path_facts(Facts(profile)).evidence
    assert told.statement == (
        "The critical path takes 800 ms of the 800 ms of the trace (100 %): f 75.0 %, setup 25.0 %. Work off this path costs no time."
    )
    assert told.value == pytest.approx(0.8)
    assert "2 waits" in told.source
    assert any(item.statement == told.statement for item in diagnosed(profile).evidence)


def test_of_many_lanes_those_that_wait_least_and_most_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LANES", 2)
    slow = [(0, "app.c:12"), (800, "app.c:12")]
    quick = [[(0, "app.c:12"), (end, "<omp barrier wait>"), (800, "")] for end in (300, 400, 500)]
    profile = sampled(openmp((8.0, 3.0, 4.0, 5.0), (0.0, 5.0, 4.0, 3.0)), [slow, *quick])
    (told,) = path_facts(Facts(profile)).evidence
    assert told.statement.startswith("The critical path takes at least 800 ms of")


def of_ranks(call: str) -> Profile:
    work = function("forces", hot_loop((6.0, 3.0), "app.c:20"), at="app.c:19")
    wait = function("exchange", line("app.c:71", mpi(call, time=(1.0, 4.0))), at="app.c:70")
    profile = wall(build(main(work, wait), locations=ranks(2)))
    inside = f"P{call} [libmpi.so.40.30.4]"
    return sampled(profile, [[(0, "app.c:21"), (600, inside), (700, "")], [(0, "app.c:21"), (300, inside), (700, "")]])


def test_the_path_of_ranks_leads_through_collectives_of_all() -> None:
    (told,) = path_facts(Facts(of_ranks("MPI_Allreduce"))).evidence
    assert told.statement == (
        "The critical path takes 600 ms of the 700 ms of the trace (85.7 %): forces 100 %, waits, "
        "barriers and collectives beside it 100 ms. Work off this path costs no time."
    )


def test_messages_between_two_ranks_tell_no_order_and_that_is_said() -> None:
    found = path_facts(Facts(of_ranks("MPI_Recv")))
    assert found.evidence == ()
    assert "nor which message a rank waits for" in found.note
    assert found.note in diagnosed(of_ranks("MPI_Recv")).notes


def test_without_a_trace_or_with_too_large_a_one_nothing_is_said() -> None:
    assert path_facts(Facts(openmp())) == PathFacts()
    large = replace(of_ranks("MPI_Allreduce"), sample_count=1e9)
    assert path_facts(Facts(large)) == PathFacts()


def test_a_trace_of_one_thread_has_no_path_to_tell() -> None:
    profile = sampled(openmp(), [[(0, "app.c:4"), (200, "app.c:12"), (800, "app.c:12")], [(0, "app.c:12")]])
    assert path_facts(Facts(profile)) == PathFacts()


# -- devices ---------------------------------------------------------------------------------------------------


def test_a_host_that_launches_late_is_the_path() -> None:
    # Ten rounds of 1000 µs: a launch of 10 at 800, a kernel of 180 from 815 on, the host waits for it from 820 until 1000.
    profile = recorded(
        api("cudaLaunchKernel", *every(1000, 10, 10, begin=800)), api("cudaDeviceSynchronize", *every(1000, 180, 10, begin=820)),
        kernel("sweep", *every(1000, 180, 10, begin=815), under="cudaLaunchKernel"), api("cudaMalloc", (0, 5)),
    )  # fmt: skip
    (told,) = path_facts(Facts(profile)).evidence
    # The window is from the first kernel on, 9180 µs: ten kernels of 180, and nine times 800 of the host's own code and 10 of
    # launching.
    assert told.statement == (
        "The critical path takes 9.09 ms of the 9.18 ms of the timeline (99.0 %): the host's own code 79.2 %, sweep 19.8 %. Work off this path costs no time."
    )
    assert told.value == pytest.approx(9.09e-3)
    assert "over 10 launches and 9 waits" in told.source


def test_kernels_one_after_the_other_are_the_path() -> None:
    profile = recorded(
        api("cudaLaunchKernel", *every(10, 5, 20)), api("cudaDeviceSynchronize", (200, 20_005)),
        kernel("sweep", *every(1000, 1000, 20, begin=5), under="cudaLaunchKernel"),
    )  # fmt: skip
    (told,) = path_facts(Facts(profile)).evidence
    assert "sweep 100 %" in told.statement
    assert told.value == pytest.approx(0.02, rel=1e-3)
    assert "1 waits for the device" in told.source


def test_a_timeline_without_launches_and_waits_tells_no_order_and_that_is_said() -> None:
    profile = recorded(kernel("sweep", *every(1000, 900, 30)), kernel("copy", *every(1000, 50, 30, begin=920)))
    found = path_facts(Facts(profile))
    assert found.evidence == ()
    assert found.note.startswith("Most operations cannot be paired one by one with the calls that launched them")


def test_a_timeline_that_is_too_large_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RECORDED", 10)
    profile = recorded(api("cudaLaunchKernel", *every(10, 5, 20)), kernel("sweep", *every(1000, 1000, 20, begin=5)))
    assert path_facts(Facts(profile)) == PathFacts()


def test_device_lanes_that_overlap_count_once() -> None:
    from chathpc.diagnosis.path_facts import ordered

    profile = recorded(
        api("cudaStreamSynchronize", (0, 3000)), kernel("a", *every(100, 150, 20)), kernel("b", *every(100, 20, 20, begin=10)),
    )  # fmt: skip
    timeline = Facts(profile).timeline
    assert timeline is not None
    order = ordered(timeline)
    for work in order.lanes:
        assert (work.end >= work.start).all()
        assert (work.start[1:] >= work.end[:-1]).all()
    busy = timeline.timeline.busy(LaneKind.COMPUTE)
    assert int((order.lanes[0].end - order.lanes[0].start).sum()) == int((busy[1] - busy[0]).sum())


def test_unrecorded_code_of_a_host_beside_a_busy_device_is_no_path() -> None:
    # A launch of 10 every 1000 µs, and kernels of 990 that the host is never seen to wait for: two chains of one length. Of 990
    # between two launches the device works for 985.
    profile = recorded(
        api("cudaLaunchKernel", *every(1000, 10, 30)),
        kernel("sweep", *every(1000, 990, 30, begin=5), under="cudaLaunchKernel"),
    )
    found = path_facts(Facts(profile))
    assert found.evidence == ()
    assert found.note == (
        "What the host does between its calls was not recorded, and the device works for 99.5 % of that time, so the critical path "
        "is not known."
    )


def test_without_a_recorded_wait_code_beside_a_device_that_works_for_a_third_of_it_is_no_path() -> None:
    # Of 990 µs between two launches the device works for 330: nothing tells how much of the rest the host waits for it.
    launches = api("cudaLaunchKernel", *every(1000, 10, 30))
    sweep = kernel("sweep", *every(1000, 330, 30, begin=10), under="cudaLaunchKernel")
    found = path_facts(Facts(recorded(launches, sweep)))
    assert found.evidence == ()
    assert "the device works for 33.3 % of that time" in found.note
    # A wait for each kernel shows that the host waits in calls.
    waits = api("cudaDeviceSynchronize", *every(1000, 300, 30, begin=50))
    assert path_facts(Facts(recorded(launches, sweep, waits))).evidence
