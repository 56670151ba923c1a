"""Samples of a kernel's warps by reason and by line: what stands in for stall counters, and where in the source it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.device import Kernel, samples_metric
from chathpc.diagnosis.statistics import is_above
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from chathpc.profile.stalls import STALLS, samples_of
from chathpc.profile.tree import IntArray, NodeKind

#: Kind of trouble → where it is counted by line, and what is counted in words.
_BY_LINE = {
    "memory": (samples_of("memory"), "samples of warps that wait for memory"),
    "barrier": (samples_of("barrier"), "samples of warps that wait at a barrier"),
    "dependency": (samples_of("dependency"), "samples of warps that wait for earlier results"),
    "fetch": (samples_of("fetch"), "samples of warps that wait for instructions"),
    "pipe": (samples_of("pipe"), "samples of warps that wait for a pipe"),
    "spread": (("gpu.l2.sectors.excessive",), "sectors beyond what coalesced accesses would need"),
    "conflicts": (("gpu.shared.wavefronts.excessive",), "wavefronts beyond what accesses without conflicts would need"),
}
#: What counts where a kind of trouble was not counted by line.
_ANY = ((("gpu.stall.any",), "samples of waiting warps"), (("gpu.instructions",), "samples of warps"))


def counted_by(trouble: str) -> tuple[tuple[str, ...], str]:
    """Metrics that count a kind of trouble by line, and what they count in words; none for kinds that have no such metric."""
    return _BY_LINE.get(trouble, ((), ""))


def drawn(profile: Profile, metric: str, total: float) -> float:
    """How many samples stand behind a sum of a metric of PC sampling; infinite where the tool does not tell their number.

    A metric in samples counts them; one in instructions or cycles holds samples × period.
    """
    if profile.metrics[metric].unit == Unit.SAMPLES:
        return total
    if not profile.has(_PERIOD) or not len(periods := profile.exclusive(_PERIOD)):
        return inf
    return total / max(float(periods.values.min()), 1.0)


def hot_part(profile: Profile, kernel: Kernel, device: float, samples: float) -> float | None:
    """Part of the device's busy time (`device`, seconds) that a kernel has or, where there is no time, of all PC samples, of which
    the kernel has `samples`; None if that is not above `min_kernel_share` by more than sampling explains.
    """
    base = samples_metric(profile)
    if device:
        part, of = kernel.seconds / device, inf
    elif base is not None and (everything := profile.total(base)):
        part, of = samples / everything, drawn(profile, base, everything)
    else:
        return None
    return part if is_above(part, common()["min_kernel_share"].value, of, common()["sigma"].value) else None


#: Cycles between PC samples.
_PERIOD = "gpu.samples.period"


def warp_samples(profile: Profile, nodes: IntArray) -> float:
    """Number of samples of warps at `nodes`; infinite where it is not known."""
    if not profile.has(_WARPS):
        return inf
    return drawn(profile, _WARPS, float(profile.dense(_WARPS)[nodes].sum()))


#: All samples of warps, waiting or not.
_WARPS = "gpu.instructions"


def sampled_stalls(profile: Profile, nodes: IntArray) -> Mapping[str, float]:
    """Reason → part (0..1) of the samples of warps at `nodes` that stand in it; empty with too few samples."""
    total = float(profile.dense(_WARPS)[nodes].sum())
    if total < common()["min_samples"].value:
        return {}
    found = {}
    for reason, stall in STALLS.items():
        name = f"gpu.stall.{stall.key}"
        if profile.has(name) and reason != "selected":
            value = float(profile.dense(name)[nodes].sum())
            if value > 0:
                found[reason] = min(value / total, 1.0)
    return found


@dataclass(frozen=True, slots=True)
class Hot:
    """The place in a kernel with most of a trouble: a node, its part (0..1), and what was counted in words."""

    node: int
    part: float
    what: str


def hottest(profile: Profile, nodes: IntArray, trouble: str) -> Hot | None:
    """Where of `nodes` most of a kind of trouble is: by source line, or by instruction where no lines are known.

    Where the trouble was not counted, all samples count. None without anything counted below the kernel.
    """
    tree = profile.tree
    inside = nodes[1:]
    lines = inside[(tree.line[inside] > 0) & (tree.file[inside] >= 0)]
    known = [_BY_LINE[trouble]] if trouble in _BY_LINE else []
    for chosen in (lines, inside[tree.kind[inside] == NodeKind.INSTRUCTION]):
        for names, what in (*known, *_ANY):
            weight = sum((profile.dense(name) for name in names), np.zeros(len(tree)))[chosen]
            total = float(weight.sum())
            if total <= 0:
                continue
            place = np.arange(len(chosen))
            if chosen is lines:
                _, place = np.unique(np.stack((tree.file[chosen], tree.line[chosen])), axis=1, return_inverse=True)
                place = place.reshape(-1)
            sums = np.bincount(place, weights=weight)
            best = int(np.argmax(sums))
            node = chosen[int(np.argmax(np.where(place == best, weight, -1.0)))]
            return Hot(int(node), min(float(sums[best]) / total, 1.0), what)
    return None
