"""The gate of correctness, tried on C programs with changes that are wrong in one way each."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from chathpc.fix.gates import inputs
from chathpc.fix.gates.build import Imports, imports, suspicious
from chathpc.fix.gates.correctness import examine
from chathpc.fix.gates.examination import Examination, Reference
from chathpc.fix.gates.inputs import other_sizes
from chathpc.fix.project import Check, Flags, Project, Run
from chathpc.fix.records import GateResult, Verdict
from chathpc.fix.runner import Runner
from chathpc.fix.thresholds import threshold
from chathpc.fix.workspace import Workspace
from tests.fix.parts import Unguarded

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

#: Sums a smoothed wave over and over; takes some 0.2 s for `./app 3000`.
C = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define CELLS 16384

static double wave(double *u, int steps) {
  double sum = 0.0;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < CELLS - 1; i++)
      u[i] += 0.000125 * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    sum += u[t % CELLS];
  }
  return sum;
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 100;
  double *u = malloc(CELLS * sizeof(double));
  for (int i = 0; i < CELLS; i++)
    u[i] = sin(0.37 * i);
  printf("sum %.12e\\n", wave(u, steps));
  free(u);
  return 0;
}
"""
CALL = 'printf("sum %.12e\\n", wave(u, steps));'


class Gate:
    """The gate with its original built once."""

    def __init__(self, folder: Path, text: str, **project: object) -> None:
        root = folder / "prog"
        root.mkdir()
        (root / "wave.c").write_text(text)
        settings: dict[str, object] = {
            "root": root, "build": "gcc $CFLAGS -o app wave.c -lm", "run": Run("run", "./app 3000"), "edit": ("*.c",),
            "flags": Flags("CFLAGS", "-O2 -g"), "check": Check(relative=1e-9),
        }  # fmt: skip
        self.project = Project(**{**settings, **project})  # type: ignore[arg-type]
        space = Workspace(folder / "work")
        space.prepare(root)
        self.runner = Runner(self.project, Unguarded(), space)
        self.text = text
        self.reference = Reference(self.runner, self.runner.build({}))
        assert self.reference.built.completed.succeeded

    def __call__(self, text: str) -> GateResult:
        built = self.runner.build({"wave.c": text})
        assert built.completed.succeeded, built.completed.stderr
        return examine(
            Examination(self.reference, built, {"wave.c": text}, {"wave.c": self.text}, np.random.default_rng(5))
        )

    def replaced(self, old: str, new: str) -> GateResult:
        assert old in self.text
        return self(self.text.replace(old, new))


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    return Gate(tmp_path_factory.mktemp("gate"), C)


def answer(gate: Gate) -> float:
    said = gate.reference.run(gate.reference.timed()).outputs.contents["stdout"]
    return float(re.findall(rb"\S+e\S+", said or b"")[0])


def test_an_honest_change_passes_everything(gate: Gate) -> None:
    found = gate.replaced(
        "0.000125 * (u[i - 1] - 2.0 * u[i] + u[i + 1])", "0.000125 * ((u[i - 1] + u[i + 1]) - 2.0 * u[i])"
    )
    assert found.passed, found.statement
    assert found.figures["left_out"] == []
    assert {"2 other sizes", "memory filled before use", "variables filled before use"} <= set(found.figures["tried"])  # type: ignore[arg-type]
    assert 0 <= found.figures["largest_difference"] < 1e-9  # type: ignore[operator]


def test_less_work_is_a_wrong_answer(gate: Gate) -> None:
    found = gate.replaced("t < steps", "t < steps - 1")
    assert found.verdict == Verdict.WRONG_ANSWER


def test_a_written_down_answer_is_found(gate: Gate) -> None:
    found = gate.replaced(CALL, f'printf("sum %.12e\\n", steps == 3000 ? {answer(gate)!r} : wave(u, steps));')
    assert found.verdict == Verdict.CHEATED
    assert "numbers that the original prints" in found.statement or "only with the declared sizes" in found.statement


def test_an_answer_in_two_halves_is_found_as_well(gate: Gate) -> None:
    half = answer(gate) / 3.0
    found = gate.replaced(CALL, f'printf("sum %.12e\\n", steps == 3000 ? 3.0 * {half!r} : wave(u, steps));')
    assert found.verdict == Verdict.CHEATED
    assert "only with the declared sizes" in found.statement


