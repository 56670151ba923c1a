"""What GPUs, ranks and threads did over time, as far as it can be seen on a screen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chathpc.diagnosis.facts import Facts
from chathpc.profile.profile import Profile
from chathpc.profile.timeline import Lane, LaneKind, Timeline
from chathpc.profile.tree import IntArray
from chathpc.view.records import DrawnLane, DrawnTimeline, Group
from chathpc.view.tables import GROUP_NUMBERS, OTHER, Tables

#: Lanes, intervals in all, and the parts that the run is divided into: what is shorter than one is drawn with its neighbours.
MOST_LANES, MOST_INTERVALS, PARTS = 48, 16_000, 4000

_KINDS: dict[LaneKind, tuple[str, Group]] = {
    LaneKind.COMPUTE: ("kernels", "gpu"),
    LaneKind.COLLECTIVE: ("collectives", "mpi"),
    LaneKind.H2D: ("copies to device", "memory"),
    LaneKind.D2H: ("copies to host", "memory"),
    LaneKind.D2D: ("copies on device", "memory"),
    LaneKind.P2P: ("copies between devices", "memory"),
    LaneKind.UNIFIED: ("unified memory", "memory"),
    LaneKind.MEMSET: ("memset", "memory"),
    LaneKind.GRAPH: ("graphs", "gpu"),
    LaneKind.API: ("GPU calls", "runtime"),
    LaneKind.MPI: ("MPI", "mpi"),
    LaneKind.OS: ("blocking calls", "wait"),
    LaneKind.RANGE: ("ranges", "own"),
}


class _Spans:
    """Intervals of a lane in columns: begin and length in nanoseconds, the node, and how many events each is."""

    def __init__(self, start: IntArray, length: IntArray, node: IntArray) -> None:
        self.start, self.length, self.node = start, length, node
        self.count = np.ones(len(start), dtype=np.int64)

    def coarser(self, resolution: int) -> _Spans:
        """Runs of intervals shorter than `resolution` that begin in the same part of the run as one, named after its longest."""
        if not len(self.start):
            return self
        part = self.start // max(1, resolution)
        long = self.length >= resolution
        edge = np.ones(len(self.start), dtype=bool)
        edge[1:] = (part[1:] != part[:-1]) | long[1:] | long[:-1]
        run = np.cumsum(edge) - 1
        first = np.flatnonzero(edge)
        last = np.append(first[1:], len(self.start)) - 1
        longest = np.lexsort((self.length, run))[last]
        stop = np.maximum.reduceat(self.start + self.length, first)
        found = _Spans(self.start[first], stop - self.start[first], self.node[longest])
        found.count = np.add.reduceat(self.count, first)
        return found


def timeline_of(profile: Profile, facts: Facts, tables: Tables) -> DrawnTimeline | None:
    """The lanes of the profile's timeline; None without one, or if nothing is in it."""
    timeline = profile.timeline
    if timeline is None or timeline.end <= timeline.begin:
        return None
    lanes = [lane for lane in _lanes(profile, timeline) if len(lane[3].start)]
    if not lanes:
        return None
    shown = lanes[:MOST_LANES]
    length = int(timeline.end - timeline.begin)
    parts = PARTS
    while True:
        resolution = max(1, length // parts)
        coarse = [spans.coarser(resolution) for *_, spans in shown]
        if sum(len(spans.start) for spans in coarse) <= MOST_INTERVALS or parts <= 1:
            break
        parts //= 2
    label, texts = profile.tree.function_labels
    return DrawnTimeline(
        length=length,
        resolution=resolution,
        lanes=[
            DrawnLane(
                title=title,
                owner=owner,
                group=group or "own",
                start=spans.start.tolist(),
                length=spans.length.tolist(),
                name=[tables.names.add(texts[label[node]] if node >= 0 else title) for node in spans.node.tolist()],
                count=spans.count.tolist(),
                groups=_groups(facts, spans.node) if group is None else [],
            )
            for (owner, title, group, _), spans in zip(shown, coarse, strict=True)
        ],
        left_out=len(lanes) - len(shown),
    )


def _groups(facts: Facts, nodes: IntArray) -> list[int]:
    kind = GROUP_NUMBERS[facts.activities.kind[np.maximum(nodes, 0)]]
    found: list[int] = np.where(nodes >= 0, kind, OTHER).tolist()
    return found


def _lanes(profile: Profile, timeline: Timeline) -> Iterator[tuple[str, str, Group | None, _Spans]]:
    """Owner, title, group (None: that of each node) and intervals of each lane: devices first, then what the host did."""
    for lane in sorted(timeline.intervals, key=lambda one: (one.device < 0, one.device, one.location)):
        kind, group = _KINDS[lane.kind]
        where = _place(profile, lane.location) if lane.location >= 0 else ""
        if lane.device >= 0:
            known = profile.devices.get(lane.device)
            owner = f"GPU {lane.device}{f': {known.name}' if known is not None and known.name else ''}"
            where = where[where.find("stream") :] if "stream" in where else where
        else:
            owner = "Host"
        start = (lane.start.astype(np.int64) - timeline.begin).clip(0)
        order = np.argsort(start, kind="stable")
        length = (lane.end.astype(np.int64) - lane.start.astype(np.int64)).clip(0)
        yield (
            owner,
            f"{kind} · {where}" if where else kind,
            group,
            _Spans(start[order], length[order], lane.node[order]),
        )
    places = profile.where
    for sampled in sorted(
        timeline.lanes, key=lambda one: (int(places.rank[one.location]), int(places.thread[one.location]))
    ):
        if not profile.helpers.locations[sampled.location]:
            yield "Host", _place(profile, sampled.location), None, _sampled(profile, sampled, timeline)


def _place(profile: Profile, location: int) -> str:
    """The label of a location; the thread goes without saying where each rank has one only."""
    where = profile.where
    alone = int(where.rank[location]) >= 0 and int(where.thread.max()) <= 0
    return where.label(location).replace(" thread 0", "") if alone else where.label(location)


def _sampled(profile: Profile, lane: Lane, timeline: Timeline) -> _Spans:
    """The states of a location as intervals, each as long as it stays in one function; idle time left out."""
    start = (lane.start.astype(np.int64) - timeline.begin).clip(0)
    stop = np.append(start[1:], timeline.end - timeline.begin)
    label = profile.tree.function_labels[0]
    what = np.where(lane.node >= 0, label[np.maximum(lane.node, 0)], -1)
    edge = np.ones(len(start), dtype=bool)
    edge[1:] = what[1:] != what[:-1]
    first = np.flatnonzero(edge)
    last = np.append(first[1:], len(start)) - 1
    busy = lane.node[first] >= 0
    first, last = first[busy], last[busy]
    return _Spans(start[first], stop[last] - start[first], lane.node[first])
