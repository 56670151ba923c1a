"""TAU profiles: text files profile.NODE.CONTEXT.THREAD, in one folder or one folder for each metric (MULTI__…)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.content import DAMAGED, read_text
from chathpc.adapters.glance import Glance
from chathpc.adapters.hpctoolkit.vocabulary import metric_for
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit, unused
from chathpc.profile.profile import RANKS, Profile, Source
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

FILE_NAME = re.compile(r"profile\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_FIRST_LINE = re.compile(rb"\s*\d+ templated_functions")


def recognises(glance: Glance) -> bool:
    """True for a file that begins as TAU's do, and a folder (or its MULTI__ folders) with such a file."""
    if not glance.is_folder:
        return bool(_FIRST_LINE.match(glance.head[:200]))
    for name in glance.names:
        if FILE_NAME.fullmatch(name):
            return bool(_FIRST_LINE.match(glance.inside(name).head[:200]))
    inner = next((name for name in glance.names if name.startswith("MULTI__")), None)
    if inner is None:
        return False
    folder = glance.inside(inner)
    first = next((name for name in folder.names if FILE_NAME.fullmatch(name)), None)
    return first is not None and bool(_FIRST_LINE.match(folder.inside(first).head[:200]))


#: Metrics that are wall-clock time, and those that are time of the processor; all count microseconds.
_WALL = (
    "TIME",
    "GET_TIME_OF_DAY",
    "WALL_CLOCK_TIME",
    "P_WALL_CLOCK_TIME",
    "LINUX_TIMERS",
    "LINUXTIMERS",
    "CLOCK_GETTIME",
)
_CPU = ("CPU_TIME", "P_VIRTUAL_TIME", "USER_TIME", "CPUTIME")
_MICROSECOND = 1e-6
#: Beginnings of events that tell the size of MPI messages and of input and output.
_MESSAGE, _READ, _WRITTEN = "Message size", re.compile(r"Bytes Read$"), re.compile(r"Bytes Written$")

CALLS = Metric("calls.count", Unit.COUNT, "calls", "Calls")
_OF_EVENTS = {
    "mpi.message.bytes": Metric("mpi.message.bytes", Unit.BYTES, "size of MPI messages", "Message size"),
    "mpi.message.count": Metric("mpi.message.count", Unit.COUNT, "MPI messages", "Message size (events)"),
    "io.read.bytes": Metric("io.read.bytes", Unit.BYTES, "bytes read", "Bytes Read"),
    "io.write.bytes": Metric("io.write.bytes", Unit.BYTES, "bytes written", "Bytes Written"),
}

Place = tuple[int, int, int]


def read(path: Path) -> Profile:
    """Read `path`: one profile.N.C.T file, a folder of them, or a folder of MULTI__ folders (one for each metric).

    AdapterError for damage, for a folder without such files, and for profiles without any timer.
    """
    groups = _files(path)
    builder = TreeBuilder()
    paths = Paths(builder)
    metrics: dict[str, Metric] = {}
    places = sorted({place for files in groups.values() for place in files})
    if not places:
        raise AdapterError(
            "contains no profile.N.C.T file", path=path, hint="Give the folder in which the program ran."
        )
    location = {place: index for index, place in enumerate(places)}
    contents = [(place, read_file(file)) for files in groups.values() for place, file in files.items()]
    for _, content in contents:
        paths.learn(content.timers)
    names: dict[str, Metric] = {}
    for place, content in contents:
        metric = names.get(content.metric)
        if metric is None:
            metric = names[content.metric] = _metric(content.metric, metrics)
        # Calls and events are the same in the files of all metrics.
        _add(builder, paths, content, metric, location[place], first=content.metric == contents[0][1].metric)
    if not len(builder):
        raise AdapterError("has no timers: nothing was measured", path=path, hint="Run the program under tau_exec.")
    metrics[CALLS.id] = CALLS
    for _, content in contents:
        for identifier in _of_events(content.events):
            metrics[identifier] = _OF_EVENTS[identifier]
    tree, values, _ = builder.finish(metrics.values(), len(places))
    ranks = len({place[0] for place in places})
    return Profile(
        format="TAU",
        title=(path if path.is_dir() else path.parent).resolve().name,
        tree=tree,
        metrics=metrics,
        values=values,
        where=_locations(places),
        sources=(Source(path, "TAU"),),
        caveats=(*_caveats(contents, paths), *_others(path)),
        not_collected=_not_collected(contents, paths),
        run={RANKS: str(ranks)} if ranks > 1 else {},
        timed=True,
    )


