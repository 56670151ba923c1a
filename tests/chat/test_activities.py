"""What kinds of work the time goes into, against sums worked out by hand; and whether a problem was found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from chathpc.chat.conversation import Conversation
from chathpc.chat.session import Session
from chathpc.chat.tools import Result, activities, call, summary
from chathpc.chat.tools.activities import PARTS
from chathpc.diagnosis.fact import Kind
from chathpc.profile.activity import Activity
from chathpc.profile.metric import Clock
from chathpc.profile.run import NO_COUNTERS
from chathpc.profile.timeline import IntervalLane, LaneKind, Timeline
from tests.chat.profiles import calls
from tests.chat.questions import session as example
from tests.diagnosis.parts import function, hot_loop, libc, libm, main, mpi
from tests.profile.build import build, gpu_op, kernel, line


@pytest.fixture(scope="module")
def session() -> Session:
    """100 s: 60 of its own, 20 in malloc below `grow`, 12 in exp, 5 in write, 3 in MPI_Recv."""
    grow = function("grow", line("app.c:20", libc("malloc", time=20.0)), at="app.c:19")
    step = function("step", hot_loop(60.0, "app.c:40"), line("app.c:45", libm("exp", time=12.0)), at="app.c:39")
    ends = line("app.c:60", libc("write", time=5.0), mpi("MPI_Recv", time=3.0))
    return Session(build(main(grow, step, ends)))


def value(result: Result) -> float:
    """The first fact's, in its unit."""
    assert not result.error, result.error
    return result.facts[0].value


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("allocation", 20.0), ("mathematics", 12.0), ("io", 5.0), ("mpi", 3.0), ("computing", 60.0), ("waiting", 0.0), ("locks", 0.0)],
)  # fmt: skip
def test_the_time_of_a_kind_of_work_is_that_of_its_functions(session: Session, kind: str, seconds: float) -> None:
    assert value(call(session, "activities", {"kind": kind})) == pytest.approx(seconds)


def test_the_parts_are_the_whole_and_the_largest_comes_first(session: Session) -> None:
    result = call(session, "activities", {"limit": 100})
    times = [float(str(row[1])) for row in result.rows]
    assert times == sorted(times, reverse=True)
    assert sum(times) == pytest.approx(100.0)
    assert result.rows[0][0] == "computing"
    assert result.text == "The run spends 60.0 s of 100 s (60.0 %) computing."


def test_each_activity_of_the_host_is_in_one_part() -> None:
    counted = Counter(one for parts in PARTS.values() for one in parts)
    assert set(counted.values()) == {1}
    assert set(Activity) - set(counted) == {Activity.HELPER, Activity.GPU}


def test_a_kind_of_work_is_in_the_functions_that_call_it(session: Session) -> None:
    result = call(session, "activities", {"kind": "allocation"})
    assert [row[:2] for row in result.rows] == [("grow", pytest.approx(20.0))]
    assert result.text.endswith(" By call: malloc 20.0 s.")
    assert [one.statement for one in result.facts[1:]] == [
        "Calls of malloc take 20.0 s of the 20.0 s of time allocating and releasing memory (100 %).",
        "grow takes 20.0 s of the 20.0 s of time allocating and releasing memory (100 %).",
    ]


def test_waiting_tells_of_mpi_apart(session: Session) -> None:
    seen = replace(session.measured.metrics["cpu.time"], clock=Clock.WALL)
    profile = replace(session.measured, metrics={**session.measured.metrics, "cpu.time": seen})
    text = call(Session(profile), "activities", {"kind": "waiting"}).text
    assert "The run spends none of its 100 s waiting" in text
    assert "it spends 3.00 s of 100 s (3.00 %). How much of that is waiting is not known." in text
    assert "By call" not in text
    assert "MPI" not in call(example("omp"), "activities", {"kind": "waiting"}).text


