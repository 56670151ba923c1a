"""GPU timelines: what devices are busy with: kernels, communication, unequal work (copies: gpu_copies).

Shares are of the window, from the first to the last operation of any device. What devices wait for is in gpu_gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft, Spread
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gpu_tools import counters
from chathpc.diagnosis.kernel_counters import has_counters
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.gpu_launches import after_waits, waits
from chathpc.diagnosis.timeline_facts import TimelineFacts, seconds
from chathpc.diagnosis.timeline_words import (
    busy_fact,
    collective_site,
    copy_site,
    counted,
    exposed_fact,
    idle_fact,
    kernel_fact,
    kernel_site,
    largest_instance,
    lasting,
    measured,
    of_work,
    only_graphs,
    window_words,
)
from chathpc.profile import numbers
from chathpc.profile.profile import whole_number
from chathpc.profile.timeline import LaneKind

#: Kernels whose grid is looked at, the longest: a finding of a shorter one would stand behind theirs.
_LOOKED_AT = 3


#: What programs of nccl-tests measure, by a part of the name of the range that issues a collective, or of its kernel, in small letters alone.
_TESTS = {
    "allreduce": "all_reduce_perf", "allgather": "all_gather_perf", "reducescatter": "reduce_scatter_perf", "broadcast": "broadcast_perf",
    "alltoall": "alltoall_perf", "sendrecv": "alltoall_perf",
}  # fmt: skip
_RATE = "The rate that the machine reaches (this program is one of nccl-tests), to compare with the program's."
#: What to do where a few launches have most of the time.
_LATE = (
    "Look at what the other ranks do before the few long ones: those wait for a rank that is late, or for start-up, which no faster exchange "
    "shortens."
)
_NANO = 1e-9
#: What helps where each device sends to each other one (all_to_all), which NCCL does by SendRecv.
_ALL_TO_ALL = (
    "Start the exchange early (dist.all_to_all_single with async_op=True, or another stream) and compute meanwhile what does not need it.",
    "Send less: put on one device what is used together (tables, experts), merge the exchanges of a step into one, and send half precision.",
    "Check that NVLink and the right network card are used: NCCL_DEBUG=INFO, NCCL_IB_HCA, NCCL_NET_GDR_LEVEL.",
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
        lasting(
            timeline,
            spent,
            "collectives" if kernels else "copies between devices",
            "union of kernels of NCCL or RCCL and of copies between devices",
            "gpu.collective.time" if kernels else "gpu.copy.p2p.time",
            of=Quantity(timeline.busy, "s", "busy time of the device"),
            form=Form.MANY,
        ),
        exposed_fact(timeline, "communication", cost, spent, metric="gpu.collective.time"),
    ]
    place, most, by = copy_site(timeline, LaneKind.P2P), "copies between devices", ""
    few: tuple[Fact, ...] = ()
    if kernels and kernels[0].seconds >= between:
        top = kernels[0]
        (place, by), most = collective_site(timeline, top), top.short
        few = _few_long(timeline)
        evidence += few or (
            measured(
                timeline,
                Kind.MEAN,
                top.mean,
                subject=top.short,
                form=Form.NAME,
                whole=Quantity(top.launches, "launches"),
                metric="gpu.collective.time",
                how="mean duration",
                where=place,
            ),
        )
    waits = "A collective also waits for the slowest rank; only the timelines of all ranks show which of the two it is."
    # `0 of 128` is what a trace of one rank says of all.
    ranks = whole_number(facts.profile.run.get("rank", "").rpartition(" of ")[2])
    alone = len(timeline.devices) < 2 or len(timeline.devices) < ranks
    if not alone:
        waits = "The devices compute for different times: much of it is waiting for the busiest one, not transfer."
    told = [re.sub("[^a-z]", "", name.lower()) for name in (by, most)]
    test = next((tool for text in told for name, tool in _TESTS.items() if name in text), None)
    apart = test == _TESTS["sendrecv"]
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Exposed communication between devices takes {numbers.percent(share)} of {window_words(timeline)}"
        f"{of_work(timeline, cost)}, most of it {most}.",
        cost=cost,
        share=share,
        evidence=(*evidence, busy_fact(timeline)),
        signs=2,
        against=(waits,) if kernels and (alone or facts.gaps.unbalanced) else (),
        advice=(*((_LATE,) if few else ()), *(_ALL_TO_ALL if apart else ())),
        own_advice=apart,
        next_measurement=None if test is None else f"{test} -b 8 -e 1G -f 2 -g 8 ({_RATE})",
        samples=0,
    )


def _few_long(timeline: TimelineFacts) -> tuple[Fact, ...]:
    """How long collectives take where a few of many have most of the time, which no mean tells; nothing elsewhere."""
    lanes = [lane for lane in timeline.timeline.of(LaneKind.COLLECTIVE) if lane.device >= 0]
    length = np.sort(np.concatenate([lane.end - lane.start for lane in lanes]))[::-1] * _NANO
    most = 1 + int(np.searchsorted(np.cumsum(length), common()["most"].value * length.sum()))
    if most > common()["worth_a_line"].value * len(length):
        return ()
    how = "durations of all kernels of NCCL or RCCL, the longest first"
    spread = (Part("median", float(np.median(length)), "s"), Part("most", float(length[0]), "s"))
    return (
        measured(
            timeline, Kind.SPREAD, float(np.median(length)), subject="a collective", whole=Quantity(len(length), "launches"),
            parts=spread, metric="gpu.collective.time", how=how,
        ),
        measured(
            timeline, Kind.SHARE, float(length[:most].sum() / length.sum()), subject=f"the {counted(most, 'longest launch')}",
            form=Form.MANY if most > 1 else Form.ONE, whole=Quantity(of="the time of all"), unit="ratio", metric="gpu.collective.time", how=how,
        ),
    )  # fmt: skip


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
        kernel_fact(timeline, top, Part(top.each, top.mean, "s")),
        idle_fact(timeline),
    ]
    # Too little for a finding of its own, but most of what the device loses may be so small a part.
    stalled = (
        facts.gaps.seconds("sync") >= common()["worth_a_line"].value * timeline.idle > 0
        and "sync" not in facts.gaps.claimed
    )
    if stalled:
        evidence += [after_waits(facts.gaps), waits(timeline)]
    if len(kernels) > 1 and timeline.share(kernels[1].seconds) >= common()["worth_a_line"].value:
        evidence.append(kernel_fact(timeline, kernels[1]))
    name, among = largest_instance(timeline, top)
    next_measurement = (
        f"{counters(timeline.profile, name)} (whether memory, arithmetic, latency or occupancy limits the kernel)"
    )
    unknown = "" if has_counters(facts.profile) else "; only kernel counters can show why they take so long"
    summary = (
        f"Kernels fill {numbers.percent(share)} of {window_words(timeline)}, {top.short} "
        f"{numbers.percent(timeline.share(top.seconds))}{among}{unknown}."
    )
    if only_graphs(timeline):
        summary = f"CUDA graphs fill {numbers.percent(share)} of {window_words(timeline)}; their kernels were not recorded one by one."
        next_measurement = (
            "nsys profile --cuda-graph-trace=node ./app (the kernels in the graphs, and what is between them)"
        )
    yield Draft(
        cause=entry.id,
        where=place,
        summary=summary,
        cost=timeline.computing,
        share=share,
        evidence=tuple(evidence),
        signs=2,
        # Kernels that fill the device are no bottleneck of the program around them, but they are where the time is:
        # they stand before whatever is too small for a verdict, and make none themselves.
        impact=common()["behind"].value * common()["verdict_weight"].value * share,
        samples=0,
        advice=(_NO_WAITS,) if stalled else (),
        next_measurement=next_measurement,
    )


#: What to do where the host waits after kernels, and the device little after each wait.
_NO_WAITS = "Wait for the device only where the host needs a result: kernels of one stream run in order anyway."


def imbalance(facts: Facts) -> Iterable[Draft]:
    """Devices that compute for different times."""
    timeline = facts.traced
    entry = cause("multi-gpu-imbalance")
    computing = {device.ordinal: seconds(device.computing) for device in timeline.devices}
    if len(computing) < 2 or not any(computing.values()):
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
        evidence=(
            lasting(
                timeline,
                computing[busiest],
                f"work of GPU {busiest}",
                "union of its kernels",
                "gpu.kernel.time",
                of=Quantity(timeline.window, "s"),
            ),
            measured(
                timeline,
                Kind.MEAN,
                mean,
                form=Form.MANY,
                subject="devices",
                whole=Quantity(len(computing), "devices"),
                parts=(Part(f"GPU {idlest}", computing[idlest], "s"),),
                metric="gpu.kernel.time",
                how="mean of the unions of kernels of each device",
            ),
        ),
        signs=1 if 0.0 in computing.values() else 2,
        against=("One device computes nothing at all; the program may not be meant to use it.",)
        if 0.0 in computing.values()
        else (),
        samples=0,
        spread=Spread(len(computing), "devices"),
    )


def small_grid(facts: Facts) -> Iterable[Draft]:
    """A hot kernel with fewer blocks than the device has multiprocessors."""
    timeline, profile = facts.traced, facts.profile
    if "gpu.kernel.blocks" not in profile.metrics:
        return
    entry = cause("gpu-small-grid")
    column = profile.exclusive("gpu.kernel.blocks")
    known = [each.multiprocessors for each in profile.devices.values() if each.multiprocessors]
    for kernel in timeline.kernels()[:_LOOKED_AT]:
        blocks = column.at(kernel.node) if kernel.node >= 0 else None
        part = timeline.share(kernel.seconds)
        if blocks is None or blocks <= 0 or part < entry.threshold("min_kernel_share"):
            continue
        limit = min(known) * entry.threshold("min_waves") if known else entry.threshold("few_blocks")
        # Launches of several streams share the device.
        once = max(kernel.mean * kernel.launches / kernel.seconds, 1.0) if kernel.seconds else 1.0
        if blocks * once >= limit or kernel.seconds < entry.threshold("min_computing_share") * timeline.computing:
            continue
        beside = timeline.at_once > entry.threshold("min_at_once")
        place = kernel_site(timeline, kernel)
        wasted = (1 - blocks * once / limit) / (timeline.at_once if beside else 1.0)
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
                measured(
                    timeline,
                    Kind.COUNT,
                    round(blocks),
                    subject=kernel.short,
                    form=Form.NAME,
                    unit="blocks a launch",
                    metric="gpu.kernel.blocks",
                    how="mean over its launches",
                    where=place,
                ),
                kernel_fact(timeline, kernel),
            ),
            signs=2 if known else 1,
            against=(
                *(() if known else ("The number of multiprocessors is not recorded.",)),
                *(
                    (f"On average {timeline.at_once:.1f} kernels run at once, which use some of the rest.",)
                    if beside
                    else ()
                ),
            ),
            samples=0,
        )


RULES = (communication, kernel_bound, imbalance, small_grid)
