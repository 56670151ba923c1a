"""One rank or thread compared with the others: how much more it computes, and in which functions."""

from __future__ import annotations

import re

import numpy as np

from chathpc.chat.session import Session
from chathpc.chat.tools.amounts import source_of
from chathpc.chat.tools.record import Column, FactList, Result
from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.fact import Form, Kind
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.metric import Metric
from chathpc.profile.tree import BoolArray, FloatArray, IntArray
from chathpc.prompts.untrusted import quote

#: What is no work of a thread's own.
NOT_WORKING = (
    Activity.OMP_WAIT, Activity.OMP_LOCK, Activity.OMP_OVERHEAD, Activity.LOCK, Activity.SLEEP, Activity.BLOCKED, Activity.JOIN,
    Activity.MPI, Activity.MPI_SETUP, Activity.GPU_SYNC, Activity.HELPER, Activity.PROFILER,
)  # fmt: skip
WORKING = tuple(kind for kind in Activity if kind not in NOT_WORKING)
#: A difference matters from this part of the mean on.
WORTH_MENTIONING = 0.05
#: Between one and another, as questions name them.
AGAINST = " against "
#: A function with less of all differences is not looked at.
_NOTHING = 1e-3
_PART = re.compile(r"(rank|process|task|thread|node)s? ?#?(?:no\. |number )?(\d{1,7})")
_COLUMN = {"process": "rank", "task": "rank"}


def one_location(session: Session, who: str, metric: Metric, most: int) -> Result:
    """Computing and waiting time of one rank or thread (`rank 0 thread 2`) against the mean of the others, and that by function."""
    facts_of = session.facts
    if not facts_of.has_host_time or metric.id != facts_of.metric:
        raise UsageError(f"The profile does not break down {metric.id} of one rank or thread by kind of work.")
    one, _, other = who.partition(AGAINST)
    mine = chosen(session, one, facts_of.locations)
    rest = chosen(session, other, facts_of.locations) & ~mine if other else ~mine
    working = facts_of.matrix[:, WORKING].sum(axis=1)
    waiting = facts_of.matrix[:, NOT_WORKING].sum(axis=1)
    if not rest.any():
        raise UsageError("There is no other rank or thread to compare with.")
    name = _name(session, mine)
    them = _name(session, rest) if other else "the others" if rest.sum() > 1 else "the other"
    unit = metric.unit.value
    own, theirs = float(working[mine].mean()), float(working[rest].mean())
    waits, wait_rest = float(waiting[mine].mean()), float(waiting[rest].mean())
    facts = FactList(source_of(session, metric, "by location; computing excludes waiting and MPI calls"))
    for subject, value in (
        (f"the computing time of {name}", own), (f"the mean computing time of {them}", theirs),
        (f"the waiting time of {name}", waits), (f"the mean waiting time of {them}", wait_rest),
        (f"the difference of {name}", abs(own - theirs)),
    ):  # fmt: skip
        facts.add(Kind.VALUE, subject, value, unit, form=Form.ONE, metric=metric.id)
    more = "more" if own >= theirs else "less"
    several = rest.sum() > 1
    others = them if other else f"the {numbers.count(int(rest.sum()))} others" if several else "the other one"
    text = f"{name[0].upper()}{name[1:]} computes for {_of(own, unit)}, {others} for {_of(theirs, unit)}"
    text += " on average" if several else ""
    real = is_real(facts_of, own, theirs)
    if theirs > 0 and real:
        ratio = own / theirs
        facts.add(Kind.VALUE, f"{name} against {them}", ratio, "x", form=Form.ONE, metric=metric.id)
        text += f": {_of(abs(own - theirs), unit)} {more} ({numbers.speedup(ratio)})."
    else:
        text += ". The difference is too small to matter or within sampling error."
    does = "waits or is in MPI" if facts_of.spent(Activity.MPI) else "waits"
    text += f" It {does} for {_of(waits, unit)}, {them} for {_of(wait_rest, unit)}."
    rows, difference = _by_function(session, mine, rest)
    largest = rows[0] if rows else None
    if real and largest is not None and (largest[3] > 0) == (own > theirs):
        facts.add(Kind.VALUE, f"the difference in {largest[0]}", abs(largest[3]), unit, form=Form.ONE, metric=metric.id)
        text += f" Most of the difference is in {largest[0]}: {_of(abs(largest[3]), unit)} {more}."
    if real and own < theirs:
        text += f" So it is not slow: it has less work and waits for {them}."
    shown = [row for row in rows if abs(row[3]) >= WORTH_MENTIONING * max(difference, 1e-12)][:most]
    for function, here, there, apart in shown:
        facts.add(Kind.VALUE, f"{function} on {name}", here, unit, metric=metric.id)
        facts.add(Kind.VALUE, f"{function} on {them}", there, unit, metric=metric.id)
        facts.add(Kind.VALUE, f"the difference in {function}", abs(apart), unit, form=Form.ONE, metric=metric.id)
    columns = (
        Column("function"),
        Column(name, unit),
        Column(f"mean of {them}" if several else them, unit),
        Column("difference", unit),
    )
    return Result(f"{text} Computing is {metric.id} without waiting and MPI calls.", columns, tuple(shown), facts.all())


