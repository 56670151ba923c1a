"""One profile.N.C.T file of TAU: timers with their counts and times, and user events.

    3 templated_functions_MULTI_TIME
    # Name Calls Subrs Excl Incl ProfileCalls # <metadata>…</metadata>
    "main [{app.c} {3,1}-{20,1}]" 1 2 70 100 0 GROUP="TAU_USER"
    "main => MPI_Send()  " 2 0 30 30 0 GROUP="TAU_CALLPATH|MPI"
    0 aggregates
    1 userevents
    # eventname numevents max min mean sumsqr
    "Message size sent to all nodes" 2 800 800 800 1280000

Times are microseconds. Source: TAU Reference Guide, "Profile data format". The metadata name people and hosts, and are
not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from chathpc.adapters.content import DAMAGED, read_text
from chathpc.errors import AdapterError
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: Rows of one file; TAU's own hash table ends long before.
MOST_ROWS = 5_000_000
#: Functions of a call path; TAU_CALLPATH_DEPTH is rarely above a hundred.
LONGEST = 2_000
#: A number of calls, or of microseconds, beyond which a file is damaged: 10^18 µs are 30,000 years.
LARGEST = 1e18

_HEADER = re.compile(r"\s*(\d{1,9}) templated_functions(?:_MULTI_(.*))?\s*")
_EVENTS = re.compile(r"(\d{1,9}) userevents\s*")
_PLACE = re.compile(r"\s*\[\{(?P<file>[^{}]*)\}\s*(?:\{(?P<line>\d{1,9})[^{}]*\}.*)?\]\s*$")
_SAMPLED = re.compile(r"\[(CONTEXT|SUMMARY|SAMPLE|UNWIND|INTERMEDIATE)\] *")
SEPARATOR = " => "


@dataclass(frozen=True, slots=True)
class Timer:
    """A row: `path` is its call path, outermost first, as TAU writes names; a flat row has one name."""

    path: tuple[str, ...]
    calls: float
    exclusive: float
    inclusive: float
    group: str


@dataclass(frozen=True, slots=True)
class Event:
    """A user event: how often, and its mean, such as of sizes of messages."""

    name: str
    count: float
    mean: float
    largest: float


@dataclass(frozen=True, slots=True)
class Frame:
    """A timer's name taken apart. `sampled` is the word in brackets that marks nodes of sampling, else empty."""

    name: str
    kind: NodeKind
    file: str = ""
    line: int = 0
    sampled: str = ""


@dataclass(slots=True)
class TauFile:
    """What a file holds."""

    metric: str
    timers: list[Timer] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


def read_file(path: Path) -> TauFile:
    """All of a profile.N.C.T file; AdapterError naming the line that is none of TAU's."""
    lines = read_text(path).split("\n")
    header = _HEADER.fullmatch(lines[0])
    if header is None:
        raise AdapterError("does not begin with a number of templated_functions", path=path, hint=DAMAGED)
    count = int(header[1])
    found = TauFile(clean((header[2] or "TIME").strip())[:200])
    start = 2 if len(lines) > 1 and lines[1].startswith("#") else 1
    if count > MOST_ROWS or start + count > len(lines):
        raise AdapterError(
            f"announces {count:,} timers and has {max(len(lines) - start, 0):,} lines", path=path, hint=DAMAGED
        )
    for number, line in enumerate(lines[start : start + count], start=start + 1):
        found.timers.append(_timer(line, number, path))
    for number, line in enumerate(lines[start + count :], start=start + count):
        if (events := _EVENTS.fullmatch(line)) is not None:
            found.events = _events(lines[number + 1 : number + 2 + int(events[1])])
            break
    return found


def _timer(line: str, number: int, path: Path) -> Timer:
    row = _row(line)
    if row is None:
        raise AdapterError(f"line {number} is not a TAU timer", path=path, hint=DAMAGED)
    name, (calls, _, exclusive, inclusive), group = row
    names = tuple(part.strip() for part in name.split(SEPARATOR))
    if len(names) > LONGEST:
        raise AdapterError(f"line {number} has a call path of {len(names):,} functions", path=path, hint=DAMAGED)
    return Timer(names, calls, exclusive, inclusive, group)


def _row(line: str) -> tuple[str, tuple[float, float, float, float], str] | None:
    """Name, the first four numbers and the group of a row; None if it is no row. Names may hold quotes."""
    head, found, group = line.rstrip().rpartition(' GROUP="')
    if not found:
        head, group = line, ""
    end = head.rfind('"')
    if end < 1 or not head.startswith('"'):
        return None
    numbers = [_number(cell) for cell in head[end + 1 :].split()[:4]]
    known = [value for value in numbers if value is not None]
    if len(known) < 4:
        return None
    return head[1:end], (known[0], known[1], known[2], known[3]), group.removesuffix('"')


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if -LARGEST < value < LARGEST else None


def _events(lines: list[str]) -> list[Event]:
    """User events of the lines behind their heading; a line that is none ends them."""
    found = []
    for line in lines:
        if line.startswith("#"):
            continue
        row = _row(line)
        if row is None:
            break
        name, (count, largest, _, mean), _ = row
        found.append(Event(clean(name.strip()), count, mean, largest))
    return found


def frame_of(name: str) -> Frame:
    """`Loop: sweep [{a.c} {12,3}-{20,5}]` → a loop of a.c, line 12; `MPI_Send()` → MPI_Send."""
    sampled = _SAMPLED.match(name)
    stem = name[sampled.end() :] if sampled is not None else name
    place = _PLACE.search(stem)
    file, line = "", 0
    if place is not None:
        stem, file, line = stem[: place.start()], place["file"], int(place["line"] or 0)
    kind = NodeKind.FUNCTION
    if stem.startswith("Loop:"):
        kind = NodeKind.LOOP if file and line else NodeKind.REGION
    elif stem.startswith(("Phase:", "OpenMP_", "parallel", "[PTHREAD]")):
        kind = NodeKind.REGION
    stem = stem.strip().removesuffix(" C").strip()
    word = sampled[1] if sampled is not None else ""
    if word == "SAMPLE":
        kind = NodeKind.LINE if file and line else kind
    return Frame(clean(stem.removesuffix("()").strip()) or "[unnamed]", kind, clean(file), line, word)