def _others(path: Path) -> tuple[str, ...]:
    """That other ranks and threads lie beside a file that was given alone."""
    others = (
        sum(FILE_NAME.fullmatch(name) is not None for name in Glance(path.parent).names) - 1 if path.is_file() else 0
    )
    return (
        (f"It is one of {others + 1:,} files of a run; all are read if their folder is given.",) if others > 0 else ()
    )


def _files(path: Path) -> dict[str, dict[Place, Path]]:
    """Profile files by folder and place: (node, context, thread)."""
    if path.is_file():
        match = FILE_NAME.search(path.name)
        return {"": {(int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0): path}}
    folders = [path, *sorted(one for one in path.iterdir() if one.name.startswith("MULTI__") and one.is_dir())]
    found: dict[str, dict[Place, Path]] = {}
    for folder in folders:
        with os.scandir(folder) as entries:
            matches = [(entry, FILE_NAME.fullmatch(entry.name)) for entry in entries if entry.is_file()]
        found[folder.name] = {
            (int(match[1]), int(match[2]), int(match[3])): Path(entry.path) for entry, match in matches if match
        }
    return found


def _metric(name: str, taken: dict[str, Metric]) -> Metric:
    """The metric that TAU calls `name`; put into `taken`."""
    upper = name.upper()
    if upper in _WALL or upper in _CPU:
        wall = upper in _WALL
        identifier = (
            "cpu.time"
            if not any(one.startswith("cpu.time") for one in taken)
            else "cpu.time.wall"
            if wall
            else "cpu.time.cpu"
        )
        metric = Metric(
            identifier, Unit.SECONDS, "time of threads in timers", name, "µs", _MICROSECOND,
            clock=Clock.WALL if wall else Clock.CPU,
        )  # fmt: skip
    elif upper == "TAUGPU_TIME":
        metric = Metric("gpu.time", Unit.SECONDS, "time of GPU operations", name, "µs", _MICROSECOND)
    else:
        known = metric_for(name)
        description = known.description.replace(" (sampled)", "")
        metric = Metric(known.id, known.unit, description, name, known.source_unit, known.scale)
    metric = replace(metric, id=unused(metric.id, taken))
    taken[metric.id] = metric
    return metric


def _add(builder: TreeBuilder, paths: Paths, content: TauFile, metric: Metric, location: int, *, first: bool) -> None:
    for path, calls, own in _parts(content.timers):
        node = paths.node(path)
        if node < 0:
            continue
        if own:
            builder.add(metric.id, node, own * metric.scale, location)
        if first and calls:
            builder.add(CALLS.id, node, calls, location)
    if first and content.timers:
        root = paths.node(content.timers[0].path)
        for identifier, value in _of_events(content.events).items():
            builder.add(identifier, max(root, 0), value, location)


def _of_events(events: Sequence[Event]) -> dict[str, float]:
    """Sums of the events that are understood. Those with a call path (`name : path`) repeat the ones without."""
    found: dict[str, float] = {}
    for event in events:
        if " : " in event.name:
            continue
        total = event.count * event.mean
        if event.name.startswith(_MESSAGE):
            found["mpi.message.bytes"] = found.get("mpi.message.bytes", 0.0) + total
            found["mpi.message.count"] = found.get("mpi.message.count", 0.0) + event.count
        elif _READ.search(event.name):
            found["io.read.bytes"] = found.get("io.read.bytes", 0.0) + total
        elif _WRITTEN.search(event.name):
            found["io.write.bytes"] = found.get("io.write.bytes", 0.0) + total
    return found


