"""Kernels whose launch leaves multiprocessors without work: small grids, part-filled last waves, few resident warps."""

from __future__ import annotations

import re
from math import ceil

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.catalogue.entry import Cause
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.kernel_counters import Counted
from chathpc.diagnosis.rules.gpu_speed import low, near, speed_of_light, write
from chathpc.profile import numbers

#: What sums and quotients of the same numbers differ by.
_ROUNDING = 1e-9
_WAVES_ARE = "blocks / (multiprocessors × resident blocks of each)"
#: Kernels that run shorter than this take no longer than their launch (the threshold of gpu-launch-bound).
_SHORT = "max_kernel_seconds"


#: How Nsight Compute's own rules put it that a grid is too small, where the report has no number of multiprocessors.
_WAVES = re.compile(r"(?:only|just) (\d+(?:\.\d+)?) full waves")


def told_waves(kernel: Counted) -> float | None:
    """Waves of blocks: as counted, else as the tool's own rules say."""
    texts = (remark.text for remark in kernel.profile.remarks if remark.node in kernel.nodes)
    found = (match for text in texts if (match := _WAVES.search(text)) is not None)
    said = kernel.get("waves")
    return said if said is not None else next((float(match[1]) for match in found), None)


def small_grid(kernel: Counted) -> Draft | None:
    """Fewer blocks than multiprocessors, or than fit at once (less than one wave), on a device that is not busy.

    Waves = blocks / (multiprocessors × blocks that fit on one), as Nsight Compute's launch statistics count them. With one
    wave or more every multiprocessor has all the blocks it can hold at the beginning.
    """
    entry = cause("gpu-small-grid")
    blocks, waves, units = kernel.get("blocks"), told_waves(kernel), kernel.multiprocessors
    starved = blocks is not None and blocks >= 1 and blocks < (units or _fewest_units(kernel, entry))
    partial = waves is not None and waves < entry.threshold("min_waves")
    busiest = kernel.busiest
    if not (starved or partial) or (busiest is not None and busiest >= low()) or (busiest is None and not starved):
        return None
    most = entry.threshold("max_headroom")
    filled = [part for part in (waves, blocks / units if blocks is not None and units else None) if part is not None]
    active = kernel.get("active")
    if not filled and active is not None:
        filled.append(active / 100)
    idle = 1 - min(filled) if filled else most
    evidence = []
    threads = kernel.get("threads-per-block")
    what = "Its grid"
    if blocks is not None:
        size = f" of {numbers.count(threads)} threads" if threads is not None else ""
        what = f"{numbers.count(blocks)} block{'s' if blocks != 1 else ''}{size}"
        evidence.append(
            kernel.fact(
                Kind.COUNT, "blocks", subject="its grid", unit="blocks", how="launch configuration",
                parts=(Part("of", threads, "threads"),) if threads is not None else (),
            )
        )  # fmt: skip
        if units:
            evidence.append(
                kernel.fact(Kind.COUNT, "blocks", units, subject="the device", unit="multiprocessors", how="launch configuration")
            )  # fmt: skip
    if waves is not None:
        evidence.append(_waves(kernel, waves))
    evidence += kernel.percent("active", "the time in which a multiprocessor has work", "the kernel's")
    evidence += speed_of_light(kernel)
    evidence += kernel.percent(
        "achieved-occupancy", "its active warps", "those that a multiprocessor can hold", Form.MANY
    )
    against, short = [], _short(kernel)
    evidence += short
    if busiest is None:
        against.append("How busy the device was in the kernel is not in the report.")
    elif (
        starved
        and units
        and blocks is not None
        and blocks > entry.threshold("nearly_all_units") * units
        and not partial
    ):
        against.append("At least three in four multiprocessors have a block.")
    lead = f"{kernel.short} is too small for the device: {what}"
    if units and blocks is not None and blocks < units:
        lead += f" on {numbers.count(units)} multiprocessors"
    elif waves is not None:
        lead += f", {numbers.number(waves)} of a wave"
    rest = (
        "." if blocks is None or blocks > 1 else ". A launch of one block reveals nothing about its other properties."
    )
    return write(
        kernel, entry.id, lead + rest, evidence, headroom=min(idle, most), signs=1 + (busiest is not None) + bool(short),
        against=tuple(against), next_measurement=kernel.measure(
            "blocks, waves and achieved occupancy of a larger grid", "LaunchStats", "Occupancy", "SpeedOfLight"
        ),
    )  # fmt: skip


