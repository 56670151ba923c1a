"""GPU kernels: why the warps of the hot ones stall, and how many of them fit."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.device import MOST_KERNELS, Kernel, device_time, kernel_place, kernels, samples_metric
from chathpc.diagnosis.draft import Draft, fact, kernel_time, share_fact
from chathpc.diagnosis.fact import Fact, Form, Kind
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gpu_tools import Vendor, vendor_of
from chathpc.diagnosis.kernel_counters import counted_names, counting_tools, has_counters
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.gpu_blame import advice_for, blamed
from chathpc.diagnosis.rules.gpu_memory import FULL_QUEUE, fills_queues
from chathpc.diagnosis.sampled_code import in_program
from chathpc.diagnosis.stall_samples import drawn, hot_part
from chathpc.diagnosis.statistics import is_above
from chathpc.profile import numbers
from chathpc.profile.stalls import samples_of

#: cause → stall metrics that count for it, and what the warps wait for in words.
_STALLS = {
    "gpu-memory-latency": (samples_of("memory"), "memory"),
    "gpu-dependency-stall": (samples_of("dependency"), "the result of an earlier instruction"),
    "gpu-barrier-stall": (samples_of("barrier"), "other warps at a barrier"),
    "gpu-instruction-fetch": (samples_of("fetch"), "their next instruction"),
}
#: Intel's devices wait for a scoreboard, which HPCToolkit tells as a dependency, until a result comes out of order: mostly a load's.
_INTEL_STALLS = {
    **_STALLS,
    "gpu-memory-latency": ((*samples_of("memory"), *samples_of("dependency")), "late results, mostly of loads from memory,"),
    "gpu-dependency-stall": ((), ""),
}  # fmt: skip
_SCOREBOARD = "The samples do not tell loads from mathematical functions, of which a result comes late as well."

#: Stalls for room in a queue: NVIDIA's lg_throttle and tex_throttle.
_QUEUES = ("gpu.stall.memory-throttle", "gpu.stall.texture")
_ROOM = "room in the queues of memory instructions"
_PATTERN = "Samples alone do not show whether the amount of data or the pattern of the accesses fills the queues: sectors per request would."


def stalls(facts: Facts) -> Iterable[Draft]:
    """Why the warps of the hot kernels do not issue, from PC samples; counters decide about the kernels that have any."""
    return _stalls(facts, counted=False)


def stalls_of_counted(facts: Facts) -> Iterable[Draft]:
    """What another tool's PC samples say of the kernels that have counters; nothing where one tool recorded both."""
    profile = facts.profile
    base = samples_metric(profile)
    if base is None or profile.metrics[base].tool in {"", *counting_tools(profile)}:
        return ()
    return _stalls(facts, counted=True)


def _stalls(facts: Facts, *, counted: bool) -> Iterable[Draft]:
    profile = facts.profile
    base = samples_metric(profile)
    if base is None:
        return
    total_samples = profile.dense(base)
    device = device_time(profile)
    names, sigma = counted_names(profile), common()["sigma"].value
    intel = vendor_of(profile) == Vendor.INTEL
    for kernel in kernels(profile)[:MOST_KERNELS]:
        if (kernel.name in names) != counted:
            continue
        samples = float(total_samples[kernel.nodes].sum())
        part = hot_part(profile, kernel, device, samples)
        if samples == 0 or part is None:
            continue
        taken = drawn(profile, base, samples)
        for identifier, (counting, words) in (_INTEL_STALLS if intel else _STALLS).items():
            entry = cause(identifier)
            metrics = tuple(name for name in counting if profile.has(name))
            weight = sum((profile.dense(name) for name in metrics), np.zeros(len(profile.tree)))
            stalled = float(weight[kernel.nodes].sum())
            share = stalled / samples
            if not is_above(share, entry.threshold("min_stall_share"), taken, sigma):
                continue
            place, shown = in_program(profile, kernel, kernel_place(profile, kernel, weight))
            cost = kernel.seconds * share
            evidence = [
                share_fact(
                    facts,
                    share,
                    f"waiting for {words}",
                    f"the warp samples of {kernel.short}",
                    f"{' + '.join(metrics)} / {base} over the kernel",
                    metric=metrics[0],
                    where=place,
                )
            ]
            if device:
                evidence.append(kernel_time(facts, kernel.short, kernel.seconds, device, where=place))
            if place.line:
                tree = profile.tree
                same = (tree.line[kernel.nodes] == tree.line[place.node]) & (
                    tree.file[kernel.nodes] == tree.file[place.node]
                )
                at_line = float(weight[kernel.nodes][same].sum())
                evidence.append(
                    share_fact(
                        facts,
                        at_line / stalled,
                        shown,
                        "these stalls",
                        "stalls by source line",
                        metric=metrics[0],
                        where=place,
                        form=Form.NAME,
                    )
                )
            queue = _queue(facts, kernel, stalled, place) if identifier == "gpu-memory-latency" else None
            unsure = intel and any(name in metrics for name in samples_of("dependency"))
            full = queue is not None and fills_queues(queue.value, 1.0)
            if queue is not None:
                evidence.append(queue)
            place, waited, blame = blamed(facts, kernel, metrics, f"samples of warps that wait for {words}", place)
            evidence += waited
            yield Draft(
                cause=identifier,
                where=place,
                summary=f"Warps of {kernel.short} wait for {_ROOM if full else words} in {numbers.percent(share)} of their samples.",
                cost=cost,
                share=share * part,
                threshold=entry.threshold("min_stall_share") * part,
                evidence=tuple(evidence),
                signs=2 if place.line else 1,
                samples=taken,
                advice=(*(FULL_QUEUE if full else ()), *advice_for(blame)),
                against=(_PATTERN,) if full else (_SCOREBOARD,) if unsure else (),
                title="Kernel stalls, probably on memory" if unsure else "",
            )


