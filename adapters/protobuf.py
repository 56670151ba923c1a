"""The wire format of protocol buffers, as much of it as profilers write (protobuf.dev, "Encoding")."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Damaged(ValueError):
    """The bytes are not what they should be; `offset` is where that shows."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.offset = offset


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number at `at` (0 … 2^64−1) and where it ends; Damaged beyond `end` and beyond ten bytes."""
    value = shift = 0
    while True:
        if at >= end:
            raise Damaged("a number is cut off", at)
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift > 63:
            raise Damaged("a number is too long", at)


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Fields of the message in `data[at:end]`: (number, wire type, value or begin, end of a BYTES field)."""
    while at < end:
        # Most keys, numbers and lengths have one byte, which needs no call.
        key, at = (data[at], at + 1) if data[at] < 0x80 else varint(data, at, end)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise Damaged("a field has the number 0", at)
        if kind == VARINT:
            value, at = (data[at], at + 1) if at < end and data[at] < 0x80 else varint(data, at, end)
            yield number, kind, value, 0
        elif kind == BYTES:
            length, at = (data[at], at + 1) if at < end and data[at] < 0x80 else varint(data, at, end)
            if length > end - at:
                raise Damaged("a field is longer than its container", at)
            yield number, kind, at, at + length
            at += length
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            if end - at < size:
                raise Damaged("a field is cut off", at)
            yield number, kind, int.from_bytes(data[at : at + size], "little"), 0
            at += size
        else:
            raise Damaged(f"a field has the unknown wire type {kind}", at)


def numbers(data: bytes, kind: int, begin: int, end: int) -> list[int]:
    """The numbers of one occurrence of a repeated field, packed or not."""
    if kind != BYTES:
        return [begin]
    found, at = [], begin
    while at < end:
        value, at = varint(data, at, end)
        found.append(value)
    return found


def signed(value: int) -> int:
    """A number of type int64 from its 64 bits."""
    return value - (1 << 64) if value >= 1 << 63 else value
