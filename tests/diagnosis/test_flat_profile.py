"""The flat profile: its shares are of all the time that facts are parts of."""

from __future__ import annotations

import pytest

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.flat_profile import flat_profile
from chathpc.diagnosis.rules.openmp import _holder
from tests.diagnosis.kernels import one, report
from tests.diagnosis.parts import diagnosed, finding, function, main, ranks
from tests.profile.build import build, call, entry, line, placeholder


def test_what_a_programs_thread_does_in_libraries_without_its_stack_has_its_share_too() -> None:
    """A sample without a stack in a thread that works for the program as well: no thread of the library's own."""
    profile = build(
        main(function("step", line("app.c:2", time=(3.0, None)))),
        entry("main thread", call("<unknown procedure>", module="/usr/lib/libcuda.so.525", time=(1.0, None))),
        main(function("other", line("app.c:9", time=(None, 4.0)))),
        locations=ranks(1, threads=2),
    )
    rows = {row.name: row.share for row in flat_profile(profile, Facts(profile), None)}
    assert rows == {"step": pytest.approx(3 / 8), "libcuda": pytest.approx(1 / 8), "other": pytest.approx(4 / 8)}


def test_the_kernel_is_not_called_a_library() -> None:
    profile = build(main(function("step", line("app.c:2", placeholder("<kernel>", time=1.0), time=3.0))))
    rows = {row.name: row.share for row in flat_profile(profile, Facts(profile), None)}
    assert rows == {"step": pytest.approx(3 / 4), "the kernel in step": pytest.approx(1 / 4)}
    # The finding has the same share.
    assert finding(diagnosed(profile), "hot-compute").share == pytest.approx(3 / 4)


def test_gos_runtime_is_called_so() -> None:
    runtime = call("runtime.mapiternext", line("map.go:8", time=1.0))
    profile = build(main(function("main.step", line("step.go:2", runtime, time=3.0))))
    rows = {row.name: row.share for row in flat_profile(profile, Facts(profile), None)}
    assert rows == {"main.step": pytest.approx(3 / 4), "Go's runtime in main.step": pytest.approx(1 / 4)}


def test_kernels_of_one_launcher_are_told_apart_by_what_they_run() -> None:
    launched = [
        f"void cutlass::Kernel<cutlass::gemm::kernel::{name}<float>>(T1::Params)" for name in ("Gemm", "B2bGemm")
    ]
    profile = report(one(launched[0], 3.0), one(launched[1], 1.0))
    rows = {row.name: row.share for row in flat_profile(profile, Facts(profile), "gpu.kernel.time")}
    assert rows == {"Gemm": 0.75, "B2bGemm": 0.25}


def test_kernels_that_run_lambdas_are_told_apart_by_these_whoever_launches_them() -> None:
    given = [f"void app::run<app::{name}(int)::[lambda(int) (instance 1)]>(int)" for name in ("flux", "advance")]
    profile = report(one(given[0], 3.0), one(given[1], 1.0))
    rows = {row.name: row.share for row in flat_profile(profile, Facts(profile), "gpu.kernel.time")}
    assert rows == {"app::flux::lambda#1": 0.75, "app::advance::lambda#1": 0.25}


def test_interrupts_are_the_kernels_and_no_librarys() -> None:
    """perf's samples in an interrupt stand below the function that it broke into."""
    interrupt = call("handle_softirqs", module="[kernel.kallsyms]", time=1.0)
    profile = build(main(function("step", line("app.c:2", interrupt, time=3.0))))
    rows = {row.name: row.share for row in flat_profile(profile, Facts(profile), None)}
    assert rows == {"step": pytest.approx(3 / 4), "the kernel in step": pytest.approx(1 / 4)}


def test_procedures_of_several_modules_with_one_name_are_told_apart() -> None:
    names = ("__conv_MOD_step", "__dense_MOD_step", "__conv_MOD_step._omp_fn.0", "__dense_MOD_show")
    profile = build(
        main(*(function(name, time=time) for name, time in zip(names, (4.0, 1.0, 4.0, 1.0), strict=True))), timed=True
    )
    rows = {row.name: row.share for row in flat_profile(profile, Facts(profile), None)}
    assert rows == {"conv%step": pytest.approx(0.8), "dense%step": pytest.approx(0.1), "show": pytest.approx(0.1)}
    first = diagnose(profile).findings[0]
    assert (first.where.function, first.share) == ("conv%step", pytest.approx(0.8))
    assert readable_function("conv%step") == "step"


def test_regions_of_procedures_with_one_name_are_told_apart() -> None:
    names = ("__conv_MOD_step._omp_fn.0", "__dense_MOD_step._omp_fn.0")
    profile = build(main(*(function(name, time=4.0) for name in names)), timed=True)
    numbers = [profile.tree.names.index(name) for name in names]
    assert [_holder(Facts(profile), number) for number in numbers] == ["conv%step", "dense%step"]
