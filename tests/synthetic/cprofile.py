"""A writer of marshalled statistics, from the layout of Python's marshal format: old and new versions, with references or not."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

Stats = Mapping[tuple[str, int, str], tuple[Any, ...]]


class Writer:
    """Writes values; with `references` a text that was written before is referred to, as Python 3 does."""

    def __init__(self, version: int = 4, *, references: bool = True) -> None:
        self.version = version
        self.references = references and version >= 3
        self.known: dict[str, int] = {}

    def value(self, value: Any) -> bytes:
        """The bytes of a value."""
        if value is None or isinstance(value, bool):
            return b"N" if value is None else b"T" if value else b"F"
        if isinstance(value, int):
            return self.number(value)
        if isinstance(value, float):
            text = repr(value).encode()
            return b"g" + struct.pack("<d", value) if self.version >= 2 else b"f" + bytes([len(text)]) + text
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, tuple):
            parts = b"".join(map(self.value, value))
            return (b")" + bytes([len(value)]) if self.version >= 4 else b"(" + struct.pack("<i", len(value))) + parts
        return b"{" + b"".join(self.value(k) + self.value(v) for k, v in value.items()) + b"0"

    def number(self, value: int) -> bytes:
        """A whole number; large ones in digits of 15 bits."""
        if -(2**31) <= value < 2**31:
            return b"i" + struct.pack("<i", value)
        digits, rest = [], abs(value)
        while rest:
            digits.append(rest & 0x7FFF)
            rest >>= 15
        return (
            b"l"
            + struct.pack("<i", len(digits) * (1 if value > 0 else -1))
            + b"".join(struct.pack("<H", d) for d in digits)
        )

    def text(self, value: str) -> bytes:
        """A text: short ASCII, or UTF-8."""
        if self.references and value in self.known:
            return b"r" + struct.pack("<i", self.known[value])
        data = value.encode()
        flag = 0
        if self.references:
            self.known[value] = len(self.known)
            flag = 0x80
        if self.version >= 4 and value.isascii() and len(data) < 256:
            return bytes([ord("z") | flag, len(data)]) + data
        kind = "u" if self.version >= 3 else "s"
        return bytes([ord(kind) | flag]) + struct.pack("<i", len(data)) + data


def write(stats: Stats, version: int = 4, *, references: bool = True) -> bytes:
    """The bytes of a .pstats file."""
    return Writer(version, references=references).value(dict(stats))


MAIN, SOLVE, EXP, SLEEP = (
    ("heat.py", 40, "main"),
    ("heat.py", 10, "solve"),
    ("~", 0, "<built-in method math.exp>"),
    ("~", 0, "<built-in method time.sleep>"),
)
HEAT: Stats = {
    MAIN: (1, 1, 0.5, 10.0, {}),
    SOLVE: (3, 9, 6.0, 8.0, {MAIN: (3, 3, 4.0, 8.0), SOLVE: (6, 6, 2.0, 3.0)}),
    EXP: (1000, 1000, 2.0, 2.0, {SOLVE: (1000, 1000, 2.0, 2.0)}),
    SLEEP: (2, 2, 1.5, 1.5, {MAIN: (1, 1, 0.7, 0.7), SOLVE: (1, 1, 0.8, 0.8)}),
}
