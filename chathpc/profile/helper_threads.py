"""Threads that libraries run for themselves, and waits for threads to end: neither works for the program, so they are no part of its time.

Open MPI starts two threads a rank that sleep in an event loop, GPU runtimes have their monitors. A wall clock gives each of them
the whole run, so a total that counts them is a multiple of what the program took. They are recognised by their stacks, in which
nothing of the program stands, and left out of all values; `Profile.everything` has them.

A thread that waits for others to end can do nothing else while these run. To count it would make all that they do look small, and so what
a repair can gain: where two threads work while main waits, a third of all thread time would be that wait.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chathpc.profile import numbers
from chathpc.profile.activity import (
    BLOCKED,
    STARTERS,
    Activity,
    activity_of_module,
    activity_of_name,
    base_name,
    is_inner,
    is_math,
)
from chathpc.profile.classification import (
    classify,
    in_python_libraries,
    in_standard_headers,
    is_of_standard_templates,
    of_python_libraries,
    python_waits,
)
from chathpc.profile.location import Locations
from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Column, Metric
from chathpc.profile.sparse import rolled_up
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind
from chathpc.profile.values import Values

#: Share of a thread's time in a library's own polling from which it is no thread of the program. Open MPI's two threads a rank
#: do nothing else; a thread of the program does work in between.
HELPER_SHARE = 0.8

#: A part of each name that `activity_of_name` takes for a wait for threads to end.
_JOIN = re.compile("join|wait", re.IGNORECASE)
#: Waits for others to end are left out if these others have so much time, as a part of the waits': else their work is not in the profile.
_WORKING = 0.05

#: Whose threads they are, by what the frames of their stacks do.
_OWNERS = {Activity.MPI: "the MPI library", Activity.GPU_API: "the GPU runtime"}
_ANY_OWNER = "libraries"


@dataclass(frozen=True, slots=True, eq=False)
class HelperThreads:
    """What was left out of a profile: `time` in the unit of its time metric, `locations` true for each location that is a helper
    thread, `owners` how many of these each library has ("the MPI library"; 0 where the profile does not tell locations apart), and
    `joining`, the time in which threads of the program wait for others to end; `unseen` if nobody saw for what it is that some wait.
    """

    time: float
    unit: str
    locations: BoolArray
    owners: Mapping[str, int]
    joining: float = 0.0
    unseen: bool = False

    @property
    def sentence(self) -> str:
        """`3 helper threads of the MPI library left out: 65.8 s.`, `Excluded: 9.2 s of waiting for threads to end.`; nothing without either."""
        found = []
        if self.owners:
            threads = int(self.locations.sum())
            who = " and ".join(self.owners)
            many = (
                f"{numbers.count(threads)} helper thread{'s' if threads != 1 else ''}" if threads else "Helper threads"
            )
            found.append(f"{many} of {who} left out: {numbers.quantity(self.time, self.unit)}.")
        if self.joining:
            end = "while others work" if self.unseen else "for threads to end"
            found.append(f"Excluded: {numbers.quantity(self.joining, self.unit)} of waiting {end}.")
        return " ".join(found)


def no_helpers(locations: int) -> HelperThreads:
    """What a profile without helper threads says of them."""
    return HelperThreads(0.0, "", np.zeros(locations, dtype=bool), {})


def helper_nodes(tree: CallTree) -> BoolArray:
    """True for the nodes of threads that libraries run for themselves: those that `classify` calls HELPER.

    Only what has no function of the program above it is classified, so the cost is that of a few columns.
    """
    # What a thread waited for is told by what stands around it, and the kernel's functions need not look like a library's.
    if any(name == BLOCKED or "_fault" in name for name in tree.names):
        return classify(tree).of(Activity.HELPER)
    outside = ~tree.inside(_first_functions(tree))
    found = np.zeros(len(tree), dtype=bool)
    if outside[tree.kind != NodeKind.ENTRY].any():
        found[np.flatnonzero(outside)] = classify(tree.select(outside)[0]).of(Activity.HELPER)
    return found


def join_nodes(tree: CallTree) -> BoolArray:
    """True for the nodes where a thread waits for others to end: those that `classify` calls JOIN, if any name may be of that."""
    by_name = any(activity_of_name(name) == Activity.JOIN for name in tree.names if _JOIN.search(name))
    if not by_name and not (python_waits(tree) == Activity.JOIN).any():
        return np.zeros(len(tree), dtype=bool)
    return classify(tree).of(Activity.JOIN)


def _first_functions(tree: CallTree, *, known: bool = False) -> IntArray:
    """The outermost functions that are the program's beyond doubt, by their load modules and names; not all there are. `known`: their
    module or file is.
    """
    module = np.array([activity_of_module(path) is None for path in tree.modules] + [True])
    own = (tree.kind == NodeKind.FUNCTION) & module[tree.module] & ~of_python_libraries(tree)
    if known:
        own &= (tree.module >= 0) | (tree.file >= 0)
    while True:  # each round finds names or files that are not the program's
        first = tree.outermost(np.flatnonzero(own).astype(np.int32))
        name = _marked(len(tree.names), tree.name[first], lambda number: _is_doubtful(tree.names[number]))
        file = _marked(len(tree.files), tree.file[first], lambda number: _is_librarys(tree.files[number]))
        if not name.any() and not file.any():
            return first
        own &= ~(name[tree.name] | file[tree.file])


def _program_code(tree: CallTree) -> IntArray:
    """0 for what runs in or below functions whose load module or file is the program's, −1 for the rest."""
    return np.where(tree.inside(_first_functions(tree, known=True)), 0, -1).astype(np.int32)


