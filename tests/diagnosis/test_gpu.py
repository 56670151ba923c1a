from __future__ import annotations

from typing import Any

import pytest

from chathpc.diagnosis.device import kernels
from chathpc.profile.profile import Profile
from chathpc.reading.retelling import narrate
from tests.diagnosis.parts import causes, diagnosed, finding, function, main, statements, sure
from tests.profile.build import Node, build, call, entry, gpu_op, kernel, line

CUDART = "/usr/lib/libcudart.so.12"


def runtime(name: str, *below: Node, **facts: Any) -> Node:
    return call(name, *below, module=CUDART, **facts)


def launch(*below: Node, at: str = "app.cu:9", seconds: float | None = None) -> Node:
    return line(at, runtime("cudaLaunchKernel", gpu_op("<gpu kernel>", *below), time=seconds))


def timed(
    name: str, seconds: float, *lines: Node, launches: float = 10.0, more: dict[str, float] | None = None
) -> Node:
    values = {"gpu.time": seconds, "gpu.kernel.time": seconds, "gpu.kernel.count": launches}
    return kernel(name, *lines, at="kernels.cu:1", values=values | (more or {}))


def copied(name: str, seconds: float, at: str, metric: str | None = None, volume: float = 0.0) -> Node:
    values = {"gpu.time": seconds, "gpu.copy.time": seconds} | ({} if metric is None else {metric: volume})
    return line(at, runtime("cudaMemcpy", gpu_op(f"<gpu {name}>", values=values)))


def program(*below: Node) -> Profile:
    return build(main(function("solve", *below, at="app.cu:3")), format="HPCToolkit v4")


def sampled(at: str, samples: float, **stalls: float) -> Node:
    """A line of a kernel with PC samples; `memory=3` is gpu.stall.memory."""
    values = {"gpu.instructions": samples, "gpu.stall.any": sum(stalls.values())}
    return line(at, values=values | {f"gpu.stall.{name.replace('_', '-')}": amount for name, amount in stalls.items()})


# -- kernels -------------------------------------------------------------------------------------------------


def test_launches_of_one_kernel_are_taken_together() -> None:
    found = kernels(
        program(launch(timed("saxpy", 1.0)), launch(timed("sum", 3.0)), launch(timed("saxpy", 2.5), at="app.cu:20"))
    )
    assert [(one.name, one.seconds, one.launches) for one in found] == [("saxpy", 3.5, 20.0), ("sum", 3.0, 10.0)]
    assert len(found[0].nodes) == 2


def test_a_kernel_without_a_name_goes_by_the_function_that_launches_it() -> None:
    values = {"gpu.time": 2.0, "gpu.kernel.time": 2.0, "gpu.kernel.count": 1.0}
    unknown = kernel("<unknown function>", line("kernels.cu:3", values={"gpu.instructions": 5.0}))
    profile = program(line("app.cu:9", gpu_op("<gpu kernel>", unknown, values=values)))
    (found,) = kernels(profile)
    assert (found.name, found.seconds, len(found.nodes)) == ("kernel launched from solve", 2.0, 3)
    assert kernels(build(gpu_op("<gpu kernel>", values=values)))[0].name == "<gpu kernel>"


def test_a_profile_without_a_device_has_no_kernels() -> None:
    assert kernels(build(main(line("app.c:2", time=1.0)))) == []


# -- gpu-kernel-bound ----------------------------------------------------------------------------------------


def test_busy_kernels_without_counters_are_no_bottleneck_that_could_be_explained() -> None:
    diagnosis = diagnosed(
        program(launch(timed("saxpy", 6.0)), launch(timed("sum", 3.0)), copied("copyin", 1.0, "app.cu:8"))
    )
    assert diagnosis.verdict == "hot-spot"
    (found,) = diagnosis.findings
    assert (found.cause, found.where.kernel, found.where.short, found.seconds) == (
        "gpu-kernel-bound",
        "saxpy",
        "kernels.cu:1",
        9.0,
    )
    assert (
        found.summary
        == "Kernels have 90.0 % of the device's busy time, saxpy 60.0 %; only kernel counters can show why."
    )
    assert found.confidence_reason == "1 independent sign, times measured, not sampled"
    assert "saxpy" in diagnosis.headline
    assert "reasons for GPU stalls" in diagnosis.not_collected


