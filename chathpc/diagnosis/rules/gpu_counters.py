"""GPU kernels by their counters: what limits each kernel that matters, and what explains that.

What limits is decided first, as in the guided analysis of Nsight Compute (Kernel Profiling Guide: speed of light, then the section
that it points to); of what may explain it, the cause with most headroom is told, if it explains a good part of the limit, else the limit.

1. Launch: fewer blocks than the device takes at once (small grid); a part-filled last wave of few (tail). All other
   percentages of such kernels describe idle multiprocessors.
2. Memory at 60 % of its peak or more, and not less than compute: its rate, or what makes it move or split too much (uncoalesced
   accesses, spills, bank conflicts, atomics). From 80 % it is at its limit.
3. Compute at 60 % or more: arithmetic, or work that is masked out (divergence), on the wrong pipe (tensor cores unused, double
   precision).
4. Neither: latency. What the warps wait for most, or what makes accesses slow (as in 2), or few warps to cover it (occupancy).

Kernels are weighed by time, not by number. A second finding about a kernel stands only beside the first where its remedy
is another one, and never before it; what is another side of the same problem (few warps, and what they wait for) joins the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.device import MOST_KERNELS
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.kernel_counters import Counted, counted_kernels, has_counters
from chathpc.diagnosis.rules import gpu_compute, gpu_launch, gpu_memory, gpu_warps
from chathpc.diagnosis.rules.gpu_remarks import with_remarks
from chathpc.diagnosis.rules.gpu_speed import low, near
from chathpc.profile import numbers
from chathpc.profile.kernel_names import kernel_title
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

Judge = Callable[[Counted], Draft | None]

#: Launch configurations of a kernel that are looked at, those with most time: it bounds the work on reports with very many.
_CONFIGURATIONS = 1000
#: Causes of which one finding speaks for all kernels, and how many of these it tells the facts of.
_TOGETHER, _LISTED = frozenset({"gpu-small-grid"}), 3

_LAUNCH: tuple[Judge, ...] = (gpu_launch.small_grid, gpu_launch.tail_effect)
_WASTE: tuple[Judge, ...] = (
    gpu_memory.host_memory,
    gpu_memory.uncoalesced,
    gpu_memory.register_spill,
    gpu_memory.bank_conflicts,
    gpu_memory.atomics,
)
_WASTED_WORK: tuple[Judge, ...] = (gpu_compute.divergence, gpu_compute.tensor_unused, gpu_compute.double_precision)
#: Findings that may stand beside another one, by the cause of that.
_BESIDE: dict[str, tuple[Judge, ...]] = {
    "gpu-memory-latency": (gpu_launch.low_occupancy, *_WASTE, gpu_compute.divergence),
    "gpu-dependency-stall": (gpu_launch.low_occupancy, gpu_memory.bank_conflicts, gpu_compute.divergence),
    "gpu-low-occupancy": (gpu_memory.host_memory, gpu_warps.waiting),
    "gpu-small-grid": (gpu_memory.host_memory,),
    "gpu-tail-effect": (gpu_memory.host_memory,),
    "gpu-memory-bandwidth": (gpu_launch.low_occupancy,),
    "gpu-barrier-stall": (gpu_compute.divergence,),
    "gpu-compute-bound": (gpu_memory.register_spill, gpu_memory.bank_conflicts),
}
#: Waiting, and too few warps to cover it: two sides of one problem, which make one finding.
_WAITING = frozenset({"gpu-memory-latency", "gpu-dependency-stall", "gpu-memory-bandwidth", "gpu-barrier-stall"})


def kernel_limits(facts: Facts) -> Iterable[Draft]:
    """What limits each kernel that matters, as a finding with its evidence; kernels in several launch configurations give
    one finding for each cause.
    """
    kernels = counted_kernels(facts)
    unmeasured = _unmeasured(facts.profile, kernels)
    found: dict[tuple[str, str], list[Draft]] = {}
    for group in _by_name(kernels):
        for kernel in group:
            for draft in judge(kernel):
                # Many small kernels are one problem of the program.
                name = "" if draft.cause in _TOGETHER else kernel.name
                found.setdefault((name, draft.cause), []).append(draft)
    least = cause("gpu-kernel-bound").threshold("min_kernel_share")
    merged = {key: _merged(drafts) for key, drafts in found.items()}
    for (name, _), draft in merged.items():
        # Launch configurations of one kernel may have many causes, of which none has much: then the largest is told.
        if draft.share < least and draft.share < max(
            each.share for (other, _), each in merged.items() if other == name
        ):
            continue
        yield replace(draft, against=tuple(dict.fromkeys((*draft.against, *unmeasured))))


def judge(kernel: Counted) -> list[Draft]:
    """The primary finding about a kernel, then others with another remedy; none if its counters decide nothing."""
    launch = _first(_LAUNCH, kernel)
    found = [] if launch is None else [launch]
    if launch is None or _may_matter_less(launch, kernel):
        limit = _first(_steps(kernel), kernel)
        if limit is not None:
            found.append(limit)
            # Of two causes the one that explains more of the time is the first.
            found.sort(key=lambda draft: -(draft.headroom or 0.0))
    if not found:
        return []
    if not _at_limit(kernel):
        others = (step(kernel) for step in _BESIDE.get(found[0].cause, ()))
        for draft in others:
            if (
                draft is not None
                and {draft.cause, found[0].cause} & _WAITING
                and "gpu-low-occupancy" in (draft.cause, found[0].cause)
                and not (draft.title or found[0].title)
            ):
                found[0] = _joined(found[0], draft)
            elif draft is not None and draft.cause not in {each.cause for each in found}:
                found.append(draft)
    most = common()["behind"].value * (found[0].headroom or 0.0)
    return [
        with_remarks(found[0], kernel),
        *(
            with_remarks(replace(draft, headroom=min(draft.headroom or 0.0, most)), kernel, doubt=False)
            for draft in found[1:]
        ),
    ]


def _joined(draft: Draft, other: Draft) -> Draft:
    """The finding with the other side of the same problem: its facts, and what to do about it, behind its own."""
    told = {item.says for item in draft.evidence}
    return replace(
        draft,
        evidence=(*draft.evidence, *(item for item in other.evidence if item.says not in told)),
        advice=(*draft.advice, *other.advice),
    )


def _explained(kernel: Counted, causes: Iterable[Judge], limits: Iterable[Judge]) -> Draft | None:
    """Of several causes the one with most headroom, if that is a good part of what the limit itself leaves; else the limit."""
    limit = _first(limits, kernel)
    found = [draft for step in causes if (draft := step(kernel)) is not None]
    best = max(found, key=lambda draft: draft.headroom or 0.0, default=None)
    least = common()["min_waste_part"].value * ((limit.headroom if limit is not None else 0.0) or 0.0)
    return best if best is not None and (best.headroom or 0.0) >= least else limit


def _first(steps: Iterable[Judge], kernel: Counted) -> Draft | None:
    return next((draft for step in steps if (draft := step(kernel)) is not None), None)


def _may_matter_less(launch: Draft, kernel: Counted) -> bool:
    """True if a kernel that leaves part of the device empty may have a larger problem where it runs: it has a block for
    each multiprocessor, uses no unit well, and fills more than half of a wave or waits for what more warps do not cover.
    """
    blocks, units = kernel.get("blocks"), kernel.multiprocessors
    starved = blocks is not None and (blocks < units if units else blocks <= 1)
    small = (launch.headroom or 0.0) < common()["launch_decides"].value
    idle = kernel.busiest is not None and kernel.busiest < low()
    return not starved and idle and (small or _waits_uncovered(kernel))


def _waits_uncovered(kernel: Counted) -> bool:
    """True if what warps wait for most would not be covered by more of them: barriers and instructions."""
    return gpu_warps.kind_of_waiting(kernel) in ("barrier", "fetch")


def _steps(kernel: Counted) -> Iterable[Judge]:
    """The questions after those about the launch, in the order in which they are asked of a kernel."""
    compute, memory, busiest = kernel.compute, kernel.memory, kernel.busiest
    if busiest is not None and low() <= busiest < near():
        yield gpu_warps.waiting
    if (
        memory is not None
        and memory >= low()
        and (compute is None or memory >= compute - common()["close_throughputs"].value)
    ):
        yield partial(_explained, causes=_WASTE, limits=(gpu_memory.split_accesses, gpu_memory.bandwidth))
    yield partial(_explained, causes=_WASTED_WORK, limits=(gpu_compute.compute_bound,))
    idle = busiest is None or busiest < low()
    clear = gpu_warps.leans_on_memory(kernel) and gpu_warps.is_clear(kernel)
    yield partial(
        _explained, causes=(*(_WASTE if idle else ()), *(() if idle and clear else (_occupancy_first,))),
        limits=(gpu_warps.waiting, gpu_warps.probably_memory),
    )  # fmt: skip
    if idle and clear:
        yield _occupancy_first
    if memory is not None and memory >= low():
        yield gpu_memory.bandwidth


def _occupancy_first(kernel: Counted) -> Draft | None:
    """Low occupancy, where what the warps wait for can be covered by more of them."""
    if _waits_uncovered(kernel):
        return None
    return gpu_launch.low_occupancy(kernel) if kernel.busiest is not None and kernel.busiest < low() else None


def _at_limit(kernel: Counted) -> bool:
    return kernel.busiest is not None and kernel.busiest >= near()


def _by_name(kernels: list[Counted]) -> Iterable[list[Counted]]:
    """The kernels that matter by name, the longest first, each with its launch configurations."""
    groups: dict[str, list[Counted]] = {}
    for kernel in kernels:
        groups.setdefault(kernel.name, []).append(kernel)
    least = cause("gpu-kernel-bound").threshold("min_kernel_share")
    ranked = sorted(groups.values(), key=lambda group: (-sum(kernel.share for kernel in group), group[0].name))
    for group in ranked[:MOST_KERNELS]:
        if sum(kernel.share for kernel in group) >= least:
            yield group[:_CONFIGURATIONS]


def _merged(drafts: list[Draft]) -> Draft:
    """One finding for several launch configurations or kernels: that with most time speaks, time and share are summed."""
    first = max(drafts, key=lambda draft: draft.share)
    if len(drafts) == 1:
        return first
    share = min(sum(draft.share for draft in drafts), 1.0)
    weighed = sum(draft.share * (draft.headroom or 0.0) for draft in drafts) / share if share else first.headroom
    others = len({draft.where.kernel for draft in drafts}) - 1
    which = (
        f"{others} other kernel{'s' if others > 1 else ''} too" if others else f"in {len(drafts)} launch configurations"
    )
    evidence = [
        item for draft in sorted(drafts, key=lambda draft: -draft.share)[1:_LISTED] for item in draft.evidence[:2]
    ]
    return replace(
        first, cost=sum(draft.cost for draft in drafts), share=share, headroom=min(weighed or 0.0, 1.0),
        evidence=(*first.evidence, *(evidence if others else ())),
        summary=f"{first.summary} ({which[:1].upper()}{which[1:]}, together {numbers.percent(share)} of the kernel time.)",
    )  # fmt: skip


def _unmeasured(profile: Profile, kernels: list[Counted]) -> tuple[str, ...]:
    """A doubt where kernels of the report have no time, so that the shares of the others may be too large."""
    tree = profile.tree
    known = {kernel.name for kernel in kernels}
    names = sorted(
        {tree.function_name(int(node)) for node in range(len(tree)) if tree.kind[node] == NodeKind.GPU_KERNEL} - known
    )
    if not names or not known:
        return ()
    listed = ", ".join(map(kernel_title, names[:3]))
    return (f"Its part of the time may be smaller, as the report has no measurements of {listed}.",)


def undecided(profile: Profile, *, beside: bool = False) -> str:
    """Why the kernels of a profile with counters cannot be judged, as a sentence; empty if they can, or there are no counters.

    For the verdict: a profile without a finding, most of whose kernel time has no counters that decide anything, is not
    healthy but insufficient. `beside` asks the same where others have findings.
    """
    if not has_counters(profile):
        return ""
    facts = Facts(profile)
    kernels = counted_kernels(facts)
    if not kernels:
        return "No kernel of the report has both a time and counters, so that nothing can be said about what limits it."
    worth = common()["verdict_weight"].value
    if not beside and any(draft.share * (draft.headroom or 0.0) >= worth for draft in kernel_limits(facts)):
        return ""
    silent = [kernel for group in _by_name(kernels) for kernel in group if not judge(kernel)]
    missing = [kernel for kernel in silent if kernel.busiest is None or (kernel.busiest < low() and not kernel.stalls)]
    part = sum(kernel.share for kernel in missing)
    if part <= common()["max_undecided"].value:
        return ""
    first = missing[0]
    if beside:
        return f"{numbers.percent(part)} of the kernel time, most of it {first.short}, is in kernels whose counters do not show what limits them."
    if first.busiest is None:
        return f"The counters of {first.short} do not show how busy the device was: {first.measure('speed of light', 'SpeedOfLight', 'WarpStateStats')}."
    return (
        f"{first.short} uses no unit for more than {numbers.percent(first.busiest / 100)} of its peak, and what its warps wait for "
        f"was not collected: {first.measure('stall reasons', 'WarpStateStats', 'SchedulerStats')}."
    )


RULES = (kernel_limits,)
