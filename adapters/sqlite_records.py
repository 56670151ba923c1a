"""The records in a batch of leaf pages of an SQLite table, decoded all at once.

Layout: https://www.sqlite.org/fileformat2.html, sections 1.6 (cells) and 2.1 (records). A record begins with a header that gives each column's
type, and with it its length; most rows of a table share a few headers. So headers are compared as words, each different one is
understood once, and then one gather of 8 bytes fetches a column of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.sqlite_pages import LEAF, Bytes, Numbers, PageFile, Unusual, cells, varint, window

#: Serial types (section 2.1): NULL, a float, the number 1; from TEXT on, blobs and texts.
NULL, REAL, ONE, TEXT = 0, 7, 9, 12
#: Bytes of an integer of the serial types 0 to 9.
WIDTHS = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
#: Lengths of what has a type of one byte.
LENGTHS = np.array([*WIDTHS, 0, 0, *((n - TEXT) // 2 for n in range(TEXT, 128)), *[0] * 128], np.uint8)
#: By type, for numbers that are fetched as 4 or 8 bytes: bits that these are shifted by to leave the number; what stays, and what is added.
BYTES = np.array(WIDTHS, np.int64)
SHIFTS = {size: np.array([8 * (size - width) if width else 0 for width in WIDTHS], f"i{size}") for size in (4, 8)}
KEPT = np.array([-1 if width else 0 for width in WIDTHS], np.int32)
ADDED = np.array([int(kind == ONE) for kind in range(len(WIDTHS))], np.int32)
#: Numbers at so many different places at most, of so many kinds of headers, are cut out of blocks of so many bytes, which MARGIN holds.
FEW_PLACES, FEW_KINDS, BLOCK = 3, 64, 96
#: A header of more bytes begins with a number of two bytes; the longest that is read here.
LONGEST_HEADER = 127
#: Bytes of the longest payload size, and the bit that says that a number goes on.
LONGEST_SIZE, CONTINUED = 5, np.uint64(128)
#: MASKS[n] keeps the first n bytes of 8.
MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
#: Odd multipliers for hashing words (golden ratio and its multiples), and the bits of the hash.
MULTIPLIER, HASH_BITS = 0x9E3779B97F4A7C15, 16


Scalar = TypeVar("Scalar", bound=np.generic)
#: 32 or 64 bits.
Integers = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns are wanted of a table: positions in its records, or KEY for the row number.

    `optional[k]` is True if a record that ends before wanted column k means NULL there, `narrow[k]` if 32 bits are enough
    for a number wherever it has no more.
    """

    columns: int
    wanted: tuple[int, ...]
    optional: tuple[bool, ...]
    narrow: tuple[bool, ...]


