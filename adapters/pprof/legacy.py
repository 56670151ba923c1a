"""The older forms of pprof, by gperftools: words of CPU profiles, and texts of heap, contention (locks) and counts such as goroutines.

CPU profiles are machine words, then the memory map of the process as text (gperftools, "CPU Profiler: Format of the profile data"): a
header of 0, 3, version, sampling period in microseconds, 0; records of a count, a depth and that many addresses, the innermost first; a
trailer of 0, 1, 0; text. The texts have a stack of addresses a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from math import exp
from pathlib import Path

import numpy as np

from chathpc.adapters.content import DAMAGED
from chathpc.adapters.pprof.assemble import assembled, metrics_of, stacks_for
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

_N = r"(-?\d{1,18})"
_HEAP_HEAD = re.compile(
    rf"\s*heap profile:\s*{_N}:\s*{_N}\s*\[\s*{_N}:\s*{_N}\s*\]\s*@\s*(?P<kind>[^/\s]*)/?(?P<rate>\d{{0,18}})"
)
_HEAP = re.compile(rf"\s*{_N}:\s*{_N}\s*\[\s*{_N}:\s*{_N}\s*\]\s*@(?P<stack>[ xX0-9a-fA-F]*)")
_CONTENTION = re.compile(rf"\s*{_N}\s+{_N}\s*@(?P<stack>[ xX0-9a-fA-F]*)")
_COUNT = re.compile(rf"\s*{_N}\s*@(?P<stack>[ xX0-9a-fA-F]*)")
_COUNTED = re.compile(r"\s*(?P<what>\w{1,40}) profile: total \d")
_FACT = re.compile(r"\s*(?P<key>[\w/ ]{1,40}?)\s*[=:]\s*(?P<value>\S+)\s*")
#: Seconds of a unit of the delay.
_RESOLUTIONS = {"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3}
_HOW = "Write it again, or as protobuf: pprof -proto BINARY PROFILE > profile.pb.gz"


def text_profile_of(text: str, path: Path) -> Profile:
    """The profile in the text; AdapterError if it holds no stack."""
    rows = text.splitlines()
    stacks = stacks_for(len(text))
    addresses = Addresses(row for row in rows if "@" not in row)
    head = next((row for row in rows if row.strip()), "")
    if head.lstrip().startswith("heap profile"):
        return _heap(rows, head, stacks, addresses, path)
    if head.lstrip().startswith("---"):
        return _contention(rows, stacks, addresses, path)
    return _counts(rows, head, stacks, addresses, path)


def _node(stacks: Stacks, addresses: Addresses, stack: str) -> int:
    node = -1
    for word in reversed(stack.split()):
        try:
            address = int(word, 16)
        except ValueError:
            continue
        node = stacks.walk(addresses.frames(stacks, address & 0xFFFFFFFFFFFFFFFF), node)
    return stacks.step(-1, stacks.frame("[unknown]")) if node < 0 else node


def _heap(rows: list[str], head: str, stacks: Stacks, addresses: Addresses, path: Path) -> Profile:
    found = _HEAP_HEAD.match(head)
    kind, rate = (found["kind"], int(found["rate"] or 0)) if found else ("", 0)
    # Go's older form writes twice the mean distance between sampled bytes.
    rate = rate // 2 if kind == "heap" else rate if kind in ("heap_v2", "heapz_v2") else 0
    types = [("inuse_objects", "count"), ("inuse_space", "bytes"), ("alloc_objects", "count"), ("alloc_space", "bytes")]
    metrics = metrics_of(types)
    for row in rows:
        if (line := _HEAP.fullmatch(row)) is None:
            continue
        node = _node(stacks, addresses, line["stack"])
        for first in (0, 2):
            amounts = _unsampled(int(line[first + 1]), int(line[first + 2]), rate)
            for metric, amount in zip(metrics[first : first + 2], amounts, strict=True):
                if amount:
                    stacks.add(metric.id, node, amount)
    return assembled(stacks, metrics, path, "heap text", sample_count=None, caveats=[])


def _unsampled(count: int, size: int, rate: int) -> tuple[float, float]:
    """What a sampled number of objects and their bytes stand for.

    A byte is sampled with the mean distance `rate` (a Poisson process), so an object of s bytes is seen with the probability
    1 − exp(−s/rate); the counts are divided by it.
    """
    if count <= 0 or size <= 0:
        return 0.0, 0.0
    if rate <= 1:
        return float(count), float(size)
    seen = 1 - exp(-(size / count) / rate)
    return (count / seen, size / seen) if seen > 0 else (float(count), float(size))


def _contention(rows: list[str], stacks: Stacks, addresses: Addresses, path: Path) -> Profile:
    period, hertz, resolution = 1, 0, 0.0
    metrics = metrics_of([("contentions", "count"), ("delay", "seconds")])
    cycles = False
    for row in rows:
        line = _CONTENTION.fullmatch(row)
        if line is not None:
            node = _node(stacks, addresses, line["stack"])
            delay, count = int(line[1]) * period, int(line[2]) * period
            unit = resolution or (1 / hertz if hertz else 0.0)
            cycles |= not unit
            if count:
                stacks.add("lock.wait.count", node, float(count))
            if delay and unit:
                stacks.add("lock.wait.time", node, delay * unit)
        elif fact := _FACT.fullmatch(row):
            key, value = fact["key"].strip(), fact["value"]
            number = int(value) if value.isascii() and value.isdigit() and len(value) < 19 else 0
            if key == "sampling period":
                period = max(number, 1)
            elif key == "cycles/second":
                hertz = number
            elif key == "resolution":
                resolution = _RESOLUTIONS.get(value, 0.0)
    caveats = ["The delays are in cycles of an unknown clock and are excluded."] if cycles else []
    return assembled(stacks, metrics, path, "contention text", sample_count=None, caveats=caveats)


def _counts(rows: list[str], head: str, stacks: Stacks, addresses: Addresses, path: Path) -> Profile:
    found = _COUNTED.match(head)
    if found is None:
        raise AdapterError("is not a known kind of profile", path=path, hint=_HOW)
    metrics = metrics_of([(found["what"], "count")])
    for row in rows:
        if (line := _COUNT.fullmatch(row)) is not None and int(line[1]):
            stacks.add(metrics[0].id, _node(stacks, addresses, line["stack"]), float(line[1]))
    return assembled(stacks, metrics, path, "count text", sample_count=None, caveats=[])


#: Microseconds between samples that are believed: up to an hour.
_LONGEST_PERIOD = 3_600_000_000


def layout(data: bytes) -> str | None:
    """The type of the file's words (`<u8`, `<u4`, `>u8`, `>u4`) if its header is one of a CPU profile, else None."""
    for words in ("<u8", "<u4", ">u8", ">u4"):
        if len(data) < 8 * np.dtype(words).itemsize:
            continue
        zero, length, version, period, padding = np.frombuffer(data, dtype=words, count=5).tolist()
        if zero == 0 and length == 3 and version in (0, 1) and 0 < period <= _LONGEST_PERIOD and padding == 0:
            return words
    return None


