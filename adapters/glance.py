"""A first look at a path: what adapters recognise a format by. Reads little, decompresses little, raises nothing."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import islice
from pathlib import Path

from chathpc.adapters.packed import glimpse, packing_of

#: Bytes at the beginning of a file that are looked at.
HEAD = 64 << 10
#: Names in a folder that are looked at.
NAMES = 10_000
#: Bytes of packed data that are looked at: a block of zstd has up to 128 KiB, and shows nothing before its end.
PACKED = 4 * HEAD

SQLITE = b"SQLite format 3\x00"
_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """The byte order mark that `data` begins with, and its encoding; without one nothing, and UTF-8."""
    return next((found for found in _BYTE_ORDER_MARKS if data.startswith(found[0])), (b"", "utf-8"))


class Glance:
    """A path and, read when asked for, the beginning of its content. What cannot be read looks empty."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def is_folder(self) -> bool:
        """True for a folder, and a link to one."""
        return os.path.isdir(self.path)

    @cached_property
    def is_file(self) -> bool:
        """True for a regular file, and a link to one."""
        return os.path.isfile(self.path)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in the folder, sorted (of the first 10,000); empty for a file."""
        if not self.is_folder:
            return ()
        try:
            with os.scandir(self.path) as entries:
                return tuple(sorted(entry.name for entry in islice(entries, NAMES)))
        except OSError:
            return ()

    def inside(self, name: str) -> Glance:
        """A look at what is called `name` in the folder."""
        return Glance(self.path / name)

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB as they are on the disk; empty for a folder."""
        return self._first(HEAD)

    def _first(self, size: int) -> bytes:
        if not self.is_file:
            return b""
        try:
            with self.path.open("rb") as file:
                return file.read(size)
        except (OSError, ValueError):
            return b""

    @cached_property
    def content(self) -> bytes:
        """The first 64 KiB, unpacked if the file is packed (as far as it is not damaged, and something here unpacks it)."""
        if packing_of(self.head) is None:
            return self.head
        return glimpse(self._first(PACKED), HEAD)

    @cached_property
    def text(self) -> str:
        """The beginning as text: UTF-16 if it has a byte order mark, else UTF-8; what is no text is replaced."""
        mark, encoding = encoding_of(self.content)
        return self.content[len(mark) :].decode(encoding, "replace")

    @cached_property
    def tables(self) -> frozenset[str]:
        """Names of tables and views if the file is an SQLite database, else empty."""
        if not self.head.startswith(SQLITE):
            return frozenset()
        from chathpc.adapters.sqlite import table_names
        from chathpc.errors import AdapterError

        try:
            return table_names(self.path)
        except AdapterError:
            return frozenset()
