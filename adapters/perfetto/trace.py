"""A Perfetto trace as a Profile: its slices are put into events of a Chrome trace, which say the same in other words.

Numbers of fields: github.com/google/perfetto, protos/perfetto/trace (trace_packet.proto, clock_snapshot.proto, trace_packet_defaults.proto,
interned_data/interned_data.proto, track_event/*.proto).
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chathpc.adapters.chrome_trace.trace import Events, profile_of
from chathpc.adapters.content import DAMAGED, read_bytes
from chathpc.adapters.packed import UNPACKED, UNPACKED_PER_BYTE, unpack
from chathpc.adapters.protobuf import BYTES, VARINT, Damaged, fields
from chathpc.adapters.traced.operations import copy_lane
from chathpc.adapters.traced.recording import LONGEST_NAME
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile

#: Payloads that are not read → what they are.
_UNREAD = {
    1: "events of the Linux kernel", 37: "heap profiles", 53: "stages of graphics", 54: "sampled stacks", 66: "samples of perf",
}  # fmt: skip
#: The clock of packets that name none (builtin_clock.proto: BOOTTIME), and the first of those that a sequence has for itself.
_BOOT, _OWN_CLOCKS = 6, 64
_BEGIN, _END = 1, 2
_CLEARED = 1
#: Tracks above a track that are gone through to find its process.
_HIGHEST = 16
#: Categories of AMD's profilers (rocprofv3, rocprof-sys, omnitrace): activity of a GPU, calls that cause it, markers of the program.
_DEVICE = re.compile(r"(?:rocm_)?(?:kernel_dispatch|memory_copy)|device_hip")
_CALL = re.compile(r"(?:rocm_)?(?:hip|hsa)_(?:\w+_)?api")
_MARKER = re.compile(r"(?:rocm_)?marker_api")
_AMD = re.compile("|".join(one.pattern for one in (_DEVICE, _CALL, _MARKER)))
_COPY, _FILL = re.compile(r"(?:memory_)?copy", re.I), re.compile(r"fill|memset", re.I)
_NUMBER = re.compile(r"(?:agent|device)\D{0,3}(\d{1,4})", re.I)


def read(path: Path) -> Profile:
    """Read a trace, plain or packed. Memory: the unpacked file, and about 200 bytes for each slice. AdapterError for damage and bombs."""
    data = read_bytes(path)
    reader = _Reader(path, len(data))
    cut = None
    try:
        for begin, end in _packets(data):
            reader.packet(data, begin, end)
    except Damaged as damage:
        cut = damage
    if cut is not None and not reader.slices:
        raise AdapterError(f"damaged Perfetto trace: {cut}", path=path, offset=cut.offset, hint=DAMAGED)
    reader.finish()
    caveats = [
        f"{count:,} packets with {_UNREAD[number]} were not read." for number, count in sorted(reader.unread.items())
    ]
    return profile_of(reader.events, {}, cut=cut is not None, tool="Perfetto", caveats=caveats)


def _packets(data: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of each packet; zeros between them are padding."""
    at = 0
    while at < len(data):
        if data[at] == 0:
            at += 1
            continue
        number, kind, begin, end = next(fields(data, at, len(data)))
        if number != 1 or kind != BYTES:
            raise Damaged("something other than a packet", at)
        yield begin, end
        at = end


@dataclass(slots=True)
class _Clock:
    """How numbers of a clock become nanoseconds of the trace's clock."""

    offset: int = 0
    unit: int = 1
    steps: bool = False  #: each number is the time since the last one
    last: int = 0

    def time(self, number: int) -> int:
        if self.steps:
            number = self.last = self.last + number
        return number * self.unit + self.offset


@dataclass(slots=True)
class _Sequence:
    """What a writer has said once for all of its packets."""

    names: dict[int, dict[int, str]] = field(default_factory=dict)  #: by field of InternedData
    clocks: dict[int, _Clock] = field(default_factory=dict)
    clock: int = _BOOT
    track: int = 0


@dataclass(frozen=True, slots=True)
class _Track:
    name: str = ""
    above: int = 0
    process: int | None = None
    thread: int | None = None


