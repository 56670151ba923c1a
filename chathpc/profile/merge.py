"""Several views of one run as one profile: by kernel, source line and rank; what two tools say differently stays visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from chathpc.profile import compiler
from chathpc.profile.forest import Forest
from chathpc.profile.gpu_counters import COUNTERS
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.location import LEVELS, Locations
from chathpc.profile.metric import EMPTY_COLUMN, Aggregation, Column, Metric, slug
from chathpc.profile.profile import TIME_METRICS, Profile
from chathpc.profile.remark import Disagreement
from chathpc.profile.source_text import joined
from chathpc.profile.sparse import combined, rolled_up
from chathpc.profile.tables import function_table
from chathpc.profile.text import clean
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind
from chathpc.profile.values import Values

if TYPE_CHECKING:
    from chathpc.profile.timeline import Timeline

Key = TypeVar("Key")
Value = TypeVar("Value")

_PARTS = (*LEVELS, "core")


def merge(profiles: Sequence[Profile]) -> Profile:
    """One profile of all `profiles`, which are views of one run by several tools, or of its ranks by one.

    - A kernel that several views have is one node (names are compared demangled and normalised), with the lines and
      instructions of all of them below; facts of a kernel are shared by all places that launch it.
    - A metric that one tool measured on several ranks is one metric. One that several tools measured keeps its id for the
      first (a tool that watches the run before one that replays kernels); the others' bears their name in front:
      `nsight-compute.gpu.kernel.time`. Nothing is averaged; what differs is in `disagreements`. The time of a tool that cannot
      show where it is spent (perf stat) always does.
    - Locations of the same rank and thread are one.
    - Records of compilers and machine code, which measured nothing, are laid beside the result (`build`, `code`, `predicted`).

    Views are put in order by what they measure, so that the result does not depend on the order of the arguments where
    tools differ.
    """
    if len(profiles) == 1:
        return profiles[0]
    companions = [
        view for view in profiles if not view.metrics and (view.build is not None or view.code or view.predicted)
    ]
    if companions:
        measured = [view for view in profiles if view not in companions]
        return with_companions(merge(measured) if measured else None, companions)
    views = sorted(profiles, key=lambda view: (_standing(view), bool(view.insufficient), tool_of(view)))
    forest = Forest()
    numbers, copies = zip(
        *(forest.add(view.tree, _weight(view), _measured(view)) for view in views), strict=True
    )  # fmt: skip
    tree, index = forest.finish()
    places = [np.where(own >= 0, index[np.maximum(own, 0)], np.int32(-1)).astype(np.int32) for own in numbers]
    where, rows = _join_locations([view.where for view in views], [tool_of(view) for view in views])
    metrics, owners = _join_metrics(views)
    values = MergedValues(
        tree,
        len(where),
        [
            View(view.everything.values, place, row, (pairs[0], index[pairs[1]]))
            for view, place, row, pairs in zip(views, places, rows, copies, strict=True)
        ],
        owners,
        {name: metric.aggregation for name, metric in metrics.items()},
    )
    tools = list(dict.fromkeys(tool_of(view) for view in views))
    several = len(tools) > 1
    samples = [view.sample_count for view in views if view.sample_count is not None]
    base = views[0]
    time = next((owners[name][0].view for name in TIME_METRICS if name in metrics and metrics[name].has_values), 0)
    return Profile(
        format=" + ".join(dict.fromkeys(view.format for view in views)),
        title=base.title,
        tree=tree,
        metrics=metrics,
        values=values,
        where=where,
        sources=tuple(source for view in views for source in view.sources),
        caveats=_sentences(views, several),
        not_collected=_joined([view.not_collected for view in views]),
        run=_joined([view.run for view in views]),
        hardware=_joined([view.hardware for view in views]),
        sample_count=(sum(samples) if not several else views[time].sample_count) if samples else None,
        timed=views[time].timed,
        insufficient=base.insufficient if all(view.insufficient for view in views) else "",
        devices=_joined([view.devices for view in views]),
        remarks=tuple(
            replace(remark, node=int(place[remark.node]) if 0 <= remark.node < len(place) else -1)
            for view, place in zip(views, places, strict=True)
            for remark in view.remarks
        ),
        accesses=tuple(
            replace(density, node=int(place[density.node]))
            for view, place in zip(views, places, strict=True)
            for density in view.accesses
        ),
        disagreements=tuple(
            replace(found, node=int(places[0][found.node]) if found.node >= 0 else -1)
            for other in views[1:]
            if tool_of(other) != tool_of(base)
            for found in disagreements(base, tool_of(base), other, tool_of(other))
        ),
        code=tuple(one for view in views for one in view.code),
        predicted=tuple(one for view in views for one in view.predicted),
        sampled_code=tuple(one for view in views for one in view.sampled_code),
        all_threads=all(view.all_threads for view in views),
        read_source=joined(view.read_source for view in views),
        read_timeline=partial(_timeline, views, places, rows),
    )


def tool_of(profile: Profile) -> str:
    """The tool that measured a profile."""
    return profile.sources[0].tool if profile.sources else profile.format


def _standing(view: Profile) -> int:
    """Whose numbers stand when several tools measured one thing: the least perturbing first, replayed kernels last."""
    metrics = {name for name, metric in view.metrics.items() if metric.has_values}
    if metrics & set(COUNTERS[:6]):
        return 3
    if any(name.startswith("cpu.") for name in metrics):
        return 0
    return 1 if metrics & {"host.time", "gpu.time"} else 2


def _weight(view: Profile) -> FloatArray:
    name = next((name for name in ("gpu.kernel.time", "gpu.time") if name in view.metrics), None)
    return view.exclusive(name).dense(len(view.tree)) if name else np.zeros(len(view.tree))


def _measured(view: Profile) -> BoolArray:
    mask = np.zeros(len(view.tree), dtype=bool)
    for name, metric in view.metrics.items():
        if metric.has_values:
            mask[view.everything.exclusive(name).nodes] = True
    return mask


def _join_locations(every: Sequence[Locations], tools: Sequence[str]) -> tuple[Locations, list[IntArray]]:
    """The distinct locations, and for each view the rows of its own."""
    row: dict[tuple[int, ...], int] = {}
    rows = []
    # Ranks have one number in all nodes; some tools do not tell theirs.
    by_node = all((where.node >= 0).any() for where in every)
    views: Counter[str] = Counter()
    for where, tool in zip(every, tools, strict=True):
        views[tool] += 1
        columns = [getattr(where, part).tolist() for part in _PARTS]
        mine = []
        for number, parts in enumerate(zip(*columns, strict=True)):
            identity = parts[:-1] if by_node or parts[1] < 0 else parts[1:-1]
            # A place that says nothing of itself is one of its own beside those of the same tool, and what others say the same of.
            key = identity if any(part >= 0 for part in identity) else (-2, views[tool], number)
            mine.append(row.setdefault(key, len(row)))
        rows.append(np.array(mine, dtype=np.int32))
    joined = {part: np.full(len(row), -1, dtype=np.int64) for part in _PARTS}
    for where, mine_rows in zip(every, rows, strict=True):
        for part in _PARTS:
            own = getattr(where, part)
            joined[part][mine_rows] = np.where(own >= 0, own, joined[part][mine_rows])
    return Locations.of(len(row), **joined), rows


def _join_metrics(views: Sequence[Profile]) -> tuple[dict[str, Metric], dict[str, list[Owner]]]:
    metrics: dict[str, Metric] = {}
    owners: dict[str, list[Owner]] = {}
    conclusive = {tool_of(view) for view in views if not view.insufficient}
    for number, view in enumerate(views):
        tool = tool_of(view)
        for name, metric in view.metrics.items():
            known = metrics.get(name)
            identifier = name
            apart = name in TIME_METRICS and bool(conclusive) and tool not in conclusive
            if apart or (known is not None and known.tool != tool):
                if not metric.has_values:
                    continue
                if not apart and known is not None and not known.has_values:
                    owners[name] = []
                    known = None
                else:
                    identifier = f"{slug(tool, otherwise='other')}.{name}"
                    known = metrics.get(identifier)
            if known is None:
                metrics[identifier] = replace(metric, id=identifier, tool=tool)
            elif metric.has_values and not known.has_values:
                metrics[identifier] = replace(known, has_values=True)
            owners.setdefault(identifier, []).append(Owner(number, name))
    return metrics, owners


def _sentences(views: Sequence[Profile], several: bool) -> tuple[str, ...]:
    found = []
    for view in views:
        lead = f"{tool_of(view)}: " if several else ""
        found += [lead + text for text in (*view.caveats, *([view.insufficient] if view.insufficient else []))]
    return tuple(dict.fromkeys(found))


def _joined(parts: Sequence[Mapping[Key, Value]]) -> dict[Key, Value]:
    """All entries; the first view's where several have one."""
    return {key: value for part in reversed(parts) for key, value in part.items()}


