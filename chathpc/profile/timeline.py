"""What each location did over time: samples of a trace, or intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chathpc.profile import intervals
from chathpc.profile.intervals import Intervals, Times
from chathpc.profile.tree import IntArray

if TYPE_CHECKING:
    from chathpc.profile.messages import Communication


#: The node of a location that could run, and had no core.
WITHOUT_CORE = -2


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """The states of one location: from `start[i]` on it was at tree node `node[i]` (−1: idle, −2: without a core), until the next entry.

    `start` is in nanoseconds since the epoch, ascending; `location` is a row of the profile's locations.
    """

    location: int
    start: NDArray[np.uint64]
    node: IntArray


class LaneKind(StrEnum):
    """What the intervals of a lane are."""

    COMPUTE = "gpu-compute"  #: kernels that compute
    COLLECTIVE = "gpu-collective"  #: kernels that communicate (NCCL, RCCL)
    H2D = "gpu-copy-h2d"
    D2H = "gpu-copy-d2h"
    D2D = "gpu-copy-d2d"
    P2P = "gpu-copy-p2p"
    UNIFIED = "gpu-copy-unified"  #: pages of unified memory that migrate
    MEMSET = "gpu-memset"
    GRAPH = "gpu-graph"  #: whole CUDA graphs, where their kernels were not traced one by one
    API = "host-api"  #: calls of the GPU's runtime
    MPI = "mpi"
    OS = "os-runtime"  #: calls of the operating system that may block
    RANGE = "range"  #: named ranges of the program (NVTX, ROCTX, annotations)


#: Lanes in which the device works.
DEVICE_LANES = (
    LaneKind.COMPUTE, LaneKind.COLLECTIVE, LaneKind.H2D, LaneKind.D2H, LaneKind.D2D, LaneKind.P2P, LaneKind.UNIFIED,
    LaneKind.MEMSET, LaneKind.GRAPH,
)  # fmt: skip
COPY_LANES = (LaneKind.H2D, LaneKind.D2H, LaneKind.D2D, LaneKind.P2P, LaneKind.UNIFIED)
#: A caveat of timelines whose host was slowed down.
PYTHON_STACKS = "Python's call stacks were recorded, which slows down every Python call on the host."


@dataclass(frozen=True, slots=True, eq=False)
class IntervalLane:
    """What one place was busy with: [start[i], end[i]) in nanoseconds, ascending by `start`, may overlap.

    `device` is the ordinal of the GPU, −1 for the host; `location` a row of the profile's locations, −1 if none.
    `node[i]` is the tree node of the interval. For copies `bytes[i]` and `pageable[i]` (host memory that was not
    pinned), where recorded.
    """

    kind: LaneKind
    device: int
    location: int
    start: Times
    end: Times
    node: IntArray
    bytes: Times | None = None
    pageable: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """All lanes of a run; `begin` and `end` of the recording in nanoseconds (since the epoch for sampled traces).

    `communication` is who sent what to whom, where that was recorded. `is_whole` is False if the run went on beyond `end`.
    """

    begin: int
    end: int
    lanes: tuple[Lane, ...] = ()
    intervals: tuple[IntervalLane, ...] = ()
    communication: Communication | None = None
    is_whole: bool = True

    @property
    def seconds(self) -> float:
        """Length of the traced time in seconds."""
        return (self.end - self.begin) * 1e-9

    @property
    def devices(self) -> tuple[int, ...]:
        """Ordinals of the GPUs that did something."""
        return tuple(sorted({lane.device for lane in self.intervals if lane.device >= 0 and len(lane)}))

    def of(self, *kinds: LaneKind, device: int | None = None) -> list[IntervalLane]:
        """The interval lanes of some kinds, of one device or of all."""
        wanted = (lane for lane in self.intervals if lane.kind in kinds)
        return [lane for lane in wanted if device is None or lane.device == device]

    def busy(self, *kinds: LaneKind, device: int | None = None) -> Intervals:
        """When any lane of some kinds was busy: disjoint intervals inside the recording."""
        return self.joined(self.of(*kinds, device=device))

    def joined(self, lanes: Iterable[IntervalLane]) -> Intervals:
        """The union of some lanes, inside the recording."""
        return intervals.clip(intervals.union_of(*((lane.start, lane.end) for lane in lanes)), self.begin, self.end)

    def idle(self, device: int) -> Intervals:
        """When a device did nothing at all: `busy` of all its lanes and this make up the whole recording."""
        return intervals.gaps(self.busy(*DEVICE_LANES, device=device), self.begin, self.end)