def _locations(places: Sequence[Place]) -> Locations:
    rank = np.array([place[0] for place in places], dtype=np.int64)
    thread = np.array([place[1] * 1_000_000 + place[2] for place in places], dtype=np.int64)
    if not thread.any():
        thread = np.full(len(places), -1, dtype=np.int64)
    return Locations.of(len(places), rank=rank, thread=thread)


def _caveats(contents: Sequence[tuple[Place, TauFile]], paths: Paths) -> Iterable[str]:
    if not paths.callers:
        yield "The profile has no call paths: functions form a flat list, and their callers are unknown."
    elif paths.cut:
        yield "Call paths were cut at TAU_CALLPATH_DEPTH, so functions with several callers start their own tree."
    throttled = {
        clean(timer.path[0]) for _, content in contents for timer in content.timers if "TAU_DISABLE" in timer.group
    }
    if throttled:
        yield f"TAU stopped timing {len(throttled)} functions that were called too often; their time is attributed to their callers."


def _not_collected(contents: Sequence[tuple[Place, TauFile]], paths: Paths) -> Mapping[str, str]:
    missing = {}
    if not paths.callers or paths.cut:
        missing["whole call paths"] = "TAU_CALLPATH=1 TAU_CALLPATH_DEPTH=100 tau_exec ./app"
    if all(len(content.timers) <= 1 for _, content in contents):
        missing["functions of the program"] = "TAU_SAMPLING=1 TAU_EBS_UNWIND=1 tau_exec -ebs ./app"
    return missing


# -- a file profile.N.C.T ------------------------------------------------------------------------------------------
#
#     3 templated_functions_MULTI_TIME
#     # Name Calls Subrs Excl Incl ProfileCalls # <metadata>…</metadata>
#     "main [{app.c} {3,1}-{20,1}]" 1 2 70 100 0 GROUP="TAU_USER"
#     "main => MPI_Send()  " 2 0 30 30 0 GROUP="TAU_CALLPATH|MPI"
#     0 aggregates
#     1 userevents
#     # eventname numevents max min mean sumsqr
#     "Message size sent to all nodes" 2 800 800 800 1280000
#
# Times are microseconds. Source: TAU Reference Guide, "Profile data format". The metadata name people and hosts, and are not read.

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
        name, (count, _, _, mean), _ = row
        found.append(Event(clean(name.strip()), count, mean))
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


# -- the call tree of the rows, and what each row itself adds to it -----------------------------------------------
#
# A timer has a flat row, and with TAU_CALLPATH=1 a row for each call path that ends in it. The flat row is the sum of these, so
# only what they leave of it (a function without caller) belongs to it. Paths are cut to TAU_CALLPATH_DEPTH frames, two
# unless set: the caller's own path is put before a path whose first function has just one.

#: Frames of a path after callers were put before it.
DEEPEST = 2_000
#: What rows round to: microseconds.
ROUNDING = 1.0

CallPath = tuple[str, ...]


