"""Whole files read within bounds: a small file that unpacks to gigabytes, or nests without end, is refused."""

from __future__ import annotations

import filecmp
import io
import json
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from chathpc.adapters.glance import GZIP, encoding_of
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: The largest file that is read into memory as a whole. Formats that grow beyond it are read in pieces.
LARGEST = 4 << 30
#: Bytes that a compressed file may unpack to: a constant, and a multiple of its size (traces shrink to a hundredth at best).
UNPACKED, UNPACKED_PER_BYTE = 32 << 20, 128
#: Bytes unpacked at a time; and bytes given to the unpacker at first and at most: what a member leaves of them is copied.
PIECE, FEED, FEED_MOST = 4 << 20, 1 << 10, 1 << 20
#: Members of a gzip file: a constant, and how many bytes each takes on average beyond it (the smallest has 20).
MEMBERS, BYTES_PER_MEMBER = 1_000, 64

DAMAGED = "Copy the file again, or write it again."


def same_bytes(one: Path, other: Path) -> bool:
    """True for two files with the same bytes, and for two folders whose own files have the same names and bytes; what lies in folders
    below, such as copies of source, does not count. False for what cannot be read.
    """
    try:
        names, others = _files_in(one), _files_in(other)
        pairs = [(one / name, other / name) for name in names] if names or others else [(one, other)]
        if names != others or not all(file.is_file() for pair in pairs for file in pair):
            return False
        return all(filecmp.cmp(*pair, shallow=False) for pair in pairs)
    except OSError:
        return False


def _files_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir() if entry.is_file()} if folder.is_dir() else set()


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """All of a file, unpacked if it is gzip (by content, not by name); AdapterError beyond the bounds or if it is damaged."""
    try:
        with open(path, "rb", opener=_no_wait) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise AdapterError("is no regular file", path=path, hint="Give a file, not a pipe, device or folder.")
            if status.st_size > largest:
                raise AdapterError(
                    f"has {status.st_size:,} bytes; at most {largest:,} are read at once",
                    path=path,
                    hint="Record a shorter run.",
                )
            data = file.read(status.st_size)
        return unpack(data, path) if data.startswith(GZIP) else data
    except OSError as error:
        raise AdapterError(
            error.strerror or "cannot be read", path=path, hint="Check the path and its permissions."
        ) from None
    except ValueError:  # a zero byte
        raise AdapterError("is no path", path=clean(str(path)), hint="Check the path.") from None
    except MemoryError:
        raise AdapterError("needs more memory than there is", path=path, hint="Record a shorter run.") from None


def _no_wait(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def unpack(data: bytes, path: Path) -> bytes:
    """`data`, which is gzip (one member or several), unpacked; AdapterError for damage and for bombs."""
    whole = io.BytesIO()
    for piece in unpacked(io.BytesIO(data), len(data), path):
        whole.write(piece)
    return whole.getvalue()


def unpacked(file: BinaryIO, size: int, path: Path) -> Iterator[bytes]:
    """The content of gzip data (one member or several) of `size` bytes in pieces of at most PIECE bytes.

    What follows the last member and is no member is ignored, as gzip does. AdapterError for damage, for more than UNPACKED
    + UNPACKED_PER_BYTE × size bytes, and for members without number.
    """
    allowed = UNPACKED + UNPACKED_PER_BYTE * size
    source, members, total = _Source(file), 0, 0
    while source.peek(len(GZIP)) == GZIP:
        members += 1
        if members > MEMBERS + size // BYTES_PER_MEMBER:
            raise AdapterError(f"has more than {members - 1:,} gzip members", path=path, hint=DAMAGED)
        for piece in _member(source, path):
            total += len(piece)
            if total > allowed:
                raise AdapterError(
                    f"unpacks to more than {allowed:,} bytes, over {UNPACKED_PER_BYTE} times its size",
                    path=path,
                    hint="This is no profile. If it is, unpack it with gunzip and give the result.",
                )
            yield piece


class _Source:
    """Bytes of a file that can be given back."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._held, self._at = file, b"", 0

    def peek(self, count: int) -> bytes:
        if len(self._held) - self._at < count:
            self._held, self._at = self._held[self._at :] + self._file.read(FEED_MOST), 0
        return self._held[self._at : self._at + count]

    def take(self, count: int) -> bytes:
        """At most `count` bytes; none at the end of the file."""
        self.peek(1)
        taken = self._held[self._at : self._at + count]
        self._at += len(taken)
        return taken

    def give_back(self, count: int) -> None:
        """The last `count` bytes of what was taken last were too many."""
        self._at -= count


def _member(source: _Source, path: Path) -> Iterator[bytes]:
    """The pieces of the member that begins where `source` stands, which is left where the member ends."""
    member = zlib.decompressobj(wbits=31)
    feed, rest = FEED, b""
    while not member.eof:
        if not rest:
            rest = source.take(feed)
            feed = min(2 * feed, FEED_MOST)
        try:
            piece = member.decompress(rest, PIECE)
        except zlib.error as error:
            raise AdapterError(f"damaged gzip data: {error}", path=path, hint=DAMAGED) from None
        if not piece and not rest:
            raise AdapterError("the gzip data ends too early", path=path, hint=DAMAGED)
        rest = member.unconsumed_tail
        if piece:
            yield piece
    source.give_back(len(member.unused_data))


def read_text(path: Path, *, largest: int = LARGEST) -> str:
    """All of a text file, unpacked if need be: UTF-16 with a byte order mark, else UTF-8; bytes that are no text are replaced."""
    data = read_bytes(path, largest=largest)
    mark, encoding = encoding_of(data)
    return data[len(mark) :].decode(encoding, "replace")


def read_json(path: Path, *, largest: int = LARGEST) -> Any:
    """The JSON value in a file, unpacked if need be; AdapterError for damage and for nesting without end."""
    return parse_json(read_text(path, largest=largest), path)


def parse_json(text: str, path: Path) -> Any:
    """The JSON value of `text`, which was read from `path`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode("utf-8", "surrogatepass"))
        raise AdapterError(f"damaged JSON: {error.msg}", path=path, offset=offset, hint=DAMAGED) from None
    except RecursionError:
        raise AdapterError("the JSON is nested too deeply", path=path, hint="This is no profile.") from None
    except ValueError as error:  # a number with thousands of digits
        raise AdapterError(f"damaged JSON: {error}", path=path, hint=DAMAGED) from None
    except MemoryError:
        raise AdapterError("needs more memory than there is", path=path, hint="Record a shorter run.") from None
