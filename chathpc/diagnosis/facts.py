"""What the rules look at: times by activity, by place, by location, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from chathpc.diagnosis.records import Place
from chathpc.profile.activity import Activities, Activity, classify
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, NodeKind

#: A location whose time is nearly all a library's own polling is no thread of the program (HPCToolkit notes: Open MPI
#: starts two per rank).
HELPER_SHARE = 0.8

#: Seconds between samples of hpcrun's timers unless the user says otherwise (200 a second).
DEFAULT_PERIOD = 0.005
#: With fewer nodes than this the smallest value is probably more than one sample.
FEW_VALUES = 30


@dataclass(frozen=True, slots=False, eq=False)
class Facts:
    """A profile seen by its host time. All shares are of `total`: the time of the program's own threads, without
    helpers.
    """

    profile: Profile

    # -- time ----------------------------------------------------------------------------------------------

    @property
    def metric(self) -> str:
        """Id of the time metric."""
        if self.profile.time is None:
            raise ValueError("the profile has no host time")
        return self.profile.time.id

    @cached_property
    def activities(self) -> Activities:
        """What each node does."""
        return classify(self.profile.tree)

    @cached_property
    def time(self) -> FloatArray:
        """Exclusive time of each node, without helper threads, GPU operations and the profiler itself."""
        values = self.profile.exclusive(self.metric).dense(len(self.profile.tree))
        values[self.activities.of(Activity.HELPER)] = 0.0
        return np.maximum(values, 0.0)

    @cached_property
    def helper_time(self) -> float:
        """Time of threads that libraries run for themselves."""
        values = self.profile.exclusive(self.metric).dense(len(self.profile.tree))
        return float(values[self.activities.of(Activity.HELPER)].sum())

    @cached_property
    def total(self) -> float:
        """Time of the program's own threads."""
        return float(self.time.sum())

    @cached_property
    def inclusive(self) -> FloatArray:
        """Inclusive time of each node, without helper threads."""
        return self.profile.tree.inclusive(self.time)

    @cached_property
    def samples(self) -> float:
        """Number of samples behind `total`: as the trace counts them, else with the smallest value taken for one sample.

        The smallest value may stand for several samples, so without a trace the number is a lower bound. Where few nodes
        have a value even the smallest is hardly one sample; there a period of 5 ms, hpcrun's default, is assumed.
        """
        measured = self.time[self.time > 0]
        if not len(measured):
            return 0.0
        period = float(measured.min())
        if len(measured) < FEW_VALUES and self.in_seconds:
            period = min(period, DEFAULT_PERIOD)
        traced = self.profile.sample_count
        everything = self.total + self.helper_time
        return self.total / period if traced is None else max(self.total / period, traced * self.total / everything)

    def error(self, share: float) -> float:
        """Standard error of a share from sampling: sqrt(p(1−p)/n)."""
        return sqrt(max(share * (1 - share), 0.0) / self.samples) if self.samples else 1.0

    @property
    def in_seconds(self) -> bool:
        """True if the time metric is a time, not a count of cycles."""
        return self.profile.metrics[self.metric].unit == Unit.SECONDS

    def seconds(self, value: float) -> float | None:
        """`value` of the time metric if that is in seconds."""
        return value if self.in_seconds else None

    # -- by activity ---------------------------------------------------------------------------------------

    @cached_property
    def by_activity(self) -> FloatArray:
        """Time of each activity, indexed by Activity."""
        return np.bincount(self.activities.kind, weights=self.time, minlength=len(Activity)).astype(np.float64)

    def spent(self, *activities: Activity) -> float:
        """Time spent on the given activities."""
        return float(self.by_activity[list(activities)].sum())

    def share(self, *activities: Activity) -> float:
        """Part of the total spent on the given activities."""
        return self.spent(*activities) / self.total if self.total else 0.0

    def of(self, *activities: Activity) -> FloatArray:
        """Exclusive time of nodes with one of the activities, 0 elsewhere."""
        return np.where(self.activities.of(*activities), self.time, 0.0)

    # -- by location ---------------------------------------------------------------------------------------

    @cached_property
    def matrix(self) -> FloatArray:
        """Time of each activity at each location of the program: array (locations × activities); see `locations`."""
        return self._all_locations[self.locations]

    @cached_property
    def _all_locations(self) -> FloatArray:
        return self.profile.values.grouped(self.metric, self.activities.kind.astype(np.int32), len(Activity))

    @cached_property
    def locations(self) -> IntArray:
        """The locations that are threads of the program: CPU threads with time that is not nearly all a library's
        polling.
        """
        totals = self._all_locations.sum(axis=1)
        helper = self._all_locations[:, Activity.HELPER]
        program = (totals > 0) & (helper < HELPER_SHARE * totals) & ~self.profile.where.is_gpu
        return np.flatnonzero(program).astype(np.int32)

    @property
    def thread_count(self) -> int:
        """Number of the program's own threads."""
        return len(self.locations)

    @cached_property
    def ranks(self) -> IntArray:
        """MPI rank of each of `locations`; −1 without MPI."""
        return self.profile.where.rank[self.locations].astype(np.int32)

    @cached_property
    def rank_count(self) -> int:
        """Number of MPI ranks."""
        return len(np.unique(self.ranks[self.ranks >= 0]))

    def by_function(self, chosen: BoolArray) -> tuple[IntArray, FloatArray]:
        """Time of the chosen nodes per function of the program that is their caller: (name ids, time), largest
        first.
        """
        caller = self.activities.caller
        counted = chosen & (caller >= 0)
        name = self.profile.tree.name[np.maximum(caller, 0)]
        counted &= name >= 0
        sums = np.bincount(name[counted], weights=self.time[counted], minlength=1).astype(np.float64)
        order = np.argsort(-sums, kind="stable")
        order = order[sums[order] > 0]
        return order.astype(np.int32), sums[order]

    def grouped(self, group: IntArray, groups: int) -> FloatArray:
        """Time per location of the program and group of nodes: array (locations × groups)."""
        return self.profile.values.grouped(self.metric, group, groups)[self.locations]

    # -- places --------------------------------------------------------------------------------------------

    def hottest(self, weight: FloatArray, within: BoolArray | None = None) -> int:
        """The node of the program's own code under which most of `weight` (exclusive, per node) lies; −1 without any.

        Time in library calls counts for the line that makes the call.
        """
        caller = self.activities.caller
        counted = (weight > 0) & (caller >= 0)
        if within is not None:
            counted &= within
        if not counted.any():
            return -1
        sums = np.bincount(caller[counted], weights=weight[counted], minlength=len(self.profile.tree))
        return int(np.argmax(sums))

    def hot_line(self, weight: FloatArray, function_name: int) -> tuple[int, float]:
        """The line (as a node) with most of `weight` in the function of that name id, and its weight; (−1, 0) without
        lines.

        Lines are compared by file and number over the whole tree, so the same line in several contexts counts as one.
        """
        tree = self.profile.tree
        caller = self.activities.caller
        counted = np.flatnonzero((weight > 0) & (caller >= 0) & (tree.name[np.maximum(caller, 0)] == function_name))
        site = self.activities.site[counted]
        usable = (site >= 0) & (tree.line[np.maximum(site, 0)] > 0) & (tree.file[np.maximum(site, 0)] >= 0)
        counted, site = counted[usable], site[usable]
        if not len(counted):
            return -1, 0.0
        key = tree.file[site].astype(np.int64) * 2**32 + tree.line[site]
        inverse = np.unique(key, return_inverse=True)[1]
        sums = np.bincount(inverse, weights=weight[counted])
        best = int(np.argmax(sums))
        members = np.flatnonzero(inverse == best)
        return int(site[members[int(np.argmax(weight[counted[members]]))]]), float(sums[best])

    def place(self, node: int, *, line_node: int = -1) -> Place:
        """The place of a node for a reader: its function, and file and line of `line_node` (or of itself)."""
        tree = self.profile.tree
        if node < 0:
            return Place()
        where = line_node if line_node >= 0 else node
        file, line = tree.file_name(where), int(tree.line[where])
        if file is None or file.startswith(("[", "<")):
            file, line = None, 0
        path = tuple(
            tree.label(step)
            for step in tree.path(node)
            if NodeKind(int(tree.kind[step])) not in (NodeKind.LINE, NodeKind.INSTRUCTION)
        )
        return Place(
            function=readable_function(tree.function_name(node)),
            file=file,
            line=line or None,
            path=path,
            node=where,
        )

    def below_loop(self, node: int) -> bool:
        """True if a loop stands anywhere above `node`, in its function or in a caller."""
        tree = self.profile.tree
        return any(tree.kind[step] == NodeKind.LOOP for step in tree.path(node))

    def innermost_loop(self, node: int) -> int:
        """The closest loop at or above `node` in the same function; −1 without one."""
        tree = self.profile.tree
        while node >= 0:
            kind = tree.kind[node]
            if kind == NodeKind.LOOP:
                return node
            if tree.function[node] == node:
                return -1
            node = int(tree.parent[node])
        return -1


#: Suffixes that compilers give to the outlined body of an OpenMP region and to clones of a function.
_OUTLINED = ("._omp_fn.", ".omp_outlined", "._omp_cpyfn.", ".constprop.", ".isra.", ".part.", ".cold", " [clone ")


def readable_function(name: str) -> str:
    """A function's name as the source has it: `pair_potential._omp_fn.0` → `pair_potential`."""
    for suffix in _OUTLINED:
        at = name.find(suffix)
        if at > 0:
            name = name[:at]
    return name


def is_outlined(name: str) -> bool:
    """True for the body of an OpenMP region that the compiler made a function of its own."""
    return "._omp_fn." in name or ".omp_outlined" in name


def most(values: Sequence[float] | FloatArray) -> int:
    """Index of the largest value."""
    return int(np.argmax(values))
