"""A call tree on its way to a reader: smaller after every pruner, with the same sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.metric import Aggregation
from chathpc.profile.profile import Profile
from chathpc.profile.tree import BoolArray, CallTree, FloatArray, IntArray, NodeKind, Relation, is_one_of

#: Largest relative difference that rounding may make between the sums before and after pruning.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class PrunedTree:
    """A call tree that stands for a larger one.

    `exclusive[metric]` has a value per node; its sum is that of the original tree, `totals[metric]`, whatever was
    pruned. `origin[i]` is the original node that node i shows, −1 for a synthetic one that stands for several; `labels`
    names the synthetic ones. `contexts[i]` counts the original nodes whose values are in node i. `home` has one entry
    per original node: the node that its value is in now.
    """

    tree: CallTree
    exclusive: Mapping[str, FloatArray]
    origin: IntArray
    home: IntArray
    contexts: NDArray[np.int64]
    totals: Mapping[str, float]
    labels: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def synthetic(self) -> BoolArray:
        """True for nodes that stand for several pruned ones."""
        return self.origin < 0

    def inclusive(self, metric: str) -> FloatArray:
        """Values of each node and all below it."""
        return self.tree.inclusive(self.exclusive[metric])

    def label(self, node: int) -> str:
        """What a person calls `node`: its tree label, or `… 12 more`."""
        return self.labels.get(node) or self.tree.label(node)

    def shares(self, *, exclusive: bool = False) -> FloatArray:
        """Largest part of the total (0..1) that each node has of any metric, inclusive unless asked otherwise."""
        largest = np.zeros(len(self))
        for metric in self.exclusive:
            if self.totals[metric] > 0:
                values = self.exclusive[metric] if exclusive else self.inclusive(metric)
                np.maximum(largest, values / self.totals[metric], out=largest)
        return largest

    def check(self) -> None:
        """Raise ValueError, saying what is wrong, unless the tree is sound and every sum is the original one (to 1e-9)."""
        self.tree.check()
        lengths = {len(self.origin), len(self.contexts), *map(len, self.exclusive.values())}
        if lengths != {len(self)}:
            raise ValueError("the columns of the pruned tree differ in length")
        if int(self.contexts.sum()) != len(self.home):
            raise ValueError(f"{int(self.contexts.sum())} of {len(self.home)} contexts are accounted for")
        if len(self.home) and not 0 <= int(self.home.min()) <= int(self.home.max()) < len(self):
            raise ValueError("a context was lost")
        if set(self.labels) != set(np.flatnonzero(self.synthetic).tolist()):
            raise ValueError("synthetic nodes and their labels do not match")
        for metric, values in self.exclusive.items():
            before, after = self.totals[metric], float(np.sum(values, dtype=np.longdouble))
            if abs(before - after) > TOLERANCE * max(abs(before), float(np.abs(values).sum())):
                raise ValueError(f"{metric} was {before!r} and is {after!r}")


def whole_tree(profile: Profile, metrics: Iterable[str]) -> PrunedTree:
    """The unpruned tree of `profile` with the exclusive values of those of `metrics` that add up."""
    n = len(profile.tree)
    exclusive = {
        metric.id: profile.exclusive(metric.id).dense(n)
        for metric in map(profile.metric, metrics)
        if metric.aggregation == Aggregation.SUM
    }
    return PrunedTree(
        tree=profile.tree,
        exclusive=exclusive,
        origin=np.arange(n, dtype=np.int32),
        home=np.arange(n, dtype=np.int32),
        contexts=np.ones(n, dtype=np.int64),
        totals={metric: float(np.sum(values, dtype=np.longdouble)) for metric, values in exclusive.items()},
        labels={},
    )


def collapse(pruned: PrunedTree, target: IntArray, standing: Mapping[int, str] | None = None) -> PrunedTree:
    """Move the value of each node to node `target[i]`; nodes that are not their own target go, their children move up.

    `standing` maps nodes that from now on stand for several to what their number is put into (`… {} more`).
    """
    n = len(pruned)
    keep = target == np.arange(n)
    tree, _ = pruned.tree.select(keep)
    renumber = np.cumsum(keep, dtype=np.int32) - 1
    moved = renumber[target]
    size = len(tree)
    contexts = np.bincount(moved, weights=pruned.contexts, minlength=size).astype(np.int64)
    labels = {int(renumber[node]): text for node, text in pruned.labels.items() if keep[node]}
    origin = pruned.origin[keep]
    if standing:
        nodes = renumber[np.fromiter(standing, dtype=np.int64, count=len(standing))]
        for node, text in zip(nodes.tolist(), standing.values(), strict=True):
            labels[node] = text.format(f"{contexts[node]:,}")
        origin[nodes] = -1
        tree = _as_placeholders(tree, nodes, labels)
    return replace(
        pruned,
        tree=tree,
        exclusive=add_up(pruned.exclusive, moved, size),
        origin=origin,
        home=moved[pruned.home],
        contexts=contexts,
        labels=labels,
    )


def add_up(exclusive: Mapping[str, FloatArray], node: IntArray, size: int) -> dict[str, FloatArray]:
    """Values of every metric added up by the `node` (0 to size − 1) that each moves to."""
    return {
        metric: np.bincount(node, weights=values, minlength=size).astype(np.float64, copy=False)
        for metric, values in exclusive.items()
    }


def _as_placeholders(tree: CallTree, nodes: IntArray, labels: Mapping[int, str]) -> CallTree:
    """`tree` with `nodes` turned into placeholders without a place, named by `labels`."""
    kind, relation, name = tree.kind.copy(), tree.relation.copy(), tree.name.copy()
    file, line, module = tree.file.copy(), tree.line.copy(), tree.module.copy()
    kind[nodes], relation[nodes] = NodeKind.PLACEHOLDER, Relation.CALL
    file[nodes], module[nodes], line[nodes] = -1, -1, 0
    name[nodes] = len(tree.names) + np.arange(len(nodes), dtype=np.int32)
    names = [*tree.names, *(labels[node] for node in nodes.tolist())]
    return replace(tree, kind=kind, relation=relation, name=name, names=names, file=file, line=line, module=module)


# -- nodes folded into those above them ---------------------------------------------------------------------------


def fold(pruned: PrunedTree, gone: BoolArray) -> PrunedTree:
    """Fold the nodes for which `gone` holds into their nearest ancestor that stays; roots and synthetic nodes stay."""
    stays = ~gone | (pruned.tree.parent < 0) | pruned.synthetic
    return pruned if bool(stays.all()) else collapse(pruned, pruned.tree.nearest(stays))


def drop_lines(pruned: PrunedTree) -> PrunedTree:
    """Fold lines and instructions into the loop or function that they are in."""
    return fold(pruned, is_line(pruned.tree))


def is_line(tree: CallTree) -> BoolArray:
    """True for lines and instructions in a loop or function; called code without symbols is an instruction, and all there is."""
    lines = is_one_of(tree.kind, (NodeKind.LINE, NodeKind.INSTRUCTION))
    return np.asarray(lines & (tree.function != np.arange(len(tree))))
