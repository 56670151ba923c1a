"""event.log: which kernel each result file belongs to, its launch, and the times that the probing took."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.adapters.content import read_text

LARGEST = 256 << 20

_NAMED = re.compile(r"\[\w+\] finish (0x[0-9a-f]+) name (\S+)|\[\w+\] find (0x[0-9a-f]+) name (\S+)", re.ASCII)
_RENAMED = re.compile(r"\[\w+\] rename (.+) \d+_[0-9a-f]{40}$", re.ASCII)
_FOUND = re.compile(r"\[exec\] funcmap-find (0x[0-9a-f]+) success", re.ASCII)
_GRID = re.compile(r"\[exec\] grid (\d{1,10}) (\d{1,10}) (\d{1,10}) block (\d{1,10}) (\d{1,10}) (\d{1,10})\b", re.ASCII)
_SAVED = re.compile(r"\[exec\] save (\S+) size (\d{1,18})$", re.ASCII)
_TIMES = re.compile(r"\[\w+\] prologue ([\d.]+) kernel ([\d.]+) epilogue ([\d.]+)(?: original ([\d.]+))?", re.ASCII)


@dataclass(slots=True)
class Launch:
    """One launch as the log tells it; times in seconds, None where it does not say.

    `seconds` is the time of the probed kernel, `original` that of the kernel without probes (benchmark mode only).
    """

    kernel: str | None = None
    shape: tuple[int, ...] = ()
    size: int | None = None
    seconds: float | None = None
    original: float | None = None


@dataclass(slots=True)
class Log:
    """Launches by the name of their result file, and how many launches failed or were not probed."""

    launches: dict[str, Launch] = field(default_factory=dict)
    failed: int = 0


def read_log(path: Path) -> Log:
    """What event.log says; lines that it does not know, it passes over. The command line in it is not read."""
    log = Log()
    names: dict[str, str] = {}
    renamed: str | None = None
    kernel: str | None = None
    shape: tuple[int, ...] = ()
    last: Launch | None = None
    for line in read_text(path, largest=LARGEST).splitlines():
        if line.startswith("[cmd]"):
            continue
        if found := _NAMED.match(line):
            names[found[1] or found[3]] = found[2] or found[4]
        elif found := _RENAMED.match(line):
            renamed = found[1]
        elif found := _FOUND.match(line):
            kernel = names.get(found[1], renamed)
            if kernel is not None:
                names.setdefault(found[1], kernel)
        elif found := _GRID.match(line):
            shape = tuple(int(number) for number in found.groups())
        elif found := _SAVED.match(line):
            last = Launch(kernel or renamed, shape, int(found[2]))
            log.launches[found[1].rsplit("/", 1)[-1]] = last
        elif (found := _TIMES.match(line)) and last is not None:
            last.seconds = _seconds(found[2])
            last.original = _seconds(found[4]) if found[4] else None
        elif line.startswith("[exec] failed") or (line.startswith("[exec] funcmap-find") and line.endswith("fail")):
            log.failed += 1
    return log


def _seconds(milliseconds: str) -> float | None:
    try:
        return float(milliseconds) * 1e-3
    except ValueError:
        return None
