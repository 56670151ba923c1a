"""What the time of a place counts as when a program is scaled: computing, waiting for others, or no part of the run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.activity import Activity
from chathpc.profile.tree import BoolArray

MPI = (Activity.MPI,)
OPENMP = (Activity.OMP_WAIT, Activity.OMP_LOCK, Activity.OMP_OVERHEAD)
DEVICE = (Activity.GPU_LAUNCH, Activity.GPU_SYNC, Activity.GPU_COPY, Activity.GPU_API)
_OTHER = (Activity.LOCK, Activity.SLEEP, Activity.BLOCKED, Activity.JOIN)
#: What is no part of the run that is scaled.
NEITHER = (Activity.MPI_SETUP, Activity.HELPER, Activity.PROFILER)


def is_useful(kind: NDArray[np.uint8] | np.uint8) -> BoolArray:
    """True where the activity is computing in POP's sense: outside MPI, OpenMP's runtime, calls for devices, and waiting."""
    return ~np.isin(kind, (*MPI, *OPENMP, *DEVICE, *_OTHER, *NEITHER, Activity.GPU))
