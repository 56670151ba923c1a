"""The calling context tree for a flame graph: pruned to a bounded number of nodes, with the same sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from chathpc.diagnosis.facts import Facts
from chathpc.profile.profile import Profile
from chathpc.pruners.cold import drop_cold, fold_chains, keep_paths_to
from chathpc.pruners.merge import merge_recursion, merge_siblings, recursive_share
from chathpc.pruners.pruned import PrunedTree, drop_lines, whole_tree
from chathpc.view.records import DrawnTree
from chathpc.view.tables import GROUP_NUMBERS, OTHER, Tables, rounded

#: Nodes of a tree in a page: enough for a hundredth of a pixel, few enough to be drawn in the blink of an eye.
MOST_NODES = 6000
#: Part of the total below which a subtree cannot be seen at any zoom that a person uses.
SMALLEST_SHARE = 2e-5
#: Levels of which each leads only to the next are left out beyond this; recursion is merged where a tree is deeper.
LONGEST_CHAIN = 40
_DEEPEST = 250
_RECURSIVE_SHARE = 0.2


def tree_of(profile: Profile, facts: Facts, metrics: Sequence[str], focus: Iterable[int], tables: Tables) -> DrawnTree:
    """The pruned tree of `profile` by `metrics`; the nodes `focus` and what leads to them stay."""
    pruned = _pruned(profile, metrics, [node for node in focus if node >= 0])
    tree, count = pruned.tree, len(pruned)
    shown = pruned.origin >= 0
    group = np.full(count, OTHER, dtype=np.int32)
    group[shown] = GROUP_NUMBERS[facts.activities.kind[pruned.origin[shown]]]
    labels = [pruned.label(node) for node in range(count)]
    return DrawnTree(
        parent=tree.parent.tolist(),
        name=[tables.names.add(label) for label in labels],
        file=[tables.files.add(tree.file_name(node)) for node in range(count)],
        line=tree.line.tolist(),
        group=group.tolist(),
        values={metric: rounded(values) for metric, values in pruned.exclusive.items()},
        contexts=len(profile.tree),
    )


def _pruned(profile: Profile, metrics: Sequence[str], focus: Sequence[int]) -> PrunedTree:
    pruned = whole_tree(profile, metrics)
    if recursive_share(pruned) <= _RECURSIVE_SHARE:
        pruned = drop_cold(pruned, SMALLEST_SHARE, keep=keep_paths_to(pruned, focus))
    pruned = drop_lines(pruned)
    if len(pruned) and int(pruned.tree.depth.max()) > _DEEPEST:
        pruned = merge_recursion(pruned)
    pruned = merge_siblings(pruned)
    kept = keep_paths_to(pruned, focus)

    def without(share: float) -> PrunedTree:
        smaller = drop_cold(pruned, share, keep=kept)
        return fold_chains(
            smaller, max(share, SMALLEST_SHARE * 50), longest=LONGEST_CHAIN, keep=keep_paths_to(smaller, focus)
        )

    return bounded(without)


def bounded(without: Callable[[float], PrunedTree]) -> PrunedTree:
    """The tree `without` what has less than the smallest share for which at most MOST_NODES are left."""
    share = SMALLEST_SHARE
    while True:
        smaller = without(share)
        if len(smaller) <= MOST_NODES or share >= 1:
            return smaller
        share *= 2
