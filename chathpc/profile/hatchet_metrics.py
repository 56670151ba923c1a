"""The columns of a hatchet GraphFrame as metrics with exclusive and inclusive values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Clock, Column, Metric, Unit, column_of, slug
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray

#: Key of `GraphFrame.metadata` under which we leave what a table cannot hold.
METADATA = "chathpc"

#: Columns that hold numbers and are no metrics.
_NO_METRIC = frozenset(
    {
        "nid",
        "_hatchet_nid",
        "rank",
        "thread",
        "depth",
        "offset",
        "end_line",
        "node order",
        "line",
        "source.line",
        "lineno",
    }
)
#: Stem of a metric's name in lower case → id, unit, clock.
_VOCABULARY: dict[str, tuple[str, Unit, Clock | None]] = {
    "time": ("cpu.time", Unit.SECONDS, None),
    "cputime": ("cpu.time", Unit.SECONDS, Clock.CPU),
    "cpu time": ("cpu.time", Unit.SECONDS, Clock.CPU),
    "realtime": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "wallclock": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "wall time": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "time.duration": ("cpu.time", Unit.SECONDS, Clock.WALL),
    "time (gpu)": ("gpu.time", Unit.SECONDS, None),
    "cycles": ("cpu.cycles", Unit.CYCLES, None),
    "papi_tot_cyc": ("cpu.cycles", Unit.CYCLES, None),
    "instructions": ("cpu.instructions", Unit.COUNT, None),
    "papi_tot_ins": ("cpu.instructions", Unit.COUNT, None),
    "page-faults": ("cpu.page-faults", Unit.COUNT, None),
    "io bytes read": ("io.read.bytes", Unit.BYTES, None),
    "io bytes written": ("io.write.bytes", Unit.BYTES, None),
}
_SCALES = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "ns": 1e-9, "nsec": 1e-9}
_CANONICAL = re.compile(r"(cpu|gpu|io|memory|papi|other)(\.[a-z0-9-]+)+")
_NOT_ADDED = re.compile(r"\b(avg|mean|min|max|minimum|maximum|variance|stddev|ratio|percent)\b|%|/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """The columns of one metric in a GraphFrame; None where there is none."""

    exclusive: str | None
    inclusive: str | None


def metric_columns(frame: Any) -> dict[str, ColumnPair]:
    """Name of each metric → its columns: those that the GraphFrame names, or if it names none all that hold numbers."""
    table = frame.dataframe
    exclusive = [c for c in frame.exc_metrics if c in table.columns]
    inclusive = [c for c in frame.inc_metrics if c in table.columns]
    if not exclusive and not inclusive:
        numbers = [str(c) for c in table.columns if c not in _NO_METRIC and table[c].dtype.kind in "fiu"]
        inclusive = [c for c in numbers if _stem(c) != c]
        exclusive = [c for c in numbers if _stem(c) == c]
    own = {_stem(c): c for c in exclusive if c not in _NO_METRIC and table[c].dtype.kind in "fiu"}
    below = {_stem(c): c for c in inclusive if c not in _NO_METRIC and table[c].dtype.kind in "fiu"}
    return {stem: ColumnPair(own.get(stem), below.get(stem)) for stem in {**own, **below}}


def _stem(column: str) -> str:
    """The name of a metric without what says that the column is inclusive or exclusive."""
    return re.sub(r"\s*\((inc|I|E)\)$|^inclusive#|(?<=#)inclusive#", "", column)


def known_metrics(frame: Any) -> dict[str, Metric]:
    """The metrics that `to_graphframe` left in the metadata."""
    facts = frame.metadata.get(METADATA) if isinstance(frame.metadata, Mapping) else None
    metrics = facts.get("metrics") if isinstance(facts, Mapping) else None
    if not isinstance(metrics, Mapping):
        return {}
    return {name: metric for name, metric in metrics.items() if isinstance(metric, Metric) and metric.id == name}


def metric_named(name: str, *, taken: Mapping[str, Metric]) -> Metric:
    """The metric that a column's name stands for, with an id that is not `taken`."""
    stem, scale = re.sub(r":Sum$|^(sum#)+", "", name), 1.0
    suffix = re.fullmatch(r"(?P<stem>.*?)\s*\((?P<unit>\w+)\)", stem)
    in_seconds = suffix is not None and suffix["unit"].lower() in _SCALES
    if suffix is not None and in_seconds:
        stem, scale = suffix["stem"], _SCALES[suffix["unit"].lower()]
    added = not _NOT_ADDED.search(stem)
    unit, clock = Unit.SECONDS if in_seconds else Unit.COUNT, None
    if _CANONICAL.fullmatch(stem):
        identifier = stem
        if re.search(r"(^|\.)time(\.|$)", stem):
            unit = Unit.SECONDS
        elif stem.endswith(".bytes"):
            unit = Unit.BYTES
    elif added and stem.lower() in _VOCABULARY:
        identifier, unit, clock = _VOCABULARY[stem.lower()]
    else:
        identifier = "other." + slug(stem)
    base, copies = identifier, 2
    while identifier in taken:
        identifier, copies = f"{base}.{copies}", copies + 1
    aggregation = Aggregation.SUM if added else Aggregation.DERIVED
    return Metric(identifier, unit, name, name, suffix["unit"] if suffix else "", scale, aggregation, clock)


