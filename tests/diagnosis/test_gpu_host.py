"""Calls of a GPU's runtime in the time of the host: what they are for decides, not what the library does inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chathpc.profile.location import Locations
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import Lane, Timeline
from tests.diagnosis.parts import APP, causes, diagnosed, finding, function, main, statements
from tests.profile.build import Node, build, call, gpu_op, line, loop

CUDA, HIP, KERNEL = "/usr/lib/libcuda.so.550", "/opt/rocm/lib/libamdhip64.so.6", "[vmlinux]"


def work(seconds: float) -> Node:
    return line("app.cu:5", time=seconds)


def program(*below: Node) -> Profile:
    return build(main(function("solve", work(4.0), *below, at="app.cu:3")), format="HPCToolkit v4")


def driver(name: str, *below: Node, seconds: float | None = None, module: str = CUDA) -> Node:
    return call(name, *below, module=module, time=seconds)


@pytest.mark.parametrize(
    ("name", "module", "cause"),
    [
        ("cudaMemcpy", CUDA, "gpu-host-copies"),
        ("hipMemcpyWithStream", HIP, "gpu-host-copies"),
        ("cuMemcpyHtoD_v2", CUDA, "gpu-host-copies"),
        ("cudaDeviceSynchronize", CUDA, "gpu-host-waits"),
        ("hipStreamSynchronize", HIP, "gpu-host-waits"),
        ("cuDevicePrimaryCtxRetain", CUDA, "gpu-start-up"),
        ("hipSetDevice", HIP, "gpu-start-up"),
        ("cuModuleLoadData", CUDA, "gpu-start-up"),
    ],
)
def test_a_call_is_told_by_what_it_is_for(name: str, module: str, cause: str) -> None:
    diagnosis = diagnosed(program(line("app.cu:9", driver(name, seconds=6.0, module=module))))
    first = diagnosis.findings[0] if cause != "gpu-host-waits" else finding(diagnosis, cause)
    assert (first.cause, first.where.function, first.where.short, first.share) == (cause, "solve", "app.cu:9", 0.6)
    assert diagnosis.verdict == ("hot-spot" if cause == "gpu-host-waits" else "bottleneck")


def test_what_the_kernel_does_in_a_call_belongs_to_the_call_and_computes_nothing() -> None:
    inside = call("_nv031520rm [nvidia] [[vmlinux]]", module=KERNEL, time=5.0)
    static = call("__cudart513", call("ioctl", inside, module="/lib/libc.so.6"), module=APP)
    copying = function("copy", line("app.cu:9", call("cudaMemcpy", static, module=APP)), at="app.cu:8")
    diagnosis = diagnosed(program(copying))
    assert [one.cause for one in diagnosis.findings] == ["gpu-host-copies", "hot-compute"]
    assert diagnosis.findings[1].share == pytest.approx(4 / 9)


def test_the_first_call_makes_the_context_whatever_it_is_for() -> None:
    once = call("__pthread_once_slow", driver("cuGetErrorString", seconds=3.0), module="/lib/libpthread.so.0")
    first = line("app.cu:9", call("cudaMalloc", call("__cudart513", once, module=APP), module=APP))
    second = line("app.cu:10", call("cudaMalloc", driver("cuMemAlloc_v2", seconds=0.5), module=APP))
    diagnosis = diagnosed(program(first, second))
    found = finding(diagnosis, "gpu-start-up")
    assert (found.where.short, found.seconds) == ("app.cu:9", 3.0)
    assert "It is paid once: a longer run spends less of its time on it." in found.against


def test_launches_and_allocations_count_where_they_are_repeated() -> None:
    for name, cause in (("cudaLaunchKernel", "gpu-launch-bound"), ("cudaMalloc", "gpu-allocation-in-loop")):
        called = line("app.cu:9", driver(name, seconds=6.0))
        assert cause not in causes(program(called))
        assert causes(program(loop("app.cu:8", called)))[0] == cause


def test_a_little_of_it_is_not_told() -> None:
    assert causes(program(line("app.cu:9", driver("cudaMemcpy", seconds=0.3)))) == ["hot-compute"]


def test_a_function_with_source_that_the_runtime_calls_back_is_the_programs() -> None:
    back = function("on_done", line("app.cu:30", time=6.0), at="app.cu:29")
    assert causes(program(line("app.cu:9", driver("cudaLaunchHostFunc", back)))) == ["hot-compute"]


def test_a_device_that_hardly_works_is_idle_whatever_fills_its_time() -> None:
    copy = gpu_op("<gpu copyin>", values={"gpu.time": 0.03, "gpu.copy.time": 0.03})
    profile = replace(program(line("app.cu:9", driver("cudaMemcpy", copy, seconds=0.1))), run={"seconds": "10"})
    diagnosis = diagnosed(profile)
    assert diagnosis.findings[0].cause == "gpu-idle-host-bound"
    assert (
        statements(diagnosis, "gpu-idle-host-bound")[0]
        == "The devices' work takes 30.0 ms of the 10.0 s of wall-clock time (0.300 %)."
    )
    assert "gpu-h2d-copy-bound" not in [each.cause for each in diagnosis.findings]  # 0.3 % of the run


def test_a_device_waits_for_the_host_s_own_work_and_not_for_its_copies() -> None:
    """Of 10 s the device copies for 1 s, in a call of 5 s at :9; the host computes for 4 s at :5."""
    copy = gpu_op("<gpu copyin>", values={"gpu.time": 1.0, "gpu.copy.time": 1.0})
    profile = replace(program(line("app.cu:9", driver("cudaMemcpy", copy, seconds=5.0))), run={"seconds": "10"})
    assert finding(diagnosed(profile), "gpu-idle-host-bound").where.short == "app.cu:5"


def test_a_device_that_waits_for_its_driver_does_not_wait_for_work_of_the_program() -> None:
    start = driver("cuInit", seconds=8.0)
    kernel = gpu_op("<gpu copyin>", values={"gpu.time": 0.03, "gpu.copy.time": 0.03})
    profile = replace(
        program(line("app.cu:9", start, driver("cudaMemcpy", kernel, seconds=0.1))), run={"seconds": "10"}
    )
    assert causes(profile)[0] == "gpu-start-up"
    assert "gpu-idle-host-bound" not in causes(profile)


def streams(*recorded: list[tuple[int, int]], values: dict[str, float] | None = None) -> Profile:
    """A kernel on streams of a device, at work for the given (begin, end) in ms; the run is as long as the trace, 100 ms."""
    where = Locations.of(
        1 + len(recorded), thread=np.array([0, *[-1] * len(recorded)]), stream=np.arange(len(recorded) + 1) - 1
    )
    busy = (0.0, *(sum(end - begin for begin, end in each) * 1e-3 for each in recorded))
    kernel = gpu_op("<gpu kernel>", values={"gpu.time": busy, "gpu.kernel.time": busy} | (values or {}))
    profile = build(main(function("solve", call("cudaLaunchKernel", kernel, module=CUDA))), locations=where)
    at = int(np.flatnonzero(profile.exclusive("gpu.time").dense(len(profile.tree)))[0])
    lanes = [
        Lane(
            row, np.array(each, dtype=np.uint64).reshape(-1) * 1_000_000, np.array([at, -1] * len(each), dtype=np.int32)
        )
        for row, each in enumerate(recorded, 1)
    ]
    return replace(
        profile,
        read_timeline=lambda: Timeline(0, 100_000_000, tuple(lanes)),
        sample_count=sum(2 * len(each) for each in recorded),
        run={"seconds": "0.1"},
        format="HPCToolkit v4",
    )


def test_streams_of_a_sampled_trace_tell_when_devices_worked() -> None:
    """Two streams are at work for 20 ms each, 10 of them together: 30 of 100 ms."""
    diagnosis = diagnosed(streams([(0, 10), (50, 60)], [(50, 60), (90, 100)]))
    idle = finding(diagnosis, "gpu-idle-host-bound")
    assert idle.summary == "The devices work for 30.0 % of the run."
    assert (idle.share, idle.against) == (pytest.approx(0.7), ())
    assert [each.reason for each in diagnosis.examined.skipped if "timeline" in each.reason] == [
        "no timeline of the host's calls"
    ]


def test_a_busy_device_is_said_to_be_busy() -> None:
    told = diagnosed(streams([(0, 49), (50, 100)])).headline
    assert "The device was busy for 99.0 % of the time from its first to its last operation" in told


def test_nobody_is_blamed_for_what_a_device_idles_while_its_kernels_are_sampled() -> None:
    sampled = streams([(0, 10), (90, 100)], values={"gpu.instructions": 100.0, "gpu.stall.any": 10.0})
    diagnosis = diagnosed(sampled)
    assert "gpu-idle-host-bound" not in [each.cause for each in diagnosis.findings]
    assert "no device timeline without PC sampling" in [each.reason for each in diagnosis.examined.skipped]
