"""speedscope's own file format: one or several profiles, of events (a frame opens, a frame closes) or of samples.

A file that chathpc exported has a profile for each metric instead, all of the same run.

Layout: https://www.speedscope.app/file-format-schema.json. Frames are shared; each profile has a unit of its own. py-spy makes frames of
processes and threads as well, and chathpc measure tells beside its samples the ranks and that the clock is the wall's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.content import read_json
from chathpc.adapters.glance import Glance
from chathpc.adapters.stacks import Stacks, library_in, too_short
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Clock, Metric, Unit
from chathpc.profile.profile import Profile, Source

_SECONDS = {"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1.0}
#: py-spy's frames of processes and threads, and how chathpc measure begins the names of a rank's threads.
#: What py-spy calls a native function without a symbol; its file is a question mark where that is not known either.
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
_NO_CODE, _RANK = re.compile(r'process \d+:"|thread \(\d+\)'), re.compile(r"rank (\d{1,9}): ")
#: What py-spy calls the file of a native function without source lines.
_LIBRARY = re.compile(r"\.so[\d.]*$")
#: How chathpc names the profile of a metric: its id, and in brackets what it is called.
_OWN = re.compile(r"([a-z0-9][\w.-]{0,99}) \(([^\n]{1,200})\)")
_HOW = "Export it again from speedscope, or give the profile that it was made from."


def recognises(glance: Glance) -> bool:
    """True for JSON that names speedscope's schema, or that has its shared frames and profiles."""
    text = glance.text
    if not text.lstrip().startswith("{"):
        return False
    if "speedscope.app/file-format-schema" in text:
        return True
    return '"shared"' in text and '"frames"' in text and ('"evented"' in text or '"sampled"' in text)


def read(path: Path) -> Profile:
    """The profiles in the file, each a location; AdapterError for what is no file of speedscope."""
    document = read_json(path)
    profiles = document.get("profiles") if isinstance(document, dict) else None
    if not isinstance(profiles, list) or not profiles:
        raise AdapterError("has no profiles", path=path, hint=_HOW)
    exporter = document.get("exporter")
    made_by = exporter if isinstance(exporter, str) else ""
    reading = _Reading(path, Stacks(), _frames(document), wall=document.get("clock") == "wall")
    reading.ours = made_by.startswith("chathpc ")
    if made_by.startswith("py-spy"):
        reading.no_code = {number for number, frame in enumerate(reading.frames) if _is_no_code(frame)}
        reading.python = {number for number, frame in enumerate(reading.frames) if _is_python(frame)}
    reading.numbers = [_frame(reading.stacks, frame) for frame in reading.frames]
    for number, profile in enumerate(profiles):
        reading.location = 0 if reading.ours else number
        kind = profile.get("type") if isinstance(profile, dict) else None
        told = _RANK.match(str(profile.get("name"))) if isinstance(profile, dict) and reading.wall else None
        reading.ranks[reading.location :] = [-1 if told is None else int(told[1])]
        if kind == "evented":
            _evented(reading, profile)
        elif kind == "sampled":
            _sampled(reading, profile)
        else:
            reading.damage("a profile that is neither evented nor sampled")
    name = document.get("name")
    title = name if isinstance(name, str) and name else path.name.removesuffix(".json").removesuffix(".speedscope")
    return _profile(reading, title, made_by)


