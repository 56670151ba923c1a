"""The host's part of the tree: processes, threads, ranges, stacks, calls, samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chathpc.adapters.nsight_systems.report import read
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import NodeKind
from tests.adapters.nsight_systems.looking import below, paths
from tests.synthetic.nsight_systems import AGES, START_END, Export, all_features, tid

MAIN = [("main", "/opt/app"), ("_start", "/opt/app")]
CUPTI = ("0x7f01", "/opt/nsight-systems/target-linux-x64/libcupti.so.12")
DRIVER = ("0x7f02", "/usr/lib64/libcuda.so.535")


def test_time_of_a_range_is_its_own_without_nested_ranges_and_calls(tmp_path: Path) -> None:
    export = Export()
    export.range(0, 1_000, "outer")
    export.range(100, 500, "inner")
    export.call(200, 300, "cudaLaunchKernel")
    export.call(600, 650, "cudaLaunchKernel")
    export.call(2_000, 2_010, "cudaFree")
    profile = read(export.write(tmp_path / "a.sqlite"))
    thread = "process / main thread"
    assert paths(profile, "host.time") == pytest.approx({
        f"{thread} / outer": 550e-9,
        f"{thread} / outer / inner": 300e-9,
        f"{thread} / outer / inner / cudaLaunchKernel": 100e-9,
        f"{thread} / outer / cudaLaunchKernel": 50e-9,
        f"{thread} / cudaFree": 10e-9,
    })  # fmt: skip
    assert profile.total("host.time") == pytest.approx(1_010e-9)
    assert profile.total("calls.count") == 3
    assert profile.timed


@pytest.mark.parametrize("age", AGES)
def test_both_rows_of_a_call_in_old_exports_count_once(tmp_path: Path, age: int) -> None:
    export = Export(age)
    for step in range(5):
        launch = export.call(
            1_000 * step,
            1_000 * step + 100,
            "cudaLaunchKernel",
            stack=[CUPTI, DRIVER, ("cudaLaunchKernel", "/opt/app"), *MAIN],
        )
        export.kernel(1_000 * step + 200, 1_000 * step + 300, "solve(int)", launch)
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert profile.total("calls.count") == 5
    assert profile.total("host.time") == pytest.approx(500e-9)
    assert below(profile, "gpu.kernel.time", "solve(int)") == pytest.approx(
        {"process / main thread / _start / main / cudaLaunchKernel": 500e-9}
    )


@pytest.mark.parametrize("age", AGES)
def test_each_call_gets_its_own_stack_whatever_the_export_counts_from(tmp_path: Path, age: int) -> None:
    export = Export(age)
    for step, (call, caller) in enumerate(
        [("cudaMalloc", "setup"), ("cudaMemcpy", "fill"), ("cudaLaunchKernel", "run"), ("cudaMemcpy", "fetch")]
    ):
        export.call(
            1_000 * step,
            1_000 * step + 100,
            call,
            stack=[CUPTI, (call, "/usr/lib/libcudart.so.12"), (caller, "/opt/app"), *MAIN],
        )
    profile = read(export.write(tmp_path / "a.sqlite"))
    found = set(paths(profile, "calls.count"))
    start = "process / main thread / _start / main"
    assert found == {
        f"{start} / setup / cudaMalloc",
        f"{start} / fill / cudaMemcpy",
        f"{start} / run / cudaLaunchKernel",
        f"{start} / fetch / cudaMemcpy",
    }


def test_names_of_ranges_lose_the_numbers_that_pytorch_appends(tmp_path: Path) -> None:
    export = Export()
    for step in range(4):
        export.range(100 * step, 100 * step + 50, f"aten::copy_, op_id = {990350 + step}", registered=step % 2 == 1)
        export.range(100 * step + 10, 100 * step + 40, f"autograd::Mul, seq = {step}, op_id = 3, sizes = [[2, 2], [3]]")
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert paths(profile, "host.time") == pytest.approx({
        "process / main thread / aten::copy_": 80e-9, "process / main thread / aten::copy_ / autograd::Mul": 120e-9,
    })  # fmt: skip


def test_a_range_that_was_not_closed_ends_with_the_last_event(tmp_path: Path) -> None:
    export = Export()
    export.range(100, None, "open")
    export.call(200, 300, "cudaLaunchKernel")
    export.kernel(400, 900, "solve(int)", 101)
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert paths(profile, "host.time")["process / main thread / open"] == pytest.approx(700e-9)
    assert any("still open" in sentence for sentence in profile.caveats)


def test_ranges_of_several_domains_carry_the_names_of_their_domains(tmp_path: Path) -> None:
    export = Export()
    export.domain(3, "library")
    export.range(0, 100, "solve")
    export.range(10, 90, "solve", domain=3)
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert set(paths(profile, "host.time")) == {
        "process / main thread / solve",
        "process / main thread / solve / library: solve",
    }


def test_ranges_of_one_domain_only_need_no_name_of_it(tmp_path: Path) -> None:
    export = Export(2022)
    export.domain(1, "org.example.annotations")
    export.range(0, 100, "solve", domain=1)
    assert set(paths(read(export.write(tmp_path / "a.sqlite")), "host.time")) == {"process / main thread / solve"}


def test_thousands_of_numbered_ranges_become_one(tmp_path: Path) -> None:
    export = Export()
    for step in range(3_000):
        export.range(10 * step, 10 * step + 5, f"request {step}")
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert paths(profile, "host.time") == pytest.approx({"process / main thread / request #": 15_000e-9})
    assert any("3,000 different range names" in sentence for sentence in profile.caveats)


def test_old_exports_tell_mpi_as_ranges_of_a_domain(tmp_path: Path) -> None:
    profile = read(all_features(2022).write(tmp_path / "a.sqlite"))
    assert below(profile, "calls.count", "MPI_Send") == {
        "rank 0 (solver) / main thread / step": 1, "rank 1 (solver) / main thread / step": 1,
    }  # fmt: skip
    assert sorted(set(profile.where.rank.tolist())) == [0, 1]
    timeline = profile.timeline
    assert timeline is not None
    assert len(timeline.of(LaneKind.MPI)) == 2


@pytest.mark.parametrize("age", [2024, 2026])
def test_tables_of_mpi_become_calls_with_the_bytes_of_messages(tmp_path: Path, age: int) -> None:
    profile = read(all_features(age).write(tmp_path / "a.sqlite"))
    assert profile.total("mpi.message.bytes") == 2 * (800 + 8)
    for name in ("MPI_Send", "MPI_Allreduce", "MPI_Wait", "MPI_Comm_rank"):
        assert sum(below(profile, "calls.count", name).values()) == 2


def test_several_processes_without_mpi_are_counted(tmp_path: Path) -> None:
    export = Export()
    for pid in (20, 30, 40):
        export.process(pid, "/usr/bin/python3")
        export.call(0, 10, "cudaFree", pid=pid)
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert [profile.tree.label(root) for root in profile.tree.roots.tolist()] == [
        "process 0 (python3)",
        "process 1 (python3)",
        "process 2 (python3)",
    ]
    assert sorted(profile.where.rank.tolist()) == [0, 1, 2]


def test_threads_are_told_apart_and_named(tmp_path: Path) -> None:
    export = Export()
    export.process(7, "solver")
    export.thread(7, 7, "solver")
    export.thread(7, 8, "loader")
    export.thread(7, 9, "solver")
    for thread in (None, 8, 9):
        export.range(0, 100, "work", thread=thread)
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert set(below(profile, "host.time", "work")) == {
        "process (solver) / main thread", "process (solver) / thread 1 (loader)", "process (solver) / thread 2",
    }  # fmt: skip
    assert profile.location_totals("host.time") == pytest.approx([100e-9] * 3)


def test_start_end_ranges_may_overlap(tmp_path: Path) -> None:
    export = Export()
    export.range(0, 100, "first", kind=START_END)
    export.range(50, 150, "second", kind=START_END)
    export.range(200, 300, "third")
    export.call(60, 70, "cudaFree")
    profile = read(export.write(tmp_path / "a.sqlite"))
    profile.tree.check()
    assert paths(profile, "host.time") == pytest.approx({
        "process / main thread / first": 50e-9, "process / main thread / first / second": 90e-9,
        "process / main thread / first / second / cudaFree": 10e-9, "process / main thread / third": 100e-9,
    })  # fmt: skip


def test_samples_hang_below_the_innermost_range_with_their_stack(tmp_path: Path) -> None:
    export = Export()
    export.range(0, 1_000, "outer")
    export.range(100, 500, "inner")
    export.call(200, 300, "cudaMalloc")
    solve = [("solve", "/opt/app"), *MAIN]
    export.sample(250, solve)
    export.sample(260, solve)
    export.sample(700, [("0xdead", "/opt/lib/libx.so"), *MAIN])
    export.sample(5_000, [])
    profile = read(export.write(tmp_path / "a.sqlite"))
    thread = "process / main thread"
    assert paths(profile, "cpu.samples") == {
        thread: 1, f"{thread} / outer / inner / _start / main / solve": 2,
        f"{thread} / outer / _start / main / <unknown procedure> [libx.so]": 1,
    }  # fmt: skip
    solving = next(node for node in range(len(profile.tree)) if profile.tree.label(node) == "solve")
    assert profile.tree.kind[solving] == NodeKind.FUNCTION
    assert profile.tree.module_name(solving) == "app"


def test_what_the_profiler_does_inside_a_thread_is_told_apart(tmp_path: Path) -> None:
    wrapper = ("NSYS_OSRT_pthread_mutex_lock_1", "/opt/nsight-systems/target-linux-x64/libToolsInjection64.so")
    export = Export()
    export.sample(10, [("memcpy", "/lib/libc.so.6"), CUPTI, DRIVER, ("cudaLaunchKernel", "a"), *MAIN])
    export.sample(20, [("__lll_lock_wait", "/lib/libc.so.6"), wrapper, ("update", "/opt/app"), *MAIN])
    export.sample(30, [CUPTI, CUPTI])
    profile = read(export.write(tmp_path / "a.sqlite"))
    thread = "process / main thread"
    assert paths(profile, "cpu.samples") == {
        f"{thread} / _start / main / cudaLaunchKernel / <unknown procedure> [libcuda.so.535] / <Nsight Systems>": 1,
        f"{thread} / _start / main / update / __lll_lock_wait": 1,
        f"{thread} / <Nsight Systems>": 1,
    }  # fmt: skip


def test_a_call_of_the_system_inside_another_call_does_not_repeat_its_stack(tmp_path: Path) -> None:
    profile = read(all_features().write(tmp_path / "a.sqlite"))
    assert set(below(profile, "calls.count", "poll")) == {
        f"rank {rank} (solver) / main thread / step / aten::mul / overlapping / cudaStreamSynchronize" for rank in (0, 1)
    }  # fmt: skip


def test_lanes_of_the_host_hold_every_event_in_order(tmp_path: Path) -> None:
    export = Export()
    rng = np.random.default_rng(3)
    for start in rng.permutation(50).tolist():
        export.call(100 * start, 100 * start + 20, "cudaFree", thread=8 if start % 2 else None)
    timeline = read(export.write(tmp_path / "a.sqlite")).timeline
    assert timeline is not None
    lanes = timeline.of(LaneKind.API)
    assert [len(lane) for lane in lanes] == [25, 25]
    assert {lane.device for lane in lanes} == {-1}
    for lane in lanes:
        assert (np.diff(lane.start) > 0).all()
        assert (lane.end - lane.start == 20).all()
    assert (timeline.begin, timeline.end) == (0, 4_920)


def test_a_call_without_a_text_still_counts(tmp_path: Path) -> None:
    export = Export()
    export.add(
        "CUPTI_ACTIVITY_KIND_RUNTIME", start=0, end=5, eventClass=0, globalTid=tid(7), nameId=999, correlationId=1
    )
    assert below(read(export.write(tmp_path / "a.sqlite")), "calls.count", "<unnamed call>") == {
        "process / main thread": 1
    }


def test_recursion_beyond_all_measure_is_cut_at_its_inner_end(tmp_path: Path) -> None:
    export = Export()
    export.sample(0, [("fib", "/opt/app")] * 5_000 + MAIN)
    profile = read(export.write(tmp_path / "a.sqlite"))
    assert int(profile.tree.depth.max()) < 200
    assert profile.total("cpu.samples") == 1


def test_samples_without_any_stack_count_for_their_threads(tmp_path: Path) -> None:
    export = Export()
    export.range(0, 100, "work")
    export.sample(50, [])
    assert paths(read(export.write(tmp_path / "a.sqlite")), "cpu.samples") == {"process / main thread / work": 1}


def test_a_range_without_a_text_is_unnamed(tmp_path: Path) -> None:
    export = Export()
    export.add("NVTX_EVENTS", start=0, end=10, eventType=59, globalTid=tid(7))
    assert set(paths(read(export.write(tmp_path / "a.sqlite")), "host.time")) == {
        "process / main thread / <unnamed range>"
    }


def test_every_metric_has_a_name_of_its_own_in_the_source(tmp_path: Path) -> None:
    profile = read(all_features().write(tmp_path / "a.sqlite"))
    names = [metric.source_name for metric in profile.metrics.values()]
    assert len(set(names)) == len(names)
    for metric in profile.metrics.values():
        if metric.unit == "s":
            assert profile.total(metric.source_name) == profile.total(metric.id)
