"""Why devices are idle: each idle stretch is given to one reason, so that no second is counted twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.host_calls import HostCall
from chathpc.diagnosis.timeline_facts import TimelineFacts, seconds
from chathpc.profile import intervals
from chathpc.profile.intervals import NO_INTERVALS, Intervals

#: Some time, seen with the threads of the processes that drive the devices that are idle in it.
Stretch = tuple[TimelineFacts, Intervals]
_TO_NANO = 1e9


@dataclass(frozen=True, slots=False, eq=False)
class Gaps:
    """The idle time of all devices, divided by reason. `by_reason` maps a reason to the sets of intervals of the devices."""

    timeline: TimelineFacts

    @cached_property
    def by_reason(self) -> Mapping[str, list[Intervals]]:
        """Disjoint sets for each device by reason (see `_REASONS`); they sum to the idle time."""
        timeline, most = self.timeline, common()["most"].value
        launch_limit = cause("gpu-launch-bound").threshold("max_gap_seconds") * _TO_NANO
        found: dict[str, list[Intervals]] = {name: [] for name in _REASONS}
        for device in timeline.devices:
            rest, host = device.idle, timeline.side(device)
            others = timeline.beside(device) if self.unbalanced else NO_INTERVALS
            for name, covering in (
                ("imbalance", others),
                ("compilation", host.compiling),
                ("mpi", host.calls(HostCall.MPI)),
                ("allocation", host.calls(HostCall.ALLOCATION)),
            ):
                found[name].append(intervals.intersect(rest, covering))
                if len(found[name][-1][0]):
                    rest = intervals.subtract(rest, covering)
            # Whole gaps: what is left of each goes to the same reason.
            start, end = device.idle
            length, covered = end - start, intervals.overlap(device.idle, host.calls(HostCall.LAUNCH))
            waited, queued = _waits(device.idle, host.waiting)
            if rest is not device.idle:
                gap = np.searchsorted(start, rest[0], side="right") - 1
                length, covered, waited, queued = length[gap], covered[gap], waited[gap], queued[gap]
            short = length <= launch_limit
            sync = short & waited
            launch = (covered >= most * length) & ~sync
            queued &= short & ~launch
            for name, mine in (
                ("sync", sync),
                ("launch", launch),
                ("queued", queued),
                ("short", short & ~(sync | launch | queued)),
                ("host", ~(short | launch)),
            ):
                found[name].append(_chosen(rest, mine))
        return found

    def seconds(self, *reasons: str) -> float:
        """Idle device seconds for some reasons."""
        return sum(seconds(spans) for reason in reasons for spans in self.by_reason[reason])

    def share(self, *reasons: str) -> float:
        """The same as a part of the window of all devices."""
        return self.timeline.share(self.seconds(*reasons))

    def spans(self, *reasons: str) -> Intervals:
        """When any device is idle for one of some reasons."""
        return intervals.union_of(*(sets for reason in reasons for sets in self.by_reason[reason]))

    def lengths(self, *reasons: str) -> NDArray[np.float64]:
        """For how many seconds each gap that is idle for some reasons is so: of one gap there may be several stretches."""
        found = [np.zeros(0)]
        for at, device in enumerate(self.timeline.devices if reasons else ()):
            start, end = (np.concatenate([self.by_reason[reason][at][i] for reason in reasons]) for i in (0, 1))
            sums = np.bincount(np.searchsorted(device.idle[0], start, side="right"), weights=end - start)
            found.append(sums[sums > 0] / _TO_NANO)
        return np.concatenate(found)

    def gaps(self, *reasons: str) -> int:
        """Number of such gaps, over all devices."""
        return len(self.lengths(*reasons))

    @cached_property
    def unbalanced(self) -> bool:
        """True if devices get so different amounts of work that the idle time of some is that of waiting for others."""
        limit = cause("multi-gpu-imbalance").threshold("min_share") * self.timeline.window
        return len(self.timeline.devices) > 1 and self.timeline.imbalance >= limit

    @cached_property
    def turns(self) -> float:
        """Part of the idle time of the devices in which another of them works."""
        timeline = self.timeline
        others = 0.0
        for device in timeline.devices:
            busy = intervals.union_of(*(each.busy for each in timeline.devices if each is not device))
            others += seconds(intervals.intersect(device.idle, busy))
        return min(others / timeline.idle, 1.0) if timeline.idle else 0.0

    @cached_property
    def take_turns(self) -> bool:
        """True if devices of one process, none of which has more work than the others, work one after the other."""
        timeline = self.timeline
        if len(timeline.devices) < 2 or self.unbalanced or len(self.stretches("host")) > 1:
            return False
        share = timeline.share(self.seconds(*self.unclaimed))
        idle, turns = (
            cause("gpu-idle-host-bound").threshold("min_share"),
            cause("multi-gpu-imbalance").threshold("min_turns"),
        )
        return share >= idle and self.turns >= turns

    @cached_property
    def behind_waits(self) -> int:
        """Number of stretches left to the host that begin when it has just waited for the device."""
        count = 0
        for reason in self.unclaimed:
            for device, spans in zip(self.timeline.devices, self.by_reason[reason], strict=True):
                begins = np.intersect1d(spans[0], device.idle[0], assume_unique=True)
                count += int(intervals.covered(self.timeline.side(device).waiting, begins).sum())
        return count

    # -- which reasons are findings of their own -------------------------------------------------------------

    @cached_property
    def mean_kernel(self) -> float:
        """Mean duration of a kernel in seconds; 0 without kernels."""
        kernels = self.timeline.kernels()
        count = sum(kernel.launches for kernel in kernels)
        return sum(kernel.mean * kernel.launches for kernel in kernels) / count if count else 0.0

    @cached_property
    def launch_reasons(self) -> tuple[str, ...]:
        """Reasons that count as launching: launch calls, and short gaps where kernels are too short to hide a launch."""
        return ("launch", "queued", "short") if self.tiny else ("launch",)

    @cached_property
    def tiny(self) -> bool:
        """True if kernels are too short to hide a launch."""
        return 0 < self.mean_kernel < cause("gpu-launch-bound").threshold("max_kernel_seconds")

    @cached_property
    def claimed(self) -> frozenset[str]:
        """Reasons for which another rule has a finding; the rest is the host's."""
        found = set()
        for reason, identifier in (
            ("compilation", "jit-compilation"),
            ("mpi", "mpi-communication-bound"),
            ("sync", "gpu-sync-overuse"),
        ):
            if self.share(reason) >= cause(identifier).threshold("min_share"):
                found.add(reason)
        entry = cause("gpu-allocation-in-loop")
        # As many calls in few gaps count where they are most of what the device waits for.
        many = self.gaps("allocation")
        if self.seconds("allocation") > common()["most"].value * self.timeline.idle:
            many = sum(len(spans[0]) for spans in self.by_reason["allocation"])
        if many >= entry.threshold("min_gaps") and self.share("allocation") >= entry.threshold("min_share"):
            found.add("allocation")
        if self.unbalanced:
            found.add("imbalance")
        if self.share(*self.launch_reasons) >= cause("gpu-launch-bound").threshold("min_idle_share"):
            found.update(self.launch_reasons)
        return frozenset(found)

    @cached_property
    def unclaimed(self) -> tuple[str, ...]:
        """Reasons that are left to the host; what passes between tiny kernels that were all issued before is not its doing."""
        others = self.claimed | {"queued"} if self.tiny else self.claimed
        return tuple(reason for reason in _REASONS if reason not in others)

    def stretches(self, *reasons: str) -> list[Stretch]:
        """When devices are idle for some reasons, by the processes that drive them."""
        if all(self.timeline.side(device) is self.timeline for device in self.timeline.devices):
            return [(self.timeline, self.spans(*reasons))]
        sides: dict[int, tuple[TimelineFacts, list[Intervals]]] = {}
        for number, device in enumerate(self.timeline.devices):
            side = self.timeline.side(device)
            sides.setdefault(id(side), (side, []))[1].extend(self.by_reason[reason][number] for reason in reasons)
        return [(side, intervals.union_of(*sets)) for side, sets in sides.values()]

    @cached_property
    def host_share(self) -> float:
        """Part of the window (and of what the program prepared before, where that is longer) in which devices wait for the
        host's own work.
        """
        return max(self.share(*self.unclaimed), self.prepared_share)

    @cached_property
    def prepared_share(self) -> float:
        """Part of window and preparation together that the program's own work before the first operation and in gaps has; 0
        where that preparation is less than half of both.
        """
        timeline = self.timeline
        before = seconds(timeline.preparing)
        whole = timeline.window + before
        if before < common()["most"].value * whole:
            return 0.0
        return min((before + self.seconds(*self.unclaimed) / len(timeline.devices)) / whole, 1.0)


_REASONS = ("imbalance", "compilation", "mpi", "allocation", "launch", "sync", "queued", "short", "host")


def _waits(gaps: Intervals, waiting: Intervals) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each gap: whether it begins while the host waits and ends after that; whether the host waits through all of it.

    After the first kind the host had to issue what follows. What follows the second was issued before: the time is the
    device's own, between operations of a graph or of streams that depend on each other.
    """
    if not len(waiting[0]):
        nowhere = np.zeros(len(gaps[0]), dtype=bool)
        return nowhere, nowhere.copy()
    at = np.searchsorted(waiting[0], gaps[0], side="right") - 1
    until = np.where(at >= 0, waiting[1].take(at, mode="clip"), np.iinfo(np.int64).min)
    begins = gaps[0] < until
    return begins & (until < gaps[1]), begins & (until >= gaps[1])


def _chosen(spans: Intervals, mine: NDArray[np.bool_]) -> Intervals:
    """Some of the intervals."""
    if mine.all():
        return spans
    at = np.flatnonzero(mine)
    return spans[0].take(at), spans[1].take(at)
