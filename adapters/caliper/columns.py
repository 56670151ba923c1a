"""Columns of a Caliper table as metrics with values.

The host's time is the sum over ranks where the file has one, or can be computed from (mean × number of ranks that have the
region: a mean over ranks counts only these, so means of different regions do not add up). Smallest, mean and largest
values over ranks are kept beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from chathpc.adapters.caliper.files import KERNEL_LABELS, Attribute, Region, Row, Table
from chathpc.adapters.hpctoolkit.vocabulary import UNITS, metric_for
from chathpc.profile.build import TreeBuilder
from chathpc.profile.metric import Aggregation, Clock, Metric, Unit, slug, unused
from chathpc.profile.sparse import SparseValues, own_values
from chathpc.profile.tree import CallTree, IntArray

#: Beyond anything measured, and far enough from the largest double for sums.
_LARGEST = 1e100
#: A region that takes this many seconds and not a millisecond more or less is none.
_LONG = 1_000.0
#: Columns that place a row and measure nothing.
_PLACING = (
    "mpi.rank", "omp.thread.id", "pthread.id", "thread", "thread.id", "aggregate.slot", "Node order", "block",
    "loop.start_iteration", "cali.event", "snapshot.index", "mpi.world.size",
)  # fmt: skip
_PLACING_PREFIXES = ("timeseries.", "iteration#", "cali.", "time.offset", "time.start", "time.timestamp", "callpath.")
#: Statistics over ranks → end of the id, words.
_RANK_STATISTICS = {
    "min": ("rank-min", "smallest time of any rank"),
    "avg": ("rank-mean", "mean time of the ranks that have the region"),
    "max": ("rank-max", "largest time of any rank"),
    "avg.count": ("rank-count", "number of ranks that have the region"),
}
#: Calls of GPU runtimes, in lower case → what the activities that they start are.
_ACTIVITIES = (
    ("launch", "gpu.kernel.time"), ("memcpy", "gpu.copy.time"), ("memset", "gpu.memset.time"),
)  # fmt: skip
_DEVICE_TIMES = {
    "gpu.time": "time of all GPU activities",
    "gpu.kernel.time": "time of GPU kernels",
    "gpu.copy.time": "time of GPU copies",
    "gpu.memset.time": "time of GPU memory sets",
}


@dataclass(slots=True)
class Columns:
    """Metrics by id, what to say about them, and the inclusive columns that still have to be taken apart."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    caveats: list[str] = field(default_factory=list)
    samples: float | None = None
    has_time: bool = False
    sums: bool = True  #: whether the host's time is a sum, and no mean or maximum for want of one
    over_ranks: bool = False
    _inclusive: dict[str, dict[tuple[int, int], float]] = field(default_factory=dict)

    def derive(self, tree: CallTree, values: SparseValues, place: IntArray) -> None:
        """Put in the exclusive values of columns that hold inclusive ones."""
        for identifier, cells in self._inclusive.items():
            metric = self.metrics[identifier]
            at = place[np.array([node for node, _ in cells], dtype=np.int64)]
            places, row = np.unique(np.array([where for _, where in cells], dtype=np.int64), return_inverse=True)
            amounts = np.array(list(cells.values()))
            if metric.aggregation != Aggregation.SUM:
                largest = float(amounts.max(initial=0.0))
                values.put(metric, at, amounts, places[row].astype(np.int32), total=largest)
                continue
            total, lacking = 0.0, 0.0
            nodes, where, own = [], [], []
            for number, location in enumerate(places.tolist()):
                mine = row == number
                column = np.full(len(tree), np.nan)
                column[at[mine]] = amounts[mine]
                found = own_values(tree, column)
                measured = np.flatnonzero(~np.isnan(found.values))
                nodes.append(measured)
                where.append(np.full(len(measured), location, dtype=np.int32))
                own.append(found.values[measured])
                total, lacking = total + float(own[-1].sum()), lacking + found.excess
            values.put(metric, np.concatenate(nodes).astype(np.int32), np.concatenate(own), np.concatenate(where))
            if lacking > 1e-3 * total:
                self.caveats.append(
                    f"{metric.source_name}: regions have {lacking:.3g} less than their children; the larger numbers were used."
                )