@dataclass(slots=True)
class _Reading:
    path: Path
    stacks: Stacks
    frames: list[Any]
    wall: bool = False  #: the clock is the wall's
    ours: bool = False  #: each profile is a metric that chathpc wrote: sums of what was measured, not samples
    no_code: set[int] = field(default_factory=set)  #: frames that are no functions
    python: set[int] = field(default_factory=set)  #: functions of Python, below which native ones count
    ranks: list[int] = field(default_factory=list)  #: of each profile
    numbers: list[int] = field(default_factory=list)
    metrics: dict[str, Metric] = field(default_factory=dict)
    location: int = 0
    samples: int = 0
    negative: int = 0
    damaged: list[str] = field(default_factory=list)

    def damage(self, what: str) -> None:
        """Remember what was passed over."""
        self.damaged.append(what)

    def metric(self, profile: dict[str, Any], *, sampled: bool) -> Metric:
        """The metric of a profile."""
        unit, name = profile.get("unit"), profile.get("name")
        text = unit if isinstance(unit, str) else "none"
        if self.ours and isinstance(name, str) and (own := _OWN.fullmatch(name)):
            known = {"seconds": Unit.SECONDS, "bytes": Unit.BYTES}.get(text, Unit.COUNT)
            return self.metrics.setdefault(own[1], Metric(own[1], known, own[2], own[2]))
        if text in _SECONDS:
            words = ("wall-clock time of the thread" if self.wall else "time") + (" (sampled)" if sampled else "")
            clock = Clock.WALL if self.wall else None
            name = "time" if self.wall else text
            found = Metric("cpu.time", Unit.SECONDS, words, name, text, _SECONDS[text], clock=clock)
        elif text == "bytes":
            found = Metric("memory.allocated.bytes", Unit.BYTES, "memory", text, text)
        else:
            found = Metric("cpu.samples", Unit.SAMPLES, "weights without a unit, taken as samples", "weight")
        return self.metrics.setdefault(found.id, found)

    def frame(self, index: object) -> int | None:
        """The number of frame `index` of the file, None if there is no such frame."""
        if type(index) is int and 0 <= index < len(self.numbers):
            return self.numbers[index]
        return None


def _frames(document: dict[str, Any]) -> list[Any]:
    shared = document.get("shared")
    frames = shared.get("frames") if isinstance(shared, dict) else None
    return frames if isinstance(frames, list) else []


def _frame(stacks: Stacks, frame: Any) -> int:
    facts = frame if isinstance(frame, dict) else {}
    name, file, line = facts.get("name"), facts.get("file"), facts.get("line")
    if not isinstance(name, str) or not name or _ADDRESS.fullmatch(name):
        name = "[unknown]"
    file = file if isinstance(file, str) and file != "?" else ""
    if _LIBRARY.search(file):
        return stacks.frame(name, module=file)
    return stacks.frame(name, file=file, line=line if type(line) is int else 0, module=library_in(name))


def _code(reading: _Reading, sample: list[object]) -> list[object]:
    """A stack without frames that are no functions, and without what the interpreter does before the first of Python."""
    if not reading.no_code:
        return sample
    stack = [index for index in sample if type(index) is not int or index not in reading.no_code]
    first = next((at for at, index in enumerate(stack) if type(index) is int and index in reading.python), 0)
    return stack[first:]


def _is_python(frame: object) -> bool:
    file = frame.get("file") if isinstance(frame, dict) else None
    return isinstance(file, str) and file.endswith((".py", ">"))


def _is_no_code(frame: object) -> bool:
    """True for py-spy's frames of a process or a thread."""
    if not isinstance(frame, dict) or frame.get("file"):
        return False
    name = frame.get("name")
    return isinstance(name, str) and _NO_CODE.match(name) is not None


def _number(value: object) -> float | None:
    if type(value) is int and abs(value) < 1 << 63:
        return float(value)
    return value if type(value) is float and isfinite(value) and abs(value) < 1e18 else None