def _waves(kernel: Counted, waves: float) -> Fact:
    return kernel.fact(
        Kind.COUNT, "waves", waves, subject="its grid", unit="waves of blocks that fit on the device at once", how=_WAVES_ARE
    )  # fmt: skip


def _fewest_units(kernel: Counted, entry: Cause) -> float:
    """With fewer blocks than this a multiprocessor is without one, where the number of multiprocessors is not told: any device has some; with
    less than half of their cycles at work, so many as none has.
    """
    active = kernel.get("active")
    idle = active is not None and active < entry.threshold("max_active")
    return entry.threshold("many_blocks" if idle else "few_blocks")


def _short(kernel: Counted) -> list[Fact]:
    """Evidence that a launch runs no longer than launching takes."""
    limit = cause("gpu-launch-bound").threshold(_SHORT)
    if not kernel.launches or not 0 < kernel.seconds / kernel.launches < limit:
        return []
    mean = kernel.seconds / kernel.launches
    return [
        kernel.fact(
            Kind.COMPARISON, "time", mean, subject="a launch", unit="s", how="kernel time / launches",
            whole=Quantity(limit, "s", "launching it about"),
        )
    ]  # fmt: skip


def lost_in_tail(waves: float) -> float:
    """Part (0..1) of the blocks' places that stay empty in the last wave: 1 − waves / ⌈waves⌉.

    If all blocks take equally long, the kernel runs ⌈waves⌉ times as long as a block (Nsight Compute, rule
    LaunchConfiguration: tail effect).
    """
    return 1 - waves / ceil(waves) if waves > 0 else 0.0


def tail_effect(kernel: Counted) -> Draft | None:
    """Multiprocessors that stand idle since others have the longest blocks, or one to five waves of blocks of which the last is part-filled.

    A part-filled wave loses nothing where blocks share a unit that is at its limit: with fewer of them each ends sooner.
    """
    entry = cause("gpu-tail-effect")
    waves, busiest, active = kernel.get("waves"), kernel.busiest, kernel.get("active")
    if waves is None or waves < 1:
        return None
    idle = _without_blocks(kernel)
    at_work = 1.0 if active is None else active / 100
    full = busiest is not None and busiest >= near() * at_work
    empty = lost_in_tail(waves) if waves <= entry.threshold("max_waves") and not full else 0.0
    lost, uneven = max(empty, idle), idle > empty
    if lost + _ROUNDING < entry.threshold("min_lost"):
        return None
    evidence = []
    against: list[str] = []
    signs = 1
    if uneven:
        evidence += kernel.percent("active", "the time in which a multiprocessor has work", "the kernel's")
    evidence.append(_waves(kernel, waves))
    if not uneven:
        evidence.append(
            kernel.part(
                "waves", lost, "what stays empty at the end, if all blocks take equally long,", "the places for blocks",
                "1 − waves / waves rounded up", kind=Kind.VALUE,
            )
        )  # fmt: skip
    theoretical, achieved = kernel.get("occupancy"), kernel.get("achieved-occupancy")
    if theoretical and achieved is not None:
        evidence.append(
            kernel.fact(
                Kind.COMPARISON, "achieved-occupancy", subject="the achieved occupancy", unit="percent",
                whole=Quantity(theoretical, "percent", "the theoretical one"), how="active warps per cycle / warps that a multiprocessor can hold",
            )
        )  # fmt: skip
        if achieved < entry.threshold("full_occupancy") * theoretical:
            signs += 1
        elif not uneven:
            against.append("The achieved occupancy is as high as the theoretical one, so the tail is short.")
    evidence += speed_of_light(kernel)
    return write(
        kernel, entry.id,
        f"A few blocks of {kernel.short} run much longer than the others: multiprocessors stand idle in {numbers.percent(idle)} of the time."
        if uneven else
        f"The last wave of {kernel.short} is part-filled: {numbers.number(waves)} waves take the time of {ceil(waves)}.",
        evidence, headroom=lost, signs=signs, against=tuple(against), advice=_UNEVEN if uneven else (), own_advice=uneven,
        next_measurement=kernel.measure("how unequal the multiprocessors' work is", "LaunchStats", "WorkloadDistribution"),
    )  # fmt: skip


