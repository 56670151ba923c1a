"""What the records of a launch come to: accesses, pages, reuse and density; bytes by kind; busy time of multiprocessors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.neutrino.result import Result, Section

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
