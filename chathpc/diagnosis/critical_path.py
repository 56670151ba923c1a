"""The critical path of lanes that wait for each other: what the run would have to do less of to be faster.

Each lane (a thread, a rank, a stream of a device) does work at known times and nothing, or waiting, in between. A dependency
says that what a lane does from some time on needs what another did until some earlier time. The longest chain of work in the
order that program and dependencies ask for is the critical path: no schedule of the same work is shorter, and shortening any
other work wins nothing.

Work between two dependencies of a lane is one node of the graph, so its size is that of the dependencies and not of the trace.

A sampled trace has no events of synchronisation. What it has is when each thread waited in a call that ends for all at once
(an OpenMP barrier, MPI_Barrier, MPI_Allreduce and the like); whoever worked longest until the others' waiting ended is the one
that they waited for (`releases`). That is right to one sample period. Messages between two ranks cannot be told so, and are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.profile import intervals
from chathpc.profile.intervals import Intervals, Times
from chathpc.profile.tree import IntArray

#: Dependencies that are looked at; where there are more, those in the middle of the time. A path through so many takes a
#: few hundredths of a second.
MOST = 4_000
#: Begin of the first part of a lane, before all dependencies.
_EVER = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What one lane works on: [start[i], end[i]) in nanoseconds, ascending and disjoint; `label[i]` says on what."""

    start: Times
    end: Times
    label: IntArray

    def before(self, times: Times) -> Times:
        """Nanoseconds of work before each of `times`."""
        return intervals.overlap((np.zeros_like(times), times), (self.start, self.end))


@dataclass(frozen=True, slots=True, eq=False)
class Dependencies:
    """What lane `into[i]` does from `at[i]` on needs what lane `source[i]` did until `done[i]`; never later than `at[i]`."""

    source: IntArray
    done: Times
    into: IntArray
    at: Times

    def __len__(self) -> int:
        return len(self.source)

    def chosen(self, rows: IntArray | np.ndarray) -> Dependencies:
        """Some of them."""
        return Dependencies(self.source[rows], self.done[rows], self.into[rows], self.at[rows])

    @classmethod
    def joined(cls, several: Iterable[Dependencies]) -> Dependencies:
        """All of several."""
        parts = (NO_DEPENDENCIES, *several)
        return cls(
            *(np.concatenate([getattr(each, name) for each in parts]) for name in ("source", "done", "into", "at"))
        )


NO_DEPENDENCIES = Dependencies(
    np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
)


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the path: a lane between two times, in nanoseconds."""

    lane: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The longest chain: its `steps` in order, its length in nanoseconds of work, and the part of each label and lane.

    If `stretch` is given there were more than MOST dependencies, and the path is that of this part of the time.
    """

    steps: tuple[Step, ...]
    length: int
    by_label: Mapping[int, int]
    by_lane: Mapping[int, int]
    stretch: tuple[int, int] | None = None


def critical_path(lanes: Sequence[Work], needs: Dependencies) -> CriticalPath:
    """The longest chain of work through `lanes`, by the order in each lane and by `needs`.

    The graph is acyclic as every dependency leads from an earlier to a later or equal time; what leaves a lane at the very instant at
    which something arrives there is taken not to need it. The result is at most as long as
    the time from the first to the last work of all lanes. ValueError for dependencies that lead backwards in time.
    """
    if bool((needs.done > needs.at).any()):
        raise ValueError("a dependency leads backwards in time")
    stretch = None
    if len(needs) > MOST:
        stretch, needs = _middle(needs)
        lanes = [_clipped(work, *stretch) for work in lanes]
    cuts, first, weights, begins = [], [0], [], []
    for lane, work in enumerate(lanes):
        at = np.unique(np.concatenate([needs.done[needs.source == lane], needs.at[needs.into == lane]]))
        cuts.append(at)
        edges = np.concatenate([[0], work.before(at), [int((work.end - work.start).sum())]])
        weights.append(np.diff(edges))
        begins.append(np.concatenate([[_EVER], at]))
        first.append(first[-1] + len(at) + 1)
    if not lanes:
        return _told(lanes, cuts, first, [], stretch)
    arriving: list[list[int]] = [[] for _ in range(first[-1])]  # nodes of other lanes that each needs
    for lane in range(len(lanes)):
        mine = np.flatnonzero(needs.source == lane)
        ending = first[lane] + np.searchsorted(cuts[lane], needs.done[mine])  # the part that ends there
        for row, node in zip(mine.tolist(), ending.tolist(), strict=True):
            into = int(needs.into[row])
            target = first[into] + int(np.searchsorted(cuts[into], needs.at[row])) + 1  # the part that begins there
            arriving[target].append(node)
    path = _longest(np.concatenate(weights), np.concatenate(begins), first, arriving)
    return _told(lanes, cuts, first, path, stretch)


def _longest(weight: IntArray, begin: Times, first: Sequence[int], arriving: Sequence[Sequence[int]]) -> list[int]:
    """The nodes of the longest chain, in order. All that a node needs begins before it, so that `begin` is an order to visit them in."""
    length, before, starts = [0] * len(weight), [-1] * len(weight), set(first)
    for node in np.argsort(begin, kind="stable").tolist():
        needed = (*arriving[node], *(() if node in starts else (node - 1,)))
        latest = max(needed, key=length.__getitem__, default=-1)
        before[node], length[node] = latest, int(weight[node]) + (length[latest] if needed else 0)
    path, node = [], max(range(len(weight)), key=length.__getitem__)
    while node >= 0:
        path.append(node)
        node = before[node]
    return path[::-1]


