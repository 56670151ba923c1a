"""The files inside a .cubex archive: a tar with anchor.xml and, for each metric, N.index and N.data.

Cube writes headers whose checksums differ from tar's, so they are read here: name, size and type of each entry, bounded by
the size of the archive. Source: POSIX.1-2001, pax interchange format (ustar header block).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from chathpc.adapters.content import DAMAGED, read_bytes
from chathpc.adapters.packed import unpack
from chathpc.errors import AdapterError

BLOCK = 512
#: Entries of an archive: three for each metric, and a few.
MOST_ENTRIES = 100_000
_OCTAL = re.compile(rb"[0 ]*([0-7]{1,12})[ \0]*")


class Archive:
    """An archive in memory; `files` maps names to (offset, size)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = memoryview(read_bytes(path))
        self.files = self._entries()

    def _entries(self) -> Mapping[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        at, size = 0, len(self.data)
        while at + BLOCK <= size:
            header = bytes(self.data[at : at + BLOCK])
            name = header[:100].split(b"\0", 1)[0]
            if not name:
                break
            match = _OCTAL.fullmatch(header[124:136].rstrip(b"\0 ") or b"0")
            if match is None:
                raise AdapterError("an entry of the archive has no size", path=self.path, offset=at, hint=DAMAGED)
            length = int(match[1], 8)
            if at + BLOCK + length > size:
                raise AdapterError(
                    f"an entry of {length:,} bytes reaches beyond the end of the archive",
                    path=self.path,
                    offset=at,
                    hint=DAMAGED,
                )
            if header[156:157] in (b"0", b"\0"):
                found.setdefault(name.decode("ascii", "replace").removeprefix("./"), (at + BLOCK, length))
            if len(found) > MOST_ENTRIES:
                raise AdapterError(f"has more than {MOST_ENTRIES:,} entries", path=self.path, hint=DAMAGED)
            at += BLOCK + (length + BLOCK - 1) // BLOCK * BLOCK
        return found

    def content(self, name: str) -> memoryview | None:
        """The bytes of an entry, None if there is none of that name."""
        place = self.files.get(name)
        return None if place is None else self.data[place[0] : place[0] + place[1]]

    def anchor(self) -> bytes:
        """anchor.xml, unpacked if it is packed; AdapterError without one."""
        content = self.content("anchor.xml")
        if content is None:
            raise AdapterError("the archive has no anchor.xml", path=self.path, hint=DAMAGED)
        return unpack(bytes(content), self.path)
