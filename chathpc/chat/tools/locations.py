"""How a place's time is spread over ranks and threads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from chathpc.chat.session import Session
from chathpc.chat.tools.record import METRIC, NAME, Arguments, Column, FactList, Result, facts_on, limit
from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.fact import Form, Kind, Quantity
from chathpc.diagnosis.facts import Facts, readable_function
from chathpc.diagnosis.rules.input_output_log import is_log, processes_of, slowest
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.metric import Metric
from chathpc.profile.profile import RANKS_ADDED
from chathpc.profile.tree import BoolArray, FloatArray, IntArray, is_one_of
from chathpc.prompts.untrusted import quote

#: Contexts of a place whose values by location are read, those with most of the value first.
_MOST_CONTEXTS = 1_000
#: A location is an outlier this many quartile distances beyond the quartiles (Tukey 1977, Exploratory Data Analysis).
_FENCE = 1.5
#: With fewer locations quartiles say nothing.
_FEWEST = 4


class LocationArguments(Arguments):
    """Ranks and threads at a place."""

    place: str = Field(default="", max_length=2_000, description=f"{NAME} Empty: the whole run.")
    who: str = Field(
        default="",
        max_length=100,
        description="One rank or thread (rank 0 thread 2), compared with the others, or with one (rank 0 against rank 3).",
    )
    metric: str = METRIC
    # Of the whole run; models ask for that of one rank by `who`.
    kind: SkipJsonSchema[Literal["computing", "mpi", "waiting"]] = Field(
        default="computing", description="What kind of time."
    )
    least: SkipJsonSchema[bool] = Field(default=False, description="That with least first.")
    limit: int = limit()


def locations(session: Session, asked: LocationArguments) -> Result:
    """Smallest, median, mean and largest value over the ranks and threads, and which of them stand out."""
    target = session.find(asked.place) if asked.place else None
    metric = session.metric(asked.metric) if target is None else session.metric_at(asked.metric, target)
    profile = session.measured
    if asked.who and not asked.place:
        return one_location(session, asked.who, metric, asked.limit)
    totals = profile.location_totals(metric.id)
    used = np.flatnonzero(np.isfinite(totals))
    facts_of = session.facts
    if not asked.place and metric.id == "io.time" and (told := _of_shared_files(session)):
        return told
    of_host = facts_of.has_host_time and metric.id == facts_of.metric
    if of_host:  # without the threads that libraries run for themselves
        used = used[np.isin(used, facts_of.locations)]
    if asked.who:
        for one in asked.who.split(AGAINST):
            chosen(session, one, used.astype(np.int32))  # or it is told which there are
    if not len(used):
        raise UsageError(f"The profile does not break down {metric.id} by rank or thread.")
    title, note, what = "The run", "", metric.id
    values: FloatArray = totals[used]
    if of_host and not asked.place and not asked.metric:
        # What a thread waits, the others work: in all, threads of one run take the same time.
        what, activities, note = _KINDS[asked.kind]
        values = facts_of.matrix[np.searchsorted(facts_of.locations, used)][:, activities].sum(axis=1)
        note = f" {note.format(metric.id)}"
        if asked.kind == "waiting" and not profile.sees_waiting:
            note += f" {metric.id} does not count while a thread is blocked, so that it waits longer."
    elif asked.kind != "computing":
        raise UsageError(
            f"The profile does not break down {_KINDS[asked.kind][0]} {'of a place ' if asked.place else ''}by rank or thread."
        )
    if target is not None:
        title = target.title
        nodes = profile.tree.outermost(target.nodes)
        inclusive = session.inclusive(metric)[nodes]
        if len(nodes) > _MOST_CONTEXTS:
            largest = np.sort(np.argsort(-inclusive, kind="stable")[:_MOST_CONTEXTS])
            covered = inclusive[largest].sum() / inclusive.sum() if inclusive.sum() > 0 else 1.0
            note = f" These are its {numbers.count(_MOST_CONTEXTS)} largest contexts, with {numbers.percent(covered)} of its value."
            nodes = nodes[largest]
        values = profile.values.per_location(metric.id, nodes).sum(axis=1)[used]
        if of_host:
            waited = float(profile.tree.inclusive(facts_of.of(*NOT_WORKING))[nodes].sum())
            share = waited / values.sum() if values.sum() > 0 else 0.0
            if share >= WORTH_MENTIONING:
                note += f" Of that, {numbers.percent(min(share, 1.0))} is waiting or MPI calls."
    unit = metric.unit.value
    facts = facts_on(session, metric, "by location; a location without a value counts as zero")
    low, high = int(np.argmin(values)), int(np.argmax(values))
    label = profile.where.label
    figures = {
        "smallest": float(values.min()), "median": float(np.median(values)), "mean": float(values.mean()),
        "largest": float(values.max()),
    }  # fmt: skip
    written = {name: numbers.quantity(value, unit) for name, value in figures.items()}
    count = numbers.count(len(values))
    facts.add(Kind.COUNT, title, len(values), "locations", metric=metric.id)
    of = f"{title[0].lower()}{title[1:]}" if not asked.place else title
    for name, at in (("smallest", low), ("median", -1), ("mean", -1), ("largest", high)):
        who = f" ({label(int(used[at]))})" if at >= 0 else ""
        facts.value(f"the {name} {what} of {of}{who}", figures[name], form=Form.ONE)
    slowest, fastest = label(int(used[high])), label(int(used[low]))
    if len(values) == 1:
        text = f"{title} has one location, {slowest}, with {written['largest']} of {what}."
        if (ranks := profile.told(RANKS_ADDED)) > 1:
            text = f"{title} has {written['largest']} of {what}. It is added up over {numbers.count(ranks)} ranks, so that their balance is not known."
            facts.count("the run", ranks, "ranks")
    elif figures["largest"] <= 0:
        text = f"No rank or thread has any {what}."
    elif of_host and not is_real(facts_of, figures["largest"], figures["smallest"]):
        takes = "take" if asked.kind == "computing" else "wait" if asked.kind == "waiting" else "are in MPI"
        text = f"All {count} {takes} about as long{f' in {title}' if asked.place else ''}: {written['smallest']} ({fastest}) to "
        text += f"{written['largest']} ({slowest}) of {what}, {written['mean']} on average, {written['median']} median."
        text += " The difference is too small to matter or within sampling error."
    else:
        most, least = ("slowest", "fastest") if asked.kind == "computing" else ("longest", "shortest")
        ends = [(most, slowest, written["largest"]), (least, fastest, written["smallest"])]
        (first, one, much), (second, other, little) = reversed(ends) if asked.least else ends
        text = f"The {first} is {one} with {much} of {what}{f' in {title}' if asked.place else ''}, "
        text += f"the {second} {other} with {little}; the mean of {count} is {written['mean']}, the median {written['median']}."
    if figures["mean"] > 0 and len(values) > 1:
        ratio = figures["largest"] / figures["mean"]
        text += f" The largest is {numbers.speedup(ratio)} the mean."
        facts.add(
            Kind.COMPARISON, f"the largest {what} of {of}", ratio, "times", form=Form.ONE, whole=Quantity(of="the mean"),
            metric=metric.id,
        )  # fmt: skip
    if of_host and len(values) > 1:
        text += _significance(session, figures["largest"], figures["smallest"], unit, facts)
    outliers = _outliers(values)
    said = [
        f"{label(int(used[at]))} with {numbers.quantity(float(values[at]), unit)}" for at in outliers[: asked.limit]
    ]
    more = f" and {len(outliers) - len(said)} more" if len(outliers) > len(said) else ""
    text += f" Outliers: {', '.join(said)}{more}." if said else ""
    for at in outliers[: asked.limit]:
        facts.value(f"{what} of {label(int(used[at]))}, which stands out,", float(values[at]))
    order = np.argsort(values if asked.least else -values, kind="stable")[: asked.limit]
    rows = tuple((label(int(used[at])), float(values[at])) for at in order.tolist())
    for who, value in rows:
        facts.value(f"{what} of {who} in {of}", value)
    return Result(
        text + note,
        (Column("location"), Column(what.split()[0], unit)),
        rows,
        facts.all(),
        omitted=len(values) - len(rows),
    )


def _of_shared_files(session: Session) -> Result | None:
    """The slowest rank where a log has files that ranks share, of which it tells the sum: that is no rank's time. None for other profiles."""
    facts_of = session.facts
    if not is_log(facts_of) or processes_of(facts_of.profile) < 2:
        return None
    most, count = slowest(facts_of), processes_of(facts_of.profile)
    who = f"rank {most.rank}" if most.rank >= 0 else "a rank that the log does not name"
    facts = FactList(
        "the log: times of its files, of shared files the slowest rank's own or, where unknown, the mean of the others"
    )
    facts.add(Kind.VALUE, f"input and output of {who}", most.seconds, "s", metric="io.time")
    facts.add(Kind.VALUE, "the mean input and output of a rank", most.mean, "s", form=Form.ONE, metric="io.time")
    text = f"The slowest is {who} with {numbers.seconds(most.seconds)} in input and output ({numbers.percent(most.share)} of the run); "
    text += f"the mean of {numbers.count(count)} ranks is {numbers.seconds(most.mean)}."
    text += " Of files that ranks share the log has the sum, the slowest and the fastest rank."
    return Result(text, facts=facts.all())