def test_kernels_that_leave_the_device_much_time_are_not_the_limit() -> None:
    assert causes(program(launch(timed("saxpy", 6.0)), copied("copyin", 2.7, "app.cu:8"))) == ["gpu-h2d-copy-bound"]


def test_kernel_time_that_belongs_to_no_kernel_is_no_finding() -> None:
    values = {"gpu.time": 2.0, "gpu.kernel.time": 2.0, "gpu.kernel.count": 1e6}
    assert causes(program(line("app.cu:4", values=values))) == []


# -- copies --------------------------------------------------------------------------------------------------


def test_copies_are_told_apart_by_direction() -> None:
    diagnosis = diagnosed(
        program(
            copied("copyin", 5.0, "app.cu:8", "gpu.copy.h2d.bytes", 40e9),
            copied("copyout", 4.0, "app.cu:12"),
            launch(timed("saxpy", 1.0)),
        )
    )
    there, back = finding(diagnosis, "gpu-h2d-copy-bound"), finding(diagnosis, "gpu-d2h-copy-bound")
    assert (there.where.function, there.where.short, there.share, there.seconds) == ("solve", "app.cu:8", 0.5, 5.0)
    assert (back.where.short, back.share) == ("app.cu:12", 0.4)
    assert statements(diagnosis, "gpu-h2d-copy-bound") == [
        "Copies host to device take 5.00 s of the 10.0 s of busy time of the device (50.0 %).",
        "Kernels take 1.00 s of the 10.0 s of busy time of the device (10.0 %).",
        "The rate of copies host to device is 8.00 GB a second (40.0 GB in 5.00 s).",
    ]
    assert (there.confidence, back.confidence) == (sure(2), sure(1))
    assert diagnosis.headline == "Copies host to device keep the device busy for 50.0 % of its time."


def test_few_copies_are_no_finding() -> None:
    assert causes(program(copied("copyin", 2.9, "app.cu:8"), launch(timed("saxpy", 7.1)))) == ["gpu-kernel-bound"]


def test_copies_of_openmp_target_regions_count_too() -> None:
    values = {"gpu.time": 5.0, "gpu.copy.time": 5.0}
    found = diagnosed(program(line("app.cu:8", gpu_op("<omp tgt copyin>", values=values)))).findings[0]
    assert (found.cause, found.where.short) == ("gpu-h2d-copy-bound", "app.cu:8")


def test_a_copy_that_nobody_in_the_program_issues_has_no_place() -> None:
    values = {"gpu.time": 5.0, "gpu.copy.time": 5.0}
    found = diagnosed(build(entry("<thread root>", gpu_op("<gpu copyin>", values=values)))).findings[0]
    assert found.where.function is None


@pytest.mark.parametrize(("seconds", "told"), [(6.0, "most of it saxpy"), (4.5, "45.0 % of it saxpy")])
def test_the_longest_kernel_has_most_of_the_time_only_if_it_has_half(seconds: float, told: str) -> None:
    others = [timed(name, (10 - seconds) / 2) for name in ("first", "second")]
    headline = diagnosed(program(launch(timed("saxpy", seconds)), *map(launch, others))).headline
    assert headline.startswith(f"No cause was found: kernels have 100 % of the device's busy time, {told}.")


# -- gpu-launch-bound ----------------------------------------------------------------------------------------


def test_kernels_of_two_microseconds_cannot_fill_the_device() -> None:
    tiny = timed("tiny", 0.02, launches=10_000.0)
    profile = program(launch(tiny, seconds=3.0), line("app.cu:30", time=1.0), launch(timed("rare", 0.0, launches=5.0)))
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-launch-bound")
    assert (found.where.function, found.where.short, found.where.kernel) == ("solve", "app.cu:9", "tiny")
    assert (found.seconds, found.share) == (pytest.approx(3.0), pytest.approx(0.75))
    assert found.confidence == sure(2)
    assert statements(diagnosis, "gpu-launch-bound") == [
        "Kernels take 2.00 µs on average, over 10,005 launches.",
        "tiny has 10,000 launches.",
        "Launch functions on the host take 3.00 s of 4.00 s (75.0 %).",
    ]


