"""What a series loses, by arithmetic: where, in which way, how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chathpc.comparison.run import Run as Measured
from chathpc.errors import UsageError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import Lane, Timeline
from chathpc.reports.scaled import findings
from chathpc.scale.loss import Loss, costs_of, elapsed_of, losses_of, name_of
from chathpc.scale.scaling import grown_of, scaling_of
from chathpc.scale.series import Kind, Run, Series, series_of
from tests.diagnosis.parts import barrier, function, libm, main, mpi, thread
from tests.profile.build import build, call, entry
from tests.scale.made import Costs, alone, each, even, profile, series, strong


def test_the_parts_add_up_to_the_busiest_workers_time() -> None:
    costs = costs_of(strong({"solve": even(8.0), "setup": alone(1.0)}, each(0.25)))
    for count, elapsed in zip((1, 2, 4, 8, 16), costs.elapsed, strict=True):
        assert elapsed == pytest.approx(8 / count + 1 + 0.25)


@pytest.mark.parametrize(
    ("more", "messages", "loss", "name", "alone_or_repeated", "share"),
    [
        # 16 threads: setup takes 1 s, of which a mean of 1/16 s is computing; all takes 8/16 + 1.
        ({"setup": alone(1.0)}, None, Loss.UNEVEN, "setup", (True, 0.0), (1 - 1 / 16) / 1.5),
        ({"again": each(0.5)}, None, Loss.COMPUTING, "again", (False, 1.0), (0.5 - 0.5 / 16) / 1.0),
        ({}, lambda count: (0.02 * count,) * count, Loss.WAITING, "MPI_Allreduce in exchange", (False, 0.0), (0.32 - 0.02 / 16) / (0.5 + 0.32)),
    ],
)  # fmt: skip
def test_what_is_lost_is_found(
    more: dict[str, Costs], messages: Costs | None, loss: Loss, name: str, alone_or_repeated: tuple[bool, float], share: float
) -> None:  # fmt: skip
    costs = costs_of(strong({"solve": even(8.0), **more}, messages))
    cause = losses_of(costs).causes[0]
    assert (cause.loss, name_of(costs, cause.node)) == (loss, name)
    assert (cause.alone, cause.repeated) == alone_or_repeated
    assert cause.share == pytest.approx(share)


def test_weak_scaling_loses_what_a_worker_has_more() -> None:
    found = strong({"solve": each(8.0), "merge": lambda count: (0.25 * count,) * count})
    costs = costs_of(found)
    losses = losses_of(costs)
    assert losses.total == pytest.approx((4.0 - 0.25) / 12)
    assert name_of(costs, losses.causes[0].node) == "merge"
    assert [name_of(costs, node) for node in losses.hot_path][-1] == "merge"


def test_ideal_scaling_loses_nothing() -> None:
    for found in (strong({"solve": even(8.0), "other": even(2.0)}), strong({"solve": each(8.0), "other": each(2.0)})):
        record = scaling_of(found, [{found.parameter: 64.0}])
        assert (record.verdict, len(record.findings)) == ("scales", 0)
        assert record.loss == pytest.approx(0.0, abs=1e-9)


def test_a_teams_other_threads_belong_to_the_function_that_started_them() -> None:
    def run(count: int) -> object:
        first = main(function("sweep", time=(8 / count, *(0.0,) * (count - 1)) if count > 1 else 8.0))
        others = [
            thread(function("sweep", barrier(time=tuple(0.1 * (at == n) for at in range(count))), time=tuple(8 / count * (at == n) for at in range(count))))
            for n in range(1, count)
        ]  # fmt: skip
        return build(first, *others, timed=True)

    found = series("threads", {count: run(count) for count in (1, 2, 4)})  # type: ignore[misc]
    costs = costs_of(found)
    assert [name_of(costs, node) for node in range(len(costs.joint.tree))].count("sweep") == 1
    assert losses_of(costs).causes == ()
    costs.joint.tree.check()


def test_what_is_left_of_a_stack_that_was_lost_belongs_to_the_function_above() -> None:
    def run(count: int) -> Profile:
        once = call("[unknown]", time=alone(0.5)(count) if count > 1 else 0.5)
        whole = main(function("solve", time=even(8.0)(count) if count > 1 else 8.0), function("report", once))
        lost = call("[unknown]", function("report", call("[unknown]", time=alone(0.5)(count) if count > 1 else 0.5)))
        return build(whole, lost, timed=True)

    found = series("ranks", {count: run(count) for count in (1, 2, 4)})
    costs = costs_of(found)
    causes = losses_of(costs).causes
    assert [name_of(costs, cause.node) for cause in causes] == ["report"]
    assert causes[0].share == pytest.approx(0.75 / 3)


def test_waits_for_all_ranks_are_charged_to_the_messages_that_the_last_one_waited_for() -> None:
    """A chain: the second rank receives when the first has swept, which then waits for the second in a reduction."""

    def run(count: int) -> Profile:
        swept, received, reduced = {1: (8.0, 0.0, 0.0), 2: ((4.01, 4.0), (0.0, 3.5), (3.5, 0.5))}[count]
        sweep = function("sweep", mpi("MPI_Recv", time=received), time=swept)
        norm = function("norm", mpi("MPI_Allreduce", time=reduced))
        return build(main(sweep, norm), locations=Locations.of(count, rank=np.arange(count)), timed=True)

    costs = costs_of(series("ranks", {count: run(count) for count in (1, 2)}, Kind.STRONG))
    place = {name_of(costs, node): node for node in range(len(costs.joint.tree))}
    assert costs.waiting[1, place["MPI_Recv in sweep"]] == pytest.approx(3.5)
    assert costs.waiting[1].sum() == pytest.approx(3.5)
    first, *others = losses_of(costs).causes
    assert name_of(costs, first.node) in ("sweep", "MPI_Recv in sweep")
    assert "norm" not in [name_of(costs, each.node) for each in others]


def _phases(count: int) -> Profile:
    """Threads of two phases, those of the second unevenly, and a main thread that only waits for them to end."""
    spans = [(0, 100), *((1, 40) for _ in range(count)), *((45, 99) for _ in range(count))]
    first, second = ((4.0,), (6.0,)) if count == 1 else ((2.0, 2.0), (5.0, 1.0))
    own = np.zeros((1 + 2 * count, 2))
    own[1 : 1 + count, 0], own[1 + count :, 1] = first, second
    joined = function(
        "run",
        call(
            "pthread_join [libc.so.6]",
            module="/usr/lib/libc.so.6",
            time=(sum(map(max, (first, second))), *(0.0,) * 2 * count),
        ),
    )
    fill, solve = (
        thread(function(name, time=tuple(column))) for name, column in zip(("fill", "solve"), own.T, strict=True)
    )
    lanes = tuple(
        Lane(at, np.array(span, dtype=np.uint64), np.zeros(2, dtype=np.int32)) for at, span in enumerate(spans)
    )
    made = build(main(joined), fill, solve, timed=True)
    return replace(made, read_timeline=lambda: Timeline(0, 100, lanes))


def test_threads_that_follow_each_other_are_one_worker() -> None:
    costs = costs_of(series("threads", {1: _phases(1), 2: _phases(2)}))
    assert costs.workers.tolist() == [1, 2]
    assert costs.computing.sum(axis=1) == pytest.approx([10, 5])
    assert costs.elapsed == pytest.approx([10, 7])
    untraced = {count: replace(_phases(count), read_timeline=lambda: None) for count in (1, 2)}
    assert costs_of(series("threads", untraced)).workers.tolist() == [3, 5]


def test_a_starter_that_works_itself_is_a_worker() -> None:
    made = build(
        main(
            function(
                "run", call("pthread_join [libc.so.6]", module="/usr/lib/libc.so.6", time=(0.1, 0.0)), time=(3.9, 4.0)
            )
        ),
        timed=True,
    )
    lanes = tuple(Lane(at, np.array((at, 90), dtype=np.uint64), np.zeros(2, dtype=np.int32)) for at in range(2))
    made = replace(made, read_timeline=lambda: Timeline(0, 100, lanes))
    costs = costs_of(series("threads", {1: profile(1, {"run": even(8.0)}), 2: made}))
    assert costs.workers.tolist() == [1, 2]


def test_a_loss_that_needs_no_attention_is_no_finding() -> None:
    """POP takes 80 % for enough."""
    little, much = (scaling_of(strong({"solve": even(8.0), "again": each(0.5)}, counts=(1, n))) for n in (2, 32))
    assert (little.verdict, little.findings) == ("scales", [])
    assert "most in again" in little.headline
    assert (much.verdict, [each.name for each in much.findings]) == ("loses", ["again"])


def test_a_library_that_computes_for_a_function_is_part_of_it() -> None:
    def run(count: int) -> Profile:
        exp = libm("exp", time=each(0.6)(count) if count > 1 else 0.6)
        table = function("table", exp, time=each(0.4)(count) if count > 1 else 0.4)
        return build(main(function("solve", time=even(8.0)(count) if count > 1 else 8.0), table), timed=True)

    found = series("threads", {count: run(count) for count in (1, 2, 4, 8)})
    costs = costs_of(found)
    assert [name_of(costs, cause.node) for cause in losses_of(costs).causes] == ["table"]


def test_quadratic_growth_is_found_and_linear_growth_is_not() -> None:
    sizes = (1000, 2000, 4000, 8000, 16000)
    quadratic = series("n", {n: profile(1, {"fill": even(n / 1e3), "pairs": even((n / 1e3) ** 2 / 10)}) for n in sizes})
    record = scaling_of(quadratic, [{quadratic.parameter: 64000.0}])
    assert (record.verdict, record.findings[0].name) == ("grows", "pairs")
    assert record.findings[0].law is not None
    assert record.findings[0].law.growth.value == pytest.approx(2.0, abs=0.1)
    assert record.predictions[0].elapsed is not None
    assert record.predictions[0].elapsed.value == pytest.approx(64 + 64**2 / 10, rel=0.15)
    linear = series("n", {n: profile(1, {"fill": even(n / 1e3), "sort": even(n * np.log2(n) / 1e5)}) for n in sizes})
    assert scaling_of(linear, [{linear.parameter: 64000.0}]).verdict == "scales"


def test_a_function_that_stands_for_what_it_calls_is_named_once() -> None:
    def searching(n: int) -> Profile:
        found = function("distance", time=(n / 1e3) ** 2)
        return build(
            main(function("fill", time=n / 1e2), function("neighbours", found, time=(n / 1e3) ** 2 / 5)), timed=True
        )

    runs = series("n", {n: searching(n) for n in (1000, 2000, 4000, 8000, 16000)})
    record = scaling_of(runs, [{runs.parameter: 64000.0}])
    assert [each.name for each in record.findings] == ["neighbours"]
    # From 1000 to 16000 the costs beyond growth in proportion are 1.2 (16² − 16).
    assert record.findings[0].seconds == pytest.approx(1.2 * (16**2 - 16))
    assert "cell list" in record.findings[0].advice


def test_a_place_inside_another_is_counted_once_at_larger_scales() -> None:
    def run(count: int) -> Profile:
        def spent(seconds: float) -> float | tuple[float, ...]:
            return even(seconds)(count) if count > 1 else seconds

        return build(main(function("work", function("inner", time=spent(6.0)), time=spent(4.0))), timed=True)

    record = scaling_of(series("threads", {count: run(count) for count in (1, 2, 4)}), [{"threads": 8.0}])
    found = record.predictions[0]
    assert found.elapsed is not None
    assert found.elapsed.value == pytest.approx(10 / 8, rel=0.02)
    assert {each.name: each.cost.value for each in found.ranked} == pytest.approx(
        {"inner": 6 / 8, "work": 4 / 8}, rel=0.02
    )


def test_the_kernels_handling_of_page_faults_is_named_by_what_it_is() -> None:
    def touching(n: int) -> Profile:
        fault = call("asm_exc_page_fault", module="[kernel.kallsyms]", time=(n / 1e3) ** 2)
        return build(main(function("fill", time=n / 1e2), function("append", fault, time=0.01)), timed=True)

    found = series("n", {n: touching(n) for n in (1000, 2000, 4000, 8000, 16000)})
    assert scaling_of(found, [{found.parameter: 64000.0}]).findings[0].name == "page faults in append"


def test_a_series_of_profiles_of_one_worker_says_less() -> None:
    found = series("ranks", {count: profile(1, {"solve": even(8.0 / count)}) for count in (2, 4, 8)})
    record = scaling_of(found, [{found.parameter: 64.0}])
    assert record.verdict == "cannot-tell"
    assert record.loss is None
    assert record.predictions[0].refusal


def test_runs_without_any_time_of_the_program_are_refused() -> None:
    with pytest.raises(UsageError, match="No time of the program itself"):
        scaling_of(series("n", {n: profile(1, {"MPI_Init": each(1.0)}) for n in (1, 2)}))


def test_single_profiles_of_one_worker_are_named() -> None:
    runs = {count: profile(count if count < 8 else 1, {"solve": even(8.0)}) for count in (1, 2, 4, 8)}
    record = scaling_of(series("threads", runs), [{"threads": 64.0}])
    assert record.headline.startswith("Some profiles (threads8) do not show their workers one by one")
    assert record.predictions[0].refusal.endswith("measure these again, or leave them out: threads8")


@pytest.mark.parametrize(("processors", "judged"), [("", True), ("1", True), ("2", False)])
def test_messages_that_waited_for_a_rank_whose_core_other_programs_had_are_not_held_against_the_program(
    processors: str, judged: bool
) -> None:
    """Two ranks of about 4 s; one had no core for 3 s, in which the other waited for its message. With fewer cores than ranks it is the program's own doing."""

    def run(count: int) -> Profile:
        gone, waited = {1: (0.0, 0.0), 2: ((3.0, 0.0), (0.0, 3.0))}[count]
        work = function("solve", time=8.0 if count == 1 else (4.0, 4.01), values={"cpu.time.no-core": gone})
        made = build(main(work, function("exchange", mpi("MPI_Recv", time=waited))), timed=True)
        metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in made.metrics.items()}
        return replace(made, metrics=metrics, hardware={"processors": processors} if processors else {})

    found = series("ranks", {count: run(count) for count in (1, 2)}, Kind.STRONG)
    costs = costs_of(found)
    assert costs.starved.tolist() == [False, True]
    assert costs.waiting[1].sum() == pytest.approx(3.0 if judged else 0.0)
    assert (Loss.WAITING in [cause.loss for cause in losses_of(costs).causes]) == judged
    waits = "" if judged else "; waiting in MPI is not judged there"
    said = f"At ranks 2 threads had no core for a good part of the time, which does not count{waits}, and efficiencies are at most those shown."
    notes = scaling_of(found).notes
    assert said in notes  # nothing of OpenMP, which the program does not use


