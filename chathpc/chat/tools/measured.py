"""How much of a metric there is: in the run, at a place, on a rank or thread, in each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

import numpy as np
from pydantic import Field

from chathpc.chat.index import short_name
from chathpc.chat.quantities import named
from chathpc.chat.ratios import Ratio
from chathpc.chat.session import Session
from chathpc.chat.tools.locations import chosen
from chathpc.chat.tools.record import (
    NAME,
    WHOLES,
    Arguments,
    Cell,
    Column,
    FactList,
    Result,
    limit,
    share_of,
    source_of,
)
from chathpc.diagnosis.fact import Kind, told
from chathpc.errors import UsageError
from chathpc.profile import numbers
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.run import run_facts
from chathpc.profile.timeline import LaneKind
from chathpc.prompts.untrusted import quote

#: Where words name more metrics than this they name a kind of thing (stalls), and all are in a table.
_FEW = 2

RUN = "the run"
#: What has how much of a metric, the most important first.
_Values = Sequence[tuple[str, float]]


class MeasuredArguments(Arguments):
    """A metric, and of what."""

    metric: str = Field(
        min_length=1, max_length=200, description="Id of a metric (io.write.bytes), or words for it (bytes written)."
    )
    place: str = Field(default="", max_length=2_000, description=f"{NAME} Empty: the whole run.")
    who: str = Field(default="", max_length=100, description="One rank or thread (rank 0 thread 2); empty: all.")
    most: bool = Field(default=False, description="What has most of it first, whatever its time.")
    least: bool = Field(default=False, description="What has least of it first.")
    limit: int = limit(5)


def measured(session: Session, asked: MeasuredArguments) -> Result:
    """The values of the metrics that an id or words name, the nearest first, and what has most of it."""
    known = {**session.measured.metrics, **{id: one.metric for id, one in session.ratios.items()}}
    by_id = known.get(asked.metric)
    metrics = [by_id] if by_id else named(session, asked.metric) or [session.any_metric(asked.metric)]
    facts = FactList(source_of(session, metrics[0], "as it was measured"))
    found = [(metric, values) for metric in metrics if (values := _values(session, metric, asked))]
    if not found:
        of = f" of {quote(asked.who or asked.place)}" if asked.who or asked.place else ""
        raise UsageError(f"{metrics[0].id}{of} was not measured.", hint=session.asker.see("metrics", "what was"))
    if asked.most or asked.least:
        found = [(metric, _ordered(values, least=asked.least)) for metric, values in found]
    alike = len({_unit(session, metric) for metric, _ in found}) == 1
    if len(found) > _FEW and alike:
        # What most are told of comes first; of limits the lowest is the one that holds.
        found.sort(key=lambda each: each[1][0][1] if ".limit." in each[0].id else -each[1][0][1])
    said = []
    for metric, values in found[: asked.limit]:
        label, value = values[0]
        facts.add(Kind.VALUE, f"{metric.id} of {label}", value, _unit(session, metric), metric=metric.id)
        of = "" if label == RUN else f" of {quote(short_name(label))}"
        more = _more(session, metric, asked, values)
        note = metric.description.partition(" (")[2].partition(")")[0]  # what to compare with, other names
        beside = f"{note}; {metric.id}" if note else metric.id
        said.append(f"{_title(session, metric)}{of}: {_written(session, metric, value)}{more} ({beside}).")
    text = " ".join(said[:_FEW])
    if len(found) > _FEW:
        columns: tuple[Column, ...] = (Column("metric"), Column("value"), Column("meaning", prose=True))
        rows: list[tuple[Cell, ...]] = [
            (metric.id, told(values[0][1], _unit(session, metric)), quote(metric.description))
            for metric, values in found
        ]
    else:
        metric, values = found[0]
        columns = (Column("of"), Column(metric.id, _unit(session, metric)))
        rows = [(quote(name), amount) for name, amount in values[values[0][0] == RUN :]] if len(values) > 1 else []
    omitted = max(len(rows) - asked.limit, 0)
    return Result(text, columns if rows else (), tuple(rows[: asked.limit]), facts.all(), omitted=omitted)


def _ordered(values: _Values, *, least: bool) -> _Values:
    """What has most of a metric, or least, first; the run is no part of itself."""
    parts = [each for each in values if each[0] != RUN] or values
    return sorted(parts, key=lambda each: each[1], reverse=not least)


def in_short(session: Session, words: str) -> str:
    """What was measured of a quantity in the run, in a sentence or two; empty for words that name none."""
    return _told(session, words).text if named(session, words) else ""


def readings(session: Session, metrics: Sequence[str]) -> Result:
    """What was measured of a few metrics, in a sentence each; an empty answer where none was."""
    found = [_told(session, id) for id in metrics if id in session.measured.metrics or id in session.ratios]
    text = " ".join(one.text for one in found if one.text)
    return Result(text, facts=tuple(fact for one in found for fact in one.facts))


def _told(session: Session, metric: str) -> Result:
    """What was measured of a metric; an empty answer where nothing was."""
    try:
        return measured(session, MeasuredArguments(metric=metric))
    except UsageError:
        return Result()


def _values(session: Session, metric: Metric, asked: MeasuredArguments) -> _Values:
    """What was asked about, with its value; else the run, and what has most of it; nothing where there is no value."""
    profile = session.measured
    if ratio := session.ratios.get(metric.id):
        above, under = (_values(session, profile.metrics[one], asked) for one in (ratio.above, ratio.below))
        divisors = dict(under)
        return [(label, value / divisors[label]) for label, value in above if divisors.get(label)]
    if metric.aggregation == Aggregation.DERIVED:
        return [] if asked.who else _derived(session, metric, asked.place)
    if asked.who:
        nodes = profile.tree.outermost(session.find(asked.place).nodes) if asked.place else None
        totals = (
            profile.location_totals(metric.id)
            if nodes is None
            else profile.values.per_location(metric.id, nodes).sum(axis=1)
        )
        rows = np.flatnonzero(np.isfinite(totals)).astype(np.int32)
        value = float(totals[rows][chosen(session, asked.who, rows)].sum())
        return [(f"{quote(asked.place)} on {quote(asked.who)}" if asked.place else quote(asked.who), value)]
    if asked.place:
        target = session.find(asked.place)
        own, inclusive = session.value_at(target, metric)
        itself, below = (target.title, own), (f"{target.title} with all that it calls", inclusive)
        return [itself] if isclose(own, inclusive) else [itself, below] if own else [below]
    total = session.total(metric)
    if metric.aggregation == Aggregation.MAX:
        return [(RUN, total)]
    table = session.rows("function", metric)
    most = [(name, float(own)) for name, own in zip(table.name, table.exclusive, strict=True) if own > 0]
    if len(most) == 1 and not metric.id.startswith("gpu."):  # one function of a library: who calls it tells more
        labels, sums = session.facts.by_function(profile.dense(metric.id))
        callers = [(session.facts.label_names[label], float(own)) for label, own in zip(labels, sums, strict=True)]
        return [(RUN, total), *(callers if [name for name, _ in callers] != [most[0][0]] else [])]
    return [(RUN, total), *(most if len(most) > 1 else [])]


def _more(session: Session, metric: Metric, asked: MeasuredArguments, values: _Values) -> str:
    """What else a place has with all that it calls, or between which values the one that is told lies."""
    if metric.id == "gpu.kernel.mean-time" and asked.place and (each := _launches(session, asked.place)):
        return f" on average, {numbers.seconds(min(each))} to {numbers.seconds(max(each))}"
    if ratio := session.ratios.get(metric.id):
        return _over_the_run(session, ratio, asked)
    if metric.aggregation == Aggregation.DERIVED:
        each = _each(session, metric, asked.place).get(values[0][0], [])
        low, high = (numbers.quantity(find(each or [0.0]), metric.unit.value) for find in (min, max))
        return "" if low == high else f" on average, {low} to {high}"
    if not asked.place or asked.who or len(values) == 1:
        return ""
    return f" itself, {numbers.quantity(values[1][1], metric.unit.value)} with all that it calls"


def _launches(session: Session, place: str) -> list[float]:
    """How long each launch at a place took; empty where none was recorded."""
    recorded, nodes = session.measured.timeline, session.find(place).nodes
    lanes = [] if recorded is None else recorded.of(LaneKind.COMPUTE, LaneKind.COLLECTIVE)
    return [took * 1e-9 for lane in lanes for took in (lane.end - lane.start)[np.isin(lane.node, nodes)].tolist()]


def _derived(session: Session, metric: Metric, place: str) -> _Values:
    """A metric that does not add up: of each kernel, of a place, or of the run."""
    total = session.total(metric)
    if not place and np.isfinite(total):
        return [(RUN, total)]
    return [(label, float(np.mean(each))) for label, each in _each(session, metric, place).items()]


def _each(session: Session, metric: Metric, place: str) -> dict[str, list[float]]:
    """The values of a metric that does not add up, by what has them: at a place, or of all kernels, those with most time first."""
    profile = session.measured
    values = profile.values.exclusive(metric.id)
    if not len(values):
        values = profile.values.inclusive(metric.id)
    if place:
        target = session.find(place)
        there = [value for node in target.nodes.tolist() if (value := values.at(node)) is not None]
        return {target.title: there} if there else {}
    tree = profile.tree
    time = session.inclusive(session.metric())
    order = values.nodes[np.argsort(-time[values.nodes], kind="stable")]
    added: dict[str, list[float]] = {}
    for node in order.tolist():
        added.setdefault(tree.label(node), []).append(float(values.at(node) or 0.0))
    return added


def _over_the_run(session: Session, ratio: Ratio, asked: MeasuredArguments) -> str:
    """A rate of all processes together, where the time that it is of is a sum over them."""
    run = run_facts(session.measured)
    if ratio.unit != "bytes/s" or asked.place or asked.who or run.ranks <= 1 or not run.wall_seconds:
        return ""
    rate = session.measured.total(ratio.above) / run.wall_seconds
    return (
        f" in each process; of all, over the {numbers.seconds(run.wall_seconds)} of the run, {told(rate, ratio.unit)}"
    )


def _unit(session: Session, metric: Metric) -> str:
    ratio = session.ratios.get(metric.id)
    if metric.unit == Unit.BYTES and metric.id.endswith("-rate"):
        return "bytes/s"
    return metric.unit.value if ratio is None else ratio.unit


def _written(session: Session, metric: Metric, value: float) -> str:
    """A value, and of a time the share of what it is a part of."""
    whole = session.measured.metrics.get(WHOLES.get(metric.id, ""))
    unit = _unit(session, metric)
    text = numbers.number(value) if unit == "ratio" else told(value, unit)
    if whole is None or metric.unit != Unit.SECONDS:
        return text
    return f"{text}, {numbers.percent(share_of(value, session.total(whole)))} of the {quote(whole.description)}"


def _title(session: Session, metric: Metric) -> str:
    """What a metric is, as the beginning of a sentence: the first words of its description, as far as no other has the same."""
    short = metric.description.partition(": ")[0].partition(" (")[0]
    others = [one.description for one in session.measured.metrics.values() if one is not metric]
    text = metric.description.replace(": ", ", ") if any(one.startswith(short) for one in others) else short
    return f"{text[:1].upper()}{text[1:]}" if text else metric.id