def test_who_replays_graphs_is_not_told_to_use_them() -> None:
    tiny = launch(timed("tiny", 0.02, launches=10_000.0), seconds=3.0)
    plain = finding(diagnosed(program(tiny)), "gpu-launch-bound")
    graphs = finding(diagnosed(program(tiny, line("app.cu:20", call("cudaGraphLaunch", time=1.0)))), "gpu-launch-bound")
    assert any("cudaGraphLaunch" in each for each in plain.advice)
    assert graphs.advice
    assert not any("Graph" in each for each in graphs.advice)


def test_without_host_time_there_is_one_sign_only() -> None:
    found = finding(diagnosed(program(launch(timed("tiny", 0.02, launches=10_000.0)))), "gpu-launch-bound")
    assert found.confidence == sure(1)
    assert (found.seconds, found.share) == (pytest.approx(0.02), pytest.approx(1.0))
    assert found.summary.endswith("10,000 launches, 100 % of the device's busy time.")


def test_long_or_few_kernels_are_not_bound_by_launching() -> None:
    assert "gpu-launch-bound" not in causes(program(launch(timed("long", 0.2, launches=10_000.0))))
    assert "gpu-launch-bound" not in causes(program(launch(timed("few", 0.001, launches=900.0))))


# -- gpu-low-occupancy ---------------------------------------------------------------------------------------


def test_a_hot_kernel_with_few_warps_is_described_by_its_launch() -> None:
    facts = {
        "gpu.kernel.occupancy": 25.0,
        "gpu.kernel.threads-per-block": 64.0,
        "gpu.kernel.blocks": 4096.0,
        "gpu.kernel.registers": 128.0,
    }
    diagnosis = diagnosed(program(launch(timed("saxpy", 6.0, more=facts)), launch(timed("sum", 4.0))))
    found = finding(diagnosis, "gpu-low-occupancy")
    assert (found.where.kernel, found.share, found.confidence) == ("saxpy", 0.6, sure(2))
    assert statements(diagnosis, "gpu-low-occupancy") == [
        "The theoretical occupancy of saxpy is 25.0 %.",
        "saxpy takes 6.00 s of the 10.0 s of busy time of the device (60.0 %).",
        "saxpy has 64 threads per block.",
        "saxpy has 4,096 blocks per launch.",
        "saxpy has 128 registers per thread.",
    ]


@pytest.mark.parametrize(("threads", "small"), [(32.0, True), (256.0, False)])
def test_small_blocks_are_made_larger_and_their_registers_left_alone(threads: float, small: bool) -> None:
    facts = {"gpu.kernel.occupancy": 12.5, "gpu.kernel.threads-per-block": threads, "gpu.kernel.registers": 32.0}
    found = finding(diagnosed(program(launch(timed("saxpy", 6.0, more=facts)))), "gpu-low-occupancy")
    assert any("blocks of 128 threads" in each for each in found.advice) is small
    assert any("maxrregcount" in each for each in found.advice) is not small


def test_what_few_blocks_can_have_at_most_is_not_said_to_run() -> None:
    # One block for each of 32 multiprocessors: 8 of 64 warps fit, and one is there.
    facts = {"gpu.kernel.occupancy": 12.5, "gpu.kernel.threads-per-block": 32.0, "gpu.kernel.blocks": 32.0}
    found = finding(diagnosed(program(launch(timed("saxpy", 6.0, more=facts)))), "gpu-low-occupancy")
    assert "at most 12.5 %" in found.summary
    assert "more of them help, not larger ones" in found.against[0]
    many = finding(
        diagnosed(program(launch(timed("saxpy", 6.0, more={**facts, "gpu.kernel.blocks": 320.0})))), "gpu-low-occupancy"
    )
    assert many.against == ()


