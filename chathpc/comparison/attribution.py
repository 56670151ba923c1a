"""Which contexts explain a difference: the deepest ones at which it is more than noise, each second told once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chathpc.comparison.matching import Joint, Part, inclusive
from chathpc.comparison.noise import Noise
from chathpc.comparison.thresholds import threshold
from chathpc.profile.tree import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """A part of the difference, at one or several contexts: `values` (one a run) of what is told here, which is the contexts
    with all below them that is not told elsewhere. `nodes` has the context with the largest change first; `merged` are
    functions of one side only that were weighed with it.
    """

    nodes: tuple[int, ...]
    values: FloatArray
    merged: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """The shares, largest change first, and what is left over (one value a run). Together they are the totals."""

    shares: tuple[Share, ...]
    rest: FloatArray


def attribute(joint: Joint, noise: Noise, level: float, steady: BoolArray, *, callers: bool = True) -> Attribution:
    """Split the difference of the totals into shares.

    From the leaves up: what a context has that no deeper one was told for is told there if it changed by more than noise
    (probability of chance at most `level`) and by at least `min_told` of the larger total; else it is added to the context above. So
    the values of all shares and of the rest add up to the totals.

    A function that one side alone has is weighed with its caller where the two changed in opposite directions: it was
    inlined, outlined or renamed. A context that one side alone has, of a function that as a whole did not change (`steady`, by
    number of name), was moved, and is weighed with its caller as well, or, where tools differ in whom they tell as `callers`, with all of the
    program. What several threads do in one function is one share: work that another thread does now has not changed.
    """
    weights = _weights(noise, len(joint.own))
    found, least = _deepest(joint, noise, weights, level, steady, callers)
    groups: dict[tuple[int, int], list[Share]] = {}
    for share in found:
        groups.setdefault(_subject(joint, share.nodes[0]), []).append(share)
    shares: list[Share] = []
    for group in groups.values():
        if len({joint.tree.path(share.nodes[0])[1] for share in group}) == 1:
            shares += group
            continue
        group.sort(key=lambda share: -abs(float(weights @ share.values)))
        together = Share(
            tuple(share.nodes[0] for share in group),
            np.sum([share.values for share in group], axis=0),
            tuple(node for share in group for node in share.merged),
        )
        if _told(together.values, noise, weights, level, least):
            shares.append(together)
    shares.sort(key=lambda share: (-abs(float(weights @ share.values)), share.nodes))
    totals = joint.own.sum(axis=1)
    return Attribution(tuple(shares), totals - np.sum([share.values for share in shares], axis=0, initial=0.0))


def _subject(joint: Joint, node: int) -> tuple[int, int]:
    """Numbers of the names of a context's function and of the call that it stands for (−1: none)."""
    if joint.part[node] == Part.FUNCTION:
        return int(joint.tree.name[node]), -1
    return int(joint.tree.name[max(int(joint.tree.parent[node]), 0)]), int(joint.tree.name[node])


def _deepest(
    joint: Joint, noise: Noise, weights: FloatArray, level: float, steady: BoolArray, callers: bool
) -> tuple[list[Share], float]:
    """The shares context by context, and the smallest change that is told."""
    within = inclusive(joint)
    before, after = within[: noise.count].mean(axis=0), within[noise.count :].mean(axis=0)
    least = threshold("min_told") * max(float(before[0]), float(after[0]))
    tree, part = joint.tree, joint.part
    large = np.maximum(before, after) >= max(least, np.finfo(np.float64).tiny)
    large[0] = True
    nodes = np.flatnonzero(large)
    row = np.full(len(tree), -1, dtype=np.int64)
    row[nodes] = np.arange(len(nodes))
    # What is small can hold no share: it counts for the closest large context above.
    home = row[tree.nearest(large)]
    sums = [np.bincount(home, weights=values, minlength=len(nodes)) for values in joint.own]
    pending = np.ascontiguousarray(np.stack(sums).T, dtype=np.float64)
    lonely = (before[nodes] == 0) | (after[nodes] == 0)
    moved = lonely & steady[tree.name[nodes]] & (part[nodes] == Part.FUNCTION)
    parents = row[np.maximum(tree.parent[nodes], 0)].tolist()
    lone = part[nodes] == Part.LONE
    shares: list[Share] = []
    waiting: dict[int, list[int]] = {}
    for at in range(len(nodes) - 1, -1, -1):
        if lone[at]:
            waiting.setdefault(parents[at], []).append(at)
            continue
        merged: list[int] = []
        for other in _sorted_out(pending, waiting.pop(at, []), at, weights):
            if other >= 0:
                pending[at] += pending[other]
                merged.append(other)
            elif _told(pending[~other], noise, weights, level, least):
                shares.append(Share((int(nodes[~other]),), pending[~other].copy()))
            else:
                pending[at] += pending[~other]
        if at == 0:
            break
        if moved[at] or not _told(pending[at], noise, weights, level, least):
            pending[parents[at] if callers or not moved[at] else 0] += pending[at]
        else:
            shares.append(Share((int(nodes[at]),), pending[at].copy(), tuple(int(nodes[other]) for other in merged)))
    return shares, least


def _weights(noise: Noise, runs: int) -> FloatArray:
    """Weights by which the values of the runs add up to the difference of the means."""
    after = runs - noise.count
    return np.concatenate([np.full(noise.count, -1 / noise.count), np.full(after, 1 / after)])


def _told(values: FloatArray, noise: Noise, weights: FloatArray, level: float, least: float) -> bool:
    if abs(float(weights @ values)) < least:
        return False
    return float(noise.judge(values[:, None]).p[0]) <= level


def _sorted_out(pending: FloatArray, lone: list[int], at: int, weights: FloatArray) -> list[int]:
    """The lone functions below a context: as they are if they are to be weighed with it, inverted (~) if by themselves.

    They belong together if some have gone and others have come, or if what the context itself has changed the other way.
    """
    if not lone:
        return []
    changes = [float(weights @ pending[each]) for each in lone]
    own = float(weights @ pending[at])
    # A change of the context that is small beside them is no sign of anything.
    reach = threshold("min_matched") * max(map(abs, changes))
    signs = {change > 0 for change in changes if abs(change) >= reach} | ({own > 0} if abs(own) >= reach else set())
    return lone if len(signs) > 1 else [~each for each in lone]