@dataclass(slots=True)
class Paths:
    """Call paths of all files: where each stands in the tree."""

    builder: TreeBuilder
    callers: dict[str, CallPath | None] = field(default_factory=dict)
    cut: bool = False
    _frames: dict[str, Frame] = field(default_factory=dict)
    _nodes: dict[CallPath, int] = field(default_factory=dict)
    _starts: dict[str, int] = field(default_factory=dict)
    _depth: dict[int, int] = field(default_factory=dict)

    def learn(self, timers: Iterable[Timer]) -> None:
        """Note the callers of each function: its one path, or None if it has several."""
        for timer in timers:
            if len(timer.path) > 1:
                last, above = timer.path[-1], timer.path[:-1]
                known = self.callers.setdefault(last, above)
                if known is not None and known != above:
                    self.callers[last] = None

    def _caller(self, name: str) -> CallPath | None:
        """The one path that `name` is called from; None for a function without caller, or with several."""
        above = self.callers.get(name)
        if above is None and name in self.callers:
            self.cut = True
        return above

    def _start(self, name: str) -> int:
        """The node below which a path that begins with `name` stands: that of its one caller, −1 without one."""
        chain: list[str] = []
        pending = {name}
        above = self._caller(name)
        while above is not None and name not in self._starts:
            chain.append(name)
            name = above[0]
            if name in pending:  # a circle: it has to begin somewhere
                self.cut = True
                break
            pending.add(name)
            above = self._caller(name)
        at = self._starts.get(name, -1)
        for one in reversed(chain):
            above = self.callers[one]
            if above is None or (at >= 0 and self._depth[at] + len(above) > DEEPEST):
                self.cut, at = True, -1
            at = self._down(at, above or ())
            self._starts[one] = at
        return at

    def _down(self, at: int, path: CallPath) -> int:
        """The node at the end of `path` below node `at`."""
        for name in path:
            frame = self.frame(name)
            if frame.sampled == "CONTEXT":  # the timer that stands above it, once more
                continue
            label = None if frame.kind in (NodeKind.LINE, NodeKind.LOOP) else frame.name
            depth = self._depth[at] + 1 if at >= 0 else 0
            at = self.builder.node(at, frame.kind, label, file=frame.file, line=frame.line)
            self._depth.setdefault(at, depth)
        return at

    def frame(self, name: str) -> Frame:
        """The parts of a timer's name."""
        known = self._frames.get(name)
        if known is None:
            known = self._frames[name] = frame_of(name)
        return known

    def node(self, path: CallPath) -> int:
        """Number of the node at the end of `path`."""
        known = self._nodes.get(path)
        if known is not None:
            return known
        at = self._down(self._start(path[0]), path)
        self._nodes[path] = at
        return at


def _parts(timers: Iterable[Timer]) -> Iterator[tuple[CallPath, float, float]]:
    """What each row of one file adds itself: its path, calls and own time (or count); flat rows without what their call paths have."""
    by_path: dict[CallPath, Timer] = {}
    for row in timers:
        by_path.setdefault(row.path, row)
    paths_calls: dict[str, float] = {}
    paths_own: dict[str, float] = {}
    children: dict[CallPath, float] = {}
    for path, row in by_path.items():
        if len(path) > 1:
            paths_calls[path[-1]] = paths_calls.get(path[-1], 0.0) + row.calls
            paths_own[path[-1]] = paths_own.get(path[-1], 0.0) + row.exclusive
            children[path[:-1]] = children.get(path[:-1], 0.0) + row.inclusive
    contexts: dict[CallPath, float] = {}  # time of sampled functions below each timer, which is part of the timer's own
    for path in by_path:
        if len(path) > 1 and path[-1].startswith("[CONTEXT]"):
            contexts[path[:-1]] = contexts.get(path[:-1], 0.0) + children.get(path, 0.0)
    for path, row in by_path.items():
        calls, own = row.calls, row.exclusive
        sampled = frame_of(path[-1]).sampled if path[-1].startswith("[") else ""
        if sampled:
            if len(path) == 1:
                continue  # the sum of the paths that end in it
            calls = 0.0
            own = row.inclusive - children.get(path, 0.0) if sampled != "SAMPLE" else row.exclusive
            own = 0.0 if own <= ROUNDING else own
            if sampled == "CONTEXT":
                own = 0.0
        elif len(path) == 1 and path[0] in paths_own:
            calls, own = calls - paths_calls[path[0]], own - paths_own[path[0]]
            if abs(own) <= ROUNDING * (1 + 1e-6 * row.exclusive):
                own = 0.0
            if own <= 0 and calls <= 0:
                continue
        own -= contexts.get(path, 0.0)
        yield path, max(calls, 0.0), max(own, 0.0)


ADAPTER = Adapter(
    name="tau",
    reads="TAU profiles (profile.N.C.T files, MULTI__ folders)",
    recognises=recognises,
    read=read,
    order=30,
)
