"""Comparisons of programs written down by hand, of random ones, and of databases and files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chathpc
from chathpc.comparison import words
from chathpc.comparison.record import Diff, FindingChange, ShareRecord
from chathpc.errors import UsageError
from chathpc.profile.location import Locations
from chathpc.profile.metric import NO_CORE, Clock, Unit
from chathpc.profile.profile import COMMAND, RANKS_ADDED, Profile
from chathpc.profile.tree import NodeKind, Relation
from chathpc.report import PlaceRecord
from tests.diagnosis.parts import barrier, call, function, libc, libm, main, mpi, ranks, thread, wall
from tests.diagnosis.timelines import api, every, kernel, ranged, recorded
from tests.profile.build import Node, build, line, node
from tests.profile.strategies import profiles
from tests.synthetic import hpctoolkit_v4 as v4
from tests.synthetic.collapsed import write as collapsed


def compared(before: Profile, after: Profile, **options: object) -> Diff:
    """The comparison, after checking what must hold for any."""
    found = chathpc.diff(before, after, **options)  # type: ignore[arg-type]
    check(found)
    return found


def check(found: Diff) -> None:
    if found.total is None:
        return
    scale = max(found.total.before, found.total.after, 1e-300)
    for parts, rest in ((found.shares, found.rest), (found.functions, found.functions_rest)):
        assert rest is not None
        for what in ("before", "after", "change"):
            told = sum(getattr(each, what) for each in (*parts, rest))
            assert told == pytest.approx(getattr(found.total, what), abs=1e-9 * scale)
    changes = [abs(share.change) for share in found.shares]
    assert changes == sorted(changes, reverse=True)
    json.loads(found.to_json())


def told(found: Diff) -> dict[str, float]:
    """`malloc in f` → change, of every share."""
    return {
        f"{share.call} in {share.function}" if share.call else share.function: share.change for share in found.shares
    }


def share(found: Diff, function: str) -> ShareRecord:
    (only,) = (each for each in found.shares if each.function == function)
    return only


# -- programs by hand ------------------------------------------------------------------------------------------


def test_the_deepest_context_that_changed_is_told_and_none_above_it() -> None:
    def program(seconds: float) -> Profile:
        return build(main(function("solve", function("kernel", time=seconds, at="k.c:7"), time=2.0), time=1.0))

    found = compared(program(4.0), program(8.0))
    assert told(found) == {"kernel": 4.0}
    assert (found.verdict, found.total.ratio if found.total else None) == ("slower", pytest.approx(11 / 7))
    assert share(found, "kernel").contexts == [["<program root>", "main", "solve", "kernel"]]
    assert "kernel (+4.00 s)" in found.headline


def test_what_is_noise_below_adds_up_above() -> None:
    """Ten callees with 30 ms more each (6 samples of 5 ms, on 20 samples each) are told together, where they meet."""

    def program(seconds: float) -> Profile:
        return build(main(function("solve", *(function(f"part{at}", time=seconds) for at in range(10))), time=4.0))

    found = compared(program(0.1), program(0.16))
    assert told(found) == {"solve": pytest.approx(0.6)}


def test_a_difference_within_the_error_of_sampling_is_none() -> None:
    # 1 s are 200 samples of 5 ms, 1.05 s are 210: standard error of the difference sqrt(410) = 20 samples.
    found = compared(build(main(time=1.0)), build(main(time=1.05)))
    assert (found.verdict, found.shares) == ("unchanged", [])
    assert found.total is not None
    assert found.total.error == pytest.approx(1.96 * 0.005 * np.sqrt(411), rel=0.01)
    assert "One run per side cannot show" in (found.noise.statement if found.noise else "")


def test_a_function_that_was_inlined_is_weighed_with_its_caller() -> None:
    before = build(main(function("solve", function("axpy", time=4.0), time=1.0)))
    after = build(main(function("solve", time=3.0)))
    found = compared(before, after)
    assert told(found) == {"solve": -2.0}
    assert (share(found, "solve").merged_before, share(found, "solve").merged_after) == (["axpy"], [])


def test_a_function_that_was_renamed_is_weighed_with_what_it_became() -> None:
    before, after = (
        build(main(function(name, time=seconds), time=1.0)) for name, seconds in (("old", 4.0), ("new", 1.0))
    )
    found = compared(before, after)
    assert told(found) == {"main": -3.0}
    assert (found.shares[0].merged_before, found.shares[0].merged_after) == (["old"], ["new"])
    again = compared(before, build(main(function("new", time=4.0), time=1.0)))
    assert (again.verdict, again.shares) == ("unchanged", [])


def test_a_function_that_is_new_is_told_by_its_name() -> None:
    found = compared(build(main(time=4.0)), build(main(function("check", time=2.0, at="c.c:5"), time=4.0)))
    assert told(found) == {"check": 2.0}
    only = share(found, "check")
    assert (only.only, only.where_before, only.where_after.line if only.where_after else 0) == ("after", None, 5)


def test_a_function_that_is_called_from_elsewhere_has_not_changed() -> None:
    before = build(main(function("a", function("f", time=4.0), time=1.0), function("b", time=1.0)))
    after = build(main(function("a", time=1.0), function("b", function("f", time=4.0), time=1.0)))
    assert told(compared(before, after)) == {"a": -4.0, "b": 4.0}  # the callers have
    moved = build(main(function("f", time=4.0), function("a", time=1.0), function("b", time=1.0)))
    found = compared(build(main(function("a", function("f", time=4.0), time=1.0), function("b", time=1.0))), moved)
    assert set(told(found)) == {"a", "main"}
    assert all(not row.beyond_noise for row in found.functions)
    other = compared(before, replace(after, format="gprof"))  # tools tell callers in their own ways
    assert (told(other), other.headline.count("Inside")) == ({}, 0)


def test_work_that_another_thread_does_now_has_not_changed() -> None:
    before = build(
        main(function("f", time=6.0), time=1.0), thread(function("f._omp_fn.0", time=2.0), barrier(time=4.0))
    )
    after = build(main(function("f", time=4.0), time=1.0), thread(function("f._omp_fn.0", time=4.0)))
    found = compared(before, after)
    assert told(found) == {"waiting in OpenMP in <thread root>": -4.0}


def test_calls_of_libraries_count_for_the_function_that_makes_them() -> None:
    def program(seconds: float, name: str) -> Profile:
        inner = libc("_int_malloc", time=seconds)
        return build(main(function("push", line("a.c:12", libc(name, inner), time=1.0))))

    found = compared(program(1.0, "malloc"), program(4.0, "__libc_calloc"))
    assert told(found) == {"memory allocation in push": 3.0}
    only = found.shares[0]
    assert only.activity == "memory allocation"
    assert only.where_after is not None
    assert (only.where_after.file, only.where_after.line) == ("a.c", 12)
    assert [(row.name, row.change) for row in found.activities if row.beyond_noise] == [("memory allocation", 3.0)]


def test_a_call_that_one_side_alone_makes_is_in_the_function_that_makes_it() -> None:
    inlined = line("a.c:12", function("release", line("a.c:3", libc("free", time=3.0))))
    found = compared(
        build(main(function("gather", line("a.c:9", time=2.0), inlined))), build(main(function("gather", time=2.0)))
    )
    assert told(found) == {"memory allocation in release": -3.0}
    assert found.shares[0].contexts == [["<program root>", "main", "gather", "release", "memory allocation"]]


def test_findings_that_came_and_went_are_told_with_their_costs() -> None:
    slow = build(main(function("state", line("g.c:7", libm("pow", time=6.0)), time=1.0), time=1.0))
    fast = build(main(function("state", line("g.c:7", time=1.0)), time=1.0))
    found = compared(slow, fast)
    (gone,) = (each for each in found.findings if each.cause == "expensive-math")
    assert (gone.status, gone.seconds_before, gone.share_after, gone.beyond_noise) == ("gone", 6.0, None, True)
    assert found.shares[0].findings == ["expensive-math"]
    assert found.headline.endswith(f"Gone: {gone.title} (state).")
    (new,) = (each for each in compared(fast, slow).findings if each.cause == "expensive-math")
    assert (new.status, new.seconds_after) == ("new", 6.0)
    grown = compared(slow, build(main(function("state", line("g.c:7", libm("pow", time=12.0)), time=1.0), time=1.0)))
    assert [(each.cause, each.status) for each in grown.findings] == [("expensive-math", "grown")]
    assert [each.status for each in compared(slow, slow).findings] == ["same"]


def test_waiting_that_ended_ends_the_finding_although_the_function_has_not_changed() -> None:
    def program(wait: float) -> Profile:
        rank = (1.0, 4.0)
        reduce = line("m.c:9", mpi("MPI_Allreduce", time=(wait, 0.01)))
        return wall(build(main(function("work", line("m.c:5", time=rank)), reduce), locations=ranks(2)))

    found = compared(program(3.0), program(0.01))
    assert [(each.status, each.beyond_noise) for each in found.findings] == [("gone", True)]


def test_a_finding_whose_part_of_the_run_has_crossed_the_limit_is_not_gone() -> None:
    # The host prepares 100 ms on both sides; the device then works for 10 ms, or for 300 ms.
    def program(length: float) -> Profile:
        return recorded(
            ranged("prepare", (0, 100_000)),
            api("cudaLaunchKernel", *every(length, 1, 100, begin=100_000)),
            kernel("sweep", *every(length, length, 100, begin=100_001), under="cudaLaunchKernel"),
        )

    found = compared(program(100), program(3000), metric="gpu.time")
    (idle,) = (each for each in found.findings if each.cause == "gpu-idle-host-bound")
    assert (idle.status, idle.beyond_noise, words.fate(idle)) == ("gone", False, "Below limit")
    assert "Gone" not in found.headline
    back = compared(program(3000), program(100), metric="gpu.time")
    assert [words.fate(each) for each in back.findings if each.cause == "gpu-idle-host-bound"] == ["Above limit"]


# -- what cannot be compared -----------------------------------------------------------------------------------


def test_clocks_that_differ_are_refused_and_findings_are_compared_all_the_same() -> None:
    profile = build(main(function("state", line("g.c:7", libm("pow", time=6.0)), time=1.0), time=1.0))
    cpu = replace(profile, metrics={"cpu.time": replace(profile.metrics["cpu.time"], clock=Clock.CPU)})
    found = compared(wall(profile), cpu)
    assert (found.verdict, found.total, found.shares, found.metric) == ("not-comparable", None, [], None)
    assert "stops while a thread waits" in found.headline
    assert [(each.cause, each.status) for each in found.findings] == [("expensive-math", "same")]
    with pytest.raises(UsageError, match="Cannot decide whether this is a regression"):
        chathpc.diff(wall(profile), cpu, fail_on_regression=0.05)


def test_metrics_that_differ_are_refused_unless_one_is_common() -> None:
    timed, counted = (build(main(values={name: 50.0})) for name in ("cpu.time", "cpu.cycles"))
    assert compared(timed, counted).verdict == "not-comparable"
    both = build(main(values={"cpu.time": 4.0, "cpu.cycles": 90.0}))
    found = compared(both, counted)
    assert (found.metric, found.total.change if found.total else 0) == ("cpu.cycles", -40.0)
    assert "both have cpu.cycles" in found.notes[0]
    neither = build(main(values={"io.read.bytes": 5.0}))
    assert "Neither side has measured any time" in compared(neither, neither).headline
    assert "before has not" in compared(neither, timed).headline


def test_a_metric_can_be_chosen() -> None:
    one, other = (build(main(values={"cpu.time": 1.0, "io.read.bytes": amount})) for amount in (1000.0, 2000.0))
    found = compared(one, other, metric="io.read.bytes")
    assert (found.verdict, found.total.change if found.total else 0, found.activities) == ("more", 1000.0, [])
    assert [(each.id, each.before, each.after) for each in found.measurements] == [("cpu.time", 1.0, 1.0)]
    with pytest.raises(UsageError, match="no metric 'x'"):
        chathpc.diff(one, other, metric="x")


def test_more_threads_are_recognised_and_the_longest_decides() -> None:
    one = wall(build(main(time=8.0)))
    two = wall(build(main(time=(4.5, 0.0)), thread(function("main", time=(0.0, 4.5))), locations=None))
    found = compared(one, two)
    assert found.total is not None
    assert found.elapsed is not None
    assert (found.total.change, found.elapsed.change, found.verdict) == (1.0, -3.5, "faster")
    assert "All threads together: +1.00 s." in found.headline
    assert any("with 1 thread, after with 2 threads" in note for note in found.notes)
    cpu = [replace(each, metrics=build(main(time=1.0)).metrics) for each in (one, two)]
    unknown = compared(*cpu)
    assert unknown.verdict == "not-comparable"
    assert unknown.shares
    with pytest.raises(UsageError, match="different numbers of threads"):
        chathpc.diff(*cpu, fail_on_regression=0.1)


def test_runs_of_one_side_that_ran_otherwise_are_told_run_by_run() -> None:
    one = wall(build(main(time=8.0)))
    two, four = (
        wall(build(main(time=(8.0 / count,) * count), *[thread(function("f", time=(0.0,) * count))] * (count - 1)))
        for count in (2, 4)
    )
    found = chathpc.diff([one, two], [two, four])
    assert [[run.threads for run in side.runs] for side in (found.before, found.after)] == [[1, 2], [2, 4]]
    (note,) = (note for note in found.notes if "ran with" in note)
    assert "with 1 to 2 threads, after with 2 to 4 threads. Runs of one side that differ in that are no rep" in note
    assert [words.shape(found.after, run) for run in found.after.runs] == ["2 threads", "4 threads"]
    alike = chathpc.diff([one, one], [two, two])
    assert not any("no repetitions" in note for note in alike.notes)
    saved = found.after.model_copy(
        update={"runs": [run.model_copy(update={"ranks": None, "threads": None}) for run in found.after.runs]}
    )
    assert words.shape(saved) == "2 threads"  # a file of an older version


def test_how_long_a_run_took_is_told_by_its_longest_thread() -> None:
    def program(first: float, second: float) -> Profile:
        return wall(build(main(time=(first, 0.0)), thread(function("f", time=(0.0, second)))))

    found = compared(program(8.0, 8.0), program(8.0, 2.0))  # the other thread ends sooner, and nobody gains
    assert found.elapsed is not None
    assert (found.verdict, found.elapsed.change) == ("unchanged", 0)
    assert (
        found.headline
        == "No difference: the run has 8.00 s on both sides. All threads together: −6.00 s. Inside, f changed by −6.00 s."
    )
    alike = compared(program(8.0, 8.0), program(4.0, 4.0))
    assert "together" not in alike.headline
    assert "is 2.00 times as fast: 8.00 s became 4.00 s" in alike.headline


def devices(busy: float, **run: str) -> Profile:
    """A trace of devices alone."""
    return replace(build(main(values={"gpu.time": busy})), timed=True, run=run)


def test_the_verdict_is_about_how_long_the_run_took_where_both_sides_tell_it() -> None:
    # 3.50 / 3.91 = 0.895: the run got faster although its devices worked longer.
    before, after = devices(309e-6, seconds="0.00391"), devices(391e-6, seconds="0.00350")
    found = compared(before, after, fail_on_regression=0.05)
    assert found.elapsed is not None
    assert found.elapsed.ratio == pytest.approx(3.50 / 3.91)
    assert (found.verdict, found.gate.outcome if found.gate else "") == ("faster", "passed")
    assert found.headline.startswith("The run is 1.12 times as fast: 3.91 ms became 3.50 ms")
    assert "GPU busy time: +82.0 µs." in found.headline
    # One run a side shows no interval: what it rests on is said with it.
    assert "if runs vary by 10 %)" in found.headline
    assert "interval" not in found.headline
    assert [run.elapsed for side in (found.before, found.after) for run in side.runs] == [0.00391, 0.00350]


def test_where_no_time_of_the_run_is_known_the_words_say_what_was_added_up() -> None:
    found = compared(devices(1.0), devices(2.0), fail_on_regression=0.05)
    assert (found.verdict, found.elapsed) == ("slower", None)
    assert found.headline.startswith("GPU busy time went from 1.00 s to 2.00 s (+100 %")
    assert found.gate is not None
    assert found.gate.statement.startswith("GPU busy time has grown beyond the limit")
    threads = [build(main(time=(each, 0.0)), thread(function("f", time=(0.0, each)))) for each in (2.0, 4.0)]
    assert compared(*threads).headline.startswith("The CPU time of all threads went from 4.00 s to 8.00 s")


def test_who_asks_for_a_metric_is_told_of_it_and_not_of_the_run() -> None:
    before, after = devices(1.0, seconds="9"), devices(2.0, seconds="9")
    assert compared(before, after).verdict == "unchanged"
    found = compared(before, after, metric="gpu.time")
    assert (found.verdict, found.elapsed) == ("slower", None)
    assert found.headline.startswith("GPU busy time went from 1.00 s")


def test_sums_over_different_numbers_of_ranks_are_no_time_of_the_run() -> None:
    def summed(count: int, each: float) -> Profile:
        return replace(
            build(main(time=count * each)), where=Locations.single(), timed=True, run={RANKS_ADDED: str(count)}
        )

    before, after = wall(summed(64, 55.0)), wall(summed(216, 43.0))
    found = compared(before, after, fail_on_regression=0.05)
    assert found.elapsed is not None
    assert (found.elapsed.before, found.elapsed.after) == (pytest.approx(55.0), pytest.approx(43.0))
    for took, more in (
        (55.0, "+3,520 s"),
        (54.0, "+3,390 s"),
    ):  # 128 × 54 − 64 × 55 = 3392, and no place has changed for that
        assert compared(wall(summed(64, 55.0)), wall(summed(128, took))).headline.endswith(
            f"All ranks together: {more}."
        )
    assert (found.verdict, found.gate.outcome if found.gate else "") == ("faster", "passed")
    assert "All ranks together: +5,770 s." in found.headline  # 216 × 43 − 64 × 55 = 5768
    assert "with 64 ranks, after with 216 ranks" in " ".join(found.notes)
    unknown = compared(summed(64, 55.0), summed(216, 43.0))  # by a clock that stops while a rank waits
    assert unknown.verdict == "not-comparable"
    with pytest.raises(UsageError, match="different numbers of threads or ranks"):
        chathpc.diff(summed(64, 55.0), summed(216, 43.0), fail_on_regression=0.05)


def test_input_and_output_of_all_ranks_is_no_time_of_the_run() -> None:
    def logged(seconds: float, ranks: str, took: str) -> Profile:
        run = {"processes": ranks, "seconds": took}
        profile = replace(build(main(values={"io.write.time": seconds, "io.time": seconds})), timed=True, run=run)
        metrics = {name: replace(each, clock=Clock.WALL) for name, each in profile.metrics.items()}
        return replace(profile, metrics=metrics)

    before, after = logged(100_000.0, "2048", "117"), logged(132.0, "48", "5")
    found = compared(before, after)
    assert found.headline.startswith("The run is 23.4 times as fast: 117 s became 5.00 s")  # 117 / 5
    assert "2,048 ranks, after with 48 ranks" in " ".join(found.notes)
    chosen = compared(before, after, metric="io.time")
    assert chosen.verdict == "not-comparable"
    assert "io.time is a sum over them" in chosen.headline


def starving(seconds: float, lacked: float, threads: int = 1) -> Profile:
    others = (0.0,) * (threads - 1)
    profile = build(main(values={"cpu.time.wall": (1.0,) * threads, NO_CORE: (lacked, *others)}))
    metrics = {**profile.metrics, NO_CORE: replace(profile.metrics[NO_CORE], unit=Unit.SECONDS)}
    return replace(profile, metrics=metrics, run={"seconds": str(seconds)})


def test_threads_without_a_core_are_told() -> None:
    quiet, starved = starving(1.0, 0.01, 2), starving(4.0, 3.0, 2)
    found = compared(quiet, starved)
    # 4 s without 3 s in which a thread had no core are the 1 s of the other run: slower by nothing, or by four.
    assert found.verdict == "undecided"
    assert found.headline.startswith("Waits for a core leave open whether the run changed: 1.00 s before, 4.00 s after")
    assert found.elapsed is not None
    assert (found.elapsed.ratio_low or 0) < 1 < 4 < (found.elapsed.ratio_high or 0)
    assert compared(quiet, starving(4.0, 0.1, 2)).headline.startswith("The run takes 4.00 times as long")
    assert compared(quiet, starving(9.0, 3.0, 2)).headline.startswith(
        "The run takes 9.00 times as long"
    )  # 6 s at least
    assert found.elapsed.error == pytest.approx(0.1 * 4.0)  # what is assumed: no samples tell of the 3 s
    assert found.noise is not None
    assert "For the wall-clock time 10.0 % of run-to-run variation is assumed." in found.noise.statement
    (note,) = found.notes
    assert note.startswith("Threads that could run had no core for 10.0 ms before and 3.00 s after")
    assert "The verdict is about wall-clock time, which such waits make longer" in note
    assert compared(quiet, quiet).notes == []
    gated = compared(quiet, starved, fail_on_regression=0.05).gate
    assert gated is not None
    assert gated.outcome == "undecided"
    assert gated.statement.endswith("measure again on an idle machine, or compare CPU time (--metric cpu.time).")


def test_waits_of_a_single_thread_for_a_core_are_no_part_of_its_run() -> None:
    # All of the program waits then: 4 s with 3 s of waits are 1 s, and 9 s with 3 s are 6 s.
    found = compared(starving(1.0, 0.01), starving(4.0, 3.0), fail_on_regression=0.05)
    assert (found.verdict, found.elapsed and found.elapsed.after) == ("unchanged", 1.0)
    slower = compared(starving(1.0, 0.0), starving(9.0, 3.0), fail_on_regression=0.05)
    assert slower.headline.startswith("The run without waits for a core takes 6.00 times as long: 1.00 s became 6.00 s")
    assert slower.gate is not None
    assert slower.gate.outcome == "failed"
    assert [run.elapsed for run in slower.after.runs] == [9.0]
    # Three runs a side whose waits differ: without them 1 s each became 2 s each.
    before, after = ([starving(least + lacked, lacked) for lacked in (0.0, 1.0, 3.0)] for least in (1.0, 2.0))
    repeated = compared(before, after, fail_on_regression=0.05)
    assert (repeated.verdict, repeated.gate and repeated.gate.outcome) == ("slower", "failed")


def test_a_share_is_at_the_line_of_the_side_that_has_more_of_it() -> None:
    def program(at: int, seconds: float) -> Profile:
        return build(main(function("f", line(f"a.c:{at}", time=seconds), line("a.c:2", time=0.5), at="a.c:1")))

    slow, quick = program(7, 9.0), program(9, 1.0)
    spots = [words.spot(compared(*sides).shares[0]) for sides in ((slow, quick), (quick, slow))]
    assert [spot.line if spot else 0 for spot in spots] == [7, 7]


def test_a_profile_compared_with_itself_is_remarked_on(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(collapsed([(("main", "solve"), 100)]))
    same, other = (chathpc.diff(tmp_path / "a.txt", tmp_path / name).notes for name in ("a.txt", "b.txt"))
    assert "Both sides are the same profile." in same
    assert "Both sides are the same profile." not in other


def test_arguments_that_differ_are_told() -> None:
    def program(command: str) -> Profile:
        return replace(build(main(time=1.0)), run={COMMAND: command} if command else {})

    (note,) = compared(program("./logger 400 30"), program("mpirun -n 2 ./mended 400 600")).notes
    assert note.startswith("The programs had different arguments, 400 30 before and 400 600 after")
    (note,) = compared(program("python3 app.py"), program("python3 app.py 7")).notes
    assert "none before and 7 after" in note
    for other in ("./mended 400 30", ""):
        assert compared(program("./logger 400 30"), program(other)).notes == []


def test_other_programs_and_tools_are_recognised() -> None:
    one = replace(build(main(time=1.0)), title="a", format="one tool")
    other = replace(build(main(time=1.0)), title="b", format="other tool", hardware={"CPU": "x"})
    notes = " ".join(compared(replace(one, hardware={"CPU": "y"}), other).notes)
    assert "a before, b after" in notes
    assert "one tool measured before, other tool after" in notes
    assert "CPU y and x" in notes


def test_samples_of_a_gpu_on_one_side_alone_are_told() -> None:
    plain = build(main(time=1.0, values={"gpu.time": 2.0}))
    sampled = build(main(time=1.0, values={"gpu.time": 2.0, "gpu.stall.memory": 9.0}))
    host = build(main(time=1.0))
    assert "PC samples of the GPU were only taken after" in " ".join(compared(plain, sampled).notes)
    assert "PC samples of the GPU were only taken before" in " ".join(compared(sampled, plain).notes)
    for sides in ((sampled, sampled), (plain, plain), (host, sampled)):
        assert "PC samples" not in " ".join(compared(*sides).notes)


def test_what_the_numbers_stand_for_is_said() -> None:
    shares = build(main(values={"cpu.share": 100.0}))
    percent = replace(shares, metrics={"cpu.share": replace(shares.metrics["cpu.share"], unit=Unit.PERCENT)})
    assert compared(percent, percent).notes == [
        "Only percentages were recorded: parts of the run are compared, not its length."
    ]
    found = compared(
        wall(build(main(time=(4.0, 4.0)), locations=ranks(2))),
        wall(build(main(time=(3.0, 3.0, 3.0)), locations=ranks(3))),
    )
    assert "with 2 ranks, after with 3 ranks" in found.notes[0]


def test_a_side_without_a_profile_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="has no profile"):
        chathpc.diff([], build(main(time=1.0)))


# -- repetitions -------------------------------------------------------------------------------------------------


def runs(*seconds: float) -> list[Profile]:
    return [replace(build(main(function("f", time=each), time=1.0)), timed=True) for each in seconds]


def test_runs_that_differ_by_themselves_hide_a_difference() -> None:
    found = chathpc.diff(runs(4.0, 5.0, 6.0), runs(4.5, 5.5, 6.5))
    check(found)
    assert (found.verdict, found.noise.kind if found.noise else "") == ("unchanged", "repetitions")
    assert found.total is not None
    assert found.total.change == pytest.approx(0.5)
    # Both sides have variance 1 and three runs: standard error sqrt(2/3), four degrees of freedom.
    assert found.total.error == pytest.approx(2.7764 * np.sqrt(2 / 3), rel=1e-4)


def test_runs_that_agree_show_a_small_difference() -> None:
    found = chathpc.diff(runs(5.0, 5.01, 4.99), runs(5.1, 5.11, 5.09))
    check(found)
    assert found.verdict == "slower"
    assert [(each.function, each.change) for each in found.shares] == [("f", pytest.approx(0.1))]
    assert len(found.before.runs) == 3


def test_the_verdict_is_that_of_the_interval_that_is_told() -> None:
    """Two runs a side: standard errors of 0.1 s and 0.005 s, so that the side before alone decides, with one degree of freedom (t = 12.7)."""
    found = chathpc.diff(runs(2.9, 3.1), runs(1.735, 1.745))
    assert found.total is not None
    # The ratio is known to exp(12.706 × √((0.1/4)² + (0.005/2.74)²)) = 1.374, and 4 / 2.74 is more than that; the difference of 1.26 s only to 1.27 s.
    assert found.total.ratio_high == pytest.approx(2.74 / 4 * 1.374, rel=1e-3)
    assert found.total.error == pytest.approx(12.706 * np.hypot(0.1, 0.005), rel=1e-3)
    assert (found.verdict, found.total.beyond_noise) == ("faster", True)


def test_what_is_told_for_the_caller_names_where_most_of_it_is() -> None:
    """No part by itself is sure to have changed, the caller with all that it calls is: the runs deal the same seconds out otherwise."""
    sides = [
        [replace(build(main(function("f", time=f), function("g", time=total - f))), timed=True) for f in side]
        for total, side in ((4.0, (1.0, 2.0, 1.5)), (8.0, (6.24, 3.96, 5.1)))
    ]
    found = chathpc.diff(*sides)
    assert found.noise is not None
    assert [each.function for each in found.shares] == ["main"]
    share = found.shares[0]
    assert share.mostly_in == "f"  # 3.6 of 4 s; standard error 0.72 s, two degrees of freedom: p = 0.038
    assert share.change == pytest.approx(4.0)
    f = next(row for row in found.functions if row.name == "f")
    # Beyond its own ±, and yet not called changed: that is said.
    assert (abs(f.change) > f.error, f.beyond_noise) == (True, False)
    assert found.noise.statement.endswith("only if chance is below 2.50 %: more than its ± asks for.")


def test_one_run_against_several_uses_the_variation_of_these() -> None:
    found = chathpc.diff(runs(5.0), runs(5.9, 6.0, 6.1))
    check(found)
    assert found.noise is not None
    assert (
        found.noise.statement == "± holds 95 %, from 1 run before and 3 after. Three or more per side would show more."
    )


def test_timed_values_of_single_runs_are_compared_with_the_usual_variation() -> None:
    near, far = chathpc.diff(runs(9.0), runs(9.9)), chathpc.diff(runs(9.0), runs(14.0))
    assert (near.verdict, far.verdict) == ("unchanged", "slower")
    assert far.noise is not None
    assert far.noise.kind == "assumed"


# -- properties ------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(profiles(metrics=("cpu.time",)))
def test_a_profile_does_not_differ_from_itself(profile: Profile) -> None:
    found = compared(profile, profile)
    assert found.verdict in ("unchanged", "not-comparable")
    assert found.shares == []
    assert not any(row.beyond_noise for row in (*found.functions, *found.activities))
    assert all(each.status == "same" for each in found.findings)


@settings(max_examples=60)
@given(profiles(metrics=("cpu.time",)), profiles(metrics=("cpu.time",)))
def test_the_parts_are_the_whole_and_turning_round_mirrors_them(one: Profile, other: Profile) -> None:
    there, back = compared(one, other), compared(other, one)
    assert (there.total is None) == (back.total is None)
    if there.total is None or back.total is None:
        return
    mirrored = {"faster": "slower", "slower": "faster"}
    assert back.verdict == mirrored.get(there.verdict, there.verdict)
    assert back.total.change == pytest.approx(-there.total.change)
    assert back.total.error == pytest.approx(there.total.error)

    def shares(found: Diff, sign: int) -> list[tuple[object, ...]]:
        return sorted(
            (each.function, each.call or "", sign * round(each.change, 6), sorted(map(tuple, each.contexts)))
            for each in found.shares
        )

    assert shares(there, 1) == shares(back, -1)
    states = {"gone": "new", "new": "gone", "grown": "shrunk", "shrunk": "grown", "same": "same"}
    assert sorted((each.cause, states[each.status]) for each in there.findings) == sorted(
        (each.cause, each.status) for each in back.findings
    )


@settings(max_examples=30)
@given(st.lists(profiles(metrics=("cpu.time",)), min_size=3, max_size=4))
def test_the_parts_of_repetitions_are_the_whole(several: list[Profile]) -> None:
    check(chathpc.diff(several[:2], several[2:]))


# -- files -------------------------------------------------------------------------------------------------------


def database(path: Path, seconds: float) -> Path:
    """main → work (loop, line) and work → log; `seconds` at line 10 of thread 0."""
    log = v4.function("log", v4.line("log.c", 4, v4.point(0x40, {v4.TIME: {0: 1.0, 1: 2.0}})), file="log.c", line=3)
    inner = v4.line("work.c", 10, log, v4.point(0x50, {v4.TIME: {0: seconds, 1: 3.0}}))
    work = v4.function("work", v4.loop("work.c", 9, inner), file="work.c", line=5)
    other = v4.function("other", v4.line("o.c", 2, v4.point(0x90, {v4.TIME: {0: 2.0}})), file="o.c", line=1)
    roots = [v4.entry(v4.function("main", v4.line("main.c", 3, work, other), file="main.c", line=1))]
    v4.write(path, v4.Database(roots, [v4.Location(thread=0), v4.Location(thread=1)]))
    return path


def test_databases_are_compared_by_path(tmp_path: Path) -> None:
    one, other = database(tmp_path / "a", 4.0), database(tmp_path / "b", 9.0)
    found = chathpc.diff(one, str(other))
    check(found)
    assert found.total is not None
    assert (found.total.before, found.total.after, found.total.change) == (12.0, 17.0, 5.0)
    assert told(found) == {"work": 5.0}
    only = found.shares[0]
    assert only.where_after is not None
    assert (only.where_after.file, only.where_after.line) == ("work.c", 10)
    assert [row.name for row in found.functions if row.beyond_noise] == ["work"]
    assert {row.name: (row.inclusive_before, row.inclusive_after) for row in found.functions}["work"] == (10.0, 15.0)
    with pytest.raises(UsageError, match="given twice"):
        chathpc.diff([one, one], other)


def test_files_of_samples_are_compared_by_their_numbers(tmp_path: Path) -> None:
    for name, count in (("a", 400), ("b", 900)):
        (tmp_path / f"{name}.folded").write_text(collapsed([(("main", "solve"), count), (("main", "init"), 100)]))
    found = chathpc.diff(tmp_path / "a.folded", tmp_path / "b.folded")
    check(found)
    assert (found.verdict, told(found), found.unit) == ("slower", {"solve": 500.0}, "samples")
    assert found.notes == [
        "Numbers of samples are compared: they stand for time only if both sides were sampled at the same rate."
    ]
    assert found.total is not None
    assert found.total.error == pytest.approx(1.96 * np.sqrt(500 + 1000 + 1), rel=1e-3)


def test_gpu_kernels_are_compared_by_their_measured_time() -> None:
    def program(seconds: float) -> Profile:
        kernel: Node = node(
            NodeKind.GPU_KERNEL, Relation.CALL, "void saxpy<float>(float*)", values={"gpu.kernel.time": seconds}
        )
        return build(main(function("run", kernel, time=2.0)))

    found = compared(program(1.0), program(3.0))
    assert [(row.name, row.change, row.beyond_noise) for row in found.kernels] == [("saxpy<float>", 2.0, True)]
    copy: Node = node(NodeKind.GPU_OP, Relation.CALL, "<gpu copyin>", values={"gpu.time": 1.0})
    gone = compared(build(main(copy, values={"gpu.time": 1.0})), devices(1.0), metric="gpu.time")
    assert set(told(gone)) == {"copies to the device"}
    direct = compared(program(1.0), program(3.0), metric="gpu.kernel.time")
    assert (direct.kernels, told(direct)) == ([], {"saxpy<float>": 2.0})


def test_time_of_a_device_is_told_by_kernel_not_by_the_call_that_launches_it() -> None:
    def traced(launch: str, *kernels: tuple[str, float]) -> Profile:
        def work(kind: NodeKind, name: str, seconds: float) -> Node:
            return node(kind, Relation.CALL, name, values={"gpu.time": seconds})

        each = [call(launch, work(NodeKind.GPU_KERNEL, *kernel)) for kernel in kernels]
        copy = call(launch.replace("LaunchKernel", "Memcpy"), work(NodeKind.GPU_OP, "<gpu copyin>", 1.0))
        linear = call("forward", *each, copy, at="/usr/lib/python3/site-packages/torch/linear.py:9")
        return replace(build(main(function("step", linear, at="app.py:1"))), timed=True)

    before = traced("cudaLaunchKernel", ("void scale<float>(float*)", 2.0), ("add", 3.0))
    after = traced("hipLaunchKernel", ("scale<float>", 4.0), ("attn_fwd", 1.0))
    found = compared(before, after)
    assert {(row.name, row.before, row.after) for row in found.functions} == {
        ("scale<float>", 2.0, 4.0),
        ("add", 3.0, 0.0),
        ("attn_fwd", 0.0, 1.0),
        ("copies to the device", 1.0, 1.0),
    }
    assert {(share.call, share.function) for share in found.shares} == {
        ("scale<float>", "step"),
        ("add", "step"),
        ("attn_fwd", "step"),
    }


def test_profiled_launches_are_compared_one_by_one_where_their_numbers_differ() -> None:
    def profiled(seconds: float, launches: int, name: str = "void saxpy<float>(float*)") -> Profile:
        values = {"gpu.time": seconds, "gpu.kernel.time": seconds, "gpu.kernel.count": float(launches)}
        kernel: Node = node(
            NodeKind.GPU_KERNEL, Relation.CALL, name, values={**values, "gpu.kernel.achieved-occupancy": 50.0}
        )
        where = Locations.of(1, gpu_context=np.zeros(1), stream=np.zeros(1))
        return build(node(NodeKind.ENTRY, Relation.CALL, "process", kernel), locations=where)

    found = compared(profiled(29.9, 4), profiled(15.4, 1))  # 7.475 s a launch
    assert found.total is not None
    assert (found.verdict, found.total.before, found.total.after) == ("slower", pytest.approx(7.475), 15.4)
    assert found.headline.startswith("The time of one launch went from")
    assert any("4 before, 1 after" in note for note in found.notes)
    assert {one.status for one in found.findings} <= {"same", "gone", "new"}
    same = compared(profiled(30.0, 4), profiled(15.0, 4))
    assert (same.verdict, same.total.after if same.total else 0) == ("faster", 15.0)


def on_cpu(elapsed: float, seconds: float) -> Profile:
    return replace(build(main(function("f", time=seconds))), run={"seconds": str(elapsed)})


def test_what_the_run_and_its_threads_do_in_opposite_ways_explains_neither() -> None:
    found = compared(on_cpu(10.0, 4.0), on_cpu(6.0, 5.0))
    assert found.verdict == "faster"
    assert (
        "+1.00 s. That growth is mostly f (+1.00 s). Most of the change, −5.00 s, is time off the CPU" in found.headline
    )


def test_time_off_the_cpu_is_told_where_it_is_most_of_the_change() -> None:
    # 4.249 s fewer, 0.184 s of them on the CPU.
    assert "Most of the change, −4.07 s, is time off" in compared(on_cpu(5.24, 0.448), on_cpu(0.991, 0.264)).headline
    assert "off the CPU" not in compared(on_cpu(5.0, 4.9), on_cpu(1.0, 0.9)).headline


# -- words ---------------------------------------------------------------------------------------------------------


def test_a_total_that_stays_can_have_changes_inside() -> None:
    one, other = (build(main(function("f", time=a), function("g", time=b))) for a, b in ((8.0, 2.0), (2.0, 8.0)))
    found = compared(one, other)
    assert found.verdict == "unchanged"
    assert found.headline == "No difference: the CPU time is 10.0 s on both sides. Inside, f changed by −6.00 s."


def test_a_headline_tells_how_a_function_changed_on_all_its_paths() -> None:
    def program(first: float, second: float, other: float, rest: float) -> Profile:
        paths = (function("a", function("f", time=first)), function("b", function("f", time=second)))
        return build(main(*paths, function("g", time=other), function("h", time=rest)))

    # f: 8 + 2 and 2 + 8, as a whole nothing; g gains what h loses.
    inside = compared(program(8.0, 2.0, 1.0, 5.0), program(2.0, 8.0, 5.0, 1.0))
    assert inside.headline.endswith("Inside, g changed by +4.00 s.") or inside.headline.endswith(
        "h changed by −4.00 s."
    )
    # +3 and +4 on two paths.
    assert "Mostly f (+7.00 s)." in compared(program(1.0, 1.0, 1.0, 1.0), program(4.0, 5.0, 1.0, 1.0)).headline


def test_a_run_that_had_nothing_has_no_ratio() -> None:
    nothing, something = (build(main(function("f", time=seconds))) for seconds in (0.0, 5.0))
    nothing = replace(nothing, metrics=something.metrics)
    found = compared(nothing, something, fail_on_regression=0.05)
    assert found.total is not None
    assert (found.total.ratio, found.verdict, found.gate.outcome if found.gate else "") == (None, "slower", "failed")
    assert found.headline.startswith("The CPU time changed: 0 s became 5.00 s.")


def test_a_chosen_metric_must_add_up_and_have_values_on_both_sides() -> None:
    one = build(main(values={"cpu.time": 1.0, "io.read.bytes": 1.0, "gpu.kernel.registers": 32.0}))
    with pytest.raises(UsageError, match="do not add up"):
        chathpc.diff(one, one, metric="gpu.kernel.registers")
    empty = replace(
        one, metrics={**one.metrics, "io.read.bytes": replace(one.metrics["io.read.bytes"], has_values=False)}
    )
    with pytest.raises(UsageError, match="no values on one side"):
        chathpc.diff(one, empty, metric="io.read.bytes")


def test_one_id_in_two_units_is_refused() -> None:
    one = build(main(values={"cpu.time": 1.0}))
    other = replace(one, metrics={"cpu.time": replace(one.metrics["cpu.time"], unit=Unit.CYCLES)})
    assert "is in cycles and s" in compared(one, other).headline


def test_small_parts_keep_their_sign() -> None:
    from chathpc.comparison.words import signed_percent

    assert [signed_percent(part) for part in (0.0004, -0.0004, 0.0, 0.052, -1.0)] == [
        "+0.04 %", "−0.04 %", "0 %", "+5.20 %", "−100 %",
    ]  # fmt: skip


def test_means_of_counts_are_told_as_the_tables_tell_them() -> None:
    told = [words.amount(value, "samples") for value in (3554 / 3, 13 / 3, 1.0, float("nan"))]
    assert told == ["1,185 samples", "4.33 samples", "1 sample", "not measured"]
    assert words.amount(1184.67, "s") == "1,180 s"


def test_paths_of_deep_recursion_are_told_by_their_ends() -> None:
    def program(seconds: float) -> Profile:
        inner = function("leaf", time=seconds)
        for _ in range(150):
            inner = function("even", function("odd", inner))
        return build(main(inner))

    (path,) = share(compared(program(1.0), program(9.0)), "leaf").contexts
    assert (len(path), path[0], path[50], path[-1]) == (101, "<program root>", "…", "leaf")


def test_a_finding_is_at_the_place_where_it_costs_more_and_says_that_it_moved() -> None:
    def changed(first: str, second: str, before: float, after: float) -> FindingChange:
        return FindingChange(
            cause="io-bound", title="", status="shrunk" if after < before else "grown", seconds_before=before, seconds_after=after,
            where_before=PlaceRecord(function=first, file="a.c", line=1), where_after=PlaceRecord(function=second, file="a.c", line=2),
            share_before=0.5, share_after=0.5, beyond_noise=True, summary="",
        )  # fmt: skip

    def line_of(one: FindingChange) -> int | None:
        where = words.found_at(one)
        return where and where.line

    less, more = changed("f", "f", 3.0, 1.0), changed("f", "f", 1.0, 3.0)
    assert [(words.fate(one), line_of(one)) for one in (less, more)] == [("Costs less", 1), ("Costs more", 2)]
    assert words.cost(less) == "Cost 3.00 s, 50.0 % of the run before; 1.00 s, 50.0 % of the run after."
    away, near = changed("f", "g", 3.0, 1.0), changed("f", "g", 1.0, 3.0)
    assert [(words.fate(one), line_of(one)) for one in (away, near)] == [("Moved", 1), ("Moved", 2)]
    assert words.cost(away).endswith("of the run after (at g).")
    assert "of the run before (at f); 3.00 s" in words.cost(near)
    dear = changed("f", "g", 3.0, 3.0).model_copy(update={"status": "same"})
    assert (words.fate(dear), words.stays(dear)) == ("Moved", False)  # a reader who looks at f finds nothing there
    assert words.cost(dear).startswith("Cost 3.00 s, 50.0 % of the run before (at f); 3.00 s")
    chance = dear.model_copy(update={"beyond_noise": False})
    assert (words.fate(chance), words.stays(chance)) == ("As before", True)
