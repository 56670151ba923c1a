"""The perf, compilers and MPI of this machine: programs are measured for real, and their profiles read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import chathpc
from chathpc.errors import ChathpcError
from chathpc.measure import Measured, measure
from chathpc.measure.live import Direct

CODE = """#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) double heavy(long n) { double s = 0; for (long i = 1; i < n; i++) s += 1.0 / i; return s; }
__attribute__((noinline)) double light(long n) { double s = 0; for (long i = 1; i < n; i++) s += 1.0 / i; return s; }
int main(int c, char **v) { long n = atol(v[1]); printf("%.3f\\n", heavy(3 * n) + light(n)); return 5; }
"""
pytestmark = pytest.mark.skipif(not shutil.which("perf") or not shutil.which("gcc"), reason="needs perf and gcc")


def measured(folder: Path, *command: str, flags: tuple[str, ...] = ("-O2", "-g"), compiler: str = "gcc") -> Measured:
    (folder / "heat.c").write_text(CODE)
    subprocess.run([compiler, *flags, "heat.c", "-o", "app"], cwd=folder, check=True, capture_output=True)
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    try:
        return measure(command or ("./app", "100000000"), folder, runner=Direct(), environment=environment, tool="perf")
    except ChathpcError as error:
        pytest.skip(f"perf may not record here: {error.message}")


@pytest.mark.parametrize("flags", [("-O2", "-g"), ("-O2", "-g", "-fno-omit-frame-pointer"), ("-O2",)])
def test_perf_finds_the_function_that_does_three_quarters_of_the_work(tmp_path: Path, flags: tuple[str, ...]) -> None:
    result = measured(tmp_path, flags=flags)
    assert result.code == 5
    profile = chathpc.load(result.path)
    table = profile.table("function", "cpu.time").set_index("name")["exclusive"]
    assert table["heavy"] / (table["heavy"] + table["light"]) == pytest.approx(0.75, abs=0.05)
    assert profile.total("cpu.time") == pytest.approx(table["heavy"] + table["light"], rel=0.1)
    lines = profile.table("line", "cpu.time")
    assert ("heat.c" in set(lines["file"])) == ("-g" in flags)
    callgraph = next(step for step in result.steps if step.name == "run").command
    assert ("fp" in callgraph) == ("-fno-omit-frame-pointer" in flags)
    assert (result.path.parent / "heat.c").is_file() == ("-g" in flags)


@pytest.mark.skipif(not shutil.which("mpirun"), reason="needs mpirun")
def test_each_rank_is_measured_behind_mpirun(tmp_path: Path) -> None:
    result = measured(tmp_path, "mpirun", "-n", "2", "./app", "200000000")
    profile = chathpc.load(result.path)
    assert len(profile.locations) == 2
    assert {file.name for file in result.folder.glob("perf*.data")} == {"perf.0.data", "perf.1.data"}
    table = profile.table("function", "cpu.time").set_index("name")["exclusive"]
    assert table["heavy"] / (table["heavy"] + table["light"]) == pytest.approx(0.75, abs=0.05)
