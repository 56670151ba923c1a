"""A TAU profile as a Profile: all files of a run, one location for each, one metric for each MULTI__ folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from chathpc.adapters.glance import Glance
from chathpc.adapters.hpctoolkit.vocabulary import metric_for
from chathpc.adapters.tau import FILE_NAME
from chathpc.adapters.tau.text import Event, TauFile, read_file
from chathpc.adapters.tau.tree import Paths, parts
from chathpc.errors import AdapterError
from chathpc.profile.build import TreeBuilder
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import RANKS, Profile, Source
from chathpc.profile.text import clean

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
_EVENTS = {
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
    counted: set[str] = set()
    names: dict[str, Metric] = {}
    for place, content in contents:
        metric = names.get(content.metric)
        if metric is None:
            metric = names[content.metric] = _metric(content.metric, metrics)
        _add(builder, paths, content, metric, location[place], first=_first(counted, content.metric))
    if not len(builder):
        raise AdapterError("has no timers: nothing was measured", path=path, hint="Run the program under tau_exec.")
    metrics[CALLS.id] = CALLS
    for _, content in contents:
        for identifier in _of_events(content.events):
            metrics[identifier] = _EVENTS[identifier]
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
        not_collected=_not_collected(contents, paths, ranks),
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


def _first(counted: set[str], metric: str) -> bool:
    """True for the first metric: calls and events are the same in the files of all metrics."""
    if not counted:
        counted.add(metric)
    return metric in counted


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
    first, copies = metric.id, 2
    while metric.id in taken:
        metric = Metric(f"{first}.{copies}", metric.unit, metric.description, name, metric.source_unit, metric.scale)
        copies += 1
    taken[metric.id] = metric
    return metric


def _add(builder: TreeBuilder, paths: Paths, content: TauFile, metric: Metric, location: int, *, first: bool) -> None:
    for part in parts(content.timers):
        node = paths.node(part.path)
        if node < 0:
            continue
        if part.own:
            builder.add(metric.id, node, part.own * metric.scale, location)
        if first and part.calls:
            builder.add(CALLS.id, node, part.calls, location)
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


def _not_collected(contents: Sequence[tuple[Place, TauFile]], paths: Paths, ranks: int) -> Mapping[str, str]:
    missing = {}
    if not paths.callers or paths.cut:
        missing["whole call paths"] = "TAU_CALLPATH=1 TAU_CALLPATH_DEPTH=100 tau_exec ./app"
    if all(len(content.timers) <= 1 for _, content in contents):
        missing["functions of the program"] = "TAU_SAMPLING=1 TAU_EBS_UNWIND=1 tau_exec -ebs ./app"
    return missing
