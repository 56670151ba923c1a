"""Building a call tree and its values from what a tool wrote: node by node, or from columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from chathpc.errors import AdapterError
from chathpc.profile.metric import Metric
from chathpc.profile.sparse import SparseValues
from chathpc.profile.tree import CallTree, Int64Array, IntArray, NodeKind, Relation, is_one_of

#: Contexts that a profile may have; a limit for hostile files, far beyond what a person's profile has.
MOST_CONTEXTS = 20_000_000
#: Lines are numbered with 32 bits.
_LAST_LINE = 2**31 - 1

#: Kind, name, file, line, load module, offset, and what tells it from an equal one.
Frame = tuple[int, str, str, int, str, int, int]
#: A tree with fewer nodes for each of its levels is gone through node by node (measured: 0.3 µs a node against 20 µs a level).
_NARROW = 64


def preorder(parent: IntArray | Int64Array) -> tuple[Int64Array, Int64Array]:
    """Position in preorder and size of the subtree of each node of a forest, which may be as deep as it likes; siblings keep their order.

    ValueError if the parents (−1 of roots) do not stand before their children.
    """
    n, above = len(parent), parent.astype(np.int64)
    if not bool(np.all((above >= -1) & (above < np.arange(n)))):
        raise ValueError("a parent does not stand before its child")
    if bool(np.all(above[1:] >= above[:-1])):
        return _of_breadth_first(above)
    order = _breadth_first(above)
    rank, position, size = np.empty((3, n), dtype=np.int64)
    rank[order] = np.arange(n)
    above = above[order]
    position[order], size[order] = _of_breadth_first(np.where(above >= 0, rank[above], -1))
    return position, size


def _breadth_first(parent: Int64Array) -> Int64Array:
    """The nodes of a forest level by level, siblings side by side."""
    n, families = len(parent), np.argsort(parent, kind="stable")
    children = np.bincount(parent + 1, minlength=n + 1)
    first = np.cumsum(children) - children
    levels = [families[: children[0]]]
    while len(level := levels[-1]):
        if len(levels) > n // _NARROW + 1:
            queue, last = levels[0].tolist(), (first + children).tolist()
            by_family, begin = families.tolist(), first.tolist()
            for node in queue:
                queue += by_family[begin[node + 1] : last[node + 1]]
            return np.array(queue, dtype=np.int64)
        own = children[level + 1]
        end = np.cumsum(own)
        levels.append(families[np.repeat(first[level + 1] - (end - own), own) + np.arange(end[-1])])
    return np.concatenate(levels)


def _of_breadth_first(parent: Int64Array) -> tuple[Int64Array, Int64Array]:
    """`preorder` of nodes in breadth-first order: parents are non-decreasing."""
    n = len(parent)
    starts = _level_starts(parent)
    levels = list(zip(starts, starts[1:], starts[2:], strict=False))  # (level above, level, level below)
    by_node = n < _NARROW * len(starts)
    size = np.ones(n, dtype=np.int64)
    if by_node:
        sizes, above = size.tolist(), parent.tolist()
        for node in range(n - 1, starts[1] - 1, -1):
            sizes[above[node]] += sizes[node]
        size = np.array(sizes, dtype=np.int64)
    else:
        for up, begin, end in reversed(levels):
            below = np.bincount(parent[begin:end] - up, weights=size[begin:end], minlength=begin - up)
            size[up:begin] += below.astype(np.int64)
    running = np.cumsum(size) - size
    first = np.ones(n, dtype=bool)
    first[1:] = parent[1:] != parent[:-1]
    before = running - np.maximum.accumulate(np.where(first, running, 0))
    # Position = position of the parent + 1 + what earlier siblings hold, summed along the path from the root.
    if by_node:
        offsets, above = before.tolist(), parent.tolist()
        for node in range(starts[1], n):
            offsets[node] += offsets[above[node]] + 1
        return np.array(offsets, dtype=np.int64), size
    for _, begin, end in levels:
        before[begin:end] += before[parent[begin:end]] + 1
    return before, size


def _level_starts(parent: Int64Array) -> list[int]:
    """First node of each level and, last, the number of nodes; parents are non-decreasing in breadth-first order."""
    n, numbers = len(parent), parent.data  # of which a number costs a third of what one of the array does
    starts = [0, bisect_left(numbers, 0)]  # roots have −1 and stand first
    while starts[-1] < n:
        starts.append(bisect_left(numbers, starts[-1], starts[-1]))
    return starts


def sum_along_path(parent: IntArray, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sum of `values` (modulo 2^64) over each node and its ancestors."""
    total, pointer = values.copy(), parent.copy()
    inner = np.flatnonzero(pointer >= 0)
    while len(inner):  # of ancestors 1, 2, 4, … levels above
        above = pointer[inner]
        total[inner] += total[above]
        pointer[inner] = above = pointer[above]
        inner = inner[above >= 0]
    return total


def depths(parent: IntArray) -> IntArray:
    """Depth of each node, 0 for roots."""
    return sum_along_path(parent, (parent >= 0).astype(np.uint64)).astype(np.int32)


