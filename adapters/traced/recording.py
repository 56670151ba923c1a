"""A trace while it is read: slices of host threads and operations of devices, in columns of numbers."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from chathpc.errors import AdapterError
from chathpc.profile.text import clean
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import NodeKind

LANES = tuple(LaneKind)
_LANE = {lane: number for number, lane in enumerate(LANES)}
#: Nanoseconds beyond which a time is no time: 292 years fit into 63 bits, sums of two shall too.
LATEST = 1 << 61
#: Whole numbers beyond this are no times, sizes or identifiers.
_LARGEST = 1 << 62
#: Characters of a name that are kept; the longest names of templates have some ten thousand.
LONGEST_NAME = 20_000
#: Threads and streams of one trace.
MOST_PLACES = 10_000


class Role(IntEnum):
    """What a slice of a host thread is, beside its place in the tree."""

    CODE = 0
    API = 1  #: a call of the GPU's runtime or driver
    RANGE = 2  #: a named range of the program


class Frame(NamedTuple):
    """What nodes are named after."""

    kind: NodeKind
    name: str
    file: str = ""
    line: int = 0


class Thread(NamedTuple):
    """A host thread: `process` counts the processes of the trace, `number` the threads of the process."""

    process: int
    number: int
    label: str


class Stream(NamedTuple):
    """A queue of a device."""

    device: int
    number: int


class Facts(NamedTuple):
    """How a kernel was launched; −1 where it is not recorded."""

    blocks: float = -1
    threads: float = -1
    registers: float = -1
    shared: float = -1


@dataclass(slots=True)
class Recording:
    """All slices and operations of a trace; times in nanoseconds of one clock.

    A slice is a call or range of a host thread. An operation runs on a device; `launch` is the slice that issued it, −1
    if unknown. 60 to 90 bytes for each of them.
    """

    path: Path
    processes: list[str] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    thread: array[int] = field(default_factory=lambda: array("i"))
    start: array[int] = field(default_factory=lambda: array("q"))
    end: array[int] = field(default_factory=lambda: array("q"))
    frame: array[int] = field(default_factory=lambda: array("i"))
    role: array[int] = field(default_factory=lambda: array("b"))
    op_stream: array[int] = field(default_factory=lambda: array("i"))
    op_start: array[int] = field(default_factory=lambda: array("q"))
    op_end: array[int] = field(default_factory=lambda: array("q"))
    op_frame: array[int] = field(default_factory=lambda: array("i"))
    op_lane: array[int] = field(default_factory=lambda: array("b"))
    op_bytes: array[int] = field(default_factory=lambda: array("q"))
    op_pageable: array[int] = field(default_factory=lambda: array("b"))
    launch: array[int] = field(default_factory=lambda: array("q"))
    facts: dict[int, Facts] = field(default_factory=dict)
    counters: dict[str, tuple[array[int], array[float]]] = field(default_factory=dict)
    samples: dict[tuple[int, int], float] = field(default_factory=dict)  #: by operation and frame of the instruction
    allocated: dict[int, int] = field(default_factory=dict)  #: bytes by slice
    undirected: int = 0  #: copies whose direction is not told
    _frames: dict[tuple[NodeKind, str, str, int], int] = field(default_factory=dict)
    _processes: dict[object, int] = field(default_factory=dict)
    _threads: dict[object, int] = field(default_factory=dict)
    _threads_of: dict[int, int] = field(default_factory=dict)
    _streams: dict[Stream, int] = field(default_factory=dict)
    _known_facts: dict[Facts, Facts] = field(default_factory=dict)

    def frame_of(self, kind: NodeKind, name: str, file: str = "", line: int = 0) -> int:
        """Number of the frame with these properties."""
        key = (kind, name, file, line)
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = len(self.frames)
            self.frames.append(
                Frame(kind, clean(name[:LONGEST_NAME]) or "[unnamed]", clean(file[:4096]), min(max(line, 0), 2**31 - 1))
            )
        return found

    def process_of(self, key: object, label: str) -> int:
        """Number of the process `key`, called `label` when it is new."""
        found = self._processes.get(key)
        if found is None:
            found = self._processes[key] = len(self.processes)
            self.processes.append(clean(label[:200]))
        return found

    def thread_of(self, key: object, process: int, label: str) -> int:
        """Number of the thread `key` of a process, called `label` when it is new."""
        found = self._threads.get((process, key))
        if found is None:
            found = self._threads[process, key] = len(self.threads)
            self._check_places()
            number = self._threads_of[process] = self._threads_of.get(process, -1) + 1
            self.threads.append(Thread(process, number, clean(label[:200])))
        return found

    def stream_of(self, device: int | None, number: int | None) -> int:
        """Number of a queue of a device; the first device, and a queue of number −1, where that is not told."""
        number = -1 if number is None else number
        stream = Stream(min(max(device or 0, 0), 2**31 - 1), min(max(number, -1), 2**62))
        found = self._streams.get(stream)
        if found is None:
            self._check_places()
            found = self._streams[stream] = len(self.streams)
            self.streams.append(stream)
        return found

    def slice(self, thread: int, start: int, end: int, frame: int, role: Role = Role.CODE) -> int:
        """Add what a thread did from `start` to `end`; its number."""
        self.thread.append(thread)
        self.start.append(start)
        self.end.append(end)
        self.frame.append(frame)
        self.role.append(role)
        return len(self.start) - 1

    def kernel(
        self, stream: int, start: int, end: int, name: str, lane: LaneKind | None, facts: Facts | None = None
    ) -> int:
        """Add a kernel; its number among the operations. Without a `lane` its times are not looked at: they were not measured."""
        if facts is not None:
            self.facts[len(self.op_start)] = self._known_facts.setdefault(facts, facts)
        return self._operation(stream, start, end, self.frame_of(NodeKind.GPU_KERNEL, name), lane)

    def transfer(
        self, stream: int, start: int, end: int, name: str, lane: LaneKind | None, size: int | None = None, pageable: int = -1
    ) -> int:  # fmt: skip
        """Add a copy or memset of `size` bytes (None: not recorded); its number among the operations.

        Copies of which nobody says the direction are taken for copies within the device and counted in `undirected`.
        """
        if lane is None:
            self.undirected += 1
            lane = LaneKind.D2D
        size = size if size is not None and 0 <= size < LATEST else -1
        return self._operation(stream, start, end, self.frame_of(NodeKind.GPU_OP, name), lane, size, pageable)

    def _check_places(self) -> None:
        if len(self.threads) + len(self.streams) >= MOST_PLACES:
            raise AdapterError(
                f"has more than {MOST_PLACES:,} threads and streams",
                path=self.path,
                hint="Give the trace of one process, or record fewer threads.",
            )

    def allocate(self, call: int, size: int) -> None:
        """Add bytes that a slice allocated."""
        self.allocated[call] = self.allocated.get(call, 0) + size

    def counter(self, name: str, operation: int, value: float) -> None:
        """Add what a counter counted during an operation; without effect for what is no finite number."""
        if isfinite(value):
            operations, values = self.counters.setdefault(name, (array("q"), array("d")))
            operations.append(operation)
            values.append(value)

    def sample(self, operation: int, frame: int, count: float = 1.0) -> None:
        """Add samples of an instruction of a kernel."""
        key = (operation, frame)
        self.samples[key] = self.samples.get(key, 0.0) + count

    def join(self, calls: Iterable[tuple[object, int]], operations: Iterable[tuple[object, int]]) -> None:
        """Set the launch of `operations` that have none yet to the call of the same key.

        Both are pairs of (key, number of slice or operation). Keys are unique within a process only, and traces of several
        processes may be in one file: of several calls with one key the last that began before the operation is taken, or
        the first if all began later (clocks of host and device differ a little). O(n log n).
        """
        begun: dict[object, list[int]] = {}
        for key, call in calls:
            begun.setdefault(key, []).append(call)
        start = self.start.__getitem__
        for same in begun.values():
            if len(same) > 1:
                same.sort(key=start)
        for key, operation in operations:
            if self.launch[operation] < 0 and (found := begun.get(key)) is not None:
                last = bisect_right(found, self.op_start[operation], key=start) - 1
                self.launch[operation] = found[max(last, 0)]

    def _operation(
        self, stream: int, start: int, end: int, frame: int, lane: LaneKind | None, size: int = -1, pageable: int = -1
    ) -> int:
        self.op_stream.append(stream)
        self.op_start.append(start)
        self.op_end.append(end)
        self.op_frame.append(frame)
        self.op_lane.append(-1 if lane is None else _LANE[lane])
        self.op_bytes.append(size)
        self.op_pageable.append(pageable)
        self.launch.append(-1)
        return len(self.op_start) - 1


def nanoseconds(start: int, end: int) -> bool:
    """True if both are times that can be calculated with, in this order."""
    return -LATEST < start <= end < LATEST


def integer(value: object) -> int | None:
    """A whole number as it stands in a file (a number, or text of one); None for anything else, and beyond 2^62."""
    if isinstance(value, str) and 0 < len(value) < 24:
        try:
            value = int(value, 16 if value.startswith("0x") else 10)
        except ValueError:
            return None
    elif type(value) is float and -_LARGEST < value < _LARGEST and value.is_integer():
        value = int(value)
    return value if type(value) is int and -_LARGEST < value < _LARGEST else None


def amount(text: str | None) -> float | None:
    """A number that is not negative, with or without commas between thousands; None for anything else."""
    try:
        value = float((text or "")[:60].replace(",", ""))
    except ValueError:
        return None
    return value if 0 <= value < 1e18 else None
