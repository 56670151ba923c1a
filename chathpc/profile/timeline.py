"""What each location did over time: samples of a trace, or intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.tree import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """The states of one location: from `start[i]` on it was at tree node `node[i]` (−1: idle), until the next entry.

    `start` is in nanoseconds since the epoch, ascending; `location` is a row of the profile's locations.
    """

    location: int
    start: NDArray[np.uint64]
    node: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """All lanes of a run; `begin` and `end` in nanoseconds since the epoch."""

    begin: int
    end: int
    lanes: tuple[Lane, ...]

    @property
    def seconds(self) -> float:
        """Length of the traced time in seconds."""
        return (self.end - self.begin) * 1e-9
