"""Which columns of the MetricTable belong together, and what they measure.

hpcprof writes every metric twice, inclusive and exclusive: `CPUTIME (usec):Sum (I)`, `CPUTIME (usec):Sum (E)`. With
`-M stats` there are `:Mean`, … beside `:Sum`; with `-M thread` a pair for each thread: `CPUTIME (usec).[3,0] (I)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chathpc.adapters.hpctoolkit.vocabulary import metrics_for
from chathpc.adapters.hpctoolkit_v3.experiment import MetricRow, StoredMetric
from chathpc.profile.metric import Aggregation, Metric

_NAME = re.compile(
    r"(?P<stem>.*?)(?P<thread>\.\[\d+,\d+\])?"
    r"(?::(?P<statistic>Sum|Mean|StdDev|CfVar|Min|Max))?(?: \((?P<scope>[IE])\))?",
    re.DOTALL,
)
#: A metric that the viewer computes, from the inclusive metrics with these order numbers: `#44/#62`, `100*(#47/#48)`.
_VIEW = re.compile(r"(?:(?P<factor>\d{1,9}(?:\.\d{1,9})?)\*)?\(?#(?P<over>\d{1,9})/#(?P<under>\d{1,9})\)?")


@dataclass(frozen=True, slots=True)
class Ratio:
    """A derived metric: `factor` × metric `over` / metric `under`, both canonical ids."""

    over: str
    under: str
    factor: float


@dataclass(slots=True)
class Series:
    """The columns of one metric, as ids in the MetricTable: one each, or one for each thread."""

    name: str
    inclusive: list[int] = field(default_factory=list)
    exclusive: list[int] = field(default_factory=list)
    summed: bool = False
    hidden: bool = False
    view: str = ""


@dataclass(frozen=True, slots=True)
class MetricTable:
    """The metrics of a database by canonical id: what they are, their columns or their formula, and the stored column.

    `stored` maps a metric to the number of its inclusive value in the records of the per-thread files.
    """

    metrics: dict[str, Metric]
    series: dict[str, Series]
    ratios: dict[str, Ratio]
    stored: dict[str, int]


def metric_table(rows: Sequence[MetricRow], stored: Iterable[StoredMetric]) -> MetricTable:
    """Pair up the columns and name the metrics in the common vocabulary."""
    series = _series(rows)
    metrics = dict(zip(series, metrics_for(series), strict=True))
    stems = {row.order: _split(row.name)[0] for row in rows if row.order >= 0}
    by_order = {order: metrics[stem].id for order, stem in stems.items() if stem in metrics}
    table = MetricTable({}, {}, {}, {})
    for name, one in series.items():
        metric = replace(metrics[name], hidden=metrics[name].hidden or one.hidden)
        if one.view:
            ratio = _ratio(one.view, by_order)
            if ratio is None:
                continue  # a formula of another shape; the metrics that it is made of are there
            table.ratios[metric.id] = ratio
            metric = replace(metric, aggregation=Aggregation.DERIVED)
        else:
            table.series[metric.id] = one
        table.metrics[metric.id] = metric
    # A ratio may only rest on measured metrics.
    measured = table.series.keys()
    for identifier in [key for key, ratio in table.ratios.items() if not {ratio.over, ratio.under} <= measured]:
        del table.ratios[identifier], table.metrics[identifier]
    for column in stored:
        stem, _, _, scope = _split(column.name)
        if scope != "E" and stem in metrics and metrics[stem].id in table.series:
            table.stored.setdefault(metrics[stem].id, column.column)
    return table


def _ratio(formula: str, by_order: Mapping[int, str]) -> Ratio | None:
    match = _VIEW.fullmatch(formula)
    over, under = (by_order.get(int(match[part])) for part in ("over", "under")) if match else (None, None)
    if match is None or over is None or under is None:
        return None
    return Ratio(over, under, float(match["factor"] or 1))


def _split(name: str) -> tuple[str, bool, str, str]:
    """Stem, whether the column is of one thread, statistic and scope of a column's name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return name, False, "", ""
    return match["stem"], match["thread"] is not None, match["statistic"] or "", match["scope"] or ""


def _series(rows: Sequence[MetricRow]) -> dict[str, Series]:
    """Columns by stem. Sums are preferred to columns of threads; other statistics can be computed and are left out."""
    found: dict[str, Series] = {}
    for row in rows:
        stem, of_thread, statistic, scope = _split(row.name)
        if statistic not in ("", "Sum"):
            continue
        one = found.setdefault(stem, Series(stem, hidden=row.hidden))
        if of_thread and one.summed:
            continue
        if not of_thread and not one.summed:
            one.inclusive.clear()
            one.exclusive.clear()
            one.summed = True
        (one.inclusive if scope == "I" else one.exclusive).append(row.id)
        one.view = one.view or row.view
    return found