def _middle(needs: Dependencies) -> tuple[tuple[int, int], Dependencies]:
    """A stretch of time in the middle with at most MOST dependencies, and those that lie in it."""
    order = np.sort(needs.at)
    first = (len(order) - MOST) // 2
    begin, end = int(order[first]), int(order[first + MOST - 1])
    inside = np.flatnonzero((needs.done >= begin) & (needs.at <= end))[:MOST]
    return (begin, end), needs.chosen(inside)


def _clipped(work: Work, begin: int, end: int) -> Work:
    start, stop = np.maximum(work.start, begin), np.minimum(work.end, end)
    real = stop > start
    return Work(start[real], stop[real], work.label[real])


def _told(
    lanes: Sequence[Work],
    cuts: Sequence[Times],
    first: Sequence[int],
    path: Sequence[int],
    stretch: tuple[int, int] | None,
) -> CriticalPath:
    """The path in words of lanes and labels; parts of one lane that follow each other are one step."""
    steps: list[Step] = []
    for node in path:
        lane = int(np.searchsorted(first, node, side="right")) - 1
        part, at, work = node - first[lane], cuts[lane], lanes[lane]
        if not len(work.start):
            continue
        begin = int(at[part - 1]) if part > 0 else int(work.start[0])
        end = int(at[part]) if part < len(at) else int(work.end[-1])
        if end <= begin:
            continue
        if steps and steps[-1].lane == lane and steps[-1].end == begin:
            steps[-1] = Step(lane, steps[-1].begin, end)
        else:
            steps.append(Step(lane, begin, end))
    return described(lanes, range(len(lanes)), steps, stretch)


def described(
    lanes: Sequence[Work],
    numbers: Sequence[int] | IntArray,
    steps: Sequence[Step],
    stretch: tuple[int, int] | None = None,
) -> CriticalPath:
    """A path of given `steps` with what was worked on in them; `numbers[i]` is how the steps call the lane `lanes[i]`."""
    by_label: dict[int, int] = {}
    by_lane: dict[int, int] = {}
    columns = np.array([(step.lane, step.begin, step.end) for step in steps], dtype=np.int64).reshape(-1, 3)
    for lane, work in zip(np.asarray(numbers).tolist(), lanes, strict=True):
        mine = columns[columns[:, 0] == lane]
        if not len(mine):
            continue
        spent = intervals.overlap((work.start, work.end), (mine[:, 1], mine[:, 2]))
        labels, number = np.unique(work.label, return_inverse=True)
        sums = np.bincount(number, weights=spent).astype(np.int64)
        for label, amount in zip(labels.tolist(), sums.tolist(), strict=True):
            if amount:
                by_label[label] = by_label.get(label, 0) + amount
        by_lane[lane] = int(sums.sum())
    return CriticalPath(tuple(steps), sum(by_label.values()), by_label, by_lane, stretch)


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """One lane of a group: when it was recorded at all, and the disjoint, sorted times in which it waited for the others."""

    lane: int
    begin: int
    end: int
    waits: Intervals


def releases(group: Sequence[Presence], *, together: bool = False) -> Dependencies:
    """For each wait of each lane the lane that came last; waits that nobody ends are left out.

    `together` asks that at least half of the other lanes wait as well at the end of a wait (for groups whose members may
    synchronise without the others).
    """
    return Dependencies.joined(_of_lane(index, group, together=together) for index in range(len(group)))


def _of_lane(index: int, group: Sequence[Presence], *, together: bool) -> Dependencies:
    mine = group[index]
    start, end = mine.waits
    best = np.full(len(end), -1, dtype=np.int64)  # when the last of the others came
    source = np.full(len(end), -1, dtype=np.int32)
    busy_since = np.zeros(len(end), dtype=np.int64)
    waiting = np.zeros(len(end), dtype=np.int64)
    for other, presence in enumerate(group):
        if other == index or not len(end):
            continue
        their_start, their_end = presence.waits
        at = np.searchsorted(their_start, end, side="left") - 1  # the last wait that began before this one's end
        has = at >= 0
        last = np.maximum(at, 0)
        still = has & (their_end[last] >= end) if len(their_end) else np.zeros(len(end), dtype=bool)
        came = np.where(still, their_start[last], end) if len(their_start) else end
        since = np.where(has, their_end[last], presence.begin) if len(their_end) else np.full(len(end), presence.begin)
        there = (presence.begin < end) & (presence.end >= end)
        waiting += still & there
        # Of several that work until the end, the one that has worked longest.
        later = there & ((came > best) | ((came == best) & (since < busy_since) & ~still))
        best, source = np.where(later, came, best), np.where(later, np.int32(presence.lane), source)
        busy_since = np.where(later, since, busy_since)
    found = (source >= 0) & (best > start)
    if together:
        # One waits and one comes: of the others most wait as well, else the call is not one in which all take part.
        found &= waiting >= common()["most"].value * max(len(group) - 2, 0)
    into = np.full(int(found.sum()), mine.lane, dtype=np.int32)
    return Dependencies(source[found], best[found], into, end[found])
