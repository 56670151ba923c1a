"""GPU timelines: copies between host and device, and pages that migrate. Shares are of the window."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Form, Kind, Part
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.timeline_facts import TimelineFacts, seconds
from chathpc.diagnosis.timeline_words import (
    busy_fact,
    copy_site,
    exposed_fact,
    idle_fact,
    lasting,
    measured,
    of_work,
    waiting_fact,
    window_words,
)
from chathpc.profile import intervals, numbers
from chathpc.profile.timeline import LaneKind

#: Kind of copies → the metrics of their time and bytes without the last word, and what they are in words.
_MOVING = {
    LaneKind.H2D: ("gpu.copy.h2d", "copies host to device"),
    LaneKind.D2H: ("gpu.copy.d2h", "copies device to host"),
    LaneKind.D2D: ("gpu.copy.d2d", "copies inside the device"),
    LaneKind.MEMSET: ("gpu.memset", "memory sets"),
    LaneKind.UNIFIED: ("gpu.copy.unified", "migrations of pages"),
}
_DIRECTIONS = (("gpu-h2d-copy-bound", LaneKind.H2D), ("gpu-d2h-copy-bound", LaneKind.D2H))
#: What is left to do where pinning is done, and what of the catalogue does not advise that.
_FEWER = (
    "Copy less (keep on the device what does not change), or overlap copies with kernels: the memory is pinned already, so cudaMallocHost or "
    "pin_memory=True gains nothing more."
)
_NOT_PINNING = "^(?!.*(pin_memory|MallocHost|HostMalloc))"


def copies(facts: Facts) -> Iterable[Draft]:
    """Copies between host and device that no kernel hides and that take much of the device's busy time."""
    timeline = facts.traced
    for identifier, kind in _DIRECTIONS:
        entry, (metric, words) = cause(identifier), _MOVING[kind]
        cost = timeline.exposed(kind)
        share = timeline.share(cost)
        if cost < entry.threshold("min_share") * timeline.busy or share < entry.threshold("min_window_share"):
            continue
        spent = timeline.spent(kind)
        place = copy_site(timeline, kind)
        evidence = [
            _moving(timeline, kind, place, Part("", timeline.amount(kind)[0], "copies")),
            busy_fact(timeline),
            *_volume(timeline, kind),
            exposed_fact(timeline, words, cost, spent, metric=f"{metric}.time"),
            idle_fact(timeline),
            *waiting_fact(timeline),
        ]
        hidden = spent - cost
        pinned = _pinned(timeline, kind)
        if pinned:
            evidence.append(
                measured(
                    timeline,
                    Kind.AMOUNT,
                    pinned,
                    subject="what they copy from or to memory that is pinned already",
                    unit="bytes",
                    metric=f"{metric}.bytes",
                    how="bytes of copies whose host memory is pinned",
                )
            )
        yield Draft(
            cause=identifier,
            where=place,
            summary=f"{words.capitalize()} take {numbers.percent(share)} of {window_words(timeline)} with no kernel overlapping them"
            f"{_not_idle(timeline)}{of_work(timeline, spent)}.",
            cost=cost,
            share=share,
            threshold=entry.threshold("min_window_share"),
            evidence=tuple(evidence),
            signs=2,
            against=(f"{numbers.seconds(hidden)} of the copies are hidden behind kernels.",)
            if hidden > common()["min_hidden"].value * spent
            else (),
            advice=(_FEWER,) if pinned else (),
            fits=_NOT_PINNING if pinned else "",
            samples=0,
        )


def _not_idle(timeline: TimelineFacts) -> str:
    """That a device is not idle because it copies: said where it hardly is."""
    idle = timeline.share(timeline.idle)
    return (
        f"; the device is hardly ever idle ({numbers.percent(idle)})"
        if idle < cause("gpu-idle-host-bound").threshold("min_share")
        else ""
    )


