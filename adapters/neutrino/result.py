"""result/*.bin: the launch and the records of each probe, memory-mapped."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.neutrino.probes import RECORD_AGAIN, Probe
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
        raise AdapterError(f"has {len(head)} bytes; its header alone has {_HEADER.size}", path=path, hint=RECORD_AGAIN)
    gx, gy, gz, bx, by, bz, shared, count = _HEADER.unpack_from(head)
    blocks, threads = gx * gy * gz, bx * by * bz
    if not 0 < blocks <= MOST_BLOCKS or not 0 < threads <= MOST_THREADS:
        raise AdapterError(
            f"a launch of {blocks} blocks of {threads} threads is impossible", path=path, offset=0, hint=RECORD_AGAIN
        )
    if count != len(probes):
        raise AdapterError(
            f"has {count} sections, but probe.toml describes {len(probes)}", path=path, offset=28, hint=RECORD_AGAIN
        )
    if len(head) < _HEADER.size + _SECTION.size * count:
        raise AdapterError("the table of sections ends too early", path=path, hint=RECORD_AGAIN)
    offset = _HEADER.size + _SECTION.size * count
    sections = []
    for number, probe in enumerate(probes):
        at = _HEADER.size + _SECTION.size * number
        rows = blocks * (-(-threads // WARP) if probe.by_warp else threads)
        length, stored = _length(head, at, rows, threads, probe)
        if stored != offset:
            raise AdapterError(
                f"section {number + 1} ({probe.name}) claims to begin at byte {stored}, but the one before ends at {offset}",
                path=path, offset=at, hint="Block sizes that are not a multiple of 32 threads can cause this; probe with other sizes.",
            )  # fmt: skip
        each, rest = divmod(length, rows * probe.record.itemsize)
        if rest:
            raise AdapterError(
                f"section {number + 1} ({probe.name}) has {length} bytes for {rows} rows of records of "
                f"{probe.record.itemsize} bytes", path=path, offset=at, hint=RECORD_AGAIN,
            )  # fmt: skip
        sections.append(Section(probe, path, offset, rows, each))
        offset += length
    if offset != size:
        raise AdapterError(
            f"its sections end at byte {offset}, the file at {size}",
            path=path,
            offset=min(offset, size),
            hint=RECORD_AGAIN,
        )
    return Result(path, (gx, gy, gz), (bx, by, bz), shared, tuple(sections))


def _length(head: bytes, at: int, rows: int, threads: int, probe: Probe) -> tuple[int, int]:
    """Bytes of a section and its offset, whichever of the two layouts its entry has."""
    size, divisor, offset = _SECTION.unpack_from(head, at)
    if divisor in (1, WARP) and divisor == (WARP if probe.by_warp else 1):
        return size * rows, offset
    total, offset = _OLDER_SECTION.unpack_from(head, at)
    return total, offset
