"""The verdict on the whole: what was found and measured, what only the source says, or why nothing is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from chathpc.diagnosis import device, lacks
from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.concurrency import at_work
from chathpc.diagnosis.cores import starved
from chathpc.diagnosis.draft import Draft, is_worth
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Finding, Verdict
from chathpc.diagnosis.rules import has_device_values, has_good_timeline
from chathpc.diagnosis.rules.input_output_log import little_io
from chathpc.diagnosis.timeline_words import healthy_headline
from chathpc.diagnosis.tuned_libraries import in_tuned_libraries, is_tuned_kernel
from chathpc.profile import intervals, numbers
from chathpc.profile.activity import OPENMP, Activity
from chathpc.profile.metric import Clock

#: What a thread does while it does no work of the program.
WAITING = (
    Activity.MPI, *OPENMP, Activity.LOCK, Activity.SLEEP, Activity.BLOCKED, Activity.JOIN, Activity.IO,
)  # fmt: skip
#: Of counts, of instructions or of samples by an event.
_UNSEEN = "What was counted does not show waiting"
#: Of regions and functions of the program that were measured without any call of a library.
_UNSEEN_INSIDE = "Only the program's own regions were measured, so waiting inside them is invisible"
_WAITING_OR_IO = (
    *(each for each in WAITING if each not in (Activity.OMP_OVERHEAD, Activity.JOIN)),
    Activity.GPU_SYNC,
)


def is_limit(id: str) -> bool:
    """True for causes that a healthy run may have: a unit of the machine is used as well as it can be."""
    return "machine-limit" in cause(id).traits


def verdict_of(facts: Facts, ranked: Sequence[Draft]) -> tuple[Verdict, str]:
    """The verdict on a profile in which something can be concluded, and the sentence that says why where it is healthy or tells too little; else empty.

    A finding counts where what could go of its cost is worth it (`verdict_weight`) by more than sampling explains.
    """
    worth = [draft for draft in ranked if is_worth(facts, draft, headroom(draft), common()["verdict_weight"].value)]
    if any(not draft.derived for draft in worth):
        return Verdict.BOTTLENECK, ""
    if worth or any(draft.suspected for draft in ranked):
        return Verdict.SUSPECTED, ""
    why = _healthy(facts, ranked)
    if why:
        return Verdict.HEALTHY, why
    if not ranked and (no_core := _without_cores(facts)):
        return Verdict.INSUFFICIENT, no_core  # no place is hot either
    # At a limit, as far as the source tells: only counters show whether that is so.
    return (Verdict.SUSPECTED if any(draft.derived for draft in ranked) else Verdict.HOT_SPOT), ""


def _without_cores(facts: Facts) -> str:
    """That threads had no core, in sentences, where most of the time is waiting which that may explain; else empty."""
    return starved(facts) if facts.has_host_time and facts.share(*WAITING) >= common()["most"].value else ""


def headroom(draft: Draft) -> float:
    """The part of a draft's cost that can go: its own, or its cause's."""
    return cause(draft.cause).headroom if draft.headroom is None else draft.headroom


def _healthy(facts: Facts, ranked: Sequence[Draft]) -> str:
    """Why the run is healthy, as a sentence; empty where the profile does not show that."""
    if has_good_timeline(facts):
        idle, work = facts.traced.share(facts.traced.idle), _device_work(facts, ranked)
        little = idle <= common()["healthy_waiting"].value
        return f"The devices are idle for {numbers.percent(idle)} of the time, and {work}." if little and work else ""
    if not facts.has_host_time:
        limit = _at_the_limit(ranked, files=True)
        if limit or has_device_values(facts):
            return f"{limit[:1].upper()}{limit[1:]}." if limit else ""
        return little_io(facts)
    if has_device_values(facts) or lacks.waiting(facts) is not None or lacks.threads(facts) is not None:
        return ""
    limit = _at_the_limit(ranked)
    waiting = facts.share(*WAITING)
    differ, work = imbalance(facts), limit or _host_work(facts)
    if waiting > common()["healthy_waiting"].value or differ > common()["healthy_imbalance"].value or not work:
        return ""
    threads = f", the work of {facts.thread_count} threads differs by {numbers.percent(differ)}"
    return f"{numbers.percent(waiting)} of the time is waiting{threads if facts.thread_count > 1 else ''}, and {work}."


def imbalance(facts: Facts) -> float:
    """How much less than the busiest the program's threads work on average, 0..1: 1 − mean / maximum."""
    matrix = facts.matrix
    working = np.delete(matrix, list(WAITING), axis=1).sum(axis=1)
    return float(1 - working.mean() / working.max()) if len(working) and working.max() > 0 else 0.0


def _at_the_limit(ranked: Sequence[Draft], *, files: bool = False) -> str:
    """That a unit of the machine limits most of the work, in words; empty where that was not measured, as it is for `files` in logs of
    input and output alone.
    """
    limits = [
        draft
        for draft in ranked
        if is_limit(draft.cause) and not draft.derived and (files or draft.cause != "io-bound")
    ]
    if not limits or sum(draft.share for draft in limits) < common()["most"].value:
        return ""
    most = max(limits, key=lambda draft: draft.share)
    told = most.summary.rstrip(".")
    if most.cause == "io-bound":  # of the file system's own limit the log knows nothing
        return f"requests are large already, so the file system sets the pace: {told[0].lower()}{told[1:]}"
    return "the machine does the work as fast as it can: " + told


