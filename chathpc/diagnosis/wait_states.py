"""Waiting inside calls of MPI, told from the times of those who are waited for, by Scalasca's patterns.

- late sender: a receive (or the wait that completes it) began before the message was sent;
- late receiver: a send that waits for its receiver began before the receive was posted;
- collective: in a barrier, an all-to-all or an all-reduce, from a rank's coming until the last one's (Wait at Barrier, Wait at NxN);
- late root: from coming to a broadcast or scatter until the root's (Late Broadcast);
- early root: the root of a reduction or gather, until the last of the others comes (Early Reduce).

Waiting never exceeds the call. Of several reasons in one call (MPI_Waitall) the one that lasts longest counts.
Source: F. Wolf and B. Mohr, Automatic performance analysis of hybrid MPI/OpenMP applications, J. Systems Architecture 49, 2003; Scalasca
documentation, performance properties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chathpc.diagnosis.replay import synchronous
from chathpc.profile.intervals import Times
from chathpc.profile.messages import NO_CALL, Communication, Indices, Meeting
from chathpc.profile.tree import BoolArray


class Pattern(IntEnum):
    """Why a rank waits."""

    LATE_SENDER = 0
    LATE_RECEIVER = 1
    COLLECTIVE = 2
    LATE_ROOT = 3
    EARLY_ROOT = 4


POINT_TO_POINT = (Pattern.LATE_SENDER, Pattern.LATE_RECEIVER)
COLLECTIVES = (Pattern.COLLECTIVE, Pattern.LATE_ROOT, Pattern.EARLY_ROOT)


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Waiting in nanoseconds: call `call[i]`, each at most once, waited for the beginning of call `late[i]`, which ended it."""

    call: Indices
    late: Indices
    length: Times
    pattern: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.call)

    def of(self, *patterns: Pattern) -> BoolArray:
        """True for those with one of the patterns."""
        return np.isin(self.pattern, patterns)

    def spent(self, *patterns: Pattern) -> int:
        """Nanoseconds of waiting with one of the patterns."""
        return int(self.length[self.of(*patterns)].sum())


def waits(communication: Communication) -> Waits:
    """All waiting of a program, vectorised: O(n log n)."""
    found = [*_of_messages(communication), *_of_collectives(communication)]
    call = np.concatenate([each[0] for each in found])
    late = np.concatenate([each[1] for each in found])
    pattern = np.concatenate([np.full(len(each[0]), each[2], dtype=np.uint8) for each in found])
    calls = communication.calls
    real = (call != NO_CALL) & (late != NO_CALL)
    call, late, pattern = call[real], late[real], pattern[real]
    length = np.minimum(calls.start[late], calls.end[call]) - calls.start[call]
    order = np.lexsort((-length, call))
    order = order[length[order] > 0]
    order = order[np.append(True, call[order][1:] != call[order][:-1])[: len(order)]]
    return Waits(call[order], late[order], length[order], pattern[order])


def _of_messages(communication: Communication) -> Iterator[tuple[Indices, Indices, Pattern]]:
    messages = communication.messages
    yield messages.received, messages.sent, Pattern.LATE_SENDER
    blocked = synchronous(communication)
    yield messages.sent_done[blocked], messages.posted[blocked], Pattern.LATE_RECEIVER


def _of_collectives(communication: Communication) -> Iterator[tuple[Indices, Indices, Pattern]]:
    parts = communication.collectives
    meeting = parts.meeting[parts.instance] if len(parts.instance) else np.zeros(0, dtype=np.uint8)
    began = np.where(
        parts.begun != NO_CALL, communication.calls.start[parts.begun] if len(communication.calls) else 0, -1
    )
    root = np.full(len(parts), NO_CALL, dtype=np.int64)
    root[parts.instance[parts.is_root]] = parts.begun[parts.is_root]
    for kind, waiting, others, pattern in (
        (Meeting.ALL, np.ones(len(meeting), dtype=bool), np.ones(len(meeting), dtype=bool), Pattern.COLLECTIVE),
        (Meeting.TO_ROOT, parts.is_root, ~parts.is_root, Pattern.EARLY_ROOT),
    ):
        of_kind = meeting == kind
        last = _last(parts.instance, began, of_kind & others, len(parts))
        mine = of_kind & waiting
        late = last[parts.instance[mine]]
        yield parts.done[mine], np.where(late >= 0, parts.begun[late], NO_CALL), pattern
    mine = (meeting == Meeting.FROM_ROOT) & ~parts.is_root
    yield parts.done[mine], root[parts.instance[mine]], Pattern.LATE_ROOT


def _last(instance: Indices, began: Times, chosen: BoolArray, count: int) -> Indices:
    """Of each collective the chosen part that began last; −1 without any."""
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(began[rows], kind="stable")]
    found = np.full(count, -1, dtype=np.int64)
    found[instance[rows]] = rows
    return found
