"""Rules over GPU timelines: every number follows from the spans in the test."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.host_calls import HostCall, host_call, is_blocking_copy
from chathpc.diagnosis.nested import innermost, longest
from chathpc.diagnosis.verdict import is_about_devices
from chathpc.profile import intervals
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from chathpc.profile.run import run_facts
from chathpc.profile.timeline import PYTHON_STACKS, LaneKind
from tests.diagnosis.parts import causes, diagnosed, finding, statements, sure
from tests.diagnosis.timelines import (
    Track,
    api,
    collective,
    copy,
    every,
    kernel,
    mpi,
    ranged,
    recorded,
    system,
)  # fmt: skip

H2D, D2H = LaneKind.H2D, LaneKind.D2H


# -- the two traps -------------------------------------------------------------------------------------------


def saturated() -> Profile:
    """Ten steps of 100 ms: 97 ms copy to the device from pinned memory, 2 ms kernel, 1 ms nothing; the host waits in each."""
    return recorded(
        copy(H2D, *every(100e3, 97e3, 10), size=2_716_000_000, pageable=False, under="load_weights"),
        kernel("gemm", *every(100e3, 2e3, 10, begin=97e3)),
        api("cudaStreamSynchronize_v3020", *every(100e3, 99e3, 10, begin=500)),
    )


def test_a_copy_saturated_device_is_not_idle() -> None:
    diagnosis = diagnosed(saturated())
    assert diagnosis.verdict == "bottleneck"
    (found,) = diagnosis.findings
    assert found.cause == "gpu-h2d-copy-bound"
    assert found.seconds == pytest.approx(0.97)
    assert found.share == pytest.approx(0.97 / 0.999)  # the window ends with the last kernel
    assert found.where.function == "load_weights"
    told = statements(diagnosis, "gpu-h2d-copy-bound")
    assert told[0] == "Copies host to device take 970 ms of 999 ms (97.1 %): 10 copies."
    assert told[1] == "Kernels take 20.0 ms of 999 ms (2.00 %)."
    assert told[2] == "The rate of copies host to device is 28.0 GB a second (27.2 GB in 970 ms)."
    assert "takes 9.00 ms of 999 ms (0.901 %)" in told[4]
    assert "an effect and not the cause" in told[5]
    assert told[6] == "What they copy from or to memory that is pinned already is 27.2 GB."
    assert found.against == ()
    assert "hardly ever idle (0.901 %)" in diagnosis.headline
    # The memory is pinned: no further advice may ask for that.
    assert "gains nothing more" in found.advice[0]
    assert len(found.advice) > 1
    assert not [each for each in found.advice[1:] if "MallocHost" in each or "pin_memory" in each]


def test_the_healthy_sample_gets_no_culprit() -> None:
    """400 kernels of 1 ms with 10 µs between them: 99 % busy."""
    spans = every(1010, 1000, 400)
    profile = recorded(
        kernel("gemm_kernel<float>(float*)", *spans[::2]), kernel("elementwise", *spans[1::2]),
        api("cudaLaunchKernel", *every(1010, 2.5, 400, begin=-3)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    assert diagnosis.verdict == "hot-spot"
    assert [item.cause for item in diagnosis.findings] == ["gpu-kernel-bound"]
    assert diagnosis.findings[0].speedup_bound is None
    assert diagnosis.headline.startswith(
        "No bottleneck found at the timeline level: kernels fill 99.0 % of the 404 ms window, 0.988 % is idle; "
        "the longest is "
    )
    assert "ncu --set full -k " in diagnosis.headline
    assert "ncu --set full -k " in str(diagnosis.findings[0].next_measurement)
    # What the verdict is about is where the time is shown: kernels here, not what the host does meanwhile.
    assert is_about_devices(Facts(profile), diagnosis.findings)
    assert not is_about_devices(Facts(saturated()), diagnosed(saturated()).findings)


def test_a_template_with_many_instances_is_measured_by_the_largest() -> None:
    # 40 and 60 ms of two instances; each runs another lambda.
    one, other = (f"void par<step(int)::[lambda(int) (instance {number})]>(T1)" for number in (1, 2))
    diagnosis = diagnosed(recorded(kernel(one, *every(10e3, 4e3, 10)), kernel(other, *every(10e3, 6e3, 10, begin=4e3))))
    told = "par 100 % in all its instances, the largest is par<step::lambda#2> with 60.0 %"
    assert told in diagnosis.findings[0].summary
    assert "instance 2" in str(diagnosis.findings[0].next_measurement)
    alone = diagnosed(recorded(kernel(one, *every(10e3, 10e3, 10))))
    assert "instances" not in alone.findings[0].summary


def test_overlapping_spans_give_no_share_above_a_hundred_percent() -> None:
    """Four streams copy and compute at once, and four threads wait at once: sums would be 400 %."""
    profile = recorded(
        *(copy(H2D, (0, 1000 + i), size=10**9) for i in range(4)),
        *(kernel(f"k{i}", (10, 900)) for i in range(4)),
        *(api("cudaDeviceSynchronize", (0, 1000), thread=i) for i in range(4)),
    )
    diagnosis = diagnosed(profile)  # parts.check looks at every percentage
    facts = Facts(profile).timeline
    assert facts is not None
    assert facts.share(facts.busy) == 1.0
    assert facts.share(facts.computing) == pytest.approx(890 / 1003)
    assert all(item.share <= 1 for item in diagnosis.findings)


# -- copies --------------------------------------------------------------------------------------------------


def test_copies_hidden_behind_kernels_are_no_finding() -> None:
    profile = recorded(copy(H2D, (0, 900)), kernel("k", (0, 1000)))
    assert causes(profile) == ["gpu-kernel-bound"]


def test_copies_back_are_told_apart_from_copies_there() -> None:
    profile = recorded(copy(D2H, (0, 600)), copy(H2D, (600, 700)), kernel("k", (700, 1000)))
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-d2h-copy-bound")
    assert (found.share, found.seconds) == (pytest.approx(0.6), pytest.approx(600e-6))
    assert not any(item.cause == "gpu-h2d-copy-bound" for item in diagnosis.findings)


def test_copies_of_a_device_that_hardly_works_stand_behind_its_idleness() -> None:
    """5 ms copies and 1 ms kernels in 100 ms: the host is the limit, and copies are most of what the device does."""
    profile = recorded(
        copy(H2D, (0, 5000)), kernel("k", (5000, 5500), (99_500, 100_000)), ranged("prepare", (5500, 99_500))
    )
    diagnosis = diagnosed(profile)
    assert [item.cause for item in diagnosis.findings[:2]] == ["gpu-idle-host-bound", "gpu-h2d-copy-bound"]
    assert finding(diagnosis, "gpu-idle-host-bound").where.function == "prepare"


def test_pageable_copies_are_named_with_their_rate() -> None:
    """20 copies of 10 MB in 1 ms each: 10 GB/s."""
    profile = recorded(
        copy(H2D, *every(5000, 1000, 20), size=10_000_000, pageable=True),
        copy(D2H, *every(5000, 200, 20, begin=4000), size=4_000_000, pageable=False),
        kernel("k", *every(5000, 3000, 20, begin=1000)),
    )
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-pageable-copies")
    assert found.seconds == pytest.approx(20e-3)
    assert (
        "The rate of copies from pageable memory is 10.0 GB a second (20 copies of 200 MB in 20.0 ms)."
        in statements(diagnosis, "gpu-pageable-copies")
    )
    assert found.against == ()


def test_small_pageable_copies_are_no_finding() -> None:
    profile = recorded(
        copy(H2D, *every(100, 50, 20), size=1000, pageable=True), kernel("k", *every(100, 50, 20, begin=50))
    )
    assert "gpu-pageable-copies" not in causes(profile)


def test_copies_and_kernels_in_turn_could_overlap() -> None:
    """Ten times 4 ms copy, then 6 ms kernel: 40 ms of 100 could hide."""
    profile = recorded(copy(H2D, *every(10e3, 4e3, 10)), kernel("k", *every(10e3, 6e3, 10, begin=4e3)))
    found = finding(diagnosed(profile), "gpu-no-overlap")
    assert (found.seconds, found.share) == (pytest.approx(0.04), pytest.approx(0.4))
    overlapped = recorded(copy(H2D, *every(10e3, 4e3, 10)), kernel("k", *every(10e3, 9e3, 10)))
    assert "gpu-no-overlap" not in causes(overlapped)


def test_migrating_pages_are_a_finding() -> None:
    profile = recorded(copy(LaneKind.UNIFIED, *every(100, 30, 100), size=2_000_000), kernel("k", *every(100, 100, 100)))
    found = finding(diagnosed(profile), "gpu-unified-memory")
    assert found.share == pytest.approx(0.3)
    assert "For 3.00 ms of it kernels run" in found.against[0]


# -- kernels -------------------------------------------------------------------------------------------------


def test_the_dominant_kernel_is_named() -> None:
    profile = recorded(
        kernel("void ops::ranged<Foo<int>, 4>(Foo<int>, int)", (0, 800), under="advance"), kernel("reduce", (800, 1000))
    )
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-kernel-bound")
    assert (found.where.kernel, found.where.path[0]) == ("void ops::ranged<Foo<int>, 4>(Foo<int>, int)", "advance")
    assert "ncu --set full -k ranged -c 3 ./app" in str(found.next_measurement)
    assert diagnosis.verdict == "hot-spot"


def test_a_kernel_name_cannot_put_anything_into_a_command() -> None:
    profile = recorded(kernel("k; rm -rf $HOME `id` && x", (0, 1000)))
    command = str(finding(diagnosed(profile), "gpu-kernel-bound").next_measurement)
    assert re.match(r"ncu --set full -k \w+ -c 3 ./app \(", command)


def test_on_amd_the_counters_come_from_its_own_profiler() -> None:
    profile = recorded(kernel("gemm", (0, 1000)), api("hipLaunchKernel", (0, 5)))
    assert "rocprof-compute" in diagnosed(profile).headline


def test_two_blocks_leave_a_device_of_108_multiprocessors_idle() -> None:
    a100 = {0: Device("A100", multiprocessors=108)}
    profile = recorded(kernel("saxpy", (0, 1000), blocks=2), kernel("other", (1000, 1100)), devices=a100)
    found = finding(diagnosed(profile), "gpu-small-grid")
    assert found.share == pytest.approx(1000 / 1100 * (1 - 2 / 108))
    assert "2 blocks of 108 multiprocessors" in found.summary
    enough = recorded(kernel("saxpy", (0, 1000), blocks=108), devices=a100)
    assert "gpu-small-grid" not in causes(enough)


def test_without_facts_about_the_device_only_a_handful_of_blocks_is_too_few() -> None:
    assert "gpu-small-grid" in causes(recorded(kernel("k", (0, 1000), blocks=2)))
    assert "gpu-small-grid" not in causes(recorded(kernel("k", (0, 1000), blocks=64)))


# -- several devices -----------------------------------------------------------------------------------------


def test_exposed_communication_is_what_no_kernel_hides() -> None:
    """60 ms collectives of which 10 ms hide behind kernels, 40 ms kernels."""
    profile = recorded(kernel("k", (0, 40e3)), collective("ncclDevKernel_SendRecv", (30e3, 90e3)))
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "nccl-bound")
    assert (found.seconds, found.share) == (pytest.approx(0.05), pytest.approx(5 / 9))
    assert found.where.kernel == "ncclDevKernel_SendRecv"
    assert diagnosis.findings[0].cause == "nccl-bound"


def test_of_a_mostly_idle_device_the_exposed_part_of_communication_is_told() -> None:
    """Of 100 ms 36 are busy: 30 with collectives, of which 25 are exposed, 11 with kernels."""
    profile = recorded(kernel("k", (0, 10e3), (99e3, 100e3)), collective("ncclDevKernel_SendRecv", (5e3, 35e3)))
    summary = finding(diagnosed(profile), "nccl-bound").summary
    assert "takes 25.0 % of the 100 ms window (69.4 % of the device's busy time)" in summary


@pytest.mark.parametrize(
    ("kernel_name", "program", "exchange"),
    [
        ("ncclDevKernel_SendRecv", "alltoall_perf ", True),
        ("ncclDevKernel_AllReduce_Sum_f32", "all_reduce_perf ", False),
    ],
)
def test_a_collective_is_measured_and_mended_by_its_kind(kernel_name: str, program: str, exchange: bool) -> None:
    found = finding(diagnosed(recorded(kernel("k", (0, 40e3)), collective(kernel_name, (30e3, 90e3)))), "nccl-bound")
    assert found.next_measurement is not None
    assert found.next_measurement.startswith(program)
    assert any("all_to_all" in each for each in found.advice) is exchange
    assert any("AllReduce" in each or "DistributedDataParallel" in each for each in found.advice) is not exchange


def test_a_collective_goes_by_the_kind_that_has_most_of_its_kernel_s_time() -> None:
    """One kernel for all kinds: two all-to-alls of 20 and 15 ms in different steps, one all-gather of 25 ms, then of 45."""
    name = "ncclKernel_SendRecv"
    exchanged = replace(collective(name, (30e3, 50e3), (60e3, 75e3)), under="nccl:all_to_all")
    for end, kind, program in (
        (105e3, "nccl:all_to_all", "alltoall_perf"),
        (125e3, "nccl:_all_gather_base", "all_gather_perf"),
    ):
        gathered = replace(collective(name, (80e3, end)), under="nccl:_all_gather_base")
        found = finding(diagnosed(recorded(kernel("k", (0, 30e3)), exchanged, gathered)), "nccl-bound")
        assert found.where.path[0] == kind
        assert str(found.next_measurement).startswith(program)


def test_a_rank_that_waits_in_collectives_is_not_called_idle_first() -> None:
    """20 of 100 ms busy, all of it exposed collectives but 1 ms."""
    profile = recorded(
        collective("ncclDevKernel_Generic", *every(10e3, 1.9e3, 10)), kernel("k", *every(10e3, 100, 10, begin=1.9e3)),
        api("cudaLaunchKernel", *every(10e3, 5, 10, begin=1.0)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    assert [item.cause for item in diagnosis.findings[:2]] == ["nccl-bound", "gpu-idle-host-bound"]


def test_devices_with_different_work_are_unbalanced() -> None:
    profile = recorded(kernel("k", (0, 100e3)), kernel("k", (0, 40e3), device=1))
    found = finding(diagnosed(profile), "multi-gpu-imbalance")
    assert (found.seconds, found.share) == (pytest.approx(0.03), pytest.approx(0.3))  # 100 − mean 70
    assert found.confidence_reason.endswith("spread from 2 devices accurate to a factor of 2.0")
    equal = recorded(kernel("k", (0, 100e3)), kernel("k", (0, 90e3), device=1))
    assert "multi-gpu-imbalance" not in causes(equal)


def test_copies_between_devices_are_communication_too() -> None:
    profile = recorded(
        copy(LaneKind.P2P, *every(1000, 600, 10), under="exchange"), kernel("k", *every(1000, 400, 10, begin=600))
    )
    found = finding(diagnosed(profile), "nccl-bound")
    assert (found.share, found.where.function) == (pytest.approx(0.6), "exchange")
    assert "most of it copies between devices" in found.summary


def test_a_few_long_collectives_are_told_instead_of_a_mean() -> None:
    # 100 of 1 ms, and two of 300 ms: 600 of 700 ms; one alone is 300, less than half.
    spans = (*every(2e3, 1e3, 100), (300e3, 600e3), (700e3, 1000e3))
    found = diagnosed(recorded(kernel("k", (1000e3, 1001e3)), collective("ncclDevKernel_AllReduce", *spans)))
    told = statements(found, "nccl-bound")
    assert "A collective takes 1.00 ms in the median and 300 ms at most, over 102 launches." in told
    assert "The 2 longest launches have 85.7 % of the time of all." in told
    assert "rank that is late" in finding(found, "nccl-bound").advice[0]
    even = diagnosed(
        recorded(kernel("k", (0, 40e3)), collective("ncclDevKernel_AllReduce", *every(5e3, 4e3, 20, begin=40e3)))
    )
    assert any("takes 4.00 ms on average, over 20 launches" in each for each in statements(even, "nccl-bound"))


def test_two_of_many_ranks_do_not_show_what_collectives_wait_for() -> None:
    def found(**run: str) -> tuple[str, ...]:
        spans = every(10e3, 5e3, 10)
        lanes = [
            track
            for at in (0, 1)
            for track in (
                kernel("k", (95e3, 100e3), device=at),
                collective("ncclDevKernel_AllReduce", *spans, device=at),
            )
        ]
        return finding(diagnosed(recorded(*lanes, run=run)), "nccl-bound").against

    assert found() == found(rank="0 of 2") == ()
    assert "only the timelines of all ranks" in found(rank="0 of 128")[0]


def test_a_pause_in_which_code_is_loaded_says_so_before_other_doubts() -> None:
    # Kernels of 1 ms, 100 before and after 800 ms, which begin with 3 ms of loading.
    spans = (*every(1e3, 1e3, 100), *every(1e3, 1e3, 100, begin=900e3))
    found = finding(
        diagnosed(recorded(kernel("k", *spans), api("hipModuleLoadData", (101e3, 104e3)))), "gpu-idle-host-bound"
    )
    assert found.against[0].startswith(
        "One gap of 800 ms is most of it: a pause or start-up (hipModuleLoadData is called in it)"
    )
    silent = finding(diagnosed(recorded(kernel("k", *spans))), "gpu-idle-host-bound")
    assert silent.against[0].startswith("One gap of 800 ms is most of it: a pause or start-up, not")


def test_idle_devices_that_wait_for_a_busier_one_are_not_blamed_on_the_host() -> None:
    """Device 1 has nothing to do for 60 ms because device 0 computes."""
    profile = recorded(
        kernel("k", (0, 100e3)), kernel("k", (0, 40e3), device=1), api("cudaDeviceSynchronize", (0, 100e3))
    )
    assert causes(profile) == ["multi-gpu-imbalance", "gpu-kernel-bound"]


def test_shares_of_several_devices_are_of_the_time_of_all() -> None:
    profile = recorded(
        *(copy(H2D, (0, 900), device=i) for i in range(2)), *(kernel("k", (900, 1000), device=i) for i in range(2))
    )
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-h2d-copy-bound")
    assert (found.seconds, found.share) == (pytest.approx(1.8e-3), pytest.approx(0.9))
    assert "1.80 ms of the 2.00 ms of 2 devices (90.0 %)" in statements(diagnosis, "gpu-h2d-copy-bound")[0]


# -- gaps ----------------------------------------------------------------------------------------------------


def test_what_the_host_does_in_the_gaps_is_named_by_the_innermost_range() -> None:
    profile = recorded(
        kernel("k", *every(10e3, 2e3, 10)), kernel("last", (100e3, 102e3)),
        ranged("main", (0, 102e3)), ranged("read_batch", *every(10e3, 7e3, 10, begin=2500)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-idle-host-bound")
    assert found.where.function == "read_batch"
    assert (found.seconds, found.share) == (pytest.approx(0.08), pytest.approx(80 / 102))
    assert "read_batch takes 70.0 ms of the 80.0 ms of these gaps (87.5 %): besides main 10.0 ms." in statements(
        diagnosis, "gpu-idle-host-bound"
    )


def test_an_idle_device_beside_an_untraced_host_says_so() -> None:
    found = finding(diagnosed(recorded(kernel("k", (0, 1000), (9000, 10_000)))), "gpu-idle-host-bound")
    assert found.against == ("What the host does meanwhile was not traced.",)
    assert found.confidence == sure(1, against=1)  # one sign, one doubt
    told = statements(
        diagnosed(recorded(kernel("k", (0, 1000), (9000, 10_000)), system("read", (1000, 9000)))), "gpu-idle-host-bound"
    )
    assert "read takes 8.00 ms of the 8.00 ms of these gaps (100 %)." in told


def test_compiling_at_run_time_fills_the_gap() -> None:
    """508 ms, of which 352 ms compile while the device is idle."""
    profile = recorded(
        kernel("k", *every(1000, 20, 20), (507e3, 508e3)),
        ranged("executor_utils::NVRTC", (100e3, 452e3)), api("cuModuleLoadDataEx", (440e3, 452e3)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function) == ("jit-compilation", "executor_utils::NVRTC")
    assert (first.seconds, first.share) == (pytest.approx(0.352), pytest.approx(352 / 508))
    assert finding(diagnosis, "gpu-idle-host-bound").share < 0.31  # what compiling does not explain


def test_compiling_before_the_first_kernel_counts_from_the_first_call_on() -> None:
    profile = recorded(
        ranged("torch_compile", (0, 600e3)), api("nvrtcCompileProgram", (0, 600e3)), kernel("k", (600e3, 1000e3))
    )
    found = finding(diagnosed(profile), "jit-compilation")
    assert found.share == pytest.approx(0.6)
    assert "before the first operation" in statements(diagnosed(profile), "jit-compilation")[0]


def test_code_that_was_compiled_before_is_not_compiling() -> None:
    profile = recorded(kernel("k", (0, 100), (900, 1000)), ranged("Torch-Compiled Region: 0/0", (100, 900)))
    assert causes(profile) == ["gpu-idle-host-bound"]


def test_memory_allocated_between_kernels_is_a_finding() -> None:
    """20 steps: 100 µs kernel, then 80 µs in cudaMalloc and cudaFree."""
    profile = recorded(
        kernel("k", *every(200, 100, 20)), api("cudaMalloc_v3020", *every(200, 40, 20, begin=100)),
        api("cudaFree_v3020", *every(200, 40, 20, begin=140)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-allocation-in-loop")
    assert found.seconds == pytest.approx(19 * 80e-6)  # the last are behind the window
    assert found.title == "Device memory allocated in a loop"
    once = recorded(kernel("k", (0, 100), (900, 1000)), api("cudaMalloc", (100, 900)))
    assert causes(once) == ["gpu-idle-host-bound"]
    assert finding(diagnosed(once), "gpu-idle-host-bound").where.function == "cudaMalloc"


def test_buffers_allocated_in_one_long_gap_are_not_the_program_s_preparation() -> None:
    """A gap of 10 ms: 16 calls take 400 µs each, so 6.4 ms, inside a range that has all of it."""
    profile = recorded(
        kernel("k", (0, 1000), (11e3, 12e3), (22e3, 23e3)), ranged("prepare", (1000, 11e3), (12e3, 22e3)),
        api("cudaHostAlloc_v3020", *every(500, 400, 16, begin=1000), *every(500, 400, 16, begin=12e3)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function) == ("gpu-allocation-in-loop", "cudaHostAlloc")
    assert (found.seconds, found.share) == (pytest.approx(2 * 16 * 400e-6), pytest.approx(12.8 / 23))
    assert found.summary.startswith("32 calls that allocate or free memory between operations leave")
    assert found.title == "Pinned host memory allocated between operations"
    assert not any("device_vector" in each for each in found.advice)
    rest = finding(diagnosis, "gpu-idle-host-bound")
    assert rest.seconds == pytest.approx(2 * (10e-3 - 16 * 400e-6))


def test_a_call_inside_a_range_is_not_named_beside_it() -> None:
    """A gap of 10 ms in one range, 4 ms of it in a call."""
    profile = recorded(
        kernel("k", (0, 1000), (11e3, 12e3)), ranged("prepare", (1000, 11e3)), api("fopen", (2000, 6000))
    )
    told = statements(diagnosed(profile), "gpu-idle-host-bound")
    assert "prepare takes 10.0 ms of the 10.0 ms of these gaps (100 %)." in told


def test_tiny_kernels_with_gaps_are_bound_by_launching() -> None:
    """100 kernels of 2 µs, one each 10 µs."""
    profile = recorded(
        kernel("tiny", *every(10, 2, 100)), api("cudaLaunchKernel_v7000", *every(10, 6, 100, begin=3)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    (found,) = diagnosis.findings
    assert (found.cause, found.where.kernel) == ("gpu-launch-bound", "tiny")
    assert (found.seconds, found.share) == (pytest.approx(99 * 8e-6), pytest.approx(792 / 992))
    assert (
        "Kernels take 2.00 µs on average, over 100 launches: together 200 µs."
        in statements(diagnosis, "gpu-launch-bound")[0]
    )


def test_short_kernels_without_gaps_are_not_bound_by_launching() -> None:
    assert causes(recorded(kernel("tiny", *every(2.1, 2, 1000)))) == ["gpu-kernel-bound"]


@pytest.mark.parametrize(
    ("lengths", "words"),
    [((490, 490), "2 launches, each 490 µs."), ((40, 940), "2 launches, each on average 490 µs.")],
)
def test_a_mean_of_two_kinds_of_launches_is_not_what_each_takes(lengths: tuple[int, int], words: str) -> None:
    first, second = lengths
    profile = recorded(kernel("a", (0, first), (1000 - second, 1000)))
    assert statements(diagnosed(profile), "gpu-kernel-bound")[1].endswith(words)


def test_first_launches_that_load_code_are_called_a_start() -> None:
    """6 kernels of 6 µs in 3 ms, the gap is the first launch; the context took 210 ms before."""
    profile = recorded(
        api("cudaMalloc", (-220e3, -10e3)), api("cudaLaunchKernel", (-50, -2), (20, 3020)),
        kernel("first", (0, 6)), kernel("k", *every(7, 6, 5, begin=3025)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    found = diagnosis.findings[0]
    assert found.cause == "gpu-start-up"
    assert found.summary == (
        "The first launches take 3.00 ms to load code and initialise the device; the device is idle for 98.8 % of the 3.06 ms window."
    )
    assert statements(diagnosis, "gpu-start-up")[1].endswith(": in 5 gaps, longest 3.02 ms.")
    assert "start of a run" in found.against[0]
    assert any(
        "Before it the host works 220 ms (cudaMalloc 210 ms), which these shares exclude." in note
        for note in diagnosis.notes
    )


def test_a_wait_after_every_kernel_leaves_the_device_idle() -> None:
    """50 kernels of 100 µs, each followed by a wait until 5 µs after it and 60 µs without work."""
    profile = recorded(
        kernel("k", *every(160, 100, 50)), api("cudaDeviceSynchronize_v3020", *every(160, 95, 50, begin=10)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    found = diagnosis.findings[0]
    assert (found.cause, found.where.function) == ("gpu-sync-overuse", "cudaDeviceSynchronize")
    assert found.seconds == pytest.approx(49 * 60e-6)
    assert "The host has 50 synchronising calls: launches of kernels 50." in statements(diagnosis, "gpu-sync-overuse")


def test_a_wait_after_each_of_long_kernels_is_said_although_it_costs_little() -> None:
    """50 kernels of 100 µs, each followed by a wait until 1 µs after it and 3 µs more without work: 49 gaps of 4 µs."""
    profile = recorded(
        kernel("k", *every(104, 100, 50)), api("cudaDeviceSynchronize_v3020", *every(104, 91, 50, begin=10)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    (found,) = diagnosis.findings
    assert found.cause == "gpu-kernel-bound"
    told = statements(diagnosis, "gpu-kernel-bound")
    assert (
        "Idle time of the device after operations for which the host waits takes 196 µs of 5.20 ms (3.77 %): in 49 gaps, each 4.00 µs."
        in told
    )
    assert "The host has 50 synchronising calls: launches of kernels 50." in told
    assert found.advice[0].startswith("Wait for the device only where")
    assert "library routine" in found.advice[-1]


def test_a_gap_that_another_call_divides_is_one_gap() -> None:
    """The same, but for 1 µs in the middle of each gap the host allocates: two stretches of 3 µs in all, in each of 49 gaps."""
    profile = recorded(
        kernel("k", *every(104, 100, 50)), api("cudaDeviceSynchronize_v3020", *every(104, 91, 50, begin=10)),
        api("cudaMalloc_v3020", *every(104, 1, 50, begin=102)),
    )  # fmt: skip
    told = statements(diagnosed(profile), "gpu-kernel-bound")
    assert any(text.endswith("takes 147 µs of 5.20 ms (2.83 %): in 49 gaps, each 3.00 µs.") for text in told)


@pytest.mark.parametrize(("lengths", "words"), [((8, 8), "each 8.00 µs"), ((4, 12), "each on average 8.00 µs")])
def test_gaps_are_each_so_long_only_if_they_are_alike(lengths: tuple[int, int], words: str) -> None:
    """100 kernels of 2 µs; half of the gaps have one length, half the other."""
    at = [sum(2 + lengths[i % 2] for i in range(n)) for n in range(101)]
    profile = recorded(
        kernel("tiny", *((a, a + 2) for a in at)), api("cudaLaunchKernel", *((a + 2, b) for a, b in itertools.pairwise(at))),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    assert statements(diagnosis, "gpu-launch-bound")[1].endswith(f"in 100 gaps, {words}.")


def test_python_stacks_are_a_doubt_about_a_slow_host_and_all_idle_time_is_told() -> None:
    """100 kernels of 2 µs, one each 10 µs, and a pause of 500 µs."""
    starts = [10.0 * n + (500 if n >= 50 else 0) for n in range(100)]
    profile = replace(recorded(kernel("tiny", *((a, a + 2) for a in starts))), caveats=(PYTHON_STACKS,))
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-launch-bound")
    assert any("Recording Python's call stacks slows the host down" in text for text in found.against)
    told = statements(diagnosis, "gpu-launch-bound")
    assert (
        "Idle time of the device, with neither kernel nor copy, takes 1.29 ms of 1.49 ms (86.6 %): longest 508 µs."
        in told
    )


def test_a_host_that_waits_for_a_busy_device_is_no_finding() -> None:
    profile = recorded(kernel("k", (0, 100e3)), api("cudaStreamSynchronize", *every(1000, 990, 100)))
    assert causes(profile) == ["gpu-kernel-bound"]


def test_a_device_that_waits_for_mpi() -> None:
    """10 steps: 5 ms kernel, 4 ms MPI_Send, 1 ms other; MPI_Init before does not count."""
    profile = recorded(
        mpi("MPI_Init", (-600e3, -1e3)), kernel("k", *every(10e3, 5e3, 10)),
        mpi("MPI_Send", *every(10e3, 4e3, 10, begin=5e3)), mpi("MPI_Finalize", (100e3, 110e3)),
    )  # fmt: skip
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "mpi-communication-bound")
    assert (found.seconds, found.share) == (pytest.approx(0.036), pytest.approx(36 / 95))
    assert found.where.function == "MPI_Send"
    sampled = recorded(kernel("k", (0, 5e3), (9e3, 10e3)), mpi("MPI_Send", (5e3, 9e3)), samples={"main": 200})
    assert finding(diagnosed(sampled), "mpi-communication-bound").seconds == pytest.approx(4e-3)
    barrier = recorded(kernel("k", (0, 5e3), (9e3, 10e3)), mpi("MPI_Allreduce", (5e3, 9e3)))
    assert "mpi-collective-wait" in causes(barrier)


def test_one_long_gap_is_told_from_a_steady_state() -> None:
    """20 kernels of 1 ms without gaps, but for one pause of 80 ms."""
    profile = recorded(
        kernel("k", *every(1e3, 1e3, 10), *every(1e3, 1e3, 10, begin=90e3)), ranged("save", (10e3, 90e3))
    )
    found = finding(diagnosed(profile), "gpu-idle-host-bound")
    assert found.share == pytest.approx(0.8)
    assert "One gap of 80.0 ms is most of it" in found.against[0]
    assert "the device works for 100 % of the time" in found.against[0]


def test_preparation_that_is_longer_than_all_work_counts() -> None:
    """The program prepares for 900 ms, 200 ms of them in the first call of the runtime; then kernels fill 100 ms."""
    profile = recorded(
        ranged("init_data", (-900e3, 0)), api("cudaStreamCreate", (-500e3, -300e3)), kernel("k", (0, 100e3))
    )
    diagnosis = diagnosed(profile)
    found = finding(diagnosis, "gpu-idle-host-bound")
    assert found.where.function == "init_data"
    assert (found.seconds, found.share) == (pytest.approx(0.7), pytest.approx(0.7 / 0.8))
    # The call lies in the range; the finding's share is of the preparation too.
    told = "Before it the host works 900 ms (init_data 900 ms), which these shares exclude unless they are of preparation and work."
    assert any(told in note for note in diagnosis.notes)
    short = recorded(ranged("init_data", (-90e3, 0)), kernel("k", (0, 100e3)))
    assert causes(short) == ["gpu-kernel-bound"]


def test_samples_tell_what_the_host_does_where_nothing_else_does() -> None:
    """200 samples of the host: 150 in `fill`; the device is idle for 8 of 10 ms."""
    profile = recorded(kernel("k", (0, 1e3), (9e3, 10e3)), samples={"fill": 150, "main": 50})
    diagnosis = diagnosed(profile)
    first = diagnosis.findings[0]
    assert (first.cause, first.where.function) == ("gpu-idle-host-bound", "fill")
    assert "fill has 75.0 % of the samples of the host, over the whole recording." in statements(
        diagnosis, "gpu-idle-host-bound"
    )
    assert all(item.weight < first.weight for item in diagnosis.findings[1:])


def test_instances_of_a_template_are_one_kernel() -> None:
    profile = recorded(
        kernel("void a::each<A>(A)", (0, 300)), kernel("void a::each<B>(B)", (300, 600)), kernel("b", (600, 1000))
    )
    found = finding(diagnosed(profile), "gpu-kernel-bound")
    assert found.where.kernel == "a::each"
    assert (
        "a::each takes 600 µs of 1.00 ms (60.0 %): 2 launches" in statements(diagnosed(profile), "gpu-kernel-bound")[1]
    )
    assert "-k each " in str(found.next_measurement)


def test_what_is_wrong_inside_kernels_counts_as_far_as_kernels_fill_the_window() -> None:
    """Counters say that the kernel is limited by memory; it runs for 30 of 100 ms beside copies of 70 ms."""
    limited = {"sm_throughput": 20.0, "memory_throughput": 95.0, "dram_throughput": 95.0}
    beside = diagnosed(recorded(kernel("k", (0, 30e3), **limited), copy(H2D, (30e3, 100e3), size=10**9)))
    alone = diagnosed(recorded(kernel("k", (0, 30e3), **limited)))
    inside, whole = finding(beside, "gpu-memory-bandwidth"), finding(alone, "gpu-memory-bandwidth")
    assert (inside.share, whole.share) == (pytest.approx(0.3), pytest.approx(1.0))
    assert inside.weight == pytest.approx(0.3 * whole.weight)
    assert beside.findings[0].cause == "gpu-h2d-copy-bound"


def test_counters_that_are_there_are_not_asked_for() -> None:
    profile = recorded(kernel("k", (0, 100e3), sm_throughput=50.0, memory_throughput=40.0))
    assert "only kernel counters" not in finding(diagnosed(profile), "gpu-kernel-bound").summary


@pytest.mark.parametrize("further", [(), (api("cudaMalloc", *every(1000, 5, 100, begin=700)),)])
def test_a_host_that_waits_each_step_cannot_work_ahead(further: tuple[Track, ...]) -> None:
    """100 steps: 500 µs kernel for which the host waits, then 500 µs of its own, whatever it calls in them."""
    profile = recorded(
        kernel("k", *every(1000, 500, 100)), api("cudaStreamSynchronize", *every(1000, 500, 100, begin=5)),
        ranged("step", (0, 100e3)), *further,
    )  # fmt: skip
    told = statements(diagnosed(profile), "gpu-idle-host-bound")
    assert (
        "The number of gaps right after the host waited for the device, so that it cannot work ahead, is 99 of 99."
        in told
    )


def test_copies_inside_the_device_are_told_in_the_headline() -> None:
    profile = recorded(copy(LaneKind.D2D, *every(1000, 150, 10)), kernel("k", *every(1000, 850, 10, begin=150)))
    assert "copies inside the device 15.0 %" in diagnosed(profile).headline


def test_copies_inside_the_device_that_take_most_of_it_are_a_bottleneck() -> None:
    profile = recorded(copy(LaneKind.D2D, *every(1000, 600, 10)), kernel("k", *every(1000, 400, 10, begin=600)))
    assert finding(diagnosed(profile), "redundant-copies").share == pytest.approx(0.6)


def test_copies_alone_allow_no_conclusion_unless_calls_show_that_nothing_was_launched() -> None:
    copies = copy(LaneKind.H2D, (0, 100e3))
    assert diagnose(recorded(copies)).verdict == "insufficient-data"
    assert diagnose(recorded(copies, api("cudaLaunchKernel", (10, 20)))).verdict == "insufficient-data"
    assert causes(recorded(copies, api("cudaMemcpy", (0, 100e3)))) == ["gpu-h2d-copy-bound"]


# -- too little ----------------------------------------------------------------------------------------------


def test_a_few_microseconds_of_work_are_too_little() -> None:
    diagnosis = diagnosed(recorded(kernel("k", *every(5, 1.3, 3)), api("cudaMalloc", (-200e3, -10))))
    assert (diagnosis.verdict, diagnosis.findings) == ("insufficient-data", ())
    assert diagnosis.headline.startswith("The device worked for 3.90 µs in total (3 operations, 3 kernels among them)")


def test_a_handful_of_kernels_in_less_than_a_millisecond_is_too_short() -> None:
    diagnosis = diagnosed(recorded(kernel("k", *every(150, 50, 5))))
    assert diagnosis.verdict == "insufficient-data"
    assert diagnosis.headline.startswith("The device's work spans 650 µs (5 operations, 5 kernels among them)")


def test_a_host_that_waits_for_an_idle_device_means_missing_work() -> None:
    """The host waits for 95 of 100 ms and nothing was recorded there: graphs, or a part that was cut out."""
    profile = recorded(kernel("k", *every(100, 80, 40), (99e3, 100e3)), api("hipStreamSynchronize", (4e3, 99e3)))
    diagnosis = diagnosed(profile)
    assert (diagnosis.verdict, diagnosis.findings) == ("insufficient-data", ())
    assert "the device's work is missing from the trace" in diagnosis.headline
    beside = recorded(
        kernel("k", *every(100, 80, 40), (99e3, 100e3)),
        kernel("k", (0, 100e3), device=1),
        api("hipStreamSynchronize", (4e3, 99e3)),
    )
    assert diagnosed(beside).verdict == "bottleneck"  # it waits for the other device


def test_a_trace_in_which_nothing_ran_on_the_device_is_insufficient() -> None:
    diagnosis = diagnosed(recorded(api("cudaGetDeviceCount", (0, 500)), ranged("step", (0, 10e3))))
    assert diagnosis.verdict == "insufficient-data"
    assert diagnosis.headline.startswith("Nothing ran on a GPU during the recording")


def test_without_a_device_there_is_no_timeline_of_one() -> None:
    facts = Facts(recorded(api("cudaGetDeviceCount", (0, 500))))
    assert facts.timeline is None
    with pytest.raises(ValueError, match="no timeline"):
        _ = facts.gaps


def test_an_unnamed_kernel_and_an_unknown_launch_have_no_place() -> None:
    """A kernel whose node is not known, as in a trace without names."""
    profile = recorded(kernel("k", (0, 100e3)))
    timeline = profile.timeline
    assert timeline is not None
    (lane,) = timeline.intervals
    unknown = replace(timeline, intervals=(replace(lane, node=np.full(1, -1, dtype=np.int32)),))
    found = finding(diagnosed(replace(profile, read_timeline=lambda: unknown)), "gpu-kernel-bound")
    assert (found.where.kernel, found.where.node) == ("an unnamed operation", -1)


def test_what_the_adapter_says_is_the_headline() -> None:
    diagnosis = diagnosed(recorded(kernel("k", (0, 1e6)), insufficient="Profiling failed."))
    assert (diagnosis.verdict, diagnosis.headline, diagnosis.findings) == ("insufficient-data", "Profiling failed.", ())


# -- properties ----------------------------------------------------------------------------------------------

_NAMES = (
    "k",
    "ncclDevKernel",
    "cudaLaunchKernel",
    "cudaMalloc",
    "cudaDeviceSynchronize",
    "MPI_Send",
    "nvrtcCompileProgram",
    "step",
    "cudaMemcpy",
)
_DEVICE = (LaneKind.COMPUTE, LaneKind.COLLECTIVE, H2D, D2H, LaneKind.UNIFIED, LaneKind.MEMSET, LaneKind.GRAPH)
_HOST = (LaneKind.API, LaneKind.RANGE, LaneKind.MPI, LaneKind.OS)


@st.composite
def timelines(draw: st.DrawFn) -> Profile:
    from tests.diagnosis.timelines import Track

    tracks = []
    for _ in range(draw(st.integers(0, 8))):
        spans = draw(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 100)), max_size=12))
        made = tuple((float(a), float(a + b)) for a, b in spans)
        kind = draw(st.sampled_from(_DEVICE + _HOST))
        device = draw(st.integers(0, 2)) if kind in _DEVICE else -1
        tracks.append(
            Track(
                kind, draw(st.sampled_from(_NAMES)), made, device, draw(st.integers(0, 10**9)),
                draw(st.sampled_from([None, True, False])), draw(st.sampled_from([None, 1.0, 200.0])), thread=draw(st.integers(0, 1)),
            )
        )  # fmt: skip
    begin, end = draw(st.sampled_from([(None, None), (-100, 600), (100, 300)]))
    return recorded(*tracks, begin=begin, end=end)


@given(timelines())
def test_busy_and_idle_make_up_the_window_and_shares_are_parts(profile: Profile) -> None:
    facts = Facts(profile)
    timeline = facts.timeline
    if timeline is not None:
        gaps = facts.gaps
        for device in timeline.devices:
            whole = intervals.length(device.busy) + intervals.length(device.idle)
            assert whole == timeline.end - timeline.begin
        parts = sum(intervals.length(spans) for sets in gaps.by_reason.values() for spans in sets)
        assert parts == sum(intervals.length(device.idle) for device in timeline.devices)
        for kernel_ in timeline.kernels():
            assert 0 <= kernel_.seconds <= timeline.device_seconds + 1e-12
    diagnosis = diagnosed(profile)
    assert all(0 <= item.share <= 1 for item in diagnosis.findings)
    assert diagnosis == diagnose(profile)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=12))
def test_the_innermost_of_open_ranges_began_last_or_with_it_and_is_shorter(spans: list[tuple[int, int]]) -> None:
    spans = sorted((a, a + b) for a, b in spans)
    start, end = (np.array([each[i] for each in spans], dtype=np.int64) for i in (0, 1))
    owner = {}
    for begin, stop, index in zip(*(each.tolist() for each in innermost(start, end)), strict=True):
        for time in range(begin, stop):
            assert time not in owner
            owner[time] = index
    for time in range(100):
        open_ = [i for i, (a, b) in enumerate(spans) if a <= time < b]
        assert owner.get(time) == max(open_, key=lambda i: (spans[i][0], -spans[i][1], i), default=None)


# -- names of calls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("cudaLaunchKernel_v7000", HostCall.LAUNCH), ("cuLaunchKernelEx", HostCall.LAUNCH),
        ("hipExtModuleLaunchKernel", HostCall.LAUNCH), ("cudaGraphLaunch_v10000", HostCall.LAUNCH),
        ("cudaDeviceSynchronize", HostCall.WAIT), ("hipStreamSynchronize", HostCall.WAIT),
        ("cuStreamSynchronize_ptsz", HostCall.WAIT), ("cudaStreamWaitEvent", HostCall.OTHER),
        ("cudaMemcpyAsync_v3020", HostCall.COPY), ("hipMemcpyWithStream", HostCall.COPY), ("cuMemcpyDtoH_v2", HostCall.COPY),
        ("cudaMalloc_v3020", HostCall.ALLOCATION), ("cudaMallocManaged", HostCall.ALLOCATION), ("cuMemAlloc_v2", HostCall.ALLOCATION),
        ("cudaHostRegister", HostCall.ALLOCATION), ("cudaHostAlloc", HostCall.ALLOCATION), ("hipFree", HostCall.ALLOCATION),
        ("hipHostMalloc", HostCall.ALLOCATION), ("cuMemHostAlloc", HostCall.ALLOCATION), ("cudaFreeHost", HostCall.ALLOCATION),
        ("cuModuleLoadDataEx", HostCall.COMPILATION), ("cuLibraryLoadData", HostCall.COMPILATION),
        ("hipModuleLoadData", HostCall.COMPILATION), ("nvrtcCompileProgram", HostCall.COMPILATION),
        ("Nvrtc::CompileProgram", HostCall.COMPILATION), ("compile_fx", HostCall.COMPILATION),
        ("Torch-Compiled Region: 0/0", HostCall.OTHER), ("CompiledFunctionBackward", HostCall.OTHER),
        ("jit_train_step", HostCall.OTHER), ("aten::copy_", HostCall.OTHER), ("load_batch", HostCall.OTHER),
        ("cuInit", HostCall.SETUP), ("cudaSetDevice", HostCall.SETUP), ("cuCtxCreate_v3", HostCall.SETUP),
        ("MPI_Send", HostCall.MPI), ("PMPI_Allreduce", HostCall.MPI), ("MPI_Init", HostCall.MPI_SETUP),
        ("MPI_Finalize", HostCall.MPI_SETUP), ("MPI_Init_thread", HostCall.MPI_SETUP),
    ],
)  # fmt: skip
def test_calls_are_known_by_their_names(name: str, call: HostCall) -> None:
    assert host_call(name) == call


@pytest.mark.parametrize(
    ("name", "blocking"),
    [
        ("cudaMemcpy", True),
        ("hipMemcpyWithStream", True),
        ("cudaMemcpyAsync", False),
        ("cudaMemset", False),
        ("cudaFree", False),
    ],
)
def test_copies_that_block_are_told_from_those_that_return(name: str, blocking: bool) -> None:
    assert is_blocking_copy(name) is blocking


def test_helper_threads_that_wait_are_not_what_the_host_does() -> None:
    profile = recorded(
        kernel("k", (0, 1000), (9000, 10_000)), system("poll", (0, 10_000)), system("pread64", (2000, 8000))
    )
    told = statements(diagnosed(profile), "gpu-idle-host-bound")
    assert any(text.startswith("pread64 takes 6.00 ms of the 8.00 ms of these gaps (75.0 %)") for text in told)
    assert not any("poll" in text for text in told)


def test_the_longest_of_many_gaps_keep_their_order() -> None:
    start = np.arange(0, 1000, 10, dtype=np.int64)
    end = start + 1 + start // 10 % 7
    few = longest((start, end), most=14)
    assert len(few[0]) == 14
    assert np.all(np.diff(few[0]) > 0)
    assert (few[1] - few[0]).min() == 7
    assert longest((start, end)) == (start, end)


@pytest.mark.parametrize(
    ("call", "cache"),
    [
        ("nvrtcCompileProgram", "nvrtcGetCUBIN"),
        ("triton_compile", "TRITON_CACHE_DIR"),
        ("inductor codegen and compile", "TORCHINDUCTOR_CACHE_DIR"),
    ],
)
def test_compiling_at_run_time_is_told_by_the_compiler(call: str, cache: str) -> None:
    profile = recorded(kernel("k", (0, 100)), kernel("k", (900, 1000)), ranged(call, (100, 900)))
    found = finding(diagnosed(profile), "jit-compilation")
    assert cache in found.advice[0]


@pytest.mark.parametrize(
    ("call", "words"), [("cudaLaunchKernel", "process"), ("MPI_Send", "rank"), ("ncclAllReduce", "rank")]
)
def test_processes_are_ranks_only_where_something_numbers_them(call: str, words: str) -> None:
    profile = replace(recorded(kernel("k", (0, 100)), api(call, (0, 5))), format="Nsight Systems 2025.1")
    assert profile.counts.rank == words
    assert run_facts(profile).ranked is (words == "rank")
