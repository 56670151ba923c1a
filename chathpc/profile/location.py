"""Where a value was measured: node, rank, thread, GPU context and stream."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chathpc.profile.tree import BoolArray, Int64Array

#: The parts of a location, outermost first, and what a person calls them.
LEVELS = {"node": "node", "rank": "rank", "thread": "thread", "gpu_context": "GPU context", "stream": "stream"}


@dataclass(frozen=True, slots=True)
class LocationCounts:
    """Numbers of nodes, ranks and GPU streams; `threads` is the most that a process has."""

    nodes: int
    ranks: int
    threads: int
    streams: int
    rank: str = "rank"  #: what a rank is called: a process, where nothing says that MPI or the like numbered them

    def words(self, *, thread: str = "thread", gpus: int = 0) -> str:
        """`4 ranks × 8 threads with 2 GPUs on 2 nodes`; one node, and one thread a rank, go without saying, as do streams of known GPUs.

        Devices are those of all ranks, so that they are a factor beside a single one only.
        """
        number, word = (gpus, "GPU") if gpus else (self.streams, "GPU stream")
        counted = ((self.ranks, self.rank, 1), (self.threads, thread, 2 if self.ranks else 1))
        workers = " × ".join(_counted(each, name) for each, name, least in counted if each >= least)
        devices = _counted(number, word) if number else ""
        told = (" with " if self.ranks > 1 else " × ").join(filter(None, (workers, devices)))
        return " on ".join(filter(None, (told, _counted(self.nodes, "node") if self.nodes > 1 else "")))


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 'es' if word.endswith('s') else 's'}"


@dataclass(frozen=True, eq=False)
class Locations:
    """The places that were measured, in columns of equal length; −1 where a part does not apply.

    `core` is the core that the thread was bound to when it was seen; it changes with binding and identifies nothing.
    """

    node: Int64Array
    rank: Int64Array
    thread: Int64Array
    gpu_context: Int64Array
    stream: Int64Array
    core: Int64Array

    def __len__(self) -> int:
        return len(self.node)

    @classmethod
    def of(cls, count: int, **parts: Int64Array) -> Locations:
        """`count` locations with the given parts; the others do not apply."""
        absent = np.full(count, -1, dtype=np.int64)
        return cls(**{name: parts.get(name, absent) for name in (*LEVELS, "core")})

    @classmethod
    def single(cls) -> Locations:
        """The one location of a source that does not tell locations apart."""
        return cls.of(1)

    @property
    def is_gpu(self) -> BoolArray:
        """True for GPU streams, which carry traces and no CPU time."""
        return (self.gpu_context >= 0) | (self.stream >= 0)

    @property
    def is_main(self) -> BoolArray:
        """True for the first thread of each process, where threads are told apart."""
        of_process, told = self.process, (self.thread >= 0) & ~self.is_gpu
        least = np.full(len(self), np.iinfo(np.int64).max)
        np.minimum.at(least, of_process[told], self.thread[told])
        return np.asarray(told & (self.thread == least[of_process]))

    @property
    def process(self) -> Int64Array:
        """The number of each location's process: those of one rank of one compute node are in one."""
        return np.unique(np.stack((self.node, self.rank)), axis=1, return_inverse=True)[1].ravel()

    @property
    def is_shared(self) -> BoolArray:
        """True for what no rank or thread has for itself, where others do: sums over several."""
        nobody = (self.rank < 0) & (self.thread < 0) & ~self.is_gpu
        return nobody & bool(((self.rank >= 0) & ~self.is_gpu).any())

    @cached_property
    def _several_nodes(self) -> bool:
        return len(np.unique(self.node)) > 1

    def label(self, index: int) -> str:
        """`rank 3 thread 1`, `thread 0`, `GPU context 0 stream 7`; the compute node only where there is more than one."""
        parts = []
        for name, word in LEVELS.items():
            column: Int64Array = getattr(self, name)
            value = int(column[index])
            if value < 0 or (name == "node" and not self._several_nodes):
                continue
            parts.append(f"{word} {value}")
        return " ".join(parts) or f"location {index}"

    def counts(self, without: BoolArray | None = None) -> LocationCounts:
        """How many nodes, ranks, threads and GPU streams there are among all locations but those in `without`."""
        cpu = ~self.is_gpu if without is None else ~self.is_gpu & ~without
        # What says nothing of itself is no thread beside those that do: it is of them all.
        named = cpu & ((self.rank >= 0) | (self.thread >= 0))
        cpu = named if named.any() else cpu
        processes, per_process = np.unique(np.stack([self.node[cpu], self.rank[cpu]]), axis=1, return_counts=True)
        return LocationCounts(
            nodes=len(np.unique(self.node[cpu & (self.node >= 0)])),
            ranks=int((processes[1] >= 0).sum()),
            threads=int(per_process.max()) if len(per_process) else 0,
            streams=int((self.is_gpu if without is None else self.is_gpu & ~without).sum()),
        )
