"""mpi4py.futures and dask find what one process finds: with two workers each, where they are installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.synthetic.collapsed import write as collapsed

_MPI = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A file for each of six ranks."""
    for rank in range(6):
        (tmp_path / f"rank{rank}").write_text(collapsed([(("main", "work"), 10 + rank), (("main", "wait"), 8 - rank)]))
    return tmp_path


def _found(start: Sequence[str], files: Path, *options: str) -> bytes:
    command = [*start, "-m", "chathpc", "ranks", str(files), "--format", "json", "-q", *options]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120).stdout


@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or shutil.which("mpirun") is None, reason="needs mpi4py and mpirun"
)
def test_mpi_finds_the_same(files: Path) -> None:
    assert _found(_MPI, files, "--engine", "mpi") == _found([sys.executable], files, "--workers", "1")


@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or shutil.which("mpirun") is None, reason="needs mpi4py and mpirun"
)
def test_processes_of_srun_that_mpi_does_not_connect_do_not_each_give_the_answer(files: Path) -> None:
    # What srun --mpi=none makes of MPICH, seen with Slurm 22.05: three worlds of one process, with this variable.
    done = subprocess.run(
        [sys.executable, "-m", "mpi4py.futures", "-m", "chathpc", "ranks", str(files), "--engine", "mpi", "-q"],
        env={**os.environ, "SLURM_STEP_NUM_TASKS": "3"}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "srun --mpi=pmix" in done.stderr


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs dask[distributed]")
def test_dask_finds_the_same(files: Path) -> None:
    assert _found([sys.executable], files, "--engine", "dask", "--workers", "2") == _found(
        [sys.executable], files, "--workers", "1"
    )