def test_messages_count_at_all_scales_of_a_series_or_at_none() -> None:
    """On two processors, of which other programs have their share, three ranks wait for each other: no law should take that for growth."""

    def run(count: int) -> Profile:
        waits = function("exchange", mpi("MPI_Recv", time=(0.4,) * count if count > 1 else 0.4))
        yields = call("sched_yield", module="libc.so.6", time=(0.2 * (count > 2),) * count if count > 1 else 0.0)
        work = function("solve", time=(2.0,) * count if count > 1 else 2.0, values={"cpu.time.no-core": 3.0})
        made = build(main(work, waits, yields), timed=True)
        metrics = {name: replace(metric, unit=Unit.SECONDS) for name, metric in made.metrics.items()}
        return replace(made, metrics=metrics, hardware={"processors": "2"})

    found = series("ranks", {count: run(count) for count in (1, 2, 3)}, Kind.WEAK)
    assert costs_of(found).elapsed.tolist() == pytest.approx([2.0, 2.0, 2.0])


def _cubes(power: float, *, uses: int = 1, held: int | None = None) -> Series:
    """A place that grows with a power of n; a command with n so often, and peak memory with another power of n."""
    found = series(
        "n", {n: profile(1, {"fill": even(n / 1e6), "cells": even((n / 8) ** power)}) for n in (8, 10, 12, 16, 20)}
    )

    def recorded(run: Run) -> Run:
        n = f"{run.parameters['n']:g}"
        memory = {} if held is None else {"peak_memory": int(1e6 + 1e3 * float(n) ** held)}
        return replace(run, record={"command": ["./app", "-N", "10", *[f"-x={n}"] * uses], **memory})

    return replace(found, runs=tuple(map(recorded, found.runs)))


