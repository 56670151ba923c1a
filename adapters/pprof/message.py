"""The message Profile of profile.proto (github.com/google/pprof) as a profile.

Locations hold their inlined functions, the innermost first; stacks hold locations, the innermost first. Labels and comments
are not taken in: they may hold anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from chathpc.adapters.content import DAMAGED
from chathpc.adapters.pprof.assemble import assembled, metrics_of, stacks_for
from chathpc.adapters.protobuf import BYTES, VARINT, Damaged, fields, numbers, signed
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

Span = tuple[int, int]


@dataclass(slots=True)
class _Message:
    types: list[tuple[int, int]] = field(default_factory=list)
    samples: list[Span] = field(default_factory=list)
    mappings: dict[int, tuple[int, int, int]] = field(default_factory=dict)  #: id → start, file offset, file name
    locations: dict[int, Span] = field(default_factory=dict)
    functions: dict[int, tuple[int, int, int]] = field(default_factory=dict)  #: id → name, file name, first line
    strings: list[str] = field(default_factory=list)
    period: int = 0

    def text(self, index: int) -> str:
        """String `index` of the table; empty where there is none."""
        return self.strings[index] if 0 <= index < len(self.strings) else ""


def profile_of(data: bytes, path: Path) -> Profile:
    """The profile in the bytes of a message; AdapterError if they are none or hold no sample."""
    try:
        message = _message(data)
        return _profile(message, data, path)
    except Damaged as error:
        raise AdapterError(f"damaged pprof message: {error}", path=path, offset=error.offset, hint=DAMAGED) from None


def _message(data: bytes) -> _Message:
    found = _Message()
    for number, kind, begin, end in fields(data, 0, len(data)):
        if kind == BYTES and number == 1:
            kind_of_value, unit = _numbers_of(data, begin, end, 1, 2)
            found.types.append((kind_of_value, unit))
        elif kind == BYTES and number == 2:
            found.samples.append((begin, end))
        elif kind == BYTES and number == 3:
            identifier, start, offset, name = _numbers_of(data, begin, end, 1, 2, 4, 5)
            found.mappings[identifier] = start, offset, name
        elif kind == BYTES and number == 4:
            found.locations[_numbers_of(data, begin, end, 1)[0]] = begin, end
        elif kind == BYTES and number == 5:
            identifier, name, file, line = _numbers_of(data, begin, end, 1, 2, 4, 5)
            found.functions[identifier] = name, file, line
        elif kind == BYTES and number == 6:
            found.strings.append(data[begin:end].decode("utf-8", "replace"))
        elif kind == VARINT and number == 12:
            found.period = signed(begin)
    return found


def _numbers_of(data: bytes, begin: int, end: int, *wanted: int) -> tuple[int, ...]:
    """The numbers of some fields of a message, 0 where it has none."""
    values = dict.fromkeys(wanted, 0)
    for number, kind, value, _ in fields(data, begin, end):
        if kind == VARINT and number in values:
            values[number] = value
    return tuple(values.values())


def _profile(message: _Message, data: bytes, path: Path) -> Profile:
    if not message.types or not message.samples:
        raise AdapterError("contains no sample", path=path, hint="Record a longer run.")
    metrics = metrics_of([(message.text(kind), message.text(unit)) for kind, unit in message.types[:64]])
    stacks = stacks_for(len(data))
    frames: dict[int, list[int]] = {}
    steps: dict[tuple[int, int], int] = {}
    unknown = 0
    totals = [0.0] * len(metrics)
    for begin, end in message.samples:
        locations: list[int] = []
        values: list[int] = []
        for number, kind, first, last in fields(data, begin, end):
            if number == 1 and kind in (VARINT, BYTES):
                locations += numbers(data, kind, first, last)
            elif number == 2 and kind in (VARINT, BYTES):
                values += numbers(data, kind, first, last)
        node = -1
        for location in reversed(locations):
            key = node, location
            after = steps.get(key)
            if after is None:
                if location not in frames:
                    unknown += location not in message.locations
                    frames[location] = _frames(message, data, location, stacks)
                after = steps[key] = stacks.walk(frames[location], node)
            node = after
        if node < 0:
            node = stacks.step(-1, stacks.frame("[unknown]"))
        for index, (metric, value) in enumerate(zip(metrics, values, strict=False)):
            amount = signed(value) * metric.scale
            if amount:
                stacks.add(metric.id, node, amount)
                totals[index] += amount
    caveats = [f"{unknown:,} locations of its samples are missing."] if unknown else []
    counted = [total for metric, total in zip(metrics, totals, strict=True) if metric.id == "cpu.samples"]
    time = [total / metric.scale for metric, total in zip(metrics, totals, strict=True) if metric.id == "cpu.time"]
    sample_count = counted[0] if counted else time[0] / message.period if time and message.period > 0 else None
    return assembled(stacks, metrics, path, "protobuf", sample_count=sample_count, caveats=caveats)


def _frames(message: _Message, data: bytes, location: int, stacks: Stacks) -> list[int]:
    """The frames of a location, outermost first: its function, the line in it, and what was inlined there."""
    span = message.locations.get(location)
    if span is None:
        return [stacks.frame("[unknown]")]
    mapping = address = 0
    lines: list[tuple[int, int]] = []
    for number, kind, first, last in fields(data, *span):
        if number == 2 and kind == VARINT:
            mapping = first
        elif number == 3 and kind == VARINT:
            address = first
        elif number == 4 and kind == BYTES:
            function, line = _numbers_of(data, first, last, 1, 2)
            lines.append((function, line))
    start, offset, name = message.mappings.get(mapping, (0, 0, 0))
    module = message.text(name)
    if not lines:
        if not address:
            return [stacks.frame("[unknown]", module=module)]
        inside = address - start + offset if start <= address else address
        return [stacks.frame("", kind=NodeKind.INSTRUCTION, module=module, offset=inside & 0xFFFFFFFFFFFFFFFF)]
    frames = []
    for depth, (function, line) in enumerate(reversed(lines)):
        title, file, first_line = message.functions.get(function, (0, 0, 0))
        source = message.text(file)
        frames.append(
            stacks.frame(
                message.text(title) or "[unknown]",
                kind=NodeKind.INLINED if depth else NodeKind.FUNCTION,
                file=source,
                line=first_line,
                module=module,
            )
        )
        if source and 0 < line < 1 << 31:
            frames.append(stacks.frame("", kind=NodeKind.LINE, file=source, line=line, module=module))
    return frames
