"""GPU timelines: what devices wait for: compiling, allocating, MPI, the host's other work (launches: gpu_launches).

Which idle stretch belongs to which is decided in chathpc.diagnosis.gaps; no second is counted twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.doing import Doing, doing_in, parts_in
from chathpc.diagnosis.draft import Draft
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.gaps import Gaps, Stretch
from chathpc.diagnosis.host_calls import HostCall, is_compilation
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.rules.mpi import is_collective
from chathpc.diagnosis.timeline_facts import HostPart, TimelineFacts, seconds
from chathpc.diagnosis.timeline_words import idle_fact, lasting, measured, site, slowed, window, window_words
from chathpc.profile import intervals, numbers
from chathpc.profile.timeline import LaneKind

#: Kinds of calls and ranges that are looked at for those that compile, and for what a late rank does: those with most time.
_LOOKED_AT, _LATE = 50, 10


#: Compilers at run time, by the names of their calls and ranges, and what makes each compile less.
_COMPILERS = (
    (
        re.compile(r"(?i)inductor|dynamo"),
        "Cache what torch.compile produces (TORCHINDUCTOR_CACHE_DIR on persistent storage), and compile once for changing shapes: "
        "torch.compile(dynamic=True), torch._dynamo.mark_dynamic.",
    ),
    (
        re.compile(r"(?i)triton|autotun"),
        "Keep Triton's kernels between runs (TRITON_CACHE_DIR on persistent storage), and give @triton.autotune fewer configurations.",
    ),
    (
        re.compile(r"(?i)nvrtc|hiprtc|nvjitlink"),
        "Keep the binary that NVRTC or hipRTC produces (nvrtcGetCUBIN, hiprtcGetCode) in a file by the source's hash, or compile in "
        "another thread before it is needed.",
    ),
    (
        re.compile(r"(?:Module|Library)Load"),
        "Load only what runs: CUDA_MODULE_LOADING=LAZY, and code for the device at hand in the binary.",
    ),
)


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
        part
        for part in timeline.host_in(stretch, LaneKind.API, LaneKind.RANGE, most=_LOOKED_AT)
        if is_compilation(part.name)
    ]
    place = site(timeline, parts[0].node) if parts else Place()
    called = parts[0].short if parts else "compilation"
    elapsed = numbers.seconds(whole / len(timeline.devices))
    words = f"the {elapsed} from its first call on" if early else window_words(timeline)
    evidence = [
        lasting(
            timeline,
            cost,
            "compiling or loading of kernels while the device is idle",
            "idle time of the device inside ranges and calls that compile or load code",
            "host.time",
            of=Quantity(cost / share, "s", "work and preparation") if early else window(timeline),
            parts=(Part("before the first operation", early, "s"),) if early else (),
            where=place,
        ),
        *(_part(timeline, part, cost, "union of its intervals in the gaps") for part in parts[:3]),
        lasting(timeline, timeline.busy, "the device's work", "union of all operations", "gpu.time"),
    ]
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Compiling or loading kernels while the program runs ({called}) takes {numbers.percent(share)} of {words}.",
        cost=cost,
        share=share,
        evidence=tuple(evidence),
        signs=2,
        against=("It is paid once per process; measure after the first step to see the steady state.",),
        advice=tuple(advice for kind, advice in _COMPILERS if any(kind.search(part.name) for part in parts)),
        samples=0,
    )


def _part(timeline: TimelineFacts, part: HostPart, cost: float, how: str, *parts: Part) -> Fact:
    """What one kind of call or range has of a cost."""
    of = Quantity(cost, "s")
    return lasting(timeline, part.seconds, part.short, how, "host.time", of=of, form=Form.NAME, parts=parts)


def allocation(facts: Facts) -> Iterable[Draft]:
    """Device memory that is allocated and freed again and again between operations."""
    timeline, gaps = facts.traced, facts.gaps
    if "allocation" not in gaps.claimed:
        return
    entry = cause("gpu-allocation-in-loop")
    cost, share = gaps.seconds("allocation"), gaps.share("allocation")
    calls = timeline.count(HostCall.ALLOCATION)
    number = gaps.gaps("allocation")
    parts = parts_in(gaps.stretches("allocation"), LaneKind.API)
    place = site(timeline, parts[0].node) if parts else Place()
    pinned = bool(parts) and "Host" in parts[0].name
    looped = number >= entry.threshold("min_gaps")
    idle = f"the device idle for {numbers.percent(share)} of {window_words(timeline)}"
    yield Draft(
        cause=entry.id,
        where=place,
        title=f"{'Pinned host' if pinned else 'Device'} memory allocated {'in a loop' if looped else 'between operations'}",
        summary=f"{numbers.count(calls)} calls that allocate or free memory between operations leave {idle}.",
        cost=cost,
        share=share,
        evidence=(
            lasting(
                timeline,
                cost,
                "idle time of the device in calls that allocate or free memory",
                "idle time inside these calls",
                "host.time",
                parts=(Part("in", number, "gaps"),),
                where=place,
            ),
            measured(
                timeline,
                Kind.COUNT,
                calls,
                subject="the time between the first and the last operation",
                unit="calls of them",
                metric="calls.count",
                how="number of calls",
            ),
        ),
        signs=2,
        samples=0,
        fits="pinned" if pinned else "",
    )


def communication(facts: Facts) -> Iterable[Draft]:
    """MPI calls in which the device is idle."""
    timeline, gaps = facts.traced, facts.gaps
    if "mpi" not in gaps.claimed:
        return
    stretches = gaps.stretches("mpi")
    cost, share = gaps.seconds("mpi"), gaps.share("mpi")
    parts = parts_in(stretches, LaneKind.MPI) or parts_in(stretches, LaneKind.API)
    if not parts:
        return
    collective = sum(part.seconds for part in parts if is_collective(part.name))
    identifier = (
        "mpi-collective-wait"
        if collective > common()["most"].value * sum(part.seconds for part in parts)
        else "mpi-communication-bound"
    )
    spent = sum(seconds(timeline.clipped(side.calls(HostCall.MPI))) for side, _ in stretches)
    several = len(stretches) > 1
    place = site(timeline, parts[0].node)
    late = _late(stretches, gaps)
    why = (
        f"; {late.subject} takes {numbers.seconds(late.value)}, mostly {late.parts[0].label}"
        if late is not None
        else ""
    )
    yield Draft(
        cause=identifier,
        where=place,
        summary=f"The device waits for MPI in {numbers.percent(share)} of {window_words(timeline)}, most of it in {parts[0].short}{why}.",
        cost=cost,
        share=share,
        evidence=(
            lasting(
                timeline,
                cost,
                f"idle time of {'the devices' if several else 'the device'} while the host is in MPI",
                "union of MPI calls without MPI_Init and MPI_Finalize, inside idle time of the device",
                "host.time",
                parts=(Part("MPI in all", spent, "s"),) if cost < common()["nearly_all"].value * spent else (),
                where=place,
            ),
            *(
                _part(timeline, part, cost, "union of its calls inside idle time", Part("", part.calls, "calls"))
                for part in parts[:3]
            ),
            *((late,) if late is not None else ()),
        ),
        signs=2 if late is None else 3,
        against=("From one rank alone, sending data and waiting for a late partner look the same.",)
        if late is None
        else (),
        samples=0,
    )


def _late(stretches: list[Stretch], gaps: Gaps) -> Fact | None:
    """What the rank for which others wait in MPI does meanwhile: the one whose device is least idle in MPI."""
    if len(stretches) < FEW_RANKS:
        return None
    by_length = sorted(stretches, key=lambda each: seconds(each[1]))
    late, least = by_length[0]
    longest, most = by_length[-1][1], common()["most"].value
    if seconds(least) > most * seconds(longest):
        return None
    spans = intervals.subtract(longest, late.calls(HostCall.MPI))
    parts = [part for part in late.host_in(spans, most=_LATE) if part.seconds >= most * seconds(spans)]
    device = next(each for each in gaps.timeline.devices if gaps.timeline.side(each) is late)
    busy = seconds(intervals.intersect(device.busy, spans))
    if busy > most * seconds(spans):
        doing, amount = "work of its device", busy
    elif parts:
        doing, amount = parts[0].short, parts[0].seconds
    else:
        return None
    return measured(
        gaps.timeline,
        Kind.AMOUNT,
        amount,
        subject=f"what the rank of GPU {device.ordinal} does while others wait for it in MPI",
        parts=(Part(doing),),
        metric="host.time",
        how="MPI calls of the rank that waits most, minus those of the rank that waits least",
        where=site(late, parts[0].node) if parts else None,
    )


#: What to do where devices take turns.
_AT_ONCE = (
    "Let the devices work concurrently: divide the data among them instead of the steps, or cut each batch into parts, so that one device works "
    "on the next part while another finishes the one before (pipelining)."
)


def taking_turns(facts: Facts) -> Iterable[Draft]:
    """Devices of one process that work one after the other."""
    timeline, gaps = facts.traced, facts.gaps
    if not gaps.take_turns:
        return
    entry = cause("multi-gpu-imbalance")
    part = gaps.turns
    share = timeline.share(timeline.idle * part)
    yield Draft(
        cause=entry.id,
        where=Place(function=f"GPU {timeline.devices[0].ordinal}"),
        summary=f"The devices take turns: each is idle for {numbers.percent(share)} of {window_words(timeline)} while another works.",
        cost=timeline.idle * part,
        share=share,
        evidence=(
            idle_fact(timeline),
            measured(
                timeline,
                Kind.SHARE,
                part,
                subject="work of another device",
                whole=Quantity(of="the time in which a device is idle"),
                unit="ratio",
                metric="gpu.time",
                how="idle time of each device inside the busy time of the others",
            ),
        ),
        signs=2,
        advice=(_AT_ONCE,),
        against=("One device may need what the other computes; then only more independent work helps.",),
        samples=0,
    )


def host_bound(facts: Facts) -> Iterable[Draft]:
    """The device has nothing to do while the host works."""
    timeline, gaps = facts.traced, facts.gaps
    entry, limit = cause("gpu-idle-host-bound"), common()
    if gaps.take_turns:
        return
    prepared = gaps.prepared_share
    cost, share = gaps.seconds(*gaps.unclaimed), gaps.host_share
    if share < entry.threshold("min_share"):
        return
    stretches, early = gaps.stretches(*gaps.unclaimed), seconds(timeline.preparing)
    words = window_words(timeline)
    evidence = [idle_fact(timeline)]
    if prepared:
        stretches = [(side, intervals.union_of(spans, side.preparing)) for side, spans in stretches]
        cost += early * len(timeline.devices)
        words = f"the {numbers.seconds(timeline.window + early)} of preparation and work"
        evidence.append(
            measured(
                timeline,
                Kind.AMOUNT,
                early,
                subject="preparation before the first operation, without calls of the runtime,",
                metric="host.time",
                how="named ranges before the first operation, without calls inside them",
            )
        )
    elif cost < limit["nearly_all"].value * timeline.idle:
        evidence.append(
            lasting(
                timeline,
                cost,
                "idle time that belongs to the host's own work",
                "idle time without what launches, waits, compiling and MPI explain",
                "gpu.time",
                of=Quantity(timeline.idle, "s"),
                parts=(Part("in", gaps.gaps(*gaps.unclaimed), "gaps"),),
            )
        )
    doing = doing_in(facts, stretches)
    if doing.evidence is not None:
        evidence.append(doing.evidence)
    number, waited = gaps.gaps(*gaps.unclaimed), gaps.behind_waits
    if waited > limit["most"].value * number and number >= limit["few_launches"].value:
        evidence.append(
            measured(
                timeline,
                Kind.VALUE,
                waited,
                subject="the number of gaps right after the host waited for the device, so that it cannot work ahead,",
                whole=Quantity(number, "count"),
                unit="count",
                metric="gpu.sync.time",
                how="gaps that begin inside a synchronising call or a blocking copy",
            )
        )
    against, impact = (*doing.against, *slowed(timeline)), None
    if prepared:
        against = (*against, "What is prepared before the first operation is paid once per run.")
    pause = False
    many = timeline.operations >= limit["min_operations"].value
    if many and not prepared and len(timeline.devices) == 1 and timeline.longest_idle > limit["most"].value * cost:
        pause = True
        beside = timeline.busy / (timeline.window - timeline.longest_idle)
        begin, end = timeline.devices[0].idle
        longest = slice(at := int((end - begin).argmax()), at + 1)
        calls = timeline.host_in((begin[longest], end[longest]), LaneKind.API, LaneKind.RANGE, most=_LOOKED_AT)
        loads = next((f" ({part.short} is called in it)" for part in calls if is_compilation(part.name)), "")
        against = (
            f"One gap of {numbers.seconds(timeline.longest_idle)} is most of it: a pause or start-up{loads}, not steady state; apart from it the "
            f"device works for {numbers.percent(min(beside, 1.0))} of the time.",
            *against,
        )
    # Ranks that wait for others in collectives win nothing from idle time of their own that goes.
    waits, exposed = timeline.spent(LaneKind.COLLECTIVE), timeline.share(timeline.exposed(LaneKind.COLLECTIVE))
    nccl = cause("nccl-bound")
    if waits >= nccl.threshold("dominant_part") * timeline.busy and exposed >= nccl.threshold("min_share"):
        impact = min(share * entry.headroom, limit["behind"].value * exposed * nccl.headroom)
        against = (
            *against,
            f"The device spends {numbers.percent(min(waits / timeline.busy, 1.0))} of its busy time in collectives: a rank that waits for "
            "others has time to spare.",
        )
    yield Draft(
        cause=entry.id,
        where=doing.where,
        summary=_idle_words(
            f"idle for {numbers.percent(share)} of {words}",
            doing,
            pause=timeline.longest_idle if pause else 0.0,
        ),
        cost=cost,
        share=share,
        evidence=tuple(evidence),
        signs=2 if doing.name else 1,
        against=against,
        impact=impact,
        samples=0,
    )


def _idle_words(idle: str, doing: Doing, *, pause: float) -> str:
    """That devices are idle, and what is known of the host meanwhile, as a sentence."""
    idle = f"The device is {idle}"
    if pause:
        idle += f", most of it in one pause of {numbers.seconds(pause)},"
    if doing.name is None:
        return f"{idle.rstrip(',')}; what the host does meanwhile was not recorded."
    if doing.waiting:
        return f"{idle} while the host waits in {doing.name} although no operation of the device was recorded."
    if doing.idle:
        return f"{idle} while the host itself waits for something else, most of the time in {doing.name}."
    return f"{idle} while the host works, most of the time in {doing.name}."


#: Two ranks or devices make a comparison.
FEW_RANKS = 2

RULES = (compilation, allocation, communication, taking_turns, host_bound)
