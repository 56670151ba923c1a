"""Timelines written down as spans in microseconds, for tests to read and to check by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from chathpc.profile.build import TreeBuilder
from chathpc.profile.gpu_counters import counter
from chathpc.profile.location import Locations
from chathpc.profile.metric import Aggregation, Clock, Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Device
from chathpc.profile.timeline import COPY_LANES, IntervalLane, LaneKind, Timeline
from chathpc.profile.tree import NodeKind

Span = tuple[float, float]
MICRO = 1000  #: nanoseconds


@dataclass(frozen=True)
class Track:
    """Spans of one name in a lane; `size` bytes each."""

    kind: LaneKind
    name: str
    spans: tuple[Span, ...]
    device: int = -1
    size: int = 0
    pageable: bool | None = None
    blocks: float | None = None
    counters: Mapping[str, float] = field(default_factory=dict)
    thread: int = 0
    under: str | None = None


def kernel(
    name: str, *spans: Span, device: int = 0, blocks: float | None = None, under: str | None = None, **counters: float
) -> Track:
    """A kernel; `sm_throughput=90` is the counter gpu.kernel.sm-throughput."""
    named = {f"gpu.kernel.{key.replace('_', '-')}": value for key, value in counters.items()}
    return Track(LaneKind.COMPUTE, name, spans, device, blocks=blocks, under=under, counters=named)


def collective(name: str, *spans: Span, device: int = 0) -> Track:
    return Track(LaneKind.COLLECTIVE, name, spans, device)


def copy(
    kind: LaneKind, *spans: Span, size: int = 1_000_000, pageable: bool | None = None, device: int = 0,
    under: str | None = None,
) -> Track:  # fmt: skip
    return Track(kind, f"[{kind.value}]", spans, device, size, pageable, under=under)


def api(name: str, *spans: Span, thread: int = 0) -> Track:
    return Track(LaneKind.API, name, spans, thread=thread)


def ranged(name: str, *spans: Span, thread: int = 0) -> Track:
    return Track(LaneKind.RANGE, name, spans, thread=thread)


def mpi(name: str, *spans: Span) -> Track:
    return Track(LaneKind.MPI, name, spans)


def system(name: str, *spans: Span) -> Track:
    return Track(LaneKind.OS, name, spans)


def every(period: float, length: float, count: int, *, begin: float = 0.0) -> tuple[Span, ...]:
    """`count` spans of a length, one each period."""
    return tuple((begin + i * period, begin + i * period + length) for i in range(count))


_KINDS = {
    LaneKind.COMPUTE: NodeKind.GPU_KERNEL,
    LaneKind.COLLECTIVE: NodeKind.GPU_KERNEL,
    LaneKind.RANGE: NodeKind.REGION,
}


@dataclass
class _Lane:
    spans: list[tuple[int, int, int, int, bool]] = field(default_factory=list)


def recorded(
    *tracks: Track, begin: float | None = None, end: float | None = None, devices: Mapping[int, Device] | None = None, samples: Mapping[str, int] | None = None,
    **facts: object,
) -> Profile:  # fmt: skip
    """The profile of the tracks; recorded from the first begin to the last end unless said otherwise."""
    builder = TreeBuilder()
    lanes: dict[tuple[LaneKind, int, int], list[tuple[int, int, int, int, int]]] = {}
    for track in tracks:
        parent = -1 if track.under is None else builder.node(-1, NodeKind.FUNCTION, track.under)
        node = builder.node(
            parent, _KINDS.get(track.kind, NodeKind.GPU_OP if track.device >= 0 else NodeKind.FUNCTION), track.name
        )
        rows = lanes.setdefault((track.kind, track.device, track.thread), [])
        rows += [
            (
                round(a * MICRO),
                round(b * MICRO),
                node,
                track.size,
                -1 if track.pageable is None else int(track.pageable),
            )
            for a, b in track.spans
        ]
        for a, b in track.spans:
            seconds = (b - a) * 1e-6
            if track.device >= 0:
                builder.add("gpu.time", node, seconds)
            if track.kind in (LaneKind.COMPUTE, LaneKind.COLLECTIVE):
                builder.add("gpu.kernel.time", node, seconds)
                builder.add("gpu.kernel.count", node, 1.0)
            elif track.device < 0:
                builder.add("host.time", node, seconds)
        for identifier, value in track.counters.items():
            builder.add(identifier, node, value)
        if track.blocks is not None:
            builder.add("gpu.kernel.blocks", node, track.blocks)
    for function, number in (samples or {}).items():
        builder.add("cpu.samples", builder.node(-1, NodeKind.FUNCTION, function, file="app.cu", line=1), number)
    metrics = {
        name: Metric(name, unit, name, name, clock=clock, aggregation=rule)
        for name, unit, clock, rule in (
            ("cpu.samples", Unit.SAMPLES, None, Aggregation.SUM),
            ("gpu.time", Unit.SECONDS, None, Aggregation.SUM),
            ("gpu.kernel.time", Unit.SECONDS, None, Aggregation.SUM),
            ("gpu.kernel.count", Unit.COUNT, None, Aggregation.SUM),
            ("host.time", Unit.SECONDS, Clock.WALL, Aggregation.SUM),
            ("gpu.kernel.blocks", Unit.COUNT, None, Aggregation.DERIVED),
        )
        if name in builder._values
    }
    metrics |= {name: counter(name, name) for track in tracks for name in track.counters}
    tree, values, place = builder.finish(metrics.values())
    made = tuple(_lane(key, rows, place) for key, rows in lanes.items())
    edges = [time for rows in lanes.values() for row in rows for time in row[:2]]
    timeline = Timeline(
        round(begin * MICRO) if begin is not None else min(edges, default=0),
        round(end * MICRO) if end is not None else max(edges, default=0),
        intervals=made,
    )
    return Profile(
        **{"format": "test", "title": "test", "timed": True, **facts}, tree=tree, metrics=metrics, values=values,
        where=Locations.single(), devices=devices or {}, read_timeline=lambda: timeline,
    )  # fmt: skip


def _lane(
    key: tuple[LaneKind, int, int], rows: list[tuple[int, int, int, int, int]], place: np.ndarray
) -> IntervalLane:
    table = np.array(sorted(rows), dtype=np.int64).reshape(-1, 5)
    kind, device, _ = key
    copies = kind in COPY_LANES
    known = bool((table[:, 4] >= 0).all()) and copies
    return IntervalLane(
        kind, device, 0, table[:, 0], table[:, 1], place[table[:, 2]].astype(np.int32),
        bytes=table[:, 3] if copies else None, pageable=table[:, 4] > 0 if known else None,
    )  # fmt: skip