@pytest.mark.parametrize(
    ("power", "uses", "held", "verdict"),
    [
        (3, 3, None, "scales"),  # the side of a box
        (3, 3, 3, "scales"),
        (3, 1, 3, "grows"),  # what short runs hold is not seen well, so that it tells no growth by itself
        (3, 1, None, "grows"),
        (3, 2, 1, "grows"),  # as many items of two kinds: memory is what decides
        (6, 3, 3, "grows"),  # all pairs of what is in the box
        (2, 1, 1, "grows"),
    ],
)
def test_what_grows_like_the_data_is_no_finding(power: int, uses: int, held: int | None, verdict: str) -> None:
    runs = _cubes(power, uses=uses, held=held)
    record = scaling_of(runs, [{"n": 32.0}])
    assert record.verdict == verdict
    assert bool(grown_of(record)) == (verdict == "grows")


def test_what_one_thread_of_each_rank_does_is_serial_and_not_uneven() -> None:
    """Two ranks, each with 1 s before and 8 s in its team: at 4 threads its first one's second is three quarters uneven, of 3 s."""

    def run(count: int) -> Run:
        where = {"rank": np.repeat([0, 1], count), "thread": np.tile(np.arange(count), 2)}
        serial = function("reduce", time=(1.0, *(0.0,) * (count - 1)) * 2)
        work = function("sweep", time=(8.0 / count,) * (2 * count))
        found = build(main(serial, work), locations=Locations.of(2 * count, **where), timed=True)
        return Run(Path(f"threads{count}"), Measured(found, found.metric("cpu.time")), {"threads": float(count)})

    record = scaling_of(series_of([run(count) for count in (1, 2, 4)], "as given", kind=Kind.STRONG), [])
    (finding,) = record.findings
    assert (finding.name, finding.cause) == ("reduce", "omp-serial-fraction")
    assert finding.why == "runs on one thread of a rank only while the others wait"
    assert finding.share == pytest.approx(0.75 / 3)
    assert (
        findings(record)[0][2]
        == "Runs on one thread of a rank only while the others wait. Busiest worker: 1.00 s → 1.00 s → 1.00 s."
    )