def add_columns(
    builder: TreeBuilder,
    table: Table,
    rows: Sequence[Row],
    nodes: Sequence[int],
    location: Sequence[int],
    ranks: int,
) -> Columns:
    """Put the values of `rows` (row i at `nodes[i]`, `location[i]`) into `builder`, and say what they are."""
    columns, attributes = Columns(), table.attributes
    used = {name for row in rows for name in row.values}
    given = {name: meaning(attributes.get(name, Attribute(name))) for name in sorted(used) if not _places(name)}
    cells = _Cells(builder, columns, table.regions, rows, nodes, location)
    chosen = _choose([one for one in given.values() if one.what == "host"])
    sampled = any("sampler" in name or "callpath.address" in name for name in attributes)
    counts = next((name for name in ("count", "sum#count") if name in used), "")
    if sampled and counts:
        columns.samples = sum(row.values.get(counts, 0.0) for row in rows)
    if chosen is not None:
        # Since version 2 times are seconds unless the file says otherwise.
        _host_time(cells, chosen, given, ranks, columns, bool(table.facts.get("cali.caliper.version")))
    elif sampled and counts:
        metric = Metric("cpu.samples", Unit.SAMPLES, "samples", counts)
        cells.put(metric, counts, 1.0, inclusive=False)
        columns.has_time = True
    device = [one for one in given.values() if one.what == "device" and one.adds_up]
    if device:
        cells.device(min(device, key=lambda one: one.inclusive))
    for one in given.values():
        if one.what in ("host", "device") or one.statistic in ("avg.sum", "avg.count"):
            continue
        if one.statistic in ("min", "avg") and not one.over_ranks:  # of single visits: the sum tells more
            continue
        metric = other_metric(one, set(columns.metrics))
        if one.attribute.parts[-1] == "count":
            metric = replace(metric, hidden=True)
        cells.put(metric, one.attribute.name, 1.0, inclusive=one.inclusive and one.adds_up)
    return columns


def _in_microseconds(rows: Sequence[Row], chosen: Meaning) -> bool:
    """True if times without a unit are whole numbers: seconds come with six decimals, and the clock counts microseconds."""
    name = chosen.attribute.name
    if chosen.attribute.unit or chosen.attribute.parts[-1] not in ("time.duration", "time.inclusive.duration"):
        return False
    given = [row.values[name] for row in rows if name in row.values]
    return max(given, default=0.0) >= _LONG and all(value.is_integer() for value in given)


def _places(name: str) -> bool:
    return name in _PLACING or name.startswith(_PLACING_PREFIXES)


def _choose(candidates: Sequence[Meaning]) -> Meaning | None:
    """The column to take the host's time from: a sum before what a sum can be computed from, exclusive before inclusive."""
    order = {"sum": 0, "": 0, "avg.sum": 1, "avg": 2, "max": 3}
    usable = [one for one in candidates if one.statistic in order and (one.over_ranks or one.statistic in ("sum", ""))]
    usable = usable or [one for one in candidates if one.statistic in order]
    return min(usable, key=lambda one: (order[one.statistic], one.inclusive, one.attribute.name), default=None)


def _host_time(
    cells: _Cells, chosen: Meaning, given: Mapping[str, Meaning], ranks: int, columns: Columns, versioned: bool
) -> None:
    name, scale, unit = chosen.attribute.name, chosen.scale, chosen.scale
    columns.has_time = True
    rest = name.partition("#")[2]
    counted = f"avg.count#{rest}"
    times = ""
    if chosen.statistic == "avg" and counted in given:
        times = counted
    elif chosen.statistic == "avg" and ranks > 1:
        scale *= ranks
        columns.caveats.append(
            f"The file has only means over ranks; sums were computed as if all {ranks} ranks had every region."
        )
    elif chosen.statistic in ("avg", "max"):
        columns.sums = False
        columns.caveats.append(
            f"The file has no sums of times; {name} was used instead, which may not add up over regions."
        )
    if scale == 1.0 and not versioned and _in_microseconds(cells.rows, chosen):
        scale = unit = 1e-6
        columns.caveats.append(
            "The file does not say its unit of time; its times are whole numbers, so microseconds are assumed."
        )
    words = "time of host threads" + (" (sampled)" if columns.samples is not None else "")
    metric = Metric("cpu.time", Unit.SECONDS, words, name, chosen.attribute.unit, scale, clock=Clock.WALL)
    cells.put(metric, name, scale, inclusive=chosen.inclusive, times=times)
    over_ranks = [
        one for one in given.values() if one.what == "host" and one.over_ranks and one.statistic in _RANK_STATISTICS
    ]
    for one in over_ranks:
        end, text = _RANK_STATISTICS[one.statistic]
        if one.inclusive != chosen.inclusive or f"cpu.time.{end}" in columns.metrics:
            continue
        counts = one.statistic == "avg.count"
        side = Metric(
            f"cpu.time.{end}",
            Unit.COUNT if counts else Unit.SECONDS,
            text + ("" if counts else ", with all below" if one.inclusive else ", without what is below"),
            one.attribute.name,
            one.attribute.unit,
            1.0 if counts else unit,
            Aggregation.DERIVED,
            hidden=counts,
        )
        cells.aside(side, one.attribute.name)
    if over_ranks:
        columns.over_ranks = True
        columns.caveats.append(
            "Times are sums over the ranks; only the minimum, mean and maximum over ranks are known for each region, so which rank is late is unknown."
            if ranks != 1
            else "Times are sums over the ranks; there is only one."
        )


