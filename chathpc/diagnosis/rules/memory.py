"""Memory: allocation, copies, leaks, page faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.catalogue.entry import Cause
from chathpc.diagnosis.draft import Draft, fact, share_fact, total
from chathpc.diagnosis.fact import Bound, Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.rules.called import called_draft, called_time
from chathpc.diagnosis.sampled_lanes import spans, traced_lanes
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.run import PAGE_FAULT, PEAK_MEMORY, positive

MAYBE_ONCE = "It was not seen inside a loop: it may happen once."
#: What a fault supplies at least (bytes): no processor has smaller pages.
_PAGE = 4096
_NOT_MEASURED = "The cost of a fault is a conservative estimate, not measured here; chathpc measure measures it."
#: Go's runtime does not call malloc.
_GO = "runtime.mallocgc"
_IN_GO = "GODEBUG=gctrace=1 ./app (How often the garbage collector runs, and its share of the time.)"


def allocation(facts: Facts) -> Iterable[Draft]:
    """Time in malloc, free and their kin."""
    following = _IN_GO if _GO in facts.profile.tree.names else None
    found = _library_time(
        facts,
        "allocation-churn",
        Activity.ALLOCATION,
        "allocating and releasing memory",
        "time in allocation functions",
        "allocates and releases memory",
    )
    yield from (replace(draft, next_measurement=following) for draft in found)


def copies(facts: Facts) -> Iterable[Draft]:
    """Time in memcpy and its kin outside of communication and file operations. With a copy goes the memory that it was allocated."""
    for draft in _library_time(
        facts,
        "redundant-copies",
        Activity.COPY,
        "copying and setting memory",
        "time in memcpy, memmove, memset and string copies",
        "copies memory",
    ):
        copied, allocated = facts.by_line(facts.of(Activity.COPY))[0], facts.of(Activity.ALLOCATION)
        beside = sum(float(allocated[facts.at_line(line)].sum()) for line in copied.tolist())
        yield replace(draft, removable=(draft.cost + beside) / facts.total)


def _library_time(facts: Facts, identifier: str, activity: Activity, what: str, how: str, does: str) -> Iterable[Draft]:
    time = called_time(facts, cause(identifier), facts.of(activity))
    if time is not None:
        yield called_draft(
            facts,
            time,
            f"{time.caller} {does}{' in a loop' if time.in_loop else ''}",
            subject=what,
            how=how,
            by=f"{how} by calling function",
            signs=2 if time.in_loop else 1,
            against=() if time.in_loop else (MAYBE_ONCE,),
        )


def leak(facts: Facts) -> Iterable[Draft]:
    """Memory that was allocated and not freed, where the profile counts both."""
    entry = cause("memory-leak")
    metrics = facts.profile.metrics
    if not facts.profile.has("memory.allocated.bytes"):
        return
    allocated = facts.profile.total("memory.allocated.bytes")
    freed = facts.profile.total("memory.freed.bytes") if "memory.freed.bytes" in metrics else 0.0
    lost = allocated - freed
    if lost < entry.threshold("min_bytes") or lost < entry.threshold("min_part") * allocated:
        return
    balance = facts.profile.dense("memory.allocated.bytes")
    # hpcrun counts what is freed at the context that allocated it, so the difference is what each context leaves behind.
    net = np.maximum(balance - facts.profile.dense("memory.freed.bytes"), 0.0)
    hot = facts.hot_place(net if net.any() else balance)
    if hot is None:
        return
    place, mine = hot.place, hot.weight
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{numbers.size(lost)} of {numbers.size(allocated)} allocated memory was never freed, most of it allocated in {place.function}.",
        cost=0.0,
        share=0.0,
        threshold=0.0,
        headroom=0.0,
        impact=min(1.0, lost / allocated),
        evidence=(
            fact(
                facts,
                Kind.AMOUNT,
                lost,
                subject="memory that is never freed",
                unit="bytes",
                whole=Quantity(allocated, "bytes", "allocated memory"),
                metric="memory.allocated.bytes",
                how="bytes allocated − bytes freed",
            ),
            fact(
                facts,
                Kind.AMOUNT,
                mine,
                subject=f"memory allocated in {place.function}",
                unit="bytes",
                whole=Quantity(lost, "bytes", "memory that is never freed"),
                metric="memory.allocated.bytes",
                how="bytes allocated − bytes freed by calling function",
                where=place,
            ),
        ),
        signs=2,
        samples=0,
        against=("It costs no time that the profile could show.",),
    )


def page_faults(facts: Facts) -> Iterable[Draft]:
    """Pages that the kernel supplies: by the kernel's own time for them where that was sampled, else by their number and the cost of one."""
    entry, number = cause("page-faults"), "cpu.page-faults"
    counted = facts.profile.has(number)
    weight = facts.profile.exclusive(number).dense(len(facts.profile.tree)) if counted else np.zeros(0)
    faults = float(weight.sum())
    if facts.spent(Activity.PAGE_FAULT) > 0:
        yield from _handling(facts, entry, faults)
        return
    if not faults or not facts.in_seconds:
        return
    measured = positive(facts.profile.run.get(PAGE_FAULT, ""))
    each = measured or entry.threshold("seconds_per_fault")
    cost = min(faults * each, facts.total)
    share = cost / facts.total
    hot = facts.hot_place(weight)
    if hot is None or not facts.above(share, entry.threshold("min_share")):
        return
    place, again = hot.place, _again(facts, entry, faults)
    in_loop = facts.below_loop(hot.line if hot.line >= 0 else hot.node)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{_touches(place.function, bool(in_loop or again))}: {numbers.count(round(faults))} page faults.",
        cost=cost,
        share=share,
        evidence=(
            fact(
                facts,
                Kind.AMOUNT,
                cost,
                subject="page faults",
                form=Form.MANY,
                unit="s",
                bound=Bound.ABOUT if measured else Bound.AT_LEAST,
                whole=total(facts),
                parts=_each(faults, each),
                metric=number,
                how=f"count × {'the cost of one as measured on the machine' if measured else 'a conservative cost of one'}",
            ),
            share_fact(
                facts,
                hot.weight / faults,
                str(place.function),
                "the page faults",
                "page faults of the function / all page faults",
                metric=number,
                where=place,
                form=Form.NAME,
            ),
            *again,
        ),
        signs=2 if in_loop or again else 1,
        against=() if measured else (_NOT_MEASURED,),
    )


