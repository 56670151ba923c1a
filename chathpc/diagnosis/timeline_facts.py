"""What a timeline of GPUs says: when each device worked on what, when it was idle, and what the host did meanwhile.

All times are lengths of unions of intervals, so nothing is counted twice and no share exceeds one. The *window* reaches
from the begin of the first to the end of the last operation of any device; what lies before it is start-up and told apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.host_calls import HostCall, classes, is_blocking_copy, is_compilation, plain
from chathpc.diagnosis.kernel_totals import KernelTotal, kernel_totals
from chathpc.diagnosis.nested import inside
from chathpc.profile import intervals
from chathpc.profile.intervals import NO_INTERVALS, Intervals
from chathpc.profile.kernel_names import LONGEST_NAME
from chathpc.profile.names import shorten
from chathpc.profile.profile import Profile, no_timeline
from chathpc.profile.timeline import DEVICE_LANES, IntervalLane, LaneKind, Timeline
from chathpc.profile.tree import IntArray

#: Lanes in which a device computes; a CUDA graph that was traced as a whole holds mostly kernels.
COMPUTING = (LaneKind.COMPUTE, LaneKind.GRAPH)
_NANO = 1e-9
#: What the host did is told in so many parts unless more are asked for.
_TOLD = 5


def seconds(spans: Intervals) -> float:
    """Length of a set of disjoint intervals in seconds."""
    return intervals.length(spans) * _NANO


class Lack(Enum):
    """Why a timeline allows no conclusion."""

    KERNELS = "kernels"  #: copies were recorded, and it is not known whether kernels ran
    WORK = "work"  #: devices hardly worked
    TIME = "time"  #: too short for a share
    RECORD = "record"  #: most of the devices' work was not recorded


@dataclass(frozen=True, slots=True)
class HostPart:
    """What the host did for `seconds` of some stretch of time: a name, `node` in the tree, number of `calls` that began."""

    name: str
    kind: LaneKind
    node: int
    seconds: float
    calls: int

    @property
    def short(self) -> str:
        """The name as it stands in a sentence."""
        return shorten(self.name, LONGEST_NAME)


@dataclass(frozen=True, slots=False, eq=False)
class DeviceFacts:
    """One device inside the window [begin, end): sets of disjoint intervals in nanoseconds."""

    timeline: Timeline
    ordinal: int
    begin: int
    end: int

    def of(self, *kinds: LaneKind) -> Intervals:
        """When any lane of some kinds was busy, inside the window."""
        return intervals.clip(self.timeline.busy(*kinds, device=self.ordinal), self.begin, self.end)

    @cached_property
    def busy(self) -> Intervals:
        """When the device worked on anything: kernels or copies."""
        others = [kind for kind in DEVICE_LANES if kind not in COMPUTING]
        if not any(len(lane) for lane in self.timeline.of(*others, device=self.ordinal)):
            return self.computing
        return self.of(*DEVICE_LANES)

    @cached_property
    def computing(self) -> Intervals:
        """When kernels ran that compute."""
        return self.of(*COMPUTING)

    @cached_property
    def idle(self) -> Intervals:
        """When the device did nothing: with `busy` it makes up the window."""
        return intervals.gaps(self.busy, self.begin, self.end)


@dataclass(frozen=True, slots=False, eq=False)
class TimelineFacts:
    """The timeline of a profile, seen from its devices; see `timeline_facts`."""

    profile: Profile
    timeline: Timeline
    begin: int
    end: int
    devices: tuple[DeviceFacts, ...]

    @property
    def window(self) -> float:
        """Length of the window in seconds."""
        return (self.end - self.begin) * _NANO

    @property
    def device_seconds(self) -> float:
        """The window once for each device."""
        return self.window * len(self.devices)

    def share(self, amount: float) -> float:
        """`amount` device seconds as a part of the window of all devices, 0..1."""
        return min(max(amount / self.device_seconds, 0.0), 1.0) if self.device_seconds else 0.0

    # -- device --------------------------------------------------------------------------------------------

    @cached_property
    def busy(self) -> float:
        """Seconds in which devices worked."""
        return sum(seconds(device.busy) for device in self.devices)

    @cached_property
    def idle(self) -> float:
        """Seconds in which devices did nothing."""
        return sum(seconds(device.idle) for device in self.devices)

    @cached_property
    def computing(self) -> float:
        """Seconds in which devices computed."""
        return sum(seconds(device.computing) for device in self.devices)

    def spent(self, *kinds: LaneKind) -> float:
        """Device seconds in which a lane of some kinds was busy."""
        return sum(seconds(device.of(*kinds)) for device in self.devices)

    @cached_property
    def imbalance(self) -> float:
        """Seconds by which the device that computes longest exceeds the mean of all; 0 with one device."""
        computing = [seconds(device.computing) for device in self.devices]
        return max(computing) - sum(computing) / len(computing)

    def beside(self, device: DeviceFacts) -> Intervals:
        """When devices other than the given one compute."""
        return intervals.union_of(*(each.computing for each in self.devices if each is not device))

    def exposed(self, *kinds: LaneKind) -> float:
        """Device seconds of some kinds in which no kernel computed beside them."""
        return sum(seconds(intervals.subtract(device.of(*kinds), device.computing)) for device in self.devices)

    def amount(self, *kinds: LaneKind) -> tuple[int, float]:
        """Number of operations of some kinds and their bytes (0 where not recorded)."""
        lanes = [lane for lane in self.timeline.of(*kinds) if lane.device >= 0]
        return sum(map(len, lanes)), float(sum(lane.bytes.sum() for lane in lanes if lane.bytes is not None))

    def pageable(self, kind: LaneKind, *, pinned: bool = False) -> tuple[int, float, float, float]:
        """Copies of one direction whose host memory is pageable (or is pinned, where that is known): number, bytes, seconds
        of their union, and seconds of it that no kernel hides."""
        count, volume, spent, exposed = 0, 0.0, 0.0, 0.0
        for device in self.devices:
            chosen: list[Intervals] = []
            for lane in self.timeline.of(kind, device=device.ordinal):
                if lane.pageable is None or lane.bytes is None:
                    continue
                mine = ~lane.pageable if pinned else lane.pageable
                count += int(mine.sum())
                volume += float(lane.bytes[mine].sum())
                chosen.append((lane.start[mine], lane.end[mine]))
            union = self.clipped(intervals.union_of(*chosen))
            spent += seconds(union)
            exposed += seconds(intervals.subtract(union, device.computing))
        return count, volume, spent, exposed

    def clipped(self, spans: Intervals) -> Intervals:
        """The part of disjoint intervals inside the window."""
        return intervals.clip(spans, self.begin, self.end)

    @cached_property
    def operations(self) -> int:
        """Number of operations of all devices."""
        return sum(len(lane) for lane in self.timeline.of(*DEVICE_LANES) if lane.device >= 0)

    @cached_property
    def longest_idle(self) -> float:
        """The longest time in which a device did nothing, in seconds."""
        longest = [int((device.idle[1] - device.idle[0]).max()) for device in self.devices if len(device.idle[0])]
        return max(longest, default=0) * _NANO

    @cached_property
    def at_once(self) -> float:
        """How many kernels run at once on average while any does."""
        total = sum(kernel.mean * kernel.launches for kernel in self.kernels())
        return max(total / self.computing, 1.0) if self.computing else 1.0

    def kernels(self, *kinds: LaneKind) -> list[KernelTotal]:
        """Kernels of some kinds of lanes (those that compute, unless told), the one with most time first.

        Instances of one template count as one kernel, under its own name; a kernel with one instance keeps its full name.
        """
        kinds = kinds or COMPUTING
        if kinds not in self._kernels:
            lanes = [lane for lane in self.timeline.of(*kinds) if lane.device >= 0 and len(lane)]
            found = kernel_totals(lanes, self.name_of_node, self._name, (self.begin, self.end))
            self._kernels[kinds] = [replace(each, seconds=min(each.seconds, self.device_seconds)) for each in found]
        return self._kernels[kinds]

    @cached_property
    def _kernels(self) -> dict[tuple[LaneKind, ...], list[KernelTotal]]:
        return {}

    @cached_property
    def name_of_node(self) -> IntArray:
        """Number of the name of each node, and at the end that of "no node"; the number after the last stands for "no name"."""
        names = len(self.profile.tree.names)
        found = np.append(self.profile.tree.name, np.int32(-1))
        return np.where(found >= 0, found, names).astype(np.int32)

    def _named(self, chosen: NDArray[np.bool_], *kinds: LaneKind) -> list[Intervals]:
        """Intervals of each lane of some kinds with one of the `chosen` names (True by number of the name)."""
        table = chosen[self.name_of_node]
        if not table.any():
            return []
        lanes = self.host_lanes(*kinds)
        chosen_of = [np.flatnonzero(table.take(lane.node)) for lane in lanes]  # −1 is the last
        return [(lane.start.take(at), lane.end.take(at)) for lane, at in zip(lanes, chosen_of, strict=True)]

    def _name(self, index: int) -> str:
        names = self.profile.tree.names
        return plain(names[index]) if index < len(names) else "an unnamed operation"

    def short_name(self, index: int) -> str:
        """The name with that number (see `name_of_node`) as it stands in a sentence."""
        return shorten(self._name(index), LONGEST_NAME)

    # -- host ----------------------------------------------------------------------------------------------

    def side(self, device: DeviceFacts) -> TimelineFacts:
        """The same facts, of host threads only those of the processes that use a device; itself where all do, or where
        processes are not told apart.
        """
        if len(self._ranks_of(*_HOST)) < 2:
            return self
        mine = self._ranks_of(*DEVICE_LANES, device=device.ordinal)
        if -1 in mine or mine >= self._ranks_of(*_HOST):
            return self
        if mine not in self._sides:
            kept = tuple(
                lane for lane in self.timeline.intervals if lane.kind in DEVICE_LANES or self._rank(lane) in mine
            )
            self._sides[mine] = replace(self, timeline=replace(self.timeline, intervals=kept))
        return self._sides[mine]

    @cached_property
    def _sides(self) -> dict[frozenset[int], TimelineFacts]:
        return {}

    def _rank(self, lane: IntervalLane) -> int:
        rank = self.profile.where.rank
        return int(rank[lane.location]) if 0 <= lane.location < len(rank) else -1

    def _ranks_of(self, *kinds: LaneKind, device: int | None = None) -> frozenset[int]:
        return frozenset(self._rank(lane) for lane in self.timeline.of(*kinds, device=device) if len(lane))

    @cached_property
    def driving(self) -> frozenset[int]:
        """Locations of the threads that call the device's runtime."""
        return frozenset(lane.location for lane in self.timeline.of(LaneKind.API) if len(lane))

    def host_lanes(self, *kinds: LaneKind) -> list[IntervalLane]:
        """Lanes of the host without those of threads that only wait in MPI for what comes, all the time."""
        return [
            lane
            for lane in self.timeline.of(*kinds)
            if lane.kind != LaneKind.MPI or lane.location in self.driving or not self._fills(lane)
        ]

    def _fills(self, lane: IntervalLane) -> bool:
        inside = intervals.clip(intervals.union(lane.start, lane.end), self.begin, self.end)
        return bool(self.driving) and intervals.length(inside) >= common()["progress_thread"].value * (
            self.end - self.begin
        )

    @cached_property
    def _class_of_name(self) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return classes(self.profile.tree.names)

    def _calls_for(self, wanted: HostCall) -> list[Intervals]:
        """The calls for that reason of each thread."""
        return self._named(self._class_of_name == wanted, LaneKind.API, LaneKind.MPI)

    @cached_property
    def _unions_by_class(self) -> dict[HostCall, Intervals]:
        return {}

    def calls(self, wanted: HostCall) -> Intervals:
        """When any thread of the host was in a call for that reason."""
        known = self._unions_by_class
        if wanted not in known:
            known[wanted] = intervals.union_of(*self._calls_for(wanted))
        return known[wanted]

    @cached_property
    def compiling(self) -> Intervals:
        """When the host compiled or loaded code, by its calls and by the names of ranges."""
        table = np.array([*map(is_compilation, self.profile.tree.names), False])
        return intervals.union_of(*self._named(table, LaneKind.API, LaneKind.RANGE))

    @cached_property
    def waiting(self) -> Intervals:
        """When a thread of the host waited for the device: in synchronising calls and in copies that block."""
        return intervals.union_of(*self._named(self._waits_by_name, LaneKind.API))

    def waits_for_device(self, node: IntArray) -> NDArray[np.bool_]:
        """True for each of `node` that is a call in which the host waits for the device, or a copy that blocks."""
        return np.asarray(self._waits_by_name[self.name_of_node[node]])

    @cached_property
    def _waits_by_name(self) -> NDArray[np.bool_]:
        blocking = np.array([*map(is_blocking_copy, self.profile.tree.names), False])
        return np.asarray((self._class_of_name == HostCall.WAIT) | blocking)

    def count(self, wanted: HostCall) -> int:
        """Number of calls for that reason that began inside the window."""
        return sum(int(((start >= self.begin) & (start < self.end)).sum()) for start, _ in self._calls_for(wanted))

    def host_in(self, stretch: Intervals, *kinds: LaneKind, most: int = _TOLD) -> list[HostPart]:
        """What the host did in a set of disjoint intervals, by name, the longest first.

        Of nested ranges of one thread the innermost counts. Different threads may do different things at once, so the parts
        can add up to more than the stretch; each is at most all of it.
        """
        found: dict[tuple[int, LaneKind], list[tuple[Intervals, int]]] = {}
        for lane in self.host_lanes(*(kinds or _HOST)):
            for index, start, end, node in inside(lane, stretch, self.name_of_node):
                found.setdefault((index, lane.kind), []).append(((start, end), node))
        parts = []
        for (index, kind), sets in found.items():
            spent = seconds(intervals.intersect(intervals.union_of(*(spans for spans, _ in sets)), stretch))
            calls = sum(len(spans[0]) for spans, _ in sets)
            parts.append(HostPart(self._name(index), kind, sets[0][1], spent, calls))
        return sorted((part for part in parts if part.seconds > 0), key=lambda part: (-part.seconds, part.name))[:most]

    @cached_property
    def before(self) -> Intervals:
        """The time before the first operation of a device from where on the host is known to have done something."""
        first = min((int(lane.start[0]) for lane in self.timeline.of(*_HOST) if len(lane)), default=self.begin)
        if first >= self.begin:
            return NO_INTERVALS
        return np.array([first], dtype=np.int64), np.array([self.begin], dtype=np.int64)

    @cached_property
    def preparing(self) -> Intervals:
        """The part of `before` in which the program is in ranges of its own and in no call: work of its own, no start-up."""
        return intervals.subtract(
            intervals.intersect(self._early(LaneKind.RANGE), self.before), self._early(LaneKind.API, LaneKind.MPI)
        )

    def _early(self, *kinds: LaneKind) -> Intervals:
        """When any lane of some kinds is busy in what begins before the window."""
        parts = []
        for lane in self.timeline.of(*kinds):
            count = int(np.searchsorted(lane.start, self.begin))
            parts.append((lane.start[:count], lane.end[:count]))
        return intervals.union_of(*parts)

    @cached_property
    def missing(self) -> float:
        """Seconds in which no device worked and yet the host waited for one, without short gaps between operations: work of
        devices that was not recorded.
        """
        start, end = self.clipped(self.waiting)
        least = round(common()["missing_wait"].value / _NANO)
        long = end - start >= least
        waited = start[long], end[long]
        for device in self.devices:
            waited = intervals.intersect(device.idle, waited)
        long = waited[1] - waited[0] >= least
        return seconds((waited[0][long], waited[1][long]))

    @cached_property
    def launches(self) -> int:
        """Number of calls that launch kernels, wherever they begin."""
        return sum(len(start) for start, _ in self._calls_for(HostCall.LAUNCH))

    @property
    def kernels_unknown(self) -> bool:
        """True if no kernel was recorded although there may have been some: calls launch them, or calls were not recorded."""
        recorded = self.timeline.of(*COMPUTING, LaneKind.COLLECTIVE)
        if any(len(lane) for lane in recorded):
            return False
        return self.launches > 0 or not any(len(lane) for lane in self.timeline.of(LaneKind.API))

    @cached_property
    def lack(self) -> Lack | None:
        """Why the timeline allows no conclusion; None if it does."""
        if self.kernels_unknown:
            return Lack.KERNELS
        limit = common()
        if self.busy < limit["min_busy_seconds"].value:
            return Lack.WORK
        if self.window < limit["min_window_seconds"].value and self.operations < limit["min_operations"].value:
            return Lack.TIME
        return Lack.RECORD if self.missing > limit["max_missing"].value * self.window else None


