"""A profile as call stacks with weights, what flame graphs are drawn from: collapsed stacks, and speedscope's file format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from chathpc import __version__
from chathpc.errors import UsageError
from chathpc.profile.metric import Aggregation, Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
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


#: The format separates frames by semicolons and knows no way to write one in a name.
_SEMICOLON = {ord(";"): ":"}


def folded(profile: Profile, metric: str | None) -> str:
    """Collapsed stacks, `main;solve;exp 1200`: the call paths weighted by `metric` (default: the time); UsageError for one that does not add up.

    Weights are whole numbers: microseconds for times, else the metric's unit. What was cut off is carried to the next
    line, so that the sum is that of the profile to one unit.
    """
    chosen = metric_to_export(profile, metric)
    tree = profile.tree
    scale = whole_number_scale(chosen.unit)
    lines: dict[str, int] = {}
    carried = 0.0
    for frames, value in stacks(profile, chosen):
        exact = value * scale + carried
        weight = round(exact)
        carried = exact - weight
        if weight > 0:
            path = ";".join(clean(tree.label(step)).translate(_SEMICOLON) or "?" for step in frames)
            lines[path] = lines.get(path, 0) + weight
    return "".join(f"{path} {weight}\n" for path, weight in lines.items())


_UNITS = {Unit.SECONDS: "seconds", Unit.BYTES: "bytes"}


def speedscope(profile: Profile, metric: str | None) -> str:
    """Speedscope's file format (https://www.speedscope.app/file-format-schema.json): one sampled profile for `metric`, or for each metric that
    adds up, the time first.
    """
    first = metric_to_export(profile, metric)
    others = [
        one
        for one in profile.metrics.values()
        if metric is None and one.id != first.id and one.aggregation == Aggregation.SUM and one.has_values
    ]
    frames: dict[tuple[str, str | None, int], int] = {}
    profiles = [_sampled(profile, one, frames) for one in (first, *(one for one in others if not one.hidden))]
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": f"chathpc {__version__}",
        "name": profile.title,
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": name, **({"file": file} if file else {}), **({"line": line} if line else {})}
                for name, file, line in frames
            ]
        },
        "profiles": profiles,
    }
    return json.dumps(document) + "\n"


def _sampled(profile: Profile, metric: Metric, frames: dict[tuple[str, str | None, int], int]) -> dict[str, Any]:
    tree = profile.tree
    number: dict[int, int] = {}
    samples, weights = [], []
    for path, value in stacks(profile, metric):
        for step in path:
            if step not in number:
                key = (tree.label(step), tree.file_name(step), int(tree.line[step]))
                number[step] = frames.setdefault(key, len(frames))
        samples.append([number[step] for step in path])
        weights.append(value)
    return {
        "type": "sampled",
        "name": f"{metric.id} ({metric.tool or metric.source_name})",
        "unit": _UNITS.get(metric.unit, "none"),
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }
