"""What a trace with message partners tells of an MPI program: who waited for whom, and how long it had to take.

MPI_Init and MPI_Finalize are left out: each rank counts from the end of the one to the beginning of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.critical_path import Work
from chathpc.diagnosis.efficiency import Efficiency, of_ranks, on_ideal_network
from chathpc.diagnosis.sampled_lanes import work_of
from chathpc.diagnosis.wait_states import Pattern, Replay, Waits, replay, waits
from chathpc.profile import intervals, numbers
from chathpc.profile.activity import Activity
from chathpc.profile.intervals import Times
from chathpc.profile.messages import NO_CALL, Communication
from chathpc.profile.tree import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from chathpc.diagnosis.facts import Facts

_NANO = 1e-9


@dataclass(frozen=True, slots=True)
class Delay:
    """Who is waited for: `by_member` the waiting for each member, `by_label` the part of it that these spent in each function of the
    program, `in_mpi` the part in which they were in MPI themselves; seconds.
    """

    by_member: FloatArray
    by_label: FloatArray
    in_mpi: float


@dataclass(frozen=True, slots=False, eq=False)
class MessageFacts:
    """The communication of a profile's ranks; see `message_facts`. `is_whole` is False if only the beginning of the run is told."""

    facts: Facts
    communication: Communication
    is_whole: bool

    # -- times -------------------------------------------------------------------------------------------------

    @property
    def elapsed(self) -> float:
        """Seconds from the first rank's begin to the last one's end."""
        told = self.communication
        return float(told.end.max() - told.begin.min()) * _NANO

    @cached_property
    def useful(self) -> FloatArray:
        """Seconds of each member outside of MPI."""
        told = self.communication
        inside = np.bincount(told.of_call, weights=(told.calls.end - told.calls.start), minlength=len(told.member))
        return np.asarray(np.maximum(told.end - told.begin - inside, 0) * _NANO)

    @cached_property
    def in_mpi(self) -> float:
        """Seconds of all members in calls of MPI."""
        return float((self.communication.calls.end - self.communication.calls.start).sum()) * _NANO

    @cached_property
    def played(self) -> Replay | None:
        """The program on an ideal network; None where the trace does not hold together."""
        found = replay(self.communication)
        longest = self.elapsed * (1 + common()["clock_tolerance"].value)
        return found if found is not None and found.length * _NANO <= longest else None

    @cached_property
    def efficiency(self) -> Efficiency | None:
        """POP's efficiencies of the ranks, communication split where the replay tells it; None where none does anything useful."""
        found = of_ranks(self.useful, np.full(len(self.useful), self.elapsed))
        if found is None or self.played is None:
            return found
        return on_ideal_network(found, min(max(self.played.length * _NANO, float(self.useful.max())), self.elapsed))

    def between(self, begin: int, end: int) -> MessageFacts:
        """The same for a stretch of time, in nanoseconds."""
        told = self.communication
        count = len(told.member)
        return replace(self, communication=told.within(np.full(count, begin), np.full(count, end)))

    # -- waiting -----------------------------------------------------------------------------------------------

    @cached_property
    def waits(self) -> Waits:
        """All waiting inside calls."""
        return waits(self.communication)

    def waited(self, *patterns: Pattern) -> float:
        """Seconds of waiting with one of the patterns."""
        return self.waits.spent(*patterns) * _NANO

    @cached_property
    def at_node(self) -> FloatArray:
        """Seconds of MPI at each node of the tree, in which nobody was waited for."""
        calls = self.communication.calls
        length = (calls.end - calls.start).astype(np.float64)
        length[self.waits.call] -= self.waits.length
        return self._by_node(calls.node, length)

    def waited_at(self, *patterns: Pattern) -> FloatArray:
        """Seconds of waiting with one of the patterns at each node of the tree."""
        chosen = self.waits.of(*patterns)
        return self._by_node(self.communication.calls.node[self.waits.call[chosen]], self.waits.length[chosen])

    def _by_node(self, node: IntArray, length: Times | FloatArray) -> FloatArray:
        size = len(self.facts.profile.tree)
        return np.asarray(np.bincount(node[node >= 0], weights=length[node >= 0], minlength=size)[:size] * _NANO)

    def delay(self, *patterns: Pattern) -> Delay:
        """What those did that were waited for, from when the wait began until they came."""
        told, chosen = self.communication, self.waits.of(*patterns)
        call, late, length = self.waits.call[chosen], self.waits.late[chosen], self.waits.length[chosen]
        member, begin = told.of_call[late], told.calls.start[call]
        by_label = np.zeros(len(self.facts.label_names) + 1)
        for number in np.unique(member).tolist():
            mine, work = member == number, self.work[number]
            spent = intervals.overlap((work.start, work.end), (begin[mine], (begin + length)[mine]))
            np.add.at(by_label, work.label, spent * _NANO)
        by_member = np.asarray(np.bincount(member, weights=length, minlength=len(told.member)) * _NANO)
        return Delay(by_member, by_label[:-1], max(float(by_member.sum() - by_label.sum()), 0.0))

    def passed_on(self, patterns: Sequence[Pattern], reasons: Sequence[Pattern]) -> float:
        """Seconds of waiting with one of `patterns` for ranks that themselves waited with one of `reasons` meanwhile, and so are not
        its cause (indirect waiting: D. Böhme et al., ICPP 2010).
        """
        told, chosen, other = self.communication, self.waits.of(*patterns), self.waits.of(*reasons)
        start = told.calls.start
        late, begin = told.of_call[self.waits.late[chosen]], start[self.waits.call[chosen]]
        end = begin + self.waits.length[chosen]
        own, first = told.of_call[self.waits.call[other]], start[self.waits.call[other]]
        last, passed = first + self.waits.length[other], 0
        for number in np.unique(late).tolist():
            mine, theirs = late == number, own == number
            passed += int(intervals.overlap((first[theirs], last[theirs]), (begin[mine], end[mine])).sum())
        return passed * _NANO

    @cached_property
    def work(self) -> Sequence[Work]:
        """What each member does outside of MPI, by function (the last label for code of none)."""
        timeline = self.facts.profile.timeline
        lanes = {lane.location: lane for lane in timeline.lanes} if timeline is not None else {}
        computes = ~self.facts.activities.of(Activity.MPI, Activity.MPI_SETUP)
        label = np.where(self.facts.caller_label >= 0, self.facts.caller_label, len(self.facts.label_names))
        return [work_of(lanes[row], label.astype(np.int32), computes) for row in self.communication.member.tolist()]

    # -- names and doubts --------------------------------------------------------------------------------------

    def name(self, member: int) -> str:
        """`rank 3`."""
        return f"rank {int(self.facts.profile.where.rank[self.communication.member[member]])}"

    @cached_property
    def doubt(self) -> str:
        """That messages were received before they were sent, so that clocks disagree, as a sentence; empty where none was."""
        calls, messages = self.communication.calls, self.communication.messages
        known = (messages.sent != NO_CALL) & (messages.received != NO_CALL)
        backwards = int((calls.start[messages.sent[known]] > calls.end[messages.received[known]]).sum())
        if not backwards:
            return ""
        return (
            f"{numbers.count(backwards)} of {numbers.count(len(messages))} messages arrive before they are sent: the clocks of the "
            "ranks disagree, so waiting times are only that accurate."
        )


