"""Records of switches in the text of perf script, within bounds: threads that sleep between tiny pieces of work leave millions of them.

Of more than `MOST` those in the first part of each `PERIOD` are read, and a second there stands for as many as the part is short.
Samples are all read: their number is bounded by the rate. The last switch of each thread before such a part tells where it stands.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chathpc.adapters.lines import LONGEST, lines, pieces

#: Records that are read in some seconds, and a trace of which the diagnosis looks at.
MOST = 400_000
#: Seconds: short against the phases of a program, and long against the time between two of so many switches.
PERIOD = 0.1
_RECORD = ": PERF_RECORD_SWITCH"
_MARK = re.compile(r"# switches : (?P<count>\d{1,15}) (?P<part>[01]\.\d{6})\s*")


@dataclass(frozen=True, slots=True)
class Windows:
    """How many switches there were, and the part of each period in which they are read."""

    count: int
    part: float

    def stretched(self, at: float) -> float:
        """A time at which what lies in the windows fills all of it, and the rest takes no time."""
        period = at // PERIOD
        return (period + min(at / PERIOD - period, self.part) / self.part) * PERIOD

    @property
    def said(self) -> str:
        """What was left out, as a sentence."""
        return (
            f"The threads switched {self.count:,} times: of each {PERIOD * 1000:g} ms the switches in {self.part * PERIOD * 1000:.2g} ms "
            "were read, and stand for the others."
        )


def windows_of(line: str) -> Windows | None:
    """What a comment says of the switches that follow it, None if it is another."""
    match = _MARK.fullmatch(line)
    return Windows(int(match["count"]), float(match["part"])) if match is not None and float(match["part"]) else None


def bounded(path: Path, *, longest: int = LONGEST) -> Iterator[str]:
    """The lines of a text of perf script without the switches beyond the bound; the first line tells of them."""
    count, record, rest = 0, _RECORD.encode(), b""
    for number, piece in enumerate(pieces(path)):
        if not number and piece.startswith(b"# switches :"):
            break
        count += (rest + piece).count(record)
        rest = piece[1 - len(record) :]
    text = lines(path, longest=longest)
    if count <= MOST:
        yield from text
        return
    part = max(MOST / count, 1e-6)
    yield f"# switches : {count} {part:.6f}"
    before: dict[str, str] = {}
    for line in text:
        at = line.find(_RECORD)
        if at < 0:
            if line.startswith("#"):  # another rank's follow
                yield from before.values()
                before.clear()
            yield line
            continue
        begin = line.rfind(" ", 0, at) + 1
        try:
            inside = float(line[begin:at]) / PERIOD % 1 < part
        except ValueError:
            inside = True
        if not inside:
            before.pop(line[:begin], None)  # the order is that of time
            before[line[:begin]] = line
            continue
        yield from before.values()
        before.clear()
        yield line


def bound(path: Path) -> None:
    """Leave the switches beyond the bound out of a text of perf script."""
    if path.stat().st_size < MOST * len(_RECORD):
        return
    shorter = path.with_suffix(".part")
    with shorter.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in bounded(path))
    os.replace(shorter, path)