def test_the_same_fact_of_two_kernels_is_two_items_of_evidence() -> None:
    facts = {"gpu.kernel.occupancy": 25.0, "gpu.kernel.registers": 128.0}
    diagnosis = diagnosed(program(launch(timed("saxpy", 6.0, more=facts)), launch(timed("sum", 4.0, more=facts))))
    registers = [item for item in diagnosis.evidence if item.statement.endswith(" has 128 registers per thread.")]
    assert [item.subject for item in registers] == ["saxpy", "sum"]


def test_occupancy_above_the_limit_unknown_or_of_a_short_kernel_is_no_finding() -> None:
    profile = program(
        launch(timed("full", 5.0, more={"gpu.kernel.occupancy": 50.0})),
        launch(timed("unknown", 4.0)),
        launch(timed("short", 1.0, more={"gpu.kernel.occupancy": 5.0})),
    )
    assert "gpu-low-occupancy" not in causes(profile)


def test_without_launch_facts_occupancy_is_one_sign_only() -> None:
    profile = program(launch(timed("saxpy", 6.0, more={"gpu.kernel.occupancy": 25.0})))
    assert finding(diagnosed(profile), "gpu-low-occupancy").confidence == sure(1)


# -- stalls --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stalls", "cause", "words"),
    [
        ({"memory": 30.0, "memory_throttle": 5.0}, "gpu-memory-latency", "memory"),
        ({"dependency": 35.0, "pipe_busy": 15.0}, "gpu-dependency-stall", "the result of an earlier instruction"),
        ({"barrier": 35.0}, "gpu-barrier-stall", "other warps at a barrier"),
        ({"instruction_fetch": 35.0}, "gpu-instruction-fetch", "their next instruction"),
    ],
)
def test_the_reason_that_warps_stall_for_is_named(stalls: dict[str, float], cause: str, words: str) -> None:
    hot = sampled("kernels.cu:5", 60.0, **stalls)
    diagnosis = diagnosed(
        program(launch(timed("saxpy", 4.0, hot, sampled("kernels.cu:7", 40.0))), copied("copyin", 1.0, "app.cu:8"))
    )
    (found,) = diagnosis.findings
    assert (found.cause, found.where.kernel, found.where.short) == (cause, "saxpy", "kernels.cu:5")
    assert found.seconds == pytest.approx(4.0 * 0.35)
    assert found.share == pytest.approx(0.8 * 0.35)
    assert found.summary == f"Warps of saxpy wait for {words} in 35.0 % of their samples."
    assert statements(diagnosis, cause) == [
        f"Waiting for {words} has 35.0 % of the warp samples of saxpy.",
        "saxpy takes 4.00 s of the 5.00 s of busy time of the device (80.0 %).",
        "kernels.cu:5 has 100 % of these stalls.",
        *(
            # 5 of 35 samples.
            [
                "Waiting for room in a queue of memory instructions (too many or too spread accesses) has 14.3 % of these; "
                "the others wait for data that is under way."
            ]
            if "memory_throttle" in stalls
            else []
        ),
    ]


def test_a_scoreboard_of_intel_is_waiting_for_memory_with_doubt() -> None:
    hot = sampled("kernels.cl:5", 60.0, dependency=75.0)
    queued = line(
        "app.cc:9",
        call(
            "zeCommandQueueExecuteCommandLists",
            gpu_op("<gpu kernel>", timed("saxpy", 4.0, hot, sampled("kernels.cl:7", 40.0))),
        ),
    )
    diagnosis = diagnosed(build(main(function("solve", queued, at="app.cc:3")), format="HPCToolkit v4"))
    (found,) = [each for each in diagnosis.findings if each.cause.startswith("gpu-")]
    assert found.cause == "gpu-memory-latency"
    assert not any("warp" in told.text.lower() for told in narrate(diagnosis))
    assert (
        found.summary
        == "Hardware threads of saxpy wait for late results, mostly of loads from memory, in 75.0 % of their samples."
    )
    assert "do not tell loads from mathematical functions" in found.against[0]


