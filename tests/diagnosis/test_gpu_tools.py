"""Commands and words of the maker of a profile's devices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.catalogue import NextMeasurement, causes
from chathpc.diagnosis.gpu_tools import Vendor, counters, fitted, in_words_of, timeline, vendor_of
from chathpc.profile.remark import Device
from tests.diagnosis.timelines import api, kernel, recorded

FUNCTOR = "void cutlass::Kernel<cutlass::gemm::kernel::GemmUniversal<int>>(T1::Params)"


@pytest.mark.parametrize(
    ("call", "device", "vendor"),
    [
        ("cudaLaunchKernel", "", Vendor.NVIDIA),
        ("hipLaunchKernel", "", Vendor.AMD),
        ("zeCommandListAppendLaunchKernel", "", Vendor.INTEL),
        ("cudaLaunchKernel", "AMD Instinct MI300X", Vendor.AMD),  # PyTorch keeps CUDA's names
        ("hipLaunchKernel", "NVIDIA H100", Vendor.NVIDIA),
        ("main", "", None),
    ],
)
def test_devices_modules_and_calls_tell_the_maker(call: str, device: str, vendor: Vendor | None) -> None:
    devices = {0: Device(device)} if device else {}
    profile = replace(recorded(kernel("k", (0, 10)), api(call, (0, 5)), devices=devices), format="a trace")
    assert vendor_of(profile) == vendor


@pytest.mark.parametrize(
    ("call", "first", "then"),
    [
        ("cudaLaunchKernel", "ncu --set full -k k -c 3 ./app", "nsys profile --trace=cuda,nvtx,osrt,mpi ./app"),
        ("hipLaunchKernel", "rocprof-compute profile -n k -k k -- ./app", "rocprofv3 --sys-trace --output-format pftrace -- ./app"),
        ("zeKernelCreate", "vtune -collect gpu-hotspots -knob profiling-mode=source-analysis -- ./app", "hpcrun -e REALTIME -e gpu=level0 -t ./app"),
    ],
)  # fmt: skip
def test_each_maker_has_profilers_of_its_own(call: str, first: str, then: str) -> None:
    profile = replace(recorded(kernel("k", (0, 10)), api(call, (0, 5))), format="a trace")
    assert (counters(profile, "void a::k<int>(int*)"), timeline(profile)) == (first, then)


def test_no_measurement_of_the_catalogue_names_another_makers_tool() -> None:
    for call, others in (
        ("hipLaunchKernel", ("ncu ", "nsys ", "vtune ")),
        ("zeKernelCreate", ("ncu ", "nsys ", "rocprof")),
    ):
        profile = replace(recorded(kernel("k", (0, 10)), api(call, (0, 5))), format="a trace")
        for entry in causes():
            told = fitted(profile, entry.next_measurement, "k")
            assert not told.startswith(others), told
            assert "KERNEL" not in told


def test_a_functor_is_chosen_in_the_whole_name() -> None:
    command = counters(recorded(kernel("k", (0, 10)), api("cudaLaunchKernel", (0, 5))), FUNCTOR)
    assert command == r"ncu --set full --kernel-name-base demangled -k 'regex:\bGemmUniversal\b' -c 3 ./app"


def test_words_are_the_makers_and_names_stay() -> None:
    said = "Warps of warp::reduce<warp> wait; too few warps run on a multiprocessor (cudaMallocHost, cub::DeviceScan)."
    assert in_words_of(Vendor.AMD, said) == (
        "Wavefronts of warp::reduce<warp> wait; too few wavefronts run on a compute unit (hipHostMalloc, hipcub::DeviceScan)."
    )
    assert in_words_of(Vendor.NVIDIA, said) == said
    assert in_words_of(None, said) == said
    assert "hardware threads" in in_words_of(Vendor.INTEL, said)


def test_a_measurement_says_what_it_tells_in_the_makers_words() -> None:
    profile = replace(recorded(kernel("k", (0, 10)), api("hipLaunchKernel", (0, 5))), format="a trace")
    following = NextMeasurement("nsys profile ./app", "Whether warps wait.")
    assert fitted(profile, following).endswith("(a timeline for ui.perfetto.dev: whether wavefronts wait.)")
