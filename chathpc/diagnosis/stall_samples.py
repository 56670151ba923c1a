"""Samples of a kernel's warps by reason and by line: what stands in for stall counters, and where in the source it is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.device import dense, has
from chathpc.profile.gpu_counters import STALLS
from chathpc.profile.profile import Profile
from chathpc.profile.tree import IntArray

#: Where samples of lines may be, by the kind of waiting, the most telling first; the last ones count all samples.
_LINE_SAMPLES = {
    "memory": ("gpu.stall.memory", "gpu.stall.memory-throttle", "gpu.stall.texture", "gpu.stall.drain"),
    "barrier": ("gpu.stall.barrier",),
    "dependency": ("gpu.stall.dependency", "gpu.stall.short-scoreboard", "gpu.stall.mio-throttle"),
    "fetch": ("gpu.stall.instruction-fetch",),
    "pipe": ("gpu.stall.pipe-busy",),
}
_ANY_SAMPLES = ("gpu.stall.any", "gpu.instructions")
#: Samples of warps by reason (`gpu.stall.<key>`) → the reason that they are samples of, where it has another name.
_SAMPLED = {
    "memory": "long-scoreboard", "memory-throttle": "lg-throttle", "texture": "tex-throttle", "dependency": "wait",
    "pipe-busy": "math-pipe-throttle", "instruction-fetch": "no-instruction", "memory-fence": "membar", "constant": "imc-miss",
    "branch": "branch-resolving", "dispatch": "dispatch-stall", "other": "misc", "warpgroup": "gmma",
}  # fmt: skip


def sampled_stalls(profile: Profile, nodes: IntArray) -> Mapping[str, float]:
    """Reason → part (0..1) of the samples of warps at `nodes` that stand in it; empty with too few samples."""
    total = float(dense(profile, "gpu.instructions")[nodes].sum())
    if total < common()["min_samples"].value:
        return {}
    found = {}
    for reason in (*_SAMPLED, *STALLS):
        name = f"gpu.stall.{reason}"
        if has(profile, name) and reason != "selected":
            value = float(dense(profile, name)[nodes].sum())
            if value > 0:
                found[_SAMPLED.get(reason, reason)] = min(value / total, 1.0)
    return found


def hottest_line(profile: Profile, nodes: IntArray, waiting: str) -> tuple[int, float] | None:
    """The node of `nodes` at the source line with most samples of a kind of waiting, and that line's part (0..1) of them.

    Where no line has such samples, all samples count. None without samples by line.
    """
    tree = profile.tree
    for names in (_LINE_SAMPLES.get(waiting, ()), *((name,) for name in _ANY_SAMPLES)):
        weight = sum((dense(profile, name) for name in names), np.zeros(len(tree)))[nodes]
        weight = np.where((tree.line[nodes] > 0) & (tree.file[nodes] >= 0), weight, 0.0)
        total = float(weight.sum())
        if total > 0:
            lines, line = np.unique(np.stack((tree.file[nodes], tree.line[nodes])), axis=1, return_inverse=True)
            sums = np.bincount(line.reshape(-1), weights=weight, minlength=lines.shape[1])
            best = int(np.argmax(sums))
            at = np.where(line.reshape(-1) == best, weight, -1.0)
            return int(nodes[int(np.argmax(at))]), float(sums[best]) / total
    return None
