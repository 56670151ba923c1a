"""A sampled share just above its threshold is a finding only with enough samples; the same share of measured time always is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from math import inf, sqrt
from pathlib import Path

import pytest

import chathpc.diagnosis.rules
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.stall_samples import drawn
from chathpc.profile.compiler import Build, CompiledUnit, CompilerRecord, Obstacle, Outcome
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from tests.diagnosis.kernels import One, bare, causes, one, report
from tests.diagnosis.parts import finding, function, hot_loop, main, source
from tests.diagnosis.test_gpu import launch, runtime, timed
from tests.profile.build import build, call, kernel, line, loop

#: Seconds of runs with 2,000 and 40,000 samples of 5 ms.
FEW, MANY = 10.0, 200.0
LLVM = "/usr/lib/libLLVM-14.so.1"


def beside(total: float, part: float, *children: object) -> Profile:
    """A program with a part of the time in `children`, the rest in another function."""
    rest = function("rest", line("rest.c:40", time=total * (1 - part)), at="rest.c:39")
    return build(main(*children, rest))  # type: ignore[arg-type]


def compiling(total: float, part: float) -> Profile:
    return beside(total, part, function("f", line("app.c:11", call("llvm::run()", module=LLVM, time=total * part))))


def faulting(total: float, part: float) -> Profile:
    fault = call("asm_exc_page_fault", module="[kernel.kallsyms]", time=total * part)
    return beside(total, part, function("f", loop("app.c:10", line("app.c:11", fault))))


def counted_faults(total: float, part: float) -> Profile:
    """At half a microsecond for each fault."""
    amounts = {"cpu.page-faults": total * part / 5e-7, "cpu.time": total * 0.5}
    return beside(total, 0.5, function("f", loop("app.c:10", line("app.c:11", values=amounts))))


def scalar(total: float, part: float) -> Profile:
    record = CompilerRecord(Outcome.NOT_VECTORISED, "GCC", "app.c", 10, obstacle=Obstacle.ALIASING, text="words")
    solve = function("f", hot_loop(total * part, "app.c:10"), at="app.c:8")
    return replace(beside(total, part, solve), build=Build((record,)))


def called(total: float, part: float) -> Profile:
    record = CompilerRecord(
        Outcome.NOT_INLINED, "GCC", "main.c", 50, obstacle=Obstacle.BODY_ELSEWHERE, text="words", callee="cell"
    )
    cell = function("cell", line("cell.c:5", time=total * part), at="cell.c:4")
    sweep = function("sweep", loop("main.c:49", line("main.c:50", cell)), at="main.c:40")
    return replace(beside(total, part, sweep), build=Build((record,)))


def debugged(total: float, part: float) -> Profile:
    unit = CompiledUnit("app.c", "gcc", False, "-O0", "the command line")
    other = CompiledUnit("rest.c", "gcc", True, "-O2", "the command line")
    solve = function("f", hot_loop(total * part, "app.c:10"), at="app.c:8")
    return replace(beside(total, part, solve), build=Build((), units=(unit, other)))


STRIDED = """void f(double *a, const double *b, int n)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[j * n + i] = 0.5 * b[j * n + i];
}
"""


def strided(total: float, part: float) -> Profile:
    hot = function("f", loop("app.c:3", line("app.c:5", time=total * part)), at="app.c:1")
    return replace(beside(total, part, hot), read_source=source({"app.c": STRIDED}))


ACCESSOR = """struct Cell {
  double value() const { return v; }
  double v;
};
double sum(const Cell *c, int n)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += c[i].value();
  return s;
}
"""


def small_calls(total: float, part: float) -> Profile:
    value = function("Cell::value() const", line("app.cpp:2", time=total * part), at="app.cpp:2")
    hot = function("sum", loop("app.cpp:8", line("app.cpp:9", value)), at="app.cpp:5")
    return replace(beside(total, part, hot), read_source=source({"app.cpp": ACCESSOR}))


DEVICE_ALLOCATION = """void solve(float* a, int n, int steps)
{
  for (int t = 0; t < steps; t++) {
    float* d;
    cudaMalloc(&d, n);
    cudaFree(d);
  }
}
"""


def device_allocation(total: float, part: float) -> Profile:
    calls = line("app.cu:5", runtime("cudaMalloc", time=total * part))
    kernel = launch(timed("step", total / 100, launches=2.0), at="app.cu:7")
    hot = function("solve", loop("app.cu:3", calls), kernel, at="app.cu:1")
    return replace(beside(total, part, hot), read_source=source({"app.cu": DEVICE_ALLOCATION}))


@pytest.mark.parametrize(
    ("profile", "cause", "threshold"),
    [
        (compiling, "jit-compilation", 0.10),
        (faulting, "page-faults", 0.10),
        (counted_faults, "page-faults", 0.10),
        (scalar, "not-vectorised", 0.10),
        (called, "not-inlined", 0.10),
        (debugged, "unoptimised-build", 0.03),
        (strided, "strided-access", 0.10),
        (small_calls, "unoptimised-build", 0.03),
        (device_allocation, "gpu-allocation-in-loop", 0.05),
    ],
)  # fmt: skip
def test_two_standard_errors_above_the_threshold_are_chance(
    profile: Callable[[float, float], Profile], cause: str, threshold: float
) -> None:
    # Two standard errors of 2,000 samples above it are nine of 40,000.
    part = threshold + 2 * sqrt(threshold * (1 - threshold) / 2000)
    assert cause not in [found.cause for found in diagnose(profile(FEW, part)).findings]
    assert cause in [found.cause for found in diagnose(profile(MANY, part)).findings]
    assert cause in [found.cause for found in diagnose(replace(profile(FEW, part), timed=True)).findings]


# -- samples of kernels ------------------------------------------------------------------------------------------


def sampled(count: float, part: float) -> One:
    """A kernel that uses nothing well, with a part of its warps' samples waiting at barriers."""
    waiting = {"gpu.stall.barrier": count * part, "gpu.stall.any": count * part}
    idle = one(sm_throughput=20, memory_throughput=20)
    return replace(idle, samples={("solve.cu", 12): {"gpu.instructions": count, **waiting}})


