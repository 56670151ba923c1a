"""How a program is built, run, checked and profiled: the key `project` of a folder's chathpc.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from chathpc.fix.project_schema import Check, Flags, Kernel, KernelArgument
from chathpc.sandbox import Limits

__all__ = ["Allowed", "Check", "Flags", "Kernel", "KernelArgument", "Profiling", "Project", "Run", "Tool"]

#: What a change may give up where its user says so.
Allowed = Literal["durability"]
Tool = Literal["auto", "hpctoolkit", "perf", "py-spy", "nsys", "ncu", "command"]


@dataclass(frozen=True, slots=True)
class Run:
    """One way to run the program: a shell command, in which `{seed}` becomes a fresh number, and a file for its input."""

    name: str
    command: str
    stdin: str | None = None

    @property
    def seeded(self) -> bool:
        """It takes a seed, so that no answer can have been prepared."""
        return "{seed}" in self.command


@dataclass(frozen=True, slots=True)
class Profiling:
    """How it is measured: a tool, or a command that leaves a profile at `result` (a path below the folder)."""

    tool: Tool = "auto"
    command: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A program that may be changed, below `root`.

    `edit` are globs of files that a change may touch; `protect` are never touched whatever `edit` says (tests, checkers, timers,
    build files). `build` is a shell command; `flags` is None where there is no single place for them. `run` is the one that is timed
    and profiled, `inputs` are those that are checked (`run` among them). `threads` are values of OMP_NUM_THREADS to check with, empty
    for serial programs. `launcher` stands before the command (`mpirun -n 2`, `srun -n 4`). `kernels` are also judged by themselves.
    `allow` names what a change may give up: with durability, what a run leaves need only be safe when it ends.
    """

    root: Path
    build: str
    run: Run
    edit: tuple[str, ...]
    protect: tuple[str, ...] = ()
    flags: Flags | None = None
    inputs: tuple[Run, ...] = ()
    check: Check = field(default_factory=Check)
    threads: tuple[int, ...] = ()
    profile: Profiling = Profiling()
    launcher: str = ""
    gpu: bool = False
    limits: Limits = field(default_factory=Limits)
    kernels: tuple[Kernel, ...] = ()
    allow: tuple[Allowed, ...] = ()
