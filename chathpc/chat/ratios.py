"""Rates and means that follow from two metrics that were added up: bytes a second, seconds a call, instructions a cycle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chathpc.profile.metric import Aggregation, Metric, Unit

#: Ends of the ids of two metrics of the same thing, the end of their ratio's, its unit, and what it is.
_OF_ENDS = (
    (".bytes", ".time", ".bandwidth", "bytes/s", "{above} per second of {below}"),
    (".bytes", ".count", ".mean-size", "bytes", "mean size of {below}"),
    (".time", ".count", ".mean-time", "s", "mean time of {below}"),
)
_IPC = ("cpu.instructions", "cpu.cycles")


@dataclass(frozen=True, slots=True)
class Ratio:
    """The metric `metric`, of which each value is one of `above` divided by that of `below`, in `unit`."""

    metric: Metric
    above: str
    below: str
    unit: str


def ratios(metrics: Mapping[str, Metric]) -> dict[str, Ratio]:
    """The ratios that `metrics` allow, by id."""
    return {each.metric.id: each for each in _ratios({id: one for id, one in metrics.items() if _adds_up(one)})}


def _ratios(metrics: Mapping[str, Metric]) -> Iterator[Ratio]:
    for id, metric in metrics.items():
        for over, under, end, unit, what in _OF_ENDS:
            below = metrics.get(f"{id.removesuffix(over)}{under}") if id.endswith(over) else None
            if below is not None:
                described = what.format(above=metric.description, below=below.description)
                kind = Unit.RATIO if unit == "bytes/s" else Unit(unit)
                yield Ratio(_derived(f"{id.removesuffix(over)}{end}", kind, described), id, below.id, unit)
    if metrics.keys() >= set(_IPC):
        yield Ratio(_derived("cpu.ipc", Unit.RATIO, "instructions per cycle (IPC)"), *_IPC, "ratio")


def _adds_up(metric: Metric) -> bool:
    return metric.has_values and metric.aggregation == Aggregation.SUM and not metric.hidden


def _derived(id: str, unit: Unit, description: str) -> Metric:
    return Metric(id, unit, description, id, aggregation=Aggregation.DERIVED)