def _timeline(views: Sequence[Profile], places: Sequence[IntArray], rows: Sequence[IntArray]) -> Timeline | None:
    """The lanes of the first view that has intervals, else of the first with any: clocks of several tools do not agree.

    Ranks that one tool recorded are laid side by side from the beginning of each.
    """
    from chathpc.profile.timeline import Timeline

    found = [(view, number, line) for number, view in enumerate(views) if (line := view.timeline) is not None]
    if not found:
        return None
    tool = tool_of(next((view for view, _, line in found if line.intervals), found[0][0]))
    chosen = [(number, line) for view, number, line in found if tool_of(view) == tool]
    lanes, spans, device = [], [], 0
    for number, line in chosen:
        shift = 0 if len(chosen) == 1 else line.begin
        # No node is −1 or −2 afterwards, too.
        node, row = np.append(places[number], np.array([-2, -1], dtype=np.int32)), np.append(rows[number], np.int32(-1))
        lanes += [replace(lane, location=int(row[lane.location]), node=node[lane.node]) for lane in line.lanes]
        spans += [
            replace(
                lane, location=int(row[lane.location]), node=node[lane.node], start=lane.start - shift,
                end=lane.end - shift, device=lane.device if lane.device < 0 else lane.device + device,
            )
            for lane in line.intervals
        ]  # fmt: skip
        device += max(line.devices, default=-1) + 1
    if len(chosen) == 1:
        alone = chosen[0][1]
        told = None if alone.communication is None else alone.communication.moved(row, node)
        return replace(alone, lanes=tuple(lanes), intervals=tuple(spans), communication=told)
    return Timeline(0, max(line.end - line.begin for _, line in chosen), tuple(lanes), tuple(spans))


