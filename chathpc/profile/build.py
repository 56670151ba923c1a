"""Building a call tree and its values from what a tool wrote: node by node, or from columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from chathpc.profile.metric import Metric
from chathpc.profile.sparse import SparseValues
from chathpc.profile.tree import CallTree, IntArray, NodeKind, Relation

#: A step over a level takes about as long as a step over so many nodes.
_LEVEL = 40


def preorder(parent: IntArray) -> IntArray:
    """The order in which nodes stand in preorder: entry k is the old index of the node at new position k.

    `parent[i] < i`, −1 for roots; siblings keep their order. One vectorised step for each level of a wide tree, one
    plain step for each node of a deep one.
    """
    n = len(parent)
    depth = depths(parent)
    size = _sizes(parent, depth)
    position = np.empty(n, dtype=np.int64)
    if (int(depth.max(initial=0)) + 1) * _LEVEL > n:
        free, slots, sizes = [0] * (n + 1), [0] * n, size.tolist()
        for node, above in enumerate(parent.tolist()):
            slots[node] = slot = free[above]  # the free slot of the roots is the last one
            free[above] += sizes[node]
            free[node] = slot + 1
        position[:] = slots
    else:
        by_depth = np.argsort(depth, kind="stable").astype(np.int64)
        edges = np.searchsorted(depth[by_depth], np.arange(int(depth.max(initial=-1)) + 2))
        for level in range(len(edges) - 1):
            nodes = by_depth[edges[level] : edges[level + 1]]
            above_all = parent[nodes].astype(np.int64)
            grouped = np.argsort(above_all, kind="stable")
            nodes, above_all = nodes[grouped], above_all[grouped]
            before = np.cumsum(size[nodes]) - size[nodes]
            first = np.ones(len(nodes), dtype=bool)
            first[1:] = above_all[1:] != above_all[:-1]
            base = before[np.maximum.accumulate(np.where(first, np.arange(len(nodes)), 0))]
            start = np.zeros(len(nodes), dtype=np.int64) if level == 0 else position[above_all] + 1
            position[nodes] = start + before - base
    order = np.empty(n, dtype=np.int32)
    order[position] = np.arange(n, dtype=np.int32)
    return order


def _sizes(parent: IntArray, depth: IntArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Number of nodes in the subtree of each node, itself included; parents stand before their children."""
    n = len(parent)
    if (int(depth.max(initial=0)) + 1) * _LEVEL > n:
        sizes, above = [1] * n, parent.tolist()
        for node in range(n - 1, -1, -1):
            if above[node] >= 0:
                sizes[above[node]] += sizes[node]
        return np.array(sizes, dtype=np.int64)
    size = np.ones(n, dtype=np.int64)
    by_depth = np.argsort(depth, kind="stable").astype(np.int64)
    edges = np.searchsorted(depth[by_depth], np.arange(int(depth.max(initial=-1)) + 2))
    for level in range(len(edges) - 2, 0, -1):
        nodes = by_depth[edges[level] : edges[level + 1]]
        np.add.at(size, parent[nodes], size[nodes])
    return size


def depths(parent: IntArray) -> IntArray:
    """Depth of each node, 0 for roots; ValueError if the parents do not stand before their children."""
    n = len(parent)
    if n and not bool(np.all((parent >= -1) & (parent < np.arange(n)))):
        raise ValueError("a parent does not stand before its child")
    # Pointer doubling: after k rounds each pointer has jumped 2^k levels.
    pointer = np.append(np.where(parent >= 0, parent, n), n).astype(np.int64)
    steps = np.append((parent >= 0).astype(np.int64), 0)
    while True:
        jumped = pointer[pointer]
        if np.array_equal(jumped, pointer):
            return steps[:n].astype(np.int32)
        steps = steps + steps[pointer]
        pointer = jumped


def ends(parent: IntArray) -> IntArray:
    """Ends of the subtrees of nodes that stand in preorder."""
    return (np.arange(len(parent)) + _sizes(parent, depths(parent))).astype(np.int32)


