"""Which call or range lies in which: the stack of each thread from begin and end times, without a loop over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, by_group


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


#: From as many spans on a source is looked up rather than sorted in, if the others together have at most a part of them.
BULK, PART = 50_000, 8


def nest_all(sources: Sequence[Spans]) -> Nesting:
    """The nesting of all spans, numbered through in the order of the sources; see `nest`."""
    sizes = [len(source) for source in sources]
    total = sum(sizes)
    largest = int(np.argmax(sizes)) if sizes else 0
    if total and sizes[largest] >= BULK and (total - sizes[largest]) * PART <= sizes[largest]:
        found = _looked_up(sources, largest)
        if found is not None:
            return found
    return nest(*_columns(sources))


def _columns(sources: Sequence[Spans]) -> tuple[Int32Array, Int64Array, Int64Array]:
    if len(sources) == 1:
        return sources[0].thread, sources[0].start, sources[0].end
    if not sources:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return (
        np.concatenate([source.thread for source in sources]),
        np.concatenate([source.start for source in sources]),
        np.concatenate([source.end for source in sources]),
    )


def _looked_up(sources: Sequence[Spans], largest: int) -> Nesting | None:
    """The nesting if the spans of the largest source do not hold one another, else None.

    The innermost of the other spans changes where one of them begins or ends only: between two such times all spans of the
    largest source have the same parent. Those of it that hold another span are treated as the others are.
    """
    bulk = sources[largest]
    axis = Axis.of(sources)
    key, stop = axis.keys(bulk)
    order = _order(bulk.thread, key, axis.threads)
    if order is not None:
        key, stop = key[order], stop[order]
    taken = stop - key
    if bool((key[1:] < stop[:-1]).any()):
        return None
    # Only behind a span without length another one can begin at the same time.
    if int(taken.min()) == 0 and bool(((key[1:] == key[:-1]) & (taken[1:] > 0)).any()):
        return None
    offsets = np.cumsum([0, *(len(source) for source in sources)])
    few, number, holding = _few(sources, largest, offsets, axis, key, stop, order)
    count = len(few)
    # A span without length wherever one of the few begins or ends shows what is open from there on.
    thread, begin, end = few.thread, few.start, few.end
    nested = nest(np.tile(thread, 3), np.concatenate([begin, begin, end]), np.concatenate([end, begin, end]))
    times = np.concatenate(axis.keys(few))
    by_time = np.argsort(times, kind="stable")
    state = np.append(-1, nested.parent[count:][by_time])
    edges = np.concatenate([[0], np.searchsorted(key, times[by_time], side="left"), [len(key)]])
    runs = np.diff(edges)
    # Own times: the few lose what the many inside them take, of the last of a run no more than lies inside.
    taken[holding] = 0
    sums = np.zeros(len(taken) + 1, dtype=np.int64)
    np.cumsum(taken, out=sums[1:])
    part = sums[edges[1:]] - sums[edges[:-1]]
    real = np.flatnonzero((runs > 0) & (state >= 0))
    ends = axis.keys(few)[1]
    latest = edges[real + 1] - 1
    beyond = np.minimum(np.maximum(stop[latest] - ends[state[real]], 0), taken[latest])
    held = np.bincount(state[real], weights=part[real] - beyond, minlength=count).astype(np.int64)
    shown = np.append(number, -1).astype(np.int32)  # −1 stands at the end
    total = int(offsets[-1])
    result = Nesting(np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.int64))
    mine = slice(int(offsets[largest]), int(offsets[largest + 1]))
    deep = np.append(nested.depth[:count] + 1, 0).astype(np.int32)
    everywhere = slice(None) if order is None else order
    result.parent[mine][everywhere] = np.repeat(shown[state], runs)
    result.depth[mine][everywhere] = np.repeat(deep[state], runs)
    np.subtract(bulk.end, bulk.start, out=result.own[mine])
    result.parent[number] = shown[nested.parent[:count]]
    result.depth[number] = nested.depth[:count]
    result.own[number] = np.maximum(nested.own[:count] - held, 0)
    return result


def _few(
    sources: Sequence[Spans],
    largest: int,
    offsets: NDArray[np.int64],
    axis: Axis,
    key: Int64Array,
    stop: Int64Array,
    order: NDArray[np.intp] | None,
) -> tuple[Spans, NDArray[np.int64], NDArray[np.int64]]:
    """All spans but the many, with those of the many that hold one of them; their numbers; where the latter are in `key`."""
    bulk = sources[largest]
    rest = [k for k in range(len(sources)) if k != largest]
    others = Spans(*_columns([sources[k] for k in rest]))
    begin = axis.keys(others)[0]
    at = np.searchsorted(key, begin, side="right") - 1
    holding = np.unique(at[(at >= 0) & (begin < stop[np.maximum(at, 0)])])
    holders = holding if order is None else order[holding]
    number = np.concatenate([*(np.arange(offsets[k], offsets[k + 1]) for k in rest), holders + offsets[largest]])
    few = Spans(
        np.concatenate([others.thread, bulk.thread[holders]]),
        np.concatenate([others.start, bulk.start[holders]]),
        np.concatenate([others.end, bulk.end[holders]]),
    )
    return few, number, holding


def _order(thread: Int32Array, key: Int64Array, threads: int) -> NDArray[np.intp] | None:
    """The order by thread and beginning; None if the spans stand so."""
    if not bool((key[1:] < key[:-1]).any()):
        return None
    order = by_group(thread, threads)
    sorted_key = key[order]
    return np.argsort(key, kind="stable") if bool((sorted_key[1:] < sorted_key[:-1]).any()) else order
