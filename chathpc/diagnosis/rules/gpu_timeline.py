"""GPU timelines: what devices are busy with. Copies, kernels, collectives, migrations, unequal work.

Shares are of the window, from the first to the last operation of any device. What devices wait for is in gpu_gaps.
"""

from __future__ import annotations

from collections.abc import Iterable

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Evidence, Place
from chathpc.diagnosis.timeline_facts import KernelTotal, TimelineFacts, seconds
from chathpc.diagnosis.timeline_words import (
    busy_fact,
    copy_site,
    counted,
    counter_command,
    exposed_fact,
    has_counters,
    idle_fact,
    item,
    kernel_site,
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
#: Kernels that fill the device stand just before what is too small for a verdict.
_BELOW_VERDICT = 0.9
#: What is left to do where pinning is done.
_FEWER = "Copy less, or beside kernels: the memory is pinned already, so cudaMallocHost or pin_memory=True wins nothing more."
#: Two devices or more have to share the work.
_SEVERAL = 2


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
            against=(f"{numbers.seconds(hidden)} of the copies hide behind kernels.",) if hidden > 0.2 * spent else (),
            advice=(_FEWER,) if pinned else (),
            samples=0,
        )


def _not_idle(timeline: TimelineFacts) -> str:
    """That a device is not idle because it copies: said where it hardly is."""
    idle = timeline.share(timeline.idle)
    return (
        f"; the device is idle for {numbers.percent(idle)} only"
        if idle < cause("gpu-idle-host-bound").threshold("min_share")
        else ""
    )


def _volume(timeline: TimelineFacts, kind: LaneKind, metric: str, words: str, spent: float) -> Iterable[Evidence]:
    count, volume = timeline.amount(kind)
    if volume > 0 and spent > 0:
        yield item(
            timeline,
            f"{numbers.count(count)} copies move {numbers.size(volume)}, {numbers.size(volume / spent)} a second.",
            volume / spent,
            unit="bytes/s",
            metric=f"{metric}.bytes",
            subject=f"rate of copies {words}",
            how="bytes / time of the copies",
        )


def _pinned(timeline: TimelineFacts, kind: LaneKind) -> float:
    """Bytes that were copied from or to pinned memory, where nearly all were; 0 otherwise."""
    volume = timeline.pageable(kind, pinned=True)[1]
    return volume if volume >= _NEARLY_ALL * timeline.amount(kind)[1] else 0.0


#: A remedy that is taken for this part of the bytes is taken.
_NEARLY_ALL = 0.9


def pageable(facts: Facts) -> Iterable[Draft]:
    """Copies from or to host memory that is not pinned, large enough for that to matter."""
    timeline = facts.traced
    entry = cause("gpu-pageable-copies")
    evidence: list[Evidence] = []
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
        if pinned > moved / 100 and pinned_time:
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
        if beside > 0.1 * spent
        else (),
        samples=0,
    )


def communication(facts: Facts) -> Iterable[Draft]:
    """Communication between devices that no kernel hides: collectives, and copies from device to device."""
    timeline = facts.traced
    entry = cause("nccl-bound")
    kinds = (LaneKind.COLLECTIVE, LaneKind.P2P)
    spent, cost = timeline.spent(*kinds), timeline.exposed(*kinds)
    share = timeline.share(cost)
    if share < entry.threshold("min_share"):
        return
    kernels = timeline.kernels(LaneKind.COLLECTIVE)
    between = timeline.spent(LaneKind.P2P)
    evidence = [
        item(
            timeline,
            f"{'Copies between devices' if not kernels else 'Collectives'} run for {numbers.seconds(spent)} of {numbers.seconds(timeline.busy)} "
            f"of the device's busy time ({numbers.percent(spent / timeline.busy)}).",
            spent,
            metric="gpu.collective.time" if kernels else "gpu.copy.p2p.time",
            subject="communication",
            how="union of kernels of NCCL or RCCL and of copies between devices",
        ),
        exposed_fact(timeline, "communication", cost, spent, metric="gpu.collective.time"),
    ]
    place, most = copy_site(timeline, LaneKind.P2P), "copies between devices"
    if kernels and kernels[0].seconds >= between:
        top = kernels[0]
        place, most = kernel_site(timeline, top), top.short
        evidence.append(
            item(
                timeline,
                f"{top.short} runs {counted(top.launches, 'time')}, {numbers.seconds(top.mean)} on average.",
                top.mean,
                metric="gpu.collective.time",
                subject=top.short,
                how="mean duration",
                where=place,
            )
        )
    waits = (
        "A collective also waits for the slowest rank; which of the two it is shows only in the timelines of all ranks."
    )
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Communication between devices that nothing hides takes {numbers.percent(share)} of {window_words(timeline)}, "
        f"most of it {most}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(*evidence, busy_fact(timeline)),
        signs=2,
        against=(waits,) if kernels else (),
        samples=0,
    )


