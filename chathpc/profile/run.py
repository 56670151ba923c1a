"""What is known of a run as a whole: how long it took, on what, and by which clock that was found; and that in words."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chathpc.profile import numbers
from chathpc.profile.activity import Activity, activity_of_module
from chathpc.profile.location import LocationCounts
from chathpc.profile.metric import Clock, Unit
from chathpc.profile.profile import COMMAND, Profile, whole_number

#: In Profile.run, of runs that `chathpc measure` made: seconds that a page fault costs on the machine, bytes that a process held at most, and
#: bytes of the last cache before memory.
PAGE_FAULT, PEAK_MEMORY, LAST_CACHE = "page_fault", "peak_memory", "last_level_cache"
#: That the machine gave no hardware counters to who looked for some.
NO_COUNTERS = "no_counters"
#: What measuring added to the run's time at least, as a part of that without it.
OVERHEAD = "overhead"
#: The file of a folder of `chathpc measure` with what the program's debug information tells of its compilation.
PRODUCERS = "compiler.txt"
#: How the program ended, where that was not well: its exit status, or minus the signal that ended it.
EXIT_CODE = "exit_code"
#: Longer commands (in characters) are none to paste, and arguments that look like these are nobody else's business.
_LONGEST = 500
_SECRET = re.compile(r"(?i)passw|secret|token|(api|access|private).?key|credential")
#: What the time of a metric is, if not that of threads of the host as a whole.
_WHAT = {
    "gpu.time": "of GPU time",
    "host.time": "in calls of the host",
    "io.time": "in input and output",
    "cpu.instructions": "instructions",
}
#: A unit behind the name that a tool gave to a metric: `REALTIME (sec)`.
_UNIT = re.compile(r"\s*\([^()]*\)$")
#: Names of times that say nothing of how they were taken.
_PLAIN = re.compile(r"time|cpu|wall|samples?|.*\s.*|.{25,}")
#: A thread that has so much of the wall-clock time has all of it: sampling leaves out what is before its first sample.
WHOLE = 0.98


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run in numbers; None or 0 where the profile does not tell.

    `wall_seconds` is the time from its beginning to its end. `metric` is the id of the time metric, `total` its sum over all threads of
    the program in `unit`, `clock` the clock that it was taken from. `collected` says whether it was sampled or measured from beginning
    to end, `event` by what, `samples` the number of samples behind `total`. `threads` is the most that a rank (or the program) has.
    `helper_threads` threads of libraries, with `helper_time` of the same metric, are no part of it. `ranked` is False where
    the ranks are but the processes that a tracer saw: nothing says that MPI or a library of collectives numbered them.
    """

    nodes: int
    ranks: int
    threads: int
    gpus: int
    gpu_streams: int
    openmp: bool
    wall_seconds: float | None
    metric: str | None
    total: float | None
    unit: Unit | None
    clock: Clock | None
    collected: Literal["sampled", "measured"] | None
    event: str | None
    samples: int | None
    helper_threads: int
    helper_time: float
    ranked: bool = True

    @property
    def mean(self) -> float | None:
        """Wall-clock time of a rank on average, where their sum alone is known."""
        alone = self.wall_seconds is None and self.ranks > 1 and self.threads <= 1
        return self.total / self.ranks if alone and self.total is not None and self.is_wall else None

    @property
    def is_wall(self) -> bool:
        """True if the total is time by a wall clock."""
        return self.unit == Unit.SECONDS and self.clock == Clock.WALL

    @property
    def shape(self) -> str:
        """Nodes, ranks, threads and devices in words."""
        counts = LocationCounts(
            self.nodes, self.ranks, self.threads, self.gpu_streams, "rank" if self.ranked else "process"
        )
        return counts.words(thread="OpenMP thread" if self.openmp else "thread", gpus=self.gpus)


def told_command(words: Sequence[str]) -> dict[str, str]:
    """The entry of Profile.run for a command of these words; none for one that nobody should paste, or that may hold a secret."""
    text = shlex.join(words)
    plain = text.isprintable() and len(text) <= _LONGEST and not _SECRET.search(text)
    return {COMMAND: text} if text and plain else {}


