"""Which slice of a thread lies in which, and how much of each is its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.intervals import Times
from chathpc.profile.tree import IntArray

#: Slices that lie in this many others are not looked into: no program nests so deep, damage and bombs do.
DEEPEST = 500
#: Slices above one that are searched for the one that holds it.
_SEARCHED = 64


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The nodes that slices of equal frames in equal places were joined to, parents first.

    `parent[k]` is a node or −1, `frame[k]` its frame. `node[i]` is the node of slice i, `own[i]` its own time in
    nanoseconds. `cut` counts slices deeper than DEEPEST, which became part of the one that holds them, and `crossing`
    those that lie for the most part outside of the one in which they begin.
    """

    parent: list[int]
    frame: list[int]
    node: NDArray[np.int64]
    own: Times
    cut: int
    crossing: int


def nest(
    thread: IntArray,
    start: Times,
    end: Times,
    frame: IntArray,
    tops: list[int],
    top_frames: list[int],
    top_parents: list[int],
) -> Nodes:
    """Nest slices by time: each moment of a thread belongs to the slice that began last and has not ended.

    So the own times of a thread's slices add up to the length of their union, also where slices overlap without lying
    in each other. `tops[t]` is the node at the top of thread t; `top_parents` and `top_frames` are the nodes that are there
    already. O(n log n); one step in Python per slice, about a microsecond.
    """
    parents, frames = list(top_parents), list(top_frames)
    index: dict[tuple[int, int], int] = {}
    order = np.lexsort((np.arange(len(start)), -end, start, thread))
    node = np.zeros(len(start), dtype=np.int64)
    own = np.zeros(len(start), dtype=np.int64)
    begins, ends, names, where = start.tolist(), end.tolist(), frame.tolist(), thread.tolist()
    nodes, mine = node.tolist(), own.tolist()
    cut = crossing = 0
    stack: list[int] = []
    now, current = 0, -1
    for i in order.tolist():
        begin = begins[i]
        if where[i] != current:
            _drain(stack, ends, mine, now)
            current, now = where[i], begin
        while stack:
            top = stack[-1]
            stop = ends[top]
            if stop > begin:
                if begin > now:
                    mine[top] += begin - now
                break
            if stop > now:
                mine[top] += stop - now
                now = stop
            stack.pop()
        now = max(now, begin)
        above = nodes[stack[-1]] if stack else tops[current]
        if len(stack) >= DEEPEST:
            cut += 1
            nodes[i] = above
            continue
        if stack and ends[i] > ends[stack[-1]]:
            holder = _holder(stack, ends, begin, ends[i])
            if holder != stack[-1]:
                crossing += 1
                above = nodes[holder] if holder >= 0 else tops[current]
        key = (above, names[i])
        found = index.get(key)
        if found is None:
            found = index[key] = len(parents)
            parents.append(above)
            frames.append(names[i])
        nodes[i] = found
        stack.append(i)
    _drain(stack, ends, mine, now)
    return Nodes(parents, frames, np.array(nodes, dtype=np.int64), np.array(mine, dtype=np.int64), cut, crossing)


def _holder(stack: list[int], ends: list[int], begin: int, end: int) -> int:
    """The innermost open slice that covers at least half of [begin, end); −1 if none does.

    A range is often opened inside of one call and closed inside of another: it belongs to what holds both. What sticks out
    by rounding stays where it is.
    """
    for slice_ in stack[: -_SEARCHED - 1 : -1]:
        if 2 * (ends[slice_] - begin) >= end - begin:
            return slice_
    return -1 if len(stack) <= _SEARCHED else stack[-1]


def _drain(stack: list[int], ends: list[int], own: list[int], now: int) -> None:
    """Give the time that is left to the slices that are still open, the innermost first."""
    while stack:
        top = stack.pop()
        if ends[top] > now:
            own[top] += ends[top] - now
            now = ends[top]
