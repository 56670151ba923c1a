"""Where a series loses: the time of every place in parts that add up to the elapsed time, and what of it exceeds ideal scaling.

The worker (thread, or rank with one thread) that computes longest, w, is the one that the others wait for. At every place n

    computing(n) = mean over workers of the computing time        uneven(n) = computing of w − mean
    waiting(n)   = time of w in MPI, OpenMP's runtime, locks, …

These add up, over all places, to the time of w, which is how long the run takes. What a place loses from the smallest scale p to the
largest, q, is the scaling loss of Coarfa, Mellor-Crummey, Froyd and Dotsenko (ICS'07): for costs C of one worker

    weak:    X(n) = [C_q(n) − C_p(n)] / T_q                 strong:    X(n) = [C_q(n) − (p/q) C_p(n)] / T_q

and with the size m of the problem, as a departure from growth in proportion, X(n) = [C_m(n) − (m/k)^g C_k(n)] / T_m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chathpc.comparison.matching import Joint, Part, join, path_of, rebuilt
from chathpc.diagnosis.facts import readable_function
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.mpi import synchronises_all
from chathpc.profile.activity import ACTIVITY_WORDS, OPENMP, STARTERS, Activity
from chathpc.profile.names import in_words
from chathpc.profile.run import processors
from chathpc.profile.text import clean
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, is_one_of
from chathpc.scale import activities
from chathpc.scale.series import Kind, Point, Run, Series, data_growth, is_workers, short_name, typical_growth
from chathpc.scale.thresholds import threshold

#: What the function is called in which a program begins.
MAIN = frozenset({"main", "MAIN__", "<module>"})
#: A frame that a profiler could not name.
_UNNAMED = "[unknown]"
#: A thread waits for others to end if it does so for this part of the longest such wait: less may be any wait that nobody saw.
_WAITS = 0.05
#: At most so many causes are named.
_CAUSES = 6


class Loss(StrEnum):
    """What becomes of the time that is lost."""

    COMPUTING = "computing"
    UNEVEN = "uneven"
    WAITING = "waiting"
    GROWTH = "growth"  #: all three, where the size of the problem grows


@dataclass(frozen=True, slots=False, eq=False)
class Costs:
    """Costs of one worker in a series (runs × places), in the unit of the time; they add up to `elapsed` by run.

    By run: `workers` counts them; `told` is False where the profile does not show them one by one, and nothing is uneven there; `starved`
    says that threads had no core for a good part of the time; `period` is what a sample stands for, 0 where nothing was sampled;
    `rank_balance` the load balance between ranks alone. `kind` is what most of a place's time was spent on.
    """

    series: Series
    joint: Joint
    kind: NDArray[np.uint8]
    computing: FloatArray
    uneven: FloatArray
    waiting: FloatArray
    workers: FloatArray
    told: BoolArray
    starved: BoolArray
    period: FloatArray
    rank_balance: FloatArray

    @cached_property
    def whole(self) -> FloatArray:
        """All three parts (runs × places)."""
        return self.computing + self.uneven + self.waiting

    @cached_property
    def elapsed(self) -> FloatArray:
        """Time of the busiest worker, by run."""
        return np.asarray(self.whole.sum(axis=1))

    @cached_property
    def data(self) -> tuple[float, str]:
        """How the data grow with the size of the problem: see `data_growth`."""
        return data_growth(self.series)

    @property
    def is_told(self) -> bool:
        """True if all runs show their workers one by one."""
        return bool(self.told.all())

    @property
    def untold(self) -> str:
        """The profiles that do not show their workers one by one, by name where others do; else empty."""
        names = [short_name(self.series.runs[at].path) for at in np.flatnonzero(~self.told).tolist()]
        if not names or not (self.workers > 1).any():
            return ""
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def of(self, loss: Loss) -> FloatArray:
        """One of the three parts, or all."""
        return np.asarray(self.whole if loss == Loss.GROWTH else getattr(self, loss.value))

    def waiting_in(self, kinds: Sequence[Activity]) -> FloatArray:
        """Time that the busiest worker waits in such activities, by run."""
        return np.asarray(self.waiting[:, is_one_of(self.kind, kinds)].sum(axis=1))

    def mean(self, values: FloatArray, at: int = -1) -> FloatArray:
        """The mean of `values` (runs, or runs × …) over the repetitions at a scale, by default the largest."""
        return np.asarray(values[list(self.series.points[at].runs)].mean(axis=0))


def unjudged(costs: Costs) -> str:
    """In what the waiting of runs without cores does not count, in words: see `_left_out`; empty without such waiting."""
    runs = [run for run, starved in zip(costs.series.runs, costs.starved.tolist(), strict=True) if starved]
    teams = any(run.measured.threads > max(run.measured.ranks, 1) for run in runs)
    names = {
        "MPI": Activity.MPI in _left_out(costs.series) and any((run.kinds == Activity.MPI).any() for run in runs),
        "OpenMP": teams and is_one_of(costs.kind, OPENMP).any(),
    }
    return " and ".join(name for name, is_so in names.items() if is_so)


def _is_starved(run: Run) -> bool:
    lacked = run.measured.without_core or 0.0
    return lacked > threshold("starved") * (lacked + run.measured.total)


def _left_out(series: Series) -> tuple[Activity, ...]:
    """What does not count where threads had no core. Who waits at a barrier then waits for threads that had no core before: the machine's
    fault, not the program's. So do messages where some run had a processor for each thread, as other programs then had their cores, and
    who gives its core away meanwhile, as MPI's libraries do. In all runs alike: what counts at some scales alone would pass for growth.
    """
    starved = (run for run in series.runs if _is_starved(run))
    lent = any(run.measured.threads <= processors(run.profile) for run in starved)
    return (Activity.OMP_WAIT, Activity.OMP_OVERHEAD, *((Activity.MPI, Activity.BLOCKED) if lent else ()))


def costs_of(series: Series) -> Costs:
    """The costs of all places of the series' runs, laid on each other by the names on their paths."""
    measured = tuple(run.measured for run in series.runs)
    # Every function is common to all: what only one run has is so rare there that others did not see it, or is new at its scale.
    joint = _grafted(join((*measured, *measured), len(measured)))
    on_devices = any(run.on_devices for run in series.runs)
    if on_devices:
        joint = activities.with_idle(joint)
    size = len(joint.tree)
    weight = np.zeros((size, len(Activity)))
    for run, place in zip(series.runs, joint.place, strict=False):
        np.add.at(weight, (place, run.kinds), run.values)
    if on_devices:
        weight[-1, Activity.GPU] = 1.0
    left_out = _left_out(series)
    rows = [_of_run(run, place, size, left_out) for run, place in zip(series.runs, joint.place, strict=False)]
    columns = (np.array(column) for column in zip(*rows, strict=True))
    return Costs(series, joint, weight.argmax(axis=1).astype(np.uint8), *columns)


