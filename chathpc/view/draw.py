"""From a diagnosed profile to what a page draws of it: its largest rows, kernels in the roofline, threads, and what other modules make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Diagnosis
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.profile import Profile
from chathpc.profile.tables import group_nodes, rows_of
from chathpc.profile.tree import IntArray
from chathpc.view.lanes import timeline_of
from chathpc.view.records import DrawnKernel, DrawnRows, DrawnThreads, View
from chathpc.view.sources import Heat, kernel_remarks, sources_of
from chathpc.view.tables import GROUP_NUMBERS, GROUPS, Tables, metric_drawn, rounded
from chathpc.view.trees import tree_of

#: Metrics that trees and tables have values of.
MOST_METRICS = 6
#: Lines by their time of which the source is shown.
_HOT_LINES = 60


def view_of(profile: Profile, facts: Facts, diagnosis: Diagnosis) -> View:
    """What a page draws of `profile`; the places of the findings are always part of it."""
    tables = Tables()
    metrics = metrics_of(profile, diagnosis)
    places = [finding.where for finding in diagnosis.findings]
    focus = [place.node for place in places if place.node >= 0]
    tree = functions = lines = None
    timed: list[int] = []
    if metrics:
        tree = tree_of(profile, facts, [metric.id for metric in metrics], focus, tables)
        functions, nodes = rows_drawn(profile, facts, "function", metrics, tables)
        lines, _ = rows_drawn(profile, facts, "line", metrics, tables)
        timed = _by_time(profile, functions, nodes)
    heat = _heat(profile, facts, metrics)
    return View(
        metrics=[metric_drawn(metric, profile.total(metric.id)) for metric in metrics],
        tree=tree,
        functions=functions,
        lines=lines,
        threads=threads_of(profile, [*focus, *timed], tables),
        timeline=timeline_of(profile, facts, tables),
        roofline=roofline_of(profile, tables),
        sources=sources_of(profile, _hot_places(diagnosis, heat), heat, tables),
        kernel_remarks=kernel_remarks(profile, tables),
        groups=list(GROUPS),
        names=tables.names.texts,
        files=tables.files.texts,
        modules=tables.modules.texts,
    )


def metrics_of(profile: Profile, diagnosis: Diagnosis) -> list[Metric]:
    """The metrics that add up and have values: the time of the host, those that facts are of, then all others, as many as fit."""
    usable = {
        metric.id: metric
        for metric in profile.metrics.values()
        if metric.has_values
        and not metric.hidden
        and metric.aggregation == Aggregation.SUM
        and profile.total(metric.id) > 0
    }
    wanted = [] if profile.time is None else [profile.time.id]
    wanted += [fact.metric for fact in diagnosis.evidence if fact.metric is not None]
    chosen = [usable[name] for name in dict.fromkeys([*wanted, *usable]) if name in usable]
    return chosen[:MOST_METRICS]


def _by_time(profile: Profile, functions: DrawnRows, nodes: Sequence[int]) -> list[int]:
    """Nodes of the listed functions, those with most of the host's time first."""
    own = [] if profile.time is None else functions.exclusive.get(profile.time.id, [])
    return [nodes[row] for row in sorted(range(len(own)), key=lambda row: -own[row]) if own[row] > 0]


def _hot_places(diagnosis: Diagnosis, heat: Heat) -> Iterator[tuple[str, int]]:
    """Files and lines: of findings, of facts, then those with most of the first metric."""
    seen = [finding.where for finding in diagnosis.findings]
    seen += [fact.where for fact in diagnosis.evidence if fact.where is not None]
    for where in seen:
        if where.file and where.line:
            yield where.file, where.line
    for files in heat.values():
        lines = [(value, file, line) for file, values in files.items() for line, value in values.items()]
        for _, file, line in sorted(lines, key=lambda each: -each[0])[:_HOT_LINES]:
            yield file, line


def _heat(profile: Profile, facts: Facts, metrics: Sequence[Metric]) -> dict[str, dict[str, dict[int, float]]]:
    """The values of lines by metric, file and line; library calls count for the line that makes them, as in findings."""
    tree, activities = profile.tree, facts.activities
    at = np.where((activities.call >= 0) & (activities.site >= 0), activities.site, np.arange(len(tree)))
    found: dict[str, dict[str, dict[int, float]]] = {}
    for metric in metrics:
        values = np.bincount(at, weights=profile.exclusive(metric.id).dense(len(tree)), minlength=len(tree))
        for node in np.flatnonzero((values > 0) & (tree.file >= 0) & (tree.line > 0)).tolist():
            lines = found.setdefault(metric.id, {}).setdefault(tree.files[int(tree.file[node])], {})
            line = int(tree.line[node])
            lines[line] = lines.get(line, 0.0) + float(values[node])
    return found


#: Rows of a table in a page: by own value, and by that with all that is below.
MOST_OWN, MOST_BELOW = 250, 100


