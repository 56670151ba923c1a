"""What all rules about kernel counters say first: how long a kernel runs, and how near the device's limits it is."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft, fact, share_fact
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.kernel_counters import PREFIX, Counted
from chathpc.diagnosis.rules.gpu_blame import advice_for, blamed
from chathpc.diagnosis.sampled_code import in_program
from chathpc.diagnosis.stall_samples import counted_by
from chathpc.profile.kernel_names import LONGEST_NAME
from chathpc.profile.text import clean

#: The whole that stalls are parts of.
BETWEEN = "the time between two instructions of a warp"


def low() -> float:
    """Percentage of its peak below which a unit is under-used (Nsight Compute, guided analysis, rule SOLBottleneck)."""
    return cause("gpu-memory-latency").threshold("max_throughput")


def near() -> float:
    """Percentage of its peak from which a unit is at its limit (the same rule)."""
    return cause("gpu-memory-bandwidth").threshold("min_throughput")


def _ran(kernel: Counted) -> Fact:
    """How long the kernel ran, and its part of the kernel time in the report (which holds only the profiled kernels)."""
    if not kernel.seconds:
        whole, how = "the report, which has no times", "share of the profiled kernels"
        return share_fact(kernel.facts, 1.0, kernel.short, whole, how, metric=PREFIX + "time", form=Form.NAME)
    return fact(
        kernel.facts, Kind.AMOUNT, kernel.seconds, subject=kernel.short, form=Form.NAME,
        whole=Quantity(kernel.seconds / kernel.share, "s", "kernel time in the report"),
        parts=(Part("", kernel.launches, "launches"),) if kernel.launches else (), unit="s", metric=PREFIX + "time",
        how="time of its launches; the report holds only profiled kernels",
    )  # fmt: skip


def speed_of_light(kernel: Counted) -> list[Fact]:
    """Throughput of compute and memory as percentages of their peaks, as far as they are known."""
    return [
        *kernel.percent("sm-throughput", "the throughput of the multiprocessors", "its peak"),
        *kernel.percent("memory-throughput", "the throughput of the memory system", "its peak"),
    ]


def write(
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
    own_advice: bool = False,
    next_measurement: str | None = None,
    title: str = "",
) -> Draft:
    """The finding about a kernel, at its hottest line for that kind of waiting where lines have samples.

    `headroom` is the part (0..1) of the kernel's time that could go by physics, an upper bound.
    """
    place, hot = kernel.place(waiting)
    place, shown = in_program(kernel.profile, kernel, place)
    counted, what = counted_by(waiting)
    lines = []
    if hot is not None and hot.part > 0:
        instruction = clean(kernel.profile.tree.label(hot.node))[:LONGEST_NAME]
        lines = [
            share_fact(
                kernel.facts, hot.part, shown if place.line else f"the instruction {instruction}", f"the kernel's {hot.what}",
                f"{hot.what}, by line or instruction", metric=PREFIX + "time", where=place, form=Form.NAME if place.line else Form.ONE,
            )
        ]  # fmt: skip
    waited: list[Fact] = []
    blame = None
    if hot is not None and counted:
        place, waited, blame = blamed(kernel.facts, kernel, counted, what, place)
    return Draft(
        cause=identifier, where=place, summary=summary, cost=kernel.seconds, share=kernel.share,
        evidence=(_ran(kernel), *evidence, *waited, *lines), threshold=0.0, headroom=min(max(headroom, 0.0), 1.0),
        signs=signs + bool(place.line), against=against, advice=(*advice_for(blame), *advice), own_advice=own_advice, title=title,
        next_measurement=next_measurement or kernel.named(cause(identifier).next_measurement), samples=0,
    )  # fmt: skip
