"""How findings about timelines are worded: amounts of the window, evidence that several rules share, places, commands."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.fact import Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import readable_function
from chathpc.diagnosis.gpu_tools import counters
from chathpc.diagnosis.gpu_tools import timeline as timeline_command
from chathpc.diagnosis.host_calls import HostCall, host_call, plain
from chathpc.diagnosis.kernel_counters import has_counters
from chathpc.diagnosis.kernel_totals import KernelTotal
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.timeline_facts import Lack, TimelineFacts, seconds
from chathpc.profile import numbers
from chathpc.profile.kernel_names import kernel_title
from chathpc.profile.timeline import COPY_LANES, PYTHON_STACKS, LaneKind
from chathpc.profile.tree import NodeKind


def window_words(timeline: TimelineFacts) -> str:
    """`the 1.10 s window`, with the number of devices where there are several."""
    several = f" of {len(timeline.devices)} devices" if len(timeline.devices) > 1 else ""
    return f"the {numbers.seconds(timeline.window)} window{several}"


def of_work(timeline: TimelineFacts, amount: float) -> str:
    """` (85 % of the device's busy time)` where a device is mostly idle; else nothing."""
    if not timeline.busy or timeline.share(timeline.idle) <= common()["most"].value:
        return ""
    return f" ({numbers.percent(min(amount / timeline.busy, 1.0))} of the device's busy time)"


def counted(number: float, word: str) -> str:
    """`1 launch`, `20 launches`, `20 copies`."""
    plural = word[:-1] + "ies" if word.endswith("py") else word + ("es" if word.endswith(("ch", "s", "x")) else "s")
    return f"{numbers.count(number)} {word if number == 1 else plural}"


def measured(
    timeline: TimelineFacts,
    kind: Kind,
    value: float,
    *,
    subject: str,
    how: str,
    metric: str,
    unit: str = "s",
    form: Form = Form.ONE,
    whole: Quantity | None = None,
    parts: Iterable[Part] = (),
    where: Place | None = None,
) -> Fact:
    """A fact about the timeline; `how` says how the value was computed from its intervals."""
    profile = timeline.profile
    tool = profile.sources[0].tool if profile.sources else profile.format
    return Fact(
        id="", kind=kind, value=float(value), unit=unit, source=f"{tool}, timeline: {how}", subject=subject, form=form, whole=whole,
        parts=tuple(parts), metric=metric, where=where,
    )  # fmt: skip


def window(timeline: TimelineFacts) -> Quantity:
    """The time of the device that others are a part of; of several devices that of all together."""
    several = f"{len(timeline.devices)} devices" if len(timeline.devices) > 1 else ""
    return Quantity(timeline.device_seconds, "s", several)


def lasting(
    timeline: TimelineFacts, value: float, subject: str, how: str, metric: str, *, of: Quantity | None = None, form: Form = Form.ONE,
    parts: Iterable[Part] = (), where: Place | None = None,
) -> Fact:  # fmt: skip
    """An amount of time as a part of the window of all devices, or `of` another time; see `measured`."""
    whole = of or window(timeline)
    return measured(
        timeline, Kind.AMOUNT, value, subject=subject, how=how, metric=metric, form=form, whole=whole, parts=parts, where=where
    )  # fmt: skip


def _is_worth_a_line(part: float, whole: float) -> bool:
    """True if a part is so much of a whole that a sentence names it (`worth_a_line` of common.yaml)."""
    return part >= common()["worth_a_line"].value * whole


def busy_fact(timeline: TimelineFacts) -> Fact:
    """How long kernels compute."""
    return lasting(
        timeline,
        timeline.computing,
        "kernels",
        "union of the intervals of kernels that compute",
        "gpu.kernel.time",
        form=Form.MANY,
    )


def kernel_fact(timeline: TimelineFacts, kernel: KernelTotal, *parts: Part) -> Fact:
    """How long a kernel runs, in how many launches, and `parts` more."""
    return lasting(
        timeline,
        kernel.seconds,
        kernel.short,
        "union of its launches",
        "gpu.kernel.time",
        form=Form.NAME,
        parts=(Part("", kernel.launches, "launches"), *parts),
        where=kernel_site(timeline, kernel),
    )


def idle_fact(timeline: TimelineFacts) -> Fact:
    """How long the device did nothing, neither kernels nor copies."""
    longest = (Part("longest", timeline.longest_idle, "s"),) if timeline.idle else ()
    return lasting(
        timeline,
        timeline.idle,
        "idle time of the device, with neither kernel nor copy,",
        "window without the union of all operations",
        "gpu.time",
        parts=longest,
    )


def exposed_fact(timeline: TimelineFacts, what: str, cost: float, spent: float, *, metric: str) -> Fact:
    """The part of something that no computing kernel hides."""
    return lasting(
        timeline,
        cost,
        f"the part of {what} that no computing kernel overlaps",
        "union without the union of computing kernels",
        metric,
        of=Quantity(spent, "s"),
    )


def waiting_fact(timeline: TimelineFacts) -> Iterable[Fact]:
    """That the host waits for the device, which is a symptom of a busy device."""
    spent = seconds(timeline.clipped(timeline.waiting))
    if not _is_worth_a_line(spent, timeline.window):
        return
    yield measured(
        timeline, Kind.AMOUNT, spent, subject="the host's waiting for the device, an effect and not the cause,",
        metric="gpu.sync.time", how="union of synchronising calls and blocking copies",
    )  # fmt: skip


def slowed(timeline: TimelineFacts) -> tuple[str, ...]:
    """That recording made the host slower, as a doubt about idle time of the device."""
    known = any(text.endswith(PYTHON_STACKS) for text in timeline.profile.caveats)
    return ("Recording Python's call stacks slows the host down: without it the gaps are shorter.",) if known else ()


# -- the whole -----------------------------------------------------------------------------------------------


def too_little(timeline: TimelineFacts, lack: Lack) -> str:
    """Why the timeline allows no conclusion, as a sentence."""
    if lack == Lack.KERNELS:
        return _copies_alone(timeline)
    launches = sum(kernel.launches for kernel in timeline.kernels())
    ran = f", {counted(launches, 'kernel')} among them" if launches else ""
    told = f"({counted(timeline.operations, 'operation')}{ran})"
    record = "record a run that computes for some seconds"
    if lack == Lack.WORK:
        return f"The device worked for {numbers.seconds(timeline.busy)} in total {told}: that is too little for any conclusion; {record}."
    if lack == Lack.TIME:
        return f"The device's work spans {numbers.seconds(timeline.window)} {told}: that is too short for any conclusion; {record}."
    missing = min(timeline.missing / timeline.window, 1.0)
    return (
        f"For {numbers.percent(missing)} of {window_words(timeline)} the host waits for the device although nothing was recorded "
        "there: most of the device's work is missing from the trace (graphs, or a part cut out), so its idle time means nothing."
    )


def _copies_alone(timeline: TimelineFacts) -> str:
    """That copies were recorded and kernels were not."""
    count, volume = timeline.amount(*COPY_LANES)
    moved = f"{counted(count, 'copy')} of {numbers.size(volume)} in total" if volume else counted(count, "copy")
    found = moved if count else counted(timeline.operations, "memory set")
    launched = f", although the host launches {numbers.count(timeline.launches)}" if timeline.launches else ""
    command = timeline_command(timeline.profile)
    if timeline.profile.format.startswith("PyTorch"):
        command = "torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
    return (
        f"The trace holds {found} ({numbers.seconds(timeline.busy)}) but no kernel{launched}: when the device computed is unknown, "
        f"so neither its idle time nor the cost of the copies is known. Record kernels as well: {command}"
    )


def healthy_headline(timeline: TimelineFacts) -> str:
    """That nothing is wrong at the level of the timeline, and what would show more."""
    compute, idle = timeline.share(timeline.computing), timeline.share(timeline.idle)
    start = "No bottleneck found at the timeline level"
    kernels = timeline.kernels()
    if not kernels:
        return f"{start}: the device works for {numbers.percent(timeline.share(timeline.busy))} of {window_words(timeline)}."
    top = kernels[0]
    name, among = largest_instance(timeline, top)
    more = f" Only its counters can show whether the kernel itself is slow: {counters(timeline.profile, name)}"
    inside = timeline.share(timeline.spent(LaneKind.D2D))
    copies = f"copies inside the device {numbers.percent(inside)}, " if _is_worth_a_line(inside, 1.0) else ""
    if only_graphs(timeline):
        return f"{start}: CUDA graphs fill {numbers.percent(compute)} of {window_words(timeline)}, {copies}{numbers.percent(idle)} is idle. {GRAPHS}"
    return (
        f"{start}: kernels fill {numbers.percent(compute)} of {window_words(timeline)}, {copies}{numbers.percent(idle)} is idle; "
        f"the longest is {top.short} ({numbers.percent(timeline.share(top.seconds))}{among}).{'' if has_counters(timeline.profile) else more}"
    )


def largest_instance(timeline: TimelineFacts, kernel: KernelTotal) -> tuple[str, str]:
    """The name to measure a kernel by, and what to say with its share: where it is many instances of a template, the one with most time."""
    tree, time = timeline.profile.tree, timeline.profile.has("gpu.kernel.time")
    name = (
        plain(tree.names[tree.name[kernel.node]]) if kernel.node >= 0 and tree.name[kernel.node] >= 0 else kernel.name
    )
    if not time or name == kernel.name:
        return kernel.name, ""
    spent = timeline.profile.dense("gpu.kernel.time")[tree.name == tree.name[kernel.node]].sum()
    return (
        name,
        f" in all its instances, the largest is {kernel_title(name)} with {numbers.percent(timeline.share(float(spent)))}",
    )


#: What to do where only whole graphs were recorded.
GRAPHS = (
    "To see which kernels run in them, and how much time lies between them: nsys profile --cuda-graph-trace=node ./app"
)


def only_graphs(timeline: TimelineFacts) -> bool:
    """True if most of the computing was recorded as whole CUDA graphs."""
    return timeline.spent(LaneKind.GRAPH) > common()["most"].value * timeline.computing


def window_note(timeline: TimelineFacts, *, prepared: bool) -> str:
    """What shares of device findings are parts of, and what lies before; `prepared` if one is of that too."""
    text = (
        f"Shares of device findings are parts of the {numbers.seconds(timeline.window)} from the first to the last operation of "
        f"{'the device' if len(timeline.devices) == 1 else f'{len(timeline.devices)} devices'}"
    )
    before = seconds(timeline.before)
    if not _is_worth_a_line(before, timeline.window):
        return f"{text}."
    parts = [part for part in timeline.host_in(timeline.before) if _is_worth_a_line(part.seconds, before)]
    # Calls lie in ranges and in calls of other kinds: what stands side by side is of one kind.
    parts = [part for part in parts if part.kind == parts[0].kind][:3]
    doing = ", ".join(f"{part.short} {numbers.seconds(part.seconds)}" for part in parts)
    unless = " unless they are of preparation and work" if prepared else ""
    return f"{text}. Before it the host works {numbers.seconds(before)}{f' ({doing})' if doing else ''}, which these shares exclude{unless}."


# -- places --------------------------------------------------------------------------------------------------


def site(timeline: TimelineFacts, node: int, *, kernel: str | None = None) -> Place:
    """The place of a node of the tree: the closest range or function of the program at or above it, file and line where
    known."""
    tree = timeline.profile.tree
    if node < 0:
        return Place(function=kernel, kernel=kernel)
    path = tree.path(node)
    named = [step for step in path if tree.kind[step] not in (NodeKind.LINE, NodeKind.INSTRUCTION)]
    file, line = tree.file_name(node), int(tree.line[node])
    at = node
    for step in reversed(path):
        candidate = tree.file_name(step)
        if candidate is not None and not candidate.startswith(("[", "<")):
            file, line, at = candidate, int(tree.line[step]), step
            break
    else:
        file, line = None, 0
    function = kernel or readable_function(plain(tree.function_name(node)))
    return Place(
        function=function, file=file, line=line or None, kernel=kernel, path=tuple(tree.label(step) for step in named),
        node=at if file else node,
    )  # fmt: skip


def kernel_site(timeline: TimelineFacts, kernel: KernelTotal) -> Place:
    """The place of a kernel."""
    return site(timeline, kernel.node, kernel=kernel.name)


def copy_site(timeline: TimelineFacts, *kinds: LaneKind) -> Place:
    """Where most of the time of copies of some kinds was issued: the program's range or function above the call.

    Copies whose call was not recorded have no place; nor has the whole if these are most.
    """
    known, whole = _by_issuer(timeline, kinds)
    if not known:
        return Place()
    amount, _, where = max(known.values())
    return site(timeline, where) if _is_worth_a_line(amount, whole) else Place()


def collective_site(timeline: TimelineFacts, kernel: KernelTotal) -> tuple[Place, str]:
    """Where most of the time of a collective's kernel was issued, and by what: NCCL does several kinds of exchange by one kernel."""
    known, _ = _by_issuer(timeline, (LaneKind.COLLECTIVE,), kernel.short)
    if not known:
        return kernel_site(timeline, kernel), ""
    name = max(known, key=lambda each: known[each])
    return site(timeline, known[name][1], kernel=kernel.name), name


