"""Input and output: how long, from where, and in how large pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from chathpc.diagnosis.catalogue import cause
from chathpc.diagnosis.draft import (
    Draft,
    calling_function,
    fact,
    part_of,
    share_here,
    time_unit,
    total,
)
from chathpc.diagnosis.fact import Form, Kind, Part
from chathpc.diagnosis.facts import Facts
from chathpc.profile import numbers
from chathpc.profile.activity import Activity, activity_of_name, base_name

_SYNCING = re.compile(r"f(data)?sync|sync_file_range|sync$|msync|syncfs")


def input_output(facts: Facts) -> Iterable[Draft]:
    """Time in file operations; small requests where the bytes are known and the rate is far below that of a device."""
    bound, small = cause("io-bound"), cause("io-small-requests")
    cost = facts.spent(Activity.IO)
    if facts.total == 0 or not facts.above(cost / facts.total, bound.threshold("min_share")):
        return
    weight = facts.of(Activity.IO)
    hot = facts.hot_place(weight)
    if hot is None:
        return
    place, tree = hot.place, facts.profile.tree
    # The library's function that the program's request ends in, not what the kernel does for it.
    requests = np.array([activity_of_name(name) == Activity.IO for name in tree.names] + [False])[tree.name]
    asked = tree.nearest(requests)
    innermost = np.array([base_name(name) for name in tree.names] + [""], dtype=object)[
        tree.name[np.where((asked >= 0) & (asked >= facts.activities.call), asked, tree.function)]
    ]
    calls: dict[str, float] = {}
    for index in np.flatnonzero(weight > 0).tolist():
        name = str(innermost[index]).removeprefix("libc_").removeprefix("hpcrun_")
        calls[name] = calls.get(name, 0.0) + float(weight[index])
    ranked = sorted(calls.items(), key=lambda item: -item[1])
    syncing = sum(time for name, time in ranked if _SYNCING.search(name))
    transferring = sum(time for name, time in ranked if re.match(r"p?(read|write)v?(64)?$", name))
    evidence = [
        fact(
            facts,
            Kind.AMOUNT,
            cost,
            subject="file operations",
            form=Form.MANY,
            whole=total(facts),
            parts=[Part(ranked[0][0], ranked[0][1], time_unit(facts))],
            how="time in input and output functions of the C library and below",
        ),
        calling_function(facts, hot, part_of(facts, cost, "file operations"), how="the same by calling function"),
    ]
    against = []
    wait_seen = facts.profile.sees_waiting
    if not wait_seen:
        against.append(
            "The time is CPU time: what the program waits for the device is not in it, the true share may be larger."
        )
    volume = _bytes(facts)
    entry, summary = (
        bound,
        f"{place.function} spends {share_here(facts, hot.weight, cost)} in file operations ({ranked[0][0]}).",
    )
    signs = 2
    if syncing > bound.threshold("min_sync_part") * cost:
        sync = next(name for name, _ in ranked if _SYNCING.search(name))
        evidence.append(
            fact(
                facts,
                Kind.AMOUNT,
                syncing,
                subject=f"forcing data to the device ({sync})",
                whole=part_of(facts, cost, "file operations"),
                how="time in functions of the fsync family",
            )
        )
        summary = f"{place.function} forces data to the device again and again: {sync} has {numbers.percent(syncing / facts.total)} of the time."
        signs = 3
    elif volume is not None and facts.in_seconds and transferring > small.threshold("min_transfer_part") * cost:
        rate = volume / cost
        evidence.append(
            fact(
                facts,
                Kind.RATE,
                rate,
                subject="the throughput of file operations",
                unit="bytes/s",
                parts=(Part("", volume, "bytes"), Part("", cost, time_unit(facts))),
                metric="io.write.bytes" if "io.write.bytes" in facts.profile.metrics else "io.read.bytes",
                how="bytes read and written / time in file operations",
            )
        )
        if rate < small.threshold("max_throughput"):
            entry, signs = small, 3
            summary = f"{place.function} moves data in small pieces: {numbers.size(rate)} a second, {share_here(facts, hot.weight, cost)}."
        elif rate < small.threshold("max_cached_throughput"):
            entry = small
            summary = f"{place.function} makes many small requests, mostly {ranked[0][0]}: {share_here(facts, hot.weight, cost)}."
    yield Draft(
        cause=entry.id,
        where=place,
        summary=summary,
        cost=cost,
        share=cost / facts.total,
        threshold=entry.threshold("min_share"),
        evidence=tuple(evidence),
        signs=signs,
        against=tuple(against),
    )


def _bytes(facts: Facts) -> float | None:
    """Bytes read and written, where they were collected."""
    found = [
        facts.profile.total(name)
        for name in ("io.read.bytes", "io.write.bytes")
        if name in facts.profile.metrics and facts.profile.metrics[name].has_values
    ]
    return sum(found) if found else None


RULES = (input_output,)
