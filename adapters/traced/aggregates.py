"""Sums over calls and operations by name, without the calls themselves: what reports of statistics hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from chathpc.adapters.traced.assemble import metric_of
from chathpc.adapters.traced.operations import copy_lane, is_synchronisation, kernel_lane
from chathpc.profile.build import TreeBuilder
from chathpc.profile.gpu_counters import counter
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.sparse import SparseValues
from chathpc.profile.text import clean
from chathpc.profile.timeline import LaneKind
from chathpc.profile.tree import CallTree, NodeKind

#: Sums of ranges, which lie in each other: no part of host.time.
RANGE_TIME = "other.range.time"


class What(Enum):
    """What a row is about."""

    KERNEL = "kernels"
    COPY = "copies"
    MEMSET = "memory sets"
    CALL = "calls"
    RANGE = "ranges"


@dataclass(frozen=True, slots=True)
class Row:
    """One name: `nanoseconds` and `bytes` of all `count` events; None where not told."""

    what: What
    name: str
    nanoseconds: float | None
    count: float | None = None
    bytes: float | None = None
    blocks: float | None = None
    threads: float | None = None


def profile_of(
    rows: Iterable[Row], path: Path, *, format: str, title: str, tool: str, what: str, timeline: str
) -> Profile:
    """The profile of sums in what `tool` wrote (its `what`, in words): no call tree, and no timeline, which `timeline` would collect."""
    tree, metrics, values = _build(rows)
    return Profile(
        format=format,
        title=title,
        tree=tree,
        metrics=metrics,
        values=values,
        where=Locations.single(),
        sources=(Source(path, tool),),
        caveats=(
            "These are sums over the whole run: when each operation ran, what overlapped and who called it is unknown.",
        ),
        not_collected={"timeline": timeline},
        timed=True,
        insufficient="" if metrics else f"The {what} contain no row with a time.",
    )


def _build(rows: Iterable[Row]) -> tuple[CallTree, dict[str, Metric], SparseValues]:
    """Tree, metrics and values of rows of statistics: an entry for each kind of row, the names below."""
    builder = TreeBuilder()
    used: dict[str, Metric] = {}

    def add(identifier: str, node: int, value: float | None, source: str) -> None:
        if value is not None:
            if identifier not in used:
                launch_fact = identifier in ("gpu.kernel.blocks", "gpu.kernel.threads-per-block")
                used[identifier] = (
                    counter(identifier, source)
                    if launch_fact
                    else Metric(RANGE_TIME, Unit.SECONDS, "time of named ranges; nested ranges count again", source)
                    if identifier == RANGE_TIME
                    else metric_of(identifier, source)
                )
            builder.add(identifier, node, value)

    for row in rows:
        node = builder.node(
            builder.node(-1, NodeKind.ENTRY, row.what.value), _kind(row.what), clean(row.name[:20_000]) or "[unnamed]"
        )
        time = None if row.nanoseconds is None else row.nanoseconds * 1e-9
        if row.what is What.RANGE:
            add(RANGE_TIME, node, time, "total time of ranges")
            add("calls.count", node, row.count, "number of ranges")
            continue
        if row.what is What.CALL:
            add("host.time", node, time, "total time of calls")
            add("calls.count", node, row.count, "number of calls")
            if is_synchronisation(row.name):
                add("gpu.sync.time", node, time, "total time of synchronising calls")
            continue
        add("gpu.time", node, time, "total time of the device")
        if row.what is What.KERNEL:
            add("gpu.kernel.time", node, time, "total time of kernels")
            add("gpu.kernel.count", node, row.count, "number of kernels")
            add("gpu.kernel.blocks", node, row.blocks, "blocks of the grid")
            add("gpu.kernel.threads-per-block", node, row.threads, "threads of a block")
            if kernel_lane(row.name) is LaneKind.COLLECTIVE:
                add("gpu.collective.time", node, time, "total time of communicating kernels")
        elif row.what is What.MEMSET:
            add("gpu.memset.time", node, time, "total time of memory sets")
        else:
            add("gpu.copy.time", node, time, "total time of copies")
            add("gpu.copy.count", node, row.count, "number of copies")
            lane = copy_lane(row.name)
            if lane is not None:
                direction = lane.value.replace("gpu-copy-", "gpu.copy.")
                add(f"{direction}.time", node, time, f"total time of copies {lane.name}")
                add(f"{direction}.bytes", node, row.bytes, f"bytes of copies {lane.name}")
    tree, values, _ = builder.finish(used.values())
    return tree, used, values


def _kind(what: What) -> NodeKind:
    if what is What.KERNEL:
        return NodeKind.GPU_KERNEL
    if what is What.CALL:
        return NodeKind.FUNCTION
    return NodeKind.REGION if what is What.RANGE else NodeKind.GPU_OP