def run_facts(profile: Profile, samples: float | None = None) -> RunFacts:
    """What `profile` tells of its run as a whole; `samples` are those behind the total, where the caller knows.

    A timeline is read for the wall-clock time where the format is a trace.
    """
    time, shape = profile.time, profile.size
    total = None if time is None else profile.total(time.id)
    collected = _collected(profile)
    return RunFacts(
        nodes=shape.nodes,
        ranks=shape.ranks,
        threads=shape.threads,
        gpus=len(profile.devices),
        gpu_streams=shape.streams,
        openmp=shape.threads > 1
        and any(activity_of_module(path) == Activity.OMP_WAIT for path in profile.tree.modules),
        wall_seconds=wall_seconds(profile),
        metric=None if time is None else time.id,
        total=total,
        unit=None if time is None else time.unit,
        clock=None if time is None else time.clock,
        collected=collected,
        event=_event(profile) if collected == "sampled" else None,
        samples=round(samples) if collected == "sampled" and samples is not None and math.isfinite(samples) else None,
        helper_threads=int(profile.helpers.locations.sum()),
        helper_time=profile.helpers.time,
        ranked=shape.rank == "rank",
    )


def _collected(profile: Profile) -> Literal["sampled", "measured"] | None:
    if profile.time is None:
        return None
    if profile.timed or not profile.time.id.startswith("cpu."):
        return "measured"
    return "sampled" if profile.sample_count is not None or profile.time.clock is not None else None


def _event(profile: Profile) -> str | None:
    """What the samples were taken by, if that is not what is counted."""
    if profile.time is None or profile.time.unit == Unit.SAMPLES:
        return None
    name = _UNIT.sub("", profile.time.source_name)
    return None if not name or _PLAIN.fullmatch(name) else name


def processors(profile: Profile) -> int:
    """The cores of the machine that the program ran on, where the profile tells them; else 0."""
    return whole_number(profile.hardware.get("processors", ""))


def wall_seconds(profile: Profile) -> float | None:
    """As the tool told it, or as long as the trace is, but no shorter than any thread was there; by a wall clock alone as long as that.

    A sum over ranks or threads is none.
    """
    told = positive(profile.run.get("seconds", ""))
    if told is None and profile.timed and profile.timeline is not None:
        told = positive((profile.timeline.end - profile.timeline.begin) * 1e-9)
    time = profile.time
    if time is None or time.unit != Unit.SECONDS or not time.id.startswith("cpu."):
        return told
    apart = (~profile.where.is_gpu).sum() > 1 or profile.where.thread.max(initial=-1) >= 0 or profile.timed
    if not apart or (told is None and time.clock != Clock.WALL):
        return told
    longest = float(profile.present(time.id)[profile.single].max(initial=0.0))
    return max(told or 0.0, longest) or None


def positive(value: str | float) -> float | None:
    """The positive number that `value` is or says; None for anything else."""
    try:
        value = float(value)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


def run_words(run: RunFacts) -> list[str]:
    """The run in a few words: `4 OpenMP threads`, `2.26 s wall, 9.01 s over all threads (sampled with REALTIME, 1,802 samples)`."""
    return [words for words in (run.shape, _time(run)) if words]


def _time(run: RunFacts) -> str:
    amounts = []
    several = run.threads > 1 or run.ranks > 1
    whole = run.total is not None and run.is_wall and not several
    if run.wall_seconds is not None:
        amounts.append(f"{numbers.seconds(run.wall_seconds)} wall")
    elif run.mean is not None:
        amounts.append(f"{numbers.seconds(run.mean)} per rank")
    if run.total is not None and run.metric is not None and run.unit is not None and run.unit != Unit.PERCENT:
        amount = numbers.quantity(run.total, run.unit.value)
        if not whole or run.wall_seconds is None or run.metric in _WHAT:
            what = _WHAT.get(run.metric) or ("of CPU time" if run.clock == Clock.CPU else "")
            over = (
                f"over all {'threads' if run.threads > 1 else 'ranks'}" if several and run.metric != "gpu.time" else ""
            )
            amounts.append(" ".join(word for word in (amount, what, over) if word))
        elif run.total < WHOLE * run.wall_seconds:
            amounts.append(f"{amount} of it measured")
    if not amounts:
        return ""
    return ", ".join(amounts) + _how(run)


def _how(run: RunFacts) -> str:
    if run.collected is None:
        return ""
    how = f"{run.collected} with {run.event}" if run.event else run.collected
    counted = run.unit != Unit.SAMPLES and run.samples is not None
    return f" ({how}, {numbers.count(run.samples)} samples)" if counted and run.samples is not None else f" ({how})"
