"""Pruners that put what costs little into "everything else" nodes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chathpc.profile.tree import BoolArray, IntArray
from chathpc.pruners.pruned import PrunedTree, collapse


def keep_paths_to(pruned: PrunedTree, nodes: Iterable[int]) -> BoolArray:
    """Mark what must stay so that findings can be shown: the nodes that now stand for the original `nodes`, and all above them."""
    wanted = np.zeros(len(pruned))
    original = np.fromiter(nodes, dtype=np.int64)
    wanted[pruned.home[original]] = 1.0
    return np.asarray(pruned.tree.inclusive(wanted) > 0)


def drop_cold(pruned: PrunedTree, min_share: float, *, keep: BoolArray | None = None) -> PrunedTree:
    """Put subtrees below `min_share` (0..1) of the total of each metric into one node per parent, `… 12 more`.

    Roots, nodes marked in `keep`, and what leads to them stay. A single cold node without children stays too: the node
    in its place would take as much room.
    """
    tree = pruned.tree
    n = len(pruned)
    stays = (pruned.shares() >= min_share) | (tree.parent < 0)
    if keep is not None:
        stays |= keep
    hot = tree.inclusive(stays.astype(np.float64)) > 0
    top = ~hot & hot[tree.parent]
    tops = np.flatnonzero(top)
    above = tree.parent[tops]
    amount = np.bincount(above, weights=tree.end[tops] - tops, minlength=n)
    alone = tops[amount[above] == 1]
    several = tops[amount[above] > 1]
    if len(several) == 0:
        return pruned
    parents, first = np.unique(tree.parent[several], return_index=True)
    stand = np.full(n, -1, dtype=np.int32)
    stand[parents] = several[first]
    target = np.arange(n, dtype=np.int32)
    cold = ~hot
    cold[alone] = False
    target[cold] = stand[tree.parent[tree.nearest(top)[cold]]]
    return collapse(pruned, target, dict.fromkeys(several[first].tolist(), "… {} more"))


def fold_chains(
    pruned: PrunedTree, min_share: float, *, longest: int = 12, keep: BoolArray | None = None
) -> PrunedTree:
    """Shorten rows of more than `longest` nodes that only lead on to one child: the middle becomes one node, `… 90 levels`.

    Such nodes have less than `min_share` of the total themselves. With `drop_cold` this bounds the size of any tree by
    a multiple of 1 / min_share, however deep it is.
    """
    tree = pruned.tree
    n = len(pruned)
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=n)
    passing = (children == 1) & (tree.parent >= 0) & ~pruned.synthetic
    passing &= pruned.shares(exclusive=True) < min_share
    if keep is not None:
        passing &= ~keep
    # The only child of a node is the next one in preorder, so a row of passing nodes is a run of indices.
    edges = np.flatnonzero(np.diff(np.concatenate([[False], passing, [False]]).astype(np.int8)))
    start, stop = edges[::2], edges[1::2]
    long = stop - start > longest
    edge = max(1, (longest - 1) // 2)
    first, last = start[long] + edge, stop[long] - edge
    if len(first) == 0:
        return pruned
    target = np.arange(n, dtype=np.int32)
    middle: IntArray = np.repeat(first, last - first).astype(np.int32)
    inside = np.arange(len(middle)) - np.repeat(np.cumsum(last - first) - (last - first), last - first) + middle
    target[inside] = middle
    return collapse(pruned, target, dict.fromkeys(first.tolist(), "… {} levels"))