# -- what lies beside a profile and measured nothing itself: records of compilers, machine code, predictions ------


def with_companions(measured: Profile | None, companions: Sequence[Profile]) -> Profile:
    """`measured` with the records and the code of `companions` beside it; what they are about is found by file, line and name.

    Without anything measured the companions together, which support no conclusion.
    """
    base = companions[0] if measured is None else measured
    every = (*([] if measured is None else [measured]), *companions)
    builds = [view.build for view in every if view.build is not None]
    build = compiler.joined(builds) if builds else None
    insufficient = base.insufficient
    if measured is None and build is not None:
        insufficient = compiler.alone(build, [source.path.name for view in companions for source in view.sources])
    return replace(
        base,
        build=build,
        code=tuple(one for view in every for one in view.code),
        predicted=tuple(one for view in every for one in view.predicted),
        insufficient=insufficient,
        sources=tuple(dict.fromkeys(source for view in every for source in view.sources)),
        caveats=tuple(
            dict.fromkeys([*(text for view in every for text in view.caveats), *_strangers(measured, companions)])
        ),
    )


def _strangers(measured: Profile | None, companions: Sequence[Profile]) -> list[str]:
    """A word on code that shows none of the kernels that were measured."""
    if measured is None:
        return []
    tree = measured.tree
    names = np.unique(tree.name[tree.kind == NodeKind.GPU_KERNEL]).tolist()
    kernels = {kernel_key(tree.names[name]) for name in names if name >= 0}
    return [
        f"{clean(view.title)} shows none of the profile's kernels: it is {what} another program, or of another version."
        for view in companions
        for what, own in (("the code of", view.code), ("about", view.predicted))
        if own and not kernels & {kernel_key(each.kernel) for each in own}
    ]


# -- what two tools measured of one thing and measured differently ------------------------------------------------