def rows_drawn(
    profile: Profile, facts: Facts, by: str, metrics: Sequence[Metric], tables: Tables
) -> tuple[DrawnRows, list[int]]:
    """The rows by function or line that have most of any of `metrics`, the first of these first; and the node that stands for each."""
    tree, grouping = profile.tree, group_nodes(profile.tree, by)
    known = {metric.id: rows_of(profile, metric, grouping) for metric in metrics}
    # A row of the grouping has a number of its own in each metric's table, where it stands by its value; -1 where it has none.
    places: dict[str, IntArray] = {}
    found: dict[int, int] = {}
    for metric, table in known.items():
        places[metric] = place = np.full(grouping.rows + 1, -1, dtype=np.int32)
        place[grouping.row] = table.row_of
        rows = np.argsort(place)[-len(table) :] if len(table) else place[:0]
        chosen = np.union1d(np.arange(min(MOST_OWN, len(table))), np.argsort(-table.inclusive)[:MOST_BELOW])
        for position in chosen.tolist():
            found.setdefault(int(rows[position]), int(table.node[position]))
    nodes, listed = list(found.values()), np.array(list(found), dtype=np.int32)
    label, texts = tree.function_labels
    hottest = _hottest_lines(profile, metrics[0]) if by == "function" else {}
    seen_at = [hottest.get(int(label[node]), node) if tree.file[node] < 0 else node for node in nodes]

    def values(column: str) -> dict[str, list[float]]:
        return {
            metric: rounded(np.append(getattr(table, column), 0.0)[places[metric][listed]])
            for metric, table in known.items()
        }

    drawn = DrawnRows(
        name=[tables.names.add(texts[int(label[node])]) for node in nodes],
        file=[tables.files.add(tree.file_name(place)) for place in seen_at],
        line=[int(tree.line[place]) for place in seen_at],
        module=[tables.modules.add(tree.module_name(node)) for node in nodes],
        group=GROUP_NUMBERS[facts.activities.kind[np.array(nodes, dtype=np.int64)]].tolist(),
        exclusive=values("exclusive"),
        inclusive=values("inclusive"),
        left_out=max(max(map(len, known.values())) - len(nodes), 0),
    )
    return drawn, nodes


def _hottest_lines(profile: Profile, metric: Metric) -> dict[int, int]:
    """By number of a function's label the line (node) with most in it, of functions whose own place is not known."""
    tree = profile.tree
    inside = np.flatnonzero((tree.file >= 0) & (tree.line > 0) & (tree.file[np.maximum(tree.function, 0)] < 0))
    order = inside[np.argsort(profile.inclusive(metric.id).dense(len(tree))[inside], kind="stable")]
    return dict(zip(tree.function_labels[0][order].tolist(), order.tolist(), strict=True))


_INTENSITY, _BANDWIDTH = "gpu.kernel.arithmetic-intensity", "gpu.kernel.peak-dram-rate"
_PRECISIONS = ("fp64", "fp32", "fp16", "tensor")
MOST_KERNELS = 200


def roofline_of(profile: Profile, tables: Tables) -> list[DrawnKernel]:
    """The kernels whose arithmetic intensity and rate were counted, longest first (Williams, Waterman, Patterson, CACM 52(4), 2009)."""
    if not profile.has(_INTENSITY):
        return []
    intensity = profile.exclusive(_INTENSITY)

    def at(metric: str, node: int) -> float | None:
        return profile.exclusive(metric).at(node) if profile.has(metric) else None

    kernels = []
    for node, value in zip(intensity.nodes.tolist(), intensity.values.tolist(), strict=True):
        rate, precision = max((at(f"gpu.kernel.flops.{each}", node) or 0.0, each) for each in _PRECISIONS)
        if rate <= 0 or not value > 0:
            continue
        time = "gpu.kernel.time" in profile.metrics
        kernels.append(
            DrawnKernel(
                name=tables.names.add(profile.tree.label(node)),
                intensity=value,
                rate=rate,
                seconds=profile.inclusive("gpu.kernel.time").at(node) if time else None,
                precision=precision,
                peak_rate=at(f"gpu.kernel.peak-flops.{precision}", node),
                peak_bandwidth=at(_BANDWIDTH, node),
            )
        )
    kernels.sort(key=lambda kernel: -(kernel.seconds or 0.0))
    return kernels[:MOST_KERNELS]


#: Functions, and values in all: more locations leave room for fewer functions.
MOST_PLACES, MOST_VALUES = 24, 50_000
#: Locations of a page; of more, each n-th is shown.
MOST_LOCATIONS = 10_000


def threads_of(profile: Profile, functions: Sequence[int], tables: Tables) -> DrawnThreads | None:
    """The host time of the functions that the nodes `functions` are of, with what they call; None for a single location."""
    time, where, threads = profile.time, profile.where, profile.threads
    threads = threads[~where.is_shared[threads]]
    if time is None or len(threads) < 2:
        return None
    threads = threads[np.lexsort((where.thread[threads], where.rank[threads], where.node[threads]))]
    step = -(-len(threads) // MOST_LOCATIONS)
    shown = threads[::step]
    tree = profile.tree
    label, texts = tree.function_labels
    most = max(1, min(MOST_PLACES, MOST_VALUES // len(shown) - 1))
    chosen = list(dict.fromkeys(int(label[node]) for node in functions))[:most]
    # A node counts for each function that it lies in: nodes that lie in the same ones are one group.
    inside = np.zeros(len(tree), dtype=np.int64)
    for bit, number in enumerate(chosen):
        inside |= tree.inside(np.flatnonzero(label == number).astype(np.int32)).astype(np.int64) << bit
    sets, group = np.unique(inside, return_inverse=True)
    matrix = profile.values.grouped(time.id, group.reshape(-1).astype(np.int32), len(sets))[shown]
    member = (sets[:, None] >> np.arange(len(chosen))) & 1
    inclusive = matrix @ member.astype(np.float64)
    return DrawnThreads(
        metric=time.id,
        rank=where.rank[shown].tolist(),
        thread=where.thread[shown].tolist(),
        places=[-1, *(tables.names.add(texts[each]) for each in chosen)],
        values=[rounded(matrix.sum(axis=1)), *(rounded(column) for column in inclusive.T)],
        left_out=len(threads) - len(shown),
    )
