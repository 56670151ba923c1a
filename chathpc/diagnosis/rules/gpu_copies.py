"""GPU timelines: copies between host and device, and pages that migrate. Shares are of the window."""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Form, Kind, Part
from chathpc.diagnosis.facts import Facts
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

_DIRECTIONS = (
    ("gpu-h2d-copy-bound", LaneKind.H2D, "gpu.copy.h2d", "host to device"),
    ("gpu-d2h-copy-bound", LaneKind.D2H, "gpu.copy.d2h", "device to host"),
)
#: What is left to do where pinning is done, and what of the catalogue does not advise that.
_FEWER = (
    "Copy less (keep on the device what does not change), or overlap copies with kernels: the memory is pinned already, so cudaMallocHost or "
    "pin_memory=True gains nothing more."
)
_NOT_PINNING = "^(?!.*(pin_memory|MallocHost|HostMalloc))"


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
            lasting(
                timeline,
                spent,
                f"copies {words}",
                "union of their intervals",
                f"{metric}.time",
                form=Form.MANY,
                parts=(Part("", timeline.amount(kind)[0], "copies"),),
                where=place,
            ),
            busy_fact(timeline),
            *_volume(timeline, kind, metric, words, spent),
            exposed_fact(timeline, f"copies {words}", cost, spent, metric=f"{metric}.time"),
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
            summary=f"Copies {words} take {numbers.percent(share)} of {window_words(timeline)} with no kernel overlapping them"
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


def _volume(timeline: TimelineFacts, kind: LaneKind, metric: str, words: str, spent: float) -> Iterable[Fact]:
    volume = timeline.amount(kind)[1]
    if volume > 0 and spent > 0:
        yield measured(
            timeline,
            Kind.RATE,
            volume / spent,
            subject="the rate of memory sets" if kind == LaneKind.MEMSET else f"the rate of copies {words}",
            parts=(Part("", volume, "bytes"), Part("", spent, "s")),
            unit="bytes/s",
            metric=f"{metric}.bytes",
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
            measured(
                timeline,
                Kind.RATE,
                moved / lasted,
                subject=f"the rate of copies {words} pageable memory",
                parts=(Part(f"{numbers.count(count)} copies of", moved, "bytes"), Part("", lasted, "s")),
                unit="bytes/s",
                metric="gpu.copy.pageable.bytes",
                how="bytes / time of the copies whose host memory is pageable",
            )
        )
        _, pinned, pinned_time, _ = timeline.pageable(kind, pinned=True)
        if pinned > entry.threshold("min_pinned_part") * moved and pinned_time:
            evidence.append(
                measured(
                    timeline,
                    Kind.RATE,
                    pinned / pinned_time,
                    subject=f"the rate of copies {words} pinned memory",
                    unit="bytes/s",
                    metric="gpu.copy.time",
                    how="bytes / time of the copies whose host memory is pinned",
                )
            )
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
    words = "copies inside the device" if kind == LaneKind.D2D else "memory sets"
    spent, place = timeline.spent(kind), copy_site(timeline, kind)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{words.capitalize()} take {numbers.percent(share)} of {window_words(timeline)} with no kernel overlapping them; "
        f"kernels compute for {numbers.percent(timeline.share(timeline.computing))}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_device_share"),
        evidence=(
            lasting(
                timeline,
                spent,
                words,
                "union of their intervals",
                "gpu.copy.d2d.time" if kind == LaneKind.D2D else "gpu.memset.time",
                form=Form.MANY,
                where=place,
            ),
            busy_fact(timeline),
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
        lasting(
            timeline,
            spent,
            "migrations of pages",
            "union of their intervals",
            "gpu.copy.unified.time",
            form=Form.MANY,
            parts=(Part("", count, "migrations"),),
            where=place,
        )
    ]
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
