"""How a program is built, run, checked and profiled: the key `project` of a folder's chathpc.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from chathpc.sandbox import Limits

#: What a change may give up where its user says so.
Allowed = Literal["durability"]
Tool = Literal["auto", "hpctoolkit", "perf", "py-spy", "nsys", "ncu", "command"]


@dataclass(frozen=True, slots=True)
class Flags:
    """The compiler's flags: the variable (make's or the environment's) that hands them on, and the user's own value."""

    variable: str
    value: str


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
class Check:
    """What makes an answer right: files and streams equal to the original's within tolerance, and a command that says yes.

    `outputs` are `stdout` or files below the folder; lines that match one of `ignore` (regular expressions) are left out, as times
    are; a number may differ by `relative` × its size or by `absolute`. `command` is run after the program and says no by its status.
    """

    outputs: tuple[str, ...] = ("stdout",)
    relative: float = 1e-9
    absolute: float = 0.0
    ignore: tuple[str, ...] = ()
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Profiling:
    """How it is measured: a tool, or a command that leaves a profile at `result` (a path below the folder)."""

    tool: Tool = "auto"
    command: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One argument of a kernel: a number's `value`, or the `elements` of an array whose numbers are drawn from `low` to `high`.

    `role` of an array: read only (in), written only (out: filled with poison before each run), both (inout); None: as the source tells.
    """

    name: str
    value: float | int | None = None
    elements: int | None = None
    low: float | int | None = None
    high: float | int | None = None
    role: Literal["in", "out", "inout"] | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A GPU kernel that is judged by itself; what is empty is taken from the profile's launch facts and the source.

    `shared` is dynamic shared memory in bytes a block. `relative` and `absolute` are tolerances, None: those of `check`.
    """

    name: str
    file: str
    arguments: tuple[KernelArgument, ...] = ()
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    shared: int = 0
    relative: float | None = None
    absolute: float | None = None
    arch: str | None = None


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
    check: Check = Check()
    threads: tuple[int, ...] = ()
    profile: Profiling = Profiling()
    launcher: str = ""
    gpu: bool = False
    limits: Limits = field(default_factory=Limits)
    kernels: tuple[Kernel, ...] = ()
    allow: tuple[Allowed, ...] = ()