_HOST = (LaneKind.API, LaneKind.MPI, LaneKind.RANGE)


def timeline_facts(profile: Profile) -> TimelineFacts | None:
    """The facts of the profile's timeline; None where it recorded no intervals or no device worked in them."""
    timeline = profile.timeline if is_traced(profile) else None
    if timeline is None:
        return None
    window = _window(timeline)
    if window is None:
        return None
    devices = (DeviceFacts(timeline, ordinal, *window) for ordinal in timeline.devices)
    working = tuple(each for each in devices if len(each.busy[0]))
    return TimelineFacts(profile, timeline, *window, working) if working else None


def _window(timeline: Timeline) -> tuple[int, int] | None:
    """Begin of the first and end of the last operation of any device inside the recording; None without any."""
    lanes = [lane for lane in timeline.of(*DEVICE_LANES) if lane.device >= 0 and len(lane)]
    begin = max(min((int(lane.start[0]) for lane in lanes), default=timeline.end), timeline.begin)
    end = min(max((int(lane.end.max()) for lane in lanes), default=timeline.begin), timeline.end)
    return (begin, end) if begin < end else None


def is_traced(profile: Profile) -> bool:
    """True if the profile may have a timeline of intervals; a sampled trace has none, and is not read for that."""
    return profile.read_timeline is not no_timeline and (profile.timed or "host.time" in profile.metrics)
