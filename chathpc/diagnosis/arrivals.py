"""Who holds up whom, from sampled traces: the last to come to a barrier or a collective releases all that wait there.

A sampled trace has no events of synchronisation. What it has is when each thread waited in a call that ends for all at once
(an OpenMP barrier, MPI_Barrier, MPI_Allreduce and the like); whoever worked longest until the others' waiting ended is the one
that they waited for. That is right to one sample period. Messages between two ranks cannot be told so, and are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.critical_path import Dependencies
from chathpc.profile.intervals import Intervals, Times


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
    parts = [_of_lane(index, group, together=together) for index in range(len(group))]
    columns = [np.concatenate([part[i] for part in parts]) if parts else np.zeros(0, dtype=np.int64) for i in range(4)]
    return Dependencies(columns[0].astype(np.int32), columns[1], columns[2].astype(np.int32), columns[3])


def _of_lane(index: int, group: Sequence[Presence], *, together: bool) -> tuple[Times, Times, Times, Times]:
    mine = group[index]
    start, end = mine.waits
    best = np.full(len(end), -1, dtype=np.int64)  # when the last of the others came
    source = np.full(len(end), -1, dtype=np.int64)
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
        best, source = np.where(later, came, best), np.where(later, presence.lane, source)
        busy_since = np.where(later, since, busy_since)
    found = (source >= 0) & (best > start)
    if together:
        # One waits and one comes: of the others most wait as well, else the call is not one in which all take part.
        found &= waiting >= common()["most"].value * max(len(group) - 2, 0)
    return source[found], best[found], np.full(int(found.sum()), mine.lane, dtype=np.int64), end[found]
