"""Nesting of several sources of spans, one of which has millions that do not hold one another: these are not sorted in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, by_group
from chathpc.adapters.nsight_systems.spans import Axis, Nesting, Spans, nest

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