@pytest.mark.parametrize("memory", ["gpu.stall.memory", "gpu.stall.any-memory"])
def test_wavefront_cycles_are_the_base_where_they_were_counted(memory: str) -> None:
    values = {"gpu.cycles": 200.0, "gpu.instructions": 50.0, "gpu.stall.any": 80.0, memory: 80.0}
    diagnosis = diagnosed(program(launch(timed("saxpy", 4.0, line("kernels.cu:5", values=values)))))
    assert finding(diagnosis, "gpu-memory-latency").share == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("drain", "gpu-memory-latency"),
        ("memory-fence", "gpu-memory-latency"),
        ("constant", "gpu-memory-latency"),
        ("short-scoreboard", "gpu-dependency-stall"),
        ("mio-throttle", "gpu-dependency-stall"),
    ],
)
def test_samples_are_evidence_of_what_counters_of_the_same_reason_are(reason: str, cause: str) -> None:
    values = {"gpu.instructions": 1000.0, "gpu.stall.any": 700.0, f"gpu.stall.{reason}": 700.0}
    found = finding(diagnosed(program(launch(timed("saxpy", 4.0, line("kernels.cu:5", values=values))))), cause)
    assert found.share == pytest.approx(0.7)


def test_the_number_of_samples_follows_from_the_period() -> None:
    def reason(**more: float) -> str:
        values = {"gpu.instructions": 4.096e6, "gpu.stall.any": 2e6, "gpu.stall.memory": 2e6, **more}
        diagnosis = diagnosed(program(launch(timed("saxpy", 4.0, line("kernels.cu:5", values=values)))))
        return finding(diagnosis, "gpu-memory-latency").confidence_reason

    assert reason().endswith("number of samples not recorded")
    assert reason(**{"gpu.samples.period": 1024.0}).endswith("(4,000 samples)")
    assert reason(**{"gpu.samples.period": 0.0}).endswith("(4.10 M samples)")


def test_without_device_time_the_samples_are_the_measure_and_no_seconds_are_given() -> None:
    values = {"gpu.instructions": 60.0, "gpu.stall.any": 30.0, "gpu.stall.memory": 30.0}
    other = kernel("sum", line("kernels.cu:9", values={"gpu.instructions": 40.0}))
    saxpy = kernel("saxpy", line("kernels.cu:5", values=values))
    diagnosis = diagnosed(program(launch(saxpy), launch(other)))
    found = finding(diagnosis, "gpu-memory-latency")
    assert found.share == pytest.approx(0.5 * 0.6)
    assert found.seconds is None
    assert len(found.evidence) == 2


def test_kernels_without_lines_have_one_sign_only() -> None:
    values = {
        "gpu.instructions": 6e8,
        "gpu.stall.any": 3e8,
        "gpu.stall.memory": 3e8,
        "gpu.time": 2.0,
        "gpu.kernel.time": 2.0,
    }
    bare = kernel("saxpy", at="[app.cubin]:0", values=values)
    found = diagnosed(program(launch(bare))).findings[0]
    assert (found.confidence, found.where.file) == (sure(1), None)


def test_the_same_line_number_of_another_file_has_its_own_stalls() -> None:
    rows = (sampled("kernels.cu:5", 50.0, memory=20.0), sampled("math.cuh:5", 50.0, memory=30.0))
    diagnosis = diagnosed(program(launch(timed("saxpy", 4.0, *rows))))
    assert statements(diagnosis, "gpu-memory-latency")[-1] == "math.cuh:5 has 60.0 % of these stalls."


def test_few_stalls_and_short_kernels_are_no_finding() -> None:
    short = timed("short", 0.3, sampled("kernels.cu:5", 100.0, memory=90.0))
    rest = timed("rest", 4.0, sampled("kernels.cu:15", 100.0, memory=29.0))
    unseen = timed("unseen", 2.0)
    assert causes(program(launch(short), launch(rest), launch(unseen))) == []


def test_a_device_profile_without_findings_is_not_called_healthy() -> None:
    diagnosis = diagnosed(program(copied("copyin", 1.0, "app.cu:8"), copied("sync", 9.0, "app.cu:9")))
    assert diagnosis.verdict == "hot-spot"
    assert diagnosis.headline == "No cause was found for what takes the time."
    assert "host time" in diagnosis.not_collected
