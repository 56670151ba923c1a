"""Waiting outside of OpenMP and MPI: locks, sleeping, events."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.called import called_draft, called_time
from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft, fact, part_of, share_here, total
from chathpc.diagnosis.fact import Form, Kind, told
from chathpc.diagnosis.facts import Facts
from chathpc.profile import numbers
from chathpc.profile.activity import Activity, base_name
from chathpc.profile.tree import NodeKind


def locks(facts: Facts) -> Iterable[Draft]:
    """Threads that wait for a mutex or spin lock."""
    time = called_time(facts, cause("lock-contention"), facts.of(Activity.LOCK))
    if time is None:
        return
    waiting = int((facts.matrix[:, Activity.LOCK] > common()["hardly_any"].value * time.cost).sum())
    yield called_draft(
        facts,
        time,
        f"Threads wait for a lock taken in {time.caller}",
        subject=f"lock functions in {told(waiting, 'threads')}",
        form=Form.MANY,
        how="time in mutex and spin lock functions",
        by="time in lock functions by calling function",
        signs=2 if waiting > 1 else 1,
        against=() if waiting > 1 else ("Only one thread was seen in lock functions.",),
        of="the thread time",
    )


def blocked(facts: Facts) -> Iterable[Draft]:
    """Threads that sleep or wait for an event while nothing else keeps them from working."""
    entry = cause("blocking-wait")
    if facts.total == 0:
        return
    sleeping, events = facts.spent(Activity.SLEEP), facts.spent(Activity.BLOCKED)
    cost = sleeping + events
    share = cost / facts.total
    if not facts.above(share, entry.threshold("min_share")):
        return
    # A thread that only waits for work while others compute is idle, not a bottleneck: ask for a time in which none
    # works.
    waiting = facts.matrix[:, [Activity.SLEEP, Activity.BLOCKED, Activity.JOIN]].sum(axis=1)
    totals = facts.matrix.sum(axis=1)
    busiest = float((totals - waiting).max()) if len(totals) else 0.0
    length = float(totals.max()) if len(totals) else 0.0
    nobody = max(length - busiest, 0.0) / length if length else 0.0
    chosen = entry.threshold("min_sleep_part") * cost
    weight = facts.of(Activity.SLEEP) if sleeping >= chosen else facts.of(Activity.SLEEP, Activity.BLOCKED)
    hot = facts.hot_place(weight)
    if hot is None:
        return
    place = hot.place
    call = _main_call(facts, weight)
    waits = f"waits in {call}" if call else "waits"
    against = []
    least = entry.threshold("min_idle_part")
    if nobody < least:
        against.append(
            f"Another thread works for {numbers.percent(1 - nobody)} of the run, so the waiting may just be the lack of work for this thread."
        )
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{place.function} {waits} instead of working: {share_here(facts, hot.weight, cost, of='the thread time')}.",
        cost=cost,
        share=share,
        headroom=None if nobody >= least else entry.threshold("headroom_beside_work"),
        threshold=entry.threshold("min_share"),
        evidence=(
            fact(
                facts,
                Kind.AMOUNT,
                cost,
                subject="sleeping and waiting for events",
                whole=total(facts),
                how="time in sleep, poll, select, condition and semaphore functions",
            ),
            fact(
                facts,
                Kind.AMOUNT,
                hot.weight,
                subject=f"{call} called from {place.function}" if call else f"waiting in {place.function}",
                form=Form.NAME if call else Form.ONE,
                whole=part_of(facts, cost, "sleeping and waiting"),
                how="the same by calling function",
                where=place,
            ),
            fact(
                facts,
                Kind.AMOUNT,
                busiest,
                subject="the work of the thread that works most",
                whole=part_of(facts, length, "its time"),
                how="maximum over threads of time outside waiting",
            ),
        ),
        signs=2 if sleeping > chosen else 1,
        against=tuple(against),
    )


def _main_call(facts: Facts, weight: np.ndarray) -> str:
    """The call in which most of the time is waited; empty where threads blocked without a sample of the call."""
    call, tree = facts.activities.call, facts.profile.tree
    counted = np.flatnonzero((weight > 0) & (call >= 0))
    named = tree.kind[call[counted]] != NodeKind.PLACEHOLDER
    if weight[counted][named].sum() <= weight[counted][~named].sum():
        return ""
    counted = counted[named]
    label = facts.profile.tree.function_labels[0][call[counted]]
    return base_name(facts.label_names[int(np.argmax(np.bincount(label, weights=weight[counted])))])


RULES = (locks, blocked)