KEY = -1


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of a batch of pages: row numbers (ascending), the wanted columns, and which rows SQLite has to be asked for.

    Values and presence that are the same for all rows are arrays without a dimension.
    """

    keys: Numbers
    values: list[Integers]
    present: list[NDArray[np.bool_] | None]
    odd: Numbers


@dataclass(frozen=True, slots=True)
class Headers:
    """Different headers: bytes of the values, and for each wanted column its type and its place behind the header."""

    good: NDArray[np.bool_]
    length: Numbers
    types: Numbers
    places: Numbers


def decode(file: PageFile, pages: Numbers, layout: Layout) -> Batch:
    """The rows of leaf pages; Unusual where a page or the order of its rows is not as SQLite writes it."""
    data = file.read(pages)
    where, _ = cells(data, len(pages), file, LEAF)
    payload, keys, where, odd = _cell_heads(data, where, file)
    size = data.take(where).astype(np.int64)
    odd |= (size < 1) | (size > LONGEST_HEADER) | (size > payload)
    size[odd] = 1
    kinds, kind_of = _kinds(data, where, size)
    headers = _understood(kinds, layout)
    odd |= (headers.length.take(kind_of) + size != payload) | ~headers.good.take(kind_of)
    where += size
    plain = ~odd if odd.any() else None
    fetch = _Fetch(data, where, plain, min(int(headers.places.max(initial=0)) + 8, BLOCK))
    values: list[Integers] = []
    present: list[NDArray[np.bool_] | None] = []
    for k, position in enumerate(layout.wanted):
        if position == KEY:
            values.append(keys)
            present.append(None)
            continue
        types = headers.types[:, k]
        widest = int(BYTES[types].max())
        if widest:
            size_of = 4 if layout.narrow[k] and widest <= 4 else 8
            value = fetch(size_of, headers.places[:, k], kind_of)
            shift = _by_kind(SHIFTS[size_of][types], kind_of)
            if shift.ndim or shift:
                value >>= shift
            if not KEPT[types].all():
                value &= KEPT[types].take(kind_of)
                value |= ADDED[types].take(kind_of)
        else:  # 0, 1 and NULL are all type and no value
            value = _by_kind(ADDED[types], kind_of)
        values.append(value)
        present.append(_by_kind(types != NULL, kind_of) if (types == NULL).any() else None)
    return Batch(keys, values, present, np.flatnonzero(odd))


def _by_kind(of_kind: NDArray[Scalar], kind_of: Numbers) -> NDArray[Scalar]:
    """For each row what its kind of header says; one value without a dimension if all say the same."""
    if bool((of_kind == of_kind[0]).all()):
        return np.asarray(of_kind[0])
    return of_kind.take(kind_of)


class _Fetch:
    """Fetches numbers of 4 or 8 bytes at places behind `where`; any bytes for rows that are not plain.

    An index operation takes as long for 50 bytes as for 8: what stands at one of a few places is cut out of a block.
    """

    def __init__(self, data: Bytes, where: Numbers, plain: NDArray[np.bool_] | None, block: int) -> None:
        self.data, self.where, self.plain, self.size = data, where, plain, block
        self._block: Bytes | None = None

    def __call__(self, size: int, place_of: Numbers, kind_of: Numbers) -> Integers:
        """The numbers of `size` bytes of which kind of header number i says that they are at place_of[i]."""
        kind = f">i{size}"
        found: Integers
        places = sorted(set(place_of.tolist())) if len(place_of) <= FEW_KINDS else []
        if not 0 < len(places) <= FEW_PLACES or places[-1] + size > self.size:
            at = self.where + place_of.take(kind_of)
            if self.plain is not None:
                at *= self.plain  # the places of other rows may lie outside
            found = window(self.data, size)[at].view(kind).astype(f"i{size}")
            return found
        if self._block is None:
            self._block = window(self.data, self.size)[self.where].view(np.uint8).reshape(-1, self.size)
        first, *others = (self._block[:, place : place + size].view(kind)[:, 0] for place in places)
        found = first.astype(f"i{size}")
        for place, other in zip(places[1:], others, strict=True):
            np.copyto(found, other, where=(place_of == place).take(kind_of))
        return found


def _cell_heads(data: Bytes, where: Numbers, file: PageFile) -> tuple[Numbers, Numbers, Numbers, NDArray[np.bool_]]:
    """Of each cell: bytes of the record, row number, where the record begins, and whether it is continued on other pages."""
    words = window(data, 16)[where].view("<u8").reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    if (low & CONTINUED).any():
        payload, length = varint(low)
        if length.max() > LONGEST_SIZE:
            raise Unusual("a record of more bytes than any")
    else:
        payload, length = low & np.uint64(127), np.ones(len(low), np.uint64)
    shift = length << np.uint64(3)
    key, more = varint((low >> shift) | (high << (np.uint64(64) - shift)))
    keys, size = key.view(np.int64), payload.view(np.int64)
    record = where + (length + more).view(np.int64)
    continued = size > file.usable - 35
    local = size
    if continued.any():
        local = size.copy()
        local[continued] = _local(size[continued], file.usable) + 4
    if (record + local > where // file.size * file.size + file.usable).any():
        raise Unusual("a cell that reaches beyond its page")
    if (keys[1:] <= keys[:-1]).any():
        raise Unusual("rows out of order")
    return size, keys, record, continued


def _local(size: Numbers, usable: int) -> Numbers:
    """Bytes on the page itself of a record that is continued on other pages (section 1.6)."""
    least = (usable - 12) * 32 // 255 - 23
    most = least + (size - least) % (usable - 4)
    return np.where(most <= usable - 35, most, least)


def _kinds(data: Bytes, where: Numbers, size: Numbers) -> tuple[Bytes, Numbers]:
    """The different headers (one a row, zeros behind each), and which of them each record has."""
    rows, shortest, longest = len(where), int(size.min()), int(size.max())
    count = -(-longest // 8)
    words = list(np.ascontiguousarray(window(data, 8 * count)[where].view(np.uint64).reshape(rows, count).T))
    hashed = np.zeros(rows, np.uint64)
    for begin, word in zip(range(0, longest, 8), words, strict=True):
        if shortest < begin + 8:
            word &= MASKS.take(size - begin, mode="clip")
        hashed ^= word
        hashed *= np.uint64(MULTIPLIER)
        hashed ^= hashed >> np.uint64(29)
    slots = (hashed >> np.uint64(64 - HASH_BITS)).view(np.int64)
    table = np.zeros(1 << HASH_BITS, np.int64)
    own = np.arange(rows)
    table[slots] = own
    same = table.take(slots)  # the last record of that hash
    differs = np.zeros(rows, np.bool_)
    for word in words:
        differs |= word != word.take(same)
    if differs.any():
        same[differs] = own[differs]
    chosen = np.zeros(rows, np.bool_)
    chosen[same] = True
    number = np.cumsum(chosen) - 1
    return np.stack([word[chosen] for word in words], axis=1).view(np.uint8), number.take(same)


def _understood(kinds: Bytes, layout: Layout) -> Headers:
    """What headers say of the wanted columns."""
    size = kinds[:, 0].astype(np.int64)
    types = np.zeros((len(kinds), layout.columns), np.int64)
    long = (kinds >= 128).any(axis=1)
    columns = np.where(long, 0, size - 1)
    short = kinds[:, 1 : layout.columns + 1]
    types[:, : short.shape[1]] = short
    good = columns <= layout.columns
    if long.any():
        types[long], columns[long], good[long] = _long(kinds[long], size[long], layout.columns)
    lengths = np.where(types >= TEXT, (types - TEXT) >> 1, LENGTHS.take(types & 127))
    ends = np.cumsum(lengths, axis=1)
    wanted = np.array([max(position, 0) for position in layout.wanted])
    chosen, places = types[:, wanted], (ends - lengths)[:, wanted]
    for k, position in enumerate(layout.wanted):
        if position != KEY:
            good &= (chosen[:, k] < len(WIDTHS)) & (chosen[:, k] != REAL)
            if not layout.optional[k]:
                good &= columns > position
    chosen[~good] = NULL
    places[~good] = 0
    return Headers(good, ends[:, -1], chosen, places)


def _long(kinds: Bytes, size: Numbers, columns: int) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Types, their number, and whether the header is good, of headers in which a type takes more than one byte."""
    kinds = np.pad(kinds, ((0, 0), (0, 4))).astype(np.int64)
    rows = np.arange(len(kinds))
    types = np.zeros((len(kinds), columns), np.int64)
    count = np.zeros(len(kinds), np.int64)
    at = np.ones(len(kinds), np.int64)
    good = np.ones(len(kinds), np.bool_)
    for column in range(columns):
        more = at < size
        first, second, third = (kinds[rows, np.minimum(at + k, kinds.shape[1] - 1)] for k in range(3))
        two, three = first >= 128, (first >= 128) & (second >= 128)
        good &= ~(more & three & (third >= 128))
        found = np.where(two, (first & 127) << 7 | second & 127, first)
        found = np.where(three, found << 7 | third, found)
        types[:, column] = np.where(more, found, 0)
        count += more
        at += np.where(more, 1 + two + three, 0)
    return types, count, good & (at == size)
