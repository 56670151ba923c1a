"""What a measurement is made of: the steps that were run, what they cost, and where the profile is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Literal, get_args

from chathpc.sandbox import Completed, Request

Runner = Callable[[Request], Completed]
Tool = Literal["auto", "hpctoolkit", "perf", "py-spy", "nsys", "ncu"]
TOOLS: tuple[Tool, ...] = get_args(Tool)

#: Of measure.json; a reader of another major number cannot read it.
SCHEMA = "chathpc-measure/1"
RECORD = "measure.json"
#: An overhead above this part is told beside a diagnosis (`overhead_note` of the catalogue): noise that leaves more open tells nothing.
_MATTERS = 0.2
#: Bytes of a record that are read.
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Step:
    """A command that was run, and how it ended; `code` is the exit status or minus the signal, `seconds` wall time."""

    name: str
    command: tuple[str, ...]
    seconds: float
    status: str
    code: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A program was measured. `folder` holds all of it, `path` is the profile in it, for chathpc.load.

    `code` is the program's exit status (minus the signal) and `seconds` the wall time under the profiler; `overhead` compares that with
    runs without it, None if there were none that ended so. `rate` is in samples a second and thread, None for tracers. `remarks` are
    sentences: which other profiler failed and why, and what the figures leave open. `page_fault` is what one costs on this machine
    (seconds) and `peak_memory` what a process of the program held at once at most (bytes), None where that is not known.
    """

    folder: Path
    path: Path
    tool: Tool
    version: str
    events: tuple[str, ...]
    code: int
    seconds: float
    overhead: Overhead | None
    rate: float | None
    steps: tuple[Step, ...]
    remarks: tuple[str, ...] = ()
    machine: Mapping[str, str] = field(default_factory=dict)
    page_fault: float | None = None
    peak_memory: int | None = None


def read_record(folder: Path) -> Mapping[str, object]:
    """What chathpc measure wrote beside a profile; empty where it did not make it, or the record cannot be read."""
    try:
        found = json.loads((folder / RECORD).read_bytes()[:_LARGEST])
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Overhead:
    """Wall seconds of runs that took turns: alone, and under the profiler, without its own `start_up` where that can be told."""

    alone: tuple[float, ...]
    under: tuple[float, ...]
    start_up: float | None

    @property
    def seconds(self) -> float:
        """Of a run alone."""
        return mean(self.alone)

    @property
    def share(self) -> float:
        """How much longer the program takes, as a share of its time alone; nothing where it seems to take less."""
        return max(mean(self.under) / self.seconds - 1, 0.0)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The least and the most that the share can be with any of these runs for the others; None for one run each.

        That all of three runs under a profiler are slower than three alone happens by chance once in twenty times (1 of 6! / (3! 3!)).
        """
        if len(self.alone) < 2:
            return None
        return max(min(self.under) / max(self.alone) - 1, 0.0), max(max(self.under) / min(self.alone) - 1, 0.0)

    def __str__(self) -> str:
        """`8 % overhead (5 % to 12 %, 3 runs each)`."""
        if self.interval is None:
            cost = f"{self.share:.0%} overhead" if self.share else "no overhead seen"
            return f"{cost} (one run each; noise unknown)"
        (least, most), runs = self.interval, f"{len(self.alone)} runs each"
        if not least:
            if most > _MATTERS:
                return f"overhead unknown, as noise allows up to {most:.0%} ({runs})"
            limit = f", at most {most:.0%}" if most else ""
            return f"no overhead beyond noise{limit} ({runs})"
        return f"{self.share:.0%} overhead ({least:.0%} to {most:.0%}, {runs})"
