"""From a diagnosed profile to what a page draws of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Diagnosis
from chathpc.profile.metric import Aggregation, Metric
from chathpc.profile.profile import Profile
from chathpc.view.lanes import timeline_of
from chathpc.view.records import View
from chathpc.view.roofline import roofline_of
from chathpc.view.rows import Listed, listed, rows_drawn
from chathpc.view.sources import kernel_remarks, sources_of
from chathpc.view.tables import GROUPS, Tables, metric_drawn
from chathpc.view.threads import threads_of
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
    functions = listed(profile, "function", metrics) if metrics else None
    lines = listed(profile, "line", metrics) if metrics else None
    timed = [] if functions is None else _by_time(profile, functions)
    return View(
        metrics=[metric_drawn(metric, profile.total(metric.id)) for metric in metrics],
        tree=tree_of(profile, facts, [metric.id for metric in metrics], focus, tables) if metrics else None,
        functions=None if functions is None else rows_drawn(profile, facts, functions, tables),
        lines=None if lines is None else rows_drawn(profile, facts, lines, tables),
        threads=threads_of(profile, [*focus, *timed], tables),
        timeline=timeline_of(profile, facts, tables),
        roofline=roofline_of(profile, tables),
        sources=sources_of(profile, _hot_places(diagnosis, lines), _heat(lines), tables),
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


def _by_time(profile: Profile, functions: Listed) -> list[int]:
    """Nodes of the listed functions, those with most of the host's time first."""
    if profile.time is None or profile.time.id not in functions.exclusive:
        return []
    own = functions.exclusive[profile.time.id]
    order = sorted(range(len(own)), key=lambda row: -own[row])
    return [functions.node[row] for row in order if own[row] > 0]


def _hot_places(diagnosis: Diagnosis, lines: Listed | None) -> Iterator[tuple[str, int]]:
    """Files and lines: of findings, of facts, then those with most of the first metric."""
    seen = [finding.where for finding in diagnosis.findings]
    seen += [fact.where for fact in diagnosis.evidence if fact.where is not None]
    for where in seen:
        if where.file and where.line:
            yield where.file, where.line
    if lines is None:
        return
    for own in lines.exclusive.values():
        order: Sequence[int] = sorted(range(len(own)), key=lambda row: -own[row])[:_HOT_LINES]
        for row in order:
            _, file, line = lines.keys[row]
            if own[row] > 0 and file and line:
                yield file, line


def _heat(lines: Listed | None) -> dict[str, dict[str, dict[int, float]]]:
    """The own values of lines by metric, file and line."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    if lines is None:
        return found
    for metric, own in lines.exclusive.items():
        for (_, file, line), value in zip(lines.keys, own, strict=True):
            if file and line and value > 0:
                at = found.setdefault(metric, {}).setdefault(file, {})
                at[line] = at.get(line, 0.0) + value
    return found
