"""The default sequence of pruners: from a profile of any size to a tree that a person or a model can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chathpc.profile.metric import Aggregation
from chathpc.profile.profile import Profile
from chathpc.profile.tree import BoolArray, NodeKind
from chathpc.pruners.budget import estimate_tokens, fit_tokens
from chathpc.pruners.cold import drop_cold, keep_paths_to
from chathpc.pruners.fold import fold
from chathpc.pruners.merge import merge_recursion, merge_siblings, recursive_share
from chathpc.pruners.outline import render_outline
from chathpc.pruners.pruned import PrunedTree, whole_tree


@dataclass(frozen=True, slots=True)
class PruneOptions:
    """How to prune.

    `min_share` is the part of the total (0..1) that a subtree must have of some metric to be shown at all,
    `coarse_share` the part below which it is not even looked at closely, unless more than `recursive_share` of the
    total is inside
    recursive calls; `longest_chain` the number of nodes that only
    lead on to one another before their middle is left out.
    """

    min_share: float = 0.005
    coarse_share: float = 2e-4
    recursive_share: float = 0.2
    longest_chain: int = 12
    keep_loops: bool = True


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
    options: PruneOptions | None = None,
    render: Callable[[PrunedTree], str] | None = None,
    count_tokens: Callable[[str], int] = estimate_tokens,
) -> PruningResult:
    """Prune `profile` to `token_budget` tokens; every metric keeps its sum.

    `focus` are the nodes that findings point at: they stay, with all above them. `metrics` are those that bear on the
    findings; those of them that add up are kept, the time of the host always. `opaque` marks nodes inside calls of
    runtime libraries.
    """
    options = options or PruneOptions()
    kept = _metrics_to_keep(profile, metrics)
    pruned = whole_tree(profile, kept)
    focus = np.fromiter(focus, dtype=np.int64)
    # First what is far too small to be shown: everything after it works on a small tree. But many small calls of a
    # recursive function may be one large one, so with recursion the merging comes before.
    if recursive_share(pruned) <= options.recursive_share:
        pruned = drop_cold(pruned, options.coarse_share, keep=keep_paths_to(pruned, focus))
    pruned = fold(pruned, _folded(profile, opaque, options)[pruned.origin] & ~pruned.synthetic)
    pruned = merge_recursion(pruned)
    pruned = drop_cold(pruned, options.coarse_share, keep=keep_paths_to(pruned, focus))
    pruned = merge_siblings(pruned)
    metric = next(iter(pruned.exclusive), None)

    def show(tree: PrunedTree) -> str:
        if render is not None:
            return render(tree)
        return render_outline(tree, metric) if metric is not None else ""

    pruned, tokens = fit_tokens(
        pruned,
        token_budget,
        show,
        count=count_tokens,
        min_share=options.min_share,
        longest_chain=options.longest_chain,
        keep=keep_paths_to(pruned, focus),
    )
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


def _folded(profile: Profile, opaque: BoolArray | None, options: PruneOptions) -> BoolArray:
    """Runtime internals, lines and (unless they are kept) loops; one pass over the tree instead of three."""
    tree = profile.tree
    gone = np.isin(tree.kind, (NodeKind.LINE, NodeKind.INSTRUCTION)) & (tree.function != np.arange(len(tree)))
    if not options.keep_loops:
        gone |= tree.kind == NodeKind.LOOP
    if opaque is not None:
        gone |= opaque
    return np.asarray(gone)