def _handling(facts: Facts, entry: Cause, faults: float) -> Iterable[Draft]:
    """Time in the kernel's page fault handler; `faults` is their number, 0 where they were not counted."""
    time = called_time(facts, entry, facts.of(Activity.PAGE_FAULT))
    again = _again(facts, entry, faults)
    if time is None or (not again and _in_one_piece(facts, entry)):
        return
    draft = called_draft(
        facts,
        time,
        _touches(time.caller, bool(time.in_loop or again)),
        subject="the kernel's handling of page faults",
        how="time in and below the kernel's page fault handler",
        by="time in the page fault handler by function that touches the page",
        signs=1 + bool(time.in_loop or again) + (faults > 0),
        against=()
        if time.in_loop or again
        else ("It was not seen inside a loop: it may be the first touch of the program's data.",),
    )
    if faults and facts.in_seconds:
        handled, *others = draft.evidence
        counted = replace(handled, parts=_each(faults, time.cost / faults))
        draft = replace(draft, evidence=(counted, *others, *again))
    yield draft


def _in_one_piece(facts: Facts, entry: Cause) -> bool:
    """True if a trace shows that memory was touched in one short part of the run, one page after the other: the first touch of the data."""
    touches, spent, window, run = facts.activities.of(Activity.PAGE_FAULT), 0, 0, 0
    for lane in traced_lanes(facts):
        (start, end), _ = spans(lane, touches)
        run += int(lane.start[-1] - lane.start[0])
        if len(start):
            spent, window = spent + int((end - start).sum()), window + int(end[-1] - start[0])
    return 0 < window <= entry.threshold("max_window") * run and spent >= entry.threshold("min_density") * window


def _touches(function: str | None, again: bool) -> str:
    return f"{function} touches memory for the first time{' again and again' if again else ''}"


def _again(facts: Facts, entry: Cause, faults: float) -> tuple[Fact, ...]:
    """That `faults` supplied more memory than the program ever held, so that the same was supplied again; nothing where they did not."""
    supplied, held = faults * _PAGE, positive(facts.profile.run.get(PEAK_MEMORY, ""))
    if held is None or supplied < entry.threshold("min_times_held") * held:
        return ()
    held_at_most = Quantity(held, "bytes", "and no process of the program held more than")
    return (
        fact(
            facts, Kind.COMPARISON, supplied, subject="the memory that page faults supplied", unit="bytes", whole=held_at_most,
            metric="cpu.page-faults", how="count × 4 KiB, and the largest resident set",
        ),
    )  # fmt: skip


def _each(faults: float, seconds: float) -> tuple[Part, ...]:
    return Part("", faults, "faults"), Part("each", seconds, "s")


RULES = (allocation, copies, leak, page_faults)