def elapsed_of(run: Run) -> float:
    """How long a run took, as a series of it alone tells."""
    alone = Series("", Kind.UNKNOWN, "", "", (Point(1.0, (0,)),), (run,), {})
    return float(costs_of(alone).elapsed[0])


def _of_run(
    run: Run, place: IntArray, size: int, left_out: Sequence[Activity]
) -> tuple[FloatArray | float | bool, ...]:
    """What Costs have of a run, from `computing` on."""
    kinds, starved = run.kinds, _is_starved(run)
    kept = ~is_one_of(kinds, (*activities.NEITHER, *(left_out if starved else ())))
    useful = _marked(place, activities.is_useful(kinds) & (run.values > 0), size)
    table = _in_slots(run, place, _by_worker(run, np.where(kept, place, -1).astype(np.int32), size), useful)
    computing = table[:, useful].sum(axis=1)
    mean, most = table.mean(axis=0), int(np.argmax(computing))
    return (
        np.where(useful, mean, 0.0),
        np.where(useful, table[most] - mean, 0.0),
        _charged(run, place, np.where(useful, 0.0, table), most),
        float(len(table)),
        len(table) > 1 or all(value <= 1 for name, value in run.parameters.items() if is_workers(name)),
        starved,
        run.measured.period,
        _rank_balance(run, computing),
    )


