"""Pruners that fold nodes into those above them."""

from __future__ import annotations

import numpy as np

from chathpc.profile.tree import BoolArray, NodeKind
from chathpc.pruners.pruned import PrunedTree, collapse


def fold(pruned: PrunedTree, gone: BoolArray) -> PrunedTree:
    """Fold the nodes for which `gone` holds into their nearest ancestor that stays; roots and synthetic nodes stay."""
    stays = ~gone | (pruned.tree.parent < 0) | pruned.synthetic
    return pruned if bool(stays.all()) else collapse(pruned, pruned.tree.nearest(stays))


def drop_lines(pruned: PrunedTree) -> PrunedTree:
    """Fold lines and instructions into the loop or function that they are in."""
    tree = pruned.tree
    owns = tree.function == np.arange(len(tree))  # called code without symbols is an instruction, and all there is
    return fold(pruned, np.isin(tree.kind, (NodeKind.LINE, NodeKind.INSTRUCTION)) & ~owns)
