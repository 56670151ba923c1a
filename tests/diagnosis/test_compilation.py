"""Compiling while the program runs, in the time of the host."""

from __future__ import annotations

import pytest

from tests.diagnosis.parts import causes, diagnosed, finding, function, main, statements
from tests.profile.build import Node, build, call, line

LLVM = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"
REST = function("rest", line("app.c:40", time=5.0), at="app.c:39")


def compiling(name: str, seconds: float, module: str = LLVM) -> Node:
    return function("evaluate", line("app.c:11", call(name, module=module, time=seconds)), at="app.c:9")


@pytest.mark.parametrize("name", ["llvm::FPPassManager::runOnFunction(llvm::Function&)", "<unknown procedure> 0x1f780"])
def test_time_in_a_compiler_counts_for_the_line_that_calls_it(name: str) -> None:
    diagnosis = diagnosed(build(main(compiling(name, 5.0), REST)))
    found = finding(diagnosis, "jit-compilation")
    assert (found.where.function, found.where.short, found.share, found.seconds) == ("evaluate", "app.c:11", 0.5, 5.0)
    assert found.summary == "evaluate compiles code while the program runs: 50.0 % of the time."
    assert statements(diagnosis, "jit-compilation") == [
        "Compilation at run time takes 5.00 s of 10.0 s (50.0 %).",
        "Calls from evaluate take 5.00 s of the 5.00 s of compilation at run time (100 %).",
    ]


def test_less_than_a_tenth_is_no_finding() -> None:
    assert "jit-compilation" not in causes(build(main(compiling("llvm::Pass::run()", 0.5), REST)))


def test_an_interpreter_compiles_nothing() -> None:
    profile = build(main(compiling("_PyEval_EvalFrameDefault", 5.0, "/usr/lib/libpython3.11.so.1.0"), REST))
    assert "jit-compilation" not in causes(profile)
