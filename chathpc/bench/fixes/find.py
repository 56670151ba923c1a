"""Finds tasks in folders, and tells which of them this machine can try."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from chathpc.bench.fixes.task import Task, is_task, read_task
from chathpc.bench.folders import distinct, places
from chathpc.errors import UsageError
from chathpc.profile.text import clean

#: What a task may need, and the program that must be there for it.
_PROGRAMS = {"mpi": "mpirun", "openmp": "cc", "fortran": "gfortran", "gpu": "nvcc"}
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))


def find_tasks(folders: Sequence[Path], chosen: Sequence[str] = ()) -> tuple[Task, ...]:
    """The tasks in `folders`, each of which is one set named by its last part; `chosen` are names or patterns of those to keep.

    UsageError for a folder that is missing or has no task, and for a name that no task has.
    """
    hint = "A task is a folder with the folder original and human.patch: docs/labelled-tasks.md."
    found = [read_task(place, group) for place, group in places(folders, is_task, "task", hint)]
    tasks, names = distinct(found), {task.name for task in found}
    for pattern in chosen:
        if not any(fnmatchcase(task.name, pattern) for task in tasks):
            raise UsageError(f"There is no task {clean(pattern)!r}.", hint=f"Tasks: {', '.join(sorted(names)[:12])}, …")
    return tuple(task for task in tasks if not chosen or any(fnmatchcase(task.name, each) for each in chosen))


def missing(task: Task) -> str:
    """What this machine lacks for a task, in a sentence; empty if nothing."""
    for need in task.needs:
        program = _PROGRAMS.get(need, need)
        if shutil.which(program) is None:
            return f"it needs {clean(need)}, and there is no {clean(program)} here"
        if need == "gpu" and not any(device.exists() for device in _DEVICES):
            return "it needs a GPU"
    return ""
