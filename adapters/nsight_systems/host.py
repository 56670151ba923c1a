"""The host's part of the tree: process, thread, ranges, stacks, calls; times, counts and lanes of its threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.nsight_systems.assembly import Assembly, RawLane
from chathpc.adapters.nsight_systems.chains import PROFILER, put_below
from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, by_group, encode
from chathpc.adapters.nsight_systems.sources import PROCESS_BITS, Events, Samples
from chathpc.adapters.nsight_systems.spans import Nesting, Spans, nest_all
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import NodeKind

#: Ranges and calls inside one another that are kept apart; what is deeper counts for the last of them.
DEEPEST = 128
TOO_DEEP = "Ranges are nested over {} levels deep; anything deeper than 128 is attributed to the range at that depth."

Number = TypeVar("Number", np.int32, np.int64)

CALL_LANES = (LaneKind.API, LaneKind.MPI, LaneKind.OS)


@dataclass(frozen=True, slots=True, eq=False)
class Threads:
    """The threads of an export: their ids, ascending, and for each its process, node and location."""

    ids: Int64Array
    process: Int32Array
    node: Int32Array
    place: Int32Array

    def numbers(self, ids: Int64Array) -> Int32Array:
        """The numbers of threads with the given ids."""
        return np.searchsorted(self.ids, ids).astype(np.int32)

    def of(self, events: Events | Samples) -> Int32Array:
        """The number of each event's thread."""
        return events.thread if len(events.tids) == len(self.ids) else self.numbers(events.tids)[events.thread]


def place_host(assembly: Assembly, sources: list[Events], threads: Threads, found: Samples | None) -> list[Int32Array]:
    """Give every event a node, add up times, counts and samples, keep the lanes; the nodes by source."""
    if not sources and found is None:
        return []
    spans = _Spans(assembly, sources, threads, found)
    nodes = spans.nodes()
    spans.add_times(nodes)
    if found is not None:
        spans.add_samples(nodes, found)
    result = [nodes[piece] for piece in spans.pieces]
    for events, thread, node in zip(sources, spans.threads_of, result, strict=True):
        _lanes(assembly, events, thread, node, threads)
    return result


class _Spans:
    """All events of the host's threads one behind the other, samples last (as spans without length)."""

    def __init__(self, assembly: Assembly, sources: list[Events], threads: Threads, samples: Samples | None) -> None:
        self.assembly, self.sources, self.threads = assembly, sources, threads
        edges = np.cumsum([0, *(len(events) for events in sources)]).tolist()
        self.pieces = [slice(begin, end) for begin, end in pairwise(edges)]
        self.threads_of = [threads.of(events) for events in sources]
        spans = [
            Spans(thread, events.start, events.end) for thread, events in zip(self.threads_of, sources, strict=True)
        ]
        if samples is not None:
            spans.append(Spans(threads.of(samples), samples.time, samples.time))
        self.count = edges[-1]
        self.thread = _joined([source.thread for source in spans])
        self.nesting: Nesting = nest_all(spans)
        # Kind and name as one number: calls are functions, their numbers those of the names; ranges come behind.
        self.names = len(assembly.paths.names.texts)
        codes = [e.name if e.kind == NodeKind.FUNCTION else e.name + np.int32(self.names) for e in sources]
        self.code: Int32Array = _joined(codes) if codes else np.zeros(0, dtype=np.int32)

    def nodes(self) -> Int32Array:
        """The node of every event."""
        parent, depth = self.nesting.parent[: self.count], self.nesting.depth[: self.count]
        node = np.full(self.count, -1, dtype=np.int32)
        holds = np.zeros(self.count + 1, dtype=bool)
        holds[parent] = True  # −1 is the last
        holds = holds[:-1]
        deepest = int(depth.max(initial=0))
        holders = np.flatnonzero(holds)
        by_depth = holders[np.argsort(depth[holders], kind="stable")]
        edges = np.searchsorted(depth[by_depth], np.arange(min(deepest, DEEPEST) + 1))
        for level in range(len(edges) - 1):
            self._place(by_depth[edges[level] : edges[level + 1]], node)
        if deepest < DEEPEST:
            # Those that hold others once more, if they are few: equal nodes are merged in the end.
            self._place(slice(None) if 2 * len(holders) < self.count else np.flatnonzero(~holds), node)
            return node
        self.assembly.note(TOO_DEEP, deepest)
        self._place(np.flatnonzero(~holds & (depth < DEEPEST)), node)
        deep = np.flatnonzero(depth >= DEEPEST)
        pointer = np.where(depth >= DEEPEST, parent, np.arange(self.count))
        while (depth[pointer[deep]] >= DEEPEST).any():
            pointer = pointer[pointer]
        node[deep] = node[pointer[deep]]
        return node

    def _place(self, rows: NDArray[np.intp] | slice, node: Int32Array) -> None:
        """Nodes for some events whose parents have theirs."""
        parent = self.nesting.parent[: self.count][rows]
        one = len(self.threads.ids) == 1
        above = self.threads.node.take(0 if one else self.thread[: self.count][rows])
        above = np.broadcast_to(above, parent.shape)
        if (inside := parent >= 0).any():
            above = node.take(parent) if inside.all() else np.where(inside, node.take(parent), above)
        if any(events.chains is not None for events in self.sources):
            above = self._with_stacks(rows, parent, above)
        kinds = (NodeKind.FUNCTION, NodeKind.REGION)
        node[rows] = self.assembly.paths.add_coded(above, self.code[rows], self.names, kinds)

    def _with_stacks(self, rows: NDArray[np.intp] | slice, parent: Int32Array, above: Int32Array) -> Int32Array:
        """The nodes that calls hang below: the stack of the call, unless another call holds it and so stands for the stack."""
        number = np.arange(self.count)[rows]
        outermost = (parent < 0) | (self.code[parent] >= self.names)
        above = above.copy()
        for events, piece in zip(self.sources, self.pieces, strict=True):
            if events.chains is None or events.leaf is None:
                continue
            mine = np.flatnonzero((number >= piece.start) & (number < piece.stop) & outermost)
            if len(mine):
                above[mine] = put_below(
                    self.assembly.paths, above[mine], events.chains, events.leaf[number[mine] - piece.start]
                )
        return above

    def add_times(self, node: NDArray[np.int32 | np.intp]) -> None:
        """Own times and numbers of calls by node; a node belongs to one thread."""
        size = len(self.assembly.paths)
        node = node.astype(np.intp)  # once for all that is counted
        own = np.bincount(node, weights=self.nesting.own[: self.count], minlength=size)
        counts = [np.bincount(node[piece], minlength=size) for piece in self.pieces]
        count = np.sum(counts, axis=0) if counts else np.zeros(size, dtype=np.int64)
        owner = self.assembly.paths.nearest(self.threads.node)
        place = np.where((count > 0) & (owner >= 0), self.threads.place[owner], -1).astype(np.int32)
        used = np.flatnonzero(place >= 0).astype(np.int32)
        self.assembly.add("host.time", used, place[used], (own[used] * 1e-9).astype(np.float64))
        calls = np.zeros(size, dtype=np.int64)
        for events, piece, number in zip(self.sources, self.pieces, counts, strict=True):
            if events.lane in CALL_LANES:
                calls += number
            if events.size is not None:
                sent = np.bincount(node[piece], weights=np.maximum(events.size, 0), minlength=size)
                at = np.flatnonzero(sent).astype(np.int32)
                self.assembly.add("mpi.message.bytes", at, place[at], sent[at].astype(np.float64))
        called = np.flatnonzero(calls).astype(np.int32)
        self.assembly.add("calls.count", called, place[called], calls[called].astype(np.float64))

    def add_samples(self, node: Int32Array, found: Samples) -> None:
        """Samples: below the innermost range, the stack of each."""
        parent = self.nesting.parent[self.count :]
        held = parent.copy()
        thread = self.thread[self.count :]
        above = self.threads.node[thread]
        if self.count:
            while (calls := np.flatnonzero((held >= 0) & (self.code[held] < self.names))).size:
                held[calls] = self.nesting.parent[held[calls]]
            above = np.where(held >= 0, node[held], above)
        if found.chains is not None:
            at = put_below(self.assembly.paths, above, found.chains, found.leaf)
            ours = np.flatnonzero(found.cut)
            name = np.full(len(ours), self.assembly.paths.names.number(PROFILER), dtype=np.int32)
            at = at.copy()
            at[ours] = self.assembly.paths.add(at[ours], NodeKind.PLACEHOLDER, name)
        else:
            at = above
        nodes, index = encode(at.astype(np.int64))
        place = np.zeros(len(nodes), dtype=np.int32)
        place[index] = self.threads.place[thread]
        counts = np.bincount(index).astype(np.float64)
        self.assembly.add("cpu.samples", nodes.astype(np.int32), place, counts)


