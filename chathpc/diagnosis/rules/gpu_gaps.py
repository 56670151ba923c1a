"""GPU timelines: what devices wait for: compiling, allocating, MPI, launching, synchronising, the host's other work.

Which idle stretch belongs to which is decided in chathpc.diagnosis.gaps; no second is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.draft import Draft, fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.host_calls import HostCall, host_call, is_blocking_copy, is_compilation, is_waiting
from chathpc.diagnosis.records import Evidence, Place
from chathpc.diagnosis.rules.mpi import is_collective
from chathpc.diagnosis.timeline_facts import HostPart, TimelineFacts, longest, seconds
from chathpc.diagnosis.timeline_words import counted, idle_fact, item, kernel_site, of_window, site, window_words
from chathpc.profile import intervals, numbers
from chathpc.profile.intervals import Intervals
from chathpc.profile.timeline import LaneKind

#: More than this part of something is most of it.
_MOST = 0.5
#: What the host does in the gaps is named from this part of them on.
_NAMED = 0.1
_HOST_LANES = (LaneKind.API, LaneKind.MPI, LaneKind.RANGE)


@dataclass(frozen=True, slots=True)
class _Doing:
    """What the host does while devices are idle: place and name of the longest part, the evidence, and the doubts."""

    where: Place
    name: str | None
    evidence: Evidence | None
    against: tuple[str, ...]


def _parts(timeline: TimelineFacts, spans: Intervals, *kinds: LaneKind) -> list[HostPart]:
    """What the host did in a stretch, what is worth naming."""
    whole = seconds(spans)
    parts = timeline.host_in(spans, *(kinds or _HOST_LANES), most=50)
    named = (part for part in parts if part.kind != LaneKind.OS or not is_waiting(part.name))
    return [part for part in named if whole and part.seconds >= _NAMED * whole]


def _in_words(parts: list[HostPart], whole: float) -> str:
    """`in nvrtc 352 ms (88.6 %), in cudaMalloc 20 ms (5 %)`."""
    return ", ".join(
        f"in {part.short} {numbers.seconds(part.seconds)} ({numbers.percent(min(part.seconds / whole, 1.0))})"
        for part in parts[:3]
    )


def _doing(facts: Facts, timeline: TimelineFacts, spans: Intervals) -> _Doing:
    """What the host did while devices were idle: calls and ranges, else calls of the operating system, else its samples."""
    gaps, spans = "these gaps", longest(every := spans)
    if len(spans[0]) < len(every[0]):
        gaps = f"the {numbers.count(len(spans[0]))} longest of these gaps"
    whole = seconds(spans)
    parts = _parts(timeline, spans) or _parts(timeline, spans, LaneKind.OS)
    if not parts:
        return _sampled(facts)
    # A call that fills most of the gaps says more than the range around it.
    calls = [part for part in parts if part.kind != LaneKind.RANGE and part.seconds >= _MOST * whole]
    parts = calls[:1] + [part for part in parts if part not in calls[:1]]
    first = parts[0]
    where = site(timeline, first.node)
    evidence = item(
        timeline,
        f"In {gaps}, {numbers.seconds(whole)}, the host is {_in_words(parts, whole)}.",
        first.seconds,
        metric="host.time",
        subject=first.short,
        how="union of the innermost ranges and calls inside the gaps, by name",
        where=where,
    )
    waited = seconds(intervals.intersect(timeline.waiting, spans))
    against: tuple[str, ...] = ()
    if waited >= _MOST * whole:
        against = (
            f"In {numbers.percent(min(waited / whole, 1.0))} of the gaps the host waits for the device although nothing runs there: "
            "operations may be missing in the trace.",
        )
    return _Doing(where, first.short, evidence, against)


def _sampled(facts: Facts) -> _Doing:
    """Where the samples of the host are, which tell what it does but not when."""
    untraced = "What the host does meanwhile was not traced."
    hot = facts.hot_place(facts.time) if facts.has_host_time else None
    if hot is None:
        return _Doing(Place(), None, None, (untraced,))
    name = str(hot.place.function)
    part = hot.weight / facts.total
    evidence = fact(
        facts,
        f"{name} has {numbers.percent(part)} of {facts.whole} of the host, over the whole recording.",
        part,
        unit="ratio",
        subject=name,
        how="time in and called by the function",
        where=hot.place,
    )
    return _Doing(hot.place, name, evidence, ("Samples tell what the host does, but not that it does so in the gaps.",))


def compilation(facts: Facts) -> Iterable[Draft]:
    """Kernels are compiled or loaded while the device waits."""
    timeline, gaps = facts.traced, facts.gaps
    entry = cause("jit-compilation")
    inside = gaps.spans("compilation")
    before = timeline.before
    early = seconds(intervals.intersect(timeline.compiling, before)) * len(timeline.devices)
    cost = gaps.seconds("compilation") + early
    whole = timeline.device_seconds + seconds(before) * len(timeline.devices)
    share = min(cost / whole, 1.0)
    if gaps.share("compilation") >= entry.threshold("min_share"):
        cost, whole = gaps.seconds("compilation"), timeline.device_seconds
        share, early = timeline.share(cost), 0.0
    elif share < entry.threshold("min_share"):
        return
    stretch = intervals.union_of(inside, before) if early else inside
    parts = [
        part for part in timeline.host_in(stretch, LaneKind.API, LaneKind.RANGE, most=50) if is_compilation(part.name)
    ]
    place = site(timeline, parts[0].node) if parts else Place()
    called = parts[0].short if parts else "compilation"
    begun = "from its first call on" if early else ""
    words = f"the {numbers.seconds(whole / len(timeline.devices))} {begun}".strip() if early else window_words(timeline)
    evidence = [
        item(
            timeline,
            f"The host compiles or loads kernels for {numbers.seconds(cost)} while the device is idle"
            f"{f', {numbers.seconds(early)} of it before the first operation' if early else ''}"
            f" ({numbers.percent(share)} of {words}).",
            cost,
            metric="host.time",
            subject="compilation",
            how="idle time of the device inside ranges and calls that compile or load code",
            where=place,
        ),
        *(
            item(
                timeline,
                f"{part.short} has {numbers.seconds(part.seconds)} of it.",
                part.seconds,
                metric="host.time",
                subject=part.short,
                how="union of its intervals in the gaps",
            )
            for part in parts[:3]
        ),
        item(
            timeline,
            f"The device works for {of_window(timeline, timeline.busy)}.",
            timeline.busy,
            metric="gpu.time",
            subject="device",
            how="union of all operations",
        ),
    ]
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Compiling or loading kernels while the program runs ({called}) takes {numbers.percent(share)} of {words}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=tuple(evidence),
        signs=2,
        against=("It is paid once in a process; measure after the first step to see the steady state.",),
        samples=0,
    )


def allocation(facts: Facts) -> Iterable[Draft]:
    """Device memory that is allocated and freed again and again between operations."""
    timeline, gaps = facts.traced, facts.gaps
    if "allocation" not in gaps.claimed:
        return
    entry = cause("gpu-allocation-in-loop")
    cost, share = gaps.seconds("allocation"), gaps.share("allocation")
    calls = timeline.count(HostCall.ALLOCATION)
    number = gaps.allocations
    parts = _parts(timeline, gaps.spans("allocation"), LaneKind.API)
    place = site(timeline, parts[0].node) if parts else Place()
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Memory is allocated and freed {counted(calls, 'time')} between operations, which leaves the device idle for "
        f"{numbers.percent(share)} of {window_words(timeline)}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(
            item(
                timeline,
                f"In calls that allocate or free memory the device is idle for {of_window(timeline, cost)}, in {counted(number, 'gap')}.",
                cost,
                metric="host.time",
                subject="allocation",
                how="idle time inside these calls",
                where=place,
            ),
            item(
                timeline,
                f"{counted(calls, 'call')} begin between the first and the last operation.",
                calls,
                unit="count",
                metric="calls.count",
                subject="calls that allocate",
                how="number of calls",
            ),
        ),
        signs=2,
        samples=0,
    )


def communication(facts: Facts) -> Iterable[Draft]:
    """MPI calls in which the device is idle."""
    timeline, gaps = facts.traced, facts.gaps
    if "mpi" not in gaps.claimed:
        return
    spans = gaps.spans("mpi")
    cost, share = gaps.seconds("mpi"), gaps.share("mpi")
    parts = _parts(timeline, spans, LaneKind.MPI) or _parts(timeline, spans, LaneKind.API)
    if not parts:
        return
    collective = sum(part.seconds for part in parts if is_collective(part.name))
    identifier = (
        "mpi-collective-wait" if collective > _MOST * sum(part.seconds for part in parts) else "mpi-communication-bound"
    )
    entry = cause(identifier)
    spent = seconds(timeline.clipped(timeline.mpi))
    place = site(timeline, parts[0].node)
    yield Draft(
        cause=identifier,
        where=place,
        summary=f"The device waits for MPI in {numbers.percent(share)} of {window_words(timeline)}, most of it in {parts[0].short}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(
            item(
                timeline,
                f"The host is in MPI for {numbers.seconds(spent)} of the window of {numbers.seconds(timeline.window)}; "
                f"the device is idle for {numbers.seconds(cost)} of it.",
                cost,
                metric="host.time",
                subject="MPI",
                how="union of MPI calls without MPI_Init and MPI_Finalize, inside idle time of the device",
                where=place,
            ),
            *(
                item(
                    timeline,
                    f"{part.short} takes {numbers.seconds(part.seconds)} of it in {counted(part.calls, 'call')}.",
                    part.seconds,
                    metric="host.time",
                    subject=part.short,
                    how="union of its calls inside idle time",
                )
                for part in parts[:3]
            ),
        ),
        signs=2,
        against=("From one rank alone, sending data and waiting for a late partner look the same.",),
        samples=0,
    )


def launching(facts: Facts) -> Iterable[Draft]:
    """Kernels that are shorter than what it takes to launch the next one."""
    timeline, gaps = facts.traced, facts.gaps
    if "launch" not in gaps.claimed:
        return
    entry = cause("gpu-launch-bound")
    cost, share = gaps.seconds(*gaps.launch_reasons), gaps.share(*gaps.launch_reasons)
    number = gaps.count(*gaps.launch_reasons)
    kernels = timeline.kernels()
    launches = sum(kernel.launches for kernel in kernels)
    most = max(kernels, key=lambda kernel: (kernel.launches, kernel.seconds), default=None)
    place = kernel_site(timeline, most) if most else Place()
    spans = gaps.spans(*gaps.launch_reasons)
    in_calls = seconds(intervals.intersect(timeline.calls(HostCall.LAUNCH), spans))
    in_launches = gaps.seconds("launch") > _MOST * cost
    evidence = [
        item(
            timeline,
            f"{counted(launches, 'kernel launch')} run {numbers.seconds(gaps.mean_kernel)} on average, "
            f"{numbers.seconds(timeline.computing)} together.",
            gaps.mean_kernel,
            metric="gpu.kernel.time",
            subject="kernels",
            how="sum of durations / launches",
            where=place,
        ),
        item(
            timeline,
            f"Between them the device is idle for {of_window(timeline, cost)} in {counted(number, 'gap')}, "
            f"{numbers.seconds(cost / max(number, 1))} each.",
            cost,
            metric="gpu.time",
            subject="gaps between kernels",
            how="idle stretches that launch calls cover, or that are short beside kernels that are shorter",
        ),
    ]
    signs = 1
    if in_calls >= _NAMED * seconds(spans):
        signs = 2
        evidence.append(
            item(
                timeline,
                f"In {numbers.seconds(in_calls)} of these gaps the host is in launch calls.",
                in_calls,
                metric="host.time",
                subject="launch calls",
                how="union of launch calls inside the gaps",
            )
        )
    doing = _doing(facts, timeline, spans).evidence
    if doing is not None:
        signs = 2
        evidence.append(doing)
    few = launches < _FEW_LAUNCHES
    start_up = (
        f"The first launches take {numbers.seconds(in_calls)} to load code and make the device ready: "
        if few and in_launches
        else ""
    )
    against = (
        (
            f"Only {counted(launches, 'launch')} {'was' if launches == 1 else 'were'} recorded: this is the start of a run, not its steady state.",
        )
        if few
        else ()
    )
    middle = (
        f"the device is idle for {numbers.percent(share)} of {window_words(timeline)} while kernels are launched"
        if in_launches
        else f"kernels run {numbers.seconds(gaps.mean_kernel)} on average and the device waits for the next launch in "
        f"{numbers.percent(share)} of {window_words(timeline)}"
    )
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"{start_up}{middle}." if start_up else f"{middle[0].upper()}{middle[1:]}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_idle_share"),
        evidence=tuple(evidence),
        signs=signs,
        against=against,
        samples=0,
    )


#: Fewer launches than this are the start of a run.
_FEW_LAUNCHES = 20


def synchronising(facts: Facts) -> Iterable[Draft]:
    """The host waits for each kernel before it launches the next, and the device waits for the host after each."""
    timeline, gaps = facts.traced, facts.gaps
    if "sync" not in gaps.claimed:
        return
    entry = cause("gpu-sync-overuse")
    cost, share, number = gaps.seconds("sync"), gaps.share("sync"), gaps.count("sync")
    waits = timeline.count(HostCall.WAIT)
    spans = gaps.spans("sync")
    after = intervals.union(spans[0] - 1, spans[1])
    parts = [part for part in timeline.host_in(after, LaneKind.API, most=20) if part.seconds > 0]
    waiting = [part for part in parts if host_call(part.name) == HostCall.WAIT or is_blocking_copy(part.name)]
    place = site(timeline, waiting[0].node) if waiting else Place()
    name = waiting[0].short if waiting else "a synchronising call"
    launches = sum(kernel.launches for kernel in timeline.kernels())
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"The host waits for the device ({name}) before it issues more: {numbers.percent(share)} of {window_words(timeline)} "
        f"is idle behind {counted(number, 'wait')}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(
            item(
                timeline,
                f"After operations for which the host waits the device is idle for {of_window(timeline, cost)}, "
                f"{numbers.seconds(cost / max(number, 1))} each time.",
                cost,
                metric="gpu.time",
                subject="gaps behind waits",
                how="short idle stretches that begin while the host waits for the device",
                where=place,
            ),
            item(
                timeline,
                f"{counted(waits, 'synchronising call')} stand beside {counted(launches, 'kernel launch')}.",
                waits,
                unit="count",
                metric="gpu.sync.time",
                subject="synchronising calls",
                how="number of calls in the window",
            ),
        ),
        signs=2,
        against=("Where the host needs the result to go on, the wait itself must stay.",),
        samples=0,
    )


def host_bound(facts: Facts) -> Iterable[Draft]:
    """The device has nothing to do while the host works."""
    timeline, gaps = facts.traced, facts.gaps
    entry = cause("gpu-idle-host-bound")
    prepared = gaps.prepared_share
    cost, share = gaps.seconds(*gaps.unclaimed), max(gaps.share(*gaps.unclaimed), prepared)
    if share < entry.threshold("min_share"):
        return
    spans, early = gaps.spans(*gaps.unclaimed), seconds(timeline.preparing)
    words = window_words(timeline)
    evidence = [idle_fact(timeline)]
    if prepared:
        spans = intervals.union_of(spans, timeline.preparing)
        cost += early * len(timeline.devices)
        words = f"the {numbers.seconds(timeline.window + early)} of preparation and work"
        evidence.append(
            item(
                timeline,
                f"Before the first operation the program prepares for {numbers.seconds(early)}, calls of the runtime not counted.",
                early,
                metric="host.time",
                subject="preparation",
                how="named ranges before the first operation, without calls inside them",
            )
        )
    elif cost < 0.95 * timeline.idle:
        evidence.append(
            item(
                timeline,
                f"{numbers.seconds(cost)} of it in {counted(gaps.count(*gaps.unclaimed), 'gap')} belong to the host's own work.",
                cost,
                metric="gpu.time",
                subject="gaps of the device",
                how="idle time without what launches, waits, compiling and MPI explain",
            )
        )
    doing = _doing(facts, timeline, spans)
    if doing.evidence is not None:
        evidence.append(doing.evidence)
    number, waited = gaps.count(*gaps.unclaimed), gaps.behind_waits
    if waited > _MOST * number and number >= _FEW_LAUNCHES:
        evidence.append(
            item(
                timeline,
                f"{numbers.count(waited)} of {counted(number, 'gap')} begin when the host has just waited for the device, so it cannot work ahead.",
                waited,
                unit="count",
                metric="gpu.sync.time",
                subject="gaps behind waits",
                how="gaps that begin inside a synchronising call or a blocking copy",
            )
        )
    against, impact = doing.against, None
    many = timeline.operations >= common()["min_operations"].value
    if many and not prepared and len(timeline.devices) == 1 and timeline.longest_idle > _MOST * cost:
        beside = timeline.busy / (timeline.window - timeline.longest_idle)
        against = (
            *against,
            f"One gap of {numbers.seconds(timeline.longest_idle)} is most of it: a pause or a start, no steady state; beside it the device works "
            f"for {numbers.percent(min(beside, 1.0))} of the time.",
        )
    # Ranks that wait for others in collectives win nothing from idle time of their own that goes.
    waits, exposed = timeline.spent(LaneKind.COLLECTIVE), timeline.share(timeline.exposed(LaneKind.COLLECTIVE))
    nccl = cause("nccl-bound")
    if waits >= nccl.threshold("dominant_part") * timeline.busy and exposed >= nccl.threshold("min_share"):
        impact = min(share * entry.headroom, _BEHIND * exposed * nccl.headroom)
        against = (
            *against,
            f"The device spends {numbers.percent(min(waits / timeline.busy, 1.0))} of its busy time in collectives: a rank that waits for "
            "others has time to spare.",
        )
    most = f", most of the time in {doing.name}" if doing.name else ""
    yield Draft(
        cause=entry.id,
        where=doing.where,
        summary=f"The device is idle for {numbers.percent(share)} of {words} while the host works{most}.",
        cost=cost,
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=tuple(evidence),
        signs=2 if doing.name else 1,
        against=against,
        impact=impact,
        samples=0,
    )


#: A finding that another one explains stands behind it.
_BEHIND = 0.9

RULES = (compilation, allocation, communication, launching, synchronising, host_bound)
