"""Building a call tree and its values from what a tool wrote: node by node, or from columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chathpc.profile.metric import Metric
from chathpc.profile.sparse import SparseValues
from chathpc.profile.tree import CallTree, IntArray, NodeKind, Relation


def preorder(parent: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Position in preorder and size of the subtree of each node of a forest; siblings keep their order.

    A node's position is that of its parent, plus one, plus the sizes of its earlier siblings. Each round doubles the distance that is
    covered, so trees may be as deep as they like. ValueError if the parents (−1 of roots) do not stand before their children.
    """
    n = len(parent)
    if n and not bool(np.all((parent >= -1) & (parent < np.arange(n)))):
        raise ValueError("a parent does not stand before its child")
    size = np.ones(n, dtype=np.int64)
    for inner, above in _doubled(parent):
        size += np.bincount(above, weights=size[inner], minlength=n).astype(np.int64)
    order = np.argsort(parent, kind="stable")
    before = np.cumsum(size[order]) - size[order]
    starts = np.ones(n, dtype=bool)
    starts[1:] = parent[order[1:]] != parent[order[:-1]]
    family = np.cumsum(starts) - 1
    step = np.empty(n, dtype=np.int64)
    step[order] = before - before[starts][family]
    step += parent >= 0
    return sum_along_path(parent, step.astype(np.uint64)).astype(np.int64), size


def _doubled(parent: IntArray) -> Iterator[tuple[NDArray[np.intp], IntArray]]:
    """Nodes and their ancestors 1, 2, 4, … levels above them, as far as they have some."""
    pointer = parent.copy()
    inner = np.flatnonzero(pointer >= 0)
    while len(inner):
        above = pointer[inner]
        yield inner, above
        pointer[inner] = above = pointer[above]
        inner = inner[above >= 0]


def sum_along_path(parent: IntArray, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sum of `values` (modulo 2^64) over each node and its ancestors."""
    total = values.copy()
    for inner, above in _doubled(parent):
        total[inner] += total[above]
    return total


def depths(parent: IntArray) -> IntArray:
    """Depth of each node, 0 for roots."""
    return sum_along_path(parent, (parent >= 0).astype(np.uint64)).astype(np.int32)


def ends(parent: IntArray) -> IntArray:
    """Ends of the subtrees of nodes that stand in preorder."""
    return (np.arange(len(parent)) + preorder(parent)[1]).astype(np.int32)


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
    kind: NDArray[np.uint8],
    relation: NDArray[np.uint8],
    name: IntArray,
    file: IntArray,
    line: IntArray,
    module: IntArray,
    names: Sequence[str],
    files: Sequence[str],
    modules: Sequence[str],
    offset: NDArray[np.uint64] | None = None,
) -> tuple[CallTree, IntArray]:
    """The tree of nodes in any order in which parents stand before their children, and each one's new index."""
    place, size = preorder(parent)
    order = np.empty(len(parent), dtype=np.int64)
    order[place] = np.arange(len(parent))
    above = parent[order]
    tree = CallTree(
        parent=np.where(above >= 0, place[above], -1).astype(np.int32),
        end=(np.arange(len(parent)) + size[order]).astype(np.int32),
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
    return tree, place.astype(np.int32)