#: Values that differ by less are taken as equal: repeated runs of one kernel vary by some percent.
TOLERANCE = 0.1
#: Parts of the time that differ by less than this (of the whole) are taken as equal.
SHARE = 0.1
#: So many kernels, and functions, are compared, the longest first.
MOST = 8


def disagreements(one: Profile, its_tool: str, other: Profile, other_tool: str) -> Iterator[Disagreement]:
    """Time of a launch of the longest kernels, launch facts, and parts of the host time; nodes are those of `one`."""
    mine, theirs = kernels(one), kernels(other)
    common = sorted((key for key in mine if key in theirs), key=lambda key: -mine[key][1])[:MOST]
    for key in common:
        node, seconds, launches, facts = mine[key]
        _, their_seconds, their_launches, their_facts = theirs[key]
        name = one.tree.function_name(node)
        if seconds and their_seconds and launches and their_launches:
            here, there = seconds / launches, their_seconds / their_launches
            if _differ(here, there):
                pair = ((its_tool, here), (other_tool, there))
                yield Disagreement(name, "time of a launch", "gpu.kernel.time", "s", pair, node)
        for metric in facts.keys() & their_facts.keys():
            if _differ(facts[metric], their_facts[metric]):
                pair = ((its_tool, facts[metric]), (other_tool, their_facts[metric]))
                words = one.metrics[metric].description
                yield Disagreement(name, words, metric, str(one.metrics[metric].unit), pair, node)
    yield from _host(one, its_tool, other, other_tool)


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > TOLERANCE * max(abs(one), abs(other))


_FACTS = ("gpu.kernel.registers", "gpu.kernel.threads-per-block", "gpu.kernel.blocks")


def kernels(profile: Profile) -> dict[str, tuple[int, float, float, dict[str, float]]]:
    """Key of each kernel of a profile → its longest node, seconds, launches and launch facts."""
    tree = profile.tree
    time, count = profile.dense("gpu.kernel.time"), profile.dense("gpu.kernel.count")
    found: dict[str, tuple[int, float, float, dict[str, float]]] = {}
    for node in np.flatnonzero((tree.kind == NodeKind.GPU_KERNEL) & ((time > 0) | (count > 0))).tolist():
        key = kernel_key(tree.function_name(node))
        facts = {
            name: value
            for name in _FACTS
            if name in profile.metrics and (value := profile.exclusive(name).at(node)) is not None
        }
        before = found.get(key)
        if before is None:
            found[key] = (node, float(time[node]), float(count[node]), facts)
        else:
            best = node if time[node] > time[before[0]] else before[0]
            found[key] = (best, before[1] + float(time[node]), before[2] + float(count[node]), before[3])
    return found


def _host(one: Profile, its_tool: str, other: Profile, other_tool: str) -> Iterator[Disagreement]:
    """Functions whose part of the host time differs by more than a tenth of the whole."""
    if one.time is None or other.time is None or {one.time.id[:4], other.time.id[:4]} != {"cpu."}:
        return
    if Aggregation.DERIVED in (one.time.aggregation, other.time.aggregation):
        return
    mine, theirs = function_table(one, one.time), function_table(other, other.time)
    total, their_total = one.total(one.time.id), other.total(other.time.id)
    if not total or not their_total:
        return
    shares = dict(zip(theirs.name, (theirs.exclusive / their_total).tolist(), strict=True))
    for name, value, node in list(zip(mine.name, mine.exclusive.tolist(), mine.node.tolist(), strict=True))[:MOST]:
        share = value / total
        if name in shares and abs(share - shares[name]) > SHARE:
            pair = ((its_tool, share), (other_tool, shares[name]))
            yield Disagreement(name, "part of the time", one.time.id, "ratio", pair, int(node))


# -- values of several views of one run, each still where its own reader keeps it, seen on the merged tree --------


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One profile's values and where they belong: `node[i]` and `location[j]` in the merged profile for its own i and j."""

    values: Values
    node: IntArray
    location: IntArray
    #: Nodes of the merged tree that share the facts of node i: (i, merged node), for kernels that stand at several places.
    copies: tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True)
class Owner:
    """The view that measured a metric, and its id there."""

    view: int
    metric: str


