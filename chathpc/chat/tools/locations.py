"""How a place's time is spread over ranks and threads."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from chathpc.chat.session import Session
from chathpc.chat.tools.amounts import METRIC, NAME, limit, source_of
from chathpc.chat.tools.one_location import NOT_WORKING, WORKING, WORTH_MENTIONING, error, is_real, one_location
from chathpc.chat.tools.record import Arguments, Column, FactList, Result
from chathpc.diagnosis.fact import Form, Kind, Quantity
from chathpc.diagnosis.rules.input_output_log import is_log, processes_of, slowest
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.tree import FloatArray

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
    limit: int = limit()


def locations(session: Session, asked: LocationArguments) -> Result:
    """Smallest, median, mean and largest value over the ranks and threads, and which of them stand out."""
    metric = session.metric(asked.metric)
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
    if not len(used):
        raise UsageError(f"The profile does not break down {metric.id} by rank or thread.")
    title, note, what = "The run", "", metric.id
    values: FloatArray = totals[used]
    if of_host and not asked.place and not asked.metric:
        # What a thread waits, the others work: in all, threads of one run take the same time.
        what = "computing time"
        values = facts_of.matrix[np.searchsorted(facts_of.locations, used)][:, WORKING].sum(axis=1)
        note = f" Computing time is {metric.id} without waiting and MPI calls."
    if asked.place:
        target = session.find(asked.place)
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
    source = source_of(session, metric, "by location; a location without a value counts as zero")
    facts = FactList(source)
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
        facts.add(Kind.VALUE, f"the {name} {what} of {of}{who}", figures[name], unit, form=Form.ONE, metric=metric.id)
    slowest, fastest = label(int(used[high])), label(int(used[low]))
    if len(values) == 1:
        text = f"{title} has one location, {slowest}, with {written['largest']} of {what}."
    elif of_host and not is_real(facts_of, figures["largest"], figures["smallest"]):
        text = f"All {count} take about as long{f' in {title}' if asked.place else ''}: {written['smallest']} ({fastest}) to "
        text += f"{written['largest']} ({slowest}) of {what}, {written['mean']} on average, {written['median']} median."
        text += " The difference is too small to matter or within sampling error."
    else:
        text = f"The slowest is {slowest} with {written['largest']} of {what}{f' in {title}' if asked.place else ''}, "
        text += f"the fastest {fastest} with {written['smallest']}; the mean of {count} is {written['mean']}, the median {written['median']}."
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
    if len(values) >= _FEWEST:
        said = [
            f"{label(int(used[at]))} with {numbers.quantity(float(values[at]), unit)}" for at in outliers[: asked.limit]
        ]
        more = f" and {len(outliers) - len(said)} more" if len(outliers) > len(said) else ""
        text += f" Outliers: {', '.join(said)}{more}." if said else ""
        for at in outliers[: asked.limit]:
            facts.add(
                Kind.VALUE,
                f"{what} of {label(int(used[at]))}, which stands out,",
                float(values[at]),
                unit,
                metric=metric.id,
            )
    order = np.argsort(-values, kind="stable")[: asked.limit]
    rows = tuple((label(int(used[at])), float(values[at])) for at in order.tolist())
    for who, value in rows:
        facts.add(Kind.VALUE, f"{what} of {who} in {of}", value, unit, metric=metric.id)
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