def _grafted(joint: Joint) -> Joint:
    """The same with what threads begin with put where the thread that started them has the same function: `sweep` of a team's other
    threads below `main`, as that of its first one, and what is left of a stack that was lost.
    """
    tree, size = joint.tree, len(joint.tree)
    keys = [(joint.name(node), int(joint.part[node])) for node in range(size)]
    names = np.array([name for name, _ in keys])
    weight = tree.inclusive(joint.own.sum(axis=0))
    starts = np.array([name in STARTERS or name == _UNNAMED or name.startswith("<") for name, _ in keys])
    for node in (0, *tree.children(0)):
        starts[node] |= node == 0 or "main" in names[node : tree.end[node]]
    # All above these only starts threads.
    top = ~tree.inside(_numbers(~starts))[np.maximum(tree.parent, 0)]
    lost = tree.inside(_numbers(names == _UNNAMED))
    whole = _numbers(~top | (np.isin(names, list(MAIN)) & ~lost)).tolist()
    heaviest = {keys[node]: node for node in sorted(whole, key=lambda node: (weight[node], -node))}
    moved = {
        node: target
        for node in _numbers(top & ~starts).tolist()
        if (target := heaviest.get(keys[node])) is not None and not node <= target < tree.end[node]
    }
    if not moved:
        return joint
    inside = tree.inside(np.array(list(moved), dtype=np.int32))
    number = np.full(size, -1, dtype=np.int32)
    known: dict[tuple[int, int, int], int] = {}
    for node in (*_numbers(~inside).tolist(), *_numbers(inside).tolist()):
        if node in moved and number[moved[node]] >= 0:
            number[node] = number[moved[node]]
            continue
        above = int(number[tree.parent[node]]) if node else -1
        number[node] = known.setdefault((above, int(tree.name[node]), int(joint.part[node])), len(known))
    parent, name, part = zip(*known, strict=True)
    return rebuilt(joint, parent, name, part, number.tolist())


def _numbers(chosen: BoolArray) -> IntArray:
    return np.flatnonzero(chosen).astype(np.int32)


def _by_worker(run: Run, group: IntArray, size: int) -> FloatArray:
    """Time of each place for each worker; one row where the profile does not tell them apart."""
    if run.on_devices:
        table = activities.costs_by_device(run.profile, group, size)
    elif run.on_threads:
        table = run.measured.facts.grouped(group, size)
    else:
        kept = group >= 0
        table = np.bincount(group[kept], weights=run.values[kept], minlength=size).astype(np.float64)[None, :]
    return table if len(table) else np.zeros((1, size))


def _marked(place: IntArray, nodes: BoolArray, size: int) -> BoolArray:
    """True for the places of some nodes."""
    found = np.zeros(size, dtype=np.bool_)
    found[place[nodes]] = True
    return found


def _in_slots(run: Run, place: IntArray, table: FloatArray, useful: BoolArray) -> FloatArray:
    """Rows of threads as those of the workers that were asked for, where there are more: a thread works on where another has ended, and where
    its starter waits for it. As they are where no trace tells when each was there.
    """
    count = int(run.parameters.get("threads", 0))
    if not run.on_threads or run.measured.ranks > 1 or not 0 < count < len(table):
        return table
    timeline = run.profile.read_timeline()
    lanes = [] if timeline is None else [lane for lane in timeline.lanes if len(lane.start)]
    spans = {lane.location: (int(lane.start[0]), int(lane.start[-1])) for lane in lanes}
    locations = run.measured.facts.locations.tolist()
    if not spans.keys() >= set(locations):
        return table
    joins = _marked(place, run.kinds == Activity.JOIN, table.shape[1])
    waits = table[:, joins].sum(axis=1)
    starts = waits > _WAITS * waits.max()
    ends, rows = list[int](), list[FloatArray]()
    for thread in sorted(range(len(table)), key=lambda thread: (bool(starts[thread]), spans[locations[thread]])):
        begin, end = spans[locations[thread]]
        after = [slot for slot in range(len(rows)) if ends[slot] <= begin]
        if after:
            rows[after[0]], ends[after[0]] = rows[after[0]] + table[thread], end
        elif starts[thread] and len(rows) >= count:
            rows[0] = rows[0] + np.where(useful, table[thread], 0.0)
        else:
            rows.append(table[thread])
            ends.append(end)
    return np.array(rows)