class MergedValues:
    """The `Values` of a merged profile. Inclusive values are those of the merged tree."""

    def __init__(
        self,
        tree: CallTree,
        locations: int,
        views: Sequence[View],
        owners: Mapping[str, Sequence[Owner]],
        rules: Mapping[str, Aggregation],
    ) -> None:
        self.tree = tree
        self.locations = locations
        self.views = views
        self.owners = owners
        self.rules = rules
        self._exclusive: dict[str, Column] = {}
        self._inclusive: dict[str, Column] = {}

    def exclusive(self, metric: str) -> Column:
        """What each node itself has, over all locations; these values sum to the total."""
        if metric not in self._exclusive:
            self._exclusive[metric] = self._joined(metric)
        return self._exclusive[metric]

    def _joined(self, metric: str) -> Column:
        nodes: list[IntArray] = []
        values: list[FloatArray] = []
        rule = self.rules.get(metric, Aggregation.SUM)
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            column = view.values.exclusive(owner.metric)
            kept = view.node[column.nodes] >= 0
            nodes.append(view.node[column.nodes[kept]])
            values.append(column.values[kept])
            if rule == Aggregation.DERIVED and len(view.copies[0]):
                position = np.searchsorted(column.nodes, view.copies[0])
                position = np.minimum(position, max(len(column.nodes) - 1, 0))
                known = column.nodes[position] == view.copies[0] if len(column.nodes) else np.zeros(len(position), bool)
                nodes.append(view.copies[1][known])
                values.append(column.values[position[known]] if len(column.nodes) else np.empty(0))
        if not nodes:
            return EMPTY_COLUMN
        every, amounts = np.concatenate(nodes), np.concatenate(values)
        distinct, group = np.unique(every, return_inverse=True)
        return Column(distinct.astype(np.int32), combined(rule, group, amounts, len(distinct)))

    def inclusive(self, metric: str) -> Column:
        """What each node and all below it have, over all locations."""
        if metric not in self._inclusive:
            own = self.exclusive(metric)
            rule = self.rules.get(metric, Aggregation.SUM)
            self._inclusive[metric] = rolled_up(self.tree, own, rule)
        return self._inclusive[metric]

    def per_location(self, metric: str, nodes: IntArray, *, inclusive: bool = True) -> FloatArray:
        """Array (locations × len(nodes)) of the values at chosen nodes; 0 where a location has none."""
        result = np.zeros((self.locations, len(nodes)))
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            used = np.flatnonzero(view.node >= 0).astype(np.int32)
            if not inclusive:  # only what lands on the chosen nodes
                used = used[np.isin(view.node[used], nodes)]
            own = view.values.per_location(owner.metric, used, inclusive=False)
            for row, location in enumerate(view.location.tolist()):
                dense = np.bincount(view.node[used], weights=own[row], minlength=len(self.tree)).astype(np.float64)
                result[location] += (self.tree.inclusive(dense) if inclusive else dense)[nodes]
        return result

    def grouped(self, metric: str, group: IntArray, groups: int) -> FloatArray:
        """Array (locations × groups): exclusive values added up by `group` (one number per node, −1 for none)."""
        result = np.zeros((self.locations, groups))
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            mapped = np.where(view.node >= 0, group[np.maximum(view.node, 0)], -1).astype(np.int32)
            np.add.at(result, view.location, view.values.grouped(owner.metric, mapped, groups))
        return result

    def location_totals(self, metric: str) -> FloatArray:
        """Total of each location; NaN where a location has no value of this metric."""
        result = np.full(self.locations, np.nan)
        for owner in self.owners.get(metric, ()):
            view = self.views[owner.view]
            totals = view.values.location_totals(owner.metric)
            for row, location in enumerate(view.location.tolist()):
                if not np.isnan(totals[row]):
                    result[location] = totals[row] + (0.0 if np.isnan(result[location]) else result[location])
        return result

    def derived_total(self, metric: str) -> float:
        """A derived metric of the whole run, where one view alone has it; else NaN."""
        owners = self.owners.get(metric, ())
        if len(owners) != 1:
            return float("nan")
        return self.views[owners[0].view].values.derived_total(owners[0].metric)
