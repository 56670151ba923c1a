"""The example job script, with programs that only say how they were called in place of Slurm and HPCToolkit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "jobs" / "chathpc.sbatch"
TOOLS = ("srun", "hpcstruct", "hpcprof", "chathpc")


def submit(folder: Path, failing: str = "") -> tuple[int, list[str]]:
    """Exit code of the job and the command lines that it ran."""
    tools = folder / "bin"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).write_text(f'#!/bin/sh\necho {name} "$@" >> "$CALLS"\nexit {int(name == failing)}\n')
        (tools / name).chmod(0o755)
    environ = {
        "PATH": f"{tools}:{os.environ['PATH']}", "CALLS": str(folder / "calls"), "SLURM_JOB_ID": "7",
        "SLURM_SUBMIT_DIR": str(folder), "SLURM_CPUS_PER_TASK": "3",
    }  # fmt: skip
    done = subprocess.run(["bash", str(SCRIPT)], env=environ, check=False, cwd=folder)
    return done.returncode, (folder / "calls").read_text().splitlines()


def test_the_script_measures_makes_a_database_and_explains_it(tmp_path: Path) -> None:
    code, calls = submit(tmp_path)
    work = tmp_path / "profile-7"
    assert code == 0
    assert calls == [
        f"srun --cpus-per-task=3 hpcrun -e REALTIME -t -o {work}/measurements ./my_app input.nml",
        f"hpcstruct -j 3 {work}/measurements",
        f"hpcprof -j 3 -o {work}/database {work}/measurements",
        f"chathpc post {work}/database",
    ]


@pytest.mark.parametrize("failing", ["hpcstruct", "hpcprof", "chathpc"])
def test_what_fails_after_the_run_does_not_fail_the_job(tmp_path: Path, failing: str) -> None:
    code, calls = submit(tmp_path, failing)
    assert code == 0
    assert calls[-1].startswith("chathpc post")


def test_a_run_that_fails_fails_the_job(tmp_path: Path) -> None:
    code, calls = submit(tmp_path, "srun")
    assert code == 1
    assert len(calls) == 1
