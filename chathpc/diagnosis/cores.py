"""Threads that could run and had no core: the program has more of them than there are cores, or others ran beside it."""

from __future__ import annotations

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.fact import told
from chathpc.diagnosis.facts import Facts
from chathpc.profile import numbers
from chathpc.profile.activity import OMP_WAITING, Activity
from chathpc.profile.metric import NO_CORE, OTHERS_WITHOUT
from chathpc.profile.run import processors, wall_seconds
from chathpc.profile.tree import BoolArray, FloatArray, IntArray


def without_core(facts: Facts, chosen: BoolArray) -> FloatArray:
    """Seconds in which each of `facts.locations` was at one of the chosen nodes and could not run; 0 where that was not measured."""
    return without_core_in(facts, np.where(chosen, 0, -1).astype(np.int32), 1)[:, 0]


def without_core_in(facts: Facts, group: IntArray, groups: int) -> FloatArray:
    """The same for groups of nodes, as `Facts.grouped` has their time: array (locations × groups)."""
    if NO_CORE not in facts.profile.metrics:
        return np.zeros((facts.thread_count, groups))
    return np.asarray(facts.profile.values.grouped(NO_CORE, group, groups)[facts.locations])


def beside_others(facts: Facts, *activities: Activity) -> float:
    """Seconds of the activities in which another thread of the process could run and had no core."""
    if OTHERS_WITHOUT not in facts.profile.metrics:
        return 0.0
    spent = facts.profile.exclusive(OTHERS_WITHOUT)
    return float(spent.values[facts.activities.of(*activities)[spent.nodes]].sum())


def of_others(spent: FloatArray, group: IntArray) -> float:
    """What the other members of each group wait at most while one of them spends `spent`."""
    return float((spent * (np.bincount(group)[group] - 1)).sum())


def cores(facts: Facts) -> int:
    """The cores of the machine that the program ran on, where the profile tells them; else 0."""
    return processors(facts.profile)


def crowd(facts: Facts) -> int:
    """How many threads share fewer cores, where that is known; else 0. Threads that follow each other share none."""
    lacked = without_core(facts, np.ones(len(facts.profile.tree), dtype=bool))
    each = facts.matrix.sum(axis=1) - facts.matrix[:, Activity.JOIN] + lacked
    busy = int((each >= common()["team_part"].value * each.max(initial=0.0)).sum())
    if lacked.any() and each.sum() <= cores(facts) * (wall_seconds(facts.profile) or 0.0):
        return 0
    return busy if 0 < cores(facts) < busy else 0


def doubt(facts: Facts) -> tuple[str, ...]:
    """That waiting may be for a core, in words; nothing where it is not so, or not known."""
    threads, number = crowd(facts), cores(facts)
    if not number:  # where they were at one moment, for those that are bound to none
        seen = facts.profile.where.core[facts.locations]
        number = len(np.unique(seen))
        threads = facts.thread_count if (seen >= 0).all() and 1 < number < facts.thread_count else 0
    if not threads:
        return ()
    return (f"{threads} threads ran on {number} cores: part of the waiting may be for a core, not for work.",)


def starved(facts: Facts) -> str:
    """That threads had no core, and why, as a sentence; empty where it is not so, or not known."""
    lacked = facts.profile.total(NO_CORE) if NO_CORE in facts.profile.metrics else 0.0
    waits = facts.share(Activity.MPI, *OMP_WAITING)
    least = cause("oversubscription").threshold("min_share")
    if not lacked or lacked < least * (facts.total + lacked):
        return ""
    start, threads = f"Runnable threads had no core for {numbers.seconds(lacked)}", crowd(facts)
    if threads:
        return f"{start}: {threads} of the program share {told(cores(facts), 'cores')}."
    excused = (
        " Waiting that this may explain is counted against the program only where a finding says so;"
        if waits >= least
        else ""
    )
    again = " measure again on an idle machine."
    return f"{start}: other programs were running, or the threads are bound to too few cores{'.' if excused else ';'}{excused}{again}"
