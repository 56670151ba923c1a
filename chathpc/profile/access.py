"""When and where a GPU kernel touches memory: counts over time, for kernels whose accesses were recorded one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class AccessDensity:
    """Accesses of one launch over its time, in bins of equal length.

    `accesses[i]` and `pages[i]` (distinct pages) in bin i; the bins are `cycles` of the device's clock long,
    counted from the beginning of each thread.
    """

    kernel: str
    node: int
    cycles: float
    accesses: NDArray[np.int64]
    pages: NDArray[np.int64]
