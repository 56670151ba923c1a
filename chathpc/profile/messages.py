"""Who communicated with whom: calls of MPI, messages between them and collectives, as a trace with partners records them.

Times are those of the calls; a message or a collective only says which calls it connects. So any reader that knows partners, tags
and sizes can fill this: it lists posted sends and receives in order, and `match` pairs them as MPI does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.intervals import Times
from chathpc.profile.tree import IntArray

Indices = NDArray[np.int64]

#: Stands for a call that was not recorded.
NO_CALL = -1


class Meeting(IntEnum):
    """Whom a collective makes wait for whom (MPI Standard 4.0, chapter 6)."""

    ALL = 0  #: nobody can leave before all have come: barrier, allreduce, allgather, alltoall
    FROM_ROOT = 1  #: the others need the root: broadcast, scatter
    TO_ROOT = 2  #: the root needs all others: reduce, gather
    NONE = 3  #: nothing is known, or only some need some others: scan


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Calls of MPI: call i of the location in row `location[i]` takes [start[i], end[i]) nanoseconds, and stands at `node[i]` in the
    tree. Sorted by location, then start; the calls of one location are disjoint.
    """

    location: IntArray
    start: Times
    end: Times
    node: IntArray

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Point-to-point messages: number i was posted by call `sent[i]` and complete for its sender with call `sent_done[i]`; its receive
    was posted by call `posted[i]` and complete with call `received[i]`. For blocking calls both are the same; NO_CALL stands for
    calls that were not recorded.
    """

    sent: Indices
    sent_done: Indices
    posted: Indices
    received: Indices
    bytes: Times
    tag: Times

    def __len__(self) -> int:
        return len(self.sent)


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """Parts that calls have in collectives: part i is of collective number `instance[i]`, begins with call `begun[i]` and is complete
    with call `done[i]` (the same for blocking ones). `meeting[j]` is the Meeting of collective j; `is_root[i]` True for the part
    of its root.
    """

    instance: Indices
    begun: Indices
    done: Indices
    is_root: NDArray[np.bool_]
    meeting: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.meeting)


@dataclass(frozen=True, slots=True, eq=False)
class Communication:
    """All communication of a run. The locations in rows `member` (ascending) communicate, and were recorded from `begin` to `end`,
    in nanoseconds. `unmatched` counts sends and receives whose partner was not found.
    """

    member: IntArray
    begin: Times
    end: Times
    calls: Calls
    messages: Messages
    collectives: Collectives
    unmatched: int = 0

    @property
    def first(self) -> Indices:
        """Where the calls of each member begin in `calls`, and the number of all calls."""
        return np.append(np.searchsorted(self.calls.location, self.member), len(self.calls)).astype(np.int64)

    @property
    def of_call(self) -> Indices:
        """The member that makes each call, by its position in `member`."""
        return np.searchsorted(self.member, self.calls.location).astype(np.int64)

    @property
    def between(self) -> Times:
        """Nanoseconds from the end of the call before (or the member's begin) to the start of each call."""
        calls, first = self.calls, self.first
        before = np.empty(len(calls), dtype=np.int64)
        before[1:] = calls.end[:-1]
        has = first[1:] > first[:-1]
        before[first[:-1][has]] = self.begin[has]
        return np.asarray(np.maximum(calls.start - before, 0))

    @property
    def after(self) -> Times:
        """Nanoseconds from the end of each member's last call to its end."""
        first = self.first
        has = first[1:] > first[:-1]
        last = (
            np.where(has, self.calls.end[np.maximum(first[1:] - 1, 0)], self.begin) if len(self.calls) else self.begin
        )
        return np.asarray(np.maximum(self.end - last, 0))

    def moved(self, row: IntArray, node: IntArray) -> Communication:
        """The same in another profile: `row` gives the new rows of locations, `node` the new nodes (its last entry stands for −1)."""
        order = np.argsort(row[self.member], kind="stable")
        calls = Calls(row[self.calls.location], self.calls.start, self.calls.end, node[self.calls.node])
        return ordered(
            (row[self.member][order], self.begin[order], self.end[order]),
            calls,
            self.messages,
            self.collectives,
            self.unmatched,
        )

    def within(self, begin: Times, end: Times) -> Communication:
        """The part from `begin` to `end` of each member, which is cut to what was recorded. Calls across an edge are shortened; what
        connects to a call outside has NO_CALL there.
        """
        begin, end = np.maximum(begin, self.begin), np.minimum(end, self.end)
        end = np.maximum(begin, end)
        of_call = self.of_call
        start = np.maximum(self.calls.start, begin[of_call])
        stop = np.minimum(self.calls.end, end[of_call])
        kept = (self.calls.start < end[of_call]) & (self.calls.end > begin[of_call])
        kept |= (self.calls.start == self.calls.end) & (start == stop)  # shorter than a tick, perhaps at an edge
        number = np.append(np.where(kept, np.cumsum(kept) - 1, NO_CALL), NO_CALL)
        m, c = self.messages, self.collectives
        columns = [number[each] for each in (m.sent, m.sent_done, m.posted, m.received)]
        real = np.any([each != NO_CALL for each in columns], axis=0) if len(m) else np.zeros(0, dtype=bool)
        part = (number[c.begun] != NO_CALL) | (number[c.done] != NO_CALL)
        return Communication(
            member=self.member,
            begin=begin,
            end=end,
            calls=Calls(self.calls.location[kept], start[kept], stop[kept], self.calls.node[kept]),
            messages=Messages(*(each[real] for each in (*columns, m.bytes, m.tag))),
            collectives=Collectives(
                c.instance[part], number[c.begun][part], number[c.done][part], c.is_root[part], c.meeting
            ),
            unmatched=self.unmatched,
        )


def ordered(
    members: tuple[IntArray, Times, Times],
    calls: Calls,
    messages: Messages,
    collectives: Collectives,
    unmatched: int = 0,
) -> Communication:
    """Communication of calls in any order: they are sorted, and all numbers of calls changed to match. `members` are the rows of the
    locations, ascending, and begin and end of each.
    """
    order = np.lexsort((calls.start, calls.location))
    number = np.full(len(calls) + 1, NO_CALL, dtype=np.int64)
    number[order] = np.arange(len(calls))
    m, c = messages, collectives
    return Communication(
        *members,
        Calls(calls.location[order], calls.start[order], calls.end[order], calls.node[order]),
        Messages(number[m.sent], number[m.sent_done], number[m.posted], number[m.received], m.bytes, m.tag),
        Collectives(c.instance, number[c.begun], number[c.done], c.is_root, c.meeting),
        unmatched,
    )


def match(
    sends: Sequence[Indices], sent_order: Indices, receives: Sequence[Indices], posted_order: Indices
) -> tuple[Indices, Indices]:
    """Rows of sends and of receives that belong together.

    `sends` and `receives` are columns that must be equal (sender, receiver, communicator, tag); of equal ones the n-th send in order of
    posting belongs to the n-th receive, since messages do not overtake each other (MPI Standard 4.0, section 3.5).
    """
    count = len(sent_order)
    key = np.zeros(count + len(posted_order), dtype=np.int64)
    for ours, theirs in zip(sends, receives, strict=True):
        values, number = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
        key = np.unique(key * len(values) + number, return_inverse=True)[1] if len(key) else key
    ranked = []
    for keys, order in ((key[:count], sent_order), (key[count:], posted_order)):
        rows = np.lexsort((order, keys))
        grouped = keys[rows]
        begins = np.searchsorted(grouped, grouped)  # of each its group's first
        ranked.append((rows, grouped * (len(key) + 1) + np.arange(len(rows)) - begins))
    (ours, mine), (theirs, other) = ranked
    _, at, there = np.intersect1d(mine, other, assume_unique=True, return_indices=True)
    return ours[at].astype(np.int64), theirs[there].astype(np.int64)
