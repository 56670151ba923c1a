"""Pruners that fold nodes into those above them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from chathpc.profile.tree import BoolArray, NodeKind
from chathpc.pruners.pruned import PrunedTree, collapse


def fold(pruned: PrunedTree, gone: BoolArray) -> PrunedTree:
    """Fold the nodes for which `gone` holds into their nearest ancestor that stays; roots and synthetic nodes stay."""
    stays = ~gone | (pruned.tree.parent < 0) | pruned.synthetic
    return pruned if bool(stays.all()) else collapse(pruned, pruned.tree.nearest(stays))


def fold_runtime(pruned: PrunedTree, opaque: BoolArray) -> PrunedTree:
    """Fold what lies inside calls of runtime libraries (`opaque`, one entry per node) into the call that the program made.

    The program's own code that a runtime calls back (a parallel region, a comparison function) stays, below that call.
    """
    return fold(pruned, opaque)


def drop_lines(pruned: PrunedTree) -> PrunedTree:
    """Fold lines and instructions into the loop or function that they are in."""
    tree = pruned.tree
    owns = tree.function == np.arange(len(tree))  # called code without symbols is an instruction, and all there is
    return fold(pruned, np.isin(tree.kind, (NodeKind.LINE, NodeKind.INSTRUCTION)) & ~owns)


def drop_loops(pruned: PrunedTree) -> PrunedTree:
    """Fold loops into the function that they are in."""
    return fold(pruned, pruned.tree.kind == NodeKind.LOOP)


def keep_metrics(pruned: PrunedTree, metrics: Collection[str]) -> PrunedTree:
    """Keep the values of `metrics` only."""
    return replace(
        pruned,
        exclusive={metric: values for metric, values in pruned.exclusive.items() if metric in metrics},
        totals={metric: total for metric, total in pruned.totals.items() if metric in metrics},
    )
