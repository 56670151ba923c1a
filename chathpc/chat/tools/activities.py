"""What kinds of work the host's time goes into: computing, MPI, waiting, input and output, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.record import (
    SHARE,
    Arguments,
    Column,
    FactList,
    Result,
    escaped,
    facts_of_trace,
    limit,
    prose,
    share_of,
    source_of,
)
from chathpc.diagnosis import draft
from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.draft import of_total, time_text
from chathpc.diagnosis.fact import Fact, Form
from chathpc.diagnosis.fact import Kind as FactKind
from chathpc.diagnosis.facts import Facts
from chathpc.errors import UsageError
from chathpc.profile import intervals, numbers
from chathpc.profile.activity import OPENMP, Activity, base_name
from chathpc.profile.metric import Metric
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import FloatArray
from chathpc.prompts.untrusted import quote

Kind = Literal[
    "all", "computing", "mathematics", "copying", "allocation", "io", "mpi", "openmp", "waiting", "locks", "gpu"
]

_A = Activity
#: What the run spends time on or in, and what the time of a node is spent on that counts for it.
_KINDS: Mapping[str, tuple[str, tuple[Activity, ...]]] = {
    "computing": ("computing in its own code and in libraries", (_A.COMPUTE, _A.LIBRARY, _A.JIT)),
    "mathematics": ("in the math library", (_A.MATH,)),
    "copying": ("copying and setting memory", (_A.COPY,)),
    "allocation": ("allocating and releasing memory", (_A.ALLOCATION, _A.PAGE_FAULT)),
    "io": ("in I/O", (_A.IO,)),
    "mpi": ("in MPI", (_A.MPI, _A.MPI_SETUP)),
    "openmp": ("in the OpenMP runtime, waiting included", OPENMP),
    "waiting": ("waiting", (_A.OMP_WAIT, _A.OMP_LOCK, _A.LOCK, _A.SLEEP, _A.BLOCKED, _A.JOIN, _A.GPU_SYNC)),
    "locks": ("waiting for locks and critical sections", (_A.LOCK, _A.OMP_LOCK)),
    "gpu": ("in calls of the GPU runtime", (_A.GPU_LAUNCH, _A.GPU_SYNC, _A.GPU_COPY, _A.GPU_API)),
}
#: What a trace has of a kind of work, and what a log of it counts.
_LANES: Mapping[str, tuple[LaneKind, ...]] = {"mpi": (LaneKind.MPI,), "gpu": (LaneKind.API,)}
_LOGGED: Mapping[str, str] = {"io": "io.time"}
#: The kinds that a whole is divided into, each activity in one of them.
PARTS: Mapping[str, tuple[Activity, ...]] = {
    "computing": (_A.COMPUTE, _A.LIBRARY),
    "compiling or interpreting": (_A.JIT,),
    "in the math library": (_A.MATH,),
    "copying memory": (_A.COPY,),
    "allocating memory": (_A.ALLOCATION,),
    "in page faults": (_A.PAGE_FAULT,),
    "in I/O": (_A.IO,),
    "in MPI": (_A.MPI,),
    "starting and ending MPI": (_A.MPI_SETUP,),
    "waiting in OpenMP": (_A.OMP_WAIT,),
    "in critical sections and locks of OpenMP": (_A.OMP_LOCK,),
    "in the OpenMP runtime": (_A.OMP_OVERHEAD,),
    "waiting for locks": (_A.LOCK,),
    "sleeping": (_A.SLEEP,),
    "waiting for events": (_A.BLOCKED,),
    "waiting for threads or processes to end": (_A.JOIN,),
    "launching GPU kernels": (_A.GPU_LAUNCH,),
    "waiting for the GPU": (_A.GPU_SYNC,),
    "copying to and from the GPU": (_A.GPU_COPY,),
    "in other calls of the GPU runtime": (_A.GPU_API,),
    "in the profiler itself": (_A.PROFILER,),
}


_HOW = "added up by the names of functions and libraries"
#: What only a clock that goes on in waiting sees in full.
_UNSEEN = frozenset({"waiting", "locks"})
#: What lies in or below no function of the program, and from which part of a kind of work on that is told.
_BEYOND, _LITTLE = "(threads of libraries)", 0.005


#: What facts on how the time in MPI is spent are of.
MPI_TIME = "MPI time"
#: The start of MPI is told apart from this part of the time in MPI on.
_MUCH = 0.1
#: Calls that are told by name, if named ones have this part of the time at least.
_CALLS, _MOST = 3, 0.5


class ActivityArguments(Arguments):
    """A kind of work."""

    kind: Kind = Field(
        default="all", description="One kind of work, with the functions it happens in; all: a table of them."
    )
    limit: int = limit()


def activities(session: Session, asked: ActivityArguments) -> Result:
    """How much of the host's time goes into a kind of work, and in which functions of the program."""
    metric = session.measured.time
    if (asked.kind in _LANES and (told := _traced(session, asked.kind, asked.limit))) or (
        told := _logged(session, asked.kind)
    ):
        return told
    if metric is None or not session.facts.has_host_time:
        raise UsageError(
            "The profile has no time of the host that could be divided by kinds of work.",
            hint=session.asker.see("timeline", "what a trace shows of the GPU"),
        )
    return _all(session, metric, asked.limit) if asked.kind == "all" else _one(session, metric, asked.kind, asked.limit)


