"""GPU timelines: copies between host and device, and pages that migrate. Shares are of the window."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.timeline_facts import TimelineFacts, seconds
from chathpc.diagnosis.timeline_words import (
    busy_fact,
    copy_site,
    counted,
    exposed_fact,
    idle_fact,
    item,
    of_window,
    waiting_fact,
    window_words,
)
from chathpc.profile import intervals, numbers
from chathpc.profile.timeline import LaneKind

_DIRECTIONS = (
    ("gpu-h2d-copy-bound", LaneKind.H2D, "gpu.copy.h2d", "host to device"),
    ("gpu-d2h-copy-bound", LaneKind.D2H, "gpu.copy.d2h", "device to host"),
)
#: What is left to do where pinning is done.
_FEWER = "Copy less, or beside kernels: the memory is pinned already, so cudaMallocHost or pin_memory=True wins nothing more."


def copies(facts: Facts) -> Iterable[Draft]:
    """Copies between host and device that no kernel hides and that take much of the device's busy time."""
    timeline = facts.traced
    for identifier, kind, metric, words in _DIRECTIONS:
        entry = cause(identifier)
        cost = timeline.exposed(kind)
        share = timeline.share(cost)
        if cost < entry.threshold("min_share") * timeline.busy or share < entry.threshold("min_window_share"):
            continue
        spent = timeline.spent(kind)
        place = copy_site(timeline, kind)
        evidence = [
            item(
                timeline,
                f"Copies {words} run for {of_window(timeline, spent)}, kernels for {numbers.seconds(timeline.computing)}.",
                spent,
                metric=f"{metric}.time",
                subject=f"copies {words}",
                how="union of their intervals",
                where=place,
            ),
            *_volume(timeline, kind, metric, words, spent),
            exposed_fact(timeline, f"copies {words}", cost, spent, metric=f"{metric}.time"),
            idle_fact(timeline),
            *waiting_fact(timeline),
        ]
        hidden = spent - cost
        pinned = _pinned(timeline, kind)
        if pinned:
            evidence.append(
                item(
                    timeline,
                    f"Their memory on the host is pinned already ({numbers.size(pinned)}).",
                    pinned,
                    unit="bytes",
                    metric=f"{metric}.bytes",
                    subject="pinned memory",
                    how="bytes of copies whose host memory is pinned",
                )
            )
        yield Draft(
            cause=identifier,
            where=place,
            summary=f"Copies {words} take {numbers.percent(share)} of {window_words(timeline)} without a kernel beside them"
            f"{_not_idle(timeline)}.",
            cost=cost,
            share=share,
            threshold=entry.threshold("min_window_share"),
            evidence=tuple(evidence),
            signs=2,
            against=(f"{numbers.seconds(hidden)} of the copies hide behind kernels.",)
            if hidden > common()["min_hidden"].value * spent
            else (),
            advice=(_FEWER,) if pinned else (),
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


def _volume(timeline: TimelineFacts, kind: LaneKind, metric: str, words: str, spent: float) -> Iterable[Fact]:
    count, volume = timeline.amount(kind)
    if volume > 0 and spent > 0:
        yield item(
            timeline,
            f"{counted(count, 'operation' if kind == LaneKind.MEMSET else 'copy')} move {numbers.size(volume)}, {numbers.size(volume / spent)} a second.",
            volume / spent,
            unit="bytes/s",
            metric=f"{metric}.bytes",
            subject=f"rate of copies {words}",
            how="bytes / time of the copies",
        )


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
        evidence.append(
            item(
                timeline,
                f"{counted(count, 'copy')} {words} pageable memory move {numbers.size(moved)} in {numbers.seconds(lasted)}, "
                f"{numbers.size(moved / lasted)} a second.",
                moved / lasted,
                unit="bytes/s",
                metric="gpu.copy.pageable.bytes",
                subject=f"rate of copies {words} pageable memory",
                how="bytes / time of the copies whose host memory is pageable",
            )
        )
        _, pinned, pinned_time, _ = timeline.pageable(kind, pinned=True)
        if pinned > entry.threshold("min_pinned_part") * moved and pinned_time:
            evidence.append(
                item(
                    timeline,
                    f"Pinned copies of the same direction reach {numbers.size(pinned / pinned_time)} a second.",
                    pinned / pinned_time,
                    unit="bytes/s",
                    metric="gpu.copy.time",
                    subject=f"rate of copies {words} pinned memory",
                    how="bytes / time of the copies whose host memory is pinned",
                )
            )
    share = timeline.share(cost)
    if not spent or share < entry.threshold("min_share"):
        return
    rate = volume / spent
    near = f"{numbers.size(rate)} a second is near what the link moves; pinning would win little."
    yield Draft(
        cause=entry.id,
        where=copy_site(timeline, *used),
        summary=f"Copies from or to pageable memory take {numbers.percent(share)} of {window_words(timeline)} at "
        f"{numbers.size(rate)} a second.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
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
        threshold=entry.threshold("min_share"),
        evidence=(
            item(
                timeline,
                f"Copies run for {of_window(timeline, copied)}.",
                copied,
                metric="gpu.copy.time",
                subject="copies",
                how="union of copies between host and device",
                where=place,
            ),
            busy_fact(timeline),
            item(
                timeline,
                f"Copies and kernels run at the same time for {numbers.seconds(overlapped)}.",
                overlapped,
                metric="gpu.copy.time",
                subject="overlap of copies and kernels",
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
    words = "copies inside the device" if kind == LaneKind.D2D else "memory sets"
    spent, place = timeline.spent(kind), copy_site(timeline, kind)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{words.capitalize()} take {numbers.percent(share)} of {window_words(timeline)} without a kernel beside them; "
        f"kernels compute for {numbers.percent(timeline.share(timeline.computing))}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_device_share"),
        evidence=(
            item(
                timeline,
                f"{words.capitalize()} run for {of_window(timeline, spent)}, kernels for {numbers.seconds(timeline.computing)}.",
                spent,
                metric="gpu.copy.d2d.time" if kind == LaneKind.D2D else "gpu.memset.time",
                subject=words,
                how="union of their intervals",
                where=place,
            ),
            *_volume(
                timeline, kind, "gpu.copy.d2d" if kind == LaneKind.D2D else "gpu.memset", "inside the device", spent
            ),
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
    evidence = [
        item(
            timeline,
            f"{numbers.count(count)} migrations of pages run for {of_window(timeline, spent)}.",
            spent,
            metric="gpu.copy.unified.time",
            subject="migrations",
            how="union of their intervals",
            where=place,
        )
    ]
    if volume:
        evidence.append(
            item(
                timeline,
                f"They move {numbers.size(volume)}, {numbers.size(volume / count)} each.",
                volume,
                unit="bytes",
                metric="gpu.copy.unified.bytes",
                subject="volume of migrations",
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
        threshold=entry.threshold("min_share"),
        evidence=tuple(evidence),
        signs=len(evidence),
        against=(f"For {numbers.seconds(beside)} of it kernels run; whether they wait for pages is not recorded.",)
        if beside > entry.threshold("min_beside") * spent
        else (),
        samples=0,
    )


RULES = (copies, pageable, no_overlap, inside, unified)