@dataclass(frozen=True, slots=True)
class _Slice:
    start: int
    name: str
    category: str
    facts: dict[str, object]


#: Fields of InternedData that are kept: categories, names of events, of their arguments, and texts of these.
_CATEGORIES, _NAMES, _ARGUMENTS, _TEXTS = 1, 2, 3, 29


class _Reader:
    def __init__(self, path: Path, size: int) -> None:
        self.path, self.events = path, Events(path)
        self.slices = 0
        self.unread: Counter[int] = Counter()
        self._allowed = UNPACKED + UNPACKED_PER_BYTE * size
        self._sequences: dict[int, _Sequence] = {}
        self._clocks: dict[int, _Clock] = {}
        self._tracks: dict[int, _Track] = {}
        self._open: dict[int, list[_Slice]] = {}
        self._queues: dict[int, int] = {}
        self._aside: list[tuple[int, _Slice, int]] = []
        self._first: int | None = None
        self._last = 0
        self._on_threads = False

    def packet(self, data: bytes, begin: int, end: int, *, inner: bool = False) -> None:
        """Take in a packet; one that is damaged inside is counted."""
        try:
            found = {number: (value, stop) for number, _, value, stop in fields(data, begin, end)}
            packed = found.get(50) or found.get(133)
            if packed is not None and not inner:
                content = self._unpacked(data[slice(*packed)], zstd=50 not in found)
                for first, last in _packets(content):
                    self.packet(content, first, last, inner=True)
                return
            self._take(data, found)
        except Damaged:
            self.events.dropped["in damaged packets"] += 1

    def _unpacked(self, packed: bytes, *, zstd: bool) -> bytes:
        """The packets that are compressed into one; AdapterError if all of the file's are too many."""
        if zstd:
            content = unpack(packed, self.path)
        else:
            try:
                content = zlib.decompressobj().decompress(packed, self._allowed + 1)
            except zlib.error as error:
                raise Damaged(str(error), 0) from None
        self._allowed -= len(content)
        if self._allowed < 0:
            raise AdapterError("its packets unpack to too many bytes", path=self.path, hint="This is not a profile.")
        return content

    def _take(self, data: bytes, found: dict[int, tuple[int, int]]) -> None:
        identity = found.get(10, (0, 0))[0]
        sequence = self._sequences.get(identity)
        if sequence is None:
            sequence = self._sequences[identity] = _Sequence()
        if found.get(13, (0, 0))[0] & _CLEARED or 41 in found:
            sequence.names.clear()
        if 59 in found:
            self._defaults(data, found[59], sequence)
        if 12 in found:
            _intern(data, found[12], sequence)
        if 6 in found:
            self._snapshot(data, found[6], sequence)
        if 60 in found:
            self._describe(data, found[60])
        if 11 in found:
            moment = found.get(8)
            if moment is None:
                self.events.dropped["without a time"] += 1
                return
            clock = found.get(58, (sequence.clock, 0))[0]
            known = (sequence.clocks if clock >= _OWN_CLOCKS else self._clocks).get(clock)
            now = moment[0] if known is None else known.time(moment[0])
            self._event(data, found[11], now, sequence, -1 - identity)
        else:
            self.unread.update(_UNREAD.keys() & found.keys())

    def _defaults(self, data: bytes, span: tuple[int, int], sequence: _Sequence) -> None:
        for number, kind, value, stop in fields(data, *span):
            if number == 58 and kind == VARINT:
                sequence.clock = value
            elif number == 11 and kind == BYTES:
                sequence.track = _numbers(data, (value, stop)).get(11, 0)

    def _snapshot(self, data: bytes, span: tuple[int, int], sequence: _Sequence) -> None:
        """Several clocks at one moment: the first of those that are known tells which moment of the trace it is."""
        seen = [
            _numbers(data, (begin, end))
            for number, kind, begin, end in fields(data, *span)
            if number == 1 and kind == BYTES
        ]
        readings = {one.get(1, 0): one for one in seen}
        now = readings.get(_BOOT, {}).get(2)
        if now is None:
            now = next(
                (
                    self._clocks.get(key, _Clock()).time(one.get(2, 0))
                    for key, one in readings.items()
                    if key < _OWN_CLOCKS
                ),
                0,
            )
        for key, one in readings.items():
            unit, at = one.get(4, 1) or 1, one.get(2, 0)
            clocks = sequence.clocks if key >= _OWN_CLOCKS else self._clocks
            clocks[key] = _Clock(now - at * unit, unit, bool(one.get(3)), at)

    def _describe(self, data: bytes, span: tuple[int, int]) -> None:
        identity, name, above, process, thread = 0, "", 0, None, None
        for number, kind, value, stop in fields(data, *span):
            if number == 1 and kind == VARINT:
                identity = value
            elif number == 5 and kind == VARINT:
                above = value
            elif number in (2, 10) and kind == BYTES:
                name = _text(data, value, stop)
            elif number == 3 and kind == BYTES:
                process = _numbers(data, (value, stop)).get(1, 0)
                self._name("process", process, None, _texts(data, (value, stop)).get(6, ""))
            elif number == 4 and kind == BYTES:
                numbers = _numbers(data, (value, stop))
                process, thread = numbers.get(1, 0), numbers.get(2, 0)
                self._name("thread", process, thread, _texts(data, (value, stop)).get(5, "") or name)
        self._tracks[identity] = _Track(name, above, process, thread)

    def _name(self, what: str, process: int, thread: object, name: str) -> None:
        self.events.add({"ph": "M", "name": f"{what}_name", "pid": process, "tid": thread, "args": {"name": name}})

    def _event(self, data: bytes, span: tuple[int, int], now: int, sequence: _Sequence, no_track: int) -> None:
        """A beginning, an end, or (in traces of Chrome's older writers, `legacy_event`) a whole slice."""
        way, track, name, lasts = 0, sequence.track or no_track, "", 0
        categories: list[str] = []
        arguments: list[tuple[int, int]] = []
        names = sequence.names
        for number, kind, value, stop in fields(data, *span):
            if number == 9 and kind == VARINT:
                way = value
            elif number == 11 and kind == VARINT:
                track = value
            elif number == 10 and kind == VARINT:
                name = names.get(_NAMES, {}).get(value, "")
            elif number == 23 and kind == BYTES:
                name = _text(data, value, stop)
            elif number == 3 and kind == VARINT:
                categories.append(names.get(_CATEGORIES, {}).get(value, ""))
            elif number == 22 and kind == BYTES:
                categories.append(_text(data, value, stop))
            elif number == 4 and kind == BYTES:
                arguments.append((value, stop))
            elif number == 6 and kind == BYTES:
                legacy = _numbers(data, (value, stop))
                name = name or names.get(_NAMES, {}).get(legacy.get(1, 0), "")
                phase = legacy.get(2, 0)
                way = {ord("B"): _BEGIN, ord("E"): _END}.get(phase, way)
                lasts = 1000 * legacy.get(3, 0) if phase == ord("X") else 0
        self._last = max(self._last, now)
        if way == _END:
            begun = self._open.get(track)
            if begun:
                self._slice(track, begun.pop(), now)
            else:
                self.events.dropped["without a matching begin"] += 1
        elif way == _BEGIN or lasts:
            category = next((one for one in categories if _AMD.fullmatch(one)), "")
            begun_now = _Slice(now, name, category, _facts(data, arguments, names) if category else {})
            if lasts:
                self._slice(track, begun_now, now + lasts)
            else:
                self._open.setdefault(track, []).append(begun_now)

    def _slice(self, track: int, begun: _Slice, end: int) -> None:
        self.slices += 1
        if _DEVICE.fullmatch(begun.category):
            self._operation(track, begun, end)
            return
        known = self._tracks.get(track)
        if known is not None and known.thread is not None:
            self._on_threads = True
            self._add(begun, end, known.process, known.thread)
        else:
            self._aside.append((track, begun, end))

    def _add(
        self, begun: _Slice, end: int, process: object, thread: object, category: str = "", **arguments: object
    ) -> None:
        """Hand on a slice; times are those since the first one, which microseconds hold to the nanosecond."""
        if self._first is None:
            self._first = begun.start
        if not category and _CALL.fullmatch(begun.category):
            category = "hip_runtime"
        elif not category and _MARKER.fullmatch(begun.category):
            category = "user_annotation"
        event: dict[str, Any] = {
            "ph": "X", "cat": category or "slice", "name": begun.name, "pid": process, "tid": thread,
            "ts": (begun.start - self._first) / 1000, "dur": (end - begun.start) / 1000,
            "args": {"correlation": begun.facts.get("corr_id")} | arguments,
        }  # fmt: skip
        self.events.add(event)

    def _operation(self, track: int, begun: _Slice, end: int) -> None:
        """What a GPU did; which GPU is told by the event or the name of its track, and each track is a queue."""
        queue = self._queues.setdefault(track, len(self._queues))
        known = self._tracks.get(track, _Track())
        told = _NUMBER.search(f"agent {begun.facts.get('agent', '')} {known.name}")
        copies = _COPY.match(begun.name) is not None and copy_lane(begun.name) is not None
        category = (
            "gpu_memcpy"
            if copies or "memory_copy" in begun.category
            else "gpu_memset"
            if _FILL.match(begun.name)
            else "kernel"
        )
        self._add(
            begun, end, known.process, track, category,
            device=int(told[1]) if told else 0, stream=queue, bytes=begun.facts.get("bytes"),
        )  # fmt: skip

    def finish(self) -> None:
        """Close what is open, and find a place for slices on tracks that were not known as a thread's."""
        for track, begun in self._open.items():
            for one in reversed(begun):
                self.events.dropped["that never end (taken to last until the end of the trace)"] += 1
                self._slice(track, one, self._last)
        # Beside threads, tracks of other kinds show the same time in another way; without any they are all that there is.
        alone = (
            all(self._tracks.get(track, _Track()).thread is None for track, _, _ in self._aside)
            and not self._on_threads
        )
        for track, one, end in self._aside:
            known = self._tracks.get(track, _Track())
            if known.thread is None and not alone:
                self.events.dropped["on tracks of no thread"] += 1
                continue
            process = self._process(known)
            if known.thread is None:
                self._name("thread", process, track, known.name)
            self._add(one, end, process, track if known.thread is None else known.thread)

    def _process(self, track: _Track) -> int:
        """The process of a track: its own, or that of the nearest track above it."""
        for _ in range(_HIGHEST):
            if track.process is not None:
                return track.process
            track = self._tracks.get(track.above, _Track())
        return 0