def _by_issuer(
    timeline: TimelineFacts, kinds: Iterable[LaneKind], kernel: str = ""
) -> tuple[dict[str, tuple[float, int, int]], float]:
    """Nanoseconds of operations by the name of what issued them, each with its heaviest operation and the issuer of that, where it is known; and
    of all. `kernel` leaves out all others.
    """
    tree = timeline.profile.tree
    lanes = [lane for lane in timeline.timeline.of(*kinds) if lane.device >= 0 and len(lane)]
    if not lanes or not len(tree):
        return {}, 0.0
    node = np.concatenate([lane.node for lane in lanes])
    length = np.concatenate([np.maximum(lane.end - lane.start, 0) for lane in lanes])
    weight = np.bincount(np.maximum(node, 0), weights=np.where(node >= 0, length, 0), minlength=len(tree))
    found: dict[str, tuple[float, int, int]] = {}
    for each in np.flatnonzero(weight).tolist():
        where = issuer(timeline, each)
        if where < 0 or (kernel and kernel_title(tree.function_name(each)) != kernel):
            continue
        name = tree.function_name(where)
        amount, heaviest, at = found.get(name, (0.0, each, where))
        if weight[each] > weight[heaviest]:
            heaviest, at = each, where
        found[name] = amount + float(weight[each]), heaviest, at
    return found, float(weight.sum())


def issuer(timeline: TimelineFacts, node: int) -> int:
    """The range or function of the program that issued an operation: above the operation and the runtime's calls; where
    there is none the outermost call, −1 where the call was not recorded."""
    tree = timeline.profile.tree
    call = -1
    for step in reversed(tree.path(node)):
        kind = NodeKind(int(tree.kind[step]))
        if kind == NodeKind.PLACEHOLDER:
            return call
        if kind in (NodeKind.FUNCTION, NodeKind.INLINED, NodeKind.REGION):
            name = tree.function_name(step)
            if host_call(name) == HostCall.OTHER and not name.startswith(_RUNTIMES):
                return step
            call = step
    return call


#: How names of the runtimes' functions begin.
_RUNTIMES = ("cuda", "cuMem", "cuStream", "cuLaunch", "hip", "hsa_")
