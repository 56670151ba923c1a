"""What time counts as when a program is scaled: computing, waiting for others, or no part of the run; of threads, and of devices where a
profile has no time of the host but theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chathpc.comparison.matching import Joint, Part, rebuilt
from chathpc.profile.activity import GPU_RUNTIME, OPENMP, Activity
from chathpc.profile.profile import Profile
from chathpc.profile.run import wall_seconds
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, is_one_of

MPI = (Activity.MPI,)
DEVICE = GPU_RUNTIME
_OTHER = (Activity.LOCK, Activity.SLEEP, Activity.BLOCKED, Activity.JOIN)
#: What is no part of the run that is scaled.
NEITHER = (Activity.MPI_SETUP, Activity.HELPER, Activity.PROFILER)


def is_useful(kind: NDArray[np.uint8] | np.uint8) -> BoolArray:
    """True where the activity is computing in POP's sense: outside MPI, OpenMP's runtime, calls for devices, and waiting."""
    return ~is_one_of(np.asarray(kind), (*MPI, *OPENMP, *DEVICE, *_OTHER, *NEITHER, Activity.GPU))


# -- devices ---------------------------------------------------------------------------------------------------

KERNELS, ALL, COLLECTIVES = "gpu.kernel.time", "gpu.time", "gpu.collective.time"
#: What the place is called where a device has nothing to do.
IDLE = "idle GPU"


def by_device(profile: Profile, table: FloatArray) -> FloatArray:
    """Rows (locations × …) added up over the streams of each device; none without devices."""
    where = profile.where
    streams = np.flatnonzero(where.is_gpu)
    keys = np.stack([where.node[streams], where.rank[streams], where.gpu_context[streams]])
    device = np.unique(keys, axis=1, return_inverse=True)[1].ravel()
    found = np.zeros((int(device.max(initial=-1)) + 1, *table.shape[1:]))
    np.add.at(found, device, np.nan_to_num(table[streams]))
    return found


def totals(profile: Profile, *metrics: str) -> FloatArray:
    """Sum of the metrics that there are, by device."""
    known = [profile.location_totals(name) for name in metrics if profile.has(name)]
    return by_device(profile, np.nansum(known, axis=0)) if known else np.zeros(0)


def kinds_of(profile: Profile) -> NDArray[np.uint8]:
    """By node: kernels compute, but those that communicate, and copies and what else a device does."""
    if not profile.has(KERNELS):
        return np.full(len(profile.tree), Activity.GPU, dtype=np.uint8)
    kernels = profile.dense(KERNELS)
    collective = profile.dense(COLLECTIVES) if profile.has(COLLECTIVES) else np.zeros(len(kernels))
    kinds = np.where(kernels > 0, Activity.COMPUTE, Activity.GPU_COPY)
    return np.where(collective > 0, Activity.MPI, kinds).astype(np.uint8)


def costs_by_device(profile: Profile, group: IntArray, size: int) -> FloatArray:
    """(devices × places) of seconds: what a device does at each, and at the last place what is left of the elapsed time.

    Streams of a device that overlap share its time, so that each row adds up to the elapsed time where that is known.
    """
    table = by_device(profile, profile.values.grouped(ALL, group, size))
    table = table[table.any(axis=1)]
    elapsed = wall_seconds(profile)
    if elapsed is not None and len(table):
        busy = table.sum(axis=1, keepdims=True)
        table *= np.minimum(1.0, elapsed / np.maximum(busy, 1e-300))
        table[:, -1] += np.maximum(elapsed - busy[:, 0], 0.0)
    return table


def with_idle(joint: Joint) -> Joint:
    """The joint tree with a last place, below its root, for devices that have nothing to do."""
    tree, size = joint.tree, len(joint.tree)
    return rebuilt(
        joint,
        [*tree.parent.tolist(), 0],
        [*tree.name.tolist(), len(tree.names)],
        [*joint.part.tolist(), Part.FUNCTION],
        range(size),
        [IDLE],
    )
