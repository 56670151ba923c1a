"""result/*.bin: the records of each probe, memory-mapped, and what those of a launch come to."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.neutrino.probes import Probe, refused
from chathpc.errors import AdapterError

WARP = 32
_HEADER = struct.Struct("<8I")
_SECTION = struct.Struct("<IIQ")  #: newer: bytes per thread or warp, threads per record row, offset
_OLDER_SECTION = struct.Struct("<QQ")  #: older: bytes in all, offset
#: Records that are looked at together.
BATCH = 4 << 20
#: No GPU runs more blocks, or threads in a block.
MOST_BLOCKS, MOST_THREADS = 1 << 40, 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """The records of one probe in one launch: `rows` threads or warps in the order of blocks, `each` records for a row."""

    probe: Probe
    path: Path
    offset: int
    rows: int
    each: int

    def batches(self) -> Iterator[NDArray[Any]]:
        """The records in pieces of bounded size, as structured arrays."""
        total = self.rows * self.each
        if not total:
            return
        mapped = np.memmap(self.path, dtype=self.probe.record, mode="r", offset=self.offset, shape=(total,))
        for begin in range(0, total, BATCH):
            yield np.asarray(mapped[begin : begin + BATCH])


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One launch: grid and block (x, y, z), shared memory in bytes, and its sections."""

    path: Path
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    sections: tuple[Section, ...]


