"""What every profiler is: whether it is there, how it starts a program, how often it looks, and what makes its output a profile."""

from __future__ import annotations

import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from chathpc.measure.binary import Binary
from chathpc.measure.record import Tool
from chathpc.sandbox import Completed

#: Which rank a process is, as launchers tell it (Open MPI, PMIx, MPICH and Intel MPI, MVAPICH2, Slurm), else its process id: for sh.
RANK = "${OMPI_COMM_WORLD_RANK-${PMIX_RANK-${PMI_RANK-${MV2_COMM_WORLD_RANK-${SLURM_PROCID-p$$}}}}}"


class ProfilerError(Exception):
    """A profiler did not do its work; the text says why, in one line. The next one is tried."""


class NoSampleError(ProfilerError):
    """The program ran, and the profiler took no sample of it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured: `program` behind `launcher`, run in `folder`; results go to `work`. `rate` in samples a second and thread."""

    launcher: tuple[str, ...]
    program: tuple[str, ...]
    binary: Binary
    folder: Path
    work: Path
    environment: Mapping[str, str]
    rate: int
    kernel: str | None = None
    launches: int = 1

    def tool(self, name: str) -> str:
        """The whole path of a tool on the PATH of the program; its name if there is none."""
        return which(name, self.environment) or name


#: Runs a step (name, command, environment on top) and keeps a record of it.
Do = Callable[[str, tuple[str, ...], Mapping[str, str]], Completed]


class Profiler(ABC):
    """A profiler. `command` is the program of it that tells its version, `missing` what is said where that is not there."""

    name: ClassVar[Tool]
    command: ClassVar[str]
    missing: ClassVar[str]

    def lacks(self, environment: Mapping[str, str]) -> str:
        """What is missing to use it, and how to get it; "" if nothing is."""
        return "" if which(self.command, environment) else self.missing

    def prepare(self, plan: Plan, do: Do) -> Plan:
        """The plan with what this machine allows; ProfilerError where it allows nothing."""
        return plan

    @abstractmethod
    def events(self, plan: Plan) -> tuple[str, ...]:
        """What is measured; told once the program has run."""

    @abstractmethod
    def record(self, plan: Plan) -> tuple[str, ...]:
        """The command that runs the program under it."""

    def ran(self, plan: Plan, do: Do) -> float | None:
        """Seconds that the program itself took in what was recorded, without the profiler's own start and end; None where that is not told."""
        return None

    @abstractmethod
    def files(self, plan: Plan) -> Iterable[Path]:
        """What the run has left to read."""

    def recorded(self, plan: Plan) -> bool:
        """Whether the run has left something to read."""
        return any(file.stat().st_size for file in self.files(plan))

    @abstractmethod
    def finish(self, plan: Plan, do: Do, version: str) -> Path:
        """Makes a profile that chathpc reads of what was recorded, and says where; ProfilerError where that fails."""

    def again(self, plan: Plan, path: Path) -> Plan | None:
        """How to measure once more, where the profile at `path` holds too few samples to say anything; None if it is as good as it gets."""
        return None

    def version(self, plan: Plan, do: Do) -> str:
        """Of the tool, as it tells it."""
        said = do(f"{self.command} --version", (plan.tool(self.command), "--version"), {}).stdout
        return said[:1000].decode("utf-8", "replace").strip()


def per_rank(
    plan: Plan, tool: Sequence[str], name: str, ending: str = "", behind: Sequence[str] = ()
) -> tuple[str, ...]:
    """The command of a tool that writes to the file behind its last option, in the work folder; behind a launcher each rank to its own."""
    if not plan.launcher:
        return (*tool, str(plan.work / f"{name}{ending}"), *behind, *plan.program)
    script = f'exec {shlex.join(tool)} "$0/{name}.{RANK}{ending}" {shlex.join(behind)} "$@"'
    return (*plan.launcher, "sh", "-c", script, str(plan.work), *plan.program)


def by_rank(files: Iterable[Path]) -> list[Path]:
    """Files whose names differ in the number of the rank alone, in its order."""
    return sorted(files, key=lambda file: (len(file.name), file.name))


def which(name: str, environment: Mapping[str, str]) -> str | None:
    """The file of a tool on that PATH."""
    return shutil.which(name, path=environment.get("PATH", ""))


def reason(done: Completed) -> str:
    """Why a step failed: the last telling line of what it said, else how it ended."""
    from chathpc.profile.text import clean

    telling = [clean(line.strip()) for line in done.said[-4000:].splitlines() if line.strip()]
    how = {"timed-out": "it took too long", "output-limit": "it printed too much"}.get(done.status)
    if how is None and done.code < 0:
        how = f"it was killed by signal {-done.code}"
    return how or (telling[-1][:300] if telling else f"exit status {done.code}")


#: Samples of the whole run. The standard error of a share p of n samples is √(p(1−p)/n): half a percentage point at most with so many.
SAMPLES = 10_000
#: With fewer samples than the first a run is measured once more, so often that about as many as the second are to be expected.
FEWEST, ENOUGH = 200, 1_000
#: Samples a second and thread. Above the highest, the interrupts themselves begin to cost per cents; the lowest bounds the size of long runs.
HIGHEST, LOWEST = 4_000, 9
#: A program that computes for less than this part of its run is looked at more often while it does: only then is it disturbed at all.
WAITING_PART, HIGHEST_WAITING = 1 / 3, 20_000
#: Where the run's time is not known.
USUAL = 499
_KERNEL_LIMIT = Path("/proc/sys/kernel/perf_event_max_sample_rate")


def sampling_rate(cpu_seconds: float | None, seconds: float | None = None) -> int:
    """Samples a second and thread for a run of so many CPU seconds in all its threads, and so many of the clock on the wall: SAMPLES in
    all, within bounds.

    Odd, so that samples do not fall into step with timers of 100, 250 or 1,000 Hz.
    """
    if cpu_seconds is None:
        return USUAL
    waits = seconds is not None and cpu_seconds < WAITING_PART * seconds
    highest = HIGHEST_WAITING if waits else HIGHEST
    return int(min(max(SAMPLES / max(cpu_seconds, 1e-3), LOWEST), highest - 1)) | 1


def kernel_limit(file: Path = _KERNEL_LIMIT) -> int:
    """The highest rate that the kernel lets perf use; it lowers it when interrupts take too long."""
    try:
        return max(int(file.read_text()), LOWEST + 1)
    except (OSError, ValueError):
        return HIGHEST