def _evented(reading: _Reading, profile: dict[str, Any]) -> None:
    """Time between two events belongs to the frame that is open, innermost."""
    events = profile.get("events")
    if not isinstance(events, list):
        reading.damage("a profile without events")
        return
    metric = reading.metric(profile, sampled=False)
    stacks = reading.stacks
    open_frames: list[tuple[int, int]] = []  # frame, context
    before = _number(profile.get("startValue")) or 0.0
    end = _number(profile.get("endValue"))
    for event in events:
        at = _number(event.get("at")) if isinstance(event, dict) else None
        frame = reading.frame(event.get("frame")) if at is not None else None
        if at is None or frame is None:
            reading.damage("an event without a time or a frame")
            continue
        if at < before:
            reading.damage("an event before the one that it follows")
            at = before
        if open_frames and at > before:
            stacks.add(metric.id, open_frames[-1][1], (at - before) * metric.scale, reading.location)
        before = at
        if event.get("type") == "O":
            open_frames.append((frame, stacks.step(open_frames[-1][1] if open_frames else -1, frame)))
        elif open_frames and open_frames[-1][0] == frame:
            open_frames.pop()
        else:
            reading.damage("a closed frame that is not the innermost open one")
            while open_frames and any(other == frame for other, _ in open_frames[-64:]):
                if open_frames.pop()[0] == frame:
                    break
    if open_frames:
        if end is not None and end > before:
            stacks.add(metric.id, open_frames[-1][1], (end - before) * metric.scale, reading.location)
        reading.damage("frames that are never closed")


def _sampled(reading: _Reading, profile: dict[str, Any]) -> None:
    samples, weights = profile.get("samples"), profile.get("weights")
    if not isinstance(samples, list) or not isinstance(weights, list):
        reading.damage("a profile without samples or weights")
        return
    if len(samples) != len(weights):
        reading.damage("a profile whose numbers of samples and weights differ")
    metric = reading.metric(profile, sampled=True)
    for sample, weight in zip(samples, weights, strict=False):
        amount = _number(weight)
        chain = [reading.frame(index) for index in _code(reading, sample)] if isinstance(sample, list) else [None]
        if amount is None or None in chain:
            reading.damage("a sample without a weight, or with frames that do not exist")
            continue
        if amount < 0:
            reading.negative += 1
            continue
        reading.samples += not reading.ours
        if chain and amount:
            node = reading.stacks.walk(frame for frame in chain if frame is not None)
            reading.stacks.add(metric.id, node, amount * metric.scale, reading.location)


def _profile(reading: _Reading, title: str, exporter: str) -> Profile:
    threads, ranks = np.arange(len(reading.ranks), dtype=np.int64), np.array(reading.ranks, dtype=np.int64)
    where = Locations.of(len(threads), thread=threads, rank=ranks)
    tool, _, version = exporter.partition("@")
    profile = reading.stacks.profile(
        reading.path,
        reading.metrics.values(),
        where,
        format="py-spy" if exporter.startswith("py-spy") else "speedscope",
        tool=tool or "speedscope",
        title=title,
    )
    metrics, values = profile.metrics, profile.everything.values
    if not metrics:
        raise AdapterError("its profiles contain no time and no weight", path=reading.path, hint=_HOW)
    timed = not reading.samples
    caveats = []
    if "cpu.time" in metrics and not reading.wall and not reading.ours:
        caveats.append("The file does not say whether its time is wall-clock or CPU time.")
    if "cpu.samples" in metrics and not reading.ours:
        caveats.append("The weights have no unit; they are taken as samples, so shares are known but seconds are not.")
    if reading.negative:
        caveats.append(f"{reading.negative:,} samples with a negative weight were skipped.")
    if reading.damaged:
        kinds = "; ".join(dict.fromkeys(reading.damaged))
        caveats.append(f"The file has {len(reading.damaged):,} faults that were ignored: {kinds}.")
    seconds = float(sum(values.exclusive("cpu.time").values)) if "cpu.time" in metrics else None
    total = values.exclusive("cpu.samples").sum() if "cpu.samples" in metrics else None
    return replace(
        profile,
        sources=(Source(reading.path, tool or "speedscope", version),),
        caveats=tuple(caveats),
        not_collected={
            "hardware counters (cache misses, instructions per cycle)": (
                "perf record -e cycles,instructions,cache-misses -g ./app"
            )
        },
        sample_count=total if seconds is None else None if timed else float(reading.samples),
        timed=timed and total is None,
        insufficient=too_short(seconds) if timed and seconds is not None and len(metrics) == 1 else "",
    )


ADAPTER = Adapter(
    name="speedscope",
    reads="speedscope files (.speedscope.json)",
    recognises=recognises,
    read=read,
    order=50,
)
