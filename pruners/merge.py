"""Pruners that join contexts of the same thing: recursive calls, and siblings of one label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.build import preorder, sum_along_path
from chathpc.profile.tree import BoolArray, CallTree, IntArray, NodeKind, is_one_of, outermost_spans
from chathpc.pruners.pruned import PrunedTree, add_up

_MERGED_KINDS = (NodeKind.FUNCTION, NodeKind.INLINED, NodeKind.REGION, NodeKind.GPU_KERNEL)


def _functions(tree: CallTree) -> tuple[IntArray, BoolArray]:
    """The nodes of functions, and which of them have no frame of the same function above."""
    functions = np.flatnonzero(is_one_of(tree.kind, _MERGED_KINDS) & (tree.name >= 0)).astype(np.int32)
    return functions, outermost_spans(functions, tree.end[functions], tree.function_labels[0][functions])


def recursive_share(pruned: PrunedTree) -> float:
    """Part (0..1) of the total of any metric that lies inside recursive calls."""
    functions, outermost = _functions(pruned.tree)
    if bool(outermost.all()):
        return 0.0
    inside = pruned.tree.inside(functions[~outermost])
    shares = [
        values[inside].sum() / pruned.totals[name]
        for name, values in pruned.exclusive.items()
        if pruned.totals[name] > 0
    ]
    return float(max(shares, default=0.0))


def merge_recursion(pruned: PrunedTree) -> PrunedTree:
    """Fold every function that is reached from itself, directly or not, onto its first occurrence on the path.

    Their children become children of that occurrence, those of one label as one.
    """
    tree = pruned.tree
    number, _ = tree.function_labels
    functions, outermost = _functions(tree)
    if bool(outermost.all()):
        return pruned
    # Sorted by function, then by place: the nearest outermost node before a recursive one of the same function encloses
    # it.
    order = np.argsort(number[functions], kind="stable")
    enclosing = np.maximum.accumulate(np.where(outermost[order], np.arange(len(order)), 0))
    first = np.arange(len(tree), dtype=np.int32)
    first[functions[order]] = functions[order[enclosing]]
    return _join(pruned, first, np.where(tree.parent >= 0, first[tree.parent], np.int32(-1)))


def merge_siblings(pruned: PrunedTree) -> PrunedTree:
    """Join siblings of the same label (and roots), and likewise their children."""
    tree = pruned.tree
    same = _labels(pruned)
    order = np.lexsort((same, tree.parent))
    repeated = (same[order[1:]] == same[order[:-1]]) & (tree.parent[order[1:]] == tree.parent[order[:-1]])
    return _join(pruned, np.arange(len(tree), dtype=np.int32), tree.parent) if bool(repeated.any()) else pruned


def _labels(pruned: PrunedTree) -> NDArray[np.int64]:
    """A number per node, equal for nodes that a person would call the same."""
    tree = pruned.tree
    number, texts = tree.function_labels
    label = number.astype(np.int64)  # functions of any kind, with or without a name
    base = len(texts)
    placed = is_one_of(tree.kind, (NodeKind.LOOP, NodeKind.LINE))
    files: dict[str, int] = {}
    file = np.array([files.setdefault(path, len(files) + 1) for path in tree.files] + [0], dtype=np.int64)[tree.file]
    lines = int(tree.line.max(initial=0)) + 1
    place = (file * lines + tree.line) * 2 + (tree.kind == NodeKind.LOOP)
    label[placed] = base + place[placed]
    base += (len(files) + 1) * lines * 2
    address = np.flatnonzero((tree.kind == NodeKind.INSTRUCTION) & (tree.name < 0))
    if tree.offset is not None and len(address):
        pairs = np.stack([tree.module[address].astype(np.int64), tree.offset[address].astype(np.int64)])
        label[address] = base + np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    elif len(address):
        label[address] = base + 1 + tree.module[address]
    label[pruned.synthetic] = -1
    return label


def _join(pruned: PrunedTree, first: IntArray, above: IntArray) -> PrunedTree:
    """Move each node onto node `first[i]`, hang these below `above[i]`, and join those whose paths have the same labels.

    Both lead to a smaller index, or `first` to the node itself. Vectorised throughout: a node's path is recognised by
    the sum of one pseudo-random number per label and depth on it, and the new preorder follows from the sizes of the
    subtrees.
    """
    nodes = np.flatnonzero(first == np.arange(len(first))).astype(np.int32)
    local = np.full(len(first) + 1, -1, dtype=np.int32)
    local[nodes] = np.arange(len(nodes), dtype=np.int32)
    parent = local[above[nodes]]
    label = _labels(pruned)[nodes]
    depth = sum_along_path(parent, np.ones(len(nodes), dtype=np.uint64))
    representative, group = _same_paths(parent, label, depth)
    joined_parent = np.where(parent[representative] >= 0, group[parent[representative]], np.int32(-1))
    position, size = preorder(joined_parent)
    order = np.empty(len(position), dtype=np.int64)
    order[position] = np.arange(len(position))

    shown = nodes[representative[order]]
    moved = position[group[local[first]]].astype(np.int32)
    count = len(shown)
    contexts = np.bincount(moved, weights=pruned.contexts, minlength=count).astype(np.int64)
    origin = pruned.origin[shown]
    labels = {node: f"… {contexts[node]:,} more" for node in np.flatnonzero(origin < 0).tolist()}
    above = np.where(joined_parent[order] >= 0, position[joined_parent[order]], -1).astype(np.int32)
    tree = pruned.tree.with_nodes(shown, above, (np.arange(count) + size[order]).astype(np.int32))
    if labels:
        name = tree.name.copy()
        name[list(labels)] = len(tree.names) + np.arange(len(labels), dtype=np.int32)
        tree = replace(tree, name=name, names=[*tree.names, *labels.values()])
    return replace(
        pruned,
        tree=tree,
        exclusive=add_up(pruned.exclusive, moved, count),
        origin=origin,
        home=moved[pruned.home],
        contexts=contexts,
        labels=labels,
    )


def _same_paths(
    parent: IntArray, label: NDArray[np.int64], depth: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], IntArray]:
    """Group nodes by the labels on their paths: the first node of each group (ascending), and the group of each node."""
    salt = 0
    while True:
        key = sum_along_path(parent, _scatter(label.astype(np.uint64) + _scatter(depth + np.uint64(salt))))
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(first), dtype=np.int32)
        rank[order] = np.arange(len(first), dtype=np.int32)
        first, group = first[order], rank[inverse]
        like = first[group]
        parent_group = np.where(parent >= 0, group[parent], -1)
        if np.array_equal(label, label[like]) and np.array_equal(parent_group, parent_group[like]):
            return first, group
        salt += 1  # two paths had the same sum, which happens to one tree of a million nodes in ten million


def _scatter(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Pseudo-random 64-bit numbers of integers (the output function of SplitMix64; Steele, Lea, Flood, OOPSLA 2014)."""
    mixed = (values + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