def test_how_much_of_the_time_in_mpi_is_waiting_is_told_as_the_diagnosis_knows_it() -> None:
    result = call(example("mpi"), "activities", {"kind": "waiting"})
    assert "none of its 12.1 s waiting outside MPI." in result.text
    # By location, without the activities: what each rank computes less than the busiest one.
    ranks = [float(row[1]) for row in call(example("mpi"), "locations").rows]  # type: ignore[arg-type]
    waits = sum(max(ranks) - one for one in ranks)
    assert f"Waiting for the busiest rank takes {waits:.2f} s of the 3.63 s of MPI time" in result.text
    assert waits == pytest.approx(next(one.value for one in result.facts if one.subject.startswith("waiting for the")))


@pytest.mark.parametrize("kind", ["waiting", "locks"])
def test_waiting_cannot_be_seen_by_a_clock_that_stops_in_it(session: Session, kind: str) -> None:
    text = call(session, "activities", {"kind": kind}).text
    assert "cannot be seen: cpu.time does not count while a thread waits." in text
    assert "none" not in text


@pytest.mark.parametrize("name", ["omp", "mpi"])
def test_what_the_diagnosis_says_of_waiting_is_the_same(name: str) -> None:
    asked = example(name)
    kind, words = {"omp": ("openmp", "in the OpenMP runtime"), "mpi": ("mpi", "in MPI")}[name]
    told = next(item for item in asked.diagnosis.evidence if words in item.statement and item.unit == "s")
    start = asked.facts.spent(Activity.MPI_SETUP)  # the diagnosis leaves it out
    assert value(call(asked, "activities", {"kind": kind})) == pytest.approx(told.value + start, rel=0.02)


def test_a_profile_without_time_of_the_host_says_so() -> None:
    asked = Session(build(main(gpu_op("<gpu kernel>", kernel("saxpy", values={"gpu.kernel.time": 4.0})))))
    answer = call(asked, "activities", {})
    assert "no time of the host" in answer.error
    assert answer.hint


def test_an_unknown_kind_is_refused_with_those_there_are(session: Session) -> None:
    answer = call(session, "activities", {"kind": "coffee"})
    assert all(kind in answer.error for kind in get_args(activities.Kind))


def test_a_problem_that_was_found_is_told_with_what_to_do() -> None:
    asked = example("omp")
    answer = call(asked, "findings", {"words": "load imbalance"})
    first = asked.diagnosis.findings[0]
    assert answer.text.startswith(f"Found: 1. {first.title}: {first.summary}")
    assert f"Do: {first.advice[0]}" in answer.lines


def test_a_problem_that_was_not_found_says_what_was_and_what_would_show_it() -> None:
    asked = example("omp")
    answer = call(asked, "findings", {"words": "false sharing"})
    unseen = "No finding of 'False sharing'. Nothing that was measured could tell."
    assert answer.text == f"{unseen} Found instead: {asked.diagnosis.headline}"
    assert "perf c2c record" in answer.lines[0]


def test_a_problem_that_only_the_keywords_name_is_told_as_near() -> None:
    answer = call(example("omp"), "findings", {"words": "vectorised"})
    assert answer.text.startswith(
        "No finding of 'Hot loop without vector instructions'. That was not examined (no remarks of a compiler). "
        "Related: 3. Hot spot: 43.4 % of the time in one place"
    )


def test_fix_is_offered_only_for_languages_that_it_changes() -> None:
    asked = example("omp")
    first = asked.diagnosis.findings[0]
    offers = [
        any("chathpc fix FOLDER" in row for row in summary.fix(asked, 1, replace(first, where=replace(first.where, file=file))).lines)
        for file in ("app.c", "app.f90", None, "app.py")
    ]  # fmt: skip
    assert offers == [True, True, True, False]


def test_words_that_name_no_problem_are_refused() -> None:
    assert "no problem 'green cheese'" in call(example("omp"), "findings", {"words": "green cheese"}).error


def test_the_computing_time_of_ranks_leaves_waiting_mpi_and_helper_threads_out() -> None:
    asked = example("mpi")
    answer = call(asked, "locations", {})
    assert len(answer.rows) == 4  # of twelve threads eight are the library's own
    told = next(item for item in asked.diagnosis.evidence if item.subject == "computing of a rank")
    figures = {part.label: part.value for part in told.parts}
    assert (figures["most"], figures["least"]) == (pytest.approx(answer.rows[0][1]), pytest.approx(answer.rows[-1][1]))