def test_stalls_of_few_samples_do_not_stand_out() -> None:
    # 0.15 is asked for. Of 150 samples 18 % are one standard error above it, of 15,000 ten.
    doubt = "No reason for waiting stands out."
    assert doubt in finding(diagnose(report(sampled(150, 0.18))), "gpu-barrier-stall").against
    assert doubt not in finding(diagnose(report(sampled(15_000, 0.18))), "gpu-barrier-stall").against


def test_the_number_of_samples_behind_a_sum_is_known_where_the_tool_tells_it() -> None:
    counted = report(sampled(600, 0.2))  # in samples
    assert drawn(counted, "gpu.instructions", 600) == 600
    metrics = {**counted.metrics, "gpu.instructions": replace(counted.metrics["gpu.instructions"], unit=Unit.COUNT)}
    assert (
        drawn(replace(counted, metrics=metrics), "gpu.instructions", 600) == inf
    )  # instructions, each for a period of them
    period = kernel("f", values={"gpu.instructions": 6400.0, "gpu.samples.period": 64.0})
    assert drawn(build(period), "gpu.instructions", 6400) == 100


def test_conflicts_whose_waiting_is_chance_are_no_finding() -> None:
    def conflicting(count: float) -> One:
        samples = {"gpu.instructions": count, "gpu.stall.mio-throttle": 0.3 * count, "gpu.stall.any": 0.3 * count}
        split = bare(bank_conflicts=9e5, shared_wavefronts=1e6, sm_throughput=20, memory_throughput=20)
        return replace(split, samples={("solve.cu", 12): samples})

    assert "gpu-shared-bank-conflicts" in causes(conflicting(15_000))
    assert "gpu-shared-bank-conflicts" not in causes(conflicting(110))


# -- all rules -----------------------------------------------------------------------------------------------

#: Modules about recorded intervals, counters and logs, which count everything: their shares have no sampling error.
COUNTED = ("compiler_kernels", "gpu_", "input_output_log")
RULES = sorted(Path(chathpc.diagnosis.rules.__file__).parent.glob("*.py"))


def raw_comparisons(text: str) -> list[str]:
    """Comparisons of something with a `min_share` of the catalogue, told by hand or through a variable."""
    tree = ast.parse(text)
    asked = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and "threshold('min_share')" in ast.unparse(node.value)
        and "Draft(" not in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }  # fmt: skip

    def asks(side: ast.expr) -> bool:
        own = [node for node in ast.walk(side) if not isinstance(node, ast.Load)]
        return any(
            (isinstance(node, ast.Name) and node.id in asked) or ast.unparse(node)[-22:] == "threshold('min_share')"
            for node in own
        )

    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and any(asks(side) for side in (node.left, *node.comparators))
    ]


@pytest.mark.parametrize(
    "path",
    [path for path in RULES if not path.name.startswith(COUNTED) or path.name == "gpu_source_host.py"],
    ids=lambda path: path.stem,
)
def test_no_rule_about_sampled_time_compares_its_share_raw(path: Path) -> None:
    assert raw_comparisons(path.read_text()) == []


def test_a_raw_comparison_would_be_seen() -> None:
    assert raw_comparisons("if cost / total < entry.threshold('min_share'): pass")
    assert raw_comparisons("least = entry.threshold('min_share')\nif share < least: pass")
    assert not raw_comparisons("if not facts.above(share, entry.threshold('min_share')) or n < 3: pass")