def _host_work(facts: Facts) -> str:
    """That the work is spread out, or done by tuned libraries, in words; empty where one place dominates."""
    tuned = float(facts.time[in_tuned_libraries(facts.profile.tree)].sum()) / facts.total
    if tuned >= common()["most"].value:
        return f"tuned libraries do {numbers.percent(tuned)} of it"
    largest = float(facts.by_function(facts.time)[1].max(initial=0.0)) / facts.total
    # Without places above the sampling error nothing is known of how the work is spread.
    if 0 < largest < common()["dominating"].value:
        return f"no place has more than {numbers.percent(largest)}"
    return ""


def _device_work(facts: Facts, ranked: Sequence[Draft]) -> str:
    """That kernels are at a limit, spread out, or those of tuned libraries, in words."""
    limit = _at_the_limit(ranked)
    if limit:
        return limit
    kernels = facts.traced.kernels()
    whole = sum(kernel.seconds for kernel in kernels)
    if not whole:
        return ""
    tuned = sum(kernel.seconds for kernel in kernels if is_tuned_kernel(kernel.name)) / whole
    if tuned >= common()["most"].value:
        return f"kernels of tuned libraries have {numbers.percent(tuned)} of the kernels' time"
    largest = max(kernel.seconds for kernel in kernels) / whole
    if largest < common()["dominating"].value:
        return f"no kernel has more than {numbers.percent(largest)}"
    return ""


def is_about_devices(facts: Facts, findings: Sequence[Finding]) -> bool:
    """True where a timeline tells what devices do, and the verdict is about their kernels."""
    told = not findings or cause(findings[0].cause).family == "gpu-kernel"
    return told and has_good_timeline(facts) and "gpu.time" in facts.profile.metrics


def headline_of(facts: Facts, findings: Sequence[Finding]) -> str:
    """Where the time is, in one sentence, where no cause was found that is worth removing; and what was predicted of its kernels."""
    predicted = next((each.suspected for each in findings if each.cause == "gpu-kernel-bound" and each.suspected), ())
    if not predicted:
        return _headline(facts, findings)
    title = cause(predicted[0]).title
    return f"{_headline(facts, findings)} Predicted, not measured: {title[0].lower()}{title[1:]}."


def _headline(facts: Facts, findings: Sequence[Finding]) -> str:
    if has_good_timeline(facts):
        return healthy_headline(facts.traced)
    if findings and is_limit(findings[0].cause):
        return f"{findings[0].summary} The machine does this as fast as it can; only doing less would be faster."
    if no_core := _without_cores(facts):
        return no_core
    hot = next((finding for finding in findings if cause(finding.cause).where_only), None)
    if hot is None:
        return _largest(facts)
    if hot.cause == "gpu-kernel-bound" and not facts.has_host_time:
        part = device.kernels(facts.profile)[0].seconds / facts.profile.total("gpu.kernel.time")
        most = "most of it" if part >= common()["most"].value else f"{numbers.percent(part)} of it"
        work = facts.device_work
        known = "The profile does not show whether the device was idle in between, or what the host did."
        if work is not None:
            busy = intervals.length(work) / int(work[1][-1] - work[0][0])
            known = f"The device was busy for {numbers.percent(busy)} of the time from its first to its last operation; what the host did was not recorded."
        return (
            f"No cause was found: kernels have {numbers.percent(hot.share)} of the device's busy time, {most} "
            f"{hot.where.kernel or hot.where.function}. {known}"
        )
    if hot.cause == "hot-compute":
        computes = f"The program computes, mostly in {hot.where.function} ({numbers.percent(hot.share)}), and no cause was found"
    else:
        computes = f"{hot.summary.rstrip('.')}, and no cause was found"
    if hot.suspected and hot.cause != "gpu-kernel-bound":
        title = cause(hot.suspected[0]).title
        return f"{computes} by measurement; its source suggests {title[0].lower()}{title[1:]}."
    waiting = facts.share(*_WAITING_OR_IO) if facts.profile.time is not None and facts.total else 0.0
    time = facts.profile.time
    # So little waiting that a CPU clock saw says nothing about the waiting that it did not see, and counts see none.
    if time is not None and not facts.profile.sees_waiting and waiting < common()["hardly_any"].value:
        unseen = "Its clock stops while a thread waits, so waiting is invisible" if time.clock == Clock.CPU else _UNSEEN
        return f"{computes}. {unseen}."
    if facts.profile.timed and not (facts.activities.call >= 0).any():
        return f"{computes}. {_UNSEEN_INSIDE}."
    joins = " besides waiting for threads to end" if facts.share(Activity.JOIN) >= common()["hardly_any"].value else ""
    return f"{computes}; {numbers.percent(waiting)} of the time is waiting or input and output{joins}."


def _largest(facts: Facts) -> str:
    """The place with most of the time, where none of them is hot."""
    nothing = "No cause was found for what takes the time"
    if not facts.has_host_time:
        return f"{nothing}."
    setup = facts.share(Activity.MPI_SETUP)
    if setup >= common()["most"].value:
        return f"MPI start-up and shutdown take {numbers.percent(setup)} of the time, once per run: no cause was found in the rest."
    # Of threads of which others are idle for want of work, what they do says more than that they wait.
    working = facts.concurrency is not None
    weight = np.where(facts.activities.of(Activity.MPI_SETUP), 0.0, facts.time)
    if working:
        weight = np.where(at_work(facts), weight, 0.0)
    hot = facts.hot_place(weight)
    if hot is None or hot.place.function is None or hot.weight in (0.0, inf):
        return f"{nothing}."
    share = numbers.percent(hot.weight / (weight.sum() if working else facts.total))
    of = " of the time in which threads work" if working else ""
    return f"{nothing}; the hottest function, {hot.place.function}, has {share}{of}."