def _starts_thread(name: str) -> bool:
    """True for what stands at the beginning of a thread that is not the process's first."""
    return name == "<thread root>" or base_name(name) in ("clone", "clone3", "start_thread")


def _marked(size: int, used: IntArray, test: Callable[[int], bool]) -> BoolArray:
    """A table of `size` entries, and one more for "none", that is true for those of `used` that pass the test."""
    table = np.zeros(size + 1, dtype=bool)
    table[[number for number in np.unique(used).tolist() if number >= 0 and test(number)]] = True
    return table


def _is_librarys(path: str) -> bool:
    return in_standard_headers(path) or in_python_libraries(path)


def _is_doubtful(name: str) -> bool:
    """True for names that a library's function may have, whatever file it is in."""
    return (
        name in STARTERS
        or activity_of_name(name) is not None
        or is_inner(name)
        or is_math(name)
        or is_of_standard_templates(name)
    )


class ProgramValues:
    """The values of `everything` without those of helper threads; satisfies the `Values` protocol.

    What to leave out is found when a value is first asked for. A derived metric has no value where helper threads were part of it.
    """

    def __init__(
        self, everything: Values, tree: CallTree, where: Locations, metrics: Mapping[str, Metric], time: Metric | None
    ) -> None:
        self.everything = everything
        self.tree = tree
        self.where = where
        self.metrics = metrics
        self.time = time
        self._columns: dict[tuple[str, bool], Column] = {}

    # -- what is left out ----------------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> BoolArray:
        """True for the nodes whose values are left out."""
        return self._decided[0] | self.joins

    @cached_property
    def helpers(self) -> HelperThreads:
        """What is left out."""
        found = self._decided[1]
        if self.time is None or not self.joins.any():
            return found
        joining = self.everything.exclusive(self.time.id).dense(len(self.tree))[self.joins].sum()
        return replace(found, unit=self.time.unit.value, joining=float(joining), unseen=bool(self._decided[2].any()))

    @cached_property
    def joins(self) -> BoolArray:
        """True for the nodes left out since a thread waits there for others to end, whose work the profile has."""
        size = len(self.tree)
        if self.time is None or int((~self.where.is_gpu).sum()) < 2:
            return np.zeros(size, dtype=bool)
        found = join_nodes(self.tree) & self.everything.exclusive(self.time.id).mask(size)
        if found.any():
            waits, rest = self.everything.grouped(self.time.id, np.where(found, 0, 1).astype(np.int32), 2).T
            rest[self._decided[1].locations | self.where.is_gpu] = 0.0
            found &= bool(rest[waits <= 0].sum() >= _WORKING * waits.sum())
        return found | self._decided[2]

    @cached_property
    def _above(self) -> BoolArray:
        """True for the nodes that have left out ones in their subtree, these included."""
        return np.asarray(self.tree.inclusive(self.nodes.astype(np.float64)) > 0)

    @cached_property
    def _decided(self) -> tuple[BoolArray, HelperThreads, BoolArray]:
        """The nodes of helper threads, what is said of these, and the nodes where main threads do nothing but wait while others work."""
        size, none = len(self.tree), no_helpers(len(self.where))
        waiting = np.zeros(size, dtype=bool)
        if self.time is None:
            return np.zeros(size, dtype=bool), none, waiting
        found = helper_nodes(self.tree)
        own = self.everything.exclusive(self.time.id)
        found &= own.mask(size)
        if not found.any():
            return found, none, waiting
        number = np.flatnonzero(found)
        group = np.full(size, -1, dtype=np.int32)
        group[number] = np.arange(len(number), dtype=np.int32)
        rows = self.everything.grouped(self.time.id, group, len(number))
        totals = np.nan_to_num(self.everything.location_totals(self.time.id))
        waits = rows.sum(axis=1)
        threads = (waits > 0) & (waits >= HELPER_SHARE * totals) & ~self.where.is_gpu
        nowhere = self.tree.named(BLOCKED)[number] & (self.tree.parent[np.maximum(self.tree.parent[number], 0)] < 0)
        if threads.any() and nowhere.any():
            # Where nobody saw it wait, a thread that runs the program's code may as well have waited there, and no main thread is a library's.
            seen = rows[:, ~nowhere].sum(axis=1) >= HELPER_SHARE * totals
            work = self.everything.grouped(self.time.id, _program_code(self.tree), 1)[:, 0]
            idle = (
                threads
                & ~seen
                & self.where.is_main
                & (self._beside(work) >= _WORKING * waits)
                & (work < _WORKING * waits)
            )
            threads &= seen | ((work <= 0) & ~self.where.is_main)
            # Nodes are left out for all threads: not where others wait much as well.
            waiting[number[nowhere & (rows[idle].sum(axis=0) >= HELPER_SHARE * rows.sum(axis=0)) & idle.any()]] = True
            found &= ~waiting
        # What the program's threads do before its first function belongs to the run.
        if int((~self.where.is_gpu).sum()) > 1:
            found[number[rows[~threads].sum(axis=0) > rows[threads].sum(axis=0)]] = False
        else:
            threads[:] = False
            found &= self.tree.nearest(self.tree.where_name(_starts_thread)) >= 0
        if not found.any():
            return found, none, waiting
        time = float(own.dense(size)[found].sum())
        return found, HelperThreads(time, self.time.unit.value, threads, self._owners(found, threads)), waiting

    def _beside(self, work: FloatArray) -> FloatArray:
        """What the other threads of the process of each location have."""
        process, work = self.where.process, np.where(self.where.is_gpu, 0.0, work)
        return np.asarray(np.bincount(process, weights=work)[process] - work)

    def _owners(self, found: BoolArray, threads: BoolArray) -> dict[str, int]:
        """Whose threads these are, most first, with their number."""
        tree = self.tree
        module = np.array([activity_of_module(path) for path in tree.modules] + [None])[tree.module]
        name = np.array([activity_of_name(one) for one in tree.names] + [None])[tree.name]
        group = np.where(found, len(_OWNERS), -1).astype(np.int32)
        for owner, activity in enumerate(_OWNERS):
            mark = np.asarray((module == activity) | (name == activity), dtype=bool)
            group[found & (tree.nearest(mark) >= 0) & (group == len(_OWNERS))] = owner
        if self.time is None:
            return {}
        rows = self.everything.grouped(self.time.id, group, len(_OWNERS) + 1)
        words = [*_OWNERS.values(), _ANY_OWNER]
        if not threads.any():
            return {words[owner]: 0 for owner in np.flatnonzero(rows.sum(axis=0) > 0).tolist()}
        whose = np.bincount(rows[threads].argmax(axis=1), minlength=len(words))
        return {words[owner]: int(whose[owner]) for owner in np.argsort(-whose, kind="stable") if whose[owner]}

    # -- values --------------------------------------------------------------------------------------------

    def exclusive(self, metric: str) -> Column:
        """What each node itself has, over all locations; these values sum to the total."""
        return self._column(metric, inclusive=False)

    def inclusive(self, metric: str) -> Column:
        """What each node and all below it have, over all locations."""
        return self._column(metric, inclusive=True)

    def _column(self, metric: str, *, inclusive: bool) -> Column:
        if not self.nodes.any():
            return self.everything.inclusive(metric) if inclusive else self.everything.exclusive(metric)
        key = (metric, inclusive)
        if key not in self._columns:
            self._columns[key] = self._inclusive(metric) if inclusive else self._exclusive(metric)
        return self._columns[key]

    def _exclusive(self, metric: str) -> Column:
        column = self.everything.exclusive(metric)
        kept = ~self.nodes[column.nodes]
        return Column(column.nodes[kept], column.values[kept])

    def _inclusive(self, metric: str) -> Column:
        """The inclusive values as they were, but above helper threads, where they are computed anew."""
        column = self.everything.inclusive(metric)
        kept = ~self._above[column.nodes]
        nodes, values = column.nodes[kept], column.values[kept]
        rule = self.metrics[metric].aggregation if metric in self.metrics else Aggregation.SUM
        if rule != Aggregation.DERIVED:
            anew = rolled_up(self.tree, self.exclusive(metric), rule)
            above = self._above[anew.nodes]
            nodes = np.concatenate((nodes, anew.nodes[above]))
            values = np.concatenate((values, anew.values[above]))
        order = np.argsort(nodes, kind="stable")
        return Column(nodes[order], values[order]) if len(nodes) else EMPTY_COLUMN

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        """Array (locations × len(nodes)) of the values at chosen nodes; 0 where a location has none."""
        result = self.everything.per_location(metric, nodes, inclusive=inclusive)
        if not self.nodes.any():
            return result
        result[:, self.nodes[nodes]] = 0.0
        if inclusive:
            for position in np.flatnonzero(self._above[nodes] & ~self.nodes[nodes]).tolist():
                below = np.full(len(self.tree), -1, dtype=np.int32)
                below[nodes[position] : self.tree.end[nodes[position]]] = 0
                result[:, position] = self.grouped(metric, below, 1)[:, 0]
        return result

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        """Array (locations × groups): exclusive values added up by `group` (one number per node, −1 for none)."""
        if self.nodes.any():
            group = np.where(self.nodes, np.int32(-1), group).astype(np.int32)
        return self.everything.grouped(metric, group, groups)

    def present(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        """As `grouped`, with the waits for others to end: all the time that a thread is there."""
        return self.everything.grouped(metric, np.where(self._decided[0], np.int32(-1), group).astype(np.int32), groups)

    def location_totals(self, metric: str) -> FloatArray:
        """Total of each location; NaN where a location has no value of this metric."""
        totals = self.everything.location_totals(metric)
        if not self.nodes.any():
            return totals
        left = self.everything.grouped(metric, np.where(self.nodes, 0, -1).astype(np.int32), 1)[:, 0]
        changed = np.flatnonzero(left != 0)
        if len(changed):
            kept = self.grouped(metric, np.zeros(len(self.tree), dtype=np.int32), 1)[changed, 0]
            totals = totals.copy()
            totals[changed] = np.where(kept != 0, kept, np.nan)
        return totals

    def derived_total(self, metric: str) -> float:
        """A derived metric of the whole run; NaN where it cannot be computed."""
        return float("nan") if self.nodes.any() else self.everything.derived_total(metric)