def read_result(path: Path, probes: Sequence[Probe]) -> Result:
    """The header of a result file, checked against the file's size and the probes; AdapterError where they disagree.

    The writer pads a block to whole warps when it stores what a probe wrote per warp, but not when it counts the offset of
    the next section: with blocks that are no multiple of 32 threads the offsets may point into other data. Such files are
    refused.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEADER.size + _SECTION.size * (len(probes) + 1))
    except OSError as error:
        raise AdapterError(error.strerror or "cannot be read", path=path, hint="Check its permissions.") from None
    if len(head) < _HEADER.size:
        raise refused(f"has {len(head)} bytes; its header alone has {_HEADER.size}", path=path)
    gx, gy, gz, bx, by, bz, shared, count = _HEADER.unpack_from(head)
    blocks, threads = gx * gy * gz, bx * by * bz
    if not 0 < blocks <= MOST_BLOCKS or not 0 < threads <= MOST_THREADS:
        raise refused(f"a launch of {blocks} blocks of {threads} threads is impossible", path=path, offset=0)
    if count != len(probes):
        raise refused(f"has {count} sections, but probe.toml describes {len(probes)}", path=path, offset=28)
    if len(head) < _HEADER.size + _SECTION.size * count:
        raise refused("the table of sections ends too early", path=path)
    offset = _HEADER.size + _SECTION.size * count
    sections = []
    for number, probe in enumerate(probes):
        at = _HEADER.size + _SECTION.size * number
        rows = blocks * (-(-threads // WARP) if probe.by_warp else threads)
        length, stored = _length(head, at, rows, probe)
        if stored != offset:
            raise AdapterError(
                f"section {number + 1} ({probe.name}) claims to begin at byte {stored}, but the one before ends at {offset}",
                path=path, offset=at, hint="Block sizes that are not a multiple of 32 threads can cause this; probe with other sizes.",
            )  # fmt: skip
        each, rest = divmod(length, rows * probe.record.itemsize)
        if rest:
            raise refused(
                f"section {number + 1} ({probe.name}) has {length} bytes for {rows} rows of records of "
                f"{probe.record.itemsize} bytes",
                path=path,
                offset=at,
            )
        sections.append(Section(probe, path, offset, rows, each))
        offset += length
    if offset != size:
        raise refused(f"its sections end at byte {offset}, the file at {size}", path=path, offset=min(offset, size))
    return Result(path, (gx, gy, gz), (bx, by, bz), shared, tuple(sections))


def _length(head: bytes, at: int, rows: int, probe: Probe) -> tuple[int, int]:
    """Bytes of a section and its offset, whichever of the two layouts its entry has."""
    size, divisor, offset = _SECTION.unpack_from(head, at)
    if divisor in (1, WARP) and divisor == (WARP if probe.by_warp else 1):
        return size * rows, offset
    total, offset = _OLDER_SECTION.unpack_from(head, at)
    return total, offset


#: Pages by which footprints are counted: 4 KiB, as in the memory maps of Neutrino's paper (section 5).
PAGE = 4096
#: Bins of the density over time.
BINS = 64
#: The most distinct pages of a launch that are told apart exactly (64 GiB of footprint); beyond, the count stops.
MOST_PAGES = 16 << 20

_ADDRESS = re.compile(r"addr(ess)?$", re.IGNORECASE)
_CLOCK = re.compile(r"(mem_?)?clock$|time(stamp)?$", re.IGNORECASE)
_START = re.compile(r"[gl]?start$", re.IGNORECASE)
_ELAPSED = re.compile(r"elapsed?$|duration$", re.IGNORECASE)
_END = re.compile(r"[gl]?end$", re.IGNORECASE)
_UNIT = re.compile(r"(cu|sm)_?id$|^sm$|^cu$", re.IGNORECASE)
_BYTES = re.compile(r"(\w+?)_?bytes$", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Measures:
    """Of one launch; None and empty where the probes recorded nothing of the kind.

    `pages` are the distinct page numbers. `density` are (accesses, distinct pages) per bin of `cycles`, by the clock of the
    records, which Neutrino's own tool starts anew with each thread. `busy` are clock cycles
    that blocks spent on each multiprocessor (by its number), `span` the cycles from the first start to the last end.
    """

    accesses: int | None = None
    pages: NDArray[np.uint64] | None = None
    density: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    cycles: float = 0.0
    bytes_by_kind: dict[str, int] = field(default_factory=dict)
    busy: NDArray[np.float64] | None = None
    span: float | None = None


def measure(result: Result) -> Measures:
    """Everything that the sections of a launch tell; one pass over the records, two where there are accesses over time."""
    found = Measures()
    for section in result.sections:
        names = section.probe.record.names or ()
        address = _named(names, _ADDRESS)
        start, elapsed, end = _named(names, _START), _named(names, _ELAPSED), _named(names, _END)
        if address is not None:
            _accesses(section, address, _named(names, _CLOCK), found)
        elif start is not None and (elapsed or end):
            _schedule(section, start, elapsed, end, _named(names, _UNIT), found)
        for name in names:
            if kind := _BYTES.fullmatch(name):
                total = sum(int(batch[name].astype(np.uint64).sum()) for batch in section.batches())
                key = kind[1].lower()
                found.bytes_by_kind[key] = found.bytes_by_kind.get(key, 0) + total
    return found


def _named(names: tuple[str, ...], pattern: re.Pattern[str]) -> str | None:
    return next((name for name in names if pattern.fullmatch(name)), None)


def _accesses(section: Section, address: str, clock: str | None, found: Measures) -> None:
    """Rows that were not written are zero: a dynamic probe reserves for every thread what the busiest one needs."""
    count, first, last = 0, None, None
    distinct = np.empty(0, dtype=np.uint64)
    for batch in section.batches():
        real = batch[batch[address] != 0]
        count += len(real)
        if len(distinct) < MOST_PAGES:
            distinct = np.union1d(distinct, (real[address] // PAGE).astype(np.uint64))[:MOST_PAGES]
        if clock is not None and len(real):
            low, high = int(real[clock].min()), int(real[clock].max())
            first = low if first is None else min(first, low)
            last = high if last is None else max(last, high)
    found.accesses = (found.accesses or 0) + count
    found.pages = distinct if found.pages is None else np.union1d(found.pages, distinct)
    if clock is None or first is None or last is None:
        return
    width = max((last - first + 1) / BINS, 1.0)
    accesses = np.zeros(BINS, dtype=np.int64)
    in_bin: list[NDArray[np.int64]] = []
    for batch in section.batches():
        real = batch[batch[address] != 0]
        since = real[clock].astype(np.uint64) - np.uint64(first)
        bins = np.minimum((since / width).astype(np.int64), BINS - 1)
        accesses += np.bincount(bins, minlength=BINS)
        number = np.searchsorted(distinct, (real[address] // PAGE).astype(np.uint64))
        known = number < len(distinct)
        in_bin.append(np.unique(bins[known] * max(len(distinct), 1) + number[known]))
    pairs = np.unique(np.concatenate(in_bin)) if in_bin else np.empty(0, dtype=np.int64)
    pages = np.bincount(pairs // max(len(distinct), 1), minlength=BINS)
    found.density, found.cycles = (accesses, pages.astype(np.int64)), width


def _schedule(
    section: Section, start: str, elapsed: str | None, end: str | None, unit: str | None, found: Measures
) -> None:
    """Time of warps on their multiprocessor: a block is as long as the longest of its warps."""
    starts, ends, units = [], [], []
    for batch in section.batches():
        real = batch[batch[start] != 0]
        begin = real[start].astype(np.float64)
        stop = begin + real[elapsed].astype(np.float64) if elapsed else real[end or start].astype(np.float64)
        starts.append(begin)
        ends.append(np.maximum(stop, begin))
        units.append(real[unit].astype(np.int64) if unit else np.zeros(len(real), dtype=np.int64))
    if not starts or not sum(map(len, starts)):
        return
    begin, stop, where = np.concatenate(starts), np.concatenate(ends), np.concatenate(units)
    found.span = float(stop.max() - begin.min())
    if unit is None:
        return
    numbers, group = np.unique(where, return_inverse=True)
    found.busy = np.array([_covered(begin[group == one], stop[group == one]) for one in range(len(numbers))])


def _covered(start: NDArray[np.float64], end: NDArray[np.float64]) -> float:
    """Length of the union of intervals."""
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    gap = np.maximum(start[1:] - reach[:-1], 0.0)
    return float(reach[-1] - start[0] - gap.sum())
