"""Steady states and iterations of made-up runs, against how they were made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.critical_path import Work
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.phases import BINS, iterations, phase_facts, steady_state
from tests.diagnosis.parts import diagnosed, function, hot_loop, main
from tests.diagnosis.test_arrivals import sampled
from tests.diagnosis.timelines import api, every, kernel, recorded
from tests.profile.build import build, call, line


def samples(*parts: tuple[int, int]) -> Work:
    """(number of samples of 10 ns, label) one part after the other."""
    label = np.concatenate([np.full(count, label, dtype=np.int32) for count, label in parts])
    start = np.arange(len(label), dtype=np.int64) * 10
    return Work(start, start + 10, label)


# -- steady state ----------------------------------------------------------------------------------------------


def test_start_up_ends_where_other_functions_begin() -> None:
    found = steady_state(samples((100, 7), (300, 1)), distance=0.5)
    assert found is not None
    assert (found.first, found.begin, found.end, found.last, found.different) == (0, 1000, 4000, 4000, 7)
    assert found.start_up == 0.25


def test_the_end_is_apart_as_well() -> None:
    found = steady_state(samples((40, 7), (340, 1), (20, 9)), distance=0.5)
    assert found is not None
    assert (found.begin, found.end, found.last) == (400, 3800, 4000)


def test_a_run_that_does_the_same_all_the_time_has_no_start_up() -> None:
    found = steady_state(samples(*[(3, 1), (2, 2)] * 80), distance=0.5)
    assert found is not None
    assert (found.begin, found.end, found.different) == (found.first, found.last, -1)


def test_a_run_that_changes_all_the_time_has_no_steady_state() -> None:
    assert steady_state(samples(*[(10, label) for label in range(BINS)]), distance=0.5) is None


def test_a_run_of_two_halves_has_no_steady_state_beyond_half_of_it() -> None:
    assert steady_state(samples((200, 1), (200, 2)), distance=0.5) is None


def test_times_since_the_epoch_keep_their_digits() -> None:
    plain = samples((100, 7), (300, 1))
    epoch = 1_700_000_000_000_000_001
    found = steady_state(Work(plain.start + epoch, plain.end + epoch, plain.label), distance=0.5)
    assert found is not None
    assert (found.begin - epoch, found.end - epoch) == (1000, 4000)


def test_too_few_samples_tell_nothing() -> None:
    assert steady_state(samples((BINS - 1, 1)), distance=0.5) is None


@given(st.integers(0, 15), st.integers(0, 4))
def test_phases_are_found_to_a_bin(start: int, end: int) -> None:
    parts = [(start * 10, 5), ((BINS - start - end) * 10, 1), (end * 10, 6)]
    found = steady_state(samples(*[part for part in parts if part[0]]), distance=0.5)
    assert found is not None
    assert (found.begin, found.last - found.end) == (start * 100, end * 100)


# -- iterations ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12).filter(lambda body: len(set(body)) > 1), st.integers(7, 20))
def test_a_repeated_body_is_found_with_its_smallest_period(body: list[int], count: int) -> None:
    label = np.array(body * count, dtype=np.int32)
    found = iterations(label, np.arange(len(label), dtype=np.int64) * 10, match=1.0, fewest=3)
    assert found is not None
    smallest = next(p for p in range(1, len(body) + 1) if len(body) % p == 0 and body == body[:p] * (len(body) // p))
    assert found.period == smallest
    assert found.count == len(label) // smallest
    assert (found.median, found.longest) == (10.0 * smallest, 10.0 * smallest)


def test_a_slow_iteration_shows_in_the_longest() -> None:
    start = np.arange(40, dtype=np.int64) * 10
    start[21:] += 500
    found = iterations(np.array([1, 2] * 20, dtype=np.int32), start, match=0.9, fewest=3)
    assert found is not None
    assert (found.period, found.median, found.longest) == (2, 20.0, 520.0)


def test_output_now_and_then_does_not_hide_the_iterations() -> None:
    label = np.array([1, 2, 3, 4] * 50, dtype=np.int32)
    label[[17, 90]] = 9
    found = iterations(label, np.arange(200, dtype=np.int64), match=0.9, fewest=3)
    assert found is not None
    assert found.period == 4


@pytest.mark.parametrize("label", [[], [1], [1, 1, 1, 1, 1, 1], [1, 2, 1, 2], list(range(60))])
def test_without_repetition_there_are_no_iterations(label: list[int]) -> None:
    assert (
        iterations(np.array(label, dtype=np.int32), np.arange(len(label), dtype=np.int64), match=0.9, fewest=3) is None
    )


def test_of_very_many_operations_those_in_the_middle_are_looked_at() -> None:
    label = np.array([0] * 5000 + [1, 2, 3] * 3000 + [0] * 5000, dtype=np.int32)
    found = iterations(label, np.arange(len(label), dtype=np.int64), match=0.9, fewest=3)
    assert found is not None
    assert (found.period, found.count) == (3, 4096 // 3)


# -- profiles --------------------------------------------------------------------------------------------------


def program(reading: int, steps: int):
    profile = build(
        main(
            function("read_mesh", hot_loop(2.0, "app.c:3"), at="app.c:2"),
            function("step", hot_loop(8.0, "app.c:12"), at="app.c:11"),
        )
    )
    states = [(5 * i, "app.c:4" if i < reading else "app.c:13") for i in range(reading + steps)]
    return sampled(profile, [[*states, (5 * (reading + steps), "")]])


def test_the_start_up_of_a_thread_is_told_with_its_function() -> None:
    (told,) = phase_facts(Facts(program(100, 300)))
    assert told.statement == ("Start-up takes 500 ms of the 2.00 s of the trace (25.0 %), mostly read_mesh.")
    assert told.value == pytest.approx(0.5)
    assert told.error == pytest.approx(2.0 / 40)  # a fortieth of 2 s
    assert any(item.subject == "start-up" for item in diagnosed(program(100, 300)).evidence)


def test_the_start_of_mpi_is_not_told_as_the_program_that_calls_for_it() -> None:
    begun = function("begin", line("app.c:3", call("PMPI_Init", line("mpi.c:4", time=2.0))), at="app.c:2")
    profile = build(main(begun, function("step", hot_loop(8.0, "app.c:12"), at="app.c:11")))
    states = [(5 * i, "mpi.c:4" if i < 100 else "app.c:13") for i in range(400)]
    (told,) = phase_facts(Facts(sampled(profile, [[*states, (2000, "")]])))
    assert told.statement == "Start-up takes 500 ms of the 2.00 s of the trace (25.0 %), mostly starting MPI in begin."


def test_without_a_start_up_and_with_few_samples_nothing_is_said() -> None:
    assert phase_facts(Facts(program(0, 300))) == ()
    assert phase_facts(Facts(program(20, 60))) == ()
    assert phase_facts(Facts(program(10, 300))) == ()
    untraced = replace(program(100, 300), sample_count=None)
    assert phase_facts(Facts(untraced)) == ()


def test_iterations_of_kernels_are_told_with_their_length() -> None:
    profile = recorded(
        api("cudaLaunchKernel", *every(50, 5, 80)),
        kernel("a", *every(100, 40, 40, begin=10)), kernel("b", *every(100, 40, 40, begin=60)),
    )  # fmt: skip
    told = phase_facts(Facts(profile))
    assert [item.statement for item in told] == [
        "An iteration of the kernels takes 100 µs in the median and 100 µs at most, over 40 iterations, 2 launches each."
    ]


def test_a_single_kernel_has_no_iterations() -> None:
    assert phase_facts(Facts(recorded(kernel("a", *every(100, 90, 50))))) == ()
