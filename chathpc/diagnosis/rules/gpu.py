"""GPU: what the device's time is spent on, and why warps of the hot kernels stall."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import Draft, fact, of_total
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Evidence, Place
from chathpc.profile import numbers
from chathpc.profile.activity import Activity
from chathpc.profile.profile import Profile
from chathpc.profile.tree import FloatArray, IntArray, NodeKind

#: Kernels below this part of the device's time are not looked at.
_HOT_KERNEL = 0.1

#: cause → stall metrics that count for it, and what the warps wait for in words.
_STALLS = {
    "gpu-memory-latency": (
        ("gpu.stall.memory", "gpu.stall.memory-throttle", "gpu.stall.texture", "gpu.stall.constant"),
        "memory",
    ),
    "gpu-dependency-stall": (("gpu.stall.dependency", "gpu.stall.pipe-busy"), "the result of an earlier instruction"),
    "gpu-barrier-stall": (("gpu.stall.barrier",), "other warps at a barrier"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """One kernel, all its launches together."""

    name: str
    nodes: IntArray  #: all nodes of the tree that belong to it
    top: int  #: the node that stands for it: where its time is
    seconds: float
    launches: float


def _has(profile: Profile, metric: str) -> bool:
    return metric in profile.metrics and profile.metrics[metric].has_values


def _dense(profile: Profile, metric: str) -> FloatArray:
    return profile.exclusive(metric).dense(len(profile.tree)) if _has(profile, metric) else np.zeros(len(profile.tree))


def kernels(profile: Profile) -> list[Kernel]:
    """The kernels with time or samples, the longest first; launches of binaries without symbols go by their launch
    site.
    """
    tree = profile.tree
    # Without structure most samples hang below an <unknown function> beside the kernel: they belong to the launch.
    unnamed = np.array([name == "<unknown function>" for name in tree.names] + [True])[tree.name]
    is_kernel = (tree.kind == NodeKind.GPU_KERNEL) & ~unnamed
    launch_names = [i for i, name in enumerate(tree.names) if name in ("<gpu kernel>", "<omp tgt kernel>")]
    is_launch = np.isin(tree.name, launch_names) & (tree.kind == NodeKind.GPU_OP)
    owner = tree.nearest(is_kernel | is_launch)
    time, count = _dense(profile, "gpu.kernel.time"), _dense(profile, "gpu.kernel.count")
    samples = _dense(profile, _samples_metric(profile) or "")
    relevant = np.flatnonzero((owner >= 0) & ((time > 0) | (count > 0) | (samples > 0)))
    groups: dict[str, list[int]] = {}
    for node in np.unique(owner[relevant]).tolist():
        name = tree.function_name(node)
        if is_launch[node]:
            caller = int(tree.parent[node])
            name = f"kernel launched from {tree.function_name(caller)}" if caller >= 0 else name
        groups.setdefault(name, []).append(node)
    found = []
    for name, tops in groups.items():
        nodes = np.flatnonzero(np.isin(owner, tops)).astype(np.int32)
        top = max(tops, key=lambda node: (time[node], count[node]))
        found.append(Kernel(name, nodes, top, float(time[nodes].sum()), float(count[nodes].sum())))
    return sorted(found, key=lambda kernel: -kernel.seconds)


def _samples_metric(profile: Profile) -> str | None:
    """The metric that counts all warp samples: instructions (NVIDIA, Intel) or wavefront cycles (AMD)."""
    for name in ("gpu.cycles", "gpu.instructions"):
        if _has(profile, name) and _has(profile, "gpu.stall.any"):
            return name
    return None


def _device_time(profile: Profile) -> float:
    return profile.total("gpu.time") if _has(profile, "gpu.time") else 0.0


def _kernel_place(profile: Profile, kernel: Kernel, weight: FloatArray | None = None) -> Place:
    """The kernel, at the line with most of `weight` where lines are known."""
    tree = profile.tree
    node = kernel.top
    line_node = node
    if weight is not None and weight[kernel.nodes].any():
        line_node = int(kernel.nodes[int(np.argmax(weight[kernel.nodes]))])
    file, line = tree.file_name(line_node), int(tree.line[line_node])
    if file is None or file.startswith(("[", "<")):
        file, line = None, 0
    path = tuple(
        tree.label(step) for step in tree.path(node) if tree.kind[step] not in (NodeKind.LINE, NodeKind.INSTRUCTION)
    )
    return Place(function=kernel.name, file=file, line=line or None, kernel=kernel.name, path=path, node=line_node)


def _runs(facts: Facts, kernel: Kernel, device: float, place: Place) -> Evidence:
    """How long a kernel runs, as a part of the `device` time."""
    return fact(
        facts,
        f"{kernel.name} runs {numbers.seconds(kernel.seconds)}, {numbers.percent(kernel.seconds / device)} "
        "of the device's busy time.",
        kernel.seconds,
        unit="s",
        metric="gpu.kernel.time",
        subject=kernel.name,
        how="time of its launches",
        where=place,
    )


def stalls(facts: Facts) -> Iterable[Draft]:
    """Why the warps of the hot kernels do not issue, from PC samples."""
    profile = facts.profile
    base = _samples_metric(profile)
    if base is None:
        return
    total_samples = _dense(profile, base)
    device = _device_time(profile)
    everything = float(total_samples.sum())
    period = _period(profile)
    for kernel in kernels(profile)[:8]:
        samples = float(total_samples[kernel.nodes].sum())
        part = kernel.seconds / device if device else samples / everything if everything else 0.0
        if part < _HOT_KERNEL or samples == 0:
            continue
        for identifier, (metrics, words) in _STALLS.items():
            entry = cause(identifier)
            weight = sum((_dense(profile, name) for name in metrics), np.zeros(len(profile.tree)))
            stalled = float(weight[kernel.nodes].sum())
            share = stalled / samples
            if share < entry.threshold("min_stall_share"):
                continue
            place = _kernel_place(profile, kernel, weight)
            cost = kernel.seconds * share
            evidence = [
                fact(
                    facts,
                    f"{numbers.percent(share)} of the warp samples of {kernel.name} wait for {words}.",
                    share,
                    unit="ratio",
                    metric=metrics[0],
                    subject=kernel.name,
                    how=f"{' + '.join(metrics)} / {base} over the kernel",
                    where=place,
                )
            ]
            if device:
                evidence.append(_runs(facts, kernel, device, place))
            if place.line:
                tree = profile.tree
                same = (tree.line[kernel.nodes] == place.line) & (tree.file[kernel.nodes] == tree.file[place.node])
                at_line = float(weight[kernel.nodes][same].sum())
                evidence.append(
                    fact(
                        facts,
                        f"{place.short} has {numbers.percent(at_line / stalled)} of these stalls.",
                        at_line / stalled,
                        unit="ratio",
                        metric=metrics[0],
                        subject=place.short,
                        how="stalls by source line",
                        where=place,
                    )
                )
            yield Draft(
                cause=identifier,
                where=place,
                summary=f"Warps of {kernel.name} wait for {words} in {numbers.percent(share)} of their samples.",
                cost=cost,
                share=share * part,
                threshold=entry.threshold("min_stall_share") * part,
                evidence=tuple(evidence),
                signs=2 if place.line else 1,
                samples=samples / period,
            )


def _period(profile: Profile) -> float:
    """Cycles between PC samples; 4096 where it was not recorded (HPCToolkit's default)."""
    if "gpu.samples.period" in profile.metrics and profile.metrics["gpu.samples.period"].has_values:
        column = profile.exclusive("gpu.samples.period")
        if len(column):
            return max(float(column.values.min()), 1.0)
    return 4096.0


def copies(facts: Facts) -> Iterable[Draft]:
    """Copies between host and device that take much of the device's busy time."""
    profile = facts.profile
    device = _device_time(profile)
    if not device or not _has(profile, "gpu.copy.time"):
        return
    tree = profile.tree
    time = _dense(profile, "gpu.copy.time")
    for identifier, placeholder, volume_metric, words in (
        ("gpu-h2d-copy-bound", ("<gpu copyin>", "<omp tgt copyin>"), "gpu.copy.h2d.bytes", "host to device"),
        ("gpu-d2h-copy-bound", ("<gpu copyout>", "<omp tgt copyout>"), "gpu.copy.d2h.bytes", "device to host"),
    ):
        entry = cause(identifier)
        names = [index for index, name in enumerate(tree.names) if name in placeholder]
        at = np.isin(tree.name, names) & (tree.kind == NodeKind.GPU_OP)
        weight = np.where(at, time, 0.0)
        seconds = float(weight.sum())
        share = seconds / device
        if share < entry.threshold("min_share"):
            continue
        node = int(np.argmax(weight))
        place = _launch_site(facts, node)
        kernel_seconds = profile.total("gpu.kernel.time") if _has(profile, "gpu.kernel.time") else 0.0
        evidence = [
            fact(
                facts,
                f"Copies {words} take {numbers.seconds(seconds)} of {numbers.seconds(device)} of the device's busy time ({numbers.percent(share)}), "
                f"kernels {numbers.seconds(kernel_seconds)}.",
                seconds,
                unit="s",
                metric="gpu.copy.time",
                subject=f"copies {words}",
                how=f"time of {placeholder[0]} operations",
                where=place,
            )
        ]
        if _has(profile, volume_metric):
            volume = profile.total(volume_metric)
            evidence.append(
                fact(
                    facts,
                    f"They move {numbers.size(volume)}, {numbers.size(volume / seconds)} a second.",
                    volume / seconds,
                    unit="bytes/s",
                    metric=volume_metric,
                    subject=f"rate of copies {words}",
                    how="bytes / time of the copies",
                )
            )
        yield Draft(
            cause=identifier,
            where=place,
            summary=f"Copies {words} keep the device busy for {numbers.percent(share)} of its time.",
            cost=seconds,
            share=share,
            threshold=entry.threshold("min_share"),
            evidence=tuple(evidence),
            signs=2 if len(evidence) > 1 else 1,
            samples=0,
        )


def _launch_site(facts: Facts, node: int) -> Place:
    """The place in the host program that issued a GPU operation."""
    tree = facts.profile.tree
    node = int(tree.parent[node]) if node >= 0 else node
    while node >= 0:
        owner = int(tree.function[node])
        file = tree.file_name(node)
        if file is not None and not file.startswith(("[", "<")) and facts.activities.call[owner] < 0:
            return facts.place(owner, line_node=node)
        node = int(tree.parent[node])
    return Place()


def launches(facts: Facts) -> Iterable[Draft]:
    """Kernels so short that launching them takes longer than running them."""
    entry = cause("gpu-launch-bound")
    profile = facts.profile
    if not (_has(profile, "gpu.kernel.time") and _has(profile, "gpu.kernel.count")):
        return
    count, seconds = profile.total("gpu.kernel.count"), profile.total("gpu.kernel.time")
    limit = entry.threshold("max_kernel_seconds")
    if count < entry.threshold("min_launches") or seconds / count >= limit:
        return
    found = kernels(profile)
    if not found:
        return
    most_launched = max(found, key=lambda kernel: kernel.launches)
    place = _launch_site(facts, most_launched.top)
    mean = seconds / count
    evidence = [
        fact(
            facts,
            f"{numbers.count(count)} kernel launches run {numbers.seconds(mean)} on average.",
            mean,
            unit="s",
            metric="gpu.kernel.time",
            subject="kernels",
            how="kernel time / launches",
        ),
        fact(
            facts,
            f"{most_launched.name} is launched {numbers.count(most_launched.launches)} times.",
            most_launched.launches,
            unit="count",
            metric="gpu.kernel.count",
            subject=most_launched.name,
            how="launch count",
            where=place,
        ),
    ]
    signs = 1
    if profile.time is not None and facts.total and facts.spent(Activity.GPU_LAUNCH):
        launching = facts.spent(Activity.GPU_LAUNCH)
        evidence.append(
            fact(
                facts,
                f"The host spends {of_total(facts, launching)} in launch functions.",
                launching,
                subject="launch functions",
                how="host time in kernel launch calls",
            )
        )
        signs = 2
    yield Draft(
        cause=entry.id,
        where=Place(place.function, place.file, place.line, most_launched.name, place.path, place.node),
        summary=f"The kernels are too short to fill the device: {numbers.seconds(mean)} each, {numbers.count(count)} launches.",
        cost=count * (limit - mean),
        share=1 - mean / limit,
        threshold=0.0,
        evidence=tuple(evidence),
        signs=signs,
        samples=0,
    )


def occupancy(facts: Facts) -> Iterable[Draft]:
    """Hot kernels of which few warps fit on, or are given to, a multiprocessor."""
    entry = cause("gpu-low-occupancy")
    profile = facts.profile
    device = _device_time(profile)
    if not device or "gpu.kernel.occupancy" not in profile.metrics:
        return
    column = profile.exclusive("gpu.kernel.occupancy")
    for kernel in kernels(profile)[:8]:
        part = kernel.seconds / device
        value = column.at(kernel.top)
        if value is None or part < entry.threshold("min_kernel_share") or value >= entry.threshold("max_occupancy"):
            continue
        place = _kernel_place(profile, kernel)
        details = [
            (metric, words, found)
            for metric, words in (
                ("gpu.kernel.threads-per-block", "threads per block"),
                ("gpu.kernel.blocks", "blocks per launch"),
                ("gpu.kernel.registers", "registers per thread"),
            )
            if metric in profile.metrics and (found := profile.exclusive(metric).at(kernel.top)) is not None
        ]
        evidence = [
            fact(
                facts,
                f"The theoretical occupancy of {kernel.name} is {numbers.number(value)} %.",
                value,
                unit="percent",
                metric="gpu.kernel.occupancy",
                subject=kernel.name,
                how="active / maximum warps over its launches",
                where=place,
            ),
            _runs(facts, kernel, device, place),
            *(
                fact(
                    facts,
                    f"It has {numbers.count(round(number))} {words}.",
                    number,
                    unit="count",
                    metric=metric,
                    subject=kernel.name,
                    how="mean over its launches",
                    where=place,
                )
                for metric, words, number in details
            ),
        ]
        yield Draft(
            cause=entry.id,
            where=place,
            summary=f"Only {numbers.number(value)} % of the warps that a multiprocessor could hold run {kernel.name}.",
            cost=kernel.seconds,
            share=part,
            threshold=entry.threshold("min_kernel_share"),
            evidence=tuple(evidence),
            signs=2 if details else 1,
            samples=0,
        )


def kernel_bound(facts: Facts) -> Iterable[Draft]:
    """Kernels fill the device's time, and the profile has no counters that say why they take so long."""
    entry = cause("gpu-kernel-bound")
    profile = facts.profile
    device = _device_time(profile)
    if not device or not _has(profile, "gpu.kernel.time") or _samples_metric(profile) is not None:
        return
    share = profile.total("gpu.kernel.time") / device
    found = kernels(profile)
    if share < entry.threshold("min_share") or not found:
        return
    hottest = found[0]
    place = _kernel_place(profile, hottest)
    yield Draft(
        cause=entry.id,
        where=place,
        summary=f"Kernels have {numbers.percent(share)} of the device's busy time, {hottest.name} {numbers.percent(hottest.seconds / device)}; "
        "only kernel counters can say why.",
        cost=profile.total("gpu.kernel.time"),
        share=share,
        threshold=entry.threshold("min_share"),
        evidence=(
            fact(
                facts,
                f"{hottest.name} runs {numbers.seconds(hottest.seconds)} of {numbers.seconds(device)} of the device's busy time.",
                hottest.seconds,
                unit="s",
                metric="gpu.kernel.time",
                subject=hottest.name,
                how="time of its launches",
                where=place,
            ),
        ),
        samples=0,
    )


RULES = (stalls, copies, launches, occupancy, kernel_bound)
