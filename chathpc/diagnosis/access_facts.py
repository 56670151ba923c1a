"""What recorded accesses say of a kernel's memory: footprint, reuse, density over time, and how its blocks were shared out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chathpc.diagnosis.device import kernels
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Evidence
from chathpc.profile import numbers
from chathpc.profile.profile import Profile

#: So many kernels are described, the longest first.
MOST = 6


def access_evidence(facts: Facts) -> tuple[Evidence, ...]:
    """Some facts of each of the longest kernels; none for a profile without such records."""
    if not {"gpu.memory.accesses", "gpu.kernel.multiprocessor-imbalance"} & set(facts.profile.metrics):
        return ()
    return tuple(_evidence(facts))


def _evidence(facts: Facts) -> Iterator[Evidence]:
    profile = facts.profile
    density = {one.node: one for one in profile.accesses}
    for kernel in kernels(profile)[:MOST]:
        footprint = _value(profile, "gpu.kernel.footprint", kernel.top)
        reuse = _value(profile, "gpu.kernel.accesses-per-page", kernel.top)
        count = _value(profile, "gpu.memory.accesses", kernel.top)
        launches = max(kernel.launches, 1.0)
        each = " in each launch" if launches > 1 else ""
        if footprint and reuse and count:
            yield fact(
                facts,
                f"{kernel.name} makes {numbers.count(count / launches)} accesses to {numbers.size(footprint)} of memory{each}, "
                f"{numbers.number(reuse)} to each page of 4 KiB.",
                footprint,
                unit="bytes",
                metric="gpu.kernel.footprint",
                subject=kernel.name,
                how="distinct pages of the recorded addresses × 4 KiB",
            )
        moved = [
            (name.removeprefix("gpu.memory.").removesuffix(".bytes"), value)
            for name in profile.metrics
            if name.startswith("gpu.memory.")
            and name.endswith(".bytes")
            and (value := _value(profile, name, kernel.top))
        ]
        for kind, value in moved:
            times = f", {numbers.number(value / launches / footprint)} times its footprint" if footprint else ""
            yield fact(
                facts,
                f"{kernel.name} moves {numbers.size(value / launches)} by {kind} accesses{each}{times}.",
                value / launches,
                unit="bytes",
                metric=f"gpu.memory.{kind}.bytes",
                subject=kernel.name,
                how="sum over its threads / launches",
            )
        imbalance = _value(profile, "gpu.kernel.multiprocessor-imbalance", kernel.top)
        used = _value(profile, "gpu.kernel.multiprocessors-used", kernel.top)
        if imbalance and used:
            yield fact(
                facts,
                f"Of the {numbers.count(used)} multiprocessors that ran {kernel.name} the busiest works "
                f"{numbers.number(imbalance)} times the mean.",
                imbalance,
                unit="ratio",
                metric="gpu.kernel.multiprocessor-imbalance",
                subject=kernel.name,
                how="time in which a multiprocessor runs at least one of its blocks",
            )
        if (found := density.get(kernel.top)) is not None and (busiest := _busiest(found.accesses)) is not None:
            yield fact(
                facts,
                f"Half of the accesses of {kernel.name} fall into {numbers.percent(busiest)} of its threads' time.",
                busiest,
                unit="ratio",
                metric="gpu.memory.accesses",
                subject=kernel.name,
                how=f"fewest of {len(found.accesses)} equal parts of the time that hold half of the accesses",
            )


def _value(profile: Profile, metric: str, node: int) -> float | None:
    return profile.exclusive(metric).at(node) if metric in profile.metrics else None


def _busiest(accesses: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float | None:
    """The smallest part of the time that holds half of the accesses; 0.5 for accesses that are spread evenly."""
    total = int(accesses.sum())
    if not total:
        return None
    held = np.cumsum(np.sort(accesses)[::-1])
    return float(np.searchsorted(held, total / 2) + 1) / len(accesses)