def _without_blocks(kernel: Counted) -> float:
    """Part (0..1) of its time in which a multiprocessor has no block, beyond what launching takes; 0 where that is not known."""
    active = kernel.get("active")
    if active is None or not kernel.seconds or not kernel.launches:
        return 0.0
    launching = cause("gpu-launch-bound").threshold(_SHORT) * kernel.launches / kernel.seconds
    return max(1 - active / 100 - launching, 0.0)


_UNEVEN = (
    "Give long pieces of work several blocks (split them at a fixed size) instead of one block each.",
    "Start the longest pieces first, or let persistent blocks fetch the next piece by atomicAdd.",
)


def low_occupancy(kernel: Counted) -> Draft | None:
    """Few resident warps in a kernel that waits for latencies, which more warps would cover; with what limits them.

    Warps that wait are covered by others as far as these are there (Little's law), up to the limit of the busiest unit.
    """
    entry = cause("gpu-low-occupancy")
    theoretical = kernel.get("occupancy")
    if theoretical is None or theoretical > entry.threshold("max_occupancy"):
        return None
    waves = told_waves(kernel)
    if theoretical <= 0 or kernel.at_least("issue-active", low()) or (waves is not None and waves <= 1):
        return None  # more warps could not come: the grid has no more blocks
    waits = kernel.stalled("long-scoreboard", "lg-throttle", "short-scoreboard", "wait")
    if not kernel.stalls:
        waits = entry.threshold("assumed_waiting")
    possible = min(1 - theoretical / 100, kernel.idle)
    limiters = kernel.limiters
    evidence = [*kernel.percent("occupancy", "its theoretical occupancy")]
    evidence += kernel.percent("achieved-occupancy", "the achieved occupancy")
    by = " and ".join(limiters)
    if limiters:
        name = min((each for each in kernel.values if each.startswith("limit.")), key=lambda each: kernel.values[each])
        evidence.append(
            kernel.fact(
                Kind.COUNT, name, subject="a multiprocessor", unit="blocks at once",
                parts=tuple(Part(f"limited by {limiter}") for limiter in limiters), how="lowest of the limits of the launch",
            )
        )  # fmt: skip
    evidence += kernel.collected(Kind.COUNT, "registers", "it", "registers per thread")
    evidence += kernel.collected(Kind.COUNT, "threads-per-block", "it", "threads per block")
    shared = kernel.get("shared-memory-per-block")
    if shared and "shared memory" in limiters:
        evidence.append(
            kernel.fact(
                Kind.AMOUNT, "shared-memory-per-block", subject="the shared memory of a block", unit="bytes", how="launch configuration"
            )
        )  # fmt: skip
    evidence += speed_of_light(kernel)
    against: tuple[str, ...] = ()
    if not kernel.stalls:
        against = ("What the warps wait for was not collected; more of them help only against latencies.",)
    return write(
        kernel, entry.id,
        f"Too few warps of {kernel.short} are resident to cover its waiting: {numbers.percent(theoretical / 100)} of what fits"
        + (f", limited by {by}." if limiters else "."),
        evidence, headroom=possible * waits, signs=1 + bool(limiters) + bool(kernel.stalls), against=against,
        advice=tuple(_REMEDIES[word].format(threads=_larger(kernel)) for word in limiters if word in _REMEDIES),
        own_advice=bool(limiters) and set(limiters) <= set(_REMEDIES),
        next_measurement=None if kernel.stalls else kernel.measure(
            "what the warps wait for, and whether occupancy is the limit", "WarpStateStats", "SchedulerStats", "Occupancy"
        ),
    )  # fmt: skip


#: Limit → what lifts it.
_REMEDIES = {
    "the number of blocks on a multiprocessor": "Launch blocks of {threads} threads instead: the number of blocks on a multiprocessor is the "
    "limit, so each must have more warps.",
    "registers": "Lower the registers per thread: __launch_bounds__ with a second argument, or smaller tiles for each thread.",
    "shared memory": "Use less __shared__ memory for each block, or raise the limit with "
    "cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100).",
    "the block's size": "Choose a block size of which a multiprocessor holds a whole number (128 or 256 threads).",
}  # fmt: skip


def _larger(kernel: Counted) -> int:
    """Threads of the block that is advised instead."""
    entry = cause("gpu-low-occupancy")
    threads = kernel.get("threads-per-block") or common()["warp_threads"].value
    return int(entry.threshold("next_block" if threads <= entry.threshold("small_block") else "large_block"))
