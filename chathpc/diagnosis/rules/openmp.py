"""OpenMP: why threads wait.

The time that threads wait in the runtime is accounted for by sums that can be computed from the times of the threads: while one thread
runs serial code, the others wait (serial code × (threads − 1)); at the end of a region all wait for the busiest (Σ over regions of
busiest − each); while a thread that could run has no core, the others may wait for it; and what even the busiest thread waits besides
is the price of synchronising at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.cores import beside_others, cores, crowd, doubt, of_others, without_core, without_core_in
from chathpc.diagnosis.draft import (
    Draft,
    Spread,
    fact,
    part_of,
    spread_parts,
    time_fact,
    time_unit,
)
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.called import called_draft, called_time
from chathpc.diagnosis.sampled_lanes import spans, traced_lanes
from chathpc.diagnosis.source.languages import is_python
from chathpc.diagnosis.statistics import largest_first
from chathpc.profile import intervals, numbers
from chathpc.profile.activity import (
    DIRECTIVE,
    OMP_WAITING,
    OPENMP,
    STARTERS,
    THREAD_STARTERS,
    Activity,
    activity_of_module,
    base_name,
    is_outlined,
)
from chathpc.profile.intervals import Intervals
from chathpc.profile.source_text import no_source
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, NodeKind, is_one_of

_NANO = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Team:
    """Times of the threads of all processes with at least two OpenMP threads; one row per thread.

    `work[t, r]` is the time of thread t inside region r; `serial[t]` its computing outside regions, and inside in what one thread does
    alone; `wait[t]` its waiting; `coreless[t, r]` the time beside `work` in which it could work and had no core, as far as it was measured, and
    in the last column that beside `serial`.
    `process[t]` numbers the processes. `alone[i]` is the line at or above node i that one thread runs alone in a region (a node), or −1.
    """

    work: FloatArray
    serial: FloatArray
    wait: FloatArray
    coreless: FloatArray
    process: IntArray
    regions: tuple[str, ...]  #: readable names of the functions that hold the regions
    region_names: IntArray  #: name ids of the outlined functions
    region_of_node: IntArray
    alone: IntArray

    @property
    def spread(self) -> Spread:
        """The threads, compared within their processes."""
        return Spread(len(self.process), "threads", groups=len(np.unique(self.process)))

    @property
    def imbalance(self) -> FloatArray:
        """Per region, what the other threads lack to the busiest thread, summed over processes. Who could work and had no core lacks nothing:
        where threads share a core, one does what the other does not.
        """
        wanted = self.work + self.coreless[:, :-1]
        return np.array(
            [min(_lack(work, self.process) for work in each) for each in zip(self.work.T, wanted.T, strict=True)]
        )

    @property
    def serial_cost(self) -> float:
        """What the other threads can do nothing in: the serial time of each process × (its threads − 1)."""
        return of_others(self.serial, self.process)

    @property
    def delay(self) -> float:
        """What the others wait for those that had to do without a core longest, however they work together: what their work differs more
        by where that time counts, too.
        """
        busy = self.work.sum(axis=1) + self.serial
        return max(_lack(busy + self.coreless.sum(axis=1), self.process) - _lack(busy, self.process), 0.0)

    @property
    def common_wait(self) -> float:
        """What even the thread that waits least waits, times the number of threads."""
        cost = 0.0
        for process in np.unique(self.process):
            members = self.process == process
            cost += float(self.wait[members].min() * members.sum())
        return cost


def _lack(spent: FloatArray, process: IntArray) -> float:
    """What the threads spend less than the busiest of their process, in all."""
    most = np.zeros(int(process.max()) + 1)
    np.maximum.at(most, process, spent)
    return float((most[process] - spent).sum())


def team(facts: Facts) -> Team | None:
    """The OpenMP threads of the program; None if fewer than two threads of a process take part in it."""
    if facts.share(*OPENMP) == 0:
        return None
    tree = facts.profile.tree
    outlined = tree.where_name(is_outlined)
    tasks = tree.where_name(lambda name: name.startswith(("<omp impl", "<omp expl")))
    # A region's time is everything below the body that the compiler made of it, up to the body of a region inside it. Where
    # the body has no function of its own, the placeholder of the implicit task stands for it.
    marks = outlined & is_one_of(tree.kind, (NodeKind.FUNCTION, NodeKind.INLINED))
    marks |= facts.activities.called_by_openmp(tree)
    covered = tree.inside(np.flatnonzero(marks).astype(np.int32))
    has_body = np.bincount(np.maximum(tree.nearest(tasks), 0)[marks], minlength=len(tree)) > 0
    marks |= tasks & ~covered & ~has_body
    # Instrumentation names the region itself.
    directives = tree.where_name(lambda name: name.startswith(f"{DIRECTIVE}parallel"))
    marks |= directives & (tree.kind == NodeKind.REGION)
    if not marks.any():
        return None
    region_node = tree.nearest(marks)
    inside = region_node >= 0
    names, numbered = np.unique(tree.name[region_node[inside]], return_inverse=True)
    count = len(names)
    region = np.full(len(tree), -1, dtype=np.int32)
    region[inside] = numbered
    alone = _alone(facts, region)
    alone = np.where(alone >= 0, alone, _one_at_a_time(facts, region))
    region[alone >= 0] = -1
    inside = region >= 0
    kind = facts.activities.kind
    waiting = is_one_of(kind, OPENMP)
    idle = waiting | is_one_of(
        kind, (Activity.SLEEP, Activity.BLOCKED, Activity.JOIN, Activity.MPI, Activity.MPI_SETUP, Activity.HELPER)
    )
    # Columns: one per region, then serial code, then waiting.
    group = np.where(inside, region, count)
    group = np.where(waiting, count + 1, np.where(idle, -1, group)).astype(np.int32)
    times = _with_lost(facts, facts.grouped(group, count + 2), group == count)
    active = (times[:, :count].sum(axis=1) > 0) | (times[:, count + 1] > 0)
    coreless = without_core_in(facts, np.where(group <= count, group, -1).astype(np.int32), count + 1)[active]
    times = times[active]
    process = facts.processes[active]
    sizes = np.bincount(process)
    threaded = sizes[process] >= 2
    if not threaded.any():
        return None
    return Team(
        work=times[threaded, :count],
        serial=times[threaded, count],
        wait=times[threaded, count + 1],
        coreless=coreless[threaded],
        process=process[threaded],
        regions=tuple(_holder(facts, int(name)) for name in names),
        region_names=names.astype(np.int32),
        region_of_node=region,
        alone=alone,
    )


def _with_lost(facts: Facts, times: FloatArray, serial: BoolArray) -> FloatArray:
    """`times` (by region, serial code, waiting) with what threads of a team have in stacks that were lost: such a thread runs regions and
    nothing else, so that it counts for the one that it runs most.
    """
    tree = facts.profile.tree
    begun, main = (
        tree.inside(np.flatnonzero(tree.named(*names)).astype(np.int32))
        for names in (THREAD_STARTERS, STARTERS - THREAD_STARTERS)
    )
    lost, as_member, as_first = (
        facts.grouped(np.where(nodes, 0, -1).astype(np.int32), 1)[:, 0]
        for nodes in (serial & ~begun & ~main, begun, main)
    )
    moved = np.where((as_member > 0) & (as_first == 0) & (times[:, :-2].sum(axis=1) > 0), lost, 0.0)
    found = times.copy()
    found[np.arange(len(times)), times[:, :-2].argmax(axis=1)] += moved
    found[:, -2] -= moved
    return found


def _alone(facts: Facts, region: IntArray) -> IntArray:
    """The line at or above each node that one thread runs alone in its region, by the source (single, master, masked), else −1."""
    tree = facts.profile.tree
    if facts.profile.read_source is no_source:
        return np.full(len(tree), -1, dtype=np.int32)
    from chathpc.diagnosis.source.hot import LEAST, Hot
    from chathpc.diagnosis.source.parallel import is_alone

    hot = Hot(facts)
    nodes = np.flatnonzero((region >= 0) & (tree.kind == NodeKind.LINE) & (tree.file >= 0) & (facts.inclusive > 0))
    lines, number = np.unique(tree.lines[nodes], return_inverse=True)
    large = np.bincount(number, weights=facts.inclusive[nodes], minlength=len(lines)) >= LEAST * facts.total
    for at in np.flatnonzero(large).tolist():
        line = int(lines[at]) & 0xFFFFFFFF
        held = hot.at(int(lines[at]) >> 32, line)
        large[at] = held is not None and is_alone(held[1], line)
    chosen = np.zeros(len(tree), dtype=bool)
    chosen[nodes[large[number]]] = True
    return tree.nearest(chosen)


def _one_at_a_time(facts: Facts, region: IntArray) -> IntArray:
    """The line with most of the time of each region in which, by a trace, now one thread works and now another, but hardly ever two: at
    each node of such a region, else −1. Threads that queue for a lock there do so for another reason.
    """
    tree, process, entry = facts.profile.tree, facts.profile.where.process, cause("omp-serial-fraction")
    found, lanes = np.full(len(tree), -1, dtype=np.int32), traced_lanes(facts)
    locked = facts.of(Activity.OMP_LOCK)
    working = ~facts.activities.of(*OPENMP, Activity.SLEEP, Activity.BLOCKED, Activity.JOIN)
    for number in range(int(region.max(initial=-1)) + 1 if lanes else 0):
        inside = region == number
        spent = float(facts.time[inside & working].sum())
        if (
            not facts.above(spent / facts.total, entry.threshold("min_share"))
            or locked[inside].sum() > entry.threshold("max_overlap") * spent
        ):
            continue
        by_process: dict[int, list[Intervals]] = {}
        for lane in lanes:
            working_there = intervals.union(*spans(lane, inside & working)[0])
            by_process.setdefault(int(process[lane.location]), []).append(working_there)
        lengths = [[intervals.length(one) for one in threads] for threads in by_process.values()]
        seen = sum(map(sum, lengths))
        overlap = seen - sum(intervals.length(intervals.union_of(*threads)) for threads in by_process.values())
        beside = seen - sum(map(max, lengths))  # what could overlap
        # Threads that share a core cannot work at a time, and would.
        overlap += int(without_core(facts, inside & working).sum() / _NANO)
        known = (
            seen * _NANO >= common()["most"].value * spent
        )  # contexts of a trace may be coarser than those of the profile
        part = entry.threshold("max_overlap")
        if known and beside >= part * seen and overlap <= part * beside:
            lines = np.flatnonzero(inside & (tree.kind == NodeKind.LINE))
            if len(lines):
                found[inside] = lines[np.argmax(facts.inclusive[lines])]
    return found


def _holder(facts: Facts, name: int) -> str:
    """The function that holds the regions with a name; of a region that instrumentation named the function around it."""
    tree = facts.profile.tree
    if not tree.names[name].startswith(DIRECTIVE):
        return facts.readable(tree.names[name])
    caller = int(facts.activities.caller[np.flatnonzero(tree.name == name)[0]])
    return facts.readable(tree.function_name(caller) if caller >= 0 else tree.names[name])


def _region_place(facts: Facts, threads: Team, region: int) -> Place:
    """The loop of a region that is shared among the threads: the outermost one of its function with most of the time."""
    tree = facts.profile.tree
    members = threads.region_of_node == region
    owner_name = tree.name[np.maximum(tree.function, 0)]
    own = np.flatnonzero(members & (owner_name == threads.region_names[region]) & (tree.kind == NodeKind.LOOP))
    loops = [node for node in own.tolist() if facts.innermost_loop(int(tree.parent[node])) < 0]
    if loops:
        loop = max(loops, key=lambda node: float(facts.inclusive[node]))
        return facts.place(int(tree.function[loop]), line_node=loop)
    # Without loops the line of the region itself that holds most of the time, though a function that it calls may compute it.
    lines = np.flatnonzero(members & (owner_name == threads.region_names[region]) & (tree.kind == NodeKind.LINE))
    if len(lines):
        line = int(lines[np.argmax(facts.inclusive[lines])])
        return facts.place(int(tree.function[line]), line_node=line)
    hot = facts.hot_place(np.where(members, facts.time, 0.0))
    return Place() if hot is None else hot.place


def waiting(facts: Facts) -> Iterable[Draft]:
    """Explain OpenMP waiting by imbalance, serial code, or the price of synchronising."""
    waited = facts.spent(*OMP_WAITING)
    smallest = min(cause(name).threshold("min_share") for name in ("omp-load-imbalance", "omp-serial-fraction"))
    if not facts.above(waited / facts.total, smallest):
        return
    threads, place = team(facts), facts.hot_place(facts.of(*OMP_WAITING))
    if threads is None or (place is not None and is_python(place.place.file or "")):  # those of a library beneath
        return
    imbalance = threads.imbalance
    # A thread that is the busiest in one region waits in others: what unequal work and serial code explain comes first, and
    # only what is left of the waiting can be the price of synchronising.
    explained = float(imbalance.sum()) + threads.serial_cost
    scale = min(1.0, waited / explained) if explained > 0 else 0.0
    # Who has no core while it waits itself holds nobody up.
    beside = min(beside_others(facts, *OMP_WAITING), of_others(threads.coreless.sum(axis=1), threads.process))
    for_a_core = min(max(beside, threads.delay), max(waited - explained, 0.0))
    waited -= for_a_core
    common = min(threads.common_wait, max(waited - explained, 0.0))
    # Who is late by turns, for want of a core, makes all wait about equally.
    by_turns = of_others(threads.coreless.sum(axis=1), threads.process) - for_a_core
    drafts = [
        *_imbalance(facts, threads, waited, imbalance, scale),
        *_serial(facts, threads, waited, scale),
        *_synchronisation(facts, threads, waited, common, by_turns),
    ]
    against = doubt(facts)
    for draft in drafts:
        yield replace(draft, against=(*draft.against, *against), removable=draft.cost / (facts.total - for_a_core))


def _waited(facts: Facts, waited: float) -> Fact:
    """All waiting, of which `waited` is to be explained; threads that had no core account for the rest."""
    spent = facts.spent(*OMP_WAITING)
    return time_fact(
        facts,
        spent,
        "waiting in the OpenMP runtime",
        "sum over waiting and runtime frames of all threads",
        parts=[Part("of it for threads that had no core", spent - waited, time_unit(facts))] if waited < spent else (),
    )


def _imbalance(facts: Facts, threads: Team, waited: float, imbalance: FloatArray, scale: float) -> Iterable[Draft]:
    entry = cause("omp-load-imbalance")
    region = int(np.argmax(imbalance))
    cost = float(imbalance[region]) * scale
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")) or cost < entry.threshold("min_explained") * waited:
        return
    work = threads.work[:, region]
    function = threads.regions[region]
    place = _region_place(facts, threads, region)
    busiest, mean = float(work.max()), float(work.mean())
    where_name = place.function or function
    evidence = (
        _waited(facts, waited),
        fact(
            facts,
            Kind.SPREAD,
            busiest,
            subject=f"the work of a thread in {where_name}",
            whole=Quantity(len(work), "threads"),
            parts=spread_parts(facts, work),
            how="time of each thread inside the region, threads without time counted as 0",
            where=place,
        ),
        time_fact(
            facts,
            cost,
            f"waiting for the busiest thread in {where_name}",
            "sum over threads of (busiest − thread)",
            of=part_of(facts, waited, "waiting"),
            where=place,
            error=0.0,
        ),
    )
    against = []
    even = entry.threshold("even_ratio")
    if busiest < even * mean:
        against.append(f"The busiest thread is less than {numbers.percent(even - 1)} above the mean.")
    yield Draft(
        cause="omp-load-imbalance",
        where=place,
        summary=f"The iterations of {where_name} are unevenly distributed: the busiest of {len(work)} threads has "
        f"{numbers.number(busiest / mean if mean else 1.0)} times the mean work while the others wait.",
        cost=cost,
        share=share,
        evidence=evidence,
        signs=3 if cost > common()["most"].value * waited else 2,
        against=tuple(against),
        spread=threads.spread,
    )


def _serial(facts: Facts, threads: Team, waited: float, scale: float) -> Iterable[Draft]:
    entry = cause("omp-serial-fraction")
    cost = threads.serial_cost * scale
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")) or cost < entry.threshold("min_explained") * waited:
        return
    serial_nodes = (threads.region_of_node < 0) & ~facts.activities.of(*OPENMP, Activity.MPI, Activity.MPI_SETUP)
    weight = np.where(serial_nodes, facts.time, 0.0)
    in_regions = np.where(threads.alone >= 0, weight, 0.0)
    hot = facts.hot_place(weight)
    if hot is None:
        return
    place, in_function = _called_outside(facts, threads, weight, hot.node) or (hot.place, hot.weight)
    where = "outside parallel regions"
    serial = float(threads.serial.sum())
    if in_regions.sum() > common()["most"].value * weight.sum():
        # What the region's function hands to one thread, whatever function does it.
        sums = np.bincount(threads.alone[in_regions > 0], weights=in_regions[in_regions > 0])
        line = int(np.argmax(sums))
        mine = facts.at_line(line)[np.maximum(threads.alone, 0)] & (threads.alone >= 0)
        place = facts.place(int(facts.profile.tree.function[line]), line_node=line)
        in_function, where = float(in_regions[mine].sum()), "in a parallel region"
    others = int(np.bincount(threads.process).max()) - 1
    evidence = (
        _waited(facts, waited),
        time_fact(
            facts,
            serial,
            "serial code "
            + ("outside parallel regions" if not in_regions.any() else "outside and inside parallel regions"),
            "time of the threads of regions, outside regions and in code that the source gives to one thread, or that a trace shows on one at a time",
        ),
        time_fact(
            facts,
            in_function,
            f"{place.function} {where}",
            "time there in this function and all that it calls",
            form=Form.NAME,
            where=place,
        ),
    )
    inside = f", at {place.short}, though {where}," if where.startswith("in ") else ""
    yield Draft(
        cause="omp-serial-fraction",
        where=place,
        summary=f"{place.function}{inside} runs on one thread while {others} other{'s wait' if others > 1 else ' waits'}.",
        cost=cost,
        share=share,
        evidence=evidence,
        signs=2 if in_function > common()["most"].value * serial else 1,
    )


def _called_outside(facts: Facts, threads: Team, weight: FloatArray, node: int) -> tuple[Place, float] | None:
    """The line, in a loop as far as there is source, by which the serial part calls what runs mostly in regions, such as the function at the
    node, and the time outside regions of the function that has the line; None where that at the node is serial itself.
    """
    tree, region, found = facts.profile.tree, threads.region_of_node, None
    label, serial, line = tree.function_labels[0], tree.inclusive(weight), -1
    while (function := int(tree.function[node]) if node >= 0 else -1) >= 0:
        same = tree.outermost(np.flatnonzero(label == label[function]).astype(np.int32))
        outside, called = same[region[same] < 0], same[(region[same] >= 0) & (region[tree.parent[same]] >= 0)]
        alone = float(serial[outside].sum())
        if alone >= facts.inclusive[called].sum():
            if line < 0:
                return None
            found = found or (facts.place(function, line_node=line), alone)
            if _loops(facts, line):
                return facts.place(function, line_node=line), alone
        line = node = int(tree.parent[function])
    return found


def _loops(facts: Facts, line: int) -> bool:
    """True for a line in a loop of its function, as the source shows, and for any line where there is no source."""
    if facts.profile.read_source is no_source:
        return True
    from chathpc.diagnosis.source.hot import Hot

    number = int(facts.profile.tree.line[line])
    held = Hot(facts).at(int(facts.profile.tree.file[line]), number)
    return held is not None and held[1].innermost(number) is not None


def _synchronisation(facts: Facts, threads: Team, waited: float, common: float, by_turns: float) -> Iterable[Draft]:
    work = float(threads.work.sum())
    useful = work / (work + waited) if work + waited else 0.0
    entries = too_small(facts, threads, waited)
    is_fine = entries is not None
    entry = cause("omp-fine-grained-regions" if is_fine else "omp-barrier-wait")
    if not is_fine:
        common = min(common, max(waited - by_turns, 0.0))
    share = common / facts.total
    if not facts.above(share, entry.threshold("min_share")) or common < entry.threshold("min_explained") * waited:
        return
    if (
        facts.spent(Activity.OMP_LOCK) > common
    ):  # threads that queue for a lock reach the barrier late: one cause, not two
        return
    inside = threads.region_of_node >= 0
    hot = facts.hot_place(facts.of(*OMP_WAITING)) or facts.hot_place(np.where(inside, facts.time, 0.0))
    place = Place() if hot is None else hot.place
    least = min(float(threads.wait[threads.process == p].min()) for p in np.unique(threads.process))
    regions = len(threads.regions)
    evidence = [
        _waited(facts, waited),
        fact(
            facts,
            Kind.AMOUNT,
            least,
            subject="waiting of the thread that waits least",
            how="minimum over threads of the time in the runtime",
        ),
        time_fact(
            facts,
            work,
            "work in parallel regions",
            "time below outlined region functions",
            of=part_of(facts, work + waited, "working and waiting"),
            parts=(Part("", regions, "parallel regions"),),
        ),
        *([entries] if entries is not None else []),
    ]
    summary = (
        f"The parallel regions are too small: of the time in regions and waiting only {numbers.percent(useful)} is work."
        if is_fine
        else "All threads spend much of their time at barriers, about equally: synchronisation is too frequent for the work between."
    )
    yield Draft(
        cause=entry.id,
        where=place,
        summary=summary,
        cost=common,
        share=share,
        evidence=tuple(evidence),
        signs=2 if is_fine else 1,
        spread=threads.spread,
    )


#: In it a thread of OpenBLAS gives work to the others and then looks in a loop whether they are ready (driver/others/blas_server.c).
_SPINS = "exec_blas"
_LISTED = 3
_FEWER = (
    "Give the libraries fewer threads where a call has little work: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1, or "
    "`with threadpoolctl.threadpool_limits(1):` around these calls.",
    "Do more in each call (larger arrays, several vectors at once), so that dividing it among threads is worth it.",
)
_WITH_ONE = (
    "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 chathpc measure -- ./app (If the calls take no longer, their threads only waited "
    "for each other.)"
)


def of_libraries(facts: Facts) -> Iterable[Draft]:
    """Threads that libraries start beneath lines of Python, and that wait for each other: the program chooses no more than their number."""
    entry, tree, site = cause("omp-fine-grained-regions"), facts.profile.tree, facts.activities.site
    if not any(map(is_python, tree.files)):
        return
    spins = tree.where_name(lambda name: base_name(name) == _SPINS)[np.maximum(tree.function, 0)]
    runtime = tree.where_module(
        lambda path: activity_of_module(path) in OMP_WAITING
    )  # what it calls in libraries is work
    weight = np.where((facts.activities.of(*OMP_WAITING) & runtime) | spins, facts.time, 0.0)
    hot = facts.hot_place(weight)
    if (
        hot is None
        or not is_python(hot.place.file or "")
        or not facts.above(hot.weight / facts.total, entry.threshold("min_share"))
    ):
        return
    mine = facts.in_function(hot.label, weight)
    nodes = np.flatnonzero(mine)
    places = (facts.place(hot.node, line_node=at).short for at in site[nodes].tolist())
    lines = largest_first(places, mine[nodes].tolist())[:_LISTED]
    yield Draft(
        cause=entry.id,
        where=hot.place,
        title="Threads of a library with too little work",
        summary=f"Threads of the libraries that {hot.place.function} calls wait for each other: {numbers.percent(hot.weight / facts.total)} of the "
        "thread time.",
        cost=hot.weight,
        share=hot.weight / facts.total,
        removable=0.0,  # one thread alone has all the work
        evidence=(
            time_fact(
                facts,
                hot.weight,
                f"waiting of library threads in calls from {hot.place.function}",
                "time in OpenMP runtimes and in OpenBLAS's own wait, by calling line",
                parts=[Part(place, spent, time_unit(facts)) for place, spent in lines],
                where=hot.place,
            ),
        ),
        signs=1,
        against=doubt(facts),
        advice=_FEWER,
        own_advice=True,
        next_measurement=_WITH_ONE,
    )


def too_small(facts: Facts, threads: Team, waited: float) -> Fact | None:
    """That regions have less work than threads wait, and are entered very often: by the number of their entries, by how often threads were
    switched off while they waited, or by a trace; None where nothing shows it. Where threads share a core, it is the work of all of them
    that counts.
    """
    entry, tree = cause("omp-fine-grained-regions"), facts.profile.tree
    work = float(threads.work.sum())
    spent = work + waited
    on_a_core = max(crowd(facts) / cores(facts), 1.0) if cores(facts) else 1.0
    if not spent or work / spent * on_a_core >= entry.threshold("max_useful_share"):
        return None
    regions = threads.region_of_node >= 0
    regions &= tree.where_name(lambda name: is_outlined(name) or name.startswith(f"{DIRECTIVE}parallel"))
    for metric, nodes, counted in (
        (_CALLS, regions, "entries of a thread"),
        (_SWITCHES, facts.activities.of(*OMP_WAITING), "times that a thread left its core while it waited"),
    ):
        count = float(facts.profile.dense(metric)[nodes].sum()) if metric in facts.profile.metrics else 0.0
        if facts.in_seconds and 0 < spent / max(count, 1.0) <= entry.threshold("max_seconds_per_entry"):
            return fact(
                facts,
                Kind.MEAN,
                spent / count,
                subject="working in a parallel region and waiting for the next one",
                unit="s",
                whole=Quantity(count, counted),
                how=f"time in regions and waiting / number of {counted}",
            )
        if metric == _CALLS and count:
            return None
    changes, expected = _changes(facts)
    if changes < entry.threshold("min_changes") or changes < entry.threshold("min_changes_ratio") * expected:
        return None
    return fact(
        facts,
        Kind.COMPARISON,
        changes / expected,
        subject="the number of changes from work to waiting in the trace",
        unit="times",
        whole=Quantity(of="what it would be if each sample fell into a different region"),
        parts=(Part("", changes, "changes"),),
        how="changes from one sample to the next / n p (1 − p) for a share p of waiting in n samples (Wald and Wolfowitz, 1940)",
    )


_CALLS, _SWITCHES = "calls.count", "cpu.context-switches"


def _changes(facts: Facts) -> tuple[int, float]:
    """How often samples of work are followed by waiting in the trace, and how often that is expected of samples in no order."""
    changes, expected = 0, 0.0
    waits = facts.activities.of(*OPENMP)
    for lane in traced_lanes(facts):
        node = lane.node[:-1]
        waiting = waits[node[node >= 0]]
        changes += int((waiting[1:] & ~waiting[:-1]).sum())
        expected += float(waiting.sum() * (~waiting).sum() / max(len(waiting), 1))
    return changes, expected


def critical(facts: Facts) -> Iterable[Draft]:
    """Threads that queue at a critical section, an atomic lock or an OpenMP lock."""
    time = called_time(facts, cause("omp-critical-contention"), facts.of(Activity.OMP_LOCK))
    if time is None:
        return
    threads, hot, locks = (facts.matrix[:, Activity.OMP_LOCK] > 0).sum(), time.hot, "critical sections or locks"
    draft = called_draft(
        facts,
        time,
        f"Threads contend for the critical section in {time.caller}",
        subject=locks,
        how="time in lock functions of the OpenMP runtime",
        by="time in lock functions by calling function",
        signs=2 if threads > 1 else 1,
        of="the thread time",
    )
    spent, calls = draft.evidence
    spent = replace(spent, subject=f"entering and leaving {locks}", parts=(Part("", int(threads), "threads"),))
    of, how = part_of(facts, time.cost, locks), "time in lock functions by calling line"
    at_line = time_fact(facts, hot.at_line, hot.place.short, how, of=of, form=Form.NAME, where=hot.place)
    yield replace(draft, evidence=(spent, calls, *([at_line] if hot.line >= 0 else [])))


RULES = (waiting, of_libraries, critical)
