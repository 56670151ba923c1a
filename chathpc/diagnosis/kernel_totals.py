"""Kernels of a timeline by name: how often each ran, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.profile import intervals
from chathpc.profile.intervals import Times
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.names import scopes_of, shorten
from chathpc.profile.timeline import IntervalLane
from chathpc.profile.tree import IntArray

#: Characters of a name in a sentence; those of templates fill a page.
LONGEST_NAME = 60
#: Kernels whose launches are joined exactly; of the others, which are short, the sum is taken.
_UNIONS = 3
_NANO = 1e-9


@dataclass(frozen=True, slots=True)
class KernelTotal:
    """All launches of one kernel: `seconds` is the union of its launches over time, added up over devices.

    `mean` is the mean duration of a launch in seconds, `node` the tree node with most of the time (−1: unknown).
    """

    name: str
    node: int
    seconds: float
    launches: int
    mean: float

    @property
    def short(self) -> str:
        """The name as it stands in a sentence."""
        return shorten(self.name, LONGEST_NAME)


def kernel_totals(
    lanes: Sequence[IntervalLane], named: Sequence[IntArray], name_of: Callable[[int], str], window: tuple[int, int]
) -> list[KernelTotal]:
    """The kernels in some lanes, the one with most time first. `named[i]` numbers the names of the intervals of lane i.

    Instances of one template count as one kernel, under its own name; a kernel with one instance keeps its full name.
    """
    if not lanes:
        return []
    node, name = np.concatenate([lane.node for lane in lanes]), np.concatenate(named)
    start, end = np.concatenate([lane.start for lane in lanes]), np.concatenate([lane.end for lane in lanes])
    device = np.repeat([lane.device for lane in lanes], [len(lane) for lane in lanes])
    length = np.maximum(end - start, 0)
    family, members = _families(name, name_of)
    count = np.bincount(family, minlength=len(members))
    total = np.bincount(family, weights=length, minlength=len(members))
    found: list[KernelTotal] = []
    for index in np.argsort(-total, kind="stable").tolist():
        union, best = float(total[index]) * _NANO, -1
        if len(found) < _UNIONS:
            mine = family == index
            union = _union(device[mine], start[mine], end[mine], window)
            if bool((node[mine] >= 0).any()):
                best = int(np.argmax(np.bincount(np.maximum(node[mine], 0), weights=length[mine])))
        found.append(
            KernelTotal(
                name=members[index],
                node=best,
                seconds=union,
                launches=int(count[index]),
                mean=float(total[index]) * _NANO / int(count[index]),
            )
        )
    return found


def _families(name: IntArray, name_of: Callable[[int], str]) -> tuple[IntArray, list[str]]:
    """Number of the kernel that each name belongs to, and the kernels' names."""
    used = np.flatnonzero(np.bincount(name))
    families: dict[str, list[int]] = {}
    for index in used.tolist():
        families.setdefault(_without_arguments(name_of(index)), []).append(index)
    group = np.zeros(int(used[-1]) + 1, dtype=np.int32)
    members = []
    for number, (base, indices) in enumerate(families.items()):
        group[indices] = number
        members.append(base if len(indices) > 1 else name_of(indices[0]))
    return group[name], members


def _union(device: IntArray, start: Times, end: Times, window: tuple[int, int]) -> float:
    """Seconds that intervals cover inside the window, added up over devices."""
    return sum(
        intervals.length(intervals.clip(intervals.union(start[device == each], end[device == each]), *window)) * _NANO
        for each in np.flatnonzero(np.bincount(device)).tolist()
    )


def _without_arguments(name: str) -> str:
    """`void a::k<float>(int)` → `a::k`: what all instances of a template share."""
    return "::".join(scope.partition("<")[0] for scope in scopes_of(kernel_key(name))) or name