def _numbers(data: bytes, span: tuple[int, int]) -> dict[int, int]:
    """The numbers in a message by their fields, the last of each."""
    return {number: value for number, kind, value, _ in fields(data, *span) if kind == VARINT}


def _texts(data: bytes, span: tuple[int, int]) -> dict[int, str]:
    """The texts in a message by their fields, the last of each."""
    return {number: _text(data, value, stop) for number, kind, value, stop in fields(data, *span) if kind == BYTES}


def _text(data: bytes, begin: int, end: int) -> str:
    return data[begin : min(end, begin + LONGEST_NAME)].decode("utf-8", "replace")


def _intern(data: bytes, span: tuple[int, int], sequence: _Sequence) -> None:
    for number, kind, value, stop in fields(data, *span):
        if kind == BYTES and number in (_CATEGORIES, _NAMES, _ARGUMENTS, _TEXTS):
            key = _numbers(data, (value, stop)).get(1, 0)
            sequence.names.setdefault(number, {})[key] = _texts(data, (value, stop)).get(2, "")


def _facts(data: bytes, arguments: list[tuple[int, int]], names: dict[int, dict[int, str]]) -> dict[str, object]:
    """The numbers and texts among the arguments of an event by their names."""
    found: dict[str, object] = {}
    for span in arguments:
        numbers, texts = _numbers(data, span), _texts(data, span)
        name = texts.get(10) or names.get(_ARGUMENTS, {}).get(numbers.get(1, 0), "")
        text = texts.get(6) or names.get(_TEXTS, {}).get(numbers.get(17, 0), "")
        found[name] = text or numbers.get(3, numbers.get(4))
    return found
