"""The verdict: what was not looked at never makes a program healthy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import chathpc
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Verdict
from chathpc.diagnosis.tuned_libraries import is_tuned_kernel, is_tuned_module
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock
from chathpc.profile.profile import Profile
from tests.diagnosis.parts import diagnosed, function, libc, main, mpi, wall
from tests.diagnosis.poorer import POORER
from tests.profile.build import Node, build, call, kernel, line

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/*/meta.db"))


@pytest.mark.parametrize("lacking", POORER)
@pytest.mark.parametrize("database", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_example_with_less_in_its_profile_does_not_become_healthy(database: Path, lacking: str) -> None:
    profile = chathpc.load(database)
    assert diagnose(profile).verdict in (Verdict.BOTTLENECK, Verdict.SUSPECTED, Verdict.HOT_SPOT)
    assert diagnose(POORER[lacking](profile)).verdict != Verdict.HEALTHY


def of_one_thread(profile: Profile) -> Profile:
    """The profile as recorded on the one thread of a program, by a clock that runs while it waits."""
    return wall(replace(profile, where=Locations.of(1, thread=np.zeros(1, np.int64))))


def spread_out(functions: int = 20, **more: float) -> Profile:
    """A serial program whose time is in many functions alike."""
    parts = [
        function(f"f{n}", line(f"app.c:{10 * n}", time=1.0), at=f"app.c:{10 * n}") for n in range(1, functions + 1)
    ]
    waits = [libc("usleep", time=more["waiting"])] if "waiting" in more else []
    return of_one_thread(build(main(*parts, *waits)))


def test_work_that_is_spread_out_without_waiting_is_healthy() -> None:
    diagnosis = diagnosed(spread_out())
    assert diagnosis.verdict == Verdict.HEALTHY
    assert diagnosis.headline == "0 % of the time is waiting, and no place has more than 5.00 %."


def test_work_that_is_spread_out_beside_much_waiting_is_not_healthy() -> None:
    assert diagnosed(spread_out(waiting=3.0)).verdict != Verdict.HEALTHY


def test_nothing_is_healthy_by_a_clock_that_stands_still_while_threads_wait() -> None:
    profile = spread_out()
    metrics = {name: replace(metric, clock=Clock.CPU) for name, metric in profile.metrics.items()}
    assert diagnosed(replace(profile, metrics=metrics)).verdict == Verdict.HOT_SPOT


def test_a_parallel_program_is_not_known_to_be_healthy_where_threads_are_not_told_apart() -> None:
    several = [call("PMPI_Waitall", module="/usr/lib/libmpi.so.40", time=1.0)]
    parts = [function(f"f{n}", line(f"app.c:{10 * n}", time=1.0), at=f"app.c:{10 * n}") for n in range(1, 21)]
    assert diagnosed(wall(build(main(*parts, *several)))).verdict == Verdict.HOT_SPOT


def test_time_at_one_place_without_a_cause_is_a_hot_spot() -> None:
    diagnosis = diagnosed(
        of_one_thread(build(main(function("f", line("app.c:11", time=9.0)), function("g", time=1.0))))
    )
    assert diagnosis.verdict == Verdict.HOT_SPOT
    assert "f (90.0 %)" in diagnosis.headline


def test_a_program_in_a_tuned_library_is_healthy() -> None:
    library = call("dgemm_kernel_HASWELL", module="/usr/lib/libopenblas.so.0", time=9.0)
    diagnosis = diagnosed(of_one_thread(build(main(function("f", library), function("g", line("app.c:3", time=1.0))))))
    assert diagnosis.verdict == Verdict.HEALTHY
    assert "tuned libraries do 90.0 % of it" in diagnosis.headline


def test_a_function_of_the_program_that_is_called_like_one_of_a_library_is_not_tuned() -> None:
    own = function("dgemm_naive", line("app.c:11", time=10.0))
    assert diagnosed(of_one_thread(build(main(own)))).verdict == Verdict.HOT_SPOT


@pytest.mark.parametrize(
    ("path", "tuned"),
    [
        ("/usr/lib/x86_64-linux-gnu/libopenblas.so.0", True),
        ("/opt/intel/libmkl_avx512.so.2", True),
        ("libfftw3f.so.3", True),
        ("libcblas.so", True),
        ("libblastwave.so", False),
        ("libmkl_intel_thread.so.2", False),
        ("libm.so.6", False),
        ("my_libopenblas_test", False),
        ("/opt/app", False),
    ],
)
def test_tuned_libraries_are_known_by_their_load_modules(path: str, tuned: bool) -> None:
    assert is_tuned_module(path) is tuned


@pytest.mark.parametrize(
    ("name", "tuned"),
    [
        ("ampere_h16816gemm_128x64_ldg8_stages_32x6_nn", True),
        ("volta_sgemm_128x64_nn", True),
        ("void cutlass::Kernel2<cutlass_80_simt_sgemm>(cutlass::Params)", True),
        ("Cijk_Ailk_Bljk_SB_MT64x64x8", True),
        ("sgemm_naive(float*, float*, float*)", False),
        ("my_dgemm_kernel", False),
        ("sgemm_1D_blocktiling", False),
    ],
)
def test_kernels_of_tuned_libraries_are_known_by_the_form_of_their_names(name: str, tuned: bool) -> None:
    assert is_tuned_kernel(name) is tuned


def test_stalls_count_as_examined_where_warps_were_sampled() -> None:
    times = {"gpu.time": 9.0, "gpu.kernel.time": 9.0}
    samples = {"gpu.instructions": 900.0, "gpu.stall.any": 700.0, "gpu.stall.memory": 600.0}
    plain = diagnosed(build(kernel("k", values=times))).examined
    sampled = diagnosed(build(kernel("k", values=times | samples))).examined
    assert "stalls" not in plain.run
    assert [each.reason for each in plain.skipped if "stalls" in each.checks] == ["no kernel counters"]
    assert "stalls" in sampled.run
    assert all("spills" not in each.run for each in (plain, sampled))  # ptxas tells those, or counters


def test_what_was_not_examined_is_told_with_its_remedy() -> None:
    examined = diagnosed(of_one_thread(build(main(function("f", line("app.c:11", time=9.0)))))).examined
    (source,) = [each for each in examined.skipped if each.reason == "source not found"]
    assert source.remedy == "--source DIR"
    assert "quadratic-algorithm" in source.checks
    assert not set(examined.run) & {name for each in examined.skipped for name in each.checks}


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        (Clock.WALL, "0 % of the time is waiting or input and output."),
        (Clock.CPU, "Its clock stops while a thread waits, so waiting is invisible."),
        (None, "What was counted does not show waiting."),
    ],
)
def test_waiting_is_given_only_by_a_clock_that_sees_it(clock: Clock | None, words: str) -> None:
    profile = build(main(function("work", line("app.c:3", time=9.0)), line("app.c:9", time=1.0)))
    metrics = {name: replace(metric, clock=clock) for name, metric in profile.metrics.items()}
    assert diagnosed(replace(profile, metrics=metrics)).headline.endswith(words)


@pytest.mark.parametrize(
    ("file", "command"),
    [("src/store.cpp", "g++"), ("my heat.f90", "gfortran"), ("app.c", "gcc"), ("small.hpp", "gcc")],
)
def test_remarks_are_asked_of_the_compiler_of_the_hottest_file(file: str, command: str) -> None:
    examined = diagnosed(of_one_thread(build(main(function("f", line(f"{file}:11", time=9.0)))))).examined
    remedy = next(each.remedy for each in examined.skipped if each.reason == "no remarks of a compiler")
    named = {"g++": "store.cpp", "gfortran": "'my heat.f90'", "gcc": "app.c"}[command]
    assert remedy == f"{command} -O2 -g -fopt-info-vec-missed -fopt-info-inline-missed -c {named} 2> build.log"


@pytest.mark.parametrize("file", ["lib.rs", "Mat.java", "step.go", "app.py"])
def test_nobody_is_asked_for_records_that_the_compilers_of_a_language_do_not_write(file: str) -> None:
    examined = diagnosed(of_one_thread(build(main(function("f", line(f"{file}:11", time=9.0)))))).examined
    assert not {each.reason for each in examined.skipped} & {"no remarks of a compiler", "compiler options unknown"}


def test_remarks_are_asked_of_the_file_that_computes_longest_not_of_one_that_waits() -> None:
    waits = function("exchange", line("comm.c:5", mpi("MPI_Recv", time=9.0)), at="comm.c:1")
    lines = [line(f"mxm.f:{number}", time=1.0) for number in (3, 4, 5)]
    work = function("mxm", *lines, at="mxm.f:1"), function("cg", line("cg.f:7", time=1.5), at="cg.f:1")
    examined = diagnosed(build(main(waits, *work))).examined
    remedy = next(each.remedy for each in examined.skipped if each.reason == "no remarks of a compiler")
    assert "-c mxm.f 2>" in remedy


@pytest.mark.parametrize(
    ("further", "words"),
    [
        ((), "Only the program's own regions were measured, so waiting inside them is invisible."),
        ((libc("write", time=0.01),), "0.100 % of the time is waiting or input and output."),
    ],
)
def test_regions_of_the_program_alone_show_no_waiting(further: tuple[Node, ...], words: str) -> None:
    profile = wall(build(main(function("f", *further, time=9.99 if further else 10.0))))
    assert diagnosed(replace(profile, timed=True)).headline.endswith(words)
    assert not diagnosed(profile).headline.endswith("is invisible.")
