"""The default sequence of pruners: from a profile of any size to a tree that a person or a model can read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.profile.metric import Aggregation
from chathpc.profile.profile import Profile
from chathpc.profile.text import estimate_tokens
from chathpc.profile.tree import BoolArray
from chathpc.pruners.cold import drop_cold, fold_chains, keep_paths_to
from chathpc.pruners.merge import merge_recursion, merge_siblings, recursive_share
from chathpc.pruners.outline import render_outline
from chathpc.pruners.pruned import PrunedTree, fold, is_line, whole_tree

#: Part of the total (0..1) below which a subtree is not even looked at closely, unless more than the second part of the total is
#: inside recursive calls.
_COARSE_SHARE = 2e-4
_RECURSIVE_SHARE = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class PruningResult:
    """A pruned tree and what was left out.

    `contexts_after` counts nodes that stand for themselves; `time_kept_share` is the part of the time (0..1, exclusive
    values) that they have, the rest is in synthetic nodes; `tokens` is the size of the rendered tree. `metric` is the
    id that shares are of, None for a profile without any that adds up.
    """

    pruned: PrunedTree
    metric: str | None
    contexts_before: int
    contexts_after: int
    metrics_before: int
    metrics_after: int
    time_kept_share: float
    tokens: int


def prune(
    profile: Profile,
    *,
    focus: Iterable[int] = (),
    metrics: Sequence[str] = (),
    token_budget: int = 2000,
    opaque: BoolArray | None = None,
) -> PruningResult:
    """Prune `profile` to `token_budget` tokens; every metric keeps its sum.

    `focus` are the nodes that findings point at: they stay, with all above them. `metrics` are those that bear on the
    findings; those of them that add up are kept, the time of the host always. `opaque` marks nodes inside calls of
    runtime libraries.
    """
    kept = _metrics_to_keep(profile, metrics)
    pruned = whole_tree(profile, kept)
    focus = np.fromiter(focus, dtype=np.int64)
    # First what is far too small to be shown: everything after it works on a small tree. But many small calls of a
    # recursive function may be one large one, so with recursion the merging comes before.
    if recursive_share(pruned) <= _RECURSIVE_SHARE:
        pruned = drop_cold(pruned, _COARSE_SHARE, keep=keep_paths_to(pruned, focus))
    # Runtime internals and lines, in one pass over the tree.
    gone = is_line(profile.tree) if opaque is None else is_line(profile.tree) | opaque
    pruned = fold(pruned, gone[pruned.origin])
    pruned = merge_recursion(pruned)
    pruned = drop_cold(pruned, _COARSE_SHARE, keep=keep_paths_to(pruned, focus))
    pruned = merge_siblings(pruned)
    metric = next(iter(pruned.exclusive), None)

    def show(tree: PrunedTree) -> str:
        return render_outline(tree, metric) if metric is not None else ""

    pruned, tokens = fit_tokens(pruned, token_budget, show, keep=keep_paths_to(pruned, focus))
    total = pruned.totals[metric] if metric is not None else 0.0
    own = float(pruned.exclusive[metric][~pruned.synthetic].sum()) if metric is not None else 0.0
    return PruningResult(
        pruned=pruned,
        metric=metric,
        contexts_before=len(profile.tree),
        contexts_after=int((~pruned.synthetic).sum()),
        metrics_before=sum(found.has_values for found in profile.metrics.values()),
        metrics_after=len(kept),
        time_kept_share=min(1.0, own / total) if total > 0 else 0.0,
        tokens=tokens,
    )


def _metrics_to_keep(profile: Profile, metrics: Sequence[str]) -> list[str]:
    """Ids of the metrics to keep, the time of the host first; without any of these the first metric that adds up."""
    wanted = [profile.time.id] if profile.time is not None else []
    wanted += [profile.metric(name).id for name in metrics]
    usable = (metric for metric in profile.metrics.values() if metric.has_values and not metric.hidden)
    added = [metric.id for metric in usable if metric.aggregation == Aggregation.SUM]
    return [metric for metric in dict.fromkeys(wanted) if metric in added] or added[:1]


# -- a pruned tree fitted into the tokens that a model can be given -----------------------------------------------

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
