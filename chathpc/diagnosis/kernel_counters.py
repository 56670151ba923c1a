"""The kernels of a profile that have counters, read once for all rules."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from chathpc.diagnosis.counted import PREFIX, Counted
from chathpc.diagnosis.device import has
from chathpc.profile.gpu_counters import COUNTERS
from chathpc.profile.metric import Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

#: Facts that other tools tell of a kernel as well (HPCToolkit, Nsight Systems: its launch; Neutrino: its accesses); alone they are
#: no counters.
_NO_COUNTERS = frozenset(
    PREFIX + name
    for name in (
        "blocks", "threads-per-block", "registers", "shared-memory-per-block", "occupancy", "multiprocessors", "clock",
        "footprint", "unique-pages", "accesses-per-page", "multiprocessors-used", "multiprocessor-imbalance",
    )
)  # fmt: skip

#: Facts that are parts (0..1) of a whole.
_PARTS = frozenset(
    ("excessive-sectors", "excessive-wavefronts", "host-misses", "host-sectors", "sector-use.global-load", "sector-use.global-store")
)  # fmt: skip


def has_counters(profile: Profile) -> bool:
    """True if the profile holds counters of kernels, not only facts about their launch or accesses."""
    return any(name in COUNTERS and name not in _NO_COUNTERS and has(profile, name) for name in profile.metrics)


def counting_tools(profile: Profile) -> frozenset[str]:
    """The tools that counted in kernels; "" for that of a profile that only one tool measured."""
    return frozenset(
        profile.metrics[name].tool for name in profile.metrics if name in COUNTERS and name not in _NO_COUNTERS and has(profile, name)
    )  # fmt: skip


def counted_names(profile: Profile) -> frozenset[str]:
    """Names of the kernels with counters."""
    return frozenset(profile.tree.function_name(node) for node in _facts_by_node(profile))


def _facts_by_node(profile: Profile) -> dict[int, dict[str, float]]:
    """Facts of each kernel that has counters among them, by id without the prefix."""
    if not has_counters(profile):
        return {}
    found: dict[int, dict[str, float]] = {}
    more = set()
    for identifier in COUNTERS:
        if not has(profile, identifier):
            continue
        column = profile.exclusive(identifier)
        for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
            found.setdefault(node, {})[identifier.removeprefix(PREFIX)] = value
        if identifier not in _NO_COUNTERS:
            more.update(column.nodes.tolist())
    kind = profile.tree.kind
    return {node: found[node] for node in sorted(more) if kind[node] == NodeKind.GPU_KERNEL}


def counted_kernels(profile: Profile) -> list[Counted]:
    """The kernels with counters, the one with most time first. Those without time are left out, unless there is only one
    in all, which then has share 1.
    """
    tree = profile.tree
    facts = _facts_by_node(profile)
    time = profile.dense("gpu.kernel.time")
    time = np.where(np.isfinite(time), np.maximum(time, 0.0), 0.0)
    total = float(time.sum())
    launches = profile.dense("gpu.kernel.count")
    found = []
    for node, values in facts.items():
        below = slice(node, int(tree.end[node]))
        seconds = float(time[below].sum())
        if (total > 0 and seconds <= 0) or (total == 0 and len(facts) > 1):
            continue
        found.append(
            Counted(
                profile=profile,
                name=tree.function_name(node),
                node=node,
                seconds=seconds,
                launches=float(launches[below].sum()),
                share=min(seconds / total, 1.0) if total else 1.0,
                values=_plausible(profile, values),
            )
        )
    return sorted(found, key=lambda kernel: (-kernel.seconds, kernel.name, kernel.node))


def _plausible(profile: Profile, values: Mapping[str, float]) -> dict[str, float]:
    """Values that can be: no infinities or negative numbers, percentages of at most 100, parts of at most 1."""
    kept = {}
    for name, value in values.items():
        if isfinite(value) and value >= 0:
            metric = profile.metrics.get(PREFIX + name)
            percent = metric is not None and metric.unit == Unit.PERCENT
            kept[name] = min(value, 100.0) if percent else _whole(min(value, 1.0) if name in _PARTS else value)
    return kept


def _whole(value: float) -> float:
    """A mean of equal whole numbers is that number, whatever rounding the weights brought."""
    return float(round(value)) if abs(value - round(value)) < 1e-9 * max(value, 1.0) else value