class TreeBuilder:
    """A call tree that grows node by node; equal children of one parent are one node.

    A Python call for each node and value: for formats with up to some hundred thousand of them. Larger ones number their
    nodes with numpy and use `tree_of_columns`.
    """

    def __init__(self) -> None:
        self._index: dict[tuple[int, int, int, int, int, int, int, int], int] = {}
        self._rows: list[tuple[int, int, int, int, int, int, int, int]] = []
        self._relation: list[int] = []
        self._tables: tuple[dict[str, int], dict[str, int], dict[str, int]] = ({}, {}, {})
        self._values: dict[str, tuple[list[int], list[int], list[float]]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def node(
        self,
        parent: int,
        kind: NodeKind,
        name: str | None = None,
        *,
        file: str | None = None,
        line: int = 0,
        module: str | None = None,
        relation: Relation | None = None,
        offset: int = 0,
        apart: int = 0,
    ) -> int:
        """Number of the child of `parent` (−1: a root) with these properties; it is made if there is none.

        Children that are equal but for `apart` are nodes of their own: one kernel in two launch configurations.
        """
        names, files, modules = self._tables
        key = (
            parent,
            int(kind),
            -1 if name is None else names.setdefault(name, len(names)),
            -1 if not file else files.setdefault(file, len(files)),
            max(line, 0),
            -1 if not module else modules.setdefault(module, len(modules)),
            offset,
            apart,
        )
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self._rows)
            self._rows.append(key)
            if relation is None:
                inner = parent < 0 or kind in (NodeKind.LINE, NodeKind.LOOP, NodeKind.INSTRUCTION)
                called = Relation.INLINED_CALL if kind == NodeKind.INLINED else Relation.CALL
                relation = Relation.LEXICAL if inner else called
            self._relation.append(int(relation))
        return found

    def path(self, names: Iterable[str], kind: NodeKind = NodeKind.FUNCTION, *, parent: int = -1) -> int:
        """The node at the end of a row of frames, outermost first."""
        for name in names:
            parent = self.node(parent, kind, name)
        return parent

    def add(self, metric: str, node: int, value: float, location: int = 0) -> None:
        """Add to the exclusive value of a node; several values of one node and location are combined by the metric's rule."""
        nodes, locations, values = self._values.setdefault(metric, ([], [], []))
        nodes.append(node)
        locations.append(location)
        values.append(value)

    def finish(self, metrics: Iterable[Metric], locations: int = 1) -> tuple[CallTree, SparseValues, IntArray]:
        """The tree, its values, and for each number that `node` gave the node's index in the tree."""
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, 8)
        names, files, modules = self._tables
        tree, place = tree_of_columns(
            rows[:, 0].astype(np.int32), kind=rows[:, 1].astype(np.uint8),
            relation=np.array(self._relation, dtype=np.uint8), name=rows[:, 2].astype(np.int32),
            file=rows[:, 3].astype(np.int32), line=np.minimum(rows[:, 4], 2**31 - 1).astype(np.int32),
            module=rows[:, 5].astype(np.int32), names=list(names), files=list(files), modules=list(modules),
            offset=rows[:, 6].astype(np.uint64),
        )  # fmt: skip
        values = SparseValues(tree, locations)
        for metric in metrics:
            nodes, where, amounts = self._values.get(metric.id, ([], [], []))
            values.put(
                metric,
                place[np.array(nodes, dtype=np.int64)],
                np.array(amounts, dtype=np.float64),
                np.array(where, dtype=np.int32),
            )
        return tree, values, place


def tree_of_columns(
    parent: IntArray,
    *,
    kind: np.ndarray[tuple[int], np.dtype[np.uint8]],
    relation: np.ndarray[tuple[int], np.dtype[np.uint8]],
    name: IntArray,
    file: IntArray,
    line: IntArray,
    module: IntArray,
    names: Sequence[str],
    files: Sequence[str],
    modules: Sequence[str],
    offset: np.ndarray[tuple[int], np.dtype[np.uint64]] | None = None,
) -> tuple[CallTree, IntArray]:
    """The tree of nodes in any order in which parents stand before their children, and each one's new index."""
    order = preorder(parent)
    place = np.empty(len(parent), dtype=np.int32)
    place[order] = np.arange(len(parent), dtype=np.int32)
    above = parent[order]
    moved = np.where(above >= 0, place[np.maximum(above, 0)], np.int32(-1)).astype(np.int32)
    tree = CallTree(
        parent=moved,
        end=ends(moved),
        kind=kind[order],
        relation=relation[order],
        name=name[order],
        file=file[order],
        line=line[order],
        module=module[order],
        names=names,
        files=files,
        modules=modules,
        offset=None if offset is None or not offset.any() else offset[order],
    )
    return tree, place