def _charged(run: Run, place: IntArray, waits: FloatArray, most: int) -> FloatArray:
    """The waiting of worker `most` (of workers × places), that for all ranks to come charged to the messages for which the last of them
    waited before: an indirect wait in the sense of D. Böhme et al., Identifying the root causes of wait states (ICPP'10).
    """
    own: FloatArray = waits[most].copy()
    if not run.on_threads or run.measured.ranks < 2:
        return own
    meets = _marked(place, synchronises_all(run.measured.facts), len(own))
    messages = _marked(place, run.kinds == Activity.MPI, len(own)) & ~meets
    before = waits[:, messages].sum(axis=1)
    last, waited = int(np.argmax(before)), float(own[meets].sum())
    moved = min(waited, float(before[last] - before[most]))
    if moved > 0:
        own[meets] *= 1 - moved / waited
        own[messages] += moved * waits[last, messages] / before[last]
    return own


def _rank_balance(run: Run, useful: FloatArray) -> float:
    """Load balance between ranks alone: mean of the ranks' computing over the largest; 1 without several ranks of several threads."""
    ranks = run.measured.facts.ranks if run.on_threads else np.empty(0, np.int32)
    if len(ranks) != len(useful) or run.measured.ranks < 2 or len(ranks) <= run.measured.ranks:
        return 1.0
    sums = np.bincount(np.unique(ranks, return_inverse=True)[1].reshape(-1), weights=useful)
    return float(sums.mean() / sums.max()) if sums.max() > 0 else 1.0


# -- loss ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """A place that loses: `node` of the joint tree and all below it.

    `share` is its part of the loss as a share of all workers' time at the largest scale, `seconds` the same for one worker, `error` one
    standard error of that; `cost` (by run) what it costs a worker there, where uneven the busiest. `general`: all computing has slowed down about as much.
    `repeated`: of computing that strong scaling should divide, what a worker's is at the largest scale of that at the smallest.
    """

    loss: Loss
    node: int
    share: float
    seconds: float
    error: float
    cost: FloatArray
    kind: Activity
    alone: bool = False
    general: bool = False
    repeated: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """What a series loses at its largest scale: as a share of all workers' time there, by place (inclusive), and the causes."""

    total: float
    by_place: FloatArray
    hot_path: tuple[int, ...]
    causes: tuple[Cause, ...]


def losses_of(costs: Costs) -> Losses:
    """The losses from the smallest to the largest scale. With the problem's size only places that grow faster than the program as
    a whole count, or, without any, faster than the data.
    """
    series = costs.series
    if costs.mean(costs.elapsed) <= 0 or (series.kind != Kind.PROBLEM_SIZE and not costs.is_told):
        return Losses(0.0, np.zeros(len(costs.joint.tree)), (), ())
    if series.kind != Kind.PROBLEM_SIZE:
        return _losses([_Excess(costs, loss) for loss in (Loss.COMPUTING, Loss.UNEVEN, Loss.WAITING)])
    first, last = costs.mean(costs.whole, 0), costs.mean(costs.whole)
    seen = first > 0
    ratio = series.values[-1] / series.values[0]
    data, _ = costs.data
    growth = max(data, typical_growth(first[seen], last[seen], ratio)) if seen.any() else data
    found = _losses([_Excess(costs, Loss.GROWTH, growth)])
    return found if found.causes or growth == data else _losses([_Excess(costs, Loss.GROWTH, data)])


def _losses(ways: Sequence[_Excess]) -> Losses:
    costs, last = ways[0].costs, ways[0].last
    by_place = np.asarray(sum(costs.joint.tree.inclusive(each.at()) for each in ways) / last, dtype=np.float64)
    causes = sorted((cause for each in ways for cause in _causes(each)), key=lambda cause: -cause.share)
    path = _way_down(costs, by_place) if by_place[0] > 0 else []
    return Losses(float(by_place[0]), by_place, tuple(path), tuple(causes[:_CAUSES]))