def _all(session: Session, metric: Metric, most: int) -> Result:
    facts, total = session.facts, session.facts.total
    spent = sorted(((facts.spent(*parts), name) for name, parts in PARTS.items()), reverse=True)
    spent = [(value, name) for value, name in spent if value > 0]
    told = FactList(source_of(session, metric, _HOW), metric, draft.total(facts))
    rows = []
    for value, name in spent[:most]:
        told.amount(f"time {name}", value, form=Form.ONE)
        rows.append((name, value, share_of(value, total)))
    text = _spends(facts, *spent[0]) if rows else ""
    columns = (Column("kind of work"), Column("time", metric.unit.value), Column("share", SHARE))
    return Result(text, columns, tuple(rows), told.all(), omitted=len(spent) - len(rows))


def _traced(session: Session, kind: str, most: int) -> Result | None:
    """The time of a kind of work that a trace has from call to call, where that of the host was sampled or is not known; else None."""
    recorded = session.measured.timeline
    lanes = [] if recorded is None else recorded.of(*_LANES[kind])
    exact = session.facts.has_host_time and session.measured.timed and session.facts.in_seconds
    if recorded is None or recorded.seconds <= 0 or not lanes or exact:
        return None
    tree, name = session.measured.tree, _KINDS[kind][0]
    start, end, node = (np.concatenate([getattr(lane, part) for lane in lanes]) for part in ("start", "end", "node"))
    busy = intervals.length(recorded.joined(lanes)) * 1e-9
    told = facts_of_trace(recorded)
    told.amount(f"time {name}", busy, form=Form.ONE)
    share = numbers.percent(share_of(busy, recorded.seconds))
    text = f"The run spends {numbers.seconds(busy)} of the {numbers.seconds(recorded.seconds)} of the recording ({share}) {name}."
    beside = intervals.length(intervals.union(start, end)) * 1e-9 - busy
    if beside > _LITTLE * busy:
        text += f" Another {numbers.seconds(beside)} lie before or after it."
        told.value(f"time {name} before or after the recording", beside, form=Form.ONE)
    labels = np.array([quote(tree.label(each)) for each in node.tolist()], dtype=object)
    calls = [
        (each, intervals.length(intervals.union(start[labels == each], end[labels == each])) * 1e-9)
        for each in np.unique(labels)
    ]
    rows = tuple(sorted(calls, key=lambda call: -call[1]))
    for call, part in rows[:most]:
        told.value(f"all calls of {call}", part, form=Form.MANY)
    return Result(
        text, (Column("call"), Column("time in all", "s")), rows[:most], told.all(), omitted=max(len(rows) - most, 0)
    )


def _logged(session: Session, kind: str) -> Result | None:
    """The time of a kind of work that a log of it has, as the diagnosis says it, where no time of the host is known; else None."""
    metric = session.measured.metrics.get(_LOGGED.get(kind, ""))
    if metric is None or not metric.has_values or session.facts.has_host_time:
        return None
    known = [one for one in session.diagnosis.evidence if one.metric == metric.id and one.kind == FactKind.AMOUNT]
    text = " ".join(quote(one.statement) for one in known) or prose(session.diagnosis.headline)
    return Result(text, facts=tuple(map(escaped, known)), complete=True)