def _name(session: Session, those: BoolArray) -> str:
    """`rank 0 thread 2`, or `a thread of rank 0` for all of them."""
    name = session.measured.where.label(int(session.facts.locations[np.flatnonzero(those)[0]]))
    return f"a thread of {name.rsplit(' thread ', 1)[0]}" if those.sum() > 1 else name


def is_real(facts: Facts, one: float, other: float) -> bool:
    """Whether two times of locations differ by more than sampling explains, and by enough to matter."""
    spread = error(facts, one) ** 2 + error(facts, other) ** 2
    return bool(abs(one - other) > max(common()["sigma"].value * spread**0.5, WORTH_MENTIONING * max(one, other)))


def error(facts: Facts, value: float) -> float:
    """The standard error of a time from sampling, in its unit: that of its number of samples, their square root."""
    samples = facts.samples
    period = facts.total / samples if samples > 0 else 0.0
    return float((value * period) ** 0.5)


def chosen(session: Session, who: str, rows: IntArray) -> BoolArray:
    """Which of these locations `who` means; UsageError, with those that there are, if none."""
    where = session.measured.where
    columns = {"rank": where.rank, "thread": where.thread, "node": where.node}
    found = np.ones(len(rows), dtype=bool)
    said = False
    for part, number in _PART.findall(who.casefold()):
        ids = columns[_COLUMN.get(part, part)][rows]
        if part in ("rank", "process", "task") and (ids < 0).all() and int(number) == 0:
            said = True  # a program without MPI is what its user calls rank 0
            continue
        found &= ids == int(number)
        said = True
    if not said or not found.any():
        names = [where.label(int(at)) for at in rows[:8].tolist()]
        raise UsageError(f"There is no '{quote(who)}' in the profile.", hint=f"There are: {', '.join(names)}.")
    return np.asarray(found)


def computing_by_function(session: Session) -> FloatArray:
    """Computing time of each of the program's threads in each function: array (locations × names of functions), made once."""
    facts = session.facts

    def make() -> FloatArray:
        works = np.isin(facts.activities.kind, WORKING)
        group = np.where(works, facts.caller_label, np.int32(-1)).astype(np.int32)
        return facts.grouped(group, len(facts.label_names))

    return session.once("computing by function", make)


def _by_function(
    session: Session, mine: BoolArray, rest: BoolArray
) -> tuple[list[tuple[str, float, float, float]], float]:
    """Function, computing time there, mean of the others, difference: the largest difference first; and the sum of all."""
    texts = session.facts.label_names
    matrix = computing_by_function(session)
    here, there = matrix[mine].mean(axis=0), matrix[rest].mean(axis=0)
    apart = np.abs(here - there)
    added: dict[str, FloatArray] = {}
    for label in np.flatnonzero(apart > _NOTHING * apart.sum()).tolist():  # clones of a function are one
        function = quote(readable_function(texts[label]))
        added[function] = added.get(function, np.zeros(2)) + np.array([here[label], there[label]])
    rows = [(function, float(one), float(other), float(one - other)) for function, (one, other) in added.items()]
    rows.sort(key=lambda row: -abs(row[3]))
    return rows, sum(abs(row[3]) for row in rows)


def _of(value: float, unit: str) -> str:
    return numbers.quantity(value, unit)
