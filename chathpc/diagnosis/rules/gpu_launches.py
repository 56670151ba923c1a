"""GPU timelines: devices that wait for the next launch, and hosts that wait for each result."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.doing import doing_in
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gaps import Gaps
from chathpc.diagnosis.host_calls import HostCall, host_call, is_blocking_copy, plain
from chathpc.diagnosis.kernel_totals import each_of
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.timeline_facts import TimelineFacts, seconds
from chathpc.diagnosis.timeline_words import (
    counted,
    idle_fact,
    issuer,
    kernel_site,
    lasting,
    measured,
    site,
    slowed,
    window_words,
)
from chathpc.profile import intervals, numbers
from chathpc.profile.kernel_names import LONGEST_NAME
from chathpc.profile.names import shorten
from chathpc.profile.timeline import COPY_LANES, LaneKind

#: Calls that are looked at to find the one that waits: many more than a program makes between two launches.
_LOOKED_AT = 20
_FUSE = "Fuse kernels that run one after the other into one, and treat several small problems in one launch: launching faster gains nothing here."
_JOIN = "Join small copies into one (pack them into one buffer), pass small values as arguments of the kernel, or copy with cudaMemcpyAsync from pinned memory."


def launching(facts: Facts) -> Iterable[Draft]:
    """Kernels that are shorter than what it takes to launch the next one."""
    timeline, gaps = facts.traced, facts.gaps
    if "launch" not in gaps.claimed:
        return
    entry = cause("gpu-launch-bound")
    limit = common()
    cost, share = gaps.seconds(*gaps.launch_reasons), gaps.share(*gaps.launch_reasons)
    number = gaps.gaps(*gaps.launch_reasons)
    kernels = timeline.kernels()
    launches = sum(kernel.launches for kernel in kernels)
    most = max(kernels, key=lambda kernel: (kernel.launches, kernel.seconds), default=None)
    place = kernel_site(timeline, most) if most else Place()
    spans = gaps.spans(*gaps.launch_reasons)
    in_calls = seconds(intervals.intersect(timeline.calls(HostCall.LAUNCH), spans))
    in_launches = gaps.seconds("launch") > limit["most"].value * cost
    evidence = [
        measured(
            timeline,
            Kind.MEAN,
            gaps.mean_kernel,
            form=Form.MANY,
            subject="kernels",
            whole=Quantity(launches, "launches"),
            parts=(Part("together", timeline.computing, "s"),),
            metric="gpu.kernel.time",
            how="sum of durations / launches",
            where=place,
        ),
        lasting(
            timeline,
            cost,
            "idle time of the device between them",
            "idle stretches that launch calls cover, or that are short beside kernels that are shorter",
            "gpu.time",
            parts=(Part("in", number, "gaps"), *_each(gaps.lengths(*gaps.launch_reasons))),
        ),
    ]
    signs = 1
    if in_calls >= limit["worth_a_line"].value * seconds(spans):
        signs = 2
        evidence.append(
            measured(
                timeline,
                Kind.AMOUNT,
                in_calls,
                form=Form.MANY,
                subject="launch calls of the host in these gaps",
                metric="host.time",
                how="union of launch calls inside the gaps",
            )
        )
    queued = gaps.tiny and gaps.seconds("queued") > limit["most"].value * cost
    doing = None if queued else doing_in(facts, gaps.stretches(*gaps.launch_reasons)).evidence
    if doing is not None:
        signs = 2
        evidence.append(doing)
    if cost < limit["nearly_all"].value * timeline.idle:
        evidence.append(idle_fact(timeline))
    few = launches < limit["few_launches"].value
    if few and in_launches:  # what a launch costs is the context and the code that the first ones load
        entry = cause("gpu-start-up")
    against: list[str] = []
    if few:
        were = "was" if launches == 1 else "were"
        against.append(
            f"Only {counted(launches, 'launch')} {were} recorded: this is the start of a run, not its steady state."
        )
    if not queued:
        against += slowed(timeline)
    idle = f"the device is idle for {numbers.percent(share)} of {window_words(timeline)}"
    if few and in_launches:
        summary = f"The first launches take {numbers.seconds(in_calls)} to load code and initialise the device; {idle}"
    elif queued:
        summary = (
            f"Kernels run {numbers.seconds(gaps.mean_kernel)} on average, too short compared with the time that the device needs between two of "
            f"them: {idle} although the next ones were launched long before"
        )
        against.append("Launching is not the bottleneck: the next kernels are already queued.")
    elif gaps.tiny:
        summary = f"Kernels run {numbers.seconds(gaps.mean_kernel)} on average, shorter than it takes to launch the next one: {idle} in between"
    else:
        summary = f"{idle[0].upper()}{idle[1:]} while the host is in calls that launch kernels"
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{summary}.",
        cost=cost,
        share=share,
        threshold=cause("gpu-launch-bound").threshold("min_idle_share"),
        evidence=tuple(evidence),
        signs=signs,
        advice=(_FUSE,) if queued else (),
        against=tuple(against),
        samples=0,
    )


def _each(lengths: NDArray[np.float64]) -> tuple[Part, ...]:
    """How long stretches are: the longest where it has most of their time, else the mean; one alone is told already."""
    if len(lengths) < 2:
        return ()
    longest = float(lengths.max())
    if longest > common()["most"].value * float(lengths.sum()):
        return (Part("longest", longest, "s"),)
    mean = float(lengths.mean())
    return (Part(each_of(mean, float(lengths.std())), mean, "s"),)


def after_waits(gaps: Gaps, place: Place | None = None) -> Fact:
    """How long the device is idle after operations for which the host waits."""
    return lasting(
        gaps.timeline,
        gaps.seconds("sync"),
        "idle time of the device after operations for which the host waits",
        "short idle stretches that begin while the host waits for the device",
        "gpu.time",
        parts=(Part("in", gaps.gaps("sync"), "gaps"), *_each(gaps.lengths("sync"))),
        where=place,
    )


def waits(timeline: TimelineFacts) -> Fact:
    """How often the host waits for the device, beside the number of launches."""
    return measured(
        timeline, Kind.COUNT, timeline.count(HostCall.WAIT), subject="the host", parts=(_launches(timeline),), unit="synchronising calls",
        metric="gpu.sync.time", how="number of calls in the window",
    )  # fmt: skip


def _launches(timeline: TimelineFacts) -> Part:
    return Part("launches of kernels", sum(kernel.launches for kernel in timeline.kernels()), "count")


def synchronising(facts: Facts) -> Iterable[Draft]:
    """The host waits for each kernel before it launches the next, and the device waits for the host after each."""
    timeline, gaps = facts.traced, facts.gaps
    if "sync" not in gaps.claimed:
        return
    entry = cause("gpu-sync-overuse")
    cost, share, number = gaps.seconds("sync"), gaps.share("sync"), gaps.gaps("sync")
    spans = gaps.spans("sync")
    after = intervals.union(spans[0] - 1, spans[1])
    parts = [part for part in timeline.host_in(after, LaneKind.API, most=_LOOKED_AT) if part.seconds > 0]
    waiting = [part for part in parts if host_call(part.name) == HostCall.WAIT or is_blocking_copy(part.name)]
    place = site(timeline, waiting[0].node) if waiting else Place()
    name = waiting[0].short if waiting else "a synchronising call"
    above = issuer(timeline, waiting[0].node) if waiting else -1
    if above >= 0 and above != waiting[0].node:
        name += f" in {shorten(plain(timeline.profile.tree.function_name(above)), LONGEST_NAME)}"
    copies, volume = timeline.amount(*COPY_LANES)
    by_copy = bool(waiting) and is_blocking_copy(waiting[0].name) and copies > 0
    small = by_copy and 0 < volume / copies < entry.threshold("max_copy_bytes")
    size = (Part("each on average", volume / copies, "bytes"),) if by_copy and volume else ()
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"The host waits until the device is done ({name}) before it issues more work: after each of {counted(number, 'wait')} the device "
        f"is idle until the next work comes, {numbers.percent(share)} of {window_words(timeline)} in all.",
        cost=cost,
        share=share,
        evidence=(
            after_waits(gaps, place),
            measured(
                timeline,
                Kind.COUNT,
                copies,
                subject="the host",
                parts=(_launches(timeline), *size),
                unit="blocking copies",
                metric="gpu.copy.count",
                how="number of copies",
            )
            if by_copy
            else waits(timeline),
        ),
        signs=2,
        advice=(_JOIN,) if small else (),
        against=("Where the host needs the result to go on, the wait itself must stay.",),
        samples=0,
    )


RULES = (launching, synchronising)
