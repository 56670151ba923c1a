"""Memory: allocation, copies, leaks, page faults."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft, fact, of_total, time_text
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.metric import Column
from chathpc.profile.tree import FloatArray


def _hot_place(facts: Facts, weight: FloatArray) -> tuple[Place, float, bool]:
    """Place of the function that calls for most of `weight`, its part of it, and whether the hottest line is in a
    loop.
    """
    names, times = facts.by_function(weight > 0)
    if not len(names):
        return Place(), 0.0, False
    chosen = int(names[0])
    caller = facts.activities.caller
    mine = np.where((caller >= 0) & (facts.profile.tree.name[np.maximum(caller, 0)] == chosen), weight, 0.0)
    node = facts.hottest(mine)
    site, _ = facts.hot_line(mine, chosen)
    in_loop = facts.below_loop(node)
    return facts.place(node, line_node=site), float(times[0]), in_loop


def allocation(facts: Facts) -> Iterable[Draft]:
    """Time in malloc, free and their kin."""
    yield from _library_time(
        facts,
        "allocation-churn",
        Activity.ALLOCATION,
        "Allocating and releasing memory",
        "time in allocation functions",
        "allocates and releases memory",
    )


def copies(facts: Facts) -> Iterable[Draft]:
    """Time in memcpy and its kin outside of communication and file operations."""
    yield from _library_time(
        facts,
        "redundant-copies",
        Activity.COPY,
        "Copying and setting memory",
        "time in memcpy, memmove, memset and string copies",
        "copies memory",
    )


def _library_time(facts: Facts, identifier: str, activity: Activity, what: str, how: str, does: str) -> Iterable[Draft]:
    entry = cause(identifier)
    cost = facts.spent(activity)
    if facts.total == 0 or cost / facts.total < entry.threshold("min_share"):
        return
    place, part, in_loop = _hot_place(facts, facts.of(activity))
    if place.function is None:
        return
    yield Draft(
        cause=identifier,
        where=place,
        summary=f"{place.function} {does}{' in a loop' if in_loop else ''}: {numbers.percent(cost / facts.total)} of the time.",
        cost=cost,
        share=cost / facts.total,
        threshold=entry.threshold("min_share"),
        evidence=(
            fact(facts, f"{what} takes {of_total(facts, cost)}.", cost, subject=what.lower(), how=how),
            fact(
                facts,
                f"{place.function} calls for {time_text(facts, part)} of it.",
                part,
                subject=str(place.function),
                how=f"{how} by calling function",
                where=place,
            ),
        ),
        signs=2 if in_loop else 1,
        against=() if in_loop else ("It was not seen inside a loop: it may happen once.",),
    )


def leak(facts: Facts) -> Iterable[Draft]:
    """Memory that was allocated and not freed, where the profile counts both."""
    entry = cause("memory-leak")
    metrics = facts.profile.metrics
    if not all(name in metrics and metrics[name].has_values for name in ("memory.allocated.bytes",)):
        return
    allocated = facts.profile.total("memory.allocated.bytes")
    freed = facts.profile.total("memory.freed.bytes") if "memory.freed.bytes" in metrics else 0.0
    lost = allocated - freed
    if lost < entry.threshold("min_bytes") or lost < entry.threshold("min_part") * allocated:
        return
    tree = facts.profile.tree
    balance = facts.profile.exclusive("memory.allocated.bytes").dense(len(tree))
    caller = facts.activities.caller
    counted = (balance > 0) & (caller >= 0)
    # Memory is often freed elsewhere than it was allocated: a context shows its own balance only where both are below
    # it.
    freed_at = _dense(facts, "memory.freed.bytes")
    net = np.maximum(balance - freed_at, 0.0)
    node = facts.hottest(net) if net.any() else facts.hottest(balance)
    if node < 0 or not counted.any():
        return
    name = int(tree.name[node])
    site, _ = facts.hot_line(net, name)
    place = facts.place(node, line_node=site)
    mine = float(net[(caller >= 0) & (tree.name[np.maximum(caller, 0)] == name)].sum())
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{numbers.size(lost)} of {numbers.size(allocated)} allocated memory was never freed, most of it allocated in {place.function}.",
        cost=0.0,
        share=0.0,
        headroom=0.0,
        impact=min(1.0, lost / allocated),
        evidence=(
            fact(
                facts,
                f"The program allocates {numbers.size(allocated)} and frees {numbers.size(freed)}: {numbers.size(lost)} "
                f"({numbers.percent(lost / allocated)}) stay.",
                lost,
                unit="bytes",
                metric="memory.allocated.bytes",
                subject="memory not freed",
                how="bytes allocated − bytes freed",
            ),
            fact(
                facts,
                f"{place.function} allocates {numbers.size(mine)} of it.",
                mine,
                unit="bytes",
                metric="memory.allocated.bytes",
                subject=str(place.function),
                how="bytes allocated − bytes freed by calling function",
                where=place,
            ),
        ),
        signs=2,
        against=("It costs no time that the profile could see.",),
    )


def _dense(facts: Facts, metric: str) -> FloatArray:
    size = len(facts.profile.tree)
    return facts.profile.exclusive(metric).dense(size) if metric in facts.profile.metrics else np.zeros(size)


def page_faults(facts: Facts) -> Iterable[Draft]:
    """Many page faults, where they were counted."""
    entry = cause("page-faults")
    metrics = facts.profile.metrics
    if (
        "cpu.page-faults" not in metrics
        or not metrics["cpu.page-faults"].has_values
        or not facts.in_seconds
        or facts.total == 0
    ):
        return
    column: Column = facts.profile.exclusive("cpu.page-faults")
    faults = column.sum()
    cost = min(faults * entry.threshold("seconds_per_fault"), facts.total)
    share = cost / facts.total
    if share < entry.threshold("min_share"):
        return
    weight = column.dense(len(facts.profile.tree))
    place, part, in_loop = _hot_place_of(facts, weight)
    if place.function is None:
        return
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{place.function} touches memory for the first time again and again: {numbers.count(round(faults))} page faults.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(
            fact(
                facts,
                f"{numbers.count(round(faults))} page faults, about {time_text(facts, cost)} of {time_text(facts, facts.total)} "
                f"at {numbers.seconds(entry.threshold('seconds_per_fault'))} each.",
                faults,
                unit="count",
                metric="cpu.page-faults",
                subject="page faults",
                how="sampled count; the time is an estimate from a typical cost per fault",
            ),
            fact(
                facts,
                f"{numbers.percent(part / faults)} of them in {place.function}.",
                part,
                unit="count",
                metric="cpu.page-faults",
                subject=str(place.function),
                how="page faults by function",
                where=place,
            ),
        ),
        signs=2 if in_loop else 1,
        against=("The cost of a fault is a typical value, not measured here.",),
    )


def _hot_place_of(facts: Facts, weight: FloatArray) -> tuple[Place, float, bool]:
    tree, caller = facts.profile.tree, facts.activities.caller
    counted = (weight > 0) & (caller >= 0)
    if not counted.any():
        return Place(), 0.0, False
    sums = np.bincount(np.maximum(tree.name[caller[counted]], 0), weights=weight[counted])
    name = int(np.argmax(sums))
    mine = np.where((caller >= 0) & (tree.name[np.maximum(caller, 0)] == name), weight, 0.0)
    node = facts.hottest(mine)
    site, _ = facts.hot_line(mine, name)
    return facts.place(node, line_node=site), float(sums[name]), facts.below_loop(node)


RULES = (allocation, copies, leak, page_faults)
