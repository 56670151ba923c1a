"""Addresses of the older forms of pprof: load modules from the memory map at their end, symbols where they list them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from chathpc.adapters.stacks import Stacks
from chathpc.profile.tree import NodeKind

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
        found = self._frames.get(address)
        if found is None:
            found = self._frames[address] = self._look_up(stacks, address)
        return found

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
