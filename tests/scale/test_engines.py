"""mpi4py.futures and dask find what one process finds, with two workers each, where they are installed; killed processes and other failures."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from chathpc.errors import AdapterError, UsageError
from chathpc.scale.engines import WorkerLostError, computed, engine
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


def kill_once(marker: str, number: int) -> int:
    """End the process that computes the first block, if `marker` is not there yet; else its number."""
    if number == 0 and not Path(marker).exists():
        Path(marker).touch()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def kill_always(number: int) -> int:
    """End the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_what_a_killed_process_had_is_computed_again(tmp_path: Path) -> None:
    tasks = [(str(tmp_path / "marker"), number) for number in range(6)]
    found = computed(kill_once, tasks, engine("processes", 2), lambda stage: None)
    assert list(found) == list(range(6))


def test_a_process_that_is_always_killed_ends_with_a_sentence() -> None:
    with pytest.raises(WorkerLostError, match="killed, twice"):
        list(computed(kill_always, [(1,), (2,)], engine("processes", 2), lambda stage: None))


def test_a_process_that_is_killed_while_tasks_are_given_out_is_replaced() -> None:
    started: list[ThreadPoolExecutor] = []

    class Killed(ThreadPoolExecutor):
        def submit(self, *task: object, **named: object) -> Future[int]:  # type: ignore[override]
            if len(started) == 1 and task[1] == 3:
                raise BrokenExecutor
            return super().submit(*task, **named)  # type: ignore[arg-type]

    def make() -> ThreadPoolExecutor:
        started.append(Killed(2))
        return started[-1]

    assert list(computed(abs, [(number,) for number in range(6)], make, lambda stage: None)) == list(range(6))
    assert len(started) == 2


def no_answer(number: int) -> int:
    """Fail as a profile that cannot be read does."""
    raise AdapterError("cut off", path="rank7", hint="Copy it again.")


def test_what_fails_in_a_process_is_told_as_it_is_here() -> None:
    with pytest.raises(AdapterError, match="rank7: cut off"):
        list(computed(no_answer, [(1,), (2,)], engine("processes", 2), lambda stage: None))


def test_other_engines_are_refused() -> None:
    with pytest.raises(UsageError, match="no engine"):
        engine("spark", 2)
