"""The timeline as a table of comma-separated values: one row an interval, as a trace reader would list them."""

from __future__ import annotations

import csv
import io

import numpy as np

from chathpc.errors import UsageError
from chathpc.export.stacks import event_name
from chathpc.export.table import as_text
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import Timeline

NO_TIMELINE = "This profile has no timeline."
HOW_TO_RECORD = "Record one: hpcrun -t, nsys profile, rocprofv3 --sys-trace, or torch.profiler."


def timeline_of(profile: Profile) -> Timeline:
    """The timeline of a profile; UsageError if there is none."""
    timeline = profile.timeline
    if timeline is None or not (timeline.lanes or timeline.intervals):
        raise UsageError(NO_TIMELINE, hint=HOW_TO_RECORD)
    return timeline


def export(profile: Profile, metric: str | None) -> str:
    """Rows of lane, device, location, begin and end in nanoseconds from the beginning, name and bytes; `metric` is not used.

    Sampled traces (HPCToolkit) have a row for each stay in one context. UsageError without a timeline.
    """
    timeline = timeline_of(profile)
    tree = profile.tree
    labels: dict[int, str] = {}

    def label(node: int) -> str:
        if node not in labels:
            labels[node] = as_text(event_name(tree, node)) if node >= 0 else ""
        return labels[node]

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
        ends = [*begin[1:], timeline.end - timeline.begin]
        where = profile.where.label(lane.location)
        for start, end, node in zip(begin, ends, lane.node.tolist(), strict=True):
            if node >= 0:
                writer.writerow(["context", "", where, start, end, label(node), ""])
    return file.getvalue()
