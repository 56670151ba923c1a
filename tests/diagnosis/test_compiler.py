"""What compilers say of hot places: found where the time is, silent elsewhere, and never more than the records hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Diagnosis, Finding
from chathpc.profile.compiler import Build, CompiledUnit, CompilerRecord, KernelResources, Obstacle, Outcome
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from tests.diagnosis.kernels import one, report
from tests.diagnosis.parts import check, finding, function, hot_loop, libm, main, source, statements
from tests.profile.build import Node, build, call, entry, gpu_op, inlined, kernel, line, loop


def missed(at: int, obstacle: Obstacle = Obstacle.ALIASING, *, file: str = "app.c", **facts: object) -> CompilerRecord:
    return CompilerRecord(Outcome.NOT_VECTORISED, "GCC", file, at, obstacle=obstacle, text="words", **facts)  # type: ignore[arg-type]


def vectorised(at: int, **facts: object) -> CompilerRecord:
    return CompilerRecord(Outcome.VECTORISED, "GCC", "app.c", at, **facts)  # type: ignore[arg-type]


def refused(callee: str, at: int = 50, obstacle: Obstacle = Obstacle.BODY_ELSEWHERE) -> CompilerRecord:
    return CompilerRecord(Outcome.NOT_INLINED, "GCC", "main.c", at, obstacle=obstacle, callee=callee)


def explained(profile: Profile, *records: CompilerRecord, units: tuple[CompiledUnit, ...] = ()) -> Diagnosis:
    diagnosis = diagnose(replace(profile, build=Build(records, units=units)))
    check(diagnosis)
    return diagnosis


def names(diagnosis: Diagnosis) -> list[str]:
    return [item.cause for item in diagnosis.findings]


def program(*children: Node) -> Profile:
    return build(
        main(function("solve", *children, at="app.c:8"), function("rest", line("app.c:90", time=4.0), at="app.c:89"))
    )


LOOP = program(hot_loop(6.0, "app.c:10"))


# -- loops -------------------------------------------------------------------------------------------------------


def test_a_hot_loop_that_was_not_vectorised_with_its_reason_time_and_remedy() -> None:
    diagnosis = explained(LOOP, missed(10))
    found = finding(diagnosis, "not-vectorised")
    assert (found.where.function, found.where.short, found.seconds, found.share) == ("solve", "app.c:11", 6.0, 0.6)
    # 60 % of the time, of which half could go: Amdahl 1 / (1 - 0.6 * 0.5).
    assert found.speedup_bound is None
    assert "cannot rule out that the arrays overlap" in found.summary
    assert "restrict" in found.advice[0]
    assert len(set(found.advice)) == len(found.advice)
    said = statements(diagnosis, "not-vectorised")
    assert said[0].startswith("The loop at app.c:10 takes 6.00 s of 10.0 s (60.0 %)")
    assert said[1].startswith("1 record of GCC: the loop at app.c:10 was not vectorised")
    assert diagnosis.verdict == "bottleneck"


def test_without_records_nothing_is_said_of_compilers() -> None:
    assert "not-vectorised" not in names(diagnose(LOOP))
    assert names(explained(LOOP)) == names(diagnose(LOOP))


def test_a_cold_loop_is_not_worth_a_word() -> None:
    cold = program(hot_loop(5.8, "app.c:10"), hot_loop(0.2, "app.c:30"))
    diagnosis = explained(cold, missed(30))
    assert "not-vectorised" not in names(diagnosis)
    assert not any("app.c:30" in item.statement for item in diagnosis.evidence)


def test_a_loop_that_was_vectorised_is_told_with_the_hot_code() -> None:
    diagnosis = explained(LOOP, vectorised(10))
    assert "not-vectorised" not in names(diagnosis)
    assert diagnosis.verdict == "hot-spot"
    solve = next(item for item in diagnosis.findings if item.where.function == "solve")
    texts = {item.id: item.statement for item in diagnosis.evidence}
    assert "1 record of GCC: the loop at app.c:10 was vectorised." in [texts[number] for number in solve.evidence]


def test_a_copy_that_was_vectorised_speaks_against_the_finding() -> None:
    assert "not-vectorised" not in names(explained(LOOP, missed(10), vectorised(10)))


def test_of_several_copies_that_of_the_function_counts() -> None:
    records = (missed(10, function="solve"), vectorised(10, function="main"))
    assert "not-vectorised" in names(explained(LOOP, *records))
    other = (missed(10, function="main"), vectorised(10, function="solve"))
    assert "not-vectorised" not in names(explained(LOOP, *other))


@pytest.mark.parametrize("obstacle", [Obstacle.DEPENDENCE, Obstacle.UNSTATED])
def test_what_can_hardly_be_changed_is_evidence_and_no_finding(obstacle: Obstacle) -> None:
    diagnosis = explained(LOOP, missed(10, obstacle))
    assert "not-vectorised" not in names(diagnosis)
    assert any("was not vectorised" in item.statement for item in diagnosis.evidence)


@pytest.mark.parametrize(
    "obstacle", [Obstacle.CALL, Obstacle.TRIP_COUNT, Obstacle.CONTROL_FLOW, Obstacle.ACCESS, Obstacle.COST]
)
def test_what_asks_for_another_loop_is_told_and_alone_no_bottleneck(obstacle: Obstacle) -> None:
    diagnosis = explained(LOOP, missed(10, obstacle))
    assert diagnosis.verdict == "hot-spot"
    assert {"not-vectorised", "hot-compute"} <= set(names(diagnosis))


@pytest.mark.parametrize(
    ("obstacle", "word"),
    [(Obstacle.REDUCTION_ORDER, "reduction("), (Obstacle.MATH_CALL, "-ffast-math"), (Obstacle.LEVEL, "-O3"), (Obstacle.CALL, "declare simd"),
     (Obstacle.TRIP_COUNT, "count that is known"), (Obstacle.ACCESS, "unit stride"), (Obstacle.CONTROL_FLOW, "branch")],
)  # fmt: skip
def test_the_remedy_of_the_obstacle_comes_first(obstacle: Obstacle, word: str) -> None:
    assert word in finding(explained(LOOP, missed(10, obstacle)), "not-vectorised").advice[0]


def test_fortran_is_told_fortrans_clause() -> None:
    solve = build(main(function("solve", hot_loop(6.0, "app.f90:10"), at="app.f90:8"), at="app.f90:1"))
    found = finding(explained(solve, missed(10, Obstacle.REDUCTION_ORDER, file="app.f90")), "not-vectorised")
    assert "!$omp simd reduction" in found.advice[0]


def test_the_innermost_loop_holds_the_line_not_the_one_around_it() -> None:
    nest = program(loop("app.c:10", loop("app.c:12", line("app.c:13", time=6.0)), line("app.c:15", time=0.01)))
    diagnosis = explained(nest, missed(10, Obstacle.CONTROL_FLOW), missed(12))
    assert [item.summary.split(" in ")[0] for item in diagnosis.findings if item.cause == "not-vectorised"] == [
        "The compiler did not vectorise the loop at app.c:12"
    ]


def test_two_loops_at_one_line_are_judged_by_the_inner_one() -> None:
    """GCC has "control flow" for the outer."""
    found = finding(explained(LOOP, missed(10, Obstacle.CONTROL_FLOW), missed(10, Obstacle.ALIASING)), "not-vectorised")
    assert "overlap" in found.summary


def test_the_lines_of_a_loop_add_up() -> None:
    wide = program(loop("app.c:10", line("app.c:11", time=2.0), line("app.c:12", time=3.0), line("app.c:14", time=1.0)))
    assert finding(explained(wide, missed(10)), "not-vectorised").seconds == 6.0


def test_a_record_at_the_first_statement_of_the_loop_is_the_loops() -> None:
    """Debug information and records may differ on where a loop begins."""
    wide = program(loop("app.c:11", line("app.c:11", time=2.0), line("app.c:12", time=4.0)))
    assert "not-vectorised" in names(explained(wide, missed(10)))


def test_without_loops_in_the_profile_the_nearest_above_is_taken_with_a_doubt() -> None:
    flat = program(line("app.c:14", time=6.0))
    found = finding(explained(flat, missed(9, Obstacle.TRIP_COUNT), missed(12)), "not-vectorised")
    assert "app.c:12" in found.summary
    assert len(found.against) == 1
    exact = finding(explained(LOOP, missed(10)), "not-vectorised")
    assert found.confidence < exact.confidence


@pytest.mark.parametrize("at", [7, 15, 900])
def test_a_loop_before_the_function_or_behind_the_line_does_not_hold_it(at: int) -> None:
    assert "not-vectorised" not in names(explained(program(line("app.c:14", time=6.0)), missed(at)))


def test_a_loop_too_far_above_does_not_hold_the_line() -> None:
    assert "not-vectorised" not in names(explained(program(line("app.c:80", time=6.0)), missed(12)))


@pytest.mark.parametrize(
    ("file", "found"), [("/build/x/app.c", True), ("src/app.c", True), ("app.cpp", False), ("other.c", False)]
)
def test_files_are_compared_by_the_end_of_their_path(file: str, found: bool) -> None:
    assert ("not-vectorised" in names(explained(LOOP, missed(10, file=file)))) is found


def test_the_cause_of_a_loops_time_stands_for_it_and_takes_the_record_as_evidence() -> None:
    math = program(loop("app.c:10", line("app.c:11", libm("exp", time=6.0))))
    diagnosis = explained(math, replace(missed(10, Obstacle.MATH_CALL), at=11))
    assert "not-vectorised" not in names(diagnosis)
    said = statements(diagnosis, "expensive-math")
    assert any("because of line 11: the loop calls a mathematical function" in text for text in said)


def test_spellings_of_one_file_are_one_file() -> None:
    assert "not-vectorised" in names(explained(LOOP, missed(10), missed(10, file="./app.c")))
    assert "not-vectorised" not in names(explained(LOOP, missed(10), replace(vectorised(10), file="./app.c")))


def test_lines_that_instrumented_functions_begin_at_are_not_hot() -> None:
    measured = replace(
        build(main(function("solve", at="app.c:10", time=6.0), function("rest", at="app.c:20", time=4.0))), timed=True
    )
    assert "not-vectorised" not in names(explained(measured, missed(10)))


def test_at_most_three_loops_are_told() -> None:
    wide = program(*(hot_loop(2.0, f"app.c:{number}0") for number in range(1, 6)))
    assert names(explained(wide, *(missed(number * 10) for number in range(1, 6)))).count("not-vectorised") == 3


def test_what_was_inlined_into_a_loop_counts_for_the_loop() -> None:
    flux = inlined("flux", line("app.c:4", time=5.0), at="app.c:11")
    seen = program(loop("app.c:10", line("app.c:11", flux, time=1.0)))
    found = finding(explained(seen, missed(10), missed(3)), "not-vectorised")
    assert (found.seconds, found.where.function, found.where.short) == (6.0, "solve", "app.c:10")


def test_a_line_inlined_into_two_loops_counts_for_each_with_its_own_time() -> None:
    loops = [
        loop(f"app.c:{at}", line(f"app.c:{at + 1}", inlined("flux", line("app.c:4", time=time), at=f"app.c:{at + 1}")))
        for at, time in ((20, 4.0), (30, 2.0))
    ]
    diagnosis = explained(program(*loops), missed(20), missed(30))
    assert {(item.where.short, item.seconds) for item in diagnosis.findings if item.cause == "not-vectorised"} == {
        ("app.c:20", 4.0),
        ("app.c:30", 2.0),
    }


def test_a_loop_of_the_inlined_function_is_its_own() -> None:
    body = inlined("flux", loop("app.c:4", line("app.c:5", time=6.0)), at="app.c:11")
    found = finding(
        explained(program(loop("app.c:10", line("app.c:11", body))), missed(4), missed(10)), "not-vectorised"
    )
    assert "app.c:4" in found.summary


def test_a_function_called_in_a_loop_does_not_count_for_it() -> None:
    called = function("flux", line("flux.c:4", time=6.0), at="flux.c:2")
    assert "not-vectorised" not in names(explained(program(loop("app.c:10", line("app.c:11", called))), missed(10)))


# -- calls -------------------------------------------------------------------------------------------------------


def accessor(lines: int = 1, *, in_loop: bool = True) -> Profile:
    body = [line(f"cell.c:{number + 5}", time=6.0 / lines) for number in range(lines)]
    cell = function("cell", *body, at="cell.c:4")
    site = line("main.c:50", cell)
    return build(
        main(
            function("sweep", loop("main.c:49", site) if in_loop else site, at="main.c:40"), line("main.c:9", time=4.0)
        )
    )


def test_a_hot_small_function_that_was_not_inlined() -> None:
    diagnosis = explained(accessor(), refused("cell"))
    found = finding(diagnosis, "not-inlined")
    assert (found.where.function, found.share, found.against) == ("cell", 0.6, ())
    assert found.speedup_bound is None
    assert "-flto" in found.advice[0]
    said = statements(diagnosis, "not-inlined")
    assert said[1] == "cell has 1 source line."
    assert (
        said[2]
        == "1 record of GCC: calls of cell (main.c:50) were not inlined: the function's body is in another file."
    )


def test_a_long_function_costs_its_own_work() -> None:
    assert "not-inlined" not in names(explained(accessor(6), refused("cell")))


def test_a_function_with_a_loop_of_its_own_costs_the_loop() -> None:
    cell = function("cell", loop("cell.c:5", line("cell.c:5", time=6.0)), at="cell.c:4")
    seen = build(
        main(function("sweep", loop("main.c:49", line("main.c:50", cell)), at="main.c:40"), line("main.c:9", time=4.0))
    )
    assert "not-inlined" not in names(explained(seen, refused("cell")))
    # Where the profile has no loops, the records may have one.
    assert "not-inlined" not in names(
        explained(accessor(), refused("cell"), missed(5, Obstacle.DEPENDENCE, file="cell.c"))
    )
    assert "not-inlined" in names(explained(accessor(), refused("cell"), missed(3, Obstacle.DEPENDENCE, file="cell.c")))


def test_other_functions_calls_do_not_matter() -> None:
    assert "not-inlined" not in names(explained(accessor(), refused("cells")))


@pytest.mark.parametrize("obstacle", [Obstacle.SELDOM, Obstacle.RECURSIVE])
def test_calls_that_are_rightly_not_inlined(obstacle: Obstacle) -> None:
    assert "not-inlined" not in names(explained(accessor(), refused("cell", obstacle=obstacle)))


def test_a_call_outside_of_loops_is_a_doubt() -> None:
    found = finding(explained(accessor(in_loop=False), refused("cell")), "not-inlined")
    assert found.against == ("The profile does not show whether a loop calls it.",)


def test_names_are_compared_demangled() -> None:
    cell = function("grid::cell(double const*, int)", line("cell.c:5", time=6.0), at="cell.c:4")
    profile = build(
        main(function("sweep", loop("main.c:49", line("main.c:50", cell)), at="main.c:40"), line("main.c:9", time=4.0))
    )
    assert "not-inlined" in names(explained(profile, refused("_ZN4grid4cellEPKdi")))
    assert "not-inlined" in names(explained(profile, refused("double grid::cell(const double*, int)")))
    assert "not-inlined" not in names(explained(profile, refused("_ZN4mesh4cellEPKdi")))


# -- no optimisation ---------------------------------------------------------------------------------------------


def unit(file: str, optimised: bool | None, options: str = "-O0") -> CompiledUnit:
    return CompiledUnit(file, "gcc", optimised, options, "the command line")


SUM = """double norm(const double *u, int n) {
  double s = 0.0;
  for (int i = 1; i < n; i++) {
    s += u[i] * u[i];
  }
  return s;
}
"""
SWEEP = """double relax(double *u, int n) {
  double s = 0.0;
  for (int i = 1; i < n; i++) {
    double v = 0.5 * (u[i - 1] + u[i + 1]); s += v; u[i] = v;
  }
  return s;
}
"""


def advised(text: str, options: str, flags: str = "") -> str:
    hot = build(main(function("norm", loop("app.c:3", line("app.c:4", time=9.0)), at="app.c:1")))
    unit = CompiledUnit("app.c", "gcc", True, options, "the command line", flags)
    return explained(replace(hot, read_source=source({"app.c": text})), units=(unit,)).findings[0].advice[0]


@pytest.mark.parametrize(("options", "flags"), [("-O3", "-ffast-math"), ("-Ofast", ""), ("-O3", "-fassociative-math")])
def test_a_sum_whose_order_the_compiler_may_change_is_no_chain_of_additions(options: str, flags: str) -> None:
    assert "omp simd reduction" in advised(SUM, "-O3", "-march=znver3")
    assert "omp simd" not in advised(SUM, options, flags)


def test_a_sum_in_a_loop_whose_iterations_need_each_other_is_not_asserted_to_be_independent() -> None:
    assert advised(SWEEP, "-O2").startswith("An iteration of the loop needs u[i - 1] of an earlier iteration")


def test_options_that_are_known_are_neither_advised_nor_left_out_of_commands() -> None:
    assert advised(SUM, "-Ofast").startswith("Compile the file with -O3 -march=native")
    assert advised(SUM, "-Ofast", "-march=znver3").startswith("Read why loops were not vectorised")
    diagnosis = explained(LOOP, units=(CompiledUnit("app.c", "gcc", True, "-O3", "", "-march=znver3 -ffast-math"),))
    commands = [each.remedy for each in diagnosis.examined.skipped]
    assert (
        "gcc -O3 -march=znver3 -ffast-math -g -fopt-info-vec-missed -fopt-info-inline-missed -c app.c 2> build.log"
        in commands
    )


def test_a_hot_file_compiled_without_optimisation() -> None:
    diagnosis = explained(LOOP, units=(unit("app.c", False), unit("other.c", True, "-O2")))
    assert names(diagnosis) == ["unoptimised-build"]
    found = finding(diagnosis, "unoptimised-build")
    assert (found.share, found.seconds) == (1.0, 10.0)
    said = statements(diagnosis, "unoptimised-build")
    assert said[1] == "1 file of gcc: compiled without optimisation (app.c): -O0, by the command line."


@pytest.mark.parametrize(
    "units",
    [
        (),
        (unit("app.c", True, "-O2"),),
        (unit("app.c", None, ""),),
        (unit("other.c", False),),
        (unit("", False), unit("app.c", True, "-O2")),
        (unit("", True, "-O2"), unit("", False)),
    ],
)
def test_from_records_that_are_not_there_nothing_follows(units: tuple[CompiledUnit, ...]) -> None:
    assert "unoptimised-build" not in names(explained(LOOP, units=units))


def test_a_word_about_the_whole_program_holds_where_nothing_contradicts_it() -> None:
    assert names(explained(LOOP, units=(unit("", False, ""),))) == ["unoptimised-build"]


def test_only_the_time_of_the_file_counts() -> None:
    two = build(
        main(function("a", line("a.c:2", time=1.0), at="a.c:1"), function("b", line("b.c:2", time=3.0), at="b.c:1"))
    )
    found = finding(explained(two, units=(unit("a.c", False), unit("b.c", True, "-O3"))), "unoptimised-build")
    assert (found.share, found.where.function) == (0.25, "a")


def test_the_profile_and_the_records_together_are_more_certain() -> None:
    header = "/usr/include/c++/12/bits/stl_vector.h"
    access = call(
        "std::vector<double>::operator[](unsigned long)",
        line(f"{header}:1043", time=4.0),
        at=f"{header}:1040",
        module="/opt/app",
    )
    profile = build(
        entry(
            "<program root>", function("main", loop("app.cpp:10", line("app.cpp:11", access, time=6.0)), at="app.cpp:1")
        )
    )
    seen = finding(diagnose(profile), "unoptimised-build")
    both = finding(explained(profile, units=(unit("app.cpp", False),)), "unoptimised-build")
    assert both.confidence > seen.confidence
    assert statements(diagnose(profile), "unoptimised-build")[1].startswith("Inlined functions ")
    never_expanded = replace(profile, format="Nsight Systems 2024.5")
    assert not any("Inlined" in each for each in statements(diagnose(never_expanded), "unoptimised-build"))
    assert finding(diagnose(never_expanded), "unoptimised-build").confidence < seen.confidence
    assert len(both.evidence) == len(seen.evidence) + 2
    cold = build(
        entry(
            "<program root>",
            function(
                "main",
                line("cold.cpp:1", time=0.01),
                loop("app.cpp:10", line("app.cpp:11", access, time=6.0)),
                at="app.cpp:1",
            ),
        )
    )
    little = finding(explained(cold, units=(unit("cold.cpp", False),)), "unoptimised-build")
    assert len(little.evidence) == len(seen.evidence)
    assert "unoptimised-build" not in names(explained(profile, units=(unit("app.cpp", True, "-O2"),)))
    other = finding(explained(profile, units=(unit("else.cpp", False),)), "unoptimised-build")
    assert other.confidence == seen.confidence


# -- kernels -----------------------------------------------------------------------------------------------------


def on_device(profile: Profile, *resources: KernelResources) -> Diagnosis:
    diagnosis = diagnose(replace(profile, build=Build(kernels=resources)))
    check(diagnosis)
    return diagnosis


def launched(name: str, seconds: float) -> Node:
    values = {"gpu.time": seconds, "gpu.kernel.time": seconds, "gpu.kernel.count": 10.0}
    return line("app.cu:9", gpu_op("<gpu kernel>", kernel(name, at="kernels.cu:1", values=values)))


DEVICE = build(
    main(function("solve", launched("_Z5blendILi24EEvPdPKdi", 3.0), launched("axpy(float*, float const*)", 1.0)))
)
SPILLS = KernelResources("_Z5blendILi24EEvPdPKdi", "sm_90", 24, 312, 324, 484, 0)


def test_a_hot_kernel_that_spills() -> None:
    diagnosis = on_device(DEVICE, SPILLS)
    found = finding(diagnosis, "gpu-register-spill")
    assert (found.where.kernel, found.share, found.seconds) == ("_Z5blendILi24EEvPdPKdi", 0.75, 3.0)
    # Headroom 0.3, of which half where only ptxas speaks.
    assert found.speedup_bound is None
    said = statements(diagnosis, "gpu-register-spill")
    assert "for each thread, is 808 B: in stores 324 B, in loads 484 B, stack frame 312 B, 24 registers." in said[1]
    assert len(found.against) == 1


@pytest.mark.parametrize(
    "resources",
    [
        replace(SPILLS, spill_stores=16, spill_loads=16),
        replace(SPILLS, kernel="_Z5blendILi25EEvPdPKdi"),
        replace(SPILLS, spill_stores=None, spill_loads=None),
    ],
)
def test_few_spills_other_instances_and_silence_are_no_finding(resources: KernelResources) -> None:
    assert "gpu-register-spill" not in names(on_device(DEVICE, resources))


def test_the_architecture_of_the_device_counts() -> None:
    other = replace(SPILLS, architecture="sm_80", spill_stores=1000)
    for capability, number in (("9.0", "808 B"), ("8.0", "1.48 kB"), ("", "808 B")):
        device = replace(DEVICE, devices={0: Device("GPU", capability=capability)})
        said = statements(on_device(device, other, SPILLS), "gpu-register-spill")
        assert f"is {number}:" in said[1]


def test_where_the_device_is_not_known_the_newest_architecture_counts() -> None:
    """Numbers, not letters: 100 is more than 90."""
    said = statements(
        on_device(DEVICE, SPILLS, replace(SPILLS, architecture="sm_100", spill_stores=1000)), "gpu-register-spill"
    )
    assert "for sm_100, for each thread, is 1.48 kB" in said[1]


def test_a_kernel_whose_name_is_shortened_by_the_tool_is_found_if_it_is_the_only_one() -> None:
    short = build(main(function("solve", launched("blend", 3.0))))
    assert "gpu-register-spill" in names(on_device(short, SPILLS))
    assert "gpu-register-spill" not in names(on_device(short, SPILLS, replace(SPILLS, kernel="_Z5blendILi25EEvPdPKdi")))


def test_kernels_compiled_for_debugging() -> None:
    debug = CompiledUnit("src/kernels.cu", "nvcc", False, "-G", "the command line")
    diagnosis = diagnose(replace(DEVICE, build=Build(units=(debug,))))
    check(diagnosis)
    found = finding(diagnosis, "unoptimised-build")
    assert (found.share, found.seconds, found.where.kernel) == (1.0, 4.0, "_Z5blendILi24EEvPdPKdi")
    assert "nvcc -G" in " ".join(found.advice)
    other = replace(debug, file="other.cu")
    assert "unoptimised-build" not in names(diagnose(replace(DEVICE, build=Build(units=(other,)))))


def test_the_option_for_device_code_says_nothing_of_host_code() -> None:
    assert "unoptimised-build" not in names(explained(LOOP, units=(unit("app.c", False, "-G"),)))


SLOW = {
    "sm_throughput": 20.0,
    "memory_throughput": 70.0,
    "dram_throughput": 65.0,
    "l2_throughput": 30.0,
    "registers": 255.0,
}


def counted(spilled: int | None) -> Finding:
    profile = report(one("solve", **SLOW, local_loads=1e6, instructions=4e6))
    resources = () if spilled is None else (KernelResources("_Z5solvePfi", "sm_90", 255, 400, spilled, spilled),)
    return finding(on_device(profile, *resources), "gpu-register-spill")


def test_ptxas_agrees_with_counters_or_contradicts_them() -> None:
    alone, agreed, contradicted = counted(None), counted(200), counted(0)
    assert agreed.confidence > alone.confidence > contradicted.confidence
    assert contradicted.against[-1] == "ptxas spills nothing: local memory holds arrays with computed indices."
    assert agreed.share == alone.share


def test_the_hottest_of_the_files_is_named_first_and_each_compiler() -> None:
    cold, hot = (
        function(name, line(f"{name}.c:2", time=time), at=f"{name}.c:1") for name, time in (("a", 1.0), ("b", 3.0))
    )
    units = (unit("a.c", False), replace(unit("b.c", False), compiler="gfortran"))
    diagnosis = explained(build(main(cold, hot)), units=units)
    assert "(b.c, a.c)" in finding(diagnosis, "unoptimised-build").summary
    assert statements(diagnosis, "unoptimised-build")[1].startswith("2 files of gfortran and gcc:")