def _one(session: Session, metric: Metric, kind: str, most: int) -> Result:
    facts, total = session.facts, session.facts.total
    name, parts = _KINDS[kind]
    value, unit = facts.spent(*parts), metric.unit.value
    told = FactList(source_of(session, metric, _HOW), metric, draft.total(facts))
    text, in_mpi = _spends(facts, value, name), facts.spent(_A.MPI) if kind == "waiting" else 0.0
    of_mpi = [one for one in session.diagnosis.evidence if one.whole is not None and one.whole.of == MPI_TIME]
    # So little that another clock saw says nothing about the waiting that it did not see.
    if kind in _UNSEEN and not session.measured.sees_waiting and value < common()["hardly_any"].value * total:
        text = f"How long it was {name} cannot be seen: {metric.id} does not count while a thread waits."
        text += f" {session.asker.see('missing', 'what would show it')}"
        text += f" In MPI it was for {of_total(facts, in_mpi)}." if in_mpi > 0 else ""
    elif in_mpi > 0:
        text = f"{_spends(facts, value, 'waiting outside MPI')} {_in_mpi(facts, in_mpi, of_mpi)}"
    beside: tuple[Fact, ...] = ()
    told.amount(f"time {name}", value, form=Form.ONE)
    setup = facts.spent(_A.MPI_SETUP) if kind == "mpi" else 0.0
    if setup > _MUCH * value:  # the diagnosis leaves it out
        text += f" Of that, starting and ending MPI takes {time_text(facts, setup)}, all else {of_total(facts, value - setup)}."
        for what, part in (("starting and ending MPI", setup), ("MPI between its start and end", value - setup)):
            told.amount(what, part)
    if in_mpi > 0:
        told.amount("MPI", in_mpi)
        beside = tuple(map(escaped, of_mpi))
    calls = [] if kind == "computing" else _by_call(facts, facts.of(*parts))
    if sum(part for _, part in calls) < _MOST * value:
        calls = []  # the names of few of them are known
    del calls[_CALLS:]
    whole = draft.part_of(facts, value, f"time {name}")
    for call, part in calls:
        told.add(FactKind.AMOUNT, f"calls of {call}", part, unit, form=Form.MANY, whole=whole, metric=metric.id)
    if calls:
        text += f" By call: {', '.join(f'{call} {time_text(facts, part)}' for call, part in calls)}."
    labels, sums = facts.by_function(facts.of(*parts))
    rows = []
    for label, part in zip(labels[:most].tolist(), sums[:most].tolist(), strict=True):
        function = quote(facts.label_names[label])
        told.add(FactKind.AMOUNT, function, part, unit, whole=whole, metric=metric.id)
        rows.append((function, part, share_of(part, total)))
    beyond = value - float(sums.sum())
    if rows and beyond > _LITTLE * value:
        rows.append((_BEYOND, beyond, share_of(beyond, total)))
    columns = (Column("in or below"), Column("time", unit), Column("share", SHARE))
    return Result(
        text,
        columns if rows else (),
        tuple(rows),
        (*told.all(), *beside),
        omitted=max(len(labels) - most, 0),
        complete=not rows,
    )


def _in_mpi(facts: Facts, spent: float, evidence: Sequence[Fact]) -> str:
    """The time in MPI, and what the diagnosis knows of it: how much waiting it is."""
    known = " ".join(quote(one.statement) for one in evidence) or "How much of that is waiting is not known."
    return f"In MPI, without starting and ending it, it spends {of_total(facts, spent)}. {known}"


def _by_call(facts: Facts, weight: FloatArray) -> list[tuple[str, float]]:
    """`weight` (per node) by the function that the program calls for it, largest first; what has no name is left out."""
    tree, call = facts.profile.tree, facts.activities.call
    counted = np.flatnonzero((weight > 0) & (call >= 0) & (tree.name[call] >= 0))
    sums = np.bincount(tree.name[call[counted]], weights=weight[counted], minlength=1)
    found: dict[str, float] = {}
    for at in np.flatnonzero(sums > 0).tolist():
        name = base_name(tree.names[at]).removeprefix("hpcrun_").removeprefix("libc_")
        name = quote(name[1:] if name.startswith("PMPI_") else name)  # MPI's profiling interface
        if name[:1].isalpha():
            found[name] = found.get(name, 0.0) + float(sums[at])
    return sorted(found.items(), key=lambda one: -one[1])


def _spends(facts: Facts, value: float, on: str) -> str:
    """`The run spends 3.17 s of 9.01 s (35.2 %) waiting.`"""
    amount = of_total(facts, value) if value > 0 else f"none of its {time_text(facts, facts.total)}"
    return f"The run spends {amount} {on}."
