"""The older text forms of pprof: heap, contention (locks), and counts such as goroutines; a stack of addresses a line."""

from __future__ import annotations

import re
from math import exp
from pathlib import Path

from chathpc.adapters.pprof.addresses import Addresses
from chathpc.adapters.pprof.assemble import assembled, stacks_for
from chathpc.adapters.pprof.vocabulary import metrics_of
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile

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


def profile_of(text: str, path: Path) -> Profile:
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