@dataclass(slots=True)
class _Cells:
    """Puts the values of columns where they belong."""

    builder: TreeBuilder
    columns: Columns
    regions: Sequence[Region]
    rows: Sequence[Row]
    nodes: Sequence[int]
    location: Sequence[int]

    def put(self, metric: Metric, name: str, scale: float, *, inclusive: bool, times: str = "") -> None:
        """Values of column `name`, each multiplied by column `times` of its row if given."""
        self.columns.metrics[metric.id] = metric
        held: dict[tuple[int, int], float] = {}
        for row, node, where in zip(self.rows, self.nodes, self.location, strict=True):
            if name not in row.values:
                continue
            value = row.values[name] * scale * (row.values.get(times, 1.0) if times else 1.0)
            if not -_LARGEST < value < _LARGEST:
                continue
            if inclusive:
                held[node, where] = held.get((node, where), 0.0) + value
            else:
                self.builder.add(metric.id, node, value, where)
        if inclusive:
            self.columns._inclusive[metric.id] = held

    def aside(self, metric: Metric, name: str) -> None:
        """Values of a statistic, which stand at their own nodes."""
        self.columns.metrics[metric.id] = metric
        self.columns._inclusive[metric.id] = {
            (node, where): row.values[name] * metric.scale
            for row, node, where in zip(self.rows, self.nodes, self.location, strict=True)
            if -_LARGEST < row.values.get(name, _LARGEST) < _LARGEST
        }

    def device(self, one: Meaning) -> None:
        """The time of GPU activities, and of each kind of them, told by the row's labels or by the call above."""
        name = one.attribute.name
        metrics = {
            identifier: Metric(identifier, Unit.SECONDS, words, name, one.attribute.unit, one.scale)
            for identifier, words in _DEVICE_TIMES.items()
        }
        if one.inclusive:
            self.put(metrics["gpu.time"], name, one.scale, inclusive=True)
            return
        found = False
        for row, node, where in zip(self.rows, self.nodes, self.location, strict=True):
            value = row.values.get(name, _LARGEST) * one.scale
            if not -_LARGEST < value < _LARGEST * one.scale:
                continue
            found = True
            kind = self._kind(row)
            for identifier in ("gpu.time", kind) if kind else ("gpu.time",):
                self.columns.metrics[identifier] = metrics[identifier]
                self.builder.add(identifier, node, value, where)
        if found and "gpu.time" in self.columns.metrics:
            self.columns.metrics = dict(sorted(self.columns.metrics.items()))

    def _kind(self, row: Row) -> str:
        told = row.labels.get("cupti.activity.kind", row.labels.get("rocm.activity.kind", "")).lower()
        if told == "kernel" or any(row.labels.get(label) for label in KERNEL_LABELS):
            return "gpu.kernel.time"
        words = told or self.regions[row.place][2].lower() if row.place >= 0 else told
        return next((identifier for part, identifier in _ACTIVITIES if part in words), "")


# -- what attribute names mean: operators that were applied, outermost first, then what was measured --------------
#
# `avg#inclusive#sum#time.duration` is the mean over ranks of the inclusive sum of times. One operator alone works on the
# visits of a region (`min#time.duration`: its shortest visit); one before another sum works on the ranks.

_STATISTICS = ("sum", "min", "max", "avg", "avg.sum", "avg.count", "count", "variance", "percent_total", "any")
_INCLUSIVE = ("inclusive", "inclusive_sum", "inclusive_scale", "iscale")
_SCALED = ("scale", "inclusive_scale", "iscale")

