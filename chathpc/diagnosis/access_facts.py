"""What recorded accesses say of a kernel's memory: footprint, reuse, density over time, and how its blocks were shared out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chathpc.diagnosis.device import kernels
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Fact, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.profile import numbers
from chathpc.profile.profile import Profile

#: So many kernels are described, the longest first.
MOST = 6


def access_evidence(facts: Facts) -> tuple[Fact, ...]:
    """Some facts of each of the longest kernels; none for a profile without such records."""
    if not {"gpu.memory.accesses", "gpu.kernel.multiprocessor-imbalance"} & set(facts.profile.metrics):
        return ()
    return tuple(_evidence(facts))


def _evidence(facts: Facts) -> Iterator[Fact]:
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
                Kind.AMOUNT,
                footprint,
                subject=f"memory that {kernel.short} accesses{each}",
                unit="bytes",
                parts=(Part("", count / launches, "accesses"), Part("", reuse, "to each page of 4 KiB")),
                metric="gpu.kernel.footprint",
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
            yield fact(
                facts,
                Kind.COMPARISON if footprint else Kind.AMOUNT,
                value / launches,
                subject=f"the data that {kernel.short} moves by {kind} accesses{each}",
                unit="bytes",
                whole=Quantity(footprint, "bytes", "its footprint") if footprint else None,
                metric=f"gpu.memory.{kind}.bytes",
                how="sum over its threads / launches",
            )
        imbalance = _value(profile, "gpu.kernel.multiprocessor-imbalance", kernel.top)
        used = _value(profile, "gpu.kernel.multiprocessors-used", kernel.top)
        if imbalance and used:
            yield fact(
                facts,
                Kind.COMPARISON,
                imbalance,
                subject=f"the work of the busiest of {numbers.count(used)} multiprocessors that ran {kernel.short}",
                unit="times",
                whole=Quantity(of="the mean"),
                metric="gpu.kernel.multiprocessor-imbalance",
                how="time in which a multiprocessor runs at least one of its blocks",
            )
        if (found := density.get(kernel.top)) is not None and (busiest := _busiest(found.accesses)) is not None:
            yield fact(
                facts,
                Kind.VALUE,
                busiest,
                subject=f"the part of its threads' time with half of the accesses of {kernel.short}",
                unit="ratio",
                metric="gpu.memory.accesses",
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