@dataclass(frozen=True, slots=True)
class _Excess:
    """What places cost in one way beyond the ideal at a scale, by default the largest; `growth` is the exponent of the problem's size."""

    costs: Costs
    loss: Loss
    growth: float = 1.0

    @property
    def last(self) -> float:
        """The elapsed time at the largest scale."""
        return float(self.costs.mean(self.costs.elapsed))

    def at(self, scale: int = -1) -> FloatArray:
        """By place, without those below it."""
        values = self.costs.of(self.loss)
        first, there = self.costs.mean(values, 0), self.costs.mean(values, scale)
        if self.costs.series.kind == Kind.UNKNOWN:
            # What a worker should compute is not known; the rest should stay the part of the time that it was.
            if self.loss == Loss.COMPUTING:
                return np.zeros(len(first))
            whole = self.costs.mean(self.costs.elapsed, scale) / self.costs.mean(self.costs.elapsed, 0)
            return there - first * whole
        return there - ideal_factor(self.costs, self.growth, scale) * first

    def error(self, inside: slice, scale: int = -1) -> float:
        """Its standard error over some places: between repetitions, but not less than that of counting samples."""
        values = self.costs.of(self.loss)[:, inside].sum(axis=1)
        computing = self.costs.computing[:, inside].sum(axis=1)
        variance = 0.0
        for at, factor in ((0, ideal_factor(self.costs, self.growth, scale)), (scale, 1.0)):
            runs = list(self.costs.series.points[at].runs)
            each = values[runs]
            between = float(each.var(ddof=1)) if len(runs) > 1 else 0.0
            over = self.costs.workers[runs] if self.loss == Loss.COMPUTING else np.ones(len(runs))
            level = computing[runs] if self.loss == Loss.UNEVEN else 0.0
            counted = float(np.mean(self.costs.period[runs] * np.maximum(np.abs(each) + level, 0.0) / over))
            variance += factor**2 * max(between, counted) / len(runs)
        return float(np.sqrt(variance))

    def certainty(self, inside: slice) -> float:
        """By how many standard errors some places exceed it, all scales beyond the smallest taken together (Stouffer's method)."""
        scales = range(1, len(self.costs.series.points))
        found = [float(self.at(at)[inside].sum()) / max(self.error(inside, at), 1e-300) for at in scales]
        return float(np.sum(np.clip(found, -10.0, 10.0)) / np.sqrt(len(found)))


def ideal_factor(costs: Costs, growth: float = 1.0, at: int = -1) -> float:
    """What one worker's cost at a scale (by default the largest) is of that at the smallest, ideally; `growth` is the exponent of the problem's size."""
    first, last = costs.series.points[0], costs.series.points[at]
    if costs.series.kind == Kind.STRONG:
        counts = [float(costs.mean(costs.workers, each)) for each in (0, at)]
        told = costs.is_told and counts[0] != counts[1]
        return counts[0] / counts[1] if told else first.value / last.value
    if costs.series.kind == Kind.PROBLEM_SIZE:
        return float((last.value / first.value) ** growth)
    return 1.0


def _way_down(costs: Costs, inclusive: FloatArray, *, whole_libraries: bool = False) -> list[int]:
    """From the root on to the child with most, as long as it has a good part of its parent's; of a library that computes, nearly all."""
    path = [0]
    while children := costs.joint.tree.children(path[-1]):
        best = max(children, key=lambda child: inclusive[child])
        library = costs.joint.part[best] != Part.FUNCTION and bool(activities.is_useful(costs.kind[best]))
        least = threshold("same_place" if whole_libraries and library else "min_step")
        if inclusive[best] <= 0 or inclusive[best] < least * max(inclusive[path[-1]], 1e-300):
            break
        path.append(best)
    return path


def _causes(way: _Excess) -> list[Cause]:
    """The places that lose most in one way, none inside another."""
    tree = way.costs.joint.tree
    left, found = way.at(), list[Cause]()
    for _ in range(_CAUSES):
        inclusive = tree.inclusive(left)
        # A library that computes for a function is part of it. Where the way ends at no function, the place with most of its own stands.
        end = _way_down(way.costs, inclusive, whole_libraries=True)[-1]
        if end == 0 or way.costs.joint.name(end) == _UNNAMED:
            end = int(np.argmax(left))
        node = standing(way.costs, end)
        value = float(inclusive[node])
        if value < threshold("min_loss") * way.last:
            break
        inside = slice(node, int(tree.end[node]))
        cause = _cause(way, node, value)
        sure = way.certainty(inside) > threshold("sigma")
        if cause is not None and sure and not (cause.general and any(each.general for each in found)):
            found.append(cause)
        left[inside] = 0.0
    return found


