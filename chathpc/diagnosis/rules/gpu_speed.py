"""What all rules about kernel counters say first: how long a kernel runs, and how near the device's limits it is."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.counted import LONGEST_NAME, PREFIX, Counted
from chathpc.diagnosis.draft import Draft, said
from chathpc.diagnosis.fact import Fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.rules.gpu_blame import advice_for, blamed
from chathpc.diagnosis.stall_samples import counted_by
from chathpc.profile import numbers
from chathpc.profile.text import clean


def low() -> float:
    """Percentage of its peak below which a unit is under-used (Nsight Compute, guided analysis, rule SOLBottleneck)."""
    return cause("gpu-memory-latency").threshold("max_throughput")


def near() -> float:
    """Percentage of its peak from which a unit is at its limit (the same rule)."""
    return cause("gpu-memory-bandwidth").threshold("min_throughput")


def ran(facts: Facts, kernel: Counted) -> Fact:
    """How long the kernel ran, and its part of the kernel time in the report (which holds only the profiled kernels)."""
    launches = (
        f" in {numbers.count(kernel.launches)} launch{'es' if kernel.launches != 1 else ''}" if kernel.launches else ""
    )
    if not kernel.seconds:
        return said(
            facts, f"{kernel.short} is the only kernel in the report, {numbers.percent(1.0)} of it; its time was not measured.",
            1.0, unit="ratio", metric=PREFIX + "time", subject=kernel.short, how="share of the profiled kernels",
        )  # fmt: skip
    return said(
        facts,
        f"{kernel.short} runs {numbers.seconds(kernel.seconds)}{launches}, {numbers.percent(kernel.share)} of the kernel time "
        "in the report.",
        kernel.seconds, unit="s", metric=PREFIX + "time", subject=kernel.short,
        how="time of its launches; the report holds only profiled kernels",
    )  # fmt: skip


def speed_of_light(facts: Facts, kernel: Counted) -> list[Fact]:
    """Throughput of compute and memory as percentages of their peaks, as far as they are known."""
    return [
        *kernel.percent(facts, "The multiprocessors reach {} of their peak throughput.", "sm-throughput"),
        *kernel.percent(facts, "The memory system reaches {} of its peak throughput.", "memory-throughput"),
    ]


def write(
    facts: Facts,
    kernel: Counted,
    identifier: str,
    summary: str,
    evidence: Sequence[Fact],
    *,
    headroom: float,
    signs: int,
    waiting: str = "",
    against: tuple[str, ...] = (),
    advice: tuple[str, ...] = (),
    next_measurement: str | None = None,
) -> Draft:
    """The finding about a kernel, at its hottest line for that kind of waiting where lines have samples.

    `headroom` is the part (0..1) of the kernel's time that could go by physics, an upper bound.
    """
    place, hot = kernel.place(waiting)
    counted, what = counted_by(waiting)
    lines = []
    if hot is not None and hot.part > 0:
        instruction = clean(kernel.profile.tree.label(hot.node))[:LONGEST_NAME]
        name = place.short if place.line else f"The instruction {instruction}"
        lines = [
            said(
                facts, f"{name} has {numbers.percent(hot.part)} of the kernel's {hot.what}.", hot.part, unit="ratio",
                metric=PREFIX + "time", subject=place.short or instruction, how=f"{hot.what}, by line or instruction", where=place,
            )
        ]  # fmt: skip
    waited: list[Fact] = []
    blame = None
    if hot is not None and counted:
        place, waited, blame = blamed(facts, kernel.name, kernel.short, kernel.nodes, counted, what, place)
    return Draft(
        cause=identifier, where=place, summary=summary, cost=kernel.seconds, share=kernel.share,
        evidence=(*evidence, *waited, *lines), headroom=min(max(headroom, 0.0), 1.0), signs=signs + bool(place.line), against=against,
        advice=(*advice_for(blame), *advice), next_measurement=next_measurement or kernel.named(cause(identifier).next_measurement), samples=0,
    )  # fmt: skip
