"""Writers of pprof's forms: the message of profile.proto by an encoder of our own, gperftools' words and texts."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A place in a function: name, file, line, first line of the function."""

    name: str
    file: str = "heat.go"
    line: int = 0
    first: int = 0


@dataclass(frozen=True, slots=True)
class Location:
    """An address and its lines, the innermost inlined function first; without lines it has no symbol."""

    address: int
    lines: tuple[Line, ...] = ()
    module: str = "/opt/heat"


Sample = tuple[tuple[int, ...], tuple[int, ...]]  #: numbers of locations, the innermost first; values


def varint(value: int) -> bytes:
    """A number as the wire has it."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return varint(field << 3) + varint(value)


def data(field: int, content: bytes) -> bytes:
    """A field with bytes."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def message(
    types: Sequence[tuple[str, str]],
    samples: Iterable[Sample],
    locations: Sequence[Location],
    *,
    period: int = 10_000_000,
    packed: bool = True,
    comments: Sequence[str] = (),
    labels: Sequence[tuple[str, str]] = (),
) -> bytes:
    """The bytes of a message Profile."""
    strings: dict[str, int] = {"": 0}
    functions: dict[tuple[str, str, int], int] = {}
    mappings: dict[str, int] = {}

    def text(value: str) -> int:
        return strings.setdefault(value, len(strings))

    def values(field: int, content: Sequence[int]) -> bytes:
        if packed:
            return data(field, b"".join(map(varint, content)))
        return b"".join(number(field, value) for value in content)

    out = b"".join(data(1, number(1, text(kind)) + number(2, text(unit))) for kind, unit in types)
    label = b"".join(data(3, number(1, text(key)) + number(2, text(value))) for key, value in labels)
    for stack, amounts in samples:
        out += data(2, values(1, [index + 1 for index in stack]) + values(2, amounts) + label)
    for index, location in enumerate(locations):
        mapping = mappings.setdefault(location.module, len(mappings) + 1)
        body = number(1, index + 1) + number(2, mapping) + number(3, location.address)
        for line in location.lines:
            function = functions.setdefault((line.name, line.file, line.first), len(functions) + 1)
            body += data(4, number(1, function) + number(2, line.line))
        out += data(4, body)
    for (name, file, first), index in functions.items():
        out += data(5, number(1, index) + number(2, text(name)) + number(4, text(file)) + number(5, first))
    for module, index in mappings.items():
        out += data(
            3,
            number(1, index) + number(2, 0x400000) + number(3, 0x800000) + number(4, 0x1000) + number(5, text(module)),
        )
    comment = b"".join(number(13, text(value)) for value in comments)
    out += b"".join(data(6, value.encode()) for value in strings)
    return out + data(11, number(1, text("cpu") if "cpu" in strings else 0)) + number(12, period) + comment


def gperftools(
    records: Iterable[tuple[int, Sequence[int]]],
    *,
    period: int = 10_000,
    words: str = "<Q",
    maps: str = "",
    end: bool = True,
) -> bytes:
    """A CPU profile of gperftools: (count, addresses with the innermost first)."""
    numbers = [0, 3, 0, period, 0]
    for count, stack in records:
        numbers += [count, len(stack), *stack]
    if end:
        numbers += [0, 1, 0]
    return b"".join(struct.pack(words, value) for value in numbers) + maps.encode()


def heap(rows: Iterable[tuple[tuple[int, int, int, int], Sequence[int]]], kind: str = "heap_v2/524288") -> str:
    """A heap profile as text."""
    text = f"heap profile: 1: 2 [3: 4] @ {kind}\n"
    for (live, size, made, bytes_made), stack in rows:
        text += f"{live}: {size} [{made}: {bytes_made}] @ {' '.join(f'{address:#x}' for address in stack)}\n"
    return text


HOT = (
    Location(0x401000, (Line("main.main", line=40, first=38),)),
    Location(0x402000, (Line("main.square", line=3, first=2), Line("main.solve", line=12, first=10))),
    Location(0x403000, (Line("main.solve", line=14, first=10),)),
    Location(0x404000),
)
SAMPLES: tuple[Sample, ...] = (
    ((1, 0), (300, 3_000_000_000)),
    ((2, 0), (150, 1_500_000_000)),
    ((3, 2, 0), (50, 500_000_000)),
)
TYPES = (("samples", "count"), ("cpu", "nanoseconds"))
MAPS = "00400000-00800000 r-xp 00001000 08:01 7 /opt/heat\n00800000-00900000 rw-p 00000000 00:00 0\n7f00-7f10 r-xp 0 0:0 0 /lib/libc.so.6\n"
