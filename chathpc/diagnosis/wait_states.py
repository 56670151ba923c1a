"""What ranks wait for in MPI: as they did in the trace, and as they would on an ideal network.

**As traced** (`waits`), told from the times of those who are waited for, by Scalasca's patterns:

- late sender: a receive (or the wait that completes it) began before the message was sent;
- late receiver: a send that waits for its receiver began before the receive was posted;
- collective: in a barrier, an all-to-all or an all-reduce, from a rank's coming until the last one's (Wait at Barrier, Wait at NxN);
- late root: from coming to a broadcast or scatter until the root's (Late Broadcast);
- early root: the root of a reduction or gather, until the last of the others comes (Early Reduce).

Waiting never exceeds the call. Of several reasons in one call (MPI_Waitall) the one that lasts longest counts.
Source: F. Wolf and B. Mohr, Automatic performance analysis of hybrid MPI/OpenMP applications, J. Systems Architecture 49, 2003; Scalasca
documentation, performance properties.

**On an ideal network** (`replay`), where messages take no time and everybody only waits for others, as Dimemas does it (BSC: latency 0,
infinite bandwidth, no contention): computing between calls takes as long as it took, and a call of MPI ends at once, except that

- a receive, or the wait that completes it, ends no earlier than its send was posted;
- a send that was seen to wait for its receiver (the receive was posted while it lasted) does so here too;
- a collective ends when those have come that it needs (all, the root, or for the root all: MPI Standard 4.0, chapter 6).

So each rank's time is the longest chain of computing that leads there, and that of the last is the run time on an ideal network:
POP's transfer efficiency is that over the measured time. In the measured run the same calls waited for the same, and longer, so
where clocks agree the replay is never longer than the run. One pass over the calls, whatever the clocks of the ranks say: a rank goes on
as soon as what it waits for has happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from chathpc.diagnosis.critical_path import Step
from chathpc.profile.intervals import Times
from chathpc.profile.messages import NO_CALL, Communication, Indices, Meeting
from chathpc.profile.tree import BoolArray, is_one_of


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
        return is_one_of(self.pattern, patterns)

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
    meeting, root = _meetings(communication)
    began = np.where(
        parts.begun != NO_CALL, communication.calls.start[parts.begun] if len(communication.calls) else 0, -1
    )
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


def _meetings(communication: Communication) -> tuple[NDArray[np.uint8], Indices]:
    """How the collective of each part meets, and the call with which the root of each collective begins."""
    parts = communication.collectives
    meeting = parts.meeting[parts.instance] if len(parts.instance) else np.zeros(0, dtype=np.uint8)
    root = np.full(len(parts), NO_CALL, dtype=np.int64)
    root[parts.instance[parts.is_root]] = parts.begun[parts.is_root]
    return meeting, root


def _last(instance: Indices, began: Times, chosen: BoolArray, count: int) -> Indices:
    """Of each collective the chosen part that began last; −1 without any."""
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(began[rows], kind="stable")]
    found = np.full(count, -1, dtype=np.int64)
    found[instance[rows]] = rows
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """Times on an ideal network in nanoseconds since the first member began: `enter` and `leave` of each call, `end` of each member.

    `awaited[k]` is the call at whose beginning call k could end; itself if it did not wait.
    """

    enter: Times
    leave: Times
    awaited: Indices
    end: Times

    @property
    def length(self) -> int:
        """The run time on an ideal network in nanoseconds."""
        return int(self.end.max(initial=0))


def synchronous(communication: Communication) -> NDArray[np.bool_]:
    """True for messages whose sender was seen to wait for the receiver: the receive was posted while the call that completes the
    send lasted.
    """
    calls, messages = communication.calls, communication.messages
    if not len(calls):
        return np.zeros(len(messages), dtype=bool)
    done, posted = messages.sent_done, messages.posted
    came = calls.start[posted]
    return np.asarray((done != NO_CALL) & (posted != NO_CALL) & (calls.start[done] < came) & (came <= calls.end[done]))


def replay(communication: Communication) -> Replay | None:
    """Play the program again on an ideal network; None where its calls wait for each other in a circle, which no real run does.

    Members begin when they began in the trace. O(calls + messages).
    """
    count, parts = len(communication.calls), communication.collectives
    needs, first_need = _needs(communication)
    enter = [-1] * (count + len(parts))  # of a collective: when the last of its members came
    leave, awaited = [0] * count, list(range(count))
    gaps, members = communication.between.tolist(), communication.first.tolist()
    begun = np.flatnonzero(parts.begun != NO_CALL)
    joins: dict[int, list[int]] = {}
    for call, number in zip(parts.begun[begun].tolist(), parts.instance[begun].tolist(), strict=True):
        joins.setdefault(call, []).append(number)
    missing = np.bincount(parts.instance[begun], minlength=len(parts)).tolist()
    last = [NO_CALL] * len(parts)
    origin = int(communication.begin.min()) if len(communication.begin) else 0
    now = (communication.begin - origin).tolist()
    at, waiting = members[:-1], dict[int, list[int]]()
    going = list(range(len(at)))[::-1]
    while going:
        member = going.pop()
        call, stop, time = at[member], members[member + 1], now[member]
        while call < stop:
            if enter[call] < 0:
                time += gaps[call]
                enter[call] = time
                going += waiting.pop(call, ())
                for number in joins.get(call, ()):
                    if last[number] == NO_CALL or time > enter[last[number]]:
                        last[number] = call
                    missing[number] -= 1
                    if not missing[number]:
                        enter[count + number] = enter[last[number]]
                        going += waiting.pop(count + number, ())
            ends, cause = enter[call], call
            for need in needs[first_need[call] : first_need[call + 1]]:
                if enter[need] < 0:
                    waiting.setdefault(need, []).append(member)
                    break
                if enter[need] > ends:
                    ends, cause = enter[need], need if need < count else last[need - count]
            else:
                leave[call], awaited[call], time = ends, cause, ends
                call += 1
                continue
            break
        at[member], now[member] = call, time
    if at != members[1:]:
        return None
    end = np.array(now, dtype=np.int64) + communication.after
    return Replay(
        np.array(enter[:count], dtype=np.int64),
        np.array(leave, dtype=np.int64),
        np.array(awaited, dtype=np.int64),
        end,
    )


def _needs(communication: Communication) -> tuple[Sequence[int], Sequence[int]]:
    """What must have begun before each call can end: calls, and collectives (after all calls) that all must have come to. Those of
    call k are numbers first[k] to first[k + 1].
    """
    count = len(communication.calls)
    messages, parts = communication.messages, communication.collectives
    waits = synchronous(communication)
    meeting, root = _meetings(communication)
    for_all = (meeting == Meeting.ALL) | ((meeting == Meeting.TO_ROOT) & parts.is_root)
    from_root = (meeting == Meeting.FROM_ROOT) & ~parts.is_root
    call = np.concatenate([
        messages.received, messages.sent_done[waits], parts.done[for_all], parts.done[from_root],
    ])  # fmt: skip
    need = np.concatenate([
        messages.sent, messages.posted[waits], count + parts.instance[for_all], root[parts.instance[from_root]],
    ])  # fmt: skip
    real = (call != NO_CALL) & (need != NO_CALL)
    call, need = call[real], need[real]
    # All of whose members were cut off need nobody.
    has_members = np.ones(count + len(parts), dtype=bool)
    has_members[count:] = np.bincount(parts.instance[parts.begun != NO_CALL], minlength=len(parts)) > 0
    call, need = call[has_members[need]], need[has_members[need]]
    order = np.argsort(call, kind="stable")
    first = np.searchsorted(call[order], np.arange(count + 1))
    return need[order].tolist(), first.tolist()


def path(communication: Communication, played: Replay) -> list[Step]:
    """The longest chain that `played` ends with, in order: each step is a member's row and from when to when it was on the path, in
    the trace's time. What a step did outside of MPI is the work of the path; ValueError without members.
    """
    return list(_backwards(communication, played))[::-1]


def _backwards(communication: Communication, played: Replay) -> Iterator[Step]:
    start, end = communication.calls.start.tolist(), communication.calls.end.tolist()
    first, of_call = communication.first.tolist(), communication.of_call.tolist()
    member, awaited = int(np.argmax(played.end)), played.awaited.tolist()
    call, until = first[member + 1] - 1, int(communication.end[member])
    while True:
        while call >= first[member] and awaited[call] == call:
            call -= 1
        row = int(communication.member[member])
        if call < first[member]:
            yield Step(row, int(communication.begin[member]), until)
            return
        yield Step(row, end[call], until)
        cause = awaited[call]
        member, until, call = of_call[cause], start[cause], cause - 1