def test_waiting_within_a_place_is_told(session: Session) -> None:
    answer = call(example("omp"), "locations", {"place": "triangular_work"})
    assert "is waiting or MPI calls" in answer.text
    assert "is waiting" not in call(example("omp"), "locations", {"place": "work_item"}).text


def test_the_time_of_a_place_is_that_of_all_its_contexts() -> None:
    asked = example("omp")
    told = next(item for item in asked.diagnosis.evidence if (item.kind, item.subject) == (Kind.AMOUNT, "work_item"))
    answer = call(asked, "tree", {"place": "work_item"})
    assert answer.text.startswith("work_item has 3.91 s (43.4 %) of the run's cpu.time itself. Below work_item:")
    assert value(answer) == pytest.approx(told.value)


def test_what_lies_in_no_function_of_the_program_is_a_row_of_its_own() -> None:
    answer = call(example("omp"), "activities", {"kind": "waiting"})
    assert answer.rows[-1][0] == "(threads of libraries)"
    assert sum(float(str(row[1])) for row in answer.rows) == pytest.approx(value(answer))


def test_the_longest_thread_is_told_beside_the_time_of_all() -> None:
    text = call(example("omp"), "summary", {}).text
    assert "9.01 s over all threads (sampled with REALTIME, 1,802 samples)" in text
    assert "One thread has 2.25 s of it at most." in text


def test_what_was_not_collected_is_told_where_a_problem_was_not_found() -> None:
    lines = call(example("omp"), "findings", {"words": "memory bound"}).lines
    assert any(line.startswith("Not collected: hardware counters") for line in lines)
    assert not any("ncu" in line for line in lines)
    asked = Session(replace(example("omp").measured, run={NO_COUNTERS: "yes"}))  # a machine without any
    for words, told in (("memory bound", True), ("memory leak", False)):
        lines = call(asked, "findings", {"words": words}).lines
        assert any(line.startswith("Not collected: hardware counters") for line in lines) == told


def test_mpi_of_a_trace_is_the_lane_of_its_timeline_and_not_what_samples_hit() -> None:
    # MPI from 0 to 20 and from 10 to 30 of the 100 ns recorded, and 5 before: 30 ns inside of it.
    lane = IntervalLane(
        LaneKind.MPI,
        -1,
        0,
        np.array([-5, 0, 10]),
        np.array([0, 20, 30]),
        np.array([1, 1, 3], dtype=np.int32),
    )
    sampled = replace(calls(), timed=False, read_timeline=lambda: Timeline(0, 100, intervals=(lane,)))
    told = call(Session(sampled), "activities", {"kind": "mpi"}).text
    assert (
        told
        == "The run spends 30.0 ns of the 100 ns of the recording (30.0 %) in MPI. Another 5.00 ns lie before or after it."
    )


@pytest.mark.parametrize(
    ("ask", "most", "other"),
    [
        ("which rank waits most in MPI?", 0, 3),
        ("which rank waits longest?", 0, 3),
        ("which rank is the slowest?", 3, 0),
    ],
)
def test_who_waits_most_is_not_who_computes_most(ask: str, most: int, other: int) -> None:
    asked = example("mpi")
    facts, answer = asked.facts, Conversation(asked).ask(ask)
    in_mpi = facts.matrix[:, Activity.MPI]
    computing = facts.matrix[:, [Activity.COMPUTE, Activity.LIBRARY]].sum(axis=1)
    rank = asked.measured.where.rank[facts.locations]
    assert (rank[in_mpi.argmax()], rank[computing.argmax()]) == (0, 3)
    assert answer.text.split(" is ")[1].startswith(f"rank {most} ")
    assert answer.steps[0].rows[-1][0] == f"rank {other} thread 0"


def test_time_in_mpi_is_not_told_where_ranks_are_not() -> None:
    refused = call(example("gpu"), "locations", {"kind": "mpi"})
    assert refused.error == "The profile does not break down MPI time by rank or thread."