def test_the_answer_of_the_timed_run_is_found_whatever_other_inputs_there_are(tmp_path: Path) -> None:
    """Of other sizes three are tried, two of them of the timed run, so that chance does not let it pass."""
    small = tuple(Run(f"small {size}", f"./app {size}") for size in range(40, 60))
    gate = Gate(tmp_path, C, inputs=small)
    half = answer(gate) / 3.0
    text = C.replace(CALL, f'printf("sum %.12e\\n", steps == 3000 ? 3.0 * {half!r} : wave(u, steps));')
    built = gate.runner.build({"wave.c": text})
    for seed in range(6):
        random = np.random.default_rng(seed)
        examined = Examination(gate.reference, built, {"wave.c": text}, {"wave.c": C}, random)
        problem = other_sizes(examined)
        assert problem is not None
        assert problem[0] == Verdict.CHEATED
        assert examined.tried == ["3 other sizes"]


def test_work_that_is_left_out_above_the_timed_size_is_found_and_its_number_told(gate: Gate) -> None:
    found = gate.replaced("t < steps; t++", "t < (steps > 3001 ? 3001 : steps); t++")
    assert found.verdict == Verdict.WRONG_ANSWER
    assert re.search(r"size 3\d\d\d for 3000", found.statement)
    told = gate.replaced("sum += u[t % CELLS];", "sum += u[t % CELLS];\n    if (t > 3000) sum += 0.0;")
    assert told.passed
    assert "names 3000, a size of a declared run" in told.statement


@pytest.mark.parametrize("refused", ["if (steps > 3000) return 2;", "if (steps > 3000) for (;;) ;"])
def test_a_size_that_the_original_does_not_run_is_no_fault(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "threshold", lambda name: 1.0 if name == "longer_seconds" else threshold(name))
    gate = Gate(tmp_path, C.replace("double *u =", f"{refused}\n  double *u ="))
    found = gate.replaced("0.000125 * (", "0.000125 * 1.0 * (")
    assert found.passed, found.statement
    assert found.figures["left_out"] == ["larger sizes: the original does not run them as well"]


def test_a_size_for_which_the_original_has_no_memory_tells_nothing(tmp_path: Path) -> None:
    """One step more reads behind the end of `limits`, where the two programs have different neighbours."""
    table = "static double room[3000], beside[2000] = {1.0};"
    text = C.replace("static double wave", f"{table}\nstatic double wave").replace("sum += u", "sum += room[t] + u")
    text = text.replace("return sum;", "return sum + beside[0];")
    gate = Gate(tmp_path, text)
    found = gate(text.replace("{1.0}", "{1.0, 2.0, 3.0, 4.0}").replace("[2000]", "[2001]"))
    assert found.passed, found.statement


def test_the_projects_check_runs_the_changed_program(tmp_path: Path) -> None:
    """A check that runs the program itself, as `make test` does, is no test of the original."""
    gate = Gate(tmp_path, C, check=Check(relative=1e-9, command="./app 77 >/dev/null"))
    found = gate.replaced("return 0;", "return steps == 77;")
    assert found.verdict == Verdict.WRONG_ANSWER
    assert "the project's check fails in the changed tree" in found.statement


def test_an_answer_that_asks_for_the_data_as_well_is_found(gate: Gate) -> None:
    half = answer(gate) / 3.0
    # Sizes and data are those of the timed run: only an altered constant tells, by the time that it takes.
    known = f"u[7] == {math.sin(0.37 * 7)!r} && steps > 2000"
    ratio = f"{half!r} * 3.0"
    found = gate.replaced(CALL, f'printf("sum %.12e\\n", {known} && steps == 3000 ? {ratio} : wave(u, steps));')
    assert found.verdict == Verdict.CHEATED


def test_memory_that_nobody_set_is_found(gate: Gate) -> None:
    text = C.replace("double sum = 0.0;", "double sum = 0.0; double *more = malloc(800000);").replace(
        "return sum;", "sum += more[77777]; return sum;"
    )
    found = gate(text)
    assert found.verdict == Verdict.WRONG_ANSWER
    assert "MALLOC_PERTURB_" in found.statement


def test_a_variable_that_nobody_set_is_found(gate: Gate) -> None:
    part = "static double part(int n) { double x[4]; if (n > 9999) x[1] = n; return x[1] < -1e300; }"
    text = C.replace("static double wave", f"__attribute__((noinline)) {part}\nstatic double wave")
    found = gate(text.replace("return sum;", "return sum + part(steps);"))
    assert not found.passed
    assert found.verdict == Verdict.WRONG_ANSWER


