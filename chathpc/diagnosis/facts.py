"""What the rules look at: times by activity, by place, by location, computed once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, isclose
from typing import TYPE_CHECKING

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.catalogue.entry import OTHER
from chathpc.diagnosis.coverage import HOST_TIME
from chathpc.diagnosis.device import device_time, samples_metric
from chathpc.diagnosis.gaps import Gaps
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.statistics import is_above, standard_error
from chathpc.diagnosis.timeline_facts import TimelineFacts, seconds, timeline_facts
from chathpc.profile.activity import Activity
from chathpc.profile.classification import Activities, classify
from chathpc.profile.helper_threads import ProgramValues
from chathpc.profile.intervals import Intervals
from chathpc.profile.kernel_names import demangled, without_parameters
from chathpc.profile.languages import language_of
from chathpc.profile.metric import Unit
from chathpc.profile.names import scopes_of
from chathpc.profile.profile import Profile
from chathpc.profile.run import wall_seconds
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind, is_one_of

if TYPE_CHECKING:
    from chathpc.diagnosis.compiled import Compiled
    from chathpc.diagnosis.concurrency import Concurrency
    from chathpc.diagnosis.message_facts import MessageFacts


@dataclass(frozen=True, slots=True)
class HotPlace:
    """A function of the program and its hottest line: `node` is its hottest context, `line` the node of the line or −1."""

    place: Place
    node: int
    line: int
    at_line: float  #: weight at the line
    label: int  #: number of the function's name
    weight: float  #: weight of the function


@dataclass(frozen=True, slots=False, eq=False)
class Facts:
    """A profile seen by its host time. All shares are of `total`: the time of the program's threads."""

    profile: Profile

    # -- time ----------------------------------------------------------------------------------------------

    @property
    def metric(self) -> str:
        """Id of the time metric."""
        if self.profile.time is None:
            raise ValueError("the profile has no host time")
        return self.profile.time.id

    @cached_property
    def has_host_time(self) -> bool:
        """True if there is enough time of host threads (or samples that stand for it) for shares of it."""
        time = self.profile.time
        if time is None or time.id not in HOST_TIME or self.total <= 0:
            return False
        return self.samples >= common()["min_samples"].value

    @cached_property
    def activities(self) -> Activities:
        """What each node does."""
        found, values = classify(self.profile.tree), self.profile.values
        if isinstance(values, ProgramValues):
            found.kind[values.joins] = Activity.JOIN
        return found

    @cached_property
    def time(self) -> FloatArray:
        """Exclusive time of each node."""
        return np.maximum(self.profile.exclusive(self.metric).dense(len(self.profile.tree)), 0.0)

    @cached_property
    def total(self) -> float:
        """Time of the program's threads."""
        return float(self.time.sum())

    @cached_property
    def inclusive(self) -> FloatArray:
        """Inclusive time of each node."""
        return self.profile.tree.inclusive(self.time)

    @cached_property
    def samples(self) -> float:
        """Number of samples behind `total`: from the trace and from the values of nodes that may have had one sample;
        infinite where times were measured from beginning to end, so that shares have no sampling error.

        Such a value (the tenth from below of a hundred, as the very smallest can be an artefact of starting a counter) may
        stand for several samples, so the number is rather too small. Where few nodes have a value even the smallest is hardly
        one sample; there a period of 5 ms, hpcrun's default, is assumed. Where that and the trace disagree by a factor of
        two or more, the trace is right.
        """
        measured = self.time[self.time > 0]
        if not len(measured):
            return 0.0
        if self.profile.timed:
            return inf
        limit = common()
        period = float(np.quantile(measured, limit["period_quantile"].value, method="lower"))
        if len(measured) < limit["few_values"].value and self.in_seconds:
            period = min(period, limit["default_period"].value)
        # Nothing is sampled more often than once an event.
        counted = self.total / max(period, limit["shortest_period"].value if self.in_seconds else 1.0)
        if self.profile.sample_count is None:
            return counted
        if "cpu.time" in self.profile.metrics and self.metric != "cpu.time":  # the waiting beside it was not sampled
            return self.profile.sample_count * self._kept("cpu.time")
        traced = self.profile.sample_count * self._kept(self.metric)
        right = limit["traced_part"].value * counted
        return traced if traced < right or isclose(traced, right) else max(counted, traced)

    def _kept(self, metric: str) -> float:
        """The part of a metric (0..1) that no helper thread of a library has."""
        own, everything = (
            float(each.exclusive(metric).values.sum()) for each in (self.profile, self.profile.everything)
        )
        return own / everything if everything else 1.0

    def error(self, share: float) -> float:
        """Standard error of a share from sampling: sqrt(p(1−p)/n)."""
        return standard_error(share, self.samples)

    def above(self, share: float, threshold: float) -> bool:
        """True if a share of the time is above `threshold` by more than sampling explains (`sigma` of common.yaml)."""
        return is_above(share, threshold, self.samples, common()["sigma"].value)

    @property
    def in_seconds(self) -> bool:
        """True if the time metric is a time, not a count of cycles."""
        return self.profile.metrics[self.metric].unit == Unit.SECONDS

    @property
    def whole(self) -> str:
        """What shares are parts of: the time, or the samples or instructions that stand for it."""
        others = {"cpu.samples": "the samples", "cpu.instructions": "the instructions", "cpu.share": "the cost"}
        return others.get(self.metric, "the time")

    # -- over time -----------------------------------------------------------------------------------------

    @cached_property
    def timeline(self) -> TimelineFacts | None:
        """What the devices did over time; None without a timeline of intervals, or where no device did anything."""
        return timeline_facts(self.profile)

    @property
    def traced(self) -> TimelineFacts:
        """The same for rules that are only asked where there is one; ValueError otherwise."""
        if self.timeline is None:
            raise ValueError("the profile has no timeline of devices")
        return self.timeline

    @cached_property
    def gaps(self) -> Gaps:
        """Why the devices were idle; ValueError without a timeline."""
        return Gaps(self.traced)

    @cached_property
    def messages(self) -> MessageFacts | None:
        """Who waited for whom in MPI; None where no trace tells it."""
        from chathpc.diagnosis.message_facts import message_facts

        return message_facts(self)

    @cached_property
    def concurrency(self) -> Concurrency | None:
        """What threads do over time that are not OpenMP's; None where no trace tells it."""
        from chathpc.diagnosis.concurrency import concurrency

        return concurrency(self)

    @cached_property
    def compiled(self) -> Compiled | None:
        """What compilers say of the program's places; None without their records."""
        from chathpc.diagnosis.compiled import Compiled

        return None if self.profile.build is None else Compiled(self, self.profile.build)

    @cached_property
    def unseen(self) -> list[tuple[int, float, float]]:
        """Threads that were sampled for much less time than passed in their trace: location, seconds seen and seconds passed."""
        from chathpc.diagnosis.sampled_lanes import unseen

        return unseen(self)

    @cached_property
    def device_work(self) -> Intervals | None:
        """When any device worked, by a sampled trace; None where no such trace tells it."""
        from chathpc.diagnosis.sampled_lanes import device_work

        return device_work(self.profile) if self.timeline is None else None

    @cached_property
    def device_seconds(self) -> float:
        """Seconds in which devices worked: as long as any did, where that is known, else the time of all their operations."""
        work = self.device_work
        return device_time(self.profile) if work is None else seconds(work)

    @cached_property
    def device_part(self) -> float:
        """How much of the run's wall-clock time devices work (0..1), at most where only their time in all is known; 1 where nothing tells
        how long the run was, or that of devices alone was stretched by sampling inside their kernels.
        """
        wall = wall_seconds(self.profile)
        stretched = not self.has_host_time and samples_metric(self.profile) is not None
        return min(self.device_seconds / wall, 1.0) if wall and self.timeline is None and not stretched else 1.0

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
        """Time of each activity at each location of the program: array (locations × activities); see `locations`. Waits for others to end
        are in it: it says how long each is there.
        """
        return self._all_locations[self.locations]

    @cached_property
    def _all_locations(self) -> FloatArray:
        return self.profile.present_in(self.metric, self.activities.kind.astype(np.int32), len(Activity))

    @cached_property
    def locations(self) -> IntArray:
        """The locations that are threads of the program: CPU threads with time."""
        program = (self._all_locations.sum(axis=1) > 0) & ~self.profile.where.is_gpu & ~self.profile.helpers.locations
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

    @cached_property
    def processes(self) -> IntArray:
        """Number of the process that each of `locations` belongs to."""
        return np.unique(self.profile.where.process[self.locations], return_inverse=True)[1].astype(np.int32)

    @cached_property
    def caller_label(self) -> IntArray:
        """Number of the name of the program's function that each node counts for (see `label_names`); −1 without one."""
        label = self.profile.tree.function_labels[0]
        caller = self.activities.caller
        return np.where(caller >= 0, label[np.maximum(caller, 0)], np.int32(-1)).astype(np.int32)

    @property
    def label_names(self) -> list[str]:
        """Names of functions by number."""
        return self.profile.tree.function_labels[1]

    @cached_property
    def _told_apart(self) -> dict[str, str]:
        return told_apart(self.profile.tree.names)

    def readable(self, name: str) -> str:
        """`readable_function`, but of procedures of several modules with the same name, which their modules tell apart."""
        return self._told_apart.get(name) or readable_function(name)

    @cached_property
    def site_file(self) -> IntArray:
        """File of the program's line that each node counts for; −1 where it is not known."""
        site = self.activities.site
        return np.where(site >= 0, self.profile.tree.file[site], np.int32(-1))

    @cached_property
    def computing_by_file(self) -> FloatArray:
        """Time of computing by file of the program's lines."""
        computing, files = self.of(Activity.COMPUTE), len(self.profile.tree.files)
        return np.bincount(self.site_file + 1, weights=computing, minlength=files + 1)[1:].astype(np.float64)

    def by_function(self, weight: FloatArray) -> tuple[IntArray, FloatArray]:
        """`weight` (exclusive, per node) added up by function of the program: (numbers of names, sums), largest first."""
        counted = (self.caller_label >= 0) & (weight > 0)
        sums = np.bincount(self.caller_label[counted], weights=weight[counted], minlength=1).astype(np.float64)
        order = np.argsort(-sums, kind="stable")
        order = order[sums[order] > 0]
        return order.astype(np.int32), sums[order]

    def in_function(self, label: int, weight: FloatArray) -> FloatArray:
        """`weight` of the nodes that count for the function with that number, 0 elsewhere."""
        return np.where(self.caller_label == label, weight, 0.0)

    def grouped(self, group: IntArray, groups: int) -> FloatArray:
        """Time per location of the program and group of nodes: array (locations × groups)."""
        return self.profile.present_in(self.metric, group, groups)[self.locations]

    # -- places --------------------------------------------------------------------------------------------

    def hot_place(self, weight: FloatArray, label: int | None = None) -> HotPlace | None:
        """Where in the program `weight` (exclusive, per node) lies: the function with most of it, and its hottest line.

        Time in library calls counts for the line that makes the call. `label` chooses the function. None if nothing of
        the weight is in or below the program's own code.
        """
        labels, sums = self.by_function(weight)
        if label is not None:
            sums, labels = sums[labels == label], labels[labels == label]
        if not len(labels):
            return None
        chosen = int(labels[0])
        mine = self.in_function(chosen, weight)
        caller = self.activities.caller
        counted = np.flatnonzero(mine > 0)
        node = int(np.argmax(np.bincount(caller[counted], weights=mine[counted])))
        lines, at_lines = self.by_line(mine)
        line, at_line = (int(lines[0]), float(at_lines[0])) if len(lines) else (-1, 0.0)
        return HotPlace(self.place(node, line_node=line), node, line, at_line, chosen, float(sums[0]))

    @cached_property
    def hot_lines(self) -> list[int]:
        """The few contexts with a source line that the most time counts for, the costliest first."""
        tree, site = self.profile.tree, self.activities.site
        counted = np.flatnonzero((site >= 0) & (self.time > 0))
        sums = np.bincount(site[counted], weights=self.time[counted], minlength=len(tree))
        lines = np.flatnonzero((sums > 0) & (tree.line > 0) & (tree.file >= 0))
        return [int(one) for one in lines[np.argsort(-sums[lines], kind="stable")[:_LINES]]]

    @cached_property
    def hottest_language(self) -> str | None:
        """The language of the costliest line, see `language_in`."""
        tree = self.profile.tree
        return language_in(tree, next(filter(None, map(tree.file_name, self.hot_lines[:1])), ""))

    def by_line(self, weight: FloatArray) -> tuple[IntArray, FloatArray]:
        """`weight` (exclusive, per node) added up by source line of the program: (lines as nodes, sums), largest first.

        Lines are compared by file and number over the whole tree, so the same line in several contexts counts as one.
        """
        counted, site = self.with_lines(weight)
        heaviest = np.argsort(-weight[counted], kind="stable")  # the context that stands for a line
        counted, site = counted[heaviest], site[heaviest]
        _, first, inverse = np.unique(self.profile.tree.lines[site], return_index=True, return_inverse=True)
        sums = np.bincount(inverse, weights=weight[counted], minlength=len(first)).astype(np.float64)
        order = np.argsort(-sums, kind="stable")
        return site[first[order]].astype(np.int32), sums[order]

    def with_lines(self, weight: FloatArray) -> tuple[IntArray, IntArray]:
        """The nodes with some of `weight` that count for a source line of the program, and for each of them a node of that line."""
        tree, sites = self.profile.tree, self.activities.site
        usable = (weight > 0) & (sites >= 0) & ((tree.line > 0) & (tree.file >= 0))[sites]
        if self.profile.timed:  # instrumented functions bear the line that they begin at, which is not hot for that
            usable &= ~is_one_of(tree.kind, (NodeKind.FUNCTION, NodeKind.REGION, NodeKind.ENTRY))[sites]
        counted = np.flatnonzero(usable).astype(np.int32)
        return counted, sites[counted]

    def at_line(self, line_node: int) -> BoolArray:
        """True for nodes that count for the source line of `line_node`, in whatever context."""
        lines, site = self.profile.tree.lines, self.activities.site
        return np.asarray((site >= 0) & (lines[site] == lines[line_node]))

    def place(self, node: int, *, line_node: int = -1) -> Place:
        """The place of a node for a reader: its function, and file and line of `line_node` (or of itself)."""
        tree = self.profile.tree
        if node < 0:
            return Place()
        where = line_node if line_node >= 0 else node
        file, line = tree.file_name(where), int(tree.line[where])
        if file is None or file.startswith(("[", "<")):
            file, line = None, 0
        steps = np.array(tree.path(node))
        path = tuple(
            tree.label(step)
            for step in steps[~is_one_of(tree.kind[steps], (NodeKind.LINE, NodeKind.INSTRUCTION))].tolist()
        )
        return Place(
            function=self.readable(tree.function_name(node)),
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


#: Costliest lines whose files are looked for.
_LINES = 10
#: Suffixes that compilers give to the outlined body of an OpenMP region and to clones of a function.
_OUTLINED = ("._omp_fn.", ".omp_outlined", "._omp_cpyfn.", ".constprop.", ".isra.", ".part.", ".cold", " [clone ")


def without_clones(name: str) -> str:
    """A function's name without what compilers append to its clones and to the outlined bodies of its regions."""
    for suffix in _OUTLINED:
        at = name.find(suffix)
        if at > 0:
            name = name[:at]
    return name


@lru_cache(maxsize=8192)  # the rules ask for the same names again and again
def readable_function(name: str) -> str:
    """A function's name as its author would say it: without parameters, library suffix and what compilers append.

    `pair_potential._omp_fn.0` → `pair_potential`, `grid::sum(double const*, int)` and `_ZN4grid3sumEPKdi` → `grid::sum`,
    `__flux_MOD_upwind` → `upwind`.
    """
    name = without_clones(demangled(name))
    if match := _PROCEDURE.fullmatch(name):
        return match["name"]
    return name if name == LOADER else without_parameters(name)


def told_apart(names: Iterable[str]) -> dict[str, str]:
    """Of procedures of Fortran modules that are not the only ones of their name, that with the module: `flux%step` of `__flux_MOD_step`."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if "_MOD_" in name and (match := _PROCEDURE.fullmatch(without_clones(name))) and match["module"]:
            found.setdefault(match["name"], {})[name] = f"{match['module']}%{match['name']}"
    return {name: told for every in found.values() if len(set(every.values())) > 1 for name, told in every.items()}


def plain_name(name: str) -> str:
    """A function's name for comparison: without scopes, template arguments, parameters, and what compilers append.

    `Array2<int>::index(int, int) const` → `index`, `__vectors_MOD_triad` → `triad`, `work._omp_fn.0` → `work`.
    """
    name = readable_function(name).removeprefix("void ")
    last = scopes_of(name)[-1]
    if not last.startswith("operator"):
        last = last.partition("<")[0] or last
    return last.strip()


#: What names of functions and files tell of a program's language, where no file of a language that is known here does; the first that fits.
_BY_NAMES = (
    ("python", re.compile(r"<module>$|_PyEval_")),
    ("fortran", re.compile(r"__\w+_MOD_|MAIN__$|_gfortran_")),
    ("rust", re.compile(r"(core|alloc|std::rt|rayon)::|.*::h[0-9a-f]{16}$")),
    (OTHER, re.compile(r"runtime\.(goexit|main|mallocgc|mcall)$|Java(Main|Calls::)|L?java[/.](lang|util)[/.]")),
    ("c++", re.compile(r"_ZN?K?\d|_ZS[a-z]|std::")),
    (OTHER, re.compile(r".*\.(go|java|scala|kt|js|ts|cs|rb|lua|pl|r|m)$", re.IGNORECASE)),
)


def language_in(tree: CallTree, file: str) -> str | None:
    """The language of a place by its file; that of the program by the names in its profile, where the place has no file, in a stripped
    library, or one that does not tell. None where nothing does.
    """
    known = next(filter(None, map(language_of, (file,) if file else tree.files)), None)
    names = [*tree.files, *tree.names] if known is None else []
    found = next((language for language, names_of in _BY_NAMES if any(map(names_of.match, names))), None)
    return found if known is None else str(known)


#: The range in which PyTorch waits for the next batch.
LOADER = "enumerate(DataLoader)"
#: A procedure of a Fortran module as gfortran names it, and as `told_apart` does.
_PROCEDURE = re.compile(r"(?:__(?P<module>\w+?)_MOD_|\w+%)(?P<name>\w+)")
