"""The pages of an SQLite file: where they are, which are the leaves of a table, and the cells on them.

Layout: https://www.sqlite.org/fileformat2.html, sections 1.3 (header) and 1.6 (b-tree pages). Nothing here tries to be lenient: what is not as
SQLite writes it raises Unusual, and the table is then left to SQLite, which knows what is damage and what is not.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]

#: The first byte of a b-tree page of a table (section 1.6), and the bytes before its cell pointers.
INTERIOR, LEAF = 5, 13
HEAD = {INTERIOR: 12, LEAF: 8}
#: Levels of a b-tree at most: BTCURSOR_MAX_DEPTH of SQLite.
DEEPEST = 20
#: The byte whose page SQLite never uses (section 1.5).
LOCK_BYTE = 1 << 30
#: Bytes behind a batch of pages, so that a window on the last cell does not reach over its end.
MARGIN = 512
#: Bytes of inner pages read at a time.
PIECE = 4 << 20


class Unusual(Exception):
    """Something that is not read here; SQLite is asked instead."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """An open file of `count` pages of `size` bytes, of which `usable` hold content."""

    descriptor: int
    size: int
    usable: int
    count: int

    def read(self, pages: Numbers) -> Bytes:
        """The pages with these numbers (from 1), one behind the other, and MARGIN bytes more."""
        data = np.empty(len(pages) * self.size + MARGIN, np.uint8)
        data[-MARGIN:] = 0
        view = data.data
        starts = np.flatnonzero(np.diff(pages, prepend=-1) != 1)
        stops = np.append(starts[1:], len(pages))
        for start, stop, page in zip(starts.tolist(), stops.tolist(), pages[starts].tolist(), strict=True):
            position, end, offset = start * self.size, stop * self.size, (page - 1) * self.size
            while position < end:
                read = os.preadv(self.descriptor, [view[position:end]], offset)
                if read == 0:
                    raise Unusual("the file ends before the page")
                position, offset = position + read, offset + read
        return data

    def check(self, pages: Numbers) -> None:
        """Raise Unusual unless all numbers are of pages that can belong to a table: not the first and not the lock page."""
        if pages.min() < 2 or pages.max() > self.count or (pages == LOCK_BYTE // self.size + 1).any():
            raise Unusual("a page number out of range")


@contextmanager
def open_pages(path: Path, page_size: int, page_count: int) -> Iterator[PageFile]:
    """Open the file for reading pages; `page_size` and `page_count` are what SQLite says of it."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        raise Unusual("the file cannot be opened") from None
    try:
        head = os.pread(descriptor, 100, 0)
        if len(head) < 100:
            raise Unusual("no header")
        size, reserved = struct.unpack_from(">H2xB", head, 16)
        size = 65536 if size == 1 else size
        if size != page_size or size < 512 or size & (size - 1) or size - reserved < 480:
            raise Unusual("page size")
        if page_count * size > os.fstat(descriptor).st_size:
            raise Unusual("the last page is incomplete")
        yield PageFile(descriptor, size, size - reserved, page_count)
    except OSError:
        raise Unusual("the file cannot be read") from None
    finally:
        os.close(descriptor)


def leaves(file: PageFile, root: int) -> Numbers:
    """Numbers of the leaf pages of the table whose root is `root`, in the order of its key; none for an empty table."""
    level = np.array([root], np.int64)
    seen = np.zeros(file.count + 1, np.bool_)
    for _ in range(DEEPEST):
        file.check(level)
        if seen[level].any():
            raise Unusual("a page twice")
        seen[level] = True
        first = file.read(level[:1])
        if first[0] == LEAF:
            if len(np.unique(level)) != len(level):
                raise Unusual("a page twice")
            return level if len(level) > 1 or first[3] or first[4] else level[:0]
        pages = max(1, PIECE // file.size)
        pieces, found = [], 0
        for start in range(0, len(level), pages):
            pieces.append(_children(file, level[start : start + pages]))
            found += len(pieces[-1])
            if found > file.count:
                raise Unusual("a page twice")
        level = np.concatenate(pieces)
    raise Unusual("too many levels")


def _children(file: PageFile, pages: Numbers) -> Numbers:
    """The pages below interior pages, in the order of the key."""
    data = file.read(pages)
    where, counts = cells(data, len(pages), file, INTERIOR)
    words = window(data, 16)[where].view("<u8").reshape(-1, 2)
    _, length = varint(words[:, 0] >> np.uint64(32) | words[:, 1] << np.uint64(32))
    if (where % file.size + 4 + length.astype(np.int64) > file.usable).any():
        raise Unusual("a cell that reaches beyond its page")
    below = np.empty(len(where) + len(pages), np.int64)
    last = np.cumsum(counts + 1) - 1
    inner = np.ones(len(below), np.bool_)
    inner[last] = False
    below[inner] = window(data, 4)[where].view(">u4")
    below[last] = window(data, 4)[np.arange(len(pages)) * file.size + 8].view(">u4")
    return below


def cells(data: Bytes, pages: int, file: PageFile, kind: int) -> tuple[Numbers, Numbers]:
    """Where in `data` each cell begins, page after page in the order of the pointers; and the cells of each page.

    Unusual if a page is of another kind, or empty, or if a pointer leads into the head of its page or beyond it.
    """
    heads = data[: pages * file.size].reshape(pages, file.size)
    counts = heads[:, 3].astype(np.int64) << 8 | heads[:, 4]
    if (heads[:, 0] != kind).any() or counts.min() < 1 or counts.max() > (file.size - 8) // 6:
        raise Unusual("no page of that kind")
    head = HEAD[kind]
    starts = np.arange(pages, dtype=np.int64) * file.size
    places = np.repeat(starts + head - 2 * (np.cumsum(counts) - counts), counts)
    places += 2 * np.arange(len(places))
    pointers = data.view(">u2").take(places >> 1).astype(np.int64)
    # Behind the pointers, and with room for the smallest cell.
    if (pointers < np.repeat(head + 2 * counts, counts)).any() or pointers.max() > file.usable - 4 - (kind == INTERIOR):
        raise Unusual("a cell pointer out of range")
    return pointers + np.repeat(starts, counts), counts


def window(data: Bytes, width: int) -> NDArray[np.void]:
    """A view in which element i is the `width` bytes from byte i on.

    Elements have no alignment, so one index operation copies them from anywhere: the fastest gather that numpy has.
    """
    return np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))


STOP, ONES = np.uint64(0x8080808080808080), np.uint64(0x0101010101010101)
ONE, EIGHT, TOP = np.uint64(1), np.uint64(8), np.uint64(56)
SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)
#: Bits that stay, bits that move and how far, to close the gap that each byte's, pair's, quadruple's top bits left.
CLOSE = tuple(
    (np.uint64(stay), np.uint64(move), np.uint64(shift))
    for stay, move, shift in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)


def varint(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Value and length of the varint (section 1.6) that begins with the lowest byte of each word; Unusual for one of 9 bytes."""
    stop = ~words & STOP
    if not stop.all():
        raise Unusual("a number of 9 bytes")
    stop &= ~stop + ONE  # the lowest bit alone
    below = stop | (stop - ONE)
    length = ((below & ONES) * ONES) >> TOP
    value = (words & below & SEVENS).byteswap() >> (EIGHT * (EIGHT - length))
    for stay, move, shift in CLOSE:
        value = (value & stay) | ((value & move) >> shift)
    return value, length