def ends(parent: IntArray) -> IntArray:
    """Ends of the subtrees of nodes that stand in preorder."""
    return (np.arange(len(parent)) + preorder(parent)[1]).astype(np.int32)


class TreeBuilder:
    """A call tree that grows node by node; equal children of one parent are one node.

    Frames get a number once (`frame`), then a step down the tree is one look-up (`step`): some million steps a second; `node` is both.
    Formats with many millions of nodes number them with numpy and use `tree_of_columns`.
    """

    #: Kinds of nodes that are a part of what they stand in, and are not called.
    parts: tuple[NodeKind, ...] = (NodeKind.LINE, NodeKind.LOOP, NodeKind.INSTRUCTION)

    def __init__(self, most: int = MOST_CONTEXTS) -> None:
        self._most = min(most, MOST_CONTEXTS)
        self._frames: dict[Frame, int] = {}
        self._index: dict[int, int] = {}
        self._parent, self._frame = array("i"), array("i")
        self._values: dict[str, tuple[array[int], array[int], array[float]]] = {}
        #: The node that each number stands for, where it is not the one of this number.
        self._moved: IntArray | None = None

    def __len__(self) -> int:
        return len(self._parent)

    def frame(
        self,
        name: str,
        *,
        kind: NodeKind = NodeKind.FUNCTION,
        file: str = "",
        line: int = 0,
        module: str = "",
        offset: int = 0,
        apart: int = 0,
    ) -> int:
        """The number of a frame with these properties; an empty text or 0 is not known. Frames that are equal but for `apart` are two."""
        line = line if 0 < line <= _LAST_LINE else 0
        return self._frames.setdefault((int(kind), name, file, line, module, offset, apart), len(self._frames))

    def step(self, parent: int, frame: int) -> int:
        """The number of the child of `parent` (−1: a root) with this frame; it is made if there is none."""
        key = (parent + 1 << 32) + frame
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self._parent)
            if found >= self._most:
                raise AdapterError(
                    f"has more than {self._most:,} different calling contexts", hint="Record a shorter run."
                )
            self._parent.append(parent)
            self._frame.append(frame)
        return found

    def node(
        self,
        parent: int,
        kind: NodeKind,
        name: str | None = None,
        *,
        file: str | None = None,
        line: int = 0,
        module: str | None = None,
        offset: int = 0,
        apart: int = 0,
    ) -> int:
        """Number of the child of `parent` (−1: a root) with these properties; it is made if there is none.

        Children that are equal but for `apart` are nodes of their own: one kernel in two launch configurations.
        """
        frame = self.frame(
            name or "", kind=kind, file=file or "", line=line, module=module or "", offset=offset, apart=apart
        )
        return self.step(parent, frame)

    def path(self, names: Iterable[str], kind: NodeKind = NodeKind.FUNCTION, *, parent: int = -1) -> int:
        """The node at the end of a row of frames, outermost first."""
        for name in names:
            parent = self.node(parent, kind, name)
        return parent

    def add(self, metric: str, node: int, value: float, location: int = 0) -> None:
        """Add to the exclusive value of a node; several values of one node and location are combined by the metric's rule."""
        columns = self._values.get(metric)
        if columns is None:
            columns = self._values[metric] = (array("i"), array("i"), array("d"))
        nodes, locations, values = columns
        nodes.append(node)
        locations.append(location)
        values.append(value)

    def has(self, metric: str) -> bool:
        """True if a value was added to the metric."""
        return metric in self._values

    def finish(self, metrics: Iterable[Metric], locations: int = 1) -> tuple[CallTree, SparseValues, IntArray]:
        """The tree, its values, and for each number that `node` gave the node's index in the tree."""
        names, files, modules = (dict[str, int](), dict[str, int](), dict[str, int]())
        facts = np.array(
            [
                (
                    kind,
                    names.setdefault(name, len(names)) if name else -1,
                    files.setdefault(file, len(files)) if file else -1,
                    line,
                    modules.setdefault(module, len(modules)) if module else -1,
                )
                for kind, name, file, line, module, *_ in self._frames
            ],
            dtype=np.int32,
        ).reshape(-1, 5)
        frame, parent = (np.asarray(column, dtype=np.int32) for column in (self._frame, self._parent))
        kind = facts[frame, 0].astype(np.uint8)
        relation = np.full(len(parent), Relation.CALL, dtype=np.uint8)
        relation[kind == NodeKind.INLINED] = Relation.INLINED_CALL
        relation[(parent < 0) | is_one_of(kind, self.parts)] = Relation.LEXICAL
        tree, place = tree_of_columns(
            parent, kind=kind, relation=relation, name=facts[frame, 1], file=facts[frame, 2], line=facts[frame, 3],
            module=facts[frame, 4], names=list(names), files=list(files), modules=list(modules),
            offset=np.array([offset for *_, offset, _ in self._frames], dtype=np.uint64)[frame],
        )  # fmt: skip
        place = place if self._moved is None else place[self._moved]
        values = SparseValues(tree, locations)
        for metric in metrics:
            if metric.id in self._values:
                nodes, where, amounts = map(np.asarray, self._values[metric.id])
                values.put(metric, place[nodes], amounts, where)
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