#: Measured times of host threads, and of GPU activities.
_HOST = ("time.duration", "time.duration.ns", "time.inclusive.duration", "time.inclusive.duration.ns")
_HOST_ELSEWHERE = ("cupti.host.duration", "rocm.host.duration")
_DEVICE = ("cupti.activity.duration", "rocm.activity.duration", "gpu.activity.duration")
#: Names that cali-query and the hatchet profiles give to columns, in lower case: what is measured, statistic, inclusive.
_ALIASES = {
    "time": ("host", "sum", False),
    "time (exc)": ("host", "sum", False),
    "time (e)": ("host", "sum", False),
    "time (inc)": ("host", "sum", True),
    "time (i)": ("host", "sum", True),
    "total time": ("host", "sum", False),
    "total time (inc)": ("host", "sum", True),
    "total time (i)": ("host", "sum", True),
    "total time (e)": ("host", "sum", False),
    "host time": ("host", "sum", True),
    "gpu time": ("device", "sum", False),
    "gpu time (e)": ("device", "sum", False),
    "gpu time (i)": ("device", "sum", True),
} | {
    f"{word} time/rank{end}": ("host", statistic, inclusive)
    for word, statistic in (("min", "min"), ("max", "max"), ("avg", "avg"))
    for end, inclusive in (("", False), (" (exc)", False), (" (e)", False), (" (inc)", True), (" (i)", True))
}  # fmt: skip
_SECONDS = {word: factor for word, (unit, factor) in UNITS.items() if unit == Unit.SECONDS}
#: What was measured → id, unit, what it is. Sums only.
_SUMS = {
    "region.count": ("calls.count", Unit.COUNT, "visits of regions"),
    "io.bytes.read": ("io.read.bytes", Unit.BYTES, "bytes read"),
    "io.bytes.written": ("io.write.bytes", Unit.BYTES, "bytes written"),
    "alloc.total_size": ("memory.allocated.bytes", Unit.BYTES, "memory allocated"),
}
_BYTES = re.compile(r"(^|\.)(bytes|size|highwatermark)($|\.)")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column holds. `what` is host, device or the name of something else; `scale` turns times into seconds.

    `statistic` says how values were combined, `over_ranks` whether over ranks (else over visits of a region).
    """

    attribute: Attribute
    what: str
    statistic: str
    over_ranks: bool
    inclusive: bool
    scale: float

    @property
    def adds_up(self) -> bool:
        """True if values of different places may be added."""
        return self.statistic in ("sum", "")


def meaning(attribute: Attribute) -> Meaning:
    """What the column `attribute` holds."""
    *operators, base = attribute.parts
    statistics = [one for one in operators if one in _STATISTICS]
    known = None if operators else _ALIASES.get(attribute.alias.lower().strip()) or _ALIASES.get(base.lower())
    if known is not None:
        what, statistic, inclusive = known
        return Meaning(attribute, what, statistic, statistic != "sum", inclusive, _scale(attribute, base, operators))
    what = "host" if base in _HOST + _HOST_ELSEWHERE else "device" if base in _DEVICE else base
    return Meaning(
        attribute,
        what,
        statistics[0] if statistics else "",
        len(statistics) > 1,
        any(one in _INCLUSIVE for one in operators) or base.startswith("time.inclusive."),
        _scale(attribute, base, operators) if what in ("host", "device") else 1.0,
    )


def _scale(attribute: Attribute, base: str, operators: list[str]) -> float:
    """Seconds in one unit of the column: as the file says, else nanoseconds for what is counted in them, else seconds."""
    if attribute.unit.lower() in _SECONDS:
        return _SECONDS[attribute.unit.lower()]
    if any(one in _SCALED for one in operators):
        return 1.0
    return 1e-9 if base.endswith(".ns") or base in _HOST_ELSEWHERE + _DEVICE else 1.0


def other_metric(given: Meaning, taken: set[str]) -> Metric:
    """The metric of a column that is no time, with an id that is not `taken`."""
    name, base = given.attribute.name, given.attribute.parts[-1]
    aggregation = (
        Aggregation.SUM if given.adds_up else Aggregation.MAX if given.statistic == "max" else Aggregation.DERIVED
    )
    unit, words = Unit.BYTES if _BYTES.search(base) else Unit.COUNT, given.attribute.alias or name
    identifier = "other." + slug(name)
    counter = metric_for(base.removeprefix("papi."))
    if given.adds_up and base in _SUMS:
        identifier, unit, words = _SUMS[base]
    elif given.adds_up and base.startswith("papi.") and counter.id.startswith("cpu."):
        identifier, unit, words = counter.id, counter.unit, counter.description.replace(" (sampled)", "")
    elif "/" in base or given.statistic in ("percent_total", "variance"):
        unit, aggregation = Unit.RATIO, Aggregation.DERIVED
    return Metric(unused(identifier, taken), unit, words, name, given.attribute.unit, aggregation=aggregation)
