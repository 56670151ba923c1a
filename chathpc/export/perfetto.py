"""The timeline as Chrome trace events (JSON), which Perfetto opens: lanes become tracks of the host and of each device.

Format: "Trace Event Format" (Google, 2016); complete events (ph X) with times in microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from chathpc.export.stacks import event_name
from chathpc.export.table import timeline_of
from chathpc.profile.profile import Profile
from chathpc.profile.tree import CallTree

#: Number of the track group of the host; devices follow.
_HOST = 1


def export(profile: Profile, metric: str | None) -> str:
    """Every interval, and every function of the sampled stacks with its callers around it, as an event; `metric` is not used. UsageError without a timeline."""
    timeline = timeline_of(profile)
    tree = profile.tree
    events: list[dict[str, Any]] = [_named("process_name", _HOST, 0, f"{profile.title} (host)")]
    events += [
        _named("process_name", _HOST + 1 + device, 0, _device_name(profile, device)) for device in timeline.devices
    ]
    labels: dict[int, str] = {}

    def label(node: int, otherwise: str) -> str:
        if node not in labels:
            labels[node] = event_name(tree, node) if node >= 0 else otherwise
        return labels[node]

    track = 0
    for spans in timeline.intervals:
        track += 1
        process = _HOST + 1 + spans.device if spans.device >= 0 else _HOST
        where = profile.where.label(spans.location) if spans.location >= 0 else ""
        events.append(_named("thread_name", process, track, f"{spans.kind.value} {where}".strip()))
        rows = zip(
            (spans.start - timeline.begin).tolist(),
            (spans.end - spans.start).tolist(),
            spans.node.tolist(),
            strict=True,
        )
        for position, (start, duration, node) in enumerate(rows):
            event = _complete(label(node, spans.kind.value), spans.kind.value, process, track, start, duration)
            if spans.bytes is not None:
                event["args"] = {"bytes": int(spans.bytes[position])}
            events.append(event)
    for lane in timeline.lanes:
        track += 1
        events.append(_named("thread_name", _HOST, track, profile.where.label(lane.location)))
        begin = (lane.start.astype(np.int64) - timeline.begin).tolist()
        events += [
            _complete(label(stay.node, ""), "context", _HOST, track, stay.start, stay.end - stay.start)
            for stay in stays(tree, begin, lane.node.tolist(), timeline.end - timeline.begin)
        ]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}) + "\n"


class Stay(NamedTuple):
    """A function that was on the stack from `start` to `end`, `depth` functions below the entry point."""

    start: int
    depth: int
    end: int
    node: int


def stays(tree: CallTree, begin: Sequence[int], nodes: Sequence[int], end: int) -> list[Stay]:
    """The calls of a sampled trace, one in the other: a function goes on as long as the samples have it at the same place of the stack.

    `nodes[i]` holds from `begin[i]` to the next one, −1 is idle. In the order in which they begin, callers first.
    """
    paths: dict[int, list[int]] = {-1: []}
    open_: list[tuple[int, int]] = []  # node and start
    found: list[Stay] = []

    def close(depth: int, now: int) -> None:
        while len(open_) > depth:
            node, start = open_.pop()
            found.append(Stay(start, len(open_), now, node))

    for now, node in zip(begin, nodes, strict=True):
        if node not in paths:
            functions = [step for step in tree.path(node) if tree.function[step] == step]
            paths[node] = functions or [node]
        path = paths[node]
        same = 0
        while same < min(len(open_), len(path)) and open_[same][0] == path[same]:
            same += 1
        close(same, now)
        open_ += [(step, now) for step in path[same:]]
    close(0, end)
    return sorted(found)


def _device_name(profile: Profile, device: int) -> str:
    known = profile.devices.get(device)
    return f"GPU {device}: {known.name}" if known is not None and known.name else f"GPU {device}"


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _complete(name: str, category: str, process: int, thread: int, start: int, duration: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "pid": process,
        "tid": thread,
        "ts": start / 1e3,
        "dur": duration / 1e3,
    }
