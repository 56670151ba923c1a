"""One run, read for a comparison: its time by function-level context, runtimes folded into the calls that enter them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np

from chathpc.comparison.function_names import library_key
from chathpc.diagnosis.cores import without_core
from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.diagnosis.facts import Facts
from chathpc.profile.activity import Activity
from chathpc.profile.classification import DEVICE, template_library
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.merge import kernels
from chathpc.profile.metric import NO_CORE, Clock, Metric, Unit
from chathpc.profile.profile import PROCESSES, RANKS_ADDED, Profile
from chathpc.profile.run import WHOLE, wall_seconds
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, is_one_of

#: How names begin of outlined regions of LLVM's compilers, and of what its runtime says of regions: they change with the source.
_NUMBERED = (".omp_outlined", "<omp impl", "<omp expl", "<omp work", "<omp region")


@dataclass(frozen=True, slots=False, eq=False)
class Run:
    """A profile and the metric that it is compared by; `per_launch` where that is the time of one launch of each kernel."""

    profile: Profile
    metric: Metric
    per_launch: bool = False

    @cached_property
    def facts(self) -> Facts:
        """What the diagnosis sees."""
        return Facts(self.profile)

    @property
    def is_host_time(self) -> bool:
        """True if the metric is what the diagnosis takes for the time."""
        return self.profile.time is not None and self.profile.time.id == self.metric.id

    @cached_property
    def values(self) -> FloatArray:
        """Value of each node itself, over all locations; of the host's time only that of the program's own threads."""
        if self.per_launch:
            tree, time = self.profile.tree, self.profile.dense(self.metric.id)
            count = {key: launches for key, (_, _, launches, _) in kernels(self.profile).items()}
            used = [count.get(kernel_key(tree.function_name(at)), 0.0) for at in np.flatnonzero(time).tolist()]
            time[time != 0] /= np.maximum(used, 1.0)
            return time
        if self.is_host_time:
            return self.facts.time
        return np.maximum(self.profile.exclusive(self.metric.id).dense(len(self.profile.tree)), 0.0)

    @cached_property
    def total(self) -> float:
        """Sum of the values."""
        return float(self.values.sum(dtype=np.longdouble))

    @cached_property
    def samples(self) -> float | None:
        """Number of samples behind the total; None where nothing was sampled."""
        if self.metric.unit == Unit.SAMPLES:
            return self.total
        if not self.is_host_time or self.metric.id not in HOST_TIME or self.profile.timed:
            return None
        return self.facts.samples if isfinite(self.facts.samples) else None

    @property
    def period(self) -> float:
        """What a sample stands for, in the metric's unit; 0 where nothing was sampled."""
        return self.total / self.samples if self.samples else 0.0

    @cached_property
    def threads(self) -> int:
        """Threads of the program; 0 where the metric is not the host's."""
        return max(self.facts.thread_count, self.ranks) if self._of_host else 0

    @cached_property
    def ranks(self) -> int:
        """MPI ranks or processes; 0 where nothing tells them, and where the metric is neither the host's nor a time."""
        if not self._of_host and self.metric.unit != Unit.SECONDS:
            return 0
        told = self.profile.told(PROCESSES) or self.profile.told(RANKS_ADDED)
        return told or (self.facts.rank_count if self._of_host else 0)

    @property
    def _of_host(self) -> bool:
        return self.metric.id in HOST_TIME and self.profile.time is not None

    @cached_property
    def elapsed(self) -> float | None:
        """Seconds that the run took, where the profile tells it and the metric is its time.

        Of ranks that the tool added up only the mean is known: they begin and end together.
        """
        if not self.is_host_time or self.metric.unit != Unit.SECONDS:
            return None
        wall = wall_seconds(self.profile)
        mean = self.total / self._together if self._together > 1 and self.metric.clock == Clock.WALL else None
        return mean if wall is None else wall

    @cached_property
    def longest(self) -> float:
        """Seconds of the thread that has most of them by a wall clock, if that is the whole run; else 0."""
        if self.elapsed is None or not self._of_host or self.metric.clock != Clock.WALL:
            return 0.0
        return self.busiest if self.busiest >= WHOLE * self.elapsed else 0.0

    @property
    def busiest(self) -> float:
        """Time of the thread that has most."""
        return float(self.facts.matrix.sum(axis=1).max(initial=0.0)) / self._together

    @property
    def _together(self) -> int:
        return max(self.profile.told(RANKS_ADDED), 1)

    @property
    def without_core(self) -> float | None:
        """Seconds in which its threads could run and had no core, where that was measured beside the time."""
        known = self.metric.unit == Unit.SECONDS and NO_CORE in self.profile.metrics
        return self.profile.total(NO_CORE) if known else None

    def is_alone(self, took: float) -> bool:
        """True if it is that of a single thread, as what it ran and lacked a core is no more than the run took."""
        return self.threads == 1 and self.total + (self.without_core or 0.0) <= took / WHOLE

    def with_cores(self, took: float) -> float:
        """The least that the run could have taken if no thread had lacked a core: what the thread that lacked it longest did, or the mean
        of what threads did.
        """
        if not self.without_core:
            return took
        lacked = without_core(self.facts, np.ones(len(self.profile.tree), dtype=bool)).max(initial=0.0)
        return min(max(took - float(lacked), self.total / max(self.threads, 1)), took)

    # -- contexts --------------------------------------------------------------------------------------------

    @cached_property
    def library_labels(self) -> tuple[IntArray, list[str]]:
        """For each node the number of the key that its library call is compared by (−1 outside), and the keys."""
        label, texts = self.profile.tree.function_labels
        activities = self.facts.activities
        inside = np.flatnonzero(activities.call >= 0)
        # What a device does in a call has the name of the kernel or copy, not of what each maker's interface calls its launch.
        device = self.profile.tree.nearest(is_one_of(self.profile.tree.kind, DEVICE))[inside]
        named = np.where(device >= 0, device, activities.call[inside])
        pair = label[named].astype(np.int64) * 256 + activities.kind[inside]
        pairs, row = np.unique(pair, return_inverse=True)
        number: dict[str, int] = {}
        keys = [
            number.setdefault(library_key(texts[each >> 8], Activity(each & 255)), len(number))
            for each in pairs.tolist()
        ]
        found = np.full(len(label), -1, dtype=np.int32)
        found[inside] = np.array(keys, dtype=np.int32)[row] if len(keys) else 0
        return found, list(number)

    @cached_property
    def is_own(self) -> BoolArray:
        """True for nodes that are functions of the program (or entry points), no part of a library call.

        Bodies of OpenMP regions that have a number for a name are part of the function around them.
        """
        tree = self.profile.tree
        inside = tree.where_name(lambda name: name.startswith(_NUMBERED)) & (tree.parent >= 0)
        return np.asarray((tree.function == np.arange(len(tree))) & (self.facts.activities.call < 0) & ~inside)

    @cached_property
    def is_template(self) -> BoolArray:
        """True for own functions that are the C++ standard library's, compiled into the program."""
        return np.asarray(self.is_own & template_library(self.profile.tree))

    @cached_property
    def template_labels(self) -> set[int]:
        """Numbers of the names of those functions of the C++ standard library that something else calls (and maybe more)."""
        tree = self.profile.tree
        above = self.is_template[tree.function[np.maximum(tree.parent, 0)]] & (tree.parent >= 0)
        return set(np.unique(tree.function_labels[0][self.is_template & ~above]).tolist())

    @cached_property
    def own_names(self) -> list[str]:
        """Names of the program's own functions in the tree."""
        label, texts = self.profile.tree.function_labels
        return [texts[number] for number in np.unique(label[self.is_own & ~self.is_template]).tolist()]