def spread(values: FloatArray, location: IntArray, node: IntArray, locations: int, tree: CallTree) -> FloatArray:
    """Values of the table's rows as an array (locations × nodes), NaN where there is none; rows of the same place are added."""
    there = ~np.isnan(values)
    cell = location[there].astype(np.int64) * len(tree) + node[there]
    sums = np.bincount(cell, weights=values[there], minlength=locations * len(tree))
    present = np.bincount(cell, minlength=locations * len(tree)) > 0
    return np.where(present, sums, np.nan).reshape(locations, len(tree))


def complete(
    own: FloatArray | None, below: FloatArray | None, tree: CallTree, metric: Metric, *, anew: bool
) -> tuple[FloatArray | None, FloatArray | None]:
    """Compute the one of exclusive and inclusive values that is lacking; both are arrays (locations × nodes), None without any."""
    if own is not None and np.isnan(own).all():
        own = None
    if below is not None and np.isnan(below).all():
        below = None
    if metric.aggregation != Aggregation.SUM:
        return own, below
    if own is None and below is not None:
        own = np.array([_without_children(row, tree) for row in below])
    if own is not None and (below is None or anew):
        below = np.array([_with_children(row, tree) for row in own])
    return own, below


def _with_children(own: FloatArray, tree: CallTree) -> FloatArray:
    """Inclusive values, NaN where nothing below was measured."""
    present = ~np.isnan(own)
    return np.where(tree.inclusive(present.astype(np.float64)) > 0, tree.inclusive(np.nan_to_num(own)), np.nan)


def _without_children(below: FloatArray, tree: CallTree) -> FloatArray:
    """Exclusive values: what the measured nodes next below have is taken from their nearest measured ancestor."""
    present: BoolArray = ~np.isnan(below)
    nearest = tree.nearest(present)
    inner = np.flatnonzero(present & (tree.parent >= 0))
    above = nearest[tree.parent[inner]]
    inner, above = inner[above >= 0], above[above >= 0]
    taken = np.bincount(above, weights=below[inner], minlength=len(tree))
    return below - taken


def added(matrix: FloatArray | None, scale: float, metric: Metric) -> Column:
    """The column over all locations; of a metric that does not add up, the mean over the locations that have a value."""
    if matrix is None:
        return EMPTY_COLUMN
    present = ~np.isnan(matrix)
    total = np.nansum(matrix, axis=0) * scale
    if metric.aggregation != Aggregation.SUM:
        total = total / np.maximum(present.sum(axis=0), 1)
    return column_of(total, np.asarray(present.any(axis=0)))