def cpu_profile_of(data: bytes, path: Path) -> Profile:
    """The profile in the bytes of such a file; AdapterError where a record goes beyond the end."""
    words = layout(data) or "<u8"
    size = np.dtype(words).itemsize
    numbers: list[int] = np.frombuffer(data, dtype=words, count=len(data) // size).tolist()
    period, at = numbers[3], 5
    records: list[tuple[int, int, int]] = []
    ended = False
    while at + 2 < len(numbers):
        count, depth = numbers[at], numbers[at + 1]
        if count == 0 and depth == 1 and numbers[at + 2] == 0:
            at, ended = at + 3, True
            break
        if depth == 0 or depth > len(numbers) - at - 2:
            raise AdapterError(
                f"a record claims {depth:,} frames, more than the file has", path=path, offset=at * size, hint=DAMAGED
            )
        records.append((count, at + 2, depth))
        at += 2 + depth
    caveats = [] if ended else ["The end of the file is missing; the samples before it were read."]
    addresses = Addresses(data[at * size :].decode("utf-8", "replace").splitlines() if ended else [])
    stacks = stacks_for(len(data))
    metrics = metrics_of([("samples", "count"), ("cpu", "microseconds")])
    total = 0
    for count, first, depth in records:
        chain = numbers[first : first + depth]
        # The address of the interrupted instruction comes from the signal and often from unwinding as well.
        if depth > 1 and chain[0] == chain[1]:
            del chain[1]
        node = -1
        for address in reversed(chain):
            node = stacks.walk(addresses.frames(stacks, address), node)
        if count:
            stacks.add("cpu.samples", node, float(count))
            stacks.add("cpu.time", node, count * period * 1e-6)
            total += count
    return assembled(stacks, metrics, path, "gperftools CPU", sample_count=float(total), caveats=caveats)


_MAP = re.compile(
    r"\s*(?P<start>[0-9a-f]{1,16})-(?P<end>[0-9a-f]{1,16}):?\s+(?P<rights>[-rwxps]{3,4})?\s*"
    r"(?:(?P<offset>[0-9a-f]{1,16})\s+[0-9a-f]+:[0-9a-f]+\s+\d+\s+)?(?P<file>\S.*)?",
    re.IGNORECASE,
)
#: `0x000001a com.example.Grid.solve (Grid.java:12)`, as Java profiles list their symbols.
_SYMBOL = re.compile(
    r"\s*0x(?P<address>[0-9a-f]{1,16})\s+(?P<name>\S.*?)(?:\s+\((?P<file>[^():]*)(?::(?P<line>\d{1,9}))?\))?\s*"
)


class Addresses:
    """What is known about the addresses of a profile."""

    def __init__(self, text: Iterable[str]) -> None:
        self._maps: list[tuple[int, int, int, str]] = []
        self._symbols: dict[int, tuple[str, str, int]] = {}
        for row in text:
            if found := _MAP.fullmatch(row):
                if found["file"] and (found["rights"] is None or "x" in found["rights"]):
                    start, end = int(found["start"], 16), int(found["end"], 16)
                    self._maps.append((start, end, int(found["offset"] or "0", 16), found["file"].strip()))
            elif found := _SYMBOL.fullmatch(row):
                line = int(found["line"] or 0)
                self._symbols[int(found["address"], 16)] = found["name"], found["file"] or "", line
        self._maps.sort()
        self._starts = [start for start, *_ in self._maps]
        self._frames: dict[int, list[int]] = {}

    def frames(self, stacks: Stacks, address: int) -> list[int]:
        """The frames of an address: its function and line where it has a symbol, else the instruction."""
        if address not in self._frames:
            self._frames[address] = self._look_up(stacks, address)
        return self._frames[address]

    def _look_up(self, stacks: Stacks, address: int) -> list[int]:
        symbol = self._symbols.get(address)
        if symbol is not None:
            name, file, line = symbol
            frames = [stacks.frame(name, file=file)]
            if file and line:
                frames.append(stacks.frame("", kind=NodeKind.LINE, file=file, line=line))
            return frames
        at = bisect_right(self._starts, address) - 1
        if at >= 0 and address < self._maps[at][1]:
            start, _, offset, file = self._maps[at]
            inside = (address - start + offset) & 0xFFFFFFFFFFFFFFFF
            return [stacks.frame("", kind=NodeKind.INSTRUCTION, module=file, offset=inside)]
        return [stacks.frame("", kind=NodeKind.INSTRUCTION, offset=address & 0xFFFFFFFFFFFFFFFF)]