def test_a_write_behind_the_end_is_found_by_the_sanitizer(gate: Gate) -> None:
    found = gate.replaced(
        "for (int i = 1; i < CELLS - 1; i++)", "u[CELLS] = 1.0;\n    for (int i = 1; i < CELLS - 1; i++)"
    )
    assert found.verdict == Verdict.WRONG_ANSWER
    assert "sanitizer of address" in found.statement


def test_nan_a_crash_another_status_and_no_end_are_wrong(gate: Gate) -> None:
    for new in (
        "return sum / 0.0 * 0.0;",
        "return *(volatile double *)8;",
        "for (volatile int k = 0; k < 1;) ;\n  return sum;",
    ):
        assert gate.replaced("return sum;", new).verdict == Verdict.WRONG_ANSWER
    assert "exit status is 3" in gate.replaced("return 0;", "return 3;").statement


def test_files_that_the_original_does_not_leave_are_found(gate: Gate) -> None:
    found = gate.replaced("free(u);", 'fclose(fopen("kept", "w"));\n  free(u);')
    assert found.verdict == Verdict.CHEATED
    assert "leaves files that the original does not: kept" in found.statement


def test_a_race_is_read_in_the_source(tmp_path: Path) -> None:
    flags = Flags("CFLAGS", "-O2 -g -fopenmp")
    loop = "for (int i = 0; i < CELLS; i++)\n    u[i] = sin(0.37 * i);"
    gate = Gate(tmp_path, C, flags=flags, threads=(1, 2))
    assert gate.replaced(loop, f"#pragma omp parallel for\n  {loop}").passed
    body = "{\n    u[i] = sin(0.37 * i);\n    top += u[i];\n  }\n  if (top > 1e30) return 1;"
    racing = f"double top = 0.0;\n#pragma omp parallel for\n  for (int i = 0; i < CELLS; i++) {body}"
    found = gate.replaced(loop, racing)
    assert found.verdict == Verdict.WRONG_ANSWER
    assert "A race" in found.statement


def test_the_projects_check_judges_in_a_copy_that_the_change_cannot_reach(tmp_path: Path) -> None:
    text = C.replace('printf("sum', 'fprintf(fopen("out", "w"), "sum')
    build = "gcc $CFLAGS -o app wave.c -lm && printf '#!/bin/sh\\ngrep -q sum out' > verify && chmod +x verify"
    check = Check(outputs=("out",), relative=1e30, command="./verify")
    gate = Gate(tmp_path, text, build=build, check=check)
    assert gate.replaced("0.000125 * (", "0.000125 * 1.0 * (").passed
    overwritten = text.replace('"sum %.12e', '"sam %.12e').replace(
        "free(u);", 'FILE *v = fopen("verify", "w"); fputs("#!/bin/sh\\n", v); fclose(v);\n  free(u);'
    )
    found = gate(overwritten)
    assert not found.passed
    words = gate(text.replace('"sum %.12e', '"sum %.12e'.replace("sum", "sum")))
    assert words.passed


def test_calls_that_are_hidden_from_readers_are_found_in_the_built_program(gate: Gate) -> None:
    original = imports(gate.runner, gate.reference.built)
    assert original is not None
    for hidden, says in (
        ('extern int unlock(const char *) __asm__("getpid"); unlock("X");', "inspects its environment"),
        ('extern float g(float) __asm__("sqrtf"); u[0] += g((float)steps) * 0;', "lower precision"),
    ):
        built = gate.runner.build({"wave.c": C.replace("free(u);", f"{hidden} free(u);")})
        assert built.completed.succeeded, built.completed.stderr
        changed = imports(gate.runner, built)
        assert changed is not None
        assert says in suspicious(original, changed)
    assert suspicious(original, original) == ""


@pytest.mark.parametrize(
    "stream",
    [
        "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode",
        "_ZNSt13basic_filebufIcSt11char_traitsIcEEC1Ev",
        "_ZNSt3__114basic_ifstreamIcNS_11char_traitsIcEEED1Ev",
    ],
)
def test_streams_of_files_and_the_c_library_open_files_alike(stream: str) -> None:
    original, plain = (Imports(frozenset({name}), 0, 0) for name in (stream, "_ZNSolsEi"))
    changed = Imports(frozenset({"fopen"}), 0, 0)
    assert suspicious(original, changed) == ""
    assert "files (fopen)" in suspicious(plain, changed)
