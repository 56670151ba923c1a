"""How many threads of a program work at a time, from a trace, and what holds the others up.

While fewer threads work than can, what these do is why the others are idle: idleness is charged to the code that runs meanwhile
(N. R. Tallent and J. M. Mellor-Crummey: Effective performance measurement and analysis of multithreaded applications, PPoPP 2009). A thread
that has not begun, or has ended, is as idle as one that waits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.cores import cores
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.sampled_lanes import spans, traced_lanes
from chathpc.profile import intervals
from chathpc.profile.activity import OPENMP, Activity
from chathpc.profile.metric import Clock
from chathpc.profile.timeline import WITHOUT_CORE, Lane
from chathpc.profile.tree import BoolArray, FloatArray, IntArray

#: Who does this has nothing to do; who waits for a lock has.
_IDLE = (Activity.SLEEP, Activity.BLOCKED, Activity.JOIN, Activity.HELPER)
#: What can be shared among threads; of waiting, input and messages other rules tell.
_WORK = (
    Activity.COMPUTE, Activity.MATH, Activity.COPY, Activity.ALLOCATION, Activity.LIBRARY, Activity.PAGE_FAULT,
)  # fmt: skip
#: OpenMP's threads, and those that drive devices, have rules of their own.
_OTHERS = (*OPENMP, Activity.GPU_LAUNCH, Activity.GPU_SYNC, Activity.GPU_COPY)
#: Schedulers of tasks: oneTBB, Rayon; what is compiled into the program from their headers, and their library.
_SCHEDULER = re.compile(r"(void )?(oneapi::)?tbb::|rayon_core::|crossbeam_(deque|epoch|utils)::")
_SCHEDULER_LIBRARY = re.compile(r"libtbb(\.|_debug)")
_NANO = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Concurrency:
    """What the threads of all processes with several do over time; times in seconds.

    At most `width` threads of a process work at once, for more than a moment. `charged[node]` is the time in which others could have worked
    while one was at the node; `capacity` the time that `width` threads have, `elapsed` that of the longest process, `nobody` the part of it in
    which no thread works. `busy[node]` is true where a thread works.
    """

    lanes: Sequence[Lane]
    width: int
    charged: FloatArray
    capacity: float
    elapsed: float
    nobody: float
    busy: BoolArray

    def together(self, chosen: BoolArray) -> tuple[float, FloatArray]:
        """For how long two threads or more are at work at the chosen nodes, each beyond the first counted, and how long each lane is."""
        each = [intervals.union(*spans(lane, chosen & self.busy)[0]) for lane in self.lanes]
        spent = np.array([intervals.length(one) for one in each], dtype=np.float64)
        return (float(spent.sum()) - intervals.length(intervals.union_of(*each))) * _NANO, spent * _NANO


def concurrency(facts: Facts) -> Concurrency | None:
    """What the threads do over time, if there are several and a trace in wall-clock time tells it."""
    time = facts.profile.time
    if time is None or time.clock != Clock.WALL or facts.thread_count < 2 or facts.spent(*_OTHERS):
        return None
    process, processes = facts.profile.where.process, dict[int, list[Lane]]()
    for lane in traced_lanes(facts):
        processes.setdefault(int(process[lane.location]), []).append(lane)
    if not processes:
        return None
    busy, locked = at_work(facts) & ~scheduling(facts), facts.activities.of(Activity.LOCK)
    charged, lanes, hot = np.zeros(len(busy)), [], facts.hot_place(np.where(busy, facts.time, 0.0))
    shared = busy & (facts.caller_label == hot.label) if hot is not None else np.zeros(len(busy), dtype=bool)
    width, capacity, elapsed, nobody = 0, 0.0, 0.0, 0.0
    for members in processes.values():
        found = _process(members, busy, locked, shared, cores(facts) or len(members))
        if found is None:
            continue
        charged += np.bincount(found.node, weights=found.held, minlength=len(charged))
        lanes += members
        capacity += found.width * found.elapsed
        if found.elapsed > elapsed:
            elapsed, nobody = found.elapsed, found.nobody
        width = max(width, found.width)
    charged[~facts.activities.of(*_WORK)] = 0.0
    return Concurrency(lanes, width, charged, capacity, elapsed, nobody, busy) if width else None


def at_work(facts: Facts) -> BoolArray:
    """True for the nodes at which a thread does not wait for something to do."""
    return ~facts.activities.of(*_IDLE)


def scheduling(facts: Facts) -> BoolArray:
    """True for the nodes of a library's scheduler of tasks itself."""
    tree = facts.profile.tree
    of_library = tree.where_module(lambda path: _SCHEDULER_LIBRARY.match(path.rsplit("/", 1)[-1]) is not None)
    by_name = tree.where_name(lambda name: _SCHEDULER.match(name) is not None)
    return np.asarray(by_name[np.maximum(tree.function, 0)] | of_library)


@dataclass(frozen=True, slots=True, eq=False)
class _Process:
    """The same of one process: for each stay of a thread at a node the time in which it held others up there."""

    node: IntArray
    held: FloatArray
    width: int
    elapsed: float
    nobody: float


def _process(
    lanes: Sequence[Lane], busy: BoolArray, locked: BoolArray, shared: BoolArray, most: int
) -> _Process | None:
    begins, ends, nodes, owners = [], [], [], []
    for number, lane in enumerate(lanes):
        start, node = lane.start.astype(np.int64), lane.node[:-1]
        # Who has no core would work.
        works = np.where(node >= 0, busy[node], node == WITHOUT_CORE) & (start[1:] > start[:-1])
        begins.append(start[:-1][works])
        ends.append(start[1:][works])
        nodes.append(node[works])
        owners.append(np.full(len(nodes[-1]), number))
    begin, end, node, owner = (np.concatenate(each) for each in (begins, ends, nodes, owners))
    if not len(begin):
        return None
    moments, index = np.unique(np.concatenate([begin, end]), return_inverse=True)
    first, last = index[: len(begin)], index[len(begin) :]
    runs = (node < 0) | ~locked[node]  # who waits for a lock is not idle, and holds nobody up

    def at_once(chosen: BoolArray) -> IntArray:
        change = np.bincount(first[chosen], minlength=len(moments)) - np.bincount(last[chosen], minlength=len(moments))
        return np.cumsum(change)[:-1].astype(np.int32)

    length, count, running = np.diff(moments) * _NANO, at_once(np.ones(len(begin), dtype=bool)), at_once(runs)
    width = _reached(count, length, cause("omp-load-imbalance").threshold("min_share"))
    if (
        width < 2
    ):  # whoever does ever so little of what takes most of the time, while another works, could do more of it
        little = common()["hardly_any"].value
        each = np.bincount(owner, weights=np.where((node >= 0) & shared[node], end - begin, 0), minlength=len(lanes))
        width = _reached(at_once((each >= max(little * each.max(), 1))[owner]), length, little)
    width = min(width, most)
    if width < 2:
        return None
    rate = np.where(running > 0, np.maximum(width - count, 0) / np.maximum(running, 1), 0.0)
    held = np.concatenate([[0.0], np.cumsum(rate * length)])
    known = runs & (node >= 0)
    return _Process(
        node[known],
        held[last[known]] - held[first[known]],
        width,
        float(length.sum()),
        float(length[running == 0].sum()),
    )


def _reached(count: IntArray, length: FloatArray, part: float) -> int:
    """The largest number that is reached for a part of the time."""
    spent = np.bincount(count, weights=length)
    return int(np.flatnonzero(np.cumsum(spent[::-1])[::-1] >= part * spent.sum()).max(initial=0))
