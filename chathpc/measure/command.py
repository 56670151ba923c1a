"""A command as words, and where in it the launcher of MPI ends and the program begins."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

#: Programs that start others on all ranks.
LAUNCHERS = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "jsrun", "aprun", "flux", "ibrun"}
)
#: Their options with a value as the next word (manual pages of Open MPI 4 and 5, MPICH's Hydra, srun, jsrun, aprun).
_WITH_VALUE = frozenset(
    {
        "-n", "-np", "-c", "-H", "-host", "--host", "-hostfile", "--hostfile",
        "-machinefile", "--machinefile", "-f", "-x", "-wd", "-wdir", "--wdir", "-npernode",
        "--npernode", "-ppn", "-map-by", "--map-by", "-rank-by", "--rank-by", "-bind-to", "--bind-to",
        "-report-bindings-to", "-output-filename", "--output-filename", "-hosts", "-N", "-p", "-A", "-t",
        "-J", "-w", "-q", "-G", "-a", "-r", "-g", "-d",
        "-S", "-m", "--nodes", "--ntasks", "--cpus-per-task", "--partition", "--account", "--time",
        "--job-name", "--mpi", "--np", "--nrs", "--tasks_per_rs", "--cpu_per_rs", "--gpu_per_rs", "--rs_per_host",
        "--bind", "--launch_distribution", "-b", "-l", "-genvlist",
    }
)  # fmt: skip
_TWO_VALUES = frozenset({"-mca", "--mca", "-gmca", "--gmca", "--prtemca", "--pmixmca", "-genv", "-env"})
#: What only a shell understands; an assignment before the command is not among it.
_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#!\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def words(command: str) -> tuple[str, ...]:
    """The words of a shell command, so that a profiler can stand before its program; where it needs a shell, `sh -c` and the command.

    Assignments before the program become `env NAME=value`.
    """
    if not _SHELL.search(command):
        try:
            found = shlex.split(command)
        except ValueError:
            found = []
        if found:
            assigned = next((n for n, word in enumerate(found) if not _ASSIGNMENT.match(word)), len(found))
            if assigned < len(found):
                return (*(("env",) if assigned else ()), *found)
    return ("sh", "-c", command)


def split_launcher(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(launcher with its options, program with its arguments); no launcher if the command begins with none that is known.

    Values of options are known by their option, else by not being a program: `mpirun --new-option 3 ./app`.
    """
    if not command or PurePath(command[0]).name not in LAUNCHERS:
        return (), tuple(command)
    at = 1 + (PurePath(command[0]).name == "flux")
    while at < len(command):
        word = command[at]
        if word == "--":
            at += 1
            break
        if word in _TWO_VALUES:
            at += 3
        elif word in _WITH_VALUE:
            at += 2
        elif word.startswith("-") or program_file(word, folder, environment) is None:
            at += 1
        else:
            break
    return (tuple(command[:at]), tuple(command[at:])) if at < len(command) else ((), tuple(command))


def program_file(word: str, folder: Path, environment: Mapping[str, str]) -> Path | None:
    """The file that running `word` in `folder` would start; None if there is none."""
    if "/" in word:
        path = folder / word
        return path if path.is_file() and os.access(path, os.X_OK) else None
    found = shutil.which(word, path=environment.get("PATH", os.defpath))
    return None if found is None else Path(found)


def behind_env(program: Sequence[str]) -> tuple[str, ...]:
    """The program behind `env NAME=value …`, which stands for itself."""
    if program and PurePath(program[0]).name == "env":
        at = next((n for n, word in enumerate(program[1:], 1) if not _ASSIGNMENT.match(word)), None)
        if at is not None and not program[at].startswith("-"):
            return tuple(program[at:])
    return tuple(program)
