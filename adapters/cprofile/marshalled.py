"""The part of Python's marshal format that statistics of cProfile consist of: dictionaries, tuples, text, numbers.

Python's own marshal module may crash on damaged data and can make code objects, so it is not used. The layout is that of
Python/marshal.c, versions 0 to 4. Anything else than these types is refused.
"""

from __future__ import annotations

import struct
from typing import TypeAlias

Value: TypeAlias = "bool | int | float | str | tuple[Value, ...] | dict[Value, Value] | _Null | None"

_FLAG = 0x80
#: Statistics are five levels deep: dictionary, tuple, dictionary, tuple, number.
_DEEPEST = 8
#: 15-bit digits of a number: 300 bits are enough for any count.
_DIGITS = 20


class Damaged(ValueError):
    """The bytes are not what they should be; `offset` is where that shows."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.offset = offset


class _Null:
    """What ends a dictionary."""


NULL = _Null()


def decode(data: bytes) -> Value:
    """The value that `data` begins with; Damaged for anything that is none of the types above."""
    return _Decoder(data).value(0)


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.known: list[Value] = []  #: what later parts may refer to
        self.interned: list[Value] = []  #: the same of Python 2, for names only

    def take(self, size: int) -> bytes:
        if size < 0 or size > len(self.data) - self.at:
            raise Damaged("the data end too early", self.at)
        self.at += size
        return self.data[self.at - size : self.at]

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "little", signed=True)

    def value(self, depth: int) -> Value:
        if depth > _DEEPEST:
            raise Damaged("values are nested too deeply", self.at)
        begin = self.at
        code = self.take(1)[0]
        kind = chr(code & ~_FLAG)
        place = -1
        if code & _FLAG and kind in "([{)isuafgltzZAI":
            place = len(self.known)
            self.known.append(NULL)
        found = self.of_kind(kind, depth, begin)
        if place >= 0:
            self.known[place] = found
        return found

    def of_kind(self, kind: str, depth: int, begin: int) -> Value:
        if kind == "i":
            return self.int32()
        if kind == "I":
            return int.from_bytes(self.take(8), "little", signed=True)
        if kind == "g":
            number: float = struct.unpack("<d", self.take(8))[0]
            return number
        if kind in ")(":
            count = self.take(1)[0] if kind == ")" else self.int32()
            if not 0 <= count <= len(self.data) - self.at:
                raise Damaged(f"a tuple claims {count:,} parts", begin)
            return tuple(self.value(depth + 1) for _ in range(count))
        if kind in "zZ":
            return self.take(self.take(1)[0]).decode("utf-8", "replace")
        if kind in "aAust":
            text = self.take(self.int32()).decode("utf-8", "replace")
            if kind == "t":
                self.interned.append(text)
            return text
        if kind in "rR":
            table = self.known if kind == "r" else self.interned
            index = self.int32()
            if not 0 <= index < len(table) or table[index] is NULL:
                raise Damaged("a reference to nothing", begin)
            return table[index]
        if kind == "{":
            return self.dictionary(depth)
        return self.rare(kind, begin)

    def rare(self, kind: str, begin: int) -> Value:
        if kind == "0":
            return NULL
        if kind == "N":
            return None
        if kind in "TF":
            return kind == "T"
        if kind == "f":
            try:
                return float(self.take(self.take(1)[0]))
            except ValueError:
                raise Damaged("an invalid number", begin) from None
        if kind == "l":
            count = self.int32()
            if abs(count) > _DIGITS:
                raise Damaged("a number that is too large", begin)
            digits = [int.from_bytes(self.take(2), "little") for _ in range(abs(count))]
            value = sum(digit << 15 * place for place, digit in enumerate(digits))
            return -value if count < 0 else value
        raise Damaged(f"a value of a type that statistics never contain ({kind!r})", begin)

    def dictionary(self, depth: int) -> Value:
        found: dict[Value, Value] = {}
        while True:
            begin = self.at
            key = self.value(depth + 1)
            if key is NULL:
                return found
            # Only plain keys: the hash of a tuple of tuples of tuples, each given twice, would never be done.
            if not isinstance(key, tuple) or not all(isinstance(part, str | int | float) for part in key):
                raise Damaged("a key that is not a function", begin)
            found[key] = self.value(depth + 1)
