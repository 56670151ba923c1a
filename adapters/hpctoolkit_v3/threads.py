"""The files that a database has for each thread: metric values (`*.metric-db`) and traces (`*.hpctrace`), big-endian.

hpcprof-mpi writes one file per thread, with rank and thread in its name; hpcviewer packs them into `experiment-1.mdb`
and `experiment.mt`, which begin with a table of (rank, thread, offset).
Source of the layouts: HPCToolkit, src/lib/prof-lean/hpcrun-fmt.h.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.content import open_regular
from chathpc.adapters.hpctoolkit_v3.experiment import DAMAGED, IDLE, LARGEST_VALUE, Experiment
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.timeline import Lane, Timeline
from chathpc.profile.tree import FloatArray, IntArray

METRIC_MAGIC = b"HPCPROF-metricdb__"
TRACE_MAGIC = b"HPCRUN-trace______"
#: Magic, version (`00.10`) and byte order (`b`).
PREAMBLE = 24
#: hpcrun numbers GPU streams from here on, as if they were threads.
FIRST_STREAM = 500

#: `1.cpi-000003-000-a8c00270-160446-0.metric-db`: experiment, program, rank, thread, host, process, generation
_THREAD_NAME = re.compile(
    r"(?:(?P<group>\d{1,6})\.)?.*-(?P<rank>\d{1,9})-(?P<thread>\d{1,9})-(?P<host>[0-9a-fA-F]{1,8})-\d+-\d+\.[a-z-]+"
)
_PACK_END = bytes.fromhex("ffffffffdeadf00d")
_PACK_ENTRY = np.dtype([("rank", ">u4"), ("thread", ">u4"), ("offset", ">u8")])


@dataclass(frozen=True, slots=True)
class ThreadFile:
    """Where the data of one thread begin, and whose they are; `turn` tells equal (rank, thread) pairs apart."""

    path: Path
    offset: int
    end: int
    rank: int
    thread: int
    host: int = -1
    turn: int = 0

    @property
    def key(self) -> tuple[int, int, int]:
        """What the metric file and the trace of one thread have in common."""
        return self.rank, self.thread, self.turn

    def damaged(self, what: str, at: int = 0) -> AdapterError:
        """The error to raise for damage `at` bytes after the beginning."""
        return AdapterError(what, path=self.path, offset=self.offset + at, hint=DAMAGED)

    def preamble(self, magic: bytes) -> tuple[bytes, bytes]:
        """Version and the eight bytes after the preamble; AdapterError for a file of another kind or byte order."""
        with open_regular(self.path) as file:
            file.seek(self.offset)
            head = file.read(PREAMBLE + 8)
        if len(head) < PREAMBLE:
            raise self.damaged("ends inside its header")
        if head[: len(magic)] != magic:
            raise self.damaged(f"does not begin with '{magic.decode()}'")
        if head[PREAMBLE - 1 : PREAMBLE] != b"b":
            raise self.damaged("is not in big-endian byte order", PREAMBLE - 1)
        return head[len(magic) : PREAMBLE - 1], head[PREAMBLE:]


def find_files(folder: Path, suffix: str, packed: str) -> list[ThreadFile]:
    """The files of all threads, by rank and thread; from packed files (glob `packed`) where there are no single ones.

    An empty list where there are none, or where they are of several experiments, whose metrics are numbered apart.
    """
    try:
        single = sorted(path for path in folder.iterdir() if path.name.endswith(suffix))
        packs = sorted(folder.glob(packed))
    except OSError as error:
        raise AdapterError(f"cannot be read: {error.strerror}", path=folder) from error
    if single:
        matches = [_THREAD_NAME.fullmatch(path.name) for path in single]
        if len({match["group"] for match in matches if match}) > 1:
            return []
        found = []
        for path, match in zip(single, matches, strict=True):
            if match is None:
                raise AdapterError(
                    "the file name has no rank and thread", path=path, hint="Keep the names that hpcprof gave."
                )
            with open_regular(path) as file:
                size = file.seek(0, 2)
            found.append(ThreadFile(path, 0, size, int(match["rank"]), int(match["thread"]), int(match["host"], 16)))
    elif len(packs) == 1:
        found = _unpack(packs[0])
    else:
        return []
    found.sort(key=lambda one: (one.rank, one.thread, one.host, str(one.path), one.offset))
    turns: Counter[tuple[int, int]] = Counter()
    for number, one in enumerate(found):
        found[number] = replace(one, turn=turns[one.rank, one.thread])
        turns[one.rank, one.thread] += 1
    return found


def _unpack(path: Path) -> list[ThreadFile]:
    """The table of a packed file: two 4-byte words (kind, number of threads), then an entry for each thread.

    Their data follow, and the end mark.
    """
    with open_regular(path) as file:
        size = file.seek(0, 2) - len(_PACK_END)
        if size < 8:
            raise AdapterError("ends inside its header", path=path, offset=max(size, 0), hint=DAMAGED)
        file.seek(size)
        if file.read() != _PACK_END:
            raise AdapterError("does not end with its end mark", path=path, offset=size, hint=DAMAGED)
        file.seek(4)
        count = int.from_bytes(file.read(4), "big")
        first = 8 + count * _PACK_ENTRY.itemsize
        if first > size:
            raise AdapterError("ends inside its table of threads", path=path, offset=8, hint=DAMAGED)
        entries = np.frombuffer(file.read(first - 8), dtype=_PACK_ENTRY)
    offsets = entries["offset"].astype(np.uint64)
    if bool(np.any((offsets < first) | (offsets > size))) or len(np.unique(offsets)) < count:
        what = "its table of threads points outside the file or twice to one place"
        raise AdapterError(what, path=path, offset=8, hint=DAMAGED)
    order = np.argsort(offsets)
    ends = np.empty(count, dtype=np.int64)
    ends[order] = np.append(offsets[order][1:], size)
    rows = zip(entries["rank"].tolist(), entries["thread"].tolist(), offsets.tolist(), ends.tolist(), strict=True)
    return [ThreadFile(path, offset, end, rank, thread) for rank, thread, offset, end in rows]


class MetricFiles:
    """Metric values of each thread: a record of all metrics for each node (number i: record i − 1)."""

    def __init__(self, files: Sequence[ThreadFile], least_records: int) -> None:
        self.files = files
        shapes = [_shape(file) for file in files]
        self.records, self.metrics = shapes[0]
        for file, shape in zip(files, shapes, strict=True):
            if shape != (self.records, self.metrics):
                expected = f"{self.records} × {self.metrics} in {files[0].path.name}"
                raise file.damaged(f"has {shape[0]} × {shape[1]} values, not {expected}", PREAMBLE)
        if self.records < least_records:
            raise files[0].damaged(f"has {self.records} records, and experiment.xml {least_records} nodes", PREAMBLE)

    def read(self, number: int, records: NDArray[np.int64] | slice, metric: int) -> FloatArray:
        """Values of one metric at chosen records of one thread; AdapterError if one is not finite."""
        file = self.files[number]
        values = np.memmap(file.path, ">f8", "r", file.offset + PREAMBLE + 8, (self.records, self.metrics))
        chosen = np.asarray(values[records, metric], dtype=np.float64)
        if not bool(np.all(np.abs(chosen) <= LARGEST_VALUE)):
            raise file.damaged("contains a value that is not a number or is beyond 1e100", PREAMBLE + 8)
        return chosen


def _shape(file: ThreadFile) -> tuple[int, int]:
    """Numbers of records and of metrics; AdapterError unless the file is as long as they say."""
    _, counts = file.preamble(METRIC_MAGIC)
    if len(counts) < 8:
        raise file.damaged("ends inside its header", PREAMBLE)
    records, metrics = int.from_bytes(counts[:4], "big"), int.from_bytes(counts[4:], "big")
    needed = PREAMBLE + 8 + 8 * records * metrics
    size = file.end - file.offset
    if records == 0 or metrics == 0 or size < needed:
        raise file.damaged(f"claims {records} × {metrics} values, which are {needed} bytes; it has {size}", PREAMBLE)
    return records, metrics


def locations_of(files: Sequence[ThreadFile]) -> Locations:
    """One row per thread; the rank is left out where there is only rank 0, which hpcrun also writes without MPI."""
    rank = np.array([file.rank for file in files], dtype=np.int64)
    thread = np.array([file.thread for file in files], dtype=np.int64)
    host = np.array([file.host for file in files], dtype=np.int64)
    # Streams begin at a number of their own; a rank with 500 threads and more counts through.
    many = {file.rank for file in files if file.thread == FIRST_STREAM - 1}
    streams = (thread >= FIRST_STREAM) & ~np.isin(rank, list(many))
    return Locations.of(
        len(files),
        node=host,
        rank=rank if bool(np.any(rank)) else np.full(len(files), -1, dtype=np.int64),
        thread=np.where(streams, -1, thread),
        stream=np.where(streams, thread - FIRST_STREAM, -1),
    )


# -- traces: which node each thread was at, sample by sample ------------------------------------------------------

#: Bits of the header: each sample has a metric id after its call path id; the upper 10 bits of the time are no time.
DATA_CENTRIC, LEAST_COMMON_ANCESTOR = 1, 2
TIME_BITS = 54


class TraceNodes:
    """From the call path ids of a trace (attribute `it` of statements) to nodes; −1 for idle and for unknown ids."""

    def __init__(self, experiment: Experiment) -> None:
        nodes = np.flatnonzero(experiment.trace_id >= 0)
        nodes = nodes[np.argsort(experiment.trace_id[nodes], kind="stable")]
        idle = np.array([*(name in IDLE for name in experiment.names), False])[experiment.name]
        below_idle = np.append(idle, False)[experiment.parent[nodes]]
        self.ids = experiment.trace_id[nodes]
        self.nodes = np.where(below_idle, -1, nodes).astype(np.int32)

    def __call__(self, ids: NDArray[np.int64]) -> IntArray:
        """The node of each of `ids`."""
        if len(self.ids) == 0:
            return np.full(len(ids), -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[at] == ids, self.nodes[at], np.int32(-1)).astype(np.int32)


def read_timeline(
    files: Sequence[ThreadFile], rows: Mapping[tuple[int, int, int], int], experiment: Experiment
) -> Timeline | None:
    """All traces, in nanoseconds; None if no trace has a sample. AdapterError if one is damaged or out of order."""
    nodes = TraceNodes(experiment)
    ticks = experiment.ticks_per_second or 1_000_000
    lanes = [Lane(rows[file.key], *_samples(file, ticks, nodes)) for file in files]
    full = [lane for lane in lanes if len(lane.start)]
    if not full:
        return None
    return Timeline(min(int(lane.start[0]) for lane in full), max(int(lane.start[-1]) for lane in full), tuple(lanes))


def _samples(file: ThreadFile, ticks: int, nodes: TraceNodes) -> tuple[NDArray[np.uint64], IntArray]:
    version, flag_bytes = file.preamble(TRACE_MAGIC)
    # Version 1.00 has no flags.
    size, flags = (PREAMBLE, 0) if version == b"01.00" else (PREAMBLE + 8, int.from_bytes(flag_bytes, "big"))
    if flags & ~(DATA_CENTRIC | LEAST_COMMON_ANCESTOR) or file.end - file.offset < size:
        raise file.damaged("has a header of an unknown kind", PREAMBLE)
    fields = [("time", ">u8"), ("path", ">u4")] + ([("metric", ">u4")] if flags & DATA_CENTRIC else [])
    layout = np.dtype(fields)
    count, rest = divmod(file.end - file.offset - size, layout.itemsize)
    if rest:
        raise file.damaged("ends inside a sample", size + count * layout.itemsize)
    with open_regular(file.path) as stream:
        stream.seek(file.offset + size)
        data = stream.read(count * layout.itemsize)
    samples = np.frombuffer(data[: len(data) // layout.itemsize * layout.itemsize], dtype=layout)
    time = samples["time"].astype(np.uint64)
    if flags & LEAST_COMMON_ANCESTOR:
        time &= np.uint64((1 << TIME_BITS) - 1)
    if bool(np.any(time[1:] < time[:-1])):
        raise file.damaged("has samples that are not in order of time", size)
    nanoseconds = 1_000_000_000 // ticks
    if len(time) and int(time[-1]) * nanoseconds >= 2**64:
        raise file.damaged("has a time stamp beyond the year 2554", size)
    return time * np.uint64(nanoseconds), nodes(samples["path"].astype(np.int64))