def kernel_bound(facts: Facts) -> Iterable[Draft]:
    """Kernels fill the window: as it should be, and no more can be said from times."""
    timeline = facts.traced
    entry = cause("gpu-kernel-bound")
    share = timeline.share(timeline.computing)
    kernels = timeline.kernels()
    if share < entry.threshold("min_share") or not kernels:
        return
    top = kernels[0]
    place = kernel_site(timeline, top)
    evidence = [
        busy_fact(timeline),
        item(
            timeline,
            f"{top.short} runs {counted(top.launches, 'time')} for {of_window(timeline, top.seconds)}, "
            f"{numbers.seconds(top.mean)} each.",
            top.seconds,
            metric="gpu.kernel.time",
            subject=top.short,
            how="union of its launches",
            where=place,
        ),
        idle_fact(timeline),
    ]
    second = _second(timeline, kernels)
    command = counter_command(timeline, top)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Kernels fill {numbers.percent(share)} of {window_words(timeline)}, {top.short} "
        f"{numbers.percent(timeline.share(top.seconds))}{'' if has_counters(timeline) else '; only kernel counters can say why they take so long'}.",
        cost=timeline.computing,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(*evidence, *second),
        signs=2,
        # Kernels that fill the device are no bottleneck of the program around them, but they are where the time is:
        # they stand before whatever is too small for a verdict, and make none themselves.
        impact=_BELOW_VERDICT * common()["verdict_weight"].value * share,
        samples=0,
        next_measurement=f"{command} (whether memory, arithmetic, latency or occupancy limits the kernel)",
    )


def _second(timeline: TimelineFacts, kernels: list[KernelTotal]) -> tuple[Evidence, ...]:
    """The kernel after the first, where it is worth a line."""
    if len(kernels) < _SEVERAL or timeline.share(kernels[1].seconds) < 0.1:
        return ()
    other = kernels[1]
    return (
        item(
            timeline,
            f"{other.short} runs {counted(other.launches, 'time')} for {of_window(timeline, other.seconds)}.",
            other.seconds,
            metric="gpu.kernel.time",
            subject=other.short,
            how="union of its launches",
            where=kernel_site(timeline, other),
        ),
    )


def imbalance(facts: Facts) -> Iterable[Draft]:
    """Devices that compute for different times."""
    timeline = facts.traced
    entry = cause("multi-gpu-imbalance")
    computing = {device.ordinal: seconds(device.computing) for device in timeline.devices}
    if len(computing) < _SEVERAL or not any(computing.values()):
        return
    busiest = max(computing, key=lambda each: (computing[each], -each))
    idlest = min(computing, key=lambda each: (computing[each], each))
    mean = sum(computing.values()) / len(computing)
    lost = timeline.imbalance
    share = lost / timeline.window
    if share < entry.threshold("min_share"):
        return
    yield Draft(
        cause=entry.id,
        where=Place(function=f"GPU {busiest}"),
        summary=f"Devices get different amounts of work: GPU {busiest} computes {numbers.seconds(computing[busiest])}, "
        f"GPU {idlest} {numbers.seconds(computing[idlest])}, the mean is {numbers.seconds(mean)}.",
        cost=lost,
        share=min(share, 1.0),
        threshold=entry.threshold("min_share"),
        evidence=(
            item(
                timeline,
                f"GPU {busiest} computes for {numbers.seconds(computing[busiest])} of the window of {numbers.seconds(timeline.window)}.",
                computing[busiest],
                metric="gpu.kernel.time",
                subject=f"GPU {busiest}",
                how="union of its kernels",
            ),
            item(
                timeline,
                f"GPU {idlest} computes for {numbers.seconds(computing[idlest])}, the {len(computing)} devices "
                f"for {numbers.seconds(mean)} on average.",
                mean,
                metric="gpu.kernel.time",
                subject="devices",
                how="mean of the unions of kernels of each device",
            ),
        ),
        signs=1 if 0.0 in computing.values() else 2,
        against=("One device computes nothing at all; the program may not be meant to use it.",)
        if 0.0 in computing.values()
        else (),
        samples=0,
    )


def small_grid(facts: Facts) -> Iterable[Draft]:
    """A hot kernel with fewer blocks than the device has multiprocessors."""
    timeline, profile = facts.traced, facts.profile
    if "gpu.kernel.blocks" not in profile.metrics:
        return
    entry = cause("gpu-small-grid")
    column = profile.exclusive("gpu.kernel.blocks")
    known = [each.multiprocessors for each in profile.devices.values() if each.multiprocessors]
    for kernel in timeline.kernels()[:3]:
        blocks = column.at(kernel.node) if kernel.node >= 0 else None
        part = timeline.share(kernel.seconds)
        if blocks is None or blocks <= 0 or part < entry.threshold("min_kernel_share"):
            continue
        limit = min(known) * entry.threshold("min_waves") if known else entry.threshold("few_blocks")
        if blocks >= limit or kernel.seconds < 0.1 * timeline.computing:
            continue
        place = kernel_site(timeline, kernel)
        wasted = 1 - blocks / limit
        of_them = f"of {limit:.0f} multiprocessors" if known else "for a whole device"
        yield Draft(
            cause=entry.id,
            where=place,
            summary=f"{kernel.short} is launched with {counted(round(blocks), 'block')} {of_them}, which leaves most of the device idle "
            f"while it runs ({numbers.percent(part)} of {window_words(timeline)}).",
            cost=kernel.seconds * wasted,
            share=part * wasted,
            threshold=0.0,
            evidence=(
                item(
                    timeline,
                    f"{kernel.short} has {counted(round(blocks), 'block')} a launch.",
                    round(blocks),
                    unit="count",
                    metric="gpu.kernel.blocks",
                    subject=kernel.short,
                    how="mean over its launches",
                    where=place,
                ),
                item(
                    timeline,
                    f"It runs {counted(kernel.launches, 'time')} for {of_window(timeline, kernel.seconds)}.",
                    kernel.seconds,
                    metric="gpu.kernel.time",
                    subject=kernel.short,
                    how="union of its launches",
                    where=place,
                ),
            ),
            signs=2 if known else 1,
            against=() if known else ("The number of multiprocessors is not recorded.",),
            samples=0,
        )


RULES = (copies, pageable, no_overlap, unified, communication, kernel_bound, imbalance, small_grid)