def _cause(way: _Excess, node: int, seconds: float) -> Cause | None:
    costs, loss = way.costs, way.loss
    inside = slice(node, int(costs.joint.tree.end[node]))
    values = costs.of(loss)[:, inside]
    weight = np.maximum(costs.mean(values), 0.0)
    kind = Activity(int(np.bincount(costs.kind[inside], weights=weight).argmax()))
    general = loss == Loss.COMPUTING and is_workers(costs.series.parameter) and _is_general(costs, inside)
    if general and _Excess(costs, Loss.COMPUTING).at().sum() < (1 - threshold("scales_well")) * way.last:
        return None
    cost = (costs.whole[:, inside] if loss == Loss.UNEVEN else values).sum(axis=1)
    divided = loss == Loss.COMPUTING and costs.series.kind == Kind.STRONG
    first, last = (float(costs.mean(cost, at)) for at in (0, -1))
    return Cause(
        loss,
        node,
        seconds / way.last,
        seconds,
        way.error(inside),
        cost,
        kind,
        alone=loss == Loss.UNEVEN and _is_alone(costs, inside),
        general=general,
        repeated=last / first if divided and first else 0.0,
    )


def _is_alone(costs: Costs, inside: slice) -> bool:
    """True if the busiest worker alone, along threads one of each rank, does the work of some places at the largest scale."""
    mean, uneven = (float(costs.mean(table[:, inside].sum(axis=1))) for table in (costs.computing, costs.uneven))
    count, few = float(costs.mean(costs.workers)), 1
    if costs.series.parameter == "threads":
        few = max(costs.series.largest.measured.ranks, 1)
    others = (mean * count - few * (mean + uneven)) / max(count - few, 1)
    return others < threshold("one_worker") * (mean + uneven)


def _is_general(costs: Costs, inside: slice) -> bool:
    """True if the rest of the program computes about as much longer than it should."""
    factor = ideal_factor(costs)
    first, last = (costs.mean(costs.computing, at) for at in (0, -1))
    here = last[inside].sum() / max(factor * first[inside].sum(), 1e-300)
    rest = (last.sum() - last[inside].sum()) / max(factor * (first.sum() - first[inside].sum()), 1e-300)
    # Where there is hardly a rest, nothing tells a function from the machine.
    small = first.sum() - first[inside].sum() < threshold("min_loss") * first.sum()
    return bool(here < 1 / threshold("scales_well") and small) or bool(not small and here - 1 < 2 * (rest - 1))


def standing(costs: Costs, node: int) -> int:
    """The function that stands for a place: callers whose time is nearly all there, up to the program's main function."""
    tree, joint = costs.joint.tree, costs.joint
    if joint.part[node] != Part.FUNCTION or costs.series.runs[0].on_devices:
        return node
    whole = tree.inclusive(costs.mean(costs.whole))
    while True:
        above = int(tree.parent[node])
        if above <= 0 or int(tree.parent[above]) <= 0 or joint.name(above) in {*MAIN, _UNNAMED}:
            return node
        if whole[node] < threshold("same_place") * whole[above]:
            return node
        node = above


# -- places ----------------------------------------------------------------------------------------------------


def name_of(costs: Costs, node: int) -> str:
    """What a reader calls a place, safe to show: its function, or the call in its function."""
    joint = costs.joint
    if node == 0:
        return "the whole program"
    if joint.name(node) == _UNNAMED and joint.part[node] != Part.FUNCTION:
        return name_of(costs, int(joint.tree.parent[node]))
    # The kernel's name for it tells a reader nothing.
    faults = costs.kind[node] == Activity.PAGE_FAULT
    name = ACTIVITY_WORDS[Activity.PAGE_FAULT] if faults else clean(readable_function(in_words(joint.name(node))))
    if joint.part[node] in (Part.CALL, Part.LONE):
        above = int(joint.tree.parent[node])
        return f"{name} in {clean(readable_function(joint.name(above)))}" if above > 0 else name
    return name


def path_names(costs: Costs, node: int) -> list[str]:
    """Names from the entry point down to a place, safe to show, what starts programs left out."""
    return [clean(readable_function(name)) for name in path_of(costs.joint, node) if name not in STARTERS]


def place_of(costs: Costs, node: int) -> Place:
    """File and line of a place, as the largest run shows it."""
    at, run, tree = costs.series.points[-1].runs[0], costs.series.largest, costs.joint.tree
    if not (run.on_threads or run.on_devices):
        return Place()
    inside = (costs.joint.place[at] >= node) & (costs.joint.place[at] < int(tree.end[node]))
    found = run.measured.facts.hot_place(np.where(inside, run.values, 0.0))
    return Place() if found is None else found.place
