"""Fit a pruned tree into the tokens that a model can be given."""

from __future__ import annotations

import math
from collections.abc import Callable

from chathpc.profile.text import estimate_tokens
from chathpc.profile.tree import BoolArray
from chathpc.pruners.cold import drop_cold, fold_chains, keep_paths_to
from chathpc.pruners.pruned import PrunedTree

#: Shares of the total below which a subtree goes, the mildest first; the last leaves roots and what must be kept.
SHARES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 1.0, math.inf)


def fit_tokens(
    pruned: PrunedTree,
    budget: int,
    render: Callable[[PrunedTree], str],
    *,
    min_share: float = 0.005,
    keep: BoolArray | None = None,
) -> tuple[PrunedTree, int]:
    """Drop what is cold, and more of it until `render`ed the tree has at most `budget` tokens; the tree and its tokens.

    `min_share` is tried first, then the larger ones of `SHARES`. Where roots and the nodes marked in `keep` alone are
    over the budget, the smallest tree is returned: its tokens tell.
    """
    candidates = [min_share, *(share for share in SHARES if share > min_share)]

    def attempt(share: float) -> tuple[PrunedTree, int]:
        smaller = drop_cold(pruned, share, keep=keep)
        kept = None if keep is None else _carry(pruned, smaller, keep)
        smaller = fold_chains(smaller, share, keep=kept)
        return smaller, estimate_tokens(render(smaller))

    best = attempt(candidates[0])
    low, high = 1, len(candidates) - 1
    if best[1] <= budget or high < 1:
        return best
    best = attempt(candidates[high])
    while low < high and best[1] <= budget:  # the smallest share that fits
        middle = (low + high) // 2
        result = attempt(candidates[middle])
        if result[1] <= budget:
            best, high = result, middle
        else:
            low = middle + 1
    return best


def _carry(before: PrunedTree, after: PrunedTree, mark: BoolArray) -> BoolArray:
    """Marks on the nodes of `before` as marks on those of `after`, a later stage of the same tree."""
    marked = mark[before.home].nonzero()[0]
    return keep_paths_to(after, marked.tolist())
