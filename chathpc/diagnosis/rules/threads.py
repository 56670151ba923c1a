"""Threads that are not OpenMP's: work that is unequally shared among them, or not at all, or in too small parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.concurrency import Concurrency, at_work, scheduling
from chathpc.diagnosis.cores import doubt
from chathpc.diagnosis.draft import Draft, Spread, fact, part_of, spread_parts, time_fact, time_unit
from chathpc.diagnosis.fact import Fact, Kind, Quantity
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.activity import OPENMP, STARTERS, Activity, base_name
from chathpc.profile.tree import BoolArray, FloatArray

#: What starts and ends a thread: the C library's part and the kernel's.
_STARTS = re.compile(
    r"(pthread|thrd)_create|ret_from_fork|schedule_tail|(x64_|do_)?sys_clone3?$|kernel_clone$|(x64_)?sys_exit$|do_exit$|advise_stack_range|nptl_(free|deallocate)"
)
#: What all threads of a group wait in until the last one comes.
_BARRIERS = re.compile(
    r"_*pthread_barrier_wait|(void )?std::(\w+::)*(barrier|__tree_barrier)\b|<?std::sync::(\w+::)*[Bb]arrier::"
)
#: What says nothing of who wrote it: lambdas without their scope, and what the C++ library calls them by.
_NAMELESS = re.compile(r"operator\(\)|_[A-Z_]|std::")
#: What small tasks look like from elsewhere: those who gave them out wait, and the stacks of threads come and go.
_LOOKS = ("blocking-wait", "allocation-churn", "page-faults", "omp-serial-fraction", "omp-load-imbalance")

_USED = "perf stat -e task-clock ./app (How many cores are used on average, of {}.)"
_ONE = "perf stat -e context-switches,task-clock ./app (How often threads change from work to waiting; with larger tasks both become less.)"


def uneven_threads(facts: Facts) -> Iterable[Draft]:
    """Work that is unequally shared among threads, or that one of them does while the others are idle."""
    threads, least = facts.concurrency, cause("omp-serial-fraction").threshold("min_idle")
    if threads is None or not facts.above(threads.charged.sum() / threads.capacity, least):
        return
    shared = _shared(facts, threads)
    for chosen, draft in ((shared, _imbalance), (~shared, _serial)):
        charged = np.where(chosen, threads.charged, 0.0)
        hot, share = facts.hot_place(charged), float(charged.sum()) / threads.capacity
        if hot is not None and facts.above(share, least):
            found = draft(facts, threads, charged, hot, share)
            yield replace(
                found, against=doubt(facts), next_measurement=_USED.format(threads.width), removable=share, threshold=least
            )  # fmt: skip


def _shared(facts: Facts, threads: Concurrency) -> BoolArray:
    """True for the nodes of the functions that hold others up and in which several threads work at once; False where it is always one."""
    part, little = cause("omp-serial-fraction").threshold("max_overlap"), common()["hardly_any"].value
    found = np.zeros(len(threads.charged), dtype=bool)
    labels, sums = facts.by_function(threads.charged)
    for label in labels[np.cumsum(sums) - sums < (1 - little) * sums.sum()].tolist():
        chosen = facts.caller_label == label
        together, spent = threads.together(chosen)
        beside = float(spent.sum() - spent.max())
        if beside > little * spent.sum() and together > part * beside:
            found |= chosen
    return found


def _body(facts: Facts, threads: Concurrency, node: int) -> tuple[Place, BoolArray] | None:
    """The outermost function around a node in which several threads work and none is idle, which is what each is given to do, and all nodes
    below it; None where there is none.
    """
    tree, little = facts.profile.tree, common()["hardly_any"].value
    labels = tree.function_labels[0]
    idle = np.where(threads.busy, 0.0, facts.time)
    for step in tree.path(node):
        if facts.activities.caller[step] != step or _NAMELESS.match(tree.label(step)):
            continue
        inside = tree.inside(np.flatnonzero(labels == labels[step]).astype(np.int32))
        spent = threads.together(inside)[1]
        several = spent.sum() - spent.max() > little * spent.sum()
        if several and idle[inside].sum() <= little * facts.time[inside].sum():
            return facts.place(step), inside
    return None


def _imbalance(facts: Facts, threads: Concurrency, charged: FloatArray, hot: HotPlace, share: float) -> Draft:
    entry = cause("omp-load-imbalance")
    place, body = _body(facts, threads, hot.node) or (hot.place, facts.caller_label == hot.label)
    spent = threads.together(body)[1]
    spent = spent[spent > 0]
    busiest, mean, even = float(spent.max()), float(spent.mean()), entry.threshold("even_ratio")
    work = fact(
        facts,
        Kind.SPREAD,
        busiest,
        subject=f"the work of a thread in {place.function}",
        unit=time_unit(facts),
        whole=Quantity(len(spent), "threads"),
        parts=spread_parts(facts, spent),
        how="time of each thread at work in the function and what it calls",
        where=place,
    )
    told = f"the busiest of {len(spent)} threads computes for {numbers.seconds(busiest)}, the mean is {numbers.seconds(mean)}"
    often = "each thread has about as much in all, but not at the same time"
    return Draft(
        cause=entry.id,
        where=place,
        title="Uneven work of threads",
        summary=f"The work in {place.function} is unevenly distributed: {told if busiest >= even * mean else often}.",
        evidence=(_idleness(facts, threads, charged), work),
        signs=2 if busiest >= even * mean else 1,
        spread=Spread(len(spent), "threads"),
        cost=share * facts.total,
        share=share,
    )


def _serial(facts: Facts, threads: Concurrency, charged: FloatArray, hot: HotPlace, share: float) -> Draft:
    alone = min(share * threads.width / (threads.width - 1), 1.0)  # meanwhile all others are idle
    return Draft(
        cause="omp-serial-fraction",
        where=hot.place,
        title="Serial part of a threaded program",
        summary=f"One thread works alone for {numbers.percent(alone)} of the elapsed time, most of it in {hot.place.function}.",
        evidence=(
            _idleness(facts, threads, charged),
            time_fact(
                facts,
                hot.weight,
                f"idleness during {hot.place.function}",
                "the same by function",
                of=part_of(facts, float(charged.sum()), "idleness while one thread works"),
                where=hot.place,
            ),
        ),
        signs=2,
        cost=share * facts.total,
        share=share,
    )


def _idleness(facts: Facts, threads: Concurrency, charged: FloatArray) -> Fact:
    return time_fact(
        facts,
        float(charged.sum()),
        f"idleness while fewer than {threads.width} threads work",
        f"Tallent and Mellor-Crummey 2009: ({threads.width} − threads at work), summed over the time in which some work",
        of=part_of(facts, threads.capacity, f"{threads.width} threads"),
        error=0.0,
    )


def small_tasks(facts: Facts) -> Iterable[Draft]:
    """Tasks that cost more than they do, and threads that are started for little."""
    entry, tree, caller = cause("omp-fine-grained-regions"), facts.profile.tree, facts.activities.caller
    if facts.thread_count < 2 or facts.spent(*OPENMP):
        return
    starts = tree.where_name(lambda name: _STARTS.match(base_name(name)) is not None)
    # Beginning and end of a thread lie around what the program has it do.
    busy = at_work(facts)
    around = (caller < 0) & (tree.nearest(tree.named(*STARTERS)) >= 0) & busy
    kinds = (
        ("scheduling of tasks", scheduling(facts) & (caller >= 0) & busy, "min_scheduling"),
        ("starting and ending threads", tree.inside(np.flatnonzero(starts).astype(np.int32)) | around, "min_starting"),
    )
    costs = [float(facts.time[chosen].sum()) for _, chosen, _ in kinds]
    (subject, chosen, least), cost = kinds[int(np.argmax(costs))], max(costs)
    all_work = cost + float(facts.time[busy & ~chosen].sum())
    if not facts.above(cost / facts.total, entry.threshold("min_share")) or cost < entry.threshold(least) * all_work:
        return
    weight = np.where(chosen, facts.time, 0.0)
    # Who starts threads waits for them, too, which is no part of the time.
    joins = facts.profile.everything.exclusive(facts.metric).dense(len(tree)) * facts.activities.of(Activity.JOIN)
    hot, threads = facts.hot_place(weight) or facts.hot_place(joins), facts.concurrency
    if hot is None:
        return
    # Where it is known when threads work, what they wait for each other goes with it.
    share = max(1 - (all_work - cost) / (facts.total if threads is None else threads.capacity), 0.0)
    yield Draft(
        cause=entry.id,
        where=hot.place,
        title="Tasks with too little work",
        summary=f"{hot.place.function} gives threads too little to do at a time: {subject} takes "
        f"{numbers.percent(cost / all_work)} of the time in which they work.",
        evidence=(
            time_fact(
                facts,
                cost,
                subject,
                "time in the scheduler's code"
                if "tasks" in subject
                else "time in pthread_create and around what threads are given to do",
                of=part_of(facts, all_work, "threads at work"),
                where=hot.place,
            ),
        ),
        signs=2,
        replaces=_LOOKS,
        next_measurement=_ONE,
        cost=share * facts.total,
        share=share,
        removable=share,
    )


def barriers(facts: Facts) -> Iterable[Draft]:
    """Threads that meet at barriers more often than their work is worth, so that even the one that waits least waits long."""
    entry, tree = cause("omp-barrier-wait"), facts.profile.tree
    marks = tree.where_name(lambda name: _BARRIERS.match(name) is not None)
    if not marks.any() or facts.spent(*OPENMP):
        return
    inside = tree.inside(np.flatnonzero(marks).astype(np.int32))
    waits = facts.grouped(np.where(inside, 0, 1).astype(np.int32), 2)
    waits = waits[waits[:, 0] > 0]
    if len(waits) < 2:
        return
    # What some wait while others work has another reason.
    held = 0.0 if facts.concurrency is None else float(facts.concurrency.charged.sum())
    common_wait = max(float(waits[:, 0].min()) * len(waits) - held, 0.0)
    share = common_wait / float(waits.sum())
    hot = facts.hot_place(np.where(inside, facts.time, 0.0))
    if hot is None or not facts.above(share, entry.threshold("min_share")):
        return
    yield Draft(
        cause=entry.id,
        where=hot.place,
        title="Barriers between too little work",
        summary=f"The threads meet at barriers in {hot.place.function} too often for the work between: {numbers.percent(share)} of their time.",
        evidence=(
            time_fact(
                facts,
                float(waits[:, 0].min()),
                "waiting at barriers of the thread that waits least",
                "minimum over threads of the time in and below barrier functions",
                of=part_of(facts, float(waits[np.argmin(waits[:, 0])].sum()), "its time"),
                where=hot.place,
            ),
        ),
        signs=2,
        against=doubt(facts),
        next_measurement=_ONE,
        replaces=("blocking-wait",),
        cost=share * facts.total,
        share=share,
        removable=share,
    )


RULES = (small_tasks, uneven_threads, barriers)
