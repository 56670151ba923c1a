"""Traces: which node each thread was at, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit_v3.experiment import Experiment, open_regular
from chathpc.adapters.hpctoolkit_v3.threads import PREAMBLE, TRACE_MAGIC, ThreadFile
from chathpc.adapters.hpctoolkit_v3.tree import IDLE
from chathpc.profile.timeline import Lane, Timeline
from chathpc.profile.tree import IntArray

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
    version, flag_bytes = file.preamble(TRACE_MAGIC, 8)
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