def _joined(pieces: list[NDArray[Number]]) -> NDArray[Number]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def make_threads(assembly: Assembly, ids: Int64Array, processes: dict[int, int], names: dict[int, str]) -> Threads:
    """The threads with the given ids: nodes below those of their processes, named where they have a name of their own."""
    process, node, place = [], [], []
    for tid in ids.tolist():
        number = processes[tid & PROCESS_BITS]
        owner = assembly.processes[number]
        main = tid & 0xFFFFFF == (tid >> 24) & 0xFFFFFF
        order = 0 if main else owner.threads + 1
        owner.threads += 0 if main else 1
        name = names.get(tid, "")
        label = "main thread" if main else f"thread {order}" + (f" ({name})" if name and name != owner.name else "")
        process.append(number)
        node.append(assembly.paths.node(owner.node, NodeKind.ENTRY, label))
        place.append(assembly.place(number, thread=order))
    return Threads(ids, *(np.array(column, dtype=np.int32) for column in (process, node, place)))


def _lanes(assembly: Assembly, events: Events, thread: Int32Array, node: Int32Array, threads: Threads) -> None:
    """One lane for each thread of a source."""
    for mine in groups(thread, len(threads.ids), events.start):
        first = int(thread[mine][0])
        assembly.lanes.append(
            RawLane(events.lane, -1, int(threads.place[first]), events.start[mine], events.end[mine], node[mine])
        )


def groups(group: Int32Array, count: int, start: Int64Array) -> list[NDArray[np.intp] | slice]:
    """The rows of each group that has any, by beginning; one slice of all if there is one group and it is sorted."""
    if len(group) == 0:
        return []
    if int(group.min()) == int(group.max()):
        if not bool((start[1:] < start[:-1]).any()):
            return [slice(None)]
        return [np.argsort(start, kind="stable")]
    order = by_group(group, count)
    edges = np.append(np.flatnonzero(np.diff(group[order])) + 1, len(order))
    result: list[NDArray[np.intp] | slice] = []
    begin = 0
    for end in edges.tolist():
        mine = order[begin:end]
        begin = end
        if bool((start[mine[1:]] < start[mine[:-1]]).any()):
            mine = mine[np.argsort(start[mine], kind="stable")]
        result.append(mine)
    return result
