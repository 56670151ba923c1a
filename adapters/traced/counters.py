"""Counters of a trace as metrics of their kernels."""

from __future__ import annotations

import re

import numpy as np

from chathpc.adapters.traced.assemble import Assembled, put_mean
from chathpc.adapters.traced.recording import Recording
from chathpc.profile.metric import Aggregation, Metric, Unit, slug

#: Counters whose values over several launches are averaged, not added: ratios, percentages, rates.
_MEAN = re.compile(
    r"pct|percent|ratio|util|hit|rate|per_|_per|avg|mean|\.max|\.min|busy$|stalled|occupancy|throughput|intensity", re.I
)
#: Counters of one trace that are taken in.
MOST = 5_000
#: Characters of a counter's name that its metric's id keeps.
LONGEST_SLUG = 120


def is_mean(name: str) -> bool:
    """True for counters whose values over launches are averaged."""
    return _MEAN.search(name) is not None


def put_counters(recording: Recording, parts: Assembled) -> None:
    """Add the counters of `recording` to the metrics as `other.…`: sums over the launches of a kernel, or means of ratios."""
    duration = np.array(recording.op_end, dtype=np.int64) - np.array(recording.op_start, dtype=np.int64)
    for name, (operations, amounts) in sorted(recording.counters.items())[:MOST]:
        identifier = f"other.{slug(name, longest=LONGEST_SLUG)}"
        if identifier in parts.metrics:
            continue
        numbers, values = np.array(operations, dtype=np.int64), np.array(amounts, dtype=np.float64)
        node = parts.op_node[numbers]
        if is_mean(name):
            metric = Metric(identifier, Unit.COUNT, f"counter {name}", name, aggregation=Aggregation.DERIVED)
            put_mean(parts.values, parts.metrics, metric, node, values, duration[numbers])
        else:
            parts.metrics[identifier] = Metric(identifier, Unit.COUNT, f"counter {name}", name)
            parts.values.put(parts.metrics[identifier], node.astype(np.int32), values)