def _queue(facts: Facts, kernel: Kernel, stalled: float, place: Place) -> Fact | None:
    """Of the samples that wait for memory the part that waits for room in a queue: many accesses, not long ones."""
    profile = facts.profile
    waiting = sum(float(profile.dense(name)[kernel.nodes].sum()) for name in _QUEUES)
    if waiting <= 0:
        return None
    part = min(waiting / stalled, 1.0)
    return share_fact(
        facts,
        part,
        "waiting for room in a queue of memory instructions (too many or too spread accesses)",
        "these; the others wait for data that is under way",
        f"{' + '.join(_QUEUES)} / all samples that wait for memory",
        metric=_QUEUES[0],
        where=place,
    )


def occupancy(facts: Facts) -> Iterable[Draft]:
    """Hot kernels of which few warps fit on, or are given to, a multiprocessor."""
    entry = cause("gpu-low-occupancy")
    profile = facts.profile
    device = device_time(profile)
    if not device or "gpu.kernel.occupancy" not in profile.metrics:
        return
    column = profile.exclusive("gpu.kernel.occupancy")
    counted = counted_names(profile)
    for kernel in kernels(profile)[:MOST_KERNELS]:
        if kernel.name in counted:
            continue
        part = kernel.seconds / device
        value = column.at(kernel.top)
        if value is None or part < entry.threshold("min_kernel_share") or value >= entry.threshold("max_occupancy"):
            continue
        place = kernel_place(profile, kernel)
        launch = {
            metric: found
            for metric in _LAUNCH
            if metric in profile.metrics and (found := profile.exclusive(metric).at(kernel.top)) is not None
        }
        small = launch.get("gpu.kernel.threads-per-block", inf) <= entry.threshold("small_block")
        few = launch.get("gpu.kernel.blocks", inf) < cause("gpu-small-grid").threshold("many_blocks")
        evidence = [
            fact(
                facts,
                Kind.VALUE,
                value,
                subject=f"the theoretical occupancy of {kernel.short}",
                unit="percent",
                metric="gpu.kernel.occupancy",
                how="active / maximum warps over its launches",
                where=place,
            ),
            kernel_time(facts, kernel.short, kernel.seconds, device, where=place),
            *(
                fact(
                    facts,
                    Kind.COUNT,
                    number,
                    subject=kernel.short,
                    form=Form.NAME,
                    unit=_LAUNCH[metric],
                    metric=metric,
                    how="mean over its launches",
                    where=place,
                )
                for metric, number in launch.items()
            ),
        ]
        yield Draft(
            cause=entry.id,
            where=place,
            summary=f"{kernel.short} can have at most {numbers.number(value)} % of the warps that a multiprocessor holds at once.",
            cost=kernel.seconds,
            share=part,
            threshold=entry.threshold("min_kernel_share"),
            evidence=tuple(evidence),
            signs=2 if launch else 1,
            against=(_FEW_BLOCKS,) if few else (),
            # A multiprocessor holds few blocks: where these are small, they and not the registers are the limit.
            advice=(_SMALL.format(threads=int(entry.threshold("next_block"))),) if small else (),
            own_advice=small,
            samples=0,
        )


#: What is told of a launch, in words.
_LAUNCH = {
    "gpu.kernel.threads-per-block": "threads per block",
    "gpu.kernel.blocks": "blocks per launch",
    "gpu.kernel.registers": "registers per thread",
}
_FEW_BLOCKS = "That is what fits: so few blocks may not even fill one place on each multiprocessor, and then more of them help, not larger ones."
_SMALL = "Launch blocks of {threads} threads, and enough of them for the device: give each thread less work."


def kernel_bound(facts: Facts) -> Iterable[Draft]:
    """Kernels fill the device's time, and the profile has no counters that say why they take so long."""
    entry = cause("gpu-kernel-bound")
    profile = facts.profile
    device = device_time(profile)
    if not device or not profile.has("gpu.kernel.time") or samples_metric(profile) is not None or has_counters(profile):
        return
    share = profile.total("gpu.kernel.time") / device
    found = kernels(profile)
    if share < entry.threshold("min_share") or not found:
        return
    hottest = found[0]
    place = kernel_place(profile, hottest)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Kernels have {numbers.percent(share)} of the device's busy time, {hottest.short} {numbers.percent(hottest.seconds / device)}; "
        "only kernel counters can show why.",
        cost=profile.total("gpu.kernel.time"),
        share=share,
        evidence=(kernel_time(facts, hottest.short, hottest.seconds, device, where=place),),
        samples=0,
    )


RULES = (stalls, occupancy, kernel_bound)
