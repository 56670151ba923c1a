"""One database file, mapped into memory: every read is checked against the file's size before it happens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.content import open_regular
from chathpc.adapters.hpctoolkit.structures import FILES, MAGIC, MAJOR, MINOR
from chathpc.adapters.packed import unreadable
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Magic, format and version; nothing that is pointed to can begin before its end.
SHORTEST_HEADER = 0x10

#: No symbol, path or description is longer; a longer run without a NUL is damage, not a name.
LONGEST_STRING = 1 << 20


class DatabaseFile:
    """A mapped `*.db` file with a checked header.

    `sections[i]` is (offset, size) of the i-th section; `minor` the minor version of the writer.
    AdapterError for anything that is not such a file: other kind, other major version, truncated, sections outside.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        kind, footer, section_count = FILES[path.name]
        self.data = _map(path)
        header = 0x10 + 0x10 * section_count
        if len(self.data) < 0x10:
            raise self.damaged(
                "the file ends inside its header", 0, hint="It was cut off; copy or write the database again."
            )
        if bytes(self.data[:10]) != MAGIC:
            if bytes(self.data[:16]) == b"HPCPROF-profdb__":
                raise self.damaged("a profile database of a pre-release layout", 0, hint=_REWRITE)
            raise self.damaged("not an HPCToolkit database file", 0, hint="Give the folder that hpcprof wrote.")
        if bytes(self.data[10:14]) != kind:
            found = bytes(self.data[10:14]).decode("ascii", "replace")
            raise self.damaged(
                f"holds '{clean(found)}' where '{kind.decode()}' is expected", 10, hint="The files may be mixed up."
            )
        major, self.minor = int(self.data[14]), int(self.data[15])
        if major != MAJOR:
            raise self.damaged(f"format version {major}.{self.minor}, and chathpc reads {MAJOR}.x", 14, hint=_REWRITE)
        if len(self.data) < header + len(footer):
            raise self.damaged(
                "the file ends inside its header", 0, hint="It was cut off; copy or write the database again."
            )
        if bytes(self.data[-len(footer) :]) != footer:
            raise self.damaged(
                f"does not end with '{footer.decode()}'",
                len(self.data) - len(footer),
                hint="It was cut off or is still being written; run hpcprof again.",
            )
        pairs = self.data[0x10:header].view("<u8").reshape(section_count, 2)
        self.sections = [(int(offset), int(size)) for size, offset in pairs]
        for offset, size in self.sections:
            if offset + size > len(self.data):
                raise self.damaged("a section reaches beyond the end of the file", offset)

    @property
    def newer(self) -> bool:
        """True if the writer had a newer minor version than this reader knows."""
        return self.minor > MINOR

    def damaged(self, what: str, offset: int | None = None, *, hint: str = "") -> AdapterError:
        """The error to raise for damage at byte `offset`."""
        return AdapterError(
            what,
            path=self.path,
            offset=offset,
            hint=hint or "The file is damaged; write the database again with hpcprof.",
        )

    def record(self, offset: int, layout: np.dtype[Any]) -> np.void:
        """The structure at `offset`."""
        record: np.void = self.array(offset, layout, 1)[0]
        return record

    def header(self, section: int, layout: np.dtype[Any]) -> np.void:
        """The structure at the beginning of a section; fields beyond a short section read as damage."""
        offset, size = self.sections[section]
        # The last fields of some headers are followed by padding that a file need not have.
        if size < max(at + np.dtype(kind).itemsize for kind, at in _fields(layout)):
            raise self.damaged("a section is too small for its header", offset)
        if offset + layout.itemsize > len(self.data):
            raise self.damaged("a section header reaches beyond the end of the file", offset)
        return self.record(offset, layout)

    def array(self, offset: int, layout: np.dtype[Any], count: int, stride: int | None = None) -> NDArray[Any]:
        """`count` structures from `offset` on, `stride` bytes apart (as the file says); a view, nothing is copied."""
        if stride is not None and stride != layout.itemsize:
            smallest = max(at + np.dtype(kind).itemsize for kind, at in _fields(layout))
            if stride < smallest:
                raise self.damaged(
                    f"structures of {stride} bytes where at least {smallest} are needed", offset, hint=_REWRITE
                )
            names, kinds = layout.names or (), _fields(layout)
            fields = {"names": names, "formats": [k for k, _ in kinds], "offsets": [at for _, at in kinds]}
            layout = np.dtype({**fields, "itemsize": stride})  # type: ignore[call-overload]  # numpy's stubs want literals
        if count == 0:
            return np.empty(0, dtype=layout)
        if offset < SHORTEST_HEADER:
            raise self.damaged("points into the file's own header", offset)
        if count < 0 or count > (len(self.data) - offset) // layout.itemsize:
            raise self.damaged(f"{count} structures of {layout.itemsize} bytes do not fit into the file", offset)
        return np.frombuffer(self.data, dtype=layout, count=count, offset=offset)

    def gathered(self, offsets: NDArray[np.int64], layout: np.dtype[Any], count: int) -> NDArray[np.void]:
        """`count` structures from each of many offsets on, copied: (offsets × count). They do not overlap in a sound file."""
        size = layout.itemsize * count
        if len(offsets):
            if len(offsets) * size > len(self.data):
                raise self.damaged(f"{len(offsets)} × {count} structures do not fit into the file", int(offsets[0]))
            for extreme in (int(offsets.min()), int(offsets.max())):
                self.array(extreme, layout, count)
        found: NDArray[np.void] = self.data[offsets[:, None] + np.arange(size)].view(layout)
        return found

    def string(self, offset: int) -> str:
        """The NUL-terminated text at `offset`; bytes that are no UTF-8, and control characters, become U+FFFD."""
        stop = len(self.data)
        if not 0 < offset < stop:
            raise self.damaged("a string lies outside the file", offset)
        length = 64
        while True:
            chunk = bytes(self.data[offset : min(offset + length, stop)])
            found = chunk.find(0)
            if found >= 0:
                return clean(chunk[:found].decode("utf-8", "replace"))
            if offset + length >= stop or length >= LONGEST_STRING:
                raise self.damaged("a string has no end, or is longer than 1 MiB", offset)
            length *= 8


_REWRITE = "Run hpcprof of a release of HPCToolkit (2022.10 or newer) on the measurements again."


def _fields(layout: np.dtype[Any]) -> list[tuple[Any, int]]:
    return [(field[0], int(field[1])) for field in (layout.fields or {}).values()]


def _map(path: Path) -> NDArray[np.uint8]:
    """Map a regular file; a pipe, a device or a folder in its place is refused without being opened for reading."""
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size == 0:
                return np.empty(0, dtype=np.uint8)
            return np.asarray(np.memmap(file, dtype=np.uint8, mode="r"))
    except OSError as error:  # larger than the address space that is left
        raise unreadable(error, path) from None