def message_facts(facts: Facts) -> MessageFacts | None:
    """The communication of the profile's ranks; None without a trace of it, with fewer than two ranks, and where several threads of a
    rank call MPI: then calls of one rank need not be in order.
    """
    from chathpc.diagnosis.timeline_facts import is_traced

    timeline = facts.profile.timeline if is_traced(facts.profile) else None
    told = None if timeline is None else timeline.communication
    if timeline is None or told is None or len(told.member) < 2:
        return None
    ranks = facts.profile.where.rank[told.member]
    lanes = {lane.location for lane in timeline.lanes}
    if len(np.unique(ranks)) < len(ranks) or int(ranks.min()) < 0 or not lanes.issuperset(told.member.tolist()):
        return None
    part = told.within(*_without_set_up(facts, told))
    return MessageFacts(facts, part, timeline.is_whole) if int(part.end.max()) > int(part.begin.min()) else None


def _without_set_up(facts: Facts, told: Communication) -> tuple[Times, Times]:
    """From the end of each member's MPI_Init to the beginning of its MPI_Finalize, where it was recorded."""
    begin, end = told.begin.copy(), told.end.copy()
    calls, of_call = told.calls, told.of_call
    init, final = _named(facts, "init"), _named(facts, "finalize")
    starts, ends = init[calls.node], final[calls.node]
    np.maximum.at(begin, of_call[starts], calls.end[starts])
    np.minimum.at(end, of_call[ends], calls.start[ends])
    return begin, np.maximum(begin, end)


def _named(facts: Facts, what: str) -> BoolArray:
    """True for nodes of MPI_Init (and MPI_Init_thread) or MPI_Finalize; the last is for calls without a node."""
    matching = facts.profile.tree.where_name(lambda name: what in name.lower())
    return np.append(facts.activities.of(Activity.MPI_SETUP) & matching, False)
