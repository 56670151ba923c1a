"""What two tools measured of one thing and measured differently."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.metric import Aggregation
from chathpc.profile.profile import Profile
from chathpc.profile.remark import Disagreement
from chathpc.profile.tables import function_table
from chathpc.profile.tree import NodeKind

#: Values that differ by less are taken as equal: repeated runs of one kernel vary by some percent.
TOLERANCE = 0.1
#: Parts of the time that differ by less than this (of the whole) are taken as equal.
SHARE = 0.1
#: So many kernels, and functions, are compared, the longest first.
MOST = 8


def disagreements(one: Profile, its_tool: str, other: Profile, other_tool: str) -> Iterator[Disagreement]:
    """Time of a launch of the longest kernels, launch facts, and parts of the host time; nodes are those of `one`."""
    mine, theirs = kernels(one), kernels(other)
    common = sorted((key for key in mine if key in theirs), key=lambda key: -mine[key][1])[:MOST]
    for key in common:
        node, seconds, launches, facts = mine[key]
        _, their_seconds, their_launches, their_facts = theirs[key]
        name = one.tree.function_name(node)
        if seconds and their_seconds and launches and their_launches:
            here, there = seconds / launches, their_seconds / their_launches
            if _differ(here, there):
                pair = ((its_tool, here), (other_tool, there))
                yield Disagreement(name, "time of a launch", "gpu.kernel.time", "s", pair, node)
        for metric in facts.keys() & their_facts.keys():
            if _differ(facts[metric], their_facts[metric]):
                pair = ((its_tool, facts[metric]), (other_tool, their_facts[metric]))
                words = one.metrics[metric].description
                yield Disagreement(name, words, metric, str(one.metrics[metric].unit), pair, node)
    yield from _host(one, its_tool, other, other_tool)


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > TOLERANCE * max(abs(one), abs(other))


_FACTS = ("gpu.kernel.registers", "gpu.kernel.threads-per-block", "gpu.kernel.blocks")


def kernels(profile: Profile) -> dict[str, tuple[int, float, float, dict[str, float]]]:
    """Key of each kernel of a profile → its longest node, seconds, launches and launch facts."""
    tree = profile.tree
    time, count = profile.dense("gpu.kernel.time"), profile.dense("gpu.kernel.count")
    found: dict[str, tuple[int, float, float, dict[str, float]]] = {}
    for node in np.flatnonzero((tree.kind == NodeKind.GPU_KERNEL) & ((time > 0) | (count > 0))).tolist():
        key = kernel_key(tree.function_name(node))
        facts = {
            name: value
            for name in _FACTS
            if name in profile.metrics and (value := profile.exclusive(name).at(node)) is not None
        }
        before = found.get(key)
        if before is None:
            found[key] = (node, float(time[node]), float(count[node]), facts)
        else:
            best = node if time[node] > time[before[0]] else before[0]
            found[key] = (best, before[1] + float(time[node]), before[2] + float(count[node]), before[3])
    return found


def _host(one: Profile, its_tool: str, other: Profile, other_tool: str) -> Iterator[Disagreement]:
    """Functions whose part of the host time differs by more than a tenth of the whole."""
    if one.time is None or other.time is None or {one.time.id[:4], other.time.id[:4]} != {"cpu."}:
        return
    if Aggregation.DERIVED in (one.time.aggregation, other.time.aggregation):
        return
    mine, theirs = function_table(one, one.time), function_table(other, other.time)
    total, their_total = one.total(one.time.id), other.total(other.time.id)
    if not total or not their_total:
        return
    shares = dict(zip(theirs.name, (theirs.exclusive / their_total).tolist(), strict=True))
    for name, value, node in list(zip(mine.name, mine.exclusive.tolist(), mine.node.tolist(), strict=True))[:MOST]:
        share = value / total
        if name in shares and abs(share - shares[name]) > SHARE:
            pair = ((its_tool, share), (other_tool, shares[name]))
            yield Disagreement(name, "part of the time", one.time.id, "ratio", pair, int(node))