def test_a_frame_without_a_name_stands_for_no_function() -> None:
    """What stands above the loops of a team may have no name; they are apart, whether one of them has nearly all or a third each."""

    def uneven(seconds: float) -> Costs:
        return lambda count: (seconds, *((seconds / 2,) * (count - 1)))

    for parts in ({"tri": 9.0, "even": 0.5}, {"tri": 3.0, "two": 3.0, "three": 3.0}):

        def run(count: int, parts: Mapping[str, float] = parts) -> Profile:
            times = {name: uneven(each)(count) if count > 1 else each for name, each in parts.items()}
            loops = [function(name, time=each) for name, each in times.items()]
            return build(entry("app", function("[unknown]", *loops)), timed=True)

        costs = costs_of(series("threads", {count: run(count) for count in (1, 4)}, Kind.STRONG))
        named = {name_of(costs, cause.node) for cause in losses_of(costs).causes}
        assert named == {name for name, each in parts.items() if each > 1}


def test_one_run_takes_as_long_by_itself_as_in_its_series() -> None:
    found = strong({"solve": even(8.0), "setup": alone(1.0)}, each(0.25))
    assert [elapsed_of(run) for run in found.runs] == pytest.approx([8 / n + 1.25 for n in (1, 2, 4, 8, 16)])