def _significance(session: Session, high: float, low: float, unit: str, facts: FactList) -> str:
    """How sure it is that the slowest and the fastest differ."""
    if not is_real(session.facts, high, low):
        return ""
    spread = (error(session.facts, high) ** 2 + error(session.facts, low) ** 2) ** 0.5
    if spread <= 0:
        return ""
    facts.add(Kind.VALUE, "the standard error of the difference", spread, unit, form=Form.ONE)
    return f" The difference is significant: its standard error from sampling is {numbers.quantity(spread, unit)}."


def _outliers(values: FloatArray) -> list[int]:
    """Positions beyond the fences, the most distant first."""
    if len(values) < _FEWEST:
        return []
    first, median, third = np.quantile(values, [0.25, 0.5, 0.75])
    reach = _FENCE * (third - first)
    far = np.abs(values - median) >= WORTH_MENTIONING * abs(median)
    outside = np.flatnonzero(far & ((values < first - reach) | (values > third + reach)))
    found: list[int] = outside[np.argsort(-np.abs(values[outside] - median), kind="stable")].tolist()
    return found


#: What is no work of a thread's own.
NOT_WORKING = (
    Activity.OMP_WAIT, Activity.OMP_LOCK, Activity.OMP_OVERHEAD, Activity.LOCK, Activity.SLEEP, Activity.BLOCKED, Activity.JOIN,
    Activity.MPI, Activity.MPI_SETUP, Activity.GPU_SYNC, Activity.HELPER, Activity.PROFILER,
)  # fmt: skip
WORKING = tuple(kind for kind in Activity if kind not in NOT_WORKING)
#: Kinds of a thread's time: what it is called, which activities it is, and what it excludes.
_KINDS: Mapping[str, tuple[str, tuple[Activity, ...], str]] = {
    "computing": ("computing time", WORKING, "Computing time is {} without waiting and MPI calls."),
    "mpi": ("MPI time", (Activity.MPI,), "MPI time is {} in MPI calls, without starting and ending MPI."),
    "waiting": (
        "waiting time",
        tuple(kind for kind in NOT_WORKING if kind not in (Activity.MPI_SETUP, Activity.HELPER, Activity.PROFILER)),
        "Waiting time is {} in MPI calls and in waiting for threads, locks and devices.",
    ),
}
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
    facts = facts_on(session, metric, "by location; computing excludes waiting and MPI calls")
    for subject, value in (
        (f"the computing time of {name}", own), (f"the mean computing time of {them}", theirs),
        (f"the waiting time of {name}", waits), (f"the mean waiting time of {them}", wait_rest),
        (f"the difference of {name}", abs(own - theirs)),
    ):  # fmt: skip
        facts.value(subject, value, form=Form.ONE)
    more = "more" if own >= theirs else "less"
    several = rest.sum() > 1
    others = them if other else f"the {numbers.count(int(rest.sum()))} others" if several else "the other one"
    text = f"{name[0].upper()}{name[1:]} computes for {numbers.quantity(own, unit)}, {others} for {numbers.quantity(theirs, unit)}"
    text += " on average" if several else ""
    real = is_real(facts_of, own, theirs)
    if theirs > 0 and real:
        ratio = own / theirs
        facts.value(f"{name} against {them}", ratio, "x", form=Form.ONE)
        text += f": {numbers.quantity(abs(own - theirs), unit)} {more} ({numbers.speedup(ratio)})."
    else:
        text += ". The difference is too small to matter or within sampling error."
    does = "waits or is in MPI" if facts_of.spent(Activity.MPI) else "waits"
    text += f" It {does} for {numbers.quantity(waits, unit)}, {them} for {numbers.quantity(wait_rest, unit)}."
    rows, difference = _by_function(session, mine, rest)
    largest = rows[0] if rows else None
    if real and largest is not None and (largest[3] > 0) == (own > theirs):
        facts.value(f"the difference in {largest[0]}", abs(largest[3]), form=Form.ONE)
        text += f" Most of the difference is in {largest[0]}: {numbers.quantity(abs(largest[3]), unit)} {more}."
    if real and own < theirs:
        text += f" So it is not slow: it has less work and waits for {them}."
    shown = [row for row in rows if abs(row[3]) >= WORTH_MENTIONING * max(difference, 1e-12)][:most]
    for function, here, there, apart in shown:
        facts.value(f"{function} on {name}", here)
        facts.value(f"{function} on {them}", there)
        facts.value(f"the difference in {function}", abs(apart), form=Form.ONE)
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
        works = is_one_of(facts.activities.kind, WORKING)
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
