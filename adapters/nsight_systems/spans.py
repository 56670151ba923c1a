"""Which call or range lies in which: the stack of each thread from begin and end times, without a loop over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Spans of one source: the thread (numbers from 0), begin and end of each."""

    thread: Int32Array
    start: Int64Array
    end: Int64Array

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of time on which the threads lie one behind the other, each `span` long from time `first` on."""

    first: int
    span: int
    threads: int

    @classmethod
    def of(cls, sources: Sequence[Spans]) -> Axis:
        """The axis that holds all spans; OverflowError if they are centuries."""
        real = [source for source in sources if len(source)]
        first, last = min(int(s.start.min()) for s in real), max(int(s.end.max()) for s in real)
        threads = max(int(source.thread.max()) + 1 for source in real)
        if (last - first + 1) * threads >= 2**62:
            raise OverflowError("the times of all threads do not fit one axis")
        return cls(first, last - first + 1, threads)

    def keys(self, spans: Spans) -> tuple[Int64Array, Int64Array]:
        """Where the spans begin and end on the axis."""
        if self.threads == 1:
            return spans.start, spans.end
        shift = spans.thread.astype(np.int64)
        shift *= self.span
        shift -= self.first
        return spans.start + shift, spans.end + shift


@dataclass(frozen=True, slots=True, eq=False)
class Nesting:
    """For each span the innermost one that holds its beginning (−1: none), how many hold it, and its own time.

    `own` is the duration without that of the spans directly inside, never negative.
    """

    parent: Int32Array
    depth: Int32Array
    own: Int64Array


def nest(thread: Int32Array, start: Int64Array, end: Int64Array) -> Nesting:
    """Nest the spans [start, end) of each thread (numbers from 0).

    Where spans overlap without nesting, the one that began last counts as the inner one, and its part beyond the outer one
    is not taken from that. O(n log n) at worst; linear where the spans are sorted. OverflowError if the times of all
    threads together are centuries.
    """
    n = len(start)
    if n == 0:
        nothing = np.zeros(0, dtype=np.int32)
        return Nesting(nothing, nothing, np.zeros(0, dtype=np.int64))
    spans = Spans(thread, start, end)
    key, stop = Axis.of([spans]).keys(spans)
    order = _outer_first(key, stop)
    if order is not None:
        key, stop = key[order], stop[order]
    holds = np.zeros(n, dtype=bool)
    holds[:-1] = key[1:] < stop[:-1]
    inner = np.flatnonzero(holds)
    if not len(inner):
        return Nesting(np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.int32), end - start)
    parent, depth = _stack(key, stop, inner)
    wrong = _misplaced(key, stop, holds, parent, depth)
    if len(wrong):
        threads = thread if order is None else thread[order]
        for number in np.unique(threads[wrong]).tolist():
            mine = np.flatnonzero(threads == number)
            above, deep = _walk(key[mine], stop[mine])
            parent[mine] = np.where(above >= 0, mine[np.maximum(above, 0)], -1)
            depth[mine] = deep
    inside = parent >= 0
    part = np.minimum(stop[inside], stop[parent[inside]]) - key[inside]
    own = stop - key
    held = np.bincount(parent[inside], weights=np.maximum(part, 0), minlength=n)
    own -= held.astype(np.int64)
    np.maximum(own, 0, out=own)
    if order is None:
        return Nesting(parent.astype(np.int32), depth.astype(np.int32), own)
    return _as_given(order, parent, depth, own)


def _misplaced(
    key: Int64Array, stop: Int64Array, holds: NDArray[np.bool_], parent: Int64Array, depth: Int64Array
) -> NDArray[np.intp]:
    """The spans whose parent cannot be right, as some do not nest. One that holds no other may end beyond its parent."""
    held = np.flatnonzero(parent >= 0)
    above = parent[held]
    ended = (stop[above] <= key[held]) | (depth[above] != depth[held] - 1)
    return np.asarray(held[ended | (holds[held] & (stop[held] > stop[above]))])


def _as_given(order: NDArray[np.intp], parent: Int64Array, depth: Int64Array, own: Int64Array) -> Nesting:
    """The nesting of spans in the order in which they were given."""
    n = len(order)
    parents, depths, owns = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    parents[order] = np.where(parent >= 0, order[np.maximum(parent, 0)], -1)
    depths[order] = depth
    owns[order] = own
    return Nesting(parents, depths, owns)


def _outer_first(key: Int64Array, stop: Int64Array) -> NDArray[np.intp] | None:
    """The order by beginning, of equal ones the longest first; None if they stand so."""
    order: NDArray[np.intp] | None = None
    if bool((key[1:] < key[:-1]).any()):
        order = np.argsort(key, kind="stable")
        key, stop = key[order], stop[order]
    same = key[1:] == key[:-1]
    if not bool((same & (stop[1:] > stop[:-1])).any()):
        return order
    if order is None:
        order = np.arange(len(key))
    tied = np.zeros(len(key), dtype=bool)
    tied[1:] = same
    tied[:-1] |= same
    at = np.flatnonzero(tied)
    order[at] = order[at][np.lexsort((-stop[at], key[at]))]
    return order


def _stack(key: Int64Array, stop: Int64Array, inner: NDArray[np.intp]) -> tuple[Int64Array, Int64Array]:
    """Parent and depth of every span if all nest: those that hold others are `inner`.

    The number of open ones at a time is that of those begun less that of those ended; the innermost open one is the last
    that began with one open less.
    """
    n, m = len(key), len(inner)
    begun = np.zeros(n, dtype=np.int64)
    begun[inner + 1] = 1
    np.cumsum(begun, out=begun)
    depth = begun - np.searchsorted(np.sort(stop[inner]), key, side="right")
    level = depth[inner]
    by_level = np.argsort(level, kind="stable")
    places = level[by_level] * m + by_level
    parent = np.full(n, -1, dtype=np.int64)
    held = np.flatnonzero(depth > 0)
    at = np.searchsorted(places, (depth[held] - 1) * m + begun[held]) - 1
    parent[held] = inner[by_level[np.maximum(at, 0)]]
    return parent, depth


def _walk(key: Int64Array, stop: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Parent and depth by a stack, for one thread whose spans do not all nest."""
    begins, ends = key.tolist(), stop.tolist()
    parent: list[int] = []
    depth: list[int] = []
    stack: list[int] = []
    for number, begin in enumerate(begins):
        while stack and ends[stack[-1]] <= begin:
            stack.pop()
        parent.append(stack[-1] if stack else -1)
        depth.append(len(stack))
        stack.append(number)
    return np.array(parent, dtype=np.int64), np.array(depth, dtype=np.int64)
