"""Kernels of a timeline by name: how often each ran, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.profile import intervals
from chathpc.profile.intervals import Intervals
from chathpc.profile.kernel_names import kernel_key, kernel_title
from chathpc.profile.names import scopes_of
from chathpc.profile.timeline import IntervalLane
from chathpc.profile.tree import IntArray

#: Kernels whose launches are joined exactly; of the others, which are short, the sum is taken.
_UNIONS = 3
_NANO = 1e-9
#: Durations are about alike up to this standard deviation, as a part of their mean.
_ALIKE = 0.25


def each_of(mean: float, deviation: float) -> str:
    """What a mean is called: none takes it where they differ much."""
    return "each" if deviation <= _ALIKE * mean else "each on average"


@dataclass(frozen=True, slots=True)
class KernelTotal:
    """All launches of one kernel: `seconds` is the union of its launches over time, added up over devices.

    `mean` and `deviation` are those of a launch's duration in seconds, `node` the tree node with most of the time (−1: unknown).
    """

    name: str
    node: int
    seconds: float
    launches: int
    mean: float
    deviation: float

    @property
    def each(self) -> str:
        """What the mean is called."""
        return each_of(self.mean, self.deviation)

    @property
    def short(self) -> str:
        """The name as it stands in a sentence."""
        return kernel_title(self.name)


def kernel_totals(
    lanes: Sequence[IntervalLane], name_of_node: IntArray, name_of: Callable[[int], str], window: tuple[int, int]
) -> list[KernelTotal]:
    """The kernels in some lanes, the one with most time first.

    `name_of_node` numbers the names of the nodes, and at its end that of "no node". Instances of one template count as one
    kernel, under its own name; a kernel with one instance keeps its full name.
    """
    if not lanes:
        return []
    node = lanes[0].node if len(lanes) == 1 else np.concatenate([lane.node for lane in lanes])
    node = np.where(node >= 0, node, np.int32(len(name_of_node) - 1)) if int(node.min()) < 0 else node
    length = np.concatenate([np.maximum(lane.end - lane.start, 0) for lane in lanes])
    launches = np.bincount(node, minlength=len(name_of_node))
    spent = np.bincount(node, weights=length, minlength=len(name_of_node))
    squares = np.bincount(node, weights=np.square(length * _NANO), minlength=len(name_of_node))
    family, members = _families(name_of_node, launches > 0, name_of)
    real = family >= 0
    count = np.bincount(family[real], weights=launches[real], minlength=len(members))
    total = np.bincount(family[real], weights=spent[real], minlength=len(members))
    square = np.bincount(family[real], weights=squares[real], minlength=len(members))
    found: list[KernelTotal] = []
    for index in np.argsort(-total, kind="stable").tolist():
        union, best = float(total[index]) * _NANO, -1
        mean = union / int(count[index])
        if len(found) < _UNIONS:
            mine = family == index
            union = _union(lanes, mine, window)
            if bool(mine[:-1].any()):
                weights = np.where(mine, spent, 0.0)
                weights[0] += weights[-1]  # what has no node
                best = int(np.argmax(weights[:-1]))
        found.append(
            KernelTotal(
                name=members[index],
                node=best,
                seconds=union,
                launches=int(count[index]),
                mean=mean,
                deviation=max(float(square[index]) / int(count[index]) - mean * mean, 0.0) ** 0.5,
            )
        )
    return found


def _families(
    name_of_node: IntArray, used: NDArray[np.bool_], name_of: Callable[[int], str]
) -> tuple[IntArray, list[str]]:
    """Number of the kernel that each node belongs to (−1: not used), and the kernels' names."""
    families: dict[str, list[int]] = {}
    for index in np.flatnonzero(np.bincount(name_of_node[used])).tolist():
        families.setdefault(_without_arguments(name_of(index)), []).append(index)
    group = np.full(int(name_of_node.max()) + 1, -1, dtype=np.int32)
    members = []
    for number, (base, indices) in enumerate(families.items()):
        group[indices] = number
        members.append(base if len(indices) > 1 else name_of(indices[0]))
    return np.where(used, group[name_of_node], np.int32(-1)), members


def _union(lanes: Sequence[IntervalLane], mine: NDArray[np.bool_], window: tuple[int, int]) -> float:
    """Seconds that intervals at some nodes (the last: none) cover inside the window, added up over devices."""
    sets: dict[int, list[Intervals]] = {}
    for lane in lanes:
        at = np.flatnonzero(mine.take(lane.node))  # −1 is the last
        sets.setdefault(lane.device, []).append((lane.start.take(at), lane.end.take(at)))
    return sum(
        intervals.length(intervals.clip(intervals.union_of(*parts), *window)) * _NANO
        for _, parts in sorted(sets.items())
    )


def _without_arguments(name: str) -> str:
    """`void a::k<float>(int)` → `a::k`: what all instances of a template share."""
    return "::".join(scope.partition("<")[0] for scope in scopes_of(kernel_key(name))) or name
