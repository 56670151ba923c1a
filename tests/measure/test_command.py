"""Commands as words, and where a launcher ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.measure.command import behind_env, split_launcher, words


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("app", "bin/mpirun", "bin/numactl"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("./app 2000", ("./app", "2000")),
        ("./app 'a b' \"c\"", ("./app", "a b", "c")),
        ("OMP_NUM_THREADS=2 A= ./app", ("env", "OMP_NUM_THREADS=2", "A=", "./app")),
        ("./app x=3", ("./app", "x=3")),
        ("./app < in.txt", ("sh", "-c", "./app < in.txt")),
        ("./app $N", ("sh", "-c", "./app $N")),
        ("A=1", ("sh", "-c", "A=1")),
        ("./app 'open", ("sh", "-c", "./app 'open")),
        ("", ("sh", "-c", "")),
    ],
)
def test_a_shell_is_used_where_only_a_shell_understands(command: str, expected: tuple[str, ...]) -> None:
    assert words(command) == expected


@pytest.mark.parametrize(
    ("command", "launcher"),
    [
        ("./app 4", 0),
        ("mpirun -n 4 ./app 4", 3),
        ("mpirun --oversubscribe --mca btl self,vader -np 4 -x A=1 ./app", 9),
        ("mpiexec -ppn 2 --bind-to core -- ./app -n 3", 6),
        ("srun -N 2 --ntasks=4 --cpu-bind=cores -t 10 ./app", 7),
        ("mpirun --brand-new-option 3 ./app", 3),
        ("mpirun -n 2 numactl --localalloc ./app", 3),
        ("flux run -n 4 ./app", 4),
        ("/opt/mpi/bin/mpirun -n 4 ./app", 3),
        ("mpirun -n 4 ./absent", 0),
        ("mpirun", 0),
        ("", 0),
    ],
)
def test_the_profiler_goes_between_launcher_and_program(folder: Path, command: str, launcher: int) -> None:
    split = tuple(command.split())
    environment = {"PATH": str(folder / "bin")}
    assert split_launcher(split, folder, environment) == (split[:launcher], split[launcher:])


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (("env", "A=1", "./app", "3"), ("./app", "3")),
        (("./app", "A=1"), ("./app", "A=1")),
        (("env", "-i", "./app"), ("env", "-i", "./app")),
        (("env",), ("env",)),
        ((), ()),
    ],
)
def test_env_stands_for_the_program_behind_it(program: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert behind_env(program) == expected