def _moving(timeline: TimelineFacts, kind: LaneKind, where: Place, *parts: Part) -> Fact:
    """How long copies of one kind take."""
    metric, words = _MOVING[kind]
    how = "union of their intervals"
    return lasting(
        timeline, timeline.spent(kind), words, how, f"{metric}.time", form=Form.MANY, parts=parts, where=where
    )


def _volume(timeline: TimelineFacts, kind: LaneKind) -> Iterable[Fact]:
    """At which rate copies of one kind move how much."""
    (metric, words), volume, spent = _MOVING[kind], timeline.amount(kind)[1], timeline.spent(kind)
    if volume > 0 and spent > 0:
        yield _rate(timeline, words, volume, spent, f"{metric}.bytes", "of the copies")


def _rate(
    timeline: TimelineFacts, what: str, volume: float, spent: float, metric: str, how: str, *, copies: str | None = ""
) -> Fact:
    """The rate of some copies; from which volume (behind the number of `copies`) in which time, unless that is None."""
    parts = () if copies is None else (Part(copies, volume, "bytes"), Part("", spent, "s"))
    return measured(
        timeline, Kind.RATE, volume / spent, subject=f"the rate of {what}", parts=parts, unit="bytes/s", metric=metric,
        how=f"bytes / time {how}",
    )  # fmt: skip


def _pinned(timeline: TimelineFacts, kind: LaneKind) -> float:
    """Bytes that were copied from or to pinned memory, where nearly all were; 0 otherwise."""
    volume = timeline.pageable(kind, pinned=True)[1]
    return volume if volume >= common()["remedy_taken"].value * timeline.amount(kind)[1] else 0.0


def pageable(facts: Facts) -> Iterable[Draft]:
    """Copies from or to host memory that is not pinned, large enough for that to matter."""
    timeline = facts.traced
    entry = cause("gpu-pageable-copies")
    evidence: list[Fact] = []
    used: list[LaneKind] = []
    cost = volume = spent = 0.0
    for kind, words in ((LaneKind.H2D, "from"), (LaneKind.D2H, "to")):
        count, moved, lasted, exposed = timeline.pageable(kind)
        if not count or moved / count < entry.threshold("min_mean_bytes") or not lasted:
            continue
        used.append(kind)
        cost, volume, spent = cost + exposed, volume + moved, spent + lasted
        how = "of the copies whose host memory is"
        evidence.append(
            _rate(
                timeline, f"copies {words} pageable memory", moved, lasted, "gpu.copy.pageable.bytes", f"{how} pageable",
                copies=f"{numbers.count(count)} copies of",
            )
        )  # fmt: skip
        _, pinned, pinned_time, _ = timeline.pageable(kind, pinned=True)
        if pinned > entry.threshold("min_pinned_part") * moved and pinned_time:
            what = f"copies {words} pinned memory"
            evidence.append(_rate(timeline, what, pinned, pinned_time, "gpu.copy.time", f"{how} pinned", copies=None))
    share = timeline.share(cost)
    if not spent or share < entry.threshold("min_share"):
        return
    rate = volume / spent
    near = f"{numbers.size(rate)} a second is near the link's limit; pinning would gain little."
    yield Draft(
        cause=entry.id,
        where=copy_site(timeline, *used),
        summary=f"Copies from or to pageable memory take {numbers.percent(share)} of {window_words(timeline)} at "
        f"{numbers.size(rate)} a second.",
        cost=cost,
        share=share,
        evidence=tuple(evidence),
        signs=2,
        against=(near,) if rate >= entry.threshold("fast_rate") else (),
        samples=0,
    )


