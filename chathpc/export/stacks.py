"""A profile as call stacks with weights: what flame graphs are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chathpc.errors import UsageError
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree


def metric_to_export(profile: Profile, name: str | None) -> Metric:
    """The metric to weigh stacks by: `name`, else the time; UsageError if its values do not add up or there is none."""
    metric = profile.time if name is None else profile.metric(name)
    summed = [key for key, one in profile.metrics.items() if one.aggregation == Aggregation.SUM and one.has_values]
    if metric is None:
        metric = profile.metrics[summed[0]] if summed else None
    if metric is None or metric.aggregation != Aggregation.SUM:
        what = f"'{metric.id}' does not add up over call paths" if metric else "This profile has no metric that adds up"
        raise UsageError(f"{what}.", hint=f"These do: {', '.join(summed)}." if summed else "Export it as csv.")
    return metric


def stacks(profile: Profile, metric: Metric) -> Iterator[tuple[list[int], float]]:
    """Every row of functions (as nodes, outermost first) with a value of its own above zero, in the metric's unit.

    Lines, loops and instructions count for the function around them, as flame graphs are drawn. Negative values, which
    rounding leaves, are left out.
    """
    tree = profile.tree
    owner = tree.function
    column = profile.exclusive(metric.id)
    sums = np.bincount(owner[column.nodes], weights=column.values, minlength=len(tree))
    for node in np.flatnonzero(np.isfinite(sums) & (sums > 0)).tolist():
        yield [step for step in tree.path(node) if owner[step] == step], float(sums[node])


def event_name(tree: CallTree, node: int) -> str:
    """What an event at `node` is called: the function for lines, loops and instructions, else the node's own label."""
    return tree.label(node) if tree.function[node] == node else tree.function_name(node)


def whole_number_scale(unit: Unit) -> float:
    """Factor to whole numbers, for formats that have no others: seconds become microseconds."""
    return 1e6 if unit == Unit.SECONDS else 1.0
