"""Processes that ran one program after another: perf goes on counting what the earlier one had loaded, and then loses callers.

A shell that becomes the program, or a launcher that forks ranks, has the C library at one address, the program at another. perf looks for
the tables by which it unwinds stacks relative to the lowest address at which a process ever had the library (tools/perf/util/
unwind-libunwind-local.c, find_proc_info): where that was the earlier program's, each stack ends at its first frame in the library, such as
memcpy. The records of the earlier mapping are given to a process that does not exist.

Layout: tools/perf/Documentation/perf.data-file-format.txt and perf_event_open(2).
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

_MAGIC = b"PERFILE2"
#: Magic, size, size of an attribute, place and size of the attributes, and of the records.
_HEADER = struct.Struct("<8s6Q")
_ATTRIBUTE = struct.Struct("<II4QQ")  # type, size, config, period, sample_type, read_format, flags
_RECORD = struct.Struct("<IHH")
_MMAP, _COMM, _FORK, _MMAP2, _AUXTRACE, _COMPRESSED = 1, 3, 7, 10, 71, 81
_NAME = {_MMAP: 40, _MMAP2: 72}  #: where the name of a mapped file begins
_EXEC = 1 << 13  #: of a COMM that comes with a program, PERF_RECORD_MISC_COMM_EXEC
_ALL_HAVE_IDS = 1 << 18
#: What may follow the time at the end of a record: an id, the stream's id, the core and the identifier.
_TIME, _BEHIND = 1 << 2, (1 << 6, 1 << 9, 1 << 7, 1 << 16)
#: No process of the kernel has such ids (PID_MAX_LIMIT is 2^22): one that takes mappings, one that has none.
_FORGOTTEN, _NOBODY = 0x7FFFFFF0, 0x7FFFFFF1
#: Files with more processes and mappings than these are left as they are.
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class _Mapping:
    at: int  #: where its record begins; of an inherited one that of the fork
    file: bytes
    start: int


@dataclass(slots=True)
class _Process:
    """The mappings of what a process runs, and of what it ran before; `fork` is where the record of its beginning lies."""

    fork: int = -1
    inherited: list[_Mapping] = field(default_factory=list)
    before: list[_Mapping] = field(default_factory=list)
    now: list[_Mapping] = field(default_factory=list)


def forget(path: Path, changes: Mapping[int, bytes] | None = None) -> bool:
    """Mend the recording at `path` in place, by `changes` where `stale` told them already; False if there was nothing to mend."""
    changes = stale(path) if changes is None else changes
    if changes:
        with path.open("r+b") as file:
            for at, ids in changes.items():
                file.seek(at)
                file.write(ids)
    return bool(changes)


def stale(path: Path) -> dict[int, bytes]:
    """What has to be written where, so that perf does not take an earlier program's mapping for the later one's; empty for other files."""
    processes: dict[int, _Process] = defaultdict(_Process)
    changes: dict[int, bytes] = {}
    try:
        with path.open("rb") as file:
            for _, at, kind, body in sorted(_records(file), key=lambda one: one[:2]):
                _follow(processes, at, kind, body, changes)
    except (OSError, ValueError, struct.error):
        return {}
    for process in processes.values():
        changes |= _mended(process)
    return changes


def _follow(
    processes: dict[int, _Process],
    at: int,
    kind: Literal["map", "exec", "fork"],
    body: bytes,
    changes: dict[int, bytes],
) -> None:
    """Take one record in the order of time."""
    if kind == "map":
        pid, start = struct.unpack_from("<I4xQ", body)
        processes[pid].now.append(_Mapping(at, body[24:], start))
    elif kind == "exec":
        process = processes[struct.unpack_from("<I", body)[0]]
        process.before, process.now = process.before + process.now, []
    else:
        pid, parent = struct.unpack_from("<II", body)
        if pid != parent:
            changes |= _mended(processes.pop(pid)) if pid in processes else {}
            of = processes[parent]
            found = [_Mapping(at, one.file, one.start) for one in (*of.inherited, *of.before, *of.now)]
            processes[pid] = _Process(at, inherited=found)


def _mended(process: _Process) -> dict[int, bytes]:
    """Of a process, those earlier mappings that lie below the same file's mapping now."""
    lowest: dict[bytes, int] = {}
    for one in process.now:
        lowest[one.file] = min(one.start, lowest.get(one.file, one.start))
    changes = {
        one.at + _RECORD.size: struct.pack("<II", _FORGOTTEN, _FORGOTTEN)
        for one in process.before
        if one.start < lowest.get(one.file, 0)
    }
    if any(one.start < lowest.get(one.file, 0) for one in process.inherited):
        changes[process.fork + _RECORD.size + 4] = struct.pack("<I", _NOBODY)
        changes[process.fork + _RECORD.size + 12] = struct.pack("<I", _NOBODY)
    return changes


def _records(file: BinaryIO) -> Iterator[tuple[int, int, Literal["map", "exec", "fork"], bytes]]:
    """Time, place, kind and the beginning of the records that tell what a process runs; of a mapping: ids, address, length, name."""
    magic, _, _, attributes, of_attributes, data, size = _HEADER.unpack(file.read(_HEADER.size))
    if magic != _MAGIC or not of_attributes:
        return
    file.seek(attributes)
    *_, sampled, _, flags = _ATTRIBUTE.unpack(file.read(_ATTRIBUTE.size))
    timed = bool(flags & _ALL_HAVE_IDS and sampled & _TIME)
    from_end = 8 * (1 + sum(bool(sampled & bit) for bit in _BEHIND))
    at, end, found = data, data + size, 0
    while at + _RECORD.size <= end and found < _MOST:
        file.seek(at)
        kind, misc, length = _RECORD.unpack(file.read(_RECORD.size))
        if length < _RECORD.size or kind == _COMPRESSED:
            return
        told: Literal["map", "exec", "fork"] | None = None
        if kind == _COMM and misc & _EXEC:
            told = "exec"
        elif kind == _FORK:
            told = "fork"
        elif kind in _NAME:
            told = "map"
        if told is not None:
            found += 1
            body = file.read(length - _RECORD.size)
            time = struct.unpack_from("<Q", body, len(body) - from_end)[0] if timed else 0
            if told == "map":
                body = body[:24] + body[_NAME[kind] - _RECORD.size :].partition(b"\0")[0]
            yield time, at, told, body
        if kind == _AUXTRACE:
            length += struct.unpack("<Q", file.read(8))[0]
        at += length