def no_overlap(facts: Facts) -> Iterable[Draft]:
    """Copies and kernels that take turns although both are long."""
    timeline = facts.traced
    entry = cause("gpu-no-overlap")
    kinds = (LaneKind.H2D, LaneKind.D2H)
    cost = copied = overlapped = 0.0
    for device in timeline.devices:
        moving = device.of(*kinds)
        both = seconds(intervals.intersect(moving, device.computing))
        copied += seconds(moving)
        overlapped += both
        cost += min(seconds(moving), seconds(device.computing)) - both
    share = timeline.share(cost)
    smaller = cost + overlapped
    if share < entry.threshold("min_share") or overlapped > entry.threshold("max_overlap") * smaller:
        return
    place = copy_site(timeline, *kinds)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Copies and kernels take turns: {numbers.percent(share)} of {window_words(timeline)} could overlap.",
        cost=cost,
        share=share,
        evidence=(
            lasting(
                timeline,
                copied,
                "copies",
                "union of copies between host and device",
                "gpu.copy.time",
                form=Form.MANY,
                where=place,
            ),
            busy_fact(timeline),
            measured(
                timeline,
                Kind.AMOUNT,
                overlapped,
                subject="what copies and kernels do at the same time",
                metric="gpu.copy.time",
                how="intersection of the unions",
            ),
        ),
        signs=2,
        against=("Whether a kernel needs the whole copy before it cannot be seen in a timeline.",),
        samples=0,
    )


#: What to do about copies inside a device.
_SWAP = "Exchange the pointers of two buffers instead of copying one into the other, and let the kernel before write to where the data is used."
_CLEAR = "Set memory once, or in the kernel that uses it first; memory that is written anyway need not be set before."


def inside(facts: Facts) -> Iterable[Draft]:
    """Copies inside a device, and memory sets, that no kernel hides."""
    timeline = facts.traced
    entry = cause("redundant-copies")
    kinds = (LaneKind.D2D, LaneKind.MEMSET)
    cost = timeline.exposed(*kinds)
    share = timeline.share(cost)
    if share < entry.threshold("min_device_share"):
        return
    copied = timeline.spent(LaneKind.D2D)
    kind = LaneKind.D2D if copied >= common()["most"].value * timeline.spent(*kinds) else LaneKind.MEMSET
    place = copy_site(timeline, kind)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{_MOVING[kind][1].capitalize()} take {numbers.percent(share)} of {window_words(timeline)} with no kernel overlapping them; "
        f"kernels compute for {numbers.percent(timeline.share(timeline.computing))}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_device_share"),
        evidence=(
            _moving(timeline, kind, place),
            busy_fact(timeline),
            *_volume(timeline, kind),
            idle_fact(timeline),
        ),
        signs=2,
        advice=(_SWAP if kind == LaneKind.D2D else _CLEAR,),
        against=("Whether a copy is needed, to change the layout for example, cannot be seen in a timeline.",),
        samples=0,
    )


def unified(facts: Facts) -> Iterable[Draft]:
    """Pages of unified memory that migrate."""
    timeline = facts.traced
    entry = cause("gpu-unified-memory")
    spent = timeline.spent(LaneKind.UNIFIED)
    share = timeline.share(spent)
    if share < entry.threshold("min_share"):
        return
    count, volume = timeline.amount(LaneKind.UNIFIED)
    place = copy_site(timeline, LaneKind.UNIFIED)
    evidence = [_moving(timeline, LaneKind.UNIFIED, place, Part("", count, "migrations"))]
    if volume:
        evidence.append(
            measured(
                timeline,
                Kind.AMOUNT,
                volume,
                subject="what they move",
                parts=(Part("each", volume / count, "bytes"),),
                unit="bytes",
                metric="gpu.copy.unified.bytes",
                how="sum of bytes",
            )
        )
    beside = spent - timeline.exposed(LaneKind.UNIFIED)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Pages of unified memory migrate for {numbers.percent(share)} of {window_words(timeline)}.",
        cost=spent,
        share=share,
        evidence=tuple(evidence),
        signs=len(evidence),
        against=(f"For {numbers.seconds(beside)} of it kernels run; whether they wait for pages is not recorded.",)
        if beside > entry.threshold("min_beside") * spent
        else (),
        samples=0,
    )


RULES = (copies, pageable, no_overlap, inside, unified)
