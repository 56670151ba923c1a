"""The call tree and the timeline as tables of comma-separated values: one row a node, one row an interval."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from functools import cache

import numpy as np

from chathpc.errors import UsageError
from chathpc.export.stacks import event_name
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
from chathpc.profile.timeline import Timeline
from chathpc.profile.tree import NodeKind

#: A spreadsheet takes text that begins so for a formula (OWASP: CSV injection); an apostrophe before it makes it text.
_FORMULA = ("=", "+", "-", "@", "\t")


def tree_table(profile: Profile, metric: str | None) -> str:
    """All nodes in preorder with node, parent (−1: root), depth, kind, name, file, line, module, then metrics in SI units.

    Columns `ID` hold exclusive, `ID (inc)` inclusive values; empty is not measured. `metric` chooses one metric.
    """
    chosen = [profile.metric(metric)] if metric else [one for one in profile.metrics.values() if one.has_values]
    tree = profile.tree
    columns = []
    for one in chosen:
        for values in (profile.exclusive(one.id), profile.inclusive(one.id)):
            columns.append(values.dense(len(tree), missing=np.nan).tolist())
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    heads = [f"{one.id}{suffix} [{one.unit}]" for one in chosen for suffix in ("", " (inc)")]
    writer.writerow(["node", "parent", "depth", "kind", "name", "file", "line", "module", *heads])
    for node in range(len(tree)):
        amounts = [column[node] for column in columns]
        writer.writerow(
            [
                node,
                int(tree.parent[node]),
                int(tree.depth[node]),
                NodeKind(int(tree.kind[node])).text,
                as_text(tree.label(node)),
                as_text(tree.file_name(node) or ""),
                int(tree.line[node]) or "",
                as_text(tree.module_name(node) or ""),
                *("" if amount != amount else repr(amount) for amount in amounts),
            ]
        )
    return file.getvalue()


def as_text(value: str) -> str:
    """`value` as a spreadsheet shows it and does not compute it."""
    value = clean(value)
    return f"'{value}" if value.startswith(_FORMULA) else value


NO_TIMELINE = "This profile has no timeline."
HOW_TO_RECORD = "Record one: hpcrun -t, nsys profile, rocprofv3 --sys-trace, or torch.profiler."


def timeline_of(profile: Profile) -> Timeline:
    """The timeline of a profile, without the helper threads that the profile leaves out; UsageError if there is none."""
    timeline = profile.timeline
    if timeline is None or not (timeline.lanes or timeline.intervals):
        raise UsageError(NO_TIMELINE, hint=HOW_TO_RECORD)
    helper = profile.helpers.locations
    return replace(
        timeline,
        lanes=tuple(lane for lane in timeline.lanes if not helper[lane.location]),
        intervals=tuple(lane for lane in timeline.intervals if lane.location < 0 or not helper[lane.location]),
    )


def timeline_table(profile: Profile, metric: str | None) -> str:
    """Rows of lane, device, location, begin and end in nanoseconds from the beginning, name and bytes; `metric` is not used.

    Sampled traces (HPCToolkit) have a row for each stay in one context. UsageError without a timeline.
    """
    timeline = timeline_of(profile)
    tree = profile.tree

    @cache
    def label(node: int) -> str:
        return as_text(event_name(tree, node)) if node >= 0 else ""

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["lane", "device", "location", "begin_ns", "end_ns", "name", "bytes"])
    for spans in timeline.intervals:
        where = profile.where.label(spans.location) if spans.location >= 0 else ""
        device = spans.device if spans.device >= 0 else ""
        sizes = [""] * len(spans) if spans.bytes is None else spans.bytes.tolist()
        for start, end, node, size in zip(
            (spans.start - timeline.begin).tolist(), (spans.end - timeline.begin).tolist(), spans.node.tolist(), sizes,
            strict=True,
        ):  # fmt: skip
            writer.writerow([spans.kind.value, device, where, start, end, label(node), size])
    for lane in timeline.lanes:
        begin = (lane.start.astype(np.int64) - timeline.begin).tolist()
        ends = [*begin[1:], timeline.end - timeline.begin][: len(begin)]
        where = profile.where.label(lane.location)
        for start, end, node in zip(begin, ends, lane.node.tolist(), strict=True):
            if node >= 0:
                writer.writerow(["context", "", where, start, end, label(node), ""])
    return file.getvalue()
