"""A command as words, and where in it the launcher of MPI ends and the program begins."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from chathpc.profile.launcher import split

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
    return split(command, lambda word: program_file(word, folder, environment) is not None)


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
