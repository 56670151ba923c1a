"""GPU as a whole: copies between host and device, and launches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.device import device_time, kernels, operations, samples_metric
from chathpc.diagnosis.draft import Draft, fact, kernel_time, time_fact
from chathpc.diagnosis.fact import Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.profile import numbers
from chathpc.profile.activity import GPU_RUNTIME, Activity


def copies(facts: Facts) -> Iterable[Draft]:
    """Copies between host and device that take much of the device's busy time."""
    profile = facts.profile
    device = device_time(profile)
    if not device or not profile.has("gpu.copy.time"):
        return
    time = profile.dense("gpu.copy.time")
    for identifier, placeholder, volume_metric, words in (
        ("gpu-h2d-copy-bound", ("<gpu copyin>", "<omp tgt copyin>"), "gpu.copy.h2d.bytes", "host to device"),
        ("gpu-d2h-copy-bound", ("<gpu copyout>", "<omp tgt copyout>"), "gpu.copy.d2h.bytes", "device to host"),
    ):
        entry = cause(identifier)
        weight = np.where(operations(profile, *placeholder), time, 0.0)
        seconds = float(weight.sum())
        share = seconds / device
        if share < entry.threshold("min_share"):
            continue
        node = int(np.argmax(weight))
        place = _launch_site(facts, node)
        kernel_seconds = profile.total("gpu.kernel.time") if profile.has("gpu.kernel.time") else 0.0
        evidence = [
            fact(
                facts,
                Kind.AMOUNT,
                seconds,
                subject=f"copies {words}",
                form=Form.MANY,
                whole=Quantity(device, "s", "busy time of the device"),
                unit="s",
                metric="gpu.copy.time",
                how=f"time of {placeholder[0]} operations",
                where=place,
            ),
            kernel_time(facts, "kernels", kernel_seconds, device, form=Form.MANY),
        ]
        if profile.has(volume_metric):
            volume = profile.total(volume_metric)
            evidence.append(
                fact(
                    facts,
                    Kind.RATE,
                    volume / seconds,
                    subject=f"the rate of copies {words}",
                    parts=(Part("", volume, "bytes"), Part("", seconds, "s")),
                    unit="bytes/s",
                    metric=volume_metric,
                    how="bytes / time of the copies",
                )
            )
        yield Draft(
            cause=identifier,
            where=place,
            summary=f"Copies {words} keep the device busy for {numbers.percent(share)} of its time.",
            cost=seconds,
            share=share,
            evidence=tuple(evidence),
            signs=2 if profile.has(volume_metric) else 1,
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
    if not (profile.has("gpu.kernel.time") and profile.has("gpu.kernel.count")):
        return
    count, seconds = profile.total("gpu.kernel.count"), profile.total("gpu.kernel.time")
    limit = entry.threshold("max_kernel_seconds")
    if count < entry.threshold("min_launches") or seconds / count >= limit or device_time(profile) <= 0:
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
            Kind.MEAN,
            mean,
            subject="kernels",
            form=Form.MANY,
            whole=Quantity(count, "launches"),
            unit="s",
            metric="gpu.kernel.time",
            how="kernel time / launches",
        ),
        fact(
            facts,
            Kind.COUNT,
            most_launched.launches,
            subject=most_launched.name,
            form=Form.NAME,
            unit="launches",
            metric="gpu.kernel.count",
            how="launch count",
            where=place,
        ),
    ]
    # What was measured: the host's launching, else the kernels themselves; how long the device is idle in between is unknown.
    signs, cost, share = 1, seconds, min(seconds / device_time(profile), 1.0)
    takes = f"{numbers.percent(share)} of the device's busy time"
    if profile.time is not None and facts.total and facts.spent(Activity.GPU_LAUNCH):
        launching = facts.spent(Activity.GPU_LAUNCH)
        evidence.append(
            time_fact(
                facts, launching, "launch functions on the host", "host time in kernel launch calls", form=Form.MANY
            )
        )
        signs, cost, share = 2, launching, launching / facts.total
        takes = f"and launching them takes {numbers.percent(share)} of the host's time"
    yield Draft(
        cause=entry.id,
        where=replace(place, kernel=most_launched.name),
        summary=f"The kernels are too short to fill the device: {numbers.seconds(mean)} each, {numbers.count(count)} launches, {takes}.",
        cost=cost,
        share=share,
        threshold=0.0,
        evidence=tuple(evidence),
        signs=signs,
        samples=0,
    )


def idle(facts: Facts) -> Iterable[Draft]:
    """Devices that work for a small part of the run, whatever they do then. Sampling inside kernels makes them wait, which blames nobody."""
    entry, busy, part = cause("gpu-idle-host-bound"), facts.device_seconds, facts.device_part
    share = 1 - part
    if not busy or share < entry.threshold("min_share") or samples_metric(facts.profile) is not None:
        return
    wall, known = busy / part, facts.device_work is not None
    # In calls of the runtime the host copies to the device or waits for it: then it is not the host that keeps it idle.
    own = np.where(facts.activities.of(*GPU_RUNTIME), 0.0, facts.time) if facts.has_host_time else np.zeros(0)
    hot = facts.hot_place(own) if own.any() else None
    yield Draft(
        cause=entry.id,
        where=hot.place if hot is not None else Place(),
        summary=f"The devices work for {numbers.percent(part)} of the run{'' if known else ' at most'}.",
        cost=wall - busy,
        share=share,
        evidence=(
            fact(
                facts,
                Kind.AMOUNT,
                busy,
                subject="the devices' work",
                whole=Quantity(wall, "s", "wall-clock time"),
                unit="s",
                metric="gpu.time",
                how=f"time {'in which any device works by the trace' if known else 'of all operations of devices'}, beside the run's length",
            ),
        ),
        signs=1,
        against=() if known else ("When the devices worked was not recorded.",),
        samples=0,
    )


RULES = (copies, launches, idle)
